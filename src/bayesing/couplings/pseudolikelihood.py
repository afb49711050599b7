r"""The most probable couplings given all conditionals: regularised symmetric pseudo-likelihood.

With :math:`f_i = b_i + \sum_j J_{ij} z_j`, :math:`z = s - d` around the means d of the data, symmetric J and
:math:`b_i = h_i + \sum_j J_{ij} d_j \sim N(\beta_i, 1)` (:mod:`bayesing.conditionals`), maximise

.. math::

    \sum_\mu \sum_i \ln P(s_i \mid \text{rest}) - R(J) - \tfrac12 \sum_i (b_i - \beta_i)^2 , \qquad
    \frac{\partial}{\partial J_{ij}} \sum \ln P = \sum_\mu [ (s_i - \tanh f_i) z_j + (s_j - \tanh f_j) z_i ] .

Every coupling appears in two conditionals, so that what the data say of it counts twice; the prior must as well:
R is -2 ln P(J | gamma),

.. math::

    \text{Gaussian: } R = \frac\lambda2 \sum_{i<j} J_{ij}^2, \quad \lambda = \frac{2n}{\gamma}, \qquad
    \text{Laplace: } R = \lambda \sum_{i<j} |J_{ij}|, \quad \lambda = 2 \sqrt{2n/\gamma} .

It is a concave problem, solved by Newton's method (:mod:`bayesing.couplings._newton`). For the Laplace prior
:math:`J = J^+ - J^-` with both parts bounded by 0 from below, which makes R linear and zeros exact, and L-BFGS with
two matrix products a step (:mod:`bayesing.couplings._search`). The sparse prior is a sequence of Gaussian ones
(:mod:`bayesing.couplings._sparse`). Either way it stops where the largest
(projected) slope per sample is below the tolerance, by default :math:`10^{-2}/\sqrt N`, a hundredth of what it
varies by from one data set to another; with bounds, this is the condition on the subgradient.

**Errors.** Half the objective is a log posterior that counts everything once, so that the covariance of the couplings
is 2/Hessian. With the mean curvatures :math:`w_i = \langle 1 - \tanh^2 f_i \rangle` in place of that of every
sample, and the fields free, the Hessian is

.. math:: \lambda \sum_{i<j} J_{ij}^2 + N \operatorname{tr}(w J C J) ,

C the covariance of the spins. In the eigenvectors V of :math:`w^{-1/2} C w^{-1/2}`, with eigenvalues :math:`d_k`,
it is diagonal up to the spread of the w_i in the first term, which is mended pair by pair, like a prior that is
exchanged for another:

.. math::

    \operatorname{Var} J_{ij} = \frac{u_{ij}}{1 + \frac\lambda2 u_{ij} (1 - w_i w_j/\bar w^2)}, \quad
    u_{ij} = \frac{[P K P^T]_{ij}}{w_i w_j}, \quad P = V \circ V, \quad
    K_{kl} = \frac{2}{\lambda/\bar w^2 + N (d_k + d_l)} .

A field is :math:`h_i = b_i - \sum_j J_{ij} d_j`. Its centred part b_i appears in one conditional, with the variance
:math:`1/(N w_i + 1)`, and hardly depends on the couplings. The variance of the sum is, in the same basis and with
:math:`e = V^T w^{-1/2} d`,
:math:`w_i^{-1} [\sum_{kl} V_{ik}^2 K_{kl} e_l^2 + \sum_{kl} V_{ik} e_k K_{kl} e_l V_{il}]`.
"""

from __future__ import annotations

import math

import numpy as np

from ..conditionals import fields_of, independent_fields
from ..exceptions import NotConvergedWarning
from ..ising import symmetric
from ..priors import xi
from ..statistics import SpinStatistics
from ..threads import threads_for
from ..types import Array
from ..weighted import WeightedRows
from ._method import CouplingMethod, CouplingOptions, DenseCouplings, embed, field_errors, no_couplings
from ._newton import Point, newton
from ._search import objective, search, tolerance_of
from ._sparse import sparse_couplings

_LARGEST_SLOPE = 1e-1  # per sample, times sqrt(N): ten times what the search stops at


def penalty_of(gamma: float, n: int, prior: str = "gaussian") -> float:
    """Lambda: 2n/gamma, or 2 sqrt(2n/gamma) for the Laplace prior.

    >>> penalty_of(0.5, 100), penalty_of(0.5, 100, "laplace")
    (400.0, 40.0)
    """
    return 2 * n / gamma if prior == "gaussian" else 2 * xi(gamma, n)


def fit_couplings(
    stats: SpinStatistics,
    gamma: float,
    prior: str = "gaussian",
    start: Array | None = None,
    tolerance: float | None = None,
) -> DenseCouplings:
    """Couplings, errors and fields at ``gamma`` > 0, from couplings ``start`` (n x n) or from 0.

    Constant spins, of whose couplings the data say nothing, have couplings 0 and the prior's deviation.
    """
    n, varying, kept = stats.n, stats.varying, stats.kept
    penalty = penalty_of(gamma, n, prior)
    rows = WeightedRows.distinct(kept)
    couplings, h, slope = maximise(
        rows, penalty, prior, None if start is None else start[np.ix_(varying, varying)], tolerance
    )
    w = rows.mean_curvatures(couplings, h)
    errors, of_fields = errors_of(kept, w, penalty_of(gamma, n))
    fields = fields_of(stats.sums, stats.N)
    fields[varying] = h
    unknown = math.sqrt(gamma / n)
    warnings: tuple[Warning, ...] = ()
    if slope * math.sqrt(stats.N) > _LARGEST_SLOPE:
        text = (
            f"The search for the couplings ended with a slope of {slope:.1g} per sample, above its tolerance: gamma "
            "may be far too large for the data."
        )
        warnings = (NotConvergedWarning(text),)
    return DenseCouplings(
        matrix=embed(couplings, varying, n),
        errors=embed(errors, varying, n, unknown),
        fields=fields,
        penalty=penalty,
        warnings=warnings,
        field_errors=field_errors(stats, of_fields, unknown),
    )


def maximise(
    rows: WeightedRows,
    penalty: float,
    prior: str = "gaussian",
    start: Array | None = None,
    tolerance: float | None = None,
) -> tuple[Array, Array, float]:
    """Couplings, fields, and the largest (projected) slope per sample there."""
    N, n = rows.N, rows.n
    tolerance = tolerance_of(N) if tolerance is None else tolerance
    upper, b = np.triu_indices(n, 1), independent_fields(rows.sums, N)
    if prior == "gaussian":
        x = None if start is None else Point(symmetric(start[upper], n), b)
        (couplings, b), largest = newton(rows, penalty, 0.0, x, tolerance)
        return couplings, b - couplings @ rows.means, largest
    pairs = len(upper[0])
    smooth, weight = objective(rows), penalty / N

    def split(x: Array) -> tuple[float, Array]:
        value, gradient = smooth(np.concatenate([x[:pairs] - x[pairs : 2 * pairs], x[2 * pairs :]]))
        J = gradient[:pairs]
        value += weight * float(x[: 2 * pairs].sum())
        return value, np.concatenate([J + weight, -J + weight, gradient[pairs:]])

    J = np.zeros(pairs) if start is None else start[upper]
    y, largest = search(
        split, np.concatenate([np.maximum(J, 0), np.maximum(-J, 0), b]), tolerance, bounded=2 * pairs
    )
    couplings = symmetric(y[:pairs] - y[pairs : 2 * pairs], n)
    return couplings, y[2 * pairs :] - couplings @ rows.means, largest


def errors_of(stats: SpinStatistics, w: Array, penalty: float) -> tuple[Array, Array]:
    """Standard errors of couplings and fields under a Gaussian prior of this penalty, for spins that vary.

    ``w`` are the mean curvatures of the conditionals.
    """
    w = np.maximum(w, 1e-12)
    norm = np.outer(w, w)
    d, V = np.linalg.eigh(stats.covariance() / np.sqrt(norm))
    d, P = np.maximum(d, 0.0), V**2
    K = 2 / (penalty / w.mean() ** 2 + stats.N * (d[:, None] + d))
    u = P @ K @ P.T / norm
    errors: Array = np.sqrt(u / (1 + penalty / 2 * u * (1 - norm / w.mean() ** 2)))
    e = V.T @ (stats.magnetisations / np.sqrt(w))
    moved = V * e
    shifted = (P @ (K @ e**2) + np.sum((moved @ K) * moved, axis=1)) / w
    return (errors + errors.T) / 2, np.sqrt(1 / (stats.N * w + 1) + shifted)  # equal up to rounding


def _fit(stats: SpinStatistics, options: CouplingOptions) -> DenseCouplings:
    strength = options.strength
    assert strength is not None
    if options.prior == "sparse":
        return sparse_couplings(stats, strength, options.worth)
    if strength.gamma == 0:
        return no_couplings(stats, strength, math.inf)
    with threads_for(stats.n):
        return fit_couplings(stats, strength.gamma, options.prior)


METHOD = CouplingMethod(
    name="pseudolikelihood",
    about="the most probable matrix given the conditionals of all spins",
    fit=_fit,
    needs_rows=True,
    searches=True,
    least_samples=4,
    priors=("gaussian", "laplace", "sparse"),
    holds="strong couplings, groups, near the spin glass; a sparse prior says which couplings there are",
)
