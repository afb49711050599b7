"""Work on a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distributed import Client

PATIENCE = 10  # seconds to wait for a Dask scheduler, and for its first worker


@contextmanager
def on_cluster(address: str | None) -> Iterator[None]:
    """Farm work out to a Dask cluster, if there is an address."""
    if address is None:
        yield
        return
    import logging
    from concurrent.futures import CancelledError

    import joblib

    try:
        from distributed import Client
    except ImportError as error:
        raise ValueError(
            "--dask needs the packages dask and distributed: pip install 'bayesing[dask]'."
        ) from error
    logging.disable()  # tracebacks of distributed, tornado and asyncio, at any later moment, hide our sentence
    try:
        client = Client(address, timeout=f"{PATIENCE}s")  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise ValueError(f"--dask {address}: expected the address of a Dask scheduler ({error}).") from error
    try:
        with client, joblib.parallel_config(backend="dask"):
            _wait_for_workers(client, address)
            yield
    except (CancelledError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # of a file
            raise
        raise ValueError(
            f"--dask {address}: the connection to the scheduler was lost. Finished cells are kept: check the "
            "cluster and run the same command again to go on."
        ) from error


def _wait_for_workers(client: Client, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError as error:
        raise ValueError(
            f"--dask {address}: expected a scheduler with workers, found none in {PATIENCE} seconds. Start some "
            f"with 'dask worker {address} --nthreads 1' and run the same command again."
        ) from error
