r"""Files of any size in one pass: the sums of the spins, :math:`X^T X`, and a bounded random sample of the rows.

Rows are kept, all of them, where their bits are few enough (:func:`fits`). Else each piece of a file becomes sums and
products as soon as it was read, so that memory does not grow with the number of rows.

Whether 0 means "down" or "missing" is known only at the end of a table. Where 0 was seen and no -1, it is taken for
"down", as it nearly always is. A -1 that comes later tells otherwise, and the pass begins anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ..arguments import count
from ..drawn import Drawing
from ..lazy import KEPT_BYTES as KEPT_BYTES  # for those who speak of it
from ..lazy import most_rows
from ..packed import bytes_of_row
from ..spins import any_gaps, check_shape
from ..statistics import SpinStatistics
from ._missing import KEEP
from ._parts import PARTS, Part, Parts, Said, ZeroIsMissing, check_rule_of_parts, kept
from ._selection import Selection
from ._several import SelectionOfSeveral, Source, naming_any, select_in

_FOLDED_BYTES = 2**24  # of bits, of which products are made at a time: enough for counting bits to pay


class FoldedTable(NamedTuple):
    """Statistics of all rows, how they were written, and what is to be said of them."""

    statistics: SpinStatistics
    encoding: str
    notes: tuple[str, ...]


def fits(table: Source) -> bool:
    """Whether the rows of a table, of which the number may be an estimate, are few enough to be kept."""
    return table.n_rows <= most_rows(table.width)


def size_of(rows: int | None, width: int) -> int:
    """How many rows to fold at a time: as many as asked for, if any."""
    return max(1, _FOLDED_BYTES // bytes_of_row(width)) if rows is None else count("rows", rows, 1)


def fold_table(
    table: Source,
    rows: int | None = None,
    missing: str = KEEP,
    drop_columns: str | Sequence[str | int] = (),
    first: int | None = None,
) -> FoldedTable:
    """Statistics of what ``open_tables`` has looked at, from ``rows`` samples at a time.

    ``missing`` is "keep", "error" or "drop-samples". ``first`` is the number of the first of these files among all
    files, if these are not all: their statistics add up to those of all files, and to the same rows drawn.
    """
    check_rule_of_parts(missing)
    size = size_of(rows, table.width)
    with naming_any(table):
        selection = select_in(table, drop_columns)
        if missing == KEEP:
            try:
                return _fold(selection, kept(selection, at_first_sight=True), size, first)
            except ZeroIsMissing:
                pass
        return _fold(selection, PARTS[missing](selection), size, first)


def _fold(selection: Selection, parts: Parts, size: int, first: int | None) -> FoldedTable:
    """Add up what rows say, ``size`` of them at a time or as many as there are spins."""
    n, several = len(selection.kept), isinstance(selection, SelectionOfSeveral)
    said, drawing = Said(), Drawing()
    found: list[SpinStatistics] = []
    pending: list[Part] = []
    held, lengths = 0, [0]
    for part, said in parts:  # noqa: B007 - what was said last is said of all
        run = len(selection.ends) - 1 if isinstance(selection, SelectionOfSeveral) else 0
        lengths += [0] * (run + 1 - len(lengths))
        drawing.add(part.rows, part.absent, (first or 0) + run, lengths[run])
        lengths[run] += len(part.rows)
        pending.append(part)
        held += len(part.rows)
        if held >= size and held > n:
            found, pending, held = [_sum(found, pending, selection)], [], 0
    check_shape((sum(lengths), n), 2 if first is None else 1)
    whole = _sum(found, pending, selection)
    runs = tuple(length for length in lengths if length) if several and whole.rows is not None else None
    statistics = replace(whole, encoding=said.encoding, lengths=runs, drawn=drawing.sample)
    return FoldedTable(statistics, *said)


def _sum(found: list[SpinStatistics], pending: list[Part], selection: Selection) -> SpinStatistics:
    """What was found so far, if anything, and what rows beyond it say."""
    parts = [*found]
    if pending:
        rows, absent = Part.stacked(pending)
        stats = SpinStatistics(len(rows), rows.n, rows, None, selection.names, absent=any_gaps(absent))
        parts.append(stats.without_rows())
    return sum(parts[1:], parts[0])
