"""Several files that are one table, each read by somebody else: what each gives, and what they are together.

Whoever reads a file (a worker of a cluster) says which codes occur in it, what is missing, and what its columns are.
Its rows become a part that can be added up (:mod:`bayesing.lazy`). Whoever has all of this checks that the files
agree, and says of all of them what :func:`~bayesing.read_spins` would say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import InputError
from ..lazy import Reduced, added, part_of
from ..spins import any_gaps, check_shape
from ..statistics import SpinStatistics
from ..types import Indices
from ._codes import CodeFlags, Encoding, has
from ._fold import size_of
from ._missing import KEEP, Tally, check_rule, notes_on, settle
from ._open import naming, open_table
from ._parts import Part
from ._paths import called
from ._record import on_constant_spins
from ._selection import Selection, check_encoding, select
from ._several import Agreed, check_columns
from ._table import Chunk

_AT_ONCE = 8  # parts of a file that are added up together

Added = Reduced[SpinStatistics]


class Portion(NamedTuple):
    """What one file says beside its spins: columns, codes that occur in them, and what is missing."""

    selection: Selection
    flags: CodeFlags
    tally: Tally


class Joined(NamedTuple):
    """Statistics of all files, how they were written, and what is to be said of them."""

    statistics: SpinStatistics
    encoding: str
    notes: tuple[str, ...]


def read_portion(
    path: str,
    run: int,
    array: str | None = None,
    missing: str = KEEP,
    drop_columns: str | Sequence[str | int] = (),
    rows: int | None = None,
    most: int | None = None,
) -> tuple[Portion, Added]:
    """The file with the number ``run``, ``rows`` samples at a time; at ``most`` so many rows are kept."""
    check_rule(missing)
    with naming(Path(path)):
        table = open_table(path, array)
        selection = select(table, drop_columns)
        size = max(size_of(rows, table.width), len(selection.kept) + 1)
        try:
            return _read(selection, run, missing, size, most, False)
        except _ZeroIsMissingError:
            return _read(selection, run, missing, size, most, True)


class _ZeroIsMissingError(Exception):
    """A -1 came after rows in which 0 was taken for the lower of two values."""


def _read(
    selection: Selection, run: int, missing: str, size: int, most: int | None, zero_is_missing: bool
) -> tuple[Portion, Added]:
    n = len(selection.kept)
    portion = Portion(_light(selection), np.zeros(n, np.uint16), Tally(n))
    parts: list[Any] = []
    start = 0
    for piece in _pieces(_rows(selection, portion, missing, zero_is_missing), size):
        stats = SpinStatistics(
            len(piece.rows), n, piece.rows, None, selection.names, absent=any_gaps(piece.absent)
        )
        parts.append(part_of(stats, run, start, most))
        start += stats.N
        if len(parts) == _AT_ONCE:
            parts = [added(parts, most)]
    if not portion.tally.N:
        raise InputError("expected rows of spins, found none. Leave the file out.")
    encoding = check_encoding(portion.flags, selection)
    if missing == "error" and encoding.has_missing:
        settle(portion.tally, selection, encoding, missing)
    folded, drawn, kept = _whole(added(parts, most))
    return portion, Reduced(folded, drawn, kept and replace(kept, lengths=None))


def _rows(selection: Selection, portion: Portion, missing: str, zero_is_missing: bool) -> Iterator[Part]:
    """Rows of a file by the rule for missing cells; what is found on the way goes into the portion."""
    flags, tally = portion.flags, portion.tally
    for bits, found in selection.chunks():
        guessed = bool(has(flags, 0).any()) and not zero_is_missing
        np.bitwise_or(flags, found, out=flags)
        encoding = Encoding.of(flags)
        if encoding.zero_is_missing and guessed:
            raise _ZeroIsMissingError
        zero_is_missing = zero_is_missing or encoding.zero_is_missing
        if not encoding.has_missing and not zero_is_missing:
            tally.add_complete(len(bits.up))
            yield Part(bits.up)
            continue
        absent = bits.absent(zero_is_missing)
        tally.add(absent)
        left = ~absent.words.any(axis=1) if missing == "drop-samples" else absent.active() < absent.n
        yield Part(bits.up[left], absent[left])


def _pieces(parts: Iterator[Part], size: int) -> Iterator[Part]:
    """So many rows at a time, at least; one piece without rows, if there are none."""
    pending: list[Part] = []
    held = 0
    for part in parts:
        pending.append(part)
        held += len(part.rows)
        if held >= size:
            yield Part.stacked(pending)
            pending, held = [], 0
    if pending:
        yield Part.stacked(pending)


def _light(selection: Selection) -> Selection:
    """The same without what reads rows, which another process could not use."""
    return replace(selection, table=replace(selection.table, chunks=_no_chunks, first=()))


def _no_chunks() -> Iterator[Chunk]:
    return iter(())


def joined(portions: Sequence[Portion], whole: Added | InputError, missing: str = KEEP) -> Joined:
    """All files as one table, each a run of its own, or an InputError where they do not agree."""
    agreed = Agreed()
    first = portions[0].selection
    for selection, flags, _ in portions:
        with naming(selection.table.path):
            check_columns(first, selection)
            agreed.meet(selection, flags)
    with naming(called([portion.selection.table.path for portion in portions])):
        return _joined(portions, whole, missing)


def _joined(portions: Sequence[Portion], whole: Added | InputError, missing: str) -> Joined:
    first = portions[0].selection
    tally = Tally.of_all([portion.tally for portion in portions])
    flags = np.bitwise_or.reduce([portion.flags for portion in portions])
    encoding = check_encoding(flags, first)
    notes = tuple(dict.fromkeys(chain.from_iterable(part.selection.notes for part in portions)))
    if encoding.has_missing:
        settle(tally, first, encoding, missing)
        notes += notes_on(tally, first, encoding, missing)
    stats = SpinStatistics.of_parts(_whole(whole), one_run=len(portions) == 1)
    if stats.lengths is not None:  # of some files no row may be left
        stats = replace(stats, lengths=tuple(length for length in stats.lengths if length))
    check_shape((stats.N, stats.n))
    if missing == "drop-spins" and encoding.has_missing:
        complete: Indices = np.flatnonzero(~tally.columns)
        stats = stats.select(complete)
    constant = (np.abs(stats.sums) == stats.counts) & (stats.counts > 0)
    notes += on_constant_spins(constant, stats.names)
    return Joined(replace(stats, encoding=encoding.label), encoding.label, notes)


def _whole(found: Added | InputError) -> Added:
    if isinstance(found, InputError):
        raise found
    return found
