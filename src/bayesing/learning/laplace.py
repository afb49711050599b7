r"""The mode under a Laplace prior, with exact zeros, on a quadratic likelihood.

Around couplings :math:`\bar J` the log likelihood with slopes G is a quadratic, whose curvature H is N W in the basis
of the metric (:mod:`~bayesing.learning.newton`). The mode of

.. math:: \langle G, x \rangle - \tfrac12 \langle x, H x \rangle - \xi \sum_{i<j} |\bar J_{ij} + x_{ij}|

is found by accelerated proximal steps (A. Beck and M. Teboulle, *A fast iterative shrinkage-thresholding algorithm*,
2009) in variables scaled by the diagonal of H: a step along the slope, then every :math:`|J_{ij}|` made smaller by a
threshold, and 0 if it is below.

At the mode :math:`|\text{slope}_{ij}| \le \xi` where :math:`J_{ij} = 0`, and :math:`\text{slope}_{ij} = \xi
\operatorname{sign} J_{ij}` elsewhere.

**Near.** Where spins are rare, some directions have next to no curvature, and a slope that noise lifts above
:math:`\xi` would lead to infinity. So each call adds a term :math:`\tfrac{\mu}{2} \sum_{i<j} (J_{ij} - J^0_{ij})^2`
that holds couplings near to those :math:`J^0` of the call before. It vanishes where steps come to an end, so that the
mode is the same.
"""

from __future__ import annotations

import math

import numpy as np

from ..types import Array
from .newton import Metric, Pair
from .phases import Data, Free

_MOST_STEPS = 500
_NEAR = 0.3  # of the precision of a Gaussian prior: what holds couplings that data hardly determine where they are
_ACCURACY = 1e-3  # of couplings, in standard deviations of their posterior without a prior


def laplace_mode(
    data: Data,
    halves: tuple[Free, Free],
    at: tuple[Pair, Pair],
    metric: Metric,
    J: Array,
    b: Array,
    start: Array,
    xi: float,
) -> Pair:
    """Couplings and fields at the mode, given slopes ``at`` J and b of two halves of the samples, without the prior.

    The search begins at the couplings ``start``. Fields go along: see :func:`bayesing.learning.newton.direction`.
    """
    N, n = data.N, data.n
    G, g = np.zeros((n, n)), np.zeros(n)
    for (Ga, ga), other in zip(at, reversed(halves), strict=True):
        G += (Ga - N * other.pairs_answer(metric.fields(ga))) / 2
        g += ga / 2
    found = shrink(G, metric, J, start, xi)
    answer = sum(half.means_answer(found - J) for half in halves) / 2
    return found, b + metric.fields(g - N * answer)


def shrink(G: Array, metric: Metric, centre: Array, start: Array, xi: float) -> Array:
    """The couplings at the mode, for slopes G at the couplings ``centre``, or as near to it as may be."""
    near = _NEAR * metric.lam
    curvature, G = metric.N * metric.W + near, G + near * (start - centre)
    P = metric.V**2
    D = P @ curvature @ P.T
    np.fill_diagonal(D, 1.0)
    rate = 1 / (_largest(metric, curvature, D) * D)
    J = ahead = start
    momentum = 1.0
    for _ in range(_MOST_STEPS):
        slope = G - metric.rotate(ahead - centre, curvature)
        moved = ahead + rate * slope
        new = np.sign(moved) * np.maximum(np.abs(moved) - rate * xi, 0.0)
        np.fill_diagonal(new, 0)
        following = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        change = new - J
        ahead = new + (momentum - 1) / following * change
        J, momentum = new, following
        if float(np.max(np.abs(change) * np.sqrt(D))) < _ACCURACY:
            break
    return (J + J.T) / 2  # equal up to rounding


def _largest(metric: Metric, curvature: Array, D: Array) -> float:
    """The largest eigenvalue of the curvature, in variables scaled by its diagonal."""
    x = np.random.default_rng(0).normal(size=D.shape)
    x, scale, largest = x + x.T, np.sqrt(D), 1.0
    np.fill_diagonal(x, 0)
    for _ in range(20):
        x = metric.rotate(x / scale, curvature) / scale
        largest = float(np.linalg.norm(x))
        x /= largest
    return 1.1 * largest
