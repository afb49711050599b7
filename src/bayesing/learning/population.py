r"""Chains that follow a model while it learns: equilibrium samples for parameters that change step by step.

A population is some groups of chains, each by itself. In a group the *top* chains stand at beta = 1, others below it,
at 0 = beta_0 < ... < beta_K = 1, between independent spins in fields ``base`` and the model. After a sweep of all
spins

- all spins of a chain are turned, s -> -s, if a Metropolis step allows it: a state and its mirror image, between
  which no chain could travel, are balanced at once;
- random pairs of chains on neighbouring levels are exchanged as in :mod:`bayesing.sampling.tempering`. This leaves
  the product of all distributions as it is, for any number of chains on each level.

**When the model changes,** the exponent of a chain changes by u, and the distribution of the top chains by the factor
:math:`e^u / \langle e^u \rangle`. They are drawn anew with these weights (systematic resampling), so that also the
weights of states which no chain can travel between follow the parameters at once. Without it, the parameters run past
the solution before the chains notice. Where the change is so large that few chains would be left, sweeps must do.

**A fresh start** is the same along beta: from exact samples of independent spins, in steps for which the weights are
worth the share ``SHARE`` of the samples (annealing of a population; Hukushima and Iba, 2003). Chains are left behind
on the levels below.

Every other group has the means of the data at beta = 0, which is near, and the rest have uniform spins, from where
states are found that the data never visit.

Groups have a fixed size and generators of their own: the same seed gives the same bits for any number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from ..compiled import compiled
from ..sampling._gibbs import GROUP, Chains, Single, draw, exact_exponents, generator_states, sweep
from ..threads import Run
from ..types import Array, Indices

LOWER = 64  # chains of a group below beta = 1
SHARE = 0.7  # of the samples that weights are worth, in each step of a fresh start
REJECTION = 0.35  # aimed at between neighbouring levels
_TRUSTED = 0.2  # share that weights must be worth for chains to be drawn anew; else sweeps must do
_REFRESH = 32  # sweeps after which the running exponents, in float32 steps, are computed afresh
_SHORTEST = 1e-3  # step of a fresh start


class Group:
    """Top chains and the ladder below them; changed in place."""

    def __init__(
        self, J: Array, h: Array, base: Array, seed: np.random.SeedSequence, lower: int = LOWER
    ) -> None:
        self.rng = np.random.default_rng(seed)
        states = generator_states(GROUP + lower, self.rng)
        self.chains = Chains(J.astype(np.float32), h.astype(np.float32), states, base.astype(np.float32))
        self.lower = lower
        self.at: Indices = np.arange(GROUP + lower)  # chains by level; the last GROUP are on top
        self.sweeps = 0
        self._settle(np.array([0.0, 1.0]))

    def _settle(self, betas: Array) -> None:
        """Spread the lower chains evenly over the levels below 1."""
        levels = len(betas) - 1
        self.betas = betas
        self.starts = np.append(np.arange(levels + 1) * self.lower // levels, len(self.at))
        self.slots = np.repeat(betas, np.diff(self.starts)).astype(np.float32)
        self.beta = np.empty_like(self.slots)
        self.rejections, self.attempts = np.zeros(levels), np.zeros(levels)

    @property
    def top(self) -> Indices:
        """Numbers of the chains at beta = 1."""
        return self.at[self.lower :]

    def advance(self, sweeps: int) -> None:
        """Some sweeps, with turns and exchanges after each."""
        ladder = self.at, self.slots, self.starts, self.betas, self.rejections, self.attempts
        _advance(*self.chains.arrays, self.beta, *ladder, self.sweeps, sweeps)
        self.sweeps += sweeps

    def collect(self, times: int, thin: int, burn: int) -> tuple[Single, Array]:
        """Spins of the top chains (n, times x GROUP), ``thin`` sweeps apart, and their exponents (times, GROUP)."""
        spins = np.empty((len(self.chains.fields), times, GROUP), np.float32)
        exponents = np.empty((times, GROUP))
        for t in range(times):
            self.advance(thin if t else burn)
            top = self.top
            _gather(self.chains.spins, top, spins, t)
            exponents[t] = self.chains.exponents[top]
        return spins.reshape(len(spins), -1), exponents

    def change(self, J: Single, h: Single) -> None:
        """Go on with another model."""
        before = self.chains.exponents
        self.chains.change(J, h)
        change = (self.chains.exponents - before)[self.top]
        if worth(change) > _TRUSTED:
            self._resample(change)

    def _resample(self, log_weights: Array) -> None:
        weights = np.exp(log_weights - log_weights.max())
        places = (np.arange(GROUP) + self.rng.random()) * (weights.sum() / GROUP)
        chosen = np.minimum(np.searchsorted(np.cumsum(weights), places), GROUP - 1)
        moved = chosen != np.arange(GROUP)
        top, chains = self.top, self.chains
        chains.spins[:, top[moved]] = chains.spins[:, top[chosen[moved]]]
        chains.exponents[top[moved]] = chains.exponents[top[chosen[moved]]]

    def start_afresh(self, sweeps: int) -> None:
        """From independent spins to the model, step by step in beta, with so many sweeps at each."""
        chains, lower, base = self.chains, self.lower, self.chains.base.astype(np.float64)
        self.at = np.arange(GROUP + lower)
        up = self.rng.random(chains.spins.shape) < (1 + np.tanh(base)[:, None]) / 2
        chains.spins[...] = np.where(up, np.float32(1), np.float32(-1))
        chains.exponents = chains.exact_exponents()
        betas, left = [0.0], [chains.spins[:, self.top]]
        while betas[-1] < 1:
            exponents, rest = chains.exponents[self.top], 1 - betas[-1]
            step = _longest_step(exponents, rest)
            self._resample(step * exponents)
            betas.append(betas[-1] + step if step < rest else 1.0)
            self.beta.fill(betas[-1])
            for _ in range(sweeps):
                chains.sweep(self.beta)
                _turn(*chains.arrays, self.beta)
            left.append(chains.spins[:, self.top])
        every = max(1, math.ceil((len(betas) - 1) / lower))  # a level needs a chain
        chosen = range(0, len(betas) - 1, every)
        self._settle(np.append(np.array(betas)[chosen], 1.0))
        for level, k in enumerate(chosen):
            slots = self.at[self.starts[level] : self.starts[level + 1]]
            chains.spins[:, slots] = left[k][:, self.rng.integers(0, GROUP, len(slots))]
        chains.exponents = chains.exact_exponents()

    def retune(self) -> None:
        """Betas of equal rejection, and as many as are needed."""
        if self.attempts.min() < 2:
            return
        rates = np.maximum(self.rejections / self.attempts, 1e-3)
        barrier = np.concatenate([[0], np.cumsum(rates)])
        levels = int(np.clip(math.ceil(barrier[-1] / REJECTION), 1, self.lower))
        if abs(levels - len(rates)) <= 1:
            levels = len(rates)
        betas = np.interp(np.linspace(0, barrier[-1], levels + 1), barrier, self.betas)
        betas[0], betas[-1] = 0.0, 1.0
        self._settle(betas)


class Population:
    """Groups of chains of one model, started afresh at independent spins in the fields ``rates``."""

    def __init__(
        self,
        J: Array,
        h: Array,
        rates: Array,
        seed: np.random.SeedSequence,
        run: Run,
        groups: int = 4,
        lower: int = LOWER,
        sweeps: int = 2,
    ) -> None:
        self.run = run
        bases = [rates if k % 2 == 0 else np.zeros_like(rates) for k in range(groups)]
        pairs = zip(bases, seed.spawn(groups), strict=True)
        self.groups: list[Group] = run([partial(Group, J, h, base, s, lower) for base, s in pairs])
        self._each(lambda group: group.start_afresh(sweeps))

    @property
    def size(self) -> int:
        """Chains at beta = 1."""
        return GROUP * len(self.groups)

    def _each(self, task: Callable[[Group], object]) -> None:
        self.run([partial(task, group) for group in self.groups])

    def collect(self, times: int, thin: int, burn: int) -> list[tuple[Single, Array]]:
        """Spins and exponents of the top chains of every group."""
        return self.run([partial(group.collect, times, thin, burn) for group in self.groups])

    def change(self, J: Array, h: Array) -> None:
        """Go on with another model."""
        couplings, fields = J.astype(np.float32), h.astype(np.float32)
        self._each(lambda group: group.change(couplings, fields))

    def advance(self, sweeps: int) -> None:
        """Some sweeps of all chains."""
        self._each(lambda group: group.advance(sweeps))

    def states(self) -> list[Single]:
        """The spins of all chains, to come back to."""
        return [group.chains.spins.copy() for group in self.groups]

    def come_back(self, J: Array, h: Array, states: list[Single]) -> None:
        """To spins as they were, and to a model."""
        couplings, fields = J.astype(np.float32), h.astype(np.float32)
        for group, spins in zip(self.groups, states, strict=True):
            group.chains.spins[...] = spins
            group.chains.change(couplings, fields)

    def retune(self) -> None:
        """Space the levels of all groups by their rejections so far."""
        for group in self.groups:
            group.retune()


def worth(log_weights: Array) -> float:
    """The share of equally weighted samples that weighted ones are worth, (sum w)^2 / (A sum w^2)."""
    w = np.exp(log_weights - log_weights.max())
    return float(w.sum() ** 2 / (w @ w) / len(w))


def _longest_step(exponents: Array, most: float) -> float:
    """Of beta, up to ``most``, for which the weights keep their share."""
    if worth(most * exponents) >= SHARE:
        return most
    low, high = 0.0, most
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if worth(middle * exponents) >= SHARE else (low, middle)
    return max(low, min(_SHORTEST, most))


@compiled()
def _advance(  # type: ignore[no-untyped-def]
    couplings, fields, base, spins, states, exponents, room, beta,
    at, slots, starts, betas, rejections, attempts, before, sweeps,
):  # fmt: skip
    """Sweeps with turns and exchanges, without a word to Python, so that groups do not wait for each other."""
    chains = couplings, fields, base, spins, states, exponents, room
    uniforms = np.empty((2, len(at)), np.float32)
    for count in range(before + 1, before + sweeps + 1):
        for slot in range(len(at)):
            beta[at[slot]] = slots[slot]
        sweep(*chains, beta)
        if count % _REFRESH == 0:
            exact_exponents(couplings, fields, spins, exponents, room[0])
        _turn(*chains, beta)
        draw(states, uniforms)
        _exchange(at, starts, betas, exponents, uniforms, count % 2, rejections, attempts)


@compiled()
def _gather(spins, chosen, out, t):  # type: ignore[no-untyped-def]
    """Copy some chains into ``out[:, t]``."""
    for i in range(len(spins)):
        for k in range(len(chosen)):
            out[i, t, k] = spins[i, chosen[k]]


@compiled()
def _turn(couplings, fields, base, spins, states, exponents, room, beta):  # type: ignore[no-untyped-def]
    """Try to turn all spins of every chain."""
    part, uniforms = np.dot(fields, spins), room[1, :1]
    own = np.dot(base, spins)
    draw(states, uniforms)
    for c in range(len(part)):
        odd = beta[c] * part[c] + own[c]  # what of the exponent is odd
        if (uniforms[0, c] + 1) / 2 < math.exp(min(-2 * odd, 0.0)):
            for i in range(len(spins)):
                spins[i, c] = -spins[i, c]
            exponents[c] -= 2 * part[c]


@compiled()
def _exchange(at, starts, betas, exponents, uniforms, parity, rejections, attempts):  # type: ignore[no-untyped-def]
    """Try to exchange chains of every other pair of neighbouring levels, each of the smaller with one of the larger.

    ``uniforms`` are in [-1, 1).
    Which one is random by a rotation of the larger level, and has nothing to do with the exponents.
    """
    for k in range(parity, len(betas) - 1, 2):
        low, middle, high = starts[k], starts[k + 1], starts[k + 2]
        below, above = middle - low, high - middle
        pairs, larger = min(below, above), max(below, above)
        if pairs == 0:
            continue
        shift = int((uniforms[0, low] + 1) / 2 * larger)
        rejected = 0.0
        for i in range(pairs):
            other = (i + shift) % larger
            a, b = (low + i, middle + other) if below <= above else (low + other, middle + i)
            gain = (betas[k + 1] - betas[k]) * (exponents[at[a]] - exponents[at[b]])
            acceptance = math.exp(min(gain, 0.0))
            rejected += 1 - acceptance
            if (uniforms[1, low + i if below <= above else middle + i] + 1) / 2 < acceptance:
                at[a], at[b] = at[b], at[a]
        rejections[k] += rejected / pairs
        attempts[k] += 1
