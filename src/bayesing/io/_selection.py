"""Which columns are spins: row numbers and columns that were asked to be left out are not."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from ..exceptions import InputError
from ..texts import did_you_mean
from ..types import Flags, Indices
from ._bits import Bits
from ._codes import OTHER, CodeFlags, Encoding, count_from, flags_of, goes_on, has, mixed
from ._faults import no_spins, stops_counting, word_among_numbers
from ._record import Names, listing
from ._table import Chunk, Table, short


@dataclass(frozen=True, eq=False)
class Selection:
    """The columns of a table that are kept. Column 0 was left out if it counts, from ``counted`` on."""

    table: Table
    kept: Indices
    counted: int | None
    notes: tuple[str, ...]

    @property
    def names(self) -> Names:
        """Names of the columns that are kept."""
        return tuple(self.table.names[j] for j in self.kept) if self.table.names else None

    def place(self, row: int, column: int) -> str:
        """Where a cell is, in words."""
        return self.table.place(row, column)

    def chunks(self) -> Iterator[tuple[Bits, CodeFlags]]:
        """The columns that are kept, some rows at a time, and which codes occur in each."""
        row = 0
        chunks = self.table.chunks()
        for chunk in chunks:
            if self.counted is not None and not goes_on(chunk.column(0), self.counted + row):
                raise stops_counting(self.table, chunk, row, self.counted + row)
            codes = chunk.codes
            if len(self.kept) < self.table.width:
                codes = np.take(codes, self.kept, axis=1)
            flags = flags_of(codes)
            if has(flags, OTHER).any():
                at_fault = has(flags, OTHER) | self._others_in(chunks)
                raise no_spins(self.table, chunk, row, self.kept[at_fault].tolist())
            yield Bits.of(codes, flags), flags
            row += len(codes)

    def _others_in(self, chunks: Iterator[Chunk]) -> Flags:
        """Which columns hold cells that are no values, in the rest of the rows; what else is wrong comes later."""
        found = np.zeros(len(self.kept), np.bool_)
        with suppress(InputError):
            for chunk in chunks:
                found |= has(flags_of(np.take(chunk.codes, self.kept, axis=1)), OTHER)
        return found


def select(table: Table, drop_columns: str | Sequence[str | int] = ()) -> Selection:
    """Leave out the columns named, those declared an index, and a first one that counts the rows, from 0 or 1."""
    if isinstance(drop_columns, str):
        drop_columns = next(csv.reader([drop_columns], skipinitialspace=True))
    dropped = {j for name in drop_columns for j in numbers_of(table, str(name).strip())}
    notes, counted = [*table.notes], None
    for j in sorted(set(table.index) - dropped):
        notes.append(f"{table.column(j)} is an index of pandas and left out.")
        dropped.add(j)
    if 0 not in dropped and len(table.first) > 2:
        counted = count_from(table.first)
    if counted is not None:
        notes.append(f"{table.column(0)} counts the rows and is left out.")
        dropped.add(0)
    kept = np.array([j for j in range(table.width) if j not in dropped], np.intp)
    if len(kept) < 2:
        raise InputError(
            f"expected spins in columns, at least 2, found {len(kept)} feature(s) (columns). Rows are samples, "
            "columns are spins; transpose the data if they are the other way round."
        )
    return Selection(table, kept, counted, tuple(notes))


def check_encoding(flags: CodeFlags, selection: Selection) -> Encoding:
    """The encoding, or an InputError where columns contradict themselves or each other."""
    kept, table = selection.kept, selection.table
    both = mixed(flags)
    if len(both):
        raise word_among_numbers(table, int(kept[both[0]]))
    encoding = Encoding.of(flags)
    zero, minus = has(flags, 0), has(flags, -1)
    if encoding.zero_is_missing and not (zero & minus).any():
        a, b = (table.column(int(kept[np.argmax(which)])) for which in (zero, minus))
        raise InputError(
            f"expected numbers in one encoding, found 0 in {a} and -1 in {b}, and no column with both. Recode the "
            "columns to 0 and 1 if they are yes or no, or leave cells empty where 0 marks a missing value."
        )
    return encoding


def numbers_of(table: Table, name: str, purpose: str = "to leave out") -> list[int]:
    """Numbers of the columns with this name or, if there are none, of the column with this number from 1."""
    found = [j for j, other in enumerate(table.names or ()) if other == name]
    if not found and name.isdecimal() and 1 <= int(name) <= table.width:
        found = [int(name) - 1]
    if not found:
        has_names = f"found {listing([short(n) for n in table.names])}" if table.names else "found no names"
        hint = did_you_mean(name, table.names or ())
        raise InputError(
            f"expected a column named {short(name)} {purpose}, or a number from 1 to {table.width}, "
            f"{has_names}.{hint}"
        )
    return found
