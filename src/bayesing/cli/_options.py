"""Options and arguments that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from ._methods import AUTO

Command = TypeVar("Command", bound=Callable[..., None])


class LateOption(click.Option):
    """An option whose help is made when it is shown.

    The help may list names that take long to import, or that are added later.
    """

    def __init__(self, *declarations: Any, late_help: Callable[[], str], **settings: Any) -> None:
        super().__init__(*declarations, **settings)
        self.late_help = late_help

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option as it is written, and what it does."""
        self.help = self.late_help()
        return super().get_help_record(ctx)


def one_of(meaning: str, names: Callable[[], tuple[str, ...]]) -> Callable[[], str]:
    """A help text that ends with the names."""
    return lambda: f"{meaning}: {', '.join(names())}."


data_argument = click.argument(
    "data", type=click.Path(readable=False), nargs=-1, required=True, metavar="DATA..."
)  # a path, which lets shells complete it

batch_option = click.option(
    "--batch",
    metavar="ROWS",
    type=int,
    help="Read so many samples at a time, and keep sums, products and some rows; for data beyond memory.",
)


def dask_option(meaning: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """``--dask``: the command runs with a cluster, and hears of it as ``cluster``; None without an address."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def connected(*arguments: Any, dask: str | None, **others: Any) -> None:
            from ._cluster import on_cluster

            with on_cluster(dask) as cluster:
                command(*arguments, cluster=cluster, **others)

        help_text = f"Address of a Dask cluster, tcp://host:port, whose workers {meaning}."
        return click.option("--dask", metavar="ADDRESS", help=help_text)(connected)

    return decorate


def prior_option(names: Callable[[], tuple[str, ...]]) -> Callable[[Command], Command]:
    """``--prior``, whose help lists the names."""
    meaning = one_of("Prior of the couplings", names)
    return click.option("--prior", default="gaussian", show_default=True, cls=LateOption, late_help=meaning)


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")

force_option = click.option("--force", is_flag=True, help="Overwrite an existing file.")


def method_option(names: Callable[[], tuple[str, ...]]) -> Callable[[Command], Command]:
    """``--method``, whose help lists the names."""
    return click.option(
        "--method", default=AUTO, show_default=True, cls=LateOption, late_help=one_of("One of", names)
    )


series_option = click.option(
    "--series",
    is_flag=True,
    help="Rows are in the order of time, and remember those before them.",
)

runs_option = click.option(
    "--by",
    metavar="NAME",
    help="Column that tells runs apart, such as trials; each begins anew, and the column is no spin.",
)

hidden_option = click.option(
    "--hidden",
    metavar="K",
    default="0",
    show_default=True,
    help="Common causes beside the couplings, or auto for as many as the evidence tells.",
)


def n_hidden(text: str) -> int | str:
    """A number of common causes, or "auto"; a ValueError where it is neither.

    >>> n_hidden("2"), n_hidden("auto")
    (2, 'auto')
    """
    from ..couplings._causes import MOST_UNITS

    if text == AUTO:
        return text
    if not (text.isdecimal() and int(text) <= MOST_UNITS):
        raise ValueError(f"--hidden must be auto or a whole number from 0 to {MOST_UNITS}: found {text!r}.")
    return int(text)


def check_jobs(jobs: int) -> None:
    """Raise a ValueError unless ``jobs`` is a number of processes, or -1 for all cores."""
    if jobs == 0 or jobs < -1:
        raise ValueError(f"--jobs must be a positive number, or -1 for all cores: found {jobs}.")
