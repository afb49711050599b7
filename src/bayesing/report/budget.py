"""What the parts of a report cost, in seconds on one core, so that none of them takes minutes unasked.

The constants are measured, and good to a factor of two or three: they decide what is left out or reduced, and how far
the bar has moved. Nothing is timed at run time, so that the same command makes the same report on any machine.
"""

from __future__ import annotations

SIMULATIONS = 60  # data sets for intervals, where there is time
LEAST_SIMULATIONS = 40  # data sets: calibration refuses fewer
SECONDS_FOR_INTERVALS = 20.0  # what a reader waits for
SECONDS_FOR_COUPLINGS = 20.0  # likewise
SECONDS_FOR_PREDICTION = 30.0  # likewise
SECONDS_FOR_PICTURES = 8.0  # of all pictures, whatever the data

# Annealing
_RANDOM_NUMBER = 0.2e-6  # seconds for each spin of each sample and sweep
_PRODUCT = 1.2e-9  # seconds for each coupling of each spin, sample and sweep
_WEAK = 0.5  # distance to the spin glass beyond which few sweeps are enough
_FEW_SWEEPS = 4  # where couplings are weak
_MANY_SWEEPS = 10  # nearer to the spin glass

# Tempering
_START = 0.45  # seconds, whatever the size
_EASY_SWEEP = 4e-6  # seconds for each coupling, far from the spin glass
_HARD_SWEEP = 2e-5  # seconds for each coupling, near the spin glass, where chains mix slowly
_KEPT_SPIN = 2e-6  # seconds for each spin of each sample

# Drawing couplings
_DRAWN_PAIR = 6e-6  # seconds for each pair and draw: a thousand chains follow every draw for some sweeps

# Matrices
_GRAM = 2e-10  # seconds for each product of spins in a Gram matrix
_EIGENVALUES = 2e-9  # seconds, times the cube of the smaller side
_REGRESSED_SPIN = 6e-6  # seconds for each spin of each sample, in the search of pseudo-likelihood
_REGRESSED_PAIR = 8e-9  # seconds for each pair of spins of each sample, likewise
_SCORED_SPIN = 64e-8  # seconds for each spin of each sample, in the scores of 64 regressions


def annealing(n: int, N: int, sweeps: int) -> float:
    """One data set by annealing: a product of n x n by n x N matrices, and a random number a spin, in each sweep."""
    return N * n * (_RANDOM_NUMBER + _PRODUCT * n) * sweeps


def tempering(n: int, N: int, hard: bool) -> float:
    """N samples at equilibrium: ladders grow as sqrt(n), and rounds where the spin glass is near (``hard``)."""
    return _START + (_HARD_SWEEP if hard else _EASY_SWEEP) * n**2 + _KEPT_SPIN * N * n


def spectrum(n: int, N: int) -> float:
    """A Gram matrix and its eigenvalues."""
    least = min(n, N)
    return _GRAM * n * N * least + _EIGENVALUES * least**3


def pseudolikelihood(n: int, N: int) -> float:
    """A search with products of N x n by n x n matrices, and as many exponentials as there are spins."""
    return N * n * (_REGRESSED_SPIN + _REGRESSED_PAIR * n)


def simulation(n: int, N: int, distance: float, near: float) -> float:
    """One data set for the intervals, and what is looked at in it, at a distance from the spin glass."""
    if distance > near:
        return annealing(n, N, _FEW_SWEEPS if distance > _WEAK else _MANY_SWEEPS) + spectrum(n, N)
    return tempering(n, N, True) + spectrum(n, N) + _SCORED_SPIN * N * n


def simulations(seconds: float) -> int:
    """How many data sets of that cost each to simulate for intervals: 0 where even the fewest take too long."""
    affordable = int(SECONDS_FOR_INTERVALS / seconds)
    if affordable < LEAST_SIMULATIONS // 2:
        return 0
    return min(max(affordable, LEAST_SIMULATIONS), SIMULATIONS)


def rows_for_couplings(n: int, N: int) -> int:
    """How many rows pseudo-likelihood can be given."""
    return min(N, int(N * SECONDS_FOR_COUPLINGS / pseudolikelihood(n, N)))


def can_predict(n: int, n_samples: int, hard: bool) -> bool:
    """Whether there is time for samples of the fitted model."""
    return tempering(n, n_samples, hard) < SECONDS_FOR_PREDICTION


def can_draw(n: int, n_draws: int, hard: bool) -> bool:
    """Whether there is time for draws of the couplings, each with samples of its own."""
    return tempering(n, 1000, hard) + drawing(n, n_draws) < SECONDS_FOR_COUPLINGS


def drawing(n: int, n_draws: int) -> float:
    """Draws of the couplings, and chains that follow them."""
    return _DRAWN_PAIR * n**2 * n_draws
