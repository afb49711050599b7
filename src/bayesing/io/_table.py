"""A table in a file: its columns, and its rows in chunks of codes. Readers of all formats give one."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

from ..exceptions import InputError
from ._codes import Codes

CHUNK = 2**18  # cells, or bytes of text, at a time: what is made of them stays in cache
FIRST_ROWS = 20  # rows in which it shows whether the first column counts them
MOST_COLUMNS = 10**6  # far beyond what can be fitted, and little enough to look at one by one
COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
_SHOWN = 40  # characters of a cell or name that an error shows
INSTALL = "pip install 'bayesing[data]'"


class Chunk(NamedTuple):
    """Some rows: their codes, and a function that gives the cells of a column as they stand in the file."""

    codes: Codes
    column: Callable[[int], list[Any]]


@dataclass(frozen=True)
class Table:
    """Columns, and rows in chunks; each call of ``chunks`` opens the file and starts from the first row.

    ``n_rows`` may be an estimate. ``first`` are the cells of the first column in the first rows, three at least if
    there are so many. ``index`` are columns that the format itself declares to be row labels.
    """

    path: Path
    width: int
    names: tuple[str, ...] | None
    n_rows: int
    first: Sequence[Any]
    chunks: Callable[[], Iterator[Chunk]]
    index: tuple[int, ...] = ()
    header: bool = False
    notes: tuple[str, ...] = ()  # on what was taken for granted

    def __post_init__(self) -> None:
        check_width(self.width)

    def place(self, row: int, column: int) -> str:
        """Where a cell is, in words."""
        below = ", below the header" if self.header else ""
        named = f", named {short(self.names[column])}" if self.names and self.names[column] else ""
        return f"row {row + 1}, column {column + 1} (counting from 1{below}){named}"

    def column(self, j: int) -> str:
        """Which column, in words."""
        return f"column {j + 1}" + (f" ({short(self.names[j])})" if self.names and self.names[j] else "")


def check_width(width: int) -> None:
    """Raise an InputError if there are too many columns."""
    if width > MOST_COLUMNS:
        raise InputError(
            f"expected at most {MOST_COLUMNS:,} columns, found more. Rows are samples, columns are spins; transpose "
            "the data if they are the other way round."
        )


def split_extension(path: Path) -> tuple[str, str]:
    """The extension that names the format, and that of the compression, in lower case; "" where there is none."""
    extensions = [extension.lower() for extension in path.suffixes]
    if extensions and extensions[-1] in COMPRESSIONS:
        return (extensions[-2] if len(extensions) > 1 else "", extensions[-1])
    return (extensions[-1] if extensions else "", "")


@contextmanager
def opened(path: Path, compression: str = "") -> Iterator[tuple[BufferedReader, BufferedReader]]:
    """The content of a file, decompressed on the fly, and the file itself; errors are one sentence."""
    try:
        with path.open("rb") as raw:
            if compression:
                with _decompressed(raw, compression) as file:
                    yield file, raw
            else:
                yield raw, raw
    except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise InputError(
            f"expected a {compression} file, found one that is cut off or damaged ({error})."
        ) from error


def _decompressed(raw: BufferedReader, compression: str) -> Any:
    kinds: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    if compression in kinds:
        return kinds[compression](raw, "rb")
    try:
        import pyarrow
    except ImportError as error:
        raise InputError(f"a .zst file needs the package pyarrow: {INSTALL}.") from error
    return BufferedReader(pyarrow.input_stream(raw, compression="zstd"))


def short(text: object) -> str:
    """A text in quotes, cut if it is long."""
    text = str(text)
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")
