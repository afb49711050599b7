"""Data from files: .npy, .npz, .csv, .tsv, .txt, .dat and .parquet, compressed or not, at once or in batches.

Rows are samples, columns are spins. Every reader gives a table in chunks of small codes (:mod:`._codes`). Columns are
selected (:mod:`._selection`), and each chunk becomes bits at once (:mod:`._bits`). The encoding is told from all the
codes that occur, and missing values are dealt with (:mod:`._missing`). Every error is one sentence with the file and
the place. ``docs/data.md`` has the rules.
"""

from __future__ import annotations

from ._batches import batches_of, read_batches
from ._groups import read_groups
from ._memory import memory_available, memory_of
from ._missing import AT_RANDOM, RULES
from ._open import open_table
from ._read import read_spins, read_table
from ._record import SpinData, on_constant_spins, on_copies
from ._table import Table

__all__ = [
    "AT_RANDOM",
    "RULES",
    "SpinData",
    "Table",
    "batches_of",
    "memory_available",
    "memory_of",
    "on_constant_spins",
    "on_copies",
    "open_table",
    "read_batches",
    "read_groups",
    "read_spins",
    "read_table",
]
