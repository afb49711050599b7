"""Data that are not of the prior: votes, digits, measurements, recordings, and kinds that are hard to learn."""

from __future__ import annotations

import itertools
import math
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import bayesing as bs
from bayesing.experiments.cells import Task

from coupling_data import cell
from front import Row, Settings, grouped
from likelihood_truth import METHOD, certificate, fit
from methods import gamma_at_mode

FOLDER = "BAYESING_DATA"


def breast_cancer() -> np.ndarray:
    """569 tumours, 30 measurements of each, above the median or below."""
    from sklearn.datasets import load_breast_cancer

    X = load_breast_cancer().data
    return np.where(np.median(X, axis=0) < X, 1, -1).astype(np.int8)


LOADERS = {
    "digits": lambda: bs.load_digits().spins,
    "senate": lambda: bs.load_senate109(missing="drop").spins,
    "breast_cancer": breast_cancer,
}


def split(spins: np.ndarray, seed: int, cut: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng([41, seed]).permutation(len(spins))
    return spins[order[:cut]], spins[order[cut:]]


def quietly(method: str, spins: np.ndarray, **parameters: Any) -> bs.BoltzmannMachine:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        return bs.BoltzmannMachine(method, random_state=0, **parameters).fit(spins)


def pairs_chi2(bm: bs.BoltzmannMachine, test: np.ndarray) -> float:
    """Mean square deviation of held-out connected pairs, in units of their sampling error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        model = bm.sample(20_000, seed=1).astype(float)
    test = test.astype(float)
    upper = np.triu_indices(test.shape[1], 1)
    a, b = (np.cov(x.T, bias=True)[upper] for x in (test, model))
    m, s = model.mean(axis=0), model.var(axis=0)
    variance = np.outer(s, s)[upper] + 4 * np.outer(m, m)[upper] * b - b**2
    varies = variance > 1e-3
    return float(np.mean((a - b)[varies] ** 2 / variance[varies]) * len(test))


# Real data, held out


def real_tasks(s: Settings) -> list[Task]:
    return [cell(real, s, name, k) for name, k in itertools.product(s.data, range(s.splits))]


def real(s: Settings, name: str, k: int) -> Iterator[Row]:
    source = s.data[name]
    spins = LOADERS[source["load"]]()
    part, of = source["fraction"]
    train, test = split(spins, k, part * len(spins) // of)
    yield from held_out(s, name, k, train, test)


def held_out(s: Settings, name: str, k: int, train: np.ndarray, test: np.ndarray) -> Iterator[Row]:
    """Log likelihood of the rest by every method, and what its samples look like."""
    bm, elapsed = fit(train, k)
    laplace, longer = fit(train, k, prior="laplace")
    at_mode, once = fit(train, k, gamma=gamma_at_mode(train))
    machines = {
        METHOD: (bm, elapsed),
        f"{METHOD}, gamma at the mode": (at_mode, once),
        f"{METHOD}, laplace": (laplace, longer),
    }
    machines |= {method: (quietly(method, train), 0.0) for method in s.rivals}
    for rule, (machine, seconds) in machines.items():
        value, error = machine.log_likelihood(test, s.n_chains, seed=0)
        has = machine.certificate_ is not None
        yield {
            **{"data": name, "split": k, "n": train.shape[1], "N": len(train), "rule": rule},
            **{"gamma": machine.gamma_, "seconds": seconds, "held_out": value, "error": error},
            **{"pairs_chi2": pairs_chi2(machine, test), "zeros": np.mean(machine.couplings_ == 0)},
            **(certificate(machine) if has else dict.fromkeys(certificate(bm), "")),
        }


def real_summary(s: Settings, rows: list[Row]) -> None:
    for (name,), here in grouped(rows, "data").items():
        print(f"  {name}: held-out log likelihood per sample, in nats; chi^2 of held-out pairs")
        for (rule,), of_rule in grouped(here, "rule").items():
            values = "  ".join(f"{float(row['held_out']):8.3f}" for row in of_rule)
            chi2 = "  ".join(f"{float(row['pairs_chi2']):6.1f}" for row in of_rule)
            passed = sum(int(row["passed"]) for row in of_rule if row["passed"] != "")
            print(f"    {rule:29} {values}   chi^2 {chi2}   {passed} passed")


# Recordings


def recordings_tasks(s: Settings) -> list[Task]:
    if FOLDER not in os.environ:
        print(f"recordings: left out, for the environment variable {FOLDER} names no folder")
        return []
    return [cell(words, s, k) for k in range(s.splits)] + [cell(cases, s, "cases")]


def words(s: Settings, k: int) -> Iterator[Row]:
    """Random halves of words of 50 cells."""
    bits = np.load(Path(os.environ[FOLDER]) / s.words)["bits"]
    spins = 2 * np.unpackbits(bits, axis=1, count=50).astype(np.int8) - 1
    train, test = split(spins, k, len(spins) // 2)
    bm, elapsed = fit(train, k)
    free, _ = fit(train, k, gamma=s.free)
    entropy, error = bm.entropy(s.n_chains, seed=0)
    value, _ = bm.log_likelihood(test, s.n_chains, seed=0)
    rival = quietly("pseudolikelihood", train)
    active, by_rival = ((machine.sample(s.samples, seed=1) > 0).sum(axis=1) for machine in (bm, rival))
    in_data = (train > 0).sum(axis=1)
    yield {
        **{"data": "words", "split": k, "seconds": elapsed, "entropy_bits": entropy / math.log(2)},
        **{"entropy_error": error / math.log(2), "held_out": value / math.log(2)},
        **{"free_entropy_bits": free.entropy(s.n_chains, seed=0)[0] / math.log(2), "gamma": bm.gamma_},
        **{"none": np.mean(active == 0), "none_in_data": np.mean(in_data == 0)},
        **{"many": np.mean(active >= 15), "many_in_data": np.mean(in_data >= 15), **certificate(bm)},
        **{"active_data": shares(in_data), f"active_{METHOD}": shares(active)},
        "active_pseudolikelihood": shares(by_rival),
    }


def shares(active: np.ndarray) -> str:
    """Of each number of active cells, from 0 to 50."""
    return " ".join(f"{share:.6g}" for share in np.bincount(active, minlength=51) / len(active))


def cases(s: Settings, _: str) -> Iterator[Row]:
    """Nine judges, practically without a prior; the exact maximum is known to 0.3 nats."""
    spins = bs.read_spins(str(Path(os.environ[FOLDER]) / s.cases)).spins
    bm, elapsed = fit(spins, gamma=s.free)
    value, error = bm.log_likelihood(spins)
    yield {
        **{"data": "cases", "split": 0, "seconds": elapsed, "entropy_bits": bm.entropy()[0] / math.log(2)},
        **{"entropy_error": error, "held_out": value * len(spins), "free_entropy_bits": "", "gamma": s.free},
        **dict.fromkeys(("none", "none_in_data", "many", "many_in_data"), ""),
        **certificate(bm),
        **dict.fromkeys(("active_data", f"active_{METHOD}", "active_pseudolikelihood"), ""),
    }


def recordings_summary(s: Settings, rows: list[Row]) -> None:
    for row in rows:
        texts = ("data", "active_data", f"active_{METHOD}", "active_pseudolikelihood")
        number = {key: float(value) for key, value in row.items() if key not in texts and value != ""}
        if row["data"] == "words":
            print(
                f"  words {row['split']}: {number['seconds']:.1f} s, entropy {number['entropy_bits']:.3f} bits "
                f"(nearly without a prior {number['free_entropy_bits']:.3f}), held "
                f"out {number['held_out']:.3f} bits, active {number['active']:.2f} (data "
                f"{number['active_in_data']:.2f}), P(none) {number['none']:.3f} ({number['none_in_data']:.3f}), "
                f"P(15 or more) {number['many']:.4f} ({number['many_in_data']:.4f}), passed {row['passed']}"
            )
        else:
            print(f"  cases: log likelihood {number['held_out']:.2f} nats")


# Hard to learn


def lattice(size: int, K: float) -> np.ndarray:
    """Couplings of a square lattice with periodic boundaries."""
    site = np.arange(size**2).reshape(size, size)
    J = np.zeros((size**2, size**2))
    for axis in (0, 1):
        J[site.ravel(), np.roll(site, -1, axis).ravel()] = K
    return J + J.T


def hard_data(name: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng([43, seed])
    if name == "senate":
        spins = LOADERS["senate"]()
        return split(spins, seed, 3 * len(spins) // 4)[0]
    if name == "bursts":
        up = rng.random(20_000) < 0.02
        return np.where(rng.random((20_000, 60)) < np.where(up[:, None], 0.15, 0.01), 1, -1).astype(np.int8)
    h, N = 0.0, 2000
    if name == "rare blocks":
        J, h, N = np.kron(np.eye(5), np.full((5, 5), 0.35)), -0.5, 5000
    elif name == "ferromagnet":
        upper = np.triu(rng.normal(1.2 / 100, 0.4 / 10, (100, 100)), 1)
        J, N = upper + upper.T, 1000
    else:
        J = lattice(10, {"critical lattice": 0.44, "ordered lattice": 0.5}[name])
    np.fill_diagonal(J, 0)
    model = bs.IsingModel(J, np.full(len(J), h))
    return bs.parallel_tempering(model, N, seed=seed, max_rounds=2**15).spins


def hard_tasks(s: Settings) -> list[Task]:
    return [cell(hard, s, name, seed) for name, seed in itertools.product(s.cases, range(s.seeds))]


def hard(s: Settings, name: str, seed: int) -> Iterator[Row]:
    spins = hard_data(name, seed)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", bs.BayesingWarning)
        bm = bs.BoltzmannMachine(METHOD, random_state=seed).fit(spins)
    kinds = "; ".join(sorted({type(warning.message).__name__ for warning in said}))
    yield {"data": name, "seed": seed, "gamma": bm.gamma_, "said": kinds, **certificate(bm)}


def hard_summary(s: Settings, rows: list[Row]) -> None:
    for (name,), here in grouped(rows, "data").items():
        passed = sum(int(row["passed"]) for row in here)
        said = [row["said"] or "nothing" for row in here]
        worst = max(float(row["pairs"]) for row in here)
        print(
            f"  {name:18} {passed} of {len(here)} passed; pairs at most {worst:.2f}; said: {', '.join(said)}"
        )
