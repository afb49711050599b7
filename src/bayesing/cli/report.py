"""``bayesing report``: all that the data say, as one HTML file."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from ._methods import AUTO, coupling_priors
from ._options import (
    batch_option,
    check_jobs,
    dask_option,
    data_argument,
    force_option,
    hidden_option,
    prior_option,
    runs_option,
    series_option,
)
from ._reading import Reading, reading_options

if TYPE_CHECKING:
    from ._cluster import Cluster


@click.command(short_help="Write a report with numbers and pictures, one HTML file.")
@data_argument
@click.option("-o", "--output", default="report.html", show_default=True, help="The .html file to write.")
@click.option("--title", help="Title of the report; the name of the file by default.")
@click.option("--method", default=AUTO, show_default=True, help="Method for J and H, as of 'bayesing fit'.")
@click.option(
    "--couplings-method",
    default=AUTO,
    show_default=True,
    help="Method for the couplings, as of 'bayesing couplings'.",
)
@prior_option(coupling_priors)
@hidden_option
@series_option
@runs_option
@reading_options
@batch_option
@click.option(
    "--simulations",
    type=int,
    help="Data sets to simulate for the intervals, 0 for none; by default as many as take seconds.",
)
@click.option("--jobs", type=int, default=-1, help="Processes; all cores by default.")
@dask_option("read the files, simulate and draw")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed; the same one gives the same report."
)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as one JSON object, too.")
@force_option
@click.pass_obj
def report(
    typed: list[str] | None,
    data: tuple[str, ...],
    output: str,
    title: str | None,
    method: str,
    couplings_method: str,
    prior: str,
    hidden: str,
    series: bool,
    by: str | None,
    reading: Reading,
    batch: int | None,
    simulations: int | None,
    jobs: int,
    cluster: Cluster | None,
    seed: int,
    as_json: bool,
    force: bool,
) -> None:
    """Write a report on DATA: the answer in words, numbers with intervals, pictures, and how they came about.

    It is one HTML file that needs no network, for screens of any size and for paper. Rows of DATA are samples,
    columns are spins; DATA may be several files, as of 'bayesing fit'. What would take minutes is left out or
    reduced, and the report says so.
    """
    import joblib

    from ..exceptions import Setting
    from ..report.numbers import numbers
    from ..report.request import Choices, Source
    from ..report.write import write_report
    from ._errors import naming
    from ._json import dumps, estimate_as_json
    from ._options import n_hidden
    from ._output import check_output, echo
    from ._progress import Progress
    from ._reading import name_of, read_data
    from ._shown import shown

    check_output(output, ".html", force, data)
    check_jobs(jobs)
    choices = Choices(
        method, prior, couplings_method, n_hidden(hidden), simulations, seed, series, Setting.in_shell
    )
    command = shlex.join(["bayesing", *(typed or ["report", *data])])
    with Progress("reading") as progress, joblib.parallel_config(n_jobs=jobs):
        found = read_data(data, reading, batch, by, series, aloud=False, cluster=cluster)
        name = name_of(data)
        source = Source(name_of(data, folders=False), found.statistics, found.notes)
        with naming(name):
            written = write_report(output, source, choices, title, command, force, progress)
    if as_json:
        click.echo(dumps(estimate_as_json(shown(written.eb.answer_), written.interval) | numbers(written)))
    else:
        echo(f"wrote {output}: look at it in a browser")
