"""One file with several groups: a column says which sample belongs to which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import InputError
from ..spins import any_gaps
from ._missing import KEEP
from ._open import naming
from ._read import read_rows
from ._record import SpinData
from ._selection import numbers_of
from ._several import Source
from ._table import Table

_NO_GROUP = frozenset(["", "na", "n/a", "#n/a", "nan"])  # but not none, which may be a treatment


class Groups(NamedTuple):
    """Samples by group, all in the same encoding, and notes on what was left out."""

    groups: dict[str, SpinData]
    notes: tuple[str, ...]


def read_groups(
    source: Source, by: str, missing: str = KEEP, drop_columns: Sequence[str | int] = ()
) -> Groups:
    """Read a file, or several, with a column ``by`` that names the group of each sample, and is no spin.

    The column is given by its name, or by its number from 1. Groups are in the order of numbers, or of the alphabet.
    Rows without a group are left out. Rows of a group in different files are different runs. Other arguments are
    those of :func:`read_spins`.
    """
    tables = (source,) if isinstance(source, Table) else source.each
    columns = [_group_column(table, by) for table in tables]
    found, kept = read_rows(source, missing, (*drop_columns, by))
    cells: list[Any] = []
    ends = []
    for table, j in zip(tables, columns, strict=True):
        with naming(table.path):
            cells += [cell for chunk in table.chunks() for cell in chunk.column(j)]
        ends.append(len(cells))
    labels = np.array([label_of(cell) for cell in cells], dtype=object)
    files = np.repeat(np.arange(len(tables)), np.diff(ends, prepend=0))
    if kept is not None:
        files = files[kept]
        labels = labels[kept]
    notes = found.notes
    without = int(np.count_nonzero(labels == ""))
    if without:
        notes += (
            f"{without} of {len(labels)} rows have no group in {tables[0].column(columns[0])} and are left out.",
        )
    order = sorted(set(labels.tolist()) - {""}, key=_order)
    groups = {}
    for label in order:
        chosen = np.flatnonzero(labels == label)
        gaps = None if found.absent is None else any_gaps(found.absent[chosen])
        lengths = np.unique(files[chosen], return_counts=True)[1].tolist() if len(tables) > 1 else None
        runs = lengths and tuple(lengths)
        groups[label] = SpinData(found.rows[chosen], found.names, found.encoding, (), gaps, runs)
    return Groups(groups, notes)


def _group_column(table: Table, by: str) -> int:
    with naming(table.path):
        columns = numbers_of(table, by, "that names the groups")
        if len(columns) > 1:
            raise InputError(
                f"expected one column named {by!r}, found {len(columns)}. Give its number from 1."
            )
        return columns[0]


def label_of(cell: Any) -> str:
    """A cell as the label of a group; empty where there is none.

    >>> [label_of(cell) for cell in (" drug ", 2.0, True, None, float("nan"), "NA", "none")]
    ['drug', '2', 'True', '', '', '', 'none']
    """
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    text = "" if cell is None else " ".join(str(cell).strip().strip('"').split())
    return "" if text.lower() in _NO_GROUP else text


def _order(label: str) -> tuple[bool, float, str]:
    """Numbers first, by their size."""
    try:
        return False, float(label), label
    except ValueError:
        return True, 0.0, label
