"""The strength of couplings without the prior's pull, from couplings whose noise is known."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import bayesing as bs
from bayesing.learning.phases import Data
from bayesing.learning.scale import without_pull


def mode_of(truth, V, gamma, rng):
    """Couplings at a prior of variance gamma/n, with variances V that it has its share in."""
    n = len(truth)
    known = 1 - V * n / gamma
    noise = rng.normal(size=(n, n)) * np.sqrt(V / known)
    J = known * (truth + np.triu(noise, 1) + np.triu(noise, 1).T)
    return SimpleNamespace(J=J, gamma=gamma, metric=SimpleNamespace(variances=lambda d: (V, None)))


@pytest.mark.parametrize("noise", [0.1, 0.6])
def test_it_is_n_times_the_mean_square_of_the_couplings_whatever_their_distribution(noise):
    """One coupling in ten, all others 0, and variances that the prior makes a large part of."""
    n, N, gamma = 40, 10**9, 2.0  # so many samples that the bound on variances does not matter
    rng = np.random.default_rng(4)
    J = np.triu(np.where(rng.random((n, n)) < 0.1, 0.4, 0.0), 1)
    truth = J + J.T
    V = gamma / n * noise * rng.uniform(0.3, 1.0, (n, n))
    V = np.triu(V, 1) + np.triu(V, 1).T
    data = Data(N, np.zeros(n), np.eye(n))
    found = np.array([without_pull(mode_of(truth, V, gamma, rng), data, n) for _ in range(60)])
    upper = np.triu_indices(n, 1)
    expected = n * np.mean(truth[upper] ** 2)
    weights = (1 - V[upper] * n / gamma) ** 2
    weighted = n * np.average(truth[upper] ** 2, weights=weights)
    spread = found[:, 0].std() / math.sqrt(60)
    assert abs(found[:, 0].mean() - weighted) < 3 * spread
    assert weighted == pytest.approx(expected, rel=0.15)
    assert found[:, 1].mean() > found[:, 0].std()  # which also allows for other couplings


def test_no_variance_is_below_that_of_a_coupling_by_itself():
    n, N, gamma = 6, 100, 3.0
    data = Data(N, np.full(n, 0.5), np.zeros((n, n)))
    mode = mode_of(np.zeros((n, n)), np.full((n, n), 1e-9), gamma, np.random.default_rng(0))
    mode.J[...] = 0.3
    V = 1 / (N * 0.75**2 + n / gamma)
    known = 1 - V * n / gamma
    assert without_pull(mode, data, n)[0] == pytest.approx(n * (0.09 - V * known) / known**2)


def test_a_mean_coupling_is_taken_out_of_the_strength():
    sim = bs.simulate(n_spins=16, n_samples=300, J=0.5, J0=0.5, sweeps=10, seed=1)
    plain, with_mean = (
        bs.EmpiricalBayes("likelihood", mean_coupling=J0, random_state=0).fit(sim.spins)
        for J0 in (False, True)
    )
    assert with_mean.J0_ > 0.2
    assert with_mean.gamma_ == pytest.approx(plain.gamma_ - with_mean.J0_**2 / 16)


def test_no_strength_is_below_0():
    data = Data(100, np.full(6, 0.5), np.zeros((6, 6)))
    mode = mode_of(np.zeros((6, 6)), np.full((6, 6), 0.1), 3.0, np.random.default_rng(0))
    mode.J[...] = 0.0
    gamma, error = without_pull(mode, data, 6)
    assert gamma == 0 and error == pytest.approx(0, abs=1e-12)


def test_the_error_is_that_of_a_mean_with_weights():
    """Half of the pairs twice as strong, all of them known alike."""
    n, N, gamma = 4, 10**9, 3.0
    mode = mode_of(np.zeros((n, n)), np.full((n, n), 0.1), gamma, np.random.default_rng(0))
    J = np.array([0.5, 1.0, 0.5, 1.0, 0.5, 1.0])
    mode.J[np.triu_indices(n, 1)] = J
    known = 1 - 0.1 * n / gamma
    squares = n * (J**2 / known**2 - 0.1 / known)
    found = without_pull(mode, Data(N, np.zeros(n), np.eye(n)), n)
    assert found == pytest.approx((squares.mean(), squares.std() / math.sqrt(6)), rel=1e-6)
