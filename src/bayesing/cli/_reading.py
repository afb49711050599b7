"""Options on how to read DATA, and the data that they lead to."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ._options import LateOption, one_of
from ._output import echo

if TYPE_CHECKING:
    from ..io import SpinData, Table
    from ..statistics import SpinStatistics


@dataclass(frozen=True)
class Reading:
    """How to read DATA: arguments of :func:`bayesing.read_spins`."""

    array: str | None = None
    missing: str = "keep"
    drop_columns: tuple[str, ...] = ()

    def arguments(self) -> dict[str, Any]:
        """By name, as the functions that read take them."""
        return {"array": self.array, "missing": self.missing, "drop_columns": self.drop_columns}


class Read(NamedTuple):
    """The data of a file, how they were written, and what is to be said of them."""

    statistics: SpinStatistics
    encoding: str
    notes: tuple[str, ...]


class ReadGroups(NamedTuple):
    """The data of a file by group, how they were written, and what is to be said of them."""

    groups: dict[str, SpinStatistics]
    encoding: str
    notes: tuple[str, ...]


def _rules() -> tuple[str, ...]:
    from ..io import RULES

    return tuple(RULES)


_OPTIONS = (
    click.option(
        "--drop-columns",
        metavar="NAME,...",
        multiple=True,
        help="Columns that are no spins, by name or by number from 1.",
    ),
    click.option(
        "--missing",
        default="keep",
        show_default=True,
        cls=LateOption,
        late_help=one_of("What to do about missing values", _rules),
    ),
    click.option("--array", metavar="NAME", help="Which array of an .npz file to read."),
)


def reading_options(command: Callable[..., None]) -> Callable[..., None]:
    """Options on how to read DATA; the command hears of them as one argument ``reading``."""

    @wraps(command)
    def gathered(
        *arguments: Any, array: str | None, missing: str, drop_columns: tuple[str, ...], **others: Any
    ) -> None:
        reading = Reading(array, missing, names_in(drop_columns))
        command(*arguments, reading=reading, **others)

    for option in _OPTIONS:
        gathered = option(gathered)
    return gathered


def names_in(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Names between commas; a name with a comma in it is quoted.

    >>> names_in(('age, "height, cm"', "3"))
    ('age', 'height, cm', '3')
    """
    return tuple(name.strip() for row in csv.reader(texts, skipinitialspace=True) for name in row)


def read(data: str, reading: Reading, batches: bool = False, aloud: bool = True) -> Read:
    """The file ``data``, with notes on constant spins and on copies, which go to standard error, too.

    It is opened once to look at, and once to read. Where it does not fit into memory, and ``batches`` will do, only
    sums and products are kept. A report has notes of its own: it reads without ``aloud``.
    """
    from ..io import on_copies, open_table, read_table
    from ..statistics import SpinStatistics

    table = open_table(data, reading.array)
    beyond = _beyond_memory(table)
    if beyond and batches and reading.missing != "drop-spins":
        reason = f"{beyond}, so that they are read in batches and only sums and products are kept."
        return _in_batches(table, reading, None, (reason,))
    if beyond:
        _note(f"{beyond}.")
    found = read_table(table, reading.missing, reading.drop_columns)
    statistics, notes = SpinStatistics.of(found), found.notes
    if aloud:
        notes = (*notes, *on_copies(statistics.copies, statistics.names))
        _say(notes)
    return Read(statistics, found.encoding, notes)


def read_by(data: str, by: str, reading: Reading, aloud: bool = True) -> ReadGroups:
    """The file ``data``, whose samples belong to groups by what stands in the column ``by``."""
    from ..io import open_table, read_groups
    from ..statistics import SpinStatistics

    groups, notes = read_groups(open_table(data, reading.array), by, reading.missing, reading.drop_columns)
    if aloud:
        _say(notes)
    found = {label: SpinStatistics.of(part) for label, part in groups.items()}
    return ReadGroups(found, next((part.encoding for part in groups.values()), ""), notes)


def read_runs(data: str, by: str, reading: Reading, aloud: bool = True) -> Read:
    """The file ``data``, whose samples belong to runs by what stands in the column ``by``, one after the other."""
    groups, encoding, notes = read_by(data, by, reading, aloud)
    if not groups:
        raise ValueError(f"{data}: expected rows with a run in the column {by!r}: found none.")
    runs = list(groups.values())
    return Read(sum(runs[1:], runs[0]), encoding, notes)


def read_batches(data: str, reading: Reading, rows: int) -> Read:
    """Sums and products of the file ``data``, from ``rows`` samples at a time."""
    from ..io import open_table

    return _in_batches(open_table(data, reading.array), reading, rows, ())


def _in_batches(table: Table, reading: Reading, rows: int | None, why: tuple[str, ...]) -> Read:
    from ..io import batches_of, on_constant_spins, on_copies
    from ..statistics import SpinStatistics

    last: list[SpinData] = []  # it knows how all were read

    def batches() -> Iterator[SpinData]:
        for batch in batches_of(table, rows, reading.missing, reading.drop_columns):
            last[:] = [batch]
            yield batch

    found = SpinStatistics.of_batches(batches())
    constant = on_constant_spins((abs(found.sums) == found.counts) & (found.counts > 0), found.names)
    notes = (*last[0].notes, *constant, *on_copies(found.copies, found.names), *why)
    _say(notes)
    return Read(found, last[0].encoding, notes)


def _beyond_memory(table: Table) -> str:
    """The beginning of a sentence, if the data do not fit into memory."""
    from ..io import memory_available, memory_of

    needed, available = memory_of(table), memory_available()
    if available is None or needed <= available:
        return ""
    return f"the data need about {needed / 1e9:.2g} GB of memory, of which {available / 1e9:.2g} GB are available"


def _say(notes: tuple[str, ...]) -> None:
    for note in notes:
        _note(note)


def _note(sentence: str) -> None:
    echo(f"note: {sentence}", err=True)
