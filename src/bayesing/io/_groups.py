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
from ._table import Table

_NO_GROUP = frozenset(["", "na", "n/a", "#n/a", "nan"])  # but not none, which may be a treatment


class Groups(NamedTuple):
    """Samples by group, all in the same encoding, and notes on what was left out."""

    groups: dict[str, SpinData]
    notes: tuple[str, ...]


def read_groups(table: Table, by: str, missing: str = KEEP, drop_columns: Sequence[str | int] = ()) -> Groups:
    """Read a file with a column ``by`` that names the group of each sample, and is no spin.

    The column is given by its name, or by its number from 1. Groups are in the order of numbers, or of the alphabet.
    Rows without a group are left out. Other arguments are those of :func:`read_spins`.
    """
    with naming(table.path):
        columns = numbers_of(table, by, "that names the groups")
        if len(columns) > 1:
            raise InputError(
                f"expected one column named {by!r}, found {len(columns)}. Give its number from 1."
            )
        found, kept = read_rows(table, missing, (*drop_columns, by))
        cells = [cell for chunk in table.chunks() for cell in chunk.column(columns[0])]
    labels = np.array([label_of(cell) for cell in cells], dtype=object)
    if kept is not None:
        labels = labels[kept]
    notes = found.notes
    without = int(np.count_nonzero(labels == ""))
    if without:
        notes += (
            f"{without} of {len(labels)} rows have no group in {table.column(columns[0])} and are left out.",
        )
    order = sorted(set(labels.tolist()) - {""}, key=_order)
    groups = {}
    for label in order:
        chosen = np.flatnonzero(labels == label)
        gaps = None if found.absent is None else any_gaps(found.absent[chosen])
        groups[label] = SpinData(found.rows[chosen], found.names, found.encoding, (), gaps)
    return Groups(groups, notes)


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
