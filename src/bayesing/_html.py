"""A result as a small piece of HTML, for notebooks: a title, facts, and a table. Everything is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from .texts import visible

_BOX = "border:1px solid #8888;border-radius:6px;padding:.6em .9em;display:inline-block;max-width:60em"
_LEFT = "text-align:left;vertical-align:top;padding:.1em .8em .1em 0;font-weight:normal"
_MUTED = "opacity:.7"


def text(value: object) -> str:
    """A text for a page: control characters are shown, and nothing is a tag."""
    return escape(visible(value))


def card(
    title: str,
    facts: Iterable[tuple[str, str]],
    columns: Sequence[str] = (),
    rows: Iterable[Sequence[str]] = (),
) -> str:
    """The facts one below the other, and a table if it has columns.

    >>> card("<IsingModel>", [("spins", "3")]).count("&lt;IsingModel&gt;")
    1
    """
    said = "".join(
        f'<tr><th scope="row" style="{_LEFT};{_MUTED}">{text(name)}</th><td style="{_LEFT}">{text(value)}</td></tr>'
        for name, value in facts
    )
    listed = ""
    if columns:
        head = "".join(f'<th scope="col" style="{_LEFT};{_MUTED}">{text(name)}</th>' for name in columns)
        body = "".join(
            "<tr>" + "".join(f'<td style="{_LEFT}">{text(cell)}</td>' for cell in row) + "</tr>"
            for row in rows
        )
        listed = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div style="{_BOX}"><strong>{text(title)}</strong><table><tbody>{said}</tbody></table>{listed}</div>'
