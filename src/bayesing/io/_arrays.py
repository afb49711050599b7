"""Arrays of NumPy: .npy and .npz, compressed or not, a few rows at a time. Nothing is ever unpickled."""

from __future__ import annotations

import os
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from io import BufferedIOBase, BufferedReader
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ..exceptions import InputError, Setting
from ..files import numpy_errors
from ..spins import check_shape
from ._codes import Codes, TextCodes, codes_of_numbers
from ._table import CHUNK, FIRST_ROWS, Chunk, Table, check_width, opened

_BLOCK_BYTES = 2**26  # of an array whose columns follow each other, at a time; and of a row
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


class Header(NamedTuple):
    """What stands before the numbers in an .npy file."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype[Any]


class Place(NamedTuple):
    """Where an array is: a file, how that is compressed, and the array's name in an .npz."""

    path: Path
    compression: str
    name: str | None


def array_table(path: Path, compression: str, name: str | None) -> Table:
    """The table in an .npy file or in an array of an .npz."""
    place = Place(path, compression, name)
    with _array(place) as (file, header):
        _check(header)
        first = _first_cells(file, header)
    rows, width = header.shape
    return Table(path, width, None, rows, first, partial(_chunks, place))


def _check(header: Header) -> None:
    check_shape(header.shape, 0, 1)
    check_width(header.shape[1])
    dtype = header.dtype
    if dtype.kind == "c":
        raise InputError("expected ±1, 0/1 or yes/no, found complex numbers. Complex data not supported.")
    if dtype.kind not in "biufUS":
        raise InputError(
            f"expected ±1, 0/1 or yes/no, found an array of dtype {dtype}. Save a 2-D array of integers."
        )
    if not 0 < header.shape[1] * dtype.itemsize <= _BLOCK_BYTES:
        raise InputError(
            f"expected ±1, 0/1 or yes/no, found rows of {header.shape[1] * dtype.itemsize} bytes, for texts of up to "
            f"{dtype.itemsize}. Save a 2-D array of integers."
        )


def _first_cells(file: BufferedIOBase, header: Header) -> list[Any]:
    """Column 0 in the first rows; in Fortran's order it stands at the beginning."""
    rows, width = header.shape
    rows = min(rows, max(3, min(FIRST_ROWS, CHUNK // width)))
    cells = np.empty((rows, 1 if header.fortran_order else width), header.dtype)
    _fill(file, cells)
    return _column(cells, 0)


def _chunks(place: Place) -> Iterator[Chunk]:
    texts = TextCodes()
    for block in _blocks(place):
        codes = _codes_of_texts(block, texts) if block.dtype.kind in "US" else codes_of_numbers(block)
        yield Chunk(codes, partial(_column, block))


def _blocks(place: Place) -> Iterator[NDArray[Any]]:
    with _array(place) as (file, (shape, fortran_order, dtype)):
        rows, width = shape
        if fortran_order:
            yield from _blocks_of_columns(place, rows, width, dtype)
            return
        step = max(1, min(CHUNK // width, _BLOCK_BYTES // (width * dtype.itemsize)))
        buffer = np.empty((min(step, rows), width), dtype)
        for start in range(0, rows, step):
            block = buffer[: rows - start]
            _fill(file, block)
            yield block
        with numpy_errors():
            file.read(1)  # what is compressed may be found to be damaged at its end


def _blocks_of_columns(place: Place, rows: int, width: int, dtype: np.dtype[Any]) -> Iterator[NDArray[Any]]:
    """Some rows at a time of an array whose columns follow each other: its file is gone through for each block."""
    step = max(1, _BLOCK_BYTES // (width * dtype.itemsize))
    for start in range(0, rows, step):
        block = np.empty((min(step, rows - start), width), dtype, order="F")
        with _array(place) as (file, _):
            at = 0
            for j in range(width):
                to = (j * rows + start) * dtype.itemsize
                _forward(file, to - at)
                _fill(file, block[:, j])
                at = to + len(block) * dtype.itemsize
            _forward(file, (rows - start - len(block)) * dtype.itemsize)
            with numpy_errors():
                file.read(1)
        part = max(1, CHUNK // width)
        for first in range(0, len(block), part):
            yield block[first : first + part]


def _forward(file: BufferedIOBase, size: int) -> None:
    """Go past so many bytes."""
    with numpy_errors():
        if file.seekable():
            file.seek(size, os.SEEK_CUR)
            return
        while size > 0:
            done = len(file.read(min(size, _BLOCK_BYTES)))
            if not done:
                raise ValueError("its end is missing")
            size -= done


def _fill(file: BufferedIOBase, block: NDArray[Any]) -> None:
    """Read an array, whose items follow each other, from where the file stands."""
    view = block.reshape(-1).view(np.uint8).data
    while view:
        with numpy_errors():
            done = file.readinto(view)
            if not done:
                raise ValueError("its end is missing")
        view = view[done:]


def _codes_of_texts(block: NDArray[Any], texts: TextCodes) -> Codes:
    codes = bytes(map(texts.__getitem__, _texts(block.reshape(-1))))
    return np.array(bytearray(codes), np.uint8).view(np.int8).reshape(block.shape)


def _column(block: NDArray[Any], j: int) -> list[Any]:
    cells = block[:, j]
    return _texts(cells) if cells.dtype.kind == "U" else cast(list[Any], cells.tolist())


def _texts(cells: NDArray[Any]) -> list[str]:
    """Texts of a row or a column. Damaged ones may hold numbers that are no characters, on which NumPy fails."""
    if cells.dtype.kind == "S":
        return [cell.decode("utf-8", "replace") for cell in cells.tolist()]
    numbers = np.ascontiguousarray(cells).view(f"{cells.dtype.byteorder}u4")
    if numbers.size and numbers.max() > sys.maxunicode:
        numbers = np.where(numbers > sys.maxunicode, ord("\N{REPLACEMENT CHARACTER}"), numbers).astype(
            np.uint32
        )
        cells = numbers.view(f"U{cells.dtype.itemsize // 4}")
    return cast(list[str], cells.tolist())


@contextmanager
def _array(place: Place) -> Iterator[tuple[BufferedIOBase, Header]]:
    """An array's content, from its first number on."""
    with _content(place) as file:
        with numpy_errors():
            start = file.peek(6)[:6]  # type: ignore[attr-defined]
            if start and not npy.MAGIC_PREFIX.startswith(start):
                raise ValueError("the magic string is not NumPy's")
            version = npy.read_magic(file)
            if version not in _HEADERS:
                raise ValueError(f"version {version} of the format")
            header = Header(*_HEADERS[version](file))
            if header.dtype.hasobject:
                raise ValueError("pickled objects")
        yield file, header


@contextmanager
def _content(place: Place) -> Iterator[BufferedIOBase]:
    with opened(place.path, place.compression) as (file, _):
        if not _is_zip(file):
            yield file
            return
        with numpy_errors():
            archive = zipfile.ZipFile(file)
        with archive:
            member = _choose([name.removesuffix(".npy") for name in archive.namelist()], place.name)
            with numpy_errors():
                content = archive.open(f"{member}.npy")
            with content:
                yield cast(BufferedIOBase, content)


def _is_zip(file: BufferedReader) -> bool:
    with numpy_errors():
        return file.peek(2)[:2] == b"PK"


def _choose(names: list[str], name: str | None) -> str:
    listed = ", ".join(names) or "none"
    if name is not None:
        if name not in names:
            raise InputError(f"expected an array named {name!r}, found {listed}.")
        return name
    if "spins" in names:
        return "spins"
    if len(names) == 1:
        return names[0]
    remedy = (" Choose one with ", Setting("array", "NAME"), ".") if names else ()
    raise InputError(f"expected an array named 'spins' or a single array, found {listed}.", *remedy)
