"""A catalogue of kinds of data with known answers: of the prior, near it, and of quite another kind.

>>> from zoo_data import KINDS
>>> data = KINDS["bursts"](seed=0)
>>> data.spins.shape, data.J
((20000, 60), None)

A kind is a function of a seed. Rows are in random order, except where the recording itself drifts. Models are sampled
at equilibrium by parallel tempering. Where spins are independent, given something that is drawn first, samples are
exact.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import expit

import bayesing as bs
from bayesing.ising import all_states

from likelihood_real import FOLDER, lattice

HELD_OUT = 1500  # samples
MAX_ROUNDS = 2**15  # of parallel tempering: ordered data are slow
FLIPS = 0.01  # share of spins of a copy that differ from the original


@dataclass(frozen=True, eq=False)
class DataSet:
    """Spins to fit and spins held out (int8, samples x n), and the pairwise model behind them, if there is one."""

    spins: np.ndarray
    held_out: np.ndarray
    model: bs.IsingModel | None = None

    @property
    def J(self) -> float | None:
        """Strength of the couplings, the root of n times their mean square."""
        return None if self.model is None else strength(self.model.couplings)

    @property
    def H(self) -> float | None:
        """Mean of the fields."""
        return None if self.model is None else float(self.model.fields.mean())

    @property
    def mean_K(self) -> float:
        """Mean number of active units, that is of spins +1, in the samples to fit."""
        return mean_active(self.spins)


Draw = Callable[[np.random.Generator], DataSet]


@dataclass(frozen=True)
class Kind:
    """A name, the group of kinds that it belongs to, and how to draw a data set."""

    name: str
    group: str
    draw: Draw

    def __call__(self, seed: int) -> DataSet:
        return self.draw(np.random.default_rng([*self.name.encode(), seed]))


def strength(couplings: np.ndarray) -> float:
    """The root of n times the mean square coupling."""
    n = len(couplings)
    return math.sqrt(n * np.mean(couplings[np.triu_indices(n, 1)] ** 2))


def mean_active(spins: np.ndarray) -> float:
    """Mean number of spins +1 in a sample."""
    return float((spins > 0).sum(axis=1).mean())


# Pairwise models


def of_model(couplings: np.ndarray, fields: np.ndarray | float, N: int, rng: np.random.Generator) -> DataSet:
    """Samples of a pairwise model at equilibrium."""
    model = bs.IsingModel(couplings, fields)
    spins = bs.parallel_tempering(model, N + HELD_OUT, max_rounds=MAX_ROUNDS, seed=rng).spins
    spins = rng.permutation(spins)
    return DataSet(spins[:N], spins[N:], model)


def symmetric(pairs: np.ndarray) -> np.ndarray:
    """The symmetric matrix with the entries of ``pairs`` above the diagonal."""
    upper = np.triu(pairs, 1)
    return upper + upper.T


def dense(
    n: int, N: int, J: float, H: float = 0.0, spread: float = 0.0, J0: float = 0.0, laplace: bool = False
) -> Draw:
    """Couplings of mean J0/n and variance J^2/n, fields of mean H and standard deviation ``spread``."""

    def draw(rng: np.random.Generator) -> DataSet:
        unit = rng.laplace(0, math.sqrt(0.5), (n, n)) if laplace else rng.normal(size=(n, n))
        return of_model(symmetric(J0 / n + J / math.sqrt(n) * unit), rng.normal(H, spread, n), N, rng)

    return draw


def sparse(n: int, N: int, degree: float, coupling: float, signs: bool) -> Draw:
    """Equal couplings on a random graph of given mean degree; with ``signs``, half of them are negative."""

    def draw(rng: np.random.Generator) -> DataSet:
        edges = rng.random((n, n)) < degree / (n - 1)
        sign = rng.choice([-1, 1], (n, n)) if signs else 1
        return of_model(symmetric(coupling * edges * sign), 0.0, N, rng)

    return draw


def blocks(n: int, N: int, size: int, coupling: float, H: float) -> Draw:
    """Groups of spins that are all coupled to each other, and to no others."""
    J = np.kron(np.eye(n // size), np.full((size, size), coupling))
    return lambda rng: of_model(symmetric(J), H, N, rng)


def square(size: int, N: int, K: float) -> Draw:
    """A square lattice with periodic boundaries."""
    return lambda rng: of_model(lattice(size, K), 0.0, N, rng)


def copies(n: int, N: int, J: float, pairs: int) -> Draw:
    """Dense, but the last columns are copies of the first, up to a few flips: each has one large coupling."""

    def draw(rng: np.random.Generator) -> DataSet:
        original = dense(n - pairs, N, J)(rng)
        couplings = np.zeros((n, n))
        couplings[:-pairs, :-pairs] = original.model.couplings
        first, last = np.arange(pairs), np.arange(n - pairs, n)
        couplings[first, last] = couplings[last, first] = math.atanh(1 - 2 * FLIPS)

        def copied(spins: np.ndarray) -> np.ndarray:
            flips = np.where(rng.random((len(spins), pairs)) < FLIPS, -1, 1).astype(np.int8)
            return np.hstack([spins, spins[:, :pairs] * flips])

        return DataSet(copied(original.spins), copied(original.held_out), bs.IsingModel(couplings))

    return draw


# Spins that are independent, given something that is drawn


def independent_spins(fields: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One sample for each row of fields."""
    return np.where(rng.random(fields.shape) < expit(2 * fields), 1, -1).astype(np.int8)


def field(p: np.ndarray | float) -> np.ndarray:
    """The field of a spin that is +1 with probability p."""
    return np.arctanh(2 * np.asarray(p) - 1)


def independent(n: int, N: int, H: float, spread: float) -> Draw:
    """No couplings at all."""

    def draw(rng: np.random.Generator) -> DataSet:
        fields = rng.normal(H, spread, n)
        spins = independent_spins(np.tile(fields, (N + HELD_OUT, 1)), rng)
        return DataSet(spins[:N], spins[N:], bs.IsingModel(np.zeros((n, n)), fields))

    return draw


def bursts(n: int, N: int, rate: float, high: float, share: float) -> Draw:
    """All units are active more often in a small share of the samples, at random times."""

    def draw(rng: np.random.Generator) -> DataSet:
        up = rng.random((N + HELD_OUT, 1)) < share
        spins = independent_spins(np.broadcast_to(field(np.where(up, high, rate)), (len(up), n)), rng)
        return DataSet(spins[:N], spins[N:])

    return draw


def mixture(n: int, N: int, share: float) -> Draw:
    """Each sample is of one of two independent distributions."""

    def draw(rng: np.random.Generator) -> DataSet:
        fields = np.stack([rng.normal(-0.3, 0.5, n), rng.normal(0.3, 0.5, n)])
        spins = independent_spins(fields[(rng.random(N + HELD_OUT) < share).astype(int)], rng)
        return DataSet(spins[:N], spins[N:])

    return draw


def hidden(n: int, N: int, units: int, weight: float) -> Draw:
    r"""A restricted Boltzmann machine: P(s, t) is proportional to exp(b s + s W t), with hidden t = ±1.

    Hidden units alone have P(t) proportional to prod_i 2 cosh(b_i + sum_k W_ik t_k), which is summed over all states.
    """

    def draw(rng: np.random.Generator) -> DataSet:
        W, b = rng.normal(0, weight / math.sqrt(n), (n, units)), rng.normal(-0.3, 0.3, n)
        fields = b + all_states(units) @ W.T  # a row for each hidden state
        log_weights = np.logaddexp(fields, -fields).sum(axis=1)
        p = np.exp(log_weights - log_weights.max())
        spins = independent_spins(fields[rng.choice(len(p), N + HELD_OUT, p=p / p.sum())], rng)
        return DataSet(spins[:N], spins[N:])

    return draw


def drift(n: int, N: int, H: float, spread: float) -> Draw:
    """Fields change linearly during the recording, from one draw to another. Samples held out are of all times."""

    def draw(rng: np.random.Generator) -> DataSet:
        begin, end = rng.normal(H, spread, (2, n))
        at = [np.linspace(0, 1, N)[:, None], rng.random((HELD_OUT, 1))]
        return DataSet(*(independent_spins(begin + times * (end - begin), rng) for times in at))

    return draw


# Real data


def recorded(load: Callable[[], np.ndarray], fitted: Callable[[int], int]) -> Draw:
    """Some rows to fit, the others held out."""

    def draw(rng: np.random.Generator) -> DataSet:
        spins = rng.permutation(load())
        cut = fitted(len(spins))
        return DataSet(spins[:cut], spins[cut:])

    return draw


def digits() -> np.ndarray:
    """Pixels that are not nearly always black or white."""
    spins = bs.load_digits().spins
    return np.ascontiguousarray(spins[:, np.abs(spins.mean(axis=0)) < 0.97])


def recording() -> np.ndarray:
    """40,000 words of 50 cells, from the folder that the environment variable names."""
    bits = np.load(Path(os.environ[FOLDER]) / "example50.npz")["bits"]
    return 2 * np.unpackbits(bits, axis=1, count=50).astype(np.int8) - 1


def three_quarters(N: int) -> int:
    return 3 * N // 4


_CATALOGUE: dict[str, dict[str, Draw]] = {
    "dense": {
        "dense 0.3": dense(100, 1000, J=0.3),
        "dense 0.3 field": dense(200, 600, J=0.3, H=0.2),
        "dense 0.6": dense(100, 300, J=0.6),
        "dense 0.6 small": dense(60, 100, J=0.6),
        "dense 0.6 field": dense(100, 1000, J=0.6, H=0.4),
        "dense 0.6 few samples": dense(300, 150, J=0.6),
        "dense 0.9": dense(100, 1000, J=0.9),
        "dense 0.9 field": dense(150, 3000, J=0.9, H=0.4),
        "dense 0.9 few samples": dense(200, 100, J=0.9, H=0.2),
        "laplace": dense(100, 1000, J=0.6, laplace=True),
        "unequal fields": dense(100, 2000, J=0.6, spread=1.2),
        "dense rare": dense(80, 3000, J=0.6, H=-1.3),
    },
    "glass": {
        "glass": dense(100, 1000, J=1.2),
        "glass field": dense(60, 3000, J=1.2, H=0.4),
    },
    "independent": {
        "independent": independent(100, 1000, H=0.0, spread=0.5),
        "independent rare": independent(60, 5000, H=float(field(0.02)), spread=0.0),
    },
    "sparse": {
        "sparse signs": sparse(100, 2000, degree=4, coupling=0.4, signs=True),
        "sparse positive": sparse(100, 2000, degree=3, coupling=0.35, signs=False),
        "rare blocks": blocks(25, 5000, size=5, coupling=0.35, H=-0.5),
    },
    "ferromagnet": {
        "ferromagnet 0.6": dense(100, 1000, J=0.4, J0=0.6),
        "ferromagnet 1.2": dense(100, 1000, J=0.4, J0=1.2),
        "ferromagnet 1.2 large": dense(200, 1000, J=0.4, J0=1.2),
    },
    "lattice": {
        "lattice 0.30": square(10, 2000, K=0.30),
        "lattice 0.44": square(10, 2000, K=0.44),
        "lattice 0.50": square(10, 2000, K=0.50),
    },
    "not pairwise": {
        "bursts": bursts(60, 20_000, rate=0.01, high=0.15, share=0.02),
        "mixture": mixture(60, 3000, share=0.3),
        "hidden units": hidden(60, 3000, units=5, weight=1.6),
        "drift": drift(60, 3000, H=-0.3, spread=0.8),
    },
    "copies": {"copies": copies(60, 2000, J=0.5, pairs=2)},
    "real": {
        "senate": recorded(lambda: bs.load_senate109(missing="drop").spins, three_quarters),
        "digits": recorded(digits, three_quarters),
        "recording": recorded(recording, lambda N: N // 2),
    },
}

KINDS = {
    name: Kind(name, group, draw)
    for group, of_group in _CATALOGUE.items()
    for name, draw in of_group.items()
    if name != "recording" or FOLDER in os.environ
}
