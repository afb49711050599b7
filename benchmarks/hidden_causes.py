"""Couplings beside common causes: known machines, pairwise data, bursts, and a recording."""

from __future__ import annotations

import itertools
import math
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import bayesing as bs
from bayesing.experiments.cells import Task

from coupling_data import cell
from edge_data import claim
from front import Row, Settings, grouped
from hidden_planted import fit as fit_restricted
from hidden_planted import overlaps
from likelihood_real import FOLDER, split
from zoo_data import bursts as bursts_of

CHAINS = 4000  # of annealing, for held-out likelihoods


def fit(spins: np.ndarray, n_hidden: Any, seed: int = 0) -> tuple[bs.BoltzmannMachine, float]:
    """A machine, and the seconds it took."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        bm = bs.BoltzmannMachine("likelihood", n_hidden=n_hidden, random_state=seed).fit(spins)
    return bm, time.perf_counter() - start


def gains(bm: bs.BoltzmannMachine) -> str:
    """Of the evidence by one unit after the other, with errors."""
    return "; ".join(f"{value:.1f} ± {error:.1f}" for value, error in bm.answer_.couplings.gains)


def correlation(J: np.ndarray, truth: np.ndarray) -> float:
    upper = np.triu_indices(len(J), 1)
    return float(np.corrcoef(J[upper], truth[upper])[0, 1])


def _shares(events: dict[str, tuple[int, int]], model: np.ndarray, data: np.ndarray) -> Row:
    """How often the number of active cells is in each range, in samples of the model and in the data."""
    return {
        f"P({name}) {of}": float(((low <= K) & (K <= high)).mean())
        for name, (low, high) in events.items()
        for of, K in (("model", model), ("data", data))
    }


# Known machines


def causes_tasks(s: Settings) -> list[Task]:
    return [cell(causes, s, k, seed, cost=1 + k) for k, seed in itertools.product(s.units, range(s.seeds))]


def causes(s: Settings, k: int, seed: int) -> Iterator[Row]:
    """Of both, of couplings alone and of units alone: what they find, and how likely other samples are."""
    rng = np.random.default_rng([71, k, seed])
    n = s.n
    J = np.triu(rng.normal(0, s.J / math.sqrt(n), (n, n)), 1)
    W = rng.normal(0, math.sqrt(s.gamma / n), (n, k))
    joint = np.block([[J + J.T, W], [W.T, np.zeros((k, k))]])
    truth = bs.IsingModel(joint, rng.normal(0, s.fields, n + k))
    spins, other = (bs.sample(truth, N, seed=rng)[:, :n] for N in (s.N, s.held_out))
    bm, seconds = fit(spins, "auto")
    pairwise, _ = fit(spins, 0)
    alone = fit_restricted(spins, k)[0] if k else None
    found = bm.hidden_couplings_.shape[1]
    held_out = {name: m.log_likelihood(other, CHAINS, seed=0) for name, m in (("both", bm), ("J", pairwise))}
    yield {
        **{"units": k, "seed": seed, "found": found, "gains": gains(bm), "seconds": seconds},
        **{"overlap": "", "overlap_alone": ""},
        **({} if not k else _of_units(bm, alone, W)),
        **{
            "J_correlation": correlation(bm.couplings_, J + J.T),
            "J_alone": correlation(pairwise.couplings_, J + J.T),
        },
        **{f"held_out_{name}": value for name, (value, _) in held_out.items()},
        **{f"held_out_{name}_error": error for name, (_, error) in held_out.items()},
        **{"held_out_W": float(alone.score(other)) if alone else ""},
    }


def _of_units(bm: bs.BoltzmannMachine, alone: Any, W: np.ndarray) -> Row:
    """Mean overlap of true units with those found; none found is an overlap of 0."""
    own = float(overlaps(bm.hidden_couplings_, W).mean()) if bm.hidden_couplings_.shape[1] else 0.0
    return {"overlap": own, "overlap_alone": float(overlaps(alone.hidden_couplings_, W).mean())}


def causes_summary(s: Settings, rows: list[Row]) -> None:
    for (k,), here in grouped(rows, "units").items():
        words = f"  {k} units: found {', '.join(row['found'] for row in here)}"
        for name in ("overlap", "overlap_alone", "J_correlation", "J_alone"):
            if here[0][name] != "":
                words += f"; {name} {np.mean([float(row[name]) for row in here]):.3f}"
        print(f"{words}; {np.mean([float(row['seconds']) for row in here]):.1f} s")
    none = [row for row in rows if row["units"] == "0"]
    claim(
        f"no cause invented in {sum(row['found'] == '0' for row in none)} of {len(none)}",
        all(row["found"] == "0" for row in none),
    )
    some = [row for row in rows if row["units"] != "0"]
    for own, rival in (("overlap", "overlap_alone"), ("J_correlation", "J_alone")):
        better = [float(row[own]) > float(row[rival]) for row in some]
        claim(f"{own} above {rival} in {sum(better)} of {len(better)}", all(better))


# Bursts


def causes_bursts_tasks(s: Settings) -> list[Task]:
    return [cell(causes_bursts, s, seed) for seed in range(s.seeds)]


def causes_bursts(s: Settings, seed: int) -> Iterator[Row]:
    draw = bursts_of(s.n, s.N, s.rate, s.high, s.share)
    spins = draw(np.random.default_rng([63, seed])).spins
    bm, seconds = fit(spins, "auto", seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        model = (bm.sample(s.drawn, seed=seed) > 0).sum(axis=1)
    data = (spins > 0).sum(axis=1)
    events = {"K = 0": (0, 0)} | {f"K >= {least}": (least, s.n) for least in s.active}
    upper = np.triu_indices(s.n, 1)
    yield {
        **{"seed": seed, "found": bm.hidden_couplings_.shape[1], "gains": gains(bm)},
        **_shares(events, model, data),
        **{"rms_J": float(np.sqrt(np.mean(bm.couplings_[upper] ** 2)))},
        **{"rms_z": float(np.sqrt(np.mean((bm.couplings_[upper] / bm.coupling_errors_[upper]) ** 2)))},
        **{"passed": int(bm.check_.passed), "seconds": seconds},
    }


def causes_bursts_summary(s: Settings, rows: list[Row]) -> None:
    for row in rows:
        words = f"  seed {row['seed']}: {row['found']} found ({row['gains']})"
        for event in ("K = 0", *(f"K >= {least}" for least in s.active)):
            words += f"; P({event}) {float(row[f'P({event}) model']):.4f}, data {float(row[f'P({event}) data']):.4f}"
        print(f"{words}; rms J {float(row['rms_J']):.3f}, {float(row['seconds']):.0f} s")
    claim("one cause each", all(row["found"] == "1" for row in rows))


# A recording


def recording_tasks(s: Settings) -> list[Task]:
    if not os.environ.get(FOLDER):
        return []
    return [
        cell(recording, s, k, seed, cost=1 + k) for k, seed in itertools.product(s.units, range(s.splits))
    ]


def recording(s: Settings, k: int, seed: int) -> Iterator[Row]:
    bits = np.load(Path(os.environ[FOLDER]) / "example50.npz")["bits"]
    words = 2 * np.unpackbits(bits, axis=1, count=50).astype(np.int8) - 1
    train, test = split(words, seed, len(words) // 2)
    bm, seconds = fit(train, k)
    value, error = bm.log_likelihood(test, CHAINS, seed=0)
    model = (bm.sample(s.drawn, seed=0) > 0).sum(axis=1)
    data = (test > 0).sum(axis=1)
    yield {
        **{"units": k, "seed": seed, "bits": -value / math.log(2), "bits_error": error / math.log(2)},
        **_shares({"K = 0": (0, 0)} | {f"K >= {K}": (K, 50) for K in s.active}, model, data),
        **{"gamma": bm.gamma_, "passed": int(bm.check_.passed), "seconds": seconds},
    }


def recording_summary(s: Settings, rows: list[Row]) -> None:
    for (k,), here in grouped(rows, "units").items():
        bits = ", ".join(f"{float(row['bits']):.3f}" for row in here)
        words = f"  {k} units: {bits} bits"
        for name in [name for name in here[0] if name.startswith("P(") and name.endswith("model")]:
            other = name.replace("model", "data")
            words += f"; {name[:-6]} {float(here[0][name]):.4f}, held out {float(here[0][other]):.4f}"
        print(f"{words}; {np.mean([float(row['seconds']) for row in here]):.1f} s")
    one = [float(row["bits"]) for row in rows if row["units"] == "1"]
    claim(f"with one unit {np.mean(one):.3f} bits held out, at most {s.allowed}", np.mean(one) <= s.allowed)
