"""``bayesing demo``: other commands in a row, on data that come with the library."""

from __future__ import annotations

import shlex
from pathlib import Path

import click


@click.command()
@click.option("--seed", type=int, default=0, show_default=True, help="Seed.")
@click.option("-o", "--output", default="bayesing-demo", show_default=True, help="The folder to write to.")
@click.option("--force", is_flag=True, help="Overwrite existing files there.")
@click.pass_context
def demo(context: click.Context, seed: int, output: str, force: bool) -> None:
    """Simulate, fit, and write two reports, in under a minute.

    One is on simulated spins, whose J is known, and one on votes of the United States Senate. The commands are
    printed, to be tried on data of your own.
    """
    from ..files import check_folder, check_output

    def show(*arguments: str) -> None:
        """Print a command and run it."""
        click.echo("$ " + shlex.join(["bayesing", *arguments]))
        context.find_root().command.main(list(arguments), standalone_mode=False, obj=list(arguments))

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
    show("simulate", *size, "-o", str(simulated), *again)
    click.echo("\nWhat was J? From the spins alone:\n")
    show("fit", str(simulated))
    click.echo("\nA report, with intervals, couplings and pictures:\n")
    title = ["--title", "Simulated spins with J = 0.8"]
    show("report", str(simulated), *title, "--seed", str(seed), "-o", str(about_simulated), *again)

    click.echo("\nVotes of the United States Senate, 2005 and 2006. Who votes with whom?\n")
    _write_senate(senate, force)
    title = ["--title", "Votes of the 109th United States Senate"]
    quick = ["--simulations", "0", "--seed", str(seed)]
    show("report", str(senate), *title, *quick, "-o", str(about_senate), *again)
    click.echo(f"\nLook at {about_simulated} and {about_senate} in a browser.")


def _write_senate(path: Path, force: bool) -> None:
    from ..datasets import load_senate109
    from ._output import writing_table

    votes = load_senate109(missing="drop")
    with writing_table(path, force) as table:
        table.writerows([votes.names, *votes.spins.tolist()])
    N, n = votes.spins.shape
    click.echo(f"wrote {path}: {N} votes of {n} voters")
