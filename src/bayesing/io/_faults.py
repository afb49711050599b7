"""What is wrong with a cell, in one sentence with the way out."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import NotSpinsError, Setting
from ._codes import MISSING, OTHER, goes_on, number_in
from ._record import listing
from ._table import Chunk, Table, short

EXPECTED = "expected ±1, 0/1 or yes/no"
_NAMED = 100  # columns at fault, at most


def stops_counting(table: Table, chunk: Chunk, row: int, start: int) -> NotSpinsError:
    """A first column that counted the rows does so no more; ``start`` is what it should say in the first ``row``."""
    cells = chunk.column(0)
    k = next(k for k, cell in enumerate(cells) if not goes_on([cell], start + k))
    return NotSpinsError(
        f"expected {table.column(0)} to go on counting the rows, as it begins, found {_shown(cells[k])} at "
        f"{table.place(row + k, 0)}. If it is not a spin, leave it out with ",
        _leaving_out(table, [0]),
        ".",
        row=row + k,
        column=0,
        value=cells[k],
    )


def no_spins(table: Table, chunk: Chunk, row: int, columns: list[int]) -> NotSpinsError:
    """What is wrong with the first of these columns that is at fault in these rows, and what to do about all."""
    j = next(j for j in columns if (chunk.codes[:, j] == OTHER).any())
    first = int(np.argmax(chunk.codes[:, j] == OTHER))
    cell = chunk.column(j)[first]
    place = table.place(row + first, j)
    is_number = number_in(str(cell)) is not None
    found = f"found {_shown(cell)} at {place}" if is_number else f"found the text {_shown(cell)} in {place}"
    advice = _advice(table, chunk, j, columns)
    at_fault = tuple(columns)
    return NotSpinsError(
        f"{EXPECTED}, {found}. ", *advice, row=row + first, column=j, value=cell, columns=at_fault
    )


def word_among_numbers(table: Table, j: int) -> NotSpinsError:
    """The first word in a column that also holds numbers."""
    row = 0
    for chunk in table.chunks():
        words = np.flatnonzero((chunk.codes[:, j] > 1) & (chunk.codes[:, j] < MISSING))
        if len(words):
            k = int(words[0])
            cell, place = chunk.column(j)[k], table.place(row + k, j)
            return NotSpinsError(
                f"expected either numbers or words in a column, found the text {cell!r} in {place}, and numbers in "
                "other rows. Recode the column first.",
                row=row + k,
                column=j,
                value=cell,
            )
        row += len(chunk.codes)
    raise AssertionError("the column was said to hold both")


def _advice(table: Table, chunk: Chunk, j: int, columns: list[int]) -> tuple[str | Setting, ...]:
    """What to do about column j, and about all that are at fault; most of the columns are not to be left out."""
    codes = chunk.codes[:, j]
    cells = [cell for cell, code in zip(chunk.column(j), codes, strict=True) if code != MISSING]
    values = list(dict.fromkeys(_shown(cell) for cell in cells))
    rest = table.width - len(columns)
    may_go = rest >= 2 and len(columns) <= rest
    all_named = _all_of(table, columns)
    if {number_in(str(cell)) for cell in cells} == {1, 2}:
        return (
            "The column holds 1 and 2: recode it to 0 and 1 first, 1 for the answer that counts as active (where 1 "
            f"is yes and 2 is no, 2 becomes 0).{all_named}",
        )
    if _is_label(chunk, j) or (may_go and len(columns) > 1):
        them, recode = ("it", ": recode") if len(columns) == 1 else ("them", f";{all_named} Recode")
        recode = f"The column holds {listing(values)}{recode} {them} to two values first"
        if not may_go:
            return (f"{recode}.",)
        return (f"{recode}, or leave {them} out with ", _leaving_out(table, columns), ".")
    if len(values) == 2 and (codes != OTHER).sum() == len(codes) - len(cells):
        return (
            f"The column holds {values[0]} and {values[1]}: recode it to 1 and 0 first, 1 for the one to be "
            f"+1.{all_named}",
        )
    return (f"Recode it. If it marks a missing value, leave the cell empty.{all_named}",)


def _all_of(table: Table, columns: list[int]) -> str:
    """All columns that are at fault by name, if there are several."""
    if len(columns) == 1:
        return ""
    named = ", ".join(
        short(table.names[j]) if table.names and table.names[j] else str(j + 1) for j in columns[:_NAMED]
    )
    more = ", ..." if len(columns) > _NAMED else ""
    return f" {len(columns)} of {table.width} columns hold other values: {named}{more}."


def _is_label(chunk: Chunk, j: int) -> bool:
    """Whether a column holds more than two different cells that are no values."""
    cells = chunk.column(j)
    others = {_shown(cell) for cell, code in zip(cells, chunk.codes[:, j], strict=True) if code == OTHER}
    return len(others) > 2


def _leaving_out(table: Table, columns: list[int]) -> Setting:
    names = [table.names[j] if table.names and table.names[j] else str(j + 1) for j in columns]
    return Setting("drop_columns", names)


def _shown(cell: Any) -> str:
    """A cell as it would be written: numbers plain, text in quotes."""
    if isinstance(cell, str):
        return cell.strip().strip('"') if number_in(cell) is not None else short(cell.strip())
    if isinstance(cell, bytes):
        return short(cell.decode("utf-8", "replace"))
    return f"{cell:g}" if isinstance(cell, float) else short(cell)[1:-1]
