"""The prior with edges on real data, and its cost in time and memory."""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bayesing.experiments.cells import Task

from coupling_data import cell
from edge_data import claim, fell_back, fit, network, sparse
from front import Row, Settings, grouped
from likelihood_real import LOADERS, split
from timing import seconds

SPARSE = "sparse"
PATCH = 6  # pixels on each side
STEP = 7  # pixels from a patch to the next, so that no pixel is in two


def wine() -> np.ndarray:
    """178 wines, 13 measurements of each, above the median or below."""
    from sklearn.datasets import load_wine

    X = load_wine().data
    return np.where(np.median(X, axis=0) < X, 1, -1).astype(np.int8)


def patches() -> np.ndarray:
    """Patches of 6 x 6 pixels of a photograph, each pixel brighter than the median of the photograph or darker."""
    from sklearn.datasets import load_sample_image

    image = load_sample_image("china.jpg").mean(axis=2)
    windows = np.lib.stride_tricks.sliding_window_view(image, (PATCH, PATCH))[::STEP, ::STEP]
    pixels = windows.reshape(-1, PATCH**2)
    return np.where(pixels > np.median(image), 1, -1).astype(np.int8)


SOURCES = LOADERS | {"wine": wine, "patches": patches}

# Held-out log pseudo-likelihood


def real_tasks(s: Settings) -> list[Task]:
    return [cell(real, s, name, k) for name, k in itertools.product(s.data, range(s.splits))]


def real(s: Settings, name: str, k: int) -> Iterator[Row]:
    """Per spin, by every prior, and by every penalty of a grid."""
    source = s.data[name]
    spins = SOURCES[source["load"]]()
    part, of = source.get("fraction", (0, 1))
    train, test = split(spins, k, source.get("rows", part * len(spins) // of))
    n = spins.shape[1]
    bm, said, elapsed = sparse(train)
    fits = {
        SPARSE: (bm, elapsed),
        "gaussian": fit(train, "pseudolikelihood"),
        "laplace": fit(train, "pseudolikelihood", prior="laplace"),
    }
    fits |= {
        f"lambda {penalty:g}": fit(train, "pseudolikelihood", gamma=2 * n / penalty) for penalty in s.grid
    }
    for rule, (bm, elapsed) in fits.items():
        yield {
            **{"data": name, "split": k, "n": n, "N": len(train), "rule": rule},
            **{
                "score": bm.score(test),
                "seconds": elapsed,
                "method": bm.method_,
                "fell_back": fell_back(said),
            },
        }


def real_summary(s: Settings, rows: list[Row]) -> None:
    print(
        "held-out log pseudo-likelihood per spin; in brackets, sparse less this one, and its standard error"
    )
    for (name,), here in grouped(rows, "data").items():
        scores = {
            rule: np.array([float(row["score"]) for row in of])
            for (rule,), of in grouped(here, "rule").items()
        }
        ours = scores.pop(SPARSE)
        grid = [f"lambda {penalty:g}" for penalty in s.grid]
        best = max(grid, key=lambda rule, scores=scores: scores[rule].mean())
        rivals = {rule: scores[rule] for rule in ("gaussian", "laplace", best)}
        print(f"  {name}, n = {here[0]['n']}, N = {here[0]['N']}: sparse {ours.mean():.4f}{kept(here)}")
        for rule, values in rivals.items():
            gain = ours - values
            spread = gain.std(ddof=1) / np.sqrt(len(gain))
            label = f"best {rule}" if rule == best else rule
            print(f"    {label:18} {values.mean():.4f} ({gain.mean():+.4f} ± {spread:.4f})")
        claim(
            f"{name}: better than all of these",
            all(ours.mean() > values.mean() for values in rivals.values()),
        )


def kept(rows: list[Row]) -> str:
    """For how many splits the fit was that of the Gaussian prior."""
    ours = [row for row in rows if row["rule"] == SPARSE]
    back = sum(int(row["fell_back"]) for row in ours)
    return f", the Gaussian prior was kept in {back} of {len(ours)} splits" if back else ""


# Time and memory


def cost_tasks(s: Settings) -> list[Task]:
    turns = [cell(turn, s, name, at["N"], cost=at["N"]) for name, at in s.turns.items()]
    return turns + [cell(alone, s, name, at["N"], cost=10 * at["N"]) for name, at in s.alone.items()]


def turn(s: Settings, name: str, N: int) -> Iterator[Row]:
    """Both priors in turn, in one process; the best time counts."""
    kind = s.turns[name]
    spins = network(kind, name, N, s.sweeps, 0).spins

    def fitted(**parameters: str) -> None:
        fit(spins, **parameters)

    ours, gaussian = seconds(
        lambda: fitted(prior="sparse"), lambda: fitted(method="pseudolikelihood"), repeats=s.repeats
    )
    at = {"data": name, "n": kind["n"], "N": N}
    yield at | {"seconds": ours, "gaussian": gaussian, "ratio": ours / gaussian, "peak_GiB": ""}


def alone(s: Settings, name: str, N: int) -> Iterator[Row]:
    """One fit in a process of its own, with the peak of its memory."""
    kind = s.alone[name]
    code = (
        "import resource, sys, time, numpy as np, bayesing as bs\n"
        "spins = np.load(sys.argv[1])\n"
        "def fit(spins):\n"
        "    bm = bs.BoltzmannMachine(prior='sparse', random_state=0).fit(spins)\n"
        "    return bm.couplings_, bm.coupling_errors_, bm.edge_probabilities_, bm.edges(fdr=0.05)\n"
        "fit(spins[:100, :12])\n"
        "start = time.perf_counter()\n"
        "fit(spins)\n"
        "print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)"
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "spins.npy"
        np.save(file, network(kind, name, N, s.sweeps, 0).spins)
        command = [sys.executable, "-W", "ignore", "-c", code, str(file)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    elapsed, peak = map(float, output.split())
    at = {"data": name, "n": kind["n"], "N": N}
    yield at | {"seconds": elapsed, "gaussian": "", "ratio": "", "peak_GiB": peak}


def cost_summary(s: Settings, rows: list[Row]) -> None:
    for row in rows:
        where = f"{row['data']}, n = {row['n']}, N = {row['N']}"
        elapsed = float(row["seconds"])
        if row["ratio"] != "":
            ratio = float(row["ratio"])
            words = f"{elapsed:.2f} s, {ratio:.2f} times a Gaussian fit, allowed {s.allowed['ratio']:g} times"
            claim(f"{where}: {words}", ratio <= s.allowed["ratio"])
        else:
            peak = float(row["peak_GiB"])
            kept = elapsed <= s.allowed["seconds"] and peak <= s.allowed["peak_GiB"]
            limits = f"allowed {s.allowed['seconds']:g} s and {s.allowed['peak_GiB']:g} GiB"
            claim(f"{where}: {elapsed:.1f} s, peak {peak:.2f} GiB, {limits}", kept)
