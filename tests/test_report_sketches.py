import numpy as np
import pytest

import bayesing as bs
from bayesing.edges import Coupling
from bayesing.plots import _couplings
from bayesing.report import seen
from bayesing.report.analysis import analyse
from bayesing.report.drawing import render
from bayesing.report.format import number
from bayesing.report.pictures import pictures
from bayesing.report.request import Choices, Source
from bayesing.report.sketches import sketches

from samples import ENDLESS, FREE, stats


def test_pictures_say_what_is_seen(made):
    a = made.analysis
    drawn = {sketch.key: sketch.view for sketch in sketches(a)}
    assert f"estimate, J = {number(a.eb.J_)}" in drawn["evidence"].alt
    assert f"J = {number(a.interval.J_corrected, 2)}" in drawn["phases"].alt
    d = np.linalg.eigvalsh(np.corrcoef(made.spins.T))
    assert f"the largest {'at' if 'lie' in drawn['spectrum'].alt else 'is'}" in drawn["spectrum"].alt
    assert number(d[-1]) in drawn["spectrum"].alt and "of 20 spins" in drawn["spectrum"].alt
    J = a.couplings.machine.couplings_[np.triu_indices(20, 1)]
    assert number(J.max(), 2, True) in drawn["matrix"].alt and number(J.min(), 2, True) in drawn["matrix"].alt
    assert f"{np.mean(J > 0):.0%} are positive" in drawn["matrix"].alt
    assert "190 pair correlations" in drawn["pairs"].alt and "triplet correlations" in drawn["triplets"].alt


def test_a_small_matrix_in_words():
    J = np.zeros((4, 4))
    J[0, 1:] = 0.5, 0.25, 0.125
    J[1, 2] = -0.75
    assert "Couplings range from −0.75 to +0.50; 50% are positive, 33% exactly 0." in seen.matrix_seen(
        J + J.T
    )


CAUSED = ((0, "a", 0), (1, "b", 0), (1, "b", 1))


def test_small_networks_in_words():
    edge = Coupling(0, 1, "a", "b", -0.5, 0.1, 0.99)
    assert seen.network_seen([edge]) == (
        "Network of the 1 strongest coupling, lines between the names of 2 variables, with coupled ones near each "
        "other: 1 negative, in blue. The strongest is a and b, −0.50."
    )
    loadings = [Coupling(i, 7 + a, name, f"cause {a + 1}", 0.5, 0.1, 1.0) for i, name, a in CAUSED]
    causes = "Squares stand for 2 common causes: cause 1, with lines to a and b; cause 2, with lines to b."
    assert seen.network_seen([edge], loadings) == f"{seen.network_seen([edge])} {causes}"
    assert seen.network_seen([], loadings) == causes


def test_what_costs_time_is_found_once(made, monkeypatch):
    """One evidence and one order of the matrix, for light and dark and any width; no spectrum at all."""
    counted = {"linkage": 0, "evidence": 0}

    def count(module, name):
        original = getattr(module, name)

        def spy(*arguments):
            counted[name] += 1
            return original(*arguments)

        monkeypatch.setattr(module, name, spy)

    count(_couplings, "linkage")
    count(bs.EmpiricalBayes, "evidence")
    for name in ("eigvalsh", "eigh"):
        monkeypatch.setattr(np.linalg, name, lambda *_: pytest.fail("a spectrum is found again"))
    assert len(pictures(made.analysis)) == 9
    assert counted == {"linkage": 1, "evidence": 1}


def test_the_versions_of_pictures(made, monkeypatch):
    monkeypatch.setattr("bayesing.report.pictures.render", lambda draw, size, scheme, _: (scheme, size[0]))
    versions = {picture.key: picture.versions for picture in pictures(made.analysis)}
    both = [("light", ("light", 4.7)), ("dark", ("dark", 4.7))]
    assert [(v.kind, v.image) for v in versions["phases"]] == both
    assert [(v.kind, v.image) for v in versions["matrix"]] == [
        ("light wide-screen", ("light", 6.6)),
        ("dark wide-screen", ("dark", 6.6)),
        ("light narrow-screen", ("light", 4.0)),
        ("dark narrow-screen", ("dark", 4.0)),
    ]


@pytest.mark.parametrize("case", ["infinite", "zero"])
def test_pictures_of_data_with_little_in_them(case):
    X = ENDLESS if case == "infinite" else FREE
    drawn = {}
    for sketch in sketches(analyse(Source("little", stats(X)), Choices(simulations=0))):
        drawn[sketch.key] = render(sketch.view.draw, sketch.view.size, "light", sketch.many)
    more = [] if case == "infinite" else ["active", "means", "correlations", "pairs", "triplets"]
    assert list(drawn) == [*more, "evidence", "phases", "spectrum"]  # a matrix of zeros is no picture
    assert all(len(image.uri) > 5000 for image in drawn.values())


def test_methods_without_an_evidence_have_no_picture_of_it(made):
    keys = [s.key for s in sketches(analyse(made.source, Choices("susceptibility", simulations=0)))]
    assert keys == ["active", "means", "correlations", "matrix", "pairs", "triplets", "phases", "spectrum"]
