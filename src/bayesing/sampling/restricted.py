r"""Chains of a restricted Boltzmann machine with many hidden spins, and its partition function.

**Block Gibbs sampling.** Given the visible spins the hidden ones are independent, and the other way round: a sweep
draws each side anew, by two products of matrices for all chains at once, in float32.

**Annealed importance sampling** from independent spins in fields a, which the ``base`` has, with about the means of
the data. At beta the weights are :math:`\beta W`, the fields :math:`(1 - \beta) a + \beta h` and :math:`\beta c`.
The hidden spins are summed out, so that with :math:`u = c + W^T v` of a chain that stands at v

.. math:: \ln w = \sum_t \Big[ (\beta_t - \beta_{t-1}) (h - a) \cdot v
    + \sum_b \ln \frac{\cosh \beta_t u_b}{\cosh \beta_{t-1} u_b} \Big] , \qquad
    E[w] = Z \Big/ \Big( 2^k \prod_i 2 \cosh a_i \Big) .
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arguments import Seed, count, generator
from ..restricted import RestrictedModel, log_2cosh
from ..types import Array, Spins
from .diagnostics import log_mean_weight, log_mean_weight_error

Singles = NDArray[np.float32]

CHAINS = 1000
TEMPERATURES = 1000
_MORE = 100  # sweeps at beta = 1, for samples


class SingleModel:
    """W, h and c in float32."""

    def __init__(self, W: Array, h: Array, c: Array) -> None:
        self.weights: Singles = np.ascontiguousarray(W, dtype=np.float32)
        self.fields: Singles = h.astype(np.float32)
        self.hidden_fields: Singles = c.astype(np.float32)

    def hidden_means(self, v: Singles) -> Singles:
        """tanh u, (chains, k)."""
        return np.asarray(np.tanh(v @ self.weights + self.hidden_fields))

    def sweep(self, v: Singles, rng: np.random.Generator) -> Singles:
        """The visible spins of each chain, drawn anew by way of the hidden ones."""
        t = signs(self.hidden_means(v), rng)
        return signs(np.tanh(t @ self.weights.T + self.fields), rng)


def signs(means: Singles, rng: np.random.Generator) -> Singles:
    """Independent spins with these means."""
    drawn = rng.random(means.shape, dtype=np.float32)
    drawn *= 2
    drawn -= 1
    return np.where(drawn < means, np.float32(1), np.float32(-1))


class RestrictedSample(NamedTuple):
    """Spins of independent chains (int8, chains x n), and ln Z with its standard error."""

    spins: Spins
    log_partition: float
    log_partition_error: float


def anneal_restricted(
    model: RestrictedModel,
    base: Array,
    n_chains: int = CHAINS,
    temperatures: int = TEMPERATURES,
    seed: Seed = None,
) -> RestrictedSample:
    """Independent chains from independent spins to the model, and ln Z from their weights.

    >>> model = RestrictedModel(np.full((3, 30), 0.1), np.zeros(3), np.zeros(30))
    >>> found = anneal_restricted(model, np.zeros(3), 200, 50, seed=0)
    >>> abs(found.log_partition - model.log_partition()) < 4 * found.log_partition_error < 0.2
    True
    """
    n_chains, rng = count("n_chains", n_chains, 1), generator(seed)
    W, h, c = model.weights, model.fields, model.hidden_fields
    v = signs(np.tile(np.tanh(base), (n_chains, 1)).astype(np.float32), rng)
    log_weights = np.zeros(n_chains)
    betas = np.linspace(0, 1, count("temperatures", temperatures, 1) + 1)
    for before, beta in pairwise(betas):
        spins = v.astype(np.float64)
        u = W.T @ spins.T + c[:, None]
        log_weights += (beta - before) * (spins @ (h - base))
        log_weights += log_2cosh(beta * u)[0] - log_2cosh(before * u)[0]
        v = SingleModel(beta * W, (1 - beta) * base + beta * h, beta * c).sweep(v, rng)
    start = model.n_hidden * math.log(2) + float(np.logaddexp(base, -base).sum())
    value, error = log_mean_weight(log_weights), log_mean_weight_error(log_weights)
    return RestrictedSample(v.astype(np.int8), start + value, error)


def draw_restricted(model: RestrictedModel, base: Array, n_samples: int, seed: Seed = None) -> Spins:
    """Spins at the ends of independent chains, annealed and then left at the model for some sweeps."""
    n_samples, rng = count("n_samples", n_samples, 1), generator(seed)
    single = SingleModel(model.weights, model.fields, model.hidden_fields)
    parts = []
    for start in range(0, n_samples, CHAINS):
        v = anneal_restricted(model, base, min(CHAINS, n_samples - start), _MORE, rng).spins.astype(
            np.float32
        )
        for _ in range(_MORE):
            v = single.sweep(v, rng)
        parts.append(v.astype(np.int8))
    return np.concatenate(parts)
