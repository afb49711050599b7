"""Where the truth is known: the exact mode of few spins, simulated couplings, and their strength."""

from __future__ import annotations

import itertools
import math
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy

import bayesing as bs
from bayesing.experiments.cells import Task
from bayesing.ising import all_states

from coupling_data import cell, data, error, machine, mean_by
from coupling_recovery import HONEST, Z_90
from front import Row, Settings, grouped
from methods import fitted, gamma_at_mode

METHOD = "likelihood"


def fit(spins: np.ndarray, seed: int = 0, **parameters: Any) -> tuple[bs.BoltzmannMachine, float]:
    """A fit and its seconds. What warnings say is in the certificate."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        bm = bs.BoltzmannMachine(METHOD, random_state=seed, **parameters).fit(spins)
    return bm, time.perf_counter() - start


def certificate(bm: bs.BoltzmannMachine) -> Row:
    """Mismatches in standard errors of the data."""
    found = bm.certificate_
    names = ("means", "largest_mean", "pairs", "largest_pair", "active", "active_in_data", "unseen")
    return {"passed": int(found.passed)} | {name: getattr(found, name) for name in names}


# Against enumeration of all states


def exact_tasks(s: Settings) -> list[Task]:
    return [cell(exact, s, n, J) for n, J in itertools.product(s.n, s.J)]


def exact(s: Settings, n: int, J: float) -> Iterator[Row]:
    """Deviation of the couplings from the exact mode, in standard deviations of the exact posterior."""
    rng = np.random.default_rng([31, n, round(10 * J)])
    couplings = np.triu(rng.normal(0, J / math.sqrt(n), (n, n)), 1)
    model = bs.IsingModel(couplings + couplings.T, rng.normal(0, s.fields, n))
    states = all_states(n)
    p = np.exp(-model.energy(states) - model.log_partition())
    spins = states[rng.choice(len(states), s.N, p=p / p.sum())].astype(np.int8)
    spins = spins[:, np.ptp(spins, axis=0) > 0]
    bm, _ = fit(spins, gamma=J**2)
    mode, deviations = exact_mode(spins, J**2)
    upper = np.triu_indices(spins.shape[1], 1)
    off = (bm.couplings_[upper] - mode) / deviations
    ratio = bm.coupling_errors_[upper] / deviations
    yield {
        **{"n": n, "J": J, "N": s.N, "rms": math.sqrt(np.mean(off**2)), "largest": np.abs(off).max()},
        **{"error_ratio": ratio.mean(), "least_ratio": ratio.min()},
    }


def exact_mode(spins: np.ndarray, gamma: float) -> tuple[np.ndarray, np.ndarray]:
    """Couplings i < j at the mode of the posterior, and standard deviations from the curvature there."""
    N, n = spins.shape
    upper = np.triu_indices(n, 1)

    def features(s: np.ndarray) -> np.ndarray:
        return np.concatenate([s[:, upper[0]] * s[:, upper[1]], s], axis=1).astype(float)

    of_states, of_data = features(all_states(n)), features(spins).mean(axis=0)
    precision = np.repeat([n / gamma, 1.0], [len(upper[0]), n])

    def minus_log_posterior(x: np.ndarray) -> tuple[float, np.ndarray]:
        exponents = of_states @ x
        log_z = scipy.special.logsumexp(exponents)
        moments = np.exp(exponents - log_z) @ of_states
        value = N * (log_z - of_data @ x) + precision @ x**2 / 2
        return value, N * (moments - of_data) + precision * x

    options = {"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-7}
    x = scipy.optimize.minimize(
        minus_log_posterior, np.zeros(len(precision)), jac=True, method="L-BFGS-B", options=options
    ).x
    exponents = of_states @ x
    p = np.exp(exponents - scipy.special.logsumexp(exponents))
    centred = of_states - p @ of_states
    curvature = N * (centred.T * p) @ centred + np.diag(precision)
    return x[: len(upper[0])], np.sqrt(np.diag(np.linalg.inv(curvature)))[: len(upper[0])]


def exact_summary(s: Settings, rows: list[Row]) -> None:
    worst = {name: max(float(row[name]) for row in rows) for name in ("rms", "largest")}
    ratios = [float(row["error_ratio"]) for row in rows]
    print(
        f"  {len(rows)} cases: within {worst['rms']:.3f} posterior standard deviations rms, {worst['largest']:.2f} "
        f"at most; errors over exact ones {min(ratios):.2f} to {max(ratios):.2f} on average"
    )


# Simulated couplings


def simulated_tasks(s: Settings) -> list[Task]:
    return [
        cell(simulated, s, size["n"], size["n"] * per, J, repeat, cost=size["n"] ** 3 * per)
        for size, per, J in itertools.product(s.sizes, s.per_spin, s.J)
        for repeat in range(size["repeats"])
    ]


def simulated(s: Settings, n: int, N: int, J: float, repeat: int) -> Iterator[Row]:
    """Errors of the couplings, at the gamma that each method infers, at that of the mode, and at the true one."""
    sim = data(n, N, J, 0.0, repeat)
    upper = np.triu_indices(n, 1)
    for rule, gamma in {"own": "auto", "mode": gamma_at_mode(sim.spins), "true": J**2}.items():
        at = {"n": n, "N": N, "J": J, "repeat": repeat, "rule": rule}
        if gamma == 0:
            continue
        bm, elapsed = fit(sim.spins, repeat, gamma=gamma)
        if bm.certificate_ is None:  # no couplings
            continue
        z = ((bm.couplings_ - sim.couplings)[upper]) / bm.coupling_errors_[upper]
        yield {
            **at,
            **{"method": METHOD, "gamma": bm.gamma_, "error": error(bm.couplings_, sim.couplings)},
            **{"covered": np.mean(np.abs(z) < Z_90), "seconds": elapsed},
            **certificate(bm),
        }
        for method in s.rivals if rule != "mode" else []:
            rival = machine(method, gamma=gamma).fit(sim.spins)
            z = ((rival.couplings_ - sim.couplings)[upper]) / rival.coupling_errors_[upper]
            yield {
                **at,
                **{"method": method, "gamma": rival.gamma_, "error": error(rival.couplings_, sim.couplings)},
                **{"covered": np.mean(np.abs(z) < Z_90), "seconds": 0.0},
                **dict.fromkeys(certificate(bm), ""),
            }


def simulated_summary(s: Settings, rows: list[Row]) -> None:
    own = [row for row in rows if row["method"] == METHOD]
    passed = sum(int(row["passed"]) for row in own)
    worst = {
        name: max(float(row[name]) for row in own)
        for name in ("means", "pairs", "largest_mean", "largest_pair")
    }
    print(
        f"  certificate passed in {passed} of {len(own)}; largest rms of means {worst['means']:.2f}, of pairs "
        f"{worst['pairs']:.2f}; largest single one {worst['largest_mean']:.2f}, {worst['largest_pair']:.2f}"
    )
    errors = mean_by(rows, "error", "n", "N", "J", "rule", "method")
    cover = mean_by(own, "covered", "n", "N", "J", "rule")
    print("    n     N   J  gamma      error   better rival  excess %  90% intervals cover")
    for n, N, J, rule in cover:
        base = "own" if rule == "mode" else rule
        best = min(errors[n, N, J, base, name] for name in s.rivals)
        mine, covered = errors[n, N, J, rule, METHOD], cover[n, N, J, rule]
        mark = "" if HONEST[0] <= covered <= HONEST[1] else "  *"
        print(
            f"  {n:>3} {N:>5} {J:>3}  {rule:9} {mine:6.4f}  {best:6.4f}       {100 * (mine / best - 1):+5.1f}     "
            f"{100 * covered:5.1f}%{mark}"
        )


# How strong are the couplings


def strength_tasks(s: Settings) -> list[Task]:
    keys = itertools.product(s.J, s.H, s.N, range(s.repeats))
    return [cell(strength, s, J, H, N, repeat, cost=J) for J, H, N, repeat in keys]


def strength(s: Settings, J: float, H: float, N: int, repeat: int) -> Iterator[Row]:
    """J by the posterior, over the realised one; for some, also that of calibration by simulations."""
    sim = data(s.n, N, J, H, repeat)
    realised = math.sqrt(s.n * np.mean(sim.couplings[np.triu_indices(s.n, 1)] ** 2))
    row = {"J": J, "H": H, "N": N, "repeat": repeat, "realised": realised}
    for method in (METHOD, "auto"):
        start = time.perf_counter()
        eb = fitted(sim.spins, method)
        elapsed = time.perf_counter() - start
        yield row | {"method": method, "estimate": eb.J_, "error": eb.J_error_, "seconds": elapsed}
    if repeat == 0 and H == 0 and s.calibrated >= J:
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bs.BayesingWarning)
            found = eb.interval(n_simulations=s.simulations, seed=0)
        elapsed = time.perf_counter() - start
        width = (found.J[1] - found.J[0]) / (2 * Z_90)
        yield row | {
            **{"method": "interval", "estimate": found.J_corrected, "error": width},
            **{"seconds": elapsed},
        }


def strength_summary(s: Settings, rows: list[Row]) -> None:
    print("    J   H     N  method         J/realised: mean, sd, largest deviation   error said   seconds")
    for (J, H, N, method), here in grouped(rows, "J", "H", "N", "method").items():
        ratios = np.array([float(row["estimate"]) / float(row["realised"]) for row in here])
        said = np.mean([float(row["error"]) / float(row["realised"]) for row in here])
        seconds = np.mean([float(row["seconds"]) for row in here])
        print(
            f"  {J:>3} {H:>3} {N:>5}  {method:12} {ratios.mean():8.3f} {ratios.std():6.3f} "
            f"{np.abs(ratios - 1).max():6.3f} {said:20.3f} {seconds:12.1f}"
        )
