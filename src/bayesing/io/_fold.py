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

from ..drawn import Drawing
from ..spins import check_shape
from ..statistics import SpinStatistics
from ._batches import size_of
from ._missing import KEEP
from ._parts import PARTS, Part, Parts, Said, ZeroIsMissing, check_rule_of_parts, kept
from ._selection import Selection
from ._several import SelectionOfSeveral, Source, naming_any, select_in

KEPT_BYTES = 2**28  # of bits, up to which all rows are kept: two thousand million spins in 256 MB
_WORTH_FOLDING = 32  # rows for each spin, from which products of int32 take less memory than bits


class FoldedTable(NamedTuple):
    """Statistics of all rows, how they were written, and what is to be said of them."""

    statistics: SpinStatistics
    encoding: str
    notes: tuple[str, ...]


def fits(table: Source) -> bool:
    """Whether the rows of a table, of which the number may be an estimate, are few enough to be kept."""
    bits = table.n_rows * 8 * -(-table.width // 64)
    return bits <= KEPT_BYTES or table.n_rows <= _WORTH_FOLDING * table.width


def fold_table(
    table: Source,
    rows: int | None = None,
    missing: str = KEEP,
    drop_columns: str | Sequence[str | int] = (),
) -> FoldedTable:
    """Statistics of what :func:`open_tables` has looked at, from ``rows`` samples at a time.

    ``missing`` is "keep", "error" or "drop-samples".
    """
    check_rule_of_parts(missing)
    size = size_of(rows, table.width)
    with naming_any(table):
        selection = select_in(table, drop_columns)
        if missing == KEEP:
            try:
                return _fold(selection, kept(selection, at_first_sight=True), size)
            except ZeroIsMissing:
                pass
        return _fold(selection, PARTS[missing](selection), size)


def _fold(selection: Selection, parts: Parts, size: int) -> FoldedTable:
    """Add up what rows say, ``size`` of them at a time or as many as there are spins."""
    n, several = len(selection.kept), isinstance(selection, SelectionOfSeveral)
    said, drawing = Said(), Drawing()
    found: list[SpinStatistics] = []
    pending: list[Part] = []
    held, lengths = 0, [0]
    for part, said in parts:  # noqa: B007 - what was said last is said of all
        run = len(selection.ends) - 1 if isinstance(selection, SelectionOfSeveral) else 0
        lengths += [0] * (run + 1 - len(lengths))
        drawing.add(part.rows, part.absent, run, lengths[run])
        lengths[run] += len(part.rows)
        pending.append(part)
        held += len(part.rows)
        if held >= size and held > n:
            found, pending, held = [_sum(found, pending, selection)], [], 0
    check_shape((sum(lengths), n))
    whole = _sum(found, pending, selection)
    runs = tuple(length for length in lengths if length) if several else None
    if whole.rows is not None:
        return FoldedTable(replace(whole, encoding=said.encoding, lengths=runs), *said)
    return FoldedTable(replace(whole, encoding=said.encoding, drawn=drawing.sample), *said)


def _sum(found: list[SpinStatistics], pending: list[Part], selection: Selection) -> SpinStatistics:
    """What was found so far, if anything, and what rows beyond it say."""
    parts = [*found]
    if pending:
        rows, absent = Part.stacked(pending)
        stats = SpinStatistics(len(rows), rows.n, rows, None, selection.names, absent=absent)
        parts.append(stats.without_rows())
    return sum(parts[1:], parts[0])
