"""Real data: the evidence of the number of units, and likelihoods against other programs."""

from __future__ import annotations

import itertools
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import bayesing as bs
from bayesing.experiments.cells import Task

from coupling_data import cell
from edge_data import claim
from front import Row, Settings, grouped
from hidden_planted import evidence_rows, fit
from likelihood_real import split
from methods import restricted_log_partition
from zoo_data import digits as pixels

PYTHON = "BAYESING_RBMS"  # the environment variable that names the Python with rbms
LOADERS = {"digits": pixels, "senate": lambda: bs.load_senate109(missing="drop").spins}

# Evidence and held-out likelihood over the number of units


def real_tasks(s: Settings) -> list[Task]:
    return [cell(real, s, name, seed) for name, seed in itertools.product(s.data, range(s.splits))]


def real(s: Settings, name: str, seed: int) -> Iterator[Row]:
    spins = LOADERS[name]()
    train, test = split(spins, seed, 3 * len(spins) // 4)
    rbm, elapsed = fit(train, "auto")
    at = {"data": name, "units": "", "N": len(train), "seed": seed}
    for row in evidence_rows(at, rbm, {"seconds": elapsed}):
        k = row["tried"]
        given = rbm if row["chosen"] else fit(train, k)[0]
        if k <= s.units:
            yield row | {"held_out": given.score(test), "fitted": given.score(train)}


def real_summary(s: Settings, rows: list[Row]) -> None:
    for (name, seed), here in grouped(rows, "data", "seed").items():
        print(f"  {name}, split {seed}: log evidence less its largest, held-out ln P")
        for row in here:
            print(f"    {row['tried']:>2} units {float(row['evidence']):9.1f} {float(row['held_out']):8.3f}")


# Other programs


def settings_of(grid: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def of_grid(work: Callable[..., Iterator[Row]], s: Settings, name: str) -> list[Task]:
    places = itertools.product(s.units, range(s.splits), range(len(settings_of(s.grid))))
    return [cell(work, s, name, k, seed, place) for k, seed, place in places]


def digits_tasks(s: Settings) -> list[Task]:
    own = [cell(ours, s, k, seed, cost=100) for k, seed in itertools.product(s.units, range(s.splits))]
    return own + of_grid(bernoulli, s, "bernoulli")


def peer_tasks(s: Settings) -> list[Task]:
    return of_grid(rbms, s, "rbms") if PYTHON in os.environ else []


def halves(seed: int) -> tuple[np.ndarray, np.ndarray]:
    spins = pixels()
    return split(spins, seed, 3 * len(spins) // 4)


def scored(program: str, settings: Row, k: int, seed: int, model: bs.RestrictedModel, elapsed: float) -> Row:
    """Mean ln P of both halves, with ln Z by the same annealing for all, exact up to 20 units."""
    train, test = halves(seed)
    log_partition, error = restricted_log_partition(model, train)
    return {
        **{"program": program, "settings": " ".join(f"{a}={b}" for a, b in settings.items()), "units": k},
        **{"split": seed, "held_out": float(model.log_weights(test).mean()) - log_partition},
        **{"fitted": float(model.log_weights(train).mean()) - log_partition, "error": error},
        "seconds": elapsed,
    }


def from_bits(weights: np.ndarray, fields: np.ndarray, hidden: np.ndarray) -> bs.RestrictedModel:
    """A machine of units 0 and 1 as one of spins: v = (1 + s)/2."""
    return bs.RestrictedModel(
        weights / 4, fields / 2 + weights.sum(axis=1) / 4, hidden / 2 + weights.sum(axis=0) / 4
    )


def ours(s: Settings, k: int, seed: int) -> Iterator[Row]:
    rbm, elapsed = fit(halves(seed)[0], k)
    yield scored("bayesing", {"method": rbm.method_}, k, seed, rbm.model_, elapsed)


def bernoulli(s: Settings, program: str, k: int, seed: int, place: int) -> Iterator[Row]:
    from sklearn.neural_network import BernoulliRBM

    settings, bits = settings_of(s.grid)[place], (halves(seed)[0] > 0).astype(float)
    rbm = BernoulliRBM(n_components=k, random_state=0, **settings)
    start = time.perf_counter()
    rbm.fit(bits)
    elapsed = time.perf_counter() - start
    model = from_bits(rbm.components_.T, rbm.intercept_visible_, rbm.intercept_hidden_)
    yield scored("BernoulliRBM", settings, k, seed, model, elapsed)


def rbms(s: Settings, program: str, k: int, seed: int, place: int) -> Iterator[Row]:
    settings = settings_of(s.grid)[place]
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder) / "spins.npy", Path(folder) / "machine.npz"
        np.save(given, halves(seed)[0])
        script = Path(__file__).parent / "rbms_peer.py"
        command = [
            os.environ[PYTHON],
            str(script),
            str(given),
            str(found),
            str(k),
            *map(str, settings.values()),
        ]
        environment = {"PATH": os.environ.get("PATH", ""), "OMP_NUM_THREADS": "1", "HOME": folder}
        output = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
        with np.load(found) as arrays:
            model = from_bits(*(arrays[name].astype(float) for name in ("weights", "fields", "hidden")))
    yield scored("rbms", settings, k, seed, model, float(output.split()[-1]))


def best_of_each(rows: list[Row]) -> dict[str, float]:
    """Print the best setting of each program; its mean held-out ln P."""
    best: dict[str, float] = {}
    for (program,), here in grouped(rows, "program").items():
        means = {
            setting: float(np.mean([float(row["held_out"]) for row in of_setting]))
            for (setting,), of_setting in grouped(here, "settings").items()
        }
        setting = max(means, key=lambda name, means=means: means[name])
        best[program] = means[setting]
        one = [row for row in here if row["settings"] == setting]
        error, elapsed = (max(float(row[column]) for row in one) for column in ("error", "seconds"))
        total = sum(float(row["seconds"]) for row in here)
        print(
            f"    {program:13} {best[program]:.3f} ± {error:.3f} ({setting}), {elapsed:.0f} s, in all {total:.0f} s"
        )
    return best


def digits_summary(s: Settings, rows: list[Row]) -> None:
    for (k,), here in grouped(rows, "units").items():
        print(f"  {k} units, held-out ln P in nats; best settings of each program")
        best = best_of_each(here)
        gain = best["bayesing"] - best["BernoulliRBM"]
        claim(f"{k} units: better by {gain:.2f} nats", gain >= s.better)


def peer_summary(s: Settings, rows: list[Row]) -> None:
    for (k,), here in grouped(rows, "units").items():
        print(f"  {k} units, held-out ln P in nats")
        best_of_each(here)
