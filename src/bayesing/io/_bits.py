"""Cells as bits: which of them are +1, and which are missing, whichever way 0 is to be read.

A cell is +1 if its code is 1 or that of a word such as yes: this does not depend on the encoding. Whether 0 stands
for a missing value is known only at the end of a file. Until then it must be known which cells are 0. That costs
nothing where no -1 is near: then the cells that are not +1 are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..packed import PackedSpins, Words
from ._codes import MISSING, WORD_CODES, CodeFlags, Codes, has


@dataclass(frozen=True, eq=False)
class Bits:
    """Some rows of a table.

    ``up`` are cells that are +1. ``missing`` are cells that are missing in any case, None if there are none. ``zero``
    are cells that are 0, if there is a -1 in these rows, too. Otherwise ``lower`` is one row of bits: the columns in
    which cells that are neither +1 nor missing are 0.
    """

    up: PackedSpins
    missing: PackedSpins | None
    zero: PackedSpins | None
    lower: Words | None

    @classmethod
    def of(cls, codes: Codes, flags: CodeFlags) -> Bits:
        """The bits of codes, none of which is :data:`OTHER`."""
        up: NDArray[Any] = codes
        missing = zero = lower = None
        if has(flags, *WORD_CODES, MISSING).any():
            up = (codes > 0) & ((codes & 1) > 0)  # codes of words are odd if they are +1
            if has(flags, MISSING).any():
                missing = PackedSpins.of(codes == MISSING)
        zeros = has(flags, 0)
        if zeros.any():
            if has(flags, -1).any():
                zero = PackedSpins.of(codes == 0)
            else:
                lower = PackedSpins.of(zeros[None]).words
        return cls(PackedSpins.of(up), missing, zero, lower)

    def absent(self, zero_is_missing: bool) -> PackedSpins:
        """The cells that are missing."""
        words = np.zeros_like(self.up.words) if self.missing is None else self.missing.words
        if zero_is_missing and self.zero is not None:
            words = words | self.zero.words
        if zero_is_missing and self.lower is not None:
            words = words | (self.lower & ~self.up.words)
        return PackedSpins(words, self.up.n)
