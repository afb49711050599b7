"""Threads of BLAS: for small matrices one is as fast as two, and far faster where the cores are busy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

Result = TypeVar("Result")
#: Runs tasks, possibly at the same time, and gives their results in order.
Run = Callable[[Sequence[Callable[[], Any]]], list[Any]]

_SMALL = 500  # spins


def threads_for(n_spins: int) -> Any:
    """Within this, BLAS uses one thread for matrices of few spins, and as many as before for others."""
    from threadpoolctl import threadpool_limits  # where it is needed, for it takes time to load

    return threadpool_limits(1 if n_spins <= _SMALL else None, "blas")


@contextmanager
def workers() -> Iterator[Run]:
    """Run tasks on as many threads as ``joblib.parallel_config`` says, by default on all cores.

    BLAS takes one thread in each. Inside a task of joblib there is one: the cores are taken.
    """
    from concurrent.futures import ThreadPoolExecutor

    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, "blas"), ThreadPoolExecutor(_cores()) as pool:

        def run(tasks: Sequence[Callable[[], Any]]) -> list[Any]:
            futures = [pool.submit(task) for task in tasks]
            return [future.result() for future in futures]

        yield run


def chains_for(n_spins: int) -> Any:
    """Within this, chains of many spins run on as many threads as :func:`workers` would, those of few on one.

    Their results are the same for any number of threads.
    """
    from contextlib import nullcontext

    from joblib import parallel_config

    return nullcontext() if n_spins <= _SMALL else parallel_config(n_jobs=_cores())


def _cores() -> int:
    """As many as ``joblib.parallel_config`` says, by default all; one inside a task of joblib."""
    from joblib import cpu_count, effective_n_jobs
    from joblib.parallel import get_active_backend

    backend, asked = get_active_backend()
    free = asked is None and backend.nesting_level == 0
    return int(cpu_count() if free else min(effective_n_jobs(None), cpu_count()))
