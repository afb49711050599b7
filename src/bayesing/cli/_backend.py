"""joblib's tasks on the workers of a Dask cluster, none of which may wait without end.

joblib has a backend for Dask. It puts large arguments on one worker, and if that dies the tasks are lost; and if a
task has killed several workers, joblib is not told and waits. Here arguments travel with their tasks, and whatever
becomes of a task, joblib hears of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from functools import partial
from typing import Any
from uuid import uuid4

from joblib.parallel import ParallelBackendBase

Callback = Callable[[Any], None]


def gathered(client: Any, future: Any) -> Future[Any]:
    """The result of one of Dask's futures, to wait for without that a thread hangs on a scheduler that is silent."""
    return asyncio.run_coroutine_threadsafe(
        client.gather(future, asynchronous=True), client.loop.asyncio_loop
    )


class ClusterBackend(ParallelBackendBase):
    """For ``joblib.parallel_config(backend=...)``: as many jobs as the cluster has threads."""

    supports_retrieve_callback = True
    default_n_jobs = -1

    def __init__(self, client: Any) -> None:
        super().__init__(nesting_level=0)
        self.client = client
        self.waiting: dict[str, tuple[Any, Callback]] = {}
        self.lost: BaseException | None = None
        self.threads: int = sum(client.nthreads().values())  # whoever watches the cluster counts them again

    def effective_n_jobs(self, n_jobs: int | None) -> int:
        """All threads of the cluster, whatever is asked for; two at least, for joblib would do a single job here."""
        return max(2, self.threads)

    def submit(self, func: Callable[[], Any], callback: Callback | None = None) -> Any:
        """Run a batch of tasks on a worker. The callback hears of its result, or of its error."""
        if self.lost is not None:
            raise self.lost
        key = f"joblib-{uuid4().hex}"  # another each time: a task may draw random numbers
        future = self.client.submit(func, key=key, pure=False)
        self.waiting[key] = future, callback or (lambda _: None)
        gathered(self.client, future).add_done_callback(partial(self._done, key))
        return future

    apply_async = submit  # its name in older versions of joblib

    def _done(self, key: str, future: Future[Any]) -> None:
        try:
            found = future.result()
        except (Exception, CancelledError) as error:
            found = error
        self._tell(key, found)

    def _tell(self, key: str, found: Any) -> None:
        _, callback = self.waiting.pop(key, (None, None))
        if callback is not None:
            callback(found)

    def retrieve_result_callback(self, out: Any) -> Any:
        """What a callback was told: a result, or an error to raise."""
        if isinstance(out, BaseException):
            raise out
        return out

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """Forget all tasks, on the cluster as well."""
        futures = [future for future, _ in self.waiting.values()]
        self.waiting.clear()
        for future in futures:
            future.release()

    def give_up(self, reason: BaseException) -> None:
        """Raise an error wherever joblib waits, or will."""
        self.lost = reason
        for key in list(self.waiting):
            self._tell(key, reason)
