r"""Rows with missing cells under a model: what they are probably like, and how probable is what they show.

A missing cell is 0 in an array of spins. Hidden units are nothing else: spins that are missing in every row. Up to
``EXACT`` missing cells in a row are gone through, and nothing is random then; more of them are left to chains
(``bayesing.sampling._clamped``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..arguments import Seed, generator
from ..ising import IsingModel
from ..packed import PackedSpins
from ..statistics import SpinStatistics
from ..types import Array, Spins

EXACT = 10  # missing cells of a row, whose states are gone through
_CHAINS = 2**15  # of all rows with more of them
_LEAST_CHAINS, _MOST_CHAINS = 32, 512  # of each
_STEPS = 21  # in which their couplings are switched on
_SWEEPS = 40  # from independent cells to draws


class Shown(NamedTuple):
    """Of each row: ln of the sum of exp(exponent) over what is missing, and the variance of this by sampling.

    ``up`` (rows, n) is the probability of +1 of every cell, which is 0 or 1 of those that are there.
    """

    log_weights: Array
    variances: Array
    up: Array

    @property
    def error(self) -> float:
        """Standard error of the mean of the logarithms, by sampling."""
        return math.sqrt(float(self.variances.sum())) / len(self.variances)


def shown(model: IsingModel, spins: Spins, seed: Seed = 0) -> Shown:
    """What a model says of rows (0 where a cell is missing).

    >>> model = IsingModel([[0.0, 0.5], [0.5, 0.0]], 0.0)
    >>> shown(model, np.array([[1, 0]], np.int8)).up.round(3).tolist()  # e/(1 + e), e = exp(2 J)
    [[1.0, 0.731]]
    """
    from ._clamped import (  # where they are needed, for kernels take time to load
        anneal,
        cells_of,
        go_through_rows,
    )

    rng = generator(seed)
    J, h = model.couplings, model.fields
    starts, cells = cells_of(spins)
    of_cells = np.empty(len(cells))
    log_weights = go_through_rows(spins, J, h, starts, cells, EXACT, of_cells)
    variances = np.zeros(len(spins))
    many = np.flatnonzero(np.diff(starts) > EXACT)
    betas = np.linspace(0, 1, _STEPS)
    chains = int(np.clip(_CHAINS // max(len(many), 1), _LEAST_CHAINS, _MOST_CHAINS))
    for k in many.tolist():
        part = slice(starts[k], starts[k + 1])
        uniforms = rng.random((chains, _STEPS, starts[k + 1] - starts[k]))
        row = spins[k].astype(np.float64)
        log_weights[k], variances[k] = anneal(row, J, h, cells[part], betas, uniforms, of_cells[part])
    up = (spins > 0).astype(np.float64)
    up[np.repeat(np.arange(len(spins)), np.diff(starts)), cells] = of_cells
    return Shown(log_weights, variances, up)


def padded(spins: Spins, n: int) -> Spins:
    """With columns for hidden units, missing in every row, up to n columns."""
    return np.pad(spins, ((0, 0), (0, n - spins.shape[1])))


def filled(stats: SpinStatistics) -> SpinStatistics:
    """Rows with each missing cell drawn by itself, from the mean of its spin."""
    rng, spins = np.random.default_rng(0), stats.spins()
    drawn = np.where(2 * rng.random(spins.shape) - 1 < stats.magnetisations, 1, -1)
    rows = PackedSpins.of(np.where(spins == 0, drawn, spins))
    return SpinStatistics(stats.N, stats.n, rows, names=stats.names, encoding=stats.encoding)


def completed(model: IsingModel, spins: Spins, seed: Seed = 0) -> Spins:
    """Rows with a draw of each missing cell, given what is there."""
    from ._clamped import cells_of, sweep

    rng = generator(seed)
    starts, cells = cells_of(spins)
    whole = spins.astype(np.float32)
    rows = np.repeat(np.arange(len(spins)), np.diff(starts))
    whole[rows, cells] = 2 * rng.integers(0, 2, len(cells)) - 1
    J, h = model.couplings.astype(np.float32), model.fields.astype(np.float32)
    for _ in range(_SWEEPS):
        sweep(whole, J, h, starts, cells, 2 * rng.random(len(cells), np.float32) - 1)
    return whole.astype(np.int8)


def log_conditionals_shown(model: IsingModel, spins: Spins) -> Array:
    """ln P of each cell that is there, given the others of its row that are."""
    found = []
    for row in spins:
        there = np.flatnonzero(row)
        others = np.repeat(row[None], len(there), axis=0)
        others[np.arange(len(there)), there] = 0
        up = shown(model, others).up[np.arange(len(there)), there]
        found.append(np.log(np.where(row[there] > 0, up, 1 - up)))
    return np.concatenate(found)
