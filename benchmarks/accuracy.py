"""How far from the truth is each method? Equilibrated data, n = 300, over (J, H, N); 2.3 hours on 2 busy cores.

    python benchmarks/accuracy.py FOLDER [--jobs 1] [--quick]

An interrupted run goes on where it stopped. At the end estimates.csv holds every estimate of every data set,
accuracy.csv their means and errors, and accuracy-H*.png the relative errors over (J, N/n); the worst cells of each
claim in docs/accuracy.md are printed.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

import bayesing as bs
from bayesing.experiments.cells import Task
from bayesing.files import writing

from front import Found, Part, Row, Settings, grouped, main, rows_of, rows_task, write_rows
from methods import fitted, uncorrected

DRAWS = 400  # of the bootstrap
CLAIMED = 0.8  # J up to which the theory is claimed to hold
PRECISE = 0.1  # standard deviation of J below which a bias is looked at

Estimates = dict[str, np.ndarray]  # of J, by method, over data sets


def tasks(s: Settings) -> list[Task]:
    """Some data sets of one (J, H) each; parallel tempering takes longer where J is large."""
    pieces = itertools.product(s.J, s.H, range(0, s.repeats, s.piece))
    return [
        rows_task(f"J{J}-H{H}-{start}", partial(piece, s, J, H, start), cost=1 + J) for J, H, start in pieces
    ]


def piece(s: Settings, J: float, H: float, start: int) -> Iterator[Row]:
    """All estimates of some data sets; those that differ in N are nested."""
    for repeat in range(start, start + s.piece):
        seed = np.random.SeedSequence([2026, round(10 * J), round(10 * H), repeat])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", bs.NotEquilibratedWarning)
            spins = bs.simulate(s.n, max(s.N), J=J, H=H, sampler="temper", seed=seed).spins
        for N in s.N:
            at = {"J": J, "H": H, "repeat": repeat, "N": N, "equilibrated": int(not caught)}
            for estimate in estimates(s, spins[:N]):
                yield at | estimate


def estimates(s: Settings, X: np.ndarray) -> Iterator[Row]:
    """J by each method with its error, and the method that was taken."""
    yield {"method": "naive", "estimate": naive(X), "error": math.nan, "taken": "naive"}
    for method in (*s.methods, "auto"):
        if len(X) < s.samples_per_spin.get(method, 0) * s.n:
            continue
        eb = fitted(X, method)
        yield {"method": method, "estimate": eb.J_, "error": eb.J_error_, "taken": eb.method_}
        if method == "spectral":
            yield {"method": "uncorrected", "estimate": uncorrected(X), "error": math.nan, "taken": method}


def naive(X: np.ndarray) -> float:
    """The method of moments at H = 0."""
    N, n = X.shape
    x = n * (bs.SpinMoments.of(X).C2 - 1 / N)
    return math.sqrt(max(x / (1 + x), 0.0))


def finish(s: Settings, found: Found, folder: Path) -> None:
    """Mean, standard deviation and root mean square error of each method in each cell."""
    rows = rows_of(found)
    write_rows(folder / "estimates.csv", rows)
    names = list(dict.fromkeys(row["method"] for row in rows))
    cells: dict[tuple[float, float, int], Estimates] = defaultdict(dict)
    for (J, H, N, method), here in grouped(rows, "J", "H", "N", "method").items():
        cells[float(J), float(H), int(N)][method] = np.array([float(row["estimate"]) for row in here])
    table = [
        line(s, J, H, N, name, cell[name])
        for (J, H, N), cell in cells.items()
        for name in names
        if name in cell
    ]
    write_rows(folder / "accuracy.csv", table)
    for title, values in claims(s, cells).items():
        worst = sorted(values, reverse=True)[:4]
        print(f"{title}: worst of {len(values)} cells " + "; ".join(f"{x:.3f} ({w})" for x, w in worst))
    for H in s.H:
        draw(folder / f"accuracy-H{H:g}.png", s, H, {name: over(s, H, name, cells) for name in names})


def line(s: Settings, J: float, H: float, N: int, name: str, values: np.ndarray) -> Row:
    """A line of accuracy.csv; the floor is the spread of the couplings' own variance."""
    numbers = {"mean": values.mean(), "sd": values.std(ddof=1), "rmse": rmse(values, J), "floor": J / s.n}
    at = {"J": J, "H": H, "N": N, "repeats": len(values), "method": name}
    return at | {name: f"{value:.4f}" for name, value in numbers.items()}


def rmse(values: np.ndarray, J: float) -> float:
    return float(np.sqrt(np.mean((values - J) ** 2)))


def claims(
    s: Settings, cells: dict[tuple[float, float, int], Estimates]
) -> dict[str, list[tuple[float, str]]]:
    """What docs/accuracy.md claims, each with its value in every cell that it is about."""
    rng = np.random.default_rng(0)
    checks = defaultdict(list)
    for (J, H, N), cell in cells.items():
        where = f"J = {J}, H = {H}, N = {N}"
        mean = {name: values.mean() for name, values in cell.items()}
        sd = {name: values.std(ddof=1) for name, values in cell.items()}
        se = {name: sd[name] / math.sqrt(len(values)) for name, values in cell.items()}
        for name, most in (("susceptibility", ", at most 0.03"), ("spectral", "")):
            if J <= CLAIMED and sd[name] < PRECISE:
                off = abs(mean[name] - J) - 3 * se[name]
                checks[f"{name}: |mean - J| - 3 standard errors{most}"].append((off, where))
        if J <= CLAIMED and sd["uncorrected"] < PRECISE:
            low = (J - mean["uncorrected"] - 3 * se["uncorrected"]) / J
            for least, most in (
                (1 / 3, "alpha >= 1/3: low by at most 12%"),
                (3, "alpha >= 3: low by at most 3%"),
            ):
                if N >= least * s.n:
                    checks[f"spectral, uncorrected, {most}"].append((low, where))
        if J == CLAIMED and N >= s.n:
            for name in ("uncorrected", "spectral"):
                title = f"{name}, J = {J}: standard deviation over that of susceptibility, at most 0.6"
                checks[title].append((sd[name] / sd["susceptibility"], where))
        best = min((name for name in s.methods if name in cell), key=lambda name: rmse(cell[name], J))
        draws = rng.integers(0, len(cell["auto"]), (DRAWS, len(cell["auto"])))
        ratios = [rmse(cell["auto"][d], J) / rmse(cell[best][d], J) for d in draws]
        excess = rmse(cell["auto"], J) / rmse(cell[best], J) - 2 * float(np.std(ratios))
        checks["auto: RMSE over that of the best method, less 2 bootstrap errors, at most 1.1"].append(
            (excess, f"{where}, best: {best}")
        )
        if J >= 1:
            worse = rmse(cell["auto"], J) / rmse(cell["pseudolikelihood"], J)
            checks["auto, J >= 1: RMSE over that of pseudolikelihood, at most 1"].append((worse, where))
    return checks


def over(
    s: Settings, H: float, name: str, cells: dict[tuple[float, float, int], Estimates]
) -> tuple[np.ndarray, np.ndarray]:
    """Relative bias and error over (J, N); NaN where the method was not tried."""
    bias, error = np.full((2, len(s.J), len(s.N)), np.nan)
    for (i, J), (k, N) in itertools.product(enumerate(s.J), enumerate(s.N)):
        if name in cells[J, H, N]:
            values = cells[J, H, N][name]
            bias[i, k], error[i, k] = values.mean() / J - 1, rmse(values, J) / J
    return bias, error


def draw(path: Path, s: Settings, H: float, maps: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    """Root mean square error over J as colour, the relative bias in numbers."""
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure

    height = math.ceil((len(maps) + 1) / 3)  # the last panel is the scale of colours
    figure = Figure(figsize=(11, 3.2 * height), layout="constrained")
    axes = figure.subplots(height, 3).ravel()
    for ax in axes[len(maps) :]:
        ax.axis("off")
    for ax, (name, (bias, error)) in zip(axes, maps.items(), strict=False):
        image = ax.imshow(error, origin="lower", aspect="auto", cmap="viridis_r", norm=LogNorm(0.005, 1))
        for (i, k), value in np.ndenumerate(bias):
            if np.isnan(value):
                continue
            colour = "white" if error[i, k] > 0.08 else "black"
            ax.text(k, i, f"{100 * value:+.0f}%", ha="center", va="center", fontsize=8, color=colour)
        ax.set_xticks(range(len(s.N)), [f"{N / s.n:.2g}" for N in s.N])
        ax.set_yticks(range(len(s.J)), [f"{J:g}" for J in s.J])
        ax.set_title({"uncorrected": "spectral, uncorrected", "plefka": "plefka (the paper)"}.get(name, name))
        ax.set_xlabel("N/n")
        ax.set_ylabel("J")
    figure.colorbar(image, cax=axes[-1].inset_axes((0.1, 0.0, 0.08, 1.0)), label="RMSE / J")
    figure.suptitle(f"n = {s.n}, H = {H:g}: relative error of J (colour) and its bias (numbers)")
    with writing(path, force=True) as file:
        figure.savefig(file, format="png", dpi=110)


PARTS = {"estimates": Part(tasks, finish)}

if __name__ == "__main__":
    main(__file__, __doc__, PARTS)
