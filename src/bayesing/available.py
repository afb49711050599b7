r"""Sums of incomplete data by available cases: each spin, and each pair of spins, from the rows that have it.

With :math:`o_{ai}` 1 where spin i was observed in row a and 0 where the cell is missing, and :math:`y_{ai} = o_{ai}
s_{ai}`, a pair has

.. math::

    N_{ij} = \sum_a o_{ai} o_{aj}, \qquad
    a_{ij} = \sum_a y_{ai} o_{aj}, \qquad
    p_{ij} = \sum_a y_{ai} y_{aj} ,

its number of common rows, the sum of the first spin over them, and the sum of products. On the diagonal stand those
of single spins. Bits are ±1: :math:`2y = 2R - O + 1` and :math:`2o = O + 1`, with R = -1 where a cell is missing, so
that all three follow from one Gram matrix of R and O side by side.

Averages over distinct common rows are unbiased if cells are missing completely at random (U-statistics). With K =
:math:`N_{ij}`, :math:`a = a_{ij}`, :math:`b = a_{ji}` and :math:`p = p_{ij}`, because squares of spins are 1,

.. math::

    \langle xy \rangle^2 &= \frac{p^2 - K}{K (K-1)} , \\
    \langle xy \rangle \langle x \rangle \langle y \rangle &=
        \frac{p a b - a^2 - b^2 - p^2 + 2 K}{K (K-1) (K-2)} , \\
    \langle x \rangle^2 \langle y \rangle^2 &=
        \frac{a^2 b^2 - (K - 4)(a^2 + b^2) - 4 p a b + 2 p^2 + K (K - 6)}{K (K-1) (K-2) (K-3)} , \\
    \langle xy \rangle - \langle x \rangle \langle y \rangle &= \frac{K p - a b}{K (K-1)} .

The first less twice the second plus the third is the square of the connected correlation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .packed import Gram, PackedSpins, integers_up_to
from .types import Array, Integers

LEAST_COMMON = 4  # rows: the fourth average needs four distinct ones
_AT_A_TIME = 2**17  # pairs: one megabyte of float64


class PairSums(NamedTuple):
    """Of all pairs, n x n: ``counts`` N_ij, ``sums`` a_ij and ``products`` p_ij."""

    counts: Gram
    sums: Gram
    products: Gram

    @classmethod
    def of(cls, rows: PackedSpins, absent: PackedSpins) -> PairSums:
        """From bits of spins, 0 where a cell is missing, and bits of missing cells."""
        N, n = len(rows), rows.n
        width = 64 * rows.words.shape[1]
        both = PackedSpins(np.hstack([rows.words, ~absent.words]), 2 * width)
        gram = both.spins_gram().astype(integers_up_to(8 * N), copy=False)
        r, o = both.sums()[:n], both.sums()[width : width + n]
        RR, RO, OO = gram[:n, :n], gram[:n, width : width + n], gram[width : width + n, width : width + n]
        r, o = r.astype(gram.dtype), o.astype(gram.dtype)
        A = 2 * RO - OO
        a = 2 * r - o
        counts = (OO + o + o[:, None] + N) // 4
        sums = (A + o + a[:, None] + N) // 4
        products = (4 * RR - 2 * RO.T - A + a + a[:, None] + N) // 4
        return cls(counts, sums, products)

    @property
    def n(self) -> int:
        """The number of spins."""
        return len(self.counts)

    def covariance(self) -> Array:
        """C_ij = p_ij/N_ij - a_ij a_ji/N_ij^2, each pair centred by the means of its own rows; 0 without any."""
        K = np.maximum(self.counts, 1)
        m = self.sums / K
        return np.asarray(self.products / K - m * m.T)


class Averages(NamedTuple):
    """Averages over spins and pairs, as :class:`~bayesing.moments.SpinMoments` has them.

    ``common`` is the mean number of rows that a pair has. The last four are None where no pair has four.
    """

    M: float
    C1: float
    C2: float
    Omega: float
    common: float
    q: float | None
    r: float | None
    chi_sg: float | None
    chi_lin: float | None


def averages(pairs: PairSums) -> Averages:
    """Every spin and every pair counts the same; those without the rows that an average needs are left out of it."""
    n = pairs.n
    seen = np.diag(pairs.counts) > 0
    counts, sums = np.diag(pairs.counts), np.diag(pairs.sums)
    M = float(np.mean(sums[seen] / counts[seen])) if seen.any() else 0.0
    along, partners = (
        np.zeros(n),
        np.zeros(n),
    )  # of d_ij over the j that spin i was seen with, and their number
    squares = total = 0.0
    chi, linear, known = 0.0, 0.0, 0
    for part, K, a, b, p in _blocks(pairs):
        off = np.arange(n) != np.arange(n)[part, None]
        together = (K > 0) & off
        d = np.where(together, p / np.maximum(K, 1), 0.0)
        along[part], partners[part] = d.sum(axis=1), together.sum(axis=1)
        squares += float(np.vdot(d, d))
        total += float(K[off].sum())
        enough = (K >= LEAST_COMMON) & off
        K, a, b, p = K[enough], a[enough], b[enough], p[enough]
        known += len(K)
        chi += float(square_of_correlation(K, a, b, p).sum())
        linear += float(correlation(K, a, b, p).sum())
    n_pairs, found = max(int(partners.sum()), 1), partners > 0
    C1 = float(along.sum()) / n_pairs
    omega = along[found] / partners[found] - C1
    q = r = chi_sg = chi_lin = None
    often = counts >= LEAST_COMMON
    if known:
        K, s = counts[often].astype(np.float64), sums[often].astype(np.float64)
        q = float(np.mean((s * s - K) / (K * (K - 1))))
        r = float(np.mean(square_of_correlation(K, s, s, K)))
        chi_sg = r + (n - 1) * chi / known
        chi_lin = float(np.mean(correlation(K, s, s, K))) + (n - 1) * linear / known
    return Averages(
        M=M,
        C1=C1,
        C2=squares / n_pairs,
        Omega=float(np.vdot(omega, omega)) / max(int(found.sum()), 1),
        common=total / (n * (n - 1)),
        q=q,
        r=r,
        chi_sg=chi_sg,
        chi_lin=chi_lin,
    )


def overlap_of_cells(counts: Integers, sums: Integers) -> float:
    """q, the mean of squared magnetisations, over spins that were observed twice at least; without bias."""
    often = counts >= 2
    K, s = counts[often].astype(np.float64), sums[often].astype(np.float64)
    return float(np.mean((s * s - K) / (K * (K - 1)))) if len(K) else 0.0


def correlation(K: Array, a: Array, b: Array, p: Array) -> Array:
    """<xy> - <x><y> over distinct rows."""
    return np.asarray((K * p - a * b) / (K * (K - 1)))


def square_of_correlation(K: Array, a: Array, b: Array, p: Array) -> Array:
    """(<xy> - <x><y>)^2 over distinct rows."""
    ab, aabb, pp = a * b, a * a + b * b, p * p
    first = pp - K
    second = p * ab - aabb - pp + 2 * K
    third = ab * ab - (K - 4) * aabb - 4 * p * ab + 2 * pp + K * (K - 6)
    return np.asarray((first + (third / (K - 3) - 2 * second) / (K - 2)) / (K * (K - 1)))


def _blocks(pairs: PairSums) -> Iterator[tuple[slice, Array, Array, Array, Array]]:
    """N_ij, a_ij, a_ji and p_ij of some rows of pairs at a time, as float64."""
    step = max(1, _AT_A_TIME // pairs.n)
    for start in range(0, pairs.n, step):
        part = slice(start, start + step)
        numbers = (pairs.counts[part], pairs.sums[part], pairs.sums[:, part].T, pairs.products[part])
        K, a, b, p = (number.astype(np.float64) for number in numbers)
        yield part, K, a, b, p
