"""Strength and field of the model: standard errors as pivots at fixed truths, and intervals by simulation."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator

import numpy as np

import bayesing as bs
from bayesing.experiments.cells import Task

from coupling_data import cell
from front import Row, Settings
from methods import fitted
from trust_ranks import quantiles, row_of

LEVELS = (0.5, 0.9)  # of intervals
EDGES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)  # of the bins that they and the estimate between them make
SHARES = tuple(b - a for a, b in itertools.pairwise(EDGES))


def spins_at(at: dict, seed: int) -> np.ndarray:
    """Data of given J and H; couplings are others in each data set."""
    entropy = [103, at["n"], at["N"], round(100 * at["J"]), round(100 * at["H"]), seed]
    found = bs.simulate(
        at["n"], at["N"], J=at["J"], H=at["H"], sweeps=4, seed=np.random.SeedSequence(entropy)
    )
    return found.spins


def words(at: dict) -> str:
    return f"n = {at['n']}, N = {at['N']}, J = {at['J']:g}, H = {at['H']:g}"


def strength_tasks(s: Settings) -> list[Task]:
    return [
        cell(strength, s, k, method, part, cost=at["n"])
        for k, at in enumerate(s.sets)
        for method in s.methods
        for part in range(s.slow_parts if method in s.slow else s.parts)
    ]


def strength(s: Settings, k: int, method: str, part: int) -> Iterator[Row]:
    """Where truths lie in normal distributions around the estimates; estimates without an error are told apart."""
    at = s.sets[k]
    for seed in range(part * s.repeats, (part + 1) * s.repeats):
        eb = fitted(spins_at(at, seed), method)
        gamma = at["J"] ** 2
        pivots = {"gamma": (gamma, eb.gamma_, eb.gamma_error_), "H": (at["H"], eb.H_, eb.H_error_)}
        for name, (truth, mean, error) in pivots.items():
            if math.isfinite(mean) and 0 < error < math.inf:
                where = quantiles(np.array([truth]), np.array([mean]), np.array([error]))
                yield row_of(f"{method}; {words(at)}", name, seed, where)
            else:
                yield row_of(f"{method}, NO ERROR; {words(at)}", name, seed, np.array([0.5]))


def interval_tasks(s: Settings) -> list[Task]:
    return [cell(intervals, s, k, part) for k in range(len(s.sets)) for part in range(s.parts)]


def intervals(s: Settings, k: int, part: int) -> Iterator[Row]:
    at = s.sets[k]
    for seed in range(part * s.repeats, (part + 1) * s.repeats):
        eb = fitted(spins_at(at, seed))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bs.BayesingWarning)
            try:
                narrow, wide = (
                    eb.interval(level, n_simulations=s.simulations, seed=seed) for level in LEVELS
                )
            except bs.InputError:  # told apart, for an interval that is not given covers nothing
                yield row_of(f"interval(), REFUSED; {words(at)}", "J", seed, np.array([0.5]), EDGES)
                continue
        for name, corrected in (("J", narrow.J_corrected), ("H", narrow.H_corrected)):
            inner, outer = getattr(narrow, name), getattr(wide, name)
            ends = np.array([outer[0], inner[0], corrected, inner[1], outer[1]])
            where = (at[name] > ends).sum()  # for ends that are not in order, too
            u = np.array([(EDGES[where] + EDGES[where + 1]) / 2])
            yield row_of(f"interval(); {words(at)}", name, seed, u, EDGES)
