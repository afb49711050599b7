r"""Texts of others, such as names of columns: what they say, how to show them, and which one was meant.

**Values.** Cells of a table may be numbers or words. Words (yes/no, y/n, true/false, t/f) say by themselves which of
the two values they are. :func:`code_of` gives every text a small code.

**Terminals and pages.** A name may hold control characters. They move the cursor of a terminal, or turn the direction
of writing. :func:`visible` shows them as escapes, as ``\x1b``.

**Spreadsheets** run a cell that begins with = + - @, a tab or a carriage return as a formula. :func:`protected` puts
an apostrophe before such a name. Names that begin with an apostrophe get another one, so that :func:`unprotected`
always gives the name back.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable

WORDS = (
    ("no", "yes"),
    ("n", "y"),
    ("false", "true"),
    ("f", "t"),
)  # codes from 2 on, odd for the second of two
MISSING = 10  # code of a missing cell
OTHER = 11  # code of a cell that is not a value
WORD_CODES = range(2, MISSING)
MISSING_TEXTS = frozenset(["", "na", "n/a", "#n/a", "nan", "none", "null", "?", "-", "."])

_CODE_OF_WORD = {word: 2 + 2 * k + up for k, pair in enumerate(WORDS) for up, word in enumerate(pair)}
_UNSEEN = {"Cc", "Cs", "Zl", "Zp"}  # kinds of characters: control, half of a pair, ends of lines
_TURNING = (
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # the direction of writing
)
_RUN = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "'",
)  # first characters of cells that a spreadsheet runs, and our own mark
_LONGEST_NUMBER = 64  # characters
_ALIKE = 0.7  # share of characters in common, from which a text may be meant to be another


def code_of(text: str) -> int:
    """The code of a text; number formats and letter case do not matter, nor do blanks and quotes around it.

    >>> [code_of(text) for text in ("-1", "1.0", "yes", "F", "NA", "7")]
    [-1, 1, 3, 8, 10, 11]
    """
    text = text.strip().strip('"').strip().lower()
    if text in _CODE_OF_WORD:
        return _CODE_OF_WORD[text]
    if text in MISSING_TEXTS:
        return MISSING
    value = number_in(text)
    if value is None:
        return OTHER
    if value != value:
        return MISSING
    return int(value) if value in (-1, 0, 1) else OTHER


def number_in(text: str) -> float | None:
    """The number that a text stands for, with a decimal point or comma; None if it is no number.

    1,000 may be one or a thousand, and is neither.
    """
    text = text.strip().strip('"').replace("\N{MINUS SIGN}", "-")
    if len(text) > _LONGEST_NUMBER or not text.isascii() or "_" in text:  # which Python would allow
        return None
    if re.fullmatch(r"[-+]?\d+,(\d\d?|\d{4,})", text):
        text = text.replace(",", ".")
    try:
        return float(text)
    except ValueError:
        return None


def words_in(codes: Iterable[int]) -> list[str]:
    """Which pairs of words there are among codes.

    >>> words_in([1, 3, 6])
    ['yes/no', 'true/false']
    """
    found = {code // 2 - 1 for code in codes if code in WORD_CODES}
    return ["/".join(pair[::-1]) for k, pair in enumerate(WORDS) if k in found]


def visible(text: object, keep: str = "") -> str:
    r"""A text in which control characters are escapes, but for those to ``keep``.

    >>> print(visible("\x1b[31mred\n"))
    \x1b[31mred\n
    """
    text = str(text)
    if text.isprintable():  # which no character below is, and blanks and letters are
        return text
    return "".join(
        ascii(c)[1:-1] if c not in keep and (c in _TURNING or unicodedata.category(c) in _UNSEEN) else c
        for c in text
    )


def protected(name: str) -> str:
    """A name for a cell of a table that a spreadsheet may open.

    >>> protected("=SUM(A1)"), protected("age"), protected("'tis")
    ("'=SUM(A1)", 'age', "''tis")
    """
    return f"'{name}" if name.startswith(_RUN) else name


def unprotected(cell: str) -> str:
    """The name that :func:`protected` was given."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_RUN) else cell


def did_you_mean(found: object, known: Iterable[str]) -> str:
    """A sentence with the one of the ``known`` names that is nearest to what was ``found``; empty if none is near.

    >>> did_you_mean("drop_samples", ["keep", "drop-samples", "drop-spins"])
    " Did you mean 'drop-samples'?"
    """
    by_letters: dict[str, str] = {}
    for name in known:
        by_letters.setdefault(_letters(name), name)
    near = difflib.get_close_matches(_letters(str(found)), list(by_letters), 1, _ALIKE)
    return f" Did you mean {by_letters[near[0]]!r}?" if near else ""


def _letters(name: str) -> str:
    """A name without what is easily mistaken: case, blanks, hyphens and underscores."""
    return re.sub(r"[\s_-]+", "", name).casefold() or name


def quoted_names(names: list[str]) -> str:
    """Names in quotes, the last after "or"."""
    quoted = [f'"{name}"' for name in names]
    return " or ".join(filter(None, [", ".join(quoted[:-1]), *quoted[-1:]]))
