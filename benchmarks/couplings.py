"""How good are the couplings? Everything that docs/couplings.md claims; about 40 minutes on one core.

    python benchmarks/couplings.py FOLDER [PART ...] [--jobs 1] [--quick]

An interrupted run goes on where it stopped. At the end FOLDER/PART.csv holds all rows of a part, and a summary is
printed. The parts "logistic" and "large" measure time: give them --jobs 1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from bayesing.experiments.cells import Task

import coupling_recovery as recovery
import coupling_rivals as rivals
from front import Found, Part, Row, Settings, main, rows_of, write_rows


def part(
    name: str, tasks: Callable[[Settings], list[Task]], summary: Callable[[Settings, list[Row]], None]
) -> Part:
    """A part that writes all of its rows to one file and then prints what they say."""
    return Part(tasks, partial(finish, name, summary))


def finish(
    name: str, summary: Callable[[Settings, list[Row]], None], s: Settings, found: Found, folder: Path
) -> None:
    rows = rows_of(found)
    write_rows(folder / f"{name}.csv", rows)
    summary(s, rows)


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
