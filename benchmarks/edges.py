"""Which edges are real, and which differ between groups? Everything that docs/edges.md claims.

    python benchmarks/edges.py FOLDER [PART ...] [--jobs 1] [--quick]

An interrupted run goes on where it stopped. At the end FOLDER/PART.csv holds all rows of a part, and a summary says
which claims hold. "graphs" and "other" find known edges, by our probabilities and by the rules of others. "dense"
has data of the Gaussian prior. "real" scores other samples. "compare" has groups that differ, "alarms" groups that do
not. "cost" measures time: give it --jobs 1.
"""

from __future__ import annotations

import edge_groups as groups
import edge_real as real
import edge_recovery as recovery
from edge_pictures import graphs_picture
from front import main, part

PARTS = {
    "graphs": part("graphs", recovery.networks_tasks, recovery.graphs_summary, graphs_picture),
    "other": part("other", recovery.networks_tasks, recovery.graphs_summary, graphs_picture),
    "dense": part("dense", recovery.dense_tasks, recovery.dense_summary),
    "real": part("real", real.real_tasks, real.real_summary),
    "compare": part("compare", groups.compare_tasks, groups.compare_summary),
    "alarms": part("alarms", groups.alarms_tasks, groups.alarms_summary),
    "cost": part("cost", real.cost_tasks, real.cost_summary),
}

if __name__ == "__main__":
    main(__file__, __doc__, PARTS)
