import numpy as np

import bayesing as bs
from bayesing.report import budget, held_out
from bayesing.report.analysis import analyse
from bayesing.report.held_out import split
from bayesing.report.request import Choices, Source
from bayesing.report.watch import Step

from samples import random_spins, stats


def test_held_out_rows_are_not_fitted(made, monkeypatch):
    seen = []
    original = held_out.predict

    def spy(model, rows, *arguments):
        seen.append((model, rows))
        return original(model, rows, *arguments)

    monkeypatch.setattr(held_out, "predict", spy)
    found = analyse(Source("x", stats(made.spins)), Choices(simulations=0))
    ((model, rows),) = seen
    assert (found.held_out.fitted, found.held_out.tested, len(rows)) == (60, 20, 20)
    left = [tuple(row) for row in made.spins.tolist()]
    for row in rows.tolist():
        left.remove(tuple(row))  # each is one of the data
    expected = bs.BoltzmannMachine(found.couplings.machine.method_).fit(np.array(left))
    np.testing.assert_allclose(model.couplings, expected.couplings_, atol=1e-10)


def test_why_nothing_was_predicted(made, monkeypatch):
    few = analyse(Source("x", stats(random_spins(39, 5))), Choices(simulations=0))
    assert few.held_out is None and "at least 40 samples" in few.left_out[Step.PREDICTION]
    monkeypatch.setattr(budget, "can_predict", lambda *_: False)
    long = analyse(Source("x", stats(made.spins)), Choices(simulations=0))
    assert long.held_out is None and "20 spins would take minutes" in long.left_out[Step.PREDICTION]


def test_rows_are_held_out_and_fitted_at_random():
    """Also where only some of them are fitted: the first ones would be those of one time."""
    test, train = split(4000, 300, 0)
    assert len(test) == 1000 and len(train) == 300 and not set(test) & set(train)
    for rows in (test, train):
        assert (np.diff(rows) > 0).all()
        assert abs(rows.mean() - 2000) < 4 * 4000 / np.sqrt(12 * len(rows))
    assert len(split(4000, 4000, 0)[1]) == 3000
