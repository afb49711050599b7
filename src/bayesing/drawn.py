r"""A bounded random sample of rows that go by, the same in whatever pieces they come.

Every row has a place, a run and its number in it. Rows 2k and 2k + 1 of a run share a key: a number that looks random
and follows from the place alone. The sample are the rows with the smallest keys. Samples of parts make the sample of
the whole, in any order and grouping.

Two rows share a key so that a sample also shows whether successive rows are alike (:mod:`bayesing.order`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .packed import PackedSpins
from .spins import any_gaps, stacked_gaps
from .types import Integers

_CELLS = 2**24  # spins of a sample, at most: 2 MB of bits
_ROWS = 2**17  # rows of a sample, at most: errors of what is found in them are a few tenths of a percent
_ROWS_PER_SPIN = 2  # at least: fewer rows than spins would say little of couplings
_RUN = 40  # bits of a place that are the number in its run

Keys = NDArray[np.uint64]


def rows_drawn(n: int) -> int:
    """How many rows of n spins a sample has, at most.

    >>> rows_drawn(100), rows_drawn(10_000)
    (131072, 20000)
    """
    return max(min(_CELLS // n, _ROWS), _ROWS_PER_SPIN * n)


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Rows with their keys and places, in the order of these; ``absent`` has bits 1 where a cell is missing."""

    keys: Keys
    places: Integers
    rows: PackedSpins
    absent: PackedSpins | None = None

    @classmethod
    def all_of(
        cls, rows: PackedSpins, absent: PackedSpins | None = None, run: int = 0, start: int = 0
    ) -> DrawnRows:
        """Successive rows of a run, from the number ``start`` on."""
        places = (np.int64(run) << _RUN) + np.arange(start, start + len(rows), dtype=np.int64)
        return cls(keys_of(places), places, rows, absent)

    @classmethod
    def of(
        cls, rows: PackedSpins, absent: PackedSpins | None = None, run: int = 0, start: int = 0
    ) -> DrawnRows:
        """The sample of these rows."""
        return cls.all_of(rows, absent, run, start)._smallest(rows_drawn(rows.n))

    @classmethod
    def merged(cls, parts: Sequence[DrawnRows]) -> DrawnRows:
        """The sample of parts of the same runs, or of different ones."""
        rows = [part.rows for part in parts]
        absent = stacked_gaps(rows, [part.absent for part in parts])
        keys, places = (
            np.concatenate(each) for each in zip(*((p.keys, p.places) for p in parts), strict=True)
        )
        return cls(keys, places, PackedSpins.stacked(rows), absent)._smallest(rows_drawn(rows[0].n))

    def __add__(self, other: DrawnRows) -> DrawnRows:
        """The sample of both. Runs of the same number are different ones: those of the other come after."""
        mine, others = self.places >> _RUN, other.places >> _RUN
        if np.isin(mine, others).any():
            later = (mine.max() + 1 - others.min()) << _RUN
            other = replace(other, places=other.places + later)
        return DrawnRows.merged([self, other])

    def __getitem__(self, chosen: Any) -> DrawnRows:
        """Some of the rows."""
        absent = None if self.absent is None else any_gaps(self.absent[chosen])
        return DrawnRows(self.keys[chosen], self.places[chosen], self.rows[chosen], absent)

    def columns(self, chosen: Any) -> DrawnRows:
        """Some of the spins."""
        absent = None if self.absent is None else any_gaps(self.absent.columns(chosen))
        return replace(self, rows=self.rows.columns(chosen), absent=absent)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Of runs of successive rows."""
        ends = np.flatnonzero(np.diff(self.places) != 1)
        return tuple(np.diff(np.concatenate([[-1], ends, [len(self.places) - 1]])).tolist())

    def _smallest(self, most: int) -> DrawnRows:
        """So many rows with the smallest keys, in the order of their places."""
        chosen = np.arange(len(self))
        if len(self) > most:
            likely = np.flatnonzero(self.keys <= np.partition(self.keys, most - 1)[most - 1])
            chosen = likely[np.lexsort((self.places[likely], self.keys[likely]))][:most]
        return self[chosen[np.argsort(self.places[chosen], kind="stable")]]


class Drawing:
    """A sample of rows that go by. Only rows that may belong to it are kept."""

    def __init__(self) -> None:
        self._parts: list[DrawnRows] = []
        self._held = 0
        self._limit: np.uint64 | None = None  # the largest key of the sample so far, once it is full

    def add(self, rows: PackedSpins, absent: PackedSpins | None = None, run: int = 0, start: int = 0) -> None:
        """More successive rows of a run, from the number ``start`` on."""
        part = DrawnRows.all_of(rows, absent, run, start)
        if self._limit is not None:
            part = part[np.flatnonzero(part.keys <= self._limit)]
            if not len(part):
                return
        self._parts.append(part)
        self._held += len(part)
        if self._held > 2 * rows_drawn(rows.n):
            self._prune()

    def _prune(self) -> None:
        self._parts = [self.sample]
        self._held = len(self._parts[0])
        self._limit = self._parts[0].keys.max()

    @property
    def sample(self) -> DrawnRows:
        """The sample of all rows so far."""
        return DrawnRows.merged(self._parts)


def keys_of(places: Integers) -> Keys:
    """The finaliser of SplitMix64 (Steele, Lea and Flood, 2014) of the run and half the number in it."""
    x = places.astype(np.uint64) >> np.uint64(1)
    x += np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))
