"""Speed as ratios within one run: ``make bench``. No test depends on these numbers.

Moments against the one float32 product that they would take, start-up against the import of NumPy, and memory
against the size of the file.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import bayesing as bs

from timing import seconds

# Not ru_maxrss, which a new process inherits.
PEAK_MEMORY = (
    "lines = open('/proc/self/status').read().splitlines(); "
    "print(1024 * next(int(line.split()[1]) for line in lines if line.startswith('VmHWM')))"
)


def moments_against_gram(n: int, N: int) -> None:
    """From the array to the moments, packing included, against the product of the smaller side, on one thread."""
    print(
        f"\nSpinStatistics.of(X).moments, n = {n}, N = {N}, against one float32 product of the smaller side"
    )
    spins = np.random.default_rng(0).choice(np.array([-1, 1], np.int8), (N, n))
    single = np.ascontiguousarray(spins.T if N > n else spins, np.float32)
    for dtype in (np.int8, np.float32, np.int64):
        X = spins.astype(dtype)
        with threadpool_limits(1):
            moments, gram = seconds(lambda X=X: bs.SpinStatistics.of(X).moments, lambda: single @ single.T)
        print(
            f"  {np.dtype(dtype).name:8} moments {moments * 1e3:7.1f} ms"
            f"   product {gram * 1e3:7.1f} ms   ratio {moments / gram:.2f}"
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
            "import time, numpy as np, threadpoolctl, bayesing as bs\n"
            f"X = bs.simulate({min(n, 2000)}, {min(N, 500)}, J=0.6, seed=0).spins\n"
            f"X = np.tile(X, ({-(-N // min(N, 500))}, {-(-n // min(n, 2000))}))[:{N}, :{n}].copy()\n"
            "X[np.random.default_rng(0).random(X.shape) < 0.3] *= -1\n"
            f"limit = threadpoolctl.threadpool_limits({1 if method == 'pseudolikelihood' else None})\n"
            f"eb = bs.EmpiricalBayes({method!r}, random_state=0).fit(X[:50, :20])\n"
            "start = time.perf_counter()\n"
            f"eb = bs.EmpiricalBayes({method!r}, random_state=0).fit(X)\n"
            "print(time.perf_counter() - start)\n" + PEAK_MEMORY
        )
        output = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code], check=True, capture_output=True, text=True
        )
        time_, peak = map(float, output.stdout.split())
        print(f"  {method:17} n = {n:6}, N = {N:7}   {time_:6.2f} s   peak {peak / 2**30:.2f} GiB")


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
    print("\nstart-up, processor time of a new process each time")
    with tempfile.TemporaryDirectory() as folder:
        data = str(Path(folder, "data.npy"))
        np.save(data, bs.simulate(n_spins=100, n_samples=40, J=0.5, seed=0).spins)
        commands = {
            "python -c pass": ["-c", "pass"],
            "import numpy": ["-c", "import numpy"],
            "import bayesing": ["-c", "import bayesing"],
            "bayesing --help": ["-m", "bayesing", "--help"],
            "bayesing fit --help": ["-m", "bayesing", "fit", "--help"],
            "bayesing fit": ["-m", "bayesing", "fit", data],
        }
        times = {
            name: min(processor_time(arguments) for _ in range(5)) for name, arguments in commands.items()
        }
    for name, time in times.items():
        print(f"  {name:20} {time:6.2f} s")
    print(
        f"  bayesing fit beyond import numpy: {times['bayesing fit'] - times['import numpy']:.2f} s (at most 0.35)"
    )


def processor_time(arguments: list[str]) -> float:
    """Of a new process of Python."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def memory(N: int = 1_000_000, n: int = 200) -> None:
    """Peak memory of the whole process, the interpreter and its libraries included."""
    print(f"\npeak memory of bayesing fit, {N} samples of {n} spins, int8")
    code = (
        "import sys; from bayesing.cli import cli; cli.main(sys.argv[1:], standalone_mode=False); "
        + PEAK_MEMORY
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data.npy")
        np.save(path, 2 * np.random.default_rng(0).integers(0, 2, (N, n), dtype=np.int8) - 1)
        command = [sys.executable, "-c", code, "fit", str(path)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        peak, size = int(output.split()[-1]), path.stat().st_size
    print(
        f"  peak {peak / 2**20:.0f} MiB   file {size / 2**20:.0f} MiB   ratio {peak / size:.2f} (at most 1.3)"
    )


if __name__ == "__main__":
    moments_against_gram(2000, 2000)
    moments_against_gram(500, 100_000)
    moments_against_gram(2000, 200)
    methods()
    growth()
    start_up()
    memory()
