r"""The mode under a prior of each coupling by itself that need not be Gaussian, on a quadratic likelihood.

Around couplings :math:`\bar J` and fields :math:`\bar b` the log likelihood with slopes G and g is a quadratic. Its
curvature H is that of the metric (:mod:`~bayesing.learning.newton`), mended in the few directions where samples have
far more (:mod:`~bayesing.learning.stiff`). The mode of

.. math:: \langle (G, g), x \rangle - \tfrac12 \langle x, H x \rangle - \sum_{i<j} R_{ij}(\bar J_{ij} + x_{ij})

is found by accelerated proximal steps (A. Beck and M. Teboulle, *A fast iterative shrinkage-thresholding algorithm*,
2009) in variables scaled by the diagonal of H: a step along the slope, then every coupling shrunk as its prior says,
to the minimum of :math:`(J - J_{\text{moved}})^2/(2 t) + R(J)` for a step of the length t.

**Laplace prior**, :math:`R = \xi |J|`: every :math:`|J_{ij}|` is made smaller by a threshold :math:`t \xi`, and 0 if
it is below. At the mode :math:`|\text{slope}_{ij}| \le \xi` where :math:`J_{ij} = 0`, and
:math:`\text{slope}_{ij} = \xi \operatorname{sign} J_{ij}` elsewhere.

**Near.** Where spins are rare, some directions have next to no curvature, and a slope that noise lifts above
:math:`\xi` would lead to infinity. So each call adds a term :math:`\tfrac{\mu}{2} \sum_{i<j} (J_{ij} - J^0_{ij})^2`
that holds couplings near to those :math:`J^0` of the call before. It vanishes where steps come to an end, so that the
mode is the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..priors import xi
from ..types import Array
from .newton import Metric, Pair
from .phases import Data, Free
from .stiff import Stiff, product

_MOST_STEPS = 500
_NEAR = 0.3  # mu, over the precision of a Gaussian prior
_ACCURACY = 1e-3  # of couplings and fields, in standard deviations of their posterior without a prior


#: Couplings after a step of these lengths, as their prior shrinks them.
Shrink = Callable[[Array, Array], Array]


class Shape(Protocol):
    """A prior that is not Gaussian; ``gamma`` is that of the Gaussian prior in its place.

    ``start`` are couplings and centred fields to start from, if there are better ones than the Gaussian prior's.
    """

    @property
    def start(self) -> Pair | None: ...

    def refuse(self) -> None:
        """Hear that chains cannot start from there."""
        ...

    def mode(
        self, quadratic: Quadratic, G: Array, g: Array, J: Array, b: Array, start: Array, gamma: float
    ) -> Pair:
        """Couplings and fields at the mode, as of :meth:`Quadratic.mode`."""
        ...

    def pull(self, J: Array, gamma: float) -> Array:
        """The slope of the log prior, or its bound where couplings are 0 and it has none."""
        ...


@dataclass(frozen=True)
class Laplace:
    """The Laplace prior of so many spins."""

    n_spins: int
    start: None = None

    def refuse(self) -> None:
        """Nothing to hear."""

    def mode(
        self, quadratic: Quadratic, G: Array, g: Array, J: Array, b: Array, start: Array, gamma: float
    ) -> Pair:
        """Couplings, many of them exactly 0, and fields at the mode."""
        threshold = xi(gamma, self.n_spins)

        def shrink(moved: Array, t: Array) -> Array:
            return np.sign(moved) * np.maximum(np.abs(moved) - t * threshold, 0.0)

        return quadratic.mode(G, g, J, b, start, shrink)

    def pull(self, J: Array, gamma: float) -> Array:
        """Minus xi with the sign of the coupling; within ±xi at 0."""
        slope = xi(gamma, self.n_spins)
        return np.where(J == 0, slope, -slope * np.sign(J))


class Quadratic:
    """The curvature at samples ``free``, for steps to modes under priors that are not Gaussian."""

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

    def mode(self, G: Array, g: Array, J: Array, b: Array, start: Array, shrink: Shrink) -> Pair:
        """Couplings and fields at the mode, near the couplings ``start``, for slopes G and g at J and b.

        The slopes are those without the prior of the couplings, which is in ``shrink``.
        """
        G = G + self.metric.lam * (start - J)
        x, y = ahead = start, b
        momentum = 1.0
        for _ in range(_MOST_STEPS):
            HJ, Hb = self.times(ahead[0] - J, ahead[1] - b)
            moved = ahead[0] + self.rate * (G - HJ) / self.J
            new_x = shrink(moved, self.rate / self.J)
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
