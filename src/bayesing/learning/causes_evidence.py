r"""How many common causes? The evidence of a Boltzmann machine with k hidden units, step by step in k.

Laplace's approximation of ln P(D | k) is, with the curvature :math:`H = N F + \Lambda` of the log posterior, F the
Fisher matrix of the cells that are seen and :math:`\Lambda` the precisions of the priors,

.. math:: \ln P(D, \text{mode}) + \tfrac12 \ln\det\Lambda - \tfrac12 \ln\det H + \ln(2^k k!) .

The last term counts modes that differ in the order and the signs of units, as far as they are distinct
(:mod:`~bayesing.learning.restricted_evidence`). F is from samples; from A of them
:math:`\ln\det H` is too small by about :math:`p(p+1)/2A` for p parameters that the data determine.

**ln Z** is what decides, for it is multiplied by N. An error of 0.005, which annealing has, would be 50 nats for
10,000 rows. Of two machines only the difference matters, and along a straight line between them, with
:math:`u(s)` the difference of the exponents,

.. math:: \ln Z_1 - \ln Z_0 = \int_0^1 \langle u \rangle_x \, dx .

The closer the machines, the smaller is u, and with it the noise. A unit that is not there yet has weights 0 and
contributes ln 2. Units of the second machine are first put into the order, and given the signs, of the first.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy

from ..sampling._gibbs import Single
from ..threads import Run
from ..types import Array
from .causes import Causes
from .errors import factor_of_left, lost_curvature, stacked
from .newton import Pair, slowness
from .phases import summed_out
from .population import Population
from .restricted_evidence import log_symmetries

MOST_PARAMETERS = 5200  # of a full matrix, for 100 spins and a unit: half a minute
_SAMPLES = 8  # of the free model for each parameter
_LEAST = 2**15
_AT_A_TIME = 2048
_NODES = 6  # of the integral
_FIRST, _MOST = 2**15, 2**19  # samples at each of them
_PRECISE = 3.0  # nats: noise of a difference that is small enough
_WARM = 32  # sweeps
_MOST_THIN = 16


class Difference(NamedTuple):
    """Of ln P(D | k) between two machines, with the standard error that sampling gives it."""

    value: float
    error: float


def log_evidence_but_partition(causes: Causes, seed: np.random.SeedSequence, run: Run) -> float:
    """ln P(D | k), without - N ln Z."""
    data, mode, lam = causes.data, causes.mode, causes.lam
    pairs = data.pairs
    b = mode.h + mode.J @ data.d
    precisions = np.append(lam[pairs], np.broadcast_to(data.precision, len(b)))
    away = np.append(mode.J[pairs], b - data.middle)
    log_prior = -float(precisions @ away**2) / 2
    if len(precisions) > MOST_PARAMETERS:
        return causes.exponents + log_prior
    log_det, distances = _log_det(causes, precisions, seed, run)
    half = (log_det - float(np.log(precisions).sum())) / 2
    return causes.exponents + log_prior - half + log_symmetries(distances)


def _log_det(
    causes: Causes, precisions: Array, seed: np.random.SeedSequence, run: Run
) -> tuple[float, Array]:
    """ln det of the curvature, and how far each unit is from itself with the other sign, squared.

    Features are taken around their means in the first samples: a machine that ran away from the data has means far
    from d, of which nothing would be left in single precision.
    """
    data, p = causes.data, len(precisions)
    A = max(_LEAST, _SAMPLES * p)
    population = _settled(causes.mode.J, causes.mode.h, data.rates, seed, run)
    parts = population.collect(math.ceil(A / population.size), 8, 8)
    square, total, count = np.zeros((p, p), np.float32, order="F"), np.zeros(p), 0
    middle: Single | None = None
    for spins, _ in parts:
        y = summed_out(spins, causes.mode.J, causes.mode.h, data.hidden) - data.d.astype(np.float32)[:, None]
        for start in range(0, y.shape[1], _AT_A_TIME):
            features = np.asfortranarray(stacked(y[:, start : start + _AT_A_TIME], data.pairs))
            middle = features.mean(axis=1, keepdims=True) if middle is None else middle
            features -= middle
            square = scipy.linalg.blas.ssyrk(1.0, features, beta=1.0, c=square, overwrite_c=1)
            total += features.sum(axis=1, dtype=np.float64)
        count += y.shape[1]
    H = data.N * (square.astype(np.float64) / count - np.triu(np.outer(total, total)) / count**2)
    H[np.diag_indices(p)] += precisions
    distances = np.array([_distance(causes, H, a) for a in range(data.n - data.hidden, data.n)])
    if data.lost is None:
        factor = scipy.linalg.cholesky(H, lower=False, overwrite_a=True, check_finite=False)
    else:
        factor, _ = factor_of_left(H, data.N * lost_curvature(data.lost, data.pairs, data.d))
    log_det = 2 * float(np.log(np.diag(factor)).sum())
    inverse, _ = scipy.linalg.lapack.dpotri(factor, lower=0, overwrite_c=1)
    used = p - float(precisions @ np.diag(inverse))
    return log_det + used * (used + 1) / (2 * count), distances


def _distance(causes: Causes, H: Array, unit: int) -> float:
    """4 w^T H w, for the weights w of a unit, from the upper triangle of H."""
    of_unit = np.flatnonzero(causes.data.pairs[1] == unit)
    block, w = np.triu(H[np.ix_(of_unit, of_unit)]), causes.mode.J[:, unit][causes.data.pairs[0][of_unit]]
    return 4 * float(2 * w @ block @ w - np.diag(block) @ w**2)


def gain(before: Causes, after: Causes, seed: np.random.SeedSequence, run: Run) -> Difference:
    """Of the evidence, by more units, or by another mode with as many.

    Beyond ``MOST_PARAMETERS`` of them the curvature is left out, which is alike in modes of as many units.
    """
    first, second, third = seed.spawn(3)
    N = before.data.N
    ends = [log_evidence_but_partition(at, s, run) for at, s in ((before, first), (after, second))]
    wanted = _PRECISE / N
    n = before.data.n - before.data.hidden
    pairs = matched((before.mode.J, before.mode.h), (after.mode.J, after.mode.h), n)
    log_partition = log_partition_difference(*pairs, after.data.rates, wanted, third, run)
    absent = after.data.hidden - before.data.hidden  # units that are free at first
    log_partition = log_partition._replace(value=log_partition.value + absent * math.log(2))
    return Difference(ends[1] - ends[0] - N * log_partition.value, N * log_partition.error)


def log_partition_difference(
    a: Pair, b: Pair, rates: Array, wanted: float, seed: np.random.SeedSequence, run: Run
) -> Difference:
    """ln Z of a model b less that of a, with as many spins, and its standard error, if possible as ``wanted``."""
    (Ja, ha), (Jb, hb) = a, b
    dJ, dh = (Jb - Ja).astype(np.float32), (hb - ha).astype(np.float32)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    value = variance = 0.0
    for x, weight, own in zip((nodes + 1) / 2, weights / 2, seed.spawn(_NODES), strict=True):
        population = _settled(Ja + x * (Jb - Ja), ha + x * (hb - ha), rates, own, run)
        mean, noise = _mean_change(population, dJ, dh, wanted / math.sqrt(float(weights @ weights) / 4))
        value += weight * mean
        variance += weight**2 * noise
    return Difference(value, math.sqrt(variance))


def _mean_change(population: Population, dJ: Single, dh: Single, wanted: float) -> tuple[float, float]:
    """The mean of u, and the square of its standard error; more samples where that is not as small as wanted."""
    times, thin = math.ceil(_FIRST / population.size), 2
    while True:
        found = population.collect(times, thin, thin)
        values = [_change(spins, dJ, dh).reshape(times, -1) for spins, _ in found]
        slow = slowness(values)
        all_values = np.concatenate([part.ravel() for part in values])
        noise = float(all_values.var()) * slow / len(all_values)
        if noise <= wanted**2 or times * population.size >= _MOST:
            return float(all_values.mean()), noise
        if slow > 2 and thin < _MOST_THIN:
            thin *= 2
        more = min(4.0, 1.2 * noise / wanted**2)
        times = min(math.ceil(times * more), math.ceil(_MOST / population.size))


def _change(spins: Single, dJ: Single, dh: Single) -> Array:
    """u of every sample."""
    return np.asarray(0.5 * np.einsum("ip,ip->p", spins, dJ @ spins) + dh @ spins, np.float64)


def matched(a: Pair, b: Pair, n: int) -> tuple[Pair, Pair]:
    """Both with as many hidden units, those of b in the order and with the signs of those of a; n spins are seen."""
    (Ja, ha), (Jb, hb) = a, b
    k, more = len(ha) - n, len(hb) - len(ha)
    Ja, ha = np.pad(Ja, ((0, more), (0, more))), np.append(ha, np.zeros(more))
    overlap = Ja[:n, n : n + k].T @ Jb[:n, n:]
    rows, columns = scipy.optimize.linear_sum_assignment(-np.abs(overlap))
    order = np.append(columns, np.setdiff1d(np.arange(k + more), columns)).astype(np.intp)
    signs = np.append(np.where(overlap[rows, columns] < 0, -1.0, 1.0), np.ones(more))
    chosen, sign = np.append(np.arange(n), n + order), np.append(np.ones(n), signs)
    return (Ja, ha), (Jb[np.ix_(chosen, chosen)] * np.outer(sign, sign), hb[chosen] * sign)


def _settled(J: Array, h: Array, rates: Array, seed: np.random.SeedSequence, run: Run) -> Population:
    population = Population(J, h, rates, seed, run)
    population.advance(_WARM)
    population.retune()
    population.advance(_WARM)
    return population
