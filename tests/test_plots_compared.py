import warnings

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from numpy.testing import assert_allclose

import bayesing as bs
from bayesing import plots
from bayesing.plots._style import sign_colours

from groups import NAMES, frame, group

GONE, TURNED = (0, 2), (3, 4)  # a coupling that b does not have, and one with the other sign


@pytest.fixture
def axes():
    plt.switch_backend("agg")
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.5), dpi=50)
    yield axes
    figure.canvas.draw()  # whatever was drawn can be rendered, without a warning
    plt.close(figure)


@pytest.fixture(scope="module")
def found():
    return bs.compare(frame(group(1500, 1, J02=0.7, J34=0.9)), frame(group(1500, 2, J34=-0.5)))


def lines_of(ax):
    """Lines between two spins, by the names at their ends, and where each spin is."""
    points = next(line for line in ax.lines if line.get_marker() == "o").get_xydata()
    places = {text.get_text(): tuple(xy) for text, xy in zip(ax.texts, points, strict=True)}
    at = {place: name for name, place in places.items()}
    lines = [line for line in ax.lines if line.get_marker() != "o"]
    ends = [map(tuple, line.get_xydata()[[0, -1]]) for line in lines]
    return {frozenset(at[end] for end in two): line for two, line in zip(ends, lines, strict=True)}, places


def between(pair):
    return frozenset(NAMES[i] for i in pair)


def test_both_networks_have_one_layout_and_show_what_differs(axes, found):
    assert {(edge.i, edge.j) for edge in found.edges()} == {GONE, TURNED}
    assert plots.compared_networks(axes, found) is axes
    (first, places), (second, others) = map(lines_of, axes)
    assert places == others and set(places) == set(NAMES)
    assert [ax.get_title() for ax in axes] == ["a", "b"]
    negative, positive = sign_colours(axes[0])
    assert to_rgb(first[between(TURNED)].get_color()) == to_rgb(positive)
    assert to_rgb(second[between(TURNED)].get_color()) == to_rgb(negative)
    assert to_rgb(first[between(GONE)].get_color()) == to_rgb(positive)
    assert first[between(GONE)].get_linestyle() == "-" != second[between(GONE)].get_linestyle()
    same = between((1, 2))
    for lines in (first, second):
        assert lines[same].get_alpha() < 0.5 and lines[same].get_linewidth() < 2
    # One scale of widths in both.
    widths = [lines[between(TURNED)].get_linewidth() for lines in (first, second)]
    assert_allclose(widths[0] / widths[1], abs(np.divide(*(J[TURNED] for J in found.couplings))))
    labels = {text.get_text() for ax in axes for text in ax.get_legend().get_texts()}
    assert {"differs, positive", "differs, negative", "not shown to differ"} <= labels


def test_nothing_differs(axes):
    x = frame(group(800, 1))
    plots.compared_networks(axes, bs.compare(x, x))
    labels = {text.get_text() for ax in axes for text in ax.get_legend().get_texts()}
    assert "no coupling differs" in labels and not any("positive" in label for label in labels)


@pytest.mark.filterwarnings("ignore::bayesing.BoundWarning")
def test_nothing_is_there(axes):
    a, b = (bs.simulate(n_spins=6, n_samples=300, J=0.0, seed=seed).spins for seed in (1, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        comparison = bs.compare(a, b)
    plots.compared_networks(axes, comparison, fdr=1e-6)
    assert all("no couplings" in ax.texts[0].get_text() for ax in axes)
