r"""A restricted Boltzmann machine with many hidden units, learned by persistent chains.

The slopes of :mod:`bayesing.learning.restricted` need averages of the model, here from chains that go on from step to
step (T. Tieleman, *Training restricted Boltzmann machines using approximations to the likelihood gradient*, 2008). In
both phases the hidden spins are replaced by their means :math:`\tau`, and all is centred: with :math:`z = v - d` and
:math:`\zeta = \tau - \mu`

.. math:: g_W = \langle z \zeta^T \rangle_{\rm data} - \langle z \zeta^T \rangle_{\rm model} - \frac{n}{\gamma N} W ,
    \qquad g_b = - \langle z \rangle_{\rm model} - \frac{b - \beta}{N} , \qquad
    g_e = - \langle \zeta \rangle_{\rm model} - \frac{e}{10 N} .

**Steps** have momentum. A step must be short where the likelihood is most curved, or chains and weights run away
together and the units die: the rate is a fixed part of 1 over the largest eigenvalue of the Fisher matrix of one
sample, :math:`\operatorname{Cov}(z \zeta^T, z, \zeta)`, which power iterations follow on the chains, without the
matrix. At the end the rate falls, and parameters are averaged.

**The scale** of each unit's weights moves towards its fixed point, with variances from the chains, once units have
formed. Errors come from blocks of the Fisher matrix; there is no evidence.
"""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from ..sampling.restricted import SingleModel, Singles
from ..types import Array, Heard, Indices, Spins
from .phases import HIDDEN_PRECISION
from .restricted import (
    FIRST_GAMMA,
    Frame,
    Point,
    RestrictedFit,
    Rows,
    first_point,
    frame_at,
    next_gamma,
    unit_variances,
)

CHAINS = 512
SWEEPS = 5  # between two steps, all of which count
STEPS = 3000
AVERAGED = 1000  # steps with falling rate; the last half of them is averaged
_FORMED = 0.8  # share of the steps before scales are learned
_EVERY = 50  # steps between two updates of scales
_ROWS = 4096  # samples that a step sees, at most
_RATE = 0.7  # in units of 1 / largest eigenvalue
_MOST_RATE = 0.3
_LAST_RATE = 0.05  # at the end, as a share
_MOMENTUM = 0.5  # with more of it, weights and chains that lag behind them oscillate
_CURVED = 10  # steps between two looks at the largest eigenvalue
_FORGET = 0.98  # of the largest eigenvalue seen, at each look
_POOL = 12  # states of all chains that variances are from: 6000 samples
_KEPT = 32  # states of all chains that errors are from: 16,000 samples


def fit_chains(
    rows: Rows, k: int, seed: int, heard: Heard | None = None, steps: int = STEPS, averaged: int = AVERAGED
) -> tuple[RestrictedFit, Spins]:
    """The mode, about, with k hidden units, and samples of the model there from its chains."""
    rng = np.random.default_rng([seed, k])
    learner = _Learner(rows, first_point(rows, k, rng), rng)
    total: list[Array] = []
    for step in range(steps + averaged):
        fall = max(step - steps, 0) / averaged
        learner.step(_LAST_RATE**fall)
        if step >= _FORMED * steps and step % _EVERY == 0:
            learner.learn_scales()
        if step >= steps + averaged // 2:
            total = [a + b for a, b in zip(total, learner.at, strict=True)] if total else list(learner.at)
        if heard is not None and step % _EVERY == 0:
            heard(step, steps + averaged)
    number = averaged - averaged // 2
    at = Point(*(part / number for part in total))
    frame = frame_at(rows, at, learner.frame.gamma)
    return RestrictedFit(at, frame, np.nan, True), learner.samples(at)


class _Learner:
    """Parameters that move, and chains that follow them."""

    def __init__(self, rows: Rows, start: Point, rng: np.random.Generator) -> None:
        self.rows, self.at, self.rng = rows, start, rng
        self.frame = frame_at(rows, start, np.full(len(start.hidden_fields), FIRST_GAMMA))
        self.heights = np.cumsum(rows.counts)
        self.all = self._unpacked(np.arange(len(rows.packed))) if len(rows.packed) <= _ROWS else None
        self.v = self._unpacked(self._some(CHAINS))
        self.pool: deque[Singles] = deque(maxlen=_POOL)
        self.velocity = [np.zeros_like(part) for part in start]
        self.steepest = [rng.normal(size=part.shape).astype(np.float32) for part in start]
        self.largest, self.looks, self.done = 0.0, 5, 0

    def step(self, share: float) -> None:
        """One step, with a share of the full rate."""
        model, N = SingleModel(*self.at), self.rows.N
        products, centre = self._data(model)
        d, mu = self.frame.d.astype(np.float32), centre.astype(np.float64)
        slopes: list[Array] = [products, np.zeros(len(d)), np.zeros(len(mu))]  # z and zeta are 0 in the data
        for _ in range(SWEEPS):
            self.v = model.sweep(self.v, self.rng)
            z, zeta = self.v - d, model.hidden_means(self.v) - centre
            for slope, part in zip(slopes, (z.T @ zeta, z.sum(axis=0), zeta.sum(axis=0)), strict=True):
                slope -= part / (SWEEPS * CHAINS)
        self.pool.append(self.v)
        if self.done % _CURVED == 0:
            self._look(z, zeta)
        frame = Frame(self.frame.d, mu, self.frame.gamma, self.frame.middle)
        b, e = frame.centred(self.at)
        away = (frame.precisions[0] * self.at.weights, b - frame.middle, HIDDEN_PRECISION * e)
        self.velocity = [
            _MOMENTUM * v + s - a / N for v, s, a in zip(self.velocity, slopes, away, strict=True)
        ]
        rate = share * min(_MOST_RATE, _RATE / self.largest)
        W, b, e = (x + rate * v for x, v in zip((self.at.weights, b, e), self.velocity, strict=True))
        self.at, self.frame = frame.point(W, b, e), frame
        self.done += 1

    def learn_scales(self) -> None:
        """One step of gamma towards its fixed point."""
        spins = np.concatenate(self.pool).astype(np.float64)
        gamma = next_gamma(self.at, self.frame.gamma, unit_variances(spins, self.at, self.frame, self.rows.N))
        self.frame = Frame(self.frame.d, self.frame.mu, gamma, self.frame.middle)

    def samples(self, at: Point) -> Spins:
        """States of the chains, once they have moved on to a model nearby."""
        model, found = SingleModel(*at), []
        for state in range(2 * _KEPT):
            for _ in range(SWEEPS):
                self.v = model.sweep(self.v, self.rng)
            if state >= _KEPT:
                found.append(self.v.astype(np.int8))
        return np.concatenate(found)

    def _data(self, model: SingleModel) -> tuple[Array, Singles]:
        """Of the data: the mean of z zeta, and mu."""
        if self.all is None:
            v, share = self._unpacked(self._some(_ROWS)), np.full(_ROWS, 1 / _ROWS, np.float32)
        else:
            v, share = self.all, (self.rows.counts / self.rows.N).astype(np.float32)
        tau = model.hidden_means(v)
        mu = share @ tau
        z = (v - self.frame.d.astype(np.float32)) * share[:, None]
        return (z.T @ (tau - mu)).astype(np.float64), mu

    def _look(self, z: Singles, zeta: Singles) -> None:
        """Power iterations for the largest eigenvalue of the Fisher matrix of one sample."""
        norm = 0.0
        for _ in range(self.looks):
            W, b, e = self.steepest
            u = ((z @ W) * zeta).sum(axis=1) + z @ b + zeta @ e
            u -= u.mean()
            moved = [part.T @ u / len(u) for part in (z, zeta)]
            moved.insert(0, z.T @ (zeta * u[:, None]) / len(u))
            norm = math.sqrt(sum(float((part**2).sum()) for part in moved))
            self.steepest = [part / max(norm, 1e-12) for part in moved]
        self.largest, self.looks = max(norm, _FORGET * self.largest), 2

    def _some(self, number: int) -> Indices:
        """Random samples."""
        return np.searchsorted(self.heights, self.rows.N * self.rng.random(number), side="right")

    def _unpacked(self, chosen: Indices) -> Singles:
        return self.rows.packed[chosen].unpack().astype(np.float32)
