"""What the parts of a report cost, in seconds on one core, so that none of them takes minutes unasked.

The constants are measured, and good to a factor of two or three: they decide what is left out or reduced, and how far
the bar has moved. Nothing is timed at run time, so that the same command makes the same report on any machine.
"""

from __future__ import annotations

SIMULATIONS = 60  # for intervals, where there is time
LEAST_SIMULATIONS = 40  # below, calibration refuses
_FOR_INTERVALS = 20.0  # seconds
_FOR_COUPLINGS = 20.0
_FOR_PREDICTION = 30.0


def annealing(n: int, N: int, sweeps: int) -> float:
    """One data set by annealing: a product of n x n by n x N matrices, and a random number a spin, in each sweep."""
    return N * n * (0.2e-6 + 1.2e-9 * n) * sweeps


def tempering(n: int, N: int, hard: bool) -> float:
    """N samples at equilibrium: ladders grow as sqrt(n), and rounds where the spin glass is near (``hard``)."""
    return 0.45 + (2e-5 if hard else 4e-6) * n**2 + 2e-6 * N * n


def spectrum(n: int, N: int) -> float:
    """A Gram matrix and its eigenvalues."""
    least = min(n, N)
    return 2e-10 * n * N * least + 2e-9 * least**3


def pseudolikelihood(n: int, N: int) -> float:
    """A search with products of N x n by n x n matrices, and as many exponentials as there are spins."""
    return N * n * (6e-6 + 8e-9 * n)


def simulation(n: int, N: int, distance: float, near: float) -> float:
    """One data set for the intervals, and what is looked at in it, at a distance from the spin glass."""
    if distance > near:
        return annealing(n, N, 4 if distance > 0.5 else 10) + spectrum(n, N)
    return tempering(n, N, True) + spectrum(n, N) + 64 * N * n * 1e-8


def simulations(seconds: float) -> int:
    """How many data sets of that cost each to simulate for intervals: 0 where even the fewest take too long."""
    affordable = int(_FOR_INTERVALS / seconds)
    if affordable < LEAST_SIMULATIONS // 2:
        return 0
    return min(max(affordable, LEAST_SIMULATIONS), SIMULATIONS)


def rows_for_couplings(n: int, N: int) -> int:
    """How many rows pseudo-likelihood can be given."""
    return min(N, int(N * _FOR_COUPLINGS / pseudolikelihood(n, N)))


def can_predict(n: int, n_samples: int, hard: bool) -> bool:
    """Whether there is time for samples of the fitted model."""
    return tempering(n, n_samples, hard) < _FOR_PREDICTION
