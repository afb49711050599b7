"""Limits of the signs, what follows from them, and their words."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

import bayesing as bs
from bayesing.diagnosis import Diagnosis, Phase, Quantity, Reason, diagnose, doubts, is_mean_alone, is_ordered
from bayesing.moments import SpinMoments
from bayesing.strength import METHODS, Estimate
from bayesing.weak import Signs, SpectrumSigns, SumSigns
from bayesing.words import distrust, regime, sentences, short

from samples import ferromagnet

CALM = Signs(
    n=100,
    N=500,
    mean=0.3,
    typical=0.06,
    largest=0.3,
    order=0.1,
    spectrum=SpectrumSigns(g=0.3, distance=0.02, edge=1.0, ratio=1.0, excess=0.5),
    sum=SumSigns(0.1, 1.0, 0.1, 0.5, 0.0),
    with_mean=False,
)
MOMENTS = SpinMoments.of(bs.simulate(n_spins=30, n_samples=60, J=0.5, H=0.2, seed=1).spins)
CLOSED, LEARNT = (
    next(method for method in METHODS if method.name == name) for name in ("spectral", "likelihood")
)


def signs(mean=CALM.mean, largest=CALM.largest, order=CALM.order, with_mean=False, **changes):
    """Signs that are calm but for some."""
    spectrum = {key: changes[key] for key in ("g", "distance", "edge", "ratio", "excess") if key in changes}
    of_sum = {key: changes[key] for key in changes if key not in spectrum}
    return replace(
        CALM,
        mean=mean,
        largest=largest,
        order=order,
        with_mean=with_mean,
        spectrum=replace(CALM.spectrum, **spectrum),
        sum=replace(CALM.sum, **of_sum),
    )


@pytest.mark.parametrize(
    ("quantity", "beyond", "within"),
    [
        (Quantity.MEAN, {"mean": 5.1}, {"mean": 4.9}),
        (Quantity.MEAN, {"mean": -5.1}, {"mean": -4.9}),
        (Quantity.COPIES, {"largest": 0.96}, {"largest": 0.94}),
        (Quantity.SPECTRUM, {"distance": 0.076}, {"distance": 0.074}),
        (Quantity.SPECTRUM, {"distance": 0.076}, {"distance": 0.3, "g": 0.81}),
        (Quantity.EDGE, {"edge": 1.36}, {"edge": 1.34}),
        (Quantity.EDGE, {"edge": 1.36}, {"edge": 2.0, "g": 0.81}),
        (Quantity.SUSCEPTIBILITY, {"ratio": 1.26, "excess": 5.1}, {"ratio": 1.24, "excess": 9.0}),
        (Quantity.SUSCEPTIBILITY, {"ratio": 1.26, "excess": 5.1}, {"ratio": 1.5, "excess": 4.9}),
        (Quantity.SKEWNESS, {"skewness": -0.51, "skewness_errors": -8.1}, {"skewness": 0.6, "skewness_errors": 7.9}),
        (Quantity.SKEWNESS, {"skewness": 0.51, "skewness_errors": 8.1}, {"skewness": 0.49, "skewness_errors": 20.0}),
        (Quantity.KURTOSIS, {"kurtosis": -0.51, "kurtosis_errors": -5.1}, {"kurtosis": 3.0, "kurtosis_errors": 50.0}),
        (Quantity.KURTOSIS, {"kurtosis": -0.51, "kurtosis_errors": -5.1}, {"kurtosis": -1, "kurtosis_errors": -4.9}),
        (Quantity.UNSEEN, {"unseen": 5.1}, {"unseen": 4.9}),
    ],
)  # fmt: skip
def test_every_sign_has_a_limit(quantity, beyond, within):
    assert doubts(CALM) == doubts(signs(**within)) == ()
    (reason,) = doubts(signs(**beyond))
    assert reason.quantity is quantity
    assert abs(reason.value) > abs(reason.limit) or reason.value < reason.limit


def test_limits_that_hold_only_together_with_a_mean():
    low = {"ratio": 0.59, "excess": -5.1}
    assert doubts(signs(**low)) == ()
    kinds = [reason.quantity for reason in doubts(signs(mean=9.0, with_mean=True, **low))]
    assert kinds == [Quantity.MEAN, Quantity.SUSCEPTIBILITY]
    assert doubts(signs(order=0.95)) == ()
    found = doubts(signs(mean=9.0, order=0.95))
    assert [reason.quantity for reason in found] == [Quantity.MEAN, Quantity.ORDER]
    assert is_ordered(found) and not is_mean_alone(found)
    assert is_mean_alone(doubts(signs(mean=9.0))) and not is_mean_alone(())


def test_few_samples_are_allowed_more():
    few = replace(signs(distance=0.1), N=90)
    assert doubts(few) == () and doubts(signs(distance=0.1)) != ()


def test_a_correlation_must_stand_out_to_be_that_of_copies():
    assert doubts(replace(signs(largest=0.99), typical=0.2)) == ()


def test_there_may_be_nothing_to_look_at():
    assert doubts(replace(CALM, spectrum=None, sum=None)) == ()


MEAN_ALONE = (Reason(Quantity.MEAN, 9.0, 5.0),)
SKEWED = (Reason(Quantity.SKEWNESS, 2.0, 0.5),)
ORDER = (*MEAN_ALONE, Reason(Quantity.ORDER, 0.95, 0.9))
WEAK = Estimate(0.2, 0.02, 0.1, 0.01)


@pytest.mark.parametrize(
    ("method", "estimate", "found", "mean_coupling", "phase", "trusted"),
    [
        (CLOSED, WEAK, (), False, Phase.PARAMAGNET, True),
        (CLOSED, WEAK, MEAN_ALONE, True, Phase.PARAMAGNET, True),
        (CLOSED, WEAK, MEAN_ALONE, False, Phase.NOT_WEAK, False),
        (CLOSED, WEAK, SKEWED, True, Phase.NOT_WEAK, False),
        (CLOSED, WEAK, ORDER, True, Phase.ORDERED, False),
        (LEARNT, WEAK, SKEWED, False, Phase.NOT_WEAK, True),
        (LEARNT, WEAK, ORDER, False, Phase.ORDERED, True),
        (LEARNT, replace(WEAK, pull=1.1), SKEWED, False, Phase.NOT_WEAK, True),
        (LEARNT, replace(WEAK, pull=1.2), SKEWED, False, Phase.NOT_WEAK, False),
        (LEARNT, replace(WEAK, pull=0.8), SKEWED, False, Phase.NOT_WEAK, False),
        (LEARNT, replace(WEAK, pull=0.0), SKEWED, False, Phase.NOT_WEAK, False),
        (LEARNT, replace(WEAK, lost=True), (), False, Phase.PARAMAGNET, False),
        (CLOSED, replace(WEAK, gamma=3.0), (), False, Phase.GLASS, False),
        (LEARNT, replace(WEAK, gamma=3.0), (), False, Phase.GLASS, True),
        (CLOSED, replace(WEAK, gamma=25.0, bound=25.0), SKEWED, False, Phase.UNKNOWN, False),
    ],
)
def test_what_follows(method, estimate, found, mean_coupling, phase, trusted):
    diagnosis = diagnose(estimate, method, MOMENTS, found, mean_coupling)
    assert (diagnosis.phase, diagnosis.trusted) == (phase, trusted)
    assert diagnosis.is_weak == (phase not in (Phase.ORDERED, Phase.NOT_WEAK))
    warned = distrust(diagnosis, method.name)
    assert bool(warned) == (not trusted and phase not in (Phase.GLASS, Phase.UNKNOWN))
    assert ("not to be believed" in regime(diagnosis, method.name)) == bool(warned)


def test_every_sign_is_said_with_its_numbers():
    for quantity in Quantity:
        said = sentences(Diagnosis(Phase.NOT_WEAK, 0.5, False, (Reason(quantity, 7.3, 1.9),)))
        if quantity in (Quantity.DISTANCE, Quantity.GAMMA):  # which the phase says
            assert said == []
        else:
            assert len(said) == 1 and said[0].endswith(".")
            assert "7.3" in said[0] or quantity is Quantity.LOST
    (said,) = sentences(Diagnosis(Phase.NOT_WEAK, 0.5, False, (Reason(Quantity.MEAN, -7.3, -5.0),)))
    assert "negative on average (z = -7.3)" in said
    assert all(short(Diagnosis(phase, 0.5)) for phase in Phase)


@pytest.mark.parametrize("seed", range(3))
def test_dense_data_are_trusted_and_rare_groups_are_not_by_closed_forms(seed):
    sim = bs.simulate(n_spins=40, n_samples=200, J=0.6, H=0.3, sweeps=10, seed=seed)
    assert bs.EmpiricalBayes().fit(sim.spins).diagnosis_.trusted
    J = np.kron(np.eye(5), np.full((5, 5), 0.35)) - 0.35 * np.eye(25)
    X = bs.sample(bs.IsingModel(J, -0.5), 3000, seed=seed)
    with pytest.warns(bs.AnotherKindWarning, match="J by spectral is not to be believed"):
        eb = bs.EmpiricalBayes("spectral").fit(X)
    assert eb.diagnosis_.phase is Phase.NOT_WEAK and not eb.diagnosis_.trusted
    assert "not to be believed" in repr(eb)


def test_auto_moves_on_to_the_true_likelihood_for_rare_groups():
    """J by closed forms is 2.5; in truth it is 0.71, and H -0.5."""
    J = np.kron(np.eye(5), np.full((5, 5), 0.35)) - 0.35 * np.eye(25)
    X = bs.sample(bs.IsingModel(J, -0.5), 5000, seed=0)
    eb = bs.EmpiricalBayes(random_state=0).fit(X)
    assert eb.method_ == "likelihood" and "not of many weak couplings" in eb.reason_
    truth = math.sqrt(25 * 50 * 0.35**2 / 300)
    assert abs(eb.J_ - truth) < 3 * eb.J_error_ and eb.J_error_ < 0.1 * truth
    assert eb.H_ == pytest.approx(-0.5, abs=0.2) and eb.diagnosis_.phase is Phase.NOT_WEAK


def test_auto_finds_a_mean_coupling_that_nobody_asked_for():
    sim = bs.simulate(n_spins=100, n_samples=1000, J=0.4, J0=0.6, sweeps=10, seed=4)
    eb = bs.EmpiricalBayes().fit(sim.spins)
    assert eb.method_ == "spectral" and eb.J0_ == pytest.approx(0.6, abs=3 * eb.J0_error_)
    assert eb.diagnosis_.trusted and eb.diagnosis_.phase is Phase.PARAMAGNET


def test_an_ordered_state_is_named():
    """A ferromagnet by itself: J = 0.2, J0 = 1.3."""
    sim = bs.simulate(n_spins=40, n_samples=600, J=0.2, J0=1.3, sampler="temper", seed=0)
    with pytest.warns(bs.AnotherKindWarning, match="Spins align by themselves"):
        eb = bs.EmpiricalBayes("likelihood", mean_coupling=True, random_state=0).fit(sim.spins)
    assert eb.diagnosis_.phase is Phase.ORDERED and eb.regime_.startswith("ordered")
    realised = 40 * sim.couplings[np.triu_indices(40, 1)].mean()
    assert eb.J0_ == pytest.approx(realised, abs=3 * eb.J0_error_)


@pytest.mark.parametrize("sign", [1, -1])
def test_order_is_not_believed_whatever_the_signs_of_the_spins(sign):
    """J is 1.5/sqrt(40) = 0.24. Half of the spins turned, neither the sum nor the mean correlation shows anything."""
    X = ferromagnet(40, 300, 1.5, 0) * np.where(np.arange(40) % 2, sign, 1)
    with pytest.warns(bs.AnotherKindWarning, match="not to be believed"):
        eb = bs.EmpiricalBayes(random_state=0).fit(X)
    assert not eb.diagnosis_.is_weak and not eb.diagnosis_.trusted and eb.method_ == "likelihood"


def test_a_spin_glass_of_enough_samples_is_believed():
    sim = bs.simulate(n_spins=40, n_samples=300, J=1.1, sampler="temper", seed=2)
    eb = bs.EmpiricalBayes(random_state=0).fit(sim.spins)
    realised = math.sqrt(40 * np.mean(sim.couplings[np.triu_indices(40, 1)] ** 2))
    assert eb.method_ == "likelihood" and eb.diagnosis_.trusted and eb.diagnosis_.is_weak
    assert eb.J_ == pytest.approx(realised, abs=4 * eb.J_error_)


def test_copies_of_columns_are_said():
    X = bs.simulate(n_spins=10, n_samples=60, J=0.5, seed=1).spins
    X[:, 7] = -X[:, 2]
    for fit in (bs.BoltzmannMachine("spectral").fit, bs.EmpiricalBayes("spectral").fit):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            fit(X)
        (found,) = (str(w.message) for w in said if w.category is bs.CopiesWarning)
        assert "(x2 and x7)" in found
