r"""Draws from the true posterior of couplings and fields, and the strength gamma that it tells.

Autoregressive Newton steps around the mode (after U. Ferrari, *Learning maximum entropy models from finite-size data
sets*, Phys. Rev. E 94, 023301, 2016): in the basis of the metric, with :math:`K = 1/(N W + \lambda)` and slopes G of
A samples,

.. math:: J \leftarrow J + (1-\rho) K \circ G + \xi, \qquad
    \operatorname{Var} \xi = (1-\rho^2) K - (1-\rho)^2 K^2 N^2 W / A ,

where the second term is the noise that the slopes bring along. On a quadratic posterior this is exact for any
:math:`\rho`, if its curvature is that of the metric. Where it is :math:`\kappa` times as much, the steps explode from
:math:`(1-\rho) \kappa = 2` on, and before that the variance is too large by :math:`(1+\rho)/(2 - (1-\rho)\kappa)`. So
the few stiff directions are mended (:mod:`~bayesing.learning.stiff`), and :math:`1-\rho` is small where the others
are stiff, too, and where N is small: a step changes the exponents by :math:`(1-\rho^2) p/N` for p parameters, and the
chains must follow. Where the curvature grows away from the mode, slopes are cut off at four standard deviations, or
steps would explode after all. Metric and directions stay what they are at the mode: those that follow the chains bias
the draws.

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
from dataclasses import dataclass

import numpy as np

from ..threads import Run
from ..types import Array
from .newton import LEAST_GAMMA, MOST_GAMMA, Metric, Pair, Place, Told, slopes
from .phases import Data, Free, Source
from .population import Population
from .stiff import Stiff, into, out

_RATE = 0.4  # 1 - rho, of which a step makes up for the deviation from the mode, at most
_STIFF = 0.8  # this rate times the curvature of directions that are not mended, at most
_FOLLOWED = 1.0  # half the variance of the exponents' change in a step, at most, for the chains must follow
WARM = 140  # steps before draws count, at the largest rate
DRAWS = 220  # steps that count, where gamma is inferred
_SWEEPS, _LEAST_SWEEPS = 8, 3  # between steps, at the largest rate and at small ones
_SAMPLES = 0.5  # in a step, for each of the data
_MOST = 60_000
_CHAINS = (
    8  # of an incomplete row: they add an eighth at most to the noise of N samples, which steps make up for
)
_GAIN = 0.1  # of gamma's steps, over Newton's, times the share of gamma that the data tell: noise grows as it falls
_FIRST_GAIN = 0.2  # before draws count
_FIRST = 15  # steps before gamma moves
_LONGEST = 0.1  # change of ln gamma in a step
_FACTOR = 3.0  # by which gamma may leave that of the mode
_LARGEST = (
    4.0  # slope in coordinates of curvature 1, in its standard deviations; beyond, the curvature has changed
)
_MOST_SPINS = 2**26  # in memory at once, a quarter of a gibibyte
_CURVATURE = 2**14  # samples for the stiff directions, or n^2, two for each parameter
_DRIFT = 0.25  # of the spins, in mean activity: the chains have left the data,
_FAR = 10.0  # if these are as many standard errors of it


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
    source: Source,
    mode: Place,
    n_spins: int,
    seed: np.random.SeedSequence,
    run: Run,
    n_draws: int = DRAWS,
    every: int = 1,
    infer: float = 0.0,
    warm: int = WARM,
    heard: Told = lambda share: None,
) -> Draws:
    """Draws at the mode's gamma or, from ``infer`` times that on, with one that moves to the maximum of the evidence.

    ``warm`` are the steps before draws count, ``every`` those from one draw to the next, both at the largest rate.
    """
    data = source.averaged(mode.J, mode.h, run)
    N, d, n = data.N, data.d, data.n
    first, second = seed.spawn(2)
    rng = np.random.default_rng(first)
    source, metric = source.with_fewer(_CHAINS), mode.metric.with_fewer(_CHAINS)
    gamma = mode.gamma * (infer or 1.0)
    low, high = max(mode.gamma / _FACTOR, LEAST_GAMMA), min(mode.gamma * _FACTOR, MOST_GAMMA)
    J, b = mode.J, mode.h + mode.J @ d
    population = Population(J, mode.h, data.rates, second, run)
    stiff = _stiff(data, population, metric, run)
    rate = min(_RATE, _STIFF / stiff.rest, _FOLLOWED * N / metric.used)
    times = math.ceil(min(max(_SAMPLES * N, 1), _MOST) / population.size)
    upper = np.triu_indices(n, 1)
    kept: list[tuple[Array, Array]] = []
    gammas: list[float] = []
    drifted = False
    slower = _RATE / rate
    sweeps = max(_LEAST_SWEEPS, round(_SWEEPS / slower))
    warm, every = math.ceil(warm * slower), math.ceil(every * slower)
    total = warm + n_draws * every
    for count in range(total):
        free = Free([spins for spins, _ in population.collect(times, 2, sweeps)], d, run)
        data = Data.both(*source.look(J, b - J @ d, run))
        if count < warm and count % 20 == 19:
            population.retune()
        drift = abs(float(np.mean(free.m - data.mean)))
        drifted |= drift > max(2 * _DRIFT, _FAR * math.sqrt(max(float(data.C.sum()), 0.0) / N) / n)
        if drifted and infer:
            break
        metric = metric.at(n_spins / gamma)
        J, b = _autoregress(data, free, J, b, metric, stiff, rate, rng)
        population.change(J, b - J @ d)
        square = float(np.sum(J[upper] ** 2))
        if infer and count >= _FIRST * slower:
            slope = (n_spins / gamma * square - len(upper[0])) / 2  # of the evidence along ln gamma
            known = information(metric)
            gain = _GAIN * math.sqrt(2 * known / len(upper[0])) if count >= warm else _FIRST_GAIN
            push = gain / slower * slope / known
            gamma = float(np.clip(gamma * math.exp(np.clip(push, -_LONGEST, _LONGEST)), low, high))
        if count >= warm:
            gammas.append(gamma)
            if (count - warm) % every == every - 1:
                kept.append((J, b - J @ d))
        heard((count + 1) / total)
    inferred = float(np.mean(gammas)) if gammas and infer else gamma
    lam = n_spins / inferred
    error = inferred / math.sqrt(information(metric.at(lam)))
    at_end = bool(infer and gammas) and gammas[-1] >= high / 1.01
    return Draws(
        np.array([J for J, _ in kept]).reshape(-1, n, n),
        np.array([h for _, h in kept]).reshape(-1, n),
        inferred,
        error if infer else 0.0,
        gammas[-1] if at_end else None,
        drifted,
    )


def _stiff(data: Data, population: Population, metric: Metric, run: Run) -> Stiff:
    wanted = min(max(_CURVATURE, data.n**2), _MOST_SPINS // data.n)
    population.advance(_SWEEPS)
    parts = [spins for spins, _ in population.collect(math.ceil(wanted / population.size), 4, _SWEEPS)]
    free = Free(parts, data.d, run)
    return Stiff(data, free, metric)


def _autoregress(
    data: Data,
    free: Free,
    J: Array,
    b: Array,
    metric: Metric,
    stiff: Stiff,
    rate: float,
    rng: np.random.Generator,
) -> Pair:
    """One step of couplings and fields."""
    N, n = data.N, data.n
    E, e = stiff.mend(*into(metric, *slopes(data, free, J, b, metric.lam)), power=1)
    samples = 1 / (1 / free.A + metric.noise)
    most = _LARGEST * math.sqrt(1 + N / samples)
    E, e = np.clip(E, -most, most), np.clip(e, -most, most)
    white, own = rng.normal(size=(n, n)), 2 * rate - rate**2
    noise = rate**2 * N / samples  # of the slopes, for curvatures that are those of complete data alone
    left = np.maximum(own - noise * N * metric.full_W * metric.K, 0)
    white = (white + white.T) / math.sqrt(2) * np.sqrt(left)
    of_fields = rng.normal(size=n) * np.sqrt(np.maximum(own - noise * N * metric.full_c * metric.k, 0))
    F, f = stiff.mend(white, of_fields, power=0.5)
    dJ, db = out(metric, rate * E + F, rate * e + f)
    return J + dJ, b + db


def information(metric: Metric) -> float:
    """That the data have on ln gamma."""
    share = (1 - metric.lam * metric.K) ** 2
    return max(float(share.sum() - np.trace(share)) / 4, 1e-12)
