"""The mode under a Laplace prior, by the conditions that it fulfils."""

from copy import copy

import numpy as np
import pytest

import bayesing as bs
from bayesing.learning.laplace import _largest, laplace_mode, shrink
from bayesing.learning.newton import Metric, slopes
from bayesing.learning.phases import Data, Free

from samples import draw_exactly, in_turn, random_model, stats, without_noise
from slow import Posterior, pack, unpack

n, N, GAMMA = 5, 73, 0.1
MODEL = random_model(n, 0.9, seed=1, field=0.5)
X = draw_exactly(MODEL, N, np.random.default_rng(2)).astype(np.int8)
DATA = Data.of(stats(X))
EXACT = Posterior.of(X, GAMMA, laplace=True)
UPPER = np.triu_indices(n, 1)


def free_of(S):
    return Free([np.ascontiguousarray(S.T, np.float32)], DATA.d, in_turn)


METRIC = Metric(free_of(without_noise(MODEL, 15_000)), N, n / GAMMA)


def random_matrix(seed):
    A = np.random.default_rng(seed).normal(size=(n, n))
    A = A + A.T
    np.fill_diagonal(A, 0)
    return A


def end(G, centre, xi):
    """Where steps, each of which stays near the one before, come to an end."""
    J = np.zeros((n, n))
    for _ in range(20):
        J = shrink(G, METRIC, centre, J, xi)
    return J


@pytest.mark.parametrize("seed", range(3))
def test_the_mode_of_a_quadratic(seed):
    G, centre, xi = 20 * random_matrix(seed), 0.2 * random_matrix(10 + seed), 15.0
    J = end(G, centre, xi)
    assert (J == J.T).all() and not np.diagonal(J).any()
    slope = G - METRIC.rotate(J - centre, N * METRIC.W)
    slope, J = slope[UPPER], J[UPPER]
    assert 0 < (J == 0).sum() < len(J)
    off = 0.01 * np.sqrt(N)  # ten times the accuracy of couplings, times the curvature
    assert np.abs(slope[J == 0]).max() < xi + off
    assert slope[J != 0] == pytest.approx(xi * np.sign(J[J != 0]), abs=off)


def test_without_a_penalty_the_slope_is_made_up_for():
    change = 0.3 * random_matrix(1)
    G = METRIC.rotate(change, N * METRIC.W)
    assert end(G, np.zeros((n, n)), 0.0) == pytest.approx(change, abs=0.01)


def test_a_step_is_the_mode_with_a_term_that_holds_it():
    """|slope - mu (J - start)| up to xi where couplings are 0, xi sign J elsewhere."""
    G, centre, start, xi = 20 * random_matrix(0), 0.2 * random_matrix(10), 0.1 * random_matrix(20), 15.0
    J = shrink(G, METRIC, centre, start, xi)
    slope = G - METRIC.rotate(J - centre, N * METRIC.W) - 0.3 * METRIC.lam * (J - start)
    slope, J = slope[UPPER], J[UPPER]
    off = 0.01 * np.sqrt(N)
    assert 0 < (J == 0).sum() < len(J) and np.abs(slope[J == 0]).max() < xi + off
    assert slope[J != 0] == pytest.approx(xi * np.sign(J[J != 0]), abs=off)


def test_directions_without_curvature_do_not_run_away():
    flat = copy(METRIC)
    flat.W = 1e-12 * METRIC.W
    xi = np.sqrt(2 * flat.lam)
    J = shrink(1.3 * xi * np.sign(random_matrix(0)), flat, np.zeros((n, n)), np.zeros((n, n)), xi)
    assert np.abs(J[UPPER]) == pytest.approx(0.3 * xi / (0.3 * flat.lam), rel=0.02)


def test_the_largest_curvature():
    W = N * METRIC.W
    D = METRIC.V**2 @ W @ (METRIC.V**2).T
    dense = np.empty((len(UPPER[0]), len(UPPER[0])))
    for k, (i, j) in enumerate(zip(*UPPER, strict=True)):
        x = np.zeros((n, n))
        x[i, j] = x[j, i] = 1 / np.sqrt(D[i, j])
        dense[k] = (METRIC.rotate(x, W) / np.sqrt(D))[UPPER]
    largest = np.linalg.eigvalsh((dense + dense.T) / 2)[-1]
    np.fill_diagonal(D, 1.0)
    assert largest < _largest(METRIC, W, D) < 1.2 * largest


def test_steps_end_at_the_mode_of_the_true_posterior():
    """With samples without noise, from couplings and fields that are not there."""
    mode = EXACT.mode()
    J, h = MODEL.couplings, MODEL.fields
    for _ in range(8):
        S = without_noise(bs.IsingModel(J, h), 30_000)
        halves = free_of(S[::2]), free_of(S[1::2])
        metric = Metric(Free.both(*halves), N, n / GAMMA)
        at = tuple(slopes(DATA, half, J, h, 0.0) for half in halves)
        J, b = laplace_mode(DATA, halves, at, metric, J, h + J @ DATA.d, J, EXACT.xi)
        h = b - J @ DATA.d
    zero = mode[:10] == 0
    assert 1 < zero.sum() < 9 and ((J[UPPER] == 0) == zero).all()
    assert np.abs(pack(J, h) - mode).max() < 0.02


def test_fields_and_couplings_go_along():
    """Without a penalty a step is next to Newton's, though the metric has no elements between the two."""
    flat = Posterior.of(X, 1e9)
    mode = flat.mode()
    J, h = unpack(mode, n)
    free = free_of(without_noise(bs.IsingModel(J, h), 15_000))
    metric, H = Metric(free, N, 0.0), flat.curvature(mode)
    shares = []
    for seed in range(8):
        best = np.random.default_rng(seed).multivariate_normal(np.zeros(15), np.linalg.inv(H))
        S, s = unpack(H @ best, n)
        at = S - np.outer(s, DATA.d) - np.outer(DATA.d, s), s
        np.fill_diagonal(at[0], 0)
        found, b = laplace_mode(DATA, (free, free), (at, at), metric, J, h + J @ DATA.d, J, 0.0)
        off = pack(found, b - found @ DATA.d) - mode - best
        shares.append(off @ H @ off / (best @ H @ best))
    assert np.mean(shares) < 0.12


def test_the_slow_twin_is_at_the_mode():
    J, _ = unpack(mode := EXACT.mode(), n)
    slope = EXACT.slope(mode)
    J, of_couplings = J[UPPER], slope[:-n]
    assert np.abs(slope[-n:]).max() < 0.01 and (np.abs(of_couplings) < EXACT.xi + 0.01).all()
    assert of_couplings[J != 0] == pytest.approx(EXACT.xi * np.sign(J[J != 0]), abs=0.01)
