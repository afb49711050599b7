r"""The strength gamma that the mode of the posterior tells by itself.

With curvatures :math:`N W_{kl} + n/\gamma` in the basis of the metric (:mod:`~bayesing.learning.newton`) the evidence
of a quadratic posterior is largest where :math:`\gamma = n \langle J^2 + \operatorname{Var} J \rangle`, or, in
MacKay's form, which converges faster,

.. math:: \gamma = \frac{n \langle J^2 \rangle}{1 - n \langle \operatorname{Var} J \rangle / \gamma} .

**Without the prior's pull.** All of this takes couplings to be Gaussian. If most are 0 and few are large, gamma is
still to be n times their mean square, but the evidence weighs pairs by how well they are known, and those may be the
coupled ones. A mode at a far larger gamma' hardly feels the prior. With its couplings J and variances V, the share of
the prior is :math:`k = V n/\gamma'`, and :math:`J/(1-k)` of variance :math:`V/(1-k)` is what the data alone say of
a coupling:

.. math:: \gamma = n \frac{\sum_{i<j} (1-k)^2 [J^2/(1-k)^2 - V/(1-k)]}{\sum_{i<j} (1-k)^2} ,

with weights that leave out pairs of which the data say nothing. Its error is that of a weighted mean over pairs.
"""

from __future__ import annotations

import math

import numpy as np

from ..types import Array
from .newton import LEAST_GAMMA, MOST_GAMMA, Metric, Place
from .phases import Data

FREE = 4.0  # times gamma, at which a mode hardly feels the prior


def fixed_point(metric: Metric, a: Array, b: Array, n_spins: int) -> float:
    r"""gamma = n <J^2> / (1 - n <Var J>/gamma), for couplings that halves of the samples give at the metric's gamma.

    Their product has no noise in it. On a quadratic posterior the couplings in the basis of the metric go with
    1/(N W + n/gamma).
    """
    V, curvature, lam = metric.V, metric.N * metric.W, float(metric.lam)
    square = (V.T @ a @ V) * (V.T @ b @ V)
    pairs = len(V) * (len(V) - 1)
    P = V**2
    both = P.T @ P
    gamma = n_spins / lam
    for _ in range(100):
        K = 1 / (curvature + n_spins / gamma)
        mean_square = float(np.sum(square * ((curvature + lam) * K) ** 2)) / pairs
        variance = float(K.sum() - np.vdot(K, both)) / pairs
        used = max(1 - n_spins / gamma * variance, 1e-3)
        new = float(np.clip(n_spins * mean_square / used, LEAST_GAMMA, MOST_GAMMA))
        gamma, change = new, abs(math.log(new / gamma))
        if change < 1e-4:
            break
    return gamma


def without_pull(mode: Place, data: Data, n_spins: int) -> tuple[float, float]:
    """gamma and its standard error from a mode at ``FREE`` times as much: n times the mean square, less noise.

    Variances by the metric are too small for rare spins. No variance is below that of a coupling by itself, all
    others being known.
    """
    upper = np.triu_indices(data.n, 1)
    J, lam = mode.J[upper], n_spins / mode.gamma
    alone = 1 / (data.N**2 * data.errors(data.d, data.C)[1][upper] ** 2 + lam)
    V = np.maximum(mode.metric.variances(data.d)[0][upper], alone)
    known = np.maximum(1 - V * lam, 0.0)
    weights = known**2
    total = float(weights.sum())
    terms = n_spins * (J**2 - V * known)  # each the square less its noise, times its weight
    gamma = float(terms.sum()) / total
    error = math.sqrt(float(np.sum((terms - gamma * weights) ** 2))) / total
    return max(gamma, 0.0), error
