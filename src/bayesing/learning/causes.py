r"""Couplings and common causes: the mode of a Boltzmann machine with hidden units.

.. math:: P(s, t) \propto \exp\Big(\sum_i h_i s_i + \sum_{i<j} J_{ij} s_i s_j + \sum_a c_a t_a
    + \sum_{ia} W_{ia} s_i t_a\Big) ,

of which only the spins s are seen. It is the same search as without hidden units (:mod:`~bayesing.learning.mode`),
for couplings of all n + k spins among which those between hidden units are 0. Hidden units are summed over in both
phases (:mod:`~bayesing.learning.phases`). The search starts from the units of a restricted machine
(:mod:`~bayesing.learning.restricted`), which has them alone, and J = 0.

**Scales.** :math:`J_{ij} \sim N(0, \gamma/n)` and :math:`W_{ia} \sim N(0, \gamma_a/n)`, each at the fixed point of
the mode, :math:`\gamma = n \langle J^2 \rangle/(1 - n \langle \operatorname{Var} J \rangle/\gamma)`, and likewise for
every unit. Squares are products of the couplings by two halves of the samples, without noise.
"""

from __future__ import annotations

import numpy as np

from ..threads import Run
from ..types import Array
from .clamped import Clamped
from .mode import GAMMA, Learner, Mode
from .newton import LEAST_GAMMA, MOST_GAMMA, Metric, Pair, Told

_LONGEST = 0.4  # change of ln gamma at once
_SETTLED = 0.05  # of all scales in a step
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
        n = self.source.n - len(self.units)
        square, variance = a * b, metric.variances(self.data.d)[0]
        upper = np.triu_indices(n, 1)
        scales = np.append(self.gamma, self.units)
        means = np.append(square[upper].mean(), square[:n, n:].mean(axis=0))
        spreads = np.append(variance[upper].mean(), variance[:n, n:].mean(axis=0))
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

    @property
    def settled(self) -> bool:
        """Whether the scales no longer change."""
        return len(self.changes) > 3 and self.changes[-1] < _SETTLED


def find_causes(learner: CausesLearner, heard: Told = lambda share: None) -> Mode:
    """The mode of couplings and weights (n + k) x (n + k), and of fields."""
    metric, settled = learner.approach(lambda share: heard(0.6 * share))
    samples = learner.average(metric, None, lambda share: heard(0.6 + 0.4 * share)) if settled else 0.0
    return Mode(learner.J, learner.h, learner.gamma, metric, samples, samples > 0)
