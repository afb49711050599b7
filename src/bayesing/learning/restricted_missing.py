r"""Missing cells in the learning of a restricted Boltzmann machine: their part of the likelihood, and what they cost.

With the probabilities p(t) of hidden states given what a row shows (:mod:`bayesing.sampling.restricted_missing`) and
the means :math:`\theta_i(t)` of missing spins given t, the row's part of the slopes is

.. math:: \frac{\partial}{\partial c_a} : \sum_t p(t)\, t_a , \qquad
    \frac{\partial}{\partial h_i} : v_i \text{ or } \sum_t p(t)\, \theta_i(t) , \qquad
    \frac{\partial}{\partial W_{ia}} : \sum_t p(t)\, t_a \, (v_i \text{ or } \theta_i(t)) ,

exactly. Of the curvature of complete rows the sum over incomplete rows of the covariance of their slopes, given what
they show, is lost (T. Louis, 1982). Two independent completions of the same row tell it without bias, as half the
square of the difference of their slopes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from ..packed import PackedSpins
from ..sampling.restricted_missing import HiddenStates
from ..statistics import SpinStatistics
from ..types import Array, Indices, Spins

Floats = NDArray[np.floating[Any]]

_KEPT = 2**24  # cells that are unpacked once, 16 megabytes
_LEAST = 1e-6  # eigenvalue relative to the largest: below, single precision tells nothing
_AT_A_TIME = 2**22  # numbers of a block of slopes: 16 megabytes


class Part(NamedTuple):
    """Of incomplete rows: log-likelihood without ln Z and fields of what is there; sums of t, of missing spins and of
    products of all spins with t, on average.
    """

    total: float
    hidden: Array
    missing: Array
    products: Array


@dataclass(frozen=True, eq=False)
class Incomplete:
    """Rows with missing cells, each state once, and how often it occurs."""

    rows: PackedSpins
    absent: PackedSpins
    counts: Array

    @classmethod
    def of(cls, data: SpinStatistics, counts: Array) -> Incomplete:
        """All of these rows, which occur so often."""
        assert data.rows is not None and data.absent is not None
        return cls(data.rows, data.absent, counts)

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def N(self) -> float:
        """The number of rows, equal ones included."""
        return float(self.counts.sum())

    def spins(self, chosen: Indices | slice) -> Spins:
        """Some of the rows, 0 where a cell is missing."""
        if len(self) * self.rows.n <= _KEPT:
            return self._unpacked[chosen]
        return _unpacked(self.rows[chosen], self.absent[chosen])

    @cached_property
    def _unpacked(self) -> Spins:
        return _unpacked(self.rows, self.absent)

    def blocks(self, states: HiddenStates) -> Iterator[tuple[slice, Array, Array]]:
        """Rows, spins and gaps, some rows at a time."""
        for start in range(0, len(self), states.rows):
            part = slice(start, start + states.rows)
            for _, v, gaps in states.blocks(self.spins(part)):
                yield part, v, gaps

    def part(self, W: Array, h: Array, c: Array) -> Part:
        """Of the log-likelihood and its slopes, at a point."""
        states = HiddenStates(W, h, c)
        total, sums, products = 0.0, np.zeros(len(c)), np.zeros(W.shape)
        gapped = np.zeros(states.means.shape)
        for part, v, gaps in self.blocks(states):
            logs, p = states.given(v, gaps)
            counts = self.counts[part]
            total += float(logs @ counts)
            p *= counts[:, None]
            taus = p @ states.t
            sums += taus.sum(axis=0)
            products += v.T @ taus
            gapped += gaps.T @ p
        gapped *= states.means
        return Part(total, sums, gapped.sum(axis=1), products + gapped @ states.t)

    def hidden(self, W: Array, h: Array, c: Array) -> Array:
        """The sum of <t> over the rows."""
        states, total = HiddenStates(W, h, c), np.zeros(len(c))
        for part, v, gaps in self.blocks(states):
            total += self.counts[part] @ states.given(v, gaps)[1] @ states.t
        return total

    def lost(self, W: Array, h: Array, c: Array, B: int, seed: int) -> Lost:
        """What is lost of the curvature at a point, from B pairs of completions."""
        rng = np.random.default_rng(seed)
        heights = np.cumsum(self.counts)
        chosen = np.searchsorted(heights, heights[-1] * (np.arange(B) + rng.random()) / B, side="right")
        spins = self.spins(np.minimum(chosen, len(self) - 1))
        states = HiddenStates(W, h, c)
        first, second = np.empty_like(spins), np.empty_like(spins)
        for part, v, gaps in states.blocks(spins):
            _, p = states.given(v, gaps)
            first[part], second[part] = states.drawn(p, v, rng), states.drawn(p, v, rng)
        return Lost(first, second, self.N, W, c)


@dataclass(frozen=True, eq=False)
class Lost:
    """Pairs of completions (B, n) of rows, N of which are incomplete, under weights and hidden fields."""

    first: Spins
    second: Spins
    N: float
    weights: Array
    hidden_fields: Array

    def block(self, d: Array, mu: Array, spins: Indices, units: Indices) -> Array:
        """Of the curvature, for some spins and units with their centres, in the order W (row by row), b, e."""
        n, k, B = len(spins), len(units), len(self.first)
        step = max(1, _AT_A_TIME // (n * k + n + k))
        square = np.zeros((n * k + n + k,) * 2)
        for start in range(0, B, step):
            a, b = (
                self._slopes(v[start : start + step], d, mu, spins, units) for v in (self.first, self.second)
            )
            a -= b
            square += a.T @ a
        return np.asarray(square * (self.N / (2 * B)))

    def left(self, H: Array, d: Array, mu: Array, spins: Indices, units: Indices) -> Array:
        """The block H of the curvature of complete rows, less what is lost."""
        return left_of(H, self.block(d, mu, spins, units))

    def _slopes(self, v: Spins, d: Array, mu: Array, spins: Indices, units: Indices) -> Floats:
        tau = np.tanh(v @ self.weights[:, units] + self.hidden_fields[units])
        return slopes_of(v[:, spins] - d[spins], tau - mu[units])


def left_of(H: Array, lost: Array) -> Array:
    """H less what is lost of it; in directions where by chance more than all seems to be lost, nothing is left."""
    left = H - lost
    try:
        scipy.linalg.cholesky(left, check_finite=False)
    except np.linalg.LinAlgError:
        e, U = np.linalg.eigh(H)
        root = np.sqrt(np.maximum(e, _LEAST * e[-1]))
        share, V = np.linalg.eigh((U / root).T @ lost @ (U / root))
        V = (U * root) @ V
        left = (V * np.maximum(1 - share, 0)) @ V.T
    return np.asarray(left)


def slopes_of(z: Floats, zeta: Floats) -> Floats:
    r"""Slopes of ln P(v) of each sample, up to their means: :math:`z_i \zeta_a`, :math:`z_i` and :math:`\zeta_a`."""
    A, n, k = *z.shape, zeta.shape[1]
    slopes = np.empty((A, n * k + n + k), np.float32)
    np.multiply(z[:, :, None], zeta[:, None, :], out=slopes[:, : n * k].reshape(A, n, k), casting="same_kind")
    slopes[:, n * k : n * k + n], slopes[:, n * k + n :] = z, zeta
    return slopes


def _unpacked(rows: PackedSpins, absent: PackedSpins) -> Spins:
    spins = rows.unpack()
    spins[absent.unpack() > 0] = 0
    return spins
