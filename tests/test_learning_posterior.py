"""Draws of couplings and fields, against integrals over the enumerated posterior; stiff directions."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import logsumexp

import bayesing as bs
from bayesing.learning import posterior
from bayesing.learning.clamped import observed
from bayesing.learning.mode import find_mode
from bayesing.learning.newton import Metric, curvature, inner, slopes
from bayesing.learning.phases import Data, Free
from bayesing.learning.posterior import _autoregress, draw_posterior, information
from bayesing.learning.stiff import DIRECTIONS, Stiff, into, out
from bayesing.sampling.diagnostics import autocorrelation_time

from samples import draw_exactly, in_turn, random_model, stats, without_noise
from slow import Posterior, pack


def three(scale, N, seed=1):
    J = scale * np.array([[0, 0.7, -0.5], [0.7, 0, 0.6], [-0.5, 0.6, 0]])
    model = bs.IsingModel(J, np.array([0.6, -0.4, 0.3]))
    return draw_exactly(model, N, np.random.default_rng(seed)).astype(np.int8)


def integrals(X, gamma, points=7):
    """Means and standard deviations of the parameters of three spins, and the mean of sum J^2, by quadrature."""
    exact = Posterior.of(X, gamma)
    mode = exact.mode()
    L = np.linalg.cholesky(np.linalg.inv(exact.curvature(mode)))
    x, w = np.polynomial.hermite_e.hermegauss(points)
    grid = np.stack(np.meshgrid(*[x] * 6, indexing="ij"), -1).reshape(-1, 6)
    theta = mode + grid @ L.T
    logs = exact.smooth(theta) + (grid**2).sum(axis=1) / 2
    logs += sum(np.meshgrid(*[np.log(w)] * 6, indexing="ij")).ravel()
    p = np.exp(logs - logsumexp(logs))
    mean = p @ theta
    return mean, np.sqrt(p @ (theta - mean) ** 2), p @ (theta[:, :3] ** 2).sum(axis=1)


def mode_of(X, gamma):
    data = Data.of(stats(X))
    return data, find_mode(data, gamma, X.shape[1], np.random.SeedSequence(0), in_turn)[0]


def test_draws_have_the_moments_of_the_posterior():
    X, gamma = three(0.7, 60), 1.0
    mean, deviation, _ = integrals(X, gamma)
    data, mode = mode_of(X, gamma)
    shares = []
    drawn = draw_posterior(data, mode, 3, np.random.SeedSequence(1), in_turn, 400, 4, heard=shares.append)
    theta = np.array([pack(J, h) for J, h in zip(drawn.J, drawn.h, strict=True)])
    assert theta.shape == (400, 6) and not drawn.drifted and drawn.gamma == gamma and drawn.bound is None
    times = np.array([autocorrelation_time(column[None]) for column in theta.T])
    error = np.sqrt(times / 400)
    assert error.max() < 0.08
    assert np.abs((theta.mean(axis=0) - mean) / deviation / error).max() < 4
    assert np.abs((theta.std(axis=0) / deviation - 1) / (error / np.sqrt(2))).max() < 4
    assert shares == sorted(shares) and shares[-1] == 1


def test_gamma_is_where_the_evidence_has_its_maximum():
    """E[sum J^2 | D] = gamma (n-1)/2, within the noise of 220 steps, a tenth of the error of gamma."""
    X = three(1.3, 300)
    best = np.exp(brentq(lambda log: integrals(X, np.exp(log), 5)[2] - np.exp(log), -1, 1.5, xtol=1e-3))
    data, mode = mode_of(X, None)
    drawn = draw_posterior(data, mode, 3, np.random.SeedSequence(0), in_turn, infer=True)
    assert drawn.gamma == pytest.approx(best, rel=0.2) and drawn.bound is None
    assert 0.5 * best < drawn.gamma_error < 1.5 * best  # three couplings: sqrt(2/3) = 0.8 if they were known
    known = information(mode.metric.at(3 / drawn.gamma))
    assert drawn.gamma_error == pytest.approx(drawn.gamma / np.sqrt(known))
    assert len(drawn.J) == posterior.DRAWS


def test_gamma_stays_near_that_of_the_mode(monkeypatch):
    """The upper end of its range is a bound to speak of: gamma is too small there. The lower end is none."""
    data, mode = mode_of(three(1.3, 300), None)
    monkeypatch.setattr(posterior, "_FACTOR", 1.02)
    for gamma, bound in [(0.3 * mode.gamma, True), (10 * mode.gamma, False)]:
        other = replace(mode, gamma=gamma)
        drawn = draw_posterior(data, other, 3, np.random.SeedSequence(0), in_turn, 20, infer=True)
        assert gamma / 1.03 < drawn.gamma < gamma * 1.03
        assert drawn.bound == (pytest.approx(gamma * 1.02, rel=0.011) if bound else None)


def test_draws_that_leave_the_data_are_noticed(monkeypatch):
    monkeypatch.setattr(posterior, "_DRIFT", -1.0)
    monkeypatch.setattr(posterior, "_FAR", 1e-9)
    data, mode = mode_of(three(0.7, 60), 1.0)
    drawn = draw_posterior(data, mode, 3, np.random.SeedSequence(1), in_turn, 5)
    assert drawn.drifted and drawn.J.shape == (5, 3, 3)
    drawn = draw_posterior(data, mode, 3, np.random.SeedSequence(1), in_turn, 5, infer=True)
    assert drawn.drifted and drawn.J.shape == (0, 3, 3) and drawn.h.shape == (0, 3)
    assert np.isfinite(drawn.gamma) and np.isfinite(drawn.gamma_error)


n, N = 6, 500
MODEL = random_model(n, 1.2, seed=2, field=0.5)
X = draw_exactly(MODEL, N, np.random.default_rng(0)).astype(np.int8)
DATA = Data.of(stats(X))
FREE = Free([np.ascontiguousarray(without_noise(MODEL, 15_000).T, np.float32)], DATA.d, in_turn)
METRIC = Metric(FREE, N, n / 0.8)


UPPER = np.triu_indices(n, 1)


def random_pair(seed):
    rng = np.random.default_rng(seed)
    E = rng.normal(size=(n, n))
    return E + E.T, rng.normal(size=n)


@pytest.mark.parametrize("rate", [0.4, 0.8])
def test_a_step_goes_along_the_slope_and_adds_noise(rate):
    """Of variance (1 - rho^2) K less what the slopes of few samples bring along, (1 - rho)^2 K^2 N^2 W / A."""
    draws, few = 4000, Free([FREE.parts[0][:, :1500]], DATA.d, in_turn)
    plain = Stiff(DATA, FREE, METRIC)
    plain.kappa = np.ones_like(plain.kappa)  # nothing to mend
    rng, J, b = np.random.default_rng(0), MODEL.couplings, MODEL.fields + MODEL.couplings @ DATA.d
    moved = [_autoregress(DATA, few, J, b, METRIC, plain, rate, rng) for _ in range(draws)]
    dJ, db = (np.array(x) for x in zip(*moved, strict=True))
    dJ, db = dJ - J, db - b
    V, K, k = METRIC.V, METRIC.K, METRIC.k
    G, g = slopes(DATA, few, J, b, METRIC.lam)
    step = rate * V @ (K * (V.T @ G @ V)) @ V.T
    np.fill_diagonal(step, 0)
    assert np.abs(dJ.mean(axis=0) - step)[UPPER].max() < 4.5 * dJ.std(axis=0)[UPPER].max() / np.sqrt(draws)
    assert np.abs(db.mean(axis=0) - rate * V @ (k * (V.T @ g))).max() < 4.5 * db.std(axis=0).max() / np.sqrt(
        draws
    )
    own, noise = 2 * rate - rate**2, rate**2 * N**2 / few.A
    of_fields = own * k - noise * METRIC.c * k**2
    assert (db @ V).var(axis=0) == pytest.approx(of_fields, rel=4.5 * np.sqrt(2 / draws))
    E = own * K - noise * METRIC.W * K**2
    for i, j in zip(*UPPER, strict=True):
        variance = sum(
            E[x, y] * (V[i, x] ** 2 * V[j, y] ** 2 + V[i, x] * V[j, x] * V[i, y] * V[j, y])
            for x in range(n)
            for y in range(n)
        )
        assert dJ[:, i, j].var() == pytest.approx(variance, rel=4.5 * np.sqrt(2 / draws))


class Still:
    """Random numbers without randomness."""

    def normal(self, size):
        return np.zeros(size)


def test_slopes_along_stiff_directions_are_mended():
    """Divided by their curvature: a step makes up for the share ``rate`` of the deviation in every direction."""
    stiff, J, b = Stiff(DATA, FREE, METRIC), MODEL.couplings, MODEL.fields + MODEL.couplings @ DATA.d
    stiff.kappa = np.linspace(2, 5, len(stiff.kappa))
    x = stiff.flat(*into(METRIC, *slopes(DATA, FREE, J, b, METRIC.lam)))
    for kappa, v in zip(stiff.kappa, stiff.vectors.T, strict=True):
        x = x - (1 - 1 / kappa) * (v @ x) * v
    dJ, db = out(METRIC, *stiff.unflat(0.4 * x))
    moved = _autoregress(DATA, FREE, J, b, METRIC, stiff, 0.4, Still())
    assert moved[0] == pytest.approx(J + dJ, abs=1e-9) and moved[1] == pytest.approx(b + db, abs=1e-9)


def test_information():
    share = [(1 - METRIC.lam / (N * METRIC.W[k, m] + METRIC.lam)) ** 2 for k in range(n) for m in range(k)]
    assert information(METRIC) == pytest.approx(sum(share) / 2)


def test_coordinates():
    """Slopes along them are those along couplings and fields, and lengths of vectors count each pair once."""
    stiff = Stiff(DATA, FREE, METRIC)
    E, G = random_pair(1), random_pair(2)
    np.fill_diagonal(G[0], 0)
    assert inner(*G, *out(METRIC, *E)) == pytest.approx(inner(*into(METRIC, *G), *E))
    assert stiff.flat(*E) @ stiff.flat(*G) == pytest.approx(inner(*E, *G))
    for back, there in zip(stiff.unflat(stiff.flat(*E)), E, strict=True):
        assert back == pytest.approx(there)


def test_stiff_directions_are_those_of_the_dense_matrix():
    stiff = Stiff(DATA, FREE, METRIC)
    size = n * (n + 1) // 2 + n
    dense = np.empty((size, size))
    for k, unit in enumerate(np.eye(size)):
        step = out(METRIC, *stiff.unflat(unit))
        dense[k] = stiff.flat(*into(METRIC, *curvature(DATA, FREE, METRIC, *step)))
    assert dense == pytest.approx(dense.T, abs=1e-3)
    values, vectors = np.linalg.eigh((dense + dense.T) / 2)
    count = min(DIRECTIONS, size // 3)
    assert len(stiff.kappa) == count == 9 and values[-1] > 1.5
    assert np.sort(stiff.kappa)[::-1] == pytest.approx(np.maximum(values[::-1][:count], 1), rel=0.05)
    assert stiff.rest == pytest.approx(values[-count], rel=0.05)
    assert abs(stiff.vectors[:, np.argmax(stiff.kappa)] @ vectors[:, -1]) > 0.99


def test_mending_is_a_power_of_the_curvature():
    stiff = Stiff(DATA, FREE, METRIC)
    E = random_pair(3)
    once, twice = stiff.mend(*E, power=1), stiff.mend(*stiff.mend(*E, power=0.5), power=0.5)
    assert pack(*once) == pytest.approx(pack(*twice)) and pack(*once) != pytest.approx(pack(*E))
    for kappa, v in zip(stiff.kappa, stiff.vectors.T, strict=True):
        assert stiff.flat(*stiff.mend(*stiff.unflat(v), power=1)) == pytest.approx(v / kappa)
    rest = stiff.flat(*E)
    rest -= stiff.vectors @ (stiff.vectors.T @ rest)
    assert stiff.flat(*stiff.mend(*stiff.unflat(rest), power=1)) == pytest.approx(rest)


def test_two_spins_have_few_directions():
    data = Data.of(stats(X[:, :2]))
    free = Free([X[:, :2].T.astype(np.float32)], data.d, in_turn)
    stiff = Stiff(data, free, Metric(free, N, 2.0))
    assert len(stiff.kappa) == 1 and stiff.rest > 0.5


def test_draws_look_at_fewer_chains_of_missing_cells_and_know_their_noise():
    X = three(0.7, 60)
    gaps = np.random.default_rng(0).random(X.shape) < 0.3
    source = observed(stats(np.where(gaps, np.nan, X)), np.random.SeedSequence(0))
    fewer = source.with_fewer(8)
    assert source.copies == 64 and fewer.copies == 8 and fewer.N == source.N
    assert all(a is b for a, b in zip(fewer.chains, source.chains, strict=False))
    mode, _ = find_mode(source, 1.0, 3, np.random.SeedSequence(0), in_turn)
    all_of_them, some = (x.averaged(mode.J, mode.h, in_turn) for x in (source, fewer))
    assert some.lost.copies == 8 and np.allclose(some.C, all_of_them.C, atol=0.05)
    metric = mode.metric.with_fewer(8)
    assert metric.noise == pytest.approx(8 * mode.metric.noise) and metric.noise > 0
    assert mode.metric.with_fewer(100).noise == mode.metric.noise
    whole, mode = mode_of(X, 1.0)
    assert whole.with_fewer(8) is whole and mode.metric.with_fewer(8).noise == 0
