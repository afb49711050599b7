"""Run experiments, then write their CSV files, figures and one summary."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from ..files import writing
from .figures import draw, save
from .runner import Progress, cost, finished, run
from .specification import NAMES, PAPER, Cell, Experiment, catalogue, cells_of, load, quick
from .summary import markdown, rows_of, write_csv


def select(names: Sequence[str], small: bool) -> list[Experiment]:
    """Experiments by name, "all" for those of the paper, each once, in the order given."""
    wanted = [name for given in names for name in (PAPER if given == "all" else (given,))]
    experiments = [load(name) for name in dict.fromkeys(wanted)]
    return [quick(experiment) if small else experiment for experiment in experiments]


def workload(experiments: Sequence[Experiment], small: bool) -> dict[Cell, float]:
    """Cells that the experiments need, with their relative cost."""
    works = catalogue(small)
    return {cell: cost(cell, works[cell]) for experiment in experiments for cell in cells_of(experiment)}


def complete(folder: Path, small: bool) -> list[Experiment]:
    """Experiments whose cells are all in the folder, whichever run they come from."""
    done = finished(catalogue(small), folder, small)
    return [experiment for experiment in select(NAMES, small) if done.issuperset(cells_of(experiment))]


def reproduce(
    experiments: Sequence[Experiment],
    folder: Path,
    small: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> None:
    """Simulate what is missing in ``folder`` and write everything that follows from the cells.

    CSV files and figures are those of ``experiments``; the summary covers all that the folder holds.
    """
    start = time.perf_counter()
    run(workload(experiments, small), folder, small, seed, progress)
    printed = [value for name in ("table1", "table2", "table3") for value in load(name).printed]
    covered = complete(folder, small)
    rows = {experiment.name: rows_of(experiment, folder) for experiment in covered}
    for experiment in experiments:
        write_csv(rows[experiment.name], folder / f"{experiment.name}.csv")
        marks = [] if small or experiment.prior == "laplace" else printed
        save(draw(experiment, rows[experiment.name], marks), folder, experiment.name)
    packages = ", ".join(f"{name} {version(name)}" for name in ("bayesing", "numpy", "scipy", "numba"))
    header = [
        f"- experiments: {', '.join(rows)}" + (" (quick)" if small else ""),
        f"- seed {seed}; Python {platform.python_version()}, {packages}",
        f"- time of this run: {(time.perf_counter() - start) / 60:.1f} minutes (finished cells are not run again)",
    ]
    if small:
        header.append("- values printed in the paper are compared at full scale only, without --quick")
    with writing(folder / "summary.md", force=True) as file:
        file.write(markdown([(e, rows[e.name]) for e in covered], header).encode())
