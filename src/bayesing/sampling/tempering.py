r"""Parallel tempering: samples at equilibrium, also where annealing gets stuck.

A ladder is a set of copies of the model at inverse temperatures 0 = beta_0 < ... < beta_K = 1. A round is one
Gibbs sweep of every copy and an exchange between neighbours, accepted with probability

.. math:: \min\{1, \exp[(\beta_{k+1} - \beta_k)(A_k - A_{k+1})]\},

A the exponent of P(S); pairs (0, 1), (2, 3), ... and (1, 2), (3, 4), ... take turns. At beta = 0 a sweep forgets
everything, so a copy that has travelled down and up again is a new sample.

**Temperatures.** For Gaussian energies the acceptance depends on (beta_{k+1} - beta_k) sigma(beta) alone, sigma
the standard deviation of A. An annealed pilot run gives sigma, and its integral is cut into equal parts; then,
while the ladders warm up, the parts are made equal in the measured rate of rejection (Syed, Bouchard-Cote,
Deligiannidis and Doucet, *Non-reversible parallel tempering*, 2022), so that swap rates come out about uniform.

**Equilibrium.** Sixteen independent ladders run side by side. Watched are the energy, the overlap q between pairs of
ladders, and the alignment sum_i h_i S_i with the fields. The warm-up doubles in length until the split R-hat of
all is below 1.03 and, on average, every ladder has sent one copy from beta = 1 to 0 and back. Samples are then
taken two of their autocorrelation times apart. Without fields S and -S are equally likely: then q^2 is watched, and
every sample is flipped with probability 1/2, which is exact.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..arguments import Seed, count, generator
from ..exceptions import NotEquilibratedWarning
from ..ising import IsingModel
from ..types import Spins
from ._gibbs import Chains, check_model, draw, generator_states, in_threads
from .diagnostics import autocorrelation_time, split_r_hat

Floats = NDArray[np.float64]

LADDERS = 16
LADDERS_PER_GROUP = 8  # an even number: overlaps are between pairs in a group
REJECTION = 0.35  # aimed at between neighbours
R_HAT = 1.05  # that of the whole is to be below
WARM_R_HAT = 1.03  # that ends the warm-up; lower, so that the samples do not tip the balance
MOST_BETAS = 1000
REFRESH = 64  # rounds after which the running exponents, in float32 steps, are computed afresh


@dataclass(frozen=True, eq=False)
class TemperedSample:
    """Spins (int8, samples x n) at beta = 1, and what the ladders say about their equilibrium.

    ``r_hat`` and ``autocorrelation_time`` (in rounds) are the largest of those of energy, overlap and alignment.
    ``round_trips`` counts journeys from beta = 1 to 0 and back, ``thin`` the rounds between samples of a ladder.
    """

    spins: Spins
    betas: Floats
    swap_rates: Floats
    round_trips: int
    autocorrelation_time: float
    r_hat: float
    thin: int
    n_rounds: int
    equilibrated: bool


def parallel_tempering(
    model: IsingModel, n_samples: int = 1000, max_rounds: int = 20_000, seed: Seed = None
) -> TemperedSample:
    """Samples of the model at equilibrium; :class:`NotEquilibratedWarning` where the diagnostics disagree.

    ``max_rounds`` (128 or more) bounds the last and longest stretch of the warm-up, and the rounds between
    samples. Ladders run in parallel under ``joblib.parallel_config(n_jobs=2)``; the result is the same.
    """
    check_model(model)
    rng = generator(seed)
    n_samples, max_rounds = count("n_samples", n_samples, 1), count("max_rounds", max_rounds, 128)
    J, h = model.couplings.astype(np.float32), model.fields.astype(np.float32)
    (betas,) = in_threads([partial(_first_betas, J, h, rng)])
    sizes = [LADDERS_PER_GROUP * len(betas)] * (LADDERS // LADDERS_PER_GROUP)
    groups = in_threads([partial(_Ladders, J, h, betas, generator_states(size, rng)) for size in sizes])

    rounds = 64
    record = _run(groups, rounds)  # from random spins: it tunes the temperatures, and is forgotten
    while 2 * rounds <= max_rounds:  # at least once
        betas = _equal_rejection(betas, record.rejections)
        for ladders in groups:
            ladders.betas = betas
        rounds *= 2
        record = _run(groups, rounds)
        if record.equilibrated(WARM_R_HAT):
            break
    thin = min(math.ceil(2 * record.autocorrelation_time()), max_rounds)
    sampled = _run(groups, thin * math.ceil(n_samples / LADDERS), thin)
    spins = sampled.spins[:n_samples]
    if not h.any():
        spins *= rng.choice(np.array([-1, 1], np.int8), (n_samples, 1))

    everything = record.then(sampled)
    result = TemperedSample(
        spins=spins,
        betas=betas,
        swap_rates=1 - everything.rejections,
        round_trips=everything.round_trips,
        autocorrelation_time=everything.autocorrelation_time(),
        r_hat=everything.r_hat(),
        thin=thin,
        n_rounds=everything.n_rounds,
        equilibrated=everything.equilibrated(),
    )
    if not result.equilibrated:
        warnings.warn(
            f"Not equilibrated after {result.n_rounds} rounds: split R-hat is {result.r_hat:.2f} (expected below "
            f"{R_HAT}), {result.round_trips} round trips (expected at least {LADDERS}). Raise max_rounds.",
            NotEquilibratedWarning,
            stacklevel=2,
        )
    return result


@dataclass(frozen=True, eq=False)
class _Record:
    """What a stretch of rounds has shown: series at beta = 1, rejections of each pair of neighbours."""

    series: tuple[
        Floats, ...
    ]  # energies (ladders, rounds), overlaps (pairs, rounds), alignments (ladders, rounds)
    rejections: Floats
    round_trips: int
    spins: Spins  # (samples, n), all ladders of one time after another

    @property
    def n_rounds(self) -> int:
        return len(self.series[0][0])

    def r_hat(self) -> float:
        return max(map(split_r_hat, self.series))

    def autocorrelation_time(self) -> float:
        return max(map(autocorrelation_time, self.series))

    def equilibrated(self, r_hat: float = R_HAT) -> bool:
        return self.r_hat() < r_hat and self.round_trips >= LADDERS

    def then(self, later: _Record) -> _Record:
        """Both stretches in one, without the spins of the first."""
        a, b = self.n_rounds, later.n_rounds
        return _Record(
            tuple(np.concatenate(pair, axis=1) for pair in zip(self.series, later.series, strict=True)),
            (a * self.rejections + b * later.rejections) / (a + b),
            self.round_trips + later.round_trips,
            later.spins,
        )


def _run(groups: list[_Ladders], rounds: int, thin: int = 0) -> _Record:
    records = in_threads(partial(group.run, rounds, thin) for group in groups)
    return _Record(
        tuple(np.concatenate(parts) for parts in zip(*(record.series for record in records), strict=True)),
        np.mean([record.rejections for record in records], axis=0),
        sum(record.round_trips for record in records),
        np.concatenate([record.spins for record in records], axis=1).reshape(-1, records[0].spins.shape[-1]),
    )


class _Ladders:
    """Ladders that run together, changed in place. Chain ``at[l, k]`` stands at beta_k of ladder l."""

    def __init__(
        self, J: NDArray[np.float32], h: NDArray[np.float32], betas: Floats, states: NDArray[np.uint32]
    ) -> None:
        self.chains = Chains(J, h, states)
        self.betas = betas
        self.at = np.arange(states.shape[1]).reshape(-1, len(betas))
        # Of each copy's journey: 1 since it was at beta = 1, 2 since it was at beta = 0 after that.
        self.stage = np.zeros(states.shape[1], np.int8)
        self.rounds = 0

    def run(self, rounds: int, thin: int) -> _Record:
        chains, at, betas = self.chains, self.at, self.betas
        h, ladders = chains.fields, len(at)
        energies, alignments = np.empty((ladders, rounds)), np.empty((ladders, rounds))
        overlaps = np.empty((ladders // 2, rounds))
        spins = np.empty((rounds // thin if thin else 0, ladders, len(h)), np.int8)
        rejections, attempts = np.zeros(len(betas) - 1), np.zeros(len(betas) - 1)
        trips = 0
        beta = np.empty(at.size, np.float32)
        for t in range(rounds):
            beta[at] = betas
            chains.sweep(beta)
            if self.rounds % REFRESH == 0:
                chains.exponents[:] = chains.exact_exponents()
            self._exchange(rejections, attempts)
            trips += self._journeys()
            top = chains.spins[:, at[:, -1]]
            energies[:, t] = -chains.exponents[at[:, -1]]
            alignments[:, t] = h @ top
            overlaps[:, t] = np.einsum("ip,ip->p", top[:, ::2], top[:, 1::2]) / len(h)
            if thin and (t + 1) % thin == 0:
                spins[t // thin] = top.T
            self.rounds += 1
        if not h.any():
            overlaps = overlaps**2
        return _Record((energies, overlaps, alignments), rejections / np.maximum(attempts, 1), trips, spins)

    def _journeys(self) -> int:
        """Follow the copies between the ends, and count those that are back at beta = 1 from beta = 0."""
        top, bottom = self.at[:, -1], self.at[:, 0]
        back = int((self.stage[top] == 2).sum())
        self.stage[top] = 1
        self.stage[bottom[self.stage[bottom] == 1]] = 2
        return back

    def _exchange(self, rejections: Floats, attempts: Floats) -> None:
        """Try to exchange every other pair of neighbours; counts go into the arguments."""
        lower = slice(self.rounds % 2, len(self.betas) - 1, 2)
        upper = slice(lower.start + 1, None, 2)
        uniforms = np.empty((1, self.at.size), np.float32)
        draw(self.chains.states, uniforms)
        a, b = self.at[:, lower].copy(), self.at[:, upper].copy()
        exponents = self.chains.exponents
        gain = np.diff(self.betas)[lower] * (exponents[a] - exponents[b])
        acceptance = np.exp(np.minimum(gain, 0))
        accepted = (uniforms[0, a] + 1) / 2 < acceptance
        self.at[:, lower] = np.where(accepted, b, a)
        self.at[:, upper] = np.where(accepted, a, b)
        # The probability of rejection, rather than the event, has the smaller variance.
        rejections[lower] += 1 - acceptance.mean(axis=0)
        attempts[lower] += 1


def _first_betas(J: NDArray[np.float32], h: NDArray[np.float32], rng: np.random.Generator) -> Floats:
    """Equal parts of the integral of sigma(beta), the standard deviation of A in an annealed pilot run."""
    grid = np.linspace(0, 1, 41)
    chains = Chains(J, h, generator_states(64, rng))
    sigma = np.empty(len(grid))
    for k, beta in enumerate(grid.astype(np.float32)):
        for _ in range(2):
            chains.sweep(np.full(64, beta, np.float32))
        sigma[k] = chains.exponents.std(ddof=1)
    integral = np.concatenate([[0], np.cumsum((sigma[1:] + sigma[:-1]) / 2 * np.diff(grid))])
    # Rejection is erf(delta sigma / 2), about delta sigma / sqrt(pi) for small steps.
    steps = max(2, math.ceil(integral[-1] / math.sqrt(math.pi) / REJECTION))
    if steps > MOST_BETAS:
        raise ValueError(
            f"Expected couplings and fields that {MOST_BETAS} temperatures can bridge: found that {steps} would be "
            "needed. They are too large to sample; divide them by some number."
        )
    return _cut(integral, grid, steps)


def _equal_rejection(betas: Floats, rejections: Floats) -> Floats:
    barrier = np.concatenate([[0], np.cumsum(np.maximum(rejections, 1e-3))])
    return _cut(barrier, betas, len(betas) - 1)


def _cut(cumulative: Floats, betas: Floats, steps: int) -> Floats:
    """betas at which a growing function takes equally spaced values; exactly 0 and 1 at the ends."""
    if cumulative[-1] <= 0:
        return np.linspace(0, 1, steps + 1)
    cut = np.interp(np.linspace(0, cumulative[-1], steps + 1), cumulative, betas)
    cut[0], cut[-1] = 0.0, 1.0
    return cut
