"""Files read, and intervals simulated, by the workers of a Dask cluster on this machine.

A real scheduler and worker processes of one thread each on 127.0.0.1. Commands run as from a shell, with ``--dask``
and without, and take turns. The fastest of each counts. Without ``--dask`` a fit reads in one process, and an
interval is simulated by as many processes as there are cores. Workers have done all of it once before.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
from distributed import Client

import bayesing as bs
from bayesing.experiments.cells import Task

from coupling_data import cell
from edge_data import claim
from front import Row, Settings, grouped

_HERE = 0  # workers: without a cluster
_STARTING = 60  # seconds for workers to be there


def dask_tasks(s: Settings) -> list[Task]:
    fits = [cell(reading, s, kind, N, cost=N) for kind, N in s.files]
    return [*fits, *([cell(simulating, s, *s.interval)] if s.interval else [])]


def reading(s: Settings, kind: str, N: int) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        paths = [Path(name) / f"part{k}.{kind}" for k in range(s.parts)]
        for k, path in enumerate(paths):
            _write(path, _spins(N // s.parts, s.n, k))
        yield from _compared(s, f"read {kind}", N, s.n, "fit", *map(str, paths), "--method", "spectral")


def simulating(s: Settings, n: int, N: int) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "x.npy"
        np.save(path, bs.simulate(n, N, J=0.5, seed=1).spins)
        arguments = ["fit", str(path), "--interval", "--simulations", str(s.simulations)]
        yield from _compared(s, "interval", N, n, *arguments)


def _compared(s: Settings, work: str, N: int, n: int, *arguments: str) -> Iterator[Row]:
    """Seconds of a command, and what it prints, without a cluster and with so many workers."""
    with ExitStack() as clusters:
        more: dict[int, list[str]] = {_HERE: []}
        for workers in s.workers:
            more[workers] = ["--dask", clusters.enter_context(_cluster(workers))]
        seconds: dict[int, list[float]] = {workers: [] for workers in more}
        answers: dict[int, dict] = {}
        for turn in range(s.warm_up + s.repeats):
            for workers, address in more.items():
                command = [sys.executable, "-m", "bayesing", *arguments, "--json", *address]
                start = time.perf_counter()
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                if turn >= s.warm_up:
                    seconds[workers].append(time.perf_counter() - start)
                answers[workers] = json.loads(done.stdout)
    for workers, times in seconds.items():
        found = answers[workers]
        end = found.get("interval", {"J": [""]})["J"][0]
        yield {
            **{"work": work, "N": N, "n": n, "workers": workers, "cores": os.cpu_count()},
            **{"seconds": min(times), "cells_a_second": N * n / min(times), "J": found["J"], "J_from": end},
        }


@contextmanager
def _cluster(n_workers: int) -> Iterator[str]:
    """The address of a scheduler with so many workers."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        address = Path(name) / "scheduler.json"
        options = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(address)]
        worker = ["worker", "--nthreads", "1", "--no-nanny", "--local-directory", name]
        for arguments in (["scheduler", "--port", "0"], *[worker] * n_workers):
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *arguments, *options], stderr=subprocess.DEVNULL
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
        while not address.exists():
            time.sleep(0.05)
        found = json.loads(address.read_text())["address"]
        with Client(found, set_as_default=False) as client:
            client.wait_for_workers(n_workers, timeout=_STARTING)
        yield found


def _spins(N: int, n: int, seed: int) -> np.ndarray:
    """Spins with a common cause, as the seed has it."""
    rng = np.random.default_rng(seed)
    common = rng.standard_normal((N, 1), np.float32)
    noise = rng.standard_normal((N, n), np.float32)
    return np.where(noise + np.float32(0.2) * common > 0.3, np.int8(1), np.int8(-1))


def _write(path: Path, spins: np.ndarray) -> None:
    if path.suffix == ".npy":
        np.save(path, spins)
        return
    columns = [np.ascontiguousarray(column) for column in spins.T]
    table = pa.table(columns, names=[f"x{j}" for j in range(len(columns))])
    pyarrow.csv.write_csv(table, path)


def dask_summary(s: Settings, rows: list[Row]) -> None:
    for (work, N, n), group in grouped(rows, "work", "N", "n").items():
        print(f"  {work}, {int(N):,} samples of {n} spins")
        for row in group:
            who = f"{row['workers']} worker(s)" if int(row["workers"]) else "without a cluster"
            rate = (
                f", {float(row['cells_a_second']) / 1e6:.1f} million cells a second" if "read" in work else ""
            )
            print(f"    {who:18} {float(row['seconds']):6.2f} s{rate}")
    same = [len({(row["J"], row["J_from"]) for row in group}) for group in grouped(rows, "work").values()]
    claim("the same bits with any number of workers", set(same) == {1})
