r"""The commonest text, in one compiled pass: cells that are 0, 1 or -1, and nothing else.

Loading the compiler takes half a second, in which NumPy reads some ten million cells: it is worth it for large files.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..compiled import compiled
from ._codes import Codes

_PADDING = b"\0\0"  # so that no cell at the end is looked for beyond it


def scan(block: bytes, delimiter: str, width: int) -> Codes | None:
    """Codes of whole lines of so many cells; None if a cell is anything else, or a line has more or fewer."""
    text = np.frombuffer(block + _PADDING, np.uint8)
    codes = np.empty(len(block) // 2 + 1, np.int8)
    cells = _scan(text, len(block), ord(delimiter), width, codes)
    return None if cells < 0 else codes[:cells].reshape(-1, width)


@compiled()
def _scan(text: NDArray[np.uint8], length: int, delimiter: int, width: int, codes: Codes) -> int:
    """The number of cells, or -1. A minus may stand before a digit, and the delimiter or the line's end follows."""
    place, cells, column, wrong = 0, 0, 0, 0
    while place < length:
        minus = 1 if text[place] == 45 else 0  # no branch: it would be taken at random
        place += minus
        digit = int(text[place]) - 48
        column += 1
        last = column == width
        end = 10 if last else delimiter
        wrong |= (digit >> 1) | (int(text[place + 1]) - end)
        codes[cells] = digit - 2 * minus * digit
        cells += 1
        place += 2
        if last:
            column = 0
            if wrong:
                return -1
    return -1 if wrong or column else cells
