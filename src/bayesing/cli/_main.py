"""The group of all commands."""

from __future__ import annotations

import sys
from typing import Any

import click

from .. import __version__
from ._errors import plain_errors, plain_exit
from .compare import compare
from .couplings import couplings
from .demo import demo
from .fit import fit
from .report import report
from .reproduce import reproduce
from .simulate import simulate


class PlainGroup(click.Group):
    """Commands that end with one sentence where something is wrong."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        with plain_errors():
            return super().invoke(ctx)


@click.group(cls=PlainGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="bayesing")
def cli() -> None:
    """Empirical Bayes for Boltzmann machines: how strong are the couplings behind binary data?

    From N snapshots of n binary variables, infer J (couplings have variance J^2/n) and the field H.
    """


for command in (compare, couplings, demo, fit, report, reproduce, simulate):
    cli.add_command(command)


def run() -> None:
    """Run the command that the command line asks for, and end."""
    with plain_exit():
        code = cli.main(standalone_mode=False, obj=sys.argv[1:])
        sys.stdout.flush()
        sys.exit(code)
