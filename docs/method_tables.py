"""Tables of the methods and of the rules of "auto", made from the tuples that the library itself goes by.

    python docs/method_tables.py README.md

writes them anew into a Markdown file, each between the marks ``<!-- methods strength -->`` and ``<!-- end -->``. The
site has them by the directives ``methods`` and ``rules`` (docs/_extensions/method_tables.py).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from bayesing import choice, couplings, strength

Columns = dict[str, Callable[[Any], str]]  # the title of a column, and its cell for a method

KINDS = ("strength", "couplings")
_IN_SHORT: Columns = {
    "method": lambda method: f'`"{method.name}"`',
    "what it is": lambda method: method.about,
    "where it holds": lambda method: method.holds,
}
_MARKED = re.compile(r"(<!-- methods (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def methods(kind: str, columns: Columns = _IN_SHORT) -> str:
    """The methods for the "strength" or for the "couplings", as a Markdown table."""
    found = {"strength": strength.METHODS, "couplings": couplings.METHODS}[kind]
    return _table(columns, ([cell(method) for cell in columns.values()] for method in found))


def methods_in_full(kind: str) -> str:
    """The same with what each method takes: priors, a mean of the couplings, data in batches, missing cells."""
    return methods(kind, _IN_SHORT | {"takes": _takes})


def rules(kind: str) -> str:
    """The rules of "auto" in their order, as a Markdown table."""
    found = {"strength": choice.STRENGTH, "couplings": choice.COUPLINGS}[kind]
    titles = ("", "data", "method")
    return _table(
        titles, ([str(k), rule.when, f'`"{rule.method}"`'] for k, rule in enumerate(found, start=1))
    )


def written(text: str) -> str:
    """A Markdown text with its marked tables made anew."""
    return _MARKED.sub(lambda found: f"{found[1]}\n{methods(found[2])}\n{found[3]}", text)


def main(arguments: list[str]) -> int:
    """Write the tables of the files that are given."""
    for path in map(Path, arguments):
        path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


def _table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(titles)
    lines = [_line(head), "|" + "---|" * len(head), *map(_line, rows)]
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _takes(method: Any) -> str:
    priors = f"{' or '.join(method.priors)} prior" if method.priors else "no prior"
    mean = ["mean coupling"] if getattr(method, "mean_coupling", False) else []
    gaps = ["missing cells"] if method.uses_missing else []
    return "; ".join([priors, *mean, "all rows" if method.needs_rows else "rows or batches", *gaps])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
