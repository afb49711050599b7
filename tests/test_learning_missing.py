"""The mode of the posterior, its errors and gamma where cells are missing, against the enumerated posterior."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, brentq

import bayesing as bs
from bayesing.learning import errors
from bayesing.learning.clamped import Clamped
from bayesing.learning.errors import posterior_errors
from bayesing.learning.mode import find_mode
from bayesing.learning.newton import Metric, slopes
from bayesing.learning.phases import Data, Free
from bayesing.learning.posterior import draw_posterior

from samples import draw_exactly, in_turn, random_model, without_noise
from slow import ObservedPosterior, Posterior, pack, unpack

CASES = [  # n, N, J, spread of the fields, gamma, share of missing cells
    (3, 60, 0.8, 0.5, 0.6, 0.3),
    (6, 200, 1.0, 0.5, 1.0, 0.4),
    (7, 400, 0.8, 0.8, 0.7, 0.1),
    (8, 150, 1.2, 0.4, 1.2, 0.25),
]


def gappy(n, N, J, field, share, seed=0):
    """Spins of a random model, 0 where cells are missing completely at random; no row shows nothing."""
    rng = np.random.default_rng(seed)
    X = draw_exactly(random_model(n, J, seed=n, field=field), N, rng).astype(np.int8)
    X[rng.random(X.shape) < share] = 0
    return X[(X != 0).any(axis=1)]


def found(X, gamma, seed=0):
    clamped, search = np.random.SeedSequence(seed).spawn(2)
    source = Clamped(X, clamped)
    return source, find_mode(source, gamma, X.shape[1], search, in_turn)[0]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"n={case[0]}")
def case(request):
    *data, gamma, share = request.param
    X = gappy(*data, share)
    exact = ObservedPosterior(X, gamma)
    source, mode = found(X, gamma)
    return X, gamma, exact, exact.mode(), source, mode


def test_the_slow_twin_has_the_slopes_of_its_log_posterior():
    X = gappy(3, 60, 0.8, 0.5, 0.3)
    exact, theta = ObservedPosterior(X, 0.6), np.array([0.3, -0.2, 0.5, 0.1, -0.4, 0.2])
    assert exact.slope(theta) == pytest.approx(approx_fprime(theta, exact.smooth, 1e-6), abs=1e-3)
    numeric = np.array([approx_fprime(theta, lambda x, i=i: exact.slope(x)[i], 1e-6) for i in range(6)])
    assert exact.curvature(theta) == pytest.approx(-numeric, abs=1e-3)
    complete = X[(X != 0).all(axis=1)]
    plain = Posterior.of(complete, 0.6)
    assert ObservedPosterior(complete, 0.6).mode() == pytest.approx(plain.mode(), abs=1e-5)


def test_the_mode_is_that_of_the_cells_that_are_there(case):
    _, gamma, exact, best, _, mode = case
    z = (pack(mode.J, mode.h) - best) / exact.deviations(best)
    assert np.sqrt(np.mean(z**2)) < 0.06 and np.abs(z).max() < 0.2
    assert mode.settled and mode.gamma == gamma
    assert mode.J == pytest.approx(mode.J.T, abs=1e-12) and not np.diagonal(mode.J).any()


def test_the_mode_of_completed_rows_is_another_one(case):
    """What the test above must be able to see: missing cells as if they were there, or rows left out."""
    X, gamma, exact, best, *_ = case
    deviations = exact.deviations(best)
    filled = np.where(X == 0, np.sign(X.sum(axis=0) + 0.5), X)
    others = [Posterior.of(filled, gamma).mode(), Posterior.of(X[(X != 0).all(axis=1)], gamma).mode()]
    for other in others:
        assert np.sqrt(np.mean(((other - best) / deviations) ** 2)) > 0.25


def test_errors_are_those_of_the_curvature_that_is_left(case):
    _, gamma, exact, best, source, mode = case
    n = len(mode.h)
    data = source.averaged(mode.J, mode.h, in_turn)
    parts = np.array_split(without_noise(bs.IsingModel(mode.J, mode.h), 60_000), 3)
    free = Free([np.ascontiguousarray(part.T, np.float32) for part in parts], data.d, in_turn)
    J, h = posterior_errors(data, free, mode.metric, in_turn)
    ratio = pack(J, h) / exact.deviations(pack(mode.J, mode.h))
    assert np.exp(np.mean(np.log(ratio))) == pytest.approx(1, abs=0.03) and np.std(ratio) < 0.06
    whole = Posterior(np.append(np.zeros(n * (n - 1) // 2), source.d), source.N, n, gamma).deviations(best)
    assert np.mean(pack(J, h) / whole) > 1.03  # complete rows would tell more


def test_slopes_are_those_of_the_observed_log_posterior():
    """At a point that is not the mode; samples of the free model without noise, many looks at the data."""
    X, gamma, model = gappy(5, 80, 0.9, 0.6, 0.3), 0.8, random_model(5, 0.7, seed=9)
    source = Clamped(X, np.random.SeedSequence(0))
    source.look(model.couplings, model.fields, in_turn)
    looks = [source.averaged(model.couplings, model.fields, in_turn) for _ in range(12)]
    free = Free([without_noise(model, 200_000).T.astype(np.float32)], source.d, in_turn)
    b = model.fields + model.couplings @ source.d
    exact = ObservedPosterior(X, gamma).slope(pack(model.couplings, model.fields))
    G, g = unpack(exact, 5)
    G = G - np.outer(g, source.d) - np.outer(source.d, g)  # at a constant b, h = b - J d
    np.fill_diagonal(G, 0)
    each = [slopes(data, free, model.couplings, b, 5 / gamma) for data in looks]
    for values, slope in ((np.array([x for x, _ in each]), G), (np.array([x for _, x in each]), g)):
        error = values.std(axis=0, ddof=1) / np.sqrt(12) + 1e-3
        assert np.abs((values.mean(axis=0) - slope) / error).max() < 5 and error.max() < 0.15
    assert np.abs(exact).max() > 5


def test_a_metric_without_what_is_lost():
    """W and c of the basis, less the exact variances given what is there; of many spins they give the errors."""
    X, gamma, model = gappy(7, 400, 0.3, 0.5, 0.3), 0.2, random_model(7, 0.3, seed=7, field=0.5)
    source = Clamped(X, np.random.SeedSequence(0))
    data = source.averaged(model.couplings, model.fields, in_turn)
    free = Free([without_noise(model, 60_000).T.astype(np.float32)], data.d, in_turn)
    full, metric = Metric(free, data.N, 7 / gamma), Metric(free, data.N, 7 / gamma, data.lost)
    W, c = data.lost.fourth(full.V)
    assert metric.full_W == pytest.approx(full.W) and metric.full_c == pytest.approx(full.c)
    assert metric.W == pytest.approx(np.maximum(full.W - W, 0.05 * full.W))
    assert metric.c == pytest.approx(np.maximum(full.c - c, 0.05 * full.c))
    assert metric.left[0] ** 2 == pytest.approx(metric.W.sum() / full.W.sum())
    assert metric.left[1] ** 2 == pytest.approx(metric.c.sum() / full.c.sum())
    assert 0.4 < metric.left[0] ** 2 < 0.65 < metric.left[1] ** 2 < 0.85  # 0.7^2 and 0.7, nearly
    assert metric.noise == pytest.approx((1 - metric.left[0] ** 2) / (data.N * source.copies))
    J, h = posterior_errors(data, free, metric, in_turn, most_spins=6)
    exact = unpack(ObservedPosterior(X, gamma).deviations(pack(model.couplings, model.fields)), 7)
    off = ~np.eye(7, dtype=bool)
    ratios = np.append(J[off] / exact[0][off], h / exact[1])
    assert np.median(ratios) == pytest.approx(1, abs=0.07) and np.abs(np.log(ratios)).max() < 0.3


def test_more_that_seems_lost_than_there_is():
    """Less of it is taken, until the rest is a curvature; in the end nothing."""
    curvature = np.array([[2.0, 0.5], [0.5, 1.0]])
    lost = np.array([[1.0, 0.2], [0.2, 0.5]])
    assert errors._inverse(curvature, lost) == pytest.approx(np.linalg.inv(curvature - lost))
    assert errors._inverse(curvature, 2.1 * lost) == pytest.approx(
        np.linalg.inv(curvature - 0.8 * 2.1 * lost)
    )
    assert errors._inverse(curvature, 100 * lost) == pytest.approx(np.linalg.inv(curvature))


def test_gamma_is_where_the_evidence_has_its_maximum():
    """n <J^2> / (1 - n <Var J>/gamma) with the exact mode and curvature; the mode alone tells a third less."""
    X = gappy(6, 400, 0.8, 0.5, 0.3, seed=1)
    gamma = found(X, None)[1].gamma

    def wanted(gamma):
        exact = ObservedPosterior(X, gamma)
        best = exact.mode()
        variance = np.mean(exact.deviations(best)[:15] ** 2)
        return 6 * np.mean(best[:15] ** 2) / (1 - 6 * variance / gamma)

    best = brentq(lambda x: wanted(x) - x, 0.3, 1.5, rtol=0.01)
    assert gamma == pytest.approx(best, rel=0.12)  # its own error is 40%


def test_draws_are_as_wide_as_the_posterior():
    """Their deviations, and their middle, against the exact ones; complete rows would have smaller ones."""
    X, gamma = gappy(6, 300, 0.6, 0.4, 0.35), 0.5
    source, mode = found(X, gamma)
    drawn = draw_posterior(source, mode, 6, np.random.SeedSequence(3), in_turn, n_draws=150, every=2, warm=40)
    exact = ObservedPosterior(X, gamma)
    deviations = exact.deviations(exact.mode())
    values = np.array([pack(J, h) for J, h in zip(drawn.J, drawn.h, strict=True)])
    ratio = values.std(axis=0) / deviations
    assert np.mean(ratio) == pytest.approx(1, abs=0.1)
    assert np.abs((values.mean(axis=0) - exact.mode()) / deviations).mean() < 0.25
    whole = Posterior(np.append(np.zeros(15), source.d), len(X), 6, gamma).deviations(exact.mode())
    assert np.mean(whole[:15] / deviations[:15]) < 0.88


def test_rows_that_show_nothing_change_nothing():
    X = gappy(6, 100, 1.0, 0.5, 0.4)
    more = np.insert(X, [0, 50], 0, axis=0)
    one, other = (found(rows, 1.0)[1] for rows in (X, more))
    assert (one.J == other.J).all() and (one.h == other.h).all() and one.samples == other.samples


def test_data_of_complete_rows_and_of_clamped_ones_lead_to_the_same_mode():
    X = gappy(6, 200, 1.0, 0.5, 0.0)
    _, one = found(X, 1.0)
    d = X.mean(axis=0)
    data = Data(len(X), d, X.T.astype(float) @ X / len(X) - np.outer(d, d))
    other, _ = find_mode(data, 1.0, 6, np.random.SeedSequence(0).spawn(2)[1], in_turn)
    assert one.J == pytest.approx(other.J, abs=1e-9) and one.h == pytest.approx(other.h, abs=1e-9)
