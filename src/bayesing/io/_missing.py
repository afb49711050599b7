"""Missing values: counted, said, and left out by rows or by columns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..exceptions import InputError, MissingCellsError, Setting
from ..packed import PackedSpins
from ..types import Flags
from ._codes import Encoding
from ._record import listing
from ._selection import Selection

RULES = ("error", "drop-samples", "drop-spins")

_DROP_SAMPLES = Setting("missing", "drop-samples")
_DROP_SPINS = Setting("missing", "drop-spins")


def check_rule(missing: str, rules: tuple[str, ...] = RULES) -> None:
    """Raise an InputError unless ``missing`` is one of the rules."""
    if missing not in rules:
        raise InputError(f"missing must be one of {', '.join(rules)}: found {missing!r}.")


@dataclass
class Tally:
    """How many cells are missing of so many samples and spins, and where the first is."""

    n: int
    N: int = 0
    cells: int = 0
    samples: int = 0
    first: tuple[int, int] | None = None
    columns: Flags = field(init=False)

    def __post_init__(self) -> None:
        self.columns = np.zeros(self.n, np.bool_)

    def add(self, absent: PackedSpins) -> Tally:
        """Count more rows, whose bits are 1 where a cell is missing."""
        rows = absent.words.any(axis=1)
        if self.first is None and rows.any():
            row = int(np.argmax(rows))
            self.first = (self.N + row, int(np.argmax(absent[row : row + 1].unpack()[0])))
        self.N += len(absent)
        self.cells += int(np.bitwise_count(absent.words).sum(dtype=np.int64))
        self.samples += int(np.count_nonzero(rows))
        columns = PackedSpins(np.bitwise_or.reduce(absent.words, axis=0)[None], self.n)
        self.columns |= columns.unpack()[0] > 0
        return self

    @property
    def spins(self) -> int:
        """How many spins miss cells."""
        return int(np.count_nonzero(self.columns))


def settle(tally: Tally, selection: Selection, encoding: Encoding, missing: str) -> None:
    """Raise an InputError if missing cells are an error, or if leaving them out leaves too little."""
    if missing == "error":
        raise _error(tally, selection, encoding)
    samples, spins = tally.N - tally.samples, tally.n - tally.spins
    if (samples if missing == "drop-samples" else spins) < 2:
        raise InputError(
            "expected at least 2 samples and 2 spins, found that ",
            _DROP_SAMPLES,
            f" leaves {samples} of {tally.N} samples and ",
            _DROP_SPINS,
            f" {spins} of {tally.n} spins. Fill in or leave out what is missing most.",
        )


def _error(tally: Tally, selection: Selection, encoding: Encoding) -> MissingCellsError:
    """What is missing, and what would be left."""
    assert tally.first is not None
    row, column = tally.first[0], int(selection.kept[tally.first[1]])
    zeros = " (0 beside -1 and 1 stands for missing)" if encoding.zero_is_missing else ""
    return MissingCellsError(
        f"found {_count(tally.cells, 'missing cell')}{zeros}, in {tally.samples} of {tally.N} samples (rows) and "
        f"{tally.spins} of {tally.n} spins (columns), the first at {selection.table.place(row, column)}. Choose ",
        _DROP_SAMPLES,
        f", which leaves {tally.N - tally.samples} of {tally.N} samples, or ",
        _DROP_SPINS,
        f", which leaves {tally.n - tally.spins} of {tally.n} spins.",
        cells=tally.cells,
        samples=tally.samples,
        spins=tally.spins,
        N=tally.N,
        n=tally.n,
        row=row,
        column=column,
    )


def notes_on(tally: Tally, selection: Selection, encoding: Encoding, missing: str) -> tuple[str, ...]:
    """What was left out."""
    zeros = "0 beside -1 and 1 stands for missing: " if encoding.zero_is_missing else ""
    number = tally.samples if missing == "drop-samples" else tally.spins
    verb = "is" if number == 1 else "are"
    cells = _count(tally.cells, "missing cell")
    if missing == "drop-samples":
        return (f"{zeros}{number} of {tally.N} samples, with {cells}, {verb} left out.",)
    names = selection.names
    listed = listing(
        [
            f"'{names[j]}'" if names else f"column {selection.kept[j] + 1}"
            for j in np.flatnonzero(tally.columns)
        ]
    )
    return (f"{zeros}{number} of {tally.n} spins ({listed}), with {cells}, {verb} left out.",)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("s" if number != 1 else "")
