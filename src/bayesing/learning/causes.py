r"""Couplings and common causes: the mode of a Boltzmann machine with hidden units.

.. math:: P(s, t) \propto \exp\Big(\sum_i h_i s_i + \sum_{i<j} J_{ij} s_i s_j + \sum_a c_a t_a
    + \sum_{ia} W_{ia} s_i t_a\Big) ,

of which only the spins s are seen. It is the same search as without hidden units (:mod:`~bayesing.learning.mode`),
for couplings of all n + k spins among which those between hidden units are 0. Hidden units are summed over in both
phases (:mod:`~bayesing.learning.phases`). The posterior has several modes, and there are two kinds of starts
(:mod:`~bayesing.learning.causes_search`).

**Scales.** :math:`J_{ij} \sim N(0, \gamma/n)` and :math:`W_{ia} \sim N(0, \gamma_a/n)`, each at the fixed point of
the mode, :math:`\gamma = n \langle J^2 \rangle/(1 - n \langle \operatorname{Var} J \rangle/\gamma)`, and likewise for
every unit. Squares are products of the couplings by two halves of the samples, without noise. Variances by the metric
are too large for rare spins. For up to ``MOST_SPINS`` spins they are corrected by a factor: that of the inverse
of the whole curvature (:mod:`~bayesing.learning.errors`), once the search has settled. Then the search goes on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..ising import IsingModel
from ..sampling.missing import filled, padded, shown
from ..statistics import SpinStatistics
from ..threads import Run
from ..types import Array
from .clamped import Clamped
from .errors import posterior_errors
from .mode import GAMMA, Learner, Mode
from .newton import LEAST_GAMMA, MOST_GAMMA, Metric, Pair, Told
from .phases import Data, blank
from .restricted import FIRST_GAMMA, Rows, first_point, fit_restricted, held_mode

_LONGEST = 0.4  # change of ln gamma at once
_SETTLED = 0.05  # of all scales in a step
MOST_SPINS = 75  # hidden units included: a matrix of 2800 rows, in seconds
_STARTS = 3  # of the restricted machine, of which the best one counts
_LEAST_UNIT = 0.05  # scale of a unit to start from: it may have no use without couplings, and one beside them
_LEAST_SPLIT = 0.01  # eigenvalue of J
_LEAST_USED = 0.02  # share of couplings that the data determine


class CausesLearner(Learner):
    """A learner of n spins and k hidden units; ``units`` are the scales of the latter."""

    def __init__(
        self,
        source: Clamped,
        gamma: float | None,
        units: Array,
        start: Pair,
        seed: np.random.SeedSequence,
        run: Run,
        n_spins: int,
    ) -> None:
        self.units = units
        super().__init__(source, gamma, seed, run, n_spins, start)
        self.gamma = GAMMA if gamma is None else gamma
        self.learns_couplings, self.infers = gamma is None, True
        self.factors = np.ones(1 + len(units))  # of the metric's variances

    @property
    def lam(self) -> Array:  # type: ignore[override]
        """Precisions of the priors of all couplings, as a matrix."""
        k, n = len(self.units), self.source.n
        lam = np.full((n, n), self.n_spins / self.gamma)
        lam[: n - k, n - k :] = self.n_spins / self.units
        lam[n - k :, : n - k] = lam[: n - k, n - k :].T
        return lam

    def _infer_gamma(self, metric: Metric, J: Array, a: Array, b: Array) -> Array:
        """Take the scales that couplings a and b, by two halves of the samples, tell."""
        scales = np.append(self.gamma, self.units)
        means, spreads = self._means(a * b), self.factors * self._means(metric.variances(self.data.d)[0])
        used = np.maximum(1 - self.n_spins * spreads / scales, _LEAST_USED)
        wanted = np.clip(self.n_spins * means / used, LEAST_GAMMA, MOST_GAMMA)
        change = np.clip(np.log(wanted / scales), -_LONGEST, _LONGEST)
        if not self.learns_couplings:
            change[0] = 0.0
        self.gamma, self.units = float(scales[0] * np.exp(change[0])), scales[1:] * np.exp(change[1:])
        at_end = (self.gamma <= 1.01 * LEAST_GAMMA) & (np.arange(len(change)) == 0)
        self.changes.append(float(np.abs(np.where(at_end, 0.0, change)).max()))
        metric.lam = self.lam
        return J

    def _means(self, matrix: Array) -> Array:
        """Over couplings between spins, and over those of each unit."""
        n = self.source.n - len(self.units)
        return np.append(matrix[np.triu_indices(n, 1)].mean(), matrix[:n, n:].mean(axis=0))

    def correct(self, metric: Metric) -> None:
        """Compare the metric's variances with those of the whole curvature; the scales are to settle anew."""
        errors, _ = posterior_errors(self.data, self.look().free, metric.at(self.lam), self.run, MOST_SPINS)
        rough = metric.at(self.lam).variances(self.data.d)[0]
        self.factors = self._means(errors**2) / self._means(rough)
        self.changes = [0.0]

    @property
    def settled(self) -> bool:
        """Whether the scales no longer change."""
        return len(self.changes) > 3 and self.changes[-1] < _SETTLED


@dataclass(frozen=True, eq=False)
class Causes:
    r"""The mode, of couplings and weights (n + k) x (n + k) and of all fields, with the data there.

    ``lam`` are the precisions of the priors of all couplings, ``units`` the scales of the hidden units, and
    ``exponents`` is the sum over the rows of :math:`\ln P(s) + \ln Z`.
    """

    mode: Mode
    data: Data
    lam: Array
    units: Array
    exponents: float


@dataclass(frozen=True, eq=False)
class Start:
    """Couplings and fields of n + k spins, and scales of the units."""

    J: Array
    h: Array
    units: Array


def find_causes(
    stats: SpinStatistics,
    start: Start,
    gamma: float | None,
    n_spins: int,
    seed: np.random.SeedSequence,
    run: Run,
    heard: Told = lambda share: None,
) -> Causes:
    """Couplings and common causes of spins that vary, from a start."""
    clamped, search = seed.spawn(2)
    stats = _without_empty_rows(stats)
    spins, n = stats.spins(), stats.n
    whole = filled(stats).spins() if stats.missing else spins
    centres = np.tanh(whole @ start.J[:n, n:] + start.h[n:]).mean(axis=0)
    source = Clamped(spins, clamped, centres)
    learner = CausesLearner(source, gamma, start.units, (start.J, start.h), search, run, n_spins)
    metric, settled = learner.approach(lambda share: heard(0.6 * share))
    if settled and source.n <= MOST_SPINS:
        learner.correct(metric)
        metric, settled = learner.approach(lambda share: None)
    samples = learner.average(metric, None, lambda share: heard(0.6 + 0.4 * share)) if settled else 0.0
    J = (learner.J + learner.J.T) / 2  # equal up to rounding
    mode = Mode(J, learner.h, learner.gamma, metric.at(learner.lam), samples, samples > 0)
    data = source.averaged(mode.J, mode.h, run)
    exponents = shown(IsingModel(mode.J, mode.h), padded(spins, data.n)).log_weights
    return Causes(mode, data, learner.lam, learner.units, float(exponents.sum()))


def _without_empty_rows(stats: SpinStatistics) -> SpinStatistics:
    """Rows that show nothing of the spins that vary say nothing, but would add ln Z to the exponents."""
    empty = ~stats.spins().any(axis=1) if stats.missing else np.zeros(1, bool)
    return stats.take(np.flatnonzero(~empty)) if empty.any() else stats


def restricted_start(stats: SpinStatistics, k: int, seed: np.random.SeedSequence) -> Start:
    """A restricted machine, which explains all it can by its units, and J = 0."""
    stats = _without_empty_rows(stats)
    n, rng = stats.n, np.random.default_rng(seed)
    rows, gamma = Rows.of(filled(stats) if stats.missing else stats), np.full(k, FIRST_GAMMA)
    starts = [held_mode(rows, first_point(rows, k, rng), gamma) for _ in range(_STARTS if k else 1)]
    best, _ = max(starts, key=lambda found: found[1])
    fit = fit_restricted(rows, best, gamma, int(rng.integers(2**31)))
    W, h, c = fit.point
    J = np.zeros((n + k, n + k))
    J[:n, n:], J[n:, :n] = W, W.T
    return Start(J, np.append(h, c), np.maximum(fit.gamma, _LEAST_UNIT))


def split_start(before: Causes) -> Start:
    """Another unit, split off from the couplings between spins.

    A unit with weak weights w and no field acts as couplings :math:`w_i w_j` do. So w is the leading eigenvector of
    J, times the root of its eigenvalue.
    """
    J, h = before.mode.J, before.mode.h
    m, n = len(h), len(h) - len(before.units)
    values, vectors = np.linalg.eigh(J[:n, :n])
    w = vectors[:, -1] * math.sqrt(max(float(values[-1]), _LEAST_SPLIT))
    joint = np.pad(J, ((0, 1), (0, 1)))
    joint[:n, :n] = blank(joint[:n, :n] - np.outer(w, w), 0)
    joint[:n, m] = joint[m, :n] = w
    return Start(joint, np.append(h, 0.0), np.append(before.units, max(float(w @ w), _LEAST_UNIT)))
