"""Speed as ratios within one run: ``make bench``. No test depends on these numbers.

The fit of the paper's estimator against the one float32 product X @ X.T that it cannot do without, and
start-up against the imports that it cannot do without.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import bayesing as bs

from timing import seconds


def fit_against_gram(n: int, N: int) -> None:
    print(f"\nEmpiricalBayes(method='plefka').fit, n = {n}, N = {N}, against one float32 X @ X.T")
    rng = np.random.default_rng(0)
    spins = rng.choice(np.array([-1, 1], np.int8), (N, n))
    single = spins.astype(np.float32)
    eb = bs.EmpiricalBayes(method="plefka")
    for dtype in (np.int8, np.float32, np.int64, np.float64):
        X = spins.astype(dtype)
        fit, gram = seconds(lambda X=X: eb.fit(X), lambda: single @ single.T)
        print(
            f"  {np.dtype(dtype).name:8} fit {fit * 1e3:7.1f} ms"
            f"   X @ X.T {gram * 1e3:7.1f} ms   ratio {fit / gram:.2f}"
        )


def methods() -> None:
    print("\nclosed forms against each other, n = N = 300 and n = 300, N = 3000")
    for n, N in ((300, 300), (300, 3000)):
        X = bs.simulate(n, N, J=0.6, seed=0).spins
        plefka, closed, spectral = seconds(
            *(
                lambda X=X, name=name: bs.EmpiricalBayes(name).fit(X)
                for name in ("plefka", "susceptibility", "spectral")
            )
        )
        print(
            f"  N = {N:5}   plefka {plefka * 1e3:6.1f} ms   susceptibility {closed * 1e3:6.1f} ms"
            f", {closed / plefka:.2f} times   spectral {spectral * 1e3:6.1f} ms"
        )
    print("\nmethods that are not closed forms")
    for method, n, N in (
        ("spectral", 2000, 500),
        ("spectral", 20_000, 300),
        ("spectral", 1000, 100_000),
        ("pseudolikelihood", 200, 400),
    ):
        code = (
            "import resource, time, numpy as np, threadpoolctl, bayesing as bs\n"
            f"X = bs.simulate({min(n, 2000)}, {min(N, 500)}, J=0.6, seed=0).spins\n"
            f"X = np.tile(X, ({-(-N // min(N, 500))}, {-(-n // min(n, 2000))}))[:{N}, :{n}].copy()\n"
            "X[np.random.default_rng(0).random(X.shape) < 0.3] *= -1\n"
            f"limit = threadpoolctl.threadpool_limits({1 if method == 'pseudolikelihood' else None})\n"
            f"eb = bs.EmpiricalBayes({method!r}, random_state=0).fit(X[:50, :20])\n"
            "start = time.perf_counter()\n"
            f"eb = bs.EmpiricalBayes({method!r}, random_state=0).fit(X)\n"
            "print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)"
        )
        output = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code], check=True, capture_output=True, text=True
        )
        time_, memory = map(float, output.stdout.split())
        print(f"  {method:17} n = {n:6}, N = {N:7}   {time_:6.2f} s   peak {memory:.2f} GiB")


def growth() -> None:
    print("\nfit against n = N (int8): time grows as n N min(n, N)")
    sizes, times = [500, 1000, 2000, 4000], []
    for n in sizes:
        X = np.random.default_rng(0).choice(np.array([-1, 1], np.int8), (n, n))
        eb = bs.EmpiricalBayes(method="plefka")
        (t,) = seconds(lambda X=X, eb=eb: eb.fit(X), repeats=5)
        times.append(t)
        print(f"  n = N = {n:5}   {t * 1e3:8.1f} ms")
    print(f"  exponent {np.polyfit(np.log(sizes), np.log(times), 1)[0]:.2f} (3 in the limit)")


def start_up() -> None:
    print("\nstart-up, a new process each time")

    def python(*arguments: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, *arguments], check=True, capture_output=True)

    with tempfile.TemporaryDirectory() as folder:
        data = str(Path(folder, "data.npy"))
        np.save(data, bs.simulate(n_spins=100, n_samples=40, J=0.5, seed=0).spins)
        names = [
            "python -c pass",
            "import bayesing",
            "bayesing --help",
            "import sklearn.base",
            "bayesing fit",
        ]
        times = seconds(
            python("-c", "pass"),
            python("-c", "import bayesing"),
            python("-m", "bayesing", "--help"),
            python("-c", "import sklearn.base"),
            python("-m", "bayesing", "fit", data),
            repeats=5,
        )
    for name, t in zip(names, times, strict=True):
        print(f"  {name:20} {t:6.2f} s")
    print(f"  bayesing fit beyond import sklearn.base: {times[4] - times[3]:.2f} s (at most 0.5)")


if __name__ == "__main__":
    fit_against_gram(2000, 2000)
    fit_against_gram(2000, 200)
    methods()
    growth()
    start_up()
