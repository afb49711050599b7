"""``bayesing fit``: J and H from a file of spins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ._methods import strength_methods, strength_priors
from ._options import (
    batch_option,
    check_jobs,
    dask_option,
    data_argument,
    json_option,
    method_option,
    prior_option,
    runs_option,
    series_option,
)
from ._reading import Reading, reading_options

if TYPE_CHECKING:
    from ..calibration import Interval
    from ..inference import StrengthAnswer
    from ..statistics import SpinStatistics
    from ._cluster import Cluster


@click.command(short_help="Infer J and H from a file of spins.")
@data_argument
@method_option(strength_methods)
@prior_option(strength_priors)
@click.option("--mean-coupling", is_flag=True, help="Also estimate a mean coupling J0/n.")
@series_option
@runs_option
@reading_options
@batch_option
@click.option("--interval", is_flag=True, help="Intervals and corrected estimates, by simulation.")
@click.option("--level", type=float, default=0.9, show_default=True, help="Level of the intervals.")
@click.option("--simulations", type=int, default=200, show_default=True, help="Data sets to simulate.")
@click.option("--jobs", type=int, default=-1, help="Simulations at a time; all cores by default.")
@dask_option("read the files and simulate")
@click.option("--seed", type=int, default=None, help="Seed of methods that draw random numbers.")
@json_option
def fit(
    data: tuple[str, ...],
    method: str,
    prior: str,
    mean_coupling: bool,
    series: bool,
    by: str | None,
    reading: Reading,
    batch: int | None,
    interval: bool,
    level: float,
    simulations: int,
    jobs: int,
    cluster: Cluster | None,
    seed: int | None,
    as_json: bool,
) -> None:
    """Infer J and H from DATA: rows are samples, columns are spins, ±1, 0/1 or yes/no.

    DATA is one file, or several files of one table, or a pattern in quotes such as 'day*.csv', whose files are taken
    in the order of their names, with numbers by their size. Columns and encodings must be the same in all files. They
    are read in one pass. Where rows are too many to be kept, memory stays bounded, and methods that need rows are
    given a random choice of them.

    A file is an .npy, .npz, .csv, .tsv, .txt or .parquet file, or one of SPSS (.sav) or R (.rds, .rda). Text and .npy
    may be compressed (.gz, .bz2, .xz, .zst).
    """
    from ..allowed import check_strength
    from ..inference import infer_strength
    from ..strength import Options
    from ._errors import naming, show
    from ._json import dumps, estimate_as_json
    from ._output import echo
    from ._progress import Progress
    from ._reading import name_of, read_data
    from ._shown import shown
    from ._text import estimate_as_text

    if interval:
        check_jobs(jobs)
    check_strength(method, Options(prior, mean_coupling))
    read = read_data(data, reading, batch, by, series, cluster=cluster)
    with naming(name_of(data)), Progress("inferring") as progress:
        answer = infer_strength(read.statistics, method, prior, mean_coupling, seed, progress.advance, series)
    show(answer.warnings)
    found = None
    if interval:
        found = _interval(answer, read.statistics, level, simulations, jobs, 0 if seed is None else seed)
    if as_json:
        how_read = {"encoding": read.encoding, "notes": read.notes}
        click.echo(dumps(estimate_as_json(shown(answer), found) | how_read))
    else:
        echo(estimate_as_text(shown(answer), found, read.encoding))


def _interval(
    answer: StrengthAnswer, data: SpinStatistics, level: float, simulations: int, jobs: int, seed: int
) -> Interval:
    import joblib

    from ..calibration import interval_of
    from ..exceptions import SaturationWarning
    from ._errors import show
    from ._progress import Progress

    with Progress("simulating data sets") as progress, joblib.parallel_config(n_jobs=jobs):
        found = interval_of(answer, data, level, simulations, seed, progress=progress.advance)
    if found.is_open:
        show([SaturationWarning(f"{found.note[0].upper()}{found.note[1:]}.")])
    return found
