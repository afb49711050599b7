import math
from dataclasses import replace

import numpy as np
import pytest

from bayesing.calibration import Interval
from bayesing.diagnosis import Diagnosis, Phase
from bayesing.report.analysis import analyse
from bayesing.report.answer import answer
from bayesing.report.format import number, plus_minus
from bayesing.report.notes import notes
from bayesing.report.request import Choices, Source
from bayesing.report.tables import headline

from samples import ENDLESS, FREE, random_spins, stats, with_answer


def said(a):
    return " ".join(answer(a))


def test_the_typical_size_of_a_coupling_is_said(made):
    typical = number(made.analysis.eb.J_ / math.sqrt(20), 2)
    assert f"couplings of typical size J/√n = {typical}" in said(made.analysis)


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (ENDLESS, "J of the couplings is not determined: the evidence"),
        (random_spins(3, 4), "The data are 3 samples of 4 binary variables."),
        (np.column_stack([random_spins(30, 2), np.ones((30, 3))]), "Couplings of J up to about 0.9"),
        (random_spins(200, 2), "The coupling of x0 and x1 is"),
        (FREE, "No couplings are seen: J = 0.00 ± "),
    ],
    ids=["two samples", "three samples", "two spins vary", "two spins", "no couplings"],
)
def test_data_with_little_in_them_have_an_answer(X, sentence):
    assert sentence in said(analyse(Source("little", stats(X)), Choices(simulations=0)))


def test_couplings_that_would_go_unnoticed_are_said():
    found = analyse(Source("free", stats(FREE)), Choices(simulations=0))
    most = number(math.sqrt(1.64 * found.eb.gamma_error_), 2)  # the upper end of a one-sided 95% interval
    assert f"Couplings of J up to about {most} would go unnoticed" in said(found)
    assert "up to about 0.44 would go unnoticed" in said(with_interval(found, (0.0, 0.44)))


def with_interval(found, J):
    interval = Interval(J, (-0.1, 0.1), 1.6 if math.isfinite(J[1]) else 2.0, 0.0, 0.9, 60)
    return replace(found, interval=interval)


def test_the_answer_follows_the_interval_where_they_disagree(made):
    a = made.analysis
    J, alone = a.eb.J_, plus_minus(a.eb.J_, a.eb.J_error_)
    fine = with_interval(a, (J - 0.1, J + 0.1))
    assert f"J = {alone} (90% interval" in said(fine)
    assert not any("disagree" in note.title for note in notes(fine))
    biased = with_interval(a, (1.45, 1.77))
    assert "J = 1.60 (90% interval 1.45 to 1.77): couplings of typical size J/√n = 0.36" in said(biased)
    assert f"corrected by simulation; the method {a.eb.method_} alone gives {alone}" in said(biased)
    (fact,) = (fact for fact in headline(biased) if fact.name == "Strength J")
    assert (fact.value, fact.more) == ("1.60", f"by simulation; {a.eb.method_} alone: {number(J)}")
    assert any("The J of the answer is the corrected one, 1.60." in note.text for note in notes(biased))
    open_ended = with_interval(a, (1.5, math.inf))
    assert f"J = {alone} (90% interval above 1.50)" in said(open_ended)
    assert any("Neither is to be relied on" in note.text for note in notes(open_ended))


def changed(made, diagnosis=None, **changes):
    """The same analysis without intervals, of an estimator with another diagnosis or other values."""
    eb = with_answer(made.analysis.eb, diagnosis, **changes)
    return replace(made.analysis, eb=eb, interval=None)


@pytest.mark.parametrize(
    ("phase", "distance", "sentence", "short", "title"),
    [
        (Phase.PARAMAGNET, 0.6, "This is a paramagnet (1 − γr = 0.60): spins", "paramagnet", None),
        (Phase.UNSEEN, 0.6, "which is hardly distinguished from none", "paramagnet", None),
        (Phase.NEAR_GLASS, 0.1, "paramagnet near the spin glass (1 − γr = 0.10)", "near the spin glass",
         "The data lie near the spin glass"),
        (Phase.GLASS, -0.5, "This is a spin glass (1 − γr = −0.50): many states compete", "spin glass", None),
        (Phase.ORDERED, -0.5, "The spins are ordered", "ordered", None),
        (Phase.NOT_WEAK, 0.5, "Phases are defined for many weak couplings", "not many weak couplings", None),
        (Phase.EDGE, 0.1, "saturates: J may be larger", "edge of the spin glass", None),
        (Phase.UNKNOWN, 0.1, "not determined: it lies at the end of the range", "unknown", None),
    ],
)  # fmt: skip
def test_every_phase_in_words(made, phase, distance, sentence, short, title):
    a = changed(made, Diagnosis(phase, distance))
    assert sentence in said(a)
    told = {fact.name: (fact.value, fact.more) for fact in headline(a)}["Strength J"]
    assert told == ("not determined", "") if short == "unknown" else told[1] == short
    assert [note.title for note in notes(a) if note.title.startswith("The data lie")] == [title] * bool(title)


def test_an_interval_is_what_to_rely_on_in_the_spin_glass(made):
    a = changed(made, Diagnosis(Phase.GLASS, -0.5, trusted=False))
    assert "beyond the edge of the spin glass (1 − γr = −0.50)" in said(a)
    assert "The data lie beyond the edge of the spin glass" in [note.title for note in notes(a)]
    assert "J is approximate, and its error larger than given" in said(a)
    assert "the interval, by simulation, is what to rely on" in said(with_interval(a, (0.1, 2.0)))
    unknown = changed(made, Diagnosis(Phase.UNKNOWN, 0.1))
    assert "By simulation, J lies between 0.1 and 2.0 (90% interval)" in said(
        with_interval(unknown, (0.1, 2.0))
    )


def test_fields_in_words(made):
    assert "which favours −1" in said(changed(made, H=-0.5, H_error=0.1))
    assert "which favours +1" in said(changed(made, H=0.5, H_error=0.1))
    assert "compatible with no field" in said(changed(made, H=0.1, H_error=0.06))
    assert "The field H is not determined" in said(changed(made, H=math.inf))
