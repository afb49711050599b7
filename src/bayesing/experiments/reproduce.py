"""Run experiments, then write their CSV files, figures and one summary."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from ..files import writing
from .cells import CellFolder, CellProgress, Task
from .figures import draw, save
from .runner import results, tasks_of
from .specification import NAMES, PAPER, Experiment, catalogue, cells_of, load, quick
from .summary import markdown, rows_of, write_csv


def select(names: Sequence[str], small: bool) -> list[Experiment]:
    """Experiments by name, "all" for those of the paper, each once, in the order given."""
    wanted = [name for given in names for name in (PAPER if given == "all" else (given,))]
    experiments = [load(name) for name in dict.fromkeys(wanted)]
    return [quick(experiment) if small else experiment for experiment in experiments]


def workload(experiments: Sequence[Experiment], small: bool, seed: int = 0) -> list[Task]:
    """Cells that the experiments need, each once."""
    cells = dict.fromkeys(cell for experiment in experiments for cell in cells_of(experiment))
    return tasks_of(cells, small, seed)


def complete(cells: CellFolder, small: bool) -> list[Experiment]:
    """Experiments whose cells are all in the folder, whichever run they come from."""
    names = [cell.name for cell in catalogue(small)]
    done = cells.finished(names)
    left_out = "Experiments that need it are left out of the summary; run them again."
    cells.warn_of_damage((name for name in names if name not in done), left_out)
    return [
        experiment
        for experiment in select(NAMES, small)
        if done.issuperset(cell.name for cell in cells_of(experiment))
    ]


def reproduce(
    experiments: Sequence[Experiment],
    folder: Path,
    small: bool = False,
    seed: int = 0,
    progress: CellProgress | None = None,
) -> None:
    """Simulate what is missing in ``folder`` and write everything that follows from the cells.

    CSV files and figures are those of ``experiments``; the summary covers all that the folder holds.
    """
    start = time.perf_counter()
    cells = results(folder, small, seed)
    cells.run(workload(experiments, small, seed), progress)
    printed = [value for name in ("table1", "table2", "table3") for value in load(name).printed]
    covered = complete(cells, small)
    rows = {experiment.name: rows_of(experiment, cells) for experiment in covered}
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
        file.write(markdown([(e, rows[e.name]) for e in covered], header, small).encode())
