"""Options on how to read DATA, and the data that they lead to."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ._options import LateOption, one_of
from ._output import echo

if TYPE_CHECKING:
    from ..io import Source
    from ..statistics import SpinStatistics
    from ._cluster import Cluster


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


Data = str | tuple[str, ...]  # DATA: a file or a pattern, or several


def read_data(
    data: Data,
    reading: Reading,
    batch: int | None,
    by: str | None,
    series: bool,
    aloud: bool = True,
    cluster: Cluster | None = None,
) -> Read:
    """DATA, in batches if asked to or if they are too large; all rows if their order matters.

    Workers read them, if there is a cluster.
    """
    if batch is not None and (by is not None or series):
        raise ValueError(
            f"--batch does not keep all rows, and {'--series' if series else '--by'} needs them in their order: "
            "leave out one of them."
        )
    if by is not None:
        return read_runs(data, by, reading, aloud, cluster)
    if cluster is not None:
        return read_there(cluster, data, reading, batch, series, aloud)
    return read(data, reading, series, aloud) if batch is None else read_batches(data, reading, batch, aloud)


def read_there(
    cluster: Cluster, data: Data, reading: Reading, batch: int | None, all_rows: bool, aloud: bool
) -> Read:
    """DATA, read by the workers of a cluster, each file a task."""
    from ..io import on_copies
    from ._progress import Progress
    from ._remote import read_on

    if not aloud:  # somebody else shows how far it is
        found = read_on(cluster, data, reading, batch, all_rows)
        return found._replace(notes=(*found.notes, *_not_kept(found.statistics, batch)))
    with Progress("reading on the cluster") as progress:
        found = read_on(cluster, data, reading, batch, all_rows, progress.advance)
    stats = found.statistics
    notes = (*found.notes, *on_copies(stats.copies, stats.names), *_not_kept(stats, batch))
    _say(notes)
    return found._replace(notes=notes)


def _not_kept(found: SpinStatistics, batch: int | None) -> tuple[str, ...]:
    """What to say if workers did not keep all rows."""
    return () if found.rows is not None else _on_choice(found, "" if batch else _many())


def _many() -> str:
    from ..io import KEPT_BYTES

    return f"the rows are more than {KEPT_BYTES >> 20} MB of bits"


def read(data: Data, reading: Reading, all_rows: bool = False, aloud: bool = True) -> Read:
    """DATA, with notes on constant spins and on copies, which go to standard error, too.

    Each file is opened once to look at, and once to read. Where there are more rows than are kept, or than fit into
    memory, sums and products are kept of all of them, and some rows, unless ``all_rows`` are asked for. A report has
    notes of its own: it reads without ``aloud``.
    """
    from ..io import fits, on_copies, open_tables, read_table
    from ..statistics import SpinStatistics

    table = open_tables(data, reading.array)
    many = "" if fits(table) else _many()
    beyond = _beyond_memory(table) or many
    if beyond and not all_rows and reading.missing != "drop-spins":
        return _in_batches(table, reading, None, beyond, aloud)
    if beyond and beyond is not many:
        _note(f"{beyond}.")
    found = read_table(table, reading.missing, reading.drop_columns)
    statistics, notes = SpinStatistics.of(found), found.notes
    if aloud:
        notes = (*notes, *on_copies(statistics.copies, statistics.names))
        _say(notes)
    return Read(statistics, found.encoding, notes)


def read_by(
    data: Data, by: str, reading: Reading, aloud: bool = True, cluster: Cluster | None = None
) -> ReadGroups:
    """DATA, whose samples belong to groups by what stands in the column ``by``."""
    if cluster is not None:
        from ._remote import read_by_on

        there = read_by_on(cluster, data, by, reading)
        if aloud:
            _say(there.notes)
        return there
    from ..io import open_tables, read_groups
    from ..statistics import SpinStatistics

    groups, notes = read_groups(open_tables(data, reading.array), by, reading.missing, reading.drop_columns)
    if aloud:
        _say(notes)
    found = {label: SpinStatistics.of(part) for label, part in groups.items()}
    return ReadGroups(found, next((part.encoding for part in groups.values()), ""), notes)


def read_runs(
    data: Data, by: str, reading: Reading, aloud: bool = True, cluster: Cluster | None = None
) -> Read:
    """DATA, whose samples belong to runs by what stands in the column ``by``, one after the other."""
    groups, encoding, notes = read_by(data, by, reading, aloud, cluster)
    if not groups:
        raise ValueError(f"{name_of(data)}: expected rows with a run in the column {by!r}: found none.")
    runs = list(groups.values())
    return Read(sum(runs[1:], runs[0]), encoding, notes)


def read_batches(data: Data, reading: Reading, rows: int, aloud: bool = True) -> Read:
    """Sums and products of DATA, from ``rows`` samples at a time, and some of the rows."""
    from ..arguments import count
    from ..io import open_tables

    count("rows", rows, 1)
    return _in_batches(open_tables(data, reading.array), reading, rows, "", aloud)


def _in_batches(table: Source, reading: Reading, rows: int | None, why: str, aloud: bool) -> Read:
    from ..io import fold_table, on_constant_spins, on_copies

    found, encoding, notes = fold_table(table, rows, reading.missing, reading.drop_columns)
    constant = on_constant_spins((abs(found.sums) == found.counts) & (found.counts > 0), found.names)
    notes = (*notes, *constant)
    if aloud:
        notes = (*notes, *on_copies(found.copies, found.names))
    notes = (*notes, *_on_choice(found, why))
    if aloud:
        _say(notes)
    return Read(found, encoding, notes)


def _on_choice(found: SpinStatistics, why: str) -> tuple[str, ...]:
    """What to say if data were read in batches."""
    some = found.sampled
    assert some is not None
    if not why and some.N == found.N:
        return ()
    how = f"{why}: they are read in batches" if why else "data were read in batches"
    which = f"{some.N} of the {found.N} rows, a random choice," if some.N < found.N else "all rows"
    return (f"{how}. Sums and products are kept, and {which} for what needs rows.",)


def name_of(data: Data, folders: bool = True) -> str:
    """DATA in a few words, for errors about all of them."""
    from ..io import called, files_of

    files = files_of(data)
    return called(files if folders else [Path(path.name) for path in files])


def _beyond_memory(table: Source) -> str:
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
