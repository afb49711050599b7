import itertools
import json
import math
import os
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from html.parser import HTMLParser
from importlib import resources
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

import bayesing as bs
from bayesing.calibration import Interval
from bayesing.cli import cli
from bayesing.report import analysis, budget, words
from bayesing.report.analysis import COUPLINGS, INTERVALS, PREDICTION, Analysis, Choices, Source, analyse
from bayesing.report.numbers import numbers
from bayesing.report.page import PAPER, Provenance, page
from bayesing.report.pictures import compact, render, sketches
from bayesing.report.write import write_report
from chromium import PROGRAM, Chromium

from samples import random_spins

NASTY = (
    "<script>alert('x')</script>",
    '"><img src=x onerror=alert(1)>',
    'O\'Neil & "Sons"',
    "$x_1$",
    "  ",
    "é 漢字",
)
TITLE = '<b>Bold</b> & "quoted" </title><script>1</script>'

if PROGRAM is None and os.environ.get("BAYESING_REQUIRE_BROWSER"):
    pytest.fail("BAYESING_REQUIRE_BROWSER is set, but there is no chromium.", pytrace=False)
FREE = (2 * np.random.default_rng(0).integers(0, 2, (50, 20)) - 1).astype(np.int8)  # whose gamma is 0

browser_only = pytest.mark.skipif(PROGRAM is None, reason="needs chromium, which is not installed")


# ------------------------------------------------------------------------------------------ a report to look at


@pytest.fixture(scope="module")
def spins():
    return bs.simulate(n_spins=20, n_samples=80, J=0.6, H=0.1, seed=3).spins


@pytest.fixture(scope="module")
def source(spins):
    names = (*NASTY, *(f"spin {i}" for i in range(len(NASTY), 20)))
    return Source("<data>.csv", spins, names, "0/1", ("3 rows with <missing> values were left out.",))


@pytest.fixture(scope="module")
def made(source, tmp_path_factory):
    """One report in full: where it is, its text and its numbers."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    analysis = write_report(path, source, Choices(simulations=40), TITLE, "bayesing report '<data>.csv'")
    return SimpleNamespace(path=path, text=path.read_text(encoding="utf-8"), analysis=analysis)


@pytest.fixture(scope="module")
def html(made):
    return Outline(made.text)


class Outline(HTMLParser):
    """Elements in their order, each with its attributes and the text inside; complains about bad nesting."""

    VOID = ("meta", "link", "img", "br")

    def __init__(self, text):
        super().__init__()
        self.elements, self.open = [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        element = SimpleNamespace(tag=tag, at=dict(attributes), text="", parents=[e.tag for e in self.open])
        self.elements.append(element)
        if tag not in self.VOID:
            self.open.append(element)

    def handle_endtag(self, tag):
        assert self.open.pop().tag == tag

    def handle_data(self, text):
        for element in self.open:
            element.text += text

    def all(self, *tags):
        return [e for e in self.elements if e.tag in tags]


def text_of(html, tag="body"):
    return " ".join(html.all(tag)[0].text.split())


def test_the_report_has_the_numbers_of_the_estimators(spins, made, html):
    a, eb, bm = made.analysis, bs.EmpiricalBayes().fit(spins), bs.BoltzmannMachine().fit(spins)
    found = bs.EmpiricalBayes().fit(spins).interval(level=0.9, n_simulations=40, seed=0)
    assert (a.eb.J_, a.eb.H_, a.interval.J, a.interval.H) == (eb.J_, eb.H_, found.J, found.H)
    np.testing.assert_array_equal(a.bm.couplings_, bm.couplings_)
    text = text_of(html).replace("\u00a0", " ")
    for expected in (
        words.plus_minus(eb.J_, eb.J_error_),
        words.plus_minus(eb.H_, eb.H_error_, True),
        words.plus_minus(eb.gamma_, eb.gamma_error_),
        words.between(found.J),
        words.between(found.H, True),
        "80 samples of 20 spins",
        eb.regime_,
        f"{eb.method_}: {eb.reason_}",
        "0/1",
        "3 rows with <missing> values were left out.",
        "independent samples",
        PAPER,
        f"bayesing {bs.__version__}",
        "Python 3.",
        f"numpy {np.__version__}",
        "bayesing report '<data>.csv'",
    ):
        assert expected in text
    strongest = bm.strongest(20)
    rows = [e for e in html.all("tr") if "±" in e.text]
    for edge in strongest:
        pair = words.plus_minus(edge.J, edge.error, True)
        names = [a.names[edge.i].split(), a.names[edge.j].split()]
        assert any(
            pair in row.text and [w for n in names for w in n] == row.text.replace(pair, "").split()
            for row in rows
        )


def test_the_answer_can_be_pasted(made, html):
    paragraph = next(e for e in html.all("p") if e.at.get("class") == "answer")
    text = paragraph.text.replace("\u00a0", " ").replace("\u2060", "")
    assert text == " ".join(words.answer(made.analysis))
    assert "<strong>J\u00a0=\u00a0" in made.text
    typical = words.number(made.analysis.eb.J_ / math.sqrt(20), 2)
    assert f"couplings of typical size J/√n = {typical}" in text


def test_what_users_write_is_escaped(made, html):
    assert "<script" not in made.text and "onerror=alert(1)>" not in made.text and "<b>Bold" not in made.text
    assert not html.all("script") and [e.text for e in html.all("h1")] == [TITLE]
    assert all(image.at["src"].startswith("data:image/") for image in html.all("img"))
    text = html.all("body")[0].text
    assert all(name in text for name in NASTY[:3]) and "&amp;amp;" not in made.text


def test_nothing_comes_from_elsewhere(made, html):
    assert "://" not in re.sub(r'"data:[^"]*"', "", made.text)
    assert not html.all("script", "iframe", "object", "embed", "base", "form")
    assert {e.at["href"] for e in html.all("link", "a")} == {"data:,"}
    assert not re.search(r"@import|url\(", made.text)
    policy = next(
        e.at["content"] for e in html.all("meta") if e.at.get("http-equiv") == "Content-Security-Policy"
    )
    assert "default-src 'none'" in policy and "script" not in policy
    assert len(made.text) < 3_000_000


def test_the_page_is_accessible(html):
    assert html.all("html")[0].at["lang"] == "en"
    levels = [int(e.tag[1]) for e in html.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    figures = [e.at["id"] for e in html.all("figure")]
    assert figures == ["evidence", "phases", "spectrum", "matrix", "network", "pairs", "triplets"]
    for image in html.all("img"):
        assert len(image.at["alt"]) > 60 and re.search(
            r"\d", image.at["alt"]
        )  # says what is seen, with numbers
        assert int(image.at["width"]) > 100 and int(image.at["height"]) > 100
    tables = html.all("table")
    assert len(html.all("caption")) == len(tables) >= 4
    assert all(e.at.get("scope") in ("row", "col") for e in html.all("th"))
    assert {e.at["aria-label"] for e in html.all("div") if e.at.get("tabindex") == "0"}
    ids = [e.at["id"] for e in html.elements if "id" in e.at]
    assert len(ids) == len(set(ids))


def test_pictures_say_what_is_seen(made):
    a = made.analysis
    drawn = {sketch.key: sketch for sketch in sketches(a)}
    assert f"estimate, J = {words.number(a.eb.J_)}" in drawn["evidence"].alt
    assert f"J = {words.number(a.interval.J_corrected, 2)}" in drawn["phases"].alt
    first = a.bm.strongest(1)[0]
    assert f"{first.name_i} and {first.name_j}, {words.number(first.J, 2, True)}" in drawn["network"].alt
    J = a.bm.couplings_[np.triu_indices(20, 1)]
    assert words.number(J.max(), 2, True) in drawn["matrix"].alt
    assert f"{np.mean(J > 0):.0%} are positive" in drawn["matrix"].alt
    assert "190 pair correlations" in drawn["pairs"].alt and "triplet correlations" in drawn["triplets"].alt


def test_the_same_command_makes_the_same_report(made, source, tmp_path):
    write_report(
        tmp_path / "again.html", source, Choices(simulations=40), TITLE, "bayesing report '<data>.csv'"
    )
    again = (tmp_path / "again.html").read_text(encoding="utf-8")

    def without_time(text):
        return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d [+-]\d{4}|>\d+ s<", "", text)

    assert without_time(again) == without_time(made.text)
    assert len(without_time(again)) < len(again)
    other = analyse(source, Choices(simulations=0, seed=1))
    assert (
        other.held_out.prediction.pairs.observed.tolist()
        != made.analysis.held_out.prediction.pairs.observed.tolist()
    )


def test_numbers_for_machines(made):
    answer = json.loads(json.dumps(numbers(made.analysis), allow_nan=False))
    assert answer["answer"] == " ".join(words.answer(made.analysis))
    assert answer["couplings"]["strongest"][0]["J"] == made.analysis.strongest[0].J
    assert (answer["held_out"]["n_fitted"], answer["held_out"]["n_held_out"]) == (60, 20)
    assert answer["held_out"]["pairs"]["chi2"] == made.analysis.held_out.prediction.pairs.chi2
    assert any("independent" in note for note in answer["notes"])


# -------------------------------------------------------------------------------------------------- the analysis


def test_held_out_rows_are_not_fitted(spins, monkeypatch):

    seen = []
    original = analysis.predict

    def spy(model, rows, *arguments):
        seen.append((model, rows))
        return original(model, rows, *arguments)

    monkeypatch.setattr(analysis, "predict", spy)
    marked = spins.copy()
    found = analyse(Source("x", marked), Choices(simulations=0))
    ((model, rows),) = seen
    assert (found.held_out.fitted, found.held_out.tested, len(rows)) == (60, 20, 20)
    left = [tuple(row) for row in marked.tolist()]
    for row in rows.tolist():
        left.remove(tuple(row))  # each is one of the data
    expected = bs.BoltzmannMachine(found.bm.method_).fit(np.array(left))
    np.testing.assert_allclose(model.couplings, expected.couplings_, atol=1e-10)


def test_warnings_of_the_library_are_kept_and_others_shown(monkeypatch):
    X = FREE
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = analyse(Source("free", X), Choices(simulations=0))
    assert [c.category for c in found.caught] == [bs.BoundWarning] and found.eb.gamma_ == 0
    assert any("show no couplings" in note.text for note in words.notes(found))

    def grumble(*_):
        warnings.warn("of another library", DeprecationWarning, stacklevel=1)

    monkeypatch.setattr("bayesing.report.analysis._couplings", lambda *_: (grumble(), (None, 0, ""))[1])
    with pytest.warns(DeprecationWarning, match="of another library"):
        analyse(Source("free", X), Choices(simulations=0))


def test_oddities_of_the_data():
    rng = np.random.default_rng(0)
    X = random_spins(60, 6)
    X[0] = -1
    odd = np.column_stack([X, X[:, 1], -X[:, 2], np.ones(60, np.int8)]).astype(np.int8)
    found = analyse(Source("odd", odd, tuple("abcdefghi")), Choices(simulations=0))
    assert found.oddities.copies == ((1, 6, 1), (2, 7, -1))
    notes = {note.title: note.text for note in words.notes(found)}
    assert "b = g and c = − h" in notes["Duplicated columns"] and "('i')" in notes["Constant columns"]
    assert found.oddities.successive is None and "The order of the rows matters" not in notes

    slow = np.where(np.cumsum(rng.normal(size=(300, 7)), axis=0) > 0, 1, -1).astype(np.int8)
    found = analyse(Source("slow", slow), Choices(simulations=0))
    z = slow - slow.mean(axis=0)
    assert found.oddities.successive == pytest.approx(np.mean(z[1:] * z[:-1]) / np.mean(z**2))
    assert any(note.title == "The order of the rows matters" for note in words.notes(found))
    mixed = analyse(Source("mixed", rng.permutation(slow)), Choices(simulations=0))
    assert mixed.oddities.successive is None


def test_independent_rows_are_seldom_said_to_be_in_order():
    from bayesing.report.analysis import _order

    coupled = bs.simulate(n_spins=30, n_samples=2000, J=0.9, sweeps=4, seed=0).spins
    flagged = [_order(part, 0)[0] is not None for part in coupled.reshape(20, 100, 30)]
    assert sum(flagged) == 0  # five standard deviations


def test_one_pattern_that_dominates_is_said():
    rng = np.random.default_rng(1)
    party = rng.choice([-1, 1], (200, 1)) * np.repeat([1, -1], [8, 7])
    votes = np.where(rng.random((200, 15)) < 0.1, -party, party).astype(np.int8)
    found = analyse(Source("votes", votes), Choices(simulations=0))
    share = np.linalg.eigvalsh(np.corrcoef(votes.T))[-1] / 15
    note = next(note for note in words.notes(found) if note.title == "One pattern dominates")
    assert note.text.startswith(f"{share:.0%} of the variance")


@pytest.mark.parametrize(
    ("X", "said"),
    [
        (np.array([[1, 1, -1, -1], [1, -1, 1, -1]]), "J of the couplings is not determined: the evidence"),
        (random_spins(3, 4), "From 3 samples of 4 spins"),
        (np.column_stack([random_spins(30, 2), np.ones((30, 3))]), "Whether strong ones would be seen"),
        (random_spins(200, 2), "The coupling of x0 and x1 is"),
        (FREE, "no couplings are seen: J = 0.00 ± "),
    ],
    ids=["two samples", "three samples", "two spins vary", "two spins", "no couplings"],
)  # fmt: skip
def test_data_with_little_in_them_still_give_a_report(X, said):
    found = analyse(Source("little", X.astype(np.int8)), Choices(simulations=0))
    assert said in " ".join(words.answer(found))
    text = page(found, [], "little", Provenance("", {}, "", 0.0))
    assert "nan" not in text_of(Outline(text)) and "inf" not in text_of(Outline(text)).replace(
        "infer", ""
    ).replace("infinite", "")
    json.dumps(numbers(found), allow_nan=False)
    if len(X) < 4:
        assert found.bm is None and COUPLINGS in found.left_out
    if len(X) < 40:
        assert "at least 40 samples" in found.left_out[PREDICTION] and "at least 40 samples" in text


@pytest.mark.parametrize("case", ["infinite", "zero"])
def test_pictures_of_data_with_little_in_them(case):
    X = np.array([[1, 1, -1, -1], [1, -1, 1, -1]], np.int8) if case == "infinite" else FREE
    drawn = {}
    for sketch in sketches(analyse(Source("little", X), Choices(simulations=0))):
        drawn[sketch.key] = render(sketch.draw, sketch.size, "light", sketch.many)
    more = [] if case == "infinite" else ["matrix", "network", "pairs", "triplets"]
    assert list(drawn) == ["evidence", "phases", "spectrum", *more]
    assert all(len(image.uri) > 5000 for image in drawn.values())


def test_what_would_take_long_is_left_out_and_said(monkeypatch, spins):
    for n, N in ((300, 120), (100, 1000), (60, 60)):
        assert budget.simulations(budget.simulation(n, N, 0.4, 0.2)) == budget.SIMULATIONS
    for n, N, distance in ((2000, 500, 0.6), (50, 10**6, 0.6), (1000, 500, 0.1)):
        assert budget.simulations(budget.simulation(n, N, distance, 0.2)) == 0
    assert budget.rows_for_couplings(50, 10**6) < 10**5 and budget.rows_for_couplings(100, 1000) == 1000
    assert budget.can_predict(300, 4000, True) and not budget.can_predict(5000, 1000, False)

    monkeypatch.setattr(budget, "simulations", lambda _: 0)
    monkeypatch.setattr(budget, "rows_for_couplings", lambda *_: 50)
    monkeypatch.setattr(budget, "can_predict", lambda *_: False)
    found = analyse(Source("x", spins), Choices(prior="laplace"))
    assert found.interval is None and "--simulations 40" in found.left_out[INTERVALS]
    assert found.coupling_rows == 50 and "from 50 of the 80 rows" in found.left_out[COUPLINGS]
    assert found.held_out is None and "would take minutes" in found.left_out[PREDICTION]
    said = [note.text for note in words.notes(found)]
    assert all(text in said for text in found.left_out.values())

    weak = analyse(Source("x", spins), Choices())  # weak couplings: "spectral" has time for all rows
    assert weak.bm.method_ == "spectral" and weak.coupling_rows == 80 and COUPLINGS not in weak.left_out
    assert "many and weak" in weak.bm.reason_
    monkeypatch.setattr(budget, "rows_for_couplings", lambda *_: 10)
    fast = analyse(Source("x", spins), Choices())
    assert (
        fast.bm.method_ == "spectral"
        and "Pseudo-likelihood of 20 spins would take minutes" in fast.left_out[COUPLINGS]
    )


def test_few_spins_get_no_intervals_unasked():
    found = analyse(Source("x", random_spins(50, 6)), Choices())
    assert found.interval is None and "with 6 spins that vary" in found.left_out[INTERVALS]


def test_wrong_choices():
    for choices in ({"simulations": 10}, {"simulations": -1}, {"seed": -1}):
        with pytest.raises(ValueError, match=f"--{next(iter(choices))} must be at least"):
            Choices(**choices)
    with pytest.raises(ValueError, match="method must be one of"):
        analyse(Source("x", random_spins(9, 4)), Choices(method="magic"))


# --------------------------------------------------------------------------------------------------- the words


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0.78912, 0.01304, "0.789 ± 0.013"),
        (-0.0012, 0.0048, "−0.0012 ± 0.0048"),
        (5.09, 0.96, "5.09 ± 0.96"),
        (123.4, 56.0, "123 ± 56"),
        (0.5, math.inf, "0.500 (error unknown)"),
        (math.nan, math.nan, "unknown"),
    ],
)
def test_estimates_are_rounded_to_two_digits_of_their_error(value, error, text):
    assert words.plus_minus(value, error) == text


def test_intervals_in_words():
    assert words.between((0.765, 0.8163)) == "0.765 to 0.816"
    assert words.between((-0.0031, 0.0158), sign=True) == "−0.003 to +0.016"
    assert words.between((1.53, math.inf)) == "above 1.53"
    assert words.between((-math.inf, 0.2), sign=True) == "below +0.200"
    assert words.listed(["a"]) == "a" and words.listed(list("abc")) == "a, b and c"
    assert words.listed(list("abcdefg"), 5) == "a, b, c, d, e and 2 more"
    assert words.plain("near the spin glass, 1 - gamma r = -12.08") == "near the spin glass, 1 − γr = −12.08"


def with_interval(found, J):
    interval = Interval(J, (-0.1, 0.1), 1.6 if math.isfinite(J[1]) else 2.0, 0.0, 0.9, 60)
    return replace(found, interval=interval)


def test_the_answer_follows_the_interval_where_they_disagree(made):
    a = made.analysis
    J = a.eb.J_
    fine = with_interval(a, (J - 0.1, J + 0.1))
    assert f"J = {words.plus_minus(J, a.eb.J_error_)} (90% interval" in " ".join(words.answer(fine))
    assert not any("disagree" in note.title for note in words.notes(fine))
    biased = " ".join(words.answer(with_interval(a, (1.45, 1.77))))
    assert "J = 1.60 (90% interval 1.45 to 1.77): couplings of typical size J/√n = 0.36" in biased
    assert f"The method {a.eb.method_} alone gives {words.plus_minus(J, a.eb.J_error_)}" in biased
    open_ended = with_interval(a, (1.5, math.inf))
    assert f"J = {words.plus_minus(J, a.eb.J_error_)} (90% interval above 1.50)" in " ".join(
        words.answer(open_ended)
    )
    assert any("Neither is to be relied on" in note.text for note in words.notes(open_ended))


def test_regimes_in_words(made):
    def said(**changes):
        eb = bs.EmpiricalBayes().fit(made.analysis.source.spins)
        for name, value in changes.items():
            setattr(eb, name, value)
        a: Analysis = replace(made.analysis, eb=eb, interval=None)
        return " ".join(words.answer(a)), words.regime(eb), [note.title for note in words.notes(a)]

    assert "This is a paramagnet (1 − γr = " in said()[0] and said()[1] == "paramagnet"
    near = said(at_distance_=0.1)
    assert "near the spin glass" in near[0] and "The data lie near the spin glass" in near[2]
    beyond = said(at_distance_=-0.5)
    assert "beyond the edge of the spin glass" in beyond[0] and beyond[1] == "spin glass"
    saturated = said(at_distance_=0.1, method_="susceptibility")
    assert "saturates: J may be larger" in saturated[0] and saturated[1] == "edge of the spin glass"
    bound = said(regime_="unknown: gamma is at the end of its range")
    assert "not determined: it lies at the end of the range" in bound[0] and bound[1] == "unknown"
    assert "hardly distinguished from none" in said(gamma_error_=1.0)[0]
    assert (
        "which favours −1" in said(H_=-0.5, H_error_=0.1)[0]
        and "compatible with no field" in said(H_=0.01)[0]
    )


# ------------------------------------------------------------------------------------------------------ the style


def test_contrast_in_both_schemes():
    css = resources.files("bayesing.report").joinpath("style.css").read_text(encoding="utf-8")
    light, dark = (
        dict(re.findall(r"--(\w+): (#\w{6});", part))
        for part in css.split("prefers-color-scheme: dark", 2)[:2]
    )
    assert light.keys() == dark.keys() >= {"page", "ink", "muted", "accent", "caution", "panel"}
    assert light["page"] != dark["page"]
    for colours in (light, dark):
        for ink in ("ink", "muted", "accent", "caution"):
            for page_ in ("page", "panel"):
                assert contrast(colours[ink], colours[page_]) >= 4.5
    assert contrast("#000000", "#ffffff") == pytest.approx(21) and contrast("#777777", "#ffffff") < 4.5


def contrast(one, two):
    """Of two colours, after the Web Content Accessibility Guidelines."""
    lighter, darker = sorted((luminance(one), luminance(two)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour):
    shares = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_the_pictures_have_the_colours_of_the_page():
    from bayesing.report.pictures import style

    css = resources.files("bayesing.report").joinpath("style.css").read_text(encoding="utf-8")
    pages, inks = re.findall(r"--page: (#\w{6})", css), re.findall(r"--ink: (#\w{6})", css)
    for scheme, page_, ink in zip(("light", "dark"), pages, inks, strict=True):
        assert (style(scheme)["figure.facecolor"], style(scheme)["text.color"]) == (page_, ink)


def test_compact_svg_keeps_letters_and_rounds_places():
    places = 'transform="scale(0.015625) translate(12.345678 -3.14159)"'
    svg = f"<svg>\n <!-- a -->\n <metadata>x</metadata>\n <g {places}/>\n</svg>".encode()
    assert compact(svg) == b'<svg><g transform="scale(0.015625) translate(12.35 -3.14)"/></svg>'


# ------------------------------------------------------------------------------------------------ in a browser


@pytest.fixture(scope="module")
def browser():
    with Chromium() as chromium:
        yield chromium


SHOWN = "[...document.images].filter(i => i.getClientRects().length)"


@browser_only
@pytest.mark.parametrize(("width", "mobile"), [(1280, False), (390, True)])
def test_the_report_in_a_browser(browser, made, width, mobile):
    browser.size(width, mobile=mobile)
    pictures_of, backgrounds = {}, {}
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        browser.open(made.path.as_uri())
        assert browser.complaints() == []
        assert browser.evaluate("document.title") == f"{TITLE} · bayesing report"
        assert (
            browser.evaluate("document.scrollingElement.scrollWidth")
            <= browser.evaluate("innerWidth")
            == width
        )
        assert browser.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
        pictures_of[scheme] = browser.evaluate(f"{SHOWN}.map(i => i.src)")
        backgrounds[scheme] = browser.evaluate("getComputedStyle(document.body).backgroundColor")
        assert len(pictures_of[scheme]) == 7  # one of each kind
        outside = browser.evaluate(
            f"{SHOWN}.filter(i => i.getBoundingClientRect().right > innerWidth).length"
        )
        assert outside == 0
    assert backgrounds["light"] != backgrounds["dark"]
    assert not set(pictures_of["light"]) & set(pictures_of["dark"])


@browser_only
def test_narrow_screens_get_pictures_of_their_own(browser, made):
    browser.scheme("light")
    shown = []
    for width, mobile in ((1280, False), (390, True)):
        browser.size(width, mobile=mobile)
        browser.open(made.path.as_uri())
        shown.append(set(browser.evaluate(f"{SHOWN}.map(i => i.src)")))
    assert len(shown[0] - shown[1]) == 2  # the matrix and the network


@browser_only
def test_the_report_on_paper(browser, made):
    browser.size(390, mobile=True)
    browser.scheme("dark")  # paper is white all the same
    browser.open(made.path.as_uri())
    pdf = browser.pdf()
    pages = len(re.findall(rb"/Type\s*/Page[^s]", pdf))
    assert pdf.startswith(b"%PDF") and 3 <= pages <= 12
    browser.scheme("dark", media="print")
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.evaluate(f"{SHOWN}.every(i => i.classList.contains('light'))")
    browser.scheme("light")


@browser_only
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("<script>console.error('no')</script>", "console"),
        ("<script>throw new Error('no')</script>", "exception"),
        ("<img src='http://127.0.0.1:9/x.png'>", "request"),
        ("<img src='absent.png'>", "failed"),
    ],
)
def test_the_browser_complains_where_it_should(browser, tmp_path, body, kind):
    (tmp_path / "bad.html").write_text(f"<!DOCTYPE html><html><body>{body}</body></html>")
    browser.open((tmp_path / "bad.html").as_uri())
    assert kind in [found for found, _ in browser.complaints()]


@browser_only
def test_a_page_that_is_too_wide_is_seen(browser, made, tmp_path):
    browser.size(390, mobile=True)
    wide = made.text.replace("<main>", '<main><div style="width: 900px; height: 9px"></div>')
    (tmp_path / "wide.html").write_text(wide, encoding="utf-8")
    browser.open((tmp_path / "wide.html").as_uri())
    assert browser.evaluate("document.scrollingElement.scrollWidth") > 390
    broken = made.text.replace("data:image/svg+xml;base64,", "data:image/svg+xml;base64,AAAA", 1)
    (tmp_path / "broken.html").write_text(broken, encoding="utf-8")
    browser.open((tmp_path / "broken.html").as_uri())
    assert not browser.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)")


# ------------------------------------------------------------------------------------------ on the command line


def run(*arguments, cwd):
    command = [sys.executable, "-m", "bayesing", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


def test_the_command(tmp_path):
    X = bs.simulate(n_spins=6, n_samples=50, J=0.6, seed=1).spins
    np.savetxt(tmp_path / "x.csv", (X + 1) // 2, fmt="%d", delimiter=",", header="a,b,c,d,e,<f>", comments="")
    command = ["report", "x.csv", "-o", "r.html", "--jobs", 1, "--title", "A & B"]
    result = run(*command, cwd=tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (
        0,
        "wrote r.html: look at it in a browser\n",
        "",
    )
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "bayesing report x.csv -o r.html --jobs 1 --title &#x27;A &amp; B&#x27;" in text
    assert "<h1>A &amp; B</h1>" in text and "&lt;f&gt;" in text and "0/1" in text
    again = CliRunner().invoke(cli, ["report", str(tmp_path / "x.csv"), "-o", str(tmp_path / "r.html")])
    assert again.exit_code == 2 and "--force" in again.stderr and again.stderr.count("\n") == 1
    assert sorted(os.listdir(tmp_path)) == ["r.html", "x.csv"]


def test_the_command_for_machines(tmp_path, monkeypatch):
    monkeypatch.setattr("bayesing.report.write.pictures", lambda *_: [])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text("1,1,-1,-1\n1,-1,1,-1\n")
    result = CliRunner().invoke(cli, ["report", "x.csv", "--json"], catch_exceptions=False)
    answer = json.loads(result.stdout, parse_constant=pytest.fail)
    assert (answer["J"], answer["case"], answer["couplings"], answer["n_samples"]) == (
        None,
        "infinite",
        None,
        2,
    )
    assert (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x.csv", "-o", "r.pdf"], "r.pdf: expected the name of a file to write that ends in .html"),
        (["none.csv"], "none.csv: expected a file, found no such file"),
        (["x.csv", "--method", "magic"], "method must be one of"),
        (["x.csv", "--couplings-method", "magic"], "method must be one of"),
        (["x.csv", "--prior", "laplace", "--method", "spectral"], 'prior must be "gaussian"'),
        (["x.csv", "--simulations", "3"], "--simulations must be at least 40"),
        (["x.csv", "--jobs", "0"], "--jobs must be a positive number"),
        (["x.csv", "--missing", "guess"], "guess"),
        (["constant.csv"], "constant.csv: Expected at least 2 spins (columns) that vary"),
    ],
)
def test_wrong_input_is_one_sentence(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    np.savetxt("x.csv", random_spins(12, 5), fmt="%d", delimiter=",")
    (tmp_path / "constant.csv").write_text("1,1\n1,1\n")
    result = CliRunner().invoke(cli, ["report", *arguments], catch_exceptions=False)
    assert result.exit_code == 2 and result.stdout == ""
    assert message in result.stderr and result.stderr.count("\n") == 1
    assert sorted(os.listdir(tmp_path)) == ["constant.csv", "x.csv"]


INTERRUPTED = """
import os, signal, sys
import bayesing.report.write as write
def page(*_):
    os.kill(os.getpid(), signal.SIGINT)
    return "half"
write.page, write.pictures = page, lambda *_: []
sys.argv = ["bayesing", "report", "x.csv"]
from bayesing.cli import main
main()
"""


def test_ctrl_c_leaves_nothing_behind(tmp_path):
    np.savetxt(tmp_path / "x.csv", random_spins(12, 5), fmt="%d", delimiter=",")
    command = [sys.executable, "-c", INTERRUPTED]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr.strip()) == (130, "", "interrupted")
    assert os.listdir(tmp_path) == ["x.csv"]


def test_rows_are_held_out_and_fitted_at_random():
    """Also where only some of them are fitted: the first ones would be those of one time."""
    test, train = analysis._split(4000, 300, 0)
    assert len(test) == 1000 and len(train) == 300 and not set(test) & set(train)
    for rows in (test, train):
        assert (np.diff(rows) > 0).all()
        assert abs(rows.mean() - 2000) < 4 * 4000 / np.sqrt(12 * len(rows))
    assert len(analysis._split(4000, 4000, 0)[1]) == 3000
