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
The fields maximise the pseudo-likelihood given the couplings, with Gaussian local fields of the mean J m and the
variance (J C J)_ii, C the covariance of the spins: sums and products are enough.

Cost: one eigendecomposition of the smaller Gram matrix, O(n N min(n, N)), and O(n N) for each row of couplings.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..conditionals import fields_of
from ..exceptions import InputError, Setting
from ..spectrum import saddle
from ..statistics import SpinStatistics
from ..types import Array, Indices
from ._method import CouplingMethod, CouplingOptions, Couplings, no_couplings

_AT_A_TIME = 2**22  # couplings at a time
_DENSE = 3000  # spins up to which all couplings are kept once they are formed


@dataclass(frozen=True, eq=False)
class Posterior:
    """Couplings of n spins given the data and gamma, kept as eigenvectors of the spins that vary."""

    n: int
    gamma: float
    varying: Indices
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
        if self.n <= _DENSE:
            mean, deviation = self._dense
            return mean[chosen], deviation[chosen]
        return self._rows(np.arange(self.n)[chosen])

    def blocks(self) -> Iterator[tuple[Indices, Array, Array]]:
        """All rows, some at a time: their numbers, means and standard deviations."""
        step = self.n if self.n <= _DENSE else max(1, _AT_A_TIME // self.n)
        for start in range(0, self.n, step):
            chosen = np.arange(start, min(start + step, self.n))
            yield chosen, *self.rows(slice(start, start + step))

    @cached_property
    def _dense(self) -> tuple[Array, Array]:
        mean, deviation = self._rows(np.arange(self.n))
        return (mean + mean.T) / 2, (deviation + deviation.T) / 2  # equal up to rounding

    def _rows(self, chosen: Indices) -> tuple[Array, Array]:
        n = self.n
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


@dataclass(frozen=True, eq=False)
class SpectralCouplings:
    r"""The posterior of the couplings, and the fields; how far the couplings are from weak.

    ``largest`` is the maximum of :math:`|J_{ij}| \sqrt{v_i v_j}`. A pair by itself has the covariance
    :math:`v_i v_j (J + 2 m_i m_j J^2 + \dots)`, with :math:`-J^3/3` where m = 0, and the posterior takes it to be
    :math:`v_i v_j (J - v_i v_j J^3)`: the bias is about :math:`2 m_i m_j J^2 + \frac23 v_i v_j J^3`. ``bias`` is
    relative to the errors, both as root mean squares over pairs.
    """

    posterior: Posterior
    fields: Array
    largest: float
    bias: float
    penalty: None = None
    warnings: tuple[Warning, ...] = ()
    field_errors: None = None
    strength: None = None

    def rows(self, chosen: Any = slice(None)) -> tuple[Array, Array]:
        """Couplings of the spins ``chosen`` to all n, and their errors."""
        return self.posterior.rows(chosen)

    def blocks(self) -> Iterator[tuple[Indices, Array, Array]]:
        """All rows, some at a time: their numbers, couplings and errors."""
        return self.posterior.blocks()


def posterior(stats: SpinStatistics, gamma: float) -> Posterior:
    """The couplings' posterior at ``gamma`` > 0."""
    if not gamma > 0:
        raise InputError("Expected gamma > 0: found 0, which leaves no couplings to infer.")
    kept = stats.kept
    N, n, q = kept.N, kept.n, kept.overlap
    if q >= 1:
        raise InputError(
            Setting("method", METHOD.name), f" needs at least {METHOD.least_samples} samples: found {N}."
        )
    V, spectrum = kept.eigenvectors, kept.spectrum  # in this order: one decomposition
    P = V**2
    if N <= n:
        P = np.column_stack([P, 1 - np.sum(P, axis=1)])
    typical = (1 - max(q, 0.0)) ** 2
    g = gamma * typical * n / stats.n
    at = saddle(g, spectrum)
    j = at.j[: V.shape[1]] - (at.j[-1] if N <= n else 0.0)
    K = g / n / (1 + (N - 1) / n * g * np.outer(at.c, at.c))
    deviations = np.sqrt(1 - kept.magnetisations**2)
    return Posterior(stats.n, gamma, stats.varying, deviations, typical, V, j, P, K)


def fit_couplings(stats: SpinStatistics, gamma: float) -> SpectralCouplings:
    """The posterior at ``gamma`` > 0 with all that takes a walk through the couplings, in one."""
    known = posterior(stats, gamma)
    N, n, m = stats.N, stats.n, stats.magnetisations
    v = 1 - m**2
    C = stats.covariance() if N > n else None
    spins = np.empty(0) if N > n else stats.spins().T.astype(np.float64)
    mean, variance = np.empty(n), np.empty(n)
    largest = squared_bias = squared_error = 0.0
    for chosen, J, deviation in known.blocks():
        mean[chosen] = J @ m
        if C is not None:
            variance[chosen] = np.einsum("ij,ij->i", J @ C, J)
        else:
            variance[chosen] = np.mean((J @ spins) ** 2, axis=1) - mean[chosen] ** 2
        vv, mm = np.outer(v[chosen], v), np.outer(1 - v[chosen], 1 - v)  # of squares: signs average out
        largest = max(largest, float((J**2 * vv).max()))
        squared_bias += float(np.sum(J**4 * (4 * mm + (2 / 3 * vv * J) ** 2)))
        squared_error += float(np.sum(deviation**2))
    fields = fields_of(stats.sums, N, mean, variance)
    return SpectralCouplings(known, fields, math.sqrt(largest), math.sqrt(squared_bias / squared_error))


def _fit(stats: SpinStatistics, options: CouplingOptions) -> Couplings:
    strength = options.strength
    assert strength is not None
    return fit_couplings(stats, strength.gamma) if strength.gamma > 0 else no_couplings(stats, strength)


METHOD = CouplingMethod(
    name="spectral",
    about="the mean of a posterior from one eigendecomposition",
    fit=_fit,
    least_samples=4,
    priors=("gaussian",),
    holds="couplings that are many and weak, any number of spins",
)
