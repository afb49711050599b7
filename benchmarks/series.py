"""Rows that remember: J, couplings and errors of time series. Everything that docs/series.md claims.

    python benchmarks/series.py FOLDER [PART ...] [--jobs 1] [--quick]

An interrupted run goes on where it stopped. At the end FOLDER/PART.csv holds all rows of a part, and a summary says
which claims hold. "truth" infers J and couplings of chains of a known model, "intervals" has intervals of J by
simulation, "methods" other methods for couplings, "edges" which couplings there are. "independent" has rows that do
not remember. "drift" has fields that change. "recording" needs a folder with a recording, and "cost" --jobs 1.
"""

from __future__ import annotations

import series_more as more
import series_truth as truth
from front import main, part

PARTS = {
    "truth": part("truth", truth.truth_tasks, truth.truth_summary),
    "intervals": part("intervals", truth.interval_tasks, truth.interval_summary),
    "methods": part("methods", truth.methods_tasks, truth.methods_summary),
    "edges": part("edges", truth.edges_tasks, truth.edges_summary),
    "independent": part("independent", truth.independent_tasks, truth.independent_summary),
    "drift": part("drift", more.drift_tasks, more.drift_summary),
    "recording": part("recording", more.recording_tasks, more.recording_summary),
    "cost": part("cost", more.cost_tasks, more.cost_summary),
}

if __name__ == "__main__":
    main(__file__, __doc__, PARTS)
