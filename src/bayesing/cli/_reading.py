"""Options on how to read DATA, and the data that they lead to."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ._options import LateOption, one_of

if TYPE_CHECKING:
    from ..io import SpinData
    from ..moments import SpinMoments

ONE_BYTE = (".csv", ".tsv", ".txt", ".dat", ".npy")  # formats of at least one byte a cell
MOST_MEMORY = 39  # bytes that one cell takes at most: 3 copies, a float32, and 4 float64 of a square matrix


@dataclass(frozen=True)
class Reading:
    """How to read DATA: arguments of :func:`bayesing.read_spins`."""

    array: str | None = None
    missing: str = "error"
    drop_columns: tuple[str, ...] = ()

    def arguments(self) -> dict[str, Any]:
        """By name, as the functions that read take them."""
        return {"array": self.array, "missing": self.missing, "drop_columns": self.drop_columns}


class MomentsRead(NamedTuple):
    """Moments of a file that was never in memory at once; the last batch knows how all were read."""

    moments: SpinMoments
    last: SpinData


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
        default="error",
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


def read(data: str, reading: Reading, beyond: str | None = None, aloud: bool = True) -> SpinData:
    """Spins from the file ``data``, with notes on constant spins and on copies.

    Notes go to standard error, too. A report has notes of its own: it reads without ``aloud``. ``beyond`` is what
    :func:`beyond_memory` says, where it has been asked already.
    """
    from ..io import on_copies, read_spins

    if beyond is None:
        beyond = beyond_memory(data, reading)
    if beyond:
        _note(f"{beyond}.")
    found = read_spins(data, **reading.arguments())
    if not aloud:
        return found
    return _said(replace(found, notes=(*found.notes, *on_copies(found.spins, found.names))))


def read_moments(data: str, reading: Reading, rows: int | None, beyond: str = "") -> MomentsRead:
    """Moments of the file ``data``, from ``rows`` samples at a time; ``beyond`` says why, unless it was asked for."""
    from ..io import on_constant_spins, read_batches
    from ..moments import MomentAccumulator

    accumulator = None
    for batch in read_batches(data, rows, **reading.arguments()):
        accumulator = accumulator or MomentAccumulator(batch.spins.shape[1])
        accumulator.update(batch.spins)
    assert accumulator is not None  # a file without rows is an error
    moments = accumulator.moments()
    notes = (*batch.notes, *on_constant_spins(abs(moments.magnetisations) == 1, batch.names))
    if beyond:
        notes += (f"{beyond}, so that they are read in batches and only their moments are kept.",)
    return MomentsRead(moments, _said(replace(batch, notes=notes)))


def beyond_memory(data: str, reading: Reading) -> str:
    """The beginning of a sentence, if the data do not fit into memory; files that are small are not opened."""
    from .. import io

    available = io.memory_available()
    path = Path(data)
    if available is None or (
        path.suffix.lower() in ONE_BYTE and path.is_file() and MOST_MEMORY * path.stat().st_size <= available
    ):
        return ""
    needed = io.memory_of(data, reading.array)
    if needed <= available:
        return ""
    return f"the data need about {needed / 1e9:.2g} GB of memory, of which {available / 1e9:.2g} GB are available"


def _said(found: SpinData) -> SpinData:
    for note in found.notes:
        _note(note)
    return found


def _note(sentence: str) -> None:
    click.echo(f"note: {sentence}", err=True)
