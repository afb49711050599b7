"""How a text is a table: the delimiter, a header and the columns, told from its first lines."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..exceptions import InputError
from ._codes import MISSING, OTHER, WORD_CODES, code_of, count_from, number_in
from ._lines import whole_lines
from ._table import FIRST_ROWS, MOST_COLUMNS, check_width, opened, short

DEFAULT_DELIMITER = {".csv": ",", ".tsv": "\t", ".txt": " ", ".dat": " "}

_DELIMITERS = (",", ";", "\t", "|", " ")  # a blank stands for any white space
_BEGINNING = 2**20  # bytes of text at the beginning, by which the number of lines is estimated
_MOST_BEFORE = 2**22  # bytes of blank lines and comments before the first row
_SAMPLE_BYTES = 2**18  # bytes of lines that are looked at, if these are more than two lines
_SAMPLE_CELLS = 200  # cells of each line that are looked at for the delimiter
_SAMPLE_CHARACTERS = 2**16  # characters of each line that are looked at for the delimiter


@dataclass(frozen=True)
class Layout:
    """How a text is a table: its delimiter, its columns, and the bytes to skip before the first row."""

    delimiter: str
    width: int
    names: tuple[str, ...] | None
    skip: int
    n_rows: int = 0  # about
    first: tuple[str, ...] = ()  # cells of the first column
    notes: tuple[str, ...] = ()


class Line(NamedTuple):
    """A line, and where it begins and ends in the text, in bytes."""

    text: str
    start: int
    end: int


class Beginning(NamedTuple):
    """The first lines with content, the last comment above them, and about how many lines there are in all."""

    lines: list[Line]
    comment: str
    total: int


def layout_of(path: Path, compression: str, default: str) -> Layout:
    """The layout of a file, which is opened once; ``default`` is the delimiter if all are as good."""
    lines, comment, total = _beginning(path, compression)
    delimiter = sniff([line.text for line in lines], default) if lines else default
    rows = [[cell.strip() for cell in cells_of(line.text, delimiter)] for line in lines]
    rows = [cells for cells in rows if cells]
    if not rows:
        raise InputError("expected rows of spins, found an empty file.")
    if len(rows[0]) > 1 and not any(cells[-1] for cells in rows):  # every line ends in a delimiter
        rows = [cells[:-1] or cells for cells in rows]
    first, *body = rows
    names, skip, notes = None, lines[0].start, _on_comment(comment, delimiter, len(first))
    if is_header(first, body):
        if not body:
            raise InputError("expected rows of spins, found a header and nothing below it.")
        names, skip, notes = _names(first, body), lines[0].end, ()
    else:
        body = rows
        if first == ["0", "1"]:
            notes += (
                "the first line, 0 and 1, is read as a sample. If it numbers the columns, give them names instead.",
            )
    width = len(names or first)
    cells = tuple(cells[0] for cells in body)
    return Layout(delimiter, width, names, skip, max(total - (names is not None), 1), cells, notes)


def _beginning(path: Path, compression: str) -> Beginning:
    lines: list[Line] = []
    comment, place, ends, before = "", 0, 0, 0
    with opened(path, compression) as (file, raw):
        for block in whole_lines(file, _BEGINNING):
            ends += block.count(b"\n")
            for part in block[:-1].split(b"\n"):
                start, place = place, place + len(part) + 1
                text = decode(part) if part.strip(b" ") else ""
                if is_content(text):
                    lines.append(Line(text, start, place))
                elif not lines:
                    comment, before = text or comment, before + 1
                if len(lines) > FIRST_ROWS or (len(lines) > 2 and place - lines[0].start > _SAMPLE_BYTES):
                    break
            if len(lines) > 2 or place > _MOST_BEFORE:
                break
        done, total = raw.tell(), path.stat().st_size
    if not lines and place > _MOST_BEFORE:
        raise InputError(
            f"expected rows of spins, found {place >> 20} MB of blank lines and comments. Remove them."
        )
    return Beginning(lines, comment, ends * total // max(done, 1) - before)


def _on_comment(comment: str, delimiter: str, width: int) -> tuple[str, ...]:
    """A note if the comment above the rows looks like a header."""
    if width < 2 or not comment or len(cells_of(comment.lstrip(" #"), delimiter)) != width:
        return ()
    return (
        f"the line {short(comment)} begins with # and is read as a comment. If it holds the names of the columns, "
        "remove the #.",
    )


def _names(first: list[str], body: list[list[str]]) -> tuple[str, ...]:
    longer = all(len(cells) == len(first) + 1 for cells in body)
    if longer and count_from([cells[0] for cells in body]) is not None:
        return ("", *first)  # R leaves out the name of its row numbers
    return tuple(first)


def sniff(lines: list[str], default: str) -> str:
    """The delimiter that makes the most cells values.

    Of several, one that makes more than one, and as many in all lines. Tabs, where they will do, are not white space,
    for a name may have blanks in it, and a cell may be empty.
    """
    cut = [line[:_SAMPLE_CHARACTERS] for line in lines]

    def merit(delimiter: str) -> tuple[float, bool, bool]:
        head, *body = (cells_of(line, delimiter) for line in cut)
        body = body or [head]
        known = [code_of(cell) != OTHER for cells in body for cell in cells[:_SAMPLE_CELLS]]
        widths = {len(cells) for cells in body}
        even = cut == lines and len(widths) == 1 and len(head) in (len(body[0]), len(body[0]) - 1)
        return sum(known) / max(1, len(known)), len(head) > 1 or max(widths) > 1, even

    candidates: tuple[str, ...] = ("\t", " ") if default == " " else (default,)
    return max(*candidates, *_DELIMITERS, key=merit)


def is_header(first: list[str], body: list[list[str]]) -> bool:
    """Whether the first line holds names, or the numbers 0, 1, 2, ... or 1, 2, 3, ... of the columns."""
    codes = [code_of(cell) for cell in first]
    labels = first if number_in(first[0]) is not None else first[1:]
    numbered = len(body) > 2 and count_from([cells[0] for cells in body]) is not None
    if count_from(labels) is not None and (
        len(labels) > 2 or (len(labels) < len(first) and numbered) or not _like_a_sample(body)
    ):
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


def _like_a_sample(body: list[list[str]]) -> bool:
    """Whether 0 and 1 in two columns may be a sample: not above words, or above -1 where no other 0 is."""
    below = {code_of(cell) for cells in body for cell in cells}
    return not below.intersection(WORD_CODES) and (-1 not in below or 0 in below)


def is_content(line: str) -> bool:
    """Not blank, and no comment; Excel's #N/A is a missing value."""
    line = line.lstrip(" ")
    return bool(line) and (line[0] != "#" or line[:4].lower() == "#n/a")


def cells_of(line: str, delimiter: str) -> list[str]:
    """The cells of a line, without the quotes around them."""
    if '"' not in line:
        cells = line.split(None if delimiter == " " else delimiter, MOST_COLUMNS)
    else:
        if delimiter == " ":
            line = line.replace("\t", " ").strip()
        check_width(line.count(delimiter) + 1 if delimiter != " " else 1)
        try:
            cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))
        except csv.Error as error:
            raise InputError(f"expected a table of short cells, found {short(line)} ({error}).") from error
    check_width(len(cells))
    return cells


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
