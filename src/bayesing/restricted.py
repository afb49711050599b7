r"""The restricted Boltzmann machine: visible spins that are coupled to hidden ones, and not to each other.

.. math:: P(v, t) = \frac1Z \exp\Big( \sum_i h_i v_i + \sum_a c_a t_a + \sum_{ia} v_i W_{ia} t_a \Big),
    \qquad v_i, t_a = \pm 1 .

Given one side, the spins of the other are independent, so that each side can be summed out. With
:math:`u_a = c_a + \sum_i W_{ia} v_i`

.. math::

    \ln P(v) = \sum_i h_i v_i + \sum_a \ln 2\cosh u_a - \ln Z , \qquad \langle t_a \rangle_v = \tanh u_a , \qquad
    Z = \sum_t \exp\Big( \sum_a c_a t_a + \sum_i \ln 2\cosh\big(h_i + \sum_a W_{ia} t_a\big) \Big) .

**Enumeration.** Z is a sum over the states of the smaller side, 2^k of them for k hidden spins, however many visible
ones there are. All averages, and independent samples (t from its table, then v given t), come from the same sum. It
goes through the states in blocks, so that memory is bounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logsumexp

from .arguments import Seed, count, generator, number, numbers
from .ising import MAX_EXACT, IsingModel, all_states
from .spins import as_row, as_spins
from .types import Array, Integers, Spins

_AT_A_TIME = 2**20  # numbers of a block of states or rows: 8 megabytes
_FACTORS = 1000  # from 1 to 2, whose product does not overflow


class RestrictedMoments(NamedTuple):
    """ln Z, and the averages of v (n), of t (k) and of v t^T (n x k)."""

    log_partition: float
    visible: Array
    hidden: Array
    products: Array


@dataclass(frozen=True, eq=False)
class RestrictedModel:
    """Weights W (n x k), fields h of the n visible spins and c of the k hidden ones; k may be 0.

    >>> model = RestrictedModel([[0.8], [0.8]], [0.0, 0.0], [0.0])
    >>> model.log_likelihood([[1, 1], [1, -1]]).round(3)
    array([-1.021, -1.968])
    """

    weights: Array
    fields: Array
    hidden_fields: Array

    def __init__(self, weights: ArrayLike, fields: ArrayLike, hidden_fields: ArrayLike) -> None:
        W = numbers("weights", weights)
        h, c = numbers("fields", fields), numbers("hidden_fields", hidden_fields)
        if W.ndim != 2 or len(W) < 1:
            raise ValueError(f"weights must have a row for each spin: found shape {W.shape}.")
        if h.shape != W.shape[:1] or c.shape != W.shape[1:]:
            raise ValueError(
                f"fields and hidden_fields must have shapes ({W.shape[0]},) and ({W.shape[1]},), as weights have "
                f"the shape {W.shape}: found {h.shape} and {c.shape}."
            )
        for name, array in (("weights", W), ("fields", h), ("hidden_fields", c)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def __reduce__(self) -> tuple[type[RestrictedModel], tuple[Array, Array, Array]]:
        return RestrictedModel, (self.weights, self.fields, self.hidden_fields)

    def __repr__(self) -> str:
        W, h = self.weights, self.fields
        size = f" with weights of size {np.sqrt((W**2).mean()):.3g}" if W.size else ""
        fields = f"fields from {h.min():.3g} to {h.max():.3g}"
        return f"<RestrictedModel of {self.n_spins} spins and {self.n_hidden} hidden ones{size}; {fields}>"

    def at(self, beta: float) -> RestrictedModel:
        """The same model at the inverse temperature ``beta``: all weights and fields times as large."""
        beta = number("beta", beta, least=0)
        if beta == 1:
            return self
        return RestrictedModel(beta * self.weights, beta * self.fields, beta * self.hidden_fields)

    @property
    def n_spins(self) -> int:
        """Number of visible spins n."""
        return len(self.fields)

    @property
    def n_hidden(self) -> int:
        """Number of hidden spins k."""
        return len(self.hidden_fields)

    @property
    def is_exact(self) -> bool:
        """Whether one side is small enough to go through all of its states."""
        return min(self.n_spins, self.n_hidden) <= MAX_EXACT

    def log_weights(self, X: ArrayLike) -> Array:
        """ln P(v) + ln Z of each sample (row) of ``X``, the hidden spins summed out."""
        spins = self._checked(X)
        found = np.empty(len(spins))
        for part in self._parts(len(spins)):
            v = spins[part].astype(np.float64)
            found[part] = v @ self.fields + log_2cosh(self._hidden_local(v))[0]
        return found

    def log_likelihood(self, X: ArrayLike) -> Array:
        """ln P(v) of each sample, in nats, exact, for n or k up to 20."""
        return self.log_weights(X) - self.log_partition()

    def hidden_means(self, X: ArrayLike) -> Array:
        """Mean of each hidden spin given the visible ones, (N, k)."""
        spins = self._checked(X)
        found = np.empty((len(spins), self.n_hidden))
        for part in self._parts(len(spins)):
            found[part] = np.tanh(self._hidden_local(spins[part].astype(np.float64))).T
        return found

    def log_partition(self) -> float:
        """ln Z, exact, for n or k up to 20."""
        return float(logsumexp(self._table()))

    def moments(self) -> RestrictedMoments:
        """ln Z and the averages that its slopes are, exact, for n or k up to 20."""
        self._check_exact()
        return moments_of(self.weights, self.fields, self.hidden_fields)

    def means(self) -> Array:
        """<v_i>, exact, for n or k up to 20."""
        return self.moments().visible

    def sample(self, n_samples: int, seed: Seed = None) -> Spins:
        """Independent samples of the visible spins, exact, int8 (n_samples, n), for n or k up to 20."""
        n_samples, rng = count("n_samples", n_samples, 1), generator(seed)
        table = self._table()
        heights = np.cumsum(np.exp(table - table.max()))
        states = np.searchsorted(heights, heights[-1] * rng.random(n_samples), side="right")
        spins = np.empty((n_samples, self.n_spins), np.int8)
        for part in self._parts(n_samples):
            chosen = _states(states[part], min(self.n_spins, self.n_hidden))
            if self.n_hidden <= self.n_spins:
                local = self.fields + chosen @ self.weights.T
                chosen = 2.0 * (rng.random(local.shape) < expit(2 * local)) - 1
            spins[part] = chosen
        return spins

    def joint(self) -> IsingModel:
        """Visible and hidden spins, in this order, as one Boltzmann machine of n + k spins."""
        n, k = self.weights.shape
        couplings = np.zeros((n + k, n + k))
        couplings[:n, n:], couplings[n:, :n] = self.weights, self.weights.T
        return IsingModel(couplings, np.concatenate([self.fields, self.hidden_fields]))

    def _hidden_local(self, v: Array) -> Array:
        """u, (k, N)."""
        return np.asarray(self.weights.T @ v.T + self.hidden_fields[:, None])

    def _table(self) -> Array:
        """ln of the weight of every state of the smaller side, the other one summed out."""
        self._check_exact()
        W, h, c = self.weights, self.fields, self.hidden_fields
        if self.n_hidden > self.n_spins:
            W, h, c = W.T, c, h
        return np.concatenate(
            [states @ c + log_2cosh(W @ states.T + h[:, None])[0] for states in _blocks(W.shape[1], len(h))]
        )

    def _parts(self, N: int) -> Iterator[slice]:
        step = max(1, _AT_A_TIME // (self.n_spins + self.n_hidden))
        return (slice(start, start + step) for start in range(0, N, step))

    def _checked(self, X: ArrayLike) -> Spins:
        spins = as_spins(as_row(X), min_samples=1, min_spins=1)
        if spins.shape[1] != self.n_spins:
            raise ValueError(f"Expected samples of {self.n_spins} spins (columns): found {spins.shape[1]}.")
        return spins

    def _check_exact(self) -> None:
        if not self.is_exact:
            raise ValueError(
                f"Exact sums go through all states of the hidden or of the visible spins, for up to {MAX_EXACT} "
                f"of them: found {self.n_hidden} hidden and {self.n_spins} visible ones."
            )


def log_2cosh(x: Array) -> tuple[Array, Array]:
    r"""The sum of ln 2 cosh x over the first axis, and tanh x, which takes the place of x.

    :math:`\ln 2\cosh x = |x| + \ln(1 + a)` and :math:`\tanh|x| = 2/(1 + a) - 1` with one exponential,
    :math:`a = e^{-2|x|}`. One logarithm is taken of the product of many factors from 1 to 2.
    """
    size = np.abs(x)
    total = size.sum(axis=0)
    size *= -2
    np.exp(size, out=size)
    size += 1
    for start in range(0, len(size), _FACTORS):
        total += np.log(np.multiply.reduce(size[start : start + _FACTORS], axis=0))
    np.divide(2, size, out=size)
    size -= 1
    np.copysign(size, x, out=x)
    return total, x


def moments_of(W: Array, h: Array, c: Array) -> RestrictedMoments:
    """ln Z and averages by enumeration of the smaller side, which must be small."""
    if len(c) <= len(h):
        return RestrictedMoments(*_moments(W, h, c))
    log_partition, hidden, visible, products = _moments(W.T, c, h)
    return RestrictedMoments(log_partition, visible, hidden, products.T)


def _moments(W: Array, h: Array, c: Array) -> tuple[float, Array, Array, Array]:
    """ln Z and the averages of the summed side, the enumerated side and their products, in one pass."""
    most, mass = -math.inf, 0.0
    visible, hidden, products = np.zeros(len(h)), np.zeros(len(c)), np.zeros(W.shape)
    for states in _blocks(len(c), len(h)):
        total, tanh = log_2cosh(W @ states.T + h[:, None])
        total += states @ c
        top = max(most, float(total.max()))
        shrink, p = math.exp(most - top), np.exp(total - top)
        tanh *= p
        mass = shrink * mass + float(p.sum())
        visible = shrink * visible + tanh.sum(axis=1)
        hidden = shrink * hidden + p @ states
        products = shrink * products + tanh @ states
        most = top
    return most + math.log(mass), visible / mass, hidden / mass, products / mass


def _blocks(k: int, width: int) -> Iterator[Array]:
    """All states of k spins, so many at a time that as many times ``width`` numbers are one block."""
    step = min(2**k, max(1, _AT_A_TIME // max(width, k, 1)))
    if step == 2**k:
        yield _few_states(k)
        return
    for start in range(0, 2**k, step):
        yield _states(np.arange(start, min(start + step, 2**k)), k)


def _states(indices: Integers, k: int) -> Array:
    """Rows of ``all_states``."""
    return np.asarray(2.0 * (indices[:, None] >> np.arange(k) & 1) - 1)


@lru_cache(maxsize=32)
def _few_states(k: int) -> Array:
    states = all_states(k)
    states.flags.writeable = False
    return states
