"""Is the mode of the true likelihood right, does it look like the data, and what does it cost? An hour on 2 cores.

    python benchmarks/likelihood.py FOLDER [PART ...] [--jobs 1] [--quick]

An interrupted run goes on where it stopped. At the end FOLDER/PART.csv holds all rows of a part, and a summary is
printed. Seconds are those of one core unless the part is "cost" or "peer": give these two --jobs 1.

Two parts need more than this repository, and are left out without it. "recordings" reads example50.npz (array "bits",
50 cells in packed bits) and scotus.csv (0/1) from the folder that the environment variable BAYESING_DATA names.
"peer" runs adabmDCA with the Python that BAYESING_PEER names.
"""

from __future__ import annotations

from front import main, part
from likelihood_cost import cost_summary, cost_tasks, peer_summary, peer_tasks
from likelihood_pictures import active_cells, strengths
from likelihood_real import (
    hard_summary,
    hard_tasks,
    real_summary,
    real_tasks,
    recordings_summary,
    recordings_tasks,
)
from likelihood_truth import (
    exact_summary,
    exact_tasks,
    simulated_summary,
    simulated_tasks,
    strength_summary,
    strength_tasks,
)

PARTS = {
    "exact": part("exact", exact_tasks, exact_summary),
    "simulated": part("simulated", simulated_tasks, simulated_summary),
    "real": part("real", real_tasks, real_summary),
    "recordings": part("recordings", recordings_tasks, recordings_summary, active_cells),
    "hard": part("hard", hard_tasks, hard_summary),
    "strength": part("strength", strength_tasks, strength_summary, strengths),
    "cost": part("cost", cost_tasks, cost_summary),
    "peer": part("peer", peer_tasks, peer_summary),
}

if __name__ == "__main__":
    main(__file__, __doc__, PARTS)
