r"""The search for couplings of largest pseudo-likelihood by L-BFGS, for priors that are not quadratic.

Couplings may be bounded by 0 from below, which :mod:`bayesing.couplings._newton` cannot have.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy

from ..conditionals import middle_of_fields
from ..ising import symmetric
from ..types import Array
from ..weighted import WeightedRows

#: A function of the variables, and its gradient.
Objective = Callable[[Array], tuple[float, Array]]

_MEMORY = 10  # steps that L-BFGS remembers
_MOST_STEPS = 10_000


def tolerance_of(N: int) -> float:
    """A slope per sample that is a hundredth of what it varies by from one data set to another."""
    return 1e-2 / math.sqrt(N)


def objective(rows: WeightedRows, penalty: float = 0.0) -> Objective:
    """Minus the objective of a Gaussian prior per sample, and its gradient, of (J_ij for i < j, b_i)."""
    N, n, middle = rows.N, rows.n, middle_of_fields(rows.sums, rows.N)
    upper = np.triu_indices(n, 1)
    pairs = len(upper[0])

    def function(theta: Array) -> tuple[float, Array]:
        J, b = theta[:pairs], theta[pairs:]
        total, products, sums = rows.slope(symmetric(J, n), b)
        value = -total + penalty / 2 * (J @ J) + (b - middle) @ (b - middle) / 2
        gradient = np.concatenate([penalty * J - (products + products.T)[upper], b - middle - sums])
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
