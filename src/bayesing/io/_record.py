"""Spins with what is known about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..packed import PackedSpins
from ..spins import Copy, pack_spins
from ..texts import visible
from ..types import Flags, Spins

Names = tuple[str, ...] | None

_LISTED = 3  # columns that a note names, before dots


@dataclass(frozen=True, eq=False)
class SpinData:
    """N samples of n spins from a file or from spike times.

    ``rows`` are the spins as bits, 64 to a word, and ``spins`` are the same as an array. ``names`` are those of the
    columns, if there are any. ``encoding`` says how the spins were written: "±1", "0/1", "yes/no", ..., or several
    of them. ``notes`` are sentences on what was left out or taken for granted. ``absent`` has bits 1 where a cell is
    missing, and is None if no cell is. ``lengths`` are the numbers of rows of each file, if there were several: a
    run of successive rows each.
    """

    rows: PackedSpins
    names: Names = None
    encoding: str = "±1"
    notes: tuple[str, ...] = ()
    absent: PackedSpins | None = None
    lengths: tuple[int, ...] | None = None

    @classmethod
    def of(
        cls,
        spins: ArrayLike,
        names: Names = None,
        encoding: str | None = None,
        notes: tuple[str, ...] = (),
    ) -> SpinData:
        """From an array of ±1, 0/1 or bool. It is checked, and its encoding is told from it if none is given.

        >>> data = SpinData.of([[0, 1, 1], [1, 1, 0]], names=("a", "b", "c"))
        >>> data.shape, data.encoding, data.spins.tolist()
        ((2, 3), '0/1', [[-1, 1, 1], [1, 1, -1]])
        """
        rows, absent, found = pack_spins(spins, min_samples=1, min_spins=1)
        return cls(rows, names, found if encoding is None else encoding, notes, absent)

    @property
    def spins(self) -> Spins:
        """The spins as int8, ±1, 0 where a cell is missing: a new array each time, 8 times as large as ``rows``."""
        spins = self.rows.unpack()
        if self.absent is not None:
            spins[self.absent.unpack() > 0] = 0
        return spins

    @property
    def missing(self) -> int:
        """The number of missing cells."""
        return 0 if self.absent is None else int(self.absent.active().sum())

    @property
    def shape(self) -> tuple[int, int]:
        """N samples and n spins."""
        return len(self.rows), self.rows.n

    def __repr__(self) -> str:
        N, n = self.shape
        gaps = f", {self.missing} cells missing" if self.missing else ""
        names = f": {listing([visible(name) for name in self.names])}" if self.names else ""
        return f"<SpinData of {N} samples of {n} spins, encoded {self.encoding}{gaps}{names}>"

    def __len__(self) -> int:
        return len(self.rows)


def on_constant_spins(constant: Flags, names: Sequence[str] | None = None) -> tuple[str, ...]:
    """A note on the spins that never change, if there are any."""
    found = np.flatnonzero(constant).tolist()
    if not found:
        return ()
    listed = listing([_called(j, names) for j in found])
    what = "is" if len(found) == 1 else "are"
    return (
        f"{len(found)} of {len(constant)} spins {what} the same in all samples ({listed}): the data say "
        "nothing about couplings of such spins, and H is that of the others.",
    )


def on_copies(copies: Sequence[Copy], names: Sequence[str] | None = None) -> tuple[str, ...]:
    """A note on spins that are copies of each other, if there are any."""
    pairs = [f"{_called(copy.i, names)} and {_called(copy.j, names)}" for copy in copies]
    if not pairs:
        return ()
    return (
        f"spins are copies of each other, or opposites, in all samples ({listing(pairs)}): a pair of them may decide "
        "J. Leave one out.",
    )


def _called(j: int, names: Sequence[str] | None) -> str:
    return f"'{names[j]}'" if names else f"x{j}"


def listing(texts: Sequence[str]) -> str:
    """The first of them, and dots for more."""
    return ", ".join(texts[:_LISTED]) + (", ..." if len(texts) > _LISTED else "")
