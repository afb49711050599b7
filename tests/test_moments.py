import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesing as bs
from bayesing import moments as module
from bayesing.moments import largest_pair_sum

import slow
from samples import random_spins, spin_arrays

PAPER = ("M", "C1", "C2", "Omega")
UNBIASED = ("q", "r", "chi_sg", "chi_lin")


def as_dict(m):
    return {name: getattr(m, name) for name in ("n", "N", *PAPER, *UNBIASED)} | {
        "magnetisations": m.magnetisations.tolist()
    }


def same(a, b):
    return as_dict(a) == as_dict(b)


@pytest.mark.parametrize(("N", "n"), [(7, 12), (11, 11), (23, 9), (2, 5), (5, 2)])
def test_the_papers_moments_follow_their_definitions(N, n):
    X = random_spins(N, n)
    m = bs.SpinMoments.of(X)
    assert (m.n, m.N) == (n, N)
    np.testing.assert_allclose(
        [m.M, m.C1, m.C2, m.Omega],
        [slow.M(X), slow.C(X, 1), slow.C(X, 2), slow.Omega(X)],
        rtol=1e-12,
        atol=1e-12,
    )
    np.testing.assert_allclose(m.magnetisations, [sum(map(int, column)) / N for column in X.T], rtol=1e-12)


@pytest.mark.parametrize(("N", "n"), [(4, 7), (5, 5), (6, 3), (7, 2)])
@pytest.mark.parametrize("name", UNBIASED)
def test_u_statistics_are_averages_over_distinct_samples(N, n, name):
    X = random_spins(N, n, seed=N)
    np.testing.assert_allclose(
        getattr(bs.SpinMoments.of(X), name), getattr(slow, name)(X), rtol=1e-12, atol=1e-12
    )


def test_u_statistics_need_four_samples():
    m = bs.SpinMoments.of(random_spins(3, 5))
    assert [getattr(m, name) for name in UNBIASED] == [None] * 4


def test_moments_are_frozen():
    m = bs.SpinMoments.of(random_spins(5, 4))
    with pytest.raises(AttributeError):
        m.C1 = 0.0
    with pytest.raises(ValueError, match="read-only"):
        m.magnetisations[0] = 0.0


@pytest.mark.parametrize(("N", "n"), [(8, 20), (20, 20), (50, 20)])
def test_both_gram_routes_agree_to_the_last_bit(N, n):
    X = random_spins(N, n)
    through_gram = module._from_sums(
        module._sums_from_gram(N, X.sum(axis=0, dtype=np.int64), module.gram_of(X.T))
    )
    assert same(through_gram, bs.SpinMoments.of(X))


def test_sums_stay_exact_beyond_the_range_of_floats(monkeypatch):
    """With float32 declared exact only up to 8, and blocks of 5, the answer must not change."""
    X = random_spins(33, 6)
    expected = bs.SpinMoments.of(X)
    monkeypatch.setattr(module, "_FLOAT32_INTEGERS", 8)
    monkeypatch.setattr(module, "_BLOCK", 5)
    assert same(bs.SpinMoments.of(X), expected)
    acc = bs.MomentAccumulator(6)
    for row in X:
        acc.update(row[None])
    assert same(acc.moments(), expected)


def doubled(rows, times):
    """An accumulator that has seen the rows 2^times times over, and those moments in exact arithmetic."""
    acc = bs.MomentAccumulator(len(rows[0])).update(rows)
    for _ in range(times):
        acc.merge(acc)
    return acc


def test_more_samples_than_float32_can_count():
    acc = doubled([[1, 1], [1, 1], [1, 1], [1, -1]], 23).update([[1, -1]])  # N = 2^25 + 1
    m, N = acc.moments(), 2**25 + 1
    assert m.N == N
    assert m.C1 == m.magnetisations[1] == (2**24 - 1) / N
    assert m.C2 == ((2**24 - 1) / N) ** 2


def test_more_samples_than_int64_products_can_hold():
    rows = [[1, 1, -1], [1, 1, 1], [1, -1, 1], [1, 1, 1]]
    m = doubled(rows, 31).moments()  # N = 2^33: s^4, n N^2 and the Gram sums exceed 64 bits
    few = doubled(rows, 12).moments()
    assert m.N == 2**33
    for name in PAPER:
        assert getattr(m, name) == getattr(few, name)
    for name in UNBIASED:
        assert getattr(m, name) == pytest.approx(getattr(few, name), abs=3e-3)
    assert m.r == pytest.approx(0.375, abs=1e-8)


def test_the_accumulator_keeps_at_most_n_samples():
    acc = bs.MomentAccumulator(4)
    for row in random_spins(25, 4):
        acc.update(row[None])
        assert acc._n_pending < 4 and acc._n_pending == sum(map(len, acc._pending))


def test_sum_of_squares_is_exact_where_float64_is_not():
    assert module._sum_of_squares(np.array([2**40 + 1, -3]), peak=2**41) == (2**40 + 1) ** 2 + 9
    assert module._sum_of_squares(np.array([2.0**25 + 1, 1.0] * 10), peak=2**25 + 1) == 10 * (
        (2**25 + 1) ** 2 + 1
    )


@given(spin_arrays, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=60)
def test_permutations_of_samples_and_spins_change_nothing(rows, random):
    X = np.array(rows, np.int8)
    a, b = list(range(X.shape[0])), list(range(X.shape[1]))
    random.shuffle(a)
    random.shuffle(b)
    first, second = as_dict(bs.SpinMoments.of(X)), as_dict(bs.SpinMoments.of(X[a][:, b]))
    assert sorted(first.pop("magnetisations")) == sorted(second.pop("magnetisations"))
    assert first == second


@given(spin_arrays, st.data())
@settings(deadline=None, max_examples=60)
def test_merge_and_update_equal_concatenation(rows, data):
    X = np.array(rows, np.int8)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(X)), max_size=3)))
    pieces = [piece for piece in np.split(X, cuts) if len(piece)]
    expected = bs.SpinMoments.of(X)
    updated, merged = bs.MomentAccumulator(X.shape[1]), bs.MomentAccumulator(X.shape[1])
    for piece in pieces:
        updated.update(piece)
        merged.merge(bs.MomentAccumulator(X.shape[1]).update(piece))
    assert same(updated.moments(), expected)
    assert same(merged.moments(), expected)
    assert same(updated.moments(), expected)  # asking does not disturb


@given(spin_arrays, st.integers(0, 8))
@settings(deadline=None, max_examples=40)
def test_flipping_one_spin_in_every_sample_is_a_gauge_symmetry(rows, k):
    """r, q and chi_sg stay; M and C1 do not."""
    X = np.array(rows, np.int8)
    Y = X.copy()
    Y[:, k % X.shape[1]] *= -1
    a, b = bs.SpinMoments.of(X), bs.SpinMoments.of(Y)
    assert (a.q, a.r, a.chi_sg, a.C2) == (b.q, b.r, b.chi_sg, b.C2)
    if X[:, k % X.shape[1]].sum():
        assert a.M != b.M


def test_merge_leaves_the_other_accumulator_alone():
    X = random_spins(30, 5)
    other = bs.MomentAccumulator(5).update(X[:20])
    before = as_dict(other.moments())
    bs.MomentAccumulator(5).merge(other).update(X[20:])
    assert as_dict(other.moments()) == before


def test_accumulator_rejects_what_does_not_fit():
    acc = bs.MomentAccumulator(3)
    with pytest.raises(ValueError, match="n_samples=0"):
        acc.moments()
    with pytest.raises(ValueError, match=r"3 spins.*found 2"):
        acc.update([[1, -1]])
    with pytest.raises(ValueError, match=r"3 spins: found 4"):
        acc.merge(bs.MomentAccumulator(4))
    with pytest.raises(ValueError, match="n_spins=1"):
        bs.MomentAccumulator(1)
    with pytest.raises(ValueError, match=r"whole number: found 2\.7"):
        bs.MomentAccumulator(2.7)
    with pytest.raises(ValueError, match="found ndarray"):
        acc.merge(np.ones((3, 3)))
    acc.update([[1, 1, 1]]).update([[0, 1, 1]])
    with pytest.raises(ValueError, match="same encoding, 0/1 as before: found ±1"):
        acc.update([[-1, 1, 1]])
    assert acc.moments().N == 2


@pytest.mark.parametrize(("N", "n", "offset"), [(7, 12, 0.2), (30, 5, 0.0), (4, 2, 0.1)])
@pytest.mark.parametrize("block", [5, 30, 2**17])
def test_largest_pair_sum(monkeypatch, N, n, offset, block):
    monkeypatch.setattr(module, "_BLOCK", block)
    X = random_spins(N, n)
    d = slow.pair_averages(X)
    expected = max(N * abs(d[i, j] - offset) for i in range(n) for j in range(i))
    assert largest_pair_sum(X, offset) == pytest.approx(expected, rel=1e-6)
