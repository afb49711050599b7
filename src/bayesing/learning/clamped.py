r"""Rows with missing cells: chains of the missing cells, each row clamped at the cells that are there.

Cells are taken to be missing at random: whether one is missing may depend on the cells that are there, and not on
what it would have shown. The log likelihood of what is there then has the slopes

.. math::

    \frac{\partial \ln P}{\partial J_{ij}} = \sum_\mu \langle s_i s_j \rangle_\mu - N \langle s_i s_j \rangle , \qquad
    \frac{\partial \ln P}{\partial h_i} = \sum_\mu \langle s_i \rangle_\mu - N \langle s_i \rangle ,

where :math:`\langle \cdot \rangle_\mu` is over what is missing in row :math:`\mu`, given what is there. Each
incomplete row has several chains. They are never started again, but follow the parameters by a few Gibbs sweeps of
the missing cells between two looks. Rows without a missing cell are added up once. Rows that show nothing are left
out.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..sampling._clamped import sweep
from ..sampling._gibbs import Single
from ..statistics import SpinStatistics
from ..threads import Run
from ..types import Array, Spins
from .phases import FISHER, Data, Lost, around

_CHAINS = 2**14  # of all rows together: their noise is below that of the free phase
_LEAST, _MOST = 4, 64  # chains of a row
_FIRST = 20  # sweeps from independent cells to the first look
_SWEEPS = 4  # from one look to the next
_LOOKS = 8  # that are averaged, where the parameters stay

Indices = NDArray[np.int64]


class Clamped:
    """Chains of what is missing in ``spins`` (N, n), 0 where a cell is missing; changed in place by every look."""

    def __init__(self, spins: Spins, seed: np.random.SeedSequence) -> None:
        there = spins != 0
        spins, there = (x[there.any(axis=1)] for x in (spins, there))
        whole = there.all(axis=1)
        self.N, self.n = spins.shape
        self.counts = there.sum(axis=0).astype(np.float64)
        self.d: Array = spins.sum(axis=0) / self.counts
        self.whole, some = spins[whole], spins[~whole].astype(np.float32)
        self.sums, self.products = _moments(self.whole.astype(np.float32))
        self.B = len(some)
        self.starts, self.cells = _missing(there[~whole])
        copies = int(np.clip(_CHAINS // max(self.B, 1), _LEAST, _MOST))
        self.generators = [np.random.default_rng(s) for s in seed.spawn(copies - copies % 2)]
        self.chains = [self._independent(some, rng) for rng in self.generators]
        self.sweeps = _FIRST

    @property
    def copies(self) -> int:
        """Chains of each incomplete row."""
        return len(self.chains)

    def _independent(self, some: Single, rng: np.random.Generator) -> Single:
        """Missing cells drawn from the means of those that are there."""
        rows = np.repeat(np.arange(self.B), np.diff(self.starts))
        spins = some.copy()
        up = 2 * rng.random(len(self.cells)) - 1 < self.d[self.cells]
        spins[rows, self.cells] = np.where(up, 1, -1)
        return spins

    def look(self, J: Array, h: Array, run: Run) -> tuple[Data, Data]:
        """The averages under this model, by either half of the chains, after some sweeps of it."""
        couplings, fields = J.astype(np.float32), h.astype(np.float32)
        sweeps, self.sweeps = self.sweeps, _SWEEPS
        chains = zip(self.chains, self.generators, strict=True)
        found = run([partial(self._advance, *chain, couplings, fields, sweeps) for chain in chains])
        lost = self._lost()
        a, b = (self._data(found[half::2], lost) for half in (0, 1))
        return a, b

    def averaged(self, J: Array, h: Array, run: Run) -> Data:
        """The averages under this model, by all chains, from several looks."""
        looks = [Data.both(*self.look(J, h, run)) for _ in range(_LOOKS)]
        C, shift = (np.mean([getattr(data, name) for data in looks], axis=0) for name in ("C", "shift"))
        return Data(self.N, self.d, C, shift, self.counts, looks[-1].lost)

    def completed(self, most: int) -> list[Spins]:
        """All rows, the complete ones first, with what is missing as the chains have it, so many times at most."""
        chains = self.chains[: min(most, self.copies)]
        return [np.concatenate([self.whole, chain.astype(np.int8)]) for chain in chains]

    def _advance(
        self, chain: Single, rng: np.random.Generator, couplings: Single, fields: Single, sweeps: int
    ) -> tuple[Array, Array]:
        for _ in range(sweeps):
            uniforms = 2 * rng.random(len(self.cells), np.float32) - 1
            sweep(chain, couplings, fields, self.starts, self.cells, uniforms)
        return _moments(chain)

    def _data(self, found: list[tuple[Array, Array]], lost: Lost) -> Data:
        m, R = (
            (whole + sum(part[k] for part in found) / len(found)) / self.N
            for k, whole in enumerate((self.sums, self.products))
        )
        return Data(self.N, self.d, around(self.d, m, R), m - self.d, self.counts, lost)

    def _lost(self) -> Lost:
        """From the chains as they are, of some rows if there are many."""
        pairs = int(np.clip(FISHER // max(self.B, 1), 1, self.copies // 2))
        step = max(1, math.ceil(self.B / FISHER))
        first, second = (
            np.concatenate([chain[::step] for chain in self.chains[k : 2 * pairs : 2]]).T for k in (0, 1)
        )
        return Lost(first, second, self.d, self.B / self.N, self.copies)


def observed(stats: SpinStatistics, seed: np.random.SeedSequence) -> Data | Clamped:
    """What learning compares a model with: averages over complete rows, or chains of what is missing in others."""
    return Clamped(stats.spins(), seed) if stats.missing else Data.of(stats)


def _missing(there: NDArray[np.bool_]) -> tuple[Indices, Indices]:
    """Columns of the missing cells, row by row, and where each row starts."""
    rows, cells = np.nonzero(~there)
    starts = np.searchsorted(rows, np.arange(len(there) + 1))
    return starts.astype(np.int64), cells.astype(np.int64)


def _moments(spins: Single) -> tuple[Array, Array]:
    """Sums, and sums of products, of whole numbers."""
    return spins.sum(axis=0, dtype=np.float64), (spins.T @ spins).astype(np.float64)
