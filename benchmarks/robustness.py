"""Are the standard errors honest, and what do the methods say of data that are not quite those of the theory?

    python benchmarks/robustness.py FOLDER [beyond errors] [--jobs 1] [--quick]

About 30 minutes on one core; an interrupted run goes on where it stopped. Writes errors.csv and beyond.csv. Data are
annealed slowly enough (4 sweeps at each of 34 temperatures) to be at equilibrium for J up to 0.8.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import bayesing as bs
from bayesing.experiments.cells import Task

from front import Found, Part, Row, Settings, grouped, main, rows_of, rows_task, write_rows
from methods import fitted


def estimates(spins: np.ndarray, method: str, **parameters: Any) -> Row:
    """J, H and J0 by one method, with their errors."""
    eb = fitted(spins, method, **parameters)
    return {"method": method} | {
        name: getattr(eb, f"{name}_") for name in ("J", "J_error", "H", "H_error", "J0", "J0_error")
    }


def columns(rows: list[Row], *names: str) -> list[np.ndarray]:
    return [np.array([float(row[name]) for row in rows]) for name in names]


# Standard errors


def error_tasks(s: Settings) -> list[Task]:
    return [
        rows_task(
            f"J{point['J']}-H{point['H']}-N{point['N']}-{start}",
            partial(errors, s, start=start, **point),
            cost=point["N"],
        )
        for point in s.points
        for start in range(0, s.data_sets, s.piece)
    ]


def errors(s: Settings, J: float, H: float, N: int, start: int) -> Iterator[Row]:
    """Estimates of some data sets by each method that has samples enough."""
    for k in range(start, start + s.piece):
        seed = np.random.SeedSequence([1, round(10 * J), round(10 * H), N, k])
        spins = bs.simulate(s.n, N, J=J, H=H, sweeps=s.sweeps, seed=seed).spins
        for method in s.methods:
            if N >= s.samples_per_spin.get(method, 0) * s.n:
                yield {"true_J": J, "true_H": H, "N": N, "data_set": k} | estimates(spins, method)


def error_summary(s: Settings, found: Found, folder: Path) -> None:
    """Standard deviation of (estimate - mean)/error over data sets, which is 1 if errors are honest."""
    table = []
    for key, rows in grouped(rows_of(found), "true_J", "true_H", "N", "method").items():
        line: Row = dict(zip(("J", "H", "N", "method"), key, strict=True))
        for name in ("J", "H"):
            values, error = columns(rows, name, f"{name}_error")
            ratio = np.std((values - values.mean()) / error, ddof=1)
            line |= {
                f"{name}_mean": f"{values.mean():.4f}",
                f"{name}_sd": f"{values.std(ddof=1):.4f}",
                f"{name}_ratio": f"{ratio:.4f}",
            }
        table.append(line)
        print(*line.values())
    write_rows(folder / "errors.csv", table)


# Beyond the theory


def beyond_tasks(s: Settings) -> list[Task]:
    return [
        rows_task(f"{name}-{start}", partial(beyond, s, case, start), cost=case.get("n", s.n) ** 2)
        for name, case in s.cases.items()
        for start in range(0, s.repeats, s.piece)
    ]


def beyond(s: Settings, case: dict[str, Any], start: int) -> Iterator[Row]:
    """Estimates of some data sets of a case; a mean coupling is estimated where there is one."""
    parameters = {"mean_coupling": True} if "J0" in case else {}
    for k in range(start, start + s.piece):
        spins = data(s, case, k)
        for method in s.methods:
            yield {"data": case["label"], "data_set": k} | estimates(spins, method, **parameters)


def data(s: Settings, case: dict[str, Any], k: int) -> np.ndarray:
    """A data set of a case: on a sparse graph, or simulated with what the case says."""
    n, N = case.get("n", s.n), case.get("N", s.N)
    if "degree" in case:
        return bs.sample(
            sparse(n, case["degree"], s.J, np.random.default_rng(k)), N, sampler="temper", seed=k
        )
    fields: Any = case.get("H", 0.0)
    if "spread" in case:
        fields = np.random.default_rng(k).normal(case["mean"], case["spread"], n)
    rest = {name: case[name] for name in ("prior", "J0") if name in case}
    return bs.simulate(n, N, J=s.J, H=fields, sweeps=s.sweeps, seed=k, **rest).spins


def sparse(n: int, degree: float, J: float, rng: np.random.Generator) -> bs.IsingModel:
    """Couplings on a random graph, of variance J^2/degree, so that their sum of squares per spin is J^2."""
    edges = np.triu(rng.random((n, n)) < degree / n, 1)
    couplings = edges * rng.normal(0, J / np.sqrt(degree), (n, n))
    return bs.IsingModel(couplings + couplings.T)


def beyond_summary(s: Settings, found: Found, folder: Path) -> None:
    """Mean and standard deviation of J and J0."""
    table = []
    for (label, method), rows in grouped(rows_of(found), "data", "method").items():
        line: Row = {"data": label, "method": method}
        for name, values in zip(("J", "J0"), columns(rows, "J", "J0"), strict=True):
            line |= {f"{name}_mean": f"{values.mean():.4f}", f"{name}_sd": f"{values.std(ddof=1):.4f}"}
        table.append(line)
        print(*line.values())
    write_rows(folder / "beyond.csv", table)


PARTS = {"beyond": Part(beyond_tasks, beyond_summary), "errors": Part(error_tasks, error_summary)}

if __name__ == "__main__":
    main(__file__, __doc__, PARTS)
