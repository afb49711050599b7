"""Scale: many files and rows, many spins. Everything that docs/scale.md claims.

    python benchmarks/scale.py FOLDER [PART ...] [--quick]

An interrupted run goes on where it stopped. At the end FOLDER/PART.csv holds all rows of a part, and a summary says
which claims hold. "reading" writes files of up to 1.2 GB to a temporary folder, fits them in processes of their own,
and compares with other programs that only read them: time on the clock and of the processor, and peak memory. "dask"
starts a scheduler and one or two workers, which read files and simulate intervals. "spins" goes through all pairs of
up to 10^5 spins, "square" compares a closed form with one product of matrices, and "growth" tells how time and memory
grow with n and N, method by method.
"""

from __future__ import annotations

import scale_dask as on_cluster
import scale_reading as reading
import scale_spins as spins
from front import main, part
from scale_pictures import growth_picture

PARTS = {
    "reading": part("reading", reading.reading_tasks, reading.reading_summary),
    "dask": part("dask", on_cluster.dask_tasks, on_cluster.dask_summary),
    "spins": part("spins", spins.spins_tasks, spins.spins_summary),
    "square": part("square", spins.square_tasks, spins.square_summary),
    "growth": part("growth", spins.growth_tasks, spins.growth_summary, growth_picture),
}

if __name__ == "__main__":
    main(__file__, __doc__, PARTS)
