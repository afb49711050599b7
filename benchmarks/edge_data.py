"""Networks with known edges, and what the parts of the benchmark of edges share: data, fits, and scores of edges.

A kind of network is a table of the settings, such as ``{graph = "random", n = 100, degree = 4, couplings = "signs",
size = 0.4}``. Its key ``graph`` names the function that draws the edges, and ``couplings`` the one that draws their
values.
"""

from __future__ import annotations

import time
import warnings
from typing import Any, NamedTuple

import numpy as np

import bayesing as bs

from coupling_data import machine
from front import Row
from zoo_data import symmetric
from zoo_kinds import heard

Kind = dict[str, Any]  # the table of a kind of network
NOT_SPARSE = "NotSparseWarning"


class Network(NamedTuple):
    """Spins (int8, samples x n), and the model that they are samples of."""

    spins: np.ndarray
    model: bs.IsingModel

    @property
    def couplings(self) -> np.ndarray:
        """Of all pairs i < j."""
        return pairs_of(self.model.couplings)


def pairs_of(matrix: np.ndarray) -> np.ndarray:
    """The entries i < j of a symmetric matrix."""
    return matrix[np.triu_indices(len(matrix), 1)]


# Networks


def random_graph(kind: Kind, rng: np.random.Generator) -> np.ndarray:
    """Every pair is an edge with the same probability."""
    n = kind["n"]
    return rng.random((n, n)) < kind["degree"] / (n - 1)


def blocks(kind: Kind, rng: np.random.Generator) -> np.ndarray:
    """Groups of spins that are all coupled to each other, and to no others."""
    group = np.arange(kind["n"]) // kind["block"]
    return group[:, None] == group


def small_world(kind: Kind, rng: np.random.Generator) -> np.ndarray:
    """A ring of spins with edges to near neighbours, some of which lead elsewhere (Watts and Strogatz, 1998).

    Each edge (i, i + distance) keeps its end i. With a given probability its other end is drawn anew, such that no
    edge leads to i itself or is there twice.
    """
    n, rewiring = kind["n"], kind["rewiring"]
    edges = np.zeros((n, n), dtype=bool)
    for distance in range(1, kind["degree"] // 2 + 1):
        i = np.arange(n)
        edges[i, (i + distance) % n] = edges[(i + distance) % n, i] = True
    for distance in range(1, kind["degree"] // 2 + 1):
        for i in range(n):
            free = np.flatnonzero(~edges[i] & (np.arange(n) != i))
            if rng.random() < rewiring and len(free):
                j, new = (i + distance) % n, rng.choice(free)
                edges[i, j] = edges[j, i] = False
                edges[i, new] = edges[new, i] = True
    return edges


GRAPHS = {"random": random_graph, "blocks": blocks, "small world": small_world}


def values(kind: Kind, rng: np.random.Generator) -> np.ndarray:
    """Couplings of root mean square ``size``: equal, of equal size with random signs, or of random size and sign."""
    shape = (kind["n"], kind["n"])
    unit = {
        "positive": lambda: np.ones(shape),
        "signs": lambda: rng.choice([-1.0, 1.0], shape),
        "gaussian": lambda: rng.normal(size=shape),
        "exponential": lambda: rng.laplace(scale=np.sqrt(0.5), size=shape),
    }
    return kind["size"] * unit[kind["couplings"]]()


def model_of(kind: Kind, rng: np.random.Generator) -> bs.IsingModel:
    """Fields are normal with mean ``field`` and standard deviation ``spread``, 0 unless the kind has them."""
    couplings = symmetric(GRAPHS[kind["graph"]](kind, rng) * values(kind, rng))
    return bs.IsingModel(couplings, rng.normal(kind.get("field", 0.0), kind.get("spread", 0.0), kind["n"]))


def network(kind: Kind, name: str, N: int, sweeps: int, seed: int) -> Network:
    """A network of this kind, and samples at equilibrium by slow annealing: each row is a chain of its own."""
    rng = np.random.default_rng([61, *name.encode(), seed])
    model = model_of(kind, rng)
    return Network(bs.sample(model, N, sampler="anneal", sweeps=sweeps, seed=rng), model)


# Fits and their scores


def fit(spins: np.ndarray, method: str = "auto", **parameters: Any) -> tuple[bs.BoltzmannMachine, float]:
    """A fit with couplings and errors, and its seconds. Warnings are not shown."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        bm = machine(method, **parameters).fit(spins)
        _ = bm.couplings_, bm.coupling_errors_
    return bm, time.perf_counter() - start


def sparse(spins: np.ndarray) -> tuple[bs.BoltzmannMachine, str, float]:
    """The fit that this benchmark is about, the kinds of warnings that it shows, and its seconds."""

    def work() -> bs.BoltzmannMachine:
        bm = machine(prior="sparse").fit(spins)
        _ = bm.couplings_, bm.coupling_errors_
        return bm

    return heard(work)


def fell_back(said: str) -> int:
    """1 if the data do not show that they are sparse, and the fit is that of the Gaussian prior."""
    return int(NOT_SPARSE in said)


def declared(found: Any, fdr: float, n: int) -> np.ndarray:
    """Which pairs i < j a fit, or a comparison, declares at this false discovery rate."""
    chosen = np.zeros((n, n), dtype=bool)
    for edge in found.edges(fdr=fdr):
        chosen[edge.i, edge.j] = chosen[edge.j, edge.i] = True
    return pairs_of(chosen)


def counts(chosen: np.ndarray, truth: np.ndarray, name: str) -> Row:
    """How many pairs are chosen, and how many of these are true."""
    return {name: int(chosen.sum()), f"{name}_true": int((chosen & truth).sum())}


def total(rows: list[Row], column: str) -> float:
    """Sum of a column over the rows that have a value."""
    return sum(float(row[column]) for row in rows if row[column] != "")


def ratio(rows: list[Row], part: str, whole: str) -> float:
    """Sum of one column over that of another; nan where there is nothing."""
    return total(rows, part) / (total(rows, whole) or float("nan"))


def false_share(rows: list[Row], name: str) -> float:
    """Share of the chosen pairs of all rows that are not true; 0 where none is chosen."""
    chosen = total(rows, name)
    return 1 - total(rows, f"{name}_true") / chosen if chosen else 0.0


def claim(words: str, kept: bool) -> None:
    """A line that says whether what is promised holds."""
    print(f"  {'holds ' if kept else 'BROKEN'} {words}")
