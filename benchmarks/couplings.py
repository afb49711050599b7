"""How good are the couplings? Everything that docs/couplings.md claims; about 40 minutes on one core.

    python benchmarks/couplings.py FOLDER [PART ...] [--jobs 1] [--quick]

An interrupted run goes on where it stopped. At the end FOLDER/PART.csv holds all rows of a part, and a summary is
printed. The parts "logistic", "large" and "cost" measure time: give them --jobs 1. "cost", whose table is
pseudolikelihood.csv, also fits example50.npz (array "bits", 50 cells in packed bits) from the folder that the
environment variable BAYESING_DATA names, if there is one.
"""

from __future__ import annotations

import coupling_cost as cost

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
    "cost": part("pseudolikelihood", cost.cost_tasks, cost.cost_summary),
}

if __name__ == "__main__":
    main(__file__, __doc__, PARTS)
