"""Time and memory of restricted Boltzmann machines."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bayesing.experiments.cells import Task

from coupling_data import cell
from edge_data import claim
from front import Row, Settings
from hidden_planted import fit, machine


def cost_tasks(s: Settings) -> list[Task]:
    turns = [cell(turn, s, name, at["N"], cost=at["N"]) for name, at in s.turns.items()]
    return turns + [cell(alone, s, name, at["N"], cost=10 * at["N"]) for name, at in s.alone.items()]


def data(s: Settings, kind: Row) -> np.ndarray:
    rng = np.random.default_rng(63)
    return machine(kind["n"], kind["units"], s.gamma, s.fields, rng).sample(kind["N"], rng)


def turn(s: Settings, name: str, N: int) -> Iterator[Row]:
    """Fits in this process, by one thread; the best time counts, on the clock and of the processor."""
    kind = s.turns[name]
    spins = data(s, kind)
    elapsed, used = [], []
    for _ in range(s.repeats):
        start = time.process_time()
        elapsed.append(fit(spins, kind["n_hidden"])[1])
        used.append(time.process_time() - start)
    at = {"data": name, "n": kind["n"], "N": N, "n_hidden": kind["n_hidden"]}
    yield at | {"seconds": min(elapsed), "processor": min(used), "before_GiB": "", "peak_GiB": ""}


def alone(s: Settings, name: str, N: int) -> Iterator[Row]:
    """One fit in a process of its own, with the peak of its memory before and after."""
    kind = s.alone[name]
    code = (
        "import json, resource, sys, time, numpy as np, bayesing as bs\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20\n"
        "small = np.random.default_rng(0).choice([-1, 1], (200, 5))\n"
        "bs.RestrictedBoltzmannMachine(1).fit(small)\n"
        "data, before = bs.SpinStatistics.of(np.load(sys.argv[1], mmap_mode='r')), peak()\n"
        "start, used = time.perf_counter(), time.process_time()\n"
        "bs.RestrictedBoltzmannMachine(json.loads(sys.argv[2]), random_state=0).fit(data)\n"
        "print(time.perf_counter() - start, time.process_time() - used, before, peak())"
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "spins.npy"
        np.save(file, data(s, kind))
        command = [sys.executable, "-W", "ignore", "-c", code, str(file), json.dumps(kind["n_hidden"])]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    elapsed, used, before, peak = map(float, output.split())
    at = {"data": name, "n": kind["n"], "N": N, "n_hidden": kind["n_hidden"]}
    yield at | {"seconds": elapsed, "processor": used, "before_GiB": before, "peak_GiB": peak}


def cost_summary(s: Settings, rows: list[Row]) -> None:
    for row in rows:
        where = f"{row['data']}, n = {row['n']}, N = {row['N']}, n_hidden = {row['n_hidden']}"
        elapsed, used = float(row["seconds"]), float(row["processor"])
        where += f": {elapsed:.1f} s, {used:.2f} s of the processor"
        if row["peak_GiB"] != "":
            added = float(row["peak_GiB"]) - float(row["before_GiB"])
            words = f"{added:.2f} GiB more than before the fit, peak {float(row['peak_GiB']):.2f}"
            claim(f"{where}, {words}", added <= s.allowed["added_GiB"])
        elif row["data"] == "exact":
            claim(where, used <= s.allowed["seconds"])
        else:
            print(f"         {where}")
