"""Spins in, whatever they look like: validation, and encoding as ±1.

Rows are samples, columns are spins. Accepted are ±1, 0/1 and bool, of any integer or
float dtype, as NumPy arrays, nested lists, pandas or polars data frames. 0 and False
become -1. An array that holds only 1s is read as all +1, which both encodings agree on.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .packed import PackedSpins
from .types import Spins

_EXPECTED = "Spins must be ±1, 0/1 or bool"


def as_spins(X: ArrayLike, *, min_samples: int = 2, min_spins: int = 2) -> Spins:
    """Check ``X`` and return it as a C-contiguous int8 array of ±1, shape (N samples, n spins).

    >>> as_spins([[0, 1], [1, 1]])
    array([[-1,  1],
           [ 1,  1]], dtype=int8)
    """
    return encode(X, min_samples=min_samples, min_spins=min_spins)[0]


def varying_of(spins: Spins) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Which spins are not constant, and their magnetisations.

    Of the couplings of constant spins the data say nothing: methods leave them out, and give gamma for all n.
    """
    sums = spins.sum(axis=0, dtype=np.int64)
    varying = np.flatnonzero(np.abs(sums) < len(spins))
    if len(varying) < 2:
        raise ValueError(
            f"Expected at least 2 spins (columns) that vary: found {len(varying)} of {spins.shape[1]}."
        )
    return varying, sums[varying] / len(spins)


def copies_of(spins: Spins) -> Iterator[tuple[int, int, int]]:
    """Spins that vary and are copies of an earlier one: i < j, and +1 where they are equal, -1 where opposite."""
    first: dict[bytes, int] = {}
    for j in np.flatnonzero(np.abs(spins.sum(axis=0, dtype=np.int64)) < len(spins)).tolist():
        i = first.setdefault(np.packbits(spins[:, j] == spins[0, j]).tobytes(), j)
        if i != j:
            yield i, j, int(spins[0, i] * spins[0, j])


def pack_spins(X: ArrayLike, *, min_samples: int = 2, min_spins: int = 2) -> tuple[PackedSpins, str]:
    """The same as bits, and the encoding."""
    spins, encoding = encode(X, min_samples=min_samples, min_spins=min_spins)
    return PackedSpins.of(spins), encoding


def encode(X: ArrayLike, *, min_samples: int = 2, min_spins: int = 2) -> tuple[Spins, str]:
    """Like :func:`as_spins`, and say which encoding was found: "±1", "0/1", or "1" if all are 1."""
    array = _numeric_array(X)
    check_shape(array.shape, min_samples, min_spins)
    if array.flags.f_contiguous and not array.flags.c_contiguous:  # walk along memory
        spins, lowest = _truncate(array.T, transposed=True)
        spins = np.ascontiguousarray(spins.T)
    else:
        spins, lowest = _truncate(array)

    if lowest < 0:
        if np.count_nonzero(spins) < spins.size:
            row, column = np.argwhere(spins == 0)[0]
            raise ValueError(
                f"{_EXPECTED}: found 0 beside -1 and 1 at {_place(row, column)}. If 0 marks a "
                "missing value, leave out its row or column first."
            )
        return spins, "±1"
    all_ones = lowest > 0
    np.multiply(spins, 2, out=spins)
    np.subtract(spins, 1, out=spins)
    return spins, "1" if all_ones else "0/1"


def _truncate(array: NDArray[Any], transposed: bool = False) -> tuple[Spins, int]:
    """Copy an array with entries in {-1, 0, 1} to int8, and return its lowest entry.

    Goes through the rows in blocks that stay in cache, because the passes over memory are the cost.
    """
    spins = np.empty(array.shape, np.int8)
    lowest = 1
    step = max(1, 2**16 // array.shape[1])
    fractions = array.dtype.kind == "f"
    for start in range(0, len(array), step):
        block, out = array[start : start + step], spins[start : start + step]
        low, high = block.min(), block.max()
        within = bool(low >= -1 and high <= 1)  # False for NaN
        if within:
            out[...] = block
            # In [-1, 1] truncation leaves every entry alone but the proper fractions, which it makes zero.
            within = not fractions or np.count_nonzero(block != 0) == np.count_nonzero(out)
        if not within:
            _reject(block, start, transposed)
        lowest = min(lowest, int(low))
    return spins, lowest


def _reject(block: NDArray[Any], start: int, transposed: bool) -> NoReturn:
    row, column = np.argwhere(~np.isin(block, (-1, 0, 1)))[0]
    value = block[row, column]
    row += start
    where = _place(column, row) if transposed else _place(row, column)
    if np.isnan(value):
        raise ValueError(
            f"{_EXPECTED}: found a missing value (NaN) at {where}. Leave out its row or column first."
        )
    raise ValueError(
        f"{_EXPECTED}: found {value} at {where}. Recode the data to two values first, or leave out its row or "
        "column if it marks a missing value."
    )


def _place(row: int, column: int) -> str:
    return f"row {row + 1}, column {column + 1} (counting from 1)"


def check_shape(shape: tuple[int, ...], min_samples: int = 2, min_spins: int = 2) -> None:
    """Raise a ValueError unless there are two dimensions, and samples and spins enough."""
    if len(shape) != 2:
        raise ValueError(
            f"Spins must be a 2-D array, rows are samples and columns are spins: found {len(shape)} "
            "dimension(s). Reshape your data to (samples, spins)."
        )
    n_samples, n_spins = shape
    if n_samples < min_samples:
        raise ValueError(
            f"Expected at least {min_samples} sample(s) (rows): found n_samples={n_samples}. "
            "Rows are samples, columns are spins; transpose the data if they are the other way round."
        )
    if n_spins < min_spins:
        raise ValueError(
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
            raise ValueError(
                f"{_EXPECTED}: found a {type(X).__name__} that NumPy cannot hold ({error})."
            ) from error
    if callable(getattr(type(X), "toarray", None)):
        raise ValueError(f"{_EXPECTED} in a dense array: found a sparse {type(X).__name__}. Use X.toarray().")
    if isinstance(X, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in X):
        X = np.ma.array(X)
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        place = np.argwhere(np.ma.getmaskarray(X))[0]
        raise ValueError(
            f"{_EXPECTED}: found a missing (masked) value at {_place(*np.append(place, 0)[:2])}. "
            "Leave out its row or column first."
        )
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise ValueError(
            f"{_EXPECTED}, in rows of equal length: found rows that differ ({error})."
        ) from error
    if array.dtype.kind in "OUS":
        return _from_objects(np.asarray(X, dtype=object))  # as it was: NumPy makes text of all if one is
    if array.dtype.kind == "c":
        raise ValueError(f"{_EXPECTED}: found complex numbers. Complex data not supported.")
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{_EXPECTED}: found an array of dtype {array.dtype}. Recode the data first.")
    return array


def _from_objects(array: NDArray[Any]) -> NDArray[np.float64]:
    """Python numbers in an object array (a data frame of mixed types) are fine, text is not."""
    table = np.atleast_2d(array)
    values = np.empty(table.shape)
    for index, value in np.ndenumerate(table):
        if value is None or type(value).__name__ in ("NAType", "NaTType"):
            values[index] = math.nan
        elif isinstance(value, str | bytes):
            raise ValueError(
                f"{_EXPECTED}: found the text {value!r} at {_place(*index[:2])}. Convert it to numbers first."
            )
        elif isinstance(value, numbers.Real | np.bool_ | Decimal) and _is_exact(value):
            values[index] = value
        else:
            raise ValueError(
                f"{_EXPECTED}: found {value!r} of type {type(value).__name__} at {_place(*index[:2])}. "
                "Recode the data first."
            )
    return values.reshape(array.shape)


def _is_exact(value: Any) -> bool:
    """Whether nothing is lost in a float64, as it would be of 1 + 1e-20 in a Decimal; NaN is left for later."""
    try:
        return bool(float(value) == value or value != value)
    except (OverflowError, TypeError):  # the latter for time differences, which NumPy counts as integers
        return False
