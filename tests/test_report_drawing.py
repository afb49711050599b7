import re
from importlib import resources

import matplotlib as mpl
import pytest

from bayesing.report.drawing import compact, render, style

CSS = resources.files("bayesing.report").joinpath("templates", "style.css").read_text(encoding="utf-8")


def test_contrast_in_both_schemes():
    light, dark = (
        dict(re.findall(r"--(\w+): (#\w{6});", part))
        for part in CSS.split("prefers-color-scheme: dark", 2)[:2]
    )
    assert light.keys() == dark.keys() >= {"page", "ink", "muted", "accent", "caution", "panel"}
    assert light["page"] != dark["page"]
    for colours in (light, dark):
        for ink in ("ink", "muted", "accent", "caution"):
            for page in ("page", "panel"):
                assert contrast(colours[ink], colours[page]) >= 4.5
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
    pages, inks = re.findall(r"--page: (#\w{6})", CSS), re.findall(r"--ink: (#\w{6})", CSS)
    for scheme, page, ink in zip(("light", "dark"), pages, inks, strict=True):
        assert (style(scheme)["figure.facecolor"], style(scheme)["text.color"]) == (page, ink)


def test_compact_svg_keeps_letters_and_rounds_places():
    places = 'transform="scale(0.015625) translate(12.345678 -3.14159)"'
    svg = f"<svg>\n <!-- a -->\n <metadata>x</metadata>\n <g {places}/>\n</svg>".encode()
    assert compact(svg) == b'<svg><g transform="scale(0.015625) translate(12.35 -3.14)"/></svg>'


def line(ax):
    ax.plot([0, 1], [0, 1])
    return ax


def test_the_settings_of_users_do_not_matter():
    image = render(line, (2.0, 1.5), "light")
    assert image.uri.startswith("data:image/svg+xml;base64,") and (image.width, image.height) == (192, 144)
    with mpl.rc_context({"figure.subplot.left": 0.4, "lines.linewidth": 9, "font.size": 30}):
        assert render(line, (2.0, 1.5), "light") == image
    assert render(line, (2.0, 1.5), "dark") != image
    assert render(line, (2.0, 1.5), "light", as_png=True).uri.startswith("data:image/png;base64,")


def test_a_large_svg_becomes_a_png(monkeypatch):
    monkeypatch.setattr("bayesing.report.drawing._LARGEST_SVG", 100)
    assert render(line, (2.0, 1.5), "light").uri.startswith("data:image/png;base64,")
