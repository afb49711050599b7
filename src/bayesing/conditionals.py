r"""One spin given the others: a logistic regression.

.. math::

    \ln P(s_i \mid \text{rest}) = -\ln(1 + e^{-2 s_i f_i}), \qquad f_i = h_i + \sum_{j \neq i} J_{ij} s_j .

The sum of its logarithm over spins and samples is the log pseudo-likelihood. Fields have the prior N(0, 1)
throughout, weak enough to leave to the data what they say, and enough for the field of a constant spin to be finite.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit

from .spins import Spins

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


def total_and_slope(s: Array, f: Array, out: Array) -> float:
    r"""The sum of ln P(s | rest); the slope of each term goes to ``out``.

    :math:`\ln P = s f - |f| - \ln(1 + a)` and :math:`\tanh|f| = 2/(1 + a) - 1` with one exponential,
    :math:`a = e^{-2|f|}`. Logarithms are slow: one is taken of the product of up to 1000 factors from 1 to 2, which
    does not overflow. New memory is slow as well.
    """
    np.abs(f, out=out)
    total = np.vdot(s, f) - out.sum()
    out *= -2
    np.exp(out, out=out)
    out += 1
    total -= np.log(np.multiply.reduceat(out, np.arange(0, len(f), 1000), axis=0)).sum()
    np.divide(2, out, out=out)
    out -= 1
    np.copysign(out, f, out=out)
    np.subtract(s, out, out=out)
    return float(total)


def fit_fields(spins: Spins, local: Array | float = 0.0) -> Array:
    r"""Fields h_i that maximise :math:`\sum_\mu \ln P(s_i \mid \text{rest}) - h_i^2/2`, given the couplings.

    ``local`` holds what the couplings contribute to the local fields f, a row a sample. All spins at once by
    Newton's method. The slope is monotonic in h and its root lies between -2N and 2N; a step that would leave the
    bracket is replaced by bisection.
    """
    s = spins.astype(np.float64)
    N, n = s.shape
    h, low, high = np.zeros(n), np.full(n, -2.0 * N), np.full(n, 2.0 * N)
    f, residual = np.empty_like(s), np.empty_like(s)
    for _ in range(200):
        np.add(local, h, out=f)
        total_and_slope(s, f, residual)
        gradient = residual.sum(axis=0) - h
        if np.abs(gradient).max(initial=0) < 1e-6 * N:
            break
        low, high = np.where(gradient > 0, h, low), np.where(gradient > 0, high, h)
        np.subtract(s, residual, out=f)  # tanh f
        h = h + gradient / (N - np.einsum("ai,ai->i", f, f) + 1)
        h = np.where((h >= low) & (h <= high), h, (low + high) / 2)
    return h
