"""A report on data with missing cells, and on data with a common cause."""

import json

import numpy as np
import pytest

import bayesing as bs
from bayesing.order import order_of
from bayesing.report import budget
from bayesing.report import couplings as report_couplings
from bayesing.report.analysis import analyse
from bayesing.report.answer import answer
from bayesing.report.gaps import gaps_of
from bayesing.report.network import network_picture
from bayesing.report.notes import notes
from bayesing.report.numbers import numbers
from bayesing.report.page import page
from bayesing.report.request import Choices, Source
from bayesing.report.sketches import sketches
from bayesing.report.tables import causes, facts, headline, missing
from bayesing.report.watch import Step
from pages import Outline

from samples import driven, gappy, random_spins, stats, with_gaps

QUICK = Choices("susceptibility", simulations=0)


def test_what_is_missing_is_counted():
    X = gappy()
    gaps = gaps_of(stats(X))
    empty = X.isna()
    assert (gaps.cells, gaps.N, gaps.n) == (empty.sum().sum(), 300, 7)
    assert (gaps.samples, gaps.spins) == (empty.any(axis=1).sum(), 7)
    assert gaps.share == pytest.approx(empty.to_numpy().mean())
    counts = empty.sum().to_numpy()
    assert gaps.most[0] == (5, counts[5]) and [k for _, k in gaps.most] == sorted(counts)[::-1][:5]
    assert gaps_of(stats(driven())) is None
    one = driven().astype(float)
    one[3, 2] = np.nan
    assert gaps_of(stats(one)).most == ((2, 1),)


def test_missing_cells_are_described(caused):
    found = caused.analysis
    share = f"{100 * gaps_of(stats(gappy())).share:.2g}%"
    assert (
        answer(found)[0]
        == f"The data are 300 samples of 7 binary variables, with {share} of the cells missing."
    )
    (note,) = (note for note in notes(found) if note.title == "Missing cells")
    assert note.text.endswith("They are taken to be missing at random, given the values that are there.")
    assert f"of 2,100 cells ({share}) are missing, in " in note.text and "and 7 of 7 spins" in note.text
    assert headline(found)[0].more == f"{share} of the cells missing"
    (row,) = (row for row in facts(found).rows if row.names == ("Missing cells",))
    assert share in row.cells[0] and "taken to be missing at random" in row.cells[0]
    told = {row.names[0]: row.cells[0] for row in missing(found).rows}
    empty = gappy().isna()
    assert told["Variables that miss most"].startswith(f"<item 5> ({empty['<item 5>'].mean():.0%}), ")
    whole = (~empty.any(axis=1)).sum()
    assert told["Complete samples"] == f"{whole} of 300 ({100 * whole / 300:.2g}%)"
    assert told["Most in one sample"] == f"{empty.sum(axis=1).max()} of 7 variables"
    assert numbers(found)["missing"]["most"][0]["name"] == "<item 5>"


def test_whoever_read_the_data_has_said_it(monkeypatch):
    monkeypatch.setattr("bayesing.report.held_out._MOST_CHAINED", 6)
    text = (
        "9 of 90 cells are missing. They are taken to be missing at random, given the values that are there."
    )
    source = Source("x", stats(with_gaps(driven(60), 0.05)), (text, "Another thing."))
    a = analyse(source, QUICK)
    found = notes(a)
    assert [note.text for note in found if note.title == "Missing cells"] == [text]
    assert a.held_out is None
    assert "another fit of 7 spins with missing cells would take minutes" in a.left_out[Step.PREDICTION]
    assert [note.text for note in found if note.title == "Reading the data"] == ["Another thing."]


def test_the_cause_is_told(caused):
    found, html = caused.analysis, Outline(caused.text)
    (cause,) = found.couplings.causes
    told = " ".join(answer(found))
    assert (
        f"there is 1 common cause: cause 1, on in {100 * cause.on:.2g}% of the samples, loads on <item "
        in told
    )
    table = causes(found)
    (row,) = table.rows
    assert row.names == ("cause\u00a01",)
    assert row.cells[:2] == (f"{100 * cause.on:.2g}%", str(len(cause.clear(7))))
    for each in cause.clear(6):
        sign = "+" if each.J > 0 else "−"
        assert f"{each.name_i} {sign}".replace(" ", "\u00a0") in row.cells[2]
    headings = [element.text for element in html.elements if element.tag == "h2"]
    assert headings.index("Common causes") == headings.index("Which variables are coupled?") + 1
    made = json.loads(json.dumps(numbers(found)))["couplings"]["hidden"]
    assert made[0]["loadings"][0]["J"] == cause.loadings[0].J


def test_the_network_has_a_square_and_says_so(caused):
    found = caused.analysis
    picture = network_picture(found.couplings, found.names)
    assert "Squares are common causes" in picture.caption
    for drawing in picture.drawings:
        (square,) = (dot for dot in drawing.dots if dot.is_cause)
        assert (square.name, square.number) == ("cause 1", 7) and square.title.startswith("cause 1, ")
        assert {line.ends[0] for line in drawing.lines if line.ends[1] == 7} >= {0, 1, 2, 3}
        assert "A square stands for 1 common cause: cause 1, with lines to <item " in drawing.alt
    (spectrum,) = (sketch for sketch in sketches(found) if sketch.key == "spectrum")
    assert "Missing cells were drawn from the fitted model." in spectrum.caption
    assert all(v.predictability is None for v in found.variables)  # common causes act beside the couplings
    assert "Predictability was not found" in found.left_out[Step.LIKENESS]


def test_columns_that_are_missing_together_are_told():
    X = driven(100).astype(float)
    X[:30, [1, 4]] = np.nan
    X[30:40, [2, 3, 5]] = np.nan
    X[40, [0, 6]] = np.nan  # once is no pattern
    X[50:70, 0] = np.nan  # nothing is missing together
    gaps = gaps_of(stats(X))
    assert gaps.together == (((1, 4), 30), ((2, 3, 5), 10))
    assert (gaps.worst, gaps.complete, gaps.samples) == (3, 39, 61)


def test_held_out_cells_are_drawn_from_the_model(caused):
    found, html = caused.analysis, Outline(caused.text)
    held_out = found.held_out
    assert (held_out.fitted, held_out.tested) == (225, 75) and 0.05 < held_out.drawn < 0.2
    assert held_out.prediction.exact and len(held_out.prediction.pairs.observed) == 21
    texts = [element.text for element in html.elements if element.tag == "p"]
    assert any("are missing. They are drawn from the model" in text for text in texts)


def test_no_cause_and_no_question_about_one():
    found = analyse(Source("x", stats(random_spins(60, 6))), Choices(simulations=0))
    assert causes(found) is None and missing(found) is None
    text = page_of(found)
    assert "Common causes" not in text and "miss" not in "".join(answer(found))


def test_no_cause_is_an_answer(monkeypatch):
    machine = bs.BoltzmannMachine("spectral")
    monkeypatch.setattr(report_couplings, "machine_for", lambda *_: machine)
    found = analyse(Source("x", stats(random_spins(30, 6))), Choices(simulations=0, n_hidden="auto"))
    assert "No common cause of many spins is seen beside the couplings." in answer(found)
    assert causes(found) is None and "Common causes" in page_of(found)


def page_of(found):
    from bayesing.report.page import Provenance

    return page(found, (), "x", Provenance("", {}, "", 0.0))


def test_many_spins_with_missing_cells_are_left_out(monkeypatch):
    monkeypatch.setattr(report_couplings, "MOST_LEARNT", 5)
    data = stats(with_gaps(random_spins(60, 6), 0.1))
    found = analyse(Source("x", data), QUICK)
    assert found.couplings is None and found.spectrum is None
    assert "missing cells that would take minutes for more than 5 spins" in found.left_out[Step.COUPLINGS]
    assert 'couplings_method="likelihood" asks for them' in found.left_out[Step.COUPLINGS]
    assert "spectrum of the correlations, which needs complete rows" in found.left_out[Step.COUPLINGS]
    assert page_of(found)


def test_some_rows_are_enough_where_cells_are_missing(monkeypatch):
    monkeypatch.setattr(budget, "rows_for_couplings", lambda *_: 3)
    data = stats(with_gaps(random_spins(60, 6), 0.1))
    found = analyse(Source("x", data), QUICK)
    assert found.couplings.rows == 12 and found.couplings.machine.method_ == "likelihood"
    assert 'couplings_method="likelihood" asks for all of them' in found.left_out[Step.COUPLINGS]


def test_successive_rows_with_missing_cells():
    rng = np.random.default_rng(0)
    X = np.repeat(random_spins(200, 9), 2, axis=0)  # each row twice
    gaps = np.where(rng.random(X.shape) < 0.2, 0, X).astype(np.int8)
    found = [order_of(stats(rows)) for rows in (X, np.where(gaps == 0, np.nan, gaps))]
    assert found[0].successive == pytest.approx(0.5, abs=0.05)
    assert found[1].successive == pytest.approx(found[0].successive, abs=0.05)
    assert all(order.remembers for order in found)
    assert not order_of(stats(rng.permutation(X))).remembers


def test_wrong_numbers_of_causes():
    source = Source("x", stats(random_spins(30, 6)))
    for value, message in [(-1, "not negative"), ("some", "whole number"), (13, "at most 12")]:
        with pytest.raises(ValueError, match=message):
            analyse(source, Choices(simulations=0, n_hidden=value))
    with pytest.raises(ValueError, match='hidden units need prior="gaussian"'):
        analyse(source, Choices(simulations=0, n_hidden=1, prior="laplace"))
