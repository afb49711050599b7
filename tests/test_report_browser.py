import os
import re

import pandas as pd
import pytest

import bayesing as bs
from chromium import PROGRAM, Chromium
from pages import TITLE

from samples import with_gaps

if PROGRAM is None and os.environ.get("BAYESING_REQUIRE_BROWSER"):
    pytest.fail("BAYESING_REQUIRE_BROWSER is set, but there is no chromium.", pytrace=False)

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="needs chromium, which is not installed")


@pytest.fixture(scope="module")
def browser():
    with Chromium() as chromium:
        yield chromium


NETWORK = "[...document.querySelectorAll('svg.network')].filter(svg => svg.getClientRects().length)"
SHOWN = "[...document.images].filter(i => i.getClientRects().length)"


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
        assert len(pictures_of[scheme]) == 9  # one of each kind, beside the network
        drawn = browser.evaluate(f"{NETWORK}.map(svg => svg.getBoundingClientRect().right <= innerWidth)")
        assert drawn == [True]
        outside = browser.evaluate(
            f"{SHOWN}.filter(i => i.getBoundingClientRect().right > innerWidth).length"
        )
        assert outside == 0
    assert backgrounds["light"] != backgrounds["dark"]
    assert not set(pictures_of["light"]) & set(pictures_of["dark"])


def test_narrow_screens_get_pictures_of_their_own(browser, made):
    browser.scheme("light")
    shown = []
    for width, mobile in ((1280, False), (390, True)):
        browser.size(width, mobile=mobile)
        browser.open(made.path.as_uri())
        shown.append(set(browser.evaluate(f"{SHOWN}.map(i => i.src)")))
    assert len(shown[0] - shown[1]) == 1  # the matrix
    assert browser.evaluate(f"{NETWORK}[0].querySelectorAll('.lines path').length") == 16
    note = "document.querySelector('.narrow-note')"
    assert "strongest 16" in browser.evaluate(f"{note}.innerText")
    assert browser.evaluate(f"{note}.getClientRects().length") > 0
    browser.size(1280)
    assert browser.evaluate(f"{note}.getClientRects().length") == 0


@pytest.mark.parametrize(("width", "mobile"), [(1280, False), (390, True)])
def test_a_report_on_common_causes(browser, caused, width, mobile):
    browser.size(width, mobile=mobile)
    browser.scheme("light")
    browser.open(caused.path.as_uri())
    assert browser.complaints() == []
    assert browser.evaluate("document.scrollingElement.scrollWidth") <= width
    assert browser.evaluate(f"{SHOWN}.every(i => i.complete && i.naturalWidth > 0)")
    assert browser.evaluate("document.querySelector('#causes table').rows.length") == 2
    alt = browser.evaluate(f"{NETWORK}[0].getAttribute('aria-label')")
    assert "A square stands for 1 common cause" in alt


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


ROWS = "[...document.querySelectorAll('#{} tbody tr')].filter(row => row.getClientRects().length)"
EDGES, VARIABLES = ROWS.format("edges-table"), ROWS.format("variables-table")


def first_names(browser, rows=EDGES):
    return browser.evaluate(f"{rows}.map(row => row.cells[0].textContent)")


def type_into(browser, selector, text):
    box = f"document.querySelector({selector!r})"
    browser.evaluate(f"{box}.value = {text!r}; {box}.dispatchEvent(new Event('input'))")


@pytest.fixture
def wide(browser, made):
    browser.size(1280)
    browser.scheme("light")
    browser.open(made.path.as_uri())
    return browser


def test_the_edge_table_is_sorted_and_filtered(wide, made):
    edges = made.analysis.couplings.edges
    assert len(first_names(wide)) == 20 < len(edges)
    wide.evaluate("document.querySelector('#edges-table-all').click()")
    assert len(first_names(wide)) == len(edges)  # pairs that are no edges wait for the slider
    header = "document.querySelectorAll('#edges-table thead button')"
    values = f"{EDGES}.map(row => Number(row.cells[1].dataset.v))"
    wide.evaluate(f"{header}[1].click()")
    found = wide.evaluate(values)
    assert found == sorted(found, reverse=True) and found[0] == pytest.approx(
        max(c.J for c in edges), rel=1e-5
    )
    wide.evaluate(f"{header}[1].click()")
    assert wide.evaluate(values) == found[::-1]
    assert wide.evaluate("document.querySelector('#edges-table [aria-sort]').textContent") == "J ± error"
    wide.evaluate(f"{header}[2].click()")  # the most probable first again
    wrong = wide.evaluate(f"{EDGES}.map(row => Number(row.cells[2].dataset.v))")
    assert wrong == sorted(wrong)
    type_into(wide, "[data-for=edges-table] input[type=search]", "SPIN 12")
    names = first_names(wide)
    pairs = [c for c in (*edges, *made.analysis.couplings.others) if "spin 12" in (c.name_i, c.name_j)]
    assert len(names) == len(pairs) == 19 and all("spin 12" in name for name in names)
    told = wide.evaluate("document.querySelector('[data-for=edges-table] output').textContent")
    assert told == "19 of 190"
    assert wide.complaints() == []


def test_hostile_names_can_be_looked_for(wide):
    for name in ("<script>alert", "<img src=x", "{{ 7 * 7 }}"):
        type_into(wide, "[data-for=variables-table] input[type=search]", name)
        (found,) = first_names(wide, VARIABLES)
        assert name in found
    assert wide.complaints() == [] and wide.evaluate("document.querySelectorAll('img[src=x]').length") == 0


def test_the_slider_hides_edges_that_are_less_probable(wide, made):
    a = made.analysis.couplings
    lines = f"{NETWORK}[0].querySelectorAll('.lines path:not(.off)').length"
    assert wide.evaluate(lines) == len(a.edges)  # all that are told, untouched
    wide.evaluate("document.querySelector('#edges-table-all').click()")
    for x in (0.0, 1.0, 2.0, 3.0):
        type_into(wide, "#network input[type=range]", str(x))
        wrong = 10**-x

        def probable(couplings, wrong=wrong):
            return [c for c in couplings if float(f"{1 - c.probability:.3g}") <= wrong]

        assert wide.evaluate(lines) == len(probable(a.edges))
        pairs = probable((*a.edges, *a.others))
        assert len(first_names(wide)) == len(pairs)
    shown = wide.evaluate("document.querySelector('#network .value').textContent")
    assert shown == "0.999"


def test_a_variable_that_is_pointed_at_is_named(wide, made):
    best = made.analysis.couplings.shown[0]
    dot = f"{NETWORK}[0].querySelector('g[data-i=\"{best.i}\"]')"
    wide.evaluate(f"{dot}.dispatchEvent(new PointerEvent('pointerenter'))")
    told = wide.evaluate("document.querySelector('#network output').textContent")
    assert told.startswith(made.source.labels[best.i])
    near = wide.evaluate(f"{NETWORK}[0].querySelectorAll('.lines path.near').length")
    assert near == sum(best.i in c[:2] for c in made.analysis.couplings.shown)
    assert wide.evaluate(f"getComputedStyle({NETWORK}[0].querySelector('path:not(.near)')).opacity") == "0.12"
    wide.evaluate(f"{dot}.dispatchEvent(new PointerEvent('pointerleave'))")
    assert wide.evaluate(f"{NETWORK}[0].classList.contains('pointed')") is False
    assert "lines" in wide.evaluate("document.querySelector('#network output').textContent")


@pytest.mark.parametrize(("width", "mobile"), [(1280, False), (390, True)])
def test_the_report_without_scripts(browser, made, width, mobile):
    """Tables, network and names are there; no control that would do nothing is shown; a tick shows all rows."""
    browser.scripts(False)
    try:
        browser.size(width, mobile=mobile)
        browser.scheme("light")
        browser.open(made.path.as_uri())
        assert browser.complaints() == []
        root = browser.call("DOM.getDocument")["root"]["nodeId"]

        def nodes(selector):
            return browser.call("DOM.querySelectorAll", nodeId=root, selector=selector)["nodeIds"]

        def box(node):
            try:
                return browser.call("DOM.getBoxModel", nodeId=node)["model"]
            except RuntimeError:  # it is not shown
                return None

        def shown(selector):
            return [node for node in nodes(selector) if box(node)]

        assert nodes(".controls") and not shown(".controls") and not nodes("thead button")
        assert len(shown("svg.network")) == 1 and len(shown("#edges-table tbody tr")) == 20
        assert len(shown("#variables-table tbody tr")) == 20
        (tick,) = nodes("#edges-table-all")
        browser.call("DOM.focus", nodeId=tick)
        for kind in ("keyDown", "keyUp"):
            space = {"key": " ", "code": "Space", "text": " ", "windowsVirtualKeyCode": 32}
            browser.call("Input.dispatchKeyEvent", type=kind, **space)
        assert len(shown("#edges-table tbody tr")) == 190
    finally:
        browser.scripts(True)


def test_controls_are_not_printed(wide):
    wide.scheme("light", media="print")
    shown = "[...document.querySelectorAll('{}')].filter(e => e.getClientRects().length).length"
    assert wide.evaluate(shown.format(".controls, .filtered > input, .filtered > label")) == 0
    assert wide.evaluate(shown.format("svg.network")) == 1 and len(first_names(wide)) == 20
    wide.scheme("light")


def test_no_table_is_printed_inside_of_a_grid(wide):
    """Where a page ends in such a table, the browser prints the rest of it over what follows."""
    inside = (
        "[...document.querySelectorAll('table')].filter(table => { for (let e = table; e; e = e.parentElement) "
        "if (getComputedStyle(e).display === 'grid') return true; return false; }).length"
    )
    assert wide.evaluate(inside) > 0  # on the screen
    wide.scheme("light", media="print")
    assert wide.evaluate(inside) == 0
    wide.scheme("light")


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


def test_all_columns_of_the_variables_are_seen_on_a_telephone(browser, tmp_path):
    """With missing cells, errors of fields and predictability there are six."""
    sim = bs.simulate(n_spins=6, n_samples=150, J=0.8, H=-0.3, seed=2)
    data = pd.DataFrame(with_gaps(sim.spins, 0.05), columns=[f"symptom{i}" for i in range(6)])
    bs.write_report(data, tmp_path / "report.html", simulations=0)
    browser.size(390, mobile=True)
    browser.scheme("light")
    browser.open((tmp_path / "report.html").as_uri())
    table = "document.querySelector('#variables-table')"
    titles = browser.evaluate(
        f"[...{table}.tHead.rows[0].cells].map(th => th.innerText.replaceAll('\\u00ad', ''))"
    )
    assert titles == ["Variable", "Prevalence", "Missing", "Field h", "Edges", "Predictability"]
    assert browser.evaluate(f"{table}.parentElement.scrollWidth <= {table}.parentElement.clientWidth")
    numbers = browser.evaluate(f"[...{table}.tBodies[0].rows[0].cells].map(td => td.innerText)")
    assert sum("±\u00a0" in text for text in numbers) == 2  # no line ends with the sign
