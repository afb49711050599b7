"""The command line, one command a file: a shell over the public functions.

Files without an underscore are commands; the others are what commands share. Everything that takes long to import
is imported inside of the command that needs it, so that ``bayesing --help`` answers at once.
"""

from __future__ import annotations

from ._main import cli, main

__all__ = ["cli", "main"]
