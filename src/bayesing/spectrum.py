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

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .types import Array


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
