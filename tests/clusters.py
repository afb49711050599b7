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


def start_worker(folder, name=None, **environment):
    """One more process with one thread for the scheduler of the same folder."""
    command = [*DASK, "worker", "--nthreads", "1", "--no-nanny", "--local-directory", str(folder)]
    command += [*_options(folder / "scheduler.json"), *(["--name", name] if name else [])]
    return subprocess.Popen(command, env=os.environ | environment, **QUIET)


def wait_for_workers(address, n_workers):
    if n_workers:
        with Client(address) as client:
            client.wait_for_workers(n_workers, timeout=STARTING)


def _options(address_file):
    return ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(address_file)]
