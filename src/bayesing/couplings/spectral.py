r"""The whole posterior of the couplings from one eigendecomposition, for couplings that are many and weak.

Given gamma, the standardised couplings are Gaussian to leading order, around the saddle of
:mod:`bayesing.spectrum`: with the eigenvectors V of D and :math:`g = \gamma (1-q)^2`, in units of
:math:`\sqrt{v_i v_j}`, :math:`v_i = 1 - m_i^2`,

.. math::

    J_{ij} = \frac{[V \operatorname{diag}(j) V^T]_{ij}}{\sqrt{v_i v_j}}, \qquad
    \operatorname{Var} J_{ij} = \frac{[P K P^T]_{ij}}{v_i v_j}, \qquad
    P = V \circ V, \quad K_{kl} = \frac{g/n}{1 + a g c_k c_l} .

Where N <= n, all null directions of D share one j and one c: they are one column of P, and J is of low rank
up to its diagonal. The fields maximise the pseudo-likelihood given the couplings.

Cost: one eigendecomposition of the smaller Gram matrix, O(n N min(n, N)), and no n x n matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..conditionals import fit_fields
from ..spectrum import Spectrum, overlap_of, saddle
from ..spins import Spins, varying_of

Array = NDArray[np.float64]

_BLOCK = 2**22  # couplings at a time


@dataclass(frozen=True, eq=False)
class Posterior:
    """Couplings given the data and gamma, kept as eigenvectors: only what is asked for is formed."""

    n: int
    gamma: float
    varying: NDArray[np.intp]
    deviations: Array  # sqrt(v_i) of the spins that vary
    V: Array
    j: Array  # less that of the null directions, which adds a multiple of the unit matrix
    P: Array
    K: Array
    fields: Array

    def rows(self, chosen: Any = slice(None)) -> tuple[Array, Array]:
        """Means and standard deviations of the couplings of the spins ``chosen`` to all n; 0 to themselves.

        Of the couplings of constant spins the data say nothing: they have mean 0 and the prior's deviation.
        """
        chosen = np.arange(self.n)[chosen]
        mean = np.zeros((len(chosen), self.n))
        deviation = np.full((len(chosen), self.n), math.sqrt(self.gamma / self.n))
        place = np.minimum(np.searchsorted(self.varying, chosen), len(self.varying) - 1)
        known = self.varying[place] == chosen
        block, place = np.ix_(known, self.varying), place[known]
        norm = np.outer(self.deviations[place], self.deviations)
        mean[block] = (self.V[place] * self.j) @ self.V.T / norm
        deviation[block] = np.sqrt(self.P[place] @ self.K @ self.P.T) / norm
        own = np.arange(len(chosen)), chosen
        mean[own] = deviation[own] = 0.0
        return mean, deviation

    def largest(self) -> float:
        """The largest absolute value of a standardised coupling, J_ij sqrt(v_i v_j)."""
        step = max(1, _BLOCK // len(self.V))
        found = 0.0
        for start in range(0, len(self.V), step):
            block = (self.V[start : start + step] * self.j) @ self.V.T
            block[np.arange(len(block)), start + np.arange(len(block))] = 0.0
            found = max(found, float(np.abs(block).max()))
        return found


def posterior(spins: Spins, gamma: float) -> Posterior:
    """The couplings' posterior at ``gamma`` > 0."""
    if not gamma > 0:
        raise ValueError("Expected gamma > 0: found 0, which leaves no couplings to infer.")
    varying, m = varying_of(spins)
    N, n = len(spins), len(varying)
    q = overlap_of(m, N)
    if q >= 1:
        raise ValueError(f'method="spectral" needs at least 4 samples: found {N}.')
    deviations = np.sqrt(1 - m**2)
    Z = (spins[:, varying] - m) / deviations
    if N <= n:
        d, U = np.linalg.eigh(Z @ Z.T / N)
        d, U = np.maximum(d[1:], 0.0), U[:, 1:]  # the first is 0, because Z is centred
        V = Z.T @ (U / np.sqrt(N * np.maximum(d, 1e-12)))
        P = np.column_stack([V**2, 1 - np.sum(V**2, axis=1)])
        spectrum = Spectrum(np.append(d, 0.0), np.append(np.ones(N - 1), n - N + 1.0), N - 1)
    else:
        d, V = np.linalg.eigh(Z.T @ Z / N)
        P = V**2
        spectrum = Spectrum(np.maximum(d, 0.0), np.ones(n), N - 1)
    g = gamma * (1 - max(q, 0.0)) ** 2 * n / spins.shape[1]
    at = saddle(g, spectrum)
    j = at.j[: V.shape[1]] - (at.j[-1] if N <= n else 0.0)
    K = g / n / (1 + (N - 1) / n * g * np.outer(at.c, at.c))

    scaled = spins[:, varying] / deviations
    local = ((scaled @ V) * j @ V.T - scaled * (V**2 @ j)) / deviations  # sum_j J_ij s_j
    fields = np.empty(spins.shape[1])
    constant = np.setdiff1d(np.arange(spins.shape[1]), varying)
    fields[varying] = fit_fields(spins[:, varying], local)
    fields[constant] = fit_fields(spins[:, constant])
    return Posterior(spins.shape[1], gamma, varying, deviations, V, j, P, K, fields)
