r"""The spectrum of the correlations, and the couplings that it makes most probable.

Of the spins that vary, standardised as :math:`z_i = (s_i - m_i)/\sqrt{v_i}` with :math:`v_i = 1 - m_i^2`, the
matrix :math:`D = Z^T Z/N` has the eigenvalues :math:`d_k`. Given the strength g of the couplings, with
:math:`a = (N-1)/n`, the most probable ones have the eigenvectors of D and the eigenvalues :math:`j_k = a g (d_k -
c_k)`,

.. math::

    c_k = \frac{1}{\lambda - j_k}, \quad \text{the positive root of} \quad
    a g c_k^2 + (\lambda - a g d_k) c_k = 1, \qquad \frac1n \sum_k c_k = 1 ,

as derived in :mod:`bayesing.strength.spectral`, which takes gamma from them; :mod:`bayesing.couplings.spectral` takes
the couplings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .exceptions import InputError
from .packed import Gram
from .types import Array, Spins

_NOTHING = 1e-9  # of a mean eigenvalue, which rounding may leave
_STANDARDISED = 2**21  # numbers standardised at a time: 16 megabytes


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues d of D, in groups of w equal ones; ``nu`` degrees of freedom, ``n`` directions in all.

    ``scale`` is gamma/g, the variance of the couplings of all spins over that of the standardised ones.
    """

    d: Array
    w: Array
    nu: float
    scale: float = 1.0

    @cached_property
    def n(self) -> float:
        return float(self.w.sum())


def correlations_of(gram: Gram, N: int, m: Array) -> Array:
    """D = Z^T Z/N of N samples, from X^T X and the means."""
    v = 1 - m**2
    D = gram / N
    D -= np.outer(m, m)
    D /= np.sqrt(np.outer(v, v))
    return np.asarray(D)


def samples_correlations(spins: Spins, m: Array) -> Array:
    """Z Z^T/N, which has the same eigenvalues but for zeros."""
    N, n = spins.shape
    D, v = np.zeros((N, N)), 1 - m**2
    step = max(1, _STANDARDISED // N)
    for start in range(0, n, step):
        part = slice(start, start + step)
        Z = (spins[:, part] - m[part]) / np.sqrt(v[part])
        D += Z @ Z.T / N
    return D


def without_direction(D: Array, u: Array) -> Array:
    """(1 - u u^T) D (1 - u u^T)."""
    Du = D @ u
    return np.asarray(D + (u @ Du) * np.outer(u, u) - np.outer(u, Du) - np.outer(Du, u))


def spectrum_from(
    d: NDArray[np.floating], N: int, n_spins: int, n_out: int, n_all: int, q: float
) -> Spectrum:
    """From the eigenvalues of D, or of Z Z^T/N, in their order, ``n_out`` directions of which were projected to 0."""
    n = n_spins - n_out
    if n_spins < N:
        d, w = d[n_out:], np.ones(n)
    else:  # the first is 0, because Z is centred
        d, w = np.append(d[1:], 0.0), np.append(np.ones(N - 1), n - N + 1.0)
    d = np.maximum(d, 0.0)
    if n_out and (n < 2 or float(w @ d) < _NOTHING * n):
        raise InputError(
            "A mean coupling cannot be told from others here: without the direction in which all spins move "
            "together nothing is left that varies. Leave out mean_coupling, or copies of columns."
        )
    stretch = n / float(w @ d) if n_out else 1.0
    scale = n_all / n * (stretch / (1 - q)) ** 2 if q < 1 else math.inf
    return Spectrum(np.asarray(stretch * d), w, N - 1, scale)


@dataclass(frozen=True)
class Saddle:
    """The maximum of the posterior at coupling strength g: lambda, and c and j of each group."""

    lam: float
    c: Array
    j: Array


def saddle(g: float, s: Spectrum) -> Saddle:
    """Solve mean(c) = 1 for lambda by Newton's method.

    c falls with lambda from infinity to 0 and is convex: whatever the start, the second step and all that follow come
    from the left and cannot pass the root, but for rounding, where the search ends.
    """
    ag = s.nu / s.n * g
    share = s.w / s.n
    lam = 1.0 + g
    for k in range(200):
        b = lam - ag * s.d
        root = np.abs(b) + np.sqrt(b * b + 4 * ag)
        c = np.where(b > 0, 2 / root, root / (2 * ag))  # each form where it does not cancel
        squares = c * c
        step = (float(share @ c) - 1) / float(share @ (squares / (1 + ag * squares)))
        if abs(step) <= 1e-14 * max(1.0, abs(lam)) or (k > 0 and step < 0):
            break
        lam += step
    return Saddle(lam, c, ag * (s.d - c))
