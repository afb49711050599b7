"""The whole generative model: couplings from a prior, then spins from a sampler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import Seed, count, generator, number
from .ising import IsingModel
from .priors import Prior, PriorName
from .sampling._gibbs import check_model
from .sampling.anneal import annealed_importance_sampling, schedule
from .sampling.tempering import parallel_tempering
from .texts import did_you_mean
from .types import Spins

SamplerName = Literal["anneal", "temper"]


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
    sampler: SamplerName = "anneal",
    beta_step: float = 0.03,
    sweeps: int = 1,
    final_sweeps: int = 1,
    seed: Seed = None,
) -> Simulation:
    """Draw couplings of mean J0/n and variance J^2/n, then independent samples of the Boltzmann machine.

    ``H`` is the field, one number or one per spin. ``sampler="anneal"`` with the default schedule (33 betas
    and 1, one sweep each, one more at beta = 1) comes closest to the data of the paper's tables; ``"temper"``
    gives data at equilibrium, or warns.

    >>> sim = simulate(n_spins=300, n_samples=120, J=0.8, H=0.2, seed=0)
    >>> sim.spins.shape, sim.couplings.shape, sim.fields.shape
    ((120, 300), (300, 300), (300,))
    """
    n = count("n_spins", n_spins, 2)
    J, J0 = number("J", J, least=0), number("J0", J0)
    for_couplings, for_spins = generator(seed).spawn(2)
    model = IsingModel(draw_couplings(Prior(prior, J**2, n), J0, for_couplings), H)
    spins = sample(model, n_samples, sampler, beta_step, sweeps, final_sweeps, for_spins)
    return Simulation(spins, model.couplings, model.fields)


def sample(
    model: IsingModel,
    n_samples: int,
    sampler: SamplerName = "temper",
    beta_step: float = 0.03,
    sweeps: int = 1,
    final_sweeps: int = 1,
    seed: Seed = None,
    beta: float = 1.0,
) -> Spins:
    """Samples of a given model, int8 (N, n): at equilibrium with "temper", or one per annealed chain.

    The schedule is for "anneal" alone. ``beta`` is the inverse temperature: couplings and fields are so many times
    as large.

    >>> model = IsingModel([[0.0, 0.5], [0.5, 0.0]])
    >>> sample(model, n_samples=1000, seed=0).shape
    (1000, 2)
    """
    n_samples = count("n_samples", n_samples, 1)
    schedule(beta_step, sweeps, final_sweeps)  # complains where it is wrong, used or not
    check_model(model)
    model = model.at(beta)
    if sampler == "temper":
        return parallel_tempering(model, n_samples, seed=seed).spins
    if sampler == "anneal":
        return annealed_importance_sampling(model, n_samples, beta_step, sweeps, final_sweeps, seed).spins
    hint = did_you_mean(sampler, get_args(SamplerName))
    raise ValueError(f"sampler must be one of anneal, temper: found {sampler!r}.{hint}")


def draw_couplings(prior: Prior, J0: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Symmetric matrix of couplings J0/n plus a draw from the prior, zero on the diagonal."""
    n = prior.n
    couplings = np.zeros((n, n))
    for i in range(n):  # a row at a time: no second matrix in memory
        couplings[i, i + 1 :] = couplings[i + 1 :, i] = J0 / n + prior.draw(n - i - 1, rng)
    couplings.flags.writeable = False  # so that the model need not make its own copy
    return couplings
