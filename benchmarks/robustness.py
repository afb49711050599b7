"""Are the standard errors honest, and what do the methods say of data that are not quite those of the theory?

    python benchmarks/robustness.py FOLDER [--jobs 2]

About 15 minutes on 2 cores; writes errors.csv and beyond.csv. Data are annealed slowly enough (4 sweeps at
each of 34 temperatures) to be at equilibrium for J up to 0.8.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

import bayesing as bs
from bayesing.files import writing

METHODS = ("plefka", "susceptibility", "spectral", "pseudolikelihood", "inversion")
POINTS = ((0.4, 0.0, 100), (0.6, 0.2, 60), (0.8, 0.0, 400), (0.8, 0.4, 100))  # J, H, N at n = 200
DATA_SETS = 200


def estimates(spins: np.ndarray, methods: tuple[str, ...], **parameters) -> list[float]:
    found = []
    for method in methods:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bs.BayesingWarning)
            eb = bs.EmpiricalBayes(method, random_state=0, **parameters).fit(spins)
        found += [eb.J_, eb.J_error_, eb.H_, eb.H_error_, eb.J0_, eb.J0_error_]
    return found


def errors(jobs: int) -> list[list]:
    """Standard deviation of (estimate - mean)/error over data sets, which is 1 if errors are honest."""
    rows: list[list] = [["J", "H", "N", "method", "J_mean", "J_sd", "J_ratio", "H_mean", "H_sd", "H_ratio"]]
    for J, H, N in POINTS:
        methods = METHODS if N >= 2 * 200 else METHODS[:-1]  # inversion needs many samples

        def one(
            k: int, J: float = J, H: float = H, N: int = N, methods: tuple[str, ...] = methods
        ) -> list[float]:
            seed = np.random.SeedSequence([1, round(10 * J), round(10 * H), N, k])
            return estimates(bs.simulate(200, N, J=J, H=H, sweeps=4, seed=seed).spins, methods)

        found = np.array(Parallel(n_jobs=jobs)(delayed(one)(k) for k in range(DATA_SETS)))
        for index, method in enumerate(methods):
            row: list = [J, H, N, method]
            for k in (6 * index, 6 * index + 2):
                values, error = found[:, k], found[:, k + 1]
                ratio = np.std((values - values.mean()) / error, ddof=1)
                row += [f"{x:.4f}" for x in (values.mean(), values.std(ddof=1), ratio)]
            rows.append(row)
            print(*row, flush=True)
    return rows


def sparse(n: int, degree: float, J: float, rng: np.random.Generator) -> bs.IsingModel:
    """Couplings on a random graph, of variance J^2/degree, so that their sum of squares per spin is J^2."""
    edges = np.triu(rng.random((n, n)) < degree / n, 1)
    couplings = edges * rng.normal(0, J / np.sqrt(degree), (n, n))
    return bs.IsingModel(couplings + couplings.T)


def cases() -> dict[str, Callable[[int], tuple[np.ndarray, dict]]]:
    """Data sets of J = 0.6 that are not quite those of the theory, and parameters of the fit."""

    def simulated(n: int = 200, N: int = 2000, spread: float = 0.0, mean: float = 0.0, **settings):
        def data(k: int) -> tuple[np.ndarray, dict]:
            fields = np.random.default_rng(k).normal(mean, spread, n) if spread else settings.get("H", 0.0)
            rest = {name: value for name, value in settings.items() if name != "H"}
            spins = bs.simulate(n, N, J=0.6, H=fields, sweeps=4, seed=k, **rest).spins
            return spins, {"mean_coupling": True} if "J0" in rest else {}

        return data

    def on_graph(degree: float):
        def data(k: int) -> tuple[np.ndarray, dict]:
            model = sparse(200, degree, 0.6, np.random.default_rng(k))
            return bs.sample(model, 2000, sampler="temper", seed=k), {}

        return data

    return {
        "fields N(-0.5, 0.7^2)": simulated(spread=0.7, mean=-0.5),
        "fields N(-1.5, 0.5^2)": simulated(spread=0.5, mean=-1.5),
        "Laplace couplings": simulated(prior="laplace"),
        "J0 = 0.4, H = 0.1": simulated(J0=0.4, H=0.1),
        "n = 50, N = 500": simulated(n=50, N=500),
        "n = 100, N = 1000": simulated(n=100, N=1000),
        "sparse, degree 20": on_graph(20),
        "sparse, degree 5": on_graph(5),
    }


def beyond(jobs: int, repeats: int = 20) -> list[list]:
    rows: list[list] = [["data", "method", "J_mean", "J_sd", "J0_mean", "J0_sd"]]
    for name, data in cases().items():

        def one(k: int, data=data) -> list[float]:
            spins, parameters = data(k)
            return estimates(spins, ("susceptibility", "spectral"), **parameters)

        found = np.array(Parallel(n_jobs=jobs)(delayed(one)(k) for k in range(repeats)))
        for index, method in enumerate(("susceptibility", "spectral")):
            J, J0 = found[:, 6 * index], found[:, 6 * index + 4]
            row = [name, method, *(f"{x:.4f}" for x in (J.mean(), J.std(ddof=1), J0.mean(), J0.std(ddof=1)))]
            rows.append(row)
            print(*row, flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name, work in (("beyond", beyond), ("errors", errors)):
        if not (arguments.folder / f"{name}.csv").exists():
            rows = work(arguments.jobs)
            with writing(arguments.folder / f"{name}.csv") as file:
                file.write("".join(",".join(map(str, row)) + "\n" for row in rows).encode())


if __name__ == "__main__":
    main()
