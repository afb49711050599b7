r"""The most probable couplings and fields given the data: the mode of the true posterior.

1. **Start** at independent spins, J = 0, with chains that are exact samples of it.
2. **Approach**: collect samples, take a Newton step (:mod:`~bayesing.learning.newton`), no longer than the samples
   can foresee and no longer than their noise allows; the chains follow (:mod:`~bayesing.learning.population`).
   Samples are taken further apart where chains are slow, and become twice as many where the step is noise for the
   most part, up to N and some for each parameter.
3. **gamma**, if it is not given, with every step: the fixed point of :math:`\gamma = n \langle J^2 +
   \operatorname{Var} J \rangle` in MacKay's form, :math:`\gamma = n \langle J^2 \rangle / (1 - n \langle
   \operatorname{Var} J \rangle/\gamma)`. The couplings move along with it as they would on a quadratic posterior.
   Where couplings are many it is too small: the mode is a shrunken matrix. So some draws from the posterior around
   it (:mod:`~bayesing.learning.posterior`) tell the gamma of the evidence, and the approach goes on with it.
4. **Average**, at this gamma: around the mode slopes are linear in the parameters, so that those of all further
   samples, taken wherever the parameters are by then, add up to one quadratic posterior, whose mode is the answer.
   Its noise is that of :math:`N/A` posterior variances for A samples in all. Where a slope at the mode so far stands
   out of the noise, what was added up was not a quadratic, and the average begins again.

With a prior that is not Gaussian the answer of step 4 is the mode of that quadratic under this prior
(:mod:`~bayesing.learning.quadratic`), at the gamma of the Gaussian prior.

Cost: a sweep of P chains is :math:`O(P n^2)`, and the number of samples in a step is a few for each of the
:math:`n^2/2` couplings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..sampling._gibbs import Single
from ..threads import Run
from ..types import Array
from .newton import (
    HIDDEN,
    LEAST_GAMMA,
    MOST_GAMMA,
    WORTH,
    Metric,
    Pair,
    Place,
    Step,
    Told,
    filtered,
    inner,
    is_precise,
    largest,
    length,
    slopes,
    slowness,
    step,
)
from .phases import Data, Free, Source, summed_out
from .population import Population, worth
from .posterior import draw_posterior
from .quadratic import Quadratic, Shape
from .scale import fixed_point

GAMMA = 0.3  # to start from
_SAMPLES = 2  # in a step, for each parameter that data determine; 1 where there is much to gain
_LEAST, _FEW = 2**14, 2**13  # samples in a step, and where there is much to gain
_MOST_SPINS = 2**27  # in memory at once, half a gibibyte
_CALM = 0.5  # what is left to gain, in units of the noise, where more samples are needed, or none
_SETTLED = 0.1  # change of ln gamma in three steps that ends its iteration
_MUCH = 10.0  # times what the noise of a step hides
_LONGEST = 0.4  # change of ln gamma at once
_THIN, _MOST_THIN_EARLY, _MOST_THIN = 2, 8, 64  # sweeps between samples, during the approach, and at the end
_CLEAR, _MOST_RESTARTS = 6.0, 3  # standard deviations of a slope that should be 0, and how often they matter
_SEEN = 3.0  # standard deviations of a slope that is more than noise
_FAR = 4.0  # times the variance of the noise
_FALL = 20.0  # times as much left to gain after a step as before
_MOST_FALLS = 8
_PATIENCE = 60  # steps of the approach
_GOAL = (
    40  # samples that are averaged, for each of the data: a sixth of a posterior standard deviation is left
)
_LEAST_AVERAGED = 4_000_000  # spins of these samples, at least
_MOST_AVERAGED = 400_000  # samples
_CHEAP = 20_000_000  # spins of samples that may be more than that
_LEAST_STEPS = 4  # of the average
_MORE = 2  # times as many samples where the search goes on
_ASTRAY = 3.0  # standard errors of the means, root mean square, of a model that is no place to start from
_WARM, _DRAWS = 30, 20  # steps before draws tell gamma, and draws that do
_START = 1.3  # times gamma at the mode: where they begin


@dataclass(frozen=True, eq=False)
class Mode(Place):
    """Where the posterior is largest, and how many samples stand behind it."""

    samples: float
    settled: bool  # whether the search came to its end, and did not fall into states far away again and again


@dataclass(frozen=True, eq=False)
class Look:
    """Samples of a model: in halves, and the data to compare either with; as a whole; exponents of each group."""

    halves: tuple[Free, Free]
    data: tuple[Data, Data]
    free: Free
    exponents: list[Array]

    def slowness(self, metric: Metric) -> float:
        """How many samples in a row are worth one: by energies, and by squares of the leading components."""
        found, shape = [slowness(self.exponents)], self.exponents[0].shape
        for v in metric.V.T[-2:].astype(np.float32):
            squares = [((v @ part - v @ self.free.centre) ** 2).reshape(shape) for part in self.free.parts]
            found.append(slowness(squares))
        return max(found)

    def samples(self, metric: Metric, slow: float) -> float:
        """How many independent ones of complete rows these samples are worth, with the noise of missing cells."""
        return float(self.free.A / (slow + self.free.A * metric.noise))


class _Before(NamedTuple):
    """What was left to gain, parameters and spins, to come back to."""

    signal: float
    J: Array
    b: Array
    states: list[Single]


class Learner:
    """Parameters and the chains that follow them."""

    def __init__(
        self,
        source: Source,
        gamma: float | None,
        seed: np.random.SeedSequence,
        run: Run,
        n_spins: int,
        start: Pair | None = None,
    ) -> None:
        self.source, self.run, self.n_spins = source, run, n_spins
        self.infers = gamma is None
        self.gamma = GAMMA if gamma is None else gamma
        n = source.n
        J, h = (np.zeros((n, n)), np.zeros(n)) if start is None else start
        data = self.data = Data.both(*source.look(J, h, run))
        self.J, self.b = J, data.rates if start is None else h + J @ data.d
        self.thin, self.least, self.most = _THIN, _LEAST, _MOST_SPINS // data.n
        self.population = Population(self.J, self.h, data.rates, seed, run)
        self.times = -(-_FEW // self.population.size)
        self.looks, self.effort = 0, 1
        self.pace, self.changes, self.trust = 1.0, [0.0], 1.0
        self.last: tuple[Array, Array, float] | None = None

    @property
    def h(self) -> Array:
        """The fields themselves."""
        return self.b - self.J @ self.data.d

    @property
    def lam(self) -> float:
        """Precision of the prior of the couplings."""
        return self.n_spins / self.gamma

    def look(self) -> Look:
        """Samples of the model as it is."""
        found = self.population.collect(self.times, self.thin, max(6, 2 * self.thin))
        parts = [summed_out(spins, self.J, self.h, self.source.hidden) for spins, _ in found]
        middle = len(parts) // 2
        a, b = (Free(half, self.data.d, self.run) for half in (parts[:middle], parts[middle:]))
        self.looks += 1
        if self.looks % 3 == 0:
            self.population.retune()
        data = self.source.look(self.J, self.h, self.run)
        self.data = Data.both(*data)
        return Look((a, b), data, Free.both(a, b), [exponents for _, exponents in found])

    def move(self, J: Array, b: Array) -> None:
        """Take these parameters, and the chains along."""
        self.J, self.b = J, b
        self.population.change(J, self.h)

    def approach(self, heard: Told) -> tuple[Metric, bool]:
        """Newton steps until there is nothing left to gain that the noise does not hide."""
        N, calm, reach, falls = self.data.N, 0, 1.0, 0
        before: _Before | None = None
        for count in range(_PATIENCE):
            look = self.look()
            metric = Metric(look.free, N, self.lam, self.data.lost, self.data.hidden)
            at = self._slopes(look, self.lam)
            slow = look.slowness(metric)
            A = look.samples(metric, slow)
            to = step(self.data, look.halves, filtered(at, metric, A, HIDDEN, self.trust), metric)
            noise = N / A * metric.used
            left = abs(to.signal) / noise
            if before is not None and abs(to.signal) > _FALL * max(before.signal, noise):
                falls, reach = falls + 1, 0.3 * reach  # into a state that the samples could not foresee
                if falls == _MOST_FALLS:
                    self.come_back(before, 0.0)
                    return metric, False
                self.come_back(before, 0.3)
                continue
            self._learn_trust(at)
            rate = min(self._length(look.free, to), reach)
            reach = min(1.5 * reach, 1.0)
            before = self.before(abs(to.signal))
            J, b = self.J + rate * to.J, self.b + rate * to.b
            self._remember(look.free, at, J, b, A)
            if self.infers and left < 10:
                J = self._infer_gamma(metric, J, *(self.J + half for half in to.halves))
            self.move(J, b)
            heard(1 - math.exp(-count / 12))
            enough = look.free.A >= min(N, self.most)
            calm = calm + 1 if left < _CALM and enough and self.settled else 0
            if calm == 2:
                return metric, True
            if left < _CALM and not enough:
                self.least = 2 * look.free.A
            self._pace(slow, _THIN if left > 10 else _MOST_THIN_EARLY)
            much = abs(to.signal) > _MUCH * N / _SAMPLES
            wanted = max(metric.used, _FEW) if much else max(_SAMPLES * metric.used, self.least)
            self.times = math.ceil(min(wanted, self.most) / self.population.size)
        return metric, True

    def starts_from(self, J: Array, b: Array) -> bool:
        """Go to these parameters, unless their model has other means than the data."""
        before = self.before(0.0)
        self.move(J, b)
        self.look()
        z = (self.look().free.m - self.data.d) / self.data.errors(self.data.d, self.data.C)[0]
        if float(np.mean(z**2)) < _ASTRAY**2:
            return True
        self.come_back(before, 0.0)
        return False

    def before(self, signal: float) -> _Before:
        """Where it is now, with so much left to gain."""
        return _Before(signal, self.J, self.b, self.population.states())

    def come_back(self, before: _Before, share: float) -> None:
        """To where the chains were before the last step, and that share of the step."""
        self.J = before.J + share * (self.J - before.J)
        self.b = before.b + share * (self.b - before.b)
        self.population.come_back(self.J, self.h, before.states)
        self.last = None

    def average(self, metric: Metric, shape: Shape | None, heard: Told) -> float:
        """One quadratic posterior from all further samples; parameters end at its mode. The number of samples.

        It is 0 where the average never settles, and the parameters are then those of the approach.
        """
        N, n = self.data.N, self.data.n
        goal = self.effort * min(max(_GOAL * N, _LEAST_AVERAGED / n), max(_MOST_AVERAGED, _CHEAP / n))
        start = self.before(0.0)
        quadratic = Quadratic(self.data, self.look().free, metric) if shape else None
        total, count, gain, restarts = 0.0, 0, 1.0, 0
        sums: list[Array] = []
        for _ in range(_PATIENCE):
            look = self.look()
            own = self._slopes(look, self.lam)
            slow = look.slowness(metric)
            A = look.samples(metric, slow)
            self._learn_trust(own)
            clear = total and not shape and largest(own, metric, 1 / (1 / A + 1 / total)) > _CLEAR
            if clear and restarts < _MOST_RESTARTS:  # this is not its mode: begin again
                total, count, sums, restarts = 0.0, 0, [], restarts + 1
            a, b = self._slopes(look, 0.0)
            seen = [self.J, self.b, *a, *b]
            sums = [x + y for x, y in zip(sums, seen, strict=True)] if sums else seen
            count += 1
            self._pace(slow, _MOST_THIN)
            total += A
            means = [x / count for x in sums]
            at = (
                self._mode_under(shape, quadratic, means)
                if shape and quadratic
                else self._gaussian_mode(look, means, metric, total, gain)
            )
            if at is None:
                gain, total, count, sums = gain / 2, 0.0, 0, []
                self.come_back(start, 0.0)
                continue
            if shape:
                self.last = None
            else:
                self._remember(look.free, own, *at, A)
            noise = _FAR * metric.used / total  # of the change of the exponents, by the samples so far
            if not self._towards(look.free, *at, noise):
                total, count, sums = 0.0, 0, []  # the mode is not where it was thought to be: begin again
            heard(min(total / goal, count / _LEAST_STEPS, 1.0))
            if total >= goal and count >= _LEAST_STEPS:
                return total
        if total < goal / 4:
            self.come_back(start, 0.0)
            total = 0.0
        return total

    def _mode_under(self, shape: Shape, quadratic: Quadratic, means: list[Array]) -> Pair:
        """Where the posterior is largest that has the slopes ``means`` of either half at mean parameters."""
        J, b, Ga, ga, Gb, gb = means
        return shape.mode(quadratic, (Ga + Gb) / 2, (ga + gb) / 2, J, b, self.J, self.gamma)

    def _gaussian_mode(
        self, look: Look, means: list[Array], metric: Metric, total: float, gain: float
    ) -> Pair | None:
        """The same with a Gaussian prior.

        None where there is much more to gain than at the end of the approach: chains have left for another state.
        """
        J, b, Ga, ga, Gb, gb = means
        at = ((Ga - self.lam * J, ga), (Gb - self.lam * J, gb))
        trust = 1.0 if is_precise(look.halves[0], metric) else self.trust
        to = step(self.data, look.halves, filtered(at, metric, total, 1.0, trust), metric)
        if abs(to.signal) > _FALL * self.data.N / look.free.A * metric.used:
            return None
        return J + gain * to.J, b + gain * to.b

    def _towards(self, free: Free, J: Array, b: Array, noise: float) -> bool:
        """Take these parameters or, where samples cannot follow, go as far as they can; False if it is no noise."""
        u, rate = free.exponents(J - self.J, b - self.b), 1.0
        while worth(rate * u) < WORTH:
            rate *= 0.7
        if rate < 1:
            J, b = self.J + rate * (J - self.J), self.b + rate * (b - self.b)
        self.move(J, b)
        return rate == 1 or float(u.var()) < noise

    def _slopes(self, look: Look, lam: float) -> tuple[Pair, Pair]:
        halves = zip(look.data, look.halves, strict=True)
        a, b = (slopes(data, half, self.J, self.b, lam) for data, half in halves)
        return a, b

    def _length(self, free: Free, to: Step) -> float:
        """How far to go along a step."""
        curvature = float(np.vdot(self.lam * to.J, to.J)) / 2 + float(to.b @ (self.data.precision * to.b))
        return length(free.exponents(to.J, to.b), to.signal, self.data.N, curvature)

    def _remember(self, free: Free, at: tuple[Pair, Pair], J: Array, b: Array, A: float) -> None:
        """The move to these parameters, and the slope along it before it is made, if it is more than noise."""
        dJ, db = J - self.J, b - self.b
        slope = _along(at, dJ, db)
        noise = self.data.N * math.sqrt(float(free.exponents(dJ, db).var()) / A)
        self.last = (dJ, db, slope) if slope > _SEEN * noise else None

    def _learn_trust(self, at: tuple[Pair, Pair]) -> None:
        """Did the last move go too far, or not far enough? The slope along it, now and before."""
        if self.last is not None:
            J, b, before = self.last
            best = self.trust * before / max(before - _along(at, J, b), 0.1 * abs(before))
            self.trust = float(np.clip(best, max(0.5 * self.trust, 0.1), min(1.5 * self.trust, 1.0)))

    def _pace(self, slow: float, most: int) -> None:
        """Samples further apart where chains are slow, and closer where they are not."""
        if slow > 2:
            self.thin = min(2 * self.thin, most)
        elif slow < 1.15:
            self.thin = max(_THIN, self.thin // 2)

    def _infer_gamma(self, metric: Metric, J: Array, a: Array, b: Array) -> Array:
        """Take the gamma that couplings a and b, by two halves of the samples, tell; J as it is at this gamma.

        Curvatures change with gamma, so that the fixed point moves away as one comes nearer: steps in the same
        direction become longer.
        """
        wanted = math.log(fixed_point(metric, a, b, self.n_spins) / self.gamma)
        self.pace = min(1.5 * self.pace, 4.0) if wanted * self.changes[-1] > 0 else 1.0
        change = float(np.clip(self.pace * wanted, -_LONGEST, _LONGEST))
        self.gamma = float(np.clip(self.gamma * math.exp(change), LEAST_GAMMA, MOST_GAMMA))
        self.changes.append(change)
        before, metric.lam = metric.lam, self.lam
        return J - metric.rotate(J, (metric.lam - before) * metric.K)

    def infer_by_draws(self, metric: Metric, seed: np.random.SeedSequence, heard: Told) -> None:
        """Take the gamma of the evidence, unless the draws run away."""
        here = Place(self.J, self.h, self.gamma, metric)
        drawn = draw_posterior(
            self.source, here, self.n_spins, seed, self.run, _DRAWS, infer=_START, warm=_WARM, heard=heard
        )
        self.infers = False
        if drawn.drifted or drawn.bound is not None:
            return
        self.gamma = drawn.gamma

    @property
    def settled(self) -> bool:
        """Whether gamma no longer changes."""
        return not self.infers or (len(self.changes) > 3 and abs(sum(self.changes[-3:])) < _SETTLED)


def _along(at: tuple[Pair, Pair], J: Array, b: Array) -> float:
    """The slope along a move, by all samples."""
    return sum(inner(*half, J, b) for half in at) / 2


def find_mode(
    source: Source,
    gamma: float | None,
    n_spins: int,
    seed: np.random.SeedSequence,
    run: Run,
    shape: Shape | None = None,
    heard: Told = lambda share: None,
) -> tuple[Mode, Learner]:
    """The mode at ``gamma``, or at the gamma that the data tell; ``n_spins`` of the prior, gamma/n_spins.

    The learner is handed on, to :func:`go_on` with.
    """
    search, draws = seed.spawn(2)
    learner = Learner(source, gamma, search, run, n_spins)
    metric, settled = learner.approach(lambda share: heard(0.4 * share))
    samples, at_mode = 0.0, (learner.before(0.0), learner.gamma, metric)
    by_draws = settled and learner.infers and learner.gamma > LEAST_GAMMA * 1.01
    if by_draws:
        learner.infer_by_draws(metric, draws, lambda share: heard(0.4 + 0.2 * share))
        metric, settled = learner.approach(lambda share: None)
    if settled and shape and shape.start and not learner.starts_from(*shape.start):
        shape.refuse()
    if settled:
        samples = learner.average(metric, shape, lambda share: heard(0.6 + 0.4 * share))
    if by_draws and not samples:  # this gamma leads to states far away: back to that of the mode
        before, learner.gamma, metric = at_mode
        learner.come_back(before, 0.0)
        samples = learner.average(metric, shape, lambda share: None)
    return Mode(learner.J, learner.h, learner.gamma, metric, samples, samples > 0), learner


def go_on(learner: Learner, mode: Mode, shape: Shape | None) -> Mode:
    """Average anew from where the search has ended, over more samples than before."""
    learner.effort *= _MORE
    samples = learner.average(mode.metric, shape, lambda share: None)
    return Mode(learner.J, learner.h, learner.gamma, mode.metric, samples, samples > 0)
