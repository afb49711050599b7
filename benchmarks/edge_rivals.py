r"""Edges as IsingFit finds them: logistic regressions with an L1 penalty, chosen by the extended BIC.

IsingFit (R, van Borkulo et al., *A new method for constructing networks from binary data*, 2014) regresses each spin
on all others with glmnet, over a path of 100 penalties lambda. In the units of glmnet, with standardised columns,

.. math:: \min_b \; -\frac{1}{N} \ln L(b) + \lambda \sum_j |b_j| , \qquad
          \mathrm{EBIC} = -2 \ln L + k \ln N + 2 \gamma_E \, k \ln(n - 1) ,

with k the number of coefficients that are not 0. The penalty with the least EBIC is taken for each spin. An edge
needs both of its coefficients (the "AND rule"), and its weight is their mean. A coefficient of s_j = ±1 is 2 J_ij.

The path is glmnet's: from the least lambda without edges down to 1e-4 of it (1e-2 where N < n - 1), and it ends early
where the deviance hardly changes any more or is fully explained. Here it also ends where the coefficients alone cost
more than the best EBIC so far, and where EBIC is above the best by the cost of five coefficients.

All regressions are solved together. Each step minimises a quadratic model by coordinate descent. The model's Hessian
is the matrix of correlations times the mean of p (1 - p), times 2, 4, ... if the objective rose.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

LAMBDAS = 100
SMALLEST = 1e-4  # of the first lambda
SMALLEST_FEW = 1e-2  # the same with fewer samples than coefficients
LEAST_LAMBDAS = 5  # before a path may end early
FLAT = 1e-5  # relative change of the explained deviance at which a path ends
MARGIN = 5  # coefficients, whose cost above the best EBIC ends a path
EXPLAINED = 0.999  # share of the deviance at which a path ends
TOLERANCE = 1e-5  # of standardised coefficients
ABOVE = 1e-9  # relative; without it rounding makes an edge at the first lambda
ROUNDING = 1e-12  # of the objective
MOST_STEPS = 200
MOST_CYCLES = 100
LARGEST_WEIGHT = 0.25  # of p (1 - p)


class Regressions(NamedTuple):
    """Columns for all regressions: ones and standardised spins (N x (n + 1)), and the answers 0 or 1 (N x n)."""

    X: np.ndarray
    Y: np.ndarray
    correlations: np.ndarray
    deviations: np.ndarray  # standard deviations of the spins

    @classmethod
    def of(cls, spins: np.ndarray) -> Regressions:
        """For spins that all vary."""
        s = spins.astype(np.float64)
        deviations = s.std(axis=0)
        X = np.column_stack([np.ones(len(s)), (s - s.mean(axis=0)) / deviations])
        return cls(X, (s + 1) / 2, X.T @ X / len(s), deviations)

    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients without edges ((n + 1) x n), and the least lambda at which they are the solution (n)."""
        p = self.Y.mean(axis=0)
        slopes = np.abs(self.X[:, 1:].T @ (self.Y - p)) / len(self.X)
        np.fill_diagonal(slopes, 0)
        B = np.zeros((self.X.shape[1], len(p)))
        B[0] = np.log(p / (1 - p))
        return B, (1 + ABOVE) * slopes.max(axis=0)


def solve(
    data: Regressions, of: np.ndarray, lambdas: np.ndarray, B: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of the regressions ``of`` some spins at one lambda each, starting from B, and their ln L."""
    B, Y, correlations = B.copy(), data.Y[:, of], data.correlations
    before, last, losses = B.copy(), np.full(len(of), np.inf), np.empty(len(of))
    steeper, left = np.ones(len(of)), np.arange(len(of))
    for _ in range(MOST_STEPS):
        residuals, loss, weights = _residuals(data.X @ B[:, left], np.ascontiguousarray(Y[:, left]))
        objective = loss + lambdas[left] * np.abs(B[1:, left]).sum(axis=0)
        rose = objective > last[left] + ROUNDING
        back, on = left[rose], left[~rose]
        B[:, back], steeper[back] = before[:, back], 2 * steeper[back]
        before[:, on], last[on], losses[on] = B[:, on], objective[~rose], loss[~rose]
        scales = np.minimum(LARGEST_WEIGHT, steeper[on] * weights[~rose])
        slopes = data.X.T @ residuals[:, ~rose] / len(Y)
        B[:, on], change = _descend(B[:, on], slopes, correlations, scales, lambdas[on], of[on] + 1)
        left = np.concatenate([back, on[change > TOLERANCE]])
        if not len(left):
            break
    return B, -len(Y) * losses


@njit(cache=True)
def _residuals(F: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Y - p for p = 1/(1 + exp(-F)), and for each column -ln L/N and the mean of p (1 - p)."""
    N, n = F.shape
    residuals, loss, weights = np.empty((N, n)), np.zeros(n), np.zeros(n)
    for a in range(N):
        for k in range(n):
            e = math.exp(-abs(F[a, k]))
            p = 1 / (1 + e) if F[a, k] > 0 else e / (1 + e)
            residuals[a, k] = Y[a, k] - p
            loss[k] += max(F[a, k], 0.0) + math.log1p(e) - Y[a, k] * F[a, k]
            weights[k] += p * (1 - p)
    return residuals, loss / N, weights / N


@njit(cache=True)
def _descend(
    B: np.ndarray,
    slopes: np.ndarray,
    correlations: np.ndarray,
    scales: np.ndarray,
    lambdas: np.ndarray,
    own: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """B with every column at the minimum of its quadratic model, changed in place, and the largest change of each."""
    m, n = B.shape
    largest = np.zeros(n)
    for k in range(n):
        first = B[:, k].copy()
        pull = slopes[:, k] / scales[k]  # slope of the model over its curvature
        threshold = lambdas[k] / scales[k]
        for _ in range(MOST_CYCLES):
            moved = 0.0
            for j in range(m):
                if j == own[k]:
                    continue
                z = B[j, k] + pull[j]
                new = z if j == 0 else math.copysign(max(abs(z) - threshold, 0.0), z)
                step = new - B[j, k]
                if step != 0:
                    B[j, k] = new
                    for i in range(m):
                        pull[i] -= step * correlations[i, j]
                    moved = max(moved, abs(step))
            if moved < 0.1 * TOLERANCE:
                break
        for j in range(m):
            largest[k] = max(largest[k], abs(B[j, k] - first[j]))
    return B, largest


def chosen_by_ebic(data: Regressions, gamma: float, *, whole: bool = False) -> np.ndarray:
    """Coefficients ((n + 1) x n) with the least EBIC on each spin's path; EBIC does not end a ``whole`` path."""
    N, n = data.Y.shape
    cost = math.log(N) + 2 * gamma * math.log(n - 1)  # of a coefficient
    B, first = data.start()
    found, best = B.copy(), np.full(n, np.inf)
    smallest = SMALLEST_FEW if n - 1 > N else SMALLEST
    going, explained, empty = np.arange(n), np.zeros(n), null_log_likelihood(data)
    for k in range(LAMBDAS):
        B[:, going], log_likelihood = solve(
            data, going, first[going] * smallest ** (k / (LAMBDAS - 1)), B[:, going]
        )
        edges = np.count_nonzero(B[1:, going], axis=0)
        ebic = -2 * log_likelihood + cost * edges
        better = ebic < best[going]
        found[:, going[better]], best[going[better]] = B[:, going[better]], ebic[better]
        share = 1 - log_likelihood / empty[going]
        over = (share - explained[going] < FLAT * share) | (share > EXPLAINED)
        explained[going] = share
        hopeless = (cost * edges > best[going]) | (ebic > best[going] + MARGIN * cost)
        going = going[~(over & (k >= LEAST_LAMBDAS) | hopeless & (not whole))]
        if not len(going):
            break
    return found


def null_log_likelihood(data: Regressions) -> np.ndarray:
    """Ln L of every spin without edges."""
    p = data.Y.mean(axis=0)
    return len(data.Y) * (p * np.log(p) + (1 - p) * np.log1p(-p))


def ising_fit(spins: np.ndarray, gamma: float = 0.25) -> np.ndarray:
    """Couplings (n x n) by the rule of IsingFit; spins that do not vary have none."""
    n = spins.shape[1]
    varies = np.flatnonzero(spins.min(axis=0) < spins.max(axis=0))
    couplings = np.zeros((n, n))
    if len(varies) < 2:
        return couplings
    data = Regressions.of(spins[:, varies])
    J = chosen_by_ebic(data, gamma)[1:].T / (2 * data.deviations)
    both = (J != 0) & (J.T != 0)
    couplings[np.ix_(varies, varies)] = both * (J + J.T) / 2
    return couplings
