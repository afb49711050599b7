"""Files that commands write."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ._process import give_up

if TYPE_CHECKING:
    from ..export._table import SafeWriter


def echo(text: str, err: bool = False) -> None:
    """Print a text in which names of others cannot move the cursor of a terminal.

    The answer does not depend on what goes to standard error, which may be full.
    """
    from ..texts import visible

    try:
        click.echo(visible(text, keep="\n"), err=err)
    except OSError:
        if not err:
            raise
        give_up(2)


def check_output(
    output: str, extension: str | tuple[str, ...], force: bool, data: str | tuple[str, ...] = ()
) -> None:
    """Raise a ValueError unless ``output`` can be written, has an extension of these and is not among the data."""
    from ..files import check_output as check
    from ..io import files_of

    files = [path for path in files_of(data) if path.exists()] if data and os.path.exists(output) else []
    if any(os.path.samefile(output, path) for path in files):
        raise ValueError(
            f"{output}: expected a file to write, found the data themselves. Choose another name."
        )
    extensions = (extension,) if isinstance(extension, str) else extension
    if Path(output).suffix.lower() not in extensions:
        listed = ", ".join(extensions)
        raise ValueError(f"{output}: expected the name of a file to write that ends in {listed}.")
    check(output, force)


@contextmanager
def writing_table(path: str | Path, force: bool) -> Iterator[SafeWriter]:
    """A .csv file to write rows to; it appears complete or not at all."""
    from ..export._table import rows_of
    from ..files import writing

    with writing(path, force) as file, rows_of(file) as table:
        yield table
