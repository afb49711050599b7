"""Errors as one sentence on standard error, with exit code 2."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from ..exceptions import BayesingWarning, InputError, Setting
from ._output import echo
from ._process import give_up, interrupted

WRONG_INPUT = 2  # exit code, as of click and most Unix tools


@contextmanager
def plain_errors() -> Iterator[None]:
    """A ValueError becomes one sentence and exit code 2, a warning one line; both on standard error."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        echo(f"warning: {say(message)}", err=True)

    with warnings.catch_warnings():
        warnings.showwarning = show
        try:
            yield
        except MemoryError as error:
            fail(str(error) or "There is not enough memory.")
        except ValueError as error:
            fail(say(error))


@contextmanager
def plain_exit() -> Iterator[None]:
    """Wrong usage, Ctrl-C and output that cannot be written become one sentence and an exit code."""
    try:
        yield
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(WRONG_INPUT)
    except click.ClickException as error:
        name = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "bayesing"
        fail(f"{error.format_message()} See '{name} --help'.")
    except click.Abort:
        interrupted()
    except OSError as error:
        give_up(1)
        fail(f"{error.filename or 'standard output'}: {error.strerror or error}.")  # our files have names


def show(found: Iterable[Warning]) -> None:
    """Warnings that come as values, as others are shown."""
    for warning in found:
        warnings.warn(warning, stacklevel=2)


def fail(sentence: str) -> NoReturn:
    """Say what is wrong, and end."""
    echo("error: " + " ".join(sentence.splitlines()), err=True)
    sys.exit(WRONG_INPUT)


def say(message: Exception | str) -> str:
    """The sentence of an error or a warning, with settings as options of a command."""
    return (
        message.worded(Setting.in_shell)
        if isinstance(message, InputError | BayesingWarning)
        else str(message)
    )


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Put the name of a file before an error, which keeps its type."""
    try:
        yield
    except InputError as error:
        raise error.at(path) from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
