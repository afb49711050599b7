r"""One spin given the others: a logistic regression.

.. math::

    \ln P(s_i \mid \text{rest}) = -\ln(1 + e^{-2 s_i f_i}), \qquad f_i = h_i + \sum_{j \neq i} J_{ij} s_j .
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit

Array = NDArray[np.float64]


def log_conditional(s: Array, f: Array) -> Array:
    """ln P(s | rest) of spins s with local fields f."""
    return np.asarray(log_expit(2 * s * f))


def slope(s: Array, f: Array) -> Array:
    """d ln P(s | rest) / df = s - tanh f."""
    return np.asarray(s - np.tanh(f))


def curvature(f: Array) -> Array:
    """-d^2 ln P / df^2 = 1 - tanh^2 f, the variance of the spin."""
    return np.asarray(1 - np.tanh(f) ** 2)
