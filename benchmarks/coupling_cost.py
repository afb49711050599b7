"""What couplings by pseudo-likelihood cost, part by part, beside cross-validated logistic regressions.

Times are those of the processor, for a machine that others use too, with one thread. Cross-validation is timed on
some of the spins. With two threads for its small products it would take several times longer.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import bayesing as bs
from bayesing.experiments.cells import Task

from coupling_data import cell, data, machine
from front import Row, Settings
from likelihood_real import FOLDER
from methods import check_again

MANY = 1e6  # cells of a table that is fitted once


def cost_tasks(s: Settings) -> list[Task]:
    names = [name for name, source in s.data.items() if "recording" not in source or FOLDER in os.environ]
    return [cell(cost, s, name) for name in names]


def cost(s: Settings, name: str) -> Iterator[Row]:
    source = s.data[name]
    spins = spins_of(source)
    N, n = spins.shape
    row: Row = {
        "data": name,
        "n": n,
        "N": N,
        "distinct": len(np.unique(np.packbits(spins > 0, axis=1), axis=0)),
    }
    repeats = s.repeats if N * n < MANY else 1
    with threadpool_limits(1):
        machine("pseudolikelihood").fit(spins[:40, :8])  # compiles
        bm, row["fit"] = processor(lambda: machine("pseudolikelihood").fit(spins), repeats)
        given, known = processor(lambda: machine("pseudolikelihood", gamma=bm.gamma_).fit(spins), repeats)
        _, row["check"] = processor(lambda: check_again(given, spins), repeats)
    row |= {"strength": row["fit"] - known, "couplings": known - row["check"], "gamma": bm.gamma_}
    with threadpool_limits(1):
        rival = processor(lambda: regressions(s, spins), 1)[1] if source.get("rival") else float("nan")
    row["rival"] = rival * n / len(range(0, n, s.every))
    yield row


def spins_of(source: dict[str, Any]) -> np.ndarray:
    if "recording" in source:
        bits = np.load(Path(os.environ[FOLDER]) / source["recording"])["bits"]
        return 2 * np.unpackbits(bits, axis=1, count=source["n"]).astype(np.int8) - 1
    if "load" in source:
        loaded = {"digits": bs.load_digits, "senate": lambda: bs.load_senate109(missing="drop")}
        return loaded[source["load"]]().spins
    if source.get("slowly"):
        return data(source["n"], source["N"], source["J"], source["H"], 0).spins
    return bs.simulate(source["n"], source["N"], J=source["J"], H=source["H"], seed=0).spins


def processor(function: Callable[[], Any], repeats: int) -> tuple[Any, float]:
    """What a function returns, and the least time of the processor that it took."""
    times = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(repeats):
            start = time.process_time()
            found = function()
            times.append(time.process_time() - start)
    return found, min(times)


def regressions(s: Settings, spins: np.ndarray) -> None:
    """scikit-learn's cross-validated logistic regressions, of one spin in so many."""
    from sklearn.linear_model import LogisticRegressionCV

    X = spins.astype(np.float64)
    for i in range(0, X.shape[1], s.every):
        LogisticRegressionCV(Cs=s.values_of_C, cv=s.folds).fit(np.delete(X, i, axis=1), X[:, i])


def cost_summary(s: Settings, rows: list[Row]) -> None:
    for row in rows:
        fit, strength, couplings, check = (
            float(row[key]) for key in ("fit", "strength", "couplings", "check")
        )
        line = (
            f"  {row['data']}, {row['N']} x {row['n']}, {row['distinct']} distinct: {fit:.3f} s of the processor, "
            f"{strength:.3f} for gamma, {couplings:.3f} for couplings, {check:.3f} for the check"
        )
        rival = float(row["rival"])
        if rival > 0:
            line += f"; regressions {rival:.1f} s, {rival / fit:.0f} times as much"
        print(line)
