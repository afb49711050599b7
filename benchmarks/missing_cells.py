"""Probabilities of missing cells, the whole Senate, and what a fit of data with missing cells costs."""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import bayesing as bs
from bayesing.experiments.cells import Task

import missing_rivals as rivals
from coupling_data import cell, mean_by
from edge_data import claim, network
from front import Row, Settings, grouped
from missing_data import beyond_noise, column, fit, paired, timed, with_gaps

OURS = ("gaussian", "sparse")  # priors
BINS = np.linspace(0, 1, 11)  # of probabilities
FEW = 100  # cells in a bin that are too few to judge it
Prediction = tuple[str, str, np.ndarray, float]  # rule, its setting, probabilities of +1, seconds
BINNED = ("bin_cells", "bin_said", "bin_true")


def varying(spins: np.ndarray) -> np.ndarray:
    """The columns whose rarer value is there in at least a hundredth of the cells."""
    there = np.maximum((spins != 0).sum(axis=0), 1)
    return spins[:, np.abs(spins.sum(axis=0)) <= 0.98 * there]


LOADERS = {
    "senate": lambda: bs.load_senate109(missing="keep").spins,
    "digits": lambda: varying(bs.load_digits().spins),
}


def spins_of(s: Settings, name: str, seed: int) -> np.ndarray:
    """Spins, 0 where a cell is missing."""
    at = s.data[name]
    if "load" in at:
        return LOADERS[at["load"]]()
    return network(at, name, at["N"], s.sweeps, seed).spins


# Probabilities of cells that were hidden


def impute_tasks(s: Settings) -> list[Task]:
    return [cell(impute, s, name, k) for name, at in s.data.items() for k in range(at["repeats"])]


def impute(s: Settings, name: str, seed: int) -> Iterator[Row]:
    """Cells that are known are hidden, and predicted by every rule and every setting of it."""
    spins, at = spins_of(s, name, seed), s.data[name]
    known = spins != 0
    X = with_gaps(np.where(known, spins, np.nan), "completely", at["hide"], [], seed)
    hidden = known & np.isnan(X)
    for rule, setting, up, seconds in predictions(s, X):
        yield {
            **{"data": name, "seed": seed, "n": X.shape[1], "N": len(X), "cells": int(hidden.sum())},
            **{"rule": rule, "setting": setting},
            **judged(up[hidden], spins[hidden] > 0),
            "seconds": seconds,
        }


def predictions(s: Settings, X: np.ndarray) -> Iterator[Prediction]:
    """Our probabilities by either prior, and those of others with all of their settings."""
    for prior in OURS:
        yield prior, "", *timed(lambda prior=prior: fit(X, prior=prior).impute(X, seed=0))
    yield "column means", "", *timed(lambda: rivals.column_means(X))
    values, seconds = timed(lambda: rivals.regressed(X))
    for least in s.clip:
        yield "iterative", str(least), rivals.clipped(values, least), seconds
    for k in s.neighbours:
        values, seconds = timed(lambda k=k: rivals.neighbours(X, k))
        for least in s.clip:
            yield "neighbours", f"{k} {least}", rivals.clipped(values, least), seconds
    for C in s.C:
        yield "logistic", str(C), *timed(lambda C=C: rivals.logistic(X, C))


def judged(up: np.ndarray, true: np.ndarray) -> Row:
    """Mean ln P of what was there, share of cells whose likelier value is right, and reliability."""
    place = np.clip(np.searchsorted(BINS, up, side="right") - 1, 0, len(BINS) - 2)
    columns = (np.bincount(place, weights, len(BINS) - 1) for weights in (np.ones(len(up)), up, true))
    return {
        "log_score": float(np.log(np.where(true, up, 1 - up)).mean()),
        "right": float(((up > 0.5) == true).mean()),
    } | {name: " ".join(f"{value:.6g}" for value in of) for name, of in zip(BINNED, columns, strict=True)}


def reliability(rows: list[Row]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each bin over all rows: the number of cells, their mean probability, and the share of +1."""
    cells, said, true = (
        np.sum([np.array(row[name].split(), float) for row in rows], axis=0) for name in BINNED
    )
    with np.errstate(invalid="ignore"):
        return cells, said / cells, true / cells


def impute_summary(s: Settings, rows: list[Row]) -> None:
    print("log score of hidden cells, share predicted right; the best setting of each rival, in hindsight")
    for (name,), here in grouped(rows, "data").items():
        best = best_settings(here)
        print(f"  {name}, {here[0]['n']} columns, {here[0]['N']} rows, {here[0]['cells']} cells hidden")
        for (rule, setting), of in best.items():
            gap = paired(column(best[OURS[0], ""], "log_score"), column(of, "log_score"))
            score, right, seconds = (np.mean(column(of, x)) for x in ("log_score", "right", "seconds"))
            print(
                f"    {rule:13} {setting:9} {score:.4f}  {right:.3f}  gaussian less this {gap[0]:+.4f} ± {gap[1]:.4f}"
                f"  off by {off(of):.3f}  {seconds:.1f} s"
            )
        mine = best[OURS[0], ""]
        worse = [
            rule
            for (rule, _), of in best.items()
            if rule not in OURS and beyond_noise(*paired(column(of, "log_score"), column(mine, "log_score")))
        ]
        claim(
            f"{name}: log score not worse than any rival's{': ' if worse else ''}{', '.join(worse)}",
            not worse,
        )
        _, said, true = reliability(mine)
        print("    said  " + " ".join(f"{p:.3f}" for p in said))
        print("    found " + " ".join(f"{p:.3f}" for p in true))
        claim(
            f"{name}: probabilities within {off(mine):.3f} of the truth, allowed {s.allowed}",
            off(mine) <= s.allowed,
        )


def best_settings(rows: list[Row]) -> dict[tuple[str, str], list[Row]]:
    """The rows of each rule, with the setting of the highest mean log score."""
    scores = mean_by(rows, "log_score", "rule", "setting")
    groups = grouped(rows, "rule", "setting")
    names = dict.fromkeys(rule for rule, _ in scores)
    best = [max((key for key in scores if key[0] == rule), key=scores.__getitem__) for rule in names]
    return {key: groups[key] for key in best}


def off(rows: list[Row]) -> float:
    """Largest distance of a bin from what it says, of bins with cells enough."""
    cells, said, true = reliability(rows)
    enough = cells >= min(FEW, cells.max())
    return float(np.abs(said - true)[enough].max())


# The whole Senate


def senate_tasks(s: Settings) -> list[Task]:
    return [cell(senate, s, "keep"), cell(senate, s, "drop")]


def senate(s: Settings, missing: str) -> Iterator[Row]:
    """The most probable edges of the sparse prior, of all votes or of complete roll calls."""
    data = bs.load_senate109(missing=missing)
    spins = data.spins[:: s.every, : s.columns].astype(float)
    X = np.where(spins == 0, np.nan, spins)
    bm, seconds = timed(lambda: fit(X, prior="sparse"))
    edges, check = bm.edges(fdr=s.fdr), bm.check_
    N, n = X.shape
    at = {
        **{"missing": missing, "n": n, "N": N, "share": np.isnan(X).mean(), "edges": len(edges)},
        **{"arrived": int(bm.certificate_.passed), "passed": int(check.passed), "seconds": seconds},
    }
    for e in bm.strongest(s.strongest):
        names = {"i": data.names[e.i], "j": data.names[e.j]}
        yield at | names | {"J": e.J, "error": e.error, "probability": e.probability}


def senate_summary(s: Settings, rows: list[Row]) -> None:
    for (missing,), here in grouped(rows, "missing").items():
        at = here[0]
        print(
            f"  {missing}: {at['N']} x {at['n']}, {float(at['share']):.1%} missing, {at['edges']} edges at "
            f"FDR {s.fdr:.0%}, arrived {at['arrived']}, passed {at['passed']}, {float(at['seconds']):.0f} s"
        )
        for row in here:
            print(
                f"    {row['i']:20} {row['j']:20} {float(row['J']):.2f} ± {float(row['error']):.2f} "
                f"{float(row['probability']):.3f}"
            )


# Time and memory


def cost_tasks(s: Settings) -> list[Task]:
    return [
        cell(cost, s, at["n"], at["N"], share, cost=at["n"] ** 2 * at["N"])
        for at, share in itertools.product(s.fits, s.shares)
    ]


def cost(s: Settings, n: int, N: int, share: float) -> Iterator[Row]:
    """One fit in a process of its own, with the peak of its memory."""
    code = (
        "import resource, sys, time, numpy as np, bayesing as bs\n"
        "X = np.load(sys.argv[1])\n"
        "bs.BoltzmannMachine('likelihood', random_state=0).fit(X[:200, :8])\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20\n"
        "start, cpu = time.perf_counter(), time.process_time()\n"
        "bm = bs.BoltzmannMachine('likelihood', random_state=0).fit(X)\n"
        "_ = bm.couplings_, bm.coupling_errors_\n"
        "print(time.perf_counter() - start, time.process_time() - cpu, before,\n"
        "      resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, int(bm.certificate_.passed))"
    )
    spins = bs.simulate(n, N, J=s.J, H=s.H, seed=1).spins
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "spins.npy"
        np.save(file, with_gaps(spins, "completely", share, [], 0))
        command = [sys.executable, "-W", "ignore", "-c", code, str(file)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    names = ("seconds", "cpu_seconds", "before_GiB", "peak_GiB", "passed")
    yield {"n": n, "N": N, "share": share} | dict(zip(names, map(float, output.split()), strict=True))


def cost_summary(s: Settings, rows: list[Row]) -> None:
    for row in rows:
        seconds, cpu, before, peak = (
            float(row[x]) for x in ("seconds", "cpu_seconds", "before_GiB", "peak_GiB")
        )
        print(
            f"  n = {row['n']}, N = {row['N']}, {float(row['share']):.0%} missing: {seconds:.1f} s ({cpu:.1f} of the "
            f"processor), peak {peak:.2f} GiB, {before:.2f} before; passed {float(row['passed']):.0f}"
        )
