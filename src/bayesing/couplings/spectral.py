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
K is a product of narrow matrices (:mod:`bayesing.couplings._kernel`), :math:`L M L^T`, and so is
:math:`P K P^T = (PL) M (PL)^T`: errors cost next to nothing beside couplings. Of more than 3000 spins, pairs are
formed some rows at a time, in single precision, whose rounding is a millionth of the errors.

The fields maximise the pseudo-likelihood given the couplings, with Gaussian local fields of the mean J m and the
variance (J C J)_ii, C the covariance of the spins: sums and products are enough.

Cost: one eigendecomposition of the smaller Gram matrix, O(n N min(n, N)), and O(n N) for each row of couplings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..conditionals import fields_of
from ..exceptions import InputError, Setting
from ..spectrum import saddle
from ..statistics import SpinStatistics
from ..threads import alone, spread
from ..types import Array, Flags, Heard
from ._kernel import interpolation
from ._method import Band, CouplingMethod, CouplingOptions, Couplings, Reduced, Strength, no_couplings

_DENSE = 3000  # spins up to which all couplings are kept once they are formed
_ROWS = 128  # of couplings at a time: enough for a product of matrices at full speed
_TILE = 2**11  # and columns, so that what is done to them pair by pair stays in the cache
_STRIPES = 64  # tasks that a walk through all pairs is cut into


class Posterior(NamedTuple):
    r"""Couplings of n spins given the data and gamma: all that a row of them is made from.

    Means are :math:`V \operatorname{diag}(j) V^T` and variances :math:`F M F^T`, both divided by
    :math:`1 + (n/\gamma) \operatorname{Var} (1 - w_i w_j)`. Rows of V and F are 0 for constant spins, of whose
    couplings the data say nothing: they have mean 0 and the prior's deviation.
    """

    V: Array  # eigenvectors over sqrt(v_i)
    j: Array  # less that of the null directions, which adds a multiple of the unit matrix
    F: Array
    M: Array
    w: Array  # v_i/(1 - q)
    constant: Flags
    gamma: float

    @property
    def n(self) -> int:
        """The number of spins."""
        return len(self.V)

    def rows(self, chosen: Any = slice(None), first: int = 0) -> tuple[Array, Array]:
        """Means and standard deviations of the couplings of the spins ``chosen`` to those from ``first`` on."""
        who = np.arange(self.n)[chosen]
        mean, deviation = np.empty((2, len(who), self.n - first), self.V.dtype)
        left, right = self.V[who] * self.j, self.F[who] @ self.M
        for start in range(first, self.n, _TILE):
            to, place = slice(start, start + _TILE), slice(start - first, start - first + _TILE)
            J, variance = left @ self.V[to].T, right @ self.F[to].T
            exchange = np.outer(self.w[who], self.w[to])
            np.subtract(1, exchange, out=exchange)
            exchange *= variance
            exchange *= self.n / self.gamma
            exchange += 1
            np.divide(J, exchange, out=mean[:, place])
            np.divide(variance, exchange, out=variance)
            np.sqrt(variance, out=deviation[:, place])
        if self.constant.any():
            deviation[self.constant[who]] = math.sqrt(self.gamma / self.n)
            deviation[:, self.constant[first:]] = math.sqrt(self.gamma / self.n)
        own = np.flatnonzero(who >= first), who[who >= first] - first
        mean[own] = deviation[own] = 0.0
        return mean, deviation

    def single(self) -> Posterior:
        """The same in single precision."""
        V, j, F, M, w = (np.asarray(array, np.float32) for array in self[:5])
        return Posterior(V, j, F, M, w, self.constant, self.gamma)  # type: ignore[arg-type]


def bands(rows: range, *known: Any) -> Iterator[Band]:
    """Some rows of a posterior, a few at a time, with columns from the first of them on."""
    for start in range(rows.start, rows.stop, _ROWS):
        chosen = np.arange(start, min(start + _ROWS, rows.stop))
        yield Band(chosen, *Posterior(*known).rows(chosen, start))


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
    magnetisations: Array
    penalty: None = None
    warnings: tuple[Warning, ...] = ()
    field_errors: None = None
    strength: None = None

    def rows(self, chosen: Any = slice(None)) -> tuple[Array, Array]:
        """Couplings of the spins ``chosen`` to all n, and their errors."""
        if self.posterior.n > _DENSE:
            return self.posterior.rows(chosen)
        mean, deviation = self._dense
        return mean[chosen], deviation[chosen]

    def over(self, task: Callable[[Iterator[Band]], Reduced]) -> list[Reduced]:
        """What ``task`` makes of all pairs, in stripes of rows, on all cores."""
        known = self.posterior
        if known.n <= _DENSE:
            return [task(iter([Band(np.arange(known.n), *self._dense)]))]
        return list(spread(partial(_stripe, task), stripes(known.n), *known.single()))

    def bands(self) -> Iterator[Band]:
        """All pairs, some rows at a time."""
        known = self.posterior
        if known.n <= _DENSE:
            return iter([Band(np.arange(known.n), *self._dense)])
        return alone(bands(range(known.n), *known.single()))

    @property
    def largest(self) -> float:
        """The largest standardised coupling."""
        return self._told[0]

    @property
    def bias(self) -> float:
        """Relative to the errors."""
        return self._told[1]

    @cached_property
    def _told(self) -> tuple[float, float]:
        parts = np.array(self.over(partial(_weakness, m=self.magnetisations)))
        bias, error = parts[:, 1:].sum(axis=0)
        return math.sqrt(parts[:, 0].max()), math.sqrt(bias / error)

    @cached_property
    def _dense(self) -> tuple[Array, Array]:
        mean, deviation = self.posterior.rows()
        return (mean + mean.T) / 2, (deviation + deviation.T) / 2  # equal up to rounding


def _stripe(task: Callable[[Iterator[Band]], Reduced], rows: range, *known: Any) -> Reduced:
    return task(bands(rows, *known))


def stripes(n: int) -> list[range]:
    """Rows cut where bands begin, so that each stripe has about as many pairs i < j."""
    share = 1 - np.sqrt(1 - np.arange(1, _STRIPES) / _STRIPES)
    cuts = [0, *(int(_ROWS * round(n * x / _ROWS)) for x in share), n]
    return [range(a, b) for a, b in pairwise(cuts) if b > a]


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
    U, spectrum = kept.eigenvectors, kept.spectrum  # in this order: one decomposition
    P = U**2
    if N <= n:
        P = np.column_stack([P, 1 - np.sum(P, axis=1)])
    typical = 1 - max(q, 0.0)
    g = gamma * typical**2 * n / stats.n
    at = saddle(g, spectrum)
    j = at.j[: U.shape[1]] - (at.j[-1] if N <= n else 0.0)
    z, L = interpolation(at.c)
    M = g / n / (1 + (N - 1) / n * g * np.outer(z, z))
    v = 1 - kept.magnetisations**2
    V, F, w = np.zeros((stats.n, U.shape[1])), np.zeros((stats.n, len(z))), np.ones(stats.n)
    V[stats.varying], F[stats.varying] = U / np.sqrt(v)[:, None], P @ L / v[:, None]
    w[stats.varying] = v / typical
    constant = np.ones(stats.n, dtype=bool)
    constant[stats.varying] = False
    return Posterior(V, j, F, M, w, constant, gamma)


def nothing(stats: SpinStatistics, strength: Strength) -> SpectralCouplings:
    """All couplings 0, where gamma is, give or take what its error allows, of any number of spins."""
    n, variance = stats.n, strength.expected / stats.n
    none = np.zeros((n, 0)), np.zeros(0)
    constant = np.zeros(n, dtype=bool)
    known = Posterior(*none, np.ones((n, 1)), np.array([[variance]]), np.ones(n), constant, strength.expected)
    return SpectralCouplings(known, fields_of(stats.sums, stats.counts), stats.magnetisations)


def fit_couplings(stats: SpinStatistics, gamma: float, progress: Heard | None = None) -> SpectralCouplings:
    """The posterior at ``gamma`` > 0, and the fields, which take a walk through all couplings."""
    known = posterior(stats, gamma)
    n, m = stats.n, stats.magnetisations
    rows, used = ([range(n)], known) if n <= _DENSE else (stripes_of_rows(n), known.single())
    across = stats.covariance() if stats.N > n else (stats.spins() - m).T / math.sqrt(stats.N)
    local = np.empty((2, n))
    for k, part in enumerate(spread(_local_fields, rows, across.astype(used.V.dtype), m, stats.N > n, *used)):
        local[:, rows[k].start : rows[k].stop] = part
        if progress is not None and len(rows) > 1:
            progress(k + 1, len(rows))
    return SpectralCouplings(known, fields_of(stats.sums, stats.N, *local), m)


def stripes_of_rows(n: int) -> list[range]:
    """All rows, cut where bands begin, each stripe with as many of them."""
    step = max(1, round(n / _STRIPES / _ROWS)) * _ROWS
    return [range(start, min(start + step, n)) for start in range(0, n, step)]


def _local_fields(rows: range, across: Array, m: Array, squares: bool, *known: Any) -> Array:
    """Mean and variance of some local fields, from the covariance or, if not ``squares``, a root of it."""
    used, step = Posterior(*known), _ROWS if len(m) > _DENSE else len(rows)
    found = np.empty((2, len(rows)))
    for start in range(0, len(rows), step):
        J, _ = used.rows(rows[start : start + step])
        local = J @ across
        found[0, start : start + step] = J @ m.astype(J.dtype)
        found[1, start : start + step] = np.einsum("ij,ij->i", local, J if squares else local)
    return found


def _weakness(bands: Iterator[Band], m: Array) -> tuple[float, float, float]:
    """The largest square of a standardised coupling, and sums of squared biases and errors, over pairs i < j."""
    largest = bias = error = 0.0
    for rows, J, deviation in bands:
        v = 1 - m**2
        J, deviation = np.triu(J, 1), np.triu(deviation, 1)
        vv, mm = np.outer(v[rows], v[rows[0] :]), np.outer(1 - v[rows], 1 - v[rows[0] :])  # signs average out
        largest = max(largest, float((J**2 * vv).max()))
        bias += float(np.sum(J**4 * (4 * mm + (2 / 3 * vv * J) ** 2)))
        error += float(np.sum(deviation**2))
    return largest, bias, error


def _fit(stats: SpinStatistics, options: CouplingOptions) -> Couplings:
    strength = options.strength
    assert strength is not None
    if strength.gamma > 0:
        return fit_couplings(stats, strength.gamma, options.progress)
    return no_couplings(stats, strength) if stats.n <= _DENSE else nothing(stats, strength)


METHOD = CouplingMethod(
    name="spectral",
    about="the mean of a posterior from one eigendecomposition",
    fit=_fit,
    least_samples=4,
    priors=("gaussian",),
    holds="couplings that are many and weak, any number of spins",
)
