r"""One spin given the others: a logistic regression.

.. math::

    \ln P(s_i \mid \text{rest}) = -\ln(1 + e^{-2 s_i f_i}), \qquad f_i = h_i + \sum_{j \neq i} J_{ij} s_j .

The sum of its logarithm over spins and samples is the log pseudo-likelihood.

**The prior of fields**, throughout. With the means :math:`d_j` of the spins in the data the local field is
:math:`f_i = b_i + \sum_j J_{ij} (s_j - d_j)`, :math:`b_i = h_i + \sum_j J_{ij} d_j`, and

.. math:: b_i \sim N(\beta_i, 1) , \qquad \beta_i = b^0_i - \tanh b^0_i , \qquad
    \tanh b^0_i = \frac{1}{N + 1} \sum_\mu s_i^\mu ,

whatever the couplings are. An independent spin then has the field :math:`b^0_i` at the mode of its posterior: that of
its mean once a sample is added that is half up and half down, which has next to no bias (D. Firth, *Bias reduction of
maximum likelihood estimates*, 1993) and is finite for a constant spin. For rare spins, whose fields are far from 0,
the prior is no narrower than for others, and it does not pull their couplings.
"""

from __future__ import annotations

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


def total_and_slope(s: Array, f: Array, out: Array, counts: Array | None = None) -> float:
    r"""The sum of ln P(s | rest), each row as often as ``counts`` says; the slope of each term goes to ``out``.

    :math:`\ln P = s f - |f| - \ln(1 + a)` and :math:`\tanh|f| = 2/(1 + a) - 1` with one exponential,
    :math:`a = e^{-2|f|}`. Logarithms are slow: one is taken of the product of up to 1000 factors from 1 to 2, which
    does not overflow; of the same row, if rows count differently. New memory is slow as well.
    """
    np.abs(f, out=out)
    rows = np.einsum("ai,ai->a", s, f) - out.sum(axis=1)
    total = rows.sum() if counts is None else counts @ rows
    out *= -2
    np.exp(out, out=out)
    out += 1
    axis = 0 if counts is None else 1
    logs = np.log(np.multiply.reduceat(out, np.arange(0, f.shape[axis], 1000), axis=axis))
    total -= logs.sum() if counts is None else counts @ logs.sum(axis=1)
    np.divide(2, out, out=out)
    out -= 1
    np.copysign(out, f, out=out)
    np.subtract(s, out, out=out)
    return float(total)


def independent_fields(sums: Integers | Array, N: int | Integers | Array) -> Array:
    """b^0, fields of independent spins with these sums over N samples, or over as many as show each spin.

    >>> independent_fields(np.array([0, 3]), 3).round(3).tolist()
    [0.0, 0.973]
    """
    return np.asarray(np.arctanh(sums / (N + 1)))


def middle_of_fields(sums: Integers | Array, N: int | Integers | Array) -> Array:
    """beta, the middle of the prior of b."""
    return np.asarray(independent_fields(sums, N) - sums / (N + 1))


def fields_of(
    sums: Integers, N: int | Integers, mean: Array | float = 0.0, variance: Array | float = 0.0
) -> Array:
    r"""Fields h_i that maximise the pseudo-likelihood, given what the couplings contribute to the local fields.

    The slope of :math:`\sum_\mu \ln P(s_i \mid \text{rest}) - (b_i - \beta_i)^2/2` in h_i is 0 where

    .. math:: N [m_i - E \tanh(h_i + x_i)] = h_i + E x_i - \beta_i ,

    with :math:`x_i = \sum_j J_{ij} s_j` over the samples. Many weak couplings make x_i Gaussian, and its ``mean`` and
    ``variance`` are all that matters: no sample is looked at again. Without couplings this is exact. All spins at
    once by Newton's method for b. The slope falls with b_i, and because 1 - tanh f < 2 exp(-2f) its root lies within
    max|x - E x| + ln(2N + 1)/2 + 1; a step that would leave the bracket is replaced by bisection.
    """
    middle = middle_of_fields(sums, N)
    x = np.sqrt(np.maximum(np.broadcast_to(variance, len(sums)), 0.0))[:, None] * _Z
    end = np.abs(x).max(axis=1) + np.log(2 * N + 1) / 2 + 1
    b, low, high = independent_fields(sums, N), -end, end
    for _ in range(200):
        t = np.tanh(b[:, None] + x)
        gradient = sums - N * (t @ _DZ) - (b - middle)
        if np.all(np.abs(gradient) <= _TOLERANCE * N):
            break
        low, high = np.where(gradient > 0, b, low), np.where(gradient > 0, high, b)
        b = b + gradient / (N * ((1 - t**2) @ _DZ) + 1)
        b = np.where((b >= low) & (b <= high), b, (low + high) / 2)
    return np.asarray(b - mean)
