import numpy as np
import pytest
from scipy.signal import lfilter

from bayesing.sampling.diagnostics import (
    autocorrelation_time,
    log_mean_weight,
    log_mean_weight_error,
    split_r_hat,
)


def autoregressive(rho, chains, times, seed=0):
    """x_t = rho x_{t-1} + noise, of integrated autocorrelation time (1 + rho)/(1 - rho)."""
    noise = np.random.default_rng(seed).normal(size=(chains, times + 500))
    return lfilter([1], [1, -rho], noise, axis=1)[:, 500:]


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_autocorrelation_time_of_an_autoregressive_process(rho):
    exact = (1 + rho) / (1 - rho)
    chains, times = 8, 20_000
    estimate = autocorrelation_time(autoregressive(rho, chains, times))
    error = exact * np.sqrt(2 * (2 * 5 * exact + 1) / (chains * times))  # Sokal, window of five times
    assert abs(estimate - exact) < 4 * error


def test_constant_series():
    assert autocorrelation_time(np.ones((2, 50))) == 1
    assert split_r_hat(np.ones((2, 50))) == 1


def test_split_r_hat():
    good = autoregressive(0.5, 8, 2000)
    assert abs(split_r_hat(good) - 1) < 0.01
    shifted = good + np.arange(8)[:, None]  # chains that disagree
    drifting = good + np.linspace(0, 4, 2000)  # chains that agree and all move on
    assert split_r_hat(shifted) > 1.5 and split_r_hat(drifting) > 1.2
    assert split_r_hat(np.repeat([[0.0], [1.0]], 10, axis=1)) == np.inf
    assert split_r_hat(np.zeros((4, 3))) == np.inf


@pytest.mark.parametrize("rho", [0.9, 0.3, -0.6])
def test_autocorrelation_time_follows_its_definition(rho):
    """A direct sum on short series, the mean that of all chains together."""
    x = autoregressive(rho, 3, 40) + np.array([[0.0], [0.5], [0.0]])
    deviations = x - x.mean()
    covariance = [np.mean([np.mean(row[: 40 - t] * row[t:]) for row in deviations]) for t in range(40)]
    tau, window = 1.0, 0
    while window < 39 and window < 5 * tau:
        window += 1
        tau += 2 * covariance[window] / covariance[0]
    assert autocorrelation_time(x) == pytest.approx(max(1.0, tau), rel=1e-10)


def test_split_r_hat_follows_its_definition():
    x = autoregressive(0.3, 3, 11)
    halves = np.concatenate([x[:, :5], x[:, 6:]])
    W = np.mean([np.var(half, ddof=1) for half in halves])
    B = 5 * np.var([half.mean() for half in halves], ddof=1)
    assert split_r_hat(x) == pytest.approx(np.sqrt((4 / 5 * W + B / 5) / W))


@pytest.mark.parametrize("shift", [0.0, -3.0, 700.0, -800.0])
def test_the_mean_weight_and_its_error_follow_their_definition(shift):
    """In units of any size, far beyond what a float holds."""
    weights = np.array([0.5, 1.0, 3.0, 0.1])
    logs = np.log(weights) + shift
    assert log_mean_weight(logs) == pytest.approx(np.log(weights.mean()) + shift, rel=1e-12)
    error = weights.std(ddof=1) / 2 / weights.mean()
    assert log_mean_weight_error(logs) == pytest.approx(error, rel=1e-9)
    assert log_mean_weight_error(logs[:1]) == np.inf
