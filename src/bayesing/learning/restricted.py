r"""The restricted Boltzmann machine of largest posterior probability, and the scale of its weights.

With the sums over all hidden states (:mod:`bayesing.restricted`) value and slope of the log-likelihood are exact.
With :math:`\tau_a = \tanh(c_a + \sum_i W_{ia} v_i)` the slopes are

.. math::

    \frac{\partial}{\partial W_{ia}} = \sum_\mu v_i^\mu \tau_a^\mu - N \langle v_i t_a \rangle , \qquad
    \frac{\partial}{\partial h_i} = \sum_\mu v_i^\mu - N \langle v_i \rangle , \qquad
    \frac{\partial}{\partial c_a} = \sum_\mu \tau_a^\mu - N \langle t_a \rangle .

**Centred parameters.** The search is in W and

.. math:: b_i = h_i + \sum_a W_{ia} \mu_a , \qquad e_a = c_a + \sum_i W_{ia} d_i ,

with the means d of the data and :math:`\mu_a` of :math:`\tau_a`, which stay as they are during one call of L-BFGS.
Each parameter is measured in units of about its own posterior error.

**Priors.** :math:`b_i \sim N(\beta_i, 1)`, as everywhere (:mod:`bayesing.conditionals`), :math:`e_a \sim N(0, 10)`
and :math:`W_{ia} \sim N(0, \gamma_a/n)`. The priors are of b and e, not of h and c: a unit that is rarely on, such
as one that marks bursts of activity, has a hidden field of 36, and b and e of a few. A unit's scale is learned by
evidence, at the fixed point

.. math:: \gamma_a = \frac{\sum_i W_{ia}^2}{1 - (n/\gamma_a) \overline{\operatorname{var} W_{ia}}} .

The variances are those of one unit, with its hidden field and all visible fields, from samples of the model: with
:math:`z = v - d` and :math:`\zeta_a = \tau_a - \mu_a` the inverse of
:math:`N \operatorname{Cov}(z \zeta_a, \zeta_a \mid z)` plus prior precisions. The scale is held until the units have
formed; learned earlier, it would kill them.

**Missing cells** are summed over (:mod:`bayesing.learning.restricted_missing`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy

from ..conditionals import independent_fields, middle_of_fields
from ..packed import PackedSpins
from ..restricted import RestrictedModel, log_2cosh, moments_of
from ..statistics import SpinStatistics
from ..types import Array, Heard
from .phases import HIDDEN_PRECISION
from .restricted_missing import Incomplete, Lost, slopes_of

FIRST_GAMMA = 5.0  # weak enough a prior for units to form
_FIRST_WEIGHTS = 0.1  # deviation of the random weights of the start
_AT_A_TIME = 2**20  # numbers of a block of rows: 8 megabytes
_KEPT = 2**24  # numbers of rows that are unpacked once, 128 megabytes; more are unpacked each time
_LONG, _SHORT = 300, 50  # iterations of L-BFGS with the scale held, and between two of its updates
_HELD = 2  # long calls before the scale is learned; the second one has the centres of the first
_ROUNDS = 25  # updates of the scale, at most
_STILL = 0.03  # change of ln gamma that ends them
_MOST_CHANGE = 3.0  # factor of gamma in one update
_LEAST_GAMMA = 1e-3  # of a unit that has no use: weights of 0.03/sqrt(n) change nothing
_LEAST_USED = 0.02  # of the share of a unit's weights that the data determine
_SMALL = 0.01  # slope in units of 1 / posterior error: this far, in errors, from the mode
_HISTORY = 20  # steps that L-BFGS remembers
_SAMPLES = 6000  # of the model for the variances, at least
_SAMPLES_A_SPIN = 10


@dataclass(frozen=True, eq=False)
class Rows:
    """Samples, each state once, and how often it occurs; those with missing cells are apart.

    ``sums`` are of the cells that are there, ``seen`` of them for each spin.
    """

    packed: PackedSpins
    counts: Array
    sums: Array
    N: int
    seen: Array | int
    incomplete: Incomplete | None = None

    @classmethod
    def of(cls, data: SpinStatistics) -> Rows:
        """All samples of the data, whose rows must have been kept."""
        states, numbers = data.distinct()
        counts, sums = numbers.astype(np.float64), data.sums.astype(np.float64)
        assert states.rows is not None
        if states.absent is None:
            return cls(states.rows, counts, sums, data.N, data.N)
        gaps = states.absent.words.any(axis=1)
        incomplete = Incomplete.of(states.take(np.flatnonzero(gaps)), counts[gaps])
        return cls(
            states.rows[~gaps], counts[~gaps], sums, data.N, data.counts.astype(np.float64), incomplete
        )

    def __len__(self) -> int:
        return len(self.packed) + (len(self.incomplete) if self.incomplete else 0)

    @property
    def n(self) -> int:
        """Number of visible spins."""
        return self.packed.n

    @property
    def means(self) -> Array:
        """d."""
        return np.asarray(self.sums / np.maximum(self.seen, 1))

    def blocks(self) -> Iterator[tuple[Array, Array]]:
        """Spins (float64, rows x n) and counts of complete rows, some at a time."""
        if len(self.packed) * self.n <= _KEPT:
            yield from self._unpacked
        else:
            yield from self._unpack()

    @cached_property
    def _unpacked(self) -> list[tuple[Array, Array]]:
        return list(self._unpack())

    def _unpack(self) -> Iterator[tuple[Array, Array]]:
        step, start = max(1, _AT_A_TIME // self.n), 0
        for spins in self.packed.blocks(step):
            yield spins.astype(np.float64), self.counts[start : start + step]
            start += step


class Point(NamedTuple):
    """W, h and c."""

    weights: Array
    fields: Array
    hidden_fields: Array

    @property
    def model(self) -> RestrictedModel:
        return RestrictedModel(*self)


class Value(NamedTuple):
    """Log-likelihood of all rows, and its slopes in W, h and c."""

    total: float
    weights: Array
    fields: Array
    hidden_fields: Array


@dataclass(frozen=True, eq=False)
class Frame:
    """What one call of L-BFGS holds: the centres d (n) and mu (k), gamma (k) and the middle of the prior of b (n)."""

    d: Array
    mu: Array
    gamma: Array
    middle: Array

    @property
    def precisions(self) -> tuple[Array, Array, Array]:
        """Of the priors of W, b and e."""
        n, k = len(self.d), len(self.mu)
        return np.tile(n / self.gamma, (n, 1)), np.ones(n), np.full(k, HIDDEN_PRECISION)

    def centred(self, at: Point) -> tuple[Array, Array]:
        """b and e."""
        return at.fields + at.weights @ self.mu, at.hidden_fields + self.d @ at.weights

    def point(self, W: Array, b: Array, e: Array) -> Point:
        """From centred parameters."""
        return Point(W, b - W @ self.mu, e - self.d @ W)

    def log_prior(self, at: Point) -> float:
        """Of W, b and e, without its constant."""
        b, e = self.centred(at)
        weights, _, _ = self.precisions
        square = (weights * at.weights**2).sum() + ((b - self.middle) ** 2).sum() + HIDDEN_PRECISION * e @ e
        return -float(square) / 2


@dataclass(frozen=True, eq=False)
class RestrictedFit:
    """The mode: W, h and c, the centres and scales it was found with, and the log-posterior there."""

    point: Point
    frame: Frame
    log_posterior: float
    settled: bool

    @property
    def gamma(self) -> Array:
        """Scale of each unit's weights."""
        return self.frame.gamma


def log_likelihood(rows: Rows, at: Point) -> Value:
    """Its value and slopes, exact."""
    W, h, c = at
    total, taus, products = 0.0, np.zeros(len(c)), np.zeros(W.shape)
    for v, counts in rows.blocks():
        logs, tau = log_2cosh(W.T @ v.T + c[:, None])
        tau *= counts
        total += float(logs @ counts)
        taus += tau.sum(axis=1)
        products += (tau @ v).T
    sums = rows.sums
    if rows.incomplete:
        more = rows.incomplete.part(W, h, c)
        total, sums = total + more.total, sums + more.missing
        taus, products = taus + more.hidden, products + more.products
    model = moments_of(W, h, c)
    return Value(
        total + float(rows.sums @ h) - rows.N * model.log_partition,
        products - rows.N * model.products,
        sums - rows.N * model.visible,
        taus - rows.N * model.hidden,
    )


def hidden_centres(rows: Rows, at: Point) -> Array:
    """mu, the mean of tau over the rows."""
    total = np.zeros(len(at.hidden_fields))
    for v, counts in rows.blocks():
        total += np.tanh(at.weights.T @ v.T + at.hidden_fields[:, None]) @ counts
    if rows.incomplete:
        total += rows.incomplete.hidden(*at)
    return np.asarray(total / rows.N)


def first_point(rows: Rows, k: int, rng: np.random.Generator) -> Point:
    """Independent spins with the means of the data, and weak random weights."""
    W = rng.normal(0, _FIRST_WEIGHTS, (rows.n, k))
    return Point(W, independent_fields(rows.sums, rows.seen), -rows.means @ W)


def frame_at(rows: Rows, at: Point, gamma: Array) -> Frame:
    """Centres at a point."""
    return Frame(rows.means, hidden_centres(rows, at), gamma, middle_of_fields(rows.sums, rows.seen))


def search(rows: Rows, start: Point, frame: Frame, iterations: int) -> tuple[Point, float]:
    """The mode for these centres and scales, by L-BFGS, and the log-posterior there."""
    n, k = start.weights.shape
    ends = n * k, n * k + n
    precisions = np.concatenate([p.ravel() for p in frame.precisions])
    middle = np.concatenate([np.zeros(n * k), frame.middle, np.zeros(k)])
    information = rows.N * (1 - frame.d**2)
    data = np.concatenate([np.repeat(information, k), information, np.full(k, float(rows.N))])
    unit = 1 / np.sqrt(data + precisions)

    def unpacked(x: Array) -> Point:
        W, b, e = np.split(x * unit, ends)
        return frame.point(W.reshape(n, k), b, e)

    def minus(x: Array) -> tuple[float, Array]:
        total, weights, fields, hidden = log_likelihood(rows, unpacked(x))
        weights = weights - np.outer(fields, frame.mu) - np.outer(frame.d, hidden)
        away = x * unit - middle
        slope = np.concatenate([weights.ravel(), fields, hidden]) - precisions * away
        return float(precisions @ away**2) / 2 - total, -slope * unit

    b, e = frame.centred(start)
    x = np.concatenate([start.weights.ravel(), b, e]) / unit
    options = {
        "maxiter": iterations,
        "maxcor": _HISTORY,
        "gtol": _SMALL,
        "ftol": 1e-13,
        "maxfun": 2 * iterations,
    }
    found = scipy.optimize.minimize(minus, x, jac=True, method="L-BFGS-B", options=options)
    return unpacked(found.x), -float(found.fun)


def unit_variances(spins: Array, at: Point, frame: Frame, N: int, lost: Lost | None = None) -> Array:
    """Posterior variances of the weights, a unit at a time, from samples of the model; (n, k)."""
    if lost is not None:
        return _variances_left(spins, at, frame, N, lost)
    tau = np.tanh(at.weights.T @ spins.T + at.hidden_fields[:, None])
    z = (spins - spins.mean(axis=0)).astype(np.float32)
    A, n = z.shape
    fields = N * (z.T @ z).astype(np.float64) / A + np.eye(n)
    factor = scipy.linalg.cho_factor(fields)
    variances = np.empty(at.weights.shape)
    for a, (zeta, precision) in enumerate(
        zip(tau - tau.mean(axis=1, keepdims=True), n / frame.gamma, strict=True)
    ):
        features = np.column_stack([z * zeta[:, None], zeta]).astype(np.float32)
        features -= features.mean(axis=0)
        own = N * (features.T @ features).astype(np.float64) / A
        both = N * (features.T @ z).astype(np.float64) / A
        own -= both @ scipy.linalg.cho_solve(factor, both.T)
        own[np.diag_indices(n + 1)] += np.append(np.full(n, precision), HIDDEN_PRECISION)
        variances[:, a] = np.diag(np.linalg.inv(own))[:n]
    return variances


def _variances_left(spins: Array, at: Point, frame: Frame, N: int, lost: Lost) -> Array:
    """The same where cells are missing."""
    tau, n = np.tanh(spins @ at.weights + at.hidden_fields), spins.shape[1]
    weights, fields, hidden = frame.precisions
    variances = np.empty(at.weights.shape)
    for a in range(len(at.hidden_fields)):
        slopes = slopes_of(spins - frame.d, tau[:, [a]] - frame.mu[a])
        slopes -= slopes.mean(axis=0)
        H = N * (slopes.T @ slopes).astype(np.float64) / len(spins)
        prior = np.concatenate([weights[:, a], fields, hidden[[a]]])
        left = lost.left(H, frame.d, frame.mu, np.arange(n), np.array([a])) + np.diag(prior)
        variances[:, a] = np.diag(np.linalg.inv(left))[:n]
    return variances


def next_gamma(at: Point, gamma: Array, variances: Array) -> Array:
    """One step towards the fixed point, by a factor of 3 at most."""
    used = np.maximum(1 - len(at.fields) / gamma * variances.mean(axis=0), _LEAST_USED)
    new = (at.weights**2).sum(axis=0) / used
    return np.asarray(np.clip(new, np.maximum(gamma / _MOST_CHANGE, _LEAST_GAMMA), gamma * _MOST_CHANGE))


def held_mode(rows: Rows, start: Point, gamma: Array) -> tuple[Point, float]:
    """The mode with scales as they are, from a start, and the log-posterior there."""
    at, log_posterior = start, 0.0
    for _ in range(_HELD):
        at, log_posterior = search(rows, at, frame_at(rows, at, gamma), _LONG)
    return at, log_posterior


def fit_restricted(
    rows: Rows, start: Point, gamma: Array, seed: int, heard: Heard | None = None
) -> RestrictedFit:
    """The mode with scales at their fixed point, from the mode with given scales.

    All samples of the model are drawn with the same ``seed``, so that the fixed point does not move.
    """
    at, frame = start, frame_at(rows, start, gamma)
    settled = not len(gamma)
    A = max(_SAMPLES, _SAMPLES_A_SPIN * rows.n)
    for done in range(_ROUNDS if len(gamma) else 0):
        spins = at.model.sample(A, seed).astype(np.float64)
        lost = rows.incomplete.lost(*at, A, seed) if rows.incomplete else None
        new = next_gamma(at, frame.gamma, unit_variances(spins, at, frame, rows.N, lost))
        settled = bool(np.abs(np.log(new / frame.gamma)).max() < _STILL)
        frame = frame_at(rows, at, new)
        if heard is not None:
            heard(done + 1, _ROUNDS)
        if settled:
            break
        at, _ = search(rows, at, frame, _SHORT)
    at, log_posterior = search(rows, at, frame, _LONG)
    return RestrictedFit(at, frame, log_posterior, settled)
