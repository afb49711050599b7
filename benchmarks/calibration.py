"""Calibration measured: bias, the spin glass, coverage, cost, and the paper's Fig. 3 again; two hours on one core.

    python benchmarks/calibration.py FOLDER [bias glass coverage cost figure3] [--jobs 1] [--quick]

Simulated data and intervals are kept, so that an interrupted run goes on where it stopped. Where many data sets have
the same size one set of simulations, a bank, serves them all. Writes bias.csv, glass.csv, coverage.csv and
figure3.csv with figure3.png, and prints the worst cells of each claim in docs/accuracy.md.
"""

from __future__ import annotations

import io
import math
import time
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

import bayesing as bs
from bayesing.calibration import Point, Surface, Window
from bayesing.experiments.cells import Task
from bayesing.experiments.runner import TEMPERING
from bayesing.files import writing

from front import Found, Part, Row, Settings, main, rows_of, rows_task, write_rows
from methods import equilibrium, fitted, plefka_angle, regression_score, spectral_score

# What a bank expects of r, the stability of its data, without and with a field
R_WITHOUT_FIELD = 1.0
R_WITH_FIELD = 0.85

LARGEST_ANGLE = 1.5  # of the paper's estimate; its tangent is 14


# Data sets, kept as bits


def bank_task(s: Settings, name: str, N: int, H: float, key: int) -> Task:
    return Task(f"{name}-{key}", partial(bank, s, N, H, key), cost=TEMPERING)


def bank(s: Settings, N: int, H: float, key: int) -> bytes:
    """Data sets at equilibrium, with J uniform between two values and H around one."""
    points, packed = [], []
    for k in range(s.piece):
        rng = np.random.default_rng([1, s.n, N, round(100 * H), key, k])
        at = Point(rng.uniform(*s.bank_J) ** 2, H + s.bank_spread * rng.uniform(-1, 1))
        r = R_WITHOUT_FIELD if H == 0 else R_WITH_FIELD
        spins = equilibrium(s.n, N, r, at, np.random.SeedSequence([2, key, k]))
        points.append(at)
        packed.append(np.packbits(spins > 0, axis=1))
    return _arrays(points=np.array(points), packed=np.array(packed))


def data_task(s: Settings, name: str, N: int, J: float, H: float, sampler: str, key: int) -> Task:
    cost = TEMPERING if sampler == "temper" else 1
    return Task(f"{name}-{key}", partial(data, s, N, J, H, sampler, key), cost)


def data(s: Settings, N: int, J: float, H: float, sampler: str, key: int) -> bytes:
    """Data sets of given J and H, at equilibrium or annealed as in the paper."""
    packed = []
    for k in range(s.piece):
        seed = np.random.SeedSequence([3, s.n, N, round(100 * J), round(100 * H), key, k])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bs.NotEquilibratedWarning)
            spins = bs.simulate(s.n, N, J=J, H=H, sampler=sampler, seed=seed).spins
        packed.append(np.packbits(spins > 0, axis=1))
    return _arrays(packed=np.array(packed))


def _arrays(**arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def load(found: Found, prefix: str) -> dict[str, np.ndarray]:
    """All cells of a bank or of data sets, put together."""
    chosen = [np.load(io.BytesIO(found[name])) for name in sorted(found) if name.startswith(f"{prefix}-")]
    return {name: np.concatenate([arrays[name] for arrays in chosen]) for name in chosen[0].files}


def unpacked(packed: np.ndarray, n: int, N: int) -> np.ndarray:
    return 2 * np.unpackbits(packed[:N], axis=1, count=n).astype(np.int8) - 1


def seen(packed: np.ndarray, n: int, N: int, statistic: Callable) -> np.ndarray:
    """The statistic and the mean spin of the first N samples of each data set."""

    def one(x: np.ndarray) -> np.ndarray:
        spins = unpacked(x, n, N)
        return np.append(statistic(spins), spins.mean())

    return np.array(Parallel()(delayed(one)(x) for x in packed))


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


def rmse(values: Iterable[float], J: float) -> float:
    return float(np.sqrt(np.mean((np.asarray(values) - J) ** 2)))


def rounded(digits: int, **values: float) -> Row:
    return {name: f"{value:.{digits}f}" for name, value in values.items()}


def tell(table: list[Row], line: Row) -> None:
    """Add a line and print it, as an answer on the way."""
    table.append(line)
    print(*line.values(), flush=True)


# Calibrated "spectral" in the paramagnet


def bias_tasks(s: Settings) -> list[Task]:
    most, tasks = max(size["N"] for size in s.samples), []
    for H in s.H:
        tasks += [bank_task(s, f"bank-{H}", most, H, key) for key in range(s.bank_cells)]
        for J in s.J:
            tasks += [data_task(s, f"data-{J}-{H}", most, J, H, "temper", key) for key in range(s.cells)]
    return tasks


def bias(s: Settings, found: Found, folder: Path) -> None:
    table: list[Row] = []
    for H in s.H:
        simulated = load(found, f"bank-{H}")
        for J in s.J:
            sets = load(found, f"data-{J}-{H}")["packed"]
            for size in s.samples:
                N = size["N"]
                ends = J - size["window"], min(J + size["window"], s.bank_J[1])
                near = (simulated["points"][:, 0] > ends[0] ** 2) & (simulated["points"][:, 0] < ends[1] ** 2)
                statistic = partial(spectral_score, gamma=J**2)
                values = seen(simulated["packed"][near], s.n, N, statistic)
                observed = seen(sets, s.n, N, statistic)
                J_hat = corrected(simulated["points"][near], values, observed, ends, H, s.bank_spread)
                closed = [fitted(unpacked(x, s.n, N), "susceptibility").J_ for x in sets]
                answer = {
                    "mean": J_hat.mean(),
                    "sd": J_hat.std(ddof=1),
                    "rmse": rmse(J_hat, J),
                    "susceptibility_mean": float(np.mean(closed)),
                    "susceptibility_rmse": rmse(closed, J),
                }
                line = {"J": J, "H": H, "N": N} | rounded(4, **answer) | {"simulations": int(near.sum())}
                tell(table, line)
    write_rows(folder / "bias.csv", table)
    repeats = s.cells * s.piece
    off = max(
        (abs(float(line["mean"]) - line["J"]) - 3 * float(line["sd"]) / math.sqrt(repeats), k)
        for k, line in enumerate(table)
    )
    worst = {name: table[off[1]][name] for name in ("J", "H", "N")}
    print(f"bias: |mean - J| - 3 standard errors, at most 0.01: {off[0]:.4f} at {worst}")
    strongest = [line for line in table if line["J"] == max(s.J)]
    ratios = [round(float(line["rmse"]) / float(line["susceptibility_rmse"]), 2) for line in strongest]
    print(f"RMSE over that of susceptibility at J = {max(s.J)}: {ratios}")


# The spin glass


def glass_tasks(s: Settings) -> list[Task]:
    tasks = []
    for H in s.H:
        tasks += [bank_task(s, f"bank-{H}", s.N, H, key) for key in range(s.bank_cells)]
        for J in s.J:
            for sampler in s.samplers:
                name = f"data-{J}-{H}-{sampler}"
                tasks += [data_task(s, name, s.N, J, H, sampler, key) for key in range(s.cells)]
    return tasks


def scores(s: Settings, spins: np.ndarray) -> tuple[float, float]:
    gamma = {name: J**2 for name, J in s.score_at.items()}
    regression = regression_score(spins, gamma["pseudolikelihood"], s.targets)
    return spectral_score(spins, gamma["spectral"]), regression


def glass(s: Settings, found: Found, folder: Path) -> None:
    table: list[Row] = []
    which = {"spectral": [0, 2], "pseudolikelihood": [1, 2], "both": [0, 1, 2]}  # the last is the mean spin
    for H in s.H:
        simulated = load(found, f"bank-{H}")
        values = seen(simulated["packed"], s.n, s.N, partial(scores, s))
        for J in s.J:
            ends = J + s.window[0], J + s.window[1]
            for sampler in s.samplers:
                sets = load(found, f"data-{J}-{H}-{sampler}")["packed"]
                observed = seen(sets, s.n, s.N, partial(scores, s))
                for name, columns in which.items():
                    J_hat = corrected(
                        simulated["points"], values[:, columns], observed[:, columns], ends, H, s.bank_spread
                    )
                    near = {"within 0.15": np.mean(np.abs(J_hat - J) < 0.15)}
                    line = rounded(3, mean=J_hat.mean(), sd=J_hat.std(ddof=1), **near)
                    tell(table, {"J": J, "H": H, "sampler": sampler, "statistic": name} | line)
    write_rows(folder / "glass.csv", table)


# Coverage


def coverage_tasks(s: Settings) -> list[Task]:
    return [
        rows_task(
            f"at-{at['J']}-{at['H']}-{at['N']}-{key}", partial(intervals, s, key=key, **at), cost=at["N"]
        )
        for at in s.points
        for key in range(s.cells)
    ]


def intervals(s: Settings, J: float, H: float, N: int, key: int) -> Iterable[Row]:
    """90% intervals of some data sets, each with simulations of its own."""
    for k in range(s.piece * key, s.piece * (key + 1)):
        seed = np.random.SeedSequence([4, round(100 * J), round(100 * abs(H)), N, k])
        spins = bs.simulate(s.n, N, J=J, H=H, sweeps=s.sweeps, seed=seed).spins
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bs.BayesingWarning)
            found = bs.EmpiricalBayes().fit(spins).interval(n_simulations=s.simulations, seed=k)
        yield {
            **{"J": J, "H": H, "N": N, "data_set": k},
            **{"J_low": found.J[0], "J_high": found.J[1], "H_low": found.H[0], "H_high": found.H[1]},
            **{"J_corrected": found.J_corrected, "H_corrected": found.H_corrected},
            "simulations": found.n_simulations,
        }


def coverage(s: Settings, found: Found, folder: Path) -> None:
    table: list[Row] = []
    columns = ("J_low", "J_high", "H_low", "H_high", "J_corrected", "simulations")
    for at in s.points:
        J, H, N = at["J"], at["H"], at["N"]
        rows = rows_of({name: found[name] for name in found if name.startswith(f"at-{J}-{H}-{N}-")})
        v = {name: np.array([float(row[name]) for row in rows]) for name in columns}
        answer = {
            "J_coverage": np.mean((v["J_low"] <= J) & (J <= v["J_high"])),
            "H_coverage": np.mean((v["H_low"] <= H) & (H <= v["H_high"])),
            "J_length": np.median(v["J_high"] - v["J_low"]),
            "J_mean": v["J_corrected"].mean(),
        }
        tell(table, at | rounded(3, **answer) | {"simulations": f"{v['simulations'].mean():.0f}"})
    write_rows(folder / "coverage.csv", table)
    pooled = [np.mean([float(line[name]) for line in table]) for name in ("J_coverage", "H_coverage")]
    print("pooled:", [round(float(share), 3) for share in pooled])


# Cost


def cost(s: Settings, found: Found, folder: Path) -> None:
    spins = bs.simulate(s.n, s.N, J=s.J, H=s.H, sweeps=s.sweeps, seed=0).spins
    eb = bs.EmpiricalBayes().fit(spins)
    start = time.perf_counter()
    interval = eb.interval()
    print(f"n = {s.n}, N = {s.N}: {interval}, {time.perf_counter() - start:.1f} s")


# The paper's Fig. 3, again


def figure3_tasks(s: Settings) -> list[Task]:
    most = max(s.N)
    tasks = [bank_task(s, "bank", most, 0.0, key) for key in range(s.bank_cells)]
    return tasks + [
        data_task(s, f"data-{J}", most, J, 0.0, "temper", key) for J in s.J for key in range(s.cells)
    ]


def figure3(s: Settings, found: Found, folder: Path) -> None:
    simulated, table = load(found, "bank"), []
    for N in s.N:
        values = seen(simulated["packed"], s.n, N, plefka_angle)
        for J in s.J:
            observed = seen(load(found, f"data-{J}")["packed"], s.n, N, plefka_angle)
            ends = max(J + s.window[0], 0.0), J + s.window[1]
            J_hat = corrected(simulated["points"], values, observed, ends, 0.0, s.bank_spread)
            plain = np.sqrt(np.maximum(np.tan(np.minimum(observed[:, 0], LARGEST_ANGLE)), 0))
            answer = {"plefka_mean": plain.mean(), "plefka_sd": plain.std(ddof=1)}
            answer |= {"calibrated_mean": J_hat.mean(), "calibrated_sd": J_hat.std(ddof=1)}
            tell(table, {"N": N, "J": J} | rounded(4, **answer))
    write_rows(folder / "figure3.csv", table)
    draw(s, table, folder / "figure3.png")


def draw(s: Settings, table: list[Row], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.6), layout="constrained")
    panels = {"plefka": "as it is", "calibrated": "calibrated"}
    for ax, (name, title) in zip(figure.subplots(1, 2, sharey=True), panels.items(), strict=True):
        ax.plot([0, 1.3], [0, 1.3], color="0.6", lw=1)
        for shift, N in enumerate(s.N):
            rows = [row for row in table if row["N"] == N]
            ax.errorbar(
                [row["J"] + 0.012 * (shift - 2) for row in rows],
                [float(row[f"{name}_mean"]) for row in rows],
                [float(row[f"{name}_sd"]) for row in rows],
                fmt="o-", ms=4, lw=1, capsize=2, label=f"N/n = {N / s.n:g}",
            )  # fmt: skip
        ax.set_title(f"The paper's estimator, {title}")
        ax.set_xlabel("true J")
        ax.set_ylim(0, 2.2)
    figure.axes[0].set_ylabel("estimate of J")
    figure.axes[0].legend()
    with writing(path, force=True) as file:
        figure.savefig(file, format="png", dpi=120)


PARTS = {
    "bias": Part(bias_tasks, bias, suffix=".npz"),
    "glass": Part(glass_tasks, glass, suffix=".npz"),
    "coverage": Part(coverage_tasks, coverage),
    "cost": Part(lambda _: [], cost),
    "figure3": Part(figure3_tasks, figure3, suffix=".npz"),
}

if __name__ == "__main__":
    main(__file__, __doc__, PARTS)
