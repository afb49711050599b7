import math
from itertools import combinations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bayesing as bs
from bayesing.prediction import (
    MOST,
    Moments,
    ceiling_of,
    contributions,
    estimate,
    groups_of,
    moments_of_model,
    predict,
    smoothed,
    tuples_of,
    variance,
)

from samples import random_model, random_spins


def states_of(n):
    return np.array(list(product([-1, 1], repeat=n)), dtype=np.int8)


def probabilities(model):
    return np.exp(-model.energy(states_of(model.n_spins)) - model.log_partition())


def slow_moments(p, n):
    """Central moments of a distribution over all states, one by one; the triplets as in tuples_of."""
    states = states_of(n).astype(float)
    m = p @ states
    d = states - m
    C = np.array([[p @ (d[:, i] * d[:, j]) for j in range(n)] for i in range(n)])
    T = np.array([p @ (d[:, i] * d[:, j] * d[:, k]) for i, j, k in combinations(range(n), 3)])
    return Moments(m, C, T)


def everything(n, order):
    return np.array(list(combinations(range(n), order)))


def assert_moments(found, expected, **tolerance):
    off = ~np.eye(len(found.m), dtype=bool)
    assert_allclose(found.m, expected.m, **tolerance)
    assert_allclose(found.C[off], expected.C[off], **tolerance)
    assert_allclose(found.T, expected.T, **tolerance)


def test_estimates_are_those_of_loops(monkeypatch):
    monkeypatch.setattr("bayesing.prediction._NUMBERS", 40)  # several blocks of samples
    X = random_spins(23, 7)
    found = estimate(X, [np.array([0, 2, 3, 6]), np.array([1, 4, 5])])
    N, m = len(X), X.mean(axis=0)
    d = X - m
    for i, j in combinations(range(7), 2):
        slow = sum(d[a, i] * d[a, j] for a in range(N)) / (N - 1)
        assert found.C[i, j] == pytest.approx(slow)
    triplets = [(0, 2, 3), (0, 2, 6), (0, 3, 6), (2, 3, 6), (1, 4, 5)]
    for (i, j, k), T in zip(triplets, found.T, strict=True):
        slow = N * sum(d[a, i] * d[a, j] * d[a, k] for a in range(N)) / ((N - 1) * (N - 2))
        assert pytest.approx(slow, abs=1e-6) == T


def all_data_sets(model, N):
    """Every data set of N samples with its probability, and its moments: C of the first pair, T of the triplet."""
    states, p = states_of(3), probabilities(model)
    for rows in product(range(8), repeat=N):
        found = estimate(states[list(rows)], [np.arange(3)])
        yield p[list(rows)].prod(), found.C[0, 1], found.T[0]


def test_estimates_have_no_bias_and_pairs_the_variance_that_is_said():
    """Over all 8^3 data sets of 3 samples of 3 spins."""
    model = random_model(3, J=1.2, seed=1)
    p, C, T = np.array(list(all_data_sets(model, 3))).T
    exact = slow_moments(probabilities(model), 3)
    assert p @ C == pytest.approx(exact.C[0, 1], rel=1e-6)
    assert p @ T == pytest.approx(exact.T[0], rel=1e-5)
    assert p @ C**2 - (p @ C) ** 2 == pytest.approx(variance(np.array([[0, 1]]), exact, 3)[0], rel=1e-6)


def test_the_variance_of_triplets_is_exact_for_free_spins():
    model = bs.IsingModel(np.zeros((3, 3)), [0.3, -0.5, 0.9])
    p, _, T = np.array(list(all_data_sets(model, 3))).T
    exact = slow_moments(probabilities(model), 3)
    assert p @ T**2 == pytest.approx(variance(np.array([[0, 1, 2]]), exact, 3)[0], rel=1e-5)


@pytest.mark.parametrize("order", [2, 3])
def test_contributions_are_derivatives_and_their_squares_the_variance(order):
    """A little of one state is mixed into the distribution: the moments change by what this sample contributes."""
    n, small = 4, 1e-6
    index, p = everything(n, order), probabilities(random_model(n, J=1.2, seed=2))
    exact = slow_moments(p, n)
    y = contributions(index, exact, states_of(n))
    for s in (0, 5, 11):
        mixed = (1 - small) * p
        mixed[s] += small
        after = slow_moments(mixed, n)
        change = after.T - exact.T if order == 3 else (after.C - exact.C)[*index.T]
        assert_allclose(change / small, y[s], rtol=1e-3, atol=1e-5)
    assert_allclose(p @ y, 0, atol=1e-12)
    assert_allclose(variance(index, exact, 1e9) * 1e9, p @ y**2, rtol=1e-6)


def test_smoothing_adds_two_samples_of_free_spins():
    p = probabilities(random_model(4, J=1.5, seed=3))
    mixed = 10 / 12 * p + 2 / 12 / 16
    found = smoothed(slow_moments(p, 4), everything(4, 3), 10)
    assert_moments(found, slow_moments(mixed, 4), rtol=1e-10, atol=1e-14)


def test_moments_of_the_model_by_enumeration_and_by_sampling():
    rng, groups = np.random.default_rng(0), [np.arange(5)]
    model = random_model(5, J=0.9, seed=4)
    found, size, _ = moments_of_model(model, groups, 100, rng)
    assert math.isinf(size)
    assert_moments(found, slow_moments(probabilities(model), 5), rtol=1e-9, atol=1e-14)

    # Of a model whose last two spins are hidden: those of the others, summed over them.
    found, size, spins = moments_of_model(model, [np.arange(3)], 100, rng, 3)
    joint = probabilities(model)
    states = states_of(5)
    few = np.zeros(8)
    for p, state in zip(joint, states, strict=True):
        few[np.flatnonzero((states_of(3) == state[:3]).all(axis=1))[0]] += p
    assert math.isinf(size) and spins.shape[1] == 3
    assert_moments(found, slow_moments(few, 3), rtol=1e-9, atol=1e-14)

    model = random_model(16, J=0.6, seed=5)
    found, size, spins = moments_of_model(model, [np.arange(16)], 3000, rng)
    assert size == 3000 and spins.shape[1] == 16
    exact, pairs = model.correlations() - np.outer(model.means(), model.means()), everything(16, 2)
    z = (found.C - exact)[*pairs.T] / np.sqrt(variance(pairs, found, size))
    assert 0.5 < np.mean(z**2) < 1.8 and np.abs(z).max() < 4.5


def test_as_many_spins_as_can_be_enumerated_are(monkeypatch):
    monkeypatch.setattr("bayesing.prediction.MAX_EXACT", 5)
    sizes = [
        moments_of_model(random_model(n, J=0.5, seed=1), [], 50, np.random.default_rng(0))[1]
        for n in (4, 5, 6)
    ]
    assert sizes == [math.inf, math.inf, 50]


def test_few_groups_hold_all_spins_and_not_too_many_triplets():
    rng = np.random.default_rng(0)
    assert len(tuples_of(groups_of(50, 3, rng), 3)) == math.comb(50, 3)
    groups = groups_of(301, 3, rng)
    assert sorted(np.concatenate(groups).tolist()) == list(range(301))
    triplets = tuples_of(groups, 3)
    assert 0.8 * MOST[3] < len(triplets) <= MOST[3]
    assert (np.diff(triplets, axis=1) > 0).all() and len(np.unique(triplets, axis=0)) == len(triplets)
    assert len(tuples_of(groups_of(40, 2, rng), 2)) == math.comb(40, 2)


def repeated(model, by, n_draws=150, N=200):
    """Predictions by one model of data sets drawn from another."""
    rng = np.random.default_rng(6)
    states, p = states_of(by.n_spins), probabilities(by)
    return [predict(model, states[rng.choice(len(p), N, p=p / p.sum())], seed=0) for _ in range(n_draws)]


@pytest.mark.parametrize("order", [2, 3])
def test_errors_are_those_of_repeated_draws(order):
    """Of 150 draws a standard deviation is known to 6%, and its estimate varies as well."""
    model = random_model(8, J=1.0, seed=7)
    found = [prediction.of(order) for prediction in repeated(model, model)]
    for name in ("chi2", "slope"):
        value = np.array([getattr(c, name) for c in found])
        error = np.array([getattr(c, f"{name}_error") for c in found])
        assert value.mean() == pytest.approx(1, abs=4 * value.std() / np.sqrt(len(value)))
        assert value.std(ddof=1) == pytest.approx(np.sqrt(np.mean(error**2)), rel=0.25)
    correlations = np.array([c.correlation for c in found])  # of the true model, which no other can surpass
    ceiling, error = np.array([(c.ceiling, c.ceiling_error) for c in found]).T
    told = np.isfinite(ceiling)
    assert told.mean() > 0.9
    apart = (correlations - ceiling)[told]
    assert abs(apart.mean()) < 0.5 * apart.std()
    assert np.mean((apart / error[told]) ** 2) == pytest.approx(1, abs=0.3)
    assert all(c.predicted_error.max() == 0 for c in found)


def test_a_model_that_shrinks_does_not_surpass_a_perfect_one():
    """Predictions that are too small say nothing of how large the observed correlations are, and of their noise."""
    truth = random_model(8, J=1.0, seed=7)
    shrunk = bs.IsingModel(0.5 * truth.couplings, truth.fields)
    found = [c.pairs for c in repeated(shrunk, truth, N=100, n_draws=40)]
    assert all(c.ceiling > 0.85 for c in found)  # that of the shrunk predictions would be 0.4
    apart = np.array([(c.correlation - c.ceiling) / c.ceiling_error for c in found])
    assert apart.max() < 2 and apart.mean() < 0


def test_there_is_no_ceiling_where_noise_hides_the_signal():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(50, 20, 60))
    assert np.mean([math.isnan(ceiling_of(x).ceiling) for x in noise]) > 0.8
    signal = rng.normal(size=60)
    found = [ceiling_of(signal + 3 * x) for x in noise]
    true = np.array([np.corrcoef(signal, signal + 3 * x.mean(axis=0))[0, 1] for x in noise])
    z = [(c.ceiling - r) / c.ceiling_error for c, r in zip(found, true, strict=True)]
    assert np.mean([c.ceiling for c in found]) == pytest.approx(true.mean(), abs=0.02)
    assert np.mean(np.square(z)) == pytest.approx(1, abs=0.5)
    few = predict(random_model(5, J=1.0, seed=1), random_spins(19, 5)).pairs
    assert math.isnan(few.ceiling) and math.isnan(few.ceiling_error)


def test_a_wrong_model_is_found_out_with_an_error():
    truth = random_model(8, J=1.0, seed=7)
    model = bs.IsingModel(0.7 * truth.couplings, truth.fields)
    chi2, error = np.array([(c.pairs.chi2, c.pairs.chi2_error) for c in repeated(model, truth, N=800)]).T
    assert chi2.mean() > 3
    assert chi2.std(ddof=1) == pytest.approx(np.sqrt(np.mean(error**2)), rel=0.35)


def test_noise_of_the_predictions_does_not_flatten_the_slope():
    """300 samples of the model only: without the correction the slope would be below 0.9."""
    model = random_model(16, J=0.6, seed=5)
    held_out = bs.sample(model, 3000, seed=1)
    found = [predict(model, held_out, n_samples=300, seed=seed).pairs for seed in range(6)]
    slopes = np.array([c.slope for c in found])
    flat = np.array([np.polyfit(c.predicted, c.observed, 1)[0] for c in found])
    assert flat.mean() < 0.9
    assert slopes.mean() == pytest.approx(1, abs=0.12)


def test_what_is_compared():
    sim = bs.simulate(20, 300, J=0.6, H=0.2, seed=0)
    found = predict(bs.IsingModel(sim.couplings, sim.fields), sim.spins, n_samples=500)
    assert not found.exact and found.n_samples == 300
    assert found.of(2) is found.pairs and found.of(3) is found.triplets
    assert found.pairs.order == 2 and found.triplets.order == 3
    i, j = found.pairs.indices[17]
    assert found.pairs.observed[17] == pytest.approx(np.cov(sim.spins.T)[i, j], rel=1e-5)
    again = predict(bs.IsingModel(sim.couplings, sim.fields), sim.spins, n_samples=500)
    assert_allclose(again.triplets.predicted, found.triplets.predicted, rtol=0)
    with pytest.raises(ValueError, match=r"order must be 2 .* found 4"):
        found.of(4)


def test_odd_data():
    two = predict(bs.IsingModel([[0, 0.5], [0.5, 0]], 0.1), [[1, 1], [1, -1], [-1, -1]])
    assert len(two.pairs.observed) == 1 and not len(two.triplets.observed)
    assert math.isnan(two.pairs.correlation) and math.isnan(two.triplets.chi2)
    model = random_model(5, J=0.5)
    constant = random_spins(30, 5)
    constant[:, 2] = 1
    found = predict(model, constant)
    assert np.isfinite([found.pairs.chi2, found.pairs.chi2_error, found.triplets.chi2]).all()
    assert not len(predict(model, constant[:2]).triplets.observed)  # none of two samples
    free = predict(bs.IsingModel(np.zeros((40, 40)), 0.3), random_spins(50, 40))
    assert free.exact and not free.pairs.predicted.any() and math.isnan(free.pairs.slope)
    assert free.pairs.chi2 > 1 + 2 * free.pairs.chi2_error  # random_spins are not independent
    certain = predict(bs.IsingModel(np.zeros((3, 3)), 1e3), np.ones((4, 3)))  # no noise, and none observed
    assert math.isnan(certain.pairs.chi2)
    with pytest.raises(ValueError, match=r"Expected samples of 5 spins \(columns\): found 4"):
        predict(model, constant[:, :4])


def test_a_spin_that_was_never_seen_to_flip_has_an_error():
    """In 16 spins, one nearly frozen by its field."""
    fields = np.full(16, 0.2)
    fields[3] = 9.0
    model = bs.IsingModel(random_model(16, J=0.4).couplings, fields)
    X = bs.sample(model, 60, seed=0)
    X[0, 3] = -1
    found = predict(model, X, n_samples=200)
    assert (found.pairs.observed_error > 0).all() and np.isfinite(found.pairs.chi2)
