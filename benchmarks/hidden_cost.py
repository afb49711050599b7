"""Time and memory of restricted Boltzmann machines."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bayesing.experiments.cells import Task

from coupling_data import cell
from edge_data import claim
from front import Row, Settings
from hidden_planted import fit, machine
from timing import seconds


def cost_tasks(s: Settings) -> list[Task]:
    turns = [cell(turn, s, name, at["N"], cost=at["N"]) for name, at in s.turns.items()]
    return turns + [cell(alone, s, name, at["N"], cost=10 * at["N"]) for name, at in s.alone.items()]


def data(s: Settings, kind: Row) -> np.ndarray:
    rng = np.random.default_rng(63)
    return machine(kind["n"], kind["units"], s.gamma, s.fields, rng).sample(kind["N"], rng)


def turn(s: Settings, name: str, N: int) -> Iterator[Row]:
    """Fits in this process; the best time counts."""
    kind = s.turns[name]
    spins = data(s, kind)
    (elapsed,) = seconds(lambda: fit(spins, kind["n_hidden"]), repeats=s.repeats)
    at = {"data": name, "n": kind["n"], "N": N, "n_hidden": kind["n_hidden"]}
    yield at | {"seconds": elapsed, "before_GiB": "", "peak_GiB": ""}


def alone(s: Settings, name: str, N: int) -> Iterator[Row]:
    """One fit in a process of its own, with the peak of its memory before and after."""
    kind = s.alone[name]
    code = (
        "import json, resource, sys, time, numpy as np, bayesing as bs\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20\n"
        "small = np.random.default_rng(0).choice([-1, 1], (200, 5))\n"
        "bs.RestrictedBoltzmannMachine(1).fit(small)\n"
        "data, before = bs.SpinStatistics.of(np.load(sys.argv[1], mmap_mode='r')), peak()\n"
        "start = time.perf_counter()\n"
        "bs.RestrictedBoltzmannMachine(json.loads(sys.argv[2]), random_state=0).fit(data)\n"
        "print(time.perf_counter() - start, before, peak())"
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "spins.npy"
        np.save(file, data(s, kind))
        command = [sys.executable, "-W", "ignore", "-c", code, str(file), json.dumps(kind["n_hidden"])]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    elapsed, before, peak = map(float, output.split())
    at = {"data": name, "n": kind["n"], "N": N, "n_hidden": kind["n_hidden"]}
    yield at | {"seconds": elapsed, "before_GiB": before, "peak_GiB": peak}


def cost_summary(s: Settings, rows: list[Row]) -> None:
    for row in rows:
        where = f"{row['data']}, n = {row['n']}, N = {row['N']}, n_hidden = {row['n_hidden']}"
        elapsed = float(row["seconds"])
        if row["peak_GiB"] != "":
            added = float(row["peak_GiB"]) - float(row["before_GiB"])
            words = f"{elapsed:.1f} s, {added:.2f} GiB more than before the fit, peak {float(row['peak_GiB']):.2f}"
            claim(f"{where}: {words}", added <= s.allowed["added_GiB"])
        elif row["data"] == "exact":
            claim(f"{where}: {elapsed:.2f} s", elapsed <= s.allowed["seconds"])
        else:
            print(f"         {where}: {elapsed:.1f} s")
