import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesing as bs
from bayesing import moments as module
from bayesing.moments import moments_from
from bayesing.spins import pack_spins

import slow
from samples import random_spins, spin_arrays, with_gaps

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
def test_both_gram_matrices_give_the_same_to_the_last_bit(N, n):
    rows, _, _ = pack_spins(random_spins(N, n))
    by_spins = moments_from(N, rows.sums(), rows.spins_gram(), None)
    by_samples = moments_from(N, rows.sums(), rows.samples_gram(), rows)
    assert same(by_spins, by_samples)


def test_sums_stay_exact_beyond_the_range_of_floats(monkeypatch):
    """With numbers declared exact only up to 200 or 2000, and blocks of 5, the answer must not change."""
    for X in (random_spins(33, 6), random_spins(6, 33)):
        expected = bs.SpinMoments.of(X)
        with monkeypatch.context() as patch:
            patch.setattr(module, "_CONVERTED", 5)
            for floats, integers in ((200, 2**63), (200, 2000), (2000, 3000)):
                patch.setattr(module, "_EXACT", floats)
                patch.setattr(module, "_INT64", integers)
                assert same(bs.SpinMoments.of(X), expected)


def test_sum_of_squares_is_exact_where_float64_is_not():
    assert module._sum_of_squares(np.array([2.0**40 + 1, -3]), peak=2**41) == (2**40 + 1) ** 2 + 9
    many = np.array([2.0**25 + 1, 1.0] * 10)
    assert module._sum_of_squares(many, peak=2**25 + 1) == 10 * ((2**25 + 1) ** 2 + 1)


def test_products_are_exact_where_int64_is_not():
    a = np.array([2**40 + 1, -(2**39)])
    assert module._dot(a, a) == (2**40 + 1) ** 2 + 2**78


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


def test_missing_cells_are_read_from_arrays():
    X = with_gaps(random_spins(9, 5), 0.2)
    m, data = bs.SpinMoments.of(X), bs.SpinStatistics.of(X)
    assert as_dict(m) == as_dict(data.moments) and m.missing == np.isnan(X).sum() > 0
    blank = np.vstack([X, np.full((2, 5), np.nan)])
    assert same(bs.SpinMoments.of(blank), m)
    whole = bs.SpinMoments.of(np.vstack([random_spins(9, 5).astype(float), np.full((2, 5), np.nan)]))
    assert same(whole, bs.SpinMoments.of(random_spins(9, 5))) and whole.missing == 0 and whole.N_pair == 9
