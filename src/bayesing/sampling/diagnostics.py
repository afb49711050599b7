"""Have the chains forgotten where they started? Diagnostics of series (chains, times), and of importance weights."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

Floats = NDArray[np.float64]


def split_r_hat(series: Floats) -> float:
    """Split R-hat (Gelman and Rubin): near 1 where the halves of all chains agree with each other.

    Each chain is cut in two, and the variance that their means would have if all were one population is
    compared with the variance inside them. A constant series gives 1; it needs 4 times or more.
    """
    times = series.shape[1]
    half = times // 2
    if half < 2:
        return math.inf
    halves = np.concatenate([series[:, :half], series[:, times - half :]])
    within = halves.var(axis=1, ddof=1).mean()
    between = half * halves.mean(axis=1).var(ddof=1)
    if within == 0:
        return 1.0 if between == 0 else math.inf
    return float(np.sqrt((half - 1) / half + between / (half * within)))


def autocorrelation_time(series: Floats) -> float:
    """Integrated autocorrelation time 1 + 2 sum_t rho(t), summed up to five times itself (Sokal's window).

    Independent values have 1; the variance of a mean over T times is that of one value times this, over T.
    """
    times = series.shape[1]
    deviations = series - series.mean()
    size = 2 ** math.ceil(math.log2(2 * times))
    power = np.abs(np.fft.rfft(deviations, size, axis=1)) ** 2
    covariance = np.fft.irfft(power.mean(axis=0), size)[:times] / (times - np.arange(times))
    if covariance[0] <= 0:
        return 1.0
    partial_sums = 2 * np.cumsum(covariance / covariance[0]) - 1
    inside = np.arange(times) >= 5 * partial_sums
    window = int(inside.argmax()) if inside.any() else times - 1
    return float(max(1.0, partial_sums[window]))


def log_mean_weight(log_weights: Floats) -> float:
    """ln of the mean of importance weights."""
    return float(logsumexp(log_weights) - math.log(len(log_weights)))


def log_mean_weight_error(log_weights: Floats) -> float:
    """Its standard error: the relative one of the mean weight."""
    weights = np.exp(log_weights - log_weights.max())
    if len(weights) < 2:
        return math.inf
    return float(weights.std(ddof=1) / (math.sqrt(len(weights)) * weights.mean()))
