"""Quantiles of true couplings and fields in what fits say of them: normal, with the standard errors, or draws.

All are along the sign of the estimate: above one half means that the truth is further from 0 than the estimate.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

import bayesing as bs
from bayesing.experiments.cells import Task

from coupling_data import cell
from front import Row, Settings
from methods import sparse_draws
from series_data import chain
from trust_data import At, fitted, label, model_of, pairs, spins_of
from trust_ranks import BINS, along, quantiles, ranks, row_of

GAMMA = {"given": "gamma given", "inferred": "gamma inferred"}


def known(at: At, seed: int, prior: str = "gaussian") -> tuple[bs.IsingModel, np.random.Generator]:
    """A truth of this prior."""
    rng = np.random.default_rng([102, *prior.encode(), at["n"], at["N"], round(100 * at["J"]), seed])
    return model_of(prior, at, rng), rng


def gamma_of(at: At, how: str) -> Any:
    return at["J"] ** 2 if how == "given" else "auto"


def rows_of_fit(case: str, seed: int, truth: bs.IsingModel, bm: bs.BoltzmannMachine) -> Iterator[Row]:
    """Couplings and, where they have errors, fields."""
    J = pairs(bm.couplings_)
    at = quantiles(pairs(truth.couplings), J, pairs(bm.coupling_errors_))
    yield row_of(case, "J", seed, along(J, at))
    if bm.field_errors_ is not None:
        yield field_row(case, seed, truth, bm)


def field_row(case: str, seed: int, truth: bs.IsingModel, bm: bs.BoltzmannMachine) -> Row:
    """Fields."""
    at = quantiles(truth.fields, bm.fields_, bm.field_errors_)
    return row_of(case, "h", seed, along(bm.fields_, at))


def tasks_of(work: Any, s: Settings, *more: Any) -> list[Task]:
    """A cell for each part of the data sets of each size."""
    return [
        cell(work, s, k, *rest, part, cost=s.sets[k]["n"])
        for k, *rest in itertools.product(range(len(s.sets)), *more)
        for part in range(s.parts)
    ]


def seeds(s: Settings, part: int) -> range:
    return range(part * s.repeats, (part + 1) * s.repeats)


# Gaussian couplings


def couplings_tasks(s: Settings) -> list[Task]:
    return tasks_of(couplings, s, s.methods) + tasks_of(couplings, at_one(s), s.without_prior)


def at_one(s: Settings) -> Settings:
    """The same settings with the one size at which there are enough samples for methods without a prior."""
    return Settings(**{**vars(s), "sets": s.sets[: s.enough]})


def couplings(s: Settings, k: int, method: str, part: int) -> Iterator[Row]:
    at, free = s.sets[k], method in s.without_prior
    for seed in seeds(s, part):
        truth, rng = known(at, seed)
        spins = spins_of(truth, at["N"], rng)
        for how in ("inferred",) if free else ("given", "inferred"):
            words = "no prior" if free else GAMMA[how]
            gamma = {} if free else {"gamma": gamma_of(at, how)}
            try:
                bm = fitted(spins, method=method, **gamma)
            except bs.InputError:  # no maximum
                continue
            yield from rows_of_fit(f"{method}, {words}; {label(at)}", seed, truth, bm)


# Other priors


def priors_tasks(s: Settings) -> list[Task]:
    return tasks_of(priors, s, s.methods)


def priors(s: Settings, k: int, method: str, part: int) -> Iterator[Row]:
    """Laplace and sparse couplings, each under their own prior; what is sparse also by its mixture."""
    at = s.sets[k]
    for seed in seeds(s, part):
        truth, rng = known(at, seed, at["prior"])
        spins = spins_of(truth, at["N"], rng)
        if at["prior"] == "laplace":
            for how in GAMMA:
                bm = fitted(spins, method=method, prior="laplace", gamma=gamma_of(at, how))
                yield from rows_of_fit(f"{method}, laplace, {GAMMA[how]}; {label(at)}", seed, truth, bm)
            continue
        bm = fitted(spins, method=method, prior="sparse")
        case = f"{method}, sparse; {label(at)}"
        draws = sparse_draws(bm, BINS - 1, rng)
        if draws is None:
            yield from rows_of_fit(f"{method}, sparse, taken as dense; {label(at)}", seed, truth, bm)
            continue
        J = pairs(truth.couplings)
        u = along(pairs(bm.couplings_), ranks(J, draws, rng))
        there = pairs(bm.edge_probabilities_) > 0.5
        normal = quantiles(J, pairs(bm.couplings_), pairs(bm.coupling_errors_))
        yield row_of(case, "J by the mixture", seed, u)
        yield row_of(case, "J ± error, probable edges", seed, along(pairs(bm.couplings_), normal)[there])
        yield field_row(case, seed, truth, bm)


# Draws of the posterior


def draws_tasks(s: Settings) -> list[Task]:
    return tasks_of(draws, s, list(GAMMA))


def draws(s: Settings, k: int, how: str, part: int) -> Iterator[Row]:
    at = s.sets[k]
    for seed in seeds(s, part):
        truth, rng = known(at, seed)
        spins = spins_of(truth, at["N"], rng)
        bm = fitted(spins, method="likelihood", gamma=gamma_of(at, how))
        if bm.gamma_ == 0:
            continue
        found = bm.posterior(s.thin * (BINS - 1), seed=seed)
        case = f"draws, {GAMMA[how]}; {label(at)}"
        J = ranks(pairs(truth.couplings), pairs(found.couplings[s.thin - 1 :: s.thin]), rng)
        yield row_of(case, "J", seed, along(pairs(bm.couplings_), J))
        h = ranks(truth.fields, found.fields[s.thin - 1 :: s.thin], rng)
        yield row_of(case, "h", seed, along(bm.fields_, h))


# Missing cells, series, hidden units


def missing_tasks(s: Settings) -> list[Task]:
    return tasks_of(missing, s)


def missing(s: Settings, k: int, part: int) -> Iterator[Row]:
    at = s.sets[k]
    for seed in seeds(s, part):
        truth, rng = known(at, seed)
        spins = spins_of(truth, at["N"], rng)
        shown = np.where(rng.random(spins.shape) < at["missing"], np.nan, spins)
        for how in GAMMA:
            bm = fitted(shown, method="likelihood", gamma=gamma_of(at, how))
            case = f"likelihood, {at['missing']:.0%} missing, {GAMMA[how]}; {label(at)}"
            yield from rows_of_fit(case, seed, truth, bm)


def series_tasks(s: Settings) -> list[Task]:
    return tasks_of(series, s, s.methods)


def series(s: Settings, k: int, method: str, part: int) -> Iterator[Row]:
    """Rows between which a share of the spins is drawn anew."""
    at = s.sets[k]
    for seed in seeds(s, part):
        truth, _ = known(at, seed)
        rows = chain(truth, at["N"], at["share"], seed)
        for how in GAMMA:
            bm = fitted(rows, method=method, gamma=gamma_of(at, how), series=True)
            yield from rows_of_fit(f"{method}, series, {GAMMA[how]}; {label(at)}", seed, truth, bm)


def hidden_tasks(s: Settings) -> list[Task]:
    return tasks_of(hidden, s)


def hidden(s: Settings, k: int, part: int) -> Iterator[Row]:
    """Loadings of one common cause beside couplings; its sign is that which agrees with the truth."""
    at = s.sets[k]
    for seed in seeds(s, part):
        truth, rng = known(at, seed)
        n = at["n"]
        W = rng.normal(0, at["loading"] / np.sqrt(n), n)
        joint = np.block([[truth.couplings, W[:, None]], [W[None], np.zeros((1, 1))]])
        spins = spins_of(bs.IsingModel(joint, np.append(truth.fields, 0.0)), at["N"], rng)[:, :n]
        bm = fitted(np.ascontiguousarray(spins), method="likelihood", n_hidden=1)
        case = f"one hidden unit; {label(at)}"
        yield from rows_of_fit(case, seed, truth, bm)
        found, error = bm.hidden_couplings_[:, 0], bm.hidden_coupling_errors_[:, 0]
        sign = 1.0 if found @ W >= 0 else -1.0
        yield row_of(case, "W", seed, along(sign * found, quantiles(W, sign * found, error)))
