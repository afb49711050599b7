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
smaller Gram matrix, so everything costs O(n N min(n, N)) time and O(min(n, N)^2) memory beside the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import count
from .spins import as_spins, encode
from .types import Integers, Spins

_BLOCK = 2**17  # entries converted at a time: one megabyte of float64, which stays in cache
_FLOAT32_INTEGERS = 2**24  # whole numbers up to here, and so sums of that many ±1, are exact in float32


@dataclass(frozen=True, eq=False)
class SpinMoments:
    """Moments of N samples of n spins; see the module's docstring for the formulas.

    ``q``, ``r``, ``chi_sg`` and ``chi_lin`` are None where N < 4, for want of distinct samples.
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
    magnetisations: NDArray[np.float64]

    @classmethod
    def of(cls, X: ArrayLike) -> SpinMoments:
        """Moments of the data ``X``, N samples (rows) of n spins (columns).

        >>> m = SpinMoments.of([[1, 1, -1], [1, -1, 1]])
        >>> m.n, m.N, round(m.M, 3), round(m.C1, 3), round(m.C2, 3)
        (3, 2, 0.333, -0.333, 0.333)
        """
        return moments_of(as_spins(X))


class MomentAccumulator:
    """Moments of data that arrive in batches, the same to the last bit as those of all of it at once.

    It keeps the last few samples (n^2 bytes at most) and, once there are n of them, the n x n matrix
    X^T X (4 n^2 bytes, twice that beyond 16 million samples).

        >>> acc = MomentAccumulator(3)
        >>> acc.update([[1, 1, -1]]).update([[1, -1, 1]]).moments().C2 == 1 / 3
        True
    """

    def __init__(self, n_spins: int) -> None:
        self.n_spins = count("n_spins", n_spins, 2)
        self.n_samples = 0
        self._encoding = "1"  # "1" says that neither -1 nor 0 has been seen yet
        self._pending: list[Spins] = []
        self._n_pending = 0
        self._column_sums: Integers = np.zeros(self.n_spins, np.int64)
        self._gram: NDArray[np.floating] | None = None

    def update(self, batch: ArrayLike) -> MomentAccumulator:
        """Add samples (rows), one or more."""
        spins, encoding = encode(batch, min_samples=1, min_spins=1)
        if spins.shape[1] != self.n_spins:
            raise ValueError(f"Expected batches of {self.n_spins} spins (columns): found {spins.shape[1]}.")
        self._check_encoding(encoding)
        self._pending.append(spins)
        self.n_samples += len(spins)
        self._n_pending += len(spins)
        if self._n_pending >= self.n_spins:
            self._fold()
        return self

    def merge(self, other: MomentAccumulator) -> MomentAccumulator:
        """Add the samples that another accumulator has seen; that one stays as it is."""
        if not isinstance(other, MomentAccumulator):
            raise ValueError(f"Expected a MomentAccumulator to merge: found {type(other).__name__}.")
        if other.n_spins != self.n_spins:
            raise ValueError(f"Expected an accumulator of {self.n_spins} spins: found {other.n_spins}.")
        self._check_encoding(other._encoding)
        self.n_samples += other.n_samples
        self._column_sums += other._column_sums
        if other._gram is not None:
            self._add(other._gram)
        self._pending.extend(other._pending)
        self._n_pending += other._n_pending
        if self._n_pending >= self.n_spins:
            self._fold()
        return self

    def moments(self) -> SpinMoments:
        """Moments of everything seen so far."""
        if self.n_samples < 2:
            raise ValueError(f"At least 2 samples are needed: found n_samples={self.n_samples}.")
        if self._gram is None:
            return moments_of(np.concatenate(self._pending))
        self._fold()
        return _from_sums(_sums_from_gram(self.n_samples, self._column_sums, self._gram))

    def _check_encoding(self, encoding: str) -> None:
        if "1" not in (encoding, self._encoding) and encoding != self._encoding:
            raise ValueError(
                f"Expected every batch in the same encoding, {self._encoding} as before: found {encoding}. "
                "Recode the batches to ±1 first."
            )
        if encoding != "1":
            self._encoding = encoding

    def _fold(self) -> None:
        """Move the pending samples into X^T X, which is the smaller thing to keep from n samples on."""
        if self._pending:
            spins = np.concatenate(self._pending)
            self._column_sums += spins.sum(axis=0, dtype=np.int64)
            self._add(gram_of(spins.T))
            self._pending, self._n_pending = [], 0

    def _add(self, gram: NDArray[np.floating]) -> None:
        if self._gram is None:
            self._gram = np.zeros((self.n_spins, self.n_spins), np.float32)
        if self.n_samples > _FLOAT32_INTEGERS:
            self._gram = self._gram.astype(np.float64, copy=False)
        self._gram += gram


def moments_of(spins: Spins) -> SpinMoments:
    """Like :meth:`SpinMoments.of`, for spins that :func:`as_spins` has already seen."""
    return _from_sums(_sums_of(spins))


def stability_of(spins: Spins) -> float:
    """r alone, the unbiased mean of (1 - m_i^2)^2; 0 for fewer than 4 samples."""
    N = len(spins)
    return _overlaps(spins.sum(axis=0, dtype=np.int64), N)[1] if N >= 4 else 0.0


def largest_pair_sum(spins: Spins, offset: float) -> float:
    """``N max_{i<j} |d_ij - offset|``, from X^T X a few rows at a time: O(n^2 N) whatever N is."""
    N, n = spins.shape
    kind = np.float32 if N <= _FLOAT32_INTEGERS else np.float64
    columns: NDArray[np.floating] = np.ascontiguousarray(spins.T, dtype=kind)
    largest = 0.0
    step = max(1, _BLOCK // n)
    for start in range(0, n - 1, step):
        sums = columns[start : start + step] @ columns[start:].T
        pairs = sums[np.arange(sums.shape[1]) > np.arange(len(sums))[:, None]]
        largest = max(largest, *(abs(float(end) - N * offset) for end in (pairs.min(), pairs.max())))
    return largest


@dataclass(frozen=True)
class _Sums:
    """Whole numbers, exact: x_ai the spins, s_i and t_a their column and row sums, g = X X^T."""

    n: int
    N: int
    s: Integers  # sum_a x_ai
    w: Integers  # sum_a x_ai t_a, which is N sum_j d_ij
    gram_squares: int  # sum_ab g_ab^2
    gram_row_squares: int  # sum_a (sum_b g_ab)^2


def _sums_of(spins: Spins) -> _Sums:
    N, n = spins.shape
    if N > n:
        return _sums_from_gram(N, spins.sum(axis=0, dtype=np.int64), gram_of(spins.T))
    kind = np.float32 if n * N <= _FLOAT32_INTEGERS else np.float64  # no sum below exceeds n N
    s: NDArray[np.floating] = np.zeros(n, kind)
    w: NDArray[np.floating] = np.zeros(n, kind)
    for block in _float_blocks(spins, kind):
        s += block.sum(axis=0)
        w += block.sum(axis=1) @ block
    gram_rows = np.concatenate([block @ s for block in _float_blocks(spins, kind)])
    squares = _sum_of_squares(gram_of(spins), peak=n), _sum_of_squares(gram_rows, peak=n * N)
    return _Sums(n, N, s.astype(np.int64), w.astype(np.int64), *squares)


def _sums_from_gram(N: int, s: Integers, gram: NDArray[np.floating]) -> _Sums:
    """From X^T X alone: sum_a (x_a . s)^2 = s^T (X^T X) s, and w its row sums."""
    n = len(s)
    exact = np.float64 if n * N**2 < 2**53 else object  # Python's integers do not overflow
    products = gram.astype(np.float64).astype(exact) @ s.astype(exact)
    row_squares = sum(a * int(b) for a, b in zip(s.tolist(), products, strict=True))
    w = gram.sum(axis=1, dtype=np.float64).astype(np.int64)
    return _Sums(n, N, s, w, _sum_of_squares(gram, peak=N), row_squares)


def _from_sums(sums: _Sums) -> SpinMoments:
    """Every moment is one ratio of whole numbers: nothing cancels, the quotient is rounded once."""
    n, N, s = sums.n, sums.N, sums.s
    s2 = _sum_of_squares(s, peak=N)
    pair_sum = sum(sums.w.tolist())  # N sum_ij d_ij, the diagonal included
    w2 = _sum_of_squares(sums.w, peak=n * N)
    total = sum(s.tolist())

    q = r = chi_sg = chi_lin = None
    if N >= 4:
        q, r = _overlaps(s, N)
        N2, N4 = N * (N - 1), N * (N - 1) * (N - 2) * (N - 3)
        # Sums over distinct samples of g_ab^2, g_ab g_ac and g_ab g_cd; R_a = sum_{b != a} g_ab.
        R = s2 - n * N
        R2 = sums.gram_row_squares - 2 * n * s2 + N * n**2
        T1 = sums.gram_squares - N * n**2
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
        C2=(sums.gram_squares - n * N**2) / (N**2 * n * (n - 1)),
        Omega=(n * w2 - pair_sum**2) / (n * N * (n - 1)) ** 2,
        q=q,
        r=r,
        chi_sg=chi_sg,
        chi_lin=chi_lin,
        magnetisations=magnetisations,
    )


def _overlaps(s: Integers, N: int) -> tuple[float, float]:
    """q and r, from the column sums of at least 4 samples."""
    n, s2 = len(s), _sum_of_squares(s, peak=N)
    N2, N4 = N * (N - 1), N * (N - 1) * (N - 2) * (N - 3)
    s4 = sum(value**4 for value in s.tolist())
    m4 = s4 - (6 * N - 8) * s2 + n * (3 * N**2 - 6 * N)  # N4 sum_i m_i^4
    m2 = s2 - n * N  # N2 sum_i m_i^2
    return m2 / (n * N2), (n * N4 - 2 * (N - 2) * (N - 3) * m2 + m4) / (n * N4)


def _float_blocks(spins: Spins, kind: type[np.floating]) -> Iterator[NDArray[np.floating]]:
    step = max(1, _BLOCK // spins.shape[1])
    for start in range(0, len(spins), step):
        yield spins[start : start + step].astype(kind)


def gram_of(rows: Spins) -> NDArray[np.floating]:
    """A A^T of the int8 matrix A, exact: float32 products, summed in float64 where float32 would round."""
    k, length = rows.shape
    step = min(_FLOAT32_INTEGERS, max(1, 2**26 // k))  # 256 MB of float32 at a time
    gram: NDArray[np.floating] | None = None
    for start in range(0, length, step):
        block = rows[:, start : start + step].astype(np.float32)
        product = block @ block.T
        if gram is None:
            gram = product if length <= _FLOAT32_INTEGERS else product.astype(np.float64)
        else:
            gram += product
    assert gram is not None
    return gram


def _sum_of_squares(values: NDArray[np.generic], peak: int) -> int:
    """Exact sum of squares of whole numbers up to ``peak``, held in an array of any numeric type."""
    flat = values.reshape(-1)
    if peak >= 2**26:  # vectors of length n or N only: too large to square and add in float64
        return sum(value * value for value in map(int, flat))
    step = min(_BLOCK, 2**53 // peak**2)
    total = 0
    for start in range(0, flat.size, step):
        block = flat[start : start + step].astype(np.float64)
        total += int(block @ block)
    return total
