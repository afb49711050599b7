r"""The paper's estimator: replica method and Plefka expansion to second order in gamma.

With tau replicas (tau = xN, a natural number, and finally tau = -N) the Gibbs free energy of the replicated
system at magnetisation m is expanded around gamma = 0 (Eq. 22),

.. math::

    \frac{G(m, H, \gamma)}{nN} = \frac{\tau}{N} \left[ -H m + e(m) \right]
        + \phi^{(1)}(m) \gamma + \phi^{(2)}(m) \gamma^2 + O(\gamma^3),

from which the evidence follows (Eq. 24),

.. math::

    L_{EB}(H, \gamma) = H M - \operatorname{extr}_m \left[ H m - e(m) + \Phi(m) \gamma
        + \phi^{(2)}(m) \gamma^2 \right].

Its stationary point has m = M and is known in closed form. Equation numbers are those of M. Yasuda and
T. Obuchi, *Empirical Bayes Method for Boltzmann Machines*, arXiv:1906.06002.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from ..arguments import numbers
from ..exceptions import BoundWarning, InputError, LaplaceWarning
from ..moments import SpinMoments
from ..priors import laplace_equals_gaussian, xi
from ..replica import average, collective_variance, field, local_tanh, overlap
from ..statistics import SpinStatistics
from ._method import Estimate, Evidence, Method, Options, Statistic

Case = Literal["zero", "interior", "infinite"]


@dataclass(frozen=True)
class PlefkaFit:
    """gamma_hat with its case, H_hat, and the two coefficients at m = M that decide them."""

    gamma: float
    H: float
    case: Case
    Phi: float
    phi2: float

    @property
    def angle(self) -> float:
        """arctan(gamma), which goes on where gamma is infinite, and below 0."""
        return math.atan2(-self.Phi, 2 * self.phi2)


def e(m: Any) -> Any:
    """Negative mean-field entropy e(m) (Eq. 23); 0 at m = ±1."""
    up, down = (1 + m) / 2, (1 - m) / 2
    return scipy.special.xlogy(up, up) + scipy.special.xlogy(down, down)


def phi1(m: Any, moments: SpinMoments, tau: float | None = None) -> Any:
    """First coefficient of the expansion (Eq. B4), at ``tau`` replicas; None is tau = -N."""
    a, b = _phi1_coefficients(moments, tau)
    return a * m**2 + b * m**4


def phi1_slope(m: Any, moments: SpinMoments, tau: float | None = None) -> Any:
    """d phi1 / dm, which is also d Phi / dm at tau = -N."""
    a, b = _phi1_coefficients(moments, tau)
    return 2 * a * m + 4 * b * m**3


def Phi(m: Any, moments: SpinMoments) -> Any:
    """Coefficient of gamma in the evidence (Eq. 25): phi1 at tau = -N, less what the data alone give."""
    return sum(_Phi_terms(m, moments))


def phi2(m: Any, moments: SpinMoments, tau: float | None = None) -> Any:
    """Second coefficient of the expansion (Eq. B9; Eq. 26 at tau = -N, the default)."""
    return sum(_phi2_terms(m, moments, tau))


def phi2_slope(m: Any, moments: SpinMoments, tau: float | None = None) -> Any:
    """d phi2 / dm, term by term."""
    a, b, c, d, f = _phi2_coefficients(moments, tau)
    v = 1 - m**2
    return (
        2 * a * m * (1 - 2 * m**2)
        - 4 * b * m * v
        + 2 * c * m * v * (1 - 3 * m**2)
        + 4 * d * m**3 * v * (1 - 2 * m**2)
        - 8 * f * m**3 * (1 - m**4)
    )


def fit_plefka(moments: SpinMoments) -> PlefkaFit:
    """gamma_hat (Eq. 31) and H_hat (Eq. 30), without iterations.

    gamma_hat maximises -Phi(M) gamma - phi2(M) gamma^2 over gamma >= 0: "zero", "interior" or "infinite".
    """
    M = moments.M
    if abs(M) == 1:
        raise InputError(
            f"Expected spins that vary: found every spin equal to {M:+.0f} in every sample, which "
            "says nothing about couplings and would need an infinite field. Leave out constant columns."
        )
    first, second = _rounded(_Phi_terms(M, moments)), _rounded(_phi2_terms(M, moments, None))
    case: Case
    if second > 0 and first < 0:
        case, gamma = "interior", -first / (2 * second)
    elif (second > 0 and first >= 0) or (second == 0 and first > 0):
        case, gamma = "zero", 0.0
    else:
        case, gamma = "infinite", math.inf
    return PlefkaFit(gamma, _field(gamma, moments), case, first, second)


def _field(gamma: float, moments: SpinMoments) -> float:
    """H_hat = atanh M - phi1'(M) gamma - phi2'(M) gamma^2, or its limit where gamma is infinite."""
    M = moments.M
    slope1, slope2 = float(phi1_slope(M, moments)), float(phi2_slope(M, moments))
    if math.isinf(gamma):
        leading = slope2 or slope1
        return -math.copysign(math.inf, leading) if leading else math.atanh(M)
    return math.atanh(M) - slope1 * gamma - slope2 * gamma**2


def plefka_errors(fit: PlefkaFit, moments: SpinMoments) -> tuple[float, float]:
    r"""Standard errors of gamma_hat and H_hat, by the derivatives of the closed form in its moments.

    What varies is C2 by itself, since overlaps of samples vary by n chi_SG around n q, and the spins'
    magnetisations m_i, with which C1 = M^2, C2 = q^2 and Omega = M^2 (q - M^2) follow M and q. Spins i and j
    share J_ij, which doubles the variance of sums over spins. Infinite where gamma_hat is, or is so next to it.
    """
    if fit.case == "infinite":
        return math.inf, math.inf
    n, N, M, q = moments.n, moments.N, moments.M, overlap(moments)
    r = moments.r if moments.r is not None and moments.r > 0 else (1 - M**2) ** 2
    chi = moments.chi_sg if moments.chi_sg is not None and moments.chi_sg > r else r
    gamma = 1 / r - 1 / chi  # a better one than ours

    def closed_form(dM: float, dq: float, dC2: float) -> NDArray[np.float64]:
        moved = replace(
            moments,
            M=M + dM,
            C1=moments.C1 + 2 * M * dM,
            C2=moments.C2 + 2 * q * dq + dC2,
            Omega=moments.Omega + 2 * M * (q - 2 * M**2) * dM + M**2 * dq,
        )
        at = moved.M
        estimate = -Phi(at, moved) / (2 * phi2(at, moved))
        return np.array([estimate, _field(max(float(estimate), 0.0), moved)])

    h = 1e-5 * (1 - abs(M))
    with np.errstate(divide="ignore", invalid="ignore"):  # phi2 may vanish there
        slopes = np.array([(closed_form(*(h * e)) - closed_form(*(-h * e))) / (2 * h) for e in np.eye(3)])
    if not np.isfinite(slopes).all():
        return math.inf, math.inf
    by_M, by_q, by_C2 = slopes
    t = local_tanh(field(moments, gamma), gamma * q)
    by_site = by_M[:, None] * t + by_q[:, None] * t**2
    sites = [2 / n * (average(y**2) - average(y) ** 2) for y in by_site]
    samples = by_M**2 * (1 - q) / (n * N)
    pairs = chi**2 * (4 / N**2 + collective_variance(n, N, gamma, r)) + 8 * n * q**2 * chi / N**2
    gamma_error, H_error = np.sqrt(sites + samples + by_C2**2 * pairs / (n - 1) ** 2)
    return float(gamma_error), float(H_error)


def evidence(H: ArrayLike, gamma: ArrayLike, moments: SpinMoments) -> NDArray[np.float64]:
    """L_EB(H, gamma) per spin and sample (Eq. 24), for arrays that broadcast.

    The extremum over m is the one continuous with m = tanh H at gamma = 0. The value is NaN where that
    branch has ended, in a fold with another extremum, at a smaller gamma. (H_hat, gamma_hat) is a stationary
    point if its extremum m = M lies on that branch; with a field and strong couplings it may lie on another.
    """
    H, gamma = np.broadcast_arrays(numbers("H", H), numbers("gamma", gamma, least=0))
    m = np.empty(H.shape)
    for value in np.unique(H):
        m[value == H] = extremum(float(value), gamma[value == H], moments)
    inner: NDArray[np.float64] = H * m - e(m) + Phi(m, moments) * gamma + phi2(m, moments) * gamma**2
    return H * moments.M - inner


def extremum(H: float, gammas: NDArray[np.float64], moments: SpinMoments) -> NDArray[np.float64]:
    r"""m at each of ``gammas`` on the branch that starts as tanh H at gamma = 0; NaN beyond its fold.

    With m = tanh(theta) the condition is g = H - theta + phi1'(m) gamma + phi2'(m) gamma^2 = 0 (Eq. 30). The
    curve g(theta, gamma) = 0 is followed along its tangent, which stays regular where gamma turns back.
    At H = 0 exactly the branch is m = 0, by symmetry, and not the limit of small H.
    """
    targets, place = np.unique(gammas[gammas > 0], return_inverse=True)
    m = np.full(len(gammas), math.tanh(H))
    if not targets.size or H == 0:
        return m
    # A smaller field would drown in the tolerance where the symmetric branch m = 0 becomes unstable.
    start = math.copysign(max(abs(H), 1e-9), H)

    def condition(theta: float, gamma: float, H: float = start) -> tuple[float, float, float]:
        """g and its derivatives by theta and gamma."""
        m, h = math.tanh(theta), 1e-30
        # A complex step: the imaginary part is h times the derivative, and nothing cancels.
        slope1, slope2 = phi1_slope(complex(m, h), moments), phi2_slope(complex(m, h), moments)
        g = H - theta + slope1.real * gamma + slope2.real * gamma**2
        by_theta = (slope1.imag * gamma + slope2.imag * gamma**2) / h * (1 - m**2) - 1
        return g, by_theta, slope1.real + 2 * slope2.real * gamma

    def tangent(_: float, point: NDArray[np.float64]) -> list[float]:
        theta, gamma = map(float, point)
        _, by_theta, by_gamma = condition(theta, gamma)
        # Length in m and in gamma relative to its largest value, so that a step cannot skip a fold.
        length = math.hypot(by_gamma / math.cosh(min(abs(theta), 300)) ** 2, by_theta / targets[-1])
        return [by_gamma / length, -by_theta / length]

    def folded(_: float, point: NDArray[np.float64]) -> float:
        return condition(*map(float, point))[1]

    events: list[Any] = [lambda _, point, gamma=gamma: point[1] - gamma for gamma in targets.tolist()]
    events[-1].terminal = True
    folded.terminal = True  # type: ignore[attr-defined]
    tolerance = [1e-10, 1e-10 * targets[-1]]
    curve = scipy.integrate.solve_ivp(
        tangent,
        (0, math.inf),
        [start, 0.0],
        events=[*events, folded],
        rtol=1e-8,
        atol=tolerance,
        max_step=5e-3,
    )

    m_at = np.full(len(targets), math.nan)
    for k, (gamma, points) in enumerate(zip(targets.tolist(), curve.y_events[:-1], strict=True)):
        if len(points):
            theta = float(points[0][0])
            for _ in range(3):  # Newton, from next to the solution
                g, by_theta, _ = condition(theta, gamma, H)
                theta -= g / by_theta
            m_at[k] = math.tanh(theta)
    m[gammas > 0] = m_at[place]
    return m


def _rounded(terms: tuple[float, ...]) -> float:
    """Sum of the terms, and exactly 0 where rounding alone makes it differ: its sign decides the case."""
    total = math.fsum(terms)
    return 0.0 if abs(total) < 1e-14 * sum(map(abs, terms)) else total


def _Phi_terms(m: Any, moments: SpinMoments) -> tuple[Any, ...]:
    n, N = moments.n, moments.N
    a, b = _phi1_coefficients(moments, None)
    return a * m**2, b * m**4, -(n - 1) * N / (4 * n) * moments.C2, (n - 1) / (4 * n)


def _phi2_terms(m: Any, moments: SpinMoments, tau: float | None) -> tuple[Any, ...]:
    a, b, c, d, f = _phi2_coefficients(moments, tau)
    v = 1 - m**2
    return a * m**2 * v, b * v**2, c * m**2 * v**2, d * m**4 * v**2, f * (1 - m**4) ** 2


def _phi1_coefficients(moments: SpinMoments, tau: float | None) -> tuple[float, float]:
    n, N = moments.n, moments.N
    tau = -N if tau is None else tau
    K = tau * (tau - 1) / 2
    return -(n - 1) * tau * moments.C1 / (2 * n), -(n - 1) * K / (2 * n * N)


def _phi2_coefficients(moments: SpinMoments, tau: float | None) -> tuple[float, float, float, float, float]:
    n, N = moments.n, moments.N
    tau = -N if tau is None else tau
    K = tau * (tau - 1) / 2
    return (
        -((n - 1) ** 2) * tau * N * moments.Omega / (2 * n**2),
        -(n - 1) * tau * N * moments.C2 / (4 * n**2),
        -(n - 1) * K * moments.C1 / n**2,
        -(n - 1) * K * (n + tau - 3) / (2 * n**2 * N),
        -(n - 1) * K / (4 * n**2 * N),
    )


def _fit(stats: SpinStatistics, options: Options) -> Estimate:
    moments = stats.moments
    fit = fit_plefka(moments)
    gamma_error, H_error = plefka_errors(fit, moments)
    warnings: tuple[Warning, ...] = ()
    if fit.case == "infinite":
        text = (
            "The evidence grows without bound in gamma, which is infinite, that is, unknown: the second order of the "
            f"expansion is not enough for N = {moments.N} samples of n = {moments.n} spins."
        )
        warnings = (BoundWarning(text),)
    elif options.prior == "laplace":
        warnings = _check_laplace(fit.gamma, stats)
    evidence_at = Evidence("surface", partial(evidence, moments=moments))
    return Estimate(
        fit.gamma, gamma_error, fit.H, H_error, case=fit.case, evidence=evidence_at, warnings=warnings
    )


def _check_laplace(gamma: float, stats: SpinStatistics) -> tuple[Warning, ...]:
    """Whether the condition holds under which the Laplace prior gives the Gaussian result."""
    n, N, M = stats.n, stats.N, stats.moments.M
    if laplace_equals_gaussian(gamma, n, N * (1 + M**2)):  # |d_ij| is at most 1
        return ()
    largest = stats.largest_pair_sum(M**2)
    if laplace_equals_gaussian(gamma, n, largest):
        return ()
    text = (
        "The Laplace prior gives the Gaussian result, which is what is reported, if xi = sqrt(2n/gamma) > N max "
        f"|d_ij - M^2|: found {xi(gamma, n):.3g} and {largest:.3g}. Fewer samples meet the condition; otherwise take "
        "gamma as approximate."
    )
    return (LaplaceWarning(text),)


def _angle(stats: SpinStatistics) -> float:
    return fit_plefka(stats.moments).angle


def _statistic(found: Estimate, gamma: float, options: Options) -> Statistic:
    return _angle


METHOD = Method(
    name="plefka",
    about="the paper's closed form",
    fit=_fit,
    statistic=_statistic,
    least_samples=2,
    priors=("gaussian", "laplace"),
    evidence=True,
    saturates=True,
    biased=True,
    holds="N of about 0.4 n without a field, few samples with a field",
)
