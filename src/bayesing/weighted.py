r"""Sums over samples of what the conditionals of all spins say, with identical rows counted once.

With :math:`f_i = b_i + \sum_j J_{ij} z_j`, :math:`z = s - d` around the means d of the data, symmetric J, and
:math:`c_\mu` samples that are row :math:`\mu`, these are

.. math::

    \sum_\mu c_\mu \sum_i \ln P(s_i \mid \text{rest}) , \qquad
    \frac{\partial}{\partial b_i} = \sum_\mu c_\mu (s_i - \tanh f_i) , \qquad
    R_{ji} = \sum_\mu c_\mu z_j (s_i - \tanh f_i) ,

where R + R^T is the slope in J, and the product of their curvature with a change :math:`(P, p)` of J and b,
:math:`\sum_\mu c_\mu z_j u_i` and :math:`\sum_\mu c_\mu u_i` with
:math:`u_i = (1 - \tanh^2 f_i) (p_i + \sum_j P_{ij} z_j)`.

Rows stay bytes, and are made numbers some at a time, which stay in the processor's cache. The means d are left out
of the products and put in afterwards. Slopes are in double precision. Curvatures are in single precision, for they
only direct a search.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .conditionals import total_and_slope
from .statistics import SpinStatistics
from .types import Array, Integers, Spins

_AT_A_TIME = 2**17  # spins, a megabyte of numbers in double precision
_LEAST_ROWS = 1000  # at a time: matrix products of fewer would be slow
_FEWER = 0.9  # of the samples, below which distinct rows are worth having

Single = NDArray[np.float32]


class Slope(NamedTuple):
    """ln P of all samples, and the sums of slopes: ``products`` R (n x n) and ``sums`` (n)."""

    total: float
    products: Array
    sums: Array


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """Complete rows, ±1, and the number of samples that each stands for; None if it is one everywhere."""

    spins: Spins
    counts: Array | None
    N: int
    sums: Integers

    @classmethod
    def of(cls, spins: Spins) -> WeightedRows:
        """All samples, one row each."""
        return cls(spins, None, len(spins), spins.sum(axis=0, dtype=np.int64))

    @classmethod
    def distinct(cls, stats: SpinStatistics) -> WeightedRows:
        """Each row that occurs once, if this makes them clearly fewer."""
        few, counts = stats.distinct()
        if few.N > _FEWER * stats.N:
            return cls(stats.spins(), None, stats.N, stats.sums)
        return cls(few.spins(), counts.astype(np.float64), stats.N, stats.sums)

    @property
    def n(self) -> int:
        """The number of spins."""
        return int(self.spins.shape[1])

    @property
    def means(self) -> Array:
        """d."""
        return np.asarray(self.sums / self.N)

    def covariance(self) -> Array:
        """C, n x n."""
        products = np.zeros((self.n, self.n))
        for part, (s, weighted, _) in self._parts(np.float32):
            np.multiply(
                s, 1 if self.counts is None else self.counts[part, None], out=weighted, casting="same_kind"
            )
            products += s.T @ weighted
        return np.asarray(products / self.N - np.outer(self.means, self.means))

    def slope(self, J: Array, b: Array, curvatures: Single | None = None) -> Slope:
        """The sums at couplings J and centred fields b; weights c (1 - tanh^2 f) go to ``curvatures``."""
        h = b - J @ self.means
        total, products, sums = 0.0, np.zeros_like(J), np.zeros_like(b)
        for part, (s, f, r) in self._parts(np.float64):
            counts = None if self.counts is None else self.counts[part]
            np.matmul(s, J, out=f)
            f += h
            total += total_and_slope(s, f, r, counts)
            if curvatures is not None:
                np.multiply(s, 2, out=f)
                f -= r
                f *= r  # (s - t)(s + t), t = tanh f
                np.multiply(
                    f, 1 if counts is None else counts[:, None], out=curvatures[part], casting="same_kind"
                )
            if counts is not None:
                r *= counts[:, None]
            products += s.T @ r
            sums += r.sum(axis=0)
        products -= np.outer(self.means, sums)
        return Slope(total, products, sums)

    def mean_curvatures(self, J: Array, h: Array) -> Array:
        """The mean of 1 - tanh^2 f over all samples, of each spin, at couplings J and fields h."""
        curvatures = np.empty(self.spins.shape, np.float32)
        self.slope(J, h + J @ self.means, curvatures)
        return np.asarray(curvatures.sum(axis=0, dtype=np.float64) / self.N)

    def bend(self, curvatures: Single, P: Array, p: Array) -> tuple[Array, Array]:
        """The sums over z u and u for a change P of J and p of b."""
        single, shift = P.astype(np.float32), (p - P @ self.means).astype(np.float32)
        products, sums = np.zeros_like(P), np.zeros_like(p)
        for part, (s, u, _) in self._parts(np.float32):
            np.matmul(s, single, out=u)
            u += shift
            u *= curvatures[part]
            products += s.T @ u
            sums += u.sum(axis=0)
        products -= np.outer(self.means, sums)
        return products, sums

    def _parts(self, kind: type[np.floating]) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Rows some at a time: which, and three arrays for them, of which the first holds their spins."""
        step = len(self._room) // (3 * self.n)
        room = self._room.view(kind)[: len(self._room)].reshape(3, step, self.n)
        for start in range(0, len(self.spins), step):
            part = slice(start, start + step)
            here = room[:, : len(self.spins[part])]
            here[0] = self.spins[part]
            yield part, here

    @cached_property
    def _room(self) -> Array:
        """Memory that is used again and again, for to ask for it would take longer than to use it."""
        step = min(max(_AT_A_TIME // self.n, _LEAST_ROWS), len(self.spins))
        return np.empty(3 * step * self.n)
