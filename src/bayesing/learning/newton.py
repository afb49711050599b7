r"""Newton steps for the true likelihood, with curvatures from samples.

With the priors :math:`J_{ij} \sim N(0, 1/\lambda)`, :math:`\lambda = n/\gamma`, and :math:`b_i \sim N(\beta_i, 1)`
(:mod:`bayesing.conditionals`) the slopes of the log posterior in centred parameters are (zero diagonal)

.. math::

    G_{ij} = N (\langle z_i z_j \rangle_{\text{data}} - \langle z_i z_j \rangle) - \lambda J_{ij} , \qquad
    g_i = N (d_i - m_i) - (b_i - \beta_i) .

**Metric.** In the eigenvectors V of the model's covariance, :math:`y = V^T z`, the curvature is nearly diagonal, and
its diagonal is :math:`N W_{kl} + \lambda`, :math:`W_{kl} = \operatorname{Var}(y_k y_l)` over the samples (half of it
for k = l). Gaussian spins would have :math:`W_{kl} = c_k c_l`; near the spin glass they are far from it, and steps
would have to be ten times shorter. The products y_k y_l have squares z_i^2 in them, which no coupling multiplies, and
which vary widely for rare spins. Where they count, W is scaled down: summed over pairs i < j the curvatures are not
above N Var(z_i z_j), or data would seem to say more of gamma than they do, and it would end at 0. For fields the
metric is N C + 1.

**Step.** Fields first, then couplings given what the fields do, then fields again; or, where samples are many more
than parameters, conjugate gradients on the curvature of the samples, mended with that of the metric.

**Two halves.** A step that is computed from the slopes *and* curvatures of the same samples is biased: it fits the
noise of p parameters, and how the noise of the slopes goes along with that of the curvatures, their third moments,
adds up over all of them. With :math:`p \approx A/4` this kept the mean activity of rare spins 5 standard errors off,
for ever. So slopes come from one half of the chains and curvatures from the other, and vice versa. The product of the
slopes of one half with the step of the other is then an honest measure of what is left to gain.

**Missing cells** take some of the curvature away: W and C are less then, component by component in the basis
(:class:`~bayesing.learning.phases.Lost`), and the curvature of samples is scaled down by what is left on average.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass

import numpy as np

from ..types import Array
from .phases import LEAST_LEFT, Data, Free, Lost, blank, field_precision, variances_of_pairs
from .population import worth

_RIDGE = 1e-3  # added to the covariance: directions in which spins do not move
_FLOOR = 0.1  # of W, relative to Gaussian spins
_SAMPLES = 4  # per parameter, for conjugate gradients
_MOST_STEPS = 4
_ACCURACY = 0.1  # of conjugate gradients
_STANDS_OUT = 3.0  # standard deviations
HIDDEN = 0.3  # share of a step that is taken where slopes do not
WORTH = 0.5  # of the samples after a step, at least

LEAST_GAMMA, MOST_GAMMA = 1e-4, 400.0  # J from 0.01 to 20

Pair = tuple[Array, Array]  # of couplings and fields
#: Is told the share of the work that is done.
Told = Callable[[float], object]


class Metric:
    """The curvature in the eigenvectors of the covariance: N W + lam for couplings, N c + 1 for fields.

    Where there are hidden units, the 1 is the mean precision of the prior over what a direction consists of.
    """

    def __init__(
        self, free: Free, N: int, lam: float | Array, lost: Lost | None = None, hidden: int = 0
    ) -> None:
        self.N, self.lam, self.hidden = N, lam, hidden
        c, self.V = np.linalg.eigh(free.covariance + _RIDGE * np.eye(len(free.m)))
        self.c = np.maximum(c, _RIDGE / 2)
        W, P = free.fourth(self.V), self.V**2
        with_squares = float(W.sum() + np.trace(W)) / 2 - float(np.vdot(W, P.T @ P))
        pairs = free.fourth(np.eye(len(W))) if hidden else variances_of_pairs(free.m, free.covariance)
        if with_squares > 0:
            W *= min(float(pairs.sum() - np.trace(pairs)) / 2 / with_squares, 1.0)
        self.W = np.maximum(W, _FLOOR * np.outer(self.c, self.c))
        #: Variances under the model, of which W and c are what data with missing cells tell.
        self.full_W, self.full_c = self.W, self.c
        #: Roots of what is left of both, on average.
        self.left: tuple[float, float] = (1.0, 1.0)
        self.noise = 0.0  # of the data's own averages, as that of 1/noise samples
        self.chains = 0  # of an incomplete row, which this noise is of
        if lost is not None:
            self._lose(lost)

    def _lose(self, lost: Lost) -> None:
        W, c = lost.fourth(self.V)
        self.W = np.maximum(self.full_W - W, LEAST_LEFT * self.full_W)
        self.c = np.maximum(self.full_c - c, LEAST_LEFT * self.full_c)
        left = float(self.W.sum() / self.full_W.sum())
        self.left = math.sqrt(left), math.sqrt(float(self.c.sum() / self.full_c.sum()))
        self.chains = lost.copies
        self.noise = (1 - left) / (self.N * lost.copies)

    def at(self, lam: float | Array) -> Metric:
        """The same for a prior of another precision."""
        other = copy(self)
        other.lam = lam
        return other

    def with_fewer(self, most: int) -> Metric:
        """The same for averages over the data from so many chains of a row at most."""
        other = copy(self)
        other.chains = min(self.chains, most)
        other.noise *= self.chains / other.chains if other.chains else 1.0
        return other

    @property
    def K(self) -> Array:
        """Posterior variances of the couplings in the basis."""
        lam = self.lam
        if isinstance(lam, np.ndarray):  # its mean over what a direction consists of
            P = self.V**2
            lam = P.T @ lam @ P
        return np.asarray(1 / (self.N * self.W + lam))

    @property
    def k(self) -> Array:
        """Those of the fields."""
        precision = field_precision(len(self.c), self.hidden)
        if isinstance(precision, np.ndarray):
            precision = self.V.T**2 @ precision
        return np.asarray(1 / (self.N * self.c + precision))

    @property
    def used(self) -> float:
        """How many parameters the data determine: n fields, and couplings as far as they beat the prior."""
        share = self.N * self.W * self.K
        return float((share.sum() - np.trace(share)) / 2) + len(self.c)

    def rotate(self, G: Array, weights: Array, within: bool = False) -> Array:
        """V [weights o (V^T G V)] V^T, with zero diagonal; G itself in place of V^T G V, if it is ``within`` V."""
        V = self.V
        out: Array = V @ ((G if within else V.T @ G @ V) * weights) @ V.T
        return blank(out, self.hidden)

    def couplings(self, G: Array) -> Array:
        """The step of the couplings for slopes G."""
        return self.rotate(G, self.K)

    def fields(self, g: Array) -> Array:
        """The step of the fields for slopes g."""
        return np.asarray(self.V @ ((self.V.T @ g) * self.k))

    def of_one(self, J: Array, b: Array) -> Pair:
        """The curvature of one sample, without the prior, times a step."""
        return self.rotate(J, self.W), self.V @ (self.c * (self.V.T @ b))

    def variances(self, d: Array) -> Pair:
        r"""Posterior variances of J_ij, and of the fields :math:`h = b - J d`."""
        K, P = self.K, self.V**2
        J: Array = P @ K @ P.T
        e = self.V.T @ d
        moved = self.V * e
        h = P @ self.k + P @ (K @ e**2) + np.sum((moved @ K) * moved, axis=1)
        return (J + J.T) / 2, h


@dataclass(frozen=True, eq=False)
class Place:
    """Couplings, fields, the strength of the prior, and the curvature there."""

    J: Array
    h: Array
    gamma: float
    metric: Metric


@dataclass(frozen=True, eq=False)
class Step:
    """Where to go, by all samples and, for the couplings, by either half; the slope along it without their noise."""

    J: Array
    b: Array
    halves: Pair
    signal: float


def slopes(data: Data, free: Free, J: Array, b: Array, lam: float | Array) -> Pair:
    """Of the log posterior, along J and b; ``lam`` 0 is that of the likelihood and the fields' prior alone."""
    N = data.N
    G = blank(N * (data.C - free.second) - lam * J, data.hidden)
    return G, N * (data.mean - free.m) - data.precision * (b - data.middle)


def step(data: Data, halves: tuple[Free, Free], at: tuple[Pair, Pair], metric: Metric) -> Step:
    """Newton's step for the slopes ``at`` of the two halves, each with the curvature of the other."""
    pairs = [direction(data, other, *mine, metric) for mine, other in zip(at, reversed(halves), strict=True)]
    dJ, db = ((a + b) / 2 for a, b in zip(*pairs, strict=True))
    signal = sum(inner(*mine, *other) for mine, other in zip(at, reversed(pairs), strict=True)) / 2
    return Step(dJ, db, (pairs[0][0], pairs[1][0]), signal)


def filtered(
    at: tuple[Pair, Pair], metric: Metric, A: float, hidden: float, trust: float
) -> tuple[Pair, Pair]:
    """The slopes of two halves of A samples, each component in the basis by itself.

    Those that stand out of the noise are taken times ``trust``: they are the few collective ones, whose curvature is
    not that of the metric. The many others, noise for the most part, are taken times ``hidden``.
    """
    (Ga, ga), (Gb, gb) = at
    V, N = metric.V, metric.N

    def kept(slope: Array, variance: Array) -> Array:
        return np.where(slope**2 > _STANDS_OUT**2 * variance, trust, hidden)

    J = kept(V.T @ (Ga + Gb) @ V / 2, N**2 * metric.full_W / A)
    b = kept(V.T @ (ga + gb) / 2, N**2 * metric.full_c / A)
    return (metric.rotate(Ga, J), V @ (b * (V.T @ ga))), (metric.rotate(Gb, J), V @ (b * (V.T @ gb)))


def largest(at: tuple[Pair, Pair], metric: Metric, A: float) -> float:
    """The largest slope by all samples, component by component in the basis, in standard deviations for A samples."""
    (Ga, ga), (Gb, gb) = at
    V, N = metric.V, metric.N
    J = np.abs(V.T @ (Ga + Gb) @ V / 2) / np.sqrt(N**2 * metric.full_W / A)
    b = np.abs(V.T @ (ga + gb) / 2) / np.sqrt(N**2 * metric.full_c / A)
    return float(max(J.max(), b.max()))


def is_precise(free: Free, metric: Metric) -> bool:
    """Whether samples are so many that Newton's direction takes their curvature, and not that of the metric alone."""
    return free.B >= _SAMPLES * metric.used


def direction(data: Data, free: Free, G: Array, g: Array, metric: Metric) -> Pair:
    """Newton's direction for slopes G and g, with the curvature of the samples ``free``."""
    N = data.N * metric.left[0] * metric.left[1]
    dJ = metric.couplings(G - N * free.pairs_answer(metric.fields(g)))
    db = metric.fields(g - N * free.means_answer(dJ))
    if not is_precise(free, metric):
        return dJ, db
    return _conjugate_gradients(data, free, G, g, metric, dJ, db)


def curvature(data: Data, free: Free, metric: Metric, J: Array, b: Array, mixed: float = 0.0) -> Pair:
    """That of the log posterior, by samples and, with the share ``mixed``, by the metric, times a step."""
    N, (of_pairs, of_means) = data.N, metric.left
    AJ, Ab = free.response(of_pairs * J, of_means * b)
    AJ, Ab = of_pairs * AJ, of_means * Ab
    if mixed:
        rough = metric.of_one(J, b)
        AJ, Ab = ((1 - mixed) * x + mixed * y for x, y in zip((AJ, Ab), rough, strict=True))
    AJ = blank(N * AJ + metric.lam * J, metric.hidden)
    return AJ, N * Ab + data.precision * b


def _conjugate_gradients(
    data: Data, free: Free, G: Array, g: Array, metric: Metric, J: Array, b: Array
) -> Pair:
    mixed = metric.used / (metric.used + free.B)
    first = inner(G, g, metric.couplings(G), metric.fields(g))
    AJ, Ab = curvature(data, free, metric, J, b, mixed)
    rJ, rb = G - AJ, g - Ab
    pJ, pb = metric.couplings(rJ), metric.fields(rb)
    size = inner(rJ, rb, pJ, pb)
    for _ in range(_MOST_STEPS):
        if size < _ACCURACY**2 * first:
            break
        AJ, Ab = curvature(data, free, metric, pJ, pb, mixed)
        rate = size / inner(pJ, pb, AJ, Ab)
        J, b, rJ, rb = J + rate * pJ, b + rate * pb, rJ - rate * AJ, rb - rate * Ab
        zJ, zb = metric.couplings(rJ), metric.fields(rb)
        before, size = size, inner(rJ, rb, zJ, zb)
        pJ, pb = zJ + size / before * pJ, zb + size / before * pb
    return J, b


def length(u: Array, slope: float, N: int, curvature: float, most: float = 1.0) -> float:
    r"""How far to go along a step that changes the exponents of samples by ``u``.

    The log likelihood along it is :math:`N [t \bar u - \ln \langle e^{t u} \rangle]`, known from the samples as long
    as their weights are worth ``WORTH``; ``curvature`` is that of the prior. The root of its slope, or the end.
    """
    u = u - u.mean()

    def rises(t: float) -> bool:
        w = np.exp(t * u - (t * u).max())
        return slope - N * float(w @ u / w.sum()) - t * curvature >= 0 and worth(t * u) >= WORTH

    if slope <= 0:
        return 0.0
    if rises(most):
        return most
    low, high = 0.0, most
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if rises(middle) else (low, middle)
    return low


def inner(G: Array, g: Array, J: Array, b: Array) -> float:
    """Of slopes and a step, each pair i < j once."""
    return float(np.vdot(G, J)) / 2 + float(g @ b)


def slowness(series: list[Array]) -> float:
    """How many samples in a row are worth one, from values (times, chains) of each group of independent chains."""
    times = len(series[0])
    of_chains = np.concatenate([x.mean(axis=0) - x.mean() for x in series])
    single = np.concatenate([(x - x.mean()).ravel() for x in series])
    spread = float(single.var())
    return max(1.0, times * float(of_chains.var()) / spread) if spread > 0 and math.isfinite(spread) else 1.0
