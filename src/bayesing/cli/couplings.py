"""``bayesing couplings``: all couplings with errors, as a file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from ._methods import AUTO, coupling_methods, coupling_priors
from ._options import (
    batch_option,
    dask_option,
    data_argument,
    force_option,
    hidden_option,
    json_option,
    method_option,
    prior_option,
    runs_option,
    series_option,
)
from ._reading import Reading, reading_options

if TYPE_CHECKING:
    from ._cluster import Cluster


@click.command(short_help="Infer all couplings, with errors, and write them to a file.")
@data_argument
@click.option(
    "-o", "--output", required=True, help="The file to write: .csv, .parquet, .graphml, .gexf, .json or .npz."
)
@method_option(coupling_methods)
@prior_option(coupling_priors)
@click.option("--gamma", default=AUTO, show_default=True, help="Strength of the couplings, J^2, or auto.")
@hidden_option
@click.option(
    "--fdr",
    type=float,
    default=0.05,
    show_default=True,
    help="Expected share of false ones among the couplings that the file calls edges.",
)
@click.option("--matrix", is_flag=True, help="Write the n x n matrix instead of a list of pairs.")
@click.option("--top", metavar="K", type=int, help="Write the K strongest couplings instead of all.")
@click.option("--fields", metavar="FILE", help="A .csv file to write the fields to, as well.")
@click.option(
    "--encoding",
    default="±1",
    show_default=True,
    help="01 writes couplings and thresholds of variables that are 0 and 1.",
)
@series_option
@runs_option
@reading_options
@batch_option
@dask_option("read the files")
@click.option("--seed", type=int, default=None, help="Seed of methods that draw random numbers.")
@json_option
@force_option
def couplings(
    data: tuple[str, ...],
    output: str,
    method: str,
    prior: str,
    gamma: str,
    hidden: str,
    fdr: float,
    matrix: bool,
    top: int | None,
    fields: str | None,
    encoding: str,
    series: bool,
    by: str | None,
    reading: Reading,
    batch: int | None,
    cluster: Cluster | None,
    seed: int | None,
    as_json: bool,
    force: bool,
) -> None:
    """Infer the couplings of all pairs of spins from DATA, and write them to a file.

    Rows of DATA are samples, columns are spins, ±1, 0/1 or yes/no; DATA may be several files, as of 'bayesing fit'.
    The format of the file follows from its ending. A .csv or .parquet file has a row for every pair: the numbers of
    the two columns (from 0), their names, the coupling J, its standard error, the probability that it is there, and 1
    if it is an edge. A .graphml or .gexf file is the network of the edges, a .json file has nodes and all pairs,
    and an .npz file the whole fit, which BoltzmannMachine.load reads.

    '--prior sparse' answers which couplings there are. With other priors none is 0, and the probability is that of
    its sign. With '--hidden' there are common causes beside the couplings, and the file has rows for what they load
    on, too: 'cause 1' is the second of the two names.
    """
    from ..allowed import check_couplings
    from ..arguments import number
    from ..boltzmann_machine import BoltzmannMachine
    from ..export import ENDINGS, Choices, Fit, check_choices, check_size, write, write_fields
    from ._errors import naming
    from ._json import couplings_as_json, dumps
    from ._options import n_hidden
    from ._output import check_output, echo
    from ._progress import Progress
    from ._reading import name_of, read_data
    from ._shown import shown_couplings
    from ._text import couplings_as_text

    choices = Choices(number("--fdr", fdr, least=0, most=1), encoding, matrix, top)
    check_choices(output, choices)
    check_output(output, ENDINGS, force, data)
    if fields is not None:
        check_output(fields, ".csv", force, data)
        if os.path.realpath(fields) == os.path.realpath(output):
            raise ValueError(f"--fields must be another file than {output}.")
    units = n_hidden(hidden)
    check_couplings(method, prior, gamma, units)
    bm = BoltzmannMachine(method, prior, gamma, units, series, random_state=seed)
    found = read_data(data, reading, batch, by, series, cluster=cluster)
    N, n = found.statistics.N, found.statistics.n
    check_size(output, choices, n)
    pairs = n * (n - 1) // 2
    with Progress(f"inferring {pairs} couplings from {N} samples") as progress:
        with naming(name_of(data)):
            bm.fit(found.statistics, progress=progress.advance)
        fit = Fit.of(bm)
        progress.begin(f"writing {output}")
        written = write(output, fit, choices, force, progress.over)
        of_fields = write_fields(fields, fit, choices, force) if fields is not None else ""
    result = shown_couplings(bm, found.statistics, fdr)
    if as_json:
        how = {"encoding": found.encoding, "notes": found.notes, "output": output}
        how |= {} if fields is None else {"fields_output": fields}
        click.echo(dumps(couplings_as_json(result) | how))
    else:
        echo(couplings_as_text(result, found.encoding, encoding))
        echo(f"wrote {output}: {written}")
        if fields is not None:
            echo(f"wrote {fields}: {of_fields}")
