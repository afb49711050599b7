import numpy as np
import pytest
from scipy.optimize import check_grad

import bayesing as bs
from bayesing.couplings.exact import fit_exact
from bayesing.couplings.pseudolikelihood import (
    errors_of,
    fit_couplings,
    maximise,
    objective,
    penalty_of,
    symmetric,
)
from bayesing.weighted import WeightedRows

from samples import draw_exactly, random_model, random_spins, stats
from slow import Posterior, pack, unpack


def slow_objective(X, J, b, penalty):
    """Minus ln P of every spin of every sample, and the penalties, one at a time."""
    N, n = X.shape
    value, d, m = 0.0, X.mean(axis=0), X.sum(axis=0) / (N + 1)
    for a in range(N):
        for i in range(n):
            f = b[i] + sum(J[i, j] * (X[a, j] - d[j]) for j in range(n) if j != i)
            value += np.log(1 + np.exp(-2 * X[a, i] * f))
    value += penalty / 2 * sum(J[i, j] ** 2 for i in range(n) for j in range(i))
    return (value + sum((b - np.arctanh(m) + m) ** 2) / 2) / N


@pytest.mark.parametrize("N", [4, 1203])
def test_objective_is_its_definition_and_the_gradient_its_slope(N):
    """With more than 1000 samples too, where logarithms are taken of several products."""
    X = random_spins(N, 5, seed=2)
    rng = np.random.default_rng(0)
    upper, b = rng.normal(0, 0.5, 10), rng.normal(0.3, 0.5, 5)
    function = objective(WeightedRows.of(X), 3.7)
    theta = np.concatenate([upper, b])
    J = symmetric(upper, 5)
    assert (J == J.T).all() and J[0, 2] == upper[1] and J[3, 4] == upper[9]
    assert function(theta)[0] == pytest.approx(slow_objective(X.astype(int), J, b, 3.7), rel=1e-12)
    assert check_grad(lambda t: function(t)[0], lambda t: function(t)[1], theta, epsilon=1e-6) < 1e-5


def test_fields_far_out_are_no_trouble():
    function = objective(WeightedRows.of(random_spins(30, 5)))
    value, gradient = function(np.full(15, 800.0))
    assert np.isfinite(value) and np.isfinite(gradient).all()


def test_penalties():
    """Twice the prior's: n J^2/(2 gamma) and sqrt(2n/gamma) |J|."""
    assert penalty_of(0.3, 7) == pytest.approx(2 * 7 / 0.3)
    assert penalty_of(0.3, 7, "laplace") == pytest.approx(2 * np.sqrt(2 * 7 / 0.3))


def test_any_start_gives_the_same():
    X = random_spins(40, 12)
    cold = fit_couplings(stats(X), 0.5, tolerance=1e-7)
    warm = fit_couplings(stats(X), 0.5, start=np.random.default_rng(0).normal(0, 1, (12, 12)), tolerance=1e-7)
    assert warm.matrix == pytest.approx(cold.matrix, abs=1e-6) and warm.fields == pytest.approx(
        cold.fields, abs=1e-6
    )
    assert cold.penalty == 48
    assert maximise(WeightedRows.of(X), 48, tolerance=1e-7)[2] <= 1e-7


@pytest.mark.parametrize("N", [25, 300])
def test_laplace_meets_the_conditions_of_optimality(N):
    """Slope of the likelihood: -lambda sign(J) where J is not 0, within ±lambda where it is."""
    X = random_spins(N, 15, seed=1)
    fit = fit_couplings(stats(X), 0.5, "laplace", tolerance=1e-8)
    upper = np.triu_indices(15, 1)
    J = fit.matrix[upper]
    b = fit.fields + fit.matrix @ X.mean(axis=0)
    gradient = N * objective(WeightedRows.of(X))(np.concatenate([J, b]))[1]
    slope, weight = gradient[: len(J)], 2 * np.sqrt(2 * 15 / 0.5)
    assert fit.penalty == pytest.approx(weight)
    zero = J == 0
    assert 0.05 < zero.mean() < 0.95
    assert slope[~zero] == pytest.approx(-weight * np.sign(J[~zero]), abs=1e-5 * N)
    assert (np.abs(slope[zero]) < weight + 1e-5 * N).all()
    assert np.abs(gradient[len(J) :]).max() < 1e-5 * N
    warm = fit_couplings(stats(X), 0.5, "laplace", start=fit_couplings(stats(X), 0.5).matrix, tolerance=1e-8)
    assert warm.matrix == pytest.approx(fit.matrix, abs=1e-5)


def test_agrees_with_exact_maximum_likelihood_as_samples_grow():
    """n = 10: without a penalty the two estimators differ by less than their errors, which fall as 1/sqrt(N)."""
    model = random_model(10, 0.9, seed=2)
    X = bs.sample(model, 40_000, sampler="anneal", sweeps=5, seed=1)
    upper = np.triu_indices(10, 1)
    differences = []
    for N in (1_000, 40_000):
        exact = fit_exact(stats(X[:N]))
        J = maximise(WeightedRows.of(X[:N]), 0.0)[0]
        difference = np.sqrt(np.mean((J - exact.matrix)[upper] ** 2))
        assert difference < 0.5 * np.sqrt(np.mean(exact.errors[upper] ** 2))
        differences.append(difference)
    assert differences[1] < differences[0] / 3
    fit = fit_couplings(stats(X), 0.81)
    z = ((fit.matrix - model.couplings)[upper]) / fit.errors[upper]
    assert np.abs(z).max() < 4 and np.abs(fit.fields - model.fields).max() < 0.1


def test_separable_data_do_not_diverge():
    """N < n: without the prior couplings would be infinite."""
    X = random_spins(8, 30)
    for prior in ("gaussian", "laplace"):
        fit = fit_couplings(stats(X), 1.0, prior)
        assert np.abs(fit.matrix).max() < 1 and np.abs(fit.fields).max() < 3
        assert (fit.errors[np.triu_indices(30, 1)] <= np.sqrt(1 / 30) + 1e-12).all()


def test_constant_spins_have_no_couplings_and_the_deviation_of_the_prior():
    X = random_spins(50, 9)
    with_constant = np.insert(X, 4, 1, axis=1)
    fit = fit_couplings(stats(with_constant), 1.0)
    assert (fit.matrix[4] == 0).all() and fit.fields[4] > 1
    assert np.delete(fit.errors[4], 4) == pytest.approx(np.sqrt(1 / 10))
    alone = fit_couplings(stats(X), 0.9)  # the same variance gamma/n
    kept = np.arange(10) != 4
    assert fit.matrix[np.ix_(kept, kept)] == pytest.approx(alone.matrix, abs=1e-9)
    assert fit.fields[kept] == pytest.approx(alone.fields, abs=1e-9)


def exact_errors(X, J, h, penalty):
    """sqrt(2/Hessian) of all couplings and centred fields, from the full matrix of second derivatives."""
    N, n = X.shape
    i, j = np.triu_indices(n, 1)
    S = X.astype(float)
    Z, W = S - S.mean(axis=0), 1 - np.tanh(S @ J + h) ** 2
    hessian = np.diag(np.concatenate([np.full(len(i), float(penalty)), np.ones(n)]))
    for k in range(n):
        features = np.zeros((N, len(i) + n))
        features[:, : len(i)] = (i == k) * Z[:, j] + (j == k) * Z[:, i]
        features[:, len(i) + k] = 1
        hessian += features.T @ (W[:, [k]] * features)
    return symmetric(np.sqrt(2 * np.diag(np.linalg.inv(hessian)))[: len(i)], n)


@pytest.mark.parametrize(
    ("J", "H", "room"), [(0.3, 0.0, 0.01), (0.3, 0.4, 0.02), (0.9, 0.3, 0.07), (0.3, 0.8, 0.07)]
)
def test_errors_against_the_whole_hessian(J, H, room):
    """Mean curvatures are enough where couplings are weak, and nearly so where they are not."""
    n = 5 if H == 0.8 else 16  # the mean of the spins matters as one direction of n
    sim = bs.simulate(n, 300, J=J, H=H, seed=2, sweeps=5)
    fit = fit_couplings(stats(sim.spins), J**2)
    exact = exact_errors(sim.spins, fit.matrix, fit.fields, fit.penalty)
    upper = np.triu_indices(n, 1)
    ratio = (fit.errors / np.where(exact > 0, exact, 1))[upper]
    assert abs(np.log(ratio).mean()) < 0.01 and np.log(ratio).std() < room


@pytest.mark.parametrize(
    ("n", "N", "J", "field"), [(5, 200, 0.5, 0.5), (9, 400, 0.9, 0.4), (8, 400, 0.6, 1.0)]
)
def test_errors_of_fields_against_the_exact_curvature(n, N, J, field):
    """Of the true likelihood, for which the pseudo-likelihood stands; also where fields are far from equal."""
    ratios = []
    for seed in range(4):
        model = random_model(n, J, seed=3 + seed, field=field)
        X = draw_exactly(model, N, np.random.default_rng(1)).astype(np.int8)
        fit = fit_couplings(stats(X), J**2)
        _, exact = unpack(Posterior.of(X, J**2).deviations(pack(fit.matrix, fit.fields)), n)
        ratios.append(np.log(fit.field_errors / exact))
    assert abs(np.mean(ratios)) < 0.1 and np.std(ratios) < 0.15


def test_errors_in_the_limits_of_no_data_and_of_much():
    X = random_spins(400, 6, p=0.5)
    none, _ = errors_of(stats(X), np.ones(6), 1e9)
    assert none[0, 1] == pytest.approx(np.sqrt(2e-9), rel=1e-3)
    S = np.random.default_rng(0).choice(np.array([-1, 1], np.int8), (4000, 6))
    much, _ = errors_of(stats(S), np.ones(6), 1e-6)
    assert much[0, 1] == pytest.approx(1 / np.sqrt(4000), rel=0.05)


@pytest.mark.parametrize(("J", "H"), [(0.4, 0.4), (0.8, 0.0)])
def test_intervals_cover(J, H):
    """90% of 1770 couplings, whose errors are correlated a little: twice the binomial error, thrice over."""
    sim = bs.simulate(60, 180, J=J, H=H, seed=1, sweeps=8)
    fit = fit_couplings(stats(sim.spins), J**2)
    i, j = np.triu_indices(60, 1)
    inside = np.abs(fit.matrix - sim.couplings)[i, j] < 1.645 * fit.errors[i, j]
    assert abs(inside.mean() - 0.9) < 6 * np.sqrt(0.09 / len(i))


def test_gauge_symmetry():
    """Flip one spin in every sample: its couplings and its field change sign, errors stay."""
    X = random_spins(60, 9)
    sign = np.ones(9, np.int8)
    sign[3] = -1
    one, two = (
        fit_couplings(stats(X), 0.5, tolerance=1e-9),
        fit_couplings(stats(X * sign), 0.5, tolerance=1e-9),
    )
    assert two.matrix == pytest.approx(one.matrix * np.outer(sign, sign), abs=1e-6)
    assert two.fields == pytest.approx(one.fields * sign, abs=1e-6)
    assert two.errors == pytest.approx(one.errors, abs=1e-6)


def test_what_is_not_penalised():
    X, rng = random_spins(20, 4, seed=2), np.random.default_rng(1)
    upper, b = rng.normal(0, 0.5, 6), rng.normal(0.3, 0.5, 4)
    value, _ = objective(WeightedRows.of(X))(np.concatenate([upper, b]))
    assert value == pytest.approx(slow_objective(X.astype(int), symmetric(upper, 4), b, 0.0))


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_a_search_that_ends_is_not_warned_of(prior):
    assert fit_couplings(stats(random_spins(60, 7, seed=1)), 0.4, prior).warnings == ()


def test_four_samples_are_enough_to_infer_a_strength():
    """They hardly show any couplings; three are too few."""
    rows = np.array([[1, -1, -1], [1, 1, 1], [-1, -1, 1], [-1, 1, 1]])
    with pytest.warns(bs.exceptions.BoundWarning, match="no couplings"):
        found = bs.BoltzmannMachine("pseudolikelihood").fit(rows)
    assert found.gamma_ == 0 and not found.couplings_.any()
    with pytest.raises(bs.exceptions.InputError, match="needs at least 4 samples: found 3"):
        bs.BoltzmannMachine("pseudolikelihood").fit(rows[:3])
