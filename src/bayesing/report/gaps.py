"""Missing cells: how many, where most of them are, and what was assumed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..statistics import SpinStatistics

_MOST_LISTED = 5  # columns


@dataclass(frozen=True)
class Gaps:
    """So many cells are missing, in so many samples and spins; ``most`` are the columns that miss most.

    Columns are given by their index, with the number of their cells that are missing.
    """

    cells: int
    samples: int
    spins: int
    most: tuple[tuple[int, int], ...]
    N: int
    n: int

    @property
    def share(self) -> float:
        """Of all cells."""
        return self.cells / (self.N * self.n)


def gaps_of(data: SpinStatistics) -> Gaps | None:
    """What is missing; None where the data are complete."""
    if not data.missing or data.absent is None:
        return None
    missing = data.N - data.counts
    order = np.argsort(-missing, kind="stable")[:_MOST_LISTED]
    return Gaps(
        cells=data.missing,
        samples=int(np.count_nonzero(data.absent.active())),
        spins=int(np.count_nonzero(missing)),
        most=tuple((int(j), int(missing[j])) for j in order if missing[j]),
        N=data.N,
        n=data.n,
    )
