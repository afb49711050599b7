r"""Moments of a spin data set: what the closed-form methods need of it.

With :math:`d_i` and :math:`d_{ij}` the sample averages of :math:`S_i` and :math:`S_i S_j`, the paper uses

.. math::

    M = \frac1n \sum_i d_i, \quad
    C_k = \frac{2}{n(n-1)} \sum_{i<j} d_{ij}^k, \quad
    \Omega = \frac1n \sum_i \omega_i^2, \quad
    \omega_i = \frac{1}{n-1} \sum_{j \neq i} d_{ij} - C_1 .

Beside them stand unbiased estimates (U-statistics, averages over distinct samples) of

.. math::

    q = \frac1n \sum_i m_i^2, \quad
    r = \frac1n \sum_i (1 - m_i^2)^2, \quad
    \chi_{SG} = \frac1n \sum_{i,j} c_{ij}^2, \quad
    \chi_{lin} = \frac1n \sum_{i,j} c_{ij},

with :math:`m_i = \langle S_i \rangle` and :math:`c_{ij}` the connected correlation; their diagonal belongs
to the sums. All of them are ratios of whole numbers, and those numbers are computed exactly.

The one costly sum is :math:`\sum_{ij} d_{ij}^2 = |X^T X|_F^2/N^2 = |X X^T|_F^2/N^2`. It goes through the
smaller Gram matrix, as all others do: with the sums s of the spins over the samples and t of the samples over the
spins,

.. math::

    N \sum_{ij} d_{ij} = 1^T X^T X 1 = t \cdot t, \qquad
    N^2 \sum_i \Big(\sum_j d_{ij}\Big)^2 = |X^T X 1|^2 = t^T X X^T t, \qquad
    \sum_a \Big(\sum_b g_{ab}\Big)^2 = s^T X^T X s = |X X^T 1|^2 .

Where cells are missing, every average is one over available cases (:mod:`bayesing.available`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .available import PairSums, averages
from .packed import Gram, PackedSpins
from .spins import observed_rows, pack_spins
from .types import Array, Integers

_CONVERTED = 2**17  # numbers converted at a time: one megabyte of float64, which stays in cache
_EXACT = 2**53  # whole numbers up to here are exact in float64
_INT64 = 2**63  # whole numbers below are exact in int64


@dataclass(frozen=True, eq=False)
class SpinMoments:
    """Moments of N samples of n spins; see the module's docstring for the formulas.

    ``q``, ``r``, ``chi_sg`` and ``chi_lin`` are None where N < 4, for want of distinct samples. ``counts`` are the
    observed cells of each spin, and ``common`` is the mean number of rows that two spins have in common, where cells
    are missing; None where none is.
    """

    n: int
    N: int
    M: float
    C1: float
    C2: float
    Omega: float
    q: float | None
    r: float | None
    chi_sg: float | None
    chi_lin: float | None
    magnetisations: Array
    counts: Integers | None = None
    common: float | None = None

    @property
    def missing(self) -> int:
        """The number of missing cells."""
        return 0 if self.counts is None else self.n * self.N - int(self.counts.sum())

    @property
    def observed(self) -> int | Integers:
        """N, or the number of samples of each spin where cells are missing."""
        return self.N if self.counts is None else self.counts

    @property
    def N_spin(self) -> float:
        """The number of samples in which a spin was observed, in the mean; N where no cell is missing."""
        return self.N - self.missing / self.n

    @property
    def N_pair(self) -> float:
        """The number of rows that two spins have in common, in the mean; N where no cell is missing."""
        return self.N if self.common is None else self.common

    @classmethod
    def of(cls, X: ArrayLike) -> SpinMoments:
        """Moments of the data ``X``, N samples (rows) of n spins (columns).

        >>> m = SpinMoments.of([[1, 1, -1], [1, -1, 1]])
        >>> m.n, m.N, round(m.M, 3), round(m.C1, 3), round(m.C2, 3)
        (3, 2, 0.333, -0.333, 0.333)
        """
        rows, absent, _ = pack_spins(X)
        if absent is not None:
            rows, absent = observed_rows(rows, absent)
        if absent is not None:
            return moments_available(len(rows), PairSums.of(rows, absent))
        by_spins = len(rows) > rows.n
        gram = rows.spins_gram() if by_spins else rows.samples_gram()
        return moments_from(len(rows), rows.sums(), gram, None if by_spins else rows)


def moments_from(N: int, s: Integers, gram: Gram, rows: PackedSpins | None) -> SpinMoments:
    """From the sums s of the spins and X^T X, or X X^T where the ``rows`` are given.

    Every moment is one ratio of whole numbers: nothing cancels, the quotient is rounded once.
    """
    n = len(s)
    s2, total = _dot(s, s), sum(s.tolist())
    t = s if rows is None else _samples_sums(rows)
    gram_squares, along, product = _walk(gram, t)
    within, across = _dot(along, along), _dot(t, product)
    if rows is None:
        pair_sum, w2, row_squares = sum(along.tolist()), within, across
    else:
        pair_sum, w2, row_squares = _dot(t, t), across, within

    q = r = chi_sg = chi_lin = None
    if N >= 4:
        q, r = overlap_of(s, N), _stability_of(s, N)
        N2, N4 = N * (N - 1), N * (N - 1) * (N - 2) * (N - 3)
        # Sums over distinct samples of g_ab^2, g_ab g_ac and g_ab g_cd; R_a = sum_{b != a} g_ab.
        R = s2 - n * N
        R2 = row_squares - 2 * n * s2 + N * n**2
        T1 = gram_squares - N * n**2
        T2 = R2 - T1
        T3 = R**2 - 4 * R2 + 2 * T1
        chi_sg = (T1 * (N - 2) * (N - 3) - 2 * T2 * (N - 3) + T3) / (n * N4)
        chi_lin = (N * pair_sum - total**2) / (n * N2)

    magnetisations = s / N
    magnetisations.flags.writeable = False
    return SpinMoments(
        n=n,
        N=N,
        M=total / (n * N),
        C1=(pair_sum - n * N) / (N * n * (n - 1)),
        C2=(gram_squares - n * N**2) / (N**2 * n * (n - 1)),
        Omega=(n * w2 - pair_sum**2) / (n * N * (n - 1)) ** 2,
        q=q,
        r=r,
        chi_sg=chi_sg,
        chi_lin=chi_lin,
        magnetisations=magnetisations,
    )


def moments_available(N: int, pairs: PairSums) -> SpinMoments:
    """From the sums of all pairs over N rows with missing cells."""
    counts = np.diag(pairs.counts).astype(np.int64)
    magnetisations = np.diag(pairs.sums) / np.maximum(counts, 1)
    magnetisations.flags.writeable = counts.flags.writeable = False
    found = averages(pairs)
    return SpinMoments(n=pairs.n, N=N, **found._asdict(), magnetisations=magnetisations, counts=counts)


def overlap_of(s: Integers, N: int) -> float:
    """The unbiased q from the sums of at least 2 samples."""
    n = len(s)
    return (_dot(s, s) - n * N) / (n * N * (N - 1))


def _stability_of(s: Integers, N: int) -> float:
    """The unbiased r from the sums of at least 4 samples."""
    n, s2 = len(s), _dot(s, s)
    N4 = N * (N - 1) * (N - 2) * (N - 3)
    s4 = _dot(s * s, s * s) if N**2 < _INT64 else sum(value**4 for value in s.tolist())
    m4 = s4 - (6 * N - 8) * s2 + n * (3 * N**2 - 6 * N)  # N4 sum_i m_i^4
    m2 = s2 - n * N  # N (N - 1) sum_i m_i^2
    return float((n * N4 - 2 * (N - 2) * (N - 3) * m2 + m4) / (n * N4))


def _samples_sums(rows: PackedSpins) -> Integers:
    """Of each sample over its spins."""
    ones = np.bitwise_count(rows.words).sum(axis=1, dtype=np.int64)
    return np.asarray(2 * ones - rows.n)


def _walk(gram: Gram, vector: Integers) -> tuple[int, Integers, Integers]:
    """The sum of squares of G, G 1 and G v, exact, in one walk through G; v is not larger than the rows are long."""
    k, peak = len(gram), int(gram[0, 0])
    largest = peak * k * max(int(np.abs(vector).max()), 1)
    # Python's own integers where 64 bits might not hold a sum.
    kind = np.float64 if largest < _EXACT else np.int64 if largest < _INT64 else object
    step = max(1, _CONVERTED // k)
    factors = np.stack([np.ones(k, np.int64), vector], axis=1).astype(kind)
    squares, parts = 0, []
    for start in range(0, k, step):
        rows = gram[start : start + step]
        block = rows.astype(np.float64)
        squares += _sum_of_squares(block, peak)
        parts.append((block if kind is np.float64 else rows.astype(kind)) @ factors)
    products = np.concatenate(parts)
    along, product = (products if kind is object else products.astype(np.int64)).T
    return squares, along, product


def _dot(a: Integers, b: Integers) -> int:
    largest = len(a) * int(np.abs(a).max()) * int(np.abs(b).max())
    if largest < _INT64:
        return int(a @ b)
    return sum(x * y for x, y in zip(a.tolist(), b.tolist(), strict=True))


def _sum_of_squares(values: Array, peak: int) -> int:
    """Exact sum of squares of whole numbers up to ``peak`` in absolute value."""
    flat = values.reshape(-1)
    step = _EXACT // peak**2
    if step == 0:  # samples beyond number
        return sum(value * value for value in map(int, flat))
    return sum(int(part @ part) for part in np.split(flat, range(step, flat.size, step)))
