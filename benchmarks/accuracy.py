"""How far from the truth is each method? Equilibrated data, n = 300, over (J, H, N); up to two hours on 2 cores.

    python benchmarks/accuracy.py FOLDER [--jobs 2]

Each finished piece of work is a file in FOLDER/cells, so that an interrupted run goes on where it stopped. At the
end estimates.csv holds every estimate of every data set, accuracy.csv their means and errors, and accuracy-H*.png the
relative errors over (J, N/n); the worst cells of each claim in docs/accuracy.md are printed.
"""

from __future__ import annotations

import argparse
import csv
import io
import itertools
import math
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

import bayesing as bs
from bayesing.files import writing
from bayesing.strength.inversion import fit_inversion
from bayesing.strength.plefka import fit_plefka, plefka_errors
from bayesing.strength.pseudolikelihood import fit_pseudolikelihood
from bayesing.strength.spectral import fit_spectral
from bayesing.strength.susceptibility import fit_susceptibility

N_SPINS = 300
COUPLINGS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2)
FIELDS = (0.0, 0.2, 0.4)
SAMPLES = (30, 120, 300, 1000, 3000)
REPEATS, PIECE = 50, 10
TARGETS, FEW_TARGETS = 32, 8  # spins of "pseudolikelihood"; fewer below J = 0.6, where it is far off
METHODS = ("plefka", "susceptibility", "spectral", "uncorrected", "inversion", "pseudolikelihood")
INVERSION_FROM = 3 * N_SPINS  # samples
COLUMNS = (
    "J",
    "H",
    "repeat",
    "N",
    "equilibrated",
    "r",
    "q",
    "naive",
    "plefka",
    "plefka_error",
    "susceptibility",
)
COLUMNS += ("susceptibility_error", "spectral", "spectral_error", "uncorrected", "pseudolikelihood")
COLUMNS += ("pseudolikelihood_error", "inversion", "inversion_error")


def piece(J: float, H: float, start: int) -> str:
    """All estimates of ``PIECE`` data sets, as CSV; data sets that differ in N are nested."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    for repeat in range(start, start + PIECE):
        seed = np.random.SeedSequence([2026, round(10 * J), round(10 * H), repeat])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", bs.NotEquilibratedWarning)
            spins = bs.simulate(N_SPINS, max(SAMPLES), J=J, H=H, sampler="temper", seed=seed).spins
        for N in SAMPLES:
            X = spins[:N]
            m = bs.SpinMoments.of(X)
            x = N_SPINS * (m.C2 - 1 / N)
            plefka, susceptibility, spectral = fit_plefka(m), fit_susceptibility(m), fit_spectral(X)
            conditionals = fit_pseudolikelihood(X, TARGETS if J >= 0.6 else FEW_TARGETS, seed=repeat)
            row = [J, H, repeat, N, int(not caught), m.r, m.q, math.sqrt(max(x / (1 + x), 0.0))]
            row += [
                *_J(plefka.gamma, plefka_errors(plefka, m)[0]),
                *_J(susceptibility.gamma, susceptibility.gamma_error),
            ]
            row += [*_J(spectral.gamma, spectral.gamma_error), math.sqrt(spectral.gamma_uncorrected)]
            row += _J(conditionals.gamma, conditionals.gamma_error)
            inverse = fit_inversion(X) if N >= INVERSION_FROM else None
            row += (math.nan, math.nan) if inverse is None else _J(inverse.gamma, inverse.gamma_error)
            table.writerow(row)
    return text.getvalue()


def _J(gamma: float, error: float) -> tuple[float, float]:
    return math.sqrt(gamma), (math.sqrt(gamma + error) - math.sqrt(max(gamma - error, 0.0))) / 2


def run(folder: Path, jobs: int) -> None:
    """Compute the pieces that are missing."""
    (folder / "cells").mkdir(parents=True, exist_ok=True)
    pieces = list(itertools.product(sorted(COUPLINGS, reverse=True), FIELDS, range(0, REPEATS, PIECE)))
    missing = [key for key in pieces if not _path(folder, key).exists()]
    results = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(
        delayed(lambda key: (key, piece(*key)))(key) for key in missing
    )
    for done, (key, text) in enumerate(results, len(pieces) - len(missing) + 1):
        with writing(_path(folder, key)) as file:
            file.write(text.encode())
        print(f"{done}/{len(pieces)}: J = {key[0]}, H = {key[1]}", flush=True)
    with writing(folder / "estimates.csv", force=True) as file:
        file.write((",".join(COLUMNS) + "\n").encode())
        for key in sorted(pieces):
            file.write(_path(folder, key).read_bytes())


def _path(folder: Path, key: tuple[float, float, int]) -> Path:
    return folder / "cells" / f"J{key[0]}-H{key[1]}-{key[2]}.csv"


def load(folder: Path) -> dict[str, np.ndarray]:
    """All estimates by column, with that of "auto", which follows from the others by its rule."""
    with (folder / "estimates.csv").open() as file:
        rows = [[float(value) for value in row] for row in itertools.islice(csv.reader(file), 1, None)]
    table = dict(zip(COLUMNS, np.array(rows).T, strict=True))
    r = np.maximum(table["r"], (1 - np.clip(table["q"], 0, 1)) ** 2)
    distance = 1 - table["spectral"] ** 2 * r
    limit = np.select([table["N"] >= 10 * N_SPINS, table["N"] >= 3 * N_SPINS], [0.3, 0.05], -np.inf)
    table["auto"] = np.where(distance < limit, table["inversion"], table["spectral"])
    return table


def rmse(values: np.ndarray, J: float) -> float:
    return float(np.sqrt(np.mean((values - J) ** 2)))


def summarise(folder: Path) -> None:
    """accuracy.csv: mean, standard deviation and root mean square error of each method in each cell."""
    table = load(folder)
    rng = np.random.default_rng(0)
    names = ("naive", *METHODS, "auto")
    lines = [("J", "H", "N", "repeats", "method", "mean", "sd", "rmse", "floor")]
    checks = defaultdict(list)
    maps: dict[tuple[float, str], np.ndarray] = {
        (H, name): np.zeros((2, len(COUPLINGS), len(SAMPLES))) for H in FIELDS for name in names
    }
    for H, (i, J), (k, N) in itertools.product(FIELDS, enumerate(COUPLINGS), enumerate(SAMPLES)):
        here = (table["J"] == J) & (table["H"] == H) & (table["N"] == N)
        cell = {name: table[name][here] for name in names}
        count = int(here.sum())
        for name, values in cell.items():
            mean, sd, error = values.mean(), values.std(ddof=1), rmse(values, J)
            lines.append((J, H, N, count, name, *(f"{x:.4f}" for x in (mean, sd, error, J / N_SPINS))))
            maps[H, name][:, i, k] = mean / J - 1, error / J
        where = f"J = {J}, H = {H}, N = {N}"
        se = {name: values.std(ddof=1) / np.sqrt(count) for name, values in cell.items()}
        if J <= 0.8 and cell["susceptibility"].std(ddof=1) < 0.1:
            off = abs(cell["susceptibility"].mean() - J) - 3 * se["susceptibility"]
            checks["susceptibility: |mean - J| - 3 standard errors, at most 0.03"].append((off, where))
        if J <= 0.8 and cell["spectral"].std(ddof=1) < 0.1:
            off = abs(cell["spectral"].mean() - J) - 3 * se["spectral"]
            checks["spectral, corrected: |mean - J| - 3 standard errors"].append((off, where))
        if J <= 0.8 and cell["uncorrected"].std(ddof=1) < 0.1:
            low = (J - cell["uncorrected"].mean() - 3 * se["uncorrected"]) / J
            if N >= N_SPINS / 3:
                checks["spectral, uncorrected, alpha >= 1/3: low by at most 12%"].append((low, where))
            if N >= 3 * N_SPINS:
                checks["spectral, uncorrected, alpha >= 3: low by at most 3%"].append((low, where))
        if J == 0.8 and N >= N_SPINS:
            for name in ("uncorrected", "spectral"):
                ratio = cell[name].std(ddof=1) / cell["susceptibility"].std(ddof=1)
                checks[
                    f"{name}, J = 0.8: standard deviation over that of susceptibility, at most 0.6"
                ].append((ratio, where))
        public = [name for name in METHODS if name != "uncorrected" and np.isfinite(cell[name]).all()]
        best = min(public, key=lambda name: rmse(cell[name], J))
        draws = rng.integers(0, count, (400, count))
        ratios = [rmse(cell["auto"][d], J) / rmse(cell[best][d], J) for d in draws]
        excess = rmse(cell["auto"], J) / rmse(cell[best], J) - 2 * np.std(ratios)
        checks["auto: RMSE over that of the best method, less 2 bootstrap errors, at most 1.1"].append(
            (excess, f"{where}, best: {best}")
        )
        if J >= 1:
            worse = rmse(cell["auto"], J) / rmse(cell["pseudolikelihood"], J)
            checks["auto, J >= 1: RMSE over that of pseudolikelihood, at most 1"].append((worse, where))
    with writing(folder / "accuracy.csv", force=True) as file:
        file.write("".join(",".join(map(str, line)) + "\n" for line in lines).encode())
    for title, found in checks.items():
        worst = sorted(found, reverse=True)[:4]
        print(f"{title}: worst of {len(found)} cells " + "; ".join(f"{x:.3f} ({w})" for x, w in worst))
    for H in FIELDS:
        draw(folder / f"accuracy-H{H:g}.png", H, {name: maps[H, name] for name in names})


def draw(path: Path, H: float, maps: dict[str, np.ndarray]) -> None:
    """Root mean square error over J as colour, the relative bias in numbers."""
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 9.6), layout="constrained")
    axes = figure.subplots(3, 3).ravel()
    for ax, (name, (bias, error)) in zip(axes, maps.items(), strict=False):
        image = ax.imshow(error, origin="lower", aspect="auto", cmap="viridis_r", norm=LogNorm(0.005, 1))
        for (i, k), value in np.ndenumerate(bias):
            if np.isnan(value):
                continue
            colour = "white" if error[i, k] > 0.08 else "black"
            ax.text(k, i, f"{100 * value:+.0f}%", ha="center", va="center", fontsize=8, color=colour)
        ax.set_xticks(range(len(SAMPLES)), [f"{N / N_SPINS:.2g}" for N in SAMPLES])
        ax.set_yticks(range(len(COUPLINGS)), [f"{J:g}" for J in COUPLINGS])
        ax.set_title({"uncorrected": "spectral, uncorrected", "plefka": "plefka (the paper)"}.get(name, name))
        ax.set_xlabel("N/n")
        ax.set_ylabel("J")
    axes[-1].axis("off")
    figure.colorbar(image, cax=axes[-1].inset_axes((0.1, 0.0, 0.08, 1.0)), label="RMSE / J")
    figure.suptitle(f"n = {N_SPINS}, H = {H:g}: relative error of J (colour) and its bias (numbers)")
    with writing(path, force=True) as file:
        figure.savefig(file, format="png", dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    run(arguments.folder, arguments.jobs)
    summarise(arguments.folder)


if __name__ == "__main__":
    main()
