"""Which columns are spins: row numbers and columns that were asked to be left out are not.

What else cannot be read is said in one sentence, with the way out.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._codes import (
    MISSING,
    OTHER,
    Codes,
    Encoding,
    Flags,
    count_from,
    flags_of,
    goes_on,
    has,
    mixed,
    number_in,
)
from ._record import listing
from ._table import Chunk, Table, short

EXPECTED = "expected ±1, 0/1 or yes/no"

_FEW = 5  # columns that may be labels, and not answers to be recoded


@dataclass(frozen=True, eq=False)
class Selection:
    """The columns of a table that are kept. Column 0 was left out if it counts, from ``counted`` on."""

    table: Table
    kept: NDArray[np.intp]
    counted: int | None
    notes: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns that are kept."""
        return tuple(self.table.names[j] for j in self.kept) if self.table.names else None

    def chunks(self) -> Iterator[tuple[Codes, Flags]]:
        """Codes of the columns that are kept, and which of them occur; none is :data:`OTHER`."""
        row = 0
        for chunk in self.table.chunks():
            if self.counted is not None:
                _check_counting(self.table, chunk, row, self.counted + row)
            codes = chunk.codes
            if len(self.kept) < self.table.width:
                codes = np.take(codes, self.kept, axis=1)
            flags = flags_of(codes)
            if has(flags, OTHER).any():
                raise _fault(self.table, chunk, row, self.kept[has(flags, OTHER)].tolist())
            yield codes, flags
            row += len(codes)


def select(table: Table, drop_columns: Sequence[str] = ()) -> Selection:
    """Leave out the columns named, those declared an index, and a first one that counts the rows, from 0 or 1."""
    dropped = {j for name in drop_columns for j in _numbers_of(table, name)}
    notes, counted = [], None
    for j in sorted(set(table.index) - dropped):
        notes.append(f"{table.column(j)} is an index of pandas and left out.")
        dropped.add(j)
    if 0 not in dropped:
        cells = _first_cells(table)
        counted = count_from(cells) if len(cells) > 2 else None
    if counted is not None:
        notes.append(f"{table.column(0)} counts the rows and is left out.")
        dropped.add(0)
    kept = np.array([j for j in range(table.width) if j not in dropped], np.intp)
    if len(kept) < 2:
        raise ValueError(
            f"expected spins in columns, at least 2, found {len(kept)} feature(s) (columns). Rows are samples, "
            "columns are spins; transpose the data if they are the other way round."
        )
    return Selection(table, kept, counted, tuple(notes))


def _first_cells(table: Table) -> list[Any]:
    """Column 0 in the first rows, three at least if there are so many."""
    cells: list[Any] = []
    with closing(table.chunks()) as chunks:  # type: ignore[type-var]
        for chunk in chunks:
            cells += chunk.column(0)
            if len(cells) > 2:
                break
    return cells


def _numbers_of(table: Table, name: str) -> list[int]:
    found = [j for j, other in enumerate(table.names or ()) if other == name]
    if not found and name.isdecimal() and 1 <= int(name) <= table.width:
        found = [int(name) - 1]
    if not found:
        has_names = f"found {listing([short(n) for n in table.names])}" if table.names else "found no names"
        raise ValueError(
            f"expected a column named {short(name)} to leave out, or a number from 1 to {table.width}, {has_names}."
        )
    return found


def _check_counting(table: Table, chunk: Chunk, row: int, start: int) -> None:
    cells = chunk.column(0)
    if not goes_on(cells, start):
        k = next(k for k, cell in enumerate(cells) if not goes_on([cell], start + k))
        raise ValueError(
            f"expected {table.column(0)} to go on counting the rows, as it begins, found {_shown(cells[k])} at "
            f"{table.place(row + k, 0)}. If it is not a spin, leave it out with {_remedy(table, [0])}."
        )


def _fault(table: Table, chunk: Chunk, row: int, columns: list[int]) -> ValueError:
    """What is wrong with the first of these columns, and what to do."""
    j = columns[0]
    first = int(np.argmax(chunk.codes[:, j] == OTHER))
    cells = [cell for cell, code in zip(chunk.column(j), chunk.codes[:, j], strict=True) if code != MISSING]
    cell = chunk.column(j)[first]
    values = list(dict.fromkeys(_shown(cell) for cell in cells))
    place = table.place(row + first, j)
    is_number = number_in(str(cell)) is not None
    found = f"found {_shown(cell)} at {place}" if is_number else f"found the text {_shown(cell)} in {place}"
    if {number_in(str(cell)) for cell in cells} == {1, 2}:
        advice = "The column holds 1 and 2: recode it to 0 and 1 first, for instance by subtracting 1."
    elif _is_label(chunk, j):
        few = [k for k in columns if _is_label(chunk, k)] if len(columns) <= _FEW else []
        advice = f"The column holds {listing(values)}: recode it to two values first"
        advice += f", or leave it out with {_remedy(table, few)}." if few else "."
    elif len(values) == 2 and (chunk.codes[:, j] != OTHER).sum() == len(chunk.codes) - len(cells):
        advice = f"The column holds {values[0]} and {values[1]}: recode it to 1 and 0 first, 1 for the one to be +1."
    else:
        advice = "Recode it, or leave the cell empty and choose --missing if it marks a missing value."
    return ValueError(f"{EXPECTED}, {found}. {advice}")


def check_encoding(flags: Flags, selection: Selection) -> Encoding:
    """The encoding, or a ValueError where columns contradict themselves or each other."""
    kept, table = selection.kept, selection.table
    both = mixed(flags)
    if len(both):
        raise _both_kinds(selection, int(both[0]))
    encoding = Encoding.of(flags)
    zero, minus = has(flags, 0), has(flags, -1)
    if encoding.zero_is_missing and not (zero & minus).any():
        a, b = (table.column(int(kept[np.argmax(which)])) for which in (zero, minus))
        raise ValueError(
            f"expected numbers in one encoding, found 0 in {a} and -1 in {b}, and no column with both. Recode the "
            "columns to 0 and 1 if they are yes or no, or leave cells empty where 0 marks a missing value."
        )
    return encoding


def _both_kinds(selection: Selection, k: int) -> ValueError:
    """The first word in a column that also holds numbers."""
    row, j = 0, int(selection.kept[k])
    for chunk in selection.table.chunks():
        words = np.flatnonzero((chunk.codes[:, j] > 1) & (chunk.codes[:, j] < MISSING))
        if len(words):
            cell = chunk.column(j)[int(words[0])]
            place = selection.table.place(row + int(words[0]), j)
            return ValueError(
                f"expected either numbers or words in a column, found the text {cell!r} in {place}, and numbers in "
                "other rows. Recode the column first."
            )
        row += len(chunk.codes)
    raise AssertionError("the column was said to hold both")


def _is_label(chunk: Chunk, j: int) -> bool:
    """Whether a column holds more than two different cells that are no values."""
    cells = chunk.column(j)
    others = {_shown(cell) for cell, code in zip(cells, chunk.codes[:, j], strict=True) if code == OTHER}
    return len(others) > 2


def _remedy(table: Table, columns: list[int]) -> str:
    names = [table.names[j] if table.names and table.names[j] else str(j + 1) for j in columns]
    return "--drop-columns " + shlex.quote(",".join(f'"{name}"' if "," in name else name for name in names))


def _shown(cell: Any) -> str:
    """A cell as it would be written: numbers plain, text in quotes."""
    if isinstance(cell, str):
        return cell.strip().strip('"') if number_in(cell) is not None else short(cell.strip())
    if isinstance(cell, bytes):
        return short(cell.decode("utf-8", "replace"))
    return f"{cell:g}" if isinstance(cell, float) else short(cell)[1:-1]
