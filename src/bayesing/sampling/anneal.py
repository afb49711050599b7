"""Annealed Gibbs sampling: independent chains, cooled from beta = 0 to beta = 1.

Every chain starts from uniform random spins. At each beta = beta_step, 2 beta_step, ..., 1 (the last step is
shorter where 1 is not a multiple) the spins are drawn anew in turn, ``sweeps`` times over, and
``final_sweeps`` times more at beta = 1. beta multiplies couplings and fields alike. The default, 35 sweeps,
is what the paper's experiments used. It is not enough for equilibrium near and above J = 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..spins import Spins


def schedule(beta_step: float, sweeps: int, final_sweeps: int) -> NDArray[np.float64]:
    """beta of every sweep, in order.

    >>> len(schedule(0.03, sweeps=1, final_sweeps=1))
    35
    """
    if not 0 < beta_step <= 1:
        raise ValueError(f"beta_step must be above 0 and at most 1: found {beta_step}.")
    if sweeps < 1 or final_sweeps < 0:
        raise ValueError(
            f"sweeps must be at least 1 and final_sweeps at least 0: found {sweeps} and {final_sweeps}."
        )
    below = np.arange(1, int(np.ceil(1 / beta_step - 1e-9))) * beta_step
    return np.concatenate([np.repeat(np.append(below, 1.0), sweeps), np.ones(final_sweeps)])


def anneal(
    couplings: NDArray[np.float64],
    fields: NDArray[np.float64],
    betas: NDArray[np.float64],
    n_chains: int,
    rng: np.random.Generator,
) -> Spins:
    """One sample from each of ``n_chains`` chains, after a sequential sweep at each of ``betas``.

    Spin i becomes +1 with probability 1/(1 + exp(-2 beta f_i)), f_i = h_i + sum_j J_ij S_j.
    Chains lie along the last axis, so that one spin of all chains is updated at once.
    """
    J, h = couplings.astype(np.float32), fields.astype(np.float32)
    n = len(h)
    S = rng.integers(0, 2, (n, n_chains), dtype=np.int8).astype(np.float32) * 2 - 1
    for beta in betas.astype(np.float32):
        # u < 1/(1 + exp(-2 beta f)) is the same as 2 beta f > logit(u): no exponential per spin.
        u = rng.random((n, n_chains), dtype=np.float32)
        with np.errstate(divide="ignore"):
            thresholds = np.log(u / (1 - u)) / (2 * beta)
        for i in range(n):
            S[i] = np.where(J[i] @ S + h[i] > thresholds[i], np.float32(1), np.float32(-1))
    return np.ascontiguousarray(S.T).astype(np.int8)
