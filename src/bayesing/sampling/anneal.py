r"""Annealed Gibbs sampling and annealed importance sampling: independent chains, from beta = 0 to beta = 1.

Every chain starts from uniform random spins, unless told otherwise. At each beta = beta_step, 2 beta_step, ..., 1
(the last step is shorter where 1 is not a multiple) the spins are drawn anew in turn, ``sweeps`` times over, and
``final_sweeps`` times more at beta = 1. beta multiplies couplings and fields alike. The default, 35 sweeps,
is the reading of the paper's description that comes closest to its tables; the paper gives the step of beta
but not the number of sweeps. It is not enough for equilibrium near and above J = 1.

**Importance weights** (R. Neal, *Annealed importance sampling*, 2001). With A(S) the exponent of P(S), a chain
that stood at S_{t-1} when beta went from beta_{t-1} to beta_t has

.. math:: \ln w = \sum_t (\beta_t - \beta_{t-1}) A(S_{t-1}), \qquad E[w] = Z / 2^n ,

whatever the number of sweeps; averages over the chains weighted with w converge to those of the model.

**From independent spins** in fields a, the ``base``: P(S) at beta is then proportional to
:math:`\exp[\sum_i a_i S_i + \beta (A(S) - \sum_i a_i S_i)]`, what beta multiplies takes the place of A, and
:math:`\prod_i 2 \cosh a_i` that of 2^n. If tanh a_i are about the means of the model, the way is shorter and weights
vary less, much less where spins are rare.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from ..arguments import Seed, count, generator, number, numbers
from ..ising import IsingModel
from ..types import Spins
from ._gibbs import GROUP, Chains, Single, check_model, generator_states, in_threads
from .diagnostics import log_mean_weight, log_mean_weight_error

Floats = NDArray[np.float64]


class ChainAverages(NamedTuple):
    """Of every chain over its sweeps at beta = 1: the exponent of P(S) (chains), and the spins (chains x n)."""

    exponents: Floats
    spins: Floats


@dataclass(frozen=True, eq=False)
class AnnealedSample:
    """Spins (int8, chains x n) at beta = 1, a chain a row, and the logarithm of their importance weights.

    ``base`` (n) are the fields that the chains started from, as independent spins; None are uniform ones.
    ``averages`` are there if asked for.
    """

    spins: Spins
    log_weights: Floats
    base: Floats | None = None
    averages: ChainAverages | None = None

    @property
    def log_partition(self) -> float:
        """Estimate of ln Z; its exponential is unbiased for Z, up to float32 (six digits of the exponents)."""
        n = self.spins.shape[1]
        start = n * math.log(2) if self.base is None else float(np.logaddexp(self.base, -self.base).sum())
        return log_mean_weight(self.log_weights) + start

    @property
    def log_partition_error(self) -> float:
        """Standard error of ``log_partition``: the relative one of the mean weight."""
        return log_mean_weight_error(self.log_weights)

    @property
    def effective_sample_size(self) -> float:
        """(sum w)^2 / sum w^2: as many equally weighted samples as the weighted ones are worth."""
        return float(np.exp(2 * logsumexp(self.log_weights) - logsumexp(2 * self.log_weights)))


def schedule(beta_step: float, sweeps: int, final_sweeps: int) -> Floats:
    """beta of every sweep, in order.

    >>> len(schedule(0.03, sweeps=1, final_sweeps=1))
    35
    """
    if not 0 < number("beta_step", beta_step) <= 1:
        raise ValueError(f"beta_step must be above 0 and at most 1: found {beta_step}.")
    sweeps, final_sweeps = count("sweeps", sweeps, 1), count("final_sweeps", final_sweeps, 0)
    below = np.arange(1, int(np.ceil(1 / beta_step - 1e-9))) * beta_step
    return np.concatenate([np.repeat(np.append(below, 1.0), sweeps), np.ones(final_sweeps)])


def annealed_importance_sampling(
    model: IsingModel,
    n_chains: int = 1000,
    beta_step: float = 0.03,
    sweeps: int = 1,
    final_sweeps: int = 1,
    seed: Seed = None,
    base: ArrayLike | None = None,
) -> AnnealedSample:
    """Independent chains cooled along a schedule: their spins at beta = 1, with weights that make them exact.

    ``base`` are n fields of independent spins to start from, in place of uniform ones.

    >>> sample = annealed_importance_sampling(IsingModel([[0.0, 0.5], [0.5, 0.0]]), seed=0)
    >>> print(f"ln Z = {sample.log_partition:.2f} +- {sample.log_partition_error:.2f}")
    ln Z = 1.51 +- 0.00
    """
    return anneal(model, n_chains, schedule(beta_step, sweeps, final_sweeps), seed, base)


def anneal(
    model: IsingModel,
    n_chains: int,
    betas: ArrayLike,
    seed: Seed = None,
    base: ArrayLike | None = None,
    averages: bool = False,
) -> AnnealedSample:
    """The same along any schedule: a sequential sweep at each of ``betas``, which must rise to 1.

    ``averages`` asks for those of every chain over its sweeps at beta = 1. Weighted as the spins at the end are, they
    converge to those of the model.

    Groups of chains run in parallel under ``joblib.parallel_config(n_jobs=...)``; the result is the same.
    """
    check_model(model)
    betas = check_betas(betas)
    n_chains = count("n_chains", n_chains, 1)
    start = None if base is None else _check_base(base, model.n_spins)
    J, h = model.couplings.astype(np.float32), model.fields.astype(np.float32)
    states = generator_states(n_chains, generator(seed))
    groups = in_threads(
        partial(_anneal_group, J, h, states[:, first : first + GROUP], betas, start, averages)
        for first in range(0, n_chains, GROUP)
    )
    spins, log_weights, parts = zip(*groups, strict=True)
    return AnnealedSample(
        np.concatenate(spins),
        np.concatenate(log_weights),
        None if start is None else start.astype(np.float64),
        ChainAverages(*map(np.concatenate, zip(*parts, strict=True))) if averages else None,
    )


def check_betas(betas: ArrayLike) -> Floats:
    """A schedule must not fall, and must end at beta = 1."""
    schedule = numbers("betas", betas, least=0)
    if schedule.ndim != 1 or not len(schedule):
        raise ValueError(f"betas must be a list of numbers that ends at 1: found shape {schedule.shape}.")
    if (np.diff(schedule) < 0).any() or schedule[-1] != 1:
        raise ValueError(f"betas must not fall, and must end at 1: found {np.array2string(schedule)}.")
    return schedule


def _check_base(base: ArrayLike, n: int) -> Single:
    """Fields of independent spins, as the chains have them."""
    fields = numbers("base", base)
    if fields.shape != (n,):
        raise ValueError(f"base must have shape ({n},), a field for every spin: found shape {fields.shape}.")
    return fields.astype(np.float32)


def _anneal_group(
    J: Single, h: Single, states: NDArray[np.uint32], betas: Floats, base: Single | None, averages: bool
) -> tuple[Spins, Floats, ChainAverages | None]:
    chains = Chains(J, h, states, base)
    log_weights, exponents = np.zeros((2, states.shape[1]))
    spins = np.zeros_like(chains.spins)  # their sum, of whole numbers
    beta = np.empty(states.shape[1], np.float32)
    for previous, current in zip([0.0, *betas], betas, strict=False):
        log_weights += (current - previous) * chains.exponents
        beta.fill(current)
        chains.sweep(beta)
        if averages and current == 1:
            exponents += chains.exponents
            spins += chains.spins
    last = chains.spins.T.astype(np.int8, order="C")
    if not averages:
        return last, log_weights, None
    sweeps, means = np.count_nonzero(betas == 1), spins.T.astype(np.float64)
    means /= sweeps
    return last, log_weights, ChainAverages(exponents / sweeps + means @ chains.base, means)
