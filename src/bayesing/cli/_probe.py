"""A look at a Dask scheduler before work is given to it: is it one, has it workers, and are they of our versions?

``distributed.Client`` waits without end for a port that is open and silent. Each question here has seconds to be
answered, and each way to fail is one sentence.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

PATIENCE = 10  # seconds to wait for a Dask scheduler, and for its first worker
_CONNECT = 5  # seconds to try to connect, in which a scheduler may just be starting
_PAUSE = 0.2  # seconds between two looks for workers
_OURS = "bayesing"


def check_scheduler(address: str) -> None:
    """Raise a ValueError unless a scheduler answers there, with a worker at least, and all of our versions."""
    try:
        asyncio.run(_check(address))
    except Exception as error:  # whatever the protocol's library makes of something else that answers
        if isinstance(error, ValueError) and str(error).startswith("--dask"):
            raise
        raise ValueError(
            f"--dask {address}: expected the address of a Dask scheduler ({str(error) or type(error).__name__})."
        ) from error


async def _check(address: str) -> None:
    import distributed
    from distributed.security import Security

    security: Any = Security
    rpc: Any = distributed.rpc
    where = security().get_connection_args("client")
    if address.startswith("tls://") and where["ssl_context"] is None:
        raise ValueError(
            f"--dask {address}: expected certificates for tls, found none in Dask's configuration. Set "
            "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, and ...TLS__CLIENT__CERT and ...TLS__CLIENT__KEY, to their files."
        )
    async with rpc(address, timeout=_CONNECT, connection_args=where) as scheduler:
        try:
            who = await asyncio.wait_for(scheduler.identity(), PATIENCE)
        except TimeoutError:
            raise ValueError(
                f"--dask {address}: expected a Dask scheduler, found a port that is open and does not answer in "
                f"{PATIENCE} seconds. Check the address: a dashboard, for one, has another port."
            ) from None
        if who.get("type") != "Scheduler":
            raise ValueError(f"--dask {address}: expected a Dask scheduler, found a {who.get('type')}.")
        await _wait_for_workers(scheduler, address)
        try:
            check_versions(address, *await asyncio.wait_for(_versions(scheduler), PATIENCE))
        except TimeoutError:
            raise ValueError(
                f"--dask {address}: expected workers that answer, found one that does not in {PATIENCE} seconds. "
                "Restart the workers, and run the same command again."
            ) from None


async def _wait_for_workers(scheduler: Any, address: str) -> None:
    for _ in range(round(PATIENCE / _PAUSE)):
        if await asyncio.wait_for(scheduler.ncores(), PATIENCE):
            return
        await asyncio.sleep(_PAUSE)
    raise ValueError(
        f"--dask {address}: expected a scheduler with workers, found none in {PATIENCE} seconds. Start some "
        f"with 'dask worker {address} --nthreads 1' and run the same command again."
    )


async def _versions(scheduler: Any) -> tuple[Any, Any]:
    from distributed.versions import get_versions

    message = {"op": "versions", "packages": [_OURS]}
    return get_versions([_OURS]), await scheduler.broadcast(msg=message, on_error="ignore")


def check_versions(address: str, here: Mapping[str, Any], workers: Mapping[str, Any]) -> None:
    """Raise a ValueError unless all workers have our version, and that of Python up to its second number."""
    ours = _told(here)
    for worker, found in workers.items():
        theirs = _told(found)
        if theirs != ours:
            raise ValueError(
                f"--dask {address}: expected {ours} on all workers, as here, found {theirs} on {worker}. Install "
                "the same versions there."
            )


def _told(found: Mapping[str, Any]) -> str:
    packages = found["packages"]
    python = ".".join(packages["python"].split(".")[:2])
    version = packages.get(_OURS)
    return f"{_OURS} {version} and Python {python}" if version else f"no {_OURS} and Python {python}"
