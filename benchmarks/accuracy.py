"""How far from the truth is each method? Equilibrated data, n = 300, over (J, H, N); about an hour on 2 cores.

    python benchmarks/accuracy.py FOLDER [--jobs 2]

Each finished piece of work is a file in FOLDER/cells, so that an interrupted run goes on where it stopped. At the
end estimates.csv holds every estimate of every data set, accuracy.csv their means and errors, accuracy-H*.png the
relative errors over (J, N/n), and tables.md what docs/accuracy.md shows.
"""

from __future__ import annotations

import argparse
import csv
import io
import itertools
import math
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

import bayesing as bs
from bayesing.files import writing
from bayesing.hyper.plefka import fit_plefka
from bayesing.hyper.pseudolikelihood import fit_pseudolikelihood
from bayesing.hyper.spectral import fit_spectral
from bayesing.hyper.susceptibility import fit_susceptibility

N_SPINS = 300
COUPLINGS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2)
FIELDS = (0.0, 0.2, 0.4)
SAMPLES = (30, 120, 300, 1000, 3000)
REPEATS, PIECE = 50, 10
TARGETS = 32  # spins of "pseudolikelihood"
METHODS = ("plefka", "susceptibility", "spectral", "uncorrected", "pseudolikelihood")
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
COLUMNS += ("pseudolikelihood_error",)


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
            conditionals = fit_pseudolikelihood(X, TARGETS, seed=repeat)
            row = [J, H, repeat, N, int(not caught), m.r, m.q, math.sqrt(max(x / (1 + x), 0.0))]
            row += [*_J(plefka), *_J(susceptibility), *_J(spectral), math.sqrt(spectral.gamma_uncorrected)]
            table.writerow([*row, *_J(conditionals)])
    return text.getvalue()


def _J(fit) -> tuple[float, float]:
    gamma, error = fit.gamma, fit.gamma_error
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    run(arguments.folder, arguments.jobs)


if __name__ == "__main__":
    main()
