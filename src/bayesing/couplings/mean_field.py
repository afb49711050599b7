r"""Classical closed forms: naive mean field, TAP, and independent pairs. No prior, no penalty.

With the magnetisations m, the covariance C of the spins, and :math:`Q = C^{-1}`, off the diagonal,

- naive mean field: :math:`J_{ij} = -Q_{ij}`, :math:`h_i = \operatorname{atanh} m_i - \sum_j J_{ij} m_j`;
- TAP: :math:`J_{ij} + 2 m_i m_j J_{ij}^2 = -Q_{ij}`, the root that is -Q where m = 0, and
  :math:`h_i = \operatorname{atanh} m_i - \sum_j J_{ij} m_j + m_i \sum_j J_{ij}^2 (1 - m_j^2)`;
- independent pairs, from the four probabilities of a pair as if there were no other spins:
  :math:`J_{ij} = \frac14 \ln \frac{p_{++} p_{--}}{p_{+-} p_{-+}}`; fields of the pairs,
  :math:`h_i^{(j)} = \frac14 \ln \frac{p_{++} p_{+-}}{p_{-+} p_{--}}`, add up to
  :math:`h_i = \operatorname{atanh} m_i + \sum_j (h_i^{(j)} - \operatorname{atanh} m_i)`.

Sources: H. J. Kappen and F. B. Rodríguez, Neural Computation 10 (1998) 1137; T. Tanaka, Physical Review E 58
(1998) 2302; Y. Roudi, J. Tyrcha and J. Hertz, Physical Review E 79 (2009) 051915.

Errors are those of N independent samples alone: of a Gaussian Q, :math:`(Q_{ii} Q_{jj} + Q_{ij}^2)/N`, and of a log
odds ratio. The bias of the approximation is not in them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..exceptions import InputError, Setting
from ..statistics import SpinStatistics
from ..types import Array
from ._method import CouplingMethod, CouplingOptions, DenseCouplings


def naive_mean_field(stats: SpinStatistics) -> DenseCouplings:
    """Minus the inverse covariance; it needs more samples than spins."""
    m, Q, variance = _inverse_covariance(stats, NAIVE.name)
    J = _off_diagonal(-Q)
    return DenseCouplings(J, _off_diagonal(np.sqrt(variance)), np.arctanh(m) - J @ m)


def tap(stats: SpinStatistics) -> DenseCouplings:
    """Mean field with Onsager's reaction term.

    The discriminant 1 - 8 m_i m_j Q_ij can be negative, where the equation has no root: the nearest J is taken.
    """
    m, Q, variance = _inverse_covariance(stats, TAP.name)
    mm = np.outer(m, m)
    root = np.sqrt(np.maximum(1 - 8 * mm * Q, 0.0))
    J = _off_diagonal(-2 * Q / (1 + root))
    # dJ/dQ = -1/(1 + 4 m_i m_j J) = -1/root
    errors = _off_diagonal(np.sqrt(variance) / np.maximum(root, 0.1))
    h = np.arctanh(m) - J @ m + m * (J**2 @ (1 - m**2))
    return DenseCouplings(J, errors, h)


def independent_pair(stats: SpinStatistics) -> DenseCouplings:
    """Each pair as if alone. Half a sample is added to each of its four states, so that none is impossible."""
    N, n, G = stats.N, stats.n, stats.cross
    s = stats.sums
    # Counts of the four states, from sums of s_i, s_j and s_i s_j.
    pp, mm = (N + s[:, None] + s + G) / 4 + 0.5, (N - s[:, None] - s + G) / 4 + 0.5
    pm = (N + s[:, None] - s - G) / 4 + 0.5
    mp = pm.T
    J = _off_diagonal(np.log(pp * mm / (pm * mp)) / 4)
    errors = _off_diagonal(np.sqrt(1 / pp + 1 / pm + 1 / mp + 1 / mm) / 4)
    alone = np.arctanh(s / (N + 2))
    pairs = _off_diagonal(np.log(pp * pm / (mp * mm)) / 4)
    return DenseCouplings(J, errors, pairs.sum(axis=1) - (n - 2) * alone)


def _inverse_covariance(stats: SpinStatistics, method: str) -> tuple[Array, Array, Array]:
    """m, Q and the variance of Q."""
    N, n, m, C = stats.N, stats.n, stats.magnetisations, stats.covariance()
    rank = int(np.linalg.matrix_rank(C, hermitian=True))
    if rank < n:
        raise InputError(
            Setting("method", method),
            f" inverts the covariance of the spins, which needs more samples than spins and no "
            f"constant or duplicate ones: found {N} samples of {n} spins with a covariance of rank "
            f"{rank}. Take a method with a prior.",
        )
    Q = np.linalg.inv(C)
    Q = (Q + Q.T) / 2
    return m, Q, (np.outer(np.diag(Q), np.diag(Q)) + Q**2) / N


def _off_diagonal(A: Array) -> Array:
    np.fill_diagonal(A, 0.0)
    return A


def _without_prior(
    fit: Callable[[SpinStatistics], DenseCouplings],
    stats: SpinStatistics,
    options: CouplingOptions,
) -> DenseCouplings:
    return fit(stats)


_BASELINE = "a textbook baseline to compare with"

NAIVE = CouplingMethod(
    name="naive_mean_field",
    about="minus the inverse covariance",
    fit=partial(_without_prior, naive_mean_field),
    holds=_BASELINE,
)
TAP = CouplingMethod(
    name="tap",
    about="mean field with Onsager's reaction term",
    fit=partial(_without_prior, tap),
    holds=_BASELINE,
)
PAIR = CouplingMethod(
    name="independent_pair",
    about="each pair as if alone",
    fit=partial(_without_prior, independent_pair),
    holds=_BASELINE,
)
