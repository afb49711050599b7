"""Two groups to compare."""

import numpy as np
import pandas as pd

import bayesing as bs

from samples import draw_exactly

NAMES = ["sleep", "mood", "worry", "panic", "guilt", "anger", "hope"]  # an odd number


def network(**changed):
    """Seven spins on a ring with couplings of both signs and fields of different size; some couplings changed."""
    n = len(NAMES)
    J = np.zeros((n, n))
    for i in range(n):
        J[i, (i + 1) % n] = J[(i + 1) % n, i] = 0.5 if i % 2 else -0.4
    for pair, value in changed.items():
        i, j = map(int, pair[1:])
        J[i, j] = J[j, i] = value
    return bs.IsingModel(J, np.linspace(-0.4, 0.5, n))


def group(N, seed, **changed):
    return draw_exactly(network(**changed), N, np.random.default_rng(seed))


def frame(spins, names=NAMES):
    return pd.DataFrame(spins, columns=names)
