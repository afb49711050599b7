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
from copy import copy
from dataclasses import replace
from functools import partial

import numpy as np

from ..sampling._clamped import cells_of, sweep
from ..sampling._gibbs import Single
from ..statistics import SpinStatistics
from ..threads import Run
from ..types import Array, Spins
from .phases import FISHER, Data, Lost, around, summed_out

_CHAINS = 2**14  # of all rows together: their noise is below that of the free phase
_LEAST, _MOST = 4, 64  # chains of a row
_FIRST = 20  # sweeps from independent cells to the first look
_SWEEPS = 4  # from one look to the next
_AT_A_TIME = 2**22  # numbers of a block of complete rows, 16 megabytes
_LOOKS = 8  # that are averaged, where the parameters stay


class Clamped:
    """Chains of what is missing in ``spins`` (N, n), 0 where a cell is missing; changed in place by every look.

    Hidden units, with the ``centres`` of their means, are missing in every row. In rows that are complete otherwise
    they are summed over, and nothing is random.
    """

    def __init__(self, spins: Spins, seed: np.random.SeedSequence, centres: Array | None = None) -> None:
        there = spins != 0
        spins, there = (x[there.any(axis=1)] for x in (spins, there))
        whole = there.all(axis=1)
        centres = np.empty(0) if centres is None else centres
        self.hidden = len(centres)
        self.N, self.n = spins.shape[0], spins.shape[1] + self.hidden
        self.counts = np.append(there.sum(axis=0), np.full(self.hidden, self.N)).astype(np.float64)
        self.d = np.append(spins.sum(axis=0) / there.sum(axis=0), centres)
        self.whole, some = spins[whole], spins[~whole].astype(np.float32)
        self.B = len(some)
        self.starts, self.cells = cells_of(np.pad(some, ((0, 0), (0, self.hidden))))
        copies = int(np.clip(_CHAINS // max(self.B, 1), _LEAST, _MOST)) if self.B else 0
        self.generators = [np.random.default_rng(s) for s in seed.spawn(copies - copies % 2)]
        self.chains = [self._independent(some, rng) for rng in self.generators]
        self.sweeps = _FIRST
        self._seen = _moments(self.whole)  # of complete rows, without hidden units

    @property
    def copies(self) -> int:
        """Chains of each incomplete row."""
        return len(self.chains)

    def _independent(self, some: Single, rng: np.random.Generator) -> Single:
        """Missing cells drawn from the means of those that are there."""
        spins = np.pad(some, ((0, 0), (0, self.hidden)))
        rows = np.repeat(np.arange(self.B), np.diff(self.starts))
        up = 2 * rng.random(len(self.cells)) - 1 < self.d[self.cells]
        spins[rows, self.cells] = np.where(up, 1, -1)
        return spins

    def look(self, J: Array, h: Array, run: Run) -> tuple[Data, Data]:
        """The averages under this model, by either half of the chains, after some sweeps of it."""
        couplings, fields = J.astype(np.float32), h.astype(np.float32)
        sweeps, self.sweeps = self.sweeps, _SWEEPS
        whole = self._complete(couplings, fields, run)
        if not self.B:
            data = self._data(whole, [], None)
            return data, data
        chains = zip(self.chains, self.generators, strict=True)
        found = run([partial(self._advance, *chain, couplings, fields, sweeps) for chain in chains])
        lost = self._lost(couplings, fields)
        a, b = (self._data(whole, found[half::2], lost) for half in (0, 1))
        return a, b

    def averaged(self, J: Array, h: Array, run: Run) -> Data:
        """The averages under this model, by all chains, from several looks."""
        looks = [Data.both(*self.look(J, h, run)) for _ in range(_LOOKS if self.B else 1)]
        C, shift = (np.mean([getattr(data, name) for data in looks], axis=0) for name in ("C", "shift"))
        lost = Lost.joined([data.lost for data in looks if data.lost is not None], FISHER)
        return replace(looks[-1], C=C, shift=shift, lost=lost)

    def with_fewer(self, most: int) -> Clamped:
        """The same with so many chains of a row at most, an even number; it goes on with them as they are."""
        other = copy(self)
        other.chains, other.generators = self.chains[:most], self.generators[:most]
        return other

    def completed(self, most: int) -> list[Spins]:
        """All rows, the complete ones first, with what is missing as the chains have it, so many times at most."""
        chains = self.chains[: min(most, self.copies)]
        return [np.concatenate([self.whole, chain.astype(np.int8)]) for chain in chains]

    def _complete(self, couplings: Single, fields: Single, run: Run) -> tuple[Array, Array]:
        """Sums, and sums of products, of complete rows, with the means of hidden units."""
        if not self.hidden:
            return self._seen
        k, step = self.hidden, max(1, _AT_A_TIME // self.n)
        blocks = [self.whole[start : start + step] for start in range(0, len(self.whole), step)]
        parts = run([partial(_with_hidden, block, couplings, fields, k) for block in blocks])
        sums, products = np.zeros(self.n), np.zeros((self.n, self.n))
        sums[:-k], products[:-k, :-k] = self._seen
        for part_sums, part_products in parts:
            sums[-k:] += part_sums
            products[:, -k:] += part_products
        products[-k:, :-k] = products[:-k, -k:].T
        return sums, products

    def _advance(
        self, chain: Single, rng: np.random.Generator, couplings: Single, fields: Single, sweeps: int
    ) -> tuple[Array, Array]:
        for _ in range(sweeps):
            uniforms = 2 * rng.random(len(self.cells), np.float32) - 1
            sweep(chain, couplings, fields, self.starts, self.cells, uniforms)
        return _moments(self._without_noise(chain, couplings, fields))

    def _without_noise(self, chain: Single, couplings: Single, fields: Single) -> Single:
        """A chain with the means of hidden units in their place."""
        return summed_out(chain.T.copy(), couplings, fields, self.hidden).T if self.hidden else chain

    def _data(self, whole: tuple[Array, Array], found: list[tuple[Array, Array]], lost: Lost | None) -> Data:
        m, R = (
            (of_whole + sum(part[k] for part in found) / max(len(found), 1)) / self.N
            for k, of_whole in enumerate(whole)
        )
        return Data(self.N, self.d, around(self.d, m, R), m - self.d, self.counts, lost, self.hidden)

    def _lost(self, couplings: Single, fields: Single) -> Lost:
        """From the chains as they are, of some rows if there are many."""
        pairs = int(np.clip(FISHER // max(self.B, 1), 1, self.copies // 2))
        step = max(1, math.ceil(self.B / FISHER))
        first, second = (
            np.concatenate(
                [
                    self._without_noise(chain[::step], couplings, fields)
                    for chain in self.chains[k : 2 * pairs : 2]
                ]
            ).T
            for k in (0, 1)
        )
        return Lost(first, second, self.d, self.B / self.N, self.copies)


def observed(stats: SpinStatistics, seed: np.random.SeedSequence) -> Data | Clamped:
    """What learning compares a model with: averages over complete rows, or chains of what is missing in others."""
    return Clamped(stats.spins(), seed) if stats.missing else Data.of(stats)


def _moments(spins: Single | Spins) -> tuple[Array, Array]:
    """Sums, and sums of products."""
    single = spins.astype(np.float32, copy=False)
    return single.sum(axis=0, dtype=np.float64), (single.T @ single).astype(np.float64)


def _with_hidden(spins: Spins, couplings: Single, fields: Single, k: int) -> tuple[Array, Array]:
    """Sums of the means of hidden units, and of their products with all spins."""
    single = spins.astype(np.float32)
    tau = np.tanh(single @ couplings[:-k, -k:] + fields[-k:])
    products = np.concatenate([single.T @ tau, tau.T @ tau])
    return tau.sum(axis=0, dtype=np.float64), products.astype(np.float64)
