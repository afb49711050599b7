"""Rows of a table as bits, a chunk at a time, once it is known what each cell means.

Each rule for missing values has a way to go through the rows. What 0 means must be known before rows are handed out,
so that some read a table twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ..packed import PackedSpins
from ..spins import any_gaps, stacked_gaps
from ._codes import CodeFlags, Encoding, has, mixed
from ._missing import KEEP, Tally, check_rule, notes_on, settle
from ._record import Names, SpinData
from ._selection import Selection, check_encoding


class Said(NamedTuple):
    """How rows were read so far, and what is to be said of them."""

    encoding: str = ""
    notes: tuple[str, ...] = ()


Parts = Iterator[tuple["Part", Said]]


class ZeroIsMissing(Exception):
    """A -1 came after rows in which 0 was taken for the lower of two values."""


def kept(selection: Selection, at_first_sight: bool = False) -> Parts:
    """All rows that have a value. What 0 means must be known before one of them is handed out.

    ``at_first_sight``, 0 is taken for the lower of two values as long as there is no -1. If one comes later, this
    was wrong: ZeroIsMissing.
    """
    seen: CodeFlags = np.zeros(len(selection.kept), np.uint16)
    tally, surveyed, said = Tally(len(seen)), False, Said(notes=selection.notes)
    guessed = False
    for bits, flags in selection.chunks():
        seen = seen | flags
        unclear = _may_be_missing(seen)
        if guessed and not unclear:
            raise ZeroIsMissing
        if not surveyed and (len(mixed(seen)) or (unclear and not at_first_sight)):
            (seen, _, _), surveyed = _survey(selection), True
        guessed = unclear and not surveyed
        encoding = Encoding.of(seen)
        part = Part(bits.up)
        if encoding.has_missing:
            absent = bits.absent(encoding.zero_is_missing)
            some = absent.active() < absent.n
            part = Part(bits.up[some], absent[some])
            said = Said(notes=selection.notes + notes_on(tally.add(absent), selection, encoding, KEEP))
        else:
            tally.add_complete(len(bits.up))
        yield part, said._replace(encoding=encoding.label)
    if tally.N:
        settle(tally, selection, check_encoding(seen, selection), KEEP)


def _complete_or_error(selection: Selection) -> Parts:
    """All rows, unless a cell is missing."""
    seen: CodeFlags = np.zeros(len(selection.kept), np.uint16)
    for bits, flags in selection.chunks():
        seen = seen | flags
        encoding = Encoding.of(seen)
        if encoding.has_missing or len(mixed(seen)):
            _, tally, encoding = _survey(selection)  # what is wrong, in all of the file
            settle(tally, selection, encoding, "error")
        yield Part(bits.up), Said(encoding.label, selection.notes)


def _complete(selection: Selection) -> Parts:
    """The rows without missing cells."""
    _, tally, encoding = _survey(selection)
    said = Said(encoding.label, selection.notes)
    if encoding.has_missing:
        settle(tally, selection, encoding, "drop-samples")
        said = said._replace(notes=said.notes + notes_on(tally, selection, encoding, "drop-samples"))
    for bits, _ in selection.chunks():
        absent = bits.absent(encoding.zero_is_missing)
        yield Part(bits.up[~absent.words.any(axis=1)] if encoding.has_missing else bits.up), said


#: How to go through the rows, by the rule for missing values.
PARTS: dict[str, Callable[[Selection], Parts]] = {
    KEEP: kept,
    "error": _complete_or_error,
    "drop-samples": _complete,
}


def check_rule_of_parts(missing: str) -> None:
    """Raise an InputError unless ``missing`` is a rule that needs no look at all rows at once."""
    check_rule(missing, tuple(PARTS))


class Part(NamedTuple):
    """Some rows, and which cells of them are missing."""

    rows: PackedSpins
    absent: PackedSpins | None = None

    @classmethod
    def stacked(cls, parts: list[Part]) -> Part:
        rows = [part.rows for part in parts]
        return cls(PackedSpins.stacked(rows), stacked_gaps(rows, [part.absent for part in parts]))

    def batch(self, which: slice, names: Names, said: Said) -> SpinData:
        gaps = None if self.absent is None else any_gaps(self.absent[which])
        return SpinData(self.rows[which], names, said.encoding, said.notes, gaps)

    def copy(self, start: int) -> Part:
        """From there on, so that what comes before can be forgotten."""
        absent = None if self.absent is None else PackedSpins(self.absent.words[start:].copy(), self.absent.n)
        return Part(PackedSpins(self.rows.words[start:].copy(), self.rows.n), absent)


def _may_be_missing(seen: CodeFlags) -> bool:
    """Whether 0 has been seen, and no -1 that says what it means."""
    return bool(has(seen, 0).any()) and not has(seen, -1).any()


def _survey(selection: Selection) -> tuple[CodeFlags, Tally, Encoding]:
    """All of a file: which codes occur, and how many cells are missing, whichever way 0 is to be read."""
    flags = np.zeros(len(selection.kept), np.uint16)
    tallies = {zero_is_missing: Tally(len(flags)) for zero_is_missing in (False, True)}
    for bits, found in selection.chunks():
        flags |= found
        for zero_is_missing, tally in tallies.items():
            tally.add(bits.absent(zero_is_missing))
    encoding = check_encoding(flags, selection)
    return flags, tallies[encoding.zero_is_missing], encoding
