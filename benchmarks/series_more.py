"""Fields that drift, a recording of neurons, and what thinned fits cost."""

from __future__ import annotations

import itertools
import math
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import bayesing as bs
from bayesing.experiments.cells import Task
from bayesing.order import order_of

from coupling_data import cell
from edge_data import claim, pairs_of
from front import Row, Settings, grouped
from likelihood_real import FOLDER
from series_data import chain, model
from series_truth import quietly

METHOD = "pseudolikelihood"  # by which blocks are fitted again

# Fields that drift


def drift_tasks(s: Settings) -> list[Task]:
    return [cell(drift, s, *at) for at in itertools.product(s.N, s.shares, s.amplitudes)]


def drift(s: Settings, N: int, share: float, amplitude: float) -> Iterator[Row]:
    for seed in range(s.repeats):
        rows = chain(model(s.n, s.J, 0.0, 0.0, seed), N, share, seed, amplitude)
        shuffled = np.random.default_rng(seed).permutation(rows)
        found, by_chance = (order_of(bs.SpinStatistics.of(x)) for x in (rows, shuffled))
        yield {
            **{"N": N, "share": share, "amplitude": amplitude, "seed": seed, "drift": found.drift},
            **{"limit": found.drift_limit, "part": found.drift_share, "drifts": int(found.drifts)},
            **{"remembers": int(found.remembers), "shuffled_drifts": int(by_chance.drifts)},
            **{"shuffled_remembers": int(by_chance.remembers)},
        }


def drift_summary(s: Settings, rows: list[Row]) -> None:
    false = sum(int(row["shuffled_drifts"]) + int(row["shuffled_remembers"]) for row in rows)
    for key, here in grouped(rows, "N", "share", "amplitude").items():
        told = sum(int(row["drifts"]) for row in here)
        ratio = np.mean([float(row["drift"]) for row in here])
        print(
            f"  N, share, amplitude {', '.join(key)}: power {ratio:.1f}, drift said in {told} of {len(here)}"
        )
    claim(f"{false} false alarms in {len(rows)} data sets whose rows were shuffled", false == 0)


# A recording


def recording_tasks(s: Settings) -> list[Task]:
    if not os.environ.get(FOLDER):
        return []
    fits = [cell(recording, s, *fit, cost=10) for fit in itertools.product(("likelihood", METHOD), (0, 1))]
    return fits + [cell(bootstrap, s, seed) for seed in range(s.bootstraps)]


def words() -> np.ndarray:
    bits = np.load(Path(os.environ[FOLDER]) / "example50.npz")["bits"]
    return 2 * np.unpackbits(bits, axis=1, count=50).astype(np.int8) - 1


def _row(method: str, kind: str, seed: int, bm: bs.BoltzmannMachine, seconds: float) -> Row:
    entropy, entropy_error = bm.entropy(1000, seed=0) if method == "likelihood" else (math.nan, math.nan)
    return {
        **{
            "method": method,
            "kind": kind,
            "seed": seed,
            "gamma": bm.gamma_,
            "effective": bm.effective_samples_,
        },
        **{"entropy_bits": entropy / math.log(2), "entropy_error": entropy_error / math.log(2)},
        **{"passed": int(bm.check_.passed), "seconds": seconds},
        "errors": " ".join(f"{x:.5f}" for x in pairs_of(bm.coupling_errors_)),
        "couplings": " ".join(f"{x:.5f}" for x in pairs_of(bm.couplings_)),
    }


def recording(s: Settings, method: str, series: int) -> Iterator[Row]:
    start = time.perf_counter()
    gamma = s.gamma if method == METHOD else "auto"
    bm = quietly(bs.BoltzmannMachine(method, gamma=gamma, series=bool(series), random_state=0), words())
    yield _row(method, "series" if series else "independent", 0, bm, time.perf_counter() - start)


def bootstrap(s: Settings, seed: int) -> Iterator[Row]:
    """The fit of all rows by regressions, of blocks of rows that are drawn anew."""
    rows, rng = words(), np.random.default_rng([93, seed])
    worth = bs.SpinStatistics.of(rows).memory.worth
    blocks = np.array_split(np.arange(len(rows)), len(rows) // s.rows)
    chosen = np.concatenate([blocks[k] for k in rng.integers(len(blocks), size=len(blocks))])
    start = time.perf_counter()
    bm = quietly(bs.BoltzmannMachine(METHOD, gamma=s.gamma * worth, random_state=0), rows[chosen])
    yield _row(METHOD, "bootstrap", seed, bm, time.perf_counter() - start)


def recording_summary(s: Settings, rows: list[Row]) -> None:
    """A prior shrinks couplings: the mode varies by less than its posterior, by the share that the data tell."""
    if not rows:
        return
    by_kind = grouped(rows, "method", "kind")
    for kind in ("independent", "series"):
        row = by_kind["likelihood", kind][0]
        errors = np.array(row["errors"].split(), float)
        print(
            f"  {kind}: J of the prior {float(row['gamma']) ** 0.5:.3f}, worth {float(row['effective']):.0f} rows, "
            f"median error of a coupling {np.median(errors):.4f}, entropy {float(row['entropy_bits']):.3f} ± "
            f"{float(row['entropy_error']):.3f} bits, check passed {row['passed']}, {float(row['seconds']):.0f} s"
        )
    drawn = np.array([row["couplings"].split() for row in by_kind[METHOD, "bootstrap"]], float)
    spread = drawn.std(axis=0, ddof=1)
    for kind in ("independent", "series"):
        variance = np.array(by_kind[METHOD, kind][0]["errors"].split(), float) ** 2
        said = np.sqrt(variance * (1 - variance * 50 / s.gamma))
        ratio = spread / said
        print(
            f"  bootstraps of blocks of {s.rows} rows over errors said, {kind}: median {np.median(ratio):.2f}, half "
            f"of them from {np.quantile(ratio, 0.25):.2f} to {np.quantile(ratio, 0.75):.2f}"
        )


# Cost


def cost_tasks(s: Settings) -> list[Task]:
    return [cell(cost, s, n, N, cost=n * N) for n, N in itertools.product(s.n, s.N)]


def cost(s: Settings, n: int, N: int) -> Iterator[Row]:
    rows = chain(model(n, s.J, 0.2, 0.2, 0), N, s.share, 0)
    for method in s.methods:
        best = {}
        for series in (False, True):
            seconds = []
            for _ in range(s.repeats):
                data = bs.SpinStatistics.of(rows)
                _ = data.memory  # which both look at
                start = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    bs.EmpiricalBayes(method, series=series).fit(data)
                seconds.append(time.perf_counter() - start)
            best[series] = min(seconds)
        start = time.perf_counter()
        lag = bs.SpinStatistics.of(rows).memory.lag
        of_memory = time.perf_counter() - start
        yield {
            **{"n": n, "N": N, "method": method, "lag": lag, "seconds": best[False]},
            **{"series_seconds": best[True], "memory_seconds": of_memory},
        }


def cost_summary(s: Settings, rows: list[Row]) -> None:
    ratios = []
    for row in rows:
        one, ours, memory = (
            1000 * float(row[name]) for name in ("seconds", "series_seconds", "memory_seconds")
        )
        ratios.append(ours / one)
        print(
            f"  n = {row['n']}, N = {row['N']}, {row['method']}, lag {row['lag']}: {one:.1f} ms, as a series "
            f"{ours / one:.2f} times that; the autocorrelation {memory:.1f} ms"
        )
    claim(f"thinned fits take at most {max(ratios):.2f} times a fit of all rows", max(ratios) <= s.allowed)
