"""Intervals: a surface that is known, coverage of a model that is known, and the whole on simulated data."""

import copy
import math
import pickle
import warnings
from dataclasses import replace
from types import SimpleNamespace

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose

import bayesing as bs
from bayesing import _surface, calibration
from bayesing.calibration import Ensemble, Point, Surface, Window
from bayesing.choice import statistic_near_glass
from bayesing.strength import Options
from bayesing.strength.plefka import fit_plefka
from bayesing.strength.spectral import score_per_pair

from samples import stats, with_gaps

WINDOW = Window(Point(0.2, -0.1), Point(0.6, 0.3))


def known(points):
    """Two numbers that are quadratic in gamma and H, away from symmetric points."""
    gamma, H = np.asarray(points, float).T
    return np.stack([3 + gamma + 0.5 * gamma**2 + 0.2 * H, H - 0.4 * gamma * H + 0.3 * H**2], axis=1)


def spread(gamma):
    return np.stack([0.05 * (1 + gamma), 0.02 + 0 * gamma], axis=-1)


def noisy(points, rng):
    z = rng.normal(size=(len(points), 2))
    z[:, 1] = 0.5 * z[:, 0] + math.sqrt(0.75) * z[:, 1]
    return known(points) + spread(points[:, 0]) * z


def uniform(k, rng):
    return rng.uniform(WINDOW.low, WINDOW.high, (k, 2))


def test_a_surface_without_noise_is_inverted():
    rng = np.random.default_rng(0)
    points = uniform(40, rng)
    surface = Surface(WINDOW, points, known(points) + 1e-7 * rng.normal(size=(40, 2)))
    truth = Point(0.37, 0.12)
    found, error = surface.solve(known([truth])[0])
    assert_allclose(found, truth, atol=1e-6)
    assert max(error) < 1e-5


def test_the_noise_is_described():
    rng = np.random.default_rng(1)
    points = uniform(2000, rng)
    surface = Surface(WINDOW, points, noisy(points, rng))
    for gamma in (0.25, 0.4, 0.55):
        at = np.array([gamma, 0.1])
        assert_allclose(surface.deviation(at), spread(gamma), rtol=0.08)
        assert_allclose(surface.mean(at), known([at])[0], atol=4 * 0.08 / math.sqrt(2000) * 2)
    at = np.array([0.4, 0.1])
    white = surface.whitened(at, noisy(np.tile(at, (2000, 1)), rng))
    assert_allclose(np.cov(white.T), np.eye(2), atol=4 * math.sqrt(2 / 2000))
    correlation = np.linalg.inv(surface.whitening) @ np.linalg.inv(surface.whitening).T
    assert correlation[0, 1] == pytest.approx(0.5, abs=3 / math.sqrt(2000))


def test_regions_cover():
    """With 40 simulations each: 90% of 200 intervals, whose standard error is 2.1%; they are a little long."""
    rng = np.random.default_rng(2)
    truth = np.array([[0.4, 0.1]])
    covered = []
    for _ in range(200):
        points = uniform(40, rng)
        region = Surface(WINDOW, points, noisy(points, rng)).region(noisy(truth, rng)[0], level=0.9)
        for ends, value in zip((region.gamma, region.H), truth[0], strict=True):
            low, high = (
                (-math.inf if ends[0] is None else ends[0]),
                (math.inf if ends[1] is None else ends[1]),
            )
            covered.append(low <= value <= high)
    assert 0.9 - 3 * 0.021 < np.mean(covered[::2]) < 0.93 + 3 * 0.021
    assert 0.9 - 3 * 0.021 < np.mean(covered[1::2]) < 0.93 + 3 * 0.021


@pytest.fixture(scope="module")
def spins():
    return bs.simulate(60, 50, J=0.6, H=0.3, seed=5, sweeps=4).spins


@pytest.mark.parametrize("method", ["auto", "susceptibility", "pseudolikelihood"])
def test_every_method_is_corrected_to_the_truth(method, spins):
    found = bs.EmpiricalBayes(method, random_state=0).fit(spins).interval(0.99, n_simulations=40, seed=1)
    assert found.J[0] < 0.6 < found.J[1] < 0.9 and found.H[0] < 0.3 < found.H[1] < 0.5
    assert found.J[0] < found.J_corrected < found.J[1] and found.H[0] < found.H_corrected < found.H[1]
    assert found.level == 0.99 and found.note == "" and found.n_simulations >= 40


@pytest.mark.filterwarnings("ignore::bayesing.AnotherKindWarning")
def test_bias_is_removed_where_the_paper_has_much():
    """At N = 4n the paper's J is that of gamma/(1 + 7 gamma), 0.32 instead of 0.6."""
    X = bs.simulate(60, 240, J=0.6, seed=5, sweeps=4).spins
    eb = bs.EmpiricalBayes("plefka").fit(X)
    found = eb.interval(0.99, n_simulations=60)
    assert eb.J_ < 0.36 and abs(found.J_corrected - 0.6) < 0.1 and found.J[0] < 0.6 < found.J[1]


def test_a_higher_level_is_a_longer_interval(spins):
    eb = bs.EmpiricalBayes().fit(spins)
    short, long = (eb.interval(level, 60).J for level in (0.5, 0.95))
    assert long[0] < short[0] < short[1] < long[1]


def test_the_result_follows_from_the_seed_and_simulations_are_used_again(spins, monkeypatch):
    made = []
    draw = calibration._draw
    monkeypatch.setattr(calibration, "_draw", lambda *arguments: made.append(1) or draw(*arguments))
    calibration._cache.clear()
    eb = bs.EmpiricalBayes().fit(spins)
    first = eb.interval(n_simulations=40, seed=3)
    count = len(made)
    assert count == first.n_simulations
    assert eb.interval(n_simulations=40, seed=3) == first and len(made) == count
    calibration._cache.clear()
    with joblib.parallel_config(n_jobs=2):
        assert eb.interval(n_simulations=40, seed=3) == first
    assert eb.interval(n_simulations=40, seed=4) != first
    # Another statistic, and other data of the same size, find many of theirs.
    made.clear()
    bs.EmpiricalBayes("susceptibility").fit(spins).interval(n_simulations=40, seed=3)
    assert len(made) < 40
    made.clear()
    flipped = spins.copy()
    flipped[0, :5] *= -1
    bs.EmpiricalBayes("spectral").fit(flipped).interval(n_simulations=40, seed=3)
    assert len(made) < 30
    monkeypatch.setattr(calibration, "_LARGEST_CACHE", 1)
    eb.interval(n_simulations=40, seed=5)
    assert len(calibration._cache) == 1


def test_no_couplings_give_an_interval_that_begins_at_0():
    X = bs.simulate(60, 40, J=0.0, H=0.2, seed=1).spins
    found = bs.EmpiricalBayes().fit(X).interval(n_simulations=60)
    assert found.J[0] == 0 and 0 < found.J[1] < 0.5


def noise(spins):
    """Says nothing about J."""
    return np.random.default_rng(int(np.abs(spins.sum()))).normal()


def test_a_statistic_that_does_not_respond_leaves_the_interval_open(spins):
    eb = bs.EmpiricalBayes().fit(spins[:, :20])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.NotEquilibratedWarning)
        with pytest.warns(bs.SaturationWarning, match="hardly responds to J beyond"):
            found = eb.interval(n_simulations=40, statistic=noise)
    assert found.J[1] == math.inf and "no upper end" in found.note


def test_a_statistic_must_be_finite(spins):
    with pytest.raises(
        ValueError, match="statistic must give finite numbers for every data set: found \\[nan\\]"
    ):
        bs.EmpiricalBayes().fit(spins).interval(statistic=lambda spins: math.nan)


def squared_correlations(spins):
    m = bs.SpinMoments.of(spins)
    return m.C2, m.Omega


def test_any_statistic_will_do(spins):
    found = bs.EmpiricalBayes().fit(spins).interval(n_simulations=80, statistic=squared_correlations)
    assert found.J[0] < 0.6 < found.J[1]


@pytest.mark.parametrize("method", ["susceptibility", "spectral", "plefka"])
def test_an_estimator_that_was_pickled_needs_no_data_for_its_interval(method, spins):
    eb = bs.EmpiricalBayes(method).fit(spins)
    expected = eb.interval(n_simulations=40)
    again = pickle.loads(pickle.dumps(eb))
    assert not again._data.has_data and eb._data.has_data and copy.copy(eb) is not eb and eb._data.has_data
    if method == "plefka":  # whose first guess is that of another method, from moments alone
        assert_allclose(again.interval(n_simulations=40).J, expected.J, rtol=0.2)
    else:
        assert again.interval(n_simulations=40) == expected
    with pytest.raises(ValueError, match="The rows themselves are needed"):
        again.interval(statistic=noise)
    kept = pickle.loads(pickle.dumps(bs.EmpiricalBayes(method, keep_data=True).fit(spins)))
    kept.interval(statistic=squared_correlations, n_simulations=40)


def test_fields_that_differ_are_fitted():
    fields = np.random.default_rng(3).normal(-0.3, 0.7, 60)
    X = bs.simulate(60, 100, J=0.5, H=fields, seed=2, sweeps=4).spins
    eb = bs.EmpiricalBayes().fit(X)
    fitted = eb.interval(n_simulations=60)
    assert fitted == eb.interval(n_simulations=60, fields="sites")
    assert fitted != eb.interval(n_simulations=60, fields="uniform")
    assert abs(fitted.J_corrected - 0.5) < 0.15 and fitted.J[0] < 0.5 < fitted.J[1]
    assert fitted.H_corrected == pytest.approx(fields.mean(), abs=0.15)


def test_data_are_annealed_far_from_the_spin_glass_and_tempered_near_it(monkeypatch):
    asked = []
    simulate = calibration.simulate
    monkeypatch.setattr(
        calibration,
        "simulate",
        lambda *a, **k: asked.append((k["sampler"], k["sweeps"])) or simulate(*a, **k),
    )
    for gamma in (0.3, 0.7, 0.9):
        calibration._draw(Ensemble(20, 10, r=1.0), Point(gamma, 0.1), np.random.SeedSequence(0))
    assert asked == [("anneal", 4), ("anneal", 10), ("temper", 10)]


def test_in_the_spin_glass_two_scores_are_compared():
    X = bs.simulate(40, 80, J=1.3, sampler="temper", seed=2).spins
    found = bs.EmpiricalBayes(random_state=0).fit(X).interval(n_simulations=40)
    assert found.J[0] < 1.3 < found.J[1] < 2


def test_the_angle_of_the_paper_s_estimator_goes_on_beyond_infinity(spins):
    fit = fit_plefka(bs.SpinMoments.of(spins))
    assert math.tan(fit.angle) == pytest.approx(fit.gamma) and fit.case == "interior"
    assert replace(fit, phi2=-fit.phi2).angle == pytest.approx(math.pi - fit.angle)
    assert replace(fit, Phi=-fit.Phi).angle == pytest.approx(-fit.angle)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"level": 1.0}, "level must be between 0 and 1: found 1"),
        ({"n_simulations": 10}, "n_simulations must be at least 40"),
        ({"fields": "many"}, "fields must be one of auto, uniform, sites: found 'many'"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_wrong_arguments(arguments, message, spins):
    with pytest.raises(ValueError, match=message):
        bs.EmpiricalBayes().fit(spins).interval(**arguments)


@pytest.mark.parametrize(
    ("chosen", "distance", "rows", "missing", "two"),
    [
        (True, 0.1, [1], 0, True),
        (False, 0.1, [1], 0, False),  # the method that was asked for
        (True, 0.5, [1], 0, False),  # far from the spin glass
        (True, 0.1, None, 0, False),  # rows that were not kept
        (True, 0.1, [1], 3, False),
        (False, 0.5, [1], 0, False),
        (False, 0.5, None, 0, False),
    ],
)
def test_two_scores_are_of_auto_near_the_spin_glass_and_of_complete_rows(
    chosen, distance, rows, missing, two
):
    answer = SimpleNamespace(chosen=chosen, diagnosis=SimpleNamespace(distance=distance))
    assert calibration._two_scores(answer, SimpleNamespace(has_data=True, rows=rows, missing=missing)) == two


@pytest.mark.filterwarnings("ignore::bayesing.CopiesWarning")
def test_near_the_spin_glass_a_pickle_without_data_says_so():
    """The regressions need rows: another statistic would give another interval, and nobody would know."""
    eb = bs.EmpiricalBayes().fit(bs.simulate(30, 60, J=1.3, sampler="temper", seed=2).spins)
    assert eb.at_distance_ < 0.2
    with pytest.raises(ValueError, match="The rows themselves are needed"):
        pickle.loads(pickle.dumps(eb)).interval(n_simulations=40)


def test_too_few_samples(spins):
    with pytest.raises(ValueError, match="at least 4 samples: found 3"):
        bs.EmpiricalBayes().fit(spins[:3]).interval()


def test_data_sets_that_got_stuck_are_said_each_time(spins, monkeypatch):
    draw = calibration._draw
    monkeypatch.setattr(calibration, "_draw", lambda *arguments: (draw(*arguments)[0], True))
    calibration._cache.clear()
    eb = bs.EmpiricalBayes().fit(spins)
    for _ in range(2):  # simulated, then remembered
        with pytest.warns(bs.NotEquilibratedWarning, match="data sets may not be at equilibrium") as caught:
            eb.interval(n_simulations=40)
        assert [warning.filename for warning in caught] == [__file__]
    calibration._cache.clear()


@pytest.mark.filterwarnings("ignore::bayesing.AnotherKindWarning")  # of the pull of the prior on J0
def test_near_the_spin_glass_a_mean_coupling_is_left_out_of_the_score():
    X = bs.simulate(40, 60, J=1.3, J0=0.5, sampler="temper", seed=2).spins
    eb = bs.EmpiricalBayes(mean_coupling=True).fit(X)
    assert eb.at_distance_ < 0.2
    options = Options("gaussian", mean_coupling=True)
    spectral, _ = statistic_near_glass(stats(X), eb.gamma_, options)(stats(X))
    assert (
        spectral
        == score_per_pair(stats(X), eb.gamma_, without_mean=True)
        != score_per_pair(stats(X), eb.gamma_)
    )


def test_simulated_data_that_say_nothing_are_not_taken_for_the_users():
    """Where all spins are frozen the score does not exist."""
    X = bs.simulate(12, 60, J=0.5, H=2.5, seed=0).spins
    with pytest.raises(ValueError, match=r"data simulated at J = .* Try another method"):
        bs.EmpiricalBayes("spectral").fit(X).interval(n_simulations=40)


def test_data_of_another_kind_are_not_compared_with_simulated_ones():
    rng = np.random.default_rng(0)
    rate = np.where(rng.random(3000) < 0.1, 0.3, 0.02)
    X = np.where(rng.random((3000, 20)) < rate[:, None], 1, -1)
    with pytest.warns(bs.AnotherKindWarning):
        eb = bs.EmpiricalBayes("spectral").fit(X)
    with pytest.raises(
        bs.InputError, match=r"many weak couplings, .* of another kind. Correlations are positive"
    ):
        eb.interval()


def test_missing_cells_are_missing_from_simulated_data(monkeypatch):
    """A third of the cells: the interval is longer than without gaps, and the statistic sees the same gaps."""
    X = bs.simulate(60, 90, J=0.5, H=0.2, seed=3).spins
    Y = with_gaps(X, 0.3)
    eb = bs.EmpiricalBayes("susceptibility").fit(Y)
    found, whole = (
        each.interval(n_simulations=80) for each in (eb, bs.EmpiricalBayes("susceptibility").fit(X))
    )
    assert found.J[0] < 0.5 < found.J[1] and found.H[0] < 0.2 < found.H[1]
    assert found.J[1] - found.J[0] > 1.2 * (whole.J[1] - whole.J[0])
    assert calibration.see(lambda data: 7.0, stats(Y)).tolist() == [7.0, pytest.approx(np.nanmean(Y))]
    seen = []
    eb.interval(
        n_simulations=40, statistic=lambda spins: seen.append(spins == 0) or (spins[:, 0] @ spins).std()
    )
    assert len(seen) > 40 and all((gaps == np.isnan(Y)).all() for gaps in seen)


def test_a_pickle_without_data_does_not_know_which_cells_are_missing():
    eb = bs.EmpiricalBayes("susceptibility").fit(with_gaps(bs.simulate(20, 60, J=0.4, seed=1).spins, 0.1))
    with pytest.raises(ValueError, match=r"which are missing.*keep_data=True before pickling"):
        pickle.loads(pickle.dumps(eb)).interval()
    kept = bs.EmpiricalBayes("susceptibility", keep_data=True).fit(eb._data)
    again = pickle.loads(pickle.dumps(kept))
    assert again.interval(n_simulations=40) == kept.interval(n_simulations=40)


def test_crossings_of_straight_lines():
    """|x - c| is exactly as far as the limit; none where it stays below."""
    x = _surface._grid(-1.0, 0.3, 4.0)
    for limit in (0.1234, 0.9, 1.25):
        assert _surface._crossings(x, np.abs(x - 0.3), limit) == pytest.approx((0.3 - limit, 0.3 + limit))
    assert _surface._crossings(x, np.abs(x - 0.3), 2.0) == (None, pytest.approx(2.3))


def test_open_ends_of_intervals_are_infinite():
    region = _surface.Region(Point(0.25, 0.1), (None, None), (None, None))
    found = calibration._interval(region, 0.9, 40)
    assert found.J == (0, math.inf) and found.H == (-math.inf, math.inf) and "no upper end" in found.note
    closed = calibration._interval(replace(region, gamma=(0.04, 0.49), H=(-0.2, 0.3)), 0.9, 40)
    assert closed.J == pytest.approx((0.2, 0.7)) and closed.H == (-0.2, 0.3) and closed.note == ""
    assert (closed.J_corrected, closed.H_corrected) == (0.5, 0.1)
