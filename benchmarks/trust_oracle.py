r"""The machinery itself: ranks of a posterior that is known exactly, by enumeration of all states, must be uniform.

The parameters :math:`\theta = (J, h)` of a few spins have the log posterior
:math:`N [\theta \cdot \bar\phi - \ln Z(\theta)] + \ln P(\theta)` with products and spins
:math:`\phi`. Draws from a multivariate t around its mode, with weights, are as exact as they are many.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

import bayesing as bs
from bayesing.experiments.cells import Task
from bayesing.ising import all_states

from coupling_data import cell
from front import Row, Settings
from trust_data import couplings, pairs, spins_of
from trust_ranks import BINS, quantiles, ranks, row_of

TAILS = 8  # degrees of freedom of the t: heavier tails than those of a posterior
WIDER = 1.2  # times the deviations of the curvature
STEPS = 50  # of Newton's method, of which a fifth is enough


def features(states: np.ndarray) -> np.ndarray:
    """s_i s_j for i < j, then s_i."""
    return np.hstack([pairs(states[:, :, None] * states[:, None, :]), states]).astype(np.float64)


class Exact(NamedTuple):
    """Weighted draws (number, parameters) of an exact posterior."""

    draws: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, spins: np.ndarray, variances: np.ndarray, number: int, rng: np.random.Generator) -> Exact:
        """Under normal priors of mean 0 of all parameters."""
        N, n = spins.shape
        phi = features(all_states(n))
        data = features(spins).mean(axis=0)
        mode = np.zeros(len(data))
        for _ in range(STEPS):
            p = np.exp(phi @ mode - logsumexp(phi @ mode))
            mean = p @ phi
            hessian = N * ((phi.T * p) @ phi - np.outer(mean, mean)) + np.diag(1 / variances)
            step = np.linalg.solve(hessian, N * (data - mean) - mode / variances)
            mode = mode + step / max(1.0, float(np.abs(step).max()))
        root = WIDER * np.linalg.cholesky(np.linalg.inv(hessian))
        z = rng.normal(size=(number, len(mode))) / np.sqrt(rng.chisquare(TAILS, (number, 1)) / TAILS)
        draws = mode + z @ root.T
        log_t = -(TAILS + len(mode)) / 2 * np.log1p((z**2).sum(axis=1) / TAILS)
        log_posterior = N * (draws @ data - logsumexp(draws @ phi.T, axis=1)) - (
            draws**2 / variances / 2
        ).sum(axis=1)
        log_weights = log_posterior - log_t
        weights = np.exp(log_weights - log_weights.max())
        return cls(draws, weights / weights.sum())

    @property
    def mean(self) -> np.ndarray:
        return np.asarray(self.weights @ self.draws)

    @property
    def deviation(self) -> np.ndarray:
        return np.asarray(np.sqrt(self.weights @ (self.draws - self.mean) ** 2))

    @property
    def effective(self) -> float:
        """As many independent draws are worth as much."""
        return float(1 / np.sum(self.weights**2))

    def take(self, number: int, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(self.draws[rng.choice(len(self.draws), number, p=self.weights)])


def oracle_tasks(s: Settings) -> list[Task]:
    return [cell(oracle, s, part, cost=s.repeats) for part in range(s.parts)]


def oracle(s: Settings, part: int) -> Iterator[Row]:
    """Ranks among exact draws, and what two mistakes and a normal approximation would look like."""
    n = s.at["n"]
    for seed in range(part * s.repeats, (part + 1) * s.repeats):
        rng = np.random.default_rng([101, seed])
        J, h = couplings("gaussian", s.at, rng), rng.normal(0, s.at["spread"], n)
        truth = np.concatenate([pairs(J), h])
        spins = spins_of(bs.IsingModel(J, h), s.at["N"], rng)
        variances = np.repeat([s.at["J"] ** 2 / n, s.at["spread"] ** 2], [n * (n - 1) // 2, n])
        exact = Exact.of(spins, variances, s.draws, rng)
        draws, mean, deviation = exact.take(BINS - 1, rng), exact.mean, exact.deviation
        at = {
            "exact draws": ranks(truth, draws, rng),
            "mean and deviation": quantiles(truth, mean, deviation),
            f"errors {s.wrong} times too small": ranks(truth, mean + (draws - mean) / s.wrong, rng),
            "estimates half an error too high": ranks(truth, draws + deviation / 2, rng),
        }
        for case, u in at.items():
            yield row_of(case, "J", seed, u[:-n])
            yield row_of(case, "h", seed, u[-n:])
