"""Data of restricted Boltzmann machines that are known, and bursts, which one hidden unit describes."""

from __future__ import annotations

import itertools
import math
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import binom

import bayesing as bs
from bayesing.experiments.cells import Task

from coupling_data import cell
from edge_data import claim
from front import Row, Settings, grouped
from zoo_data import bursts as bursts_of


def fit(spins: np.ndarray, n_hidden: Any) -> tuple[bs.RestrictedBoltzmannMachine, float]:
    """A machine, and the seconds it took."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        rbm = bs.RestrictedBoltzmannMachine(n_hidden, random_state=0).fit(spins)
    return rbm, time.perf_counter() - start


def machine(n: int, k: int, gamma: float, spread: float, rng: np.random.Generator) -> bs.RestrictedModel:
    """Weights of variance gamma/n, fields of standard deviation ``spread``."""
    W = rng.normal(0, math.sqrt(gamma / n), (n, k))
    return bs.RestrictedModel(W, rng.normal(0, spread, n), rng.normal(0, spread, k))


def overlaps(W: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """|cosine| of each true unit with the unit that was found for it; 0 for units that were not found."""
    found, true = (X / np.linalg.norm(X, axis=0) for X in (W, truth))
    cosines = np.abs(true.T @ found)
    best = np.zeros(truth.shape[1])
    rows, columns = linear_sum_assignment(-cosines)
    best[rows] = cosines[rows, columns]
    return best


def coverage(rbm: bs.RestrictedBoltzmannMachine, truth: bs.RestrictedModel) -> float:
    """Share of the 90% intervals of weights that cover the true ones, of as many units."""
    W, errors = rbm.hidden_couplings_, rbm.hidden_coupling_errors_
    cosines = (W / np.linalg.norm(W, axis=0)).T @ truth.weights
    order = linear_sum_assignment(-np.abs(cosines))[1]
    same = truth.weights[:, order] * np.sign(cosines[np.arange(len(order)), order])
    return float(np.mean(np.abs(W - same) < 1.645 * errors))


def evidence_rows(at: Row, rbm: bs.RestrictedBoltzmannMachine, of_chosen: Row) -> Iterator[Row]:
    """A row for each number of units that was tried; what is known of the chosen one stands in its row."""
    most, chosen = max(rbm.evidence_by_n_hidden_.values()), len(rbm.hidden_fields_)
    for k, evidence in rbm.evidence_by_n_hidden_.items():
        here = {column: value if k == chosen else "" for column, value in of_chosen.items()}
        yield at | {"tried": k, "chosen": int(k == chosen), "evidence": evidence - most} | here


# Known machines


def planted_tasks(s: Settings) -> list[Task]:
    return [
        cell(planted, s, k, N, seed, cost=k * N)
        for k, N, seed in itertools.product(s.units, s.N, range(s.seeds))
    ]


def planted(s: Settings, k: int, N: int, seed: int) -> Iterator[Row]:
    rng = np.random.default_rng([66, k, N, seed])
    truth = machine(s.n, k, s.gamma, s.fields, rng)
    spins, held_out = truth.sample(N, rng), truth.sample(s.held_out, rng)
    rbm, elapsed = fit(spins, "auto")
    loss = truth.log_likelihood(held_out) - rbm.score_samples(held_out)
    given, _ = fit(spins, k)
    covered = coverage(given, truth) if k else ""
    yield from evidence_rows(
        {"data": f"{k} units", "units": k, "N": N, "seed": seed},
        rbm,
        {
            "overlap": float(overlaps(rbm.hidden_couplings_, truth.weights).mean()) if k else "",
            "least_overlap": float(overlaps(rbm.hidden_couplings_, truth.weights).min()) if k else "",
            "loss": float(loss.mean()),
            "loss_error": float(loss.std() / math.sqrt(len(loss))),
            "coverage": covered,
            "seconds": elapsed,
        },
    )


def planted_summary(s: Settings, rows: list[Row]) -> None:
    chosen = [row for row in rows if int(row["chosen"])]
    right = sum(row["tried"] == row["units"] for row in chosen)
    for (k, N), here in grouped(chosen, "units", "N").items():
        losses = ", ".join(f"{float(row['loss']):.3f}" for row in here)
        words = f"  {k} units, N = {N}: found {', '.join(row['tried'] for row in here)}; loss {losses} nats"
        if here[0]["overlap"] != "":
            overlap = ", ".join(f"{float(row['overlap']):.3f}" for row in here)
            words += f"; overlap {overlap}"
            words += f"; 90% intervals cover {np.mean([float(row['coverage']) for row in here]):.1%}"
        print(f"{words}; {np.mean([float(row['seconds']) for row in here]):.1f} s")
    claim(f"right in {right} of {len(chosen)}", right >= s.allowed["found"])
    most = [row for row in chosen if int(row["N"]) == max(s.N)]
    least = min((float(row["overlap"]) for row in most if row["overlap"] != ""), default=math.nan)
    claim(f"overlap of weights with most samples at least {least:.3f}", least >= s.allowed["overlap"])
    loss = max(float(row["loss"]) for row in most)
    claim(f"held-out loss with most samples at most {loss:.3f} nats", loss <= s.allowed["loss"])


# Bursts


def bursts_tasks(s: Settings) -> list[Task]:
    return [cell(bursts, s, seed) for seed in range(s.seeds)]


def bursts(s: Settings, seed: int) -> Iterator[Row]:
    """The number of active cells, of the model and in truth, and the likelihood of as many other samples."""
    draw = bursts_of(s.n, s.N, s.rate, s.high, s.share)
    spins, other = (draw(np.random.default_rng([62, seed, which])).spins for which in range(2))
    rbm, elapsed = fit(spins, "auto")
    alone, _ = fit(spins, 0)
    K = np.arange(s.n + 1)
    parts = [(1 - s.share, s.rate), (s.share, s.high)]
    truth = sum(weight * binom.pmf(K, s.n, rate) for weight, rate in parts)
    active = (other > 0).sum(axis=1)
    log_truth = np.logaddexp(
        *(math.log(w) + active * math.log(p) + (s.n - active) * math.log(1 - p) for w, p in parts)
    )
    counts = {
        "model": np.bincount((rbm.sample(s.drawn, seed=seed) > 0).sum(axis=1), minlength=s.n + 1) / s.drawn,
        "data": np.bincount((spins > 0).sum(axis=1), minlength=s.n + 1) / s.N,
        "truth": truth,
    }
    events = {"K = 0": K == 0} | {f"K >= {least}": least <= K for least in s.active}
    yield {
        **{"seed": seed, "found": len(rbm.hidden_fields_)},
        **{
            f"P({event}) {of}": float(p[where].sum())
            for event, where in events.items()
            for of, p in counts.items()
        },
        **{"loss": float((log_truth - rbm.score_samples(other)).mean())},
        **{"independent": float((log_truth - alone.score_samples(other)).mean())},
        **{"hidden_field": float(rbm.hidden_fields_[0]) if len(rbm.hidden_fields_) else ""},
        **{"evidence_gain": rbm.log_evidence_ - rbm.evidence_by_n_hidden_[0], "seconds": elapsed},
    }


def bursts_summary(s: Settings, rows: list[Row]) -> None:
    for row in rows:
        words = f"  seed {row['seed']}: {row['found']} unit"
        for event in ("K = 0", *(f"K >= {least}" for least in s.active)):
            model, data, truth = (float(row[f"P({event}) {of}"]) for of in ("model", "data", "truth"))
            words += f"; P({event}) {model:.4f}, data {data:.4f}, truth {truth:.4f}"
        print(f"{words}; loss {float(row['loss']):.4f}, of independent {float(row['independent']):.3f} nats")
    claim("one unit each", all(row["found"] == "1" for row in rows))
