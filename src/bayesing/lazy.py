"""Dask arrays and data frames: statistics of each block where the block is, added up as a tree.

A block is some rows. Whoever computes it (a thread, a process, a worker of a cluster) makes bits and products of it.
What travels are these: n^2 whole numbers a block, and N n bits as long as they are few. Eight are added up at a time,
then eight of the sums, in the order of the rows. All of it is exact. The answer is that of the same rows in memory,
to the last bit: it does not depend on where blocks end, nor on who computes them.

Nothing here imports Dask unless data come from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from .exceptions import InputError
from .packed import PackedSpins
from .spins import check_shape

MOST_BYTES = 2**27  # of rows as bits that are kept beside the products: 10^9 cells
_BRANCHES = (
    8  # of a node of the tree: few enough that their matrices fit into memory, and enough to be done soon
)


class Summable(Protocol):
    """What is known of some rows, which can be added up: a :class:`~bayesing.statistics.SpinStatistics`."""

    @property
    def rows(self) -> PackedSpins | None: ...
    @property
    def absent(self) -> PackedSpins | None: ...
    def __add__(self, other: Self) -> Self: ...
    def without_rows(self) -> Self: ...


S = TypeVar("S", bound=Summable)


class Reduced(NamedTuple, Generic[S]):
    """All rows as sums and products, or as bits while they are fewer than the spins; and as bits, if they are few.

    The second is None beyond :data:`MOST_BYTES`.
    """

    folded: S
    kept: S | None


def is_lazy(X: Any) -> bool:
    """Whether this is an array or a data frame of Dask: it follows Dask's protocol, and has rows and columns."""
    return callable(getattr(type(X), "__dask_graph__", None)) and hasattr(type(X), "ndim")


def reduced(X: Any, of_block: Callable[[Any], S], most_bytes: int | None = None) -> Reduced[S]:
    """Statistics of a Dask array or data frame, from those ``of_block``; computed by the scheduler that Dask has.

    The first block at fault is an InputError that says which it is. Rows beyond so many bytes of bits are not kept.
    """
    from dask.delayed import delayed

    most_bytes = MOST_BYTES if most_bytes is None else most_bytes
    if X.ndim != 2:
        check_shape((0,) * X.ndim)
    blocks = _blocks_of(X)
    whose = _places(X, len(blocks))
    read, add = delayed(_read, pure=False), delayed(_added, pure=False)
    parts = [read(block, of_block, most_bytes, place) for block, place in zip(blocks, whose, strict=True)]
    found = tree(parts, lambda some: add(some, most_bytes)).compute()
    if isinstance(found, InputError):
        raise found
    return Reduced(*found)


def tree(parts: Sequence[Any], add: Callable[[list[Any]], Any]) -> Any:
    """Add neighbours up, a few at a time, until one is left.

    >>> tree([str(k) for k in range(10)], lambda some: f"({''.join(some)})")
    '((01234567)(89))'
    """
    parts = list(parts)
    while len(parts) > 1:
        parts = [add(parts[k : k + _BRANCHES]) for k in range(0, len(parts), _BRANCHES)]
    return parts[0]


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


def _read(block: Any, of_block: Callable[[Any], S], most_bytes: int, place: str) -> Reduced[S] | InputError:
    """An error is a value: schedulers would wrap it, each in its own way."""
    try:
        found = of_block(_joined(block) if isinstance(block, list) else block)
    except InputError as error:
        return error.at(place)
    return _part(found, most_bytes)


def _joined(columns: list[Any]) -> Any:
    if len(columns) == 1:
        return columns[0]
    masked = any(isinstance(part, np.ma.MaskedArray) for part in columns)
    return (np.ma if masked else np).concatenate(columns, axis=1)


def _part(found: S, most_bytes: int) -> Reduced[S]:
    return Reduced(found.without_rows(), found if _bytes_of(found) <= most_bytes else None)


def _bytes_of(found: Summable) -> int:
    return sum(part.words.nbytes for part in (found.rows, found.absent) if part is not None)


def _added(parts: list[Reduced[S] | InputError], most_bytes: int) -> Reduced[S] | InputError:
    """The sum of some parts; the first error among them, if there is one."""
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
        kept = [part.kept for part in whole if part.kept is not None]
        if len(kept) < len(whole) or sum(map(_bytes_of, kept)) > most_bytes:
            return Reduced(_sum(folded), None)
        return Reduced(_sum(folded), _sum(kept))
    except InputError as error:
        return error


def _sum(parts: list[S]) -> S:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
