"""J, fields and couplings of chains of a known model, taken as independent rows and as a series."""

from __future__ import annotations

import itertools
import math
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import bayesing as bs
from bayesing.experiments.cells import Task

from coupling_data import cell, error
from coupling_recovery import Z_90
from edge_data import claim, pairs_of
from front import Row, Settings, grouped
from series_data import cells_of, chain, model

NUMBERS = ("n", "N", "J", "H", "share")
METHOD = "spectral"  # of the strength, and of couplings


def quietly(fit: Any, rows: Any) -> Any:
    """A fitted estimator, or None where rows remember for too long."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        try:
            return fit.fit(rows)
        except bs.InputError:
            return None


def covered(found: bs.BoltzmannMachine, truth: np.ndarray) -> float:
    """The share of couplings that lie within their 90% intervals."""
    J, errors = pairs_of(found.couplings_), pairs_of(found.coupling_errors_)
    return float(np.mean(np.abs(J - pairs_of(truth)) < Z_90 * errors))


# J, and couplings by the fastest method


def truth_tasks(s: Settings) -> list[Task]:
    return [cell(truth, s, *at, cost=at[1] * at[0]) for at in cells_of(s)]


def truth(s: Settings, n: int, N: int, J: float, H: float, share: float) -> Iterator[Row]:
    for seed in range(s.repeats):
        known = model(n, J, H, s.spread, seed)
        rows = bs.SpinStatistics.of(chain(known, N, share, seed))
        memory = rows.memory
        naive = quietly(bs.EmpiricalBayes("spectral", random_state=0), rows)
        ours = quietly(bs.EmpiricalBayes(METHOD, series=True, random_state=0), rows)
        row: Row = {"n": n, "N": N, "J": J, "H": H, "share": share, "seed": seed}
        row |= {
            "lag": memory.lag,
            "effective": memory.effective,
            "naive_J": naive.J_,
            "refused": int(ours is None),
        }
        for name in ("J", "J_error", "field", "field_error"):
            row[f"our_{name}"] = math.nan
        row |= {
            "method": "",
            "coverage": math.nan,
            "naive_coverage": math.nan,
            "error": math.nan,
            "naive_error": math.nan,
        }
        if ours is not None:
            row |= {"our_J": ours.J_, "our_J_error": ours.J_error_, "method": ours.method_}
            row |= {"our_field": ours.H_, "our_field_error": ours.H_error_}
            for name, series in (("", True), ("naive_", False)):
                bm = quietly(bs.BoltzmannMachine(METHOD, series=series, random_state=0), rows)
                row[f"{name}coverage"] = covered(bm, known.couplings)
                row[f"{name}error"] = error(bm.couplings_, known.couplings)
        yield row


def truth_summary(s: Settings, rows: list[Row]) -> None:
    print(
        "  n, N, J, H, share: lag, J taken as independent, as a series (mean ± error said, rms z), 90% intervals"
    )
    limits = s.allowed
    wrong, low = [], []
    for key, here in grouped(rows, *NUMBERS).items():
        n, N, J, H, share = map(float, key)
        kept = [row for row in here if row["refused"] == "0"]
        naive = np.mean([float(row["naive_J"]) for row in here])
        lag = np.mean([float(row["lag"]) for row in here])
        head = f"  {n:.0f}, {N:.0f}, {J}, {H}, {share}: {lag:.0f}, {naive:.2f}"
        if not kept:
            print(f"{head}, refused: rows remember for too long")
            continue
        ours, errors = (np.array([float(row[name]) for row in kept]) for name in ("our_J", "our_J_error"))
        z = (ours - J) / errors
        inside = np.mean(np.abs(z) < Z_90)
        coverage, before = (
            np.mean([float(row[name]) for row in kept]) for name in ("coverage", "naive_coverage")
        )
        better = (
            np.mean([float(row["error"]) for row in kept]),
            np.mean([float(row["naive_error"]) for row in kept]),
        )
        refused = f", {len(here) - len(kept)} refused" if len(kept) < len(here) else ""
        print(
            f"{head}, {ours.mean():.3f} ± {errors.mean():.3f} ({math.sqrt(np.mean(z**2)):.2f}; {inside:.2f}), "
            f"couplings {coverage:.3f} (else {before:.2f}), error {better[0]:.2f} (else {better[1]:.2f}){refused}"
        )
        off = (
            abs(ours.mean() - J)
            - limits["J"] * J
            - limits["errors"] * ours.std(ddof=min(1, len(ours) - 1)) / math.sqrt(len(ours))
        )
        wrong += [key] * int(off > 0)
        low += [key] * int(not limits["coverage"][0] <= coverage <= limits["coverage"][1])
    claim(f"mean J within 4% and 3 standard errors in all cells but {wrong}", not wrong)
    claim(f"90% intervals of couplings cover 84 to 95% in all cells but {low}", not low)
    said = [row for row in rows if row["refused"] == "0"]
    z = np.array([(float(row["our_J"]) - float(row["J"])) / float(row["our_J_error"]) for row in said])
    print(f"  J within 1.645 errors of the truth in {np.mean(np.abs(z) < Z_90):.3f} of {len(z)} data sets")


# Intervals by simulation


def interval_tasks(s: Settings) -> list[Task]:
    return [cell(interval, s, *at, cost=s.repeats) for at in cells_of(s)]


def interval(s: Settings, n: int, N: int, J: float, H: float, share: float) -> Iterator[Row]:
    for seed in range(s.repeats):
        known = model(n, J, H, s.spread, seed)
        rows = chain(known, N, share, seed)
        row: Row = {"n": n, "N": N, "J": J, "H": H, "share": share, "seed": seed}
        row |= {
            "low": math.nan,
            "high": math.nan,
            "corrected": math.nan,
            "H_low": math.nan,
            "H_high": math.nan,
        }
        eb = quietly(bs.EmpiricalBayes("spectral", series=True, random_state=0), rows)
        if eb is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", bs.BayesingWarning)
                try:
                    found = eb.interval(n_simulations=s.simulations, seed=seed)
                    row |= {"low": found.J[0], "high": found.J[1], "corrected": found.J_corrected}
                    row |= {"H_low": found.H[0], "H_high": found.H[1]}
                except bs.InputError:
                    pass
        yield row


def interval_summary(s: Settings, rows: list[Row]) -> None:
    all_inside: list[bool] = []
    for key, here in grouped(rows, *NUMBERS).items():
        kept = [row for row in here if row["low"] != "nan"]
        if not kept:
            print(f"  {', '.join(key)}: none")
            continue
        inside = [float(row["low"]) <= float(row["J"]) <= float(row["high"]) for row in kept]
        of_H = [float(row["H_low"]) <= float(row["H"]) <= float(row["H_high"]) for row in kept]
        all_inside += inside
        centre = np.mean([float(row["corrected"]) for row in kept])
        print(
            f"  {', '.join(key)}: J {centre:.3f}, covered in {sum(inside)} of {len(inside)}; H in {sum(of_H)}"
        )
    share, (low, high) = float(np.mean(all_inside)), s.allowed
    claim(
        f"90% intervals of J cover {share:.3f} of {len(all_inside)}, from {low} to {high}",
        low <= share <= high,
    )


# Couplings by all methods


def methods_tasks(s: Settings) -> list[Task]:
    return [
        cell(by_method, s, *at, *fit, cost=at[0] ** 2) for at, fit in itertools.product(cells_of(s), s.fits)
    ]


def by_method(
    s: Settings, n: int, N: int, J: float, H: float, share: float, method: str, prior: str
) -> Iterator[Row]:
    for seed in range(s.repeats):
        known = model(n, J, H, s.spread, seed)
        rows = chain(known, N, share, seed)
        start = time.perf_counter()
        bm = quietly(bs.BoltzmannMachine(method, prior, series=True, random_state=0), rows)
        seconds = time.perf_counter() - start
        of_fields = bm.field_errors_
        z = np.full(n, math.nan) if of_fields is None else (bm.fields_ - known.fields) / of_fields
        yield {
            **{
                "method": method,
                "prior": prior,
                "n": n,
                "N": N,
                "J": J,
                "H": H,
                "share": share,
                "seed": seed,
            },
            **{"found": math.sqrt(bm.gamma_), "coverage": covered(bm, known.couplings)},
            **{"error": error(bm.couplings_, known.couplings), "fields": float(np.mean(np.abs(z) < Z_90))},
            **{"passed": int(bm.check_.passed), "seconds": seconds},
        }


def methods_summary(s: Settings, rows: list[Row]) -> None:
    for (method, prior), here in grouped(rows, "method", "prior").items():
        J, coverage, far, fields, seconds = (
            np.mean([float(row[name]) for row in here])
            for name in ("found", "coverage", "error", "fields", "seconds")
        )
        passed = sum(row["passed"] == "1" for row in here)
        print(
            f"  {method}, {prior}: J {J:.3f}, couplings covered {coverage:.3f}, error {far:.2f}, fields covered "
            f"{fields:.2f}, check passed {passed} of {len(here)}, {seconds:.1f} s"
        )


# Edges


def edges_tasks(s: Settings) -> list[Task]:
    return [cell(edges, s, seed) for seed in range(s.repeats)]


def edges(s: Settings, seed: int) -> Iterator[Row]:
    """Which couplings there are, in a random graph whose spins remember."""
    rng = np.random.default_rng([92, seed])
    there = np.triu(rng.random((s.n, s.n)) < s.degree / (s.n - 1), 1)
    J = np.where(there, s.coupling * rng.choice([-1, 1], (s.n, s.n)), 0.0)
    known = bs.IsingModel(J + J.T, rng.normal(0, 0.3, s.n))
    rows = chain(known, s.N, s.share, seed)
    for series in (False, True):
        bm = quietly(bs.BoltzmannMachine("pseudolikelihood", "sparse", series=series, random_state=0), rows)
        found = bm.edges(s.fdr)
        right = sum(there[edge.i, edge.j] for edge in found)
        said = pairs_of(bm.edge_probabilities_)
        yield {
            **{
                "seed": seed,
                "series": int(series),
                "effective": bm.effective_samples_,
                "edges": int(there.sum()),
            },
            **{"found": len(found), "right": int(right), "expected": float(said.sum())},
        }


def edges_summary(s: Settings, rows: list[Row]) -> None:
    for (series,), here in grouped(rows, "series").items():
        edges, found, right = (sum(int(row[name]) for row in here) for name in ("edges", "found", "right"))
        false = 1 - right / max(found, 1)
        print(
            f"  {'as a series' if series == '1' else 'as independent'}: {found} found, {100 * false:.1f}% of them "
            f"false (asked {100 * s.fdr:g}%), of {edges} there are {100 * right / edges:.0f}%"
        )


# Independent rows


def independent_tasks(s: Settings) -> list[Task]:
    return [cell(independent, s, *at) for at in itertools.product(s.n, s.N, s.J, s.H)]


def independent(s: Settings, n: int, N: int, J: float, H: float) -> Iterator[Row]:
    for seed in range(s.repeats):
        rows = bs.sample(model(n, J, H, s.spread, seed), N, seed=seed)
        plain, ours = (
            quietly(bs.EmpiricalBayes("spectral", series=series), rows) for series in (False, True)
        )
        yield {"n": n, "N": N, "J": J, "H": H, "seed": seed, "plain": plain.J_, "series": ours.J_}


def independent_summary(s: Settings, rows: list[Row]) -> None:
    J = np.array([float(row["J"]) for row in rows])
    plain, ours = (
        math.sqrt(np.mean((np.array([float(row[name]) for row in rows]) - J) ** 2))
        for name in ("plain", "series")
    )
    claim(f"root mean square error of J {plain:.4f}, as a series {ours:.4f}", ours <= s.allowed * plain)
