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
    growth()
    start_up()
