"""Statistics of many parts, each made where the part is, and added up as a tree; Dask arrays and data frames.

A part is some rows: a block of an array, a partition of a data frame, or a file. Whoever has it (a thread, a process,
a worker of a cluster) makes bits and products of it. What travels are these: n^2 whole numbers, a random choice of
rows (:mod:`bayesing.drawn`), and all rows as bits as long as they are few. Eight are added up at a time, then eight
of the sums, in the order of the rows. All of it is exact. The answer is that of the same rows in memory, to the last
bit: it does not depend on where parts end, nor on who made them.

Nothing here imports Dask unless data come from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from .drawn import DrawnRows
from .exceptions import InputError
from .packed import PackedSpins, bytes_of_row
from .spins import check_shape

KEPT_BYTES = 2**27  # of bits, up to which all rows are kept: a thousand million spins in 128 MB
_WORTH_FOLDING = 32  # rows for each spin, from which products of int32 take less memory than bits
_BRANCHES = (
    8  # of a node of the tree: few enough that their matrices fit into memory, and enough to be done soon
)


class _Summable(Protocol):
    """What is known of some rows, which can be added up: a ``SpinStatistics``."""

    @property
    def N(self) -> int: ...
    @property
    def n(self) -> int: ...
    @property
    def rows(self) -> PackedSpins | None: ...
    @property
    def absent(self) -> PackedSpins | None: ...
    def __add__(self, other: Self) -> Self: ...
    def without_rows(self) -> Self: ...


S = TypeVar("S", bound=_Summable)


class Reduced(NamedTuple, Generic[S]):
    """Rows as sums and products (as bits while they are fewer than the spins), a choice of them, and all, if few.

    ``kept`` is None beyond :func:`most_rows`.
    """

    folded: S
    drawn: DrawnRows
    kept: S | None


def most_rows(n: int) -> int:
    """How many rows of n spins are kept beside sums and products.

    >>> most_rows(100), most_rows(10**6)
    (8388608, 32000000)
    """
    return max(KEPT_BYTES // bytes_of_row(n), _WORTH_FOLDING * n)


def part_of(found: S, run: int, start: int = 0, most: int | None = None) -> Reduced[S]:
    """The rows of the run with this number, from the row ``start`` on; at ``most`` so many are kept."""
    assert found.rows is not None
    drawn = DrawnRows.of(found.rows, found.absent, run, start)
    return Reduced(found.without_rows(), drawn, found if found.N <= _most(found, most) else None)


def added(parts: Sequence[Reduced[S] | InputError], most: int | None = None) -> Reduced[S] | InputError:
    """The sum of some parts; the first error among them, if there is one: schedulers would wrap what is raised."""
    whole: list[Reduced[S]] = []
    for part in parts:
        if isinstance(part, InputError):
            return part
        whole.append(Reduced(*part))
    try:
        bits = [part.folded for part in whole if part.folded.rows is not None]
        folded = [part.folded for part in whole if part.folded.rows is None]
        if bits:  # few rows are not worth a product of their own
            folded.append(_sum(bits).without_rows())
        drawn = DrawnRows.merged([part.drawn for part in whole])
        kept = [part.kept for part in whole if part.kept is not None]
        few = len(kept) == len(whole) and sum(part.N for part in kept) <= _most(kept[0], most)
        return Reduced(_sum(folded), drawn, _sum(kept) if few else None)
    except InputError as error:
        return error


def _most(found: _Summable, most: int | None) -> int:
    return most_rows(found.n) if most is None else most


def _sum(parts: list[S]) -> S:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def tree(parts: Sequence[Any], add: Callable[[list[Any]], Any]) -> Any:
    """Add neighbours up, a few at a time, until one is left.

    >>> tree([str(k) for k in range(10)], lambda some: f"({''.join(some)})")
    '((01234567)(89))'
    """
    parts = list(parts)
    while len(parts) > 1:
        parts = [add(parts[k : k + _BRANCHES]) for k in range(0, len(parts), _BRANCHES)]
    return parts[0]


def is_lazy(X: Any) -> bool:
    """Whether this is an array or a data frame of Dask: it follows Dask's protocol, and has rows and columns."""
    return callable(getattr(type(X), "__dask_graph__", None)) and hasattr(type(X), "ndim")


def reduced(X: Any, of_block: Callable[[Any], S]) -> Reduced[S]:
    """Statistics of a Dask array or data frame, from those ``of_block``; computed by the scheduler that Dask has.

    The first block at fault is an InputError that says which it is.
    """
    from dask.delayed import delayed

    if X.ndim != 2:
        check_shape((0,) * X.ndim)
    blocks = _blocks_of(X)
    whose = enumerate(_places(X, len(blocks)))
    read, add = delayed(_read, pure=False), delayed(added, pure=False)
    parts = [read(block, of_block, *place) for block, place in zip(blocks, whose, strict=True)]
    found = tree(parts, add).compute()
    if isinstance(found, InputError):
        raise found
    return Reduced(*found)


def _blocks_of(X: Any) -> list[Any]:
    """Blocks of rows; those of an array as lists, since columns may be in several blocks."""
    parts = X.to_delayed()
    return [list(row) for row in parts] if isinstance(parts, np.ndarray) else list(parts)


def _places(X: Any, count: int) -> list[str]:
    """What an error calls the blocks, with their rows where their lengths are known."""
    names = [f"block {k + 1} of {count}" for k in range(count)]
    lengths = getattr(X, "chunks", [[]])[0]
    if len(lengths) != count or any(length != length for length in lengths):
        return names
    ends = np.cumsum(lengths).tolist()
    starts = [0, *ends[:-1]]
    return [f"{name} (from row {start + 1} on)" for name, start in zip(names, starts, strict=True)]


def _read(block: Any, of_block: Callable[[Any], S], run: int, place: str) -> Reduced[S] | InputError:
    try:
        return part_of(of_block(_joined(block) if isinstance(block, list) else block), run)
    except InputError as error:
        return error.at(place)


def _joined(columns: list[Any]) -> Any:
    if len(columns) == 1:
        return columns[0]
    masked = any(isinstance(part, np.ma.MaskedArray) for part in columns)
    return (np.ma if masked else np).concatenate(columns, axis=1)
