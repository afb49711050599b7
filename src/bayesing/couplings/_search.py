r"""The search for couplings of largest pseudo-likelihood, whatever the prior.

With :math:`f_i = b_i + \sum_j J_{ij} z_j`, :math:`z = s - d` around the means d of the data, symmetric J and
:math:`b_i = h_i + \sum_j J_{ij} d_j \sim N(\beta_i, 1)` (:mod:`bayesing.conditionals`),

.. math::

    \sum_\mu \sum_i \ln P(s_i \mid \text{rest}) - \tfrac12 \sum_i (b_i - \beta_i)^2 , \qquad
    \frac{\partial}{\partial J_{ij}} \sum \ln P = \sum_\mu [ (s_i - \tanh f_i) z_j + (s_j - \tanh f_j) z_i ] .
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy

from ..conditionals import middle_of_fields, total_and_slope
from ..ising import symmetric
from ..types import Array, Spins

#: A function of the variables, and its gradient.
Objective = Callable[[Array], tuple[float, Array]]

_MEMORY = 10  # steps that L-BFGS remembers
_MOST_STEPS = 10_000


def tolerance_of(N: int) -> float:
    """A slope per sample that is a hundredth of what it varies by from one data set to another."""
    return 1e-2 / math.sqrt(N)


def objective(spins: Spins, penalty: float = 0.0) -> Objective:
    """Minus the objective of a Gaussian prior per sample, and its gradient, of (J_ij for i < j, b_i)."""
    s = spins.astype(np.float64)
    N, n = s.shape
    z, middle = s - s.mean(axis=0), middle_of_fields(s.sum(axis=0), N)
    upper = np.triu_indices(n, 1)
    pairs = len(upper[0])
    f, residual = np.empty_like(s), np.empty_like(s)

    def function(theta: Array) -> tuple[float, Array]:
        J, b = theta[:pairs], theta[pairs:]
        np.matmul(z, symmetric(J, n), out=f)
        np.add(f, b, out=f)
        total = total_and_slope(s, f, residual)
        value = -total + penalty / 2 * (J @ J) + (b - middle) @ (b - middle) / 2
        product = z.T @ residual
        product += product.T.copy()
        gradient = np.concatenate([penalty * J - product[upper], b - middle - residual.sum(axis=0)])
        return float(value) / N, gradient / N

    return function


def search(function: Objective, x: Array, tolerance: float, bounded: int = 0) -> tuple[Array, float]:
    """The minimum, with the first ``bounded`` variables from 0 on, and the largest projected slope there."""
    lowest = np.full(len(x), -math.inf)
    lowest[:bounded] = 0.0
    found = scipy.optimize.minimize(
        function,
        x,
        jac=True,
        method="L-BFGS-B",
        bounds=scipy.optimize.Bounds(lowest, math.inf) if bounded else None,
        options={
            "maxcor": _MEMORY,
            "gtol": tolerance,
            "ftol": 0.0,  # the slope alone decides
            "maxiter": _MOST_STEPS,
            "maxfun": 2 * _MOST_STEPS,
        },
    )
    gradient = np.where(found.x > lowest, found.jac, np.minimum(found.jac, 0))
    return found.x, float(np.abs(gradient).max())
