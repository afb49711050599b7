"""Calibration measured: bias, the spin glass, coverage, cost, and the paper's Fig. 3 again; about 1 hour on 2 cores.

    python benchmarks/calibration.py FOLDER [--jobs 2] [bias glass coverage cost figure3]

Simulated data and intervals are files in FOLDER, so that an interrupted run goes on where it stopped. Where many data
sets have the same size one set of simulations, a bank, serves them all. Writes bias.csv, glass.csv, coverage.csv and
figure3.csv with figure3.png, and prints the worst cells of each claim in docs/accuracy.md.
"""

from __future__ import annotations

import argparse
import csv
import functools
import math
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

import joblib
import numpy as np
from joblib import Parallel, delayed

import bayesing as bs
from bayesing.calibration import Point, Setting, Surface, Window, _draw
from bayesing.empirical_bayes import _angle
from bayesing.files import writing
from bayesing.moments import moments_of
from bayesing.strength.pseudolikelihood import score_at as regression_score
from bayesing.strength.spectral import score_at as spectral_score
from bayesing.strength.susceptibility import fit_susceptibility

CHUNK = 10  # data sets a file

Piece = tuple[str, Callable[[], dict[str, np.ndarray]]]


def run(folder: Path, pieces: Iterable[Piece], jobs: int) -> None:
    """Compute the pieces that are missing; each is an .npz file."""
    folder.mkdir(parents=True, exist_ok=True)
    pieces = list(pieces)
    missing = [piece for piece in pieces if not (folder / f"{piece[0]}.npz").exists()]
    work = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(
        delayed(lambda name, make: (name, make()))(*piece) for piece in missing
    )
    for done, (name, arrays) in enumerate(work, len(pieces) - len(missing) + 1):
        with writing(folder / f"{name}.npz", force=True) as file:
            np.savez(file, **arrays)
        print(f"{done}/{len(pieces)}: {name}", flush=True)


def bank(n: int, N: int, J: tuple[float, float], H: float, spread: float, key: int) -> dict[str, np.ndarray]:
    """Data sets at equilibrium, with J uniform between two values and H around one."""
    points, packed = [], []
    for k in range(CHUNK):
        rng = np.random.default_rng([1, n, N, round(100 * H), key, k])
        at = Point(rng.uniform(*J) ** 2, H + spread * rng.uniform(-1, 1))
        spins, _ = _draw(Setting(n, N, r=1.0 if H == 0 else 0.85), at, np.random.SeedSequence([2, key, k]))
        points.append(at)
        packed.append(np.packbits(spins > 0, axis=1))
    return {"points": np.array(points), "packed": np.array(packed)}


def data(n: int, N: int, J: float, H: float, sampler: str, key: int) -> dict[str, np.ndarray]:
    """Data sets of given J and H, at equilibrium or annealed as in the paper."""
    packed = []
    for k in range(CHUNK):
        seed = np.random.SeedSequence([3, n, N, round(100 * J), round(100 * H), key, k])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bs.NotEquilibratedWarning)
            packed.append(
                np.packbits(bs.simulate(n, N, J=J, H=H, sampler=sampler, seed=seed).spins > 0, axis=1)
            )
    return {"packed": np.array(packed)}


def load(folder: Path, prefix: str) -> dict[str, np.ndarray]:
    """All chunks of a bank or of data sets."""
    files = [np.load(path) for path in sorted(folder.glob(f"{prefix}-*.npz"))]
    return {name: np.concatenate([file[name] for file in files]) for name in files[0].files}


def unpacked(packed: np.ndarray, n: int, N: int) -> np.ndarray:
    return 2 * np.unpackbits(packed[:N], axis=1, count=n).astype(np.int8) - 1


def seen(packed: np.ndarray, n: int, N: int, statistic: Callable, jobs: int) -> np.ndarray:
    """The statistic and the mean spin of the first N samples of each data set."""

    def one(x: np.ndarray) -> np.ndarray:
        spins = unpacked(x, n, N)
        return np.append(statistic(spins), spins.mean())

    return np.array(Parallel(n_jobs=jobs)(delayed(one)(x) for x in packed))


def corrected(
    points: np.ndarray,
    values: np.ndarray,
    observed: np.ndarray,
    J: tuple[float, float],
    H: float,
    spread: float,
) -> np.ndarray:
    """J of each data set, by the surface that simulations between two values of J describe."""
    window = Window(Point(J[0] ** 2, H - spread), Point(J[1] ** 2, H + spread))
    near = (points[:, 0] >= J[0] ** 2) & (points[:, 0] <= J[1] ** 2)
    surface = Surface(window, points[near], values[near])
    return np.array([math.sqrt(surface.solve(o)[0].gamma) for o in observed])


def write(path: Path, rows: list[list]) -> None:
    with writing(path, force=True) as file:
        file.write("".join(",".join(map(str, row)) + "\n" for row in rows).encode())


# Calibrated "spectral" in the paramagnet

BIAS = {
    "n": 300,
    "N": 1000,
    "fields": (0.0, 0.3),
    "J": (0.4, 0.6, 0.8),
    "samples": (120, 300, 1000),
    "repeats": 50,
}


def bias(folder: Path, jobs: int) -> None:
    n, most, repeats = BIAS["n"], BIAS["N"], BIAS["repeats"]
    work: list[Piece] = []
    for H in BIAS["fields"]:
        work += [
            (f"bank-{H}-{k}", functools.partial(bank, n, most, (0.25, 0.95), H, 0.04, k)) for k in range(35)
        ]
        for J in BIAS["J"]:
            for k in range(repeats // CHUNK):
                work.append((f"data-{J}-{H}-{k}", functools.partial(data, n, most, J, H, "temper", k)))
    run(folder, work, jobs)
    rows = [
        ["J", "H", "N", "mean", "sd", "rmse", "susceptibility_mean", "susceptibility_rmse", "simulations"]
    ]
    for H in BIAS["fields"]:
        simulated = load(folder, f"bank-{H}")
        for J in BIAS["J"]:
            sets = load(folder, f"data-{J}-{H}")["packed"]
            for N in BIAS["samples"]:
                half = 0.15 if N >= 300 else 0.2
                ends = J - half, min(J + half, 0.95)
                near = (simulated["points"][:, 0] > ends[0] ** 2) & (simulated["points"][:, 0] < ends[1] ** 2)
                statistic = functools.partial(spectral_score, gamma=J**2)
                values = seen(simulated["packed"][near], n, N, statistic, jobs)
                found = corrected(
                    simulated["points"][near], values, seen(sets, n, N, statistic, jobs), ends, H, 0.04
                )
                closed = [math.sqrt(fit_susceptibility(moments_of(unpacked(x, n, N))).gamma) for x in sets]
                row = [found.mean(), found.std(ddof=1), _rmse(found, J), np.mean(closed), _rmse(closed, J)]
                rows.append([J, H, N, *(f"{x:.4f}" for x in row), int(near.sum())])
                print(*rows[-1], flush=True)
    write(folder / "bias.csv", rows)
    table = [[float(x) for x in row] for row in rows[1:]]
    off = max((abs(r[3] - r[0]) - 3 * r[4] / math.sqrt(repeats), r[:3]) for r in table)
    print("bias: |mean - J| - 3 standard errors, at most 0.01:", off)
    print(
        "RMSE over that of susceptibility at J = 0.8:", [round(r[5] / r[7], 2) for r in table if r[0] == 0.8]
    )


def _rmse(values: Iterable[float], J: float) -> float:
    return float(np.sqrt(np.mean((np.asarray(values) - J) ** 2)))


# The spin glass

GLASS = {"n": 200, "N": 400, "fields": (0.0, 0.4), "J": (1.2, 1.6)}


def _scores(spins: np.ndarray) -> tuple[float, float]:
    return spectral_score(spins, 1.4**2), regression_score(spins, 1.8**2, 64)


def glass(folder: Path, jobs: int) -> None:
    n, N = GLASS["n"], GLASS["N"]
    work: list[Piece] = []
    for H in GLASS["fields"]:
        work += [(f"bank-{H}-{k}", functools.partial(bank, n, N, (0.8, 2.2), H, 0.06, k)) for k in range(20)]
        for J in GLASS["J"]:
            for sampler in ("temper", "anneal"):
                for k in range(2):
                    work.append(
                        (f"data-{J}-{H}-{sampler}-{k}", functools.partial(data, n, N, J, H, sampler, k))
                    )
    run(folder, work, jobs)
    rows = [["J", "H", "sampler", "statistic", "mean", "sd", "within 0.15"]]
    for H in GLASS["fields"]:
        simulated = load(folder, f"bank-{H}")
        values = seen(simulated["packed"], n, N, _scores, jobs)
        for J in GLASS["J"]:
            for sampler in ("temper", "anneal"):
                observed = seen(load(folder, f"data-{J}-{H}-{sampler}")["packed"], n, N, _scores, jobs)
                for name, columns in (
                    ("spectral", [0, 2]),
                    ("pseudolikelihood", [1, 2]),
                    ("both", [0, 1, 2]),
                ):
                    ends = J - 0.4, J + 0.5
                    found = corrected(
                        simulated["points"], values[:, columns], observed[:, columns], ends, H, 0.06
                    )
                    near = np.mean(np.abs(found - J) < 0.15)
                    rows.append(
                        [J, H, sampler, name, *(f"{x:.3f}" for x in (found.mean(), found.std(ddof=1), near))]
                    )
                    print(*rows[-1], flush=True)
    write(folder / "glass.csv", rows)


# Coverage

COVERAGE = (
    (0.25, 0.0, 150),
    (0.5, 0.3, 60),
    (0.7, 0.1, 200),
    (0.8, 0.5, 120),
    (0.45, -0.2, 300),
    (0.6, 0.0, 50),
)


def intervals(J: float, H: float, N: int, key: int) -> dict[str, np.ndarray]:
    """90% intervals of 10 data sets, each with simulations of its own."""
    rows = []
    for k in range(10 * key, 10 * key + 10):
        seed = np.random.SeedSequence([4, round(100 * J), round(100 * abs(H)), N, k])
        spins = bs.simulate(100, N, J=J, H=H, sweeps=10, seed=seed).spins
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bs.BayesingWarning)
            found = bs.EmpiricalBayes().fit(spins).interval(n_simulations=40, seed=k)
        rows.append([*found.J, *found.H, found.J_corrected, found.H_corrected, found.n_simulations])
    return {"rows": np.array(rows)}


def coverage(folder: Path, jobs: int) -> None:
    work: list[Piece] = []
    for J, H, N in COVERAGE:
        work += [(f"at-{J}-{H}-{N}-{k}", functools.partial(intervals, J, H, N, k)) for k in range(20)]
    run(folder, work, jobs)
    rows = [["J", "H", "N", "J_coverage", "H_coverage", "J_length", "J_mean", "simulations"]]
    for J, H, N in COVERAGE:
        r = load(folder, f"at-{J}-{H}-{N}")["rows"]
        covered = np.mean((r[:, 0] <= J) & (J <= r[:, 1])), np.mean((r[:, 2] <= H) & (H <= r[:, 3]))
        row = [*covered, np.median(r[:, 1] - r[:, 0]), r[:, 4].mean()]
        rows.append([J, H, N, *(f"{x:.3f}" for x in row), f"{r[:, 6].mean():.0f}"])
        print(*rows[-1], flush=True)
    write(folder / "coverage.csv", rows)
    print("pooled:", [round(np.mean([float(row[k]) for row in rows[1:]]), 3) for k in (3, 4)])


# Cost


def cost(folder: Path, jobs: int) -> None:
    spins = bs.simulate(300, 120, J=0.6, H=0.1, sweeps=4, seed=0).spins
    eb = bs.EmpiricalBayes().fit(spins)
    with joblib.parallel_config(n_jobs=jobs):
        start = time.perf_counter()
        found = eb.interval()
        print(f"n = 300, N = 120: {found}, {time.perf_counter() - start:.1f} s")


# The paper's Fig. 3, again

FIGURE3 = {"n": 300, "samples": (30, 60, 120, 180, 300), "J": (0.2, 0.4, 0.6, 0.8, 1.0, 1.2)}


def figure3(folder: Path, jobs: int) -> None:
    n, most = FIGURE3["n"], max(FIGURE3["samples"])
    work: list[Piece] = [
        (f"bank-{k}", functools.partial(bank, n, most, (0.0, 1.7), 0.0, 0.02, k)) for k in range(60)
    ]
    work += [
        (f"data-{J}-{k}", functools.partial(data, n, most, J, 0.0, "temper", k))
        for J in FIGURE3["J"]
        for k in range(3)
    ]
    run(folder, work, jobs)
    simulated = load(folder, "bank")
    rows = [["N", "J", "plefka_mean", "plefka_sd", "calibrated_mean", "calibrated_sd"]]
    for N in FIGURE3["samples"]:
        values = seen(simulated["packed"], n, N, _angle, jobs)
        for J in FIGURE3["J"]:
            observed = seen(load(folder, f"data-{J}")["packed"], n, N, _angle, jobs)
            ends = max(J - 0.35, 0.0), J + 0.4
            found = corrected(simulated["points"], values, observed, ends, 0.0, 0.02)
            plain = np.sqrt(np.maximum(np.tan(np.minimum(observed[:, 0], 1.5)), 0))
            row = plain.mean(), plain.std(ddof=1), found.mean(), found.std(ddof=1)
            rows.append([N, J, *(f"{x:.4f}" for x in row)])
            print(*rows[-1], flush=True)
    write(folder / "figure3.csv", rows)
    draw(folder / "figure3.csv", folder / "figure3.png")


def draw(table: Path, path: Path) -> None:
    from matplotlib.figure import Figure

    with table.open() as file:
        rows = np.array([[float(x) for x in row] for row in list(csv.reader(file))[1:]])
    figure = Figure(figsize=(10, 4.6), layout="constrained")
    for ax, column, title in zip(
        figure.subplots(1, 2, sharey=True), (2, 4), ("as it is", "calibrated"), strict=True
    ):
        ax.plot([0, 1.3], [0, 1.3], color="0.6", lw=1)
        for shift, N in enumerate(FIGURE3["samples"]):
            r = rows[rows[:, 0] == N]
            ax.errorbar(
                r[:, 1] + 0.012 * (shift - 2), r[:, column], r[:, column + 1], fmt="o-", ms=4, lw=1,
                capsize=2, label=f"N/n = {N / FIGURE3['n']:g}",
            )  # fmt: skip
        ax.set_title(f"The paper's estimator, {title}")
        ax.set_xlabel("true J")
        ax.set_ylim(0, 2.2)
    figure.axes[0].set_ylabel("estimate of J")
    figure.axes[0].legend()
    with writing(path, force=True) as file:
        figure.savefig(file, format="png", dpi=120)


PARTS = {"bias": bias, "glass": glass, "coverage": coverage, "cost": cost, "figure3": figure3}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("parts", nargs="*", help=", ".join(PARTS))
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    for part in arguments.parts or PARTS:
        start = time.perf_counter()
        PARTS[part](arguments.folder / part, arguments.jobs)
        print(f"{part}: {(time.perf_counter() - start) / 60:.1f} min", flush=True)


if __name__ == "__main__":
    main()
