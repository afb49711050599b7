"""Reading a file of any size, a batch of samples at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..arguments import count
from ..spins import check_shape
from ._missing import KEEP
from ._parts import PARTS, Part, Said, check_rule_of_parts
from ._paths import Paths
from ._record import SpinData
from ._several import Source, naming_any, open_tables, select_in

_BATCH_CELLS = 2**24  # spins of a batch by default: 2 MB of bits, 16 MB once they are unpacked


def read_batches(
    path: Paths,
    rows: int | None = None,
    array: str | None = None,
    missing: str = KEEP,
    drop_columns: str | Sequence[str | int] = (),
) -> Iterator[SpinData]:
    """Read a file of any size, or several, ``rows`` samples at a time (by default, about 16 million spins).

    The batches together are what :func:`read_spins` gives, in one and the same encoding. ``encoding`` and ``notes``
    of a batch are those of all batches so far. ``missing`` is "keep", "error" or "drop-samples". For "drop-samples"
    the file is read twice, and for "keep" if it begins with 0 and without -1: only at its end is it known whether 0
    stands for a missing value.
    """
    check_rule_of_parts(missing)
    _size(rows, 1)
    return batches_of(open_tables(path, array), rows, missing, drop_columns)


def batches_of(
    table: Source,
    rows: int | None = None,
    missing: str = KEEP,
    drop_columns: str | Sequence[str | int] = (),
) -> Iterator[SpinData]:
    """Read what ``open_tables`` has looked at; see :func:`read_batches`."""
    check_rule_of_parts(missing)
    return _batches(table, _size(rows, table.width), missing, drop_columns)


def _size(rows: int | None, width: int) -> int:
    return max(1, _BATCH_CELLS // max(1, width)) if rows is None else count("rows", rows, 1)


def _batches(
    table: Source, size: int, missing: str, drop_columns: str | Sequence[str | int]
) -> Iterator[SpinData]:
    with naming_any(table):
        selection = select_in(table, drop_columns)
        names, said = selection.names, Said()
        pending: list[Part] = []
        total = held = 0
        for part, said in PARTS[missing](selection):
            pending.append(part)
            held += len(part.rows)
            total += len(part.rows)
            if held > size:  # the last batch waits for the end, because its notes are those of all
                ready = Part.stacked(pending)
                start = 0
                for start in range(0, held - size, size):
                    yield ready.batch(slice(start, start + size), names, said)
                pending, held = [ready.copy(start + size)], held - start - size
        if held:
            yield Part.stacked(pending).batch(slice(None), names, said)
        check_shape((total, len(selection.kept)))
