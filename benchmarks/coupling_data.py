"""What the parts of the benchmark of couplings share: data, fits, and the error of a coupling matrix."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

import bayesing as bs
from bayesing.experiments.cells import Task

from front import Row, grouped, rows_task

SWEEPS = 10  # at each temperature, up to J = 1
SWEEPS_BEYOND = 40


def data(n: int, N: int, J: float, H: float, repeat: int) -> bs.Simulation:
    """Equilibrated: slow annealing, the slower the stronger the couplings."""
    seed = np.random.SeedSequence([7, n, round(10 * J), round(10 * H), repeat])
    return bs.simulate(n, N, J=J, H=H, sweeps=SWEEPS_BEYOND if J > 1 else SWEEPS, seed=seed)


def error(J: np.ndarray, truth: np.ndarray) -> float:
    """|J - truth| over |truth|."""
    return float(np.linalg.norm(J - truth) / np.linalg.norm(truth))


def machine(method: str = "auto", **parameters: Any) -> bs.BoltzmannMachine:
    return bs.BoltzmannMachine(method, random_state=0, **parameters)


def couplings_at(spins: np.ndarray, method: str, gamma: float) -> np.ndarray:
    """Couplings for a given gamma, which may be 0."""
    n = spins.shape[1]
    return machine(method, gamma=gamma).fit(spins).couplings_ if gamma > 0 else np.zeros((n, n))


def cell(work: Callable[..., Iterator[Row]], *arguments: Any, cost: float = 1.0) -> Task:
    """A cell named by all arguments but the first, which is the settings."""
    name = "-".join(map(str, arguments[1:])).replace(" ", "-")
    return rows_task(name, partial(_quietly, work, *arguments), cost)


def _quietly(work: Callable[..., Iterator[Row]], *arguments: Any) -> list[Row]:
    with warnings.catch_warnings():
        for expected in (bs.BoundWarning, bs.CheckWarning):  # gamma = 0 is a result, and so is a poor model
            warnings.simplefilter("ignore", expected)
        return list(work(*arguments))


def mean_by(rows: Iterable[Row], value: str, *columns: str) -> dict[tuple[str, ...], float]:
    """Mean of one column over all rows that agree in others."""
    return {
        key: float(np.mean([float(row[value]) for row in here]))
        for key, here in grouped(rows, *columns).items()
    }
