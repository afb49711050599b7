"""Work on a Dask cluster: a worker that dies is made up for, and a cluster that is gone is one sentence."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._backend import ClusterBackend

GONE = 15  # seconds without a worker, or without an answer, after which work is given up
_LOOK = 1  # seconds between two looks
_GLANCE = 0.02  # seconds between two looks at a result
_CLOSING = 3  # seconds to say goodbye


class LostError(Exception):
    """The cluster is of no use any more: why, as the rest of a sentence."""


class Cluster:
    """A scheduler that answers and has workers; ``client`` is Dask's."""

    def __init__(self, address: str, client: Any, backend: ClusterBackend) -> None:
        self.address, self.client, self.backend = address, client, backend
        self._end = threading.Event()
        self._watch = threading.Thread(target=self._look, name="bayesing-watch", daemon=True)

    def __enter__(self) -> Cluster:
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()

    def result(self, future: Any) -> Any:
        """Of one of Dask's futures; a LostError if it will never come."""
        from ._backend import gathered

        found = gathered(self.client, future)
        while not found.done():
            if self.backend.lost is not None:
                raise self.backend.lost
            time.sleep(_GLANCE)
        return found.result()

    def _look(self) -> None:
        seen = time.monotonic()
        while not self._end.wait(_LOOK):
            reason = "the scheduler has lost its last worker"
            try:
                threads = self.client.sync(self.client.scheduler.ncores, callback_timeout=GONE / 2)
                if threads:
                    seen, self.backend.threads = time.monotonic(), sum(threads.values())
            except Exception:
                reason = "the scheduler does not answer any more"
            if time.monotonic() - seen > GONE:
                self.backend.give_up(LostError(reason))
                return


@contextmanager
def on_cluster(address: str | None, kept: str = "") -> Iterator[Cluster | None]:
    """Farm work out to a Dask cluster, if there is an address; ``kept`` says what is not lost if it is."""
    if address is None:
        yield None
        return
    import logging
    import warnings

    import joblib

    try:
        from distributed import Client
    except ImportError as error:
        raise ValueError(
            "--dask needs the packages dask and distributed: pip install 'bayesing[dask]'."
        ) from error
    from ._backend import ClusterBackend
    from ._probe import PATIENCE, check_scheduler

    logging.disable()  # tracebacks of distributed, tornado and asyncio, at any later moment, hide our sentence
    check_scheduler(address)
    with _in_words(address, kept):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other packages that differ; ours do not
            client = Client(address, timeout=f"{PATIENCE}s")  # type: ignore[no-untyped-call]
        backend = ClusterBackend(client)
        try:
            with Cluster(address, client, backend) as cluster, joblib.parallel_config(backend=backend):
                yield cluster
        finally:
            with suppress(Exception):  # a scheduler that is gone
                client.close(timeout=_CLOSING)  # type: ignore[no-untyped-call]


@contextmanager
def _in_words(address: str, kept: str) -> Iterator[None]:
    """What becomes of a cluster, as one sentence."""
    from concurrent.futures import CancelledError

    from distributed.scheduler import KilledWorker

    reason, remedy = (
        "the connection to the scheduler was lost",
        "check the cluster and run the same command again",
    )
    cause: BaseException
    try:
        yield
        return
    except LostError as error:
        reason, cause = str(error), error
    except KilledWorker as error:
        reason, cause = "several workers died of the same task, perhaps for want of memory", error
        remedy = "give workers more memory, or fewer threads, and run the same command again"
    except (CancelledError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # of a file
            raise
        cause = error
    start = f"{kept}{remedy}" if kept else f"{remedy[0].upper()}{remedy[1:]}"
    end = " to go on" if kept else ""
    raise ValueError(f"--dask {address}: {reason}. {start}{end}.") from cause
