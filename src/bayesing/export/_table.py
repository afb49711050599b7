"""Couplings and fields as tables: .csv, and Parquet through pyarrow or else polars."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

from ..edges import Coupling
from ..encodings import check_encoding
from ..exceptions import InputError
from ..fields import Field
from ..files import check_input, writing
from ..texts import protected, unprotected
from ._fit import Choices, Fit, Over

_COLUMNS = (*Coupling._fields, "edge")
_ROW_GROUP = 2**18  # rows of a .parquet file that are in memory at a time: some hundred megabytes as objects

Columns = dict[str, Sequence[Any]]


class SafeWriter:
    """Writes rows of a .csv file, in which no text is a formula to a spreadsheet."""

    def __init__(self, text: IO[str]) -> None:
        self.writer = csv.writer(text, lineterminator="\n")

    def writerow(self, row: Iterable[Any]) -> None:
        """One row."""
        self.writer.writerow([protected(cell) if isinstance(cell, str) else cell for cell in row])

    def writerows(self, rows: Iterable[Iterable[Any]]) -> None:
        """Several."""
        for row in rows:
            self.writerow(row)


@contextmanager
def rows_of(file: IO[bytes]) -> Iterator[SafeWriter]:
    """A table of text in UTF-8 to write rows to; the file stays open."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    yield SafeWriter(text)
    text.detach()


def write_csv(file: IO[bytes], fit: Fit, choices: Choices, over: Over) -> str:
    """A row for every pair, or the matrix below the names of its columns; common causes come last."""
    with rows_of(file) as table:
        if choices.matrix:
            whole = fit.matrix(choices)
            table.writerow(fit.labels)
            table.writerows(over(whole.tolist(), len(whole)))
        else:
            table.writerow(_COLUMNS)
            table.writerows(
                (*pair, int(flag)) for pair, flag in over(fit.pairs(choices), max(1, fit.n_pairs(choices)))
            )
    return _size(fit, choices)


def write_fields(
    path: str | os.PathLike[str], fit: Fit, choices: Choices | None = None, force: bool = False
) -> str:
    """A .csv file with the field, or the threshold, of every spin, and its standard error."""
    choices = choices or Choices()
    found = fit.fields(choices)
    with writing(path, force) as file, rows_of(file) as table:
        table.writerow(Field._fields)
        table.writerows(("" if cell is None else cell for cell in row) for row in found)
    return f"{len(found)} {'thresholds' if check_encoding(choices.encoding) else 'fields'}"


def write_parquet(file: IO[bytes], fit: Fit, choices: Choices, over: Over) -> str:
    """The same table in columns, some rows at a time."""
    if choices.matrix:
        whole = fit.matrix(choices)
        if len(set(fit.labels)) < len(whole):
            raise InputError(
                "a matrix in a .parquet file needs columns with different names. Write a .csv file."
            )
        _write_columns(file, iter([dict(zip(fit.labels, whole.T, strict=True))]))
    else:
        pairs = over(fit.pairs(choices), max(1, fit.n_pairs(choices)))
        _write_columns(file, _groups((*pair, bool(flag)) for pair, flag in pairs))
    return _size(fit, choices)


def _groups(rows: Iterable[tuple[Any, ...]]) -> Iterator[Columns]:
    """Columns of some rows at a time; of none at the end, if there are none at all."""
    rows, first = iter(rows), True
    while (group := list(islice(rows, _ROW_GROUP))) or first:
        columns = zip(*group, strict=True) if group else [() for _ in _COLUMNS]
        yield dict(zip(_COLUMNS, columns, strict=True))
        first = False


def _write_columns(file: IO[bytes], groups: Iterator[Columns]) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        _by_polars(file, groups)
        return
    first = pyarrow.table({k: pyarrow.array(v) for k, v in next(groups).items()})
    with pyarrow.parquet.ParquetWriter(file, first.schema) as writer:
        writer.write_table(first)
        for group in groups:
            writer.write_table(pyarrow.table({k: pyarrow.array(v) for k, v in group.items()}))


def _by_polars(file: IO[bytes], groups: Iterator[Columns]) -> None:
    try:
        import polars
    except ImportError as error:
        raise InputError(
            "a .parquet file needs the package pyarrow or polars: pip install 'bayesing[data]'."
        ) from error
    polars.concat([polars.DataFrame(group) for group in groups]).write_parquet(file)


def _size(fit: Fit, choices: Choices) -> str:
    n, k = len(fit.names), fit.answer.n_hidden
    if choices.matrix:
        return f"a {n + k} x {n + k} matrix"
    return f"{fit.n_couplings(choices)} couplings" + (f" and {n * k} loadings" if k else "")


def read_couplings(path: str | os.PathLike[str]) -> list[tuple[Coupling, bool]]:
    """Couplings of a .csv file that was written here, names as they were, and whether each is an edge."""
    path = Path(path)
    check_input(path)
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        header = next(rows, [])
        if tuple(header) != _COLUMNS:
            found = ", ".join(header[:8]) or "nothing"
            raise InputError(
                f"expected the columns {', '.join(_COLUMNS)} of a file of couplings, found {found}."
            ).at(path)
        return [_pair(row) for row in rows]


def _pair(row: Sequence[str]) -> tuple[Coupling, bool]:
    i, j, name_i, name_j, J, error, probability, edge = row
    names = unprotected(name_i), unprotected(name_j)
    return Coupling(int(i), int(j), *names, float(J), float(error), float(probability)), edge == "1"
