r"""The mode under a Laplace prior, with exact zeros, on a quadratic likelihood.

Around couplings :math:`\bar J` and fields :math:`\bar b` the log likelihood with slopes G and g is a quadratic. Its
curvature H is that of the metric (:mod:`~bayesing.learning.newton`), mended in the few directions where samples have
far more (:mod:`~bayesing.learning.stiff`). The mode of

.. math:: \langle (G, g), x \rangle - \tfrac12 \langle x, H x \rangle - \xi \sum_{i<j} |\bar J_{ij} + x_{ij}|

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
from .stiff import Stiff, product

_MOST_STEPS = 500
_NEAR = 0.3  # mu, over the precision of a Gaussian prior
_ACCURACY = 1e-3  # of couplings and fields, in standard deviations of their posterior without a prior


class Quadratic:
    """The curvature at samples ``free``, for steps to modes under a Laplace prior."""

    def __init__(self, data: Data, free: Free, metric: Metric) -> None:
        self.metric = metric.at(_NEAR * metric.lam)
        self.stiff = Stiff(data, free, self.metric)
        P = metric.V**2
        #: The diagonal of the curvature.
        self.J: Array = P @ (1 / self.metric.K) @ P.T
        np.fill_diagonal(self.J, 1.0)
        self.b: Array = P @ (1 / self.metric.k)
        self.rate = 1 / self._largest()

    def times(self, J: Array, b: Array) -> Pair:
        """The curvature times a step."""
        return product(self.metric, self.stiff, J, b)

    def mode(self, G: Array, g: Array, J: Array, b: Array, start: Array, xi: float) -> Pair:
        """Couplings and fields at the mode, near the couplings ``start``, for slopes G and g at J and b.

        The slopes are those without the prior of the couplings.
        """
        G = G + self.metric.lam * (start - J)
        x, y = ahead = start, b
        momentum = 1.0
        for _ in range(_MOST_STEPS):
            HJ, Hb = self.times(ahead[0] - J, ahead[1] - b)
            moved = ahead[0] + self.rate * (G - HJ) / self.J
            new_x = np.sign(moved) * np.maximum(np.abs(moved) - self.rate * xi / self.J, 0.0)
            np.fill_diagonal(new_x, 0)
            new_y = ahead[1] + self.rate * (g - Hb) / self.b
            following = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
            dx, dy = new_x - x, new_y - y
            share = (momentum - 1) / following
            ahead = new_x + share * dx, new_y + share * dy
            x, y, momentum = new_x, new_y, following
            change = max(np.max(np.abs(dx) * np.sqrt(self.J)), np.max(np.abs(dy) * np.sqrt(self.b)))
            if float(change) < _ACCURACY:
                break
        return (x + x.T) / 2, y  # equal up to rounding

    def _largest(self) -> float:
        """The largest eigenvalue of the curvature, in variables scaled by its diagonal, and a little more."""
        rng, scale = np.random.default_rng(0), (np.sqrt(self.J), np.sqrt(self.b))
        x, y = rng.normal(size=self.J.shape), rng.normal(size=self.b.shape)
        x, largest = x + x.T, 1.0
        np.fill_diagonal(x, 0)
        for _ in range(20):
            x, y = self.times(x / scale[0], y / scale[1])
            x, y = x / scale[0], y / scale[1]
            largest = math.sqrt(float(np.vdot(x, x)) / 2 + float(y @ y))
            x, y = x / largest, y / largest
        return 1.1 * largest
