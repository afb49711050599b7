"""The mode under a prior that is not Gaussian, by the conditions that it fulfils."""

from copy import copy

import numpy as np
import pytest

import bayesing as bs
from bayesing.learning.newton import Metric, curvature, slopes
from bayesing.learning.phases import Data, Free
from bayesing.learning.quadratic import Laplace, Quadratic

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


SAMPLES = free_of(without_noise(MODEL, 15_000))
METRIC = Metric(SAMPLES, N, n / GAMMA)
QUADRATIC = Quadratic(DATA, SAMPLES, METRIC)


def random_matrix(seed):
    A = np.random.default_rng(seed).normal(size=(n, n))
    A = A + A.T
    np.fill_diagonal(A, 0)
    return A


def random_vector(seed):
    return np.random.default_rng(seed).normal(size=n)


def laplace(quadratic, G, g, J, b, start, xi):
    """The mode under a Laplace prior of this slope."""
    return Laplace(n).mode(quadratic, G, g, J, b, start, 2 * n / xi**2)


def end(G, g, J, b, xi):
    """Where steps, each of which stays near the one before, come to an end."""
    x = np.zeros((n, n))
    for _ in range(30):
        x, y = laplace(QUADRATIC, G, g, J, b, x, xi)
    return x, y


def slopes_at(x, y, G, g, J, b):
    """Of the quadratic without the term that holds couplings."""
    HJ, Hb = QUADRATIC.times(x - J, y - b)
    return G - HJ + QUADRATIC.metric.lam * (x - J), g - Hb


@pytest.mark.parametrize("seed", range(3))
def test_the_mode_of_a_quadratic(seed):
    at = 20 * random_matrix(seed), 20 * random_vector(seed), 0.2 * random_matrix(10 + seed), random_vector(9)
    xi = 15.0
    x, y = end(*at, xi)
    assert (x == x.T).all() and not np.diagonal(x).any()
    S, s = slopes_at(x, y, *at)
    S, x = S[UPPER], x[UPPER]
    assert 0 < (x == 0).sum() < len(x)
    off = 0.01 * np.sqrt(N)  # ten times the accuracy of couplings, times the curvature
    assert np.abs(S[x == 0]).max() < xi + off
    assert S[x != 0] == pytest.approx(xi * np.sign(x[x != 0]), abs=off)
    assert s == pytest.approx(np.zeros(n), abs=off)


def test_a_step_is_the_mode_with_a_term_that_holds_it():
    """|slope - mu (J - start)| up to xi where couplings are 0, xi sign J elsewhere."""
    at = 20 * random_matrix(0), random_vector(0), 0.2 * random_matrix(10), random_vector(9)
    start, xi, off = 0.1 * random_matrix(20), 15.0, 0.01 * np.sqrt(N)
    x, y = laplace(QUADRATIC, *at, start, xi)
    S = (slopes_at(x, y, *at)[0] - 0.3 * METRIC.lam * (x - start))[UPPER]
    x = x[UPPER]
    assert 0 < (x == 0).sum() < len(x) and np.abs(S[x == 0]).max() < xi + off
    assert S[x != 0] == pytest.approx(xi * np.sign(x[x != 0]), abs=off)


def test_directions_without_curvature_do_not_run_away():
    flat = copy(METRIC)
    flat.W = 1e-12 * METRIC.W
    none = copy(SAMPLES)
    none.parts = [np.zeros_like(part) + DATA.d[:, None].astype(np.float32) for part in SAMPLES.parts]
    quadratic, xi = Quadratic(DATA, none, flat), np.sqrt(2 * flat.lam)
    zero = np.zeros((n, n)), np.zeros(n)
    J, _ = laplace(quadratic, 1.3 * xi * np.sign(random_matrix(0)), zero[1], *zero, zero[0], xi)
    assert np.abs(J[UPPER]) == pytest.approx(0.3 * xi / (0.3 * flat.lam), rel=0.05)  # the fields have a prior


def dense(times):
    """The matrix of a linear map of couplings (each pair once) and fields."""
    columns = []
    for k in range(len(UPPER[0]) + n):
        x = np.zeros(len(UPPER[0]) + n)
        x[k] = 1
        J, b = times(*unpack(x, n))
        columns.append(np.concatenate([J[UPPER], b]))
    return np.array(columns).T


def test_the_curvature_is_nearly_that_of_the_samples():
    """A third of the directions are mended; without these it is twice as far away."""
    metric = QUADRATIC.metric
    exact = dense(lambda J, b: curvature(DATA, SAMPLES, metric, J, b))
    found = dense(QUADRATIC.times)
    rough = dense(lambda J, b: (metric.rotate(J, 1 / metric.K), metric.V @ (metric.V.T @ b / metric.k)))
    assert found == pytest.approx(found.T, abs=1e-6 * np.abs(found).max())
    off, before = (np.linalg.norm(H - exact) / np.linalg.norm(exact) for H in (found, rough))
    assert off < 0.25 and off < 0.6 * before
    scale = np.sqrt(np.concatenate([QUADRATIC.J[UPPER], QUADRATIC.b]))
    largest = np.linalg.eigvalsh(found / np.outer(scale, scale))[-1]
    assert largest < 1 / QUADRATIC.rate < 1.2 * largest


def test_steps_end_at_the_mode_of_the_true_posterior():
    """With samples without noise, from couplings and fields that are not there."""
    mode = EXACT.mode()
    J, h = MODEL.couplings, MODEL.fields
    for _ in range(12):
        free = free_of(without_noise(bs.IsingModel(J, h), 30_000))
        quadratic = Quadratic(DATA, free, Metric(free, N, n / GAMMA))
        b = h + J @ DATA.d
        J, b = laplace(quadratic, *slopes(DATA, free, J, b, 0.0), J, b, J, EXACT.xi)
        h = b - J @ DATA.d
    zero = mode[:10] == 0
    assert 1 < zero.sum() < 9 and ((J[UPPER] == 0) == zero).all()
    assert np.abs(pack(J, h) - mode).max() < 0.02


def test_the_slow_twin_is_at_the_mode():
    J, _ = unpack(mode := EXACT.mode(), n)
    slope = EXACT.slope(mode)
    J, of_couplings = J[UPPER], slope[:-n]
    assert np.abs(slope[-n:]).max() < 0.01 and (np.abs(of_couplings) < EXACT.xi + 0.01).all()
    assert of_couplings[J != 0] == pytest.approx(EXACT.xi * np.sign(J[J != 0]), abs=0.01)


def test_the_pull_of_a_laplace_prior():
    """The slope of -xi |J|, and xi where it has none."""
    J, xi = np.array([[0.0, -0.3], [0.2, 0.0]]), 0.4
    assert Laplace(n).pull(J, 2 * n / xi**2) == pytest.approx(np.array([[xi, xi], [-xi, xi]]))
