import numpy as np

import bayesing as bs
from bayesing.exceptions import Setting
from bayesing.report import budget
from bayesing.report.analysis import analyse
from bayesing.report.request import Choices, Source
from bayesing.report.watch import Step

from samples import ENDLESS, random_spins, stats


def left_out(X, **choices):
    found = analyse(Source("x", stats(X)), Choices(**choices))
    assert found.interval is None
    return found.left_out[Step.INTERVALS]


def test_few_spins_get_no_intervals_unasked():
    assert "with 6 spins that vary" in left_out(random_spins(50, 6))
    assert analyse(Source("x", stats(random_spins(50, 6))), Choices(simulations=40)).interval is not None


def test_few_samples_get_no_intervals():
    assert left_out(ENDLESS, simulations=40).endswith("at least 4 samples: there are 2.")


def test_intervals_that_would_take_long_are_left_out(monkeypatch, made):
    monkeypatch.setattr(budget, "simulations", lambda _: 0)
    assert "samples of 20 spins takes long. simulations=40 asks for them" in left_out(made.spins)
    in_shell = left_out(made.spins, speak=Setting.in_shell)
    assert "--simulations 40 asks for them" in in_shell and "simulations=" not in in_shell


def test_simulated_data_without_anything_in_them_are_no_error():
    X = bs.simulate(3, 6, J=0.5, H=1.5, seed=2).spins
    assert np.count_nonzero(np.abs(X.mean(axis=0)) < 1) >= 2
    said = left_out(X, simulations=40)
    assert said.startswith(
        "Intervals by simulation were not found: the statistic does not exist for data simulated"
    )
