"""Averages over samples, slopes, curvatures and steps, against their definitions and against enumeration."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import approx_fprime, brentq

import bayesing as bs
from bayesing.learning import newton, phases
from bayesing.learning.newton import (
    WORTH,
    Metric,
    curvature,
    direction,
    filtered,
    inner,
    largest,
    length,
    slopes,
    slowness,
    step,
)
from bayesing.learning.phases import Data, Free
from bayesing.learning.population import worth

from samples import draw_exactly, in_turn, random_model, random_spins, stats, without_noise
from slow import Posterior, pack, unpack

N, GAMMA = 37, 0.8
X = random_spins(N, 5, seed=2)
MODEL = random_model(5, 0.9, seed=4, field=0.5)  # not the one of the data
DATA = Data.of(stats(X))
LAM = 5 / GAMMA


def free_of(S, d=DATA.d, parts=3):
    return Free([np.ascontiguousarray(part.T, np.float32) for part in np.array_split(S, parts)], d, in_turn)


def random_step(seed, n=5):
    rng = np.random.default_rng(seed)
    J = np.triu(rng.normal(size=(n, n)), 1)
    return J + J.T, rng.normal(size=n)


def centred(theta, d=DATA.d):
    """Couplings i < j and b = h + J d, of couplings and fields; and back with -d."""
    J, h = unpack(theta, len(d))
    return pack(J, h + J @ d)


def slope_in_centred(exact, theta):
    """Of the enumerated log posterior along (J, b) at theta = (J, h): h_i = b_i - sum_j J_ij d_j."""
    S, s = unpack(exact.slope(theta), len(DATA.d))
    return pack(S - np.outer(s, DATA.d) - np.outer(DATA.d, s), s)


# Averages over samples


SAMPLES = draw_exactly(MODEL, 5000, np.random.default_rng(1))
Z = SAMPLES - DATA.d


def test_data():
    assert DATA.N == N and DATA.n == 5
    assert DATA.d == pytest.approx(X.mean(axis=0)) and pytest.approx(np.cov(X.T, bias=True)) == DATA.C
    assert np.tanh(DATA.rates) == pytest.approx(X.sum(axis=0) / (N + 1))


def test_standard_errors_of_data_are_those_of_the_model():
    p = np.exp(-MODEL.energy(states := bs.ising.all_states(5)) - MODEL.log_partition())
    m = p @ states
    z = states - m
    C = (z.T * p) @ z
    means, pairs = DATA.errors(m, C)
    assert means == pytest.approx(np.sqrt(p @ z**2 / N))
    for i in range(5):
        for j in range(i):
            product = z[:, i] * z[:, j]
            assert pairs[i, j] == pytest.approx(np.sqrt((p @ product**2 - (p @ product) ** 2) / N))


def test_means_and_second_moments():
    free = free_of(SAMPLES)
    assert free.A == free.B == 5000
    assert free.m == pytest.approx(SAMPLES.mean(axis=0), abs=1e-6)
    assert free.second == pytest.approx(Z.T @ Z / 5000, abs=1e-6)
    assert free.covariance == pytest.approx(np.cov(SAMPLES.T, bias=True), abs=1e-6)


def test_two_halves_as_one():
    a, b = free_of(SAMPLES[:2500]), free_of(SAMPLES[2500:])
    whole, both = free_of(SAMPLES), Free.both(a, b)
    assert (both.A, both.B, both.step) == (whole.A, whole.B, whole.step)
    for name in ("m", "second", "covariance"):
        assert getattr(both, name) == pytest.approx(getattr(whole, name), abs=1e-6)
    assert both.fourth(np.eye(5)) == pytest.approx(whole.fourth(np.eye(5)), abs=1e-5)


def test_exponents():
    J, b = random_step(0)
    expected = [sum(J[i, j] * z[i] * z[j] for i in range(5) for j in range(i)) + b @ z for z in Z]
    assert free_of(SAMPLES).exponents(J, b) == pytest.approx(np.array(expected), abs=1e-4)


def test_the_response_is_a_covariance():
    J, b = random_step(1)
    u = np.einsum("ai,ij,aj->a", Z, J, Z) / 2 + Z @ b
    second, first = free_of(SAMPLES).response(J, b)
    assert first == pytest.approx([np.mean((u - u.mean()) * Z[:, i]) for i in range(5)], abs=1e-4)
    for i in range(5):
        for j in range(5):
            expected = np.mean((u - u.mean()) * Z[:, i] * Z[:, j]) if i != j else 0
            assert second[i, j] == pytest.approx(expected, abs=1e-4)


def test_answers_to_couplings_or_fields_alone():
    (J, b), free = random_step(1), free_of(SAMPLES)
    assert free.pairs_answer(b) == pytest.approx(free.response(np.zeros((5, 5)), b)[0], abs=1e-6)
    assert free.means_answer(J) == pytest.approx(free.response(J, np.zeros(5))[1], abs=1e-6)


def test_fourth_moments_are_variances_of_products():
    V = np.linalg.qr(np.random.default_rng(3).normal(size=(5, 5)))[0]
    Y = Z @ V
    W = free_of(SAMPLES).fourth(V)
    for k in range(5):
        for m in range(5):
            expected = np.var(Y[:, k] * Y[:, m]) / (2 if k == m else 1)
            assert W[k, m] == pytest.approx(expected, rel=1e-4)


def test_curvatures_are_from_some_samples(monkeypatch):
    monkeypatch.setattr(phases, "FISHER", 1000)
    free = free_of(SAMPLES, parts=1)
    few = free_of(SAMPLES[::5], parts=1)
    assert (free.step, free.B, few.step) == (5, 1000, 1)
    for found, expected in zip(free.response(*random_step(2)), few.response(*random_step(2)), strict=True):
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-5)
    assert free.fourth(np.eye(5)) == pytest.approx(few.fourth(np.eye(5)), abs=1e-5)


# Slopes and curvatures of the log posterior


A = 200_000
ROUNDING = 16 / A  # 32 states, each in at most half a sample more or less than the model says


@pytest.fixture
def free(monkeypatch):
    monkeypatch.setattr(phases, "FISHER", A)
    return free_of(without_noise(MODEL, A))


def test_slopes_are_those_of_the_enumerated_posterior(free):
    exact = Posterior.of(X, GAMMA)
    at = centred(pack(MODEL.couplings, MODEL.fields))
    expected = approx_fprime(at, lambda x: exact.smooth(centred(x, -DATA.d)), 1e-6)
    found = pack(*slopes(DATA, free, *unpack(at, 5), LAM))
    assert found == pytest.approx(expected, abs=4 * N * ROUNDING + 1e-3) and np.abs(expected).min() > 0.05


def test_curvatures_are_those_of_the_enumerated_posterior(free):
    exact = Posterior.of(X, GAMMA)
    at, metric = centred(pack(MODEL.couplings, MODEL.fields)), Metric(free, N, LAM)
    for seed in range(3):
        J, b = random_step(seed)
        by = 1e-4 * pack(J, b)
        above, below = (slope_in_centred(exact, centred(x, -DATA.d)) for x in (at + by, at - by))
        found = pack(*curvature(DATA, free, metric, J, b))
        size = np.abs(free.exponents(J, b)).max()
        assert found == pytest.approx((below - above) / 2e-4, abs=8 * N * size * ROUNDING + 1e-3)


def test_the_curvature_may_be_mixed_with_that_of_the_metric(free):
    metric, (J, b) = Metric(free, N, LAM), random_step(5)
    V = metric.V
    rough = V @ (metric.W * (V.T @ J @ V)) @ V.T
    np.fill_diagonal(rough, 0)
    expected = N * rough + LAM * J
    of_couplings, of_fields = curvature(DATA, free, metric, J, b, 1.0)
    assert pack(of_couplings, of_fields) == pytest.approx(
        pack(expected, N * V @ (metric.c * (V.T @ b)) + b), rel=1e-9
    )
    half, none = (pack(*curvature(DATA, free, metric, J, b, share)) for share in (0.5, 0.0))
    assert half == pytest.approx((none + pack(of_couplings, of_fields)) / 2)


def test_the_metric(free):
    metric = Metric(free, N, LAM)
    covariance = MODEL.correlations() - np.outer(MODEL.means(), MODEL.means())
    assert (metric.V * metric.c) @ metric.V.T == pytest.approx(covariance + 1e-3 * np.eye(5), abs=1e-3)
    assert pytest.approx(1 / (N * metric.W + LAM)) == metric.K and metric.k == pytest.approx(
        1 / (N * metric.c + 1)
    )
    share = N * metric.W / (N * metric.W + LAM)
    assert metric.used == pytest.approx(5 + sum(share[i, j] for i in range(5) for j in range(i)))
    assert (metric.W > 0.1 * np.outer(metric.c, metric.c) - 1e-12).all()


def test_the_metric_has_the_curvature_of_all_pairs_together(free):
    """The sum of Var(z_i z_j), by enumeration: squares z_i^2, which are in the products y_k y_l, do not count."""
    metric = Metric(free, N, LAM)
    p = np.exp(-MODEL.energy(states := bs.ising.all_states(5)) - MODEL.log_partition())
    z = states - p @ states
    expected = found = 0.0
    for i in range(5):
        for j in range(i):
            product, unit = z[:, i] * z[:, j], np.zeros((5, 5))
            unit[i, j] = unit[j, i] = 1
            expected += p @ product**2 - (p @ product) ** 2
            found += metric.of_one(unit, np.zeros(5))[0][i, j]
    assert found == pytest.approx(expected, rel=1e-3)


def test_variances_are_those_of_a_gaussian_with_the_curvature_of_the_metric(free):
    """Couplings V E V^T with variances K of E, twice that on the diagonal, and fields V e less J d."""
    metric, rng, draws = Metric(free, N, LAM), np.random.default_rng(7), 20_000
    E = rng.normal(size=(draws, 5, 5)) * np.sqrt(metric.K)
    J = metric.V @ ((E + E.transpose(0, 2, 1)) / np.sqrt(2)) @ metric.V.T
    h = (rng.normal(size=(draws, 5)) * np.sqrt(metric.k)) @ metric.V.T - J @ DATA.d
    _, of_fields = metric.variances(DATA.d)
    assert h.var(axis=0) == pytest.approx(of_fields, rel=4 * np.sqrt(2 / draws))
    metric.W[...] = 0.3
    of_couplings, _ = metric.variances(DATA.d)
    assert of_couplings == pytest.approx(np.full((5, 5), 1 / (0.3 * N + LAM)))


# Steps


EXACT = Posterior.of(X, GAMMA)
MODE = EXACT.mode()
NEAR = MODE + EXACT.deviations(MODE) * np.random.default_rng(0).normal(size=15)


def free_at(theta):
    return free_of(without_noise(bs.IsingModel(*unpack(theta, 5)), 15_000))


def distance(found, best):
    """Squared, in units of the posterior at NEAR, and as a share of how far the best is."""
    H = EXACT.curvature(NEAR)
    return (found - best) @ H @ (found - best) / (best @ H @ best)


def test_the_direction_solves_newtons_equations(monkeypatch):
    free = free_at(NEAR)
    metric, at = Metric(free, N, LAM), slopes(DATA, free, *unpack(centred(NEAR), 5), LAM)
    best = np.linalg.solve(EXACT.curvature(NEAR), EXACT.slope(NEAR))

    def found():
        dJ, db = direction(DATA, free, *at, metric)
        assert dJ == pytest.approx(dJ.T, abs=1e-12) and not np.diagonal(dJ).any()
        return pack(dJ, db - dJ @ DATA.d)

    assert distance(found(), best) < newton._ACCURACY**2
    monkeypatch.setattr(newton, "_ACCURACY", 1e-5)
    monkeypatch.setattr(newton, "_MOST_STEPS", 30)
    assert distance(found(), best) < 1e-5
    monkeypatch.setattr(newton, "_SAMPLES", np.inf)  # no conjugate gradients
    assert distance(found(), best) < 0.1


def test_newton_steps_end_at_the_mode():
    """With samples without noise, though each half gives slopes and the other half curvatures."""
    theta = NEAR
    for _ in range(4):
        J, h = unpack(theta, 5)
        S = without_noise(bs.IsingModel(J, h), 30_000)
        halves = free_of(S[::2]), free_of(S[1::2])
        at = tuple(slopes(DATA, half, J, h + J @ DATA.d, LAM) for half in halves)
        to = step(DATA, halves, at, Metric(Free.both(*halves), N, LAM))
        theta = centred(centred(theta) + pack(to.J, to.b), -DATA.d)
    assert np.abs(EXACT.slope(MODE)).max() < 1e-3
    assert np.abs((theta - MODE) / EXACT.deviations(MODE)).max() < 0.05


def test_a_step_takes_slopes_and_curvatures_from_different_halves():
    halves = free_of(SAMPLES[:2500]), free_of(SAMPLES[2500:])
    metric = Metric(Free.both(*halves), N, LAM)
    a, b = at = tuple(slopes(DATA, half, *random_step(1), LAM) for half in halves)
    to = step(DATA, halves, at, metric)
    (Ja, ba), (Jb, bb) = direction(DATA, halves[1], *a, metric), direction(DATA, halves[0], *b, metric)
    assert pack(to.J, to.b) == pytest.approx(pack(Ja + Jb, ba + bb) / 2)
    assert to.signal == pytest.approx((inner(*a, Jb, bb) + inner(*b, Ja, ba)) / 2)
    assert (to.halves[0] == Ja).all() and (to.halves[1] == Jb).all()


def test_the_inner_product_counts_each_pair_once():
    one, two = random_step(1), random_step(2)
    assert inner(*one, *two) == pytest.approx(pack(*one) @ pack(*two))


def test_slopes_that_stand_out_of_the_noise(free):
    metric = Metric(free, N, LAM)
    V, n = metric.V, 5
    of_couplings, of_fields = N * np.sqrt(metric.W / 900), N * np.sqrt(metric.c / 900)
    rng = np.random.default_rng(0)
    large = np.triu(rng.random((n, n)) < 0.5)
    large = large | large.T
    large_fields = rng.random(n) < 0.5
    inside = np.where(large, 3.1, -2.9) * of_couplings
    inside_fields = np.where(large_fields, -3.1, 2.9) * of_fields
    at = V @ inside @ V.T, V @ inside_fields
    (J, b), other = filtered((at, at), metric, 900.0, 0.3, 0.7)
    expected = V @ (np.where(large, 0.7, 0.3) * inside) @ V.T
    np.fill_diagonal(expected, 0)
    assert pytest.approx(expected) == J and other[1] == pytest.approx(b)
    assert b == pytest.approx(V @ (np.where(large_fields, 0.7, 0.3) * inside_fields))


def test_the_length_of_a_step_is_where_the_slope_vanishes():
    free = free_at(NEAR)
    at = slopes(DATA, free, *unpack(centred(NEAR), 5), LAM)
    dJ, db = (2 * x for x in direction(DATA, free, *at, Metric(free, N, LAM)))  # too far
    along = pack(dJ, db - dJ @ DATA.d)
    slope, prior, u = inner(*at, dJ, db), along @ EXACT.precision @ along, free.exponents(dJ, db)
    expected = brentq(lambda rate: EXACT.slope(NEAR + rate * along) @ along, 0, 1)
    assert 0.3 < expected < 0.7 and worth(expected * u) > WORTH
    assert length(u, slope, N, prior) == pytest.approx(expected, abs=0.01)
    assert length(u, slope, N, prior, most=expected / 2) == expected / 2
    assert length(u, -1.0, N, prior) == 0
    assert worth(length(u, 1e9, N, prior, most=9.0) * u) == pytest.approx(WORTH, abs=0.01)


def test_slowness():
    rng = np.random.default_rng(0)
    series = [rng.normal(size=(16, 4000)) for _ in range(3)]
    assert slowness(series) == pytest.approx(1, abs=0.05)
    held = [np.repeat(x[:1], 16, axis=0) for x in series]
    assert slowness(held) == pytest.approx(16)
    pairs = [np.repeat(x[:8], 2, axis=0) for x in series]
    assert slowness(pairs) == pytest.approx(2, rel=0.05)
    assert slowness([np.ones((4, 5))]) == 1


def test_the_largest_slope_is_in_standard_deviations_of_its_component(free):
    """Of couplings and of fields, each direction of the basis by itself."""
    metric = Metric(free, N, LAM)
    (Ga, ga), (Gb, gb) = at = (random_step(3), random_step(4))
    V, A = metric.V, 700.0
    of_pairs = [
        abs(V[:, k] @ (Ga + Gb) @ V[:, m]) / 2 / (N * np.sqrt(metric.full_W[k, m] / A))
        for k in range(5)
        for m in range(5)
    ]
    of_fields = [abs(V[:, k] @ (ga + gb)) / 2 / (N * np.sqrt(metric.full_c[k] / A)) for k in range(5)]
    assert max(of_pairs) != pytest.approx(max(of_fields))
    assert largest(at, metric, A) == pytest.approx(max(*of_pairs, *of_fields))
    fields_alone = tuple((np.zeros((5, 5)), g) for g in (ga, gb))
    assert largest(fields_alone, metric, A) == pytest.approx(max(of_fields))
    pairs_alone = tuple((G, np.zeros(5)) for G in (Ga, Gb))
    assert largest(pairs_alone, metric, A) == pytest.approx(max(of_pairs))


def test_precisions_that_differ_are_averaged_over_what_a_direction_consists_of(free):
    lam = LAM * np.random.default_rng(1).uniform(0.5, 2, (5, 5))
    lam = lam + lam.T
    metric = Metric(free, N, lam)
    V = metric.V
    for k in range(5):
        for m in range(5):
            mean = sum(V[i, k] ** 2 * V[j, m] ** 2 * lam[i, j] for i in range(5) for j in range(5))
            assert metric.K[k, m] == pytest.approx(1 / (N * metric.W[k, m] + mean))


def test_fewer_chains_of_a_row_are_noisier(free):
    metric = Metric(free, N, LAM)
    assert (metric.with_fewer(3).chains, metric.with_fewer(3).noise) == (0, 0.0)  # no cell is missing
    metric.chains, metric.noise = 8, 0.01
    assert (metric.with_fewer(2).chains, metric.with_fewer(2).noise) == (2, pytest.approx(0.04))
    assert (metric.with_fewer(9).chains, metric.with_fewer(9).noise) == (8, 0.01)


def test_samples_are_precise_if_there_are_many_for_each_parameter(free):
    metric = Metric(free, N, LAM)
    enough = newton._SAMPLES * metric.used
    for B, precise in ((0.999 * enough, False), (1.001 * enough, True)):
        assert newton.is_precise(SimpleNamespace(B=B), metric) is precise
