"""Known restricted Boltzmann machines, some of whose cells are missing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

import bayesing as bs
from bayesing.experiments.cells import Task

from coupling_data import cell
from edge_data import claim
from front import Row, Settings, grouped
from hidden_planted import coverage, fit, machine, overlaps
from missing_data import with_gaps
from missing_rivals import listwise, mode

RULES = {"kept": lambda X: X, "listwise": listwise, "mode": mode}
FEW = 50  # complete rows that are too few to fit


def gaps_tasks(s: Settings) -> list[Task]:
    return [cell(gaps, s, k, seed, cost=k) for k, seed in itertools.product(s.units, range(s.seeds))]


def gaps(s: Settings, k: int, seed: int) -> Iterator[Row]:
    """Missing cells kept, complete rows alone, and the usual answer in every gap."""
    rng = np.random.default_rng([67, k, seed])
    truth = machine(s.n, k, s.gamma, s.fields, rng)
    spins, held_out = truth.sample(s.N, rng), truth.sample(s.held_out, rng)
    most = truth.log_likelihood(held_out).mean()
    for share in s.shares:
        X = with_gaps(spins, "completely", share, [], seed)
        for rule, complete in RULES.items():
            rows = complete(X)
            if (not share and rule != "kept") or len(rows) < FEW:
                continue
            rbm, seconds = fit(rows, k)
            at = {"units": k, "seed": seed, "share": share, "rule": rule, "rows": len(rows)}
            yield at | judged(rbm, truth, held_out, most) | {"seconds": seconds}
    if k > s.most_auto:
        return
    X = with_gaps(spins, "completely", max(s.shares), [], seed)
    rbm, seconds = fit(X, "auto")
    at = {"units": k, "seed": seed, "share": max(s.shares), "rule": "auto", "rows": len(X)}
    yield at | judged(rbm, truth, held_out, most) | {"seconds": seconds}


def judged(
    rbm: bs.RestrictedBoltzmannMachine, truth: bs.RestrictedModel, held_out: np.ndarray, most: float
) -> Row:
    found = len(rbm.hidden_fields_)
    return {
        "found": found,
        "overlap": float(overlaps(rbm.hidden_couplings_, truth.weights).mean()),
        "loss": float(most - rbm.score(held_out)),
        "coverage": coverage(rbm, truth) if found == truth.n_hidden else math.nan,
    }


def gaps_summary(s: Settings, rows: list[Row]) -> None:
    for (k, share, rule), here in grouped(rows, "units", "share", "rule").items():
        values = {
            x: np.mean([float(row[x]) for row in here])
            for x in ("overlap", "loss", "coverage", "seconds", "rows")
        }
        print(
            f"  {k} units, {float(share):.0%} missing, {rule}: found {', '.join(row['found'] for row in here)}; "
            f"overlap {values['overlap']:.3f}, loss {values['loss']:.3f} nats, 90% intervals cover "
            f"{values['coverage']:.1%}; {values['rows']:.0f} rows, {values['seconds']:.1f} s"
        )
    kept = [row for row in rows if row["rule"] == "kept"]
    covered = [float(row["coverage"]) for row in kept]
    low, high = s.allowed["coverage"]
    claim(f"intervals cover {np.mean(covered):.1%} on average", low <= np.mean(covered) <= high)
    losses = {(row["units"], row["seed"], row["share"]): float(row["loss"]) for row in kept}
    worse = [
        row
        for row in rows
        if row["rule"] in ("listwise", "mode")
        and float(row["loss"]) < losses[row["units"], row["seed"], row["share"]]
    ]
    claim(f"kept cells lose more than rivals in {len(worse)} of {len(rows)} rows", not worse)
    automatic = [row for row in rows if row["rule"] == "auto"]
    right = sum(row["found"] == row["units"] for row in automatic)
    claim(f"the evidence finds the number of units in {right} of {len(automatic)}", right == len(automatic))
