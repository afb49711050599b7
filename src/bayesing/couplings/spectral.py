r"""The whole posterior of the couplings from one eigendecomposition, for couplings that are many and weak.

Given gamma, the standardised couplings are Gaussian to leading order, around the saddle of
:mod:`bayesing.spectrum`: with the eigenvectors V of D and :math:`g = \gamma (1-q)^2`, in units of
:math:`\sqrt{v_i v_j}`, :math:`v_i = 1 - m_i^2`,

.. math::

    J_{ij} = \frac{[V \operatorname{diag}(j) V^T]_{ij}}{\sqrt{v_i v_j}}, \qquad
    \operatorname{Var} J_{ij} = \frac{[P K P^T]_{ij}}{v_i v_j}, \qquad
    P = V \circ V, \quad K_{kl} = \frac{g/n}{1 + a g c_k c_l} .

This takes the prior to be the same for all standardised couplings, of variance g/n, while the model says
:math:`\gamma v_i v_j/n`: far less for spins that hardly vary. Pair by pair one prior is exchanged for the other, and
this divides mean and variance by

.. math:: 1 + \frac{n}{\gamma} \operatorname{Var} J_{ij} \left(1 - \frac{v_i v_j}{(1-q)^2}\right) .

Where N <= n, all null directions of D share one j and one c: they are one column of P, and no n x n matrix is formed.
The fields maximise the pseudo-likelihood given the couplings.

Cost: one eigendecomposition of the smaller Gram matrix, O(n N min(n, N)), and O(n N) for each row of couplings.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..conditionals import fit_fields
from ..spectrum import Spectrum, overlap_of, saddle
from ..spins import varying_of
from ..types import Array, Spins

_BLOCK = 2**22  # couplings at a time


@dataclass(frozen=True, eq=False)
class Posterior:
    """Couplings given the data and gamma, kept as eigenvectors: only what is asked for is formed."""

    spins: Spins
    gamma: float
    varying: NDArray[np.intp]
    deviations: Array  # sqrt(v_i) of the spins that vary
    typical: float  # (1 - q)^2
    V: Array
    j: Array  # less that of the null directions, which adds a multiple of the unit matrix
    P: Array
    K: Array

    def rows(self, chosen: Any = slice(None)) -> tuple[Array, Array]:
        """Means and standard deviations of the couplings of the spins ``chosen`` to all n; 0 to themselves.

        Of the couplings of constant spins the data say nothing: they have mean 0 and the prior's deviation.
        """
        n = self.spins.shape[1]
        chosen = np.arange(n)[chosen]
        mean = np.zeros((len(chosen), n))
        deviation = np.full((len(chosen), n), math.sqrt(self.gamma / n))
        place = np.minimum(np.searchsorted(self.varying, chosen), len(self.varying) - 1)
        known = self.varying[place] == chosen
        block, place = np.ix_(known, self.varying), place[known]
        norm = np.outer(self.deviations[place], self.deviations)
        variance = self.P[place] @ self.K @ self.P.T / norm**2
        exchange = 1 + n / self.gamma * variance * (1 - norm**2 / self.typical)
        mean[block] = (self.V[place] * self.j) @ self.V.T / norm / exchange
        deviation[block] = np.sqrt(variance / exchange)
        own = np.arange(len(chosen)), chosen
        mean[own] = deviation[own] = 0.0
        return mean, deviation

    def blocks(self) -> Iterator[tuple[NDArray[np.intp], Array, Array]]:
        """All rows, some at a time: their numbers, means and standard deviations."""
        n = self.spins.shape[1]
        step = max(1, _BLOCK // n)
        for start in range(0, n, step):
            chosen = np.arange(start, min(start + step, n))
            yield chosen, *self.rows(chosen)

    @cached_property
    def fields(self) -> Array:
        """Fields that maximise the pseudo-likelihood given the means of the couplings."""
        local = np.zeros(self.spins.shape)
        for chosen, mean, _ in self.blocks():
            local += self.spins[:, chosen] @ mean
        return fit_fields(self.spins, local)

    def doubts(self) -> tuple[float, float]:
        r"""How far the couplings are from weak: the largest, and the bias of all relative to their errors.

        The largest is the maximum of :math:`|J_{ij}| \sqrt{v_i v_j}`. A pair by itself has the covariance
        :math:`v_i v_j (J + 2 m_i m_j J^2 + \dots)`, with :math:`-J^3/3` where m = 0, and the posterior takes it to be
        :math:`v_i v_j (J - v_i v_j J^3)`: the bias is about :math:`2 m_i m_j J^2 + \frac23 v_i v_j J^3`. Bias and
        errors are root mean squares over pairs.
        """
        v = np.zeros(self.spins.shape[1])
        v[self.varying] = self.deviations**2
        largest = bias = variance = 0.0
        for chosen, J, deviation in self.blocks():
            vv, mm = np.outer(v[chosen], v), np.outer(1 - v[chosen], 1 - v)  # of squares: signs average out
            largest = max(largest, float((J**2 * vv).max()))
            bias += float(np.sum(J**4 * (4 * mm + (2 / 3 * vv * J) ** 2)))
            variance += float(np.sum(deviation**2))
        return math.sqrt(largest), math.sqrt(bias / variance)


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
    typical = (1 - max(q, 0.0)) ** 2
    g = gamma * typical * n / spins.shape[1]
    at = saddle(g, spectrum)
    j = at.j[: V.shape[1]] - (at.j[-1] if N <= n else 0.0)
    K = g / n / (1 + (N - 1) / n * g * np.outer(at.c, at.c))
    return Posterior(spins, gamma, varying, deviations, typical, V, j, P, K)
