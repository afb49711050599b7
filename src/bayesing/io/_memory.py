"""Whether data fit into memory."""

from __future__ import annotations

import os
from pathlib import Path


def memory_needed(N: int, n: int) -> int:
    """Bytes that reading and fitting N samples of n spins takes: the spins, two copies, and blocks of floats.

    The Gram matrix has the smaller side, in float64, and the eigendecomposition a few like it.
    """
    return 3 * N * n + min(4 * N * n, 2**29) + 32 * min(N, n) ** 2


def memory_available() -> int | None:
    """Bytes that can be had without swapping, also inside of a container; None where nothing says so."""
    free = [_meminfo(), _cgroup()]
    return min((number for number in free if number is not None), default=None)


def _meminfo() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):
        return None


def _cgroup() -> int | None:
    folder = Path("/sys/fs/cgroup")
    try:
        return int((folder / "memory.max").read_text()) - int((folder / "memory.current").read_text())
    except (OSError, ValueError):  # the latter of "max"
        return None
