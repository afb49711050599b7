"""Several files that are one table: their rows follow each other.

Each file is opened, and its columns are selected, by itself: a first column that counts rows begins anew in each.
What is left must be the same columns in the same order, and a number or a word must mean the same in all files. An
error names the file at fault and the first one, from which it differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from ..exceptions import InputError
from ._bits import Bits
from ._codes import WORD_CODES, CodeFlags, has, mixed
from ._faults import word_among_numbers
from ._open import naming, open_table
from ._paths import Paths, called, files_of
from ._selection import Selection, select
from ._statistical import SPSS, R
from ._table import Table, short, split_extension


@dataclass(frozen=True)
class Tables:
    """Files that were looked at, one or several."""

    each: tuple[Table, ...]

    @property
    def path(self) -> str:
        """What to call them in an error about all of them."""
        return called([table.path for table in self.each])

    @property
    def n_rows(self) -> int:
        """Of all files; an estimate where one of them has an estimate."""
        return sum(table.n_rows for table in self.each)

    @property
    def width(self) -> int:
        """The number of columns, also of those that are left out later."""
        return self.each[0].width


Source = Table | Tables


@contextmanager
def naming_any(source: Source) -> Iterator[None]:
    """Put the name of the file, or of all of them, before an error that does not name one of them itself."""
    if isinstance(source, Table):
        with naming(source.path):
            yield
        return
    own = {f"{table.path}: " for table in source.each}
    named: InputError | None = None
    with naming(source.path):
        try:
            yield
        except InputError as error:
            if not error.args or error.args[0] not in own:
                raise
            named = error
    if named is not None:
        raise named


def open_tables(source: Paths, array: str | None = None) -> Source:
    """Look at a file, at several or at all that match a pattern; see :func:`open_table`."""
    paths = files_of(source)
    if len(paths) == 1:
        return open_table(paths[0], array)
    return Tables(tuple(_light(open_table(path, array), array) for path in paths))


def _light(table: Table, array: str | None) -> Table:
    """The table, or one that reads its file again if it holds all the cells in memory."""
    if split_extension(table.path)[0] not in (*SPSS, *R):
        return table
    return replace(table, chunks=lambda: open_table(table.path, array).chunks())


def select_in(source: Source, drop_columns: str | Sequence[str | int] = ()) -> Selection:
    """The columns that are spins, of one file or of several that must agree."""
    if isinstance(source, Table):
        return select(source, drop_columns)
    parts = []
    for table in source.each:
        with naming(table.path):
            parts.append(select(table, drop_columns))
            check_columns(parts[0], parts[-1])
    first = parts[0]
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    return SelectionOfSeveral(first.table, first.kept, None, tuple(notes), tuple(parts))


def check_columns(first: Selection, other: Selection) -> None:
    """Raise an InputError unless both have the same columns in the same order."""
    if other is first or (other.names == first.names and len(other.kept) == len(first.kept)):
        return
    path = first.table.path
    if first.names is None or other.names is None:
        if len(first.kept) != len(other.kept):
            raise InputError(f"expected {len(first.kept)} columns, as {path} has, found {len(other.kept)}.")
        have, have_not = ("none", "has them") if other.names is None else ("some", "has none")
        raise InputError(
            f"expected names of the columns in all files or in none, found {have} here, where {path} {have_not}."
        )
    extra = [name for name in other.names if name not in first.names]
    lacking = [name for name in first.names if name not in other.names]
    if extra or lacking:
        found = [f"{short(extra[0])}, which {path} does not have"] if extra else []
        found += [f"no {short(lacking[0])}, which {path} has"] if lacking else []
        wide = f" ({len(first.kept)} there, {len(other.kept)} here)" * (len(first.kept) != len(other.kept))
        raise InputError(
            f"expected the same columns in all files, found {' and '.join(found)}{wide}. Rename it, or leave it out "
            "of all files."
        )
    if len(first.kept) != len(other.kept):  # of names that occur twice
        raise InputError(f"expected {len(first.kept)} columns, as {path} has, found {len(other.kept)}.")
    j = next(j for j, (a, b) in enumerate(zip(first.names, other.names, strict=True)) if a != b)
    raise InputError(
        f"expected the columns in the same order as in {path}, found {short(other.names[j])} as number {j + 1}, "
        f"where {path} has {short(first.names[j])}. Write the columns of all files in one order first."
    )


@dataclass(frozen=True, eq=False)
class SelectionOfSeveral(Selection):
    """The columns of several files. ``ends`` are the numbers of rows up to the end of each file that was read."""

    parts: tuple[Selection, ...] = ()
    ends: list[int] = field(default_factory=list)

    def chunks(self) -> Iterator[tuple[Bits, CodeFlags]]:
        """The columns that are kept, of one file after the other."""
        agreed = Agreed()
        self.ends[:] = [0]
        for part in self.parts:
            rows = 0
            flags = np.zeros(len(self.kept), np.uint16)
            with naming(part.table.path):
                for bits, found in part.chunks():
                    flags |= found
                    rows += len(bits.up)
                    yield bits, found
                if not rows:
                    raise InputError("expected rows of spins, found none. Leave the file out.")
                agreed.meet(part, flags)
            self.ends.append(self.ends[-1] + rows)

    @property
    def lengths(self) -> tuple[int, ...]:
        """The number of rows of each file."""
        return tuple(b - a for a, b in pairwise(self.ends))

    def place(self, row: int, column: int) -> str:
        """Where a cell is, in which file."""
        k = min(int(np.searchsorted(self.ends, row, side="right")), len(self.ends)) - 1
        table = self.parts[k].table
        return f"{table.place(row - self.ends[k], column)} of {table.path}"


class Agreed:
    """How numbers and words were meant in the files so far, and in which file that was first seen."""

    def __init__(self) -> None:
        self.lower: dict[int, Selection] = {}  # the lower value, -1 or 0, and who has it
        self.numbers: dict[int, Selection] = {}  # columns of numbers, and who has them
        self.words: dict[int, Selection] = {}

    def meet(self, part: Selection, flags: CodeFlags) -> None:
        """Raise an InputError where a file differs from those before it; else remember it, too."""
        if len(both := mixed(flags)):
            raise word_among_numbers(part.table, int(part.kept[both[0]]))
        zeros, minus = has(flags, 0), has(flags, -1)
        if zeros.any() or minus.any():
            self._meet_numbers(part, flags, -1 if minus.any() else 0)
        kinds = (
            (has(flags, -1, 0, 1), self.numbers, self.words, "a number", "words"),
            (has(flags, *WORD_CODES), self.words, self.numbers, "a word", "numbers"),
        )
        for found, own, others, what, there in kinds:
            for j in np.flatnonzero(found).tolist():
                if j in others:
                    raise InputError(
                        f"expected {there} in {_column(part, j)}, as in {others[j].table.path}, found {what}. Recode "
                        "the column in one of the files first."
                    )
                own.setdefault(j, part)

    def _meet_numbers(self, part: Selection, flags: CodeFlags, lower: int) -> None:
        before = self.lower.get(-1 - lower)
        if before is None:
            self.lower.setdefault(lower, part)
            return
        j = int(np.argmax(has(flags, lower)))
        there = "-1 and 1" if lower == 0 else "0 and 1"
        unclear = " and no -1, so that it is not clear whether 0 is a missing value" if lower == 0 else ""
        found = f"{lower} in {_column(part, j)}{unclear}"
        raise InputError(
            f"expected numbers in one encoding, {there} as in {before.table.path}, found {found}. Recode all files "
            "to 0 and 1 or to -1 and 1, and leave cells empty where values are missing."
        )


def _column(part: Selection, j: int) -> str:
    return part.table.column(int(part.kept[j]))
