"""Threads of BLAS: for small matrices one is as fast as two, and far faster where the cores are busy."""

from __future__ import annotations

from typing import Any

_SMALL = 500  # spins


def threads_for(n_spins: int) -> Any:
    """Within this, BLAS uses one thread for matrices of few spins, and as many as before for others."""
    from threadpoolctl import threadpool_limits  # where it is needed, for it takes time to load

    return threadpool_limits(1 if n_spins <= _SMALL else None, "blas")
