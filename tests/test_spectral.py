import numpy as np
import pytest
from scipy.optimize import brentq

import bayesing as bs
from bayesing.strength import Options, spectral
from bayesing.strength.spectral import (
    Spectrum,
    fit_spectral,
    law,
    law_at,
    log_evidence,
    mean_score,
    saddle,
    score,
    score_per_pair,
)

from samples import stats


def spectrum(D, nu):
    return Spectrum(np.linalg.eigvalsh(D), np.ones(len(D)), nu)


def data(n=60, N=40, J=0.7, H=0.3, seed=3):
    return bs.simulate(n, N, J=J, H=H, seed=seed, sweeps=3).spins


def log_partition(J):
    """The spherical form, relative to J = 0: extremum over lambda of n (lambda - 1)/2 - ln det(lambda - J)/2."""
    j = np.linalg.eigvalsh(J)
    lam = brentq(lambda x: np.mean(1 / (x - j)) - 1, j[-1] + 1e-9, j[-1] + len(j))
    return len(j) * (lam - 1) / 2 - np.log(lam - j).sum() / 2


def brute_force(D, g, nu, directions, center):
    """ln P(D | g), and mean and variance of the weights of ``directions`` in J, each of prior variance g/n."""
    n = len(D)
    prior = np.sqrt(g / n)
    grids = [np.linspace(-6, 6, 31) / np.sqrt(nu + prior**-2) + m for m in center]
    points = np.stack(np.meshgrid(*grids, indexing="ij"), -1).reshape(-1, len(grids))
    logs = np.empty(len(points))
    for k, values in enumerate(points):
        J = np.tensordot(values, directions, 1)
        logs[k] = nu * (np.trace(J @ D) / 2 - log_partition(J)) - ((values / prior) ** 2).sum() / 2
    weights = np.exp(logs - logs.max())
    volume = np.prod([grid[1] - grid[0] for grid in grids])
    mean = weights @ points / weights.sum()
    variance = weights @ (points - mean) ** 2 / weights.sum()
    evidence = np.log(weights.sum() * volume) + logs.max() - len(grids) * np.log(prior * np.sqrt(2 * np.pi))
    return evidence, mean, variance


@pytest.mark.parametrize("g", [0.2, 2.0])
def test_with_diagonal_couplings_against_quadrature(g):
    """A full 2 x 2 matrix J, where the saddle is exact: next orders fall as 1/N. lambda undoes the trace of J."""
    D = np.diag([0.75, 1.25])
    directions = np.array([[[1.0, 0], [0, -1]], [[0, 1], [1, 0]]])
    errors = []
    for nu in (200, 800):
        s = spectrum(D, nu)
        at = saddle(g, s)
        exact, mean, variance = brute_force(D, g, nu, directions, [at.j[0], 0.0])
        loops = 1 + nu / 2 * g * at.c**2
        response = np.log((at.c**2).sum() / (at.c**2 / loops).sum()) / 2
        errors.append(abs(log_evidence(g, s) - np.log(loops).sum() / 2 + response - exact))
        assert mean == pytest.approx([at.j[0], 0], abs=4 / nu)
        assert variance[1] == pytest.approx(g / 2 / (1 + nu / 2 * g * at.c.prod()), rel=6 / nu)
    assert errors[0] < 0.03 and errors[1] < 0.3 * errors[0]


def test_three_spins_against_quadrature():
    """No diagonal couplings, as in the model: three couplings cost three factors, lambda has nothing to respond to.

    The saddle has small diagonal entries, which the model has not: they cost a little, in proportion to N.
    """
    D = np.array([[1.0, 0.12, -0.08], [0.12, 1.0, 0.05], [-0.08, 0.05, 1.0]])
    entries = np.triu_indices(3, 1)
    directions = np.zeros((3, 3, 3))
    directions[range(3), entries[0], entries[1]] = directions[range(3), entries[1], entries[0]] = 1
    for g, nu in ((0.2, 200), (2.0, 800)):
        s = spectrum(D, nu)
        at = saddle(g, s)
        V = np.linalg.eigh(D)[1]
        J = (V * at.j) @ V.T
        exact, mean, variance = brute_force(D, g, nu, directions, J[entries])
        assert abs(log_evidence(g, s) - exact) < 0.04
        response = np.log((at.c**2).sum() / (at.c**2 / (1 + nu / 3 * g * at.c**2)).sum()) / 2
        assert response > 1
        assert J[entries] == pytest.approx(mean, abs=0.004)
        K = g / 3 / (1 + nu / 3 * g * np.outer(at.c, at.c))
        assert (V**2 @ K @ (V**2).T)[entries] == pytest.approx(variance, rel=0.03)


@pytest.mark.parametrize("N", [25, 60, 61, 150])
@pytest.mark.parametrize("few", [0, 128])
def test_evidence_and_score_follow_their_definitions(N, few, monkeypatch):
    """Without grouping of null directions, compression of pairs, or derivatives by hand."""
    monkeypatch.setattr(spectral, "_UNCOMPRESSED", few)
    X = data(N=N).astype(float)
    m = X.mean(axis=0)
    Z = (X - m) / np.sqrt(1 - m**2)
    d = np.linalg.eigvalsh(Z.T @ Z / N)
    n, nu = 60, N - 1
    a = nu / n

    def slow(g):
        def c(lam):
            b = lam - a * g * d
            return 2 / (b + np.sqrt(b**2 + 4 * a * g))

        lam = brentq(lambda x: c(x).mean() - 1, -50, 50, xtol=1e-13)
        c = c(lam)
        j = lam - 1 / c
        F = (
            -n / (4 * g) * (j**2).sum()
            + nu / 2 * (j * d).sum()
            - nu / 2 * np.log(c).sum()
            - nu * n * (lam - 1) / 2
        )
        pairs = sum(np.log(1 + a * g * c[k] * c[i]) for k in range(n) for i in range(k))
        return F - pairs / 2

    fast = stats(data(N=N)).spectrum
    scale = fast.scale
    assert scale == pytest.approx(1 / (1 - bs.SpinMoments.of(data(N=N)).q) ** 2)
    for g in (0.02, 0.6, 9.0):
        assert log_evidence(g, fast) == pytest.approx(slow(g), rel=1e-9, abs=1e-8)
        h = 1e-4
        assert score(g, fast) == pytest.approx(
            (slow(g * np.exp(h)) - slow(g * np.exp(-h))) / (2 * h), rel=1e-4, abs=1e-4
        )


@pytest.mark.parametrize("nu", [9, 99, 9999])
def test_the_saddle_is_found_in_a_few_steps(nu):
    """Also where the last digits would make Newton's method go back and forth for ever."""
    steps = []

    class Counted(np.ndarray):
        def __rmul__(self, other):
            steps[-1] += 1
            return np.asarray(self) * other

    d = np.linalg.eigvalsh(np.cov(np.random.default_rng(0).normal(size=(nu + 1, 97)).T))
    for g in np.geomspace(1e-5, 25, 300).tolist():
        steps.append(0)
        at = saddle(g, Spectrum(d.view(Counted), np.ones(97), nu))
        assert at.c.mean() == pytest.approx(1, rel=1e-12)
        assert 1 / at.c == pytest.approx(at.lam - at.j, rel=1e-6)
    assert 1 <= min(steps) and max(steps) < 20


@pytest.mark.parametrize("N", [25, 60, 61, 150])
def test_the_direction_of_a_mean_coupling_is_left_out(N):
    X = data(N=N).astype(float)
    v = 1 - X.mean(axis=0) ** 2
    Z = (X - X.mean(axis=0)) / np.sqrt(v)
    basis = np.linalg.qr(np.column_stack([np.sqrt(v), np.eye(60)[:, :59]]))[0][:, 1:]  # orthogonal to sqrt(v)
    d = np.linalg.eigvalsh(basis.T @ Z.T @ Z @ basis / N)
    s = stats(data(N=N)).spectrum_without_mean
    assert s.n == 59
    assert np.repeat(s.d, s.w.astype(int)).sum() == pytest.approx(59)
    stretch = 59 / d.sum()
    assert np.sort(np.repeat(s.d, s.w.astype(int))) == pytest.approx(d * stretch, abs=1e-9)
    plain = stats(data(N=N)).spectrum.scale
    assert s.scale == pytest.approx(plain * 60 / 59 * stretch**2)


@pytest.mark.parametrize("method", ["spectral", "susceptibility"])
def test_a_strong_mean_coupling_does_not_pass_for_disorder(method):
    """n = 60, J = 0.2, J0 = 0.8: one collective mode has as much of chi_sg as all couplings."""
    sets = [bs.simulate(60, 400, J=0.2, J0=0.8, seed=seed, sweeps=4).spins for seed in range(12)]
    J, J0 = np.mean(
        [[eb.J_, eb.J0_] for eb in (bs.EmpiricalBayes(method, mean_coupling=True).fit(X) for X in sets)],
        axis=0,
    )
    assert J == pytest.approx(0.2, abs=0.03) and J0 == pytest.approx(0.8, abs=0.1)
    with pytest.warns(bs.AnotherKindWarning, match="a mean coupling or a common input"):
        assert np.mean([bs.EmpiricalBayes(method).fit(X).J_ for X in sets]) > 0.27
    auto = [bs.EmpiricalBayes().fit(X) for X in sets]
    assert np.mean([eb.J0_ for eb in auto]) == pytest.approx(0.8, abs=0.1)
    assert all(eb.diagnosis_.trusted and "a mean coupling explains" in eb.reason_ for eb in auto)


def test_small_gamma_is_the_second_order_of_the_expansion():
    """F and its fluctuations start as g (sum_{i<j} D_ij^2 nu^2/n - nu (n-1)/2)/2: signal less noise."""
    X = data(N=50)
    s = stats(X).spectrum
    squares = (s.w @ s.d**2 - 60) / 2  # sum over pairs
    g = 1e-5
    assert log_evidence(g, s) / g == pytest.approx((squares * 49**2 / 60 - 49 * 59 / 2) / 2, rel=1e-2)


@pytest.mark.parametrize(
    ("g", "a"),
    [(0.16, 0.4), (0.64, 3.0), (0.9, 0.33), (0.3, 1.0), (0.7, 0.05), (0.9, 100), (0.64, 1e4), (0.9, 1e6)],
)
def test_moments_of_the_law(g, a):
    s = law(g, 300 * a, 300)
    w = s.w / 300
    assert w.sum() == pytest.approx(1)
    assert w @ s.d == pytest.approx(1, abs=1e-4)
    assert w @ s.d**2 == pytest.approx(1 / (1 - g) + 1 / a, rel=1e-4)  # chi_SG and the noise of sampling
    finite = law_at(g, 300 * a, 300)
    assert finite.w @ finite.d == pytest.approx(300, rel=1e-3)
    assert finite.w @ finite.d**2 / 300 == pytest.approx(1 / (1 - g) + 299 / 300 / a, rel=2e-3)


@pytest.mark.parametrize("a", [0.5, 2.0])
def test_the_law_is_that_of_random_matrices(a):
    """Moments of sample covariances of (lambda - J)^-1 with J symmetric and Gaussian, n = 300, mean of 12."""
    n, g, found = 300, 0.36, []
    rng = np.random.default_rng(1)
    for _ in range(12):
        J = np.triu(rng.normal(0, np.sqrt(g / n), (n, n)), 1)
        j, V = np.linalg.eigh(J + J.T)
        lam = brentq(lambda x, j=j: np.mean(1 / (x - j)) - 1, j[-1] + 1e-9, j[-1] + n)
        Z = rng.normal(size=(int(a * n), n)) @ (V / np.sqrt(lam - j)).T
        d = np.linalg.eigvalsh(Z.T @ Z / len(Z))
        found.append([np.mean(d**k) for k in (2, 3, 4)])
    s = law(g, a * n, n)
    error = np.std(found, axis=0, ddof=1) / np.sqrt(12)
    for k, mean, standard_error in zip((2, 3, 4), np.mean(found, axis=0), error, strict=True):
        theory = s.w @ s.d**k / n
        assert abs(mean - theory) < 3 * standard_error + 2 * k * theory / n


def test_the_mean_score_removes_the_bias():
    """12 data sets: the uncorrected estimate is low by many standard errors, the corrected one is not."""
    fits = [
        fit_spectral(stats(bs.simulate(150, 75, J=0.6, H=0.2, seed=seed, sweeps=4).spins))
        for seed in range(12)
    ]
    J = np.sqrt([[fit.gamma_uncorrected, fit.gamma] for fit in fits])
    error = J.std(axis=0, ddof=1) / np.sqrt(12)
    assert J.mean(axis=0)[0] < 0.6 - 4 * error[0]
    assert abs(J.mean(axis=0)[1] - 0.6) < 3 * error[1] + 0.6 / 150


def test_the_mean_score_fades_out_and_is_continuous():
    assert mean_score(1.3, 100, 100) == mean_score(4.0, 100, 100) == 0
    assert mean_score(0.9 - 1e-9, 100, 100) == pytest.approx(mean_score(0.9 + 1e-9, 100, 100), rel=1e-6)
    assert mean_score(0.5, 100, 100) < 0


@pytest.mark.parametrize(("n", "N"), [(40, 5000), (10, 1000), (60, 20)])
def test_noise_is_two_over_N_whatever_N(n, N):
    X = np.random.default_rng(N).choice(np.array([-1, 1], np.int8), (N, n))
    assert 0.6 * 2 / N < fit_spectral(stats(X)).gamma_error < 1.6 * 2 / N


def test_weak_couplings_are_seen_in_many_samples():
    fit = fit_spectral(stats(bs.simulate(40, 20_000, J=0.025, sweeps=2, seed=1).spins))
    assert abs(fit.gamma - 0.025**2) < 3 * fit.gamma_error < 0.025**2


def test_no_couplings_is_zero_with_an_error():
    fit = fit_spectral(stats(bs.simulate(100, 60, J=0.0, seed=0).spins))
    assert fit.gamma == fit.bound == 0 and 0.7 * 2 / 60 < fit.gamma_error < 1.4 * 2 / 60


def test_the_largest_gamma_is_a_bound():
    copies = np.repeat(bs.simulate(5, 40, J=0.0, seed=1).spins, 8, axis=1)
    flips = np.random.default_rng(0).random(copies.shape) < 0.02
    fit = fit_spectral(stats(np.where(flips, -copies, copies)))
    assert fit.bound == pytest.approx(fit.gamma) and fit.gamma / fit.spectrum.scale == pytest.approx(25)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((6, 4), np.int8), "at least 2 spins .* that vary between samples: found 0 of 4"),
        (np.tile([[1, -1, 1]], (5, 1)).astype(np.int8), "found 0 of 3"),
        (data(N=3), "at least 4 samples: found 3"),
    ],
)
def test_data_that_say_nothing(X, message):
    with pytest.raises(ValueError, match=message):
        fit_spectral(stats(X))


def test_duplicated_columns_and_symmetries():
    X = data()
    fit = fit_spectral(stats(X))
    doubled = fit_spectral(stats(np.hstack([X, X[:, :5]])))
    assert np.isfinite(doubled.gamma) and doubled.gamma > fit.gamma
    flipped = X * np.where(np.arange(60) % 3 == 0, -1, 1).astype(np.int8)
    assert fit_spectral(stats(flipped)).gamma == pytest.approx(fit.gamma, rel=1e-6)
    assert fit_spectral(stats(X[::-1, ::-1])).gamma == pytest.approx(fit.gamma, rel=1e-6)


def test_the_score_per_pair_is_the_slope_of_the_evidence():
    X = stats(bs.simulate(12, 50, J=0.6, H=0.2, seed=2).spins)
    fit, gamma, h = fit_spectral(X), 0.3, 1e-4
    slope = (fit.evidence(gamma * (1 + h)) - fit.evidence(gamma * (1 - h))) / (2 * h)
    assert score_per_pair(X, gamma) == pytest.approx(slope / (12 * 11 / 2), rel=1e-5)
    assert fit.evidence(0.0) == 0 == pytest.approx(fit.evidence(1e-9), abs=1e-6)
    found = spectral.METHOD.fit(X, Options()).evidence
    assert found.at(0.1, [0.0, gamma]) == pytest.approx([0, fit.evidence(gamma) / (12 * 50)])
