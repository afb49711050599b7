"""The network of a report, as lines and names of an SVG."""

import re
from dataclasses import replace

import numpy as np

import bayesing as bs
from bayesing.report.analysis import analyse
from bayesing.report.format import number
from bayesing.report.network import network_picture
from bayesing.report.page import Provenance, page
from bayesing.report.request import Choices, Source
from pages import HOSTILE_NAMES, Outline

from samples import FREE, stats


def test_each_version_says_what_is_seen_of_it(made):
    a = made.analysis
    found = a.couplings.shown
    assert 16 < len(found) < 60 and {c[:2] for c in found} == {c[:2] for c in a.couplings.edges}
    picture = network_picture(a.couplings, a.names)
    for drawing, k in zip(picture.drawings, (len(found), 16), strict=True):
        positive = sum(c.J > 0 for c in found[:k])
        assert f"the {k} strongest couplings" in drawing.alt
        assert f"{positive} positive, in red and {k - positive} negative, in blue" in drawing.alt
        first = found[0]
        assert f"{first.name_i} and {first.name_j}, {number(first.J, 2, True)}" in drawing.alt
        assert len(drawing.lines) == k and drawing.lines[-1].ends == first[:2]  # the strongest on top
        widths = [float(line.width) for line in drawing.lines]
        assert widths == sorted(widths) and widths[-1] == 4.5
    assert [drawing.kind for drawing in picture.drawings] == ["wide-screen", "narrow-screen"]
    assert (
        f"All {len(found)} couplings whose sign is clear" in picture.caption
        and "all of them pull" in picture.caption
    )


def test_lines_end_at_the_points_of_their_variables(made):
    a = made.analysis
    for drawing in network_picture(a.couplings, a.names).drawings:
        place = {dot.number: (dot.x, dot.y) for dot in drawing.dots}
        for line in drawing.lines:
            x, y, p, q = re.fullmatch(r"M(\S+) (\S+)Q\S+ \S+ (\S+) (\S+)", line.path).groups()
            assert ((x, y), (p, q)) == (place[line.ends[0]], place[line.ends[1]])
        size = np.array([float(drawing.width), float(drawing.height)])
        xy = np.array(list(place.values()), float)
        assert (xy >= 0).all() and (xy <= size).all()


def test_long_names_are_cut_and_in_full_on_hover():
    long = tuple(f"a rather long name of the question number {i}" for i in range(8))
    X = bs.simulate(n_spins=8, n_samples=400, J=1.0, seed=2).spins
    found = analyse(Source("x", stats(bs.SpinData.of(X, long))), Choices(simulations=0))
    html = Outline(page(found, (), "x", Provenance("", {}, "", 0.0)))
    titles = [e.text for e in html.all("title") if "svg" in e.parents]
    written = [e.text for e in html.all("text")]
    assert all(len(name) <= 32 and name.endswith("…") for name in written) and len(written) >= 8
    for name in long:
        assert any(title.startswith(f"{name}, ") for title in titles)


def test_hostile_names_are_texts(made):
    html = Outline(made.text)
    titles = " ".join(e.text for e in html.all("title") if "svg" in e.parents)
    assert sum(name in titles for name in HOSTILE_NAMES) == len(HOSTILE_NAMES)
    inside = {e.tag for e in html.elements if "svg" in e.parents}
    assert inside <= {"g", "path", "circle", "rect", "text", "title"}


def test_there_is_no_network_where_there_is_nothing_to_draw(made):
    found = analyse(Source("free", stats(FREE)), Choices(simulations=0))
    assert not found.couplings.any and network_picture(found.couplings, found.names) is None
    html = Outline(page(found, (), "x", Provenance("", {}, "", 0.0)))
    assert not html.all("svg") and not [e for e in html.all("table") if e.at.get("id") == "edges-table"]
    assert network_picture(None, ()) is None
    a = replace(made.analysis.couplings, edges=())
    picture = network_picture(a, made.analysis.names)
    assert "none of which is certain" in picture.caption and "Dashed lines may be 0" in picture.caption
    assert "pull" not in picture.caption  # there are no edges
    assert all("maybe" in line.kind for line in picture.drawings[0].lines)
