"""Sums and moments of incomplete data, by available cases, against loops over their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesing as bs
from bayesing import available, packed
from bayesing.available import PairSums, averages

import slow
from samples import draw_exactly, gappy_arrays, random_model, random_spins, stats, with_gaps

PAPER = ("M", "C1", "C2", "Omega")
UNBIASED = ("q", "r", "chi_sg", "chi_lin")


def pairs_of(X):
    data = stats(X)
    return PairSums.of(data.rows, data.absent)


def complete(X):
    """The same sums of data without missing cells, for formulas that must not notice."""
    X = X.astype(np.int64)
    return PairSums(
        np.full((X.shape[1],) * 2, len(X)), np.repeat(X.sum(axis=0)[:, None], X.shape[1], 1), X.T @ X
    )


def alike(one, other):
    """But for rounding; or both None."""
    return one == (None if other is None else pytest.approx(other, rel=1e-9, abs=1e-9))


@pytest.mark.parametrize("blas", [True, False])
@pytest.mark.parametrize(("N", "n"), [(7, 12), (40, 5), (33, 64), (70, 130), (600, 65)])
def test_sums_of_pairs_follow_their_definitions(N, n, blas, monkeypatch):
    monkeypatch.setattr(packed, "_by_blas", lambda multiplications: blas)
    X = with_gaps(random_spins(N, n), 0.3)
    o = (~np.isnan(X)).astype(int)
    y = np.nan_to_num(X).astype(int)
    found = pairs_of(X)
    assert (found.counts == o.T @ o).all()
    assert (found.sums == y.T @ o).all()
    assert (found.products == y.T @ y).all()
    assert all(array.dtype.kind == "i" for array in found)


def test_covariances_are_those_of_common_rows():
    """Means of different signs, a pair without any common row, and N odd."""
    X = with_gaps(random_spins(31, 6), 0.3)
    X[:, 1] *= -1
    X[:15, 0] = X[15:, 4] = np.nan
    C = pairs_of(X).covariance()
    for i, j in np.ndindex(6, 6):
        both = ~np.isnan(X[:, i] + X[:, j])
        expected = np.cov(X[both, i], X[both, j], bias=True)[0, 1] if both.any() else 0
        assert C[i, j] == pytest.approx(expected)


@pytest.mark.parametrize(("N", "n", "share"), [(7, 4, 0.3), (8, 3, 0.15), (9, 4, 0.4)])
@pytest.mark.parametrize("at_a_time", [5, 2**17])
def test_averages_follow_their_definitions(N, n, share, at_a_time, monkeypatch):
    """With pairs that have fewer than four rows in common among them."""
    monkeypatch.setattr(available, "_AT_A_TIME", at_a_time)
    X = with_gaps(random_spins(N, n, seed=N), share, seed=N)
    m = bs.SpinMoments.of(X)
    np.testing.assert_allclose(
        [getattr(m, name) for name in PAPER], slow.available_paper(X), rtol=1e-12, atol=1e-15
    )
    np.testing.assert_allclose(
        [getattr(m, name) for name in UNBIASED], slow.available_unbiased(X), rtol=1e-10
    )
    counts = pairs_of(X).counts
    assert share < 0.3 or (counts < 4).any()
    assert m.N_pair == pytest.approx(counts[~np.eye(n, dtype=bool)].mean())
    assert m.magnetisations == pytest.approx(np.nanmean(X, axis=0))


@pytest.mark.parametrize(("N", "n"), [(4, 7), (23, 9), (300, 30), (20_000, 5)])
def test_complete_data_have_the_same_moments_by_these_formulas(N, n):
    X = random_spins(N, n)
    found, exact = averages(complete(X)), bs.SpinMoments.of(X)
    for name in (*PAPER, *UNBIASED):
        assert getattr(found, name) == pytest.approx(getattr(exact, name), rel=1e-9, abs=1e-12), name
    assert found.common == N


def test_what_was_never_seen_together_is_left_out():
    """Two columns without a common row, and one that is never observed."""
    X = with_gaps(random_spins(24, 6), 0.1)
    X[:12, 0] = X[12:, 1] = np.nan
    X[:, 2] = np.nan
    m = bs.SpinMoments.of(X)
    np.testing.assert_allclose(
        [getattr(m, name) for name in PAPER], slow.available_paper(X), rtol=1e-12, atol=1e-15
    )
    seen = np.delete(X, 2, axis=1)
    others = bs.SpinMoments.of(seen)
    for name in (*PAPER, "q", "r"):
        assert getattr(m, name) == pytest.approx(getattr(others, name))
    assert m.chi_sg - m.r == pytest.approx(5 / 4 * (others.chi_sg - others.r))  # scaled to six spins


def test_too_few_common_rows_say_nothing_of_correlations():
    X = np.array([[1, np.nan], [np.nan, 1], [1, -1], [-1, 1], [1, np.nan], [np.nan, -1], [-1, -1]])
    m = bs.SpinMoments.of(X)
    assert [getattr(m, name) for name in UNBIASED] == [None] * 4 and m.C1 == pytest.approx(-1 / 3)


def test_moments_are_unbiased_for_cells_missing_completely_at_random():
    """Against enumeration: 5 spins, 16 samples, about 25% missing, the mean of 4000 data sets."""
    model, rng = random_model(5, 0.9, seed=2), np.random.default_rng(0)
    m, C = model.means(), model.correlations()
    c = C - np.outer(m, m)
    np.fill_diagonal(c, 1 - m**2)
    exact = {
        "q": np.mean(m**2),
        "r": np.mean((1 - m**2) ** 2),
        "chi_sg": (c**2).sum() / 5,
        "chi_lin": c.sum() / 5,
    }
    X = draw_exactly(model, 16 * 4000, rng).reshape(4000, 16, 5)
    gaps = rng.random((16, 5)) < [0.1, 0.2, 0.2, 0.3, 0.5]  # not the same for all spins
    counts = (~gaps).T.astype(int) @ ~gaps
    assert counts.min() == 4 and gaps.mean() > 0.2
    found = [bs.SpinMoments.of(np.where(gaps, np.nan, x)) for x in X]
    for name, value in exact.items():
        values = np.array([getattr(f, name) for f in found])
        error = values.std() / np.sqrt(len(values))
        assert abs(values.mean() - value) < 3 * error, name
        assert error < 0.03 * value, name


@given(gappy_arrays, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=60)
def test_permutations_change_nothing(rows, random):
    X = np.array(rows)
    a, b = list(range(X.shape[0])), list(range(X.shape[1]))
    random.shuffle(a)
    random.shuffle(b)
    first, second = bs.SpinMoments.of(X), bs.SpinMoments.of(X[a][:, b])
    for name in (*PAPER, *UNBIASED):
        assert alike(getattr(first, name), getattr(second, name)), name


@given(gappy_arrays, st.integers(0, 8))
@settings(deadline=None, max_examples=40)
def test_flipping_one_spin_in_every_sample_is_a_gauge_symmetry(rows, k):
    X = np.array(rows)
    Y = X.copy()
    Y[:, k % X.shape[1]] *= -1
    a, b = bs.SpinMoments.of(X), bs.SpinMoments.of(Y)
    for name in ("q", "r", "chi_sg", "C2"):
        assert alike(getattr(a, name), getattr(b, name)), name
