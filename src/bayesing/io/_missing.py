"""Missing values: counted, said, and kept as such, or left out by rows or by columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..exceptions import InputError, MissingCellsError, Setting
from ..packed import PackedSpins
from ..texts import did_you_mean
from ..types import Flags
from ._codes import Encoding
from ._record import listing
from ._selection import Selection

KEEP = "keep"
RULES = (KEEP, "error", "drop-samples", "drop-spins")
AT_RANDOM = "They are taken to be missing at random, given the values that are there."

_KEEP = Setting("missing", KEEP)
_DROP_SAMPLES = Setting("missing", "drop-samples")
_DROP_SPINS = Setting("missing", "drop-spins")


def check_rule(missing: str, rules: tuple[str, ...] = RULES) -> None:
    """Raise an InputError unless ``missing`` is one of the rules."""
    if missing not in rules:
        hint = did_you_mean(missing, rules)
        raise InputError(f"missing must be one of {', '.join(rules)}: found {missing!r}.{hint}")


@dataclass
class Tally:
    """How many cells are missing of so many samples and spins, and where the first is.

    ``blank`` samples miss all cells. ``columns`` are spins that miss some, ``partly`` those that do so in other
    samples, and ``never`` those that miss all.
    """

    n: int
    N: int = 0
    cells: int = 0
    samples: int = 0
    blank: int = 0
    first: tuple[int, int] | None = None
    columns: Flags = field(init=False)
    partly: Flags = field(init=False)
    never: Flags = field(init=False)

    def __post_init__(self) -> None:
        self.columns = np.zeros(self.n, np.bool_)
        self.partly = np.zeros(self.n, np.bool_)
        self.never = np.ones(self.n, np.bool_)

    def add(self, absent: PackedSpins) -> Tally:
        """Count more rows, whose bits are 1 where a cell is missing."""
        rows = absent.words.any(axis=1)
        if self.first is None and rows.any():
            row = int(np.argmax(rows))
            self.first = (self.N + row, int(np.argmax(absent[row : row + 1].unpack()[0])))
        self.N += len(absent)
        self.cells += int(np.bitwise_count(absent.words).sum(dtype=np.int64))
        self.samples += int(np.count_nonzero(rows))
        blank = absent.active() == self.n
        self.blank += int(np.count_nonzero(blank))
        self.partly |= self._over_rows(np.bitwise_or, absent[~blank])
        self.columns |= self._over_rows(np.bitwise_or, absent)
        self.never &= self._over_rows(np.bitwise_and, absent)
        return self

    def add_complete(self, N: int) -> Tally:
        """Count more rows, of which no cell is missing."""
        self.N += N
        if N:
            self.never[:] = False
        return self

    @classmethod
    def of_all(cls, parts: Sequence[Tally]) -> Tally:
        """Of several parts of a table, one after the other."""
        whole = cls(parts[0].n)
        for part in parts:
            if whole.first is None and part.first is not None:
                whole.first = whole.N + part.first[0], part.first[1]
            whole.N += part.N
            whole.cells += part.cells
            whole.samples += part.samples
            whole.blank += part.blank
            whole.columns |= part.columns
            whole.partly |= part.partly
            whole.never &= part.never
        return whole

    def _over_rows(self, function: np.ufunc, absent: PackedSpins) -> Flags:
        words = PackedSpins(function.reduce(absent.words, axis=0)[None], self.n)
        return np.asarray(words.unpack()[0] > 0)

    @property
    def spins(self) -> int:
        """How many spins miss cells."""
        return int(np.count_nonzero(self.columns))


def settle(tally: Tally, selection: Selection, encoding: Encoding, missing: str) -> None:
    """Raise an InputError if missing cells are an error, or if leaving them out leaves too little."""
    if missing == "error":
        raise _error(tally, selection, encoding)
    if missing == KEEP:
        if tally.blank and tally.N - tally.blank < 2:
            raise InputError(
                f"expected at least 2 samples with a value, found {tally.N - tally.blank}: all cells of the other "
                f"{tally.blank} of {tally.N} samples are missing."
            )
        return
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
        f"{tally.spins} of {tally.n} spins (columns), the first at {selection.place(row, column)}. Choose ",
        _KEEP,
        ", which keeps all samples and spins, or ",
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
    """What is missing, and what was left out."""
    if missing == KEEP:
        return _notes_on_kept(tally, selection, encoding)
    zeros = "0 beside -1 and 1 stands for missing: " if encoding.zero_is_missing else ""
    number = tally.samples if missing == "drop-samples" else tally.spins
    verb = "is" if number == 1 else "are"
    cells = _count(tally.cells, "missing cell")
    if missing == "drop-samples":
        return (f"{zeros}{number} of {tally.N} samples, with {cells}, {verb} left out.",)
    listed = _listed(tally.columns, selection)
    return (f"{zeros}{number} of {tally.n} spins ({listed}), with {cells}, {verb} left out.",)


def _notes_on_kept(tally: Tally, selection: Selection, encoding: Encoding) -> tuple[str, ...]:
    zeros = "0 beside -1 and 1 stands for missing: " if encoding.zero_is_missing else ""
    notes = []
    if tally.blank:
        verb, have = ("is", "has") if tally.blank == 1 else ("are", "have")
        notes.append(f"{tally.blank} of {tally.N} samples {have} no value at all and {verb} left out.")
    N, samples, cells = (
        tally.N - tally.blank,
        tally.samples - tally.blank,
        tally.cells - tally.blank * tally.n,
    )
    spins = int(np.count_nonzero(tally.partly))
    if cells:
        verb = "is" if cells == 1 else "are"
        share = f"{cells} of {N * tally.n} cells ({100 * cells / (N * tally.n):.2g}%)"
        notes.append(
            f"{zeros}{share} {verb} missing, in {samples} of {N} samples and {spins} of {tally.n} spins. {AT_RANDOM}"
        )
    never = int(np.count_nonzero(tally.never))
    if never:
        have, them = ("has", "it") if never == 1 else ("have", "them")
        listed = _listed(tally.never, selection)
        notes.append(
            f"{never} of {tally.n} spins ({listed}) {have} no value at all: nothing can be known about {them}."
        )
    return tuple(notes)


def _listed(columns: Flags, selection: Selection) -> str:
    names = selection.names
    found = np.flatnonzero(columns)
    return listing([f"'{names[j]}'" if names else f"column {selection.kept[j] + 1}" for j in found])


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("s" if number != 1 else "")
