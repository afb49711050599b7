"""Data from files: .npy, .npz, .csv and .tsv. Every error is one sentence with the file and the place."""

from __future__ import annotations

import csv
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .files import check_input, load_arrays
from .spins import Spins, as_spins

DELIMITERS = {".csv": ",", ".tsv": "\t"}
EXTENSIONS = (".npy", ".npz", *DELIMITERS)

# Cells that stand for a value, so that a row of them is not a header.
_MISSING = {"", "na", "n/a", "nan", "none", "null", "?", "-", "."}
_VALUES = _MISSING | {"true", "false", "t", "f", "yes", "no", "y", "n"}


@dataclass(frozen=True, eq=False)
class SpinData:
    """Spins read from a file (int8, ±1, N x n), and the names of the columns if the file has any."""

    spins: Spins
    names: tuple[str, ...] | None = None


def read_spins(path: str | os.PathLike[str], array: str | None = None) -> SpinData:
    """Read spins from a file: rows are samples, columns are spins; ±1 or 0/1, in NumPy files also bool.

    An .npz is read as the array named ``array``, else as its array "spins", else as its only one. The
    header of a .csv or .tsv is optional. Nothing is ever unpickled.
    """
    path = Path(path)
    extension = path.suffix.lower()
    if extension not in EXTENSIONS:
        found = extension or "no extension"
        raise ValueError(f"{path}: expected a file ending in {', '.join(EXTENSIONS)}, found {found}.")
    if array is not None and extension != ".npz":
        raise ValueError(
            f"{path}: an array can be chosen in an .npz file only; leave out the name {array!r}."
        )
    try:
        if extension in DELIMITERS:
            return _read_table(path, DELIMITERS[extension])
        loaded = load_arrays(path)
        return SpinData(as_spins(_choose(loaded, array) if isinstance(loaded, dict) else loaded))
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _choose(arrays: dict[str, NDArray[Any]], name: str | None) -> NDArray[Any]:
    listed = ", ".join(arrays) or "none"
    if name is not None:
        if name not in arrays:
            raise ValueError(f"expected an array named {name!r}, found {listed}.")
        return arrays[name]
    if "spins" in arrays:
        return arrays["spins"]
    if len(arrays) == 1:
        return next(iter(arrays.values()))
    raise ValueError(
        f"expected an array named 'spins' or a single array, found {listed}."
        + (" Choose one with --array NAME." if arrays else "")
    )


def _read_table(path: Path, delimiter: str) -> SpinData:
    check_input(path)
    try:
        with path.open(encoding="utf-8-sig") as file:
            lines = [line for line in file.read().split("\n") if line.strip(" ")]
    except UnicodeDecodeError as error:
        raise ValueError(f"expected text in UTF-8, found other bytes ({error.reason}).") from error
    if not lines:
        raise ValueError("expected rows of spins, found an empty file.")
    first = _cells(lines[0], delimiter)
    names = tuple(cell.strip() for cell in first) if _is_header(first) else None
    if names:
        lines = lines[1:]
        if not lines:
            raise ValueError("expected rows of spins, found a header and nothing below it.")
    other = next((mark for mark in ";,\t|" if mark != delimiter and mark in lines[0]), None)
    if len(first) == 1 and other:
        raise ValueError(
            f"expected columns separated by {delimiter!r}, found one column with {other!r} in it."
        )
    note = "counting from 1, below the header" if names else "counting from 1"
    try:
        return SpinData(
            as_spins(_numbers(lines, delimiter, len(first), "the header" if names else "row 1")), names
        )
    except ValueError as error:
        raise ValueError(str(error).replace("counting from 1", note)) from error


def _is_header(cells: list[str]) -> bool:
    """Names only, or the column numbers 0, 1, 2, ... or 1, 2, 3, ... of a table written without names."""
    texts = [cell.strip() for cell in cells]
    if len(texts) > 2 and texts in ([str(k) for k in range(s, s + len(texts))] for s in (0, 1)):
        return True
    return not any(map(_is_number, texts)) and not all(text.lower() in _VALUES for text in texts)


def _numbers(lines: list[str], delimiter: str, width: int, source: str) -> NDArray[Any]:
    for dtype in (np.int8, np.float64):  # whole numbers parse faster and take an eighth of the memory
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # older versions of NumPy cut off fractions, and warn
                values = np.loadtxt(lines, dtype, comments=None, delimiter=delimiter, quotechar='"', ndmin=2)
        except (ValueError, OverflowError, DeprecationWarning):
            continue
        if values.shape[1] == width:
            return values
        break
    raise _fault(lines, delimiter, width, source)


def _fault(lines: list[str], delimiter: str, width: int, source: str) -> ValueError:
    """The first cell that is at fault, in words."""
    for row, line in enumerate(lines, start=1):
        cells = _cells(line, delimiter)
        if len(cells) != width:
            return ValueError(
                f"expected {width} column(s), as {source} has, found {len(cells)} in row {row} (counting from 1)."
            )
        for column, cell in enumerate(cells, start=1):
            if not _is_number(cell):
                found = f"the text {_short(cell.strip())}" if cell.strip() else "an empty cell"
                return ValueError(
                    f"expected ±1 or 0/1, found {found} in row {row}, column {column} (counting from 1). "
                    "Recode it or leave out its row or column."
                )
    return ValueError("expected a table of numbers, found something else.")


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter))
    except csv.Error as error:
        raise ValueError(f"expected a table of short cells, found {_short(line)} ({error}).") from error


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return cell.isascii() and "_" not in cell  # which Python would allow


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")
