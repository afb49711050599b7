"""A file becomes a table: the reader is chosen by the extension."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ..exceptions import InputError
from ..files import check_input
from ._arrays import array_table
from ._layout import DEFAULT_DELIMITER
from ._parquet import parquet_table
from ._statistical import R_FRAMES, SPSS, R, statistical_table
from ._table import COMPRESSIONS, Chunk, Table, split_extension
from ._text import text_table

EXTENSIONS = (".npy", ".npz", *DEFAULT_DELIMITER, ".parquet", *SPSS, *R)


def open_table(path: str | os.PathLike[str], array: str | None = None) -> Table:
    """Look at a file: its columns and about how many rows it has. Nothing stays open.

    An .npz is read as the array named ``array``, else as its array "spins", else as its only one; an .rda as the data
    frame of this name, or as its only one.
    """
    path = Path(path)
    with naming(path):
        extension, compression = split_extension(path)
        _check_extension(extension, compression, array)
        check_input(path)
        before = _stamp(path)
        if extension in DEFAULT_DELIMITER:
            table = text_table(path, compression, DEFAULT_DELIMITER[extension])
        elif extension == ".parquet":
            table = parquet_table(path)
        elif extension in (*SPSS, *R):
            return statistical_table(path, extension, array)  # which is all in memory by now
        else:
            table = array_table(path, compression, array)
        return replace(table, chunks=partial(_unchanged, table.chunks, path, before))


class _Stamp(NamedTuple):
    """What changes when a file is written to."""

    size: int
    time: int


def _stamp(path: Path) -> _Stamp:
    found = path.stat()
    return _Stamp(found.st_size, found.st_mtime_ns)


def _unchanged(chunks: Callable[[], Iterator[Chunk]], path: Path, before: _Stamp) -> Iterator[Chunk]:
    """The chunks, and at their end, or before any error, an InputError if the file has changed meanwhile."""
    try:
        yield from chunks()
    except (ValueError, OSError) as error:
        _check_unchanged(path, before, error)
        raise
    _check_unchanged(path, before)


def _check_unchanged(path: Path, before: _Stamp, error: Exception | None = None) -> None:
    after = _stamp(path)
    if after == before:
        return
    how = "grew" if after.size > before.size else "was cut" if after.size < before.size else "was written to"
    raise InputError(
        f"expected a file that stays as it is, found that it {how} while it was read ({before.size} bytes before, "
        f"{after.size} after). Read it when nothing writes to it."
    ) from error


def _check_extension(extension: str, compression: str, array: str | None) -> None:
    if extension not in EXTENSIONS:
        found = extension or "no extension"
        raise InputError(
            f"expected a file ending in {', '.join(EXTENSIONS)}, perhaps compressed ({', '.join(COMPRESSIONS)}), "
            f"found {found}."
        )
    if array is not None and extension not in (".npz", *R_FRAMES):
        raise InputError(
            f"an array can be chosen in an .npz file only, or a data frame in an .rda; leave out the name {array!r}."
        )
    if compression and extension in (".npz", ".parquet", *SPSS, *R):
        raise InputError(
            f"expected a file ending in {extension}, which is compressed already, found {compression}."
        )


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Put the file's name before an error."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error}).").at(path) from error
    except MemoryError as error:
        raise InputError("does not fit into memory. Leave out columns, or read it in batches.").at(
            path
        ) from error
    except InputError as error:
        raise error.at(path) from error.__cause__
    except ValueError as error:
        raise InputError(str(error)).at(path) from error
