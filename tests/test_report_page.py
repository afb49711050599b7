import base64
import hashlib
import itertools
import json
import re
import unicodedata
from dataclasses import replace
from importlib import resources

import numpy as np
import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

import bayesing as bs
from bayesing import strength
from bayesing.calibration import Interval
from bayesing.exceptions import InputError
from bayesing.report import page as page_module
from bayesing.report import tables
from bayesing.report.analysis import analyse
from bayesing.report.answer import answer
from bayesing.report.format import between, chance, number, plus_minus
from bayesing.report.likeness import independent_shares
from bayesing.report.numbers import numbers
from bayesing.report.page import CITATIONS, Provenance, page
from bayesing.report.pictures import pictures
from bayesing.report.request import Choices, Source
from bayesing.report.sentences import verdict
from pages import COMMAND, HOSTILE_NAMES, TITLE, Outline, text_of

from samples import ENDLESS, FREE, gappy, random_spins, stats

NOTHING = Provenance("", {}, "", 0.0)


def test_the_report_has_the_numbers_of_the_estimators(made, html):
    spins, a = made.spins, made.analysis
    eb, bm = bs.EmpiricalBayes().fit(spins), bs.BoltzmannMachine().fit(spins)
    found = bs.EmpiricalBayes().fit(spins).interval(level=0.9, n_simulations=40, seed=0)
    # Up to rounding: the report takes eigenvalues and eigenvectors from one decomposition.
    assert (a.eb.J_, a.eb.H_, *a.interval.J, *a.interval.H) == pytest.approx(
        (eb.J_, eb.H_, *found.J, *found.H)
    )
    np.testing.assert_allclose(a.couplings.machine.couplings_, bm.couplings_, rtol=1e-9, atol=1e-12)
    text = text_of(html).replace("\u00a0", " ")
    for expected in (
        plus_minus(eb.J_, eb.J_error_),
        plus_minus(eb.H_, eb.H_error_, True),
        plus_minus(eb.gamma_, eb.gamma_error_),
        between(found.J),
        between(found.H, True),
        between((found.J[0] ** 2, found.J[1] ** 2)),
        f"by {found.n_simulations} simulated data sets",
        "80 samples of 20 binary variables",
        f"{eb.regime_} (1 − γr = ",
        f"{eb.method_}: {eb.reason_}",
        "0/1",
        "3 rows with <missing> values were left out.",
        "independent samples",
        *CITATIONS,
        f"bayesing {bs.__version__}",
        "Python 3.",
        f"numpy {np.__version__}",
        COMMAND,
    ):
        assert expected in text


def test_the_table_of_estimates(made):
    found = Interval((0.5, 0.7), (-0.1, 0.3), 0.61, 0.11, 0.9, 60)
    table = tables.estimates(replace(made.analysis, interval=found))
    assert table.head[2:] == ("90% interval", "By simulation") and table.wide
    assert [row.cells[1:] for row in table.rows] == [
        ("0.50 to 0.70", "0.61"),
        ("−0.10 to +0.30", "+0.11"),
        ("0.25 to 0.49", "0.37"),
    ]
    alone = tables.estimates(replace(made.analysis, interval=None))
    assert [len(row.cells) for row in alone.rows] == [1, 1, 1] and not alone.wide


def test_the_table_has_the_most_probable_edges_by_name(made, html):
    a = made.analysis
    edges = bs.BoltzmannMachine().fit(made.spins).edges(fdr=0.05)
    false = sum(1 - c.probability for c in edges)
    said = f"Of 190 pairs {len(edges)} have couplings whose sign is clear (false discovery rate 5%): {false:.1f} are"
    assert f"{said} expected to have the other sign." in " ".join(answer(a))
    rows = [e.text.split() for e in html.all("tr") if "tbody" in e.parents]
    for c in edges[: tables.MOST_COUPLINGS]:
        numbers = f"{plus_minus(c.J, c.error, True)} {chance(c.probability)}"
        expected = f"{a.names[c.i]} {a.names[c.j]} {numbers}".split()
        assert [row for row in rows if "".join(row) == "".join(expected)]


def test_the_answer_can_be_pasted(made, html):
    text = " ".join(e.text for e in html.all("p") if e.at.get("class") == "answer")
    assert text.replace("\u00a0", " ").replace("\u2060", "") == " ".join(answer(made.analysis))
    strong = next(e for e in html.all("strong") if "section" in e.parents and e.parents[-1] == "p")
    J = plus_minus(made.analysis.eb.J_, made.analysis.eb.J_error_)
    assert strong.text.replace("\u00a0", " ") == f"J = {J}" and " " not in strong.text


def test_what_users_write_is_escaped(made, html):
    assert made.text.count("<script") == 1 == len(html.all("script"))
    assert "onerror=alert(1)>" not in made.text and "<b>Bold" not in made.text
    assert [e.text for e in html.all("h1")] == [TITLE]
    assert all(image.at["src"].startswith("data:image/") for image in html.all("img"))
    shown = made.analysis.couplings.strongest[: tables.MOST_COUPLINGS]
    names = {name for c in shown for name in (c.name_i, c.name_j)} & {*HOSTILE_NAMES}
    assert len(names) >= 5 and all(name in html.all("body")[0].text for name in names)
    assert "&amp;amp;" not in made.text and "&amp;lt;" not in made.text


def test_templates_escape_everything_and_know_every_name(made):
    templates = resources.files("bayesing.report").joinpath("templates")
    for template in templates.iterdir():
        assert not re.search(r"\|\s*safe|autoescape|Markup", template.read_text(encoding="utf-8")), (
            template.name
        )
    environment = page_module._environment()
    assert environment.autoescape is True
    assert environment.from_string("{{ x }}").render(x="<'\">") == "&lt;&#39;&#34;&gt;"
    with pytest.raises(UndefinedError, match="'absent' is undefined"):
        environment.from_string("{{ absent }}").render()


def test_nothing_comes_from_elsewhere(made, html):
    assert "://" not in re.sub(r'"data:[^"]*"', "", made.text)
    assert not html.all("iframe", "object", "embed", "base", "form", "use", "foreignobject")
    assert not any(name.startswith("on") for e in html.elements for name in e.at)
    assert {e.at["href"] for e in html.all("link", "a")} == {"data:,"}
    assert not re.search(r"@import|url\(", made.text)
    policy = next(
        e.at["content"] for e in html.all("meta") if e.at.get("http-equiv") == "Content-Security-Policy"
    )
    script = re.search(r"<script>(.*?)</script>", made.text, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert (
        policy
        == f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    )
    source = resources.files("bayesing.report").joinpath("templates", "script.js").read_text(encoding="utf-8")
    assert script == source and not re.search(
        r"innerHTML|outerHTML|insertAdjacent|eval|document\.write", script
    )
    assert len(made.text) < 3_000_000


def test_the_page_is_accessible(made, html):
    assert html.all("html")[0].at["lang"] == "en"
    levels = [int(e.tag[1]) for e in html.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1 and levels.count(1) == 1 and levels.count(2) == 9
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    figures = [e.at["id"] for e in html.all("figure")]
    checked, strength = ["active", "means", "correlations"], ["evidence", "phases", "spectrum"]
    assert figures == [*checked, "network", "matrix", "pairs", "triplets", *strength]
    assert len(html.all("img")) == 8 * 2 + 4
    for drawing in (e for e in html.all("svg") if e.at.get("role") == "img"):
        assert len(drawing.at["aria-label"]) > 60
    for image in html.all("img"):  # says what is seen, with numbers
        assert len(image.at["alt"]) > 60 and re.search(r"\d", image.at["alt"])
        assert int(image.at["width"]) > 100 and int(image.at["height"]) > 100
    assert len(html.all("caption")) == len(html.all("table")) == 7
    inputs = [e for e in html.all("input") if e.at["type"] != "checkbox"]
    assert all("label" in e.parents for e in inputs) and len(inputs) == 3
    boxes = {e.at["id"] for e in html.all("input") if e.at["type"] == "checkbox"}
    assert boxes == {e.at["for"] for e in html.all("label") if "for" in e.at}
    assert all(e.at.get("scope") in ("row", "col") for e in html.all("th"))
    scrolled = {e.at["aria-label"] for e in html.all("div") if e.at.get("tabindex") == "0"}
    edges = len(made.analysis.couplings.edges)
    assert scrolled == {
        "Estimates",
        f"Pairs with a clear sign, the most probable first ({edges} of 190 pairs)",
        "All 20 variables",
        "Held-out samples and the model",
    }
    ids = [e.at["id"] for e in html.elements if "id" in e.at]
    assert len(ids) == len(set(ids)) == 9 + 10 + 2 + len(boxes)


@pytest.mark.parametrize(
    "X",
    [
        ENDLESS,
        random_spins(3, 4),
        np.column_stack([random_spins(30, 2), np.ones((30, 3))]),
        random_spins(200, 2),
        FREE,
    ],
    ids=["two samples", "three samples", "two spins vary", "two spins", "no couplings"],
)
def test_data_with_little_in_them_still_give_a_page(X):
    found = analyse(Source("little", stats(X)), Choices(simulations=0))
    text = text_of(Outline(page(found, [], "little", NOTHING)))
    assert not re.search(r"\b(nan|inf|None)\b", text)
    json.dumps(numbers(found), allow_nan=False)
    assert (found.couplings is None) == (len(X) < 4) == ("Couplings were not inferred" in text)
    assert (found.held_out is None) == (len(X) < 40) == ("at least 40 samples" in text)
    assert "The command:" not in text  # nothing was typed


def test_numbers_for_machines(made):
    found = json.loads(json.dumps(numbers(made.analysis), allow_nan=False))
    assert found["answer"] == " ".join(answer(made.analysis))
    strongest = made.analysis.couplings.strongest
    assert [c["J"] for c in found["couplings"]["strongest"]] == [c.J for c in strongest[:20]]
    assert (found["held_out"]["n_fitted"], found["held_out"]["n_held_out"]) == (60, 20)
    assert found["held_out"]["exact"] is False
    assert found["held_out"]["pairs"]["chi2"] == made.analysis.held_out.prediction.pairs.chi2
    assert any("independent" in note for note in found["notes"])


def test_the_order_is_for_readers_who_are_no_physicists(html):
    order = [e.at["id"] for e in html.all("section")]
    assert order == [
        *("answer", "notes", "check", "network-and-edges", "variables", "prediction", "strength"),
        *("method", "citation"),
    ]


def test_there_is_one_J(caused):
    """The strength of the prior of the couplings is not called J: what is, is that of the estimator."""
    a = caused.analysis
    text = text_of(Outline(caused.text)).replace("\u00a0", " ")
    assert abs(a.couplings.machine.gamma_ / a.eb.gamma_ - 1) > 0.05 and a.interval is None
    told = re.findall(r"J = ([\d.]+)", text)
    assert told and set(told) <= {number(a.eb.J_), plus_minus(a.eb.J_, a.eb.J_error_).split()[0]}
    deviation = number(np.sqrt(a.couplings.machine.gamma_ / 7))
    assert f"gaussian, standard deviation {deviation}" in text and "no estimate of J" in text


def test_every_variable_has_a_row(made, html):
    a, bm = made.analysis, made.analysis.couplings.machine
    table = tables.variables(a)
    assert table.head == ("Variable", "Prevalence", "Field h", "Edges", "Predictability")
    explained = bm.centrality(40, seed=0).predictability
    degrees = np.bincount([spin for c in bm.edges() for spin in c[:2]], minlength=20)
    for i, row in enumerate(table.rows):
        share = np.mean(made.spins[:, i] > 0)
        assert row.names == (a.names[i],) and row.cells[0] == f"{100 * share:.2g}%"
        values = [float(value) for value in row.values]
        assert values == pytest.approx([share, bm.fields_[i], degrees[i], explained[i]], rel=1e-4)
        assert row.cells[1] == number(bm.fields_[i], 2, True) and bm.field_errors_ is None
    rows = [e for e in html.all("tr") if "tbody" in e.parents and a.names[-1] in e.text]
    last = table.rows[-1].cells[-1].replace("± ", "±\u00a0")  # which no line ends with
    assert any(last in row.text for row in rows)


def test_fields_have_errors_and_cells_may_be_missing(caused):
    a, bm = caused.analysis, caused.analysis.couplings.machine
    table = tables.variables(a)
    assert table.head == ("Variable", "Prevalence", "Missing", "Field h", "Edges")
    X = gappy()
    for i, row in enumerate(table.rows):
        column = X.iloc[:, i]
        share = (column.dropna() > 0).mean()
        assert row.cells[0] == f"{100 * share:.2g}%" and row.cells[1] == f"{100 * column.isna().mean():.2g}%"
        assert row.cells[2] == plus_minus(bm.fields_[i], bm.field_errors_[i], True)


def test_the_model_against_the_data(made):
    a, check = made.analysis, made.analysis.couplings.machine.check_
    told = {row.names[0]: (row.cells[0], row.meaning) for row in tables.check(a).rows}
    assert told["Means"][0] == f"{check.means:.2f}" and told["Pair correlations"][0] == f"{check.pairs:.2f}"
    assert told["Gain over independence"][1] == f"{number(check.gain / np.log(2), 2, True)} bits a sample"
    value, error = a.couplings.machine.multi_information(1000, 0)
    assert (
        told["Multi-information of the model"][0] == f"{value:.2f} nats" and error == 0
    )  # exact up to 20 spins
    assert f"{check.gain:.2g} nats a sample more probable" in " ".join(answer(a))
    found = a.likeness
    d = made.spins.mean(axis=0)
    np.testing.assert_allclose(found.means[:, 0], d)
    np.testing.assert_allclose(found.active[0], np.bincount((made.spins > 0).sum(axis=1), minlength=21) / 80)
    C = made.spins.T @ made.spins / 80 - np.outer(d, d)
    np.testing.assert_allclose(found.pairs[:, 0], C[np.triu_indices(20, 1)], atol=1e-6)
    exact = bs.IsingModel(a.couplings.machine.couplings_, a.couplings.machine.fields_)
    np.testing.assert_allclose(found.means[:, 1], exact.means(), atol=5 / np.sqrt(4000))
    np.testing.assert_allclose(found.active.sum(axis=1), 1)


def test_independent_variables_are_counted_exactly():
    m = np.array([0.3, -0.6, 0.9, 0.0])
    p = (1 + m) / 2
    slow = np.zeros(5)
    for state in itertools.product([0, 1], repeat=4):
        slow[sum(state)] += np.prod([q if s else 1 - q for s, q in zip(state, p, strict=True)])
    np.testing.assert_allclose(independent_shares(m), slow)


CONTROL = (
    "bell\x07",
    "\x1b[31mred",
    "zero\x00",
    "turned\u202e",
    "lines\n\u2028",
    "half \ud800",
    "delete\x7f\x9b",
)


def test_control_characters_never_reach_the_page():
    X = random_spins(60, len(CONTROL))
    found = analyse(Source("x\x1b", stats(bs.SpinData.of(X, CONTROL))), Choices(simulations=0))
    text = page(found, pictures(found), "title\x07\u202e", NOTHING)
    assert not [c for c in set(text) if unicodedata.category(c) in ("Cc", "Cs") and c != "\n"]
    assert not set(text) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029")
    assert "\\x1b[31mred" in text and "title\\x07\\u202e" in text
    text.encode()


def test_nothing_is_said_where_there_is_nothing_to_draw(made):
    found = analyse(made.source, Choices("susceptibility", simulations=0))
    text = text_of(Outline(page(found, [], "x", NOTHING)), "main")
    assert found.eb.evidence_kind_ is None and "evidence as a function" not in text and "to draw" not in text


@pytest.mark.parametrize("method", strength.METHODS, ids=lambda method: method.name)
def test_a_method_says_whether_it_has_an_evidence(made, method):
    eb = bs.EmpiricalBayes(method.name, random_state=0).fit(made.spins)
    assert (eb.evidence_kind_ is not None) == method.evidence
    if not method.evidence:
        with pytest.raises(InputError, match='has no evidence to show: take "spectral" or "plefka"'):
            eb.evidence(0.0, 0.1)


def test_verdicts(made):
    pairs = made.analysis.held_out.prediction.pairs

    def said(**values):
        return verdict(replace(pairs, **values))

    assert "no larger than chance" in said(chi2=1.2, chi2_error=0.1)
    assert "are 14% larger" in said(chi2=1.3, chi2_error=0.05)
    short = said(chi2=4.0, chi2_error=0.1, slope=1.1, slope_error=0.1)
    assert "are 2.0 times as large" in short and "than predicted" not in short
    assert "stronger than predicted" in said(chi2=4.0, chi2_error=0.1, slope=1.5, slope_error=0.1)
    assert "weaker than predicted" in said(chi2=4.0, chi2_error=0.1, slope=0.5, slope_error=0.1)
    assert said(chi2=np.nan) == "There is nothing to compare."


def test_control_characters_do_not_reach_the_page():
    page = page_module._environment().from_string("{{ name }}{{ markup }}")
    assert (
        page.render(name="\x1b[2J\u202e<b>", markup=Markup("<i>\n</i>"))
        == r"\x1b[2J\u202e&lt;b&gt;" + "<i>\n</i>"
    )
