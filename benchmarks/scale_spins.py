"""Many spins: walks through all pairs, closed forms of square data, and how cost grows with n and N."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import bayesing as bs
from bayesing.experiments.cells import Task
from bayesing.strength.susceptibility import fit_susceptibility

from coupling_data import cell
from edge_data import claim
from front import Row, Settings, grouped
from scale_pictures import along

BLOCK = 250  # spins

# Walks through all pairs of very many spins


def spins_tasks(s: Settings) -> list[Task]:
    return [cell(spins, s, n) for n in s.n]


def spins(s: Settings, n: int) -> Iterator[Row]:
    """In a process of its own, whose memory can be told."""
    yield {"n": n, "N": s.N, **in_process("walk", n, s.N, s.k)}


def walk(n: int, N: int, k: int) -> dict[str, float]:
    X = blocks(n, N)
    base = memory()
    timed: dict[str, float] = {}
    strength = _timed(timed, "gamma", lambda: bs.EmpiricalBayes().fit(X))
    bm = _timed(timed, "couplings", lambda: bs.BoltzmannMachine("spectral").fit(X))
    top = _timed(timed, "strongest", lambda: bm.strongest(k))
    _timed(timed, "edges", lambda: bm.edges(0.05))
    within = sum(c.i // BLOCK == c.j // BLOCK for c in top) / len(top)
    J = math.sqrt(strength.gamma_)
    return {**timed, "J": J, "within": within, "data_GiB": base, "peak_GiB": memory()}


def blocks(n: int, N: int) -> np.ndarray:
    """Blocks of spins, each with couplings of its own: gamma is that of a block, and most pairs are not coupled."""
    parts = (bs.simulate(BLOCK, N, J=0.6, H=0.1, seed=b, sweeps=3).spins for b in range(math.ceil(n / BLOCK)))
    return np.concatenate(list(parts), axis=1)[:, :n]


def spins_summary(s: Settings, rows: list[Row]) -> None:
    for row in rows:
        numbers = ", ".join(f"{key} {float(row[key]):.3g}" for key in row if key not in ("n", "N"))
        print(f"  n = {row['n']}, N = {row['N']}: {numbers}")
    largest = max(rows, key=lambda row: int(row["n"]))
    took = float(largest["couplings"]) + float(largest["strongest"])
    claim(f"gamma in {float(largest['gamma']):.1f} s", float(largest["gamma"]) < s.allowed["gamma"])
    claim(f"couplings and strongest in {took:.0f} s", took < s.allowed["strongest"])
    claim(f"peak memory {float(largest['peak_GiB']):.2f} GiB", float(largest["peak_GiB"]) < s.allowed["GiB"])


# A closed form of as many samples as spins, against one product of matrices


def square_tasks(s: Settings) -> list[Task]:
    return [cell(square, s, n) for n in s.n]


def square(s: Settings, n: int) -> Iterator[Row]:
    """The closed form in moments, what a fit by it takes with all that is looked at, and one by "auto"."""
    rng = np.random.default_rng(n)
    X = rng.integers(0, 2, (n, n), dtype=np.int8) * np.int8(2) - np.int8(1)
    row: Row = {"n": n, "N": n}
    _timed(row, "closed", lambda: fit_susceptibility(bs.SpinMoments.of(X)))
    _timed(row, "susceptibility", lambda: bs.EmpiricalBayes("susceptibility").fit(X))
    row["method"] = _timed(row, "auto", lambda: bs.EmpiricalBayes().fit(X)).method_
    A = X.astype(np.float32)
    _timed(row, "product", lambda: A.T @ A)
    yield row


def square_summary(s: Settings, rows: list[Row]) -> None:
    for row in rows:
        product = float(row["product"])
        told = [f"{name} {float(row[name]) / product:.2f}" for name in ("closed", "susceptibility", "auto")]
        print(
            f"  n = N = {row['n']}: in products of single precision ({product:.2f} s), {', '.join(told)} "
            f"({row['method']})"
        )


# How cost grows


def growth_tasks(s: Settings) -> list[Task]:
    what = [("strength", name) for name in s.strength] + [("couplings", name) for name in s.couplings]
    return [cell(growth, s, kind, name) for kind, name in what]


def growth(s: Settings, kind: str, name: str) -> Iterator[Row]:
    """Processor time and memory beyond the data, of data with weak couplings, in processes of their own."""
    n0, N0 = s.small.get(name, s.middle)
    points = [(n0, int(N0 * f)) for f in s.factors] + [(int(n0 * f), N0) for f in s.factors if f != 1]
    for n, N in points:
        yield {"kind": kind, "method": name, "n": n, "N": N, **in_process("cost", kind, name, n, N)}


def cost(kind: str, name: str, n: int, N: int) -> dict[str, float]:
    X = bs.simulate(n, N, J=0.4, H=0.1, seed=1, sweeps=2).spins
    few = X[: max(50, N // 20), : max(8, n // 20)]
    fit: Callable[[np.ndarray], object] = (
        bs.EmpiricalBayes(name, random_state=0).fit
        if kind == "strength"
        else partial(_couplings, bs.BoltzmannMachine(name, random_state=0))
    )
    fit(few)  # which loads what is needed
    before, start = memory(), time.process_time()
    fit(X)
    return {"seconds": time.process_time() - start, "MiB": 1024 * (memory() - before)}


def _couplings(bm: bs.BoltzmannMachine, X: np.ndarray) -> object:
    return bm.fit(X).coupling_errors_


def growth_summary(s: Settings, rows: list[Row]) -> None:
    """Exponents of time and of memory in n and in N, by least squares of logarithms."""
    for (kind, name), here in grouped(rows, "kind", "method").items():
        lines = {size: along(here, size) for size in ("n", "N")}
        told = []
        for what in ("seconds", "MiB"):
            told += [f"{what} n^{_slope(lines['n'], 'n', what)} N^{_slope(lines['N'], 'N', what)}"]
        (at,) = (row for row in lines["n"] if row in lines["N"])
        print(
            f"  {kind} {name}: {', '.join(told)}; {float(at['seconds']):.2g} s at n = {at['n']}, N = {at['N']}"
        )


def _slope(rows: list[Row], key: str, what: str) -> str:
    x = np.array([float(row[key]) for row in rows])
    y = np.array([float(row[what]) for row in rows])
    if (y < {"seconds": 0.005, "MiB": 4}[what]).any():
        return "?"  # next to nothing
    return f"{np.polyfit(np.log(x), np.log(y), 1)[0]:.1f}"


# Processes of their own


def memory() -> float:
    """The largest so far, in GiB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def in_process(function: str, *arguments: object) -> dict[str, float]:
    """What a function of this file gives, in a process of its own."""
    command = [sys.executable, "-W", "ignore", __file__, function, json.dumps(arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parent)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _timed(times: dict[str, Any], name: str, work: Callable[[], Any]) -> Any:
    start = time.perf_counter()
    found = work()
    times[name] = time.perf_counter() - start
    return found


if __name__ == "__main__":
    print(json.dumps({"walk": walk, "cost": cost}[sys.argv[1]](*json.loads(sys.argv[2]))))
