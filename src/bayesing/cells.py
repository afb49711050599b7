"""Cells of arrays and data frames, whatever they are, as numbers; and what is wrong with those that are no spins.

Numbers, bools and texts are as in files (:mod:`bayesing.texts`): a column holds either numbers or words, words say by
themselves which of two values they are, and NaN, None, pandas' NA and NaT, texts such as "NA" and what a masked array
masks are missing. An error names every column that is at fault, not only the first.
"""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .exceptions import InputError, NotSpinsError
from .texts import MISSING, OTHER, WORD_CODES, code_of, visible, words_in

EXPECTED = "Spins must be ±1, 0/1, yes/no or bool"

_BOOL = 12  # code of a bool that is not written as a word
_TRUE = 7  # code of the word
_PLAIN = (str, int, float, bool)  # types of cells of which each value is looked at once
_MOST_SPELLINGS = 64  # values that are remembered
_RECODE = "Recode the data to two values first. If it marks a missing value, put NaN in its place."


class Numbers(NamedTuple):
    """An array of bool, integers or floats, NaN where a cell is missing, and the encoding, if there were words."""

    array: NDArray[Any]
    words: str | None = None


def names_of(X: Any) -> tuple[str, ...] | None:
    """Names of the columns of a data frame, if all of them are texts."""
    names: Sequence[Any] | None = getattr(X, "columns", None)
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    return tuple(names)


def as_row(X: Any) -> Any:
    """One sample without a second dimension, such as ``X[0]``, as a table of one row; anything else as it is."""
    if getattr(X, "ndim", None) == 1:
        if callable(getattr(type(X), "to_frame", None)) and hasattr(X, "iloc"):
            return X.to_frame().T  # which keeps the names
        return np.asarray(X)[None]
    if isinstance(X, list | tuple) and X and all(isinstance(cell, numbers.Real | str) for cell in X):
        return [X]
    return X


def as_numbers(X: Any) -> Numbers:
    """``X`` as an array of numbers; no copy where that is possible."""
    frame = X
    if callable(getattr(type(X), "to_numpy", None)):  # of the type: a data frame's columns are attributes too
        try:
            X = X.to_numpy()
        except Exception as error:  # whatever the other library makes of a type that NumPy does not have
            raise InputError(
                f"{EXPECTED}: found a {type(X).__name__} that NumPy cannot hold ({error})."
            ) from error
    if callable(getattr(type(X), "toarray", None)):
        raise InputError(f"{EXPECTED} in a dense array: found a sparse {type(X).__name__}. Use X.toarray().")
    if isinstance(X, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in X):
        X = np.ma.array(X)
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        gaps = np.ma.getmaskarray(X)
        X = X.data.astype(np.float64 if X.dtype.kind in "biuf" else object)
        X[gaps] = math.nan
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise InputError(f"{EXPECTED}, in rows of equal length: found rows that differ ({error}).") from error
    if array.dtype.kind in "OUS":
        return _from_objects(
            np.asarray(X, dtype=object), frame
        )  # as it was: NumPy makes text of all if one is
    if array.dtype.kind == "c":
        raise InputError(f"{EXPECTED}: found complex numbers. Complex data not supported.")
    if array.dtype.kind not in "biuf":
        raise InputError(f"{EXPECTED}: found an array of dtype {array.dtype}. Recode the data first.")
    return Numbers(array)


def _from_objects(array: NDArray[Any], frame: Any) -> Numbers:
    """Of Python objects: numbers, bools, words, and what is missing."""
    table = np.atleast_2d(array)
    width = table.shape[1]
    read: list[tuple[float, int]] = []
    faults: dict[int, tuple[int, Any, str, str]] = {}
    known: dict[Any, tuple[float, int]] = {}
    for place, value in enumerate(table.ravel().tolist()):
        key = (type(value), value) if type(value) in _PLAIN else None
        if key in known:
            read.append(known[key])
            continue
        number, code, found, remedy = _read(value)
        read.append((number, code))
        if code == OTHER:
            faults.setdefault(place % width, (place // width, value, found, remedy))
        elif key is not None and len(known) < _MOST_SPELLINGS:
            known[key] = number, code
    values, codes = np.array(read, np.float64).reshape(-1, 2).T.reshape(2, *table.shape)
    if faults:
        column = min(faults, key=lambda j: (faults[j][0], j))
        row, value, found, remedy = faults[column]
        raise not_a_spin(found, row, column, value, remedy, sorted(faults), frame, width)
    is_word, is_bool = codes > 1, codes == _BOOL
    counted = ~is_word & ~np.isnan(values)
    minus = bool((values[counted] == -1).any())
    if not minus:
        is_word &= ~is_bool  # 0 and 1
    is_word &= ~(is_bool & counted.any(axis=0))  # nor are bools words beside numbers
    counted = ~is_word & ~np.isnan(values)
    both = np.flatnonzero(is_word.any(axis=0) & counted.any(axis=0))
    if len(both):
        column = int(both[0])
        row = int(np.argmax(is_word[:, column]))
        remedy = "A column must hold either numbers or words. Recode the column first."
        found = f"the text {table[row, column]!r} beside numbers"
        raise not_a_spin(found, row, column, table[row, column], remedy, [column], frame, width)
    if not is_word.any():
        return Numbers(values.reshape(array.shape))
    written = values[counted]
    zero = bool((written == 0).any())
    low = -1.0 if minus or not len(written) else 0.0
    values[is_word] = np.where(values[is_word] > 0, 1.0, low)
    numbers_in = ["±1" if minus else "0/1" if zero else "1"] if len(written) else []
    label = " and ".join([*numbers_in, *words_in(np.where(is_bool, _TRUE, codes)[is_word].tolist())])
    return Numbers(values.reshape(array.shape), label)


def _read(value: Any) -> tuple[float, int, str, str]:
    """The number that a cell stands for, its code if it is a word or no value, what was found, and what to do."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return math.nan, 0, "", ""
    if isinstance(value, bool | np.bool_):
        return float(value), _BOOL, "", ""
    if isinstance(value, str | bytes):
        code = code_of(value.decode("utf-8", "replace") if isinstance(value, bytes) else value)
        if code == OTHER:
            return math.nan, OTHER, f"the text {value!r}", "Convert it to numbers first."
        number = math.nan if code == MISSING else float(code % 2) if code in WORD_CODES else float(code)
        return number, code if code in WORD_CODES else 0, "", ""
    if isinstance(value, numbers.Real | Decimal) and _is_exact(value):
        number = float(value)
        fine = number in (-1, 0, 1) or number != number
        return number, 0 if fine else OTHER, str(value), _RECODE
    return math.nan, OTHER, f"{value!r} of type {type(value).__name__}", "Recode the data first."


def _is_exact(value: Any) -> bool:
    """Whether nothing is lost in a float64, as it would be of 1 + 1e-20 in a Decimal; NaN is left for later."""
    try:
        return bool(float(value) == value or value != value)
    except (OverflowError, TypeError):  # the latter for time differences, which NumPy counts as integers
        return False


def wrong_value(block: NDArray[Any], start: int) -> NotSpinsError:
    """The first number that is not -1, 0 or 1; ``start`` is the row that the block begins with."""
    row, column = np.argwhere(~np.isin(block, (-1, 0, 1)))[0].tolist()
    value = block[row, column]
    return not_a_spin(str(value), start + row, column, value, _RECODE, [column])


def all_wrong_values(error: NotSpinsError, array: NDArray[Any], frame: Any) -> NotSpinsError:
    """The same error, of an array of numbers, with all columns that are at fault."""
    if not error.columns:
        return error
    wrong = [not bool(np.all((np.abs(c) == 1) | (c == 0) | (c != c))) for c in array.T]
    columns = np.flatnonzero(wrong).tolist()
    return not_a_spin(
        str(error.value), error.row, error.column, error.value, _RECODE, columns, frame, array.shape[1]
    )


def not_a_spin(
    found: str,
    row: int,
    column: int,
    value: Any,
    remedy: str,
    columns: Sequence[int] = (),
    frame: Any = None,
    width: int = 0,
) -> NotSpinsError:
    """What stands in a cell that is no spin, and what to do; ``columns`` are all that are at fault, of so many."""
    names = names_of(frame)
    named = f", named {visible(names[column])!r}" if names else ""
    place = f"row {row + 1}, column {column + 1} (counting from 1){named}"
    more = _on_columns(columns, names, frame, width)
    sentence = f"{EXPECTED}: found {found} at {place}. {remedy}{more}"
    return NotSpinsError(sentence, row=row, column=column, value=value, columns=tuple(columns))


def _on_columns(columns: Sequence[int], names: Sequence[str] | None, frame: Any, width: int) -> str:
    """Which columns are at fault, and how to leave them out, unless these are most of the data."""
    if not columns or (len(columns) == 1 and not names):
        return ""
    which = [names[j] for j in columns] if names else [str(j + 1) for j in columns]
    listed = ", ".join(visible(name) for name in which)
    no_spins = f" {len(columns)} of {width} columns hold other values: {listed}." if len(columns) > 1 else ""
    if 2 * len(columns) > width or width - len(columns) < 2:
        return no_spins
    quoted = json.dumps(which, ensure_ascii=False)
    way = f"X.drop({'columns=' if hasattr(frame, 'iloc') else ''}{quoted})"
    if not names:
        way = f"np.delete(X, {list(columns)}, axis=1)"
    return f"{no_spins} Or leave {'it' if len(columns) == 1 else 'them'} out: {way}."
