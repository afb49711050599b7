"""Signs that couplings are not many and weak, against their definitions and on data that have them."""

import itertools
import math

import numpy as np
import pytest

import bayesing as bs
from bayesing.diagnosis import MEAN
from bayesing.spectrum import Spectrum
from bayesing.statistics import SpinStatistics
from bayesing.strength.spectral import fit_spectral, law_at
from bayesing.weak import (
    _against_law,
    _cumulants,
    _exchangeable,
    _sum_of_squares,
    _unseen,
    largest_correlation,
    mean_correlation,
    order,
    signs_of,
    spectrum_signs,
    sum_signs,
)

DENSE = bs.simulate(n_spins=41, n_samples=130, J=0.6, H=0.3, seed=5).spins


def bursts(N=20_000, n=60, seed=0):
    rng = np.random.default_rng(seed)
    rate = np.where(rng.random(N) < 0.02, 0.15, 0.01)
    return np.where(rng.random((N, n)) < rate[:, None], 1, -1).astype(np.int8)


def blocks(N=5000, seed=0):
    """25 rare spins in five blocks, coupled inside."""
    J = np.kron(np.eye(5), np.full((5, 5), 0.35)) - 0.35 * np.eye(25)
    return bs.sample(bs.IsingModel(J, -0.5), N, seed=seed)


def two_patterns(N=1500, n=30, seed=0):
    """Independent spins, whose fields are one of two patterns."""
    rng = np.random.default_rng(seed)
    fields = rng.normal(0, 0.8, (2, n))[(rng.random(N) < 0.4).astype(int)]
    return np.where(rng.random((N, n)) < 1 / (1 + np.exp(-2 * fields)), 1, -1).astype(np.int8)


@pytest.mark.parametrize("N", [20, 41, 130])
def test_mean_correlation_is_that_of_all_pairs(N):
    X = DENSE[:N]
    c = np.corrcoef(X[:, np.abs(X.mean(axis=0)) < 1], rowvar=False)
    c = c[np.triu_indices(len(c), 1)]
    expected = c.sum() / math.sqrt((c**2).sum())
    found = mean_correlation(SpinStatistics.of(X))
    assert found == pytest.approx((expected, math.sqrt((c**2).mean())), rel=1e-10)


def test_two_spins_have_one_correlation_however_small():
    X = np.array([[1, 1], [1, 1], [1, 1], [1, -1], [1, -1], [-1, 1], [-1, 1], [-1, -1], [-1, -1]])
    c = np.corrcoef(X, rowvar=False)[0, 1]
    assert 0 < c < 0.2
    assert mean_correlation(SpinStatistics.of(X)) == pytest.approx((1.0, c))


def test_squares_of_all_correlations_add_up():
    X = DENSE[:12]
    c = np.corrcoef(X[:, np.abs(X.mean(axis=0)) < 1], rowvar=False)
    assert _sum_of_squares(SpinStatistics.of(X).kept) == pytest.approx((c**2).sum(), rel=1e-5)


def test_many_spins_of_few_samples_are_not_made_a_matrix_of(monkeypatch):
    X = DENSE[:30].copy()
    X[:, 7] = X[:, 3] = np.where(np.arange(30) < 12, 1, -1)
    stats, whole = SpinStatistics.of(X), mean_correlation(SpinStatistics.of(X))
    monkeypatch.setattr("bayesing.weak._MOST_COMPARED", 10)
    monkeypatch.setattr("bayesing.weak._AT_A_TIME", 100)
    assert largest_correlation(stats) == 0
    assert mean_correlation(stats) == pytest.approx(whole, rel=1e-12)
    monkeypatch.setattr("bayesing.weak._MOST_STANDARDISED", 300)  # seven rows in a piece
    pieces = mean_correlation(SpinStatistics.of(X), formed=False)
    assert pieces == pytest.approx(whole, rel=1e-5) and pieces != whole


@pytest.mark.parametrize("N", [30, 130])
def test_the_largest_correlation_is_of_spins_that_are_often_on_either_side(N):
    X = DENSE[:N].copy()
    X[:, 7] = np.where(np.arange(N) < 10, 1, -1)
    X[:, 3] = -X[:, 7]
    assert largest_correlation(SpinStatistics.of(X)) == pytest.approx(1)
    X[:, 7] = X[:, 3] = np.where(np.arange(N) < 9, 1, -1)
    often = np.minimum((X > 0).sum(axis=0), (X < 0).sum(axis=0)) >= 10
    c = np.corrcoef(X[:, often], rowvar=False) - np.eye(often.sum())
    assert largest_correlation(SpinStatistics.of(X)) == pytest.approx(np.abs(c).max(), rel=1e-5)


@pytest.mark.parametrize("a", [0.5, 3.0])
def test_eigenvalues_at_the_quantiles_of_the_law_have_no_distance_to_it(a):
    n, g = 200, 0.4
    law = law_at(g, a * n, n)
    zero = a < 1
    d, w = (law.d[:-1], law.w[:-1]) if zero else (law.d, law.w)
    below = (np.cumsum(w) - w / 2) / w.sum()
    k = round(a * n) if zero else n
    values = np.interp((np.arange(k) + 0.5) / k, below, d)
    made = Spectrum(np.append(values, 0.0), np.append(np.ones(k), n - k), a * n) if zero else None
    distance, edge = _against_law(made or Spectrum(values, np.ones(n), a * n), g)
    assert distance < 0.006
    assert edge == pytest.approx(values[-1] / law.d.max()) and edge < 1
    stretched = Spectrum(np.append(1.5 * values, 0.0), made.w, a * n) if made else None
    distance, edge = _against_law(stretched or Spectrum(1.5 * values, np.ones(n), a * n), g)
    assert distance > 0.1
    assert edge == pytest.approx(1.5 * values[-1] / law.d.max())


def test_the_spectrum_is_compared_at_the_strength_that_was_found():
    stats = SpinStatistics.of(DENSE)
    fit = fit_spectral(stats)
    found = spectrum_signs(stats, fit)
    assert found.g == pytest.approx(fit.gamma * (1 - stats.overlap) ** 2)
    susceptible = bs.EmpiricalBayes(method="susceptibility").fit(DENSE)
    assert found.ratio == pytest.approx(susceptible.J_ / math.sqrt(fit.gamma))
    assert found.excess == pytest.approx((susceptible.gamma_ - fit.gamma) / fit.gamma_error)


def test_order_is_one_where_the_sum_of_the_spins_varies_without_bound():
    up = np.where(np.random.default_rng(0).random((400, 50)) < 0.9, 1, -1).astype(np.int8)
    sides = np.where(np.arange(400) % 2, 1, -1)[:, None].astype(np.int8)
    assert order(SpinStatistics.of(up * sides).moments) > 0.95
    assert abs(order(SpinStatistics.of(DENSE).moments)) < 0.5


def test_the_sum_of_independent_spins_has_no_sign_whatever_their_means():
    """All combinations of 1 of 2, 1 of 4 and 3 of 4 and 1 of 8: exactly independent."""
    columns = [[1, -1] * 4, [1, -1, -1, -1] * 2, [1, 1, 1, -1] * 2, [1, *[-1] * 7]]
    X = np.array(list(itertools.product(*columns)), dtype=np.int8)
    stats = SpinStatistics.of(X)
    found = sum_signs(stats, stats.active)
    assert found.skewness == pytest.approx(0, abs=1e-12)
    assert found.kurtosis == pytest.approx(0, abs=1e-12)


def test_skewness_and_kurtosis_are_those_of_the_sum_less_those_of_independent_spins():
    X = blocks(500)
    stats = SpinStatistics.of(X)
    y = X.sum(axis=1) - X.sum(axis=1).mean()
    p = (1 + X.mean(axis=0)) / 2
    third = 8 * np.sum(p * (1 - p) * (1 - 2 * p))
    found = sum_signs(stats, stats.active)
    assert found.skewness == pytest.approx(((y**3).mean() - third) / y.std() ** 3)
    assert found.kurtosis == pytest.approx((y**4).mean() / y.std() ** 4 - 3)  # of rare spins it is positive
    common = (
        np.where(np.random.default_rng(1).random((800, 9)) < 0.6, 1, -1)
        * np.where(np.arange(800) % 2, 1, -1)[:, None]
    )
    stats = SpinStatistics.of(common.astype(np.int8))
    y = common.sum(axis=1) - common.sum(axis=1).mean()
    p = (1 + common.mean(axis=0)) / 2
    fourth = 16 * np.sum(p * (1 - p) * (1 - 6 * p * (1 - p)))
    found = sum_signs(stats, stats.active)
    assert found.kurtosis == pytest.approx(((y**4).mean() - fourth) / y.std() ** 4 - 3)


@pytest.mark.parametrize("rate", [0.5, 0.1, 0.001])
def test_skewness_of_independent_spins_has_the_error_that_it_says(rate):
    rng = np.random.default_rng(8)
    rates = np.full(20, rate) * rng.uniform(0.5, 1.5, 20)
    found = []
    for _ in range(200):
        stats = SpinStatistics.of(np.where(rng.random((3000, 20)) < rates, 1, -1)).kept
        found.append(sum_signs(stats, stats.active).skewness_errors)
    # Less the sampled rates, which go along: the spread is at most 1, and not much less.
    assert 0.4 < np.std(found) < 1 + 3 / math.sqrt(400)


@pytest.mark.parametrize(("mean", "variance"), [(0.8, 1.6), (4.0, 6.0), (30.0, 200.0)])
def test_exchangeable_spins_have_the_mean_and_variance_asked_for(mean, variance):
    n = 60
    k = np.arange(n + 1.0)
    states = np.array([math.lgamma(n + 1) - math.lgamma(x + 1) - math.lgamma(n - x + 1) for x in k])
    P = np.exp(_exchangeable(states, k, mean, variance))
    assert P.sum() == pytest.approx(1)
    assert P @ k == pytest.approx(mean, rel=1e-4)
    assert P @ (k - mean) ** 2 == pytest.approx(variance, rel=1e-3)
    # Exponential of a quadratic, times the number of states.
    exponent = np.log(P) - states
    assert np.ptp(np.diff(exponent, 3)) < 1e-6


def test_bursts_have_samples_that_no_pairwise_model_explains_and_others_have_none():
    X = bursts()
    stats = SpinStatistics.of(X)
    assert sum_signs(stats, stats.active).unseen > 5
    for X in (DENSE, blocks(), two_patterns()):
        stats = SpinStatistics.of(X)
        assert sum_signs(stats, stats.active).unseen == 0


def test_a_state_that_the_data_do_show_is_not_unseen():
    """Spins that are nearly all up or nearly all down: two peaks, both of them seen."""
    rng = np.random.default_rng(0)
    rate = np.where(rng.random(2000) < 0.5, 0.9, 0.1)
    active = rng.binomial(40, rate)
    variance = float(active.var()) - 40 * 0.25
    assert _unseen(active, 2000, 40, variance) == 0
    low = active[active < 20]
    assert _unseen(low, len(low), 40, 0.0) == 0


def test_signs_without_the_mean_are_looked_at_where_there_is_one():
    sim = bs.simulate(n_spins=80, n_samples=800, J=0.4, J0=0.7, sweeps=10, seed=3)
    stats = SpinStatistics.of(sim.spins)
    found = signs_of(stats, fit_spectral(stats), MEAN)
    assert found.with_mean and found.mean > MEAN
    again = spectrum_signs(stats, fit_spectral(stats, True), True)
    assert found.spectrum == again
    plain = SpinStatistics.of(DENSE)
    assert not signs_of(plain, fit_spectral(plain), MEAN).with_mean


def test_without_rows_and_without_a_spectrum_less_is_looked_at():
    stats = SpinStatistics.of(DENSE).without_rows()
    found = signs_of(stats, None, MEAN)
    assert found.sum is None and found.spectrum is None
    assert (found.mean, found.typical) == pytest.approx(mean_correlation(SpinStatistics.of(DENSE)))


def test_a_million_samples_of_independent_spins_are_not_odd():
    """Noise makes eigenvalues narrower than the least g that the law was once compared at."""
    rng = np.random.default_rng(0)
    stats = SpinStatistics.of(2 * rng.integers(2, size=(10**6, 20), dtype=np.int8) - 1)
    found = bs.EmpiricalBayes("spectral").fit(stats)
    assert found.diagnosis_.trusted and found.gamma_ < 1e-5


def test_cumulants_are_those_of_independent_spins():
    """From the distribution of their number: derivatives of ln E e^tk are sums of powers of central moments."""
    p = np.array([0.1, 0.35, 0.5, 0.8])
    P = np.ones(1)
    for rate in p:
        P = np.convolve(P, [1 - rate, rate])
    x = np.arange(5) - p.sum()
    m2, m3, m4, m6 = (P @ x**k for k in (2, 3, 4, 6))
    k4 = m4 - 3 * m2**2
    expected = m2, m3, k4, m6 - 15 * m4 * m2 - 10 * m3**2 + 30 * m2**3
    assert _cumulants(p) == pytest.approx(expected)


def test_unseen_samples_are_the_same_on_either_side():
    """Of the number of active spins and of inactive ones."""
    active = np.random.default_rng(5).binomial(60, np.where(np.arange(20_000) % 50, 0.01, 0.15))
    excess = float(active.var()) - 60 * float(np.mean(active / 60)) * (1 - float(np.mean(active / 60)))
    found = _unseen(active, 20_000, 60, excess)
    assert found > 5 and _unseen(60 - active, 20_000, 60, excess) == pytest.approx(found, rel=1e-6)
