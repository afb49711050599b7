"""Real data to try things on: votes of the United States Senate, and handwritten digits."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import Literal

import numpy as np

from .exceptions import InputError
from .packed import PackedSpins
from .types import Spins

_MOST_MISSING = 0.04  # of a voter's votes


@dataclass(frozen=True, eq=False)
class SpinDataset:
    """Spins (int8, ±1, N x n) with the names of the columns, and what they are and where they come from.

    Spins are 0 where a cell is missing. Estimators and reports take a data set as it is, names included.

    >>> from bayesing import EmpiricalBayes
    >>> EmpiricalBayes().fit(load_digits()).names()[:2]
    ['pixel_0_0', 'pixel_0_1']
    """

    spins: Spins
    names: tuple[str, ...]
    description: str
    encoding: str = "±1"

    @cached_property
    def rows(self) -> PackedSpins:
        """The spins as bits, 0 where a cell is missing."""
        return PackedSpins.of(self.spins)

    @cached_property
    def absent(self) -> PackedSpins | None:
        """Bits of missing cells; None if no cell is missing."""
        missing = self.spins == 0
        return PackedSpins.of(missing) if missing.any() else None


def load_senate109(missing: Literal["keep", "drop"] = "keep") -> SpinDataset:
    """Votes of the 109th United States Senate (2005 and 2006): 645 roll calls of 102 voters, +1 yea and -1 nay.

    Voters are everyone who sat in that Senate, and the President where he had taken a position. Votes announced or
    paired count as cast. 4.5% of the votes are missing, and are 0. ``missing="drop"`` deals with those in two steps:
    voters who miss 4% of their votes or more are left out, then roll calls in which any of the others did not vote,
    which leaves 272 of 84 voters. Votes are public record, compiled by Voteview (voteview.com) and distributed
    as the data set s109 of the R package pscl.

    >>> votes = load_senate109().spins
    >>> votes.shape, round(float((votes == 0).mean()), 3)
    ((645, 102), 0.045)
    >>> load_senate109(missing="drop").spins.shape
    (272, 84)
    """
    if missing not in ("drop", "keep"):
        raise InputError(f'missing must be "drop" or "keep": found {missing!r}.')
    source = resources.files("bayesing").joinpath("data", "senate109.csv")
    with source.open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    votes = np.array(rows, dtype=np.int8)
    if missing == "keep":
        return SpinDataset(
            spins=votes,
            names=tuple(header),
            description="109th United States Senate, all roll calls, 0 for missing votes; Voteview, pscl's s109",
        )
    kept = np.flatnonzero((votes == 0).mean(axis=0) < _MOST_MISSING)
    votes = votes[:, kept]
    return SpinDataset(
        spins=np.ascontiguousarray(votes[(votes != 0).all(axis=1)]),
        names=tuple(header[i] for i in kept),
        description="109th United States Senate, roll calls without missing votes; Voteview, by way of pscl's s109",
    )


def load_digits() -> SpinDataset:
    """Handwritten digits, 1797 pictures of 8 x 8 pixels, +1 where a pixel is at least half inked (8 of 16).

    They come with scikit-learn, from the UCI repository (E. Alpaydin and C. Kaynak, 1998). Columns are named after
    row and column of the pixel; some at the edges are never inked.

    >>> load_digits().spins.shape
    (1797, 64)
    """
    from sklearn.datasets import load_digits as load

    ink = load().data
    return SpinDataset(
        spins=np.where(ink >= 8, 1, -1).astype(np.int8),
        names=tuple(f"pixel_{k // 8}_{k % 8}" for k in range(64)),
        description="Handwritten digits of scikit-learn, inked pixels; UCI, Alpaydin and Kaynak 1998",
    )
