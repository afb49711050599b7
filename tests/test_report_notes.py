from dataclasses import replace

import numpy as np

import bayesing as bs
from bayesing.report.analysis import Caught, analyse
from bayesing.report.notes import notes
from bayesing.report.request import Choices, Source
from bayesing.report.watch import Step

from samples import FREE, random_spins, stats

QUICK = Choices(simulations=0)


def titles(found):
    return {note.title: note.text for note in notes(found)}


def test_warnings_of_the_library_are_notes():
    found = analyse(Source("free", stats(FREE)), QUICK)
    assert "show no couplings" in titles(found)["At the end of its range"]


def test_oddities_are_said_by_name():
    X = random_spins(60, 6)
    X[0] = -1
    odd = np.column_stack([X, X[:, 1], -X[:, 2], np.ones(60, np.int8)]).astype(np.int8)
    said = titles(analyse(Source("odd", stats(bs.SpinData.of(odd, tuple("abcdefghi")))), QUICK))
    assert "b = g and c = − h" in said["Duplicated columns"] and "('i')" in said["Constant columns"]
    assert "Rows remember those before them" not in said


def test_constant_columns_are_said_once():
    X = np.column_stack([random_spins(30, 4), np.ones(30, np.int8)]).astype(np.int8)
    found = analyse(Source("x", stats(X), ("of the file.",)), QUICK)
    again = analyse(Source("x", stats(X), (titles(found)["Constant columns"],)), QUICK)
    assert titles(found)["Reading the data"] == "of the file."
    assert "Reading the data" not in titles(again) and "1 of 5 spins" in titles(again)["Constant columns"]


def test_rows_in_the_order_of_time_are_said():
    rng = np.random.default_rng(0)
    slow = np.where(np.cumsum(rng.normal(size=(300, 7)), axis=0) > 0, 1, -1).astype(np.int8)
    said = titles(analyse(Source("slow", stats(slow)), QUICK))
    assert "series=True" in said["Rows remember those before them"]


def test_one_pattern_that_dominates_is_said():
    rng = np.random.default_rng(1)
    party = rng.choice([-1, 1], (200, 1)) * np.repeat([1, -1], [8, 7])
    votes = np.where(rng.random((200, 15)) < 0.1, -party, party).astype(np.int8)
    share = np.linalg.eigvalsh(np.corrcoef(votes.T))[-1] / 15
    said = titles(analyse(Source("votes", stats(votes)), QUICK))
    assert said["One pattern dominates"].startswith(f"{share:.0%} of the variance")
    assert "One pattern dominates" not in titles(analyse(Source("few", stats(votes[:, :9])), QUICK))


def test_what_is_left_out_is_said():
    found = analyse(Source("x", stats(random_spins(12, 5))), QUICK)
    assert "Few samples" in titles(found)
    said = [note.text for note in notes(found) if note.title == "Left out or reduced"]
    assert said == [found.left_out[Step.INTERVALS], found.left_out[Step.PREDICTION]]
    assert "as asked with simulations=0" in said[0] and "at least 40 samples" in said[1]
    assert notes(found)[-1].title == "Independent rows"


def test_a_warning_is_said_once():
    found = analyse(Source("x", stats(random_spins(60, 5))), QUICK)
    one, other = "Something is odd.", "The fit to fewer rows is odd."
    caught = [
        Caught(Step.FIT, bs.SaturationWarning, one),
        Caught(Step.COUPLINGS, bs.SaturationWarning, one),
        Caught(Step.PREDICTION, bs.SaturationWarning, other),
        Caught(Step.PREDICTION, bs.NotEquilibratedWarning, other),
    ]
    told = [note for note in notes(replace(found, caught=tuple(caught))) if note.text in (one, other)]
    assert [note.text for note in told] == [one, other] and told[1].title.endswith("(held-out samples)")
