"""Data from files: .npy, .npz, .csv, .tsv, .txt, .dat and .parquet, compressed or not, at once or in batches.

Rows are samples, columns are spins. Every reader gives a table in chunks of small codes (:mod:`._codes`). Columns are
selected (:mod:`._selection`), also of several files that are one table (:mod:`._several`), and each chunk becomes
bits at once (:mod:`._bits`). The encoding is told from all the codes that occur, and missing values are dealt with
(:mod:`._missing`). Data beyond memory become sums and products as they are read (:mod:`._fold`). Every error is one
sentence with the file and the place. ``docs/data.md`` has the rules.
"""

from __future__ import annotations

from ._batches import batches_of, read_batches
from ._fold import KEPT_BYTES, fits, fold_table
from ._groups import read_groups
from ._memory import memory_available, memory_of
from ._missing import AT_RANDOM, RULES
from ._open import open_table
from ._paths import Paths, called, files_of
from ._portions import Portion, joined, read_portion
from ._read import read_spins, read_table
from ._record import SpinData, on_constant_spins, on_copies
from ._several import Source, Tables, open_tables
from ._table import Table

__all__ = [
    "AT_RANDOM",
    "KEPT_BYTES",
    "RULES",
    "Paths",
    "Portion",
    "Source",
    "SpinData",
    "Table",
    "Tables",
    "batches_of",
    "called",
    "files_of",
    "fits",
    "fold_table",
    "joined",
    "memory_available",
    "memory_of",
    "on_constant_spins",
    "on_copies",
    "open_table",
    "open_tables",
    "read_batches",
    "read_groups",
    "read_portion",
    "read_spins",
    "read_table",
]
