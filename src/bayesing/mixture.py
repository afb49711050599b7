r"""Which numbers are 0? A mixture prior whose weights the data tell.

Data say of each of p numbers :math:`J_k` that it is :math:`b_k`, with the precision :math:`q_k`: a normal likelihood
:math:`b_k \sim N(J_k, 1/q_k)`. The prior, the same for all, is a point mass at 0 and normals,

.. math:: P(J) = \pi_0 \delta(J) + \sum_{c \ge 1} \pi_c N(J; \mu_c, \sigma_c^2) ,

so that :math:`b_k` has the density :math:`\sum_c \pi_c N(b_k; \mu_c, \sigma_c^2 + 1/q_k)`. Its weights are those of
largest marginal likelihood (M. Stephens, *False discovery rates: a new deal*, Biostatistics 18, 275, 2017), by
expectation and maximisation. Given them, the posterior of a number is a mixture again.

Two priors serve two questions:

- **How large?** :func:`learn_grid`: many widths around 0, whose weights can take any shape. The point mass and the
  narrowest normals are alike, so that its :math:`\pi_0` means nothing.
- **Is it there?** :func:`learn_edges`: a point mass and one normal around 0, or two normals around :math:`\pm\mu`, of
  equal weights or not, if these are more probable by a factor of more than p for each number that is learned. Ten
  numbers more than there are count as 0, so that none is said to be there where data do not tell.

**False discoveries.** Numbers that are said to be there, each with the probability P, hold a share of mean(1 - P)
that are not. :func:`discoveries` takes as many as can be had for a given share.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from .types import Array, Flags

#: Widths of the grid: from far below any error to larger than any coupling that data can tell from infinity.
WIDTHS = 0.01 * 2.0 ** np.arange(8)
_STEPS = 300  # of EM; with fewer, where weights end depends on where they began
_ENOUGH = 1e-7  # gain for each number that ends it
_NARROWEST = 0.02  # deviation of a normal of what is there, so that it is no second point mass
_SLIMMEST = 0.15  # the same for two normals, as a share of their distance from 0
_LEAST_SITE, _MOST_SITE = 1e-3, 1e6  # precision of a site, in units of that of the data
_LEAST_VARIANCE = 1e-14  # of numbers that are certainly 0
_ABSENT = 10.0  # numbers that count as 0 besides the data, as Stephens has it
_CLEAR = 3.0  # standard errors from which a number is certainly there, to start from
_LEAST_CLEAR = 5  # of them


@dataclass(frozen=True, eq=False)
class Mixture:
    """Weights, centres and variances of the parts of a prior; the first is the point mass at 0."""

    weights: Array
    centres: Array
    variances: Array

    def given(self, b: Array, q: Array) -> MixturePosterior:
        """What is known of numbers that data say are b, with precision q."""
        return MixturePosterior(self, b, q)


@dataclass(frozen=True, eq=False)
class MixturePosterior:
    """What is known of p numbers, given a prior, b and q; arrays of parts are (p, parts)."""

    prior: Mixture
    b: Array
    q: Array

    @cached_property
    def _joint(self) -> tuple[Array, Array]:
        """ln of weight times density of b for each part, and the largest of each number."""
        total = 1 / self.q[:, None] + self.prior.variances
        with np.errstate(divide="ignore"):  # a weight may be 0
            log_weights = np.log(self.prior.weights)
        square = (self.b[:, None] - self.prior.centres) ** 2
        joint = log_weights - (np.log(2 * math.pi * total) + square / total) / 2
        return joint, joint.max(axis=1, keepdims=True)

    @cached_property
    def log_likelihood(self) -> float:
        """ln P(b | prior), of all numbers."""
        joint, most = self._joint
        return float((most[:, 0] + np.log(np.exp(joint - most).sum(axis=1))).sum())

    @cached_property
    def shares(self) -> Array:
        """Probability that a number belongs to a part."""
        joint, most = self._joint
        shares = np.exp(joint - most)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    @cached_property
    def part_variances(self) -> Array:
        """Of a number that belongs to a part."""
        return np.asarray(self.prior.variances / (1 + self.q[:, None] * self.prior.variances))

    @cached_property
    def part_means(self) -> Array:
        """Of a number that belongs to a part."""
        q, variances = self.q[:, None], self.prior.variances
        return np.asarray((q * self.b[:, None] * variances + self.prior.centres) / (1 + q * variances))

    @cached_property
    def mean(self) -> Array:
        """Of each number."""
        return np.asarray((self.shares * self.part_means).sum(axis=1))

    @cached_property
    def variance(self) -> Array:
        """Of each number."""
        spread = (self.part_means - self.mean[:, None]) ** 2
        return np.asarray((self.shares * (self.part_variances + spread)).sum(axis=1))

    @property
    def mean_square(self) -> float:
        """Of all numbers, as large as they probably are."""
        return float(np.mean(self.mean**2 + self.variance))

    @cached_property
    def probabilities(self) -> Array:
        """That a number is not 0."""
        return np.asarray(1 - self.shares[:, 0])

    @cached_property
    def _below(self) -> Array:
        """Probability that a number is below 0."""
        deviations = np.sqrt(self.part_variances[:, 1:])
        below = self.shares[:, 1:] * scipy.special.ndtr(-self.part_means[:, 1:] / deviations)
        return np.asarray(below.sum(axis=1))

    @cached_property
    def false_signs(self) -> Array:
        """Probability that a number does not have the sign it most probably has: it has the other, or is 0."""
        return np.asarray(1 - np.maximum(self._below, self.probabilities - self._below))

    def false_signs_of(self, estimates: Array) -> Array:
        """Probability that a number does not have the sign of its estimate: it has the other, or is 0."""
        return np.asarray(1 - np.where(estimates < 0, self._below, self.probabilities - self._below))

    def site(self) -> tuple[Array, Array]:
        """Precision tau and slope nu of the normal exp(-tau J^2/2 + nu J) that gives the same mean and variance."""
        tau = 1 / np.maximum(self.variance, _LEAST_VARIANCE) - self.q
        tau = np.clip(tau, _LEAST_SITE * self.q, _MOST_SITE * self.q)
        return tau, self.mean * (self.q + tau) - self.b * self.q

    def draw(self, rng: np.random.Generator) -> Array:
        """A draw of each number."""
        part = (np.cumsum(self.shares, axis=1) < rng.random((len(self.b), 1))).sum(axis=1)
        part = np.minimum(part, self.shares.shape[1] - 1)[:, None]
        mean, variance = (
            np.take_along_axis(x, part, 1)[:, 0] for x in (self.part_means, self.part_variances)
        )
        return np.asarray(mean + np.sqrt(variance) * rng.normal(size=len(mean)))


def mixed(site: tuple[Array, Array], before: tuple[Array, Array], share: float) -> tuple[Array, Array]:
    """A ``share`` of a new site and the rest of the one before; geometric means of precisions."""
    return before[0] ** (1 - share) * site[0] ** share, (1 - share) * before[1] + share * site[1]


def grid(weights: Array | None = None) -> Mixture:
    """A point mass and normals around 0, of equal weights unless they are given."""
    variances = np.concatenate([[0.0], WIDTHS**2])
    K = len(variances)
    return Mixture(np.full(K, 1 / K) if weights is None else weights, np.zeros(K), variances)


def learn_grid(b: Array, q: Array, start: Mixture, steps: int = _STEPS) -> Mixture:
    """Weights of largest marginal likelihood, by EM from others; centres and variances stay."""
    equal = Mixture(np.ones_like(start.weights), start.centres, start.variances)
    joint, most = equal.given(b, q)._joint
    density, weights, last = np.exp(joint - most), start.weights, -math.inf
    for _ in range(steps):
        total = density @ weights
        value = float(np.log(total).sum())
        weights = weights * (density.T @ (1 / total)) / len(b)
        if value - last < _ENOUGH * len(b):
            break
        last = value
    return Mixture(weights, start.centres, start.variances)


def learn_edges(b: Array, q: Array) -> Mixture:
    """A point mass, and one or two normals of what is there: the simplest of the three that is as good as any."""
    clear = np.abs(b)[np.abs(b) * np.sqrt(q) > _CLEAR]
    if len(clear) < _LEAST_CLEAR:
        clear = np.sort(np.abs(b))[-_LEAST_CLEAR:]
    size = max(float(np.median(clear)), _NARROWEST)
    one = Mixture(np.array([0.9, 0.1]), np.zeros(2), np.array([0.0, size**2]))
    centres, variances = np.array([0.0, size, -size]), np.array([0.0, 1.0, 1.0]) * (size / 4) ** 2
    two = Mixture(np.array([0.9, 0.05, 0.05]), centres, variances)
    tried = [_learn_slabs(b, q, one), _learn_slabs(b, q, two), _learn_slabs(b, q, two, unequal=True)]
    costs = math.log(len(b)) * np.arange(3)  # for each number more that is learned
    return tried[int(np.argmax([_penalised(found.given(b, q)) for found in tried] - costs))]


def _learn_slabs(b: Array, q: Array, start: Mixture, unequal: bool = False) -> Mixture:
    """Weights, the variance and, for two normals, the centres ±mu, by EM; their weights may be ``unequal``."""
    found, last = start, -math.inf
    signs = np.array([1.0, -1.0]) if len(start.weights) == 3 else np.zeros(1)
    for _ in range(_STEPS):
        at = found.given(b, q)
        value = _penalised(at)
        if value - last < _ENOUGH / 10 * len(b):
            break
        last = value
        shares, means = at.shares[:, 1:], at.part_means[:, 1:]
        there = max(float(shares.sum()), 1e-9)
        mu = max(float((shares * means * signs).sum()) / there, 0.0)
        square = (shares * ((means - signs * mu) ** 2 + at.part_variances[:, 1:])).sum() / there
        variance = max(float(square), _NARROWEST**2, (_SLIMMEST * mu) ** 2)
        parts = shares.sum(axis=0) / there if unequal else np.full(len(signs), 1 / len(signs))
        share = there / (len(b) + _ABSENT)
        found = Mixture(
            np.array([1 - share, *(share * parts)]),
            np.concatenate([[0.0], signs * mu]),
            np.concatenate([[0.0], np.full(len(signs), variance)]),
        )
    return found


def _penalised(at: MixturePosterior) -> float:
    """ln P(b) with some more numbers that are certainly 0."""
    return at.log_likelihood + _ABSENT * math.log(max(float(at.prior.weights[0]), 1e-300))


def best_normal(b: Array, q: Array) -> float:
    """ln P(b) under the one normal around 0 of largest marginal likelihood, which may have the variance 0."""

    def minus(log_variance: float) -> float:
        total = 1 / q + math.exp(log_variance)
        return float((np.log(2 * math.pi * total) + b**2 / total).sum()) / 2

    found = scipy.optimize.minimize_scalar(minus, bounds=(-20.0, 4.0), method="bounded")
    return -min(float(found.fun), minus(-math.inf))


def discoveries(probabilities: Array, fdr: float) -> Flags:
    """The largest set of numbers that are there of which at most a share ``fdr`` is expected not to be.

    Of numbers that are equally probable it has all or none. A share below one half is not spent on numbers that are
    more probably not there than there.

    >>> discoveries(np.array([0.5, 0.99, 0.95, 0.9]), fdr=0.06).tolist()
    [False, True, True, True]
    """
    return np.asarray(probabilities > limit_of(probabilities, fdr))


def limit_of(probabilities: Array, fdr: float) -> float:
    """The probability above which numbers are discoveries; below 0 if all of them are."""
    falling = np.sort(probabilities)[::-1]
    wrong = np.cumsum(1 - falling) / np.arange(1, len(falling) + 1)
    # The mean of rising numbers rises: all before the first one that is too large are small enough.
    k = np.count_nonzero(wrong <= fdr)
    limit = float(falling[k]) if k < len(falling) else -1.0
    return max(limit, 0.5) if fdr < 0.5 else limit
