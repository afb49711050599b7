"""The command line, one command a file: a shell over the public functions.

Files without an underscore are commands; the others are what commands share. Everything that takes long to import
is imported inside of the command that needs it, so that ``bayesing --help`` answers at once.
"""

from __future__ import annotations

from typing import Any

from ._process import process

__all__ = ["cli", "main"]


def main() -> None:
    """Entry point: every error is one line and exit code 2, Ctrl-C is 130."""

    def program() -> None:
        from ._main import run

        run()

    process(program)


def __getattr__(name: str) -> Any:
    if name != "cli":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ._main import cli

    return cli
