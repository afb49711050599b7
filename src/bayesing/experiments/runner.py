"""Simulate the cells of experiments in parallel; each finished one is a file, so that a killed run goes on.

A cell's random numbers follow from the seed and the cell alone, and its file is written by the client, whole or
not at all. Any number of jobs or Dask workers (of one thread each), and any number of interruptions, give the
same bytes.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from ..exceptions import BayesingWarning
from ..files import writing
from ..generator import simulate
from ..moments import SpinMoments
from ..strength.plefka import e, fit_plefka
from .specification import Cell, Work, catalogue

COLUMNS = ("repeat", "N", "gamma", "J", "H", "case", "M", "e", "Phi", "phi2")

Progress = Callable[[Cell, float], None]


def run(
    cells: Iterable[Cell],
    folder: Path,
    small: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> None:
    """Simulate those of ``cells`` that are not in ``folder`` yet; ``progress`` hears of each finished one.

    The number of jobs, and where they run, are those of ``joblib.parallel_config``.
    """
    works, cells = catalogue(small), list(cells)
    prepare(folder, small, seed)
    done = finished(cells, folder, small)
    missing = [cell for cell in cells if cell not in done]
    for cell in missing:
        if _path(folder, cell).exists():
            warnings.warn(
                f"{_path(folder, cell)}: expected a whole cell, found a damaged one. It is simulated again.",
                BayesingWarning,
                stacklevel=2,
            )
    missing.sort(key=lambda cell: -cost(cell, works[cell]))  # long ones first: the last job ends soon
    tasks = (delayed(simulate_cell)(cell, works[cell], seed) for cell in missing)
    for cell, text, caught in Parallel(return_as="generator_unordered", batch_size=1)(tasks):
        with writing(_path(folder, cell), force=True) as file:
            file.write(text.encode())
        if caught:
            times = f"{len(caught)} warning(s) in {works[cell].repeats} repeats, the first"
            warnings.warn(f"{cell.name}: {times}: {caught[0]}", type(caught[0]), stacklevel=2)
        if progress:
            progress(cell, cost(cell, works[cell]))


def finished(cells: Iterable[Cell], folder: Path, small: bool) -> set[Cell]:
    """Those of ``cells`` whose files are in ``folder``, and whole."""
    works = catalogue(small)
    return {cell for cell in cells if _whole(_path(folder, cell), works[cell])}


def _path(folder: Path, cell: Cell) -> Path:
    return folder / "cells" / f"{cell.name}.csv"


def _whole(path: Path, work: Work) -> bool:
    """Whether there is a file with all columns, all repeats of each N, and a last line that has its end."""
    if not path.exists():
        return False
    try:
        text = path.read_text("utf-8")
        header, *rows = csv.reader(text.splitlines())
        found = [(int(row[0]), int(row[1])) for row in rows]
        for value in (value for row in rows for value in row[:5] + row[6:]):
            float(value)
    except (ValueError, IndexError, csv.Error):
        return False
    return (
        text.endswith("\n")
        and tuple(header) == COLUMNS
        and found == [(repeat, N) for repeat in range(work.repeats) for N in work.samples]
        and all(len(row) == len(COLUMNS) for row in rows)
    )


def prepare(folder: Path, small: bool, seed: int) -> None:
    """Make the folder of results, or check that it was made with the same settings."""
    check(folder, small, seed)
    (folder / "cells").mkdir(parents=True, exist_ok=True)
    path = folder / "settings.json"
    if not path.exists():
        with writing(path) as file:
            file.write((json.dumps(_settings(small, seed), indent=1) + "\n").encode())


def check(folder: Path, small: bool, seed: int) -> None:
    """Raise a ValueError if the folder holds results of other settings; write nothing."""
    path, settings = folder / "settings.json", _settings(small, seed)
    if not path.exists():
        return
    try:
        found = json.loads(path.read_text("utf-8"))
    except ValueError:
        found = None
    if found != settings:
        raise ValueError(
            f"{folder}: holds results of other settings, expected {json.dumps(settings)}, found "
            f"{json.dumps(found)}. Choose another folder with -o, or remove this one."
        )


def _settings(small: bool, seed: int) -> dict[str, bool | int | str]:
    plan = repr(sorted(catalogue(small).items(), key=lambda item: item[0]))
    return {"quick": small, "seed": seed, "plan": hashlib.sha256(plan.encode()).hexdigest()[:16]}


def cost(cell: Cell, work: Work) -> float:
    """Relative time of a cell: a sweep is n^2 N operations."""
    return work.repeats * (cell.n**2 * (max(work.samples) + 20.0)) * (30 if cell.sampler == "temper" else 1)


def simulate_cell(cell: Cell, work: Work, seed: int) -> tuple[Cell, str, list[BayesingWarning]]:
    """The text of a cell's file, and the warnings on the way, which a worker cannot show."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BayesingWarning)
        text = _table(cell, work, seed)
    ours = [warning.message for warning in caught if isinstance(warning.message, BayesingWarning)]
    for warning in caught:
        if not isinstance(warning.message, BayesingWarning):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return cell, text, ours


def _table(cell: Cell, work: Work, seed: int) -> str:
    """All repeats of a cell: one simulation with the largest N each, estimates from its first N samples."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
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
            J = fit.gamma**0.5
            table.writerow(
                [repeat, N, repr(fit.gamma), repr(J), repr(fit.H), fit.case]
                + [repr(float(value)) for value in (m.M, e(m.M), fit.Phi, fit.phi2)]
            )
    return text.getvalue()
