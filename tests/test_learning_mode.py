"""The search for the mode, against the mode of the enumerated posterior."""

import numpy as np
import pytest

from bayesing.learning.mode import Learner, find_mode
from bayesing.learning.newton import LEAST_GAMMA, MOST_GAMMA, Metric
from bayesing.learning.phases import Data, Free
from bayesing.learning.quadratic import Laplace
from bayesing.learning.scale import fixed_point

from samples import draw_exactly, in_turn, random_model, stats, without_noise
from slow import Posterior, pack

CASES = [  # n, N, J, spread of the fields, gamma
    (8, 150, 0.6, 0.5, 0.5),
    (10, 400, 1.0, 0.5, 1.0),
    (9, 60, 0.5, 1.0, 0.3),
    (10, 1500, 1.5, 0.3, 2.0),
    (8, 30, 0.8, 0.5, 0.6),
]


def spins_of(n, N, J, field):
    return draw_exactly(random_model(n, J, seed=n, field=field), N, np.random.default_rng(0)).astype(np.int8)


def found(X, gamma, shape=None, n_spins=None, heard=lambda share: None, seed=0):
    seeds = np.random.SeedSequence(seed)
    return find_mode(Data.of(stats(X)), gamma, n_spins or X.shape[1], seeds, in_turn, shape, heard)[0]


@pytest.mark.parametrize("case", CASES)
def test_the_mode_is_that_of_the_enumerated_posterior(case):
    *data, gamma = case
    X = spins_of(*data)
    exact = Posterior.of(X, gamma)
    best = exact.mode()
    mode = found(X, gamma)
    z = (pack(mode.J, mode.h) - best) / exact.deviations(best)
    assert np.sqrt(np.mean(z**2)) < 0.15 and np.abs(z).max() < 0.5
    assert mode.settled and mode.gamma == gamma and mode.samples >= 100_000
    assert mode.J == pytest.approx(mode.J.T, abs=1e-12) and not np.diagonal(mode.J).any()


@pytest.mark.parametrize("case", CASES[:3])
def test_a_laplace_prior(case):
    """The conditions of the mode: |slope| up to xi where couplings are 0, xi sign J elsewhere."""
    *data, gamma = case
    X = spins_of(*data)
    exact = Posterior.of(X, gamma, laplace=True)
    mode = found(X, gamma, Laplace(X.shape[1]))
    theta, J = pack(mode.J, mode.h), mode.J[np.triu_indices(len(mode.h), 1)]
    slope = exact.slope(theta)[: len(J)]
    room = 0.5 * np.sqrt(np.diag(exact.curvature(theta)))[: len(J)]  # half a standard deviation, as slopes go
    off = np.where(J == 0, np.maximum(np.abs(slope) - exact.xi, 0), slope - exact.xi * np.sign(J))
    assert np.abs(off / room).max() < 1 and np.sqrt(np.mean((off / room) ** 2)) < 0.3
    best = exact.mode()
    z = (theta - best) / exact.deviations(best)
    assert np.sqrt(np.mean(z**2)) < 0.15 and np.abs(z).max() < 0.5
    zeros = best[: len(J)] == 0
    assert zeros.any() and (J == 0).any() and ((J == 0) != zeros).sum() <= 1


@pytest.mark.parametrize("case", [CASES[0], CASES[3]])
def test_gamma_is_the_fixed_point(case):
    """n <J^2> / (1 - n <Var J>/gamma) with the exact mode and curvature; the metric's variances are nearly those."""
    X = spins_of(*case[:-1])
    n = X.shape[1]
    learner = Learner(Data.of(stats(X)), None, np.random.SeedSequence(0), in_turn, n)
    assert learner.approach(lambda share: None)[1]
    gamma = learner.gamma
    exact = Posterior.of(X, gamma)
    best = exact.mode()
    pairs = n * (n - 1) // 2
    variance = np.mean(exact.deviations(best)[:pairs] ** 2)
    assert gamma == pytest.approx(n * np.mean(best[:pairs] ** 2) / (1 - n * variance / gamma), rel=0.05)


def test_the_fixed_point_of_a_quadratic_posterior():
    """Couplings that go with 1/(N W + n/gamma) in the basis; variances that are those of the metric."""
    n, N, lam = 6, 100, 30.0
    model = random_model(n, 0.9, seed=1)
    free = Free([without_noise(model, 9000).T.astype(np.float32)], np.zeros(n), in_turn)
    metric = Metric(free, N, lam)
    gamma = fixed_point(metric, model.couplings, model.couplings, n)
    assert LEAST_GAMMA < gamma < MOST_GAMMA and abs(np.log(gamma * lam / n)) > 0.1
    V, W = metric.V, metric.W
    K = 1 / (N * W + n / gamma)
    J = V @ ((V.T @ model.couplings @ V) * (N * W + lam) * K) @ V.T
    pairs = n * (n - 1)
    square = np.sum(J**2) / pairs  # as in the basis, with what comes to lie on the diagonal
    variance = np.mean([(V[i] ** 2) @ K @ (V[j] ** 2) for i in range(n) for j in range(n) if i != j])
    assert gamma == pytest.approx(n * square / (1 - n * variance / gamma), rel=0.01)


def test_couplings_move_along_with_gamma():
    """As on a quadratic posterior: in the basis with 1/(N W + n/gamma), and smaller where gamma becomes smaller."""
    X = spins_of(8, 150, 0.6, 0.5)
    data, truth = Data.of(stats(X)), random_model(8, 0.6, seed=8).couplings
    free = Free([np.ascontiguousarray(X.T, np.float32)], data.d, in_turn)
    for gamma in (0.05, 5.0):
        learner = Learner(data, None, np.random.SeedSequence(0), in_turn, 8)
        learner.gamma = gamma
        metric = Metric(free, data.N, learner.lam)
        V, before = metric.V, metric.K
        J = V @ (before * np.add.outer(np.arange(8), np.arange(8))) @ V.T  # a slope over the curvature
        np.fill_diagonal(J, 0)
        inside = V.T @ J @ V
        moved = learner._infer_gamma(metric, J, truth, truth)
        assert abs(np.log(learner.gamma / gamma)) == pytest.approx(0.4) and metric.lam == 8 / learner.gamma
        expected = V @ (inside * metric.K / before) @ V.T
        np.fill_diagonal(expected, 0)
        assert moved == pytest.approx(expected)
        assert (np.vdot(moved, moved) > np.vdot(J, J)) == (learner.gamma > gamma)


def test_the_prior_is_that_of_all_spins():
    """Some may be constant, and left out: gamma/n_spins is what counts."""
    X = spins_of(8, 150, 0.6, 0.5)
    one, other = found(X, 0.2), found(X, 0.4, n_spins=16)
    deviations = Posterior.of(X, 0.2).deviations(pack(one.J, one.h))
    assert np.abs((pack(one.J, one.h) - pack(other.J, other.h)) / deviations).max() < 0.4


def test_falls_are_given_up(monkeypatch):
    """Where every step ends far away, the search says so, and gives finite parameters."""
    monkeypatch.setattr("bayesing.learning.mode._FALL", -1.0)
    mode = found(spins_of(8, 150, 0.6, 0.5), 0.5)
    assert not mode.settled and mode.samples == 0
    assert np.isfinite(pack(mode.J, mode.h)).all()


def test_trust_is_learned_from_the_slope_along_a_move():
    """On a quadratic: a move that leaves half of the slope was too short, one that turns it round too long."""
    X = spins_of(8, 150, 0.6, 0.5)
    learner = Learner(Data.of(stats(X)), 0.5, np.random.SeedSequence(0), in_turn, 8)
    G, g = np.zeros((8, 8)), np.ones(8)
    for slope, trust in [(0.0, 0.4), (0.2, 0.5), (-1.0, 0.2), (-9.0, 0.2), (2.0, 0.6)]:
        learner.trust, learner.last = 0.4, (G, g, 8.0)
        learner._learn_trust(((G, slope * g), (G, slope * g)))
        assert learner.trust == pytest.approx(trust)


def test_progress_rises_to_1():
    shares = []
    found(spins_of(8, 30, 0.8, 0.5), 0.6, heard=shares.append)
    assert shares == sorted(shares) and shares[0] >= 0 and shares[-1] == 1
