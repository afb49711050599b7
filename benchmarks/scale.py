"""Scale: many files and rows, many spins. Everything that docs/scale.md claims.

    python benchmarks/scale.py FOLDER [PART ...] [--quick]

An interrupted run goes on where it stopped. At the end FOLDER/PART.csv holds all rows of a part, and a summary says
which claims hold. "reading" writes files of up to 1.2 GB to a temporary folder, fits them in processes of their own,
and compares with other programs that only read them: time on the clock and of the processor, and peak memory. "dask"
starts a scheduler and one or two workers, which read files and simulate intervals.
"""

from __future__ import annotations

import scale_dask as on_cluster
import scale_reading as reading
from front import main, part

PARTS = {
    "reading": part("reading", reading.reading_tasks, reading.reading_summary),
    "dask": part("dask", on_cluster.dask_tasks, on_cluster.dask_summary),
}

if __name__ == "__main__":
    main(__file__, __doc__, PARTS)
