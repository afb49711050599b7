"""What every method of this package returns: couplings with errors, by rows, and fields."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Array


@dataclass(frozen=True, eq=False)
class Couplings:
    """Couplings and their standard errors (n x n, symmetric, 0 on the diagonal), and fields (n)."""

    matrix: Array
    errors: Array
    fields: Array

    def rows(self, chosen: Any = slice(None)) -> tuple[Array, Array]:
        """Couplings of the spins ``chosen`` to all n, and their errors."""
        return self.matrix[chosen], self.errors[chosen]

    def blocks(self) -> Iterator[tuple[NDArray[np.intp], Array, Array]]:
        """All rows at once, as one block: their numbers, couplings and errors."""
        yield np.arange(len(self.matrix)), self.matrix, self.errors


def no_couplings(fields: Array, deviation: float) -> Couplings:
    """All couplings 0, give or take ``deviation``."""
    n = len(fields)
    errors = np.full((n, n), deviation)
    np.fill_diagonal(errors, 0.0)
    return Couplings(np.zeros((n, n)), errors, fields)


def embed(block: Array, chosen: NDArray[np.intp], n: int, rest: float = 0.0) -> Array:
    """The n x n matrix with ``block`` in the rows and columns ``chosen``, ``rest`` elsewhere, 0 on the diagonal."""
    if len(chosen) < n:
        whole = np.full((n, n), rest)
        whole[np.ix_(chosen, chosen)] = block
        block = whole
    np.fill_diagonal(block, 0.0)
    return block
