"""Two groups: which edges differ, and how often is a difference declared where there is none?"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import bayesing as bs
from bayesing.couplings.pseudolikelihood import maximise
from bayesing.experiments.cells import Task
from bayesing.weighted import WeightedRows

from coupling_data import cell
from edge_data import claim, counts, declared, false_share, fit, model_of, pairs_of, ratio, total
from front import Row, Settings, grouped
from zoo_data import symmetric

LEVEL = 0.05  # of tests
Z_LIMIT = 2.0  # standard errors of a rate that chance may explain


class Found(NamedTuple):
    """A comparison: pairs i < j that are declared to differ, 90% interval of the difference of J, and a p-value."""

    chosen: np.ndarray
    probabilities: np.ndarray
    low: float
    high: float
    p: float | str  # of the permutation test of the largest difference; empty without permutations


def compared(a: np.ndarray, b: np.ndarray, fdr: float, permutations: int = 0, seed: int = 0) -> Found:
    """What the library says about two groups."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        found = bs.compare(a, b)
        p = bs.compare(a, b, permutations=permutations, seed=seed).test.p_value if permutations else ""
    low, high = found.strength.interval(0.9)
    return Found(declared(found, fdr, a.shape[1]), pairs_of(found.probabilities), low, high, p)


# Groups that differ


def changed(
    couplings: np.ndarray, share: float, factors: list[float], rng: np.random.Generator
) -> np.ndarray:
    """A share of the edges, rounded up, is multiplied by one of the factors each."""
    i, j = np.nonzero(np.triu(couplings))
    chosen = rng.permutation(len(i))[: int(np.ceil(share * len(i)))]
    upper = np.triu(couplings).copy()
    upper[i[chosen], j[chosen]] *= rng.choice(factors, len(chosen))
    return symmetric(upper)


def two_groups(
    s: Settings, sizes: tuple[int, int], share: float, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Spins of two groups, and which pairs i < j differ; either group may be the one that is changed."""
    rng = np.random.default_rng([67, *sizes, round(100 * share), seed])
    model = model_of(s.kind, rng)
    other = bs.IsingModel(changed(model.couplings, share, s.factors, rng), model.fields)
    models = [model, other] if rng.random() < 0.5 else [other, model]
    a, b = (
        bs.sample(one, N, sampler="anneal", sweeps=s.sweeps, seed=rng)
        for one, N in zip(models, sizes, strict=True)
    )
    return a, b, pairs_of(model.couplings != other.couplings)


def compare_tasks(s: Settings) -> list[Task]:
    return [
        cell(compare, s, N, share, seed, cost=N)
        for N, share, seed in itertools.product(s.N, s.shares, range(s.seeds))
    ]


def compare(s: Settings, N: int, share: float, seed: int) -> Iterator[Row]:
    a, b, differ = two_groups(s, (N, N), share, seed)
    found = compared(a, b, s.fdr, s.permutations, seed)
    beyond, p = by_permutations(a, b, s.permutations, seed)
    yield {
        **{"N": N, "share": share, "seed": seed, "changed": int(differ.sum())},
        **counts(found.chosen, differ, "declared"),
        **counts(found.probabilities > 0.5, differ, "likely"),
        **counts(beyond, differ, "permuted"),
        **{"p": found.p, "p_permuted": p},
    }


def by_permutations(a: np.ndarray, b: np.ndarray, permutations: int, seed: int) -> tuple[np.ndarray, float]:
    """The rival: pairs i < j whose difference is beyond 95% of the largest differences after permutations, and p.

    Couplings are those of the Gaussian prior by pseudo-likelihood, with the penalty that both groups together tell.
    """
    rng = np.random.default_rng([71, seed])
    both = np.concatenate([a, b])
    penalty = fit(both, "pseudolikelihood")[0].penalty_

    def differences(rows: np.ndarray) -> np.ndarray:
        parts = (WeightedRows.of(both[part]) for part in (rows[: len(a)], rows[len(a) :]))
        first, second = (maximise(part, penalty)[0] for part in parts)
        return np.abs(pairs_of(first - second))

    seen = differences(np.arange(len(both)))
    largest = np.array([differences(rng.permutation(len(both))).max() for _ in range(permutations)])
    as_large = 1 + np.sum(largest[:, None] >= seen, axis=0)  # the groups as they are count as one permutation
    p = as_large / (permutations + 1)
    return p <= LEVEL, float(p.min())


def compare_summary(s: Settings, rows: list[Row]) -> None:
    print(
        f"pairs that differ, at FDR {s.fdr:.0%} and by permutations of the largest difference: false, power; any said"
    )
    for (N, share), here in grouped(rows, "N", "share").items():
        line = f"  N = {N:>4}, {float(share):4.0%} changed: "
        for name in ("declared", "permuted"):
            any_ = np.mean([int(row[name]) > 0 for row in here])
            power = ratio(here, f"{name}_true", "changed")
            said = "   -" if np.isnan(power) else f"{power:4.0%}"
            line += f"  {name} {false_share(here, name):5.1%} {said} {any_:4.0%}"
        tested = [float(row["p"]) <= LEVEL for row in here if row["p"] != ""]
        print(line + (f"  tests below {LEVEL}: {np.mean(tested):.0%}" if tested else ""))
    differing = [row for row in rows if float(row["share"]) > 0]
    if total(differing, "declared"):
        false = false_share(differing, "declared")
        wide = Z_LIMIT * np.sqrt(s.fdr * (1 - s.fdr) / total(differing, "declared"))
        words = f"of pairs that are declared to differ {false:.1%} do not, asked {s.fdr:.0%}"
        claim(f"{words}, by chance up to {s.fdr + wide:.1%}", false <= s.fdr + wide)
    ours, rival = (ratio(differing, f"{name}_true", "changed") for name in ("declared", "permuted"))
    print(f"  power {ours:.1%}, by permutations {rival:.1%}")


# Groups that do not differ


def alarms_tasks(s: Settings) -> list[Task]:
    return [cell(alarms, s, *sizes, seed, cost=sum(sizes)) for sizes in s.sizes for seed in range(s.pairs)]


def alarms(s: Settings, N_a: int, N_b: int, seed: int) -> Iterator[Row]:
    a, b, _ = two_groups(s, (N_a, N_b), 0.0, seed)
    found = compared(a, b, s.fdr, s.permutations if seed < s.tested else 0, seed)
    yield {
        **{"N_a": N_a, "N_b": N_b, "seed": seed, "declared": int(found.chosen.sum())},
        **{"largest_P": found.probabilities.max(), "p": found.p},
        **{"low": found.low, "high": found.high, "covered": int(found.low <= 0 <= found.high)},
    }


def alarms_summary(s: Settings, rows: list[Row]) -> None:
    print(
        f"no difference: any edge at FDR {s.fdr:.0%}; tests below {LEVEL}; 90% intervals of the difference of J"
    )
    for (N_a, N_b), here in grouped(rows, "N_a", "N_b").items():
        print(f"  {N_a} and {N_b}: " + "; ".join(f"{rate:.1%} of {k}" for rate, k in rates(here)))
    (any_, pairs), (tests, tested), (covered, _) = rates(rows)

    def error(rate: float, k: int) -> float:
        return Z_LIMIT * float(np.sqrt(rate * (1 - rate) / max(k, 1)))

    most = s.fdr + error(s.fdr, pairs)
    claim(
        f"any edge declared in {any_:.1%} of {pairs} pairs of groups, by chance up to {most:.1%}",
        any_ <= most,
    )
    if tested:
        words = f"tests below {LEVEL}: {tests:.1%} of {tested}, by chance up to {LEVEL + error(LEVEL, tested):.1%}"
        claim(words, tests <= LEVEL + error(LEVEL, tested))
    within = error(0.9, pairs)
    claim(f"intervals cover {covered:.1%}, by chance 90 ± {100 * within:.1f}%", abs(covered - 0.9) <= within)


def rates(rows: list[Row]) -> list[tuple[float, int]]:
    """Of three kinds of alarm the rate, and of how many pairs of groups."""
    tests = [float(row["p"]) <= LEVEL for row in rows if row["p"] != ""]
    return [
        (float(np.mean([int(row["declared"]) > 0 for row in rows])), len(rows)),
        (float(np.mean(tests)) if tests else float("nan"), len(tests)),
        (float(np.mean([int(row["covered"]) for row in rows])), len(rows)),
    ]
