r"""Maximum likelihood by enumeration, for up to 16 spins. No prior.

The log likelihood per sample :math:`\sum_i h_i d_i + \sum_{i<j} J_{ij} d_{ij} - \ln Z` is concave; its gradient is
the difference of the averages of :math:`s_i` and :math:`s_i s_j` in the data and in the model, its curvature their
covariance in the model, from all 2^n states. The errors are those of the Fisher information, N times the curvature.

**Independent spins** with the means of the data are the start, and the unit of measure. With
:math:`z_i = (s_i - m_i)/\sqrt{1 - m_i^2}` the exponent is

.. math:: \sum_i a_i s_i + \sum_{i<j} \theta_{ij} z_i z_j + \sum_i \theta_i z_i , \qquad \tanh a_i = m_i ,

and at :math:`\theta = 0` the curvature is 1, however rare a spin is.

**Newton's method**, damped. Along a step that changes the difference of any two exponents by at most c, the third
derivative is at most c times the second, so that ln(1 + c)/c of the step never lowers the likelihood, and is all of
it in the end (T. Sun and Q. Tran-Dinh, *Generalized self-concordant functions*, 2019).

**At infinity** lies the maximum where the data never show one of the four states of a pair, which is counted, or
where any other combination that bounds the averages never varies. Then every step has a c of about 1 or more, even
when next to nothing is left to gain; a single sample off the bound would have kept them from it.
"""

from __future__ import annotations

import numpy as np
import scipy

from ..exceptions import InputError, Setting
from ..ising import all_states
from ..statistics import SpinStatistics
from ..types import Array
from ._method import CouplingMethod, CouplingOptions, DenseCouplings

MOST_SPINS = 16
_MOST_STEPS = 100  # a third of them was enough for all data with a maximum that were tried
_CONVERGED = 1e-6  # c, of a step that need not be taken
_NO_GAIN = 1e-9  # of the log likelihood of all N samples
_ROUNDING = 1e-14  # of the log likelihood per sample


def fit_exact(stats: SpinStatistics) -> DenseCouplings:
    """Couplings and fields of maximal likelihood, or a ValueError where they would be infinite."""
    N, n = stats.N, stats.n
    if n > MOST_SPINS:
        raise InputError(
            Setting("method", METHOD.name),
            f" goes through all 2^n states, for n up to {MOST_SPINS}: found n = {n}. Take another method.",
        )
    found = None if _rarest_pair(stats) == 0 else _newton(stats)
    if found is None:
        raise InputError(
            f"The likelihood of these {N} samples of {n} spins has no maximum: a spin, a pair or a combination of "
            "them never varies. Take more samples, or a method with a prior, which keeps couplings finite."
        )
    return found


def _rarest_pair(stats: SpinStatistics) -> float:
    """How many samples show the rarest of the four states of any pair of spins."""
    i, j = np.triu_indices(stats.n, 1)
    a, b, ab = (sums.astype(np.float64) for sums in (stats.sums[i], stats.sums[j], stats.cross[i, j]))
    return float(np.min([a + b + ab, a - b - ab, b - a - ab, ab - a - b]) + stats.N) / 4


def _newton(stats: SpinStatistics) -> DenseCouplings | None:
    """The maximum, for spins that vary; None where it lies at infinity."""
    N, n, m = stats.N, stats.n, stats.magnetisations
    i, j = np.triu_indices(n, 1)
    width = np.sqrt((1 - m) * (1 + m))
    free = np.log((N + stats.sums) / (N - stats.sums)) / 2
    states = all_states(n)
    independent, features = states @ free, _features((states - m) / width)
    data = np.concatenate([stats.covariance()[i, j] / (width[i] * width[j]), np.zeros(n)])
    theta = np.zeros(len(data))
    for _ in range(_MOST_STEPS):
        exponents = independent + features @ theta
        p = np.exp(exponents - scipy.special.logsumexp(exponents))
        means = p @ features
        covariance = features.T @ (p[:, None] * features) - np.outer(means, means)
        try:
            factor = scipy.linalg.cho_factor(covariance)
        except np.linalg.LinAlgError:  # next to no state is left
            return None
        step = scipy.linalg.cho_solve(factor, data - means)
        gain, change = float((data - means) @ step), float(np.ptp(features @ step))
        if change < _CONVERGED:
            J = _matrix(theta[:-n] / (width[i] * width[j]), n)
            variance = np.diag(scipy.linalg.cho_solve(factor, np.eye(len(data))))[:-n] / N
            errors = _matrix(np.sqrt(variance) / (width[i] * width[j]), n)
            return DenseCouplings(J, errors, free + theta[-n:] / width - J @ m)
        if gain < max(_NO_GAIN / N, _ROUNDING) and change > 0.5:
            return None
        theta = theta + np.log1p(change) / change * step
    return None


def _features(z: Array) -> Array:
    """z_i z_j for i < j, then z_i, of each row."""
    i, j = np.triu_indices(z.shape[1], 1)
    return np.hstack([z[:, i] * z[:, j], z])


def _matrix(pairs: Array, n: int) -> Array:
    J = np.zeros((n, n))
    J[np.triu_indices(n, 1)] = pairs
    return J + J.T


def _fit(stats: SpinStatistics, options: CouplingOptions) -> DenseCouplings:
    return fit_exact(stats)


METHOD = CouplingMethod(
    name="exact",
    about="maximum likelihood, from all 2^n states",
    fit=_fit,
    searches=True,
    holds=f"up to {MOST_SPINS} spins and very many samples, as a reference",
)
