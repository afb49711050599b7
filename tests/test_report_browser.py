import os
import re

import pytest

from chromium import PROGRAM, Chromium
from pages import TITLE

if PROGRAM is None and os.environ.get("BAYESING_REQUIRE_BROWSER"):
    pytest.fail("BAYESING_REQUIRE_BROWSER is set, but there is no chromium.", pytrace=False)

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="needs chromium, which is not installed")


@pytest.fixture(scope="module")
def browser():
    with Chromium() as chromium:
        yield chromium


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
        assert len(pictures_of[scheme]) == 7  # one of each kind
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
    assert len(shown[0] - shown[1]) == 2  # the matrix and the network


@pytest.mark.parametrize(("width", "mobile"), [(1280, False), (390, True)])
def test_a_report_on_common_causes(browser, caused, width, mobile):
    browser.size(width, mobile=mobile)
    browser.scheme("light")
    browser.open(caused.path.as_uri())
    assert browser.complaints() == []
    assert browser.evaluate("document.scrollingElement.scrollWidth") <= width
    assert browser.evaluate(f"{SHOWN}.every(i => i.complete && i.naturalWidth > 0)")
    assert browser.evaluate("document.querySelector('#causes table').rows.length") == 2
    alt = browser.evaluate(f"{SHOWN}.find(i => i.closest('figure').id == 'network').alt")
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
