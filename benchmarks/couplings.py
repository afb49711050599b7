"""How good are the couplings? Everything that docs/couplings.md claims; about 40 minutes on one core.

    python benchmarks/couplings.py FOLDER [PART ...] [--jobs 1] [--quick]

An interrupted run goes on where it stopped. At the end FOLDER/PART.csv holds all rows of a part, and a summary is
printed. The parts "logistic" and "large" measure time: give them --jobs 1.
"""

from __future__ import annotations

import coupling_recovery as recovery
import coupling_rivals as rivals
from front import main, part

PARTS = {
    "recovery": part("recovery", recovery.recovery_tasks, recovery.recovery_summary),
    "coverage": part("coverage", recovery.coverage_tasks, recovery.coverage_summary),
    "logistic": part("logistic", rivals.logistic_tasks, rivals.logistic_summary),
    "real": part("real", rivals.real_tasks, rivals.real_summary),
    "sparse": part("sparse", recovery.sparse_tasks, recovery.sparse_summary),
    "exact": part("exact", recovery.exact_tasks, recovery.exact_summary),
    "rule": part("rule", rivals.rule_tasks, rivals.rule_summary),
    "large": part("large", rivals.large_tasks, rivals.large_summary),
}

if __name__ == "__main__":
    main(__file__, __doc__, PARTS)
