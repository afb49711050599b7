r"""Rows with missing cells under a restricted Boltzmann machine, whose hidden states are gone through.

Given the hidden spins t, the visible ones are independent, so that missing ones are summed out one by one. What a row
shows, :math:`v_i` for i in a set O, has the weight

.. math:: Z P(v_O) = e^{\sum_{i \in O} h_i v_i} \sum_t \exp\Big( \sum_a c_a t_a
    + \sum_{i \in O} \sum_a v_i W_{ia} t_a + \sum_{i \notin O} \ln 2\cosh\big(h_i + \sum_a W_{ia} t_a\big) \Big) ,

and each term over the sum is the probability :math:`p(t)` of a hidden state given the row. Nothing is random. A row
that shows nothing has the weight Z. For R rows the cost is :math:`O(R\, n\, 2^k)`, in blocks of rows.

A missing cell is 0 in an array of spins.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..ising import all_states
from ..restricted import RestrictedModel
from ..types import Array, Indices, Spins

MOST_UNITS = 12  # whose 4096 states are gone through for every row
_AT_A_TIME = 2**20  # numbers of a block of rows: 8 megabytes


class HiddenStates:
    """All states t of the hidden spins, and what does not depend on rows."""

    def __init__(self, W: Array, h: Array, c: Array) -> None:
        self.weights, self.fields = W, h
        self.t = all_states(len(c)).astype(np.float64)  # (2^k, k)
        local = W @ self.t.T + h[:, None]
        self.summed = np.logaddexp(local, -local)  #: ln 2 cosh of the field of each spin, (n, 2^k).
        self.means = np.tanh(local)  #: Of each spin given t, (n, 2^k).
        self.own = self.t @ c

    @classmethod
    def of(cls, model: RestrictedModel) -> HiddenStates:
        """Of a model."""
        return cls(model.weights, model.fields, model.hidden_fields)

    @property
    def rows(self) -> int:
        """So many rows are a block."""
        return max(1, _AT_A_TIME // max(len(self.fields), len(self.t)))

    def given(self, v: Array, gaps: Array) -> tuple[Array, Array]:
        """Of some rows: ln of the sum over t, and p(t); ``gaps`` is 1 where a cell is missing, and v is 0 there."""
        p = (v @ self.weights) @ self.t.T
        p += gaps @ self.summed
        p += self.own
        most = p.max(axis=1)
        p -= most[:, None]
        np.exp(p, out=p)
        mass = p.sum(axis=1)
        p /= mass[:, None]
        return most + np.log(mass), p

    def blocks(self, spins: Spins) -> Iterator[tuple[slice, Array, Array]]:
        """Which rows, their spins, and 1 where a cell is missing, so many at a time that memory is bounded."""
        for start in range(0, len(spins), self.rows):
            part = slice(start, start + self.rows)
            v = spins[part].astype(np.float64)
            yield part, v, (v == 0).astype(np.float64)

    def drawn(self, p: Array, v: Array, rng: np.random.Generator) -> Spins:
        """Rows with a draw of what is missing, given p(t)."""
        heights = np.cumsum(p, axis=1)
        chosen: Indices = (heights < heights[:, -1:] * rng.random((len(p), 1))).sum(axis=1)
        up = 2 * rng.random(v.shape) - 1 < self.means.T[chosen]
        return np.where(v == 0, np.where(up, 1, -1), v).astype(np.int8)


def log_weights_shown(model: RestrictedModel, spins: Spins) -> Array:
    """ln P + ln Z of what each row shows (0 where a cell is missing).

    >>> model = RestrictedModel([[0.8], [0.8]], [0.3, 0.0], [0.0])
    >>> bool(np.isclose(log_weights_shown(model, np.zeros((1, 2), np.int8))[0], model.log_partition()))
    True
    """
    states, found = HiddenStates.of(model), np.empty(len(spins))
    for part, v, gaps in states.blocks(spins):
        found[part] = v @ model.fields + states.given(v, gaps)[0]
    return found


def hidden_means_shown(model: RestrictedModel, spins: Spins) -> Array:
    """Mean of each hidden spin given what each row shows, (N, k)."""
    states, found = HiddenStates.of(model), np.empty((len(spins), model.n_hidden))
    for part, v, gaps in states.blocks(spins):
        found[part] = states.given(v, gaps)[1] @ states.t
    return found
