"""Couplings that are known: recovery, honest errors, edges of sparse graphs, exact maximum likelihood."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

import bayesing as bs
from bayesing.experiments.cells import Task

from coupling_data import cell, couplings_at, data, error, machine, mean_by
from front import Row, Settings
from methods import fitted, without_penalty

Z_90 = 1.645  # errors on both sides of a 90% interval
HONEST = (0.86, 0.94)  # coverage of 90% intervals that is not remarked upon

# Is the penalty right?


def recovery_tasks(s: Settings) -> list[Task]:
    return [cell(recovery, s, J, H, k) for J, H, k in itertools.product(s.J, s.H, range(s.repeats))]


def recovery(s: Settings, J: float, H: float, repeat: int) -> Iterator[Row]:
    """Relative error of the couplings by every rule; data sets that differ in N are nested."""
    sim = data(s.n, max(s.N), J, H, repeat)
    for N in s.N:
        X = sim.spins[:N]

        def row(rule: str, gamma: float, couplings: np.ndarray, N: int = N) -> Row:
            at = {"n": s.n, "N": N, "J": J, "H": H, "repeat": repeat}
            return at | {"rule": rule, "gamma": gamma, "error": error(couplings, sim.couplings)}

        for factor in s.factors:
            gamma = 2 / factor * J**2
            yield row(f"pl x{factor:g}", gamma, couplings_at(X, "pseudolikelihood", gamma))
            yield row(f"spectral x{factor:g}", gamma, couplings_at(X, "spectral", gamma))
        composite, spectral = machine("pseudolikelihood").fit(X).gamma_, fitted(X, "spectral").gamma_
        yield row("pl auto", composite, couplings_at(X, "pseudolikelihood", composite))
        yield row("spectral auto", spectral, couplings_at(X, "spectral", spectral))
        yield row("pl spectral gamma", spectral, couplings_at(X, "pseudolikelihood", spectral))
        bm = machine().fit(X)
        yield row("auto: " + bm.method_, bm.gamma_, bm.couplings_)
        gamma = 2 * s.n / (s.rule * N)
        yield row(f"lambda {s.rule:g} N", gamma, couplings_at(X, "pseudolikelihood", gamma))
        if max(s.N) == N:
            yield row("no penalty", np.inf, without_penalty(X))
            for method in s.without_prior:
                yield row(method, np.inf, machine(method).fit(X).couplings_)


def recovery_summary(s: Settings, rows: list[Row]) -> None:
    for row in rows:
        row["rule"] = row["rule"].split(":")[0]
    means = mean_by(rows, "error", "N", "J", "H", "rule")
    print("relative error of J; in brackets, % above the best lambda of the oracle grid of pseudo-likelihood")
    excess: dict[str, list[float]] = {}
    rules = [
        "pl x2",
        "pl auto",
        "spectral x2",
        "spectral auto",
        "auto",
        f"lambda {s.rule:g} N",
        "no penalty",
        "tap",
    ]
    print("    N   J   H   best  at   " + "".join(f"{rule:>18}" for rule in rules))
    for N, J, H in sorted({key[:3] for key in means}, key=lambda key: tuple(map(float, key))):
        grid = {factor: means[N, J, H, f"pl x{factor:g}"] for factor in s.factors}
        best = min(grid, key=grid.__getitem__)
        line = f"{N:>5} {J:>3} {H:>3}  {grid[best]:.3f} x{best:<4g}"
        for rule in rules:
            found = means.get((N, J, H, rule))
            if found is None:
                line += " " * 18
                continue
            over = 100 * (found / grid[best] - 1)
            excess.setdefault(rule, []).append(over)
            if rule.startswith("spectral") and float(J) <= 0.8:
                excess.setdefault(rule + ", J <= 0.8", []).append(over)
            line += f"{found:9.3f} ({over:+5.1f})"
        print(line)
    for rule, values in excess.items():
        mean, worst = np.mean(values), np.max(values)
        print(f"  {rule:28} mean {mean:+.1f}%, worst {worst:+.1f}% of {len(values)} cells")


# Are errors honest?


def coverage_tasks(s: Settings) -> list[Task]:
    return [
        cell(coverage, s, size["n"], J, H, repeat, cost=size["n"] ** 3)
        for size, J, H in itertools.product(s.sizes, s.J, s.H)
        for repeat in range(size["repeats"])
    ]


def coverage(s: Settings, n: int, J: float, H: float, repeat: int) -> Iterator[Row]:
    """Share of the couplings within a 90% interval around the truth."""
    sim = data(n, max(s.thirds) * n // 3, J, H, repeat)
    upper = np.triu_indices(n, 1)
    for thirds, (method, least) in itertools.product(s.thirds, s.least_thirds.items()):
        for gamma in ("auto", J**2):
            if thirds < least:
                continue
            N = thirds * n // 3
            bm = machine(method, gamma=gamma).fit(sim.spins[:N])
            z = ((bm.couplings_ - sim.couplings)[upper]) / bm.coupling_errors_[upper]
            name = method if gamma == "auto" else f"{method}, true gamma"
            yield {
                **{"n": n, "N": N, "J": J, "H": H, "repeat": repeat, "method": name, "gamma": bm.gamma_},
                **{"z_spread": z.std(), "covered": np.mean(np.abs(z) < Z_90)},
            }


def coverage_summary(s: Settings, rows: list[Row]) -> None:
    means = mean_by(rows, "covered", "method", "n", "N", "J", "H")
    for method in dict.fromkeys(row["method"] for row in rows):
        found = {key[1:]: value for key, value in means.items() if key[0] == method}
        low, high = min(found, key=found.__getitem__), max(found, key=found.__getitem__)
        print(
            f"  {method:28} 90% intervals cover {100 * found[low]:.1f}% (n, N, J, H = {', '.join(low)}) to "
            f"{100 * found[high]:.1f}% ({', '.join(high)}), {len(found)} cells"
        )
        for key, value in found.items():
            if not HONEST[0] <= value <= HONEST[1]:
                limits = "-".join(f"{100 * limit:.0f}" for limit in HONEST)
                print(f"    outside {limits}%: n, N, J, H = {', '.join(key)}: {100 * value:.1f}%")


# Sparse graphs


def sparse_tasks(s: Settings) -> list[Task]:
    return [cell(sparse, s, repeat) for repeat in range(s.repeats)]


def sparse(s: Settings, repeat: int) -> Iterator[Row]:
    """Thresholds are tuned on graph and data of their own, then applied to others."""
    tuning, known = evidence_of_edges(s, s.tuning + repeat)
    found, edges = evidence_of_edges(s, repeat)
    for method, values in tuning.items():
        grid = [0.0] if method.endswith("is") else np.quantile(values, np.linspace(0.8, 0.999, 200)).tolist()
        threshold = max(grid, key=lambda t, values=values: f1(values > t, known)["F1"])
        yield {"repeat": repeat, "method": method, "threshold": threshold} | f1(
            found[method] > threshold, edges
        )


def evidence_of_edges(s: Settings, repeat: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """What each method puts a threshold on, for every pair, and which pairs are edges."""
    rng = np.random.default_rng([13, repeat])
    J = np.triu(rng.random((s.n, s.n)) < s.degree / (s.n - 1), 1) * rng.choice([-s.J, s.J], (s.n, s.n))
    J = J + J.T
    spins = bs.sample(bs.IsingModel(J), s.N, sampler="anneal", sweeps=s.sweeps, seed=repeat)
    upper = np.triu_indices(s.n, 1)
    machines = {
        "laplace": machine("pseudolikelihood", prior="laplace").fit(spins),
        "pseudolikelihood": machine("pseudolikelihood").fit(spins),
        "spectral": machine("spectral").fit(spins),
    }
    laplace = machines["laplace"].couplings_[upper]
    found = {"laplace, |J|": np.abs(laplace), "laplace, as it is": (laplace != 0).astype(float)}
    for name, bm in machines.items():
        found[f"{name}, |J|/error"] = np.abs(bm.couplings_[upper] / bm.coupling_errors_[upper])
    return found, J[upper] != 0


def f1(chosen: np.ndarray, edges: np.ndarray) -> dict[str, float]:
    """Precision, recall and their harmonic mean."""
    hits = float((chosen & edges).sum())
    precision, recall = hits / max(chosen.sum(), 1), hits / edges.sum()
    return {"precision": precision, "recall": recall, "F1": 2 * hits / (chosen.sum() + edges.sum())}


def sparse_summary(s: Settings, rows: list[Row]) -> None:
    for method in dict.fromkeys(row["method"] for row in rows):
        here = [row for row in rows if row["method"] == method]
        columns = ("threshold", "precision", "recall", "F1")
        values = np.array([[float(row[name]) for name in columns] for row in here])
        t, precision, recall, score = values.mean(axis=0)
        spread = values[:, 3].std(ddof=1) / np.sqrt(len(values))
        print(
            f"  {method:28} F1 {score:.3f} ± {spread:.3f}, precision {precision:.3f}, recall {recall:.3f}, "
            f"threshold {t:.3g}"
        )


# Exact maximum likelihood


def exact_tasks(s: Settings) -> list[Task]:
    return [cell(exact, s, N, repeat, cost=N) for N, repeat in itertools.product(s.N, range(s.repeats))]


def exact(s: Settings, N: int, repeat: int) -> Iterator[Row]:
    sim = data(s.n, N, s.J, s.H, repeat)
    found = {method: machine(method).fit(sim.spins).couplings_ for method in s.methods}
    found["no penalty"] = without_penalty(sim.spins)
    for method, couplings in found.items():
        yield {"N": N, "repeat": repeat, "method": method, "error": error(couplings, sim.couplings)}
    gap = np.linalg.norm(found["no penalty"] - found["exact"]) / np.linalg.norm(sim.couplings)
    yield {"N": N, "repeat": repeat, "method": "no penalty - exact", "error": float(gap)}


def exact_summary(s: Settings, rows: list[Row]) -> None:
    means = mean_by(rows, "error", "method", "N")
    for method in dict.fromkeys(row["method"] for row in rows):
        values = (f"N = {key[1]}: {value:.3f}" for key, value in means.items() if key[0] == method)
        print(f"  {method:20} " + "  ".join(values))
