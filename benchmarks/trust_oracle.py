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

from bayesing.conditionals import middle_of_fields
from bayesing.experiments.cells import Task
from bayesing.ising import all_states

from coupling_data import cell
from front import Row, Settings
from trust_data import model_of, pairs, spins_of
from trust_ranks import BINS, along, quantiles, ranks, row_of

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
    def of(
        cls, spins: np.ndarray, precision: np.ndarray, pull: np.ndarray, number: int, rng: np.random.Generator
    ) -> Exact:
        """Under a normal prior of all parameters, of this precision matrix; ``pull`` is that times its mean."""
        N, n = spins.shape
        phi = features(all_states(n))
        data = features(spins).mean(axis=0)
        mode = np.zeros(len(data))
        for _ in range(STEPS):
            p = np.exp(phi @ mode - logsumexp(phi @ mode))
            mean = p @ phi
            hessian = N * ((phi.T * p) @ phi - np.outer(mean, mean)) + precision
            step = np.linalg.solve(hessian, N * (data - mean) + pull - precision @ mode)
            mode = mode + step / max(1.0, float(np.abs(step).max()))
        root = WIDER * np.linalg.cholesky(np.linalg.inv(hessian))
        z = rng.normal(size=(number, len(mode))) / np.sqrt(rng.chisquare(TAILS, (number, 1)) / TAILS)
        draws = mode + z @ root.T
        log_t = -(TAILS + len(mode)) / 2 * np.log1p((z**2).sum(axis=1) / TAILS)
        log_likelihood = N * (draws @ data - logsumexp(draws @ phi.T, axis=1))
        log_posterior = log_likelihood + draws @ pull - ((draws @ precision) * draws).sum(axis=1) / 2
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


def proper(n: int, J: float, H: float, spread: float) -> tuple[np.ndarray, np.ndarray]:
    """The prior that truths are drawn from."""
    pairs = n * (n - 1) // 2
    precisions = np.repeat([n / J**2, spread**-2], [pairs, n])
    return np.diag(precisions), precisions * np.repeat([0.0, H], [pairs, n])


def nearly_flat(spins: np.ndarray, J: float) -> tuple[np.ndarray, np.ndarray]:
    """The prior of bayesing: the same of couplings, and b = h + J d of variance 1 around a middle that d tells."""
    N, n = spins.shape
    i, j = np.triu_indices(n, 1)
    d, k = spins.mean(axis=0), np.arange(len(i))
    b = np.hstack([np.zeros((n, len(i))), np.eye(n)])
    b[i, k], b[j, k] = d[j], d[i]
    prior = b.T @ b
    prior[k, k] += n / J**2
    return prior, b.T @ middle_of_fields(spins.sum(axis=0, dtype=np.int64), N)


def oracle_tasks(s: Settings) -> list[Task]:
    return [cell(oracle, s, part, cost=s.repeats) for part in range(s.parts)]


def oracle(s: Settings, part: int) -> Iterator[Row]:
    """Ranks among exact draws, and what mistakes, a normal approximation and another prior of fields look like."""
    n, J = s.at["n"], s.at["J"]
    for seed in range(part * s.repeats, (part + 1) * s.repeats):
        rng = np.random.default_rng([101, seed])
        model = model_of("gaussian", s.at, rng)
        truth = np.concatenate([pairs(model.couplings), model.fields])
        spins = spins_of(model, s.at["N"], rng)
        exact = Exact.of(spins, *proper(n, J, s.at["H"], s.at["spread"]), s.draws, rng)
        flat = Exact.of(spins, *nearly_flat(spins, J), s.draws, rng)
        draws, mean, deviation = exact.take(BINS - 1, rng), exact.mean, exact.deviation
        at = {
            "exact draws": along(mean, ranks(truth, draws, rng)),
            "exact mean and deviation": along(mean, quantiles(truth, mean, deviation)),
            "exact draws, bayesing's prior of fields": along(
                flat.mean, ranks(truth, flat.take(BINS - 1, rng), rng)
            ),
            f"errors {s.wrong} times too small": along(
                mean, ranks(truth, mean + (draws - mean) / s.wrong, rng)
            ),
            "estimates half an error too high": ranks(truth, draws + deviation / 2, rng),
        }
        for case, u in at.items():
            yield row_of(case, "J", seed, u[:-n])
            yield row_of(case, "h", seed, u[-n:])
