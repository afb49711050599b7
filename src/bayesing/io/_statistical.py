"""Tables of SPSS (.sav, .zsav) and R (.rds, .rda, .RData), through pyreadstat and pyreadr if they are installed.

Columns of SPSS are numbers with labels. Where the labels of a column are words that say which of two values they
are, such as 1 for "Yes" and 2 for "No", these are read, and otherwise the numbers. What the file declares to be
missing is missing. Factors of R are their labels, and logical values TRUE and FALSE. An .rda may hold several data
frames; one is chosen by its name, as an array of an .npz is. Such tables are read at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import InputError, Setting
from ..files import damaged
from ..texts import did_you_mean
from ._codes import FALSE, MISSING, WORD_CODES, Codes, code_of, codes_of_numbers
from ._table import CHUNK, FIRST_ROWS, INSTALL, Chunk, Table

SPSS = (".sav", ".zsav")
R_FRAMES = (".rda", ".rdata")  # which may hold several
R = (".rds", *R_FRAMES)

Columns = dict[str, Sequence[Any]]


def statistical_table(path: Path, extension: str, name: str | None) -> Table:
    """The table in a file of SPSS or R; ``name`` is that of a data frame."""
    columns = _spss(path) if extension in SPSS else _r(path, name)
    width, n_rows = len(columns), len(next(iter(columns.values()), ()))
    first = list(next(iter(columns.values()), ()))[:FIRST_ROWS]
    names = tuple(map(str, columns))
    return Table(path, width, names, n_rows, first, partial(_chunks, list(columns.values()), n_rows))


def _spss(path: Path) -> Columns:
    try:
        import pyreadstat
    except ImportError as error:
        raise InputError(f"a file of SPSS needs the package pyreadstat: {INSTALL}.") from error
    try:
        cells, about = pyreadstat.read_sav(str(path), output_format="dict")
    except Exception as error:  # whatever the other library makes of a damaged file
        raise damaged("a file of SPSS", error) from error
    return {name: _labelled(column, about.variable_value_labels.get(name)) for name, column in cells.items()}


def _labelled(column: Sequence[Any], labels: dict[Any, str] | None) -> Sequence[Any]:
    """The words of the labels, if every value that occurs has such a label; else the column as it is."""
    words = {value: label for value, label in (labels or {}).items() if code_of(str(label)) in WORD_CODES}
    values = {cell for cell in column if not _is_missing(cell)}
    return [words.get(cell) for cell in column] if values and values <= set(words) else column


def _r(path: Path, name: str | None) -> Columns:
    try:
        import pyreadr
    except ImportError as error:
        raise InputError(f"a file of R needs the package pyreadr: {INSTALL}.") from error
    try:
        found = pyreadr.read_r(str(path))
    except Exception as error:  # likewise
        raise damaged("a file of R", error) from error
    frames = {str(key): frame for key, frame in found.items() if frame is not None}
    frame = frames[_choose(list(frames), name)]
    return {str(key): column.tolist() for key, column in frame.items()}


def _choose(names: list[str], name: str | None) -> str:
    listed = ", ".join(names) or "none"
    if name is not None and name not in names:
        hint = did_you_mean(name, names)
        raise InputError(f"expected a data frame named {name!r}, found {listed}.{hint}")
    if name is None and len(names) != 1:
        remedy = (" Choose one with ", Setting("array", "NAME"), ".") if names else ()
        raise InputError(f"expected a single data frame, found {listed}.", *remedy)
    return name if name is not None else names[0]


def _chunks(columns: list[Sequence[Any]], n_rows: int) -> Iterator[Chunk]:
    step = max(1, CHUNK // max(1, len(columns)))
    for start in range(0, n_rows, step):
        parts = [column[start : start + step] for column in columns]
        codes = np.column_stack([_codes(part) for part in parts])
        yield Chunk(codes, partial(_cells, parts))


def _cells(parts: list[Sequence[Any]], j: int) -> list[Any]:
    return list(parts[j])


def _codes(cells: Sequence[Any]) -> Codes:
    """Codes of a column, of numbers at once and of anything else cell by cell."""
    if all(isinstance(cell, float | int) and not isinstance(cell, bool) for cell in cells):
        return codes_of_numbers(np.array(cells, np.float64)[:, None])[:, 0]
    return np.array([_code(cell) for cell in cells], np.int8)


def _code(cell: Any) -> int:
    if _is_missing(cell):
        return MISSING
    if isinstance(cell, bool | np.bool_):
        return FALSE + int(cell)
    return code_of(str(cell))


def _is_missing(cell: Any) -> bool:
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(cell, float) and math.isnan(cell)
