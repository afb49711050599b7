"""Couplings against cross-validation and on real data; which method "auto" takes, and what large data cost."""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator

import numpy as np

import bayesing as bs
from bayesing.experiments.cells import Task

from coupling_data import cell, data, error, machine, mean_by
from front import Row, Settings
from methods import fitted
from timing import seconds

LOADERS = {"digits": bs.load_digits, "senate": bs.load_senate109}

# Against cross-validation


def logistic_tasks(s: Settings) -> list[Task]:
    return [cell(logistic, s, J, H) for J, H in itertools.product(s.J, s.H)]


def logistic(s: Settings, J: float, H: float) -> Iterator[Row]:
    """scikit-learn's cross-validated logistic regressions, one a spin."""
    from sklearn.linear_model import LogisticRegressionCV

    sim = data(s.n, s.N, J, H, 0)
    X = sim.spins.astype(np.float64)
    start = time.perf_counter()
    weights = np.zeros((s.n, s.n))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(s.n):
            rest = np.delete(np.arange(s.n), i)
            regression = LogisticRegressionCV(Cs=s.values_of_C, cv=s.folds).fit(X[:, rest], X[:, i])
            weights[i, rest] = regression.coef_[0] / 2
    elapsed = time.perf_counter() - start
    wrong = error((weights + weights.T) / 2, sim.couplings)
    yield {"J": J, "H": H, "rule": "LogisticRegressionCV", "seconds": elapsed, "error": wrong}
    for method, repeats in s.timings.items():
        bm = machine(method)
        (best,) = seconds(lambda bm=bm: (bm.fit(sim.spins).couplings_, bm.fields_), repeats=repeats)
        yield {"J": J, "H": H, "rule": method, "seconds": best, "error": error(bm.couplings_, sim.couplings)}


def logistic_summary(s: Settings, rows: list[Row]) -> None:
    table = {(row["J"], row["H"], row["rule"]): (float(row["seconds"]), float(row["error"])) for row in rows}
    for J, H in sorted({key[:2] for key in table}):
        time_, base = table[J, H, "LogisticRegressionCV"]
        line = f"  J = {J}, H = {H}: cross-validated {base:.3f} in {time_:.1f} s"
        for method in s.timings:
            t, e = table[J, H, method]
            line += f"; {method} {e:.3f} ({100 * (e / base - 1):+.1f}%), {time_ / t:.0f} times faster"
        print(line)


# Real data


def real_tasks(s: Settings) -> list[Task]:
    return [cell(real, s, name, split) for name, split in itertools.product(s.data, range(s.splits))]


def real(s: Settings, name: str, split: int) -> Iterator[Row]:
    """Held-out log pseudo-likelihood per spin."""
    source = s.data[name]
    spins = LOADERS[source["load"]]().spins
    order = np.random.default_rng([11, split]).permutation(len(spins))
    part, of = source.get("fraction", (0, 1))
    cut = source.get("rows", part * len(spins) // of)
    train, test = spins[order[:cut]], spins[order[cut:]]
    machines = {
        f"lambda {penalty:g}": machine("pseudolikelihood", gamma=2 * spins.shape[1] / penalty)
        for penalty in s.grid
    } | {
        "pseudolikelihood": machine("pseudolikelihood"),
        "laplace": machine("pseudolikelihood", prior="laplace"),
        "spectral": machine("spectral"),
        "auto": machine(),
        "pl, gamma of spectral": machine("pseudolikelihood", gamma=fitted(train, "spectral").gamma_),
        "independent_pair": machine("independent_pair"),
    }
    for rule, bm in machines.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bs.BayesingWarning)
            bm.fit(train)
        yield {"data": name, "split": split, "rule": rule, "gamma": bm.gamma_, "score": bm.score(test)}


def real_summary(s: Settings, rows: list[Row]) -> None:
    means = mean_by(rows, "score", "data", "rule")
    for name in s.data:
        grid = {penalty: means[name, f"lambda {penalty:g}"] for penalty in s.grid}
        best = max(grid, key=grid.__getitem__)
        print(f"  {name}: best lambda {best:g} {grid[best]:.4f}")
        for key, value in means.items():
            if key[0] == name and not key[1].startswith("lambda"):
                print(f"    {key[1]:22} {value:.4f} ({value - grid[best]:+.4f})")


# Which method does auto take, and what does it lose?


def rule_tasks(s: Settings) -> list[Task]:
    dense = itertools.product(["dense"], s.dense["n"], s.dense["N"], s.dense["J"], s.dense["H"])
    sparse = itertools.product(["sparse"], s.sparse["n"], s.sparse["N"], s.sparse["J"], s.sparse["degree"])
    real = [("digits", 0, N, 0, 0) for N in s.digits["N"]] + [("senate", 0, N, 0, 0) for N in s.senate["N"]]
    return [cell(rule, s, *key, cost=(key[1] or 100) * key[2]) for key in (*dense, *sparse, *real)]


def rule(s: Settings, kind: str, n: int, N: int, J: float, x: float) -> Iterator[Row]:
    """Held-out log pseudo-likelihood of both methods; x is the field or the mean degree."""
    train, test = train_and_test(kind, n, N, J, x, s.held_out)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        bm = machine().fit(train)
        scores = {method: machine(method).fit(train).score(test) for method in s.methods}
    at = {"data": f"{kind} J={J} {x}", "n": train.shape[1], "N": N}
    yield at | {"taken": bm.method_, "reason": bm.reason_} | scores


def train_and_test(
    kind: str, n: int, N: int, J: float, x: float, held_out: int
) -> tuple[np.ndarray, np.ndarray]:
    if kind == "dense":
        spins = data(n, N + held_out, J, x, 77).spins
    elif kind == "sparse":
        rng = np.random.default_rng([17, N, round(10 * J), round(x)])
        couplings = np.triu(rng.random((n, n)) < x / n, 1) * rng.choice([-J, J], (n, n))
        model = bs.IsingModel(couplings + couplings.T)
        spins = bs.sample(model, N + held_out, sampler="anneal", sweeps=20, seed=1)
    else:
        spins = LOADERS[kind]().spins
        spins = spins[np.random.default_rng([17, N]).permutation(len(spins))]
    return spins[:N], spins[N:]


def rule_summary(s: Settings, rows: list[Row]) -> None:
    def lost(row: Row, taken: str) -> float:
        return max(float(row[method]) for method in s.methods) - float(row[taken])

    losses = {f"always {name}": [lost(row, name) for row in rows] for name in s.methods}
    losses["auto"] = regrets = [lost(row, row["taken"]) for row in rows]
    for name, values in losses.items():
        print(f"  {name:24} loses {np.mean(values):.5f} per spin on average, at most {np.max(values):.4f}")
    best = sum(regret == 0 for regret in regrets)
    print(f"  auto takes the better one in {best} of {len(rows)} data sets; it loses most in")
    for k in np.argsort(regrets)[::-1][:5]:
        row = rows[k]
        where = f"{row['data']}, n = {row['n']}, N = {row['N']}"
        print(f"    {where}: {regrets[k]:.4f}, took {row['taken']} ({row['reason']})")


# Large data


def large_tasks(s: Settings) -> list[Task]:
    return [cell(large, s, fit["method"], fit["n"], fit["N"]) for fit in s.fits]


def large(s: Settings, method: str, n: int, N: int) -> Iterator[Row]:
    """A complete fit, gamma included, in a process of its own."""
    code = (
        "import resource, time, numpy as np, bayesing as bs\n"
        f"sim = bs.simulate({n}, {N}, J=0.6, seed=0)\n"
        f"bm = bs.BoltzmannMachine({method!r}, random_state=0).fit(sim.spins[:50, :20])\n"
        "start = time.perf_counter()\n"
        f"bm = bs.BoltzmannMachine({method!r}, random_state=0).fit(sim.spins)\n"
        "found = bm.strongest(1000)\n"
        "elapsed = time.perf_counter() - start\n"
        "truth = np.array([sim.couplings[c.i, c.j] for c in found])\n"
        "J = np.array([c.J for c in found])\n"
        "peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20\n"
        "print(elapsed, peak, bm.gamma_, np.linalg.norm(J - truth) / np.linalg.norm(truth))"
    )
    output = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], check=True, capture_output=True, text=True
    )
    numbers = map(float, output.stdout.split())
    answer = dict(zip(("seconds", "peak_GiB", "gamma", "error"), numbers, strict=True))
    yield {"method": method, "n": n, "N": N} | answer


def large_summary(s: Settings, rows: list[Row]) -> None:
    for row in rows:
        elapsed, peak, gamma, wrong = (float(row[name]) for name in ("seconds", "peak_GiB", "gamma", "error"))
        print(
            f"  {row['method']}, n = {row['n']}, N = {row['N']}: {elapsed:.1f} s, peak {peak:.2f} GiB (simulation "
            f"included), gamma {gamma:.3f}, error of the strongest 1000 {wrong:.2f}"
        )
