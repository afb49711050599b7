"""Missing cells: how many, where most of them are, and what was assumed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..packed import PackedSpins
from ..statistics import SpinStatistics

_MOST_LISTED = 5  # columns
_MOST_PATTERNS = 3  # of columns that are missing together
_COMMON = 0.02  # of the samples: a pattern that is worth a word


@dataclass(frozen=True)
class Gaps:
    """So many cells are missing, in so many samples and spins; ``most`` are the columns that miss most.

    Columns are given by their index, with the number of their cells that are missing. ``together`` are columns of
    which exactly these are missing in many samples, with the number of the samples; ``worst`` is the largest number
    of cells that are missing in one sample.
    """

    cells: int
    samples: int
    spins: int
    most: tuple[tuple[int, int], ...]
    N: int
    n: int
    together: tuple[tuple[tuple[int, ...], int], ...] = ()
    worst: int = 0

    @property
    def complete(self) -> int:
        """The number of samples in which no cell is missing."""
        return self.N - self.samples

    @property
    def share(self) -> float:
        """Of all cells."""
        return self.cells / (self.N * self.n)


def gaps_of(data: SpinStatistics) -> Gaps | None:
    """What is missing, in rows that were drawn if not all were kept; None where the data are complete."""
    data = data.sampled or data
    if not data.missing or data.absent is None:
        return None
    missing = data.N - data.counts
    order = np.argsort(-missing, kind="stable")[:_MOST_LISTED]
    in_samples = data.absent.active()
    return Gaps(
        cells=data.missing,
        samples=int(np.count_nonzero(in_samples)),
        spins=int(np.count_nonzero(missing)),
        most=tuple((int(j), int(missing[j])) for j in order if missing[j]),
        N=data.N,
        n=data.n,
        together=_together(data.absent),
        worst=int(in_samples.max()),
    )


def _together(absent: PackedSpins) -> tuple[tuple[tuple[int, ...], int], ...]:
    """Columns that are often missing together and alone, the commonest first."""
    several = np.flatnonzero(absent.active() > 1)
    words = np.ascontiguousarray(absent.words[several])
    keys = words.view(np.dtype((np.void, words.itemsize * words.shape[1])))[:, 0]
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    common = [k for k in np.argsort(-counts, kind="stable") if counts[k] > _COMMON * len(absent)]
    patterns = absent[several[first[common[:_MOST_PATTERNS]]]].unpack() > 0
    numbers = counts[common[:_MOST_PATTERNS]].tolist()
    return tuple(
        (tuple(np.flatnonzero(pattern).tolist()), k) for pattern, k in zip(patterns, numbers, strict=True)
    )
