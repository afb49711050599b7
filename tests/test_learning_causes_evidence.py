"""How many common causes: partition functions and determinants against enumeration."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import logsumexp

import bayesing as bs
from bayesing.learning import causes_evidence, causes_search
from bayesing.learning.causes import Causes
from bayesing.learning.causes_evidence import (
    gain,
    log_evidence_but_partition,
    log_partition_difference,
    matched,
)
from bayesing.learning.clamped import Clamped
from bayesing.learning.mode import Mode
from bayesing.learning.phases import Data
from bayesing.sampling.missing import padded, shown

from samples import draw_exactly, from_restricted, in_turn, joint_model, random_model, stats
from slow import JointPosterior

SEED = np.random.SeedSequence(0)


def of(model):
    return model.couplings, model.fields


def difference(a, b, wanted=0.01, seed=0):
    seeds = np.random.SeedSequence(seed)
    return log_partition_difference(of(a), of(b), np.zeros(a.n_spins), wanted, seeds, in_turn)


@pytest.mark.parametrize(("n", "J"), [(6, 0.5), (11, 1.0)])
def test_the_difference_of_ln_z(n, J):
    """Within its own standard error, which is as small as wanted."""
    a, b = random_model(n, J, seed=1), random_model(n, J, seed=2, field=0.8)
    exact = b.log_partition() - a.log_partition()
    found = difference(a, b, 0.003)
    assert abs(found.value - exact) < 4 * found.error and 0 < found.error < 0.0045
    back = difference(b, a, 0.003, seed=1)
    assert abs(back.value + exact) < 4 * back.error
    assert abs(exact) > 0.1


def test_errors_of_the_difference_are_right():
    """Of several seeds: neither too large nor too small."""
    a, b = random_model(7, 0.8, seed=1), random_model(7, 0.8, seed=2)
    exact = b.log_partition() - a.log_partition()
    found = [difference(a, b, 0.02, seed) for seed in range(12)]
    z = np.array([(each.value - exact) / each.error for each in found])
    assert 0.5 < np.sqrt(np.mean(z**2)) < 1.6 and np.std([each.error for each in found]) < found[0].error / 3


def test_a_difference_is_as_precise_as_wanted_if_every_node_is(monkeypatch):
    """Nodes are told what noise they may have, and their noise adds up by their weights."""
    monkeypatch.setattr(causes_evidence, "_mean_change", lambda at, dJ, dh, wanted: (0.7, wanted**2))
    model = random_model(3, 0.5, seed=1)
    found = difference(model, model, wanted=0.02)
    assert (found.value, found.error) == pytest.approx((0.7, 0.02))


def test_the_same_model_has_the_same_ln_z():
    a = random_model(6, 0.8, seed=1)
    assert difference(a, a) == (0.0, 0.0)


def test_units_are_put_into_the_order_and_given_the_signs_of_others():
    n, rng = 6, np.random.default_rng(0)
    W, c = rng.normal(size=(n, 3)), rng.normal(size=3)
    a = joint_model(n, 2, seed=4)
    Ja = a.couplings.copy()
    Ja[:n, n:], Ja[n:, :n] = W[:, :2], W[:, :2].T
    Jb = np.zeros((n + 3, n + 3))
    Jb[:n, :n] = random_model(n, 0.5, seed=7).couplings
    Jb[:n, n:] = np.column_stack([W[:, 2], -W[:, 0], W[:, 1]]) + 0.05 * rng.normal(size=(n, 3))
    Jb[n:, :n] = Jb[:n, n:].T
    hb = rng.normal(size=n + 3)
    (Ja2, ha2), (Jb2, hb2) = matched((Ja, np.append(a.fields[:n], c[:2])), (Jb, hb), n)
    assert (Ja2[: n + 2, : n + 2] == Ja).all() and not Ja2[n + 2 :].any() and ha2.tolist()[-1] == 0
    assert (ha2[: n + 2] == np.append(a.fields[:n], c[:2])).all()
    assert Jb2[:n, n:] == pytest.approx(np.column_stack([-Jb[:n, n + 1], Jb[:n, n + 2], Jb[:n, n]]))
    assert hb2[n:].tolist() == [-hb[n + 1], hb[n + 2], hb[n]] and (hb2[:n] == hb[:n]).all()
    assert (Jb2[:n, :n] == Jb[:n, :n]).all() and (Jb2 == Jb2.T).all()
    before, after = (bs.IsingModel(J, h).log_partition() for J, h in ((Jb, hb), (Jb2, hb2)))
    assert after == pytest.approx(before)
    # Without units there is nothing to put into order.
    (Ja0, ha0), (Jb0, hb0) = matched((Ja[:n, :n], a.fields[:n]), (Jb, hb), n)
    assert (Jb0 == Jb).all() and (hb0 == hb).all() and Ja0.shape == Jb.shape and len(ha0) == n + 3


@pytest.fixture(scope="module")
def fits():
    """Six spins and a unit, 800 samples: machines without a unit and with one, found with a given gamma."""
    model = joint_model(6, 1, seed=11, J=0.3, W=0.9)
    X = draw_exactly(model, 800, np.random.default_rng(2)).astype(np.int8)[:, :6]
    seeds = np.random.SeedSequence(0).spawn(2)
    return X, [from_restricted(stats(X), k, 0.3, 6, seeds[k], in_turn) for k in (0, 1)]


def exact_evidence(X, causes):
    """Laplace's approximation of ln P(D | k) without - N ln Z, and N ln Z, by enumeration."""
    exact = JointPosterior(X, causes.data.d, causes.lam)
    theta = exact.pack(causes.mode.J, causes.mode.h)
    log_partition = len(X) * logsumexp(exact.exponents(theta))
    H, prior = exact.fisher(theta) - exact.lost(theta) + exact.prior(), exact.prior()
    log_det = np.linalg.slogdet(H)[1] - np.linalg.slogdet(prior)[1]
    k = causes.data.hidden
    symmetries = math.log(2**k * math.factorial(k))
    return exact.log_posterior(theta) + log_partition - log_det / 2 + symmetries, log_partition


@pytest.mark.parametrize("k", [0, 1])
def test_the_evidence_but_its_partition_function(fits, k):
    """Half a log det of 21 or 28 parameters, from 32,768 samples: a tenth of a nat."""
    X, found = fits
    expected, _ = exact_evidence(X, found[k])
    assert log_evidence_but_partition(found[k], SEED, in_turn) == pytest.approx(expected, abs=0.25)


@pytest.mark.parametrize("k", [0, 1])
def test_missing_cells_take_some_of_the_curvature(fits, k):
    """At the mode of complete rows: exponents and determinant are those of what is there."""
    X, found = fits[0].copy(), fits[1][k]
    X[np.random.default_rng(5).random(X.shape) < 0.3] = 0
    X = X[X.any(axis=1)]
    J, h = found.mode.J, found.mode.h
    data = Clamped(X, SEED, found.data.d[6:]).averaged(J, h, in_turn)
    causes = replace(
        found, data=data, exponents=float(shown(bs.IsingModel(J, h), padded(X, 6 + k)).log_weights.sum())
    )
    expected, _ = exact_evidence(X, causes)
    assert log_evidence_but_partition(causes, SEED, in_turn) == pytest.approx(expected, abs=0.6)
    whole = log_evidence_but_partition(replace(causes, data=replace(data, lost=None)), SEED, in_turn)
    assert whole < expected - 3


def test_the_determinant_of_the_curvature(monkeypatch):
    """Few samples are made up for: of 1024, ln det of 66 parameters would be too small by 3.2."""
    model = random_model(11, 0.7, seed=2)
    X = draw_exactly(model, 3000, np.random.default_rng(0)).astype(np.int8)
    data, lam = Data.of(stats(X)), np.full((11, 11), 22.0)
    mode = Mode(model.couplings, model.fields, 0.5, None, 0, True)
    causes = Causes(mode, data, lam, np.empty(0), 0.0)
    exact = JointPosterior(X, data.d, lam)
    curvature = exact.fisher(exact.pack(model.couplings, model.fields)) + exact.prior()
    expected = np.linalg.slogdet(curvature)[1]
    precisions = np.append(np.full(55, 22.0), np.ones(11))
    many = [causes_evidence._log_det(causes, precisions, seed, in_turn)[0] for seed in SEED.spawn(4)]
    assert np.mean(many) == pytest.approx(expected, abs=0.3)
    monkeypatch.setattr(causes_evidence, "_LEAST", 1)
    monkeypatch.setattr(causes_evidence, "_SAMPLES", 1)
    few = [causes_evidence._log_det(causes, precisions, seed, in_turn)[0] for seed in SEED.spawn(30)]
    assert np.mean(few) == pytest.approx(expected, abs=1.8) and np.std(few) > 0.5


def test_the_curvature_of_a_machine_that_ran_away(monkeypatch):
    """All spins are up in its samples, and down in the data: the same as in double precision, and positive."""
    n, A, N = 30, 8192, 10_000
    spins = np.where(np.random.default_rng(0).random((n, A)) < 0.98, 1, -1).astype(np.float32)
    drawn = SimpleNamespace(size=A, collect=lambda times, thin, first: [(spins.copy(), None)])
    monkeypatch.setattr(causes_evidence, "_settled", lambda *model: drawn)
    data = Data(N, np.full(n, -0.97), np.eye(n))
    causes = Causes(
        Mode(np.zeros((n, n)), np.zeros(n), 0.5, None, 0, False), data, np.empty(0), np.empty(0), 0
    )
    z = spins.astype(float) - data.d[:, None]
    features = np.vstack([z[data.pairs[0]] * z[data.pairs[1]], z])
    precisions = np.append(np.full(n * (n - 1) // 2, 40.0), np.ones(n))
    H = N * np.cov(features, ddof=0) + np.diag(precisions)
    used = len(H) - precisions @ np.diag(np.linalg.inv(H))
    expected = np.linalg.slogdet(H)[1] + used * (used + 1) / (2 * A)
    found, _ = causes_evidence._log_det(causes, precisions, SEED, in_turn)
    assert found == pytest.approx(expected, abs=0.02)


def test_the_gain_of_a_unit(fits, monkeypatch):
    """Against the exact values at the same two modes."""
    monkeypatch.setattr(causes_evidence, "_PRECISE", 0.15)
    X, found = fits
    ends = [exact_evidence(X, each) for each in found]
    expected = (ends[1][0] - ends[1][1]) - (ends[0][0] - ends[0][1])
    got = gain(*found, SEED, in_turn)
    assert abs(got.value - expected) < 3 * got.error + 0.2 and 0 < got.error < 1


def test_laplace_is_near_the_integral():
    """One spin pair without hidden units, by numerical integration over J, b_1 and b_2."""
    X = draw_exactly(random_model(2, 0.7, seed=3), 200, np.random.default_rng(0)).astype(np.int8)
    causes = from_restricted(stats(X), 0, 0.4, 2, SEED, in_turn)
    exact = JointPosterior(X, causes.data.d, causes.lam)
    theta = exact.pack(causes.mode.J, causes.mode.h)
    width = np.sqrt(np.diag(np.linalg.inv(exact.fisher(theta) + exact.prior())))
    grid = np.linspace(-5.6, 5.6, 17)
    points = np.stack(np.meshgrid(grid, grid, grid, indexing="ij"), -1).reshape(-1, 3) * width + theta
    values = np.array([exact.log_posterior(point) for point in points])
    integral = logsumexp(values) + np.log(np.prod(width) * (grid[1] - grid[0]) ** 3)
    integral += np.linalg.slogdet(exact.prior())[1] / 2 - 3 / 2 * math.log(2 * math.pi)
    found = log_evidence_but_partition(causes, SEED, in_turn) - 200 * logsumexp(exact.exponents(theta))
    assert found == pytest.approx(integral, abs=0.1)


def test_order_and_signs_of_units_do_not_change_the_evidence(fits):
    _, (zero, one) = fits
    mode, sign = one.mode, np.append(np.ones(6), -1.0)
    other = replace(
        one,
        mode=replace(mode, J=mode.J * np.outer(sign, sign), h=mode.h * sign),
        data=replace(
            one.data, d=one.data.d * sign, C=one.data.C * np.outer(sign, sign), shift=one.data.shift * sign
        ),
    )
    a, b = (gain(zero, each, SEED, in_turn) for each in (one, other))
    assert a.value == pytest.approx(b.value, abs=4 * a.error + 0.3)
    same = gain(one, other, SEED, in_turn)
    assert same.value == pytest.approx(0, abs=0.5) and same.error < 1e-6


@pytest.mark.parametrize(
    ("settled", "clear", "expected"),
    [
        ((True,), True, 0),
        ((False, True), True, 1),
        ((False, False, True, True), False, 3),
        ((True, True, False), False, 0),
    ],
)
def test_a_fit_that_got_lost_is_not_taken(settled, clear, expected, monkeypatch):
    """It is tried again, from another start if need be; the evidence of a lost one is not asked for."""
    fits = [SimpleNamespace(mode=SimpleNamespace(settled=each), number=i) for i, each in enumerate(settled)]
    left = iter(fits)
    monkeypatch.setattr(causes_search, "find_causes", lambda *arguments: next(left))
    monkeypatch.setattr(causes_search, "restricted_start", lambda *arguments: None)
    monkeypatch.setattr(causes_search, "split_start", lambda before: None)
    monkeypatch.setattr(causes_search, "_clear", lambda found: clear)
    task = causes_search.Task(None, None, 5)
    found = causes_search.so_many(task, 2, SEED, in_turn, lambda done, of: None)
    assert found.number == expected and next(left, None) is None
