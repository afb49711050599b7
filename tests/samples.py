"""Spins to test with."""

import numpy as np
from hypothesis import strategies as st


def random_spins(N, n, seed=0, p=0.7):
    """Columns with different means, and not independent, so that no moment is near zero by symmetry."""
    rng = np.random.default_rng(seed)
    common = rng.random((N, 1)) < 0.3
    return np.where((rng.random((N, n)) < p * np.linspace(0.5, 1, n)) ^ common, 1, -1).astype(np.int8)


spin_arrays = st.integers(2, 9).flatmap(
    lambda n: st.lists(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n), min_size=2, max_size=14)
)
