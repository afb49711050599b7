"""Spins in, whatever they look like: validation, and encoding as ±1.

Rows are samples, columns are spins. Accepted are ±1, 0/1 and bool, of any integer or
float dtype, as NumPy arrays, nested lists, pandas or polars data frames. 0 and False
become -1. An array that holds only 1s is read as all +1, which both encodings agree on.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .exceptions import InputError, NotSpinsError
from .packed import Gram, PackedSpins
from .types import Flags, Indices, Spins

_EXPECTED = "Spins must be ±1, 0/1 or bool"
_BLOCK_BYTES = 2**19  # checked at a time: they stay in the second cache, and passes over memory are the cost
_ROWS_ACROSS = 256  # rows at least, where columns lie along memory: several lines of cache of each column
_BITS_BEYOND_CHANCE = 10  # bits: copies among fair coins are then less likely than 2^-10


class Copy(NamedTuple):
    """Spins i < j that are equal in all samples (``sign`` is +1) or opposite in all (-1)."""

    i: int
    j: int
    sign: int


def as_spins(X: ArrayLike, *, min_samples: int = 2, min_spins: int = 2) -> Spins:
    """Check ``X`` and return it as a C-contiguous int8 array of ±1, shape (N samples, n spins).

    >>> as_spins([[0, 1], [1, 1]])
    array([[-1,  1],
           [ 1,  1]], dtype=int8)
    """
    return encode(X, min_samples=min_samples, min_spins=min_spins)[0]


def encode(X: ArrayLike, *, min_samples: int = 2, min_spins: int = 2) -> tuple[Spins, str]:
    """Like :func:`as_spins`, and say which encoding was found: "±1", "0/1", or "1" if all are 1."""
    array = _numeric_array(X)
    check_shape(array.shape, min_samples, min_spins)
    spins = np.empty(array.shape, np.int8)
    encoding = _in_blocks(array, _into(spins))
    if encoding != "±1":
        spins *= 2
        spins -= 1
    return spins, encoding


def pack_spins(X: ArrayLike, min_samples: int = 2, min_spins: int = 2) -> tuple[PackedSpins, str]:
    """Like :func:`encode`, but as bits, without a copy of ``X`` as a whole.

    >>> rows, encoding = pack_spins([[0, 1], [1, 1]])
    >>> rows.unpack().tolist(), encoding
    ([[-1, 1], [1, 1]], '0/1')
    """
    array = _numeric_array(X)
    check_shape(array.shape, min_samples, min_spins)
    parts: list[PackedSpins] = []
    encoding = _in_blocks(array, lambda _, block: parts.append(PackedSpins.of(block)))
    return PackedSpins.stacked(parts), encoding


def varies(rows: PackedSpins) -> Flags:
    """Which spins are not constant."""
    words = np.bitwise_or.reduce(rows.words, axis=0) & ~np.bitwise_and.reduce(rows.words, axis=0)
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


def copies_from_products(products: Gram, varying: Indices, N: int) -> tuple[Copy, ...]:
    """The same as :func:`copies_of` where N rows were not kept: entries of X^T X are N or -N for copies."""
    if _may_agree_by_chance(N, len(products)):
        return ()
    found = []
    for j in varying.tolist():
        alike = np.flatnonzero(np.abs(products[j, :j]) == N)
        if len(alike):
            i = int(alike[0])
            found.append(Copy(i, j, 1 if products[j, i] > 0 else -1))
    return tuple(found)


def _may_agree_by_chance(N: int, n: int) -> bool:
    return N < _BITS_BEYOND_CHANCE + 2 * math.log2(n)


def _in_blocks(array: NDArray[Any], take: Callable[[int, Spins], None]) -> str:
    """Check an array and hand it over, some rows at a time, as int8 of -1, 0 and 1; return its encoding."""
    minus = zero = False
    across = array.flags.f_contiguous and not array.flags.c_contiguous
    if across and array.itemsize > 1:
        array = _narrowed(array)
    step = max(_BLOCK_BYTES // (array.shape[1] * array.itemsize), _ROWS_ACROSS if across else 1)
    for start in range(0, len(array), step):
        spins, low = _checked(array[start : start + step], start)
        minus = minus or low < 0
        zero = zero or low == 0 or bool(low < 0 and np.count_nonzero(spins) < spins.size)
        if minus and zero:
            raise _zero_beside_minus(array)
        take(start, spins)
    return "±1" if minus else "0/1" if zero else "1"


def _narrowed(array: NDArray[Any]) -> NDArray[Any]:
    """A copy in int8 of an array whose columns lie along memory, made along memory.

    If a value is wrong, the array itself: its place is then found row by row.
    """
    turned = np.empty(array.T.shape, np.int8)
    try:
        _in_blocks(array.T, _into(turned))
    except NotSpinsError:
        return array
    return turned.T


def _into(spins: Spins) -> Callable[[int, Spins], None]:
    """A function that copies a block to its place."""

    def copy(start: int, block: Spins) -> None:
        spins[start : start + len(block)] = block

    return copy


def _checked(block: NDArray[Any], start: int) -> tuple[Spins, int]:
    """A block with entries in {-1, 0, 1} as int8, and its lowest entry."""
    low, high = block.min(), block.max()
    if low >= -1 and high <= 1:  # False for NaN
        spins: Spins = np.ascontiguousarray(block, np.int8)
        # In [-1, 1] truncation leaves every entry alone but the proper fractions, which it makes zero.
        if block.dtype.kind != "f" or np.count_nonzero(block != 0) == np.count_nonzero(spins):
            return spins, int(low)
    raise _wrong_value(block, start)


def _wrong_value(block: NDArray[Any], start: int) -> NotSpinsError:
    row, column = np.argwhere(~np.isin(block, (-1, 0, 1)))[0].tolist()
    value = block[row, column]
    if np.isnan(value):
        return _not_a_spin("a missing value (NaN)", start + row, column, value)
    remedy = (
        "Recode the data to two values first, or leave out its row or column if it marks a missing value."
    )
    return _not_a_spin(str(value), start + row, column, value, remedy)


def _zero_beside_minus(array: NDArray[Any]) -> NotSpinsError:
    zero = array == 0
    row = int(np.argmax(zero.any(axis=1)))
    column = int(np.argmax(zero[row]))
    remedy = "If 0 marks a missing value, leave out its row or column first."
    return _not_a_spin("0 beside -1 and 1", row, column, array[row, column], remedy)


def _not_a_spin(
    found: str, row: int, column: int, value: Any, remedy: str = "Leave out its row or column first."
) -> NotSpinsError:
    place = f"row {row + 1}, column {column + 1} (counting from 1)"
    sentence = f"{_EXPECTED}: found {found} at {place}. {remedy}"
    return NotSpinsError(sentence, row=row, column=column, value=value)


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


def _numeric_array(X: Any) -> NDArray[Any]:
    """``X`` as an array of bool, integers or floats; no copy where that is possible."""
    if callable(getattr(type(X), "to_numpy", None)):  # of the type: a data frame's columns are attributes too
        try:
            X = X.to_numpy()
        except Exception as error:  # whatever the other library makes of a type that NumPy does not have
            raise InputError(
                f"{_EXPECTED}: found a {type(X).__name__} that NumPy cannot hold ({error})."
            ) from error
    if callable(getattr(type(X), "toarray", None)):
        raise InputError(f"{_EXPECTED} in a dense array: found a sparse {type(X).__name__}. Use X.toarray().")
    if isinstance(X, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in X):
        X = np.ma.array(X)
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        row, column = np.append(np.argwhere(np.ma.getmaskarray(X))[0], 0)[:2].tolist()
        raise _not_a_spin("a missing (masked) value", row, column, np.ma.masked)
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise InputError(
            f"{_EXPECTED}, in rows of equal length: found rows that differ ({error})."
        ) from error
    if array.dtype.kind in "OUS":
        return _from_objects(np.asarray(X, dtype=object))  # as it was: NumPy makes text of all if one is
    if array.dtype.kind == "c":
        raise InputError(f"{_EXPECTED}: found complex numbers. Complex data not supported.")
    if array.dtype.kind not in "biuf":
        raise InputError(f"{_EXPECTED}: found an array of dtype {array.dtype}. Recode the data first.")
    return array


def _from_objects(array: NDArray[Any]) -> NDArray[np.float64]:
    """Python numbers in an object array (a data frame of mixed types) are fine, text is not."""
    table = np.atleast_2d(array)
    values = np.empty(table.shape)
    for index, value in np.ndenumerate(table):
        if value is None or type(value).__name__ in ("NAType", "NaTType"):
            values[index] = math.nan
        elif isinstance(value, str | bytes):
            remedy = "Convert it to numbers first."
            raise _not_a_spin(f"the text {value!r}", index[0], index[1], value, remedy)
        elif isinstance(value, numbers.Real | np.bool_ | Decimal) and _is_exact(value):
            values[index] = value
        else:
            found = f"{value!r} of type {type(value).__name__}"
            raise _not_a_spin(found, index[0], index[1], value, "Recode the data first.")
    return values.reshape(array.shape)


def _is_exact(value: Any) -> bool:
    """Whether nothing is lost in a float64, as it would be of 1 + 1e-20 in a Decimal; NaN is left for later."""
    try:
        return bool(float(value) == value or value != value)
    except (OverflowError, TypeError):  # the latter for time differences, which NumPy counts as integers
        return False
