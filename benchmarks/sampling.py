"""The sampler against the matrix products that are its floor, and against what people use now: ``make bench``.

    python benchmarks/sampling.py [FOLDER]

Ratios within one run, one thread each unless it says otherwise. Nothing else should be running. What a sweep consists
of is written to FOLDER/sampling.csv.
"""

import sys
from pathlib import Path

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

import bayesing as bs
from bayesing.sampling.anneal import schedule

from front import write_rows
from methods import sweep_parts
from timing import processor_seconds, seconds


def model(n: int) -> bs.IsingModel:
    couplings = np.triu(np.random.default_rng(0).normal(0, 0.8 / np.sqrt(n), (n, n)), 1)
    return bs.IsingModel(couplings + couplings.T)


def against_floor_and_peer(n: int = 500, chains: int = 200) -> None:
    from dwave.samplers import SimulatedAnnealingSampler

    print(f"\nannealing, n = {n}, {chains} chains, the default 35 sweeps, one thread")
    ising, betas = model(n), schedule(0.03, 1, 1)
    J = ising.couplings.astype(np.float32)
    S = np.ones((n, chains), np.float32)
    i, j = np.triu_indices(n, 1)
    couplings = dict(
        zip(zip(i.tolist(), j.tolist(), strict=True), (-ising.couplings[i, j]).tolist(), strict=True)
    )
    peer = SimulatedAnnealingSampler()
    custom = {"beta_schedule_type": "custom", "beta_schedule": betas, "num_sweeps_per_beta": 1, "seed": 0}

    def dwave(criterion: str) -> object:
        return peer.sample_ising(
            {}, couplings, num_reads=chains, proposal_acceptance_criteria=criterion, **custom
        ).info["timing"]

    def their_seconds(criterion: str) -> float:
        """Their own count of sampling alone, without the conversion of the problem."""
        return min(dwave(criterion)["sampling_ns"] for _ in range(3)) * 1e-9

    def ours() -> object:
        return bs.annealed_importance_sampling(ising, chains, seed=0)

    def floor() -> None:
        for _ in betas:
            J @ S

    with threadpool_limits(1, user_api="blas"):
        time, products = seconds(ours, floor)
        gibbs, metropolis = their_seconds("Gibbs"), their_seconds("Metropolis")
    rows = [
        ("ours", time, f"{n * chains * 35 / time / 1e6:.0f} million updates a second"),
        (
            "35 products (n x n) @ (n x chains)",
            products,
            f"ours takes {time / products:.2f} times that (at most 2)",
        ),
        ("dwave-samplers, Gibbs", gibbs, f"ours is {gibbs / time:.1f} times faster (at least 15)"),
        ("dwave-samplers, Metropolis", metropolis, f"ours is {metropolis / time:.1f} times faster"),
    ]
    for name, value, remark in rows:
        print(f"  {name:36} {value * 1e3:8.1f} ms   {remark}")


def parts_of_a_sweep(folder: Path | None) -> None:
    print("\na sweep, processor time over that of one product (n x n) @ (n x chains), one thread")
    rows = []
    for n, chains in [(100, 256), (500, 200), (500, 256), (1000, 256), (2000, 256)]:
        functions = sweep_parts(model(n), chains)
        with threadpool_limits(1, user_api="blas"):
            times = processor_seconds(
                *functions.values(), repeats=15, times=max(1, 2 * 10**8 // (n * n * chains))
            )
        found = dict(zip(functions, times, strict=True))
        rows.append({"n": n, "chains": chains, **found, "ratio": found["sweep"] / found["floor"]})
        shares = ", ".join(f"{name} {time / found['floor']:.2f}" for name, time in found.items())
        print(f"  n = {n:4}, {chains} chains: floor {found['floor'] * 1e6:.0f} us; {shares}")
    if folder:
        write_rows(folder / "sampling.csv", rows)


def second_core(n: int = 500, chains: int = 2048) -> None:
    print(f"\nsecond core, n = {n}, {chains} chains")
    ising = model(n)

    def run(jobs: int) -> object:
        with joblib.parallel_config(n_jobs=jobs):
            return bs.annealed_importance_sampling(ising, chains, seed=0)

    one, two = seconds(lambda: run(1), lambda: run(2), repeats=5)
    print(f"  one {one:.2f} s, two {two:.2f} s: {one / two:.2f} times the throughput (at least 1.7)")


def growth() -> None:
    print("\nmicroseconds per sweep")
    sizes, counts = [100, 200, 500, 1000, 2000, 4000], [10, 100, 1000, 5000]
    print("       n " + "".join(f"{count:>12} chains" for count in counts))
    table = np.empty((len(sizes), len(counts)))
    for a, n in enumerate(sizes):
        ising = model(n)
        for b, count in enumerate(counts):
            sweeps = max(1, min(35, int(2e10 / (n * n * count))))
            step = 1 / sweeps

            def run(ising: bs.IsingModel = ising, count: int = count, step: float = step) -> object:
                return bs.annealed_importance_sampling(ising, count, beta_step=step, final_sweeps=0, seed=0)

            (time,) = seconds(run, repeats=3 if n * n * count < 1e9 else 1)
            table[a, b] = time / sweeps * 1e6
        print(f"  {n:6} " + "".join(f"{value:>19.0f}" for value in table[a]))
    in_n = np.polyfit(np.log(sizes[2:]), np.log(table[2:]), 1)[0]
    in_chains = np.polyfit(np.log(counts[1:]), np.log(table[:, 1:].T), 1)[0]
    print("  exponent in n from 500 on, for each number of chains: " + ", ".join(f"{x:.2f}" for x in in_n))
    print(
        "  exponent in chains from 100 on, for each n:           " + ", ".join(f"{x:.2f}" for x in in_chains)
    )


def tempering() -> None:
    print("\nparallel tempering, 1000 samples at equilibrium, one thread")
    for n, J in [(64, 1.5), (300, 0.8), (300, 1.2)]:
        couplings = bs.simulate(n, 1, J=J, seed=1).couplings
        ising = bs.IsingModel(couplings)
        result = bs.parallel_tempering(ising, 1000, seed=0)
        (time,) = seconds(lambda ising=ising: bs.parallel_tempering(ising, 1000, seed=0), repeats=1)
        print(
            f"  n = {n:3}, J = {J}: {time:5.2f} s, {len(result.betas)} betas, swap rates "
            f"{result.swap_rates.min():.2f} to {result.swap_rates.max():.2f}, R-hat {result.r_hat:.3f}, "
            f"{result.n_rounds} rounds, {result.thin} between samples"
        )


if __name__ == "__main__":
    parts_of_a_sweep(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    against_floor_and_peer()
    second_core()
    growth()
    tempering()
