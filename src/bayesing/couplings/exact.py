r"""Maximum likelihood by enumeration, for up to 16 spins. No prior.

The log likelihood per sample :math:`\sum_i h_i d_i + \sum_{i<j} J_{ij} d_{ij} - \ln Z` is concave; its gradient is
the difference of the averages :math:`\phi = (s_i s_j, s_i)` in the data and in the model, its curvature their
covariance in the model, from all 2^n states. Newton's method, with steps halved where they would lower it. The
errors are those of the Fisher information, N times the curvature.

Where a spin or a pair, or any combination that bounds the averages, never varies, the maximum lies at infinity.
"""

from __future__ import annotations

import numpy as np
import scipy

from ..exceptions import InputError, Setting
from ..ising import all_states
from ..statistics import SpinStatistics
from ..types import Array
from ._method import CouplingMethod, DenseCouplings, Strength

MOST_SPINS = 16
_TOLERANCE = 1e-12  # of the log likelihood per sample
_MOST_STEPS = 60
_INFINITE = 10.0  # odds of exp(20): no number of samples that fits into memory could tell it from infinity


def fit_exact(stats: SpinStatistics) -> DenseCouplings:
    """Couplings and fields of maximal likelihood, or a ValueError where they would be infinite."""
    N, n = stats.N, stats.n
    if n > MOST_SPINS:
        raise InputError(
            Setting("method", METHOD.name),
            f" goes through all 2^n states, for n up to {MOST_SPINS}: found n = {n}. Take another method.",
        )
    features = _features(all_states(n))
    data = np.concatenate([stats.cross[np.triu_indices(n, 1)], stats.sums]) / N
    theta = np.zeros(len(data))
    height = -n * np.log(2)
    for _ in range(_MOST_STEPS):
        exponents = features @ theta
        p = np.exp(exponents - scipy.special.logsumexp(exponents))
        means = p @ features
        covariance = features.T @ (p[:, None] * features) - np.outer(means, means)
        try:
            factor = scipy.linalg.cho_factor(covariance)
        except np.linalg.LinAlgError:  # next to no state is left
            break
        step = scipy.linalg.cho_solve(factor, data - means)
        if (data - means) @ step < _TOLERANCE:
            variance = np.diag(scipy.linalg.cho_solve(factor, np.eye(len(data)))) / N
            return DenseCouplings(_matrix(theta, n), _matrix(np.sqrt(variance), n), theta[-n:])
        rate = 1.0
        while (trial := _likelihood(theta + rate * step, data, features)) < height and rate > 1e-9:
            rate /= 2
        theta, height = theta + rate * step, trial
        if np.abs(theta).max() > _INFINITE:
            break
    raise InputError(
        f"The likelihood of these {N} samples of {n} spins has no maximum: a spin, a pair or a combination of them "
        "never varies. Take more samples, or a method with a prior, which keeps couplings finite."
    )


def _features(states: Array) -> Array:
    """s_i s_j for i < j, then s_i, of each row."""
    i, j = np.triu_indices(states.shape[1], 1)
    return np.hstack([states[:, i] * states[:, j], states])


def _likelihood(theta: Array, data: Array, features: Array) -> float:
    return float(theta @ data - scipy.special.logsumexp(features @ theta))


def _matrix(theta: Array, n: int) -> Array:
    J = np.zeros((n, n))
    J[np.triu_indices(n, 1)] = theta[:-n]
    return J + J.T


def _fit(stats: SpinStatistics, strength: Strength | None, prior: str) -> DenseCouplings:
    return fit_exact(stats)


METHOD = CouplingMethod(
    name="exact",
    about="maximum likelihood, from all 2^n states",
    fit=_fit,
    searches=True,
    holds=f"up to {MOST_SPINS} spins and very many samples, as a reference",
)
