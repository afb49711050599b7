"""Missing values: counted, said, and left out by rows or by columns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ._codes import Encoding
from ._record import listing
from ._selection import Selection

RULES = ("error", "drop-samples", "drop-spins")


def check_rule(missing: str, rules: tuple[str, ...] = RULES) -> None:
    """Raise a ValueError unless ``missing`` is one of the rules."""
    if missing not in rules:
        raise ValueError(f"missing must be one of {', '.join(rules)}: found {missing!r}.")


@dataclass
class Tally:
    """How many cells are missing of so many samples and spins, and where the first is."""

    n: int
    N: int = 0
    cells: int = 0
    samples: int = 0
    first: tuple[int, int] | None = None
    columns: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self.columns = np.zeros(self.n, np.bool_)

    def add(self, missing: NDArray[np.bool_]) -> Tally:
        """Count more rows, True where a cell is missing."""
        rows = missing.any(axis=1)
        if self.first is None and rows.any():
            row = int(np.argmax(rows))
            self.first = (self.N + row, int(np.argmax(missing[row])))
        self.N += len(missing)
        self.cells += int(np.count_nonzero(missing))
        self.samples += int(np.count_nonzero(rows))
        self.columns |= missing.any(axis=0)
        return self

    @property
    def spins(self) -> int:
        """How many spins miss cells."""
        return int(np.count_nonzero(self.columns))


def sentence(tally: Tally, selection: Selection, encoding: Encoding) -> str:
    """What is missing, and what would be left."""
    assert tally.first is not None
    row, column = tally.first
    place = selection.table.place(row, int(selection.kept[column]))
    zeros = " (0 beside -1 and 1 stands for missing)" if encoding.zero_is_missing else ""
    return (
        f"found {_count(tally.cells, 'missing cell')}{zeros}, in {tally.samples} of {tally.N} samples (rows) and "
        f"{tally.spins} of {tally.n} spins (columns), the first at {place}. Choose --missing drop-samples, which "
        f"leaves {tally.N - tally.samples} of {tally.N} samples, or --missing drop-spins, which leaves "
        f"{tally.n - tally.spins} of {tally.n} spins."
    )


def check_left(tally: Tally, missing: str) -> None:
    """Raise a ValueError where leaving out leaves fewer than two samples or spins."""
    samples, spins = tally.N - tally.samples, tally.n - tally.spins
    if (samples if missing == "drop-samples" else spins) < 2:
        raise ValueError(
            f"expected at least 2 samples and 2 spins, found that --missing drop-samples leaves {samples} of "
            f"{tally.N} samples and --missing drop-spins {spins} of {tally.n} spins. Fill in or leave out what is "
            "missing most."
        )


def notes(tally: Tally, selection: Selection, encoding: Encoding, missing: str) -> tuple[str, ...]:
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
