"""Couplings as a list: all of them, those that are there, the strongest, or a data frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from .encodings import COUPLING, SPINS, check_encoding
from .inference import Block, CouplingAnswer
from .mixture import discoveries, limit_of
from .types import Array, Indices

if TYPE_CHECKING:
    import pandas as pd

_BINS = 2**12  # of probabilities
_DISCOVERED: WeakKeyDictionary[CouplingAnswer, dict[float, tuple[list[Array], float]]] = WeakKeyDictionary()
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
    for block in answer.blocks():
        first, matrices = block.rows[0], (block.J, block.error, block.probability)
        for k, i in enumerate(block.rows.tolist()):
            numbers = zip(*(matrix[k, i + 1 - first :].tolist() for matrix in matrices), strict=True)
            for j, found in enumerate(numbers, i + 1):
                yield Coupling(i, j, names[i], names[j], *found)


def edges_of(answer: CouplingAnswer, names: Sequence[str], fdr: float) -> list[Coupling]:
    """The couplings that are there: the most probable first, and the largest of those that are as probable."""
    columns, limit = _discovered(answer, fdr)
    J, probability = columns[2], columns[4]
    order = np.lexsort((-np.abs(J), -probability))
    return _listed(columns, names, order[probability[order] > limit])


def limit_for(answer: CouplingAnswer, fdr: float) -> float:
    """The probability above which couplings are there."""
    return _discovered(answer, fdr)[1]


def strongest_of(answer: CouplingAnswer, names: Sequence[str], k: int) -> list[Coupling]:
    """The k couplings of largest absolute value, the first the largest."""
    columns = _joined(answer.over(partial(_strongest, k=k)))
    return _listed(columns, names, np.argsort(-np.abs(columns[2]), kind="stable")[:k])


def _discovered(answer: CouplingAnswer, fdr: float) -> tuple[list[Array], float]:
    """Couplings that may be there, and the probability above which they are; found once."""
    known = _DISCOVERED.setdefault(answer, {})
    if fdr not in known:
        known.clear()
        known[fdr] = _discover(answer, fdr)
    return known[fdr]


def _discover(answer: CouplingAnswer, fdr: float) -> tuple[list[Array], float]:
    """The same, from two walks through all pairs.

    The first counts couplings in bins of their probability. The second looks at those of the bins in which the limit
    may lie, and above.
    """
    counts, sums = np.sum(answer.over(_histogram), axis=0)
    too_many = np.cumsum(sums) > fdr * np.cumsum(counts)
    last = int(np.argmax(too_many)) if too_many.any() else _BINS
    # A few bins more, for those that are equally probable and for rounding.
    columns = _joined(answer.over(partial(_probable, above=1 - (last + 2) / _BINS)))
    return columns, limit_of(columns[4], fdr)


def _histogram(blocks: Iterator[Block]) -> Array:
    """How many couplings there are in each bin of 1 - probability, and the sum of it over them."""
    found = np.zeros((2, _BINS))
    for block in blocks:
        wrong = block.pairs(1 - block.probability)
        bins = np.minimum((wrong * _BINS).astype(np.intp), _BINS - 1)
        found += np.bincount(bins, minlength=_BINS), np.bincount(bins, wrong, _BINS)
    return found


def _probable(blocks: Iterator[Block], above: float) -> list[Array]:
    """Those that are more probable than so much."""
    return _joined([block.chosen(block.probability > above) for block in blocks])


def _strongest(blocks: Iterator[Block], k: int) -> list[Array]:
    """The k largest, and some more."""
    columns: list[Array] = []
    least = -1.0
    for block in blocks:
        found = block.chosen(np.abs(block.J) > least)
        columns = _joined([columns, found]) if columns else found
        if len(columns[2]) > k:
            J = np.abs(columns[2])
            least = np.partition(J, len(J) - k)[len(J) - k]
            columns = [column[J >= least] for column in columns]
    return columns


def _joined(parts: Sequence[list[Array]]) -> list[Array]:
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
    i, j, J, deviation, probability = _joined([block.chosen(block.error >= 0) for block in answer.blocks()])
    labels = np.array(names, dtype=object)
    times = COUPLING if check_encoding(encoding) else 1.0
    columns = i, j, labels[i], labels[j], times * J, times * deviation, probability
    frame = pd.DataFrame(dict(zip(Coupling._fields, columns, strict=True)))
    frame["edge"] = discoveries(probability, fdr)
    return frame
