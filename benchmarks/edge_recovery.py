"""Edges that are known: are they found, are probabilities honest, and what does the prior lose on dense data?"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

import numpy as np

import bayesing as bs
from bayesing.experiments.cells import Task

from coupling_data import cell, data, error, mean_by
from coupling_recovery import Z_90, f1
from edge_data import (
    Network,
    claim,
    counts,
    declared,
    false_share,
    fell_back,
    fit,
    network,
    pairs_of,
    ratio,
    sparse,
    total,
)
from edge_rivals import ising_fit
from front import Row, Settings, grouped

LIKELY = 0.5  # probability from which a pair counts as an edge
BINS = (0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 0.98, 1)  # of probabilities
FEW = 30  # pairs in a bin of probabilities that are too few to judge it
SPARSE, LAPLACE, EBIC, GAUSSIAN = "sparse", "laplace", "L1 + EBIC", "gaussian"
BINNED = ("bin_pairs", "bin_said", "bin_true")
ONLY_OURS = (
    "declared",
    "declared_true",
    "intervals",
    "covered",
    "said_wrong",
    "wrong",
    "fell_back",
    "method",
    *BINNED,
)

# Sparse graphs, and other kinds of networks


def networks_tasks(s: Settings) -> list[Task]:
    return [
        cell(networks, s, name, seed, cost=s.kinds[name]["n"])
        for name, seed in itertools.product(s.kinds, range(s.seeds))
    ]


def networks(s: Settings, name: str, seed: int) -> Iterator[Row]:
    """Edges by every rule; data sets that differ in N are nested."""
    kind = s.kinds[name]
    sizes = kind.get("N", s.N)
    full = network(kind, name, max(sizes), s.sweeps, seed)
    for N in sizes:
        at = {"kind": name, "N": N, "seed": seed, "edges": int(np.count_nonzero(full.couplings))}
        for row in rules(s, Network(full.spins[:N], full.model)):
            yield at | row


def rules(s: Settings, net: Network) -> Iterator[Row]:
    """Our probabilities without tuning, the Laplace prior with a threshold, L1 + EBIC, and the Gaussian prior."""
    bm, said, elapsed = sparse(net.spins)
    found = scored(net, SPARSE, bm.couplings_, bm.edge_probabilities_ > LIKELY, elapsed)
    yield found | honest(s, net, bm) | {"fell_back": fell_back(said), "method": bm.method_}
    nothing = dict.fromkeys(ONLY_OURS, "")
    bm, elapsed = fit(net.spins, "pseudolikelihood", prior="laplace")
    far = np.abs(bm.couplings_) > s.threshold * bm.coupling_errors_
    yield scored(net, LAPLACE, bm.couplings_, far, elapsed) | nothing
    start = time.perf_counter()
    J = ising_fit(net.spins, s.ebic)
    yield scored(net, EBIC, J, J != 0, time.perf_counter() - start) | nothing
    bm, elapsed = fit(net.spins, "pseudolikelihood")
    far = np.abs(bm.couplings_) > s.threshold * bm.coupling_errors_
    yield scored(net, GAUSSIAN, bm.couplings_, far, elapsed) | nothing


def scored(net: Network, rule: str, couplings: np.ndarray, chosen: np.ndarray, seconds: float) -> Row:
    found = f1(pairs_of(chosen), net.couplings != 0)
    return {"rule": rule} | found | {"error": error(couplings, net.model.couplings), "seconds": seconds}


def honest(s: Settings, net: Network, bm: bs.BoltzmannMachine) -> Row:
    """Counts that say whether probabilities, false discovery and false sign rates, and errors are what they claim."""
    J, errors, P, wrong_sign = (
        pairs_of(matrix)
        for matrix in (bm.couplings_, bm.coupling_errors_, bm.edge_probabilities_, bm.false_sign_rates_)
    )
    truth = net.couplings
    chosen, likely = declared(bm, s.fdr, net.spins.shape[1]), P > LIKELY
    inside = np.abs(J - truth) < Z_90 * errors
    return {
        **counts(chosen, truth != 0, "declared"),
        **{"intervals": int(likely.sum()), "covered": int((likely & inside).sum())},
        **{"said_wrong": wrong_sign[chosen].sum(), "wrong": int((J * truth <= 0)[chosen].sum())},
        **binned(P, truth != 0),
    }


def binned(P: np.ndarray, edges: np.ndarray) -> Row:
    """In each bin of probabilities: the number of pairs, the sum of their probabilities, and the number of edges."""
    place = np.clip(np.searchsorted(BINS, P, side="right") - 1, 0, len(BINS) - 2)
    columns = (np.bincount(place, weights, len(BINS) - 1) for weights in (np.ones(len(P)), P, edges))
    return {
        name: " ".join(f"{value:.6g}" for value in column)
        for name, column in zip(BINNED, columns, strict=True)
    }


def reliability(rows: list[Row]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each bin over all rows: the number of pairs, their mean probability, and the share that are edges."""
    pairs, said, true = (
        np.sum([np.array(row[name].split(), dtype=float) for row in rows if row[name]], axis=0)
        for name in BINNED
    )
    with np.errstate(invalid="ignore"):
        return pairs, said / pairs, true / pairs


# What the networks show


def graphs_summary(s: Settings, rows: list[Row]) -> None:
    score, wrong = means_table(rows)
    ours = [row for row in rows if row["rule"] == SPARSE]
    print_honesty(s, ours)
    enough = [row for row in ours if int(row["N"]) >= s.enough]
    print_reliability(s, enough or ours)
    for (N,), here in sorted(grouped(rows, "N").items(), key=lambda item: int(item[0][0])):
        found = {rule: value for (n, rule), value in mean_by(here, "F1", "N", "rule").items()}
        best = max(found[LAPLACE], found[EBIC])
        claim(f"N = {N}: F1 {found[SPARSE]:.3f}, rivals at best {best:.3f}", found[SPARSE] >= best)
    cells = {key[:2] for key in score}
    lost = [key for key in cells if score[(*key, SPARSE)] < max(score[(*key, LAPLACE)], score[(*key, EBIC)])]
    print(f"  F1 below that of a rival in {len(lost)} of {len(cells)} cells: {named(lost)}")
    larger = [key for key in cells if wrong[(*key, SPARSE)] >= wrong[(*key, LAPLACE)]]
    claim(
        f"error of couplings below Laplace's in all of {len(cells)} cells; not in {named(larger)}", not larger
    )


def means_table(rows: list[Row]) -> tuple[dict[tuple[str, ...], float], dict[tuple[str, ...], float]]:
    """F1 and relative error of the couplings by every rule, cell by cell; printed, and as means by cell and rule."""
    names = list(dict.fromkeys(row["rule"] for row in rows))
    score, wrong, seconds = (
        mean_by(rows, column, "kind", "N", "rule") for column in ("F1", "error", "seconds")
    )
    print("F1 / relative error of J / seconds")
    print(f"  {'kind':28}{'N':>5} " + "".join(f"{name:>20}" for name in names))
    for kind, N in dict.fromkeys(key[:2] for key in score):
        keys = [(kind, N, name) for name in names]
        line = "".join(f"  {score[k]:.3f}/{wrong[k]:.3f}/{seconds[k]:4.1f}" for k in keys)
        print(f"  {kind:28}{N:>5} {line}")
    by_size = [mean_by(rows, column, "N", "rule") for column in ("F1", "error", "seconds")]
    for N in sorted({row["N"] for row in rows}, key=int):
        line = "".join("  {:.3f}/{:.3f}/{:4.1f}".format(*(m[N, name] for m in by_size)) for name in names)
        print(f"  {'all':28}{N:>5} {line}")
    return score, wrong


def print_honesty(s: Settings, ours: list[Row]) -> None:
    """False discoveries, power, coverage and wrong signs: in each cell, and pooled."""
    print(f"edges at FDR {s.fdr:.0%}: found false/power; 90% intervals of pairs with P > {LIKELY} cover")
    for (kind, N), here in grouped(ours, "kind", "N").items():
        print(
            f"  {kind:28}{N:>5}  {false_share(here, 'declared'):6.1%} {ratio(here, 'declared_true', 'edges'):6.1%}  "
            f"{ratio(here, 'covered', 'intervals'):6.1%}"
        )
    false, power = false_share(ours, "declared"), ratio(ours, "declared_true", "edges")
    low, high = s.allowed["fdr"]
    claim(
        f"{false:.1%} of declared edges are false, allowed {low:.0%} to {high:.0%}; power {power:.1%}",
        low <= false <= high,
    )
    covered = ratio(ours, "covered", "intervals")
    low, high = s.allowed["coverage"]
    claim(f"intervals cover {covered:.1%}, allowed {low:.0%} to {high:.0%}", low <= covered <= high)
    said, wrong = (ratio(ours, name, "declared") for name in ("said_wrong", "wrong"))
    print(f"  signs of declared edges: wrong or 0 in {wrong:.2%}, said {said:.2%}")
    print(f"  the Gaussian prior was kept for {total(ours, 'fell_back'):.0f} of {len(ours)} data sets")


def print_reliability(s: Settings, ours: list[Row]) -> None:
    """What probabilities say and what is true, bin by bin."""
    pairs, said, true = reliability(ours)
    print(
        f"reliability from N = {min(int(row['N']) for row in ours)}: pairs, mean probability, share of edges"
    )
    for k in np.flatnonzero(pairs):
        print(f"  {BINS[k]:4g} to {BINS[k + 1]:4g}: {pairs[k]:8.0f}  {said[k]:.3f}  {true[k]:.3f}")
    judged = pairs >= FEW
    farthest = np.abs(said - true)[judged].max()
    words = f"reliability within {farthest:.3f} of the diagonal, allowed {s.allowed['reliability']}"
    claim(
        f"{words} ({(~judged).sum()} bins of fewer than {FEW} pairs left out)",
        farthest <= s.allowed["reliability"],
    )


def named(keys: list[tuple[str, ...]]) -> str:
    return "; ".join(f"{kind}, N = {N}" for kind, N in sorted(keys)) or "none"


# Dense data


def dense_tasks(s: Settings) -> list[Task]:
    return [cell(dense, s, J, H, k) for J, H, k in itertools.product(s.J, s.H, range(s.repeats))]


def dense(s: Settings, J: float, H: float, repeat: int) -> Iterator[Row]:
    """Relative error of the couplings on data of the Gaussian prior; data sets that differ in N are nested."""
    sim = data(s.n, max(s.N), J, H, repeat)
    for N in s.N:
        gaussian, _ = fit(sim.spins[:N], "pseudolikelihood")
        bm, said, _ = sparse(sim.spins[:N])
        yield {
            **{"n": s.n, "N": N, "J": J, "H": H, "repeat": repeat},
            "error": error(bm.couplings_, sim.couplings),
            "gaussian": error(gaussian.couplings_, sim.couplings),
            **{"fell_back": fell_back(said), "declared": int(declared(bm, s.fdr, s.n).sum())},
        }


def dense_summary(s: Settings, rows: list[Row]) -> None:
    print("relative error of J: prior sparse, gaussian, ratio; fits that fell back; edges declared")
    worst, where = 0.0, ""
    for (N, J, H), here in sorted(
        grouped(rows, "N", "J", "H").items(), key=lambda item: [*map(float, item[0])]
    ):
        ours, gaussian = (np.mean([float(row[name]) for row in here]) for name in ("error", "gaussian"))
        back = sum(int(row["fell_back"]) for row in here)
        many = np.mean([int(row["declared"]) for row in here])
        print(
            f"  N = {N:>4}, J = {J}, H = {H}: {ours:.4f} {gaussian:.4f} {ours / gaussian:.4f}; "
            f"{back} of {len(here)}; {many:.0f}"
        )
        if ours / gaussian > worst:
            worst, where = ours / gaussian, f"N = {N}, J = {J}, H = {H}"
    claim(
        f"worst cell {100 * (worst - 1):+.2f}% ({where}), allowed {s.allowed:+.1%}",
        worst <= 1 + s.allowed,
    )
