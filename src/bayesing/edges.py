"""Couplings as a list: all of them, those that are there, the strongest, or a data frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .encodings import COUPLING, SPINS, check_encoding
from .inference import Block, CouplingAnswer
from .mixture import discoveries, limit_of
from .types import Array, Indices

if TYPE_CHECKING:
    import pandas as pd

_BINS = 2**12  # of probabilities
FDR = 0.05  # expected share of false ones among the couplings that are said to be there


class Coupling(NamedTuple):
    """One coupling, between the columns i < j, with its standard error.

    ``probability`` is that it is there, with a sparse prior; with other priors, that its sign is right.
    """

    i: int
    j: int
    name_i: str
    name_j: str
    J: float
    error: float
    probability: float


def in_encoding(couplings: Iterable[Coupling], encoding: str) -> Iterator[Coupling]:
    """The same couplings with numbers for spins, or for variables that are 0 and 1 (:mod:`bayesing.encodings`)."""
    times = COUPLING if check_encoding(encoding) else 1.0
    return (each._replace(J=times * each.J, error=times * each.error) for each in couplings)


def pairs_of(answer: CouplingAnswer, names: Sequence[str]) -> Iterator[Coupling]:
    """Every coupling i < j, row by row."""
    for rows, *matrices in answer.blocks():
        for k, i in enumerate(rows.tolist()):
            numbers = zip(*(matrix[k, i + 1 :].tolist() for matrix in matrices), strict=True)
            for j, found in enumerate(numbers, i + 1):
                yield Coupling(i, j, names[i], names[j], *found)


def edges_of(answer: CouplingAnswer, names: Sequence[str], fdr: float) -> list[Coupling]:
    """The couplings that are there: the most probable first, and the largest of those that are as probable."""
    limit = limit_for(answer, len(names), fdr)
    columns = _columns(answer, len(names), limit)
    J, probability = columns[2], columns[4]
    return _listed(columns, names, np.lexsort((-np.abs(J), -probability)))


def limit_for(answer: CouplingAnswer, n: int, fdr: float) -> float:
    """The probability above which couplings are there, from two walks through their blocks.

    The first counts couplings in bins of their probability. The second looks at those of the bins in which the limit
    may lie, and above.
    """
    counts, sums = np.zeros(_BINS), np.zeros(_BINS)
    for block in answer.blocks():
        wrong = 1 - _upper(block, n)[-1]
        bins = np.minimum((wrong * _BINS).astype(np.intp), _BINS - 1)
        counts += np.bincount(bins, minlength=_BINS)
        sums += np.bincount(bins, wrong, _BINS)
    too_many = np.cumsum(sums) > fdr * np.cumsum(counts)
    last = int(np.argmax(too_many)) if too_many.any() else _BINS
    # A few bins more, for those that are equally probable and for rounding.
    return limit_of(_columns(answer, n, 1 - (last + 2) / _BINS)[4], fdr)


def strongest_of(answer: CouplingAnswer, names: Sequence[str], k: int) -> list[Coupling]:
    """The k couplings of largest absolute value, the first the largest."""
    columns = [np.empty(0) for _ in range(5)]
    for block in answer.blocks():
        columns = [np.append(a, b) for a, b in zip(columns, _upper(block, len(names)), strict=True)]
        order = np.argsort(-np.abs(columns[2]), kind="stable")[:k]
        columns = [column[order] for column in columns]
    return _listed(columns, names, np.arange(len(columns[0])))


def _upper(block: Block, n: int) -> tuple[Indices, Indices, Array, Array, Array]:
    """i, j, coupling, error and probability of the pairs i < j of some rows."""
    row, j = np.nonzero(np.arange(n) > block.rows[:, None])
    return block.rows[row], j, block.J[row, j], block.error[row, j], block.probability[row, j]


def _columns(answer: CouplingAnswer, n: int, above: float = -1.0) -> list[Array]:
    """The same of all rows, for couplings more probable than so much."""
    parts = []
    for block in answer.blocks():
        upper = _upper(block, n)
        chosen = upper[-1] > above
        parts.append([column[chosen] for column in upper])
    return [np.concatenate(part) for part in zip(*parts, strict=True)]


def _listed(columns: Sequence[Array | Indices], names: Sequence[str], order: Indices) -> list[Coupling]:
    i, j, *numbers = (column[order].tolist() for column in columns)
    return [
        Coupling(int(a), int(b), names[int(a)], names[int(b)], *found)
        for a, b, *found in zip(i, j, *numbers, strict=True)
    ]


def frame_of(answer: CouplingAnswer, names: Sequence[str], fdr: float, encoding: str = SPINS) -> pd.DataFrame:
    """A pandas data frame with a row for every coupling i < j."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("to_frame needs pandas: pip install 'bayesing[data]'.") from error
    i, j, J, deviation, probability = _columns(answer, len(names))
    labels = np.array(names, dtype=object)
    times = COUPLING if check_encoding(encoding) else 1.0
    columns = i, j, labels[i], labels[j], times * J, times * deviation, probability
    frame = pd.DataFrame(dict(zip(Coupling._fields, columns, strict=True)))
    frame["edge"] = discoveries(probability, fdr)
    return frame
