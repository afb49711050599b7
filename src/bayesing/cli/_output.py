"""Files that commands write."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol


class TableWriter(Protocol):
    """What ``csv.writer`` gives."""

    def writerow(self, row: Iterable[Any], /) -> Any: ...
    def writerows(self, rows: Iterable[Iterable[Any]], /) -> Any: ...


def check_output(output: str, extension: str, force: bool, data: str | None = None) -> None:
    """Raise a ValueError unless ``output`` can be written, has the extension and is not the data."""
    from ..files import check_output as check

    if data and os.path.exists(output) and os.path.exists(data) and os.path.samefile(output, data):
        raise ValueError(
            f"{output}: expected a file to write, found the data themselves. Choose another name."
        )
    if Path(output).suffix.lower() != extension:
        raise ValueError(f"{output}: expected the name of a file to write that ends in {extension}.")
    check(output, force)


@contextmanager
def writing_table(path: str | Path, force: bool) -> Iterator[TableWriter]:
    """A .csv file to write rows to; it appears complete or not at all."""
    from ..files import writing

    with writing(path, force) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        yield csv.writer(text, lineterminator="\n")
        text.detach()
