"""Run by the Python of another environment: adabmDCA until it reproduces pairs within a standard error rms.

    python adabmdca.py SPINS.npy RATE LONGEST

Prints the seconds, or inf, and the mismatch at the end. Its own steps, samplers and defaults (10,000 chains, 10
sweeps a step, no prior), on all cores; the mismatch is looked at every ten steps, and that time does not count.
"""

import math
import sys
import time

import numpy as np
import torch
from adabmDCA.sampling import get_sampler
from adabmDCA.stats import get_freq_single_point, get_freq_two_points
from adabmDCA.training import train_graph
from adabmDCA.utils import init_chains, init_parameters

CHAINS, SWEEPS, STEPS, PSEUDO_COUNT = 10_000, 10, 10, 1e-6


def mismatch(chains, spins):
    """Of connected pairs, in standard errors of the data."""
    s = 2 * chains[:, :, 1].numpy() - 1
    upper = np.triu_indices(s.shape[1], 1)
    a, b = (np.cov(x.T.astype(float), bias=True)[upper] for x in (spins, s))
    m = spins.mean(axis=0)
    v = 1 - m**2
    variance = np.outer(v, v)[upper] + 4 * np.outer(m, m)[upper] * a - a**2
    return math.sqrt(np.mean((a - b) ** 2 / np.maximum(variance, 1e-6)) * len(spins))


def main(file, rate, longest):
    torch.manual_seed(0)
    spins = np.load(file)
    data = torch.nn.functional.one_hot(torch.tensor((spins > 0).astype(np.int64)), 2).float()
    n = data.shape[1]
    start = time.perf_counter()
    fi = get_freq_single_point(data=data, pseudo_count=PSEUDO_COUNT)
    fij = get_freq_two_points(data=data, pseudo_count=PSEUDO_COUNT)
    params = init_parameters(fi=fi)
    chains = init_chains(CHAINS, n, 2, device=torch.device("cpu"), dtype=torch.float32, fi=fi)
    mask = torch.ones(n, 2, n, 2)
    mask[torch.arange(n), :, torch.arange(n), :] = 0
    elapsed, off, weights = time.perf_counter() - start, math.inf, None
    while elapsed < longest and off > 1:
        start = time.perf_counter()
        chains, params, weights, _ = train_graph(
            get_sampler("gibbs"), chains, mask, fi, fij, params, SWEEPS, rate, STEPS, 1.0, log_weights=weights
        )
        elapsed += time.perf_counter() - start
        off = mismatch(chains, spins)
    print(elapsed if off <= 1 else math.inf, off)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))
