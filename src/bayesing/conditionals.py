r"""One spin given the others: a logistic regression.

.. math::

    \ln P(s_i \mid \text{rest}) = -\ln(1 + e^{-2 s_i f_i}), \qquad f_i = h_i + \sum_{j \neq i} J_{ij} s_j .

The sum of its logarithm over spins and samples is the log pseudo-likelihood. Fields have the prior N(0, 1)
throughout, weak enough to leave to the data what they say, and enough for the field of a constant spin to be finite.
"""

from __future__ import annotations

import math

import numpy as np

from .types import Array, Integers

_TOLERANCE = 1e-10  # of a field's slope, per sample

# A trapezoid for averages over a Gaussian variable: for smooth functions as exact as any rule.
_Z = np.linspace(-7.0, 7.0, 113)
_DZ = np.exp(-(_Z**2) / 2)
_DZ /= _DZ.sum()


def log_conditional(s: Array, f: Array) -> Array:
    """ln P(s | rest) of spins s with local fields f."""
    return -np.logaddexp(0.0, -2 * s * f)


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


def fields_of(sums: Integers, N: int, mean: Array | float = 0.0, variance: Array | float = 0.0) -> Array:
    r"""Fields h_i that maximise the pseudo-likelihood, given what the couplings contribute to the local fields.

    The slope of :math:`\sum_\mu \ln P(s_i \mid \text{rest}) - h_i^2/2` in h_i is 0 where

    .. math:: N [m_i - E \tanh(h_i + x_i)] = h_i ,

    with :math:`x_i = \sum_j J_{ij} s_j` over the samples. Many weak couplings make x_i Gaussian, and its ``mean`` and
    ``variance`` are all that matters: no sample is looked at again. Without couplings this is exact. All spins at
    once by Newton's method. The slope falls with h_i, and because 1 - tanh f < 2 exp(-2f) its root lies within max|x|
    + ln(2N)/2 + 1; a step that would leave the bracket is replaced by bisection.
    """
    n = len(sums)
    mean, variance = np.broadcast_to(mean, n), np.broadcast_to(variance, n)
    x = mean[:, None] + np.sqrt(np.maximum(variance, 0.0))[:, None] * _Z
    end = np.abs(x).max(axis=1) + math.log(2 * N) / 2 + 1
    h, low, high = np.zeros(n), -end, end
    for _ in range(200):
        t = np.tanh(h[:, None] + x)
        gradient = sums - N * (t @ _DZ) - h
        if np.abs(gradient).max(initial=0) < _TOLERANCE * N:
            break
        low, high = np.where(gradient > 0, h, low), np.where(gradient > 0, high, h)
        h = h + gradient / (N * ((1 - t**2) @ _DZ) + 1)
        h = np.where((h >= low) & (h <= high), h, (low + high) / 2)
    return h
