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

from .moments import gram_of
from .spins import varying_of
from .types import Array, Spins

_BLOCK = 2**21  # numbers standardised at a time: 16 megabytes


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues d of D, in groups of w equal ones; ``nu`` degrees of freedom, ``n`` directions in all."""

    d: Array
    w: Array
    nu: float

    @cached_property
    def n(self) -> float:
        return float(self.w.sum())


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


def overlap_of(m: Array, N: int) -> float:
    """The unbiased q, the mean of squared magnetisations."""
    return float(np.mean((N * m**2 - 1) / (N - 1)))


def spectrum_of(spins: Spins, without_mean: bool = False) -> tuple[Spectrum, float]:
    r"""Eigenvalues of D through the smaller Gram matrix, of the spins that vary; and gamma/g.

    A mean coupling J0/n acts in the direction :math:`u_i \propto \sqrt{v_i}` alone, which makes one large eigenvalue.
    ``without_mean`` leaves that direction out, and scales the other eigenvalues to the mean 1.
    """
    varying, m = varying_of(spins)
    N, n = len(spins), len(varying)
    v = 1 - m**2
    u = np.sqrt(v / v.sum())
    n_out = int(without_mean)
    if N > n:
        D = gram_of(spins[:, varying].T if n < spins.shape[1] else spins.T).astype(np.float64) / N
        D -= np.outer(m, m)
        D /= np.sqrt(np.outer(v, v))
        if without_mean:
            Du = D @ u
            D += (u @ Du) * np.outer(u, u) - np.outer(u, Du) - np.outer(Du, u)
        d, w = np.linalg.eigvalsh(D)[n_out:], np.ones(n - n_out)
    else:
        D, along = np.zeros((N, N)), np.zeros(N)
        step = max(1, _BLOCK // N)
        for start in range(0, n, step):
            part = slice(start, start + step)
            Z = (spins[:, varying[part]] - m[part]) / np.sqrt(v[part])
            D += Z @ Z.T / N
            along += Z @ u[part]
        if without_mean:
            D -= np.outer(along, along) / N
        d = np.append(np.linalg.eigvalsh(D)[1:], 0.0)  # the first is 0, because Z is centred
        w = np.append(np.ones(N - 1), n - n_out - N + 1.0)
    d = np.maximum(d, 0.0)
    stretch = float(w.sum() / (w @ d)) if without_mean else 1.0
    q = max(overlap_of(m, N), 0.0)
    scale = spins.shape[1] / w.sum() * (stretch / (1 - q)) ** 2 if q < 1 else math.inf
    return Spectrum(stretch * d, w, N - 1), float(scale)
