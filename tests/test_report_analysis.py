import warnings

import numpy as np
import pytest

import bayesing as bs
from bayesing.exceptions import InputError, Setting
from bayesing.report import budget
from bayesing.report.analysis import analyse
from bayesing.report.request import Choices, Source
from bayesing.report.sketches import sketches
from bayesing.report.watch import Step

from samples import FREE, random_spins, stats


def test_warnings_of_the_library_are_kept_and_others_shown(monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = analyse(Source("free", stats(FREE)), Choices(simulations=0))
    (caught,) = found.caught
    assert (caught.category, caught.step) == (bs.BoundWarning, Step.COUPLINGS) and found.eb.gamma_ == 0

    def grumble(*_):
        warnings.warn("of another library", DeprecationWarning, stacklevel=1)
        return None, ""

    monkeypatch.setattr("bayesing.report.analysis.couplings_of", grumble)
    with pytest.warns(DeprecationWarning, match="of another library"):
        analyse(Source("free", stats(FREE)), Choices(simulations=0))


class Recorder:
    """Who remembers what was seen."""

    def __init__(self):
        self.steps, self.seconds, self.last = [], {}, None

    def plan(self, seconds):
        self.seconds = seconds

    def begin(self, step):
        self.steps.append(step)

    def advance(self, done, total):
        self.last = done, total


def test_the_steps_are_seen():
    watch = Recorder()
    analyse(Source("x", stats(random_spins(60, 20))), Choices(simulations=40), watch)
    assert watch.steps == list(Step)[:5] and set(watch.seconds) == set(Step)
    assert watch.last[0] == watch.last[1] >= 40
    assert watch.seconds[Step.INTERVALS] > watch.seconds[Step.FIT] > 0


def test_an_analysis_takes_little(monkeypatch):
    """One decomposition of all rows, for J and H, couplings and pictures, and one without the held-out rows.

    Draws of the couplings, for predictability, need two more, of the model.
    """
    spins = bs.simulate(n_spins=20, n_samples=80, J=0.6, H=0.1, seed=3).spins
    counted = {"eigvalsh": 0, "eigh": 0}
    for name in counted:
        original = getattr(np.linalg, name)

        def spy(*arguments, name=name, original=original):
            counted[name] += 1
            return original(*arguments)

        monkeypatch.setattr(np.linalg, name, spy)
    found = analyse(Source("x", stats(spins)), Choices(simulations=0))
    assert found.spectrum is not None and found.held_out is not None
    assert counted == {"eigvalsh": 0, "eigh": 4}


def test_a_spectrum_that_would_take_long_is_left_out(monkeypatch):
    data = stats(random_spins(60, 5))
    assert analyse(Source("x", data), Choices(simulations=0)).spectrum is data.spectrum
    monkeypatch.setattr("bayesing.report.analysis.LARGEST_SPECTRUM", 4)
    found = analyse(Source("x", data), Choices(simulations=0))
    assert found.spectrum is None and "spectrum" not in [sketch.key for sketch in sketches(found)]


def test_a_fit_leaves_the_data_and_the_machine_alone():
    spins = random_spins(60, 5)
    kept = spins.copy()
    data = stats(bs.SpinData.of(spins, tuple("abcde")))
    found = analyse(Source("x", data), Choices(simulations=0))
    np.testing.assert_array_equal(spins, kept)
    np.testing.assert_array_equal(data.spins(), kept)
    alone = bs.BoltzmannMachine(random_state=0).fit(data)
    assert vars(found.couplings.machine).keys() == vars(alone).keys()
    assert found.couplings.machine.reason_ == alone.reason_ == found.couplings.reason


def test_wrong_choices():
    with pytest.raises(InputError, match="or simulations=0 for no intervals: found simulations=10"):
        Choices(simulations=10)
    with pytest.raises(InputError, match="seed=0 or more: found seed=-1") as caught:
        Choices(seed=-1)
    assert "--seed 0 or more: found --seed -1" in caught.value.worded(Setting.in_shell)
    for choices in ({"simulations": -1}, {"simulations": 50.5}, {"seed": "one"}):
        with pytest.raises(ValueError, match="expected a whole number"):
            Choices(**choices)
    with pytest.raises(ValueError, match="method must be one of"):
        analyse(Source("x", stats(random_spins(9, 4))), Choices(method="magic"))


def test_budget():
    for n, N in ((300, 120), (100, 1000), (60, 60)):
        assert budget.simulations(budget.simulation(n, N, 0.4, 0.2)) == budget.SIMULATIONS
    for n, N, distance in ((2000, 500, 0.6), (50, 10**6, 0.6), (1000, 500, 0.1)):
        assert budget.simulations(budget.simulation(n, N, distance, 0.2)) == 0
    assert budget.rows_for_couplings(50, 10**6) < 10**5 and budget.rows_for_couplings(100, 1000) == 1000
    assert budget.can_predict(300, 4000, True) and not budget.can_predict(5000, 1000, False)
    # Between none and all, as many as there is time for.
    seconds = budget.SECONDS_FOR_INTERVALS
    assert [budget.simulations(seconds / k) for k in (19.5, 30.5, 50.5, 99)] == [0, 40, 50, 60]
