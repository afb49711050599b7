"""``bayesing fit``: J and H from a file of spins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ._methods import moment_methods, strength_methods
from ._options import check_jobs, data_argument, json_option, method_option, prior_option
from ._reading import Reading, reading_options

if TYPE_CHECKING:
    from ..calibration import Interval
    from ..empirical_bayes import EmpiricalBayes
    from ..io import SpinData


@click.command(short_help="Infer J and H from a file of spins.")
@data_argument
@method_option(strength_methods)
@prior_option
@click.option("--mean-coupling", is_flag=True, help="Also estimate a mean coupling J0/n.")
@reading_options
@click.option(
    "--batch", metavar="ROWS", type=int, help="Read so many samples at a time; for data beyond memory."
)
@click.option("--interval", is_flag=True, help="Intervals and corrected estimates, by simulation.")
@click.option("--level", type=float, default=0.9, show_default=True, help="Level of the intervals.")
@click.option("--simulations", type=int, default=200, show_default=True, help="Data sets to simulate.")
@click.option("--jobs", type=int, default=-1, help="Simulations at a time; all cores by default.")
@click.option("--seed", type=int, default=None, help="Seed of methods that draw random numbers.")
@json_option
def fit(
    data: str,
    method: str,
    prior: str,
    mean_coupling: bool,
    reading: Reading,
    batch: int | None,
    interval: bool,
    level: float,
    simulations: int,
    jobs: int,
    seed: int | None,
    as_json: bool,
) -> None:
    """Infer J and H from DATA: rows are samples, columns are spins, ±1, 0/1 or yes/no.

    DATA is an .npy, .npz, .csv, .tsv, .txt or .parquet file. Text and .npy may be compressed (.gz, .bz2, .xz, .zst).
    """
    from ..empirical_bayes import EmpiricalBayes
    from ._json import dumps, estimate_as_json
    from ._shown import shown
    from ._text import estimate_as_text

    if interval:
        check_jobs(jobs)
    eb = EmpiricalBayes(method, prior, mean_coupling, random_state=seed)
    read = _fit_file(eb, data, reading, batch)
    found = _interval(eb, level, simulations, jobs, 0 if seed is None else seed) if interval else None
    if as_json:
        how_read = {"encoding": read.encoding, "notes": read.notes}
        click.echo(dumps(estimate_as_json(shown(eb), found) | how_read))
    else:
        click.echo(estimate_as_text(shown(eb), found, read.encoding))


def _fit_file(eb: EmpiricalBayes, data: str, reading: Reading, batch: int | None) -> SpinData:
    """Fit the file ``data``, in batches if asked to or if it is too large; say how it was read."""
    from ._errors import naming
    from ._reading import beyond_memory, read, read_moments

    from_moments = eb.method in moment_methods()
    if batch is not None and not from_moments:
        raise ValueError(
            f"--batch needs one of the methods {', '.join(moment_methods())}: found {eb.method}, which needs all "
            "spins at once. Choose another, or leave out --batch."
        )
    beyond = "" if batch is not None else beyond_memory(data, reading)
    in_batches = batch is not None or (beyond and from_moments and reading.missing != "drop-spins")
    if in_batches:
        moments, found = read_moments(data, reading, batch, beyond)
        with naming(data):
            eb.fit_moments(moments)
    else:
        found = read(data, reading, beyond)
        with naming(data):
            eb.fit(found.spins)
    return found


def _interval(eb: EmpiricalBayes, level: float, simulations: int, jobs: int, seed: int) -> Interval:
    import joblib

    from ._progress import Progress

    with Progress("simulating data sets") as progress, joblib.parallel_config(n_jobs=jobs):
        return eb.interval(level, simulations, seed, progress=progress.advance)
