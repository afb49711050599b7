"""The certificate, against exact averages of the models that it is to judge."""

from dataclasses import replace

import numpy as np
import pytest

import bayesing as bs
from bayesing.ising import all_states
from bayesing.learning.certificate import UNSEEN, Certificate, balanced, certify
from bayesing.learning.phases import Data

from samples import draw_exactly, in_turn, random_model, stats
from slow import Posterior, unpack

n, N, GAMMA = 6, 2000, 0.5
LAM = n / GAMMA
X = draw_exactly(random_model(n, 0.8, seed=5, field=0.6), N, np.random.default_rng(0)).astype(np.int8)
DATA = Data.of(stats(X))
EXACT = Posterior.of(X, GAMMA)
J, h = unpack(EXACT.mode(), n)
UPPER = np.triu_indices(n, 1)


def shifted(i, j, by):
    other = J.copy()
    other[i, j] += by
    other[j, i] += by
    return other


def certificate(couplings, fields=h, pull=None, counts=None, seed=1, data=DATA):
    pull = -LAM * couplings if pull is None else pull
    return certify(data, couplings, fields, pull, np.random.SeedSequence(seed), in_turn, counts)[0]


def expected(couplings, fields=h):
    """What is missing of means and pairs in standard errors, with the pull of the prior and without."""
    model = bs.IsingModel(couplings, fields)
    m, d = model.means(), X.mean(axis=0)
    R = model.correlations()
    of_means = np.sqrt((1 - m**2) / N)
    second = R - np.outer(m, d) - np.outer(d, m) + np.outer(d, d)
    in_data = X.T.astype(float) @ X / N - np.outer(d, d)
    states = all_states(n)
    p = np.exp(-model.energy(states) - model.log_partition())
    z = states - m
    of_pairs = np.sqrt(
        [p @ (z[:, i] * z[:, j]) ** 2 - (p @ (z[:, i] * z[:, j])) ** 2 for i, j in zip(*UPPER, strict=True)]
    )
    of_pairs /= np.sqrt(N)
    pull = -LAM * couplings / N
    m0 = X.sum(axis=0) / (N + 1)
    return (
        (d - m - (fields + couplings @ d - np.arctanh(m0) + m0) / N) / of_means,
        (in_data - second + pull)[UPPER] / of_pairs,
        (d - m) / of_means,
        (in_data - second)[UPPER] / of_pairs,
    )


def rms(x):
    return np.sqrt(np.mean(np.square(x)))


def test_the_mode_passes():
    found = certificate(J, counts=stats(X).active)
    assert found.passed and found.agreed and found.stays and found.samples >= 20 * N
    noise = np.sqrt(N / found.samples)
    assert 0.6 * noise < found.noise_means < 1.6 * noise and 0.6 * noise < found.noise_pairs < 1.6 * noise
    assert found.means < 2 * noise and found.pairs < 2 * noise
    assert found.largest_mean < 4 * noise and found.largest_pair < 4 * noise


WRONG = {"all": 1.3 * J, "one": shifted(1, 4, 0.3), "none": 0 * J}


@pytest.mark.parametrize("couplings", WRONG.values(), ids=WRONG)
def test_a_wrong_model_fails(couplings):
    found = certificate(couplings)
    assert not found.passed and found.agreed
    means, pairs, pull_means, pull_pairs = expected(couplings)
    room = 4 * np.sqrt(N / found.samples)
    assert found.means == pytest.approx(rms(means), abs=room)
    assert found.pairs == pytest.approx(rms(pairs), abs=room) and rms(pairs) > 1 + room
    assert found.largest_mean == pytest.approx(np.abs(means).max(), abs=room)
    assert found.largest_pair == pytest.approx(np.abs(pairs).max(), abs=room)
    assert found.pull_means == pytest.approx(rms(pull_means), abs=room)
    assert found.pull_pairs == pytest.approx(rms(pull_pairs), abs=room)


def test_the_pull_of_a_strong_prior_is_allowed_for():
    """At the mode nothing is missing, though averages are not those of the data."""
    strong = Posterior.of(X, 0.003)
    couplings, fields = unpack(strong.mode(), n)
    found = certificate(couplings, fields, pull=-n / 0.003 * couplings)
    assert found.passed and found.pairs < 0.6 < 2 < found.pull_pairs
    assert found.pull_pairs == pytest.approx(rms(expected(couplings, fields)[3]), abs=0.3)


def test_fields_have_a_prior_too():
    """With few data their pull is seen: 12 samples, and the exact mode."""
    few = draw_exactly(bs.IsingModel(J, h - 1.5), 12, np.random.default_rng(3)).astype(np.int8)
    couplings, fields = unpack(Posterior.of(few, GAMMA).mode(), n)
    found = certificate(couplings, fields, data=Data.of(stats(few)))
    assert found.passed and found.means < 0.1 < 0.2 < found.pull_means and found.pairs < 0.15


def test_zeros_of_a_laplace_prior_are_bounded():
    exact = Posterior.of(X, 0.005, laplace=True)
    couplings, fields = unpack(exact.mode(), n)
    assert (couplings[UPPER] == 0).any() and (couplings[UPPER] != 0).any()
    pull = np.where(couplings == 0, exact.xi, -exact.xi * np.sign(couplings))
    found = certificate(couplings, fields, pull=pull)
    assert found.passed and found.pairs < 0.6
    assert not certificate(couplings, fields, pull=-pull).passed


def test_what_is_left_of_slopes():
    slope, pull = np.array([3.0, -3.0, 0.5, 3.0, 3.0]), np.array([2.0, 2.0, 2.0, 2.0, -2.0])
    bounded = np.array([True, True, True, False, False])
    assert balanced(slope, pull, bounded).tolist() == [1, -1, 0, 5, 1]


def test_active_spins():
    found = certificate(J)
    mean = (1 + bs.IsingModel(J, h).means()).sum() / 2
    assert found.active == pytest.approx(mean, abs=4 * np.sqrt(n) / np.sqrt(found.samples))
    assert found.active_in_data == pytest.approx((X > 0).sum() / N)
    assert found.unseen is None and found.stays


def test_states_that_the_data_never_show():
    states, model = all_states(n), bs.IsingModel(J, h)
    counts = np.array([3, 3, 4])
    p = np.exp(-model.energy(states) - model.log_partition())
    active = (states > 0).sum(axis=1)
    share = p[(active > 5) | (active < 2)].sum()
    found = certificate(J, counts=counts)
    assert found.unseen == pytest.approx(N * share, abs=4 * N * np.sqrt(share / found.samples))
    assert N * share > 2 * UNSEEN and not found.stays and found.passed


def test_states_far_from_the_data():
    """Out of their range by more than its width, and by more than independent spins vary."""
    states, model = all_states(n), bs.IsingModel(J, h)
    p = np.exp(-model.energy(states) - model.log_partition())
    active = (states > 0).sum(axis=1)
    spread = np.sqrt(np.sum(1 - X.mean(axis=0) ** 2)) / 2
    for low, high in ((0, 1), (0, 0)):
        margin = max(high - low, 3 * spread)
        near, far = (p[active > high + m].sum() for m in (spread, margin))
        found = certificate(J, counts=np.array([low, high]))
        assert found.unseen == pytest.approx(N * near, abs=4 * N * np.sqrt(near / found.samples))
        assert found.far == pytest.approx(N * far, abs=4 * N * np.sqrt(far / found.samples))
        assert 0 < far < near / 2 and found.has_another_state == (N * far >= 1)


def test_words():
    right = Certificate(20_480, 1000, 0.5, 1.2, 0.4, 1.1, 0.1, 0.1, 0.5, 0.5, 3.2, 3.25)
    assert right.passed and right.agreed
    assert right.sentence == (
        "20,480 fresh equilibrium samples: means within 0.5 (largest 1.2), pairs within 0.4 (1.1) standard errors; "
        "3.2 spins active, in the data 3.25: passed."
    )
    assert not replace(right, means=1.1).passed and replace(right, means=1.1, noise_means=0.9).passed
    assert not replace(right, pairs=1.1).passed and replace(right, pairs=1.1, noise_pairs=0.9).passed
    assert not replace(right, pairs=1.4, noise_pairs=0.9).passed
    assert replace(right, pairs=1.4, noise_pairs=0.99).passed  # 1.96 less 0.98: squares, not halves
    assert replace(right, means=1.4, noise_means=0.99).passed
    assert replace(right, unseen=UNSEEN - 0.01).stays and not replace(right, unseen=5.0).stays
    apart = replace(right, noise_pairs=1.1)
    assert not apart.passed and not apart.agreed and "Chains do not agree" in apart.sentence
    assert ": not passed." in apart.sentence
    few = replace(apart, n_data=100_000, pairs=1.2)  # so few samples cannot agree better
    assert few.agreed and few.passed and not replace(few, noise_pairs=5.0).agreed


def test_groups_that_do_not_agree():
    """Two patterns, neither the mirror image of the other, and data that ask for more than chains can tell."""
    size = 40
    patterns = np.where(np.random.default_rng(0).random((2, size)) < 0.5, 1, -1)
    couplings = 60 * patterns.T @ patterns / size
    np.fill_diagonal(couplings, 0)
    data = Data(50_000, 0.9 * patterns.mean(axis=0), np.eye(size))
    found = certificate(couplings, np.zeros(size), data=data)
    assert not found.agreed and not found.passed
