"""Data from files: .npy, .npz, .csv and .tsv. Every error is one sentence with the file and the place."""

from __future__ import annotations

import csv
import os
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from .spins import Spins, as_spins

DELIMITERS = {".csv": ",", ".tsv": "\t"}
EXTENSIONS = (".npy", ".npz", *DELIMITERS)


@dataclass(frozen=True, eq=False)
class SpinData:
    """Spins read from a file (int8, ±1, N x n), and the names of the columns if the file has any."""

    spins: Spins
    names: tuple[str, ...] | None = None


def read_spins(path: str | os.PathLike[str], array: str | None = None) -> SpinData:
    """Read spins from a file: rows are samples, columns are spins; ±1, 0/1 or bool.

    An .npz is read as the array named ``array``, else as its array "spins", else as its only one. The
    header of a .csv or .tsv is optional. Nothing is ever unpickled.
    """
    path = Path(path)
    extension = path.suffix.lower()
    if extension not in EXTENSIONS:
        found = extension or "no extension"
        raise ValueError(f"{path}: expected a file ending in {', '.join(EXTENSIONS)}, found {found}.")
    if array is not None and extension != ".npz":
        raise ValueError(f"{path}: an array can be chosen in an .npz file only; leave out --array.")
    if not path.is_file():
        found = "a directory" if path.is_dir() else "no such file"
        raise ValueError(f"{path}: expected a file, found {found}. Check the path.")
    try:
        if extension in DELIMITERS:
            values, names = _read_table(path, DELIMITERS[extension])
        else:
            values, names = _read_numpy(path, array), None
        return SpinData(as_spins(values), names)
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _read_numpy(path: Path, array: str | None) -> NDArray[Any]:
    try:
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            if not isinstance(loaded, np.lib.npyio.NpzFile):
                return np.asarray(loaded)
            return np.asarray(loaded[_choose(loaded.files, array)])
    except (EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"expected a NumPy file, found one that is empty or damaged ({error}).") from error
    except ValueError as error:
        if "allow_pickle" in str(error) or "Object arrays" in str(error) or "pickle" in str(error):
            raise ValueError(
                "expected an array of numbers, found Python objects or a file that is not NumPy's. "
                "Pickles are not opened; save the data as an array of integers."
            ) from error
        raise


def _choose(files: list[str], array: str | None) -> str:
    listed = ", ".join(files) or "none"
    if array is not None:
        if array not in files:
            raise ValueError(f"expected an array named {array!r}, found {listed}.")
        return array
    if "spins" in files:
        return "spins"
    if len(files) == 1:
        return files[0]
    raise ValueError(
        f"expected an array named 'spins' or a single array, found {listed}. Choose one with --array NAME."
    )


def _read_table(path: Path, delimiter: str) -> tuple[NDArray[Any], tuple[str, ...] | None]:
    try:
        lines = [line for line in path.read_text("utf-8-sig").splitlines() if line.strip()]
    except UnicodeDecodeError as error:
        raise ValueError(f"expected text in UTF-8, found other bytes ({error.reason}).") from error
    if not lines:
        raise ValueError("expected rows of spins, found an empty file.")
    first = _cells(lines[0], delimiter)
    numeric = [_is_number(cell) for cell in first]
    names = None
    if not any(numeric):
        names = tuple(cell.strip() for cell in first)
        lines = lines[1:]
        if not lines:
            raise ValueError("expected rows of spins, found a header and nothing below it.")
    elif not all(numeric):
        column = numeric.index(False)
        raise ValueError(
            f"expected numbers, or a header of names only, found {first[column]!r} beside numbers in row 1, "
            f"column {column + 1}."
        )
    values = _numbers(lines, delimiter, len(first), header=names is not None)
    return values, names


def _numbers(lines: list[str], delimiter: str, width: int, header: bool) -> NDArray[Any]:
    for dtype in (np.int8, np.float64):  # whole numbers parse faster and take an eighth of the memory
        try:
            values = np.loadtxt(lines, dtype, comments=None, delimiter=delimiter, quotechar='"', ndmin=2)
        except (ValueError, OverflowError):
            continue
        if values.shape[1] == width:
            return values
        break
    _explain(lines, delimiter, width, header)
    raise ValueError("expected a table of numbers, found something else.")


def _explain(lines: list[str], delimiter: str, width: int, header: bool) -> None:
    """Find the first cell that is at fault, and say so."""
    counted = "the header has" if header else "row 1 has"
    for row, line in enumerate(lines, start=1):
        cells = _cells(line, delimiter)
        if len(cells) != width:
            raise ValueError(
                f"expected {width} columns, as {counted}, found {len(cells)} in row {row} (counting from 1"
                f"{', below the header' if header else ''})."
            )
        for column, cell in enumerate(cells, start=1):
            if not _is_number(cell):
                found = f"the text {cell.strip()!r}" if cell.strip() else "an empty cell"
                raise ValueError(
                    f"expected ±1 or 0/1, found {found} in row {row}, column {column} (counting from 1"
                    f"{', below the header' if header else ''}). Recode it or leave out its row or column."
                )


def _cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


@contextmanager
def writing(path: str | os.PathLike[str], force: bool = False) -> Iterator[IO[bytes]]:
    """A file that appears under ``path`` complete or not at all; an existing one is kept unless ``force``."""
    path = Path(path)
    check_output(path, force)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def check_output(path: str | os.PathLike[str], force: bool = False) -> None:
    """Raise a ValueError where :func:`writing` would, before any work is done."""
    path = Path(path)
    if not path.parent.is_dir():
        raise ValueError(
            f"{path}: expected an existing directory, found none named {path.parent}. Make it first."
        )
    if path.is_dir():
        raise ValueError(f"{path}: expected the name of a file to write, found a directory.")
    if path.exists() and not force:
        raise ValueError(
            f"{path}: the file exists already. Choose another name, or overwrite it with --force."
        )


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
