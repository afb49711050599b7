"""Reading a file at once. What is in memory are bits, and a chunk of cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..packed import PackedSpins
from ..spins import any_gaps, check_shape, varies
from ..types import Flags
from ._bits import Bits
from ._codes import CodeFlags
from ._missing import KEEP, Tally, check_rule, notes_on, settle
from ._paths import Paths
from ._record import SpinData, on_constant_spins
from ._selection import Selection, check_encoding
from ._several import SelectionOfSeveral, Source, naming_any, open_tables, select_in


def read_spins(
    path: Paths,
    array: str | None = None,
    missing: str = KEEP,
    drop_columns: str | Sequence[str | int] = (),
) -> SpinData:
    """Read spins from a file: rows are samples, columns are spins; ±1, 0/1, yes/no, true/false, y/n, t/f or bool.

    ``path`` may also be a list of files, or a pattern such as ``"day*.csv"``, whose files are taken in the order of
    their names, with numbers by their size. They are one table: columns and encodings must agree, their rows follow
    each other, and each file is a run of its own for a series.

    An .npz is read as the array named ``array``, else as its array "spins", else as its only one. Files of SPSS
    (.sav) and R (.rds, .rda) need pyreadstat and pyreadr. A table of text may have a header, and any of the usual
    delimiters. ``missing`` says what to do about missing values: "keep", "error", "drop-samples" (rows) or
    "drop-spins" (columns). ``drop_columns`` are columns that are no spins, by name or by number from 1, in a list
    or in one text such as "id, age". What was recognised, missing or left out is said in ``encoding`` and
    ``notes``. Nothing is ever unpickled.
    """
    check_rule(missing)
    return read_table(open_tables(path, array), missing, drop_columns)


def read_table(table: Source, missing: str = KEEP, drop_columns: str | Sequence[str | int] = ()) -> SpinData:
    """Read what ``open_tables`` has looked at; see :func:`read_spins`."""
    return read_rows(table, missing, drop_columns)[0]


def read_rows(
    table: Source, missing: str, drop_columns: str | Sequence[str | int]
) -> tuple[SpinData, Flags | None]:
    """The same, and which rows of the file were kept; None if all were."""
    check_rule(missing)
    with naming_any(table):
        selection = select_in(table, drop_columns)
        parts, flags = _all_chunks(selection)
        check_shape((sum(len(bits.up) for bits in parts), len(selection.kept)))
        encoding = check_encoding(flags, selection)
        rows, names, notes = (
            PackedSpins.stacked([bits.up for bits in parts]),
            selection.names,
            selection.notes,
        )
        kept: Flags | None = None
        gaps: PackedSpins | None = None
        constant = None
        if encoding.has_missing:
            absent = PackedSpins.stacked([bits.absent(encoding.zero_is_missing) for bits in parts])
            del parts
            tally = Tally(rows.n).add(absent)
            settle(tally, selection, encoding, missing)
            notes += notes_on(tally, selection, encoding, missing)
            if missing == "drop-spins":
                complete = np.flatnonzero(~tally.columns)
                rows, names = rows.columns(complete), names and tuple(names[j] for j in complete)
            else:
                gone = absent.active() == rows.n if missing == KEEP else absent.words.any(axis=1)
                kept = np.logical_not(gone)
                rows, gaps = rows[kept], absent[kept]
                constant = ~varies(rows, gaps) & ~tally.never
        notes += on_constant_spins(~varies(rows) if constant is None else constant, names)
        lengths = _lengths(selection, kept)
        return SpinData(rows, names, encoding.label, notes, any_gaps(gaps), lengths), kept


def _lengths(selection: Selection, kept: Flags | None) -> tuple[int, ...] | None:
    """The number of rows that were kept of each file, if there are several."""
    if not isinstance(selection, SelectionOfSeveral):
        return None
    if kept is None:
        return selection.lengths
    left = np.add.reduceat(kept, selection.ends[:-1], dtype=np.int64).tolist()
    return tuple(length for length in left if length)


def _all_chunks(selection: Selection) -> tuple[list[Bits], CodeFlags]:
    parts, flags = [], np.zeros(len(selection.kept), np.uint16)
    for bits, found in selection.chunks():
        parts.append(bits)
        flags |= found
    return parts, flags
