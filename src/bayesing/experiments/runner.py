"""The paper's data sets as cells: what is simulated in each, and what is kept of it.

A cell's random numbers follow from the seed and the cell alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..generator import simulate
from ..moments import SpinMoments
from ..strength.plefka import e, fit_plefka
from .cells import CellFolder, Task, csv_bytes, digest
from .specification import Cell, Work, catalogue

COLUMNS = ("repeat", "N", "gamma", "J", "H", "case", "M", "e", "Phi", "phi2")

TEMPERING = 30  # time of parallel tempering over that of annealing


def results(folder: Path, small: bool = False, seed: int = 0) -> CellFolder:
    """The folder of a reproduction; it holds results of these settings or none."""
    works = sorted(catalogue(small).items(), key=lambda item: item[0])
    return CellFolder(folder, {"quick": small, "seed": seed, "plan": digest((COLUMNS, works))})


def tasks_of(cells: Iterable[Cell], small: bool = False, seed: int = 0) -> list[Task]:
    """How to simulate each cell, with the N and repeats of the catalogue."""
    works = catalogue(small)
    return [
        Task(
            cell.name,
            partial(simulate_cell, cell, works[cell], seed),
            cost(cell, works[cell]),
            f"{works[cell].repeats} repeats",
        )
        for cell in cells
    ]


def cost(cell: Cell, work: Work) -> float:
    """Relative time of a cell: a sweep is n^2 N operations."""
    slower = TEMPERING if cell.sampler == "temper" else 1
    return work.repeats * (cell.n**2 * (max(work.samples) + 20.0)) * slower


def simulate_cell(cell: Cell, work: Work, seed: int) -> bytes:
    """The content of a cell's file, as CSV."""
    return csv_bytes([COLUMNS, *_estimates(cell, work, seed)])


def _estimates(cell: Cell, work: Work, seed: int) -> Iterator[list[Any]]:
    """All repeats of a cell: one simulation with the largest N each, estimates from its first N samples."""
    key = int.from_bytes(hashlib.sha256(cell.name.encode()).digest()[:8], "little")
    for repeat in range(work.repeats):
        sim = simulate(
            cell.n,
            max(work.samples),
            J=cell.J,
            H=cell.H,
            prior=cell.prior,
            sampler=cell.sampler,
            seed=np.random.SeedSequence([seed, key, repeat]),
        )
        for N in work.samples:
            m = SpinMoments.of(sim.spins[:N])
            fit = fit_plefka(m)
            yield [
                *(repeat, N, repr(fit.gamma), repr(fit.gamma**0.5), repr(fit.H), fit.case),
                *(repr(float(value)) for value in (m.M, e(m.M), fit.Phi, fit.phi2)),
            ]
