"""Data from files: .npy, .npz, .csv, .tsv, .txt, .dat and .parquet, compressed or not, at once or in batches.

Rows are samples, columns are spins. Every reader gives a table in chunks of small codes (:mod:`._codes`); columns are
selected (:mod:`._selection`), the encoding is told from all the codes that occur, and missing values are dealt with
(:mod:`._missing`). Every error is one sentence with the file and the place. ``docs/data.md`` has the rules.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ..arguments import count
from ..files import check_input
from ..spins import check_shape
from ..types import Spins
from ._arrays import array_table
from ._codes import MISSING, Encoding, Flags, mixed
from ._memory import memory_available, memory_needed
from ._missing import RULES, Tally, check_left, check_rule, notes, sentence
from ._parquet import parquet_table
from ._record import SpinData, on_constant_spins, on_copies
from ._selection import Selection, check_encoding, select
from ._table import COMPRESSIONS, Table, split_extension
from ._text import DEFAULT_DELIMITER, text_table

__all__ = [
    "RULES",
    "SpinData",
    "memory_available",
    "memory_of",
    "on_constant_spins",
    "on_copies",
    "read_batches",
    "read_spins",
]

EXTENSIONS = (".npy", ".npz", *DEFAULT_DELIMITER, ".parquet")
_BATCH = 2**24  # cells


def read_spins(
    path: str | os.PathLike[str],
    array: str | None = None,
    missing: str = "error",
    drop_columns: Sequence[str] = (),
) -> SpinData:
    """Read spins from a file: rows are samples, columns are spins; ±1, 0/1, yes/no, true/false, y/n, t/f or bool.

    An .npz is read as the array named ``array``, else as its array "spins", else as its only one. A table of text
    may have a header, and any of the usual delimiters. ``missing`` says what to do about missing values: "error",
    "drop-samples" (rows) or "drop-spins" (columns). ``drop_columns`` are columns that are no spins, by name or by
    number from 1. What was recognised and left out is said in ``encoding`` and ``notes``. Nothing is ever unpickled.
    """
    path = Path(path)
    check_rule(missing)
    with _naming(path):
        selection = select(_open(path, array), drop_columns)
        n = len(selection.kept)
        buffer, flags = bytearray(), np.zeros(n, np.uint16)  # it grows without a second copy
        for codes, found in selection.chunks():
            buffer += codes.data
            flags |= found
        codes = np.frombuffer(buffer, np.int8).reshape(-1, n)
        check_shape(codes.shape)
        encoding = check_encoding(flags, selection)
        spins, names, said = encoding.decode(codes), selection.names, selection.notes
        if encoding.has_missing:
            absent = spins == 0
            tally = Tally(n).add(absent)
            _check_missing(tally, selection, encoding, missing)
            if missing == "drop-samples":
                spins = spins[~absent.any(axis=1)]
            else:
                spins = np.ascontiguousarray(spins[:, ~tally.columns])
                names = names and tuple(
                    name for name, bad in zip(names, tally.columns, strict=True) if not bad
                )
            said += notes(tally, selection, encoding, missing)
        said += on_constant_spins(spins.min(axis=0) == spins.max(axis=0), names)
        return SpinData(spins, names, encoding.label, said)


def read_batches(
    path: str | os.PathLike[str],
    rows: int | None = None,
    array: str | None = None,
    missing: str = "error",
    drop_columns: Sequence[str] = (),
) -> Iterator[SpinData]:
    """Read a file of any size, ``rows`` samples at a time (by default, about 16 MB of spins).

    The batches together are what :func:`read_spins` gives, in one and the same encoding. ``encoding`` and ``notes``
    of a batch are those of all batches so far. ``missing`` is "error" or "drop-samples", for which the file is read
    twice: only at its end is it known whether 0 stands for a missing value.
    """
    path = Path(path)
    check_rule(missing, ("error", "drop-samples"))
    size = None if rows is None else count("rows", rows, 1)
    return _batches(path, size, array, missing, drop_columns)


def _batches(
    path: Path, size: int | None, array: str | None, missing: str, drop_columns: Sequence[str]
) -> Iterator[SpinData]:
    with _naming(path):
        selection = select(_open(path, array), drop_columns)
        n, said = len(selection.kept), selection.notes
        size = size or max(1, _BATCH // n)
        seen: Flags = np.zeros(n, np.uint16)
        if missing == "drop-samples":
            seen, tally, encoding = _survey(selection)
            if encoding.has_missing:
                _check_missing(tally, selection, encoding, missing)
                said += notes(tally, selection, encoding, missing)
        pending: list[Spins] = []
        total = held = 0
        for codes, flags in selection.chunks():
            seen = seen | flags
            encoding = Encoding.of(seen)
            if missing == "error" and (encoding.has_missing or len(mixed(seen))):
                _, tally, encoding = _survey(selection)  # what is wrong, in all of the file
                _check_missing(tally, selection, encoding, missing)
            spins = encoding.decode(codes)
            if encoding.has_missing:
                spins = spins[spins.all(axis=1)]
            pending.append(spins)
            held += len(spins)
            total += len(spins)
            if held >= size:
                ready = np.concatenate(pending)
                whole = held - held % size
                for start in range(0, whole, size):
                    yield SpinData(ready[start : start + size], selection.names, encoding.label, said)
                pending, held = [ready[whole:].copy()], held - whole
        if held:
            yield SpinData(np.concatenate(pending), selection.names, encoding.label, said)
        check_shape((total, n))


def memory_of(path: str | os.PathLike[str], array: str | None = None) -> int:
    """Bytes that it takes to read and fit a file at once; an estimate where the number of rows is not known."""
    path = Path(path)
    with _naming(path):
        table = _open(path, array)
        return memory_needed(table.n_rows(), table.width)


def _open(path: Path, array: str | None) -> Table:
    extension, compression = split_extension(path)
    if extension not in EXTENSIONS:
        found = extension or "no extension"
        raise ValueError(
            f"expected a file ending in {', '.join(EXTENSIONS)}, perhaps compressed ({', '.join(COMPRESSIONS)}), "
            f"found {found}."
        )
    if array is not None and extension != ".npz":
        raise ValueError(f"an array can be chosen in an .npz file only; leave out the name {array!r}.")
    if compression and extension in (".npz", ".parquet"):
        raise ValueError(
            f"expected a file ending in {extension}, which is compressed already, found {compression}."
        )
    check_input(path)
    if extension in DEFAULT_DELIMITER:
        return text_table(path, compression, DEFAULT_DELIMITER[extension])
    if extension == ".parquet":
        return parquet_table(path)
    return array_table(path, compression, array)


def _survey(selection: Selection) -> tuple[Flags, Tally, Encoding]:
    """All of a file: which codes occur, and how many cells are missing, whichever way 0 is to be read."""
    flags = np.zeros(len(selection.kept), np.uint16)
    tallies = {zeros: Tally(len(flags)) for zeros in (False, True)}
    for codes, found in selection.chunks():
        flags |= found
        for zeros, tally in tallies.items():
            tally.add((codes == MISSING) | (codes == 0) if zeros else codes == MISSING)
    encoding = check_encoding(flags, selection)
    return flags, tallies[encoding.zero_is_missing], encoding


def _check_missing(tally: Tally, selection: Selection, encoding: Encoding, missing: str) -> None:
    if missing == "error":
        raise ValueError(sentence(tally, selection, encoding))
    check_left(tally, missing)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Put the file's name before an error."""
    try:
        yield
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
