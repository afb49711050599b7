"""Couplings one by one: pairs of columns with names, coupling and error, without an n x n matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .inference import CouplingAnswer

if TYPE_CHECKING:
    import pandas as pd


class Coupling(NamedTuple):
    """One coupling, between the columns i < j, with its standard error."""

    i: int
    j: int
    name_i: str
    name_j: str
    J: float
    error: float


def edges_of(answer: CouplingAnswer, names: Sequence[str]) -> Iterator[Coupling]:
    """Every coupling i < j, row by row."""
    for rows, mean, deviation in answer.blocks():
        for k, i in enumerate(rows.tolist()):
            for j in range(i + 1, len(names)):
                yield Coupling(i, j, names[i], names[j], float(mean[k, j]), float(deviation[k, j]))


def strongest_of(answer: CouplingAnswer, names: Sequence[str], k: int) -> list[Coupling]:
    """The k couplings of largest absolute value, the first the largest."""
    i, j, J, error = (np.empty(0) for _ in range(4))
    for rows, mean, deviation in answer.blocks():
        row, column = np.nonzero(np.arange(len(names)) > rows[:, None])
        found = rows[row], column, mean[row, column], deviation[row, column]
        i, j, J, error = (np.append(a, b) for a, b in zip((i, j, J, error), found, strict=True))
        order = np.argsort(-np.abs(J), kind="stable")[:k]
        i, j, J, error = i[order], j[order], J[order], error[order]
    return [
        Coupling(int(a), int(b), names[int(a)], names[int(b)], float(value), float(spread))
        for a, b, value, spread in zip(i, j, J, error, strict=True)
    ]


def frame_of(answer: CouplingAnswer, names: Sequence[str]) -> pd.DataFrame:
    """A pandas data frame with a row for every coupling i < j."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("to_frame needs pandas: pip install 'bayesing[data]'.") from error
    labels = np.array(names, dtype=object)
    i, j = np.triu_indices(len(labels), 1)
    J, deviation = (matrix[i, j] for matrix in answer.matrices)
    return pd.DataFrame(
        {"i": i, "j": j, "name_i": labels[i], "name_j": labels[j], "J": J, "error": deviation}
    )
