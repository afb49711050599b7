"""The whole generative model: couplings from a prior, then spins from a sampler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .ising import IsingModel
from .priors import Prior, PriorName
from .sampling.anneal import anneal, schedule
from .spins import Spins

Seed = int | np.random.SeedSequence | np.random.Generator | None


@dataclass(frozen=True, eq=False)
class Simulation:
    """Spins (int8, N x n) with the couplings (n x n) and fields (n) that they were drawn from."""

    spins: Spins
    couplings: NDArray[np.float64]
    fields: NDArray[np.float64]


def simulate(
    n_spins: int,
    n_samples: int,
    J: float,
    H: ArrayLike = 0.0,
    J0: float = 0.0,
    prior: PriorName = "gaussian",
    sampler: Literal["anneal"] = "anneal",
    beta_step: float = 0.03,
    sweeps: int = 1,
    final_sweeps: int = 1,
    seed: Seed = None,
) -> Simulation:
    """Draw couplings of mean J0/n and variance J^2/n, then independent samples of the Boltzmann machine.

    ``H`` is the field, one number or one per spin. ``sampler="anneal"`` with the default schedule (33 betas
    and 1, one sweep each, one more at beta = 1) is how the paper made its data.

    >>> sim = simulate(n_spins=300, n_samples=120, J=0.8, H=0.2, seed=0)
    >>> sim.spins.shape, sim.couplings.shape, sim.fields.shape
    ((120, 300), (300, 300), (300,))
    """
    if n_spins < 2 or n_samples < 1:
        raise ValueError(
            f"At least 2 spins and 1 sample are needed: found n_spins={n_spins}, n_samples={n_samples}."
        )
    if not (np.isfinite(J) and J >= 0 and np.isfinite(J0)):
        raise ValueError(f"J must be finite and not negative, J0 finite: found J={J}, J0={J0}.")
    if sampler != "anneal":
        raise ValueError(f"sampler must be anneal: found {sampler!r}.")
    betas = schedule(beta_step, sweeps, final_sweeps)
    for_couplings, for_spins = _generator(seed).spawn(2)
    couplings = draw_couplings(Prior(prior, J**2, n_spins), J0, for_couplings)
    model = IsingModel(couplings, H)
    spins = anneal(model.couplings, model.fields, betas, n_samples, for_spins)
    return Simulation(spins, model.couplings, model.fields)


def draw_couplings(prior: Prior, J0: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Symmetric matrix of couplings J0/n plus a draw from the prior, zero on the diagonal."""
    n = prior.n
    couplings = np.zeros((n, n))
    upper = np.triu_indices(n, 1)
    couplings[upper] = J0 / n + prior.draw(n * (n - 1) // 2, rng)
    return couplings + couplings.T


def _generator(seed: Seed) -> np.random.Generator:
    return np.random.default_rng(seed)
