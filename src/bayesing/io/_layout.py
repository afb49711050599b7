"""How a text is a table: the delimiter, a header and the columns, told from its first lines."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from ..exceptions import InputError
from ._codes import MISSING, OTHER, code_of, count_from, number_in
from ._table import FIRST_ROWS, opened, short

DEFAULT_DELIMITER = {".csv": ",", ".tsv": "\t", ".txt": " ", ".dat": " "}
BOM = b"\xef\xbb\xbf"  # the byte-order mark, which may stand before the first line

_DELIMITERS = (",", ";", "\t", "|", " ")  # a blank stands for any white space
_BEGINNING = 2**20  # bytes of text at the beginning, by which the number of lines is estimated
_SAMPLE_BYTES = 2**18  # bytes of lines that are looked at, if these are more than two lines
_SAMPLE_CELLS = 200  # cells of each line that are looked at for the delimiter


@dataclass(frozen=True)
class Layout:
    """How a text is a table: its delimiter, its columns, and the lines to skip before the first row."""

    delimiter: str
    width: int
    names: tuple[str, ...] | None
    skip: int
    n_rows: int = 0  # about
    first: tuple[str, ...] = ()  # cells of the first column


class Beginning(NamedTuple):
    """The first lines with content, the number of lines before them, and about how many there are in all."""

    lines: list[str]
    skip: int
    total: int


def layout_of(path: Path, compression: str, default: str) -> Layout:
    """The layout of a file, which is opened once; ``default`` is the delimiter if all are as good."""
    lines, skip, total = _beginning(path, compression)
    delimiter = sniff(lines, default) if lines else default
    rows = [[cell.strip() for cell in cells_of(line, delimiter)] for line in lines]
    if not any(rows):
        raise InputError("expected rows of spins, found an empty file.")
    first, *body = (cells for cells in rows if cells)
    if len(first) > 1 and not any(cells[-1] for cells in (first, *body)):  # every line ends in a delimiter
        first, body = first[:-1], [cells[:-1] for cells in body]
    names = None
    if is_header(first, body):
        if not body:
            raise InputError("expected rows of spins, found a header and nothing below it.")
        names, skip = _names(first, body), skip + 1
    else:
        body = [first, *body]
    width = len(names or first)
    return Layout(delimiter, width, names, skip, max(total - skip, 1), tuple(cells[0] for cells in body))


def _beginning(path: Path, compression: str) -> Beginning:
    text, skip = b"", 0
    lines: list[str] = []
    with opened(path, compression) as (file, raw):
        while len(lines) < 3 and (block := file.read(_BEGINNING)):
            text += block + file.readline()
            lines, skip = _content(text)
        done, size = raw.tell(), path.stat().st_size
    ends = max(text.count(b"\n"), text.count(b"\r"))
    return Beginning(lines, skip, ends * size // max(done, 1))


def _content(text: bytes) -> tuple[list[str], int]:
    """The first lines with content, and the number of lines before them."""
    lines: list[str] = []
    skip = size = 0
    parts = (part for line in BytesIO(text.removeprefix(BOM)) for part in line.splitlines())
    for number, part in enumerate(parts):
        line = decode(part)
        if is_content(line):
            skip = skip if lines else number
            lines.append(line)
            size += len(part)
        if len(lines) > FIRST_ROWS or (size > _SAMPLE_BYTES and len(lines) > 2):
            break
    return lines, skip


def _names(first: list[str], body: list[list[str]]) -> tuple[str, ...]:
    longer = all(len(cells) == len(first) + 1 for cells in body)
    if longer and count_from([cells[0] for cells in body]) is not None:
        return ("", *first)  # R leaves out the name of its row numbers
    return tuple(first)


def sniff(lines: list[str], default: str) -> str:
    """The delimiter that makes the most cells values; of several, one that makes more than one column."""
    body = lines[1:] or lines

    def merit(delimiter: str) -> tuple[float, bool]:
        rows = [cells_of(line, delimiter) for line in body]
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


def is_content(line: str) -> bool:
    """Not blank, and no comment; Excel's #N/A is a missing value."""
    line = line.lstrip(" ")
    return bool(line) and (line[0] != "#" or line[:4].lower() == "#n/a")


def cells_of(line: str, delimiter: str) -> list[str]:
    """The cells of a line, without the quotes around them."""
    if '"' not in line:
        return line.split(None if delimiter == " " else delimiter)
    try:
        if delimiter == " ":
            line = line.replace("\t", " ").strip()
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))
    except csv.Error as error:
        raise InputError(f"expected a table of short cells, found {short(line)} ({error}).") from error


def decode(raw: bytes) -> str:
    """Bytes as text, which must be UTF-8."""
    if b"\0" in raw:
        raise InputError("expected text in UTF-8, found other bytes. Save the table as text in UTF-8.")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise InputError(
            f"expected text in UTF-8, found other bytes ({error.reason}). Save the table as text in UTF-8."
        ) from error
