"""False alarms: doubts about data that are of the model, with dense couplings. And the time that doubts take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

import bayesing as bs
from bayesing.experiments.cells import Task

from coupling_data import SWEEPS, SWEEPS_BEYOND, cell, machine
from front import Row, Settings, grouped
from methods import check_again, diagnosis_again, fitted, spectral_alone
from timing import seconds
from zoo_kinds import doubts, flag, heard


def point(s: Settings, k: int) -> dict[str, Any]:
    """Size and strength of the data set of a number, drawn at random."""
    rng = np.random.default_rng([59, k])
    n, J, per_spin, case = (rng.choice(values) for values in (s.n, s.J, s.per_spin, list(s.cases)))
    return {"n": int(n), "J": float(J), "N": max(round(per_spin * n), s.least), "case": str(case)}


def dense(s: Settings, k: int, n: int, J: float, N: int, case: str) -> np.ndarray:
    """The data set."""
    more = s.cases[case]
    rng = np.random.default_rng([61, k])
    fields = rng.normal(more.get("H", 0.0), more.get("spread", 0.0), n)
    prior = "laplace" if more.get("laplace") else "gaussian"
    return bs.simulate(n, N, J=J, H=fields, prior=prior, sweeps=s.sweeps, seed=rng).spins


def with_couplings(s: Settings) -> set[int]:
    """Numbers of the data sets that couplings are inferred of as well: the first that are small enough."""
    small = [k for k in range(s.data_sets) if point(s, k)["n"] <= s.fits["largest"]]
    return set(small[: s.fits["data_sets"]])


def alarms_tasks(s: Settings) -> list[Task]:
    return [cell(alarms, s, start) for start in range(0, s.data_sets, s.piece)]


def alarms(s: Settings, start: int) -> Iterator[Row]:
    too = with_couplings(s)
    for k in range(start, min(start + s.piece, s.data_sets)):
        at = point(s, k)
        spins = dense(s, k, **at)
        eb = fitted(spins)
        check = heard(lambda spins=spins: machine().fit(spins))[0].check_ if k in too else None
        yield {
            **{"data_set": k, **at, "found": eb.J_, "method": eb.method_, **doubts(eb)},
            **{"passed": flag(getattr(check, "passed", None)), "sentence": getattr(check, "sentence", "")},
        }


def alarms_summary(s: Settings, rows: list[Row]) -> None:
    many = [row for row in rows if int(row["N"]) >= 2 * int(row["n"])]
    fewer = [row for row in rows if int(row["N"]) < 2 * int(row["n"])]
    for words, here in (("all", rows), ("N >= 2n", many), ("N < 2n", fewer)):
        print(f"  strength not trusted, {words}: {count(here, 'trusted', s.claims['strength'])}")
    reasons = Counter(name for row in rows for name in row["reasons"].split())
    print(f"  reasons: {', '.join(f'{name} {times}' for name, times in reasons.items()) or 'none'}")
    for column, values in {"case": s.cases, "J": s.J, "n": s.n}.items():
        groups = grouped(rows, column)
        here = {value: groups.get((str(value),), []) for value in values}
        of_each = (
            f"{value} {sum(row['trusted'] == '0' for row in some)}/{len(some)}"
            for value, some in here.items()
        )
        print(f"    by {column}: {', '.join(of_each)}")
    print(f"  check of couplings not passed: {count(rows, 'passed', s.claims['couplings'])}")


def count(rows: list[Row], column: str, most: float) -> str:
    """How many say no, of those that say anything."""
    values = [row[column] for row in rows if row[column] != ""]
    if not values:
        return "not measured"
    return f"{values.count('0')} of {len(values)} ({values.count('0') / len(values):.1%}), at most {most:.0%}"


# Cost


def cost_tasks(s: Settings) -> list[Task]:
    at = s.diagnosis
    checks = (cell(check_cost, s, "check", size["n"], size["N"], size["J"]) for size in s.checks)
    return [cell(diagnosis_cost, s, "diagnosis", at["n"], at["N"], at["J"]), *checks]


def diagnosis_cost(s: Settings, what: str, n: int, N: int, J: float) -> Iterator[Row]:
    """The diagnosis against the fit of "spectral"; and all of EmpiricalBayes, which also checks the data."""
    spins = bs.simulate(n, N, J=J, sweeps=SWEEPS, seed=0).spins
    eb = fitted(spins, "spectral")
    fit, look, whole = seconds(
        lambda: spectral_alone(spins),
        lambda: diagnosis_again(eb),
        lambda: fitted(spins, "spectral"),
        repeats=s.diagnosis["repeats"],
    )
    at = {"what": what, "n": n, "N": N, "J": J}
    yield at | {"method": "spectral", "fit": fit, "look": look, "whole": whole}


def check_cost(s: Settings, what: str, n: int, N: int, J: float) -> Iterator[Row]:
    """The check against the fit that it is about, without the check."""
    spins = bs.simulate(n, N, J=J, sweeps=SWEEPS_BEYOND if J > 1 else SWEEPS, seed=0).spins
    bm, *_ = heard(lambda: machine().fit(spins))
    look, whole = seconds(
        lambda: check_again(bm, spins), lambda: heard(lambda: machine().fit(spins)), repeats=s.repeats
    )
    at = {"what": what, "n": n, "N": N, "J": J, "method": bm.method_}
    yield at | {"fit": whole - look, "look": look, "whole": whole}


def cost_summary(s: Settings, rows: list[Row]) -> None:
    for row in rows:
        fit, whole = (1000 * float(row[name]) for name in ("fit", "whole"))
        look = 1000 * float(row["look"])
        print(
            f"  {row['what']}, n = {row['n']}, N = {row['N']}, J = {row['J']}: {look:.2f} ms, {look / fit:.1%} of "
            f"the fit; {row['method']} {fit:.2f} ms, with all {whole:.2f} ms"
        )
