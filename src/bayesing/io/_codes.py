"""What a cell says: a small code for every cell, and the encoding that the codes of a table amount to.

Numbers -1, 0 and 1 are their own codes. Words (yes/no, y/n, true/false, t/f) say by themselves which of the two they
are. Whether 0 is the lower of two values, or marks a missing one beside -1 and 1, is a question to the whole table:
which codes occur in which column is collected as one bit for each, block by block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..texts import MISSING as MISSING  # for all readers
from ..texts import OTHER as OTHER
from ..texts import WORD_CODES as WORD_CODES
from ..texts import WORDS
from ..texts import code_of as code_of
from ..texts import number_in as number_in
from ..types import Flags, Indices

Codes = NDArray[np.int8]
CodeFlags = NDArray[np.uint16]  # which codes occur in each column: bit c + 1 for code c

FALSE = 6  # code of False in a column of type bool, as of the word; that of True follows

_MOST_SPELLINGS = 64  # ways to write values, with each of which every cell is compared
_MOST_TEXTS = 2**12  # ways to write values that are remembered
_WIDE_ROW = 512  # cells: beyond that the cost of a row is that of its cells
_BLOCK_CELLS = 2**16  # cells looked at at a time: as uint16 or float64 they stay in cache


def _bits(*codes: int) -> int:
    return sum(1 << (code + 1) for code in codes)


_NUMBERS = _bits(-1, 0, 1)
_WORDS = _bits(*WORD_CODES)


def count_from(cells: Sequence[Any]) -> int | None:
    """0 or 1 if the cells go 0, 1, 2, ... or 1, 2, 3, ...; None if they do not."""
    first = number_in(str(cells[0])) if cells else None
    return int(first) if first in (0, 1) and goes_on(cells, int(first)) else None


def goes_on(cells: Sequence[Any], start: int) -> bool:
    """Whether the cells go on counting from ``start``."""
    return all(number_in(str(cell)) == k for k, cell in enumerate(cells, start))


class TextCodes(dict[str, int]):
    """Codes of texts, as bytes (-1 is 255), each text looked at once; ``encoded`` has those of bytes."""

    def __init__(self) -> None:
        super().__init__()
        self.encoded: dict[bytes, int] = {}

    def __missing__(self, text: str) -> int:
        code = code_of(text) & 0xFF
        if code != OTHER and len(self) < _MOST_TEXTS:  # of others there may be any number
            self[text] = code
        return code

    def of_bytes(self, cell: bytes) -> int:
        """The code of a cell that is not decoded yet; what is not UTF-8 is not a value."""
        code = self.encoded.get(cell)
        if code is None:
            code = code_of(cell.decode("utf-8", errors="replace"))
            if code != OTHER and len(self.encoded) < _MOST_SPELLINGS:
                self.encoded[cell] = code
        return code


def codes_of_numbers(array: NDArray[Any]) -> Codes:
    """Codes of a table of numbers or bools. NaN is a missing value; what is not -1, 0 or 1 is :data:`OTHER`.

    An array that holds nothing but codes already is returned as it is.
    """
    if array.dtype == np.int8 and array.size and array.min() >= -1 and array.max() <= 1:
        return array
    codes = np.empty(array.shape, np.int8)
    if array.dtype.kind == "b":
        np.add(array, FALSE, out=codes, dtype=np.int8, casting="unsafe")
        return codes
    step = max(1, _BLOCK_CELLS // max(1, array.shape[1]))
    fractions = array.dtype.kind == "f"
    for start in range(0, len(array), step):
        block, out = array[start : start + step], codes[start : start + step]
        if block.min() >= -1 and block.max() <= 1:  # not so with a NaN
            out[...] = block
            # In [-1, 1] the cast leaves every entry alone but the proper fractions, which it makes zero.
            if not fractions or np.count_nonzero(block) == np.count_nonzero(out):
                continue
        known = (block == 0) | (block == 1) | (block == -1)
        out[...] = np.where(known, block, MISSING if fractions else OTHER)
        if fractions:
            out[~known & ~np.isnan(block)] = OTHER
    return codes


def flags_of(codes: Codes) -> CodeFlags:
    """Which codes occur in each column, a bit for each."""
    flags = np.zeros(codes.shape[1], np.uint16)
    if not len(codes):
        return flags
    highest = codes.max(axis=0)
    if (
        highest.max() <= 1
    ):  # numbers only, as most tables have: three fast passes; 0 is the only one that is even
        flags[_over_rows(np.minimum, codes) < 0] |= _bits(-1)
        flags[(_over_rows(np.bitwise_and, codes) & 1) == 0] |= _bits(0)
        flags[highest > 0] |= _bits(1)
        return flags
    one = np.uint16(1)
    step = max(1, _BLOCK_CELLS // codes.shape[1])
    for start in range(0, len(codes), step):
        shifts = (codes[start : start + step] + np.int8(1)).astype(np.uint16)
        flags |= _over_rows(np.bitwise_or, one << shifts)
    return flags


def _over_rows(function: np.ufunc, table: NDArray[Any]) -> NDArray[Any]:
    """Maximum, minimum or the like of each column. Several narrow rows are taken as one wide row, which is faster."""
    rows, width = table.shape
    several = _WIDE_ROW // width
    whole = rows - rows % several if several > 1 else 0
    if not whole:
        return np.asarray(function.reduce(table, axis=0))
    wide = function.reduce(table[:whole].reshape(-1, several * width), axis=0).reshape(several, width)
    return np.asarray(function.reduce(np.concatenate([wide, table[whole:]]), axis=0))


def has(flags: CodeFlags, *codes: int) -> Flags:
    """Which columns hold any of these codes."""
    return np.asarray((flags & np.uint16(_bits(*codes))) != 0)


def mixed(flags: CodeFlags) -> Indices:
    """Columns that hold both numbers and words."""
    return np.flatnonzero(((flags & _NUMBERS) != 0) & ((flags & _WORDS) != 0))


@dataclass(frozen=True)
class Encoding:
    """How spins are written: what to call it, whether 0 marks missing values, and whether there are any."""

    label: str
    zero_is_missing: bool
    has_missing: bool

    @classmethod
    def of(cls, flags: CodeFlags) -> Encoding:
        """The encoding of a table. Numbers of all its columns are read in the same way."""
        minus, zero, one = (bool(has(flags, code).any()) for code in (-1, 0, 1))
        numbers = "±1" if minus else "0/1" if zero else "1" if one else ""
        words = [
            "/".join(pair[::-1]) for k, pair in enumerate(WORDS) if has(flags, 2 + 2 * k, 3 + 2 * k).any()
        ]
        label = " and ".join([numbers] * bool(numbers) + words)
        return cls(label, minus and zero, bool(has(flags, MISSING).any()) or (minus and zero))
