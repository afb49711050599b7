"""``bayesing reproduce``: the tables and figures of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..experiments.cells import CellFolder

QUICK = "quick"  # inside the folder of results: settings of small runs and of full ones differ
PROCESSES_PER_CORE = 4  # at most: more of them only wait for each other


@click.command(short_help="Reproduce the paper's tables and figures.")
@click.argument("names", nargs=-1)
@click.option(
    "--quick", is_flag=True, help="The same in small, in under a minute, in a folder quick of its own."
)
@click.option("--jobs", type=int, default=1, show_default=True, help="Processes; -1 is one for each core.")
@click.option("--dask", metavar="ADDRESS", help="Run on a Dask cluster, tcp://host:port, instead.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed.")
@click.option(
    "-o", "--output", default="results", show_default=True, help="Folder of results; a run continues there."
)
def reproduce(
    names: tuple[str, ...], quick: bool, jobs: int, dask: str | None, seed: int, output: str
) -> None:
    """Reproduce the experiments NAMES of the paper, or all of them.

    table1 table2 table3 fig2 fig3 fig4 fig5 fig6 fig7 fig8 appendix-c, or "all"; beyond the paper, equilibrium.
    A run that was interrupted goes on where it stopped. The summary covers all that the folder holds. Results of
    --quick are in the folder quick inside it, apart from those of a full run.
    """
    import joblib

    from ..experiments.reproduce import reproduce as run
    from ..experiments.reproduce import select, workload
    from ..experiments.runner import results
    from ._cluster import on_cluster
    from ._progress import Cells, Progress

    experiments = select(names or ("all",), quick)
    _check_run(seed, jobs, output, quick)
    folder = Path(output) / QUICK if quick else Path(output)
    cells, tasks = results(folder, quick, seed), workload(experiments, quick, seed)
    _check_folder(cells)
    done = cells.finished(task.name for task in tasks)
    with (
        on_cluster(dask, kept="Finished cells are kept: "),
        Progress("", keep=True) as progress,
        joblib.parallel_config(n_jobs=None if dask else jobs),
    ):
        left = len(tasks) - len(done)
        progress.line(f"{left} of {len(tasks)} cells to simulate, results in {folder}")
        run(experiments, folder, quick, seed, Cells(progress, tasks, done))
    click.echo(f"Look at {folder / 'summary.md'} and the figures beside it.")


def _check_folder(cells: CellFolder) -> None:
    """Raise a ValueError that names the option, if the folder holds results of other settings."""
    try:
        cells.check()
    except ValueError as error:
        raise ValueError(f"-o {error}") from error


def _check_run(seed: int, jobs: int, output: str, quick: bool) -> None:
    """Raise a ValueError that names the option at fault, before anything is written."""
    import joblib

    from ..arguments import count
    from ..files import check_folder

    count("--seed", seed, 0)
    most = PROCESSES_PER_CORE * joblib.cpu_count()
    if jobs != -1 and not 1 <= jobs <= most:
        raise ValueError(
            f"--jobs must be from 1 to {most}, four for each core, or -1 for one each: found --jobs={jobs}."
        )
    try:
        check_folder(output)
        if quick:
            check_folder(str(Path(output) / QUICK))
    except ValueError as error:
        raise ValueError(f"-o {output!r}: {error}") from error
