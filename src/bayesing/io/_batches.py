"""Reading a file of any size, a batch of samples at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..arguments import count
from ..packed import PackedSpins
from ..spins import any_gaps, check_shape, stacked_gaps
from ._codes import CodeFlags, Encoding, has, mixed
from ._missing import KEEP, Tally, check_rule, notes_on, settle
from ._open import naming, open_table
from ._record import Names, SpinData
from ._selection import Selection, check_encoding, select
from ._table import Table

_BATCH_CELLS = 2**24  # spins of a batch by default: 2 MB of bits, 16 MB once they are unpacked


def read_batches(
    path: str | os.PathLike[str],
    rows: int | None = None,
    array: str | None = None,
    missing: str = KEEP,
    drop_columns: str | Sequence[str | int] = (),
) -> Iterator[SpinData]:
    """Read a file of any size, ``rows`` samples at a time (by default, about 16 million spins).

    The batches together are what :func:`read_spins` gives, in one and the same encoding. ``encoding`` and ``notes``
    of a batch are those of all batches so far. ``missing`` is "keep", "error" or "drop-samples". For "drop-samples"
    the file is read twice, and for "keep" if it begins with 0 and without -1: only at its end is it known whether 0
    stands for a missing value.
    """
    check_rule(missing, tuple(_PARTS))
    _size(rows, 1)
    return batches_of(open_table(path, array), rows, missing, drop_columns)


def batches_of(
    table: Table,
    rows: int | None = None,
    missing: str = KEEP,
    drop_columns: str | Sequence[str | int] = (),
) -> Iterator[SpinData]:
    """Read a file that :func:`open_table` has looked at; see :func:`read_batches`."""
    check_rule(missing, tuple(_PARTS))
    return _batches(table, _size(rows, table.width), missing, drop_columns)


def _size(rows: int | None, width: int) -> int:
    return max(1, _BATCH_CELLS // max(1, width)) if rows is None else count("rows", rows, 1)


def _batches(
    table: Table, size: int, missing: str, drop_columns: str | Sequence[str | int]
) -> Iterator[SpinData]:
    with naming(table.path):
        selection = select(table, drop_columns)
        names, said = selection.names, _Said()
        pending: list[_Part] = []
        total = held = 0
        for part, said in _PARTS[missing](selection):
            pending.append(part)
            held += len(part.rows)
            total += len(part.rows)
            if held > size:  # the last batch waits for the end, because its notes are those of all
                ready = _Part.stacked(pending)
                start = 0
                for start in range(0, held - size, size):
                    yield ready.batch(slice(start, start + size), names, said)
                pending, held = [ready.copy(start + size)], held - start - size
        if held:
            yield _Part.stacked(pending).batch(slice(None), names, said)
        check_shape((total, len(selection.kept)))


class _Said(NamedTuple):
    """How rows were read so far, and what is to be said of them."""

    encoding: str = ""
    notes: tuple[str, ...] = ()


Parts = Iterator[tuple["_Part", _Said]]


def _kept(selection: Selection) -> Parts:
    """All rows that have a value. What 0 means must be known before one of them is handed out."""
    seen: CodeFlags = np.zeros(len(selection.kept), np.uint16)
    tally, surveyed, said = Tally(len(seen)), False, _Said(notes=selection.notes)
    for bits, flags in selection.chunks():
        seen = seen | flags
        if not surveyed and (len(mixed(seen)) or _may_be_missing(seen)):
            (seen, _, _), surveyed = _survey(selection), True
        encoding = Encoding.of(seen)
        part = _Part(bits.up)
        if encoding.has_missing:
            absent = bits.absent(encoding.zero_is_missing)
            some = absent.active() < absent.n
            part = _Part(bits.up[some], absent[some])
            said = _Said(notes=selection.notes + notes_on(tally.add(absent), selection, encoding, KEEP))
        else:
            tally.add_complete(len(bits.up))
        yield part, said._replace(encoding=encoding.label)
    if tally.N:
        settle(tally, selection, check_encoding(seen, selection), KEEP)


def _complete_or_error(selection: Selection) -> Parts:
    """All rows, unless a cell is missing."""
    seen: CodeFlags = np.zeros(len(selection.kept), np.uint16)
    for bits, flags in selection.chunks():
        seen = seen | flags
        encoding = Encoding.of(seen)
        if encoding.has_missing or len(mixed(seen)):
            _, tally, encoding = _survey(selection)  # what is wrong, in all of the file
            settle(tally, selection, encoding, "error")
        yield _Part(bits.up), _Said(encoding.label, selection.notes)


def _complete(selection: Selection) -> Parts:
    """The rows without missing cells."""
    _, tally, encoding = _survey(selection)
    said = _Said(encoding.label, selection.notes)
    if encoding.has_missing:
        settle(tally, selection, encoding, "drop-samples")
        said = said._replace(notes=said.notes + notes_on(tally, selection, encoding, "drop-samples"))
    for bits, _ in selection.chunks():
        absent = bits.absent(encoding.zero_is_missing)
        yield _Part(bits.up[~absent.words.any(axis=1)] if encoding.has_missing else bits.up), said


_PARTS = {KEEP: _kept, "error": _complete_or_error, "drop-samples": _complete}


class _Part(NamedTuple):
    """Some rows, and which cells of them are missing."""

    rows: PackedSpins
    absent: PackedSpins | None = None

    @classmethod
    def stacked(cls, parts: list[_Part]) -> _Part:
        rows = [part.rows for part in parts]
        return cls(PackedSpins.stacked(rows), stacked_gaps(rows, [part.absent for part in parts]))

    def batch(self, which: slice, names: Names, said: _Said) -> SpinData:
        gaps = None if self.absent is None else any_gaps(self.absent[which])
        return SpinData(self.rows[which], names, said.encoding, said.notes, gaps)

    def copy(self, start: int) -> _Part:
        """From there on, so that what comes before can be forgotten."""
        absent = None if self.absent is None else PackedSpins(self.absent.words[start:].copy(), self.absent.n)
        return _Part(PackedSpins(self.rows.words[start:].copy(), self.rows.n), absent)


def _may_be_missing(seen: CodeFlags) -> bool:
    """Whether 0 has been seen, and no -1 that says what it means."""
    return bool(has(seen, 0).any()) and not has(seen, -1).any()


def _survey(selection: Selection) -> tuple[CodeFlags, Tally, Encoding]:
    """All of a file: which codes occur, and how many cells are missing, whichever way 0 is to be read."""
    flags = np.zeros(len(selection.kept), np.uint16)
    tallies = {zero_is_missing: Tally(len(flags)) for zero_is_missing in (False, True)}
    for bits, found in selection.chunks():
        flags |= found
        for zero_is_missing, tally in tallies.items():
            tally.add(bits.absent(zero_is_missing))
    encoding = check_encoding(flags, selection)
    return flags, tallies[encoding.zero_is_missing], encoding
