"""A file becomes a table: the reader is chosen by the extension."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..exceptions import InputError
from ..files import check_input
from ._arrays import array_table
from ._layout import DEFAULT_DELIMITER
from ._parquet import parquet_table
from ._statistical import R_FRAMES, SPSS, R, statistical_table
from ._table import COMPRESSIONS, Table, split_extension
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
        if extension in DEFAULT_DELIMITER:
            return text_table(path, compression, DEFAULT_DELIMITER[extension])
        if extension == ".parquet":
            return parquet_table(path)
        if extension in (*SPSS, *R):
            return statistical_table(path, extension, array)
        return array_table(path, compression, array)


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
def naming(path: Path) -> Iterator[None]:
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
