"""Fields that drift, a recording of neurons, and what thinned fits cost."""

from __future__ import annotations

import itertools
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
    whole = [cell(recording, s, series, cost=10) for series in (0, 1)]
    return whole + [cell(bootstrap, s, seed, cost=5) for seed in range(s.bootstraps)]


def words() -> np.ndarray:
    bits = np.load(Path(os.environ[FOLDER]) / "example50.npz")["bits"]
    return 2 * np.unpackbits(bits, axis=1, count=50).astype(np.int8) - 1


def _row(kind: str, seed: int, bm: bs.BoltzmannMachine, seconds: float) -> Row:
    entropy, entropy_error = bm.entropy(1000, seed=0)
    return {
        **{"kind": kind, "seed": seed, "gamma": bm.gamma_, "effective": bm.effective_samples_},
        **{"entropy_bits": entropy / np.log(2), "entropy_error": entropy_error / np.log(2)},
        **{"passed": int(bm.check_.passed), "seconds": seconds},
        "errors": " ".join(f"{x:.5f}" for x in pairs_of(bm.coupling_errors_)),
        "couplings": " ".join(f"{x:.5f}" for x in pairs_of(bm.couplings_)),
    }


def recording(s: Settings, series: int) -> Iterator[Row]:
    start = time.perf_counter()
    bm = quietly(bs.BoltzmannMachine("likelihood", series=bool(series), random_state=0), words())
    yield _row("series" if series else "independent", 0, bm, time.perf_counter() - start)


def bootstrap(s: Settings, seed: int) -> Iterator[Row]:
    """The same fit of blocks of rows that are drawn anew, with the strength of the series."""
    rows, rng = words(), np.random.default_rng([93, seed])
    blocks = np.array_split(np.arange(len(rows)), len(rows) // s.blocks)
    chosen = np.concatenate([blocks[k] for k in rng.integers(len(blocks), size=len(blocks))])
    start = time.perf_counter()
    bm = quietly(bs.BoltzmannMachine("pseudolikelihood", gamma=0.5, random_state=0), rows[chosen])
    yield _row("bootstrap", seed, bm, time.perf_counter() - start)


def recording_summary(s: Settings, rows: list[Row]) -> None:
    if not rows:
        return
    by_kind = {kind: here for (kind,), here in grouped(rows, "kind").items()}
    for kind in ("independent", "series"):
        row = by_kind[kind][0]
        errors = np.array(row["errors"].split(), float)
        print(
            f"  {kind}: J of the prior {float(row['gamma']) ** 0.5:.3f}, worth {float(row['effective']):.0f} rows, "
            f"median error of a coupling {np.median(errors):.4f}, entropy {float(row['entropy_bits']):.3f} bits"
        )
    drawn = np.array([row["couplings"].split() for row in by_kind["bootstrap"]], float)
    spread = drawn.std(axis=0, ddof=1)
    print(f"  median deviation over bootstraps of blocks: {np.median(spread):.4f}")


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
