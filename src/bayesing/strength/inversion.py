r"""The couplings' variance from the inverse of the correlation matrix, where samples outnumber spins.

To leading order in dense models the connected correlation matrix C has :math:`(C^{-1})_{ij} = -J_{ij}` off the
diagonal. The inverse of a *sample* covariance is mostly noise, whose moments are known, however. With centred spins
X, :math:`W = (X^T X)^{-1}`, :math:`\nu = N - 1` degrees of freedom and :math:`p = \nu - n`, the moments of inverse
Wishart matrices are

.. math::

    E\, W_{ij}^2 &= \Omega_{ij}^2 \left[\frac{1}{(p-1)^2} + \frac{p+1}{\Delta}\right]
        + \Omega_{ii} \Omega_{jj} \frac{p-1}{\Delta}, \\
    E\, W_{ii} W_{jj} &= \Omega_{ij}^2\, \frac{2(p-1)}{\Delta}
        + \Omega_{ii} \Omega_{jj} \left[\frac{1}{(p-1)^2} + \frac{2}{\Delta}\right],
    \qquad \Delta = p (p-1)^2 (p-3),

with :math:`\Omega = C^{-1}`. Summed over pairs with weights :math:`w_{ij} \propto (v_i v_j)^2`, :math:`v_i = 1 -
m_i^2`, so that nearly constant spins do not dominate, they are two linear equations for :math:`A = \sum w_{ij}
\Omega_{ij}^2` and :math:`B = \sum w_{ij} \Omega_{ii} \Omega_{jj}`; then :math:`\hat\gamma = n A`.

It needs no theory of the spin glass, only that couplings are weak one by one, and so is the most precise at its edge
and beyond, from about N = 3n. In the paramagnet the evidence of
:mod:`~bayesing.strength.spectral` knows more.

Cost: one product and one inverse, O(n^2 N + n^3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy

from ..exceptions import InputError, Setting
from ..statistics import SpinStatistics
from ..types import Array
from ._method import Estimate, Method, Options, Statistic, with_field


@dataclass(frozen=True)
class InversionFit:
    """gamma, its standard error, and gamma before it was clipped at 0."""

    gamma: float
    gamma_error: float
    unclipped: float


def fit_inversion(stats: SpinStatistics) -> InversionFit:
    """gamma = n sum_ij w_ij (C^-1)_ij^2, freed of the noise of N samples."""
    kept = stats.kept
    N, n = kept.N, kept.n
    nu = N - 1
    p = nu - n
    if p <= 3:
        raise InputError(
            Setting("method", METHOD.name),
            f" needs at least {n + 5} samples of {n} spins that vary: found {N}. Take another "
            "method, or more samples.",
        )
    m = kept.magnetisations
    S = kept.gram - N * np.outer(m, m)
    v = 1 - m**2
    root = np.sqrt(v)
    W = _inverse(S / np.outer(root, root))  # of standardised spins, which takes v_i v_j out of the weights
    weights = np.outer(v, v)
    np.fill_diagonal(weights, 0.0)
    total = float(np.sum(weights**2))
    products = np.outer(np.diag(W), np.diag(W))
    A, _ = without_noise(np.sum(weights * W**2) / total, np.sum(weights * products) / total, p)
    unclipped = n * A
    gamma = max(unclipped, 0.0)
    pairs = total**2 / float(np.sum(weights**4))  # as many as if all had the same weight
    scale = stats.n / n  # gamma refers to all columns, the constant ones too
    error = _error(gamma, float(np.mean(v**2)), n, p, pairs)
    return InversionFit(gamma * scale, error * scale, unclipped * scale)


def without_noise(squares: float, products: float, p: int) -> tuple[float, float]:
    """A and B, the weighted sums of Omega_ij^2 and Omega_ii Omega_jj, from those of W_ij^2 and W_ii W_jj."""
    delta = p * (p - 1) ** 2 * (p - 3)
    moments = [
        [1 / (p - 1) ** 2 + (p + 1) / delta, (p - 1) / delta],
        [2 * (p - 1) / delta, 1 / (p - 1) ** 2 + 2 / delta],
    ]
    A, B = np.linalg.solve(moments, [squares, products])
    return float(A), float(B)


def _inverse(S: Array) -> Array:
    try:
        factor = scipy.linalg.cho_factor(S, lower=True, overwrite_a=True, check_finite=False)
        inverse = scipy.linalg.cho_solve(factor, np.eye(len(S)), overwrite_b=True, check_finite=False)
    except np.linalg.LinAlgError:
        inverse = np.full((1, 1), np.inf)
    if not np.max(np.abs(inverse)) < 1e8 / len(S):
        raise InputError(
            Setting("method", METHOD.name),
            " needs columns none of which follows from the others: found a singular "
            "correlation matrix. Leave out copies of columns, or take more samples.",
        )
    return np.asarray(inverse)


def _error(gamma: float, r: float, n: int, p: int, pairs: float) -> float:
    r"""Standard error of gamma.

    In standardised units, g = gamma r, :math:`\Omega = 1 + g - J` has noise of the variance
    :math:`\Omega_{kk} \Omega_{ll}/p` between any two orthogonal directions. The couplings' own spread, noise times
    couplings, and noise squared, are

    .. math::

        \operatorname{Var} \hat g = \frac{4 g^2}{n^2} + \frac{8}{n p} \left[g (1 + g)^2 + 2 g^2\right]
            + \frac{4 \nu}{p^3} \left[\frac{\nu}{p} (1 + g)^2 + g\right]^2 .

    The powers of :math:`\nu/p` are how noise multiplies noise in the inverse; at g = 0 they were found by
    simulation of Wishart matrices, to 3% from N = 1.5n on.
    """
    g, nu = gamma * r, n + p
    own = 4 * g**2 / n**2
    mixed = 8 / (n * p) * (g * (1 + g) ** 2 + 2 * g**2)
    noise = 4 * nu / p**3 * (nu / p * (1 + g) ** 2 + g) ** 2
    return math.sqrt((own + mixed + noise) * n**2 / pairs) / r


def _fit(stats: SpinStatistics, options: Options) -> Estimate:
    fit = fit_inversion(stats)
    return with_field(stats, fit.gamma, fit.gamma_error, options)


def _unclipped(stats: SpinStatistics) -> float:
    return fit_inversion(stats).unclipped


def _statistic(found: Estimate, gamma: float, options: Options) -> Statistic:
    return _unclipped


METHOD = Method(
    name="inversion",
    about="inverse correlation matrix, freed of its noise",
    fit=_fit,
    statistic=_statistic,
    least_samples=7,  # n + 5
    priors=("gaussian", "laplace"),
    mean_coupling=True,
    holds="N of 3 n and more; also in the spin glass",
)
