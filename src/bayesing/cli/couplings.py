"""``bayesing couplings``: all couplings with errors, as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ._methods import AUTO, coupling_methods, coupling_priors
from ._options import (
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
    from ..boltzmann_machine import BoltzmannMachine
    from ._progress import Progress


@click.command(short_help="Infer all couplings, with errors, and write them to a file.")
@data_argument
@click.option("-o", "--output", required=True, help="The .csv file to write.")
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
@series_option
@runs_option
@reading_options
@click.option("--seed", type=int, default=None, help="Seed of methods that draw random numbers.")
@json_option
@force_option
def couplings(
    data: str,
    output: str,
    method: str,
    prior: str,
    gamma: str,
    hidden: str,
    fdr: float,
    matrix: bool,
    series: bool,
    by: str | None,
    reading: Reading,
    seed: int | None,
    as_json: bool,
    force: bool,
) -> None:
    """Infer the couplings of all pairs of spins from DATA, and write them to a .csv file.

    Rows of DATA are samples, columns are spins, ±1, 0/1 or yes/no; the formats are those of 'bayesing fit'. The file
    has a row for every pair: the numbers of the two columns (from 0), their names, the coupling J, its standard
    error, the probability that it is there, and 1 if it is an edge. '--prior sparse' answers which couplings there
    are. With other priors none is 0, and the probability is that of its sign. With '--hidden' there are common causes
    beside the couplings, and the file has rows for what they load on, too: 'cause 1' is the second of the two names.
    """
    from ..arguments import number
    from ..boltzmann_machine import BoltzmannMachine
    from ..inference import check_couplings
    from ._errors import naming
    from ._json import couplings_as_json, dumps
    from ._options import n_hidden
    from ._output import check_output
    from ._progress import Progress
    from ._reading import read, read_runs
    from ._shown import shown_couplings
    from ._text import couplings_as_text

    check_output(output, ".csv", force, data)
    number("--fdr", fdr, least=0, most=1)
    units = n_hidden(hidden)
    check_couplings(method, prior, gamma, units)
    bm = BoltzmannMachine(method, prior, gamma, units, series, random_state=seed)
    found = read(data, reading) if by is None else read_runs(data, by, reading)
    N, n = found.statistics.N, found.statistics.n
    pairs = n * (n - 1) // 2
    with Progress(f"inferring {pairs} couplings from {N} samples") as progress:
        with naming(data):
            bm.fit(found.statistics, progress=progress.advance)
        _write(bm, output, matrix, fdr, force, progress)
    result = shown_couplings(bm, found.statistics, fdr)
    if as_json:
        how = {"encoding": found.encoding, "notes": found.notes, "output": output}
        click.echo(dumps(couplings_as_json(result) | how))
    else:
        click.echo(couplings_as_text(result, found.encoding))
        k = bm.answer_.n_hidden
        causes = f" and {n * k} loadings" if k else ""
        click.echo(
            f"wrote {output}: " + (f"a {n + k} x {n + k} matrix" if matrix else f"{pairs} couplings{causes}")
        )


def _write(
    bm: BoltzmannMachine, output: str, matrix: bool, fdr: float, force: bool, progress: Progress
) -> None:
    """The list of pairs, or the matrix below the names of its columns; common causes come last."""
    from ..edges import Coupling, limit_for
    from ..loadings import cause_names, limit_for_loadings, loadings_of
    from ._output import writing_table

    n, names = bm.n_features_in_, bm.names()
    loadings = list(loadings_of(bm.answer_, names))
    progress.begin(f"writing {output}")
    with writing_table(output, force) as table:
        if matrix:
            table.writerow([*names, *cause_names(bm.answer_.n_hidden, names)])
            whole = bm.model_.couplings
            table.writerows(progress.over(whole.tolist(), len(whole)))
        else:
            table.writerow([*Coupling._fields, "edge"])
            limit = limit_for(bm.answer_, n, fdr)
            rows = ((*pair, int(pair.probability > limit)) for pair in bm.pairs())
            table.writerows(progress.over(rows, n * (n - 1) // 2))
            if loadings:
                limit = limit_for_loadings(loadings, fdr)
                table.writerows((*each, int(each.probability > limit)) for each in loadings)
