"""Answers that are missing: what is lost with them, and what is not. Everything that docs/missing.md claims.

    python benchmarks/missing.py FOLDER [PART ...] [--jobs 1] [--quick]

An interrupted run goes on where it stopped. At the end FOLDER/PART.csv holds all rows of a part, and a summary says
which claims hold. "recovery" finds known couplings, by our fit and after rows were completed in other ways; "edges"
finds known edges. "strength" infers J. "impute" predicts cells that were hidden. "senate" fits all votes of the
Senate. "cost" measures time and memory: give it --jobs 1.
"""

from __future__ import annotations

import missing_cells as cells
import missing_recovery as recovery
from front import main, part
from missing_pictures import recovery_picture

PARTS = {
    "recovery": part("recovery", recovery.recovery_tasks, recovery.recovery_summary, recovery_picture),
    "edges": part("edges", recovery.edges_tasks, recovery.edges_summary),
    "strength": part("strength", recovery.strength_tasks, recovery.strength_summary),
    "impute": part("impute", cells.impute_tasks, cells.impute_summary),
    "senate": part("senate", cells.senate_tasks, cells.senate_summary),
    "cost": part("cost", cells.cost_tasks, cells.cost_summary),
}

if __name__ == "__main__":
    main(__file__, __doc__, PARTS)
