"""Files read, and intervals simulated, by the workers of a Dask cluster on this machine.

A real scheduler and worker processes of one thread each on 127.0.0.1. Commands run as from a shell, with ``--dask``
and without, and take turns. The fastest of each counts. Without ``--dask`` a fit reads in one process, and an
interval is simulated by as many processes as there are cores. Workers have done all of it once before. Where others
use the machine, seconds of the processor say more than those on the clock.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil
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
        ways = {_HERE: Cluster([], [])}
        for workers in s.workers:
            ways[workers] = clusters.enter_context(_cluster(workers))
        best: dict[int, Run] = {}
        for turn in range(s.warm_up + s.repeats):
            for workers, cluster in ways.items():
                run = _run([sys.executable, "-m", "bayesing", *arguments, "--json"], cluster)
                if turn >= s.warm_up:
                    best[workers] = min(best.get(workers, run), run)
    for workers, run in best.items():
        end = run.answer.get("interval", {"J": [""]})["J"][0]
        yield {
            **{"work": work, "N": N, "n": n, "workers": workers, "cores": os.cpu_count()},
            **{"seconds": run.seconds, "command_processor": run.command, "worker_processor": run.worker},
            **{"J": run.answer["J"], "J_from": end},
        }


class Cluster(NamedTuple):
    """How a command is told of it, and its workers."""

    option: list[str]
    workers: list[psutil.Process]


@dataclass(order=True)
class Run:
    """Seconds on the clock, those of the processor for the command and for the busiest worker, and the answer."""

    seconds: float
    command: float
    worker: float
    answer: dict[str, Any] = field(compare=False)


def _run(command: list[str], cluster: Cluster) -> Run:
    before = [_processor(worker) for worker in cluster.workers]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run([*command, *cluster.option], capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - start
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    of_command = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    of_workers = [_processor(worker) - b for worker, b in zip(cluster.workers, before, strict=True)]
    return Run(seconds, of_command, max(of_workers, default=0.0), json.loads(done.stdout))


def _processor(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


@contextmanager
def _cluster(n_workers: int) -> Iterator[Cluster]:
    """A scheduler with so many workers."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        address = Path(name) / "scheduler.json"
        options = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(address)]
        worker = ["worker", "--nthreads", "1", "--no-nanny", "--local-directory", name]
        processes = []
        for arguments in (["scheduler", "--port", "0"], *[worker] * n_workers):
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *arguments, *options], stderr=subprocess.DEVNULL
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            processes.append(process)
        while not address.exists():
            time.sleep(0.05)
        found = json.loads(address.read_text())["address"]
        with Client(found, set_as_default=False) as client:
            client.wait_for_workers(n_workers, timeout=_STARTING)
        yield Cluster(["--dask", found], [psutil.Process(process.pid) for process in processes[1:]])


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
            busiest = float(row["worker_processor"])
            print(
                f"    {who:18} {float(row['seconds']):6.2f} s; of the processor, the command "
                f"{float(row['command_processor']):5.2f} s, the busiest worker {busiest:5.2f} s"
            )
    same = [len({(row["J"], row["J_from"]) for row in group}) for group in grouped(rows, "work").values()]
    claim("the same bits with any number of workers", set(same) == {1})
