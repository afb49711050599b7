"""Reading a file of any size, a batch of samples at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import numpy as np

from ..arguments import count
from ..packed import PackedSpins
from ..spins import check_shape
from ._codes import CodeFlags, Encoding, mixed
from ._missing import Tally, check_rule, notes_on, settle
from ._open import naming, open_table
from ._record import SpinData
from ._selection import Selection, check_encoding, select
from ._table import Table

_RULES = ("error", "drop-samples")
_BATCH_CELLS = 2**24  # spins of a batch by default: 2 MB of bits, 16 MB once they are unpacked


def read_batches(
    path: str | os.PathLike[str],
    rows: int | None = None,
    array: str | None = None,
    missing: str = "error",
    drop_columns: str | Sequence[str | int] = (),
) -> Iterator[SpinData]:
    """Read a file of any size, ``rows`` samples at a time (by default, about 16 million spins).

    The batches together are what :func:`read_spins` gives, in one and the same encoding. ``encoding`` and ``notes``
    of a batch are those of all batches so far. ``missing`` is "error" or "drop-samples", for which the file is read
    twice: only at its end is it known whether 0 stands for a missing value.
    """
    check_rule(missing, _RULES)
    _size(rows, 1)
    return batches_of(open_table(path, array), rows, missing, drop_columns)


def batches_of(
    table: Table,
    rows: int | None = None,
    missing: str = "error",
    drop_columns: str | Sequence[str | int] = (),
) -> Iterator[SpinData]:
    """Read a file that :func:`open_table` has looked at; see :func:`read_batches`."""
    check_rule(missing, _RULES)
    return _batches(table, _size(rows, table.width), missing, drop_columns)


def _size(rows: int | None, width: int) -> int:
    return max(1, _BATCH_CELLS // max(1, width)) if rows is None else count("rows", rows, 1)


def _batches(
    table: Table, size: int, missing: str, drop_columns: str | Sequence[str | int]
) -> Iterator[SpinData]:
    with naming(table.path):
        selection = select(table, drop_columns)
        notes = selection.notes
        seen: CodeFlags = np.zeros(len(selection.kept), np.uint16)
        if missing == "drop-samples":
            seen, tally, encoding = _survey(selection)
            if encoding.has_missing:
                settle(tally, selection, encoding, missing)
                notes += notes_on(tally, selection, encoding, missing)
        pending: list[PackedSpins] = []
        total = held = 0
        for bits, flags in selection.chunks():
            seen = seen | flags
            encoding = Encoding.of(seen)
            if missing == "error" and (encoding.has_missing or len(mixed(seen))):
                _, tally, encoding = _survey(selection)  # what is wrong, in all of the file
                settle(tally, selection, encoding, missing)
            spins = bits.up
            if encoding.has_missing:
                spins = spins[~bits.absent(encoding.zero_is_missing).words.any(axis=1)]
            pending.append(spins)
            held += len(spins)
            total += len(spins)
            if held >= size:
                ready = PackedSpins.stacked(pending)
                whole = held - held % size
                for start in range(0, whole, size):
                    yield SpinData(ready[start : start + size], selection.names, encoding.label, notes)
                pending, held = [PackedSpins(ready.words[whole:].copy(), ready.n)], held - whole
        if held:
            yield SpinData(PackedSpins.stacked(pending), selection.names, encoding.label, notes)
        check_shape((total, len(selection.kept)))


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
