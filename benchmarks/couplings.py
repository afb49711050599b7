"""How good are the couplings? Everything that docs/couplings.md claims; about 40 minutes on one core.

    python benchmarks/couplings.py FOLDER [SECTION ...] [--jobs 1]

Each finished piece of work is a file in FOLDER/SECTION, so that an interrupted run goes on where it stopped. At the
end FOLDER/SECTION.csv holds all of them, and a summary is printed.
"""

from __future__ import annotations

import argparse
import csv
import io
import itertools
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

import bayesing as bs
from bayesing.couplings.exact import fit_exact
from bayesing.couplings.pseudolikelihood import fit_couplings, maximise
from bayesing.couplings.spectral import posterior
from bayesing.files import writing
from bayesing.strength.spectral import fit_spectral

from timing import seconds

Row = list[Any]
FACTORS = (0.25, 0.5, 1.0, 1.4, 2.0, 2.8, 4.0, 8.0, 16.0)  # of lambda in n/gamma; 2 is ours


def data(n: int, N: int, J: float, H: float, repeat: int) -> bs.Simulation:
    """Equilibrated: slow annealing, the slower the stronger the couplings."""
    seed = np.random.SeedSequence([7, n, round(10 * J), round(10 * H), repeat])
    return bs.simulate(n, N, J=J, H=H, sweeps=40 if J > 1 else 10, seed=seed)


def error(J: np.ndarray, truth: np.ndarray) -> float:
    return float(np.linalg.norm(J - truth) / np.linalg.norm(truth))


def spectral_at(spins: np.ndarray, gamma: float) -> np.ndarray:
    return posterior(spins, gamma).rows()[0] if gamma > 0 else np.zeros((spins.shape[1],) * 2)


def likely_at(spins: np.ndarray, gamma: float, prior: str = "gaussian") -> np.ndarray:
    return fit_couplings(spins, gamma, prior).matrix if gamma > 0 else np.zeros((spins.shape[1],) * 2)


def quiet(method: str = "auto", **parameters: Any) -> bs.BoltzmannMachine:
    return bs.BoltzmannMachine(method, random_state=0, **parameters)


# Synthetic data: is the penalty right?

RECOVERY = ["n", "N", "J", "H", "repeat", "rule", "gamma", "error"]


def recovery_keys() -> Iterator[tuple]:
    return itertools.product((0.4, 0.8, 1.2), (0.0, 0.3), range(5))


def recovery(J: float, H: float, repeat: int) -> Iterator[Row]:
    """Relative error of the couplings by every rule; data sets that differ in N are nested."""
    n = 100
    sim = data(n, 1000, J, H, repeat)
    for N in (50, 200, 1000):
        X, truth = sim.spins[:N], sim.couplings
        composite, spectral = quiet("pseudolikelihood").fit(X).gamma_, fit_spectral(X).gamma
        for factor in FACTORS:
            yield [
                n,
                N,
                J,
                H,
                repeat,
                f"pl x{factor:g}",
                2 / factor * J**2,
                error(likely_at(X, 2 / factor * J**2), truth),
            ]
            gamma = 2 / factor * J**2
            yield [n, N, J, H, repeat, f"spectral x{factor:g}", gamma, error(spectral_at(X, gamma), truth)]
        yield [n, N, J, H, repeat, "pl auto", composite, error(likely_at(X, composite), truth)]
        yield [n, N, J, H, repeat, "spectral auto", spectral, error(spectral_at(X, spectral), truth)]
        yield [n, N, J, H, repeat, "pl spectral gamma", spectral, error(likely_at(X, spectral), truth)]
        bm = quiet().fit(X)
        yield [n, N, J, H, repeat, "auto: " + bm.method_, bm.gamma_, error(bm.couplings_, truth)]
        yield [
            n,
            N,
            J,
            H,
            repeat,
            "lambda 0.01 N",
            2 * n / (0.01 * N),
            error(maximise(X, 0.01 * N)[0], truth),
        ]
        if N == 1000:
            yield [n, N, J, H, repeat, "no penalty", np.inf, error(maximise(X, 0.0)[0], truth)]
            for method in ("naive_mean_field", "tap", "independent_pair"):
                yield [n, N, J, H, repeat, method, np.inf, error(quiet(method).fit(X).couplings_, truth)]


def mean_by(rows: list[Row], names: list[str], *columns: str) -> dict[tuple, float]:
    """Mean of the last column over all rows that agree in ``columns``."""
    places = [names.index(column) for column in columns]
    groups: dict[tuple, list[float]] = {}
    for row in rows:
        groups.setdefault(tuple(row[k] for k in places), []).append(float(row[-1]))
    return {key: float(np.mean(values)) for key, values in groups.items()}


def recovery_summary(rows: list[Row]) -> None:
    for row in rows:
        row[5] = row[5].split(":")[0]
    means = mean_by(rows, RECOVERY, "N", "J", "H", "rule")
    print("relative error of J; in brackets, % above the best lambda of the oracle grid of pseudo-likelihood")
    excess: dict[str, list[float]] = {}
    rules = ["pl x2", "pl auto", "spectral x2", "spectral auto", "auto", "lambda 0.01 N", "no penalty", "tap"]
    print("    N   J   H   best  at   " + "".join(f"{rule:>18}" for rule in rules))
    for N, J, H in sorted({key[:3] for key in means}, key=lambda key: tuple(map(float, key))):
        grid = {factor: means[N, J, H, f"pl x{factor:g}"] for factor in FACTORS}
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
        print(
            f"  {rule:28} mean {np.mean(values):+.1f}%, worst {np.max(values):+.1f}% of {len(values)} cells"
        )


# Are errors honest?

COVERAGE = ["n", "N", "J", "H", "repeat", "method", "gamma", "z_spread", "covered"]


def coverage_keys() -> Iterator[tuple]:
    for n, J, H in itertools.product((100, 300), (0.4, 0.8), (0.0, 0.4)):
        yield from ((n, J, H, repeat) for repeat in range(40 if n == 100 else 3))


def coverage(n: int, J: float, H: float, repeat: int) -> Iterator[Row]:
    """Share of the couplings within 1.645 errors of the truth."""
    sim = data(n, 5 * n, J, H, repeat)
    upper = np.triu_indices(n, 1)
    for N in (n // 3, n, 2 * n, 5 * n):
        for method, gamma in itertools.product(("spectral", "pseudolikelihood"), ("auto", J**2)):
            if method == "pseudolikelihood" and N < 2 * n:
                continue
            bm = quiet(method, gamma=gamma).fit(sim.spins[:N])
            z = ((bm.couplings_ - sim.couplings)[upper]) / bm.coupling_errors_[upper]
            name = method if gamma == "auto" else f"{method}, true gamma"
            yield [n, N, J, H, repeat, name, bm.gamma_, z.std(), np.mean(np.abs(z) < 1.645)]


def coverage_summary(rows: list[Row]) -> None:
    means = mean_by(rows, COVERAGE, "method", "n", "N", "J", "H")
    for method in dict.fromkeys(row[5] for row in rows):
        found = {key[1:]: value for key, value in means.items() if key[0] == method}
        low, high = min(found, key=found.__getitem__), max(found, key=found.__getitem__)
        print(
            f"  {method:28} 90% intervals cover {100 * found[low]:.1f}% (n, N, J, H = {', '.join(map(str, low))}) to "
            f"{100 * found[high]:.1f}% ({', '.join(map(str, high))}), {len(found)} cells"
        )
        for key, value in found.items():
            if not 0.86 <= value <= 0.94:
                print(f"    outside 86-94%: n, N, J, H = {', '.join(map(str, key))}: {100 * value:.1f}%")


# Against cross-validation

LOGISTIC = ["J", "H", "rule", "seconds", "error"]


def logistic_keys() -> Iterator[tuple]:
    return itertools.product((0.4, 0.8, 1.2), (0.0, 0.3))


def logistic(J: float, H: float) -> Iterator[Row]:
    """n = 100, N = 1000: scikit-learn's cross-validated logistic regressions, 10 values of C, 5 folds."""
    from sklearn.linear_model import LogisticRegressionCV

    sim = data(100, 1000, J, H, 0)
    X = sim.spins.astype(np.float64)
    start = time.perf_counter()
    weights = np.zeros((100, 100))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(100):
            rest = np.delete(np.arange(100), i)
            weights[i, rest] = LogisticRegressionCV(Cs=10, cv=5).fit(X[:, rest], X[:, i]).coef_[0] / 2
    elapsed = time.perf_counter() - start
    yield [J, H, "LogisticRegressionCV", elapsed, error((weights + weights.T) / 2, sim.couplings)]
    for method in ("pseudolikelihood", "spectral", "auto"):
        bm = quiet(method)
        repeats = 40 if method == "spectral" else 10
        (best,) = seconds(lambda bm=bm: (bm.fit(sim.spins).couplings_, bm.fields_), repeats=repeats)
        yield [J, H, method, best, error(bm.couplings_, sim.couplings)]


def logistic_summary(rows: list[Row]) -> None:
    table = {(row[0], row[1], row[2]): (float(row[3]), float(row[4])) for row in rows}
    for J, H in sorted({key[:2] for key in table}):
        time_, base = table[J, H, "LogisticRegressionCV"]
        line = f"  J = {J}, H = {H}: cross-validated {base:.3f} in {time_:.1f} s"
        for method in ("pseudolikelihood", "spectral", "auto"):
            t, e = table[J, H, method]
            line += f"; {method} {e:.3f} ({100 * (e / base - 1):+.1f}%), {time_ / t:.0f} times faster"
        print(line)


# Real data

REAL = ["data", "split", "rule", "gamma", "score"]
GRID = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)  # of lambda


def real_keys() -> Iterator[tuple]:
    return itertools.product(("digits", "senate half", "senate most"), range(10))


def real(name: str, split: int) -> Iterator[Row]:
    """Held-out log pseudo-likelihood per spin: fitted to 1000 of 1797 digits, to half or four fifths of the votes."""
    spins = (bs.load_digits() if name == "digits" else bs.load_senate109()).spins
    order = np.random.default_rng([11, split]).permutation(len(spins))
    cut = {"digits": 1000, "senate half": len(spins) // 2, "senate most": 4 * len(spins) // 5}[name]
    train, test = spins[order[:cut]], spins[order[cut:]]
    n = spins.shape[1]
    for penalty in GRID:
        bm = quiet("pseudolikelihood", gamma=2 * n / penalty).fit(train)
        yield [name, split, f"lambda {penalty:g}", bm.gamma_, bm.score(test)]
    for rule, bm in {
        "pseudolikelihood": quiet("pseudolikelihood"),
        "laplace": quiet("pseudolikelihood", prior="laplace"),
        "spectral": quiet("spectral"),
        "auto": quiet(),
        "pl, gamma of spectral": quiet("pseudolikelihood", gamma=fit_spectral(train).gamma),
        "independent_pair": quiet("independent_pair"),
    }.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bs.BayesingWarning)
            bm.fit(train)
        yield [name, split, rule, bm.gamma_, bm.score(test)]


def real_summary(rows: list[Row]) -> None:
    means = mean_by(rows, REAL, "data", "rule")
    for name in ("digits", "senate half", "senate most"):
        grid = {penalty: means[name, f"lambda {penalty:g}"] for penalty in GRID}
        best = max(grid, key=grid.__getitem__)
        print(f"  {name}: best lambda {best:g} {grid[best]:.4f}")
        for rule in (
            "pseudolikelihood",
            "laplace",
            "spectral",
            "auto",
            "pl, gamma of spectral",
            "independent_pair",
        ):
            print(f"    {rule:22} {means[name, rule]:.4f} ({means[name, rule] - grid[best]:+.4f})")


# Sparse graphs

SPARSE = ["repeat", "method", "threshold", "precision", "recall", "F1"]


def graph(repeat: int) -> tuple[np.ndarray, np.ndarray]:
    """n = 100, mean degree 4, couplings ±0.4, N = 300."""
    n, rng = 100, np.random.default_rng([13, repeat])
    J = np.triu(rng.random((n, n)) < 4 / (n - 1), 1) * rng.choice([-0.4, 0.4], (n, n))
    J = J + J.T
    return bs.sample(bs.IsingModel(J), 300, sampler="anneal", sweeps=20, seed=repeat), J


def evidence_of_edges(repeat: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """What each method puts a threshold on, for every pair, and which pairs are edges."""
    spins, J = graph(repeat)
    upper = np.triu_indices(100, 1)
    found = {}
    laplace = quiet("pseudolikelihood", prior="laplace").fit(spins)
    found["laplace, |J|"] = np.abs(laplace.couplings_[upper])
    found["laplace, as it is"] = (laplace.couplings_[upper] != 0).astype(float)
    machines = {"laplace": laplace} | {
        name: quiet(name).fit(spins) for name in ("pseudolikelihood", "spectral")
    }
    for name, bm in machines.items():
        found[f"{name}, |J|/error"] = np.abs(bm.couplings_[upper] / bm.coupling_errors_[upper])
    return found, J[upper] != 0


def f1(chosen: np.ndarray, edges: np.ndarray) -> tuple[float, float, float]:
    hits = float((chosen & edges).sum())
    precision, recall = hits / max(chosen.sum(), 1), hits / edges.sum()
    return precision, recall, 2 * hits / (chosen.sum() + edges.sum())


def sparse_keys() -> Iterator[tuple]:
    return ((k,) for k in range(10))


def sparse(repeat: int) -> Iterator[Row]:
    """Thresholds are tuned on graph and data of their own, then applied to others."""
    tuning, known = evidence_of_edges(1000 + repeat)
    found, edges = evidence_of_edges(repeat)
    for method, values in tuning.items():
        grid = [0.0] if method.endswith("is") else np.quantile(values, np.linspace(0.8, 0.999, 200)).tolist()
        threshold = max(grid, key=lambda t, values=values: f1(values > t, known)[2])
        yield [repeat, method, threshold, *f1(found[method] > threshold, edges)]


def sparse_summary(rows: list[Row]) -> None:
    for method in dict.fromkeys(row[1] for row in rows):
        values = np.array([[float(x) for x in row[2:]] for row in rows if row[1] == method])
        t, precision, recall, score = values.mean(axis=0)
        spread = values[:, 3].std(ddof=1) / np.sqrt(len(values))
        print(
            f"  {method:28} F1 {score:.3f} ± {spread:.3f}, precision {precision:.3f}, recall {recall:.3f}, "
            f"threshold {t:.3g}"
        )


# Exact maximum likelihood, n = 10

EXACT = ["N", "repeat", "method", "error"]


def exact_keys() -> Iterator[tuple]:
    return itertools.product((300, 1000, 3000, 10_000, 30_000), range(5))


def exact(N: int, repeat: int) -> Iterator[Row]:
    sim = data(10, N, 0.8, 0.3, repeat)
    likely = fit_exact(sim.spins)
    yield [N, repeat, "exact", error(likely.matrix, sim.couplings)]
    for method in ("pseudolikelihood", "spectral", "tap", "naive_mean_field", "independent_pair"):
        yield [N, repeat, method, error(quiet(method).fit(sim.spins).couplings_, sim.couplings)]
    J = maximise(sim.spins, 0.0)[0]
    yield [N, repeat, "no penalty", error(J, sim.couplings)]
    yield [
        N,
        repeat,
        "no penalty - exact",
        float(np.linalg.norm(J - likely.matrix) / np.linalg.norm(sim.couplings)),
    ]


def exact_summary(rows: list[Row]) -> None:
    means = mean_by(rows, EXACT, "method", "N")
    for method in dict.fromkeys(row[2] for row in rows):
        print(
            f"  {method:20} "
            + "  ".join(f"N = {key[1]}: {value:.3f}" for key, value in means.items() if key[0] == method)
        )


# Which method does auto take, and what does it lose?

RULE = ["data", "n", "N", "taken", "reason", "spectral", "pseudolikelihood"]


def rule_keys() -> Iterator[tuple]:
    for n, N, J, H in itertools.product(
        (12, 25, 100), (50, 300, 1500, 6000), (0.4, 0.8, 1.0, 1.2), (0.0, 0.3)
    ):
        yield ("dense", n, N, J, H)
    for N, degree, J in itertools.product((100, 300, 1500), (4, 20), (0.2, 0.4)):
        yield ("sparse", 100, N, J, degree)
    for N in (100, 300, 1000):
        yield ("digits", 64, N, 0, 0)
    for N in (68, 136, 200):
        yield ("senate", 84, N, 0, 0)


def rule(kind: str, n: int, N: int, J: float, x: float) -> Iterator[Row]:
    """Held-out log pseudo-likelihood of both methods."""
    if kind == "dense":
        spins = data(n, N + 1000, J, x, 77).spins
        train, test = spins[:N], spins[N:]
    elif kind == "sparse":
        rng = np.random.default_rng([17, N, round(10 * J), x])
        couplings = np.triu(rng.random((n, n)) < x / n, 1) * rng.choice([-J, J], (n, n))
        spins = bs.sample(
            bs.IsingModel(couplings + couplings.T), N + 1000, sampler="anneal", sweeps=20, seed=1
        )
        train, test = spins[:N], spins[N:]
    else:
        spins = (bs.load_digits() if kind == "digits" else bs.load_senate109()).spins
        order = np.random.default_rng([17, N]).permutation(len(spins))
        train, test = spins[order[:N]], spins[order[N:]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        bm = quiet().fit(train)
        scores = [quiet(method).fit(train).score(test) for method in ("spectral", "pseudolikelihood")]
    yield [f"{kind} J={J} {x}", n, N, bm.method_, bm.reason_, *scores]


def rule_summary(rows: list[Row]) -> None:
    regrets, others = [], []
    for row in rows:
        scores = {"spectral": float(row[5]), "pseudolikelihood": float(row[6])}
        regrets.append(max(scores.values()) - scores[row[3]])
        others.append(max(scores.values()) - min(scores.values()))
    for name, taken in (
        ("always spectral", "spectral"),
        ("always pseudolikelihood", "pseudolikelihood"),
        ("auto", None),
    ):
        lost = [
            max(float(r[5]), float(r[6])) - float(r[5 if (taken or r[3]) == "spectral" else 6]) for r in rows
        ]
        print(f"  {name:24} loses {np.mean(lost):.5f} per spin on average, at most {np.max(lost):.4f}")
    print(
        f"  auto takes the better one in {np.sum(np.array(regrets) == 0)} of {len(rows)} data sets; it loses most in"
    )
    for k in np.argsort(regrets)[::-1][:5]:
        print(
            f"    {rows[k][0]}, n = {rows[k][1]}, N = {rows[k][2]}: {regrets[k]:.4f}, "
            f"took {rows[k][3]} ({rows[k][4]})"
        )


# n = 1000, N = 2000

LARGE = ["method", "n", "N", "seconds", "peak_GiB", "gamma", "error"]


def large_keys() -> Iterator[tuple]:
    return iter([("pseudolikelihood", 1000, 2000), ("spectral", 1000, 2000), ("spectral", 10_000, 500)])


def large(method: str, n: int, N: int) -> Iterator[Row]:
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
    yield [method, n, N, *map(float, output.stdout.split())]


def large_summary(rows: list[Row]) -> None:
    for method, n, N, elapsed, peak, gamma, wrong in rows:
        print(
            f"  {method}, n = {n}, N = {N}: {float(elapsed):.1f} s, peak {float(peak):.2f} GiB (simulation "
            f"included), gamma {float(gamma):.3f}, error of the strongest 1000 {float(wrong):.2f}"
        )


SECTIONS: dict[str, tuple[list[str], Callable, Callable, Callable]] = {
    "recovery": (RECOVERY, recovery_keys, recovery, recovery_summary),
    "coverage": (COVERAGE, coverage_keys, coverage, coverage_summary),
    "logistic": (LOGISTIC, logistic_keys, logistic, logistic_summary),
    "real": (REAL, real_keys, real, real_summary),
    "sparse": (SPARSE, sparse_keys, sparse, sparse_summary),
    "exact": (EXACT, exact_keys, exact, exact_summary),
    "rule": (RULE, rule_keys, rule, rule_summary),
    "large": (LARGE, large_keys, large, large_summary),
}


def run(folder: Path, section: str, jobs: int) -> None:
    """Compute the pieces that are missing, and summarise."""
    names, keys, work, summary = SECTIONS[section]
    (folder / section).mkdir(parents=True, exist_ok=True)
    paths = {key: folder / section / ("-".join(map(str, key)) + ".csv") for key in keys()}
    missing = [key for key, path in paths.items() if not path.exists()]

    def piece(key: tuple) -> tuple[tuple, str]:
        text = io.StringIO()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bs.BoundWarning)  # gamma = 0 is a result
            csv.writer(text, lineterminator="\n").writerows(work(*key))
        return key, text.getvalue()

    for done, (key, text) in enumerate(
        Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(piece)(key) for key in missing), 1
    ):
        with writing(paths[key]) as file:
            file.write(text.encode())
        print(f"{section}: {len(paths) - len(missing) + done}/{len(paths)}", file=sys.stderr, flush=True)
    text = ",".join(names) + "\n" + "".join(path.read_text() for path in paths.values())
    with writing(folder / f"{section}.csv", force=True) as file:
        file.write(text.encode())
    print(f"\n{section}")
    summary(list(csv.reader(text.splitlines()))[1:])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    for section in arguments.sections or SECTIONS:
        if section not in SECTIONS:
            parser.error(f"SECTION must be one of {', '.join(SECTIONS)}: found {section!r}")
        run(arguments.folder, section, arguments.jobs)


if __name__ == "__main__":
    main()
