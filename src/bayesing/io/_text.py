r"""Tables of text: .csv, .tsv, .txt and .dat.

The delimiter, a header and a delimiter at the end of every line are told from the first lines. After that the text
goes by in blocks of whole lines. Cells of up to 8 bytes are compared as one integer each, so that the work for a
block is a few passes of NumPy over it, with as many comparisons as there are ways to write a value. A block with
anything else in it (longer cells, comments, blank lines, quotes around delimiters) is taken line by line. Both give
the same.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ._codes import MISSING, OTHER, Codes, TextCodes, code_of, count_from, number_in
from ._table import CHUNK, Chunk, Table, opened, short

DEFAULT_DELIMITER = {".csv": ",", ".tsv": "\t", ".txt": " ", ".dat": " "}

_DELIMITERS = (",", ";", "\t", "|", " ")  # a blank stands for any white space
_SAMPLE_LINES, _SAMPLE_CELLS, _SAMPLE_BYTES = 20, 200, 2**18
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Layout:
    """How a text is a table: its delimiter, its columns, and the lines to skip before the first row."""

    delimiter: str
    width: int
    names: tuple[str, ...] | None
    skip: int


def text_table(path: Path, compression: str, default: str) -> Table:
    """The table in a file of text."""
    layout = _layout(path, compression, default)
    return Table(
        layout.width,
        layout.names,
        partial(_chunks, path, compression, layout),
        partial(_n_rows, path, compression, layout),
        header=layout.names is not None,
    )


def _layout(path: Path, compression: str, default: str) -> Layout:
    lines: list[str] = []
    skip = size = 0
    with opened(path, compression) as (file, _):
        for number, raw in enumerate(part for line in file for part in line.splitlines()):
            line = _decode(raw.removeprefix(_BOM) if number == 0 else raw)
            if _is_content(line):
                skip = skip if lines else number
                lines.append(line)
                size += len(raw)
            if len(lines) >= _SAMPLE_LINES or (size > _SAMPLE_BYTES and len(lines) > 2):
                break
    delimiter = sniff(lines, default) if lines else default
    rows = [[cell.strip() for cell in _cells(line, delimiter)] for line in lines]
    if not any(rows):
        raise ValueError("expected rows of spins, found an empty file.")
    first, *body = (cells for cells in rows if cells)
    if len(first) > 1 and not any(cells[-1] for cells in (first, *body)):  # every line ends in a delimiter
        first, body = first[:-1], [cells[:-1] for cells in body]
    if not is_header(first, body):
        return Layout(delimiter, len(first), None, skip)
    if not body:
        raise ValueError("expected rows of spins, found a header and nothing below it.")
    if (
        all(len(cells) == len(first) + 1 for cells in body)
        and count_from([cells[0] for cells in body]) is not None
    ):
        first = ["", *first]  # R leaves out the name of its row numbers
    return Layout(delimiter, len(first), tuple(first), skip + 1)


def sniff(lines: list[str], default: str) -> str:
    """The delimiter that makes the most cells values; of several, one that makes more than one column."""
    body = lines[1:] or lines

    def merit(delimiter: str) -> tuple[float, bool]:
        rows = [_cells(line, delimiter) for line in body]
        known = [code_of(cell) != OTHER for cells in rows for cell in cells[:_SAMPLE_CELLS]]
        return sum(known) / max(1, len(known)), len(rows[0]) > 1

    return max((default, *_DELIMITERS), key=merit)


def is_header(first: list[str], body: list[list[str]]) -> bool:
    """Whether the first line holds names, or the numbers 0, 1, 2, ... or 1, 2, 3, ... of the columns."""
    codes = [code_of(cell) for cell in first]
    labels = first if number_in(first[0]) is not None else first[1:]
    numbered = len(body) > 2 and count_from([cells[0] for cells in body]) is not None
    if count_from(labels) is not None and (len(labels) > 2 or (len(labels) < len(first) and numbered)):
        return True
    numbers = [code for cell, code in zip(first, codes, strict=True) if number_in(cell) is not None]
    distinct = len(set(first)) == len(first)
    if numbers:  # names like 101, 102, 103; but a row with a cell at fault is not a header
        return distinct and all(code == OTHER for code in numbers)
    words = [j for j, code in enumerate(codes) if code not in (MISSING, OTHER)]
    below = [[code_of(cells[j]) for cells in body if j < len(cells)] for j in words]
    if OTHER in codes:  # unless most cells are like those below, and this one is at fault
        return 2 * sum(any(1 < code < MISSING for code in column) for column in below) < len(first)
    # Names like t, y, n, above numbers.
    return distinct and any(code in (-1, 0, 1) for column in below for code in column)


def _chunks(path: Path, compression: str, layout: Layout) -> Iterator[Chunk]:
    texts = TextCodes()
    row, skip = 0, layout.skip
    with opened(path, compression) as (file, _):
        while block := file.read(CHUNK):
            block += file.readline()
            if row == 0:
                block = block.removeprefix(_BOM)
            if b"\r" in block:
                block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            if not block.endswith(b"\n"):
                block += b"\n"
            while skip and block:
                skip, block = skip - 1, block.partition(b"\n")[2]
            if not block:
                continue
            codes = _fast(block, layout, texts)
            if codes is None:
                codes = _slow(block, layout, texts, row)
            if len(codes):
                yield Chunk(codes, partial(_column, block, layout, row))
            row += len(codes)


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
    return _lookup(keys, texts).reshape(rows, width)


def _lookup(keys: NDArray[np.uint64], texts: TextCodes) -> Codes:
    unknown = -2
    codes = np.full(len(keys), unknown, np.int8)
    for cell, code in texts.encoded.items():
        np.copyto(codes, code, where=keys == int.from_bytes(cell, "little"))
    rest = np.flatnonzero(codes == unknown)
    if len(rest):
        spellings, which = np.unique(keys[rest], return_inverse=True)
        cells = (int(key).to_bytes(8, "little").rstrip(b"\0") for key in spellings)
        codes[rest] = np.array([texts.of_bytes(cell) for cell in cells], np.int8)[which]
    return codes


def _slow(block: bytes, layout: Layout, texts: TextCodes, row: int) -> Codes:
    codes = bytearray()
    for cells in _rows(block, layout, row):
        codes.extend(map(texts.__getitem__, cells))
    return np.array(codes, np.uint8).view(np.int8).reshape(-1, layout.width)


def _rows(block: bytes, layout: Layout, row: int) -> Iterator[list[str]]:
    for line in _decode(block).split("\n"):
        if not _is_content(line):
            continue
        cells = _cells(line, layout.delimiter)
        if not cells:
            continue
        row += 1
        if len(cells) == layout.width + 1 and not cells[-1].strip():
            cells.pop()
        if len(cells) != layout.width:
            source = "the header" if layout.names else "row 1"
            below = ", below the header" if layout.names else ""
            raise ValueError(
                f"expected {layout.width} column(s), as {source} has, found {len(cells)} in row {row} (counting "
                f"from 1{below})."
            )
        yield cells


def _column(block: bytes, layout: Layout, row: int, j: int) -> list[str]:
    return [cells[j] for cells in _rows(block, layout, row)]


def _is_content(line: str) -> bool:
    """Not blank, and no comment; Excel's #N/A is a missing value."""
    line = line.lstrip(" ")
    return bool(line) and (line[0] != "#" or line[:4].lower() == "#n/a")


def _cells(line: str, delimiter: str) -> list[str]:
    if '"' not in line:
        return line.split(None if delimiter == " " else delimiter)
    try:
        if delimiter == " ":
            line = line.replace("\t", " ").strip()
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))
    except csv.Error as error:
        raise ValueError(f"expected a table of short cells, found {short(line)} ({error}).") from error


def _decode(raw: bytes) -> str:
    if b"\0" in raw:
        raise ValueError("expected text in UTF-8, found other bytes. Save the table as text in UTF-8.")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"expected text in UTF-8, found other bytes ({error.reason}). Save the table as text in UTF-8."
        ) from error


def _n_rows(path: Path, compression: str, layout: Layout) -> int:
    """Of a large file, an estimate from its beginning."""
    with opened(path, compression) as (file, raw):
        lines = sum(block.count(b"\n") for block in islice(iter(partial(file.read, CHUNK), b""), 4))
        read, size = raw.tell(), path.stat().st_size
    return max(lines * size // max(read, 1) - layout.skip, 1)
