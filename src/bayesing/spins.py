"""Spins in, whatever they look like: validation, and encoding as ±1.

Rows are samples, columns are spins. Accepted are ±1, 0/1 and bool, of any integer or
float dtype, and words such as yes and no, as NumPy arrays, nested lists, pandas or polars
data frames (:mod:`bayesing.cells`). 0 and False become -1. An array that holds only 1s is
read as all +1, which both encodings agree on. NaN, None, pandas' NA and NaT, and what a
masked array masks are missing cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .cells import all_wrong_values, as_numbers, not_a_spin, wrong_value
from .cells import as_row as as_row  # for those who take spins
from .exceptions import InputError, NotSpinsError
from .packed import Gram, PackedSpins
from .types import Flags, Indices, Spins

_ALL_ONES = "1"  # the encoding of numbers that are all 1, which agrees with both others
_NUMBERS = ("±1", "0/1")  # encodings of numbers: -1 and 0 in the same data would be two names of one value
_LEAVE_OUT = "This needs complete data: leave out its row or column first."
_BLOCK_BYTES = 2**19  # checked at a time: they stay in the second cache, and passes over memory are the cost
_ROWS_ACROSS = 256  # rows at least, where columns lie along memory: several lines of cache of each column
_BITS_BEYOND_CHANCE = 10  # bits: copies among fair coins are then less likely than 2^-10


#: Takes a block of rows from the row ``start`` on, and the cells that are missing in it.
Take = Callable[[int, Spins, Flags | None], None]


class Copy(NamedTuple):
    """Spins i < j that are equal in all samples (``sign`` is +1) or opposite in all (-1)."""

    i: int
    j: int
    sign: int


def as_spins(X: ArrayLike, *, min_samples: int = 2, min_spins: int = 2) -> Spins:
    """Check ``X`` and return it as a C-contiguous int8 array of ±1, shape (N samples, n spins); none may be missing.

    >>> as_spins([[0, 1], [1, 1]])
    array([[-1,  1],
           [ 1,  1]], dtype=int8)
    """
    return encode(X, min_samples=min_samples, min_spins=min_spins)[0]


def encode(X: ArrayLike, *, min_samples: int = 2, min_spins: int = 2) -> tuple[Spins, str]:
    """Like :func:`as_spins`, and say which encoding was found: "±1", "0/1", or "1" if all are 1."""
    array, words = as_numbers(X)
    check_shape(array.shape, min_samples, min_spins)
    spins = np.empty(array.shape, np.int8)
    try:
        encoding = _in_blocks(array, _into(spins))
    except NotSpinsError as error:
        raise all_wrong_values(error, array, X) from None
    if encoding != "±1":
        spins *= 2
        spins -= 1
    return spins, words or encoding


def pack_spins(
    X: ArrayLike, min_samples: int = 2, min_spins: int = 2
) -> tuple[PackedSpins, PackedSpins | None, str]:
    """Like :func:`encode`, but as bits, without a copy of ``X`` as a whole, and cells may be missing.

    The second are the bits of missing cells, where those of the spins are 0; None if there are none.

    >>> rows, absent, encoding = pack_spins([[0, 1], [1, float("nan")]])
    >>> rows.unpack().tolist(), absent.unpack().tolist(), encoding
    ([[-1, 1], [1, -1]], [[-1, -1], [-1, 1]], '0/1')
    """
    array, words = as_numbers(X)
    check_shape(array.shape, min_samples, min_spins)
    parts: list[PackedSpins] = []
    gaps: list[PackedSpins | None] = []

    def take(_: int, block: Spins, missing: Flags | None) -> None:
        if missing is not None:
            block[missing] = 0
        parts.append(PackedSpins.of(block))
        gaps.append(None if missing is None else PackedSpins.of(missing))

    try:
        encoding = _in_blocks(array, take)
    except NotSpinsError as error:
        raise all_wrong_values(error, array, X) from None
    if not parts:
        return PackedSpins.of(np.empty(array.shape, np.int8)), None, encoding
    return PackedSpins.stacked(parts), stacked_gaps(parts, gaps), words or encoding


def stacked_gaps(rows: Sequence[PackedSpins], gaps: Sequence[PackedSpins | None]) -> PackedSpins | None:
    """The missing cells of several parts, one after the other; None if no part has any."""
    if all(part is None for part in gaps):
        return None
    filled = [
        PackedSpins(np.zeros_like(part.words), part.n) if gap is None else gap
        for part, gap in zip(rows, gaps, strict=True)
    ]
    return PackedSpins.stacked(filled)


def common_encoding(one: str, other: str) -> str:
    """That of data in both encodings, or an error where one has 0 for the lower value, and the other -1.

    >>> common_encoding("1 and yes/no", "0/1 and yes/no")
    '0/1 and yes/no'
    """
    parts = dict.fromkeys([*one.split(" and "), *other.split(" and ")])
    numbers = [encoding for encoding in _NUMBERS if encoding in parts]
    if len(numbers) > 1:
        raise InputError(
            f"Expected the same encoding as before, {one}: found {other}. Recode the data to ±1 first."
        )
    if numbers:
        parts.pop(_ALL_ONES, None)
    return " and ".join(sorted(parts, key=lambda part: part not in (*_NUMBERS, _ALL_ONES)))


def any_gaps(absent: PackedSpins | None) -> PackedSpins | None:
    """Missing cells, or None if there are none."""
    return None if absent is None or not absent.words.any() else absent


def observed_rows(
    rows: PackedSpins, absent: PackedSpins, min_samples: int = 2
) -> tuple[PackedSpins, PackedSpins | None]:
    """Without the rows in which all cells are missing, which say nothing; so many must be left."""
    seen = absent.active() < rows.n
    if not seen.all():
        rows, absent = rows[seen], absent[seen]
    if len(rows) < min_samples:
        raise InputError(
            f"Expected at least {min_samples} sample(s) (rows) with a cell that is not missing: found "
            f"n_samples={len(rows)} of {len(seen)}."
        )
    return rows, any_gaps(absent)


def varies(rows: PackedSpins, absent: PackedSpins | None = None) -> Flags:
    """Which spins are not constant, as far as they were observed."""
    down = ~rows.words if absent is None else ~(rows.words | absent.words)
    words = np.bitwise_or.reduce(rows.words, axis=0) & np.bitwise_or.reduce(down, axis=0)
    return np.asarray(PackedSpins(words[None], rows.n).unpack()[0] > 0)


def copies_of(rows: PackedSpins) -> tuple[Copy, ...]:
    """Spins that vary and are copies or opposites of an earlier one, if this is no accident.

    Of n fair coins, two agree in all N samples or in none with a probability below n^2 2^-N. With
    N < 10 + 2 log2(n) samples that may happen by chance, and the answer is empty.

    Copies agree or disagree in all samples as they do in the first. Spins are grouped by this, block after
    block of samples; a spin that is left alone in its group is not looked at again.

    >>> rng = np.random.default_rng(0)
    >>> spins = rng.choice([-1, 1], (30, 4))
    >>> spins[:, 3] = -spins[:, 1]
    >>> copies_of(PackedSpins.of(spins))
    (Copy(i=1, j=3, sign=-1),)
    """
    n = rows.n
    if _may_agree_by_chance(len(rows), n):
        return ()
    sample = rows[:1].unpack()[0]
    alike = np.flatnonzero(varies(rows))  # spins that agree with another one so far
    first = np.zeros(n, np.intp)  # of the spins that agree with each, so far
    for block in rows.blocks():
        seen: dict[tuple[int, bytes], int] = {}
        bits = np.packbits(block[:, alike] == sample[alike], axis=0).T
        for j, column in zip(alike.tolist(), bits, strict=True):
            first[j] = seen.setdefault((int(first[j]), column.tobytes()), j)
        alike = alike[np.bincount(first[alike], minlength=n)[first[alike]] > 1]
        if not len(alike):
            break
    return tuple(
        Copy(i, j, int(sample[i] * sample[j]))
        for i, j in zip(first[alike].tolist(), alike.tolist(), strict=True)
        if i < j
    )


def copies_from_products(
    products: Gram, varying: Indices, N: int, pairs: tuple[Gram, Gram] | None = None
) -> tuple[Copy, ...]:
    """The same as :func:`copies_of` where N rows were not kept: entries of X^T X are N or -N for copies.

    Where cells are missing, ``pairs`` are the number of rows that two spins have in common, and the sum of the first
    over them. Those rows must be enough, and the spin must vary in them.
    """
    if _may_agree_by_chance(N, len(products)):
        return ()
    found = []
    if pairs is not None:
        counts, sums = pairs
        sure = ~_may_agree_by_chance(counts, len(products)) & (np.abs(sums) < counts)
        products = np.where(sure & (np.abs(products) == counts), np.sign(products) * N, 0)
    for j in varying.tolist():
        alike = np.flatnonzero(np.abs(products[j, :j]) == N)
        if len(alike):
            i = int(alike[0])
            found.append(Copy(i, j, 1 if products[j, i] > 0 else -1))
    return tuple(found)


def _may_agree_by_chance(N: Any, n: int) -> Any:
    return N < _BITS_BEYOND_CHANCE + 2 * math.log2(n)


def _in_blocks(array: NDArray[Any], take: Take) -> str:
    """Check an array and hand it over, some rows at a time, as int8 of -1, 0 and 1; return its encoding.

    With each block go the cells that are missing in it, which are 1 there; None if there are none.
    """
    minus = zero = False
    across = array.flags.f_contiguous and not array.flags.c_contiguous
    if across and array.itemsize > 1:
        array = _narrowed(array)
    step = max(_BLOCK_BYTES // (array.shape[1] * array.itemsize), _ROWS_ACROSS if across else 1)
    for start in range(0, len(array), step):
        spins, low, missing = _checked(array[start : start + step], start)
        minus = minus or low < 0
        zero = zero or low == 0 or bool(low < 0 and np.count_nonzero(spins) < spins.size)
        if minus and zero:
            raise _zero_beside_minus(array)
        take(start, spins, missing)
    return "±1" if minus else "0/1" if zero else "1"


def _narrowed(array: NDArray[Any]) -> NDArray[Any]:
    """A copy in int8 of an array whose columns lie along memory, made along memory.

    If a value is wrong or missing, the array itself: its place is then found row by row.
    """
    turned = np.empty(array.T.shape, np.int8)
    try:
        _in_blocks(array.T, _into(turned))
    except NotSpinsError:
        return array
    return turned.T


def _into(spins: Spins) -> Take:
    """A function that copies a block to its place, and wants all of its cells."""

    def copy(start: int, block: Spins, missing: Flags | None) -> None:
        if missing is not None:
            row, column = np.argwhere(missing)[0].tolist()
            raise not_a_spin("a missing value (NaN)", start + row, column, math.nan, _LEAVE_OUT)
        spins[start : start + len(block)] = block

    return copy


def _checked(block: NDArray[Any], start: int) -> tuple[Spins, int, Flags | None]:
    """A block with entries in {-1, 0, 1} as int8, its lowest entry, and which cells are missing, 1 in their place."""
    low, high = block.min(), block.max()
    missing = None
    if low != low:  # NaN
        missing = np.isnan(block)
        block = np.where(missing, block.dtype.type(1), block)  # 1 says nothing about the encoding
        low, high = block.min(), block.max()
    if low >= -1 and high <= 1:
        spins: Spins = np.ascontiguousarray(block, np.int8)
        # In [-1, 1] truncation leaves every entry alone but the proper fractions, which it makes zero.
        if block.dtype.kind != "f" or np.count_nonzero(block != 0) == np.count_nonzero(spins):
            return spins, int(low), missing
    raise wrong_value(block, start)


def _zero_beside_minus(array: NDArray[Any]) -> NotSpinsError:
    zero = array == 0
    row = int(np.argmax(zero.any(axis=1)))
    column = int(np.argmax(zero[row]))
    remedy = "If 0 marks a missing value, put NaN in its place: np.where(X == 0, np.nan, X)."
    return not_a_spin("0 beside -1 and 1", row, column, array[row, column], remedy)


def check_shape(shape: tuple[int, ...], min_samples: int = 2, min_spins: int = 2) -> None:
    """Raise an InputError unless there are two dimensions, and samples and spins enough."""
    if len(shape) != 2:
        raise InputError(
            f"Spins must be a 2-D array, rows are samples and columns are spins: found {len(shape)} "
            "dimension(s). Reshape your data to (samples, spins)."
        )
    n_samples, n_spins = shape
    if n_samples < min_samples:
        raise InputError(
            f"Expected at least {min_samples} sample(s) (rows): found n_samples={n_samples}. "
            "Rows are samples, columns are spins; transpose the data if they are the other way round."
        )
    if n_spins < min_spins:
        raise InputError(
            f"Expected spins in columns: found {n_spins} feature(s) (shape={shape}) while a minimum of "
            f"{min_spins} is required. Rows are samples, columns are spins; transpose the "
            "data if they are the other way round."
        )
