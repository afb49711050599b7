"""Couplings and common causes, against the log likelihood with visible and hidden states summed over."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import logsumexp

import bayesing as bs
from bayesing.learning.causes import CausesLearner
from bayesing.learning.clamped import Clamped
from bayesing.learning.errors import posterior_errors
from bayesing.learning.newton import Metric, slopes
from bayesing.learning.phases import Data, Free, blank, summed_out

from samples import draw_exactly, from_restricted, in_turn, joint_model, random_model, stats, without_noise
from slow import JointPosterior


def free_of(model, d, k, A=400_000):
    spins = without_noise(model, A).T.astype(np.float32)
    return Free([summed_out(np.ascontiguousarray(spins), model.couplings, model.fields, k)], d, in_turn)


def matrix_of_lam(n, k, gamma, units, n_spins):
    lam = np.full((n + k, n + k), n_spins / gamma)
    for a, unit in enumerate(units):
        lam[:, n + a] = lam[n + a] = n_spins / unit
    return lam


# Slopes


@pytest.mark.parametrize(("n", "k"), [(4, 2), (5, 1), (3, 0)])
def test_slopes_are_those_of_all_visible_and_hidden_states(n, k):
    """Complete rows: nothing is random, but for the rounding of samples without noise."""
    model = joint_model(n, k, seed=3)
    X = draw_exactly(joint_model(n, k, seed=8), 150, np.random.default_rng(1)).astype(np.int8)[:, :n]
    source = Clamped(X, np.random.SeedSequence(0), np.linspace(-0.3, 0.4, k))
    lam = matrix_of_lam(n, k, 0.7, [0.5, 2.0][:k], n)
    data, _ = source.look(model.couplings, model.fields, in_turn)
    G, g = slopes(
        data, free_of(model, source.d, k), model.couplings, model.fields + model.couplings @ source.d, lam
    )
    exact = JointPosterior(X, source.d, lam)
    theta = exact.pack(model.couplings, model.fields)

    def at(x):  # couplings and centred fields b
        J, b = exact.unpack(x)
        return exact.log_posterior(exact.pack(J, b - J @ source.d))

    J, _ = exact.unpack(theta)
    slope = approx_fprime(exact.pack(J, model.fields + J @ source.d), at, 1e-6)
    assert exact.pack(G, g) == pytest.approx(slope, abs=0.02) and np.abs(slope).max() > 10
    assert G == pytest.approx(G.T) and not np.diagonal(G).any() and not G[n:, n:].any()


def test_a_hidden_unit_that_nothing_moves_has_no_slopes():
    """W = 0, c = 0: by symmetry, and the slopes of the spins are those without it."""
    X = draw_exactly(joint_model(5, 1, seed=8), 150, np.random.default_rng(1)).astype(np.int8)[:, :5]
    model = random_model(5, 0.5, seed=2)
    padded = bs.IsingModel(np.pad(model.couplings, (0, 1)), np.append(model.fields, 0.0))
    with_unit, without = (
        Clamped(X, np.random.SeedSequence(0), centres) for centres in (np.array([0.0]), None)
    )
    found = []
    for source, at, k in ((with_unit, padded, 1), (without, model, 0)):
        data, _ = source.look(at.couplings, at.fields, in_turn)
        found.append(
            slopes(data, free_of(at, source.d, k), at.couplings, at.fields + at.couplings @ source.d, 3.0)
        )
    (G, g), (G0, g0) = found
    assert G[:5, :5] == pytest.approx(G0, abs=0.02) and g[:5] == pytest.approx(g0, abs=0.02)
    assert not G[5].any() and g[5] == 0


def test_means_of_hidden_units_take_their_place():
    model = joint_model(4, 2, seed=5)
    spins = without_noise(model, 500).T.astype(np.float32)
    found = summed_out(spins.copy(), model.couplings, model.fields, 2)
    assert (found[:4] == spins[:4]).all()
    for s, mean in zip(spins.T, found.T, strict=True):
        for a in (4, 5):
            field = model.fields[a] + sum(model.couplings[i, a] * s[i] for i in range(4))
            assert mean[a] == pytest.approx(np.tanh(field), abs=1e-6)
    assert (summed_out(spins.copy(), model.couplings, model.fields, 0) == spins).all()


def test_where_there_is_no_pair():
    full = np.arange(1.0, 26.0).reshape(5, 5)
    assert not np.diagonal(blank(full.copy(), 0)).any() and np.count_nonzero(blank(full.copy(), 0)) == 20
    found = blank(full.copy(), 2)
    assert not found[3:, 3:].any() and np.count_nonzero(found) == 18


# Symmetries


def test_order_and_signs_of_hidden_units_do_not_matter():
    """Slopes and what the data lose go along with them."""
    model = joint_model(4, 2, seed=3)
    X = draw_exactly(model, 80, np.random.default_rng(1)).astype(np.int8)[:, :4]
    order, sign = np.array([0, 1, 2, 3, 5, 4]), np.array([1, 1, 1, 1, -1, 1.0])
    J, h = model.couplings, model.fields
    other = bs.IsingModel(J[np.ix_(order, order)] * np.outer(sign, sign), h[order] * sign)
    centres = np.array([0.3, -0.2])
    found = []
    for at, own in ((model, centres), (other, centres[::-1] * sign[4:])):
        source = Clamped(X, np.random.SeedSequence(0), own)
        data, _ = source.look(at.couplings, at.fields, in_turn)
        free = free_of(at, source.d, 2)
        metric = Metric(free, data.N, np.full((6, 6), 5.0), None, 2)
        found.append(
            (
                *slopes(data, free, at.couplings, at.fields, 5.0),
                *posterior_errors(data, free, metric, in_turn),
            )
        )
    (G, g, errors, of_fields), (G2, g2, errors2, of_fields2) = found
    assert G2 == pytest.approx(G[np.ix_(order, order)] * np.outer(sign, sign), abs=0.02)
    assert g2 == pytest.approx(g[order] * sign, abs=0.02)
    assert errors2 == pytest.approx(errors[np.ix_(order, order)], rel=0.04)
    assert of_fields2 == pytest.approx(of_fields[order], rel=0.04)


# Errors


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_errors_are_those_of_the_fisher_matrix(share):
    """Of the spins that are seen; where cells are missing, of what is there."""
    n, k, N, lam = 4, 2, 300, matrix_of_lam(4, 2, 0.8, [1.5, 0.6], 4)
    model = joint_model(n, k, seed=3)
    X = draw_exactly(model, N, np.random.default_rng(1)).astype(np.int8)[:, :n]
    X[np.random.default_rng(2).random(X.shape) < share] = 0
    X = X[(X != 0).any(axis=1)]
    source = Clamped(X, np.random.SeedSequence(0), np.array([0.3, -0.2]))
    data = source.averaged(model.couplings, model.fields, in_turn)
    free = free_of(model, source.d, k, 20_000)
    metric = Metric(free, data.N, lam, data.lost, k)
    J, h = posterior_errors(data, free, metric, in_turn)
    exact = JointPosterior(X, source.d, lam)
    theta = exact.pack(model.couplings, model.fields)
    curvature = exact.fisher(theta) - exact.lost(theta)
    expected = np.sqrt(np.diag(np.linalg.inv(curvature + exact.prior())))
    off = np.abs(np.log(exact.pack(J, h) / expected))
    assert off.mean() < (0.03 if share else 0.003) and off.max() < (0.12 if share else 0.02)
    assert not J[n:, n:].any()


# Scales


def learner(n=5, units=(0.5, 2.0), gamma=0.4, seed=0):
    model = joint_model(n, len(units), seed=3)
    X = draw_exactly(model, 200, np.random.default_rng(1)).astype(np.int8)[:, :n]
    source = Clamped(X, np.random.SeedSequence(seed), np.zeros(len(units)))
    start = (model.couplings, model.fields)
    return CausesLearner(source, gamma, np.array(units), start, np.random.SeedSequence(1), in_turn, 7)


def test_precisions_of_all_couplings():
    found = learner()
    lam = found.lam
    assert (lam[:5, :5] == 7 / 0.4).all() and (lam[:5, 5] == 7 / 0.5).all() and (lam[6, :5] == 7 / 2).all()
    assert (lam == lam.T).all()
    metric = Metric(found.look().free, 200, lam, None, 2)
    P = metric.V**2
    expected = [
        [sum(P[i, a] * P[j, b] * lam[i, j] for i in range(7) for j in range(7)) for b in range(7)]
        for a in range(7)
    ]
    assert 1 / metric.K - 200 * metric.W == pytest.approx(np.array(expected))


def test_precisions_of_all_fields():
    """1 of spins and 0.1 of hidden units, on average over what a direction consists of."""
    found = learner()
    metric = Metric(found.look().free, 200, found.lam, None, 2)
    expected = [sum(metric.V[i, a] ** 2 * (1 if i < 5 else 0.1) for i in range(7)) for a in range(7)]
    assert 1 / metric.k - 200 * metric.c == pytest.approx(expected)
    assert min(expected) < 0.6  # a direction that is made of hidden units for the most part


def test_scales_are_the_fixed_points_of_the_mode():
    """gamma = n <J^2>/(1 - n <Var J>/gamma) for couplings and every unit, with variances that are corrected."""
    found = learner(gamma=None)
    found.gamma = 0.4
    metric = Metric(found.look().free, 200, found.lam, None, 2)
    rng = np.random.default_rng(0)
    size = np.sqrt(found.lam) / found.lam  # couplings of about their scale
    a, b = (size * (1 + 0.1 * (x + x.T)) for x in rng.normal(size=(2, 7, 7)))
    variances = metric.variances(found.data.d)[0]
    found.factors = np.array([0.2, 0.1, 0.15])
    i, j = np.triu_indices(5, 1)
    blocks = [(i, j), (np.arange(5), np.full(5, 5)), (np.arange(5), np.full(5, 6))]
    expected = []
    for block, gamma, factor in zip(blocks, (0.4, 0.5, 2.0), found.factors, strict=True):
        used = max(1 - 7 * factor * variances[block].mean() / gamma, 0.02)
        wanted = 7 * (a * b)[block].mean() / used
        expected.append(gamma * np.exp(np.clip(np.log(wanted / gamma), -0.4, 0.4)))
    J = found._infer_gamma(metric, found.J, a, b)
    assert (J == found.J).all()
    assert [found.gamma, *found.units] == pytest.approx(expected) and (metric.lam == found.lam).all()
    change = np.abs(np.log(np.array(expected) / [0.4, 0.5, 2.0]))
    assert found.changes[-1] == pytest.approx(change.max()) and (change < 0.39).all()


def test_a_gamma_that_is_given_stays():
    found = learner(gamma=0.4)
    metric = Metric(found.look().free, 200, found.lam, None, 2)
    found._infer_gamma(metric, found.J, found.J, found.J)
    assert found.gamma == 0.4 and found.units[0] != 0.5


def test_variances_are_corrected_by_the_whole_curvature():
    found = learner()
    metric = Metric(found.look().free, 200, found.lam, None, 2)
    found.correct(metric)
    errors, _ = posterior_errors(
        found.data, free_of(bs.IsingModel(found.J, found.h), found.data.d, 2), metric, in_turn
    )
    rough = metric.variances(found.data.d)[0]
    i, j = np.triu_indices(5, 1)
    expected = [np.mean(errors[i, j] ** 2) / np.mean(rough[i, j])]
    expected += [np.mean(errors[:5, a] ** 2) / np.mean(rough[:5, a]) for a in (5, 6)]
    assert found.factors == pytest.approx(expected, rel=0.12)
    assert found.changes == [0.0] and not found.settled


# The mode


@pytest.fixture(scope="module")
def found():
    """Five spins and a unit, 600 samples."""
    model = joint_model(5, 1, seed=11, J=0.3, W=1.0)
    X = draw_exactly(model, 600, np.random.default_rng(2)).astype(np.int8)[:, :5]
    return X, from_restricted(stats(X), 1, 0.3, 5, np.random.SeedSequence(0), in_turn)


def test_the_mode_is_that_of_the_enumerated_posterior(found):
    X, causes = found
    mode, d = causes.mode, causes.data.d
    exact = JointPosterior(X, d, causes.lam)
    theta = exact.pack(mode.J, mode.h)
    best = exact.mode(theta)
    deviations = np.sqrt(np.diag(np.linalg.inv(exact.fisher(best) + exact.prior())))
    z = (theta - best) / deviations
    assert np.sqrt(np.mean(z**2)) < 0.2 and np.abs(z).max() < 0.5
    assert exact.log_posterior(best) - exact.log_posterior(theta) < 0.5
    assert mode.settled and mode.gamma == 0.3 and causes.lam[0, 1] == pytest.approx(5 / 0.3)
    assert (causes.lam[:5, 5] == 5 / causes.units[0]).all() and (mode.metric.lam == causes.lam).all()
    # The unit's own scale is its fixed point, with the variances of the exact curvature.
    weights = [k for k, (_, j) in enumerate(exact.pairs) if j == 5]
    variance = np.mean(deviations[weights] ** 2)
    expected = 5 * np.mean(best[weights] ** 2) / (1 - 5 * variance / causes.units[0])
    assert causes.units[0] == pytest.approx(expected, rel=0.15)


def test_exponents_are_what_the_likelihood_has_beside_ln_z(found):
    X, causes = found
    exact = JointPosterior(X, causes.data.d, causes.lam)
    theta = exact.pack(causes.mode.J, causes.mode.h)
    expected = exact.log_likelihood(theta) + 600 * logsumexp(exact.exponents(theta))
    assert causes.exponents == pytest.approx(expected, abs=1e-6)


def test_rows_that_show_nothing_change_nothing():
    """Nor those that show constant spins alone, of which nothing is left where these are left out."""
    model = joint_model(5, 1, seed=11, J=0.3, W=1.0)
    X = draw_exactly(model, 120, np.random.default_rng(2)).astype(float)[:, :5]
    X[np.random.default_rng(3).random(X.shape) < 0.1] = np.nan
    constant = np.column_stack([X, np.ones(120)])
    more = np.vstack([constant, [[np.nan] * 5 + [1.0]] * 15])
    one, other = (
        from_restricted(stats(x).kept, 1, 0.3, 5, np.random.SeedSequence(0), in_turn)
        for x in (constant, more)
    )
    assert (one.mode.J == other.mode.J).all() and one.data.N == other.data.N
    assert one.exponents == pytest.approx(other.exponents, abs=1e-6)


def test_no_unit_is_the_search_without_units():
    X = draw_exactly(random_model(6, 0.8, seed=1), 300, np.random.default_rng(0)).astype(np.int8)
    causes = from_restricted(stats(X), 0, 0.5, 6, np.random.SeedSequence(0), in_turn)
    plain = Data.of(stats(X))
    assert causes.data.C == pytest.approx(plain.C) and causes.units.shape == (0,) and causes.data.hidden == 0
    exact = JointPosterior(X, plain.d, np.full((6, 6), 12.0))
    best = exact.mode(exact.pack(causes.mode.J, causes.mode.h))
    z = (exact.pack(causes.mode.J, causes.mode.h) - best) / np.sqrt(
        np.diag(np.linalg.inv(exact.fisher(best) + exact.prior()))
    )
    assert np.sqrt(np.mean(z**2)) < 0.15
