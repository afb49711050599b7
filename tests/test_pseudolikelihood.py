import math

import numpy as np
import pytest

import bayesing as bs
from bayesing.conditionals import curvature, log_conditional, slope
from bayesing.strength import Options
from bayesing.strength.pseudolikelihood import (
    MANY_SPINS,
    METHOD,
    Conditionals,
    _peak,
    fit_pseudolikelihood,
    score_per_spin,
)

from samples import repeated, stats


def spins(n, N, seed=4, J=0.9, H=0.3):
    return bs.simulate(n, N, J=J, H=H, seed=seed, sweeps=3).spins


def quadrature(X, i, gamma):
    """ln of the average of prod_a P(s_i | rest) over b_i ~ N(beta_i, 1) and two couplings ~ N(0, gamma/3)."""
    z = np.linspace(-5, 5, 120)
    w = np.exp(-(z**2) / 2)
    w /= w.sum()
    j, k = (other for other in range(3) if other != i)
    d, m = X.mean(axis=0), X[:, i].sum() / (len(X) + 1)
    field, a, b = np.meshgrid(
        np.arctanh(m) - m + z, z * np.sqrt(gamma / 3), z * np.sqrt(gamma / 3), indexing="ij"
    )
    states, counts = np.unique(X, axis=0, return_counts=True)
    total = sum(
        -count * np.log1p(np.exp(-2 * x[i] * (field + a * (x[j] - d[j]) + b * (x[k] - d[k]))))
        for x, count in zip(states.astype(float), counts, strict=True)
    )
    return np.log(np.einsum("hab,h,a,b", np.exp(total - total.max()), w, w, w)) + total.max()


def test_conditionals_are_those_of_the_model():
    """P(s_0 | rest) from the energies of both states of spin 0."""
    rng = np.random.default_rng(0)
    J = np.triu(rng.normal(size=(4, 4)), 1)
    model = bs.IsingModel(J + J.T, rng.normal(size=4))
    S = np.array([[1, -1, 1, 1], [-1, -1, 1, 1]])
    f = model.fields[0] + model.couplings[0] @ S[0]
    p = np.exp(-model.energy(S))
    assert np.exp(log_conditional(S[:, 0], f)) == pytest.approx(p / p.sum())


def test_derivatives_of_the_conditionals():
    f, h = np.linspace(-3, 3, 13), 1e-5
    for s in (-1, 1):
        by_f = (log_conditional(s, f + h) - log_conditional(s, f - h)) / (2 * h)
        assert slope(s, f) == pytest.approx(by_f, abs=1e-8)
        assert curvature(f) == pytest.approx(-(slope(s, f + h) - slope(s, f - h)) / (2 * h), abs=1e-8)


def test_evidence_against_quadrature():
    """Laplace's approximation is off by O(1/N): a quarter for four times the samples."""
    errors = []
    for N in (60, 240):
        X = spins(3, N)
        errors.append(
            [Conditionals(stats(X)).evidence(i, 0.8).value - quadrature(X, i, 0.8) for i in range(3)]
        )
    assert np.abs(errors[0]).max() < 0.2
    assert np.mean(np.abs(errors[1])) < 0.45 * np.mean(np.abs(errors[0]))


@pytest.mark.parametrize(("n", "N"), [(7, 40), (30, 11)])
@pytest.mark.parametrize("gamma", [0.05, 1.3])
def test_primal_and_dual_agree(n, N, gamma):
    conditionals = Conditionals(stats(spins(n, N)))
    for i in (0, n - 2):
        a, b = conditionals.primal(i, gamma), conditionals.dual(i, gamma)
        assert a.value == pytest.approx(b.value, abs=1e-4)
        assert a.score == pytest.approx(b.score, abs=5e-3)  # modes differ by what is tolerated
        assert a.field == pytest.approx(b.field, abs=1e-4)


@pytest.mark.parametrize("space", ["primal", "dual"])
def test_identical_rows_count_as_often_as_they_occur(monkeypatch, space):
    X = repeated(R=20, n=6)
    once = Conditionals(stats(X))
    monkeypatch.setattr("bayesing.weighted._FEWER", 0.0)
    often = Conditionals(stats(X))
    assert len(once.F) < 21 and len(often.F) == len(X) == 210
    for i, gamma in ((0, 0.3), (4, 2.0)):
        a, b = getattr(once, space)(i, gamma), getattr(often, space)(i, gamma)
        assert a.value == pytest.approx(b.value, abs=1e-4) and a.field == pytest.approx(b.field, abs=1e-4)
        assert a.score == pytest.approx(b.score, abs=1e-3)


@pytest.mark.parametrize("data", [repeated(R=40, n=7), spins(7, 200, H=0.8)])
def test_modes_of_several_spins_at_once(data):
    """Where the slope of each regression, one sample and one weight at a time, is next to 0."""
    targets, lam, N = [5, 0, 2], 7 / 0.6, len(data)
    conditionals = Conditionals(stats(data))
    start = np.random.default_rng(0).normal(0, 0.5, (7, 3))
    found = conditionals.modes.near(targets, conditionals.middle[targets], lam, start)
    z = data - data.mean(axis=0)
    for i, w in zip(targets, found.T, strict=True):
        F = z.copy()
        F[:, i] = 1
        precision = np.where(np.arange(7) == i, 1.0, lam)
        f = conditionals.middle[i] + np.array([sum(row * w) for row in F])
        gradient = F.T @ (data[:, i] - np.tanh(f)) - precision * w
        assert np.abs(gradient).max() < 3e-3 * math.sqrt(N)
        assert conditionals.primal(i, 0.6).mode == pytest.approx(w, abs=1e-3)


def test_the_spectrum_preconditions_the_modes():
    """With the wrong one the modes would be found by the evidence, slowly."""
    X = spins(40, 1000, J=0.8)
    modes = Conditionals(stats(X)).modes
    looks, look = [], modes._fields
    modes._fields = lambda *a: looks.append(1) or look(*a)
    modes.near(list(range(40)), Conditionals(stats(X)).middle, 40 / 0.64, np.zeros((40, 40)))
    assert len(looks) <= 22


def test_the_field_is_that_of_spins_that_are_not_centred():
    """At the mode the slope along the field is what the prior pulls: local fields are h_i + sum_j J_ij s_j."""
    X, i = spins(7, 40, H=0.8), 2
    found = Conditionals(stats(X)).primal(i, 0.9)
    J = found.mode.copy()
    J[i] = 0
    slopes = X[:, i] - np.tanh(found.field + X @ J)
    assert slopes.sum() == pytest.approx(found.mode[i], abs=1e-2)
    assert slopes @ (X - X.mean(axis=0)) * (J != 0) == pytest.approx(7 / 0.9 * J, abs=1e-2)
    assert abs(X.mean(axis=0) @ J) > 0.1


@pytest.mark.parametrize("space", ["primal", "dual"])
def test_the_score_is_the_slope_of_the_evidence(space):
    evidence = getattr(Conditionals(stats(spins(9, 25))), space)
    h = 0.05  # large, since products are in single precision
    for gamma in (0.1, 2.0):
        numeric = (evidence(3, gamma * np.exp(h)).value - evidence(3, gamma * np.exp(-h)).value) / (2 * h)
        assert evidence(3, gamma).score == pytest.approx(numeric, abs=3e-3)


def test_warm_starts_change_nothing():
    conditionals = Conditionals(stats(spins(12, 30)))
    cold = conditionals.evidence(2, 0.7)
    before = conditionals.evidence(2, 0.5)
    warm = conditionals.evidence(2, 0.7, before.mode + before.mode_slope * np.log(0.7 / 0.5))
    assert (warm.value, warm.score) == pytest.approx((cold.value, cold.score), abs=1e-3)


def test_the_estimate_maximises_the_sum():
    X = spins(15, 120, seed=2)
    fit = fit_pseudolikelihood(stats(X))
    conditionals = Conditionals(stats(X))

    def total(gamma):
        return sum(conditionals.evidence(i, gamma).value for i in range(15))

    assert fit.bound is None
    assert total(fit.gamma) > max(total(fit.gamma * 0.93), total(fit.gamma * 1.07))
    # A parabola through three points has its maximum where the fit says.
    u = np.log(fit.gamma) + np.array([-0.1, 0, 0.1])
    a, b, _ = np.polyfit(u, [total(g) for g in np.exp(u)], 2)
    assert -b / (2 * a) == pytest.approx(np.log(fit.gamma), abs=5e-3)


def test_a_subset_agrees_within_its_error():
    X = spins(60, 100, seed=6)
    full, part = fit_pseudolikelihood(stats(X), seed=0), fit_pseudolikelihood(stats(X), 15, seed=0)
    assert len(set(part.targets.tolist())) == 15
    assert part.gamma_error > full.gamma_error
    assert abs(part.gamma - full.gamma) < 3 * part.gamma_error
    assert part.gamma == fit_pseudolikelihood(stats(X), 15, seed=0).gamma


def test_bounds_are_reported():
    quiet = fit_pseudolikelihood(stats(bs.simulate(30, 60, J=0.0, seed=3).spins))
    assert quiet.gamma == quiet.bound == 0 and 0.5 * 2 / 60 < quiet.gamma_error < 3 * 2 / 60
    pairs = np.repeat(bs.simulate(4, 400, J=0.0, seed=1).spins, 2, axis=1)
    strong = fit_pseudolikelihood(stats(pairs))
    assert np.isfinite(strong.gamma) and strong.gamma > 3  # couplings as strong as the data can show


def test_it_goes_on_through_the_spin_glass():
    J = [
        fit_pseudolikelihood(stats(bs.simulate(60, 240, J=J, seed=1, sweeps=10).spins)).gamma ** 0.5
        for J in (0.8, 1.2, 1.6)
    ]
    assert J[0] < J[1] - 0.2 < J[2] - 0.4


def test_constant_spins_are_left_out():
    X = spins(20, 50)
    with_constant = np.insert(X, 4, 1, axis=1)
    a, b = fit_pseudolikelihood(stats(X), seed=0), fit_pseudolikelihood(stats(with_constant), seed=0)
    assert b.gamma == pytest.approx(a.gamma * 21 / 20) and 4 not in b.targets
    with pytest.raises(ValueError, match=r"at least 2 spins .* that vary between samples: found 1 of 3"):
        fit_pseudolikelihood(stats(np.array([[1, 1, -1], [1, -1, -1], [1, 1, -1], [1, 1, -1]], np.int8)))
    with pytest.raises(ValueError, match="at least 4 samples: found 3"):
        fit_pseudolikelihood(stats(X[:3]))


def test_spins_that_share_couplings_are_not_independent():
    """Over 80 data sets gamma varies as its error says, to 8%; without what spins share it would by 1.4 times."""
    sets = [bs.simulate(60, 100, J=0.8, seed=seed, sweeps=3).spins for seed in range(80)]
    found = np.array([(fit.gamma, fit.gamma_error) for fit in map(fit_pseudolikelihood, map(stats, sets))])
    assert found[:, 0].std(ddof=1) / np.sqrt(np.mean(found[:, 1] ** 2)) == pytest.approx(1, abs=3 * 0.08)


@pytest.mark.parametrize("centre", [-7.3, -2.2, 0.4, 3.1])
@pytest.mark.parametrize("shape", ["tanh", "cube root", "step"])
def test_the_search_ends(centre, shape):
    """A plain secant method goes in circles on a cube root, for ever, as it did on data."""
    calls = []

    def scores(u):
        calls.append(u)
        x = u - centre
        value = {"tanh": math.tanh(5 * x), "cube root": math.cbrt(x), "step": math.tanh(1000 * x)}[shape]
        return np.array([-0.7, -0.3]) * value

    peak, _, _ = _peak(scores, math.log(0.25), step=0.5)
    assert peak == pytest.approx(centre, abs=0.03) and len(calls) < 40


def test_the_statistic_of_calibration_is_the_score_at_its_own_gamma():
    data, options = stats(spins(20, 50)), Options()
    found = METHOD.fit(data, options)
    seen = METHOD.statistic(found, 3.0, options)(data)
    assert seen == score_per_spin(data, found.gamma, MANY_SPINS) != score_per_spin(data, 3.0, MANY_SPINS)


@pytest.mark.parametrize(("n", "N"), [(30, 200), (60, 100)])
def test_the_error_is_that_of_the_definition_wherever_the_search_begins(n, N):
    """Spread of the scores over the slope of their sum, both at the peak, and each pair counted twice."""
    data, u = stats(bs.simulate(n, N, J=0.5, H=0.2, seed=2).spins), 0.05
    fits = [fit_pseudolikelihood(data, start=start) for start in (0.03, 0.25, 1.5)]
    gamma = fits[0].gamma
    scores = np.array([Conditionals(data).evidence(i, gamma).score for i in range(n)])
    fall = (
        n * (score_per_spin(data, gamma * math.exp(-u)) - score_per_spin(data, gamma * math.exp(u))) / (2 * u)
    )
    expected = gamma * math.sqrt(2 * n * scores.var(ddof=1)) / fall
    for fit in fits:
        assert fit.gamma == pytest.approx(gamma, abs=0.02 * expected)
        assert fit.gamma_error == pytest.approx(expected, rel=0.05)


def test_an_error_at_zero_is_finite_where_the_score_rises_there():
    """Of four samples of three spins; couplings then have errors, too."""
    X = np.array([[1, -1, -1], [1, 1, 1], [-1, -1, 1], [-1, 1, 1]], np.int8)
    fit = fit_pseudolikelihood(stats(X))
    assert fit.gamma == 0 and fit.gamma_error == pytest.approx(2 / 4 * math.sqrt(3 / 2))
    with pytest.warns(bs.BayesingWarning):
        bm = bs.BoltzmannMachine("pseudolikelihood").fit(X)
    assert not bm.couplings_.any() and (bm.coupling_errors_ + np.eye(3) > 0.1).all()
