"""One HTML page that needs nothing else: no scripts, no fonts, no styles, no pictures from elsewhere.

The templates beside this module hold all HTML. They are given plain texts, and escape whatever a user may have
written, such as names, titles and paths, and show control characters as escapes. A content security policy in the
page forbids what should not be there in the first place. It allows one script, by its hash: that of the page, which
sorts and filters what is there, and is given no data of its own.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import __version__
from ..texts import visible
from . import sentences, tables
from .analysis import Analysis
from .answer import paragraphs, strength
from .network import network_picture
from .notes import notes
from .pictures import Picture

if TYPE_CHECKING:
    from jinja2 import Environment

CITATIONS = (
    "M. Yasuda and T. Obuchi, Empirical Bayes Method for Boltzmann Machines, arXiv:1906.06002.",
    f"The bayesing developers, bayesing: empirical Bayes for Boltzmann machines, version {__version__}.",
)
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src '{}'"
_GALLERIES = {
    "likeness": ("active", "means", "correlations"),
    "time": ("memory", "time"),
    "strength": ("evidence", "phases", "spectrum"),
    "matrix": ("matrix",),
    "prediction": ("pairs", "triplets"),
}


@dataclass(frozen=True)
class Provenance:
    """How the report came about: what was typed, with which versions, when, and how long it took."""

    command: str
    versions: dict[str, str]
    date: str
    seconds: float


class Emphasised(NamedTuple):
    """A text, of which a part is what matters most."""

    before: str
    strong: str
    after: str


def page(a: Analysis, pictures: Sequence[Picture], title: str, provenance: Provenance) -> str:
    """The whole file."""
    template = _environment().get_template("page.html.jinja")
    return template.render(_values(a, pictures, title, provenance))


@cache
def _environment() -> Environment:
    """Templates that escape, and that know every name they use."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_visible,
    )


def _visible(value: Any) -> Any:
    """Texts of others without control characters; what is markup already stays as it is."""
    return visible(value, keep="\n\t") if type(value) is str else value


def _values(a: Analysis, pictures: Sequence[Picture], title: str, provenance: Provenance) -> dict[str, Any]:
    """All that the template names."""
    drawn = {picture.key: picture for picture in pictures}
    made = tables.making(a.choices.seed, provenance.versions, provenance.date, provenance.seconds)
    return {
        "policy": _POLICY.format(_hash_of_script()),
        "version": __version__,
        "title": title,
        "subtitle": sentences.subtitle(a),
        "headline": tables.headline(a),
        "answer": _answer(a),
        "notes": notes(a),
        "about_check": sentences.check(a),
        "check": tables.check(a),
        "missing": tables.missing(a),
        "couplings": sentences.couplings(a),
        "network": network_picture(a.couplings, a.names),
        "edges": tables.edges(a),
        "about_causes": sentences.causes(a),
        "causes": tables.causes(a),
        "about_couplings": sentences.COUPLINGS if a.couplings and a.couplings.any else "",
        "about_variables": sentences.variables(a),
        "variables": tables.variables(a),
        "prediction": sentences.prediction(a),
        "comparison": tables.comparison(a),
        "about_strength": sentences.STRENGTH,
        "estimates": tables.estimates(a),
        "simulated": sentences.simulated(a.interval) if a.interval else "",
        "facts": tables.facts(a),
        "galleries": {
            name: [drawn[key] for key in keys if key in drawn] for name, keys in _GALLERIES.items()
        },
        "method": sentences.method(a),
        "command": provenance.command,
        "making": made,
        "citations": CITATIONS,
        "date": provenance.date,
    }


def _answer(a: Analysis) -> list[Emphasised]:
    """The answer in paragraphs, with the strength emphasised where it is known."""
    key, found = _unbroken(f"J = {strength(a)}"), []
    for paragraph in paragraphs(a):
        text = _unbroken(" ".join(paragraph))
        found.append(Emphasised(*text.partition(key)) if key in text else Emphasised(text, "", ""))
    return found


def _hash_of_script() -> str:
    """As a content security policy has it."""
    text = _environment().get_template("script.js").render()
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _unbroken(text: str) -> str:
    """No line ends inside J = 0.79 ± 0.01 or J/√n."""
    return re.sub(r" ([=±−]) ", "\u00a0\\1\u00a0", text).replace("J/√n", "J/\u2060√n")
