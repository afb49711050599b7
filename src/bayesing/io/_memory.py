"""Whether data fit into memory."""

from __future__ import annotations

import os
from pathlib import Path

from ..packed import bytes_of_row
from ._paths import Paths
from ._several import Source, Tables, open_tables
from ._table import Table

_COPIES = 2  # of the bits: those of the samples, and those of the spins or of the columns that are kept
_UNPACKED_CELLS = 2**24  # spins that are unpacked at a time for a product of matrices
_UNPACKED_BYTES = 5  # of such a spin: int8, and float32
_GRAM_BYTES = 4  # of an entry of the Gram matrix: int32
_FLOAT_BYTES = 8  # of an entry of a matrix in float64
_FLOAT_MATRICES = 4  # of the size of the Gram matrix: itself, its eigenvectors, and room to work


def memory_of(source: Paths | Source, array: str | None = None) -> int:
    """Bytes that it takes to read and fit files at once; an estimate where the number of rows is not known.

    ``source`` is a file or several, or what :func:`open_tables` has looked at, for which no file is opened again.
    """
    table = source if isinstance(source, Table | Tables) else open_tables(source, array)
    return memory_needed(table.n_rows, table.width)


def memory_needed(N: int, n: int) -> int:
    """Bytes that reading and fitting N samples of n spins takes: bits, some unpacked, and the smaller Gram matrix."""
    bits = N * bytes_of_row(n)
    unpacked = _UNPACKED_BYTES * min(N * n, _UNPACKED_CELLS)
    entries = min(N, n) ** 2
    return _COPIES * bits + unpacked + (_GRAM_BYTES + _FLOAT_MATRICES * _FLOAT_BYTES) * entries


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
