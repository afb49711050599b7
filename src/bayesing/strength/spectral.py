r"""The evidence with all ring diagrams, from one eigendecomposition.

Standardise the spins that vary, :math:`z_i = (s_i - m_i)/\sqrt{v_i}` with :math:`v_i = 1 - m_i^2`, and let
:math:`d_k` be the eigenvalues of :math:`D = Z^T Z/N`. Put :math:`\nu = N - 1`, :math:`a = \nu/n`, and let
:math:`g = \gamma (1-q)^2` be the variance of the standardised couplings, times n. In a dense model ln Z takes the
spherical (adaptive TAP) form, and the log posterior of the coupling matrix J is

.. math::

    F = -\frac{n}{4g} \operatorname{tr} J^2 + \frac\nu2 \operatorname{tr} J D
        + \frac\nu2 \ln\det(\lambda - J) - \frac{\nu n}{2} (\lambda - 1),

stationary in :math:`\lambda`. Its maximum has the eigenvectors of D and the eigenvalues :math:`j_k = a g (d_k
- c_k)`,

.. math::

    c_k = \frac{1}{\lambda - j_k}, \quad \text{the positive root of} \quad
    a g c_k^2 + (\lambda - a g d_k) c_k = 1, \qquad \frac1n \sum_k c_k = 1 .

With the Gaussian fluctuations of the n(n-1)/2 couplings around it the evidence is

.. math::

    \ln P(D \mid g) = F - \frac12 \sum_{k<l} \ln(1 + a g c_k c_l) .

(With couplings J_kk of variance 2g/n as well, the sum would be over k <= l, and lambda would respond to them,
which adds :math:`\frac12 \ln [\sum_k c_k^2 / \sum_k c_k^2/(1 + a g c_k^2)]`. Without them there is nothing to
respond to.)

Loops beyond these shift its maximum down, by 10% in J where N = n/3, whatever n. They need not be summed to be
removed: if the data have the strength g, the d_k follow a known law (:func:`law`), and the score
:math:`\partial \ln P / \partial \ln g` has a known mean. The corrected estimate is where the score equals it.

Cost: the eigenvalues of the smaller Gram matrix, O(n N min(n, N)); each g after that is O(min(n, N)).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import numbers
from ..exceptions import InputError, Setting
from ..roots import root
from ..spectrum import Spectrum, saddle
from ..statistics import SpinStatistics
from ..types import Array
from ._method import Estimate, Evidence, Method, Options, Statistic, with_field

LARGEST_G = 25.0  # of g
_LAW_ENDS = 0.9  # g up to which the law of the spectrum is used
_FADED_OUT = 1.3  # g from which nothing is made of it


def log_evidence(g: float, s: Spectrum) -> float:
    """ln P(D | g), up to what does not depend on g; 0 at g = 0."""
    at = saddle(g, s)
    n, nu, w, c, j = s.n, s.nu, s.w, at.c, at.j
    ag = nu / n * g
    F = (
        -n / (4 * g) * float(w @ j**2)
        + nu / 2 * float(w @ (j * s.d))
        - nu / 2 * float(w @ np.log(c))
        - nu * n / 2 * (at.lam - 1)
    )
    nodes, weights = _compress(c, w)
    pairs = weights @ np.log1p(ag * np.outer(nodes, nodes)) @ weights
    pairs = (pairs - float(w @ np.log1p(ag * c**2))) / 2  # k < l
    return F - float(pairs) / 2


def score(g: float, s: Spectrum) -> float:
    """d ln P(D | g) / d ln g. F is stationary in j and lambda; the fluctuations are not."""
    at = saddle(g, s)
    w, c, j = s.w, at.c, at.j
    ag = s.nu / s.n * g
    p = ag * c**2 / (1 + ag * c**2)
    kappa = p / ag
    e = kappa / c * (j - float(w @ (kappa * j)) / float(w @ kappa))  # d ln c / d ln g
    nodes, weights = _compress(c, np.stack([w, w * (1 + 2 * e)]))
    P = ag * np.outer(nodes, nodes)
    pairs = weights[0] @ (P / (1 + P)) @ weights[1]
    pairs = (pairs - float(w @ (p * (1 + 2 * e)))) / 2
    return s.n / (4 * g) * float(w @ j**2) - float(pairs) / 2


def law(g: float, nu: float, n: float, nodes: int = 200) -> Spectrum:
    r"""The spectrum of D where the couplings have strength g < 1, for large n.

    The correlations have the matrix :math:`(1 + g - J)^{-1}` with J of Wigner's semicircle, of transform
    G(x) = (x - sqrt(x^2 - 4g))/2g, and D is a sample covariance of it (Marchenko and Pastur, Silverstein):
    :math:`z = -1/v + G(1 + g + v)/a`, where v is the transform of the spectrum of Z Z^T/N. In terms of G,

    .. math:: z = \frac{G}{a} - \frac{G}{(1 - G)(1 - gG)}, \qquad v = \frac{(1 - G)(1 - gG)}{G} .
    """
    a = nu / n
    quadratic = np.array([g, -(1 + g), 1.0])  # (1 - G)(1 - gG)
    edge = 1 / math.sqrt(g)  # of G, at the edges of the semicircle

    def turning(G: float) -> float:
        """Has the sign of dz/dG, which is 0 at the edges of the spectrum."""
        return ((1 - G) * (1 - g * G)) ** 2 / a - (1 - g * G**2)

    ends = np.array([root(turning, -edge, 1.0), root(turning, 1.0, edge)])
    low, high = np.sqrt(np.maximum(ends / a - ends / np.polyval(quadratic, ends), 0))
    # Even in the angle: the density vanishes at the edges as a square root, and may diverge at d = 0.
    angle = (np.arange(nodes) + 0.5) * (math.pi / nodes)
    x = (low + high) / 2 - (high - low) / 2 * np.cos(angle)
    d = x**2
    # G^3 = c_0 + c_1 G + c_2 G^2, with one real root R and the pair that we want.
    c0, c1, c2 = d * a / g, (a - 1 - d * a * (1 + g)) / g, d * a + (1 + g) / g
    R = _real_root(c0, c1, c2)
    half = (c2 - R) / 2  # Re G, and c_0/R is |G|^2
    G = half + 1j * np.sqrt(np.maximum(c0 / R - half**2, 0.0))
    density = np.abs((np.polyval(quadratic, G) / G).imag)  # up to a factor
    w = density * x * (high - low) * np.sin(angle) * (math.pi / nodes)
    w *= min(a, 1) / w.sum()
    if a < 1:
        d, w = np.append(d, 0.0), np.append(w, 1 - a)
    return Spectrum(d, n * w, nu)


def _real_root(c0: Array, c1: Array, c2: Array) -> Array:
    """The only real root of x^3 = c_0 + c_1 x + c_2 x^2, by Cardano's formula and two steps of Newton's method."""
    p, q = -c1 - c2**2 / 3, -2 * c2**3 / 27 - c1 * c2 / 3 - c0
    discriminant = np.sqrt(np.maximum(q**2 / 4 + p**3 / 27, 0.0))
    u = np.cbrt(-q / 2 - np.copysign(discriminant, q))
    x = c2 / 3 + u - p / (3 * u)
    for _ in range(2):
        x = x - (((x - c2) * x - c1) * x - c0) / ((3 * x - 2 * c2) * x - c1)
    return np.asarray(x)


def law_at(g: float, nu: float, n: float) -> Spectrum:
    """The law with the second moment of a finite correlation matrix, whose diagonal is 1 in every sample.

    Sums of d^2 are n chi + n^2/nu by the law, but n chi + n (n-1)/nu in truth: non-zero eigenvalues are moved
    towards their mean.
    """
    limit = law(g, nu, n)
    mean = max(n / nu, 1.0)
    excess = n / (1 - g) + n * n / nu - n * mean  # sum of (d - mean)^2
    shrink = math.sqrt(max(1 - n / nu / excess, 0.0))
    d = np.where(limit.d > 0, np.maximum(mean + shrink * (limit.d - mean), 0.0), 0.0)
    return Spectrum(d, limit.w, nu)


def mean_score(g: float, nu: float, n: float) -> float:
    """The score that data of strength g have on average.

    The law holds for g < 1, in the paramagnet. From 0.9 to 1.3 the last value is faded out: beyond, in the spin
    glass, nothing better than the maximum of the evidence is known.
    """
    fade = 1 - math.log(max(g / _LAW_ENDS, 1.0)) / math.log(_FADED_OUT / _LAW_ENDS)
    if fade <= 0:
        return 0.0
    g = min(g, _LAW_ENDS)
    return fade * score(g, law_at(g, nu, n))


@dataclass(frozen=True, eq=False)
class SpectralFit:
    """gamma with its standard error, the maximum of the evidence itself, and a bound it hit, if any."""

    gamma: float
    gamma_error: float
    gamma_uncorrected: float
    bound: float | None
    spectrum: Spectrum

    def evidence(self, gamma: float) -> float:
        """ln P(D | gamma) relative to gamma = 0."""
        return log_evidence(gamma / self.spectrum.scale, self.spectrum) if gamma > 0 else 0.0


def fit_spectral(stats: SpinStatistics, without_mean: bool = False) -> SpectralFit:
    """gamma where the score has its mean: the maximum of the evidence, corrected for the loops left out.

    ``without_mean`` leaves out the direction in which a mean coupling acts.
    """
    spectrum = stats.spectrum_without_mean if without_mean else stats.spectrum
    nu, n, scale = spectrum.nu, spectrum.n, spectrum.scale
    if stats.N < METHOD.least_samples or math.isinf(scale):
        raise InputError(
            Setting("method", METHOD.name),
            f" needs at least {METHOD.least_samples} samples: found {stats.N}.",
        )

    def own_score(u: float) -> float:
        return score(math.exp(u), spectrum)

    def excess(u: float) -> float:
        return own_score(u) - mean_score(math.exp(u), nu, n)

    # The smallest g is well below 2/N, what noise amounts to.
    ends = math.log(min(0.03**2, 0.05 / nu)), math.log(LARGEST_G)
    grid = np.linspace(*ends, 16).tolist()
    k = int(np.argmax([log_evidence(math.exp(u), spectrum) for u in grid]))
    mode = _falls(own_score, grid[k], 0.1, ends)
    peak = _falls(excess, mode, 0.05, ends)
    zero, bound = peak == ends[0], {ends[0]: 0.0, ends[1]: LARGEST_G * scale}.get(peak)
    # Slopes in g, of excess/g, which also exist at g = 0. As for any score, the variance is that of the slope.
    g = math.exp(peak)
    near = (0.5 / nu, 1 / nu) if zero else (g * 0.99, g * 1.01)
    slope = (excess(math.log(near[1])) / near[1] - excess(math.log(near[0])) / near[0]) / (near[1] - near[0])
    if zero:  # the information of few pairs scatters: not below a quarter of that of independent spins
        slope = min(slope, -n * (n - 1) / 4 * (nu / n) ** 2 / 4)
    return SpectralFit(
        gamma=0.0 if zero else g * scale,
        gamma_error=scale / math.sqrt(-slope) if slope < 0 else math.inf,
        gamma_uncorrected=0.0 if mode == ends[0] else math.exp(mode) * scale,
        bound=bound,
        spectrum=spectrum,
    )


def score_per_pair(stats: SpinStatistics, gamma: float, without_mean: bool = False) -> float:
    """The score per pair at a given gamma: without a search, it tells as much of the data's gamma as the maximum."""
    spectrum = stats.spectrum_without_mean if without_mean else stats.spectrum
    return score(gamma / spectrum.scale, spectrum) * 2 / (spectrum.n * (spectrum.n - 1))


def _falls(f: Callable[[float], float], u: float, step: float, ends: tuple[float, float]) -> float:
    """Where f falls through 0, from a bracket that widens from u; or the one of the ``ends`` that it runs into."""
    sign = 1.0 if f(u) > 0 else -1.0
    while True:
        v = min(max(u + sign * step, ends[0]), ends[1])
        if v == u:
            return u
        if sign * f(v) <= 0:
            return root(f, u, v, 1e-10)
        u, step = v, 1.5 * step


_UNCOMPRESSED = 128  # points that stay as they are
_NODES = (8, 16, 32, 64)


@cache
def _chebyshev(K: int) -> tuple[Array, Array]:
    """K nodes in (-1, 1), and the matrix from moments of Chebyshev's polynomials to weights at the nodes."""
    nodes = np.polynomial.chebyshev.chebpts1(K)
    return nodes, np.asarray(np.linalg.inv(np.polynomial.chebyshev.chebvander(nodes, K - 1)).T, np.float64)


def _compress(c: Array, w: Array) -> tuple[Array, Array]:
    """Nodes and weights with sum_k w_k f(ln c_k) = sum_m weight_m f(ln node_m) for smooth f: Chebyshev's, of ln c.

    It turns sums over pairs of n points into sums over pairs of K <= 64: ln(1 + e^x) is analytic for |Im x| < pi,
    and K nodes leave an error of rho^-K, with the ellipse rho = t + sqrt(1 + t^2), t = 2 pi/range. It is below 1e-12
    up to a range of x of 14, that is, of c of a million. Few points stay as they are.
    """
    if len(c) <= _UNCOMPRESSED:
        return c, w
    x = np.log(c)
    middle, half = (x.max() + x.min()) / 2, max((x.max() - x.min()) / 2, 1e-9)
    needed = math.log(1e12) / math.asinh(math.pi / half)
    K = next((K for K in _NODES if needed <= K), _NODES[-1])
    basis = np.polynomial.chebyshev.chebvander((x - middle) / half, K - 1)
    angles, to_nodes = _chebyshev(K)
    return np.exp(middle + half * angles), (w @ basis) @ to_nodes.T


def _evidence(H: ArrayLike, gamma: ArrayLike, fit: SpectralFit, scale: int) -> Array:
    """Per spin and sample, whatever H."""
    strengths = np.broadcast_arrays(numbers("H", H), numbers("gamma", gamma, least=0))[1]
    return np.asarray(np.vectorize(fit.evidence, otypes=[float])(strengths) / scale)


def estimate_of(fit: SpectralFit, stats: SpinStatistics, options: Options) -> Estimate:
    """What every method gives, from a fit that has been made."""
    evidence = Evidence("curve", partial(_evidence, fit=fit, scale=stats.n * stats.N))
    return with_field(stats, fit.gamma, fit.gamma_error, options, fit.bound, evidence)


def _fit(stats: SpinStatistics, options: Options) -> Estimate:
    return estimate_of(fit_spectral(stats, options.mean_coupling), stats, options)


def _statistic(found: Estimate, gamma: float, options: Options) -> Statistic:
    return partial(score_per_pair, gamma=gamma, without_mean=options.mean_coupling)


METHOD = Method(
    name="spectral",
    about="evidence of all ring diagrams, from one eigendecomposition",
    fit=_fit,
    statistic=_statistic,
    mean_coupling=True,
    evidence=True,
    holds="any N, any fields, up to the spin glass; the most precise",
)
