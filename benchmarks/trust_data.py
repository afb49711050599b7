"""Truths drawn from a prior, and samples of them; n up to 15 by enumeration, which leaves no doubt of equilibrium."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

import bayesing as bs
from bayesing.ising import all_states

ENUMERATED = 15  # spins up to which states are drawn from all 2^n
SWEEPS = 10  # at each temperature, beyond

At = dict[str, Any]  # n, N, J, the mean H of the fields and their spread


def couplings(prior: str, at: At, rng: np.random.Generator) -> np.ndarray:
    """Of variance J^2/n; those of the sparse prior are there with the probability ``edges``."""
    n, scale = at["n"], at["J"] / math.sqrt(at["n"])
    if prior == "laplace":
        drawn = rng.laplace(scale=scale / math.sqrt(2), size=(n, n))
    else:
        drawn = rng.normal(0, scale, (n, n))
    if prior == "sparse":
        drawn *= (rng.random((n, n)) < at["edges"]) / math.sqrt(at["edges"])
    upper = np.triu(drawn, 1)
    return upper + upper.T


def model_of(prior: str, at: At, rng: np.random.Generator) -> bs.IsingModel:
    """Couplings, and normal fields."""
    return bs.IsingModel(couplings(prior, at, rng), rng.normal(at["H"], at["spread"], at["n"]))


def spins_of(model: bs.IsingModel, N: int, rng: np.random.Generator) -> np.ndarray:
    """Independent samples."""
    if model.n_spins > ENUMERATED:
        return bs.sample(model, N, sampler="anneal", sweeps=SWEEPS, seed=rng)
    states = all_states(model.n_spins)
    exponents = -model.energy(states)
    p = np.exp(exponents - exponents.max())
    return states[rng.choice(len(states), N, p=p / p.sum())].astype(np.int8)


def label(at: At) -> str:
    """The size and strength of data in words."""
    field = f", fields {at['H']:g} ± {at['spread']:g}" if at["H"] < 0 else ""
    return f"n = {at['n']}, N = {at['N']}, J = {at['J']:g}{field}"


def fitted(spins: Any, **parameters: Any) -> bs.BoltzmannMachine:
    """A fit. What its warnings say is what is measured."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        return bs.BoltzmannMachine(random_state=0, **parameters).fit(spins)


def pairs(matrix: np.ndarray) -> np.ndarray:
    """Entries i < j of the last two axes."""
    i, j = np.triu_indices(matrix.shape[-1], 1)
    return matrix[..., i, j]
