r"""Draws from the true posterior of couplings and fields, and the strength gamma that it tells.

Autoregressive Newton steps around the mode (after U. Ferrari, *Learning maximum entropy models from finite-size data
sets*, Phys. Rev. E 94, 023301, 2016): in the basis of the metric, with :math:`K = 1/(N W + \lambda)` and slopes G of
A samples,

.. math:: J \leftarrow J + (1-\rho) K \circ G + \xi, \qquad
    \operatorname{Var} \xi = (1-\rho^2) K - (1-\rho)^2 K^2 N^2 W / A ,

where the second term is the noise that the slopes bring along. On a quadratic posterior this is exact for any
:math:`\rho`. The metric stays what it is at the mode: one that follows the chains biases the draws.

**gamma** is where the evidence has its maximum. With :math:`x = \lambda \sum_{i<j} J_{ij}^2`,

.. math::

    \frac{d \ln P(D \mid \gamma)}{d \ln \gamma} = \tfrac12 \{E[x \mid D] - \tfrac{n(n-1)}{2}\} , \qquad
    -\frac{d^2 \ln P}{d (\ln \gamma)^2} = \tfrac12 E[x \mid D] - \tfrac14 \operatorname{Var}[x \mid D]
    \approx \tfrac12 \sum_{k<l} (1 - \lambda K_{kl})^2 .

The first is 0 by stochastic steps along the draws, the second, as it is on average for a quadratic posterior, gives
the error. The mode alone, :math:`\gamma = n \langle J^2 + \operatorname{Var} J \rangle` with the curvature as the
variance, is biased at any N.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass

import numpy as np

from ..threads import Run
from ..types import Array
from .mode import LEAST_GAMMA, MOST_GAMMA, Mode, Told
from .newton import Metric, slopes
from .phases import Data, Free
from .population import Population

RHO = 0.6  # what a step leaves of the deviation from the mode
WARM = 140  # steps before draws count
DRAWS = 220  # steps that count, where gamma is inferred
_SWEEPS = 8  # between steps
_SAMPLES = 0.5  # in a step, for each of the data
_MOST = 60_000
_GAIN = 0.1  # of gamma's steps
_FIRST = 15  # steps before gamma moves
_LONGEST = 0.1  # change of ln gamma in a step
_FACTOR = 3.0  # by which gamma may leave that of the mode
_DRIFT, _FAR = (
    0.25,
    10.0,
)  # of the spins, in mean activity, and standard errors of it: the chains have left the data


@dataclass(frozen=True, eq=False)
class Draws:
    """Couplings (draws, n, n) and fields (draws, n); gamma with its error, where it was inferred."""

    J: Array
    h: Array
    gamma: float
    gamma_error: float
    bound: float | None
    drifted: bool


def draw_posterior(
    data: Data,
    mode: Mode,
    n_spins: int,
    seed: np.random.SeedSequence,
    run: Run,
    n_draws: int = DRAWS,
    every: int = 1,
    infer: bool = False,
    heard: Told = lambda share: None,
) -> Draws:
    """Draws at the mode's gamma or, with ``infer``, with a gamma that moves to the maximum of the evidence."""
    N, d, n = data.N, data.d, data.n
    first, second = seed.spawn(2)
    rng = np.random.default_rng(first)
    metric = mode.metric
    gamma = mode.gamma * (1.3 if infer else 1.0)
    low, high = max(mode.gamma / _FACTOR, LEAST_GAMMA), min(mode.gamma * _FACTOR, MOST_GAMMA)
    J, b = mode.J, mode.h + mode.J @ d
    population = Population(J, mode.h, data.rates, second, run)
    times = math.ceil(min(max(_SAMPLES * N, 1), _MOST) / population.size)
    upper = np.triu_indices(n, 1)
    kept: list[tuple[Array, Array]] = []
    gammas: list[float] = []
    drifted = False
    total = WARM + n_draws * every
    for count in range(total):
        free = Free([spins for spins, _ in population.collect(times, 2, _SWEEPS)], d, run)
        if count < WARM and count % 20 == 19:
            population.retune()
        drift = abs(float(np.mean(free.m - d)))
        drifted = drift > max(2 * _DRIFT, _FAR * math.sqrt(float(data.C.sum()) / N) / n)
        if drifted:
            break
        metric = _with(metric, n_spins / gamma)
        J, b = _autoregress(data, free, J, b, metric, rng)
        population.change(J, b - J @ d)
        square = float(np.sum(J[upper] ** 2))
        if infer and count >= _FIRST:
            share = 1 - metric.lam * _mean_variance(metric)
            push = _GAIN / min(max(share, 0.1), 1.0) * (n_spins * square / len(upper[0]) / gamma - 1)
            gamma = float(np.clip(gamma * math.exp(np.clip(push, -_LONGEST, _LONGEST)), low, high))
        if count >= WARM:
            gammas.append(gamma)
            if (count - WARM) % every == every - 1:
                kept.append((J, b - J @ d))
        heard((count + 1) / total)
    inferred = float(np.mean(gammas)) if gammas and infer else gamma
    lam = n_spins / inferred
    error = inferred / math.sqrt(information(_with(metric, lam)))
    at_end = infer and bool(gammas) and not low * 1.01 < gammas[-1] < high / 1.01
    return Draws(
        np.array([J for J, _ in kept]).reshape(-1, n, n),
        np.array([h for _, h in kept]).reshape(-1, n),
        inferred,
        error if infer else 0.0,
        gammas[-1] if at_end else None,
        drifted,
    )


def _with(metric: Metric, lam: float) -> Metric:
    other = copy(metric)
    other.lam = lam
    return other


def _autoregress(
    data: Data, free: Free, J: Array, b: Array, metric: Metric, rng: np.random.Generator
) -> tuple[Array, Array]:
    """One step of couplings and fields."""
    N, n, V, W, c, K = data.N, data.n, metric.V, metric.W, metric.c, metric.K
    G, g = slopes(data, free, J, b - J @ data.d, metric.lam)
    rate = 1 - RHO
    variance = (1 - RHO**2) * K - rate**2 * K**2 * N**2 * W / free.A
    noise = rng.normal(size=(n, n))
    noise = (noise + noise.T) / math.sqrt(2) * np.sqrt(np.maximum(variance, 0))
    step = V @ (rate * K * (V.T @ G @ V) + noise) @ V.T
    np.fill_diagonal(step, 0)
    k = 1 / (N * c + 1)
    variance_b = (1 - RHO**2) * k - rate**2 * k**2 * N**2 * c / free.A
    step_b = V @ (rate * k * (V.T @ g) + np.sqrt(np.maximum(variance_b, 0)) * rng.normal(size=n))
    return J + (step + step.T) / 2, b + step_b


def information(metric: Metric) -> float:
    """That the data have on ln gamma."""
    share = (1 - metric.lam * metric.K) ** 2
    return max(float(share.sum() - np.trace(share)) / 4, 1e-12)


def _mean_variance(metric: Metric) -> float:
    """Of the couplings, over pairs."""
    K, P = metric.K, metric.V**2
    n = len(P)
    return float(K.sum() - np.vdot(K, P.T @ P)) / (n * (n - 1))
