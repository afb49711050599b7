"""What the true likelihood costs, and what another package takes for it."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from joblib import parallel_config

from bayesing.experiments.cells import Task

from coupling_data import cell, data
from front import Row, Settings
from likelihood_truth import METHOD, fit

PYTHON = "BAYESING_PEER"


def cost_tasks(s: Settings) -> list[Task]:
    return [cell(cost, s, at["n"], at["N"], at["J"], cost=at["n"] ** 3) for at in s.fits]


def cost(s: Settings, n: int, N: int, J: float) -> Iterator[Row]:
    """A complete fit with gamma and certificate, in a process of its own."""
    code = (
        "import resource, time, bayesing as bs\n"
        f"spins = bs.simulate({n}, {N}, J={J}, sweeps={10 if J <= 1 else 40}, seed=1).spins\n"
        f"bs.BoltzmannMachine({METHOD!r}).fit(spins[:50, :10])\n"
        "start = time.perf_counter()\n"
        f"bm = bs.BoltzmannMachine({METHOD!r}, random_state=0).fit(spins)\n"
        "elapsed = time.perf_counter() - start\n"
        "peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20\n"
        "print(elapsed, peak, bm.gamma_, int(bm.certificate_.passed))"
    )
    command = [sys.executable, "-W", "ignore", "-c", code]
    output = subprocess.run(command, check=True, capture_output=True, text=True)
    names = ("seconds", "peak_GiB", "gamma", "passed")
    yield {"n": n, "N": N, "J": J} | dict(zip(names, map(float, output.stdout.split()), strict=True))


def cost_summary(s: Settings, rows: list[Row]) -> None:
    for row in rows:
        seconds, peak = float(row["seconds"]), float(row["peak_GiB"])
        print(
            f"  n = {row['n']}, N = {row['N']}, J = {row['J']}: {seconds:.1f} s, peak {peak:.2f} GiB, passed "
            f"{float(row['passed']):.0f}"
        )
    same = [row for row in rows if row["J"] == rows[0]["J"]]
    if len(same) > 2:
        n, seconds = (np.log([float(row[name]) for row in same]) for name in ("n", "seconds"))
        print(f"  exponent of n, N = 10 n: {np.polyfit(n, seconds, 1)[0]:.2f}")


# Against a peer


def peer_tasks(s: Settings) -> list[Task]:
    if PYTHON not in os.environ:
        print(f"peer: left out, for the environment variable {PYTHON} names no Python")
        return []
    return [cell(peer, s, at["n"], at["N"], at["J"]) for at in s.fits]


def peer(s: Settings, n: int, N: int, J: float) -> Iterator[Row]:
    """Seconds until pairs are reproduced within a standard error rms; ours is a whole fit, nearly without a prior."""
    spins = data(n, N, J, 0.0, 0).spins
    fit(spins[:50, :10])
    at = {"n": n, "N": N, "J": J}
    for label, gamma in (("bayesing", "auto"), ("bayesing, hardly a prior", 100.0)):
        with parallel_config("threading", n_jobs=-1):
            bm, elapsed = fit(spins, gamma=gamma)
        yield at | {"rule": label, "seconds": elapsed, "pairs": bm.certificate_.pull_pairs}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "spins.npy"
        np.save(file, spins)
        for rate in s.rates:
            command = [os.environ[PYTHON], str(Path(__file__).with_name("adabmdca.py")), str(file)]
            command += [str(rate), str(s.longest)]
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            seconds, pairs = map(float, output.split()[-2:])
            yield at | {"rule": f"adabmDCA, rate {rate:g}", "seconds": seconds, "pairs": pairs}


def peer_summary(s: Settings, rows: list[Row]) -> None:
    for row in rows:
        seconds, pairs = float(row["seconds"]), float(row["pairs"])
        found = f"{seconds:.1f} s" if math.isfinite(seconds) else f"not within {s.longest} s"
        print(
            f"  n = {row['n']}, N = {row['N']}, J = {row['J']}: {row['rule']:26} {found}, pairs {pairs:.2f}"
        )
