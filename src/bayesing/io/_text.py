r"""Tables of text: .csv, .tsv, .txt and .dat.

The layout is told from the first lines (:mod:`._layout`). After that the text goes by in blocks of whole lines.
Cells of up to 8 bytes are compared as one integer each, so that the work for a block is a few passes of NumPy over
it, with as many comparisons as there are ways to write a value. In large files, blocks of 0, 1 and -1 are left to a
compiled function (:mod:`._scan`). A block with anything else in it (longer cells,
comments, blank lines, quotes around delimiters) is taken line by line. All give the same.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..exceptions import InputError
from ._codes import Codes, TextCodes
from ._layout import Layout, cells_of, decode, is_content, layout_of
from ._lines import whole_lines
from ._table import CHUNK, Chunk, Table, opened

_FOR_COMPILER = 2**25  # bytes of a file, from which loading a compiled function takes less time than it saves
_QUOTED = re.compile(' *"[^"]*" *')  # all of a cell between two quotes


def text_table(path: Path, compression: str, default: str) -> Table:
    """The table in a file of text."""
    layout = layout_of(path, compression, default)
    chunks = partial(_chunks, path, compression, layout)
    header = layout.names is not None
    return Table(
        path, layout.width, layout.names, layout.n_rows, layout.first, chunks, (), header, layout.notes
    )


def _chunks(path: Path, compression: str, layout: Layout) -> Iterator[Chunk]:
    texts = TextCodes()
    row, skip = 0, layout.skip
    scan = _scanner(path)
    with opened(path, compression) as (file, _):
        for block in whole_lines(file, CHUNK):
            block, skip = block[skip:], max(skip - len(block), 0)
            if not block:
                continue
            codes = scan(block, layout.delimiter, layout.width) if scan else None
            if codes is None:
                codes = _fast(block, layout, texts)
            if codes is None:
                codes = _slow(block, layout, texts, row)
            if len(codes):
                yield Chunk(codes, partial(_column, block, layout, row))
            row += len(codes)


def _scanner(path: Path) -> Callable[[bytes, str, int], Codes | None] | None:
    """A compiled function for the commonest cells, where it is worth loading."""
    if path.stat().st_size < _FOR_COMPILER and "numba" not in sys.modules:
        return None
    from ._scan import scan

    return scan


def _fast(block: bytes, layout: Layout, texts: TextCodes) -> Codes | None:
    """Codes of a block if all its cells are short and all its lines are rows, else None."""
    if b"#" in block or b"\0" in block:
        return None
    characters = np.frombuffer(bytes(8) + block, np.uint8)
    newline = characters == ord("\n")
    ends = np.flatnonzero(newline | (characters == ord(layout.delimiter)))
    rows = np.count_nonzero(newline)
    width = len(ends) // rows
    if len(ends) != rows * width or not newline[ends[width - 1 :: width]].all():
        return None
    lengths = np.diff(ends, prepend=7) - 1
    if lengths.max() > 8 or (layout.delimiter == " " and not lengths.all()):
        return None
    # The 8 bytes before each end, shifted until those of the cell itself are left.
    eights: NDArray[np.uint64] = np.ndarray(len(characters) - 7, "<u8", characters.data, strides=(1,))[
        ends - 8
    ]
    keys = eights >> (64 - 8 * lengths).astype(np.uint64)
    if width == layout.width + 1 and not lengths[width - 1 :: width].any():
        keys, width = keys.reshape(rows, width)[:, :-1].ravel(), width - 1
    if width != layout.width:
        return None
    codes = _lookup(keys, layout.delimiter, texts)
    return None if codes is None else codes.reshape(rows, width)


def _lookup(keys: NDArray[np.uint64], delimiter: str, texts: TextCodes) -> Codes | None:
    """Codes of cells of up to 8 bytes; None if one of them is not one cell for certain."""
    unknown = -2
    codes = np.full(len(keys), unknown, np.int8)
    for cell, code in texts.encoded.items():
        np.copyto(codes, code, where=keys == int.from_bytes(cell, "little"))
    rest = np.flatnonzero(codes == unknown)
    if len(rest):
        spellings, which = np.unique(keys[rest], return_inverse=True)
        cells = [int(key).to_bytes(8, "little").rstrip(b"\0") for key in spellings]
        if not all(_is_one_cell(cell, delimiter) for cell in cells):
            return None
        codes[rest] = np.array([texts.of_bytes(cell) for cell in cells], np.int8)[which]
    return codes


def _is_one_cell(cell: bytes, delimiter: str) -> bool:
    """Whether bytes between delimiters are a cell: not if a quote is open, or some other white space in them."""
    try:
        text = cell.decode()
    except UnicodeDecodeError:
        return False
    if '"' in text and not _QUOTED.fullmatch(text):
        return False
    return delimiter != " " or text.split() == [text]


def _slow(block: bytes, layout: Layout, texts: TextCodes, row: int) -> Codes:
    codes = bytearray()
    for cells in _rows(block, layout, row):
        codes.extend(map(texts.__getitem__, cells))
    return np.array(codes, np.uint8).view(np.int8).reshape(-1, layout.width)


def _rows(block: bytes, layout: Layout, row: int) -> Iterator[list[str]]:
    for line in decode(block).split("\n"):
        if not is_content(line):
            continue
        cells = cells_of(line, layout.delimiter)
        if not cells:
            continue
        row += 1
        if len(cells) == layout.width + 1 and not cells[-1].strip():
            cells.pop()
        if len(cells) != layout.width:
            source = "the header" if layout.names else "row 1"
            below = ", below the header" if layout.names else ""
            raise InputError(
                f"expected {layout.width} column(s), as {source} has, found {len(cells)} in row {row} (counting "
                f"from 1{below})."
            )
        yield cells


def _column(block: bytes, layout: Layout, row: int, j: int) -> list[str]:
    return [cells[j] for cells in _rows(block, layout, row)]
