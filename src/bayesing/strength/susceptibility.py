r"""The closed form of replica-symmetric theory: unbiased in N, for any fields.

The relations of :mod:`bayesing.replica` for the squared and the plain connected correlations, solved for the
couplings:

.. math::

    \hat\gamma = \frac{n}{n-1} \left( \frac1r - \frac1{\chi_{SG}} \right), \qquad
    \hat J_0 = \frac{1}{1 - q} - \frac{1}{\chi_{lin}},

with the unbiased r, chi_sg, q and chi_lin of :class:`~bayesing.moments.SpinMoments`, and gamma = 0 where noise
makes chi_sg smaller than r. A mean coupling makes the spins fluctuate together, which adds :math:`(\chi_{lin} - 1 +
q)^2 r^2/n(1-q)^4` to chi_sg; where it is estimated, that is taken away (unbiased, like all else). They hold for
uniform and for site-dependent fields, for any prior of the couplings that has a variance, and for any N. H is the
uniform field that gives the mean spin.

Where cells are missing completely at random the moments are unbiased as well (:mod:`bayesing.available`). Errors are
those of as many samples as two spins have in common, in the mean.

gamma saturates where gamma r = 1, at the edge of the spin glass: at J = 1 where H = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..available import LEAST_COMMON
from ..exceptions import InputError, Setting
from ..moments import SpinMoments
from ..replica import collective_variance, overlap
from ..statistics import SpinStatistics
from ._method import Estimate, Method, Options, Statistic, with_field


@dataclass(frozen=True)
class SusceptibilityFit:
    """gamma with its standard error, and before it was clipped at 0."""

    gamma: float
    gamma_error: float
    unclipped: float


def fit_susceptibility(moments: SpinMoments, with_mean_coupling: bool = False) -> SusceptibilityFit:
    """gamma_hat from moments alone, of couplings with a mean if asked for."""
    n, r, chi_sg = moments.n, moments.r, moments.chi_sg
    if r is None or chi_sg is None:
        both = " in which two spins were both observed" if moments.missing else ""
        raise InputError(
            Setting("method", METHOD.name),
            f" needs at least {METHOD.least_samples} samples{both}: found {'fewer' if both else moments.N}.",
        )
    if r <= 0:
        raise InputError(
            f"Expected spins that vary: found r = {r:.3g}, the mean of (1 - m_i^2)^2, in {moments.N} samples. "
            "Leave out constant columns, or take more samples."
        )
    N = max(moments.N_pair, LEAST_COMMON)
    collective_error = 0.0
    if with_mean_coupling:
        collective, collective_error = _collective(moments)
        chi_sg -= collective
    # Noise may make chi_sg small, or negative even: beyond r/2 in a straight line.
    inverse = 1 / chi_sg if chi_sg > r / 2 else (4 - 4 * chi_sg / r) / r
    unclipped = n / (n - 1) * (1 / r - inverse)
    gamma = max(unclipped, 0.0)
    # Of a U-statistic of independent overlaps g_ab, with its terms g_ab^2, g_ab g_ac and g_ab g_cd.
    independent = (4 + (8 + 8 / (N - 3)) / (N - 2)) / (N * (N - 1))
    relative = independent + collective_variance(n, N, gamma, r) + (collective_error / max(chi_sg, r)) ** 2
    gamma_error = math.sqrt(relative) / max(chi_sg, r)
    return SusceptibilityFit(gamma, gamma_error, unclipped)


def _collective(moments: SpinMoments) -> tuple[float, float]:
    """What the fluctuation of all spins together adds to chi_sg, and its standard error.

    chi_lin is a variance estimated from N sums, so that its own variance is 2 chi_lin^2/(N - 1).
    """
    n, N, r, chi_lin = moments.n, max(moments.N_pair, LEAST_COMMON), moments.r, moments.chi_lin
    assert r is not None and chi_lin is not None
    noise = 2 * chi_lin**2 / (N - 1)
    excess = chi_lin - (1 - overlap(moments))
    share = (r / (1 - overlap(moments)) ** 2) ** 2 / n
    return share * (excess**2 - noise), share * math.sqrt(4 * excess**2 * noise + 2 * noise**2)


def _fit(stats: SpinStatistics, options: Options) -> Estimate:
    fit = fit_susceptibility(stats.moments, options.mean_coupling)
    return with_field(stats, fit.gamma, fit.gamma_error, options)


def _unclipped(stats: SpinStatistics) -> float:
    return fit_susceptibility(stats.moments).unclipped


def _statistic(found: Estimate, gamma: float, options: Options) -> Statistic:
    return _unclipped


METHOD = Method(
    name="susceptibility",
    about="closed form in moments, also of a mean coupling J0",
    fit=_fit,
    statistic=_statistic,
    priors=("gaussian", "laplace"),
    mean_coupling=True,
    saturates=True,
    uses_missing=True,
    holds="any N, any fields, any prior, up to the spin glass; no eigendecomposition",
)
