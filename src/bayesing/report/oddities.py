"""What a careful reader of the data would notice: columns that are copies, and rows in the order of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..spins import Copy
from ..statistics import SpinStatistics
from ..types import Spins

_MOST_ROWS = 2000  # whose order is tested: their Gram matrix takes 32 megabytes
_MOST_COLUMNS = 300  # of these rows: enough to see a correlation of 0.02
_SHUFFLES = 200  # of the rows: the deviation is known to 5%
_LEAST_ROWS = 20  # fewer show no order
_DEVIATIONS = 5.0  # from the mean of shuffled rows that are no accident
_LEAST_CORRELATION = 0.02  # of successive rows that is worth a word


@dataclass(frozen=True)
class Oddities:
    """What is odd about the data: columns by their index, and how alike successive rows are."""

    copies: tuple[Copy, ...]
    successive: float | None  # correlation of successive rows, where it is no accident
    shuffled: float  # the same in random order: its standard deviation


def oddities_of(data: SpinStatistics, seed: int) -> Oddities:
    """Look at all columns, and at the order of the first rows."""
    first = data.take(slice(_MOST_ROWS)).spins()
    successive, shuffled = order_of_rows(first[:, data.varying[:_MOST_COLUMNS]], seed)
    return Oddities(data.copies, successive, shuffled)


def order_of_rows(spins: Spins, seed: int) -> tuple[float | None, float]:
    """Correlation of successive rows where it is far above that in random order, and the deviation of the latter.

    Independent rows may come in any order: a permutation test, whatever the couplings. Missing cells (0) are taken to
    be at their mean.
    """
    N = len(spins)
    if N < _LEAST_ROWS:
        return None, 0.0
    there = spins != 0
    z = np.where(there, spins - spins.sum(axis=0) / np.maximum(there.sum(axis=0), 1), 0.0)
    power = float(np.mean(z * z))
    if power == 0:
        return None, 0.0
    gram = z @ z.T / (power * spins.shape[1])
    rng = np.random.default_rng(seed)
    shuffled = []
    for _ in range(_SHUFFLES):
        order = rng.permutation(N)
        shuffled.append(float(gram[order[:-1], order[1:]].mean()))
    found, deviation = float(np.diagonal(gram, 1).mean()), float(np.std(shuffled))
    far = found - float(np.mean(shuffled)) > _DEVIATIONS * deviation and found > _LEAST_CORRELATION
    return (found if far else None), deviation
