"""Threads: of BLAS, of which small matrices need one alone, and of tasks."""

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

    from joblib import cpu_count, effective_n_jobs
    from threadpoolctl import threadpool_limits

    n_threads = cpu_count() if _is_free() else min(effective_n_jobs(None), cpu_count())
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(n_threads) as pool:

        def run(tasks: Sequence[Callable[[], Any]]) -> list[Any]:
            futures = [pool.submit(task) for task in tasks]
            return [future.result() for future in futures]

        yield run


def spread(function: Callable[..., Result], tasks: Sequence[Any], *shared: Any) -> Iterator[Result]:
    """``function(task, *shared)`` of each task, in order: on all cores, or wherever joblib is told to run them.

    On a cluster, arrays among ``shared`` are sent once. Here BLAS takes one thread in each task, so that numbers are
    the same wherever they run.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, "blas"):
        if len(tasks) == 1:
            yield function(tasks[0], *shared)
            return
        from joblib import Parallel, delayed

        asked = -1 if _is_free() else None
        jobs = Parallel(n_jobs=asked, prefer="threads", return_as="generator")
        yield from jobs(delayed(function)(task, *shared) for task in tasks)


def alone(steps: Iterator[Result]) -> Iterator[Result]:
    """The same, each made with one thread of BLAS, as in :func:`spread`, so that numbers are the same."""
    from threadpoolctl import threadpool_limits

    while True:
        with threadpool_limits(1, "blas"):
            try:
                found = next(steps)
            except StopIteration:
                return
        yield found


def chains_for(n_spins: int) -> Any:
    """Within this, chains of many spins run on all cores, unless somebody has said otherwise.

    Their results are the same for any number of threads.
    """
    from contextlib import nullcontext

    from joblib import cpu_count, parallel_config

    return parallel_config(n_jobs=cpu_count()) if n_spins > _SMALL and _is_free() else nullcontext()


def _is_free() -> bool:
    """Whether nobody has said how many tasks may run, nor is this one of them."""
    from joblib.parallel import get_active_backend

    backend, asked = get_active_backend()
    return asked is None and backend.nesting_level == 0
