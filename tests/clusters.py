"""A real Dask scheduler and worker processes on this machine."""

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager

from distributed import Client

QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
DASK = [sys.executable, "-m", "dask"]
STARTING = 60  # seconds


@contextmanager
def cluster(folder, n_workers):
    """Its address, and the processes, the scheduler first; all are killed at the end."""
    address_file = folder / "scheduler.json"
    command = [*DASK, "scheduler", "--port", "0", *_options(address_file)]
    processes = [subprocess.Popen(command, **QUIET)]
    try:
        processes += [start_worker(folder) for _ in range(n_workers)]
        end = time.monotonic() + STARTING
        while not address_file.exists() and time.monotonic() < end:
            time.sleep(0.05)
        address = json.loads(address_file.read_text())["address"]
        wait_for_workers(address, n_workers)
        yield address, processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def start_worker(folder, name=None, cwd=None, **environment):
    """One more process with one thread, for the scheduler of the same folder."""
    command = [*DASK, "worker", "--nthreads", "1", "--no-nanny", "--local-directory", str(folder)]
    command += [*_options(folder / "scheduler.json"), *(["--name", name] if name else [])]
    return subprocess.Popen(command, cwd=cwd or folder, env=os.environ | environment, **QUIET)


@contextmanager
def one_more(folder, address, n_workers, name, wait=True, **how):
    """So many workers, of which one has this name and is killed at the end; ``wait`` until the scheduler knows."""
    process = start_worker(folder, name, **how)
    try:
        wait_for_workers(address, n_workers)
        yield process
    finally:
        process.kill()
        process.wait()
    if wait:
        with Client(address) as client:  # or the next test would find it still there
            end = time.monotonic() + STARTING
            while len(client.nthreads()) >= n_workers and time.monotonic() < end:
                time.sleep(0.02)


def wait_for_task(address, kind, worker=None):
    """Until a task whose key has this in it is with a worker, or with the worker of this name."""
    end = time.monotonic() + STARTING
    with Client(address, set_as_default=False) as client:
        while time.monotonic() < end:
            names = {
                where: it["name"] for where, it in client.scheduler_info(n_workers=-1)["workers"].items()
            }
            for where, keys in client.processing().items():
                if (worker is None or names.get(where) == worker) and any(kind in str(key) for key in keys):
                    return
            time.sleep(0.005)
    raise TimeoutError(f"no task of {kind} on {worker}")


def wait_for_workers(address, n_workers):
    if n_workers:
        with Client(address) as client:
            client.wait_for_workers(n_workers, timeout=STARTING)


def _options(address_file):
    return ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(address_file)]
