r"""Does the order of the rows matter? Rows that remember those before them, and means that drift.

**Memory.** The correlation of successive rows is the mean of :math:`(s - m) \cdot (s' - m)` over pairs of them, in
units of the variance of the spins. Pairs of rows at random say by how much it varies if rows are independent,
whatever the couplings.

**Drift.** A field that changes over the recording is not memory: no thinning makes rows alike, and spins that follow
the same field seem coupled. The rows are cut into blocks, and P_k is the power of the means of the blocks in the k-th
cosine, summed over spins. Where rows forget much faster than a block lasts, all P_k are alike. The slowest few are
compared with faster ones by an F-test, with

.. math:: n_e = \frac{(\operatorname{tr} C)^2}{\operatorname{tr} C^2}

in place of the number of spins, for coupled ones are not independent. Rows that remember for a hundredth of the
recording look like a drift, too, and there is no way to tell them apart.

Both look at a bounded number of cells.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import scipy

from .series import FORGOTTEN, centred
from .statistics import SpinStatistics
from .types import Array, Indices

_LEAST_ROWS = 20  # fewer show no order
_MOST_CELLS = 2**19  # of pairs of rows that are looked at
_DEVIATIONS = 5.0  # from random pairs that are no accident
_BLOCKS = 64  # of successive rows
_OF_BLOCK = 8  # rows, at least
_SLOW, _FAST = slice(1, 4), slice(6, 17)  # numbers of cosines that are compared
_LEAST_BLOCKS = 20  # for so many cosines
_ACCIDENT = 1e-6  # probability of so much drift by chance that is taken for none


@dataclass(frozen=True)
class Order:
    """What the order of the rows tells."""

    successive: float  #: Correlation of successive rows.
    deviation: float  #: Its standard deviation for independent rows.
    drift: float | None  #: Power of slow changes of the means, relative to faster ones; None for few rows.
    drift_limit: float  #: What it may be by chance.
    drift_share: float  #: Of the variance of the spins that is drift.
    means: Array | None  #: Means of the spins in blocks of successive rows (blocks, n); None for few rows.

    @property
    def remembers(self) -> bool:
        """Whether successive rows are so much alike that estimates notice, and not because means drift."""
        alike = self.successive - (self.drift_share if self.drifts else 0.0)
        return alike > max(_DEVIATIONS * self.deviation, FORGOTTEN)

    @property
    def drifts(self) -> bool:
        """Whether means change slowly."""
        return self.drift is not None and self.drift > self.drift_limit


def order_of(stats: SpinStatistics) -> Order | None:
    """Look at rows in their order; None where none were kept, or they are few."""
    some = stats.sampled
    if some is None:
        return None
    stats = some
    if stats.N < _LEAST_ROWS or len(stats.varying) < 1:
        return None
    first = _before_another(stats)
    step = max(1, -(-len(first) * stats.n // _MOST_CELLS))
    first = first[::step]
    if len(first) < _LEAST_ROWS // 2:
        return None
    m = stats.magnetisations
    one, next_one = (centred(stats.take(rows).spins(), m) for rows in (first, first + 1))
    both = np.count_nonzero((one != 0) & (next_one != 0)) / len(first)  # spins that two rows show
    variance = both * float(np.sum(one * one)) / max(int(np.count_nonzero(one)), 1)
    if variance == 0.0:  # no spin is known in two rows that follow each other
        return None
    chance = np.random.default_rng(0).permutation(len(first))
    by_chance = np.einsum("ij,ij->i", one, next_one[chance])
    found = (
        float(np.einsum("ij,ij->", one, next_one)) / len(first) / variance + 1 / stats.N
    )  # means are of the data
    square = float(np.mean(by_chance**2))  # tr C^2
    deviation = math.sqrt(square / len(first)) / variance
    return Order(found, deviation, *_drift(stats, variance, variance**2 / max(square, variance**2 / stats.n)))


def _before_another(stats: SpinStatistics) -> Indices:
    """Rows that are followed by another of their run."""
    last = np.cumsum(stats.runs) - 1
    return np.setdiff1d(np.arange(stats.N), last, assume_unique=True)


def _drift(
    stats: SpinStatistics, variance: float, n_e: float
) -> tuple[float | None, float, float, Array | None]:
    """The power of slow changes, its limit, the share of the variance, and the means of the blocks."""
    blocks = min(_BLOCKS, stats.N // _OF_BLOCK)
    if blocks < _LEAST_BLOCKS:
        return None, math.inf, 0.0, None
    edges = np.linspace(0, stats.N, blocks + 1).astype(int)
    parts = [stats.take(slice(a, b)) for a, b in itertools.pairwise(edges)]
    m = stats.magnetisations
    means = np.array([np.where(part.counts > 0, part.magnetisations, m) for part in parts])
    power = (scipy.fft.dct(means - m, axis=0, norm="ortho") ** 2).sum(axis=1)
    slow, fast = float(power[_SLOW].mean()), float(power[_FAST].mean())
    if fast == 0:
        return None, math.inf, 0.0, means
    k, many = (len(range(blocks)[which]) for which in (_SLOW, _FAST))
    limit = float(scipy.special.fdtri(k * n_e, many * n_e, 1 - _ACCIDENT))
    share = max(float((power[_SLOW] - fast).sum()), 0.0) / (blocks * variance)
    return slow / fast, limit, share, means
