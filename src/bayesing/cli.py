"""The command line: a shell over the public functions. Imports wait until a command needs them."""

from __future__ import annotations

import json
import math
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from . import __version__
from .exceptions import InputError, Setting

if TYPE_CHECKING:
    from distributed import Client

    from .boltzmann_machine import BoltzmannMachine
    from .calibration import Interval
    from .empirical_bayes import EmpiricalBayes
    from .io import SpinData

PATIENCE = 10  # seconds to wait for a Dask scheduler, and for its first worker


@contextmanager
def _plain_errors() -> Iterator[None]:
    """A ValueError becomes one sentence and exit code 2, a warning one line; both on standard error."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        click.echo(f"warning: {message}", err=True)

    with warnings.catch_warnings():
        warnings.showwarning = show
        try:
            yield
        except InputError as error:
            _fail(error.worded(Setting.in_shell))
        except (ValueError, MemoryError) as error:
            _fail(str(error))


def _fail(sentence: str) -> NoReturn:
    click.echo("error: " + " ".join(sentence.splitlines()), err=True)
    sys.exit(2)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="bayesing")
def cli() -> None:
    """Empirical Bayes for Boltzmann machines: how strong are the couplings behind binary data?

    From N snapshots of n binary variables, infer J (couplings have variance J^2/n) and the field H.
    """


def _reading(command: Callable[..., None]) -> Callable[..., None]:
    """Options on how to read DATA."""
    for option in (
        click.option(
            "--drop-columns",
            metavar="NAME,...",
            multiple=True,
            help="Columns that are no spins, by name or by number from 1.",
        ),
        click.option(
            "--missing",
            default="error",
            show_default=True,
            help="What to do about missing values: error, drop-samples, drop-spins.",
        ),
        click.option("--array", metavar="NAME", help="Which array of an .npz file to read."),
    ):
        command = option(command)
    return command


@cli.command(short_help="Infer J and H from a file of spins.")
@click.argument("data", type=click.Path(readable=False))  # which lets shells complete it
@click.option(
    "--method",
    default="auto",
    show_default=True,
    help="auto, spectral, susceptibility, inversion, pseudolikelihood, or plefka (the paper's).",
)
@click.option(
    "--prior", default="gaussian", show_default=True, help="Prior of the couplings: gaussian, laplace."
)
@click.option("--mean-coupling", is_flag=True, help="Also estimate a mean coupling J0/n.")
@_reading
@click.option(
    "--batch", metavar="ROWS", type=int, help="Read so many samples at a time; for data beyond memory."
)
@click.option("--interval", is_flag=True, help="Intervals and corrected estimates, by simulation.")
@click.option("--level", type=float, default=0.9, show_default=True, help="Level of the intervals.")
@click.option("--simulations", type=int, default=200, show_default=True, help="Data sets to simulate.")
@click.option("--jobs", type=int, default=-1, help="Simulations at a time; all cores by default.")
@click.option("--seed", type=int, default=None, help="Seed of methods that draw random numbers.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def fit(
    data: str,
    method: str,
    prior: str,
    mean_coupling: bool,
    array: str | None,
    missing: str,
    drop_columns: tuple[str, ...],
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
    with _plain_errors():
        from .empirical_bayes import EmpiricalBayes

        eb = EmpiricalBayes(method, prior, mean_coupling, random_state=seed)
        read = _fit_file(eb, data, batch, array=array, missing=missing, drop_columns=_split(drop_columns))
        found = _interval(eb, level, simulations, jobs, 0 if seed is None else seed) if interval else None
    if as_json:
        answer = _as_json(eb, found) | {"encoding": read.encoding, "notes": read.notes}
        click.echo(json.dumps(answer, allow_nan=False))
    else:
        click.echo(_as_text(eb, found, read.encoding))


def _fit_file(eb: EmpiricalBayes, data: str, batch: int | None, **options: Any) -> SpinData:
    """Fit the file ``data``, in batches if asked to or if it is too large; say how it was read."""
    from .empirical_bayes import FROM_MOMENTS
    from .io import read_spins

    if batch is not None and eb.method not in FROM_MOMENTS:
        raise ValueError(
            f"--batch needs one of the methods {', '.join(FROM_MOMENTS)}: found {eb.method}, which needs all spins "
            "at once. Choose another, or leave out --batch."
        )
    too_large = "" if batch else _too_large(data, options["array"])
    try:
        if batch is not None or (
            too_large and eb.method in FROM_MOMENTS and options["missing"] != "drop-spins"
        ):
            return _fit_batches(eb, data, batch, too_large, options)
        if too_large:
            click.echo(f"note: {too_large}.", err=True)
        read = _with_copies(read_spins(data, **options))
        _say(read)
        eb.fit(read.spins)
    except ValueError as error:
        raise ValueError(f"{data}: {str(error).removeprefix(f'{data}: ')}") from error
    return read


def _fit_batches(
    eb: EmpiricalBayes, data: str, rows: int | None, too_large: str, options: dict[str, Any]
) -> SpinData:
    """Keep the moments only; the last batch knows how all were read."""
    from dataclasses import replace

    from .io import on_constant_spins, read_batches
    from .moments import MomentAccumulator

    accumulator = None
    for batch in read_batches(data, rows, **options):
        accumulator = accumulator or MomentAccumulator(batch.spins.shape[1])
        accumulator.update(batch.spins)
    assert accumulator is not None
    moments = accumulator.moments()
    notes = (*batch.notes, *on_constant_spins(abs(moments.magnetisations) == 1, batch.names))
    if too_large:
        notes += (f"{too_large}, so that they are read in batches and only their moments are kept.",)
    read = replace(batch, notes=notes)
    _say(read)
    eb.fit_moments(moments)
    return read


def _too_large(data: str, array: str | None) -> str:
    """A sentence, if the data do not fit into memory."""
    from .io import memory_available, memory_of

    needed, available = memory_of(data, array), memory_available()
    if available is None or needed <= available:
        return ""
    return f"the data need about {needed / 1e9:.2g} GB of memory, of which {available / 1e9:.2g} GB are available"


def _with_copies(read: SpinData) -> SpinData:
    """With a note on columns that are copies."""
    from dataclasses import replace

    from .io import on_copies

    return replace(read, notes=(*read.notes, *on_copies(read.spins, read.names)))


def _say(read: SpinData) -> None:
    for note in read.notes:
        click.echo(f"note: {note}", err=True)


def _split(names: tuple[str, ...]) -> list[str]:
    """Names between commas; those with a comma in them are quoted."""
    import csv

    return [name.strip() for row in csv.reader(names, skipinitialspace=True) for name in row]


def _interval(eb: EmpiricalBayes, level: float, simulations: int, jobs: int, seed: int) -> Interval:
    """Simulate, with a bar that shows how far it is."""
    import joblib
    from rich.console import Console
    from rich.progress import Progress

    _check_jobs(jobs)
    console = Console(stderr=True)
    with (
        Progress(console=console, transient=True, disable=not console.is_terminal) as bar,
        joblib.parallel_config(n_jobs=jobs),
    ):
        task = bar.add_task("simulating data sets", total=simulations)
        return eb.interval(
            level,
            simulations,
            seed,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )


@cli.command(short_help="Infer all couplings, with errors, and write them to a file.")
@click.argument("data", type=click.Path(readable=False))  # which lets shells complete it
@click.option("-o", "--output", required=True, help="The .csv file to write.")
@click.option(
    "--method",
    default="auto",
    show_default=True,
    help="auto, pseudolikelihood, spectral; or naive_mean_field, tap, independent_pair, exact.",
)
@click.option(
    "--prior",
    default="gaussian",
    show_default=True,
    help="Prior of the couplings: gaussian, laplace (sparse).",
)
@click.option("--gamma", default="auto", show_default=True, help="Strength of the couplings, J^2, or auto.")
@click.option("--matrix", is_flag=True, help="Write the n x n matrix instead of a list of pairs.")
@_reading
@click.option("--seed", type=int, default=None, help="Seed of gamma, for many spins.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def couplings(
    data: str,
    output: str,
    method: str,
    prior: str,
    gamma: str,
    matrix: bool,
    array: str | None,
    missing: str,
    drop_columns: tuple[str, ...],
    seed: int | None,
    force: bool,
) -> None:
    """Infer the couplings of all pairs of spins from DATA, and write them to a .csv file.

    Rows of DATA are samples, columns are spins, ±1, 0/1 or yes/no; the formats are those of 'bayesing fit'. The file
    has a row for every pair: the numbers of the two columns (from 0), their names, the coupling J and its standard
    error.
    """
    with _plain_errors():
        import numpy as np
        from rich.console import Console

        from .boltzmann_machine import BoltzmannMachine
        from .io import read_spins

        _check_output(output, ".csv", force, data)
        bm = BoltzmannMachine(method, prior, gamma, random_state=seed)
        read = _with_copies(read_spins(data, array, missing, _split(drop_columns)))
        _say(read)
        N, n = read.spins.shape
        with Console(stderr=True).status(f"inferring {n * (n - 1) // 2} couplings from {N} samples"):
            try:
                bm.fit(read.spins)
            except ValueError as error:
                raise ValueError(f"{data}: {error}") from error
        if read.names:
            bm.feature_names_in_ = np.array(read.names, dtype=object)
        _write_couplings(bm, output, matrix, force)
    click.echo(_couplings_as_text(bm, N, read.encoding))
    click.echo(f"wrote {output}: " + (f"a {n} x {n} matrix" if matrix else f"{n * (n - 1) // 2} couplings"))


def _write_couplings(bm: BoltzmannMachine, output: str, matrix: bool, force: bool) -> None:
    """The list of pairs, or the matrix below the names of its columns."""
    import csv
    import io

    from rich.console import Console
    from rich.progress import track

    from .files import writing

    console, n = Console(stderr=True), bm.n_features_in_
    with writing(output, force) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        table = csv.writer(text, lineterminator="\n")
        if matrix:
            table.writerow(bm.names())
            rows = track(bm.couplings_.tolist(), "writing", console=console, disable=not console.is_terminal)
            table.writerows(rows)
        else:
            table.writerow(["i", "j", "name_i", "name_j", "J", "error"])
            table.writerows(
                track(
                    bm.edges(), "writing", n * (n - 1) // 2, console=console, disable=not console.is_terminal
                )
            )
        text.detach()


def _couplings_as_text(bm: BoltzmannMachine, N: int, encoding: str) -> str:
    lines = [
        f"  data     {N} samples of {bm.n_features_in_} spins, encoded {encoding}",
        f"  method   {bm.method_} ({bm.reason_})",
    ]
    if bm.gamma_ is not None:
        penalty = "" if bm.penalty_ is None else f", penalty {bm.penalty_:.4g}"
        lines.append(f"  J        {math.sqrt(bm.gamma_):.4f}    {bm.prior} prior of variance J^2/n{penalty}")
    for k, edge in enumerate(bm.strongest(3)):
        title = "" if k else "largest"
        lines.append(f"  {title:9}{edge.J:+.4f} ± {edge.error:.4f}    {edge.name_i}, {edge.name_j}")
    return "\n".join(lines)


@cli.command(short_help="Simulate spins and write them to a file.")
@click.option("--spins", "n_spins", type=int, default=300, show_default=True, help="Number of spins n.")
@click.option("--samples", "n_samples", type=int, default=120, show_default=True, help="Number of samples N.")
@click.option("--J", "J", type=float, default=0.8, show_default=True, help="Couplings have variance J^2/n.")
@click.option("--H", "H", type=float, default=0.0, show_default=True, help="Field, the same for all spins.")
@click.option("--J0", "J0", type=float, default=0.0, show_default=True, help="Couplings have mean J0/n.")
@click.option(
    "--prior", default="gaussian", show_default=True, help="Prior of the couplings: gaussian, laplace."
)
@click.option(
    "--sampler", default="anneal", show_default=True, help="anneal, or temper for data at equilibrium."
)
@click.option("--sweeps", type=int, default=1, show_default=True, help="Sweeps at each step of annealing.")
@click.option("--seed", type=int, default=None, help="Seed; the same one gives the same data.")
@click.option("-o", "--output", required=True, help="The .npz file to write.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def simulate(output: str, force: bool, **settings: Any) -> None:
    """Simulate spins of a Boltzmann machine with random couplings, and write them to an .npz file."""
    with _plain_errors():
        import numpy as np

        from .files import writing
        from .generator import simulate as run

        _check_output(output, ".npz", force)
        sim = run(**settings)
        with writing(output, force) as file:
            np.savez_compressed(file, spins=sim.spins, couplings=sim.couplings, fields=sim.fields)
    click.echo(f"wrote {output}: {len(sim.spins)} samples of {len(sim.fields)} spins")


@cli.command("report", short_help="Write a report with numbers and pictures, one HTML file.")
@click.argument("data", type=click.Path(readable=False))
@click.option("-o", "--output", default="report.html", show_default=True, help="The .html file to write.")
@click.option("--title", help="Title of the report; the name of the file by default.")
@click.option("--method", default="auto", show_default=True, help="Method for J and H, as of 'bayesing fit'.")
@click.option(
    "--couplings-method",
    default="auto",
    show_default=True,
    help="Method for the couplings, as of 'bayesing couplings'.",
)
@click.option(
    "--prior",
    default="gaussian",
    show_default=True,
    help="Prior of the couplings: gaussian, laplace (sparse).",
)
@_reading
@click.option(
    "--simulations",
    type=int,
    help="Data sets to simulate for the intervals, 0 for none; by default as many as take seconds.",
)
@click.option("--jobs", type=int, default=-1, help="Processes; all cores by default.")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed; the same one gives the same report."
)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as one JSON object, too.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@click.pass_obj
def report(
    typed: list[str] | None,
    data: str,
    output: str,
    title: str | None,
    method: str,
    couplings_method: str,
    prior: str,
    array: str | None,
    missing: str,
    drop_columns: tuple[str, ...],
    simulations: int | None,
    jobs: int,
    seed: int,
    as_json: bool,
    force: bool,
) -> None:
    """Write a report on DATA: the answer in words, numbers with intervals, pictures, and how they came about.

    It is one HTML file that needs no network, for screens of any size and for paper. Rows of DATA are samples,
    columns are spins; the formats are those of 'bayesing fit'. What would take minutes is left out or reduced, and
    the report says so.
    """
    with _plain_errors():
        import joblib

        from .io import read_spins
        from .report.display import Display
        from .report.numbers import numbers
        from .report.request import Choices, Source
        from .report.write import write_report

        _check_output(output, ".html", force, data)
        _check_jobs(jobs)
        choices = Choices(method, prior, couplings_method, simulations, seed, Setting.in_shell)
        if too_large := _too_large(data, array):
            click.echo(f"note: {too_large}.", err=True)
        with Display() as display, joblib.parallel_config(n_jobs=jobs):
            read = read_spins(data, array, missing, _split(drop_columns))
            source = Source(Path(data).name, read.spins, read.names, read.encoding, read.notes)
            command = shlex.join(["bayesing", *(typed or ["report", data])])
            try:
                found = write_report(output, source, choices, title, command, force, display)
            except InputError as error:
                raise error.at(data) from error
            except ValueError as error:
                raise ValueError(f"{data}: {error}") from error
        if as_json:
            click.echo(json.dumps(_as_json(found.eb, found.interval) | numbers(found), allow_nan=False))
        else:
            click.echo(f"wrote {output}: look at it in a browser")


def _check_output(output: str, extension: str, force: bool, data: str | None = None) -> None:
    from .files import check_output

    if data and os.path.exists(output) and os.path.exists(data) and os.path.samefile(output, data):
        raise ValueError(
            f"{output}: expected a file to write, found the data themselves. Choose another name."
        )
    if Path(output).suffix.lower() != extension:
        raise ValueError(f"{output}: expected the name of a file to write that ends in {extension}.")
    check_output(output, force)


def _check_jobs(jobs: int) -> None:
    if jobs == 0 or jobs < -1:
        raise ValueError(f"--jobs must be a positive number, or -1 for all cores: found {jobs}.")


@cli.command()
@click.option("--seed", type=int, default=0, show_default=True, help="Seed.")
@click.option("-o", "--output", default="bayesing-demo", show_default=True, help="The folder to write to.")
@click.option("--force", is_flag=True, help="Overwrite existing files there.")
def demo(seed: int, output: str, force: bool) -> None:
    """Simulate, fit, and write two reports, in under a minute.

    One is on simulated spins, whose J is known, and one on votes of the United States Senate. The commands are
    printed, to be tried on data of your own.
    """
    with _plain_errors():
        from .files import check_folder, check_output

        check_folder(output)
        folder = Path(output)
        folder.mkdir(parents=True, exist_ok=True)
        names = ("simulated.npz", "simulated.html", "senate.csv", "senate.html")
        simulated, about_simulated, senate, about_senate = (folder / name for name in names)
        for path in (simulated, about_simulated, senate, about_senate):
            check_output(path, force)
        again = ["--force"] if force else []

        click.echo("120 snapshots of 300 spins with random couplings of strength J = 0.8:\n")
        size = ["--spins", "300", "--samples", "120", "--J", "0.8", "--seed", str(seed)]
        _show("simulate", *size, "-o", str(simulated), *again)
        click.echo("\nWhat was J? From the spins alone:\n")
        _show("fit", str(simulated))
        click.echo("\nA report, with intervals, couplings and pictures:\n")
        title = ["--title", "Simulated spins with J = 0.8"]
        _show("report", str(simulated), *title, "--seed", str(seed), "-o", str(about_simulated), *again)

        click.echo("\nVotes of the United States Senate, 2005 and 2006. Who votes with whom?\n")
        _write_senate(senate, force)
        title = ["--title", "Votes of the 109th United States Senate"]
        quick = ["--simulations", "0", "--seed", str(seed)]
        _show("report", str(senate), *title, *quick, "-o", str(about_senate), *again)
    click.echo(f"\nLook at {about_simulated} and {about_senate} in a browser.")


def _show(*arguments: str) -> None:
    """Print a command and run it."""
    click.echo("$ " + shlex.join(["bayesing", *arguments]), nl=True)
    cli.main(list(arguments), standalone_mode=False, obj=list(arguments))


def _write_senate(path: Path, force: bool) -> None:
    import csv
    import io

    from .datasets import load_senate109
    from .files import writing

    votes = load_senate109()
    with writing(path, force) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        csv.writer(text, lineterminator="\n").writerows([votes.names, *votes.spins.tolist()])
        text.detach()
    N, n = votes.spins.shape
    click.echo(f"wrote {path}: {N} votes of {n} voters")


@cli.command(short_help="Reproduce the paper's tables and figures.")
@click.argument("names", nargs=-1)
@click.option("--quick", is_flag=True, help="The same in small, in under a minute.")
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
    A run that was interrupted goes on where it stopped. The summary covers all that the folder holds.
    """
    with _plain_errors():
        import joblib

        from .experiments.display import Display
        from .experiments.reproduce import reproduce as run
        from .experiments.reproduce import select, workload
        from .experiments.runner import check, finished

        experiments = select(names or ("all",), quick)
        costs = workload(experiments, quick)
        _check_run(seed, jobs, output)
        folder = Path(output)
        check(folder, quick, seed)
        done = finished(costs, folder, quick)
        with (
            _cluster(dask),
            Display(costs, done, folder) as progress,
            joblib.parallel_config(n_jobs=None if dask else jobs),
        ):
            run(experiments, folder, quick, seed, progress)
    click.echo(f"Look at {folder / 'summary.md'} and the figures beside it.")


def _check_run(seed: int, jobs: int, output: str) -> None:
    """Raise a ValueError that names the option at fault, before anything is written."""
    import joblib

    from .arguments import count
    from .files import check_folder

    count("--seed", seed, 0)
    most = 4 * joblib.cpu_count()
    if jobs != -1 and not 1 <= jobs <= most:
        raise ValueError(
            f"--jobs must be from 1 to {most}, four for each core, or -1 for one each: found --jobs={jobs}."
        )
    try:
        check_folder(output)
    except ValueError as error:
        raise ValueError(f"-o {output!r}: {error}") from error


@contextmanager
def _cluster(address: str | None) -> Iterator[None]:
    """Farm work out to a Dask cluster, if there is an address."""
    if address is None:
        yield
        return
    import logging
    from concurrent.futures import CancelledError

    import joblib

    try:
        from distributed import Client
    except ImportError as error:
        raise ValueError(
            "--dask needs the packages dask and distributed: pip install 'bayesing[dask]'."
        ) from error
    logging.disable()  # tracebacks of distributed, tornado and asyncio, at any later moment, hide our sentence
    try:
        client = Client(address, timeout=f"{PATIENCE}s")  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise ValueError(f"--dask {address}: expected the address of a Dask scheduler ({error}).") from error
    try:
        with client, joblib.parallel_config(backend="dask"):
            _wait_for_workers(client, address)
            yield
    except (CancelledError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # of a file
            raise
        raise ValueError(
            f"--dask {address}: the connection to the scheduler was lost. Finished cells are kept: check the "
            "cluster and run the same command again to go on."
        ) from error


def _wait_for_workers(client: Client, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError as error:
        raise ValueError(
            f"--dask {address}: expected a scheduler with workers, found none in {PATIENCE} seconds. Start some "
            f"with 'dask worker {address} --nthreads 1' and run the same command again."
        ) from error


def _as_json(eb: EmpiricalBayes, interval: Interval | None) -> dict[str, Any]:
    def finite(value: float) -> float | None:
        return value if math.isfinite(value) else None

    answer: dict[str, Any] = {
        "gamma": finite(eb.gamma_),
        "gamma_error": finite(eb.gamma_error_),
        "J": finite(eb.J_),
        "J_error": finite(eb.J_error_),
        "H": finite(eb.H_),
        "H_error": finite(eb.H_error_),
        "J0": eb.J0_,
        "J0_error": eb.J0_error_,
        "case": eb.case_,
        "method": eb.method_,
        "reason": eb.reason_,
        "regime": eb.regime_,
        "at_distance": finite(eb.at_distance_),
        "prior": eb.prior,
        "n_spins": eb.moments_.n,
        "n_samples": eb.moments_.N,
        "magnetisation": eb.moments_.M,
    }
    if interval:
        answer["interval"] = {
            "level": interval.level,
            "J": [finite(end) for end in interval.J],
            "H": [finite(end) for end in interval.H],
            "J_corrected": interval.J_corrected,
            "H_corrected": interval.H_corrected,
            "n_simulations": interval.n_simulations,
            "note": interval.note,
        }
    return answer


def _as_text(eb: EmpiricalBayes, interval: Interval | None, encoding: str | None = None) -> str:
    m = eb.moments_
    case = {
        "zero": "; the evidence has its maximum at gamma = 0",
        "interior": "",
        "infinite": "; the evidence has no maximum",
        None: "",
    }[eb.case_]
    written = f", encoded {encoding}" if encoding else ""
    lines = [
        f"  data     {m.N} samples of {m.n} spins (N/n = {m.N / m.n:.3g}){written}, mean spin {m.M:+.4f}",
        f"  J        {eb.J_:.4f} ± {eb.J_error_:.4f}    couplings have variance J^2/n; gamma = J^2 = {eb.gamma_:.4g}",
        f"  H       {eb.H_:+.4f} ± {eb.H_error_:.4f}",
    ]
    if eb.mean_coupling:
        lines.append(f"  J0      {eb.J0_:+.4f} ± {eb.J0_error_:.4f}    couplings have mean J0/n")
    if interval:
        (low, high), (H_low, H_high), percent = interval.J, interval.H, f"{100 * interval.level:g}%"
        lines += [
            f"  {percent:8} J from {low:.4f} to {high:.4f}, corrected estimate {interval.J_corrected:.4f}",
            f"           H from {H_low:+.4f} to {H_high:+.4f}, corrected estimate {interval.H_corrected:+.4f}",
            f"           by {interval.n_simulations} simulations"
            + (f"; {interval.note}" if interval.note else ""),
        ]
    return "\n".join(
        [
            *lines,
            f"  regime   {eb.regime_} (1 - gamma r = {eb.at_distance_:.2f})",
            f"  method   {eb.method_} ({eb.reason_}), {eb.prior} prior{case}",
        ]
    )


def main() -> None:
    """Entry point: every error is one line and exit code 2, Ctrl-C is 130."""
    try:
        code = cli.main(standalone_mode=False, obj=sys.argv[1:])
        sys.stdout.flush()
        sys.exit(code)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(2)
    except click.ClickException as error:
        name = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "bayesing"
        _fail(f"{error.format_message()} See '{name} --help'.")
    except click.Abort:
        click.echo("interrupted", err=True)
        sys.exit(130)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or the interpreter tries again to flush, and complains
        _fail(f"{error.filename or 'standard output'}: {error.strerror or error}.")
