"""One HTML page that needs nothing else: no scripts, no fonts, no styles, no pictures from elsewhere.

Whatever a user may have written, such as names, titles and paths, is escaped. A content security policy in the page
forbids what should not be there in the first place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources

from .. import __version__
from . import words
from .analysis import COUPLINGS, LEVEL, Analysis
from .pictures import Picture

PAPER = "M. Yasuda and T. Obuchi, Empirical Bayes Method for Boltzmann Machines, arXiv:1906.06002"
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"

_STRENGTH, _COUPLINGS, _PREDICTION = (
    ("evidence", "phases", "spectrum"),
    ("matrix", "network"),
    ("pairs", "triplets"),
)


@dataclass(frozen=True)
class Provenance:
    """How the report came about: what was typed, with which versions, when, and how long it took."""

    command: str
    versions: dict[str, str]
    date: str
    seconds: float


def page(a: Analysis, pictures: Sequence[Picture], title: str, provenance: Provenance) -> str:
    """The whole file."""
    css = resources.files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    drawn = {picture.key: picture for picture in pictures}
    parts = [
        _section("answer", "Answer", _answer(a)),
        _section("notes", "Keep in mind", _notes(words.notes(a))),
        _section("numbers", "Numbers", _estimates(a) + _facts(a)),
        _section("strength", "How strong are the couplings?", _evidence_words(a) + _gallery(drawn, _STRENGTH)),
        _section("couplings", "Which couplings?", _couplings(a, drawn)),
        _section("prediction", "Does the model predict?", _prediction_words(a) + _gallery(drawn, _PREDICTION)),
        _section("method", "Method", _method(a, provenance)),
        _section("citation", "How to cite", _citation()),
    ]  # fmt: skip
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="bayesing {escape(__version__)}">
<title>{escape(title)} · bayesing report</title>
<link rel="icon" href="data:,">
<style>
{css}</style>
</head>
<body>
<header>
<p class="kicker">bayesing report</p>
<h1>{escape(title)}</h1>
<p class="subtitle">{escape(words.subtitle(a))}</p>
{_headline(a)}
</header>
<main>
{"".join(parts)}</main>
<footer><p>Made with bayesing {escape(__version__)} on {escape(provenance.date)}.</p></footer>
</body>
</html>
"""


def _section(key: str, title: str, content: str) -> str:
    return f'<section id="{key}">\n<h2>{escape(title)}</h2>\n{content}</section>\n'


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>\n"


def _unbroken(text: str) -> str:
    """No line ends inside J = 0.79 ± 0.01 or J/√n."""
    return re.sub(r" ([=±−]) ", "\u00a0\\1\u00a0", text).replace("J/√n", "J/\u2060√n")


def _headline(a: Analysis) -> str:
    """The four facts that a glance should catch."""
    eb, found = a.eb, a.interval
    level = f"{100 * LEVEL:g}%: "
    facts = [
        (
            "Strength J",
            words.strength(a),
            level + words.between(found.J) if found else f"J/√n = {words.number(eb.J_ / math.sqrt(a.n), 2)}",
        ),
        (
            "Field H",
            words.plus_minus(eb.H_, eb.H_error_, True) if math.isfinite(eb.H_) else "not determined",
            level + words.between(found.H, True) if found else "",
        ),
        ("Regime", words.regime(eb), f"1 − γr = {words.number(eb.at_distance_, 2)}"),
        ("Samples × spins", f"{a.N:,} × {a.n:,}", f"N/n = {words.number(a.N / a.n, 2)}"),
    ]
    rows = "\n".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}"
        + (f"<small>{escape(more)}</small>" if more else "")
        + "</dd></div>"
        for name, value, more in facts
    )
    return f'<dl class="facts">\n{rows}\n</dl>'


def _answer(a: Analysis) -> str:
    text, key = (_unbroken(escape(text)) for text in (" ".join(words.answer(a)), f"J = {words.strength(a)}"))
    return f'<p class="answer">{text.replace(key, f"<strong>{key}</strong>", 1)}</p>\n'


def _notes(notes: Iterable[words.Note]) -> str:
    items = "\n".join(
        f"<li{' class=calm' if note.calm else ''}><strong>{escape(note.title)}</strong> {escape(note.text)}</li>"
        for note in notes
    )
    return f'<ul class="notes">\n{items}\n</ul>\n'


def _table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[int] = ()
) -> str:
    """A table whose first column names its rows; cells are HTML already. It scrolls in its own box if it must."""

    def aligned(k: int) -> str:
        return ' class="number"' if k in numeric else ""

    titles = "".join(f'<th scope="col"{aligned(k)}>{escape(name)}</th>' for k, name in enumerate(head))
    top = f"<thead><tr>{titles}</tr></thead>\n" if head else ""
    # What may have to be scrolled can be reached with the keyboard.
    box = f' tabindex="0" role="region" aria-label="{escape(caption)}"' if len(head) > 2 else ""
    lines = "\n".join(
        f'<tr><th scope="row">{first}</th>'
        + "".join(f"<td{aligned(k)}>{cell}</td>" for k, cell in enumerate(rest, 1))
        + "</tr>"
        for first, *rest in rows
    )
    return (
        f'<div class="scroll"{box}>\n<table{"" if head else " class=pairs"}>\n'
        f"<caption>{escape(caption)}</caption>\n{top}<tbody>\n{lines}\n</tbody>\n"
        "</table>\n</div>\n"
    )


def _estimates(a: Analysis) -> str:
    eb, found = a.eb, a.interval

    def row(symbol: str, meaning: str, estimate: str, interval: str, corrected: str) -> list[str]:
        cells = [f"{symbol}<small>{escape(meaning)}</small>", escape(estimate)]
        return [*cells, escape(interval), escape(corrected)] if found else cells

    def squared(ends: tuple[float, float]) -> tuple[float, float]:
        return ends[0] ** 2, ends[1] ** 2

    width = (found.J[1] - found.J[0]) / 2 if found else math.nan
    rows = [
        row("J", "strength: couplings have variance J²/n", words.plus_minus(eb.J_, eb.J_error_),
            words.between(found.J) if found else "", words.rounded(found.J_corrected, width) if found else ""),
        row("H", "field", words.plus_minus(eb.H_, eb.H_error_, True),
            words.between(found.H, True) if found else "",
            words.rounded(found.H_corrected, (found.H[1] - found.H[0]) / 2, True) if found else ""),
        row("γ", "J²", words.plus_minus(eb.gamma_, eb.gamma_error_),
            words.between(squared(found.J)) if found else "",
            words.rounded(found.J_corrected**2, 2 * width * found.J_corrected) if found else ""),
    ]  # fmt: skip
    head = ["Quantity", "Estimate ± standard error"]
    if not found:
        return _table("Estimates", head, rows, (1,))
    level = f"{100 * found.level:g}% interval"
    note = f" {found.note[0].upper()}{found.note[1:]}." if found.note else ""
    text = (
        f"Intervals and estimates without bias are by {found.n_simulations} simulated data sets: they ask which J "
        f"and H would have produced such data.{note}"
    )
    return _table("Estimates", [*head, level, "Without bias"], rows, (1, 2, 3)) + _paragraph(text)


def _facts(a: Analysis) -> str:
    eb, bm = a.eb, a.bm
    constant = int((abs(eb.moments_.magnetisations) == 1).sum())
    facts = [
        ("Samples N", f"{a.N:,}"),
        ("Spins n", f"{a.n:,}" + (f", of which {constant} constant" if constant else "")),
        ("N/n", words.number(a.N / a.n)),
        ("Mean spin", words.number(eb.moments_.M, 3, True)),
        ("Encoding", a.source.encoding),
        ("Regime", f"{eb.regime_} (1 − γr = {words.number(eb.at_distance_, 2)})"),
        ("Method for J and H", f"{eb.method_}: {words.plain(eb.reason_)}"),
        ("Method for couplings", f"{bm.method_}: {words.plain(bm.reason_)}" if bm else ""),
        ("Prior of couplings", words.prior(bm) if bm else ""),
    ]  # fmt: skip
    rows = [[escape(name), escape(value)] for name, value in facts if value]
    return _table("Data and methods", [], rows)


def _evidence_words(a: Analysis) -> str:
    if a.eb.method_ in ("spectral", "plefka"):
        return ""
    return _paragraph(
        f"The method {a.eb.method_} has no evidence as a function of J to draw; “spectral” and “plefka” do "
        "(--method)."
    )


def _couplings(a: Analysis, drawn: dict[str, Picture]) -> str:
    if a.bm is None:
        return _paragraph(a.left_out[COUPLINGS])
    rows = "all rows" if a.coupling_rows == a.N else f"{a.coupling_rows:,} of {a.N:,} rows"
    text = f"Couplings come from {rows}, by {a.bm.method_} ({words.plain(a.bm.reason_)})."
    if not a.bm.couplings_.any():
        text += " All of them are 0: the data show none."
    return _paragraph(text) + "".join(_gallery(drawn, (key,)) for key in _COUPLINGS) + _strongest(a)


def _strongest(a: Analysis) -> str:
    edges = [c for c in a.strongest if c.J]
    if not edges:
        return ""
    rows = [
        [
            f"<span>{escape(c.name_i)}</span> <span>{escape(c.name_j)}</span>",
            words.plus_minus(c.J, c.error, True),
        ]
        for c in edges
    ]
    caption = (
        f"The {len(edges)} strongest couplings, with standard errors" if len(edges) > 1 else "The coupling"
    )
    return _table(caption, ["Pair of spins", "J ± error"], rows, (1,))


def _prediction_words(a: Analysis) -> str:
    found = a.held_out
    if found is None:
        return _paragraph(words.no_prediction(a))
    by = "exact averages" if found.prediction.exact else "samples"
    text = _paragraph(
        f"A model was fitted to a random choice of {found.fitted:,} rows, by {found.method}, and {by} of it are "
        f"compared with {found.tested:,} rows that it had not seen. "
        + ("(The couplings above come from all rows.)" if a.coupling_rows == a.N else "")
    )
    compared = [(name, found.prediction.of(order)) for name, order in (("Pairs", 2), ("Triplets", 3))]
    compared = [(name, c) for name, c in compared if len(c.observed)]
    rows = [
        ["Number compared", *(f"{len(c.observed):,}" for _, c in compared)],
        ["Correlation<small>observed and predicted</small>", *(words.share(c.correlation) for _, c in compared)],
        ["of a perfect model", *(words.share(c.expected_correlation) for _, c in compared)],
        ["Slope<small>1 of a perfect model</small>",
         *(words.plus_minus(c.slope, c.slope_error) for _, c in compared)],
        ["χ²<small>mean squared residual, in units of its error; 1 of a perfect model</small>",
         *(words.plus_minus(c.chi2, c.chi2_error) for _, c in compared)],
    ]  # fmt: skip
    head = ["Connected correlations", *(name for name, _ in compared)]
    verdict = _paragraph(words.verdict(found.prediction.pairs))
    return text + verdict + _table("Held-out samples and the model", head, rows, (1, 2))


def _gallery(drawn: dict[str, Picture], keys: Sequence[str]) -> str:
    shown = [drawn[key] for key in keys if key in drawn]
    if not shown:
        return ""
    alone = " alone" if len(keys) == 1 else ""
    figures = "\n".join(map(_figure, shown))
    return f'<div class="pictures wide{alone}">\n{figures}\n</div>\n'


def _figure(picture: Picture) -> str:
    """All versions of a picture, of which the style shows one.

    A ``picture`` element would do for screens, but browsers do not ask it again when they print: a dark page would be
    printed with dark pictures.
    """
    images = [("light", picture.light), ("dark", picture.dark)]
    if picture.narrow:
        images = [(f"{scheme} wide-screen", image) for scheme, image in images]
        light, dark = picture.narrow
        images += [("light narrow-screen", light), ("dark narrow-screen", dark)]
    shown = "\n".join(
        f'<img class="{kind}" src="{image.uri}" width="{image.width}" height="{image.height}" '
        f'alt="{escape(picture.alt)}">'
        for kind, image in images
    )
    return (
        f'<figure id="{picture.key}">\n{shown}\n<figcaption>{escape(picture.caption)}</figcaption>\n</figure>'
    )


def _method(a: Analysis, provenance: Provenance) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in provenance.versions.items())
    rows = [
        ["Versions", escape(versions)],
        ["Seed", str(a.choices.seed)],
        ["Date", escape(provenance.date)],
        ["Time taken", f"{provenance.seconds:.0f} s"],
    ]
    return (
        "".join(_paragraph(text) for text in words.method(a))
        + f'<p class="before">The command:</p>\n<p><code class="command">{escape(provenance.command)}</code></p>\n'
        + _table("How this report was made; the same command makes the same report", [], rows)
    )


def _citation() -> str:
    software = (
        f"The bayesing developers, bayesing: empirical Bayes for Boltzmann machines, version {__version__}"
    )
    return f"<ul>\n<li>{escape(PAPER)}.</li>\n<li>{escape(software)}.</li>\n</ul>\n"
