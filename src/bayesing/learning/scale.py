r"""The strength gamma that the mode of the posterior tells by itself.

With curvatures :math:`N W_{kl} + n/\gamma` in the basis of the metric (:mod:`~bayesing.learning.newton`) the evidence
of a quadratic posterior is largest where :math:`\gamma = n \langle J^2 + \operatorname{Var} J \rangle`, or, in
MacKay's form, which converges faster,

.. math:: \gamma = \frac{n \langle J^2 \rangle}{1 - n \langle \operatorname{Var} J \rangle / \gamma} .
"""

from __future__ import annotations

import math

import numpy as np

from ..types import Array
from .newton import LEAST_GAMMA, MOST_GAMMA, Metric


def fixed_point(metric: Metric, a: Array, b: Array, n_spins: int) -> float:
    r"""gamma = n <J^2> / (1 - n <Var J>/gamma), for couplings that halves of the samples give at the metric's gamma.

    Their product has no noise in it. On a quadratic posterior the couplings in the basis of the metric go with
    1/(N W + n/gamma).
    """
    V, curvature, lam = metric.V, metric.N * metric.W, metric.lam
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
