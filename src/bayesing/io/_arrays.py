"""Arrays of NumPy: .npy and .npz, compressed or not, a few rows at a time. Nothing is ever unpickled."""

from __future__ import annotations

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
from ._table import CHUNK, FIRST_ROWS, Chunk, Table, opened

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
    dtype = header.dtype
    if dtype.kind == "c":
        raise InputError("expected ±1, 0/1 or yes/no, found complex numbers. Complex data not supported.")
    if dtype.kind not in "biufUS":
        raise InputError(
            f"expected ±1, 0/1 or yes/no, found an array of dtype {dtype}. Save a 2-D array of integers."
        )


def _first_cells(file: BufferedIOBase, header: Header) -> list[Any]:
    """Column 0 in the first rows; in Fortran's order it stands at the beginning."""
    rows, width = header.shape
    rows = min(rows, max(3, min(FIRST_ROWS, CHUNK // width)))
    cells = np.empty((rows, 1 if header.fortran_order else width), header.dtype)
    _fill(file, _bytes_of(cells))
    return _column(cells, 0)


def _chunks(place: Place) -> Iterator[Chunk]:
    texts = TextCodes()
    for block in _blocks(place):
        codes = _codes_of_texts(block, texts) if block.dtype.kind in "US" else codes_of_numbers(block)
        yield Chunk(codes, partial(_column, block))


def _blocks(place: Place) -> Iterator[NDArray[Any]]:
    with _array(place) as (file, (shape, fortran_order, dtype)):
        rows, width = shape
        step = max(1, CHUNK // width)
        if fortran_order:  # whose rows are all over the file
            whole = _whole(place)
            for start in range(0, rows, step):
                yield whole[start : start + step]
            return
        buffer = np.empty((min(step, rows), width), dtype)
        for start in range(0, rows, step):
            block = buffer[: rows - start]
            _fill(file, _bytes_of(block))
            yield block
        with numpy_errors():
            file.read(1)  # what is compressed may be found to be damaged at its end


def _whole(place: Place) -> NDArray[Any]:
    """A map of the file where that is possible."""
    with numpy_errors():
        if place.name is None and not place.compression and not zipfile.is_zipfile(place.path):
            return cast(NDArray[Any], np.load(place.path, mmap_mode="r", allow_pickle=False))
        with _content(place) as file:
            return npy.read_array(file, allow_pickle=False)


def _fill(file: BufferedIOBase, view: memoryview) -> None:
    while view:
        with numpy_errors():
            done = file.readinto(view)
            if not done:
                raise ValueError("its end is missing")
        view = view[done:]


def _bytes_of(block: NDArray[Any]) -> memoryview:
    return block.reshape(-1).view(np.uint8).data


def _codes_of_texts(block: NDArray[Any], texts: TextCodes) -> Codes:
    cells = np.char.decode(block, "utf-8", "replace") if block.dtype.kind == "S" else block
    codes = bytes(map(texts.__getitem__, cells.ravel().tolist()))
    return np.array(bytearray(codes), np.uint8).view(np.int8).reshape(block.shape)


def _column(block: NDArray[Any], j: int) -> list[Any]:
    return cast(list[Any], block[:, j].tolist())


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
