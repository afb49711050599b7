"""Couplings and their strength from data with missing cells, against what else is done with such data."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator

import numpy as np

import bayesing as bs
from bayesing.experiments.cells import Task

from coupling_data import cell, data
from coupling_recovery import Z_90, f1
from edge_data import Network, claim, counts, declared, network, pairs_of, ratio
from edge_recovery import LIKELY
from front import Row, Settings, grouped
from methods import fitted
from missing_data import Found, beyond_noise, column, fit, found, paired, scored, timed, with_gaps
from missing_rivals import COMPLETIONS, mode

COMPLETE, OURS = "complete data", "missing cells kept"
MEASURED = ("rmse", "covered", "covered_edges", "covered_fields", "held_out", "held_out_error")
NO_GAPS = ("none", 0.0)  # mechanism and share of complete data

# Couplings


def recovery_tasks(s: Settings) -> list[Task]:
    return [cell(recovery, s, name, seed) for seed, name in itertools.product(range(s.seeds), s.kinds)]


def recovery(s: Settings, name: str, seed: int) -> Iterator[Row]:
    """All rules on all kinds of gaps in one data set."""
    kind = s.kinds[name]
    net = network(kind, name, s.N + s.held_out, s.sweeps, seed)
    spins, test = net.spins[: s.N], net.spins[s.N :]
    base = {"kind": name, "seed": seed}
    nothing = dict.fromkeys(MEASURED, "")

    def row(rule: str, at: Row, work: Callable[[], Found | None]) -> Row:
        result, seconds = timed(work)
        values = scored(result, net.model, test, s.n_chains) if result else nothing
        return (
            base | at | {"rule": rule, "rows": result.rows if result else 0} | values | {"seconds": seconds}
        )

    yield row(COMPLETE, gaps(*NO_GAPS, spins), lambda: found(spins))
    for mechanism, share in itertools.product(s.mechanisms, s.shares):
        X = with_gaps(spins, mechanism, share, kind["markers"], seed)
        at = gaps(mechanism, share, X)
        yield row(OURS, at, lambda X=X: found(X))
        for rule, complete in COMPLETIONS.items():
            yield row(rule, at, lambda X=X, complete=complete: complete(X, s.imputations))


def gaps(mechanism: str, share: float, X: np.ndarray) -> Row:
    return {"missing": mechanism, "share": share, "realised": np.isnan(X).mean()}


def recovery_summary(s: Settings, rows: list[Row]) -> None:
    whole = {(row["kind"], row["seed"]): row for row in rows if row["rule"] == COMPLETE}
    print("RMSE of J, 90% intervals of J, of J not 0 and of h that cover, held-out nats less complete data")
    for (kind, mechanism, share), here in grouped(rows, "kind", "missing", "share").items():
        print(f"  {kind}, {float(share):.0%} missing, {mechanism}")
        rules = {rule: of for (rule,), of in grouped(here, "rule").items()}
        for rule, of in rules.items():
            print(f"    {rule:20} {line(of, whole)}")
        if OURS in rules:
            judge(s, rules, [row for row in whole.values() if row["kind"] == kind])


def line(rows: list[Row], whole: dict[tuple[str, str], Row]) -> str:
    there = [row for row in rows if row["rmse"] != ""]
    if not there:
        return f"no rows left in {len(rows)} of {len(rows)}"
    rmse, covered, edges, fields, seconds, left = (
        np.mean(column(there, name))
        for name in ("rmse", "covered", "covered_edges", "covered_fields", "seconds", "rows")
    )
    less, spread = paired(
        column(there, "held_out"), [float(whole[row["kind"], row["seed"]]["held_out"]) for row in there]
    )
    few = f"; too few rows in {len(rows) - len(there)} of {len(rows)}" if len(there) < len(rows) else ""
    return (
        f"{rmse:.4f}  {covered:.3f} {edges:.3f} {fields:.3f}  {less:+.4f} ± {spread:.4f}  "
        f"{seconds:.1f} s, {left:.0f} rows{few}"
    )


def judge(s: Settings, rules: dict[str, list[Row]], whole: list[Row]) -> None:
    """Are intervals honest, and is no rival better than chance would have it? ``whole`` is of complete data."""
    low, high = s.allowed["coverage"]
    for name, words in (("covered", "couplings"), ("covered_fields", "fields")):
        covered, before = (np.mean(column(rows, name)) for rows in (rules[OURS], whole))
        words = f"intervals of {words} cover {covered:.1%}, those of complete data {before:.1%}"
        claim(f"{words}; allowed {low:.0%} to {high:.0%}", low <= covered <= high)
    for name, sign, words in (("rmse", 1, "error"), ("held_out", -1, "held-out likelihood")):
        worse = []
        for rule in COMPLETIONS:
            pairs = [
                (mine, other)
                for mine, other in zip(rules[OURS], rules[rule], strict=True)
                if other["rmse"] != ""
            ]
            if not pairs:
                continue
            gap, error = paired(*(column(list(side), name) for side in zip(*pairs, strict=True)))
            if beyond_noise(sign * gap, error):
                worse.append(f"{rule} ({gap:+.4f} ± {error:.4f})")
        claim(
            f"{words} not worse than any rival's{': worse than ' if worse else ''}{', '.join(worse)}",
            not worse,
        )


# Edges


def edges_tasks(s: Settings) -> list[Task]:
    return [cell(edges, s, seed) for seed in range(s.seeds)]


def edges(s: Settings, seed: int) -> Iterator[Row]:
    """Edges by the sparse prior, with and without missing cells, and with the mode in their place."""
    net = network(s.kind, s.name, s.N, s.sweeps, seed)

    def row(rule: str, at: Row, X: np.ndarray) -> Row:
        bm, seconds = timed(lambda: fit(X, prior="sparse"))
        return {"seed": seed} | at | {"rule": rule} | edge_scores(s, net, bm) | {"seconds": seconds}

    yield row(COMPLETE, gaps(*NO_GAPS, net.spins), net.spins)
    for mechanism, share in itertools.product(s.mechanisms, s.shares):
        X = with_gaps(net.spins, mechanism, share, s.kind["markers"], seed)
        at = gaps(mechanism, share, X)
        yield row(OURS, at, X)
        yield row("mode", at, mode(X))


def edge_scores(s: Settings, net: Network, bm: bs.BoltzmannMachine) -> Row:
    J, errors, P = (pairs_of(x) for x in (bm.couplings_, bm.coupling_errors_, bm.edge_probabilities_))
    there, likely, off = net.couplings != 0, P > LIKELY, np.abs(J - net.couplings)
    inside = off < Z_90 * errors
    return {
        **f1(likely, there),
        **{"rmse": math.sqrt(np.mean(off**2)), "covered": inside.mean()},
        **{"intervals": int(likely.sum()), "covered_likely": int((likely & inside).sum())},
        **counts(declared(bm, s.fdr, net.spins.shape[1]), there, "declared"),
    }


def edges_summary(s: Settings, rows: list[Row]) -> None:
    print(
        f"F1 of pairs with P > {LIKELY}, RMSE of J, edges at FDR {s.fdr:.0%} and how many of them are true;"
    )
    print(f"  90% intervals that cover, of all pairs and of those with P > {LIKELY}")
    for (mechanism, share, rule), here in grouped(rows, "missing", "share", "rule").items():
        F1, rmse, many, true, covered, seconds = (
            np.mean(column(here, name))
            for name in ("F1", "rmse", "declared", "declared_true", "covered", "seconds")
        )
        print(
            f"  {mechanism:12} {float(share):4.0%} {rule:20} {F1:.3f} {rmse:.4f}  {many:5.1f} {true:5.1f}  "
            f"{covered:.3f} {ratio(here, 'covered_likely', 'intervals'):.3f}  {seconds:.1f} s"
        )


# Strength


def strength_tasks(s: Settings) -> list[Task]:
    return [cell(strength, s, J, seed) for J, seed in itertools.product(s.J, range(s.seeds))]


def strength(s: Settings, J: float, seed: int) -> Iterator[Row]:
    """J by what "auto" takes, by the closed form of available cases and, of complete data, by the likelihood."""
    sim = data(s.n, s.N, J, s.H, seed)
    realised = math.sqrt(s.n * np.mean(pairs_of(sim.couplings) ** 2))
    cases = {NO_GAPS: sim.spins.astype(float)} | {
        (mechanism, share): with_gaps(sim.spins, mechanism, share, list(range(s.markers)), seed)
        for mechanism, share in itertools.product(s.mechanisms, s.shares)
    }
    for (mechanism, share), X in cases.items():
        for method in ("auto", "likelihood", "susceptibility") if not share else ("auto", "susceptibility"):
            start = time.perf_counter()
            eb = fitted(X, method)
            yield {
                **{"J": J, "seed": seed, "true": realised, **gaps(mechanism, share, X), "method": method},
                **{"taken": eb.method_, "estimate": eb.J_, "error": eb.J_error_},
                "seconds": time.perf_counter() - start,
            }


def strength_summary(s: Settings, rows: list[Row]) -> None:
    print("J over the true one: mean, spread, error said; root mean square of deviations in errors said")
    for (J, mechanism, share, method), here in grouped(rows, "J", "missing", "share", "method").items():
        true, estimate, error = (np.array(column(here, name)) for name in ("true", "estimate", "error"))
        ratios, z = estimate / true, (estimate - true) / error
        taken = "/".join(sorted({row["taken"] for row in here}))
        print(
            f"  J = {J} {mechanism:12} {float(share):4.0%} {method:15} {ratios.mean():.3f} {ratios.std():.3f} "
            f"{np.mean(error / true):.3f}   {np.sqrt(np.mean(z**2)):.2f}   "
            f"{np.mean(column(here, 'seconds')):.1f} s  {taken}"
        )
    for (share,), here in grouped([row for row in rows if row["method"] == "auto"], "share").items():
        z = [(float(r["estimate"]) - float(r["true"])) / float(r["error"]) for r in here]
        size, most = float(np.sqrt(np.mean(np.square(z)))), s.allowed["z"]
        claim(
            f"auto, {float(share):.0%} missing: deviations of {size:.2f} errors, allowed {most:g}",
            size <= most,
        )
