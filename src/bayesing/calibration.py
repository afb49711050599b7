r"""Which J would have produced what we saw? Bias removed, and intervals, by simulation, for any statistic.

A statistic T of the data, one number or several, need not estimate anything: it is enough that it changes with
gamma, always in the same direction. Data sets of the same size are simulated at trial values of gamma and H around a
first estimate, each with couplings of its own, and in that window T and the mean spin M are described by

.. math::

    (T, M) = \mu(\gamma, H) + \text{noise}, \qquad \mu \text{ quadratic}, \quad
    \ln \operatorname{Var} \text{ linear in } \gamma .

The corrected estimate is where :math:`\mu` agrees with what was observed (indirect inference: C. Gourieroux, A.
Monfort and E. Renault, 1993). The interval inverts a test: gamma belongs to it if for some H

.. math::

    D^2(\gamma, H) = \Delta^T \Sigma^{-1} \Delta \le \min D^2 + F_{1, \text{dof}}(\text{level}), \qquad
    \Delta = (T, M)_\text{observed} - \mu(\gamma, H),

with :math:`\Sigma` the covariance of the noise, that which is left in :math:`\mu` included, so that few simulations
make a longer interval and not a wrong one; and H likewise. No shape is assumed for it: it ends at gamma = 0 where
that cannot be excluded, and it is open where T no longer responds to gamma, which is said.

Trial points are a random choice of the points of a lattice in the window, by an order that is the same for all
windows; a data set follows from its point and the seed. Later calls, with other data of the same size or with another
statistic, find most of their simulations already made. Each point has random numbers of its own: with common ones
errors of the curve would be common too, and an interval from as many simulations longer.

Where cells are missing, the same cells are left out of every simulated data set.

Of rows that remember those before them, thinned data sets are observed (:mod:`bayesing.thinned`), and simulated data
sets have as many rows as one of them. The mean of what several of them show has a share of the variance of one.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.stats import t as student

from ._surface import TERMS, Point, Region, Surface, Window, window_around
from .arguments import Seed, count, generator, number
from .choice import statistic_near_glass, unbiased
from .exceptions import ConstantSpinsError, InputError, NotEquilibratedWarning, Setting, SimulatedDataError
from .generator import SamplerName, simulate
from .inference import StrengthAnswer
from .packed import PackedSpins
from .replica import NEAR, field, field_error, site_fields, stability
from .statistics import SpinStatistics
from .strength import Statistic
from .types import Array, Heard, Spins
from .words import another_kind

FIELDS = ("auto", "uniform", "sites")

_MARGIN = 1.5  # standard errors by which the window is wider than the interval
_MOVES = 4  # of the window, at most
_CEILING = 6.0  # of gamma, relative to the first estimate or to 1
_LARGEST_CACHE = 2**28  # bytes


@dataclass(frozen=True)
class Interval:
    """Intervals of J and H, and the estimates without bias; ``note`` says in words what is special, if anything."""

    J: tuple[float, float]
    H: tuple[float, float]
    J_corrected: float
    H_corrected: float
    level: float
    n_simulations: int
    note: str = ""

    @property
    def is_open(self) -> bool:
        """Whether that of J has no upper end."""
        return math.isinf(self.J[1])


@dataclass(frozen=True)
class Ensemble:
    """What the data sets have in common: their size, r (for the distance to the spin glass), J0, and the fields.

    ``pattern`` is added to the field H, and ``absent`` are the cells that are missing from each of them.
    """

    n: int
    N: int
    r: float
    J0: float = 0.0
    pattern: tuple[float, ...] | None = None
    absent: PackedSpins | None = None

    def sampler(self, at: Point) -> tuple[SamplerName, int]:
        """What gives data at equilibrium: annealing far from the spin glass, more slowly nearer, then tempering."""
        distance = 1 - at.gamma * self.r
        return "anneal" if distance > NEAR else "temper", 4 if distance > 0.5 else 10


def interval_of(
    answer: StrengthAnswer,
    data: SpinStatistics,
    level: float = 0.9,
    n_simulations: int = 200,
    seed: Seed = 0,
    fields: str = "auto",
    statistic: Callable[[Spins], Any] | None = None,
    progress: Heard | None = None,
) -> Interval:
    """Intervals of J and H for what was inferred from these data; arguments are those of ``EmpiricalBayes.interval``.

    What is looked at is the statistic of the method or, where "auto" chose it near the spin glass, a better one.
    Simulated data sets have many weak couplings: for data of another kind this is an InputError.
    """
    if fields not in FIELDS:
        raise InputError(f"fields must be one of {', '.join(FIELDS)}: found {fields!r}.")
    m = answer.moments
    if m.N < 4:
        raise InputError(f"An interval needs at least 4 samples: found {m.N}.")
    if data.missing and data.absent is None:
        raise InputError(
            f"An interval for data with missing cells needs to know which are missing, because those are left out of "
            f"simulated data, too: found that {data.missing} are, of rows that were not kept. Give all rows at once, "
            "and ",
            Setting("keep_data", True),
            " before pickling.",
        )
    if not answer.diagnosis.is_weak:
        raise InputError(f"{another_kind(answer.diagnosis)} Leave it out.")
    thinned = answer.thinned
    parts = (data,) if thinned is None else thinned.parts
    data = parts[0]
    gamma, gamma_error, H, H_error = _first_guess(answer, data)
    least = 1 / m.N  # a score needs a gamma above 0
    looked_at: Statistic
    if statistic is not None:
        looked_at = partial(_of_spins, statistic)
    elif _two_scores(answer, data):
        looked_at = statistic_near_glass(data, max(gamma, least), answer.options)
    else:
        found = replace(answer.estimate, gamma=max(answer.estimate.gamma, least))
        looked_at = answer.method.statistic(found, max(gamma, least), answer.options)
    J0 = answer.estimate.J0
    sites, differ = site_fields(m, gamma, J0)
    pattern = None
    if fields == "sites" or (fields == "auto" and differ):
        pattern, H = tuple((sites - sites.mean()).tolist()), float(sites.mean())
    setting = Ensemble(m.n, m.N, stability(m), J0, pattern, data.absent)
    start, error = Point(gamma, H), Point(gamma_error, H_error)
    observed = np.mean([see(looked_at, part) for part in parts], axis=0)
    shares = np.ones(len(observed))
    if thinned is not None:
        shares[:-1], shares[-1] = thinned.variances(gamma)
    return calibrate(looked_at, observed, setting, start, error, level, n_simulations, seed, progress, shares)


def _two_scores(answer: StrengthAnswer, data: SpinStatistics) -> bool:
    """Whether two scores are compared, which need complete rows."""
    folded = data.has_data and data.rows is None
    return answer.chosen and answer.diagnosis.distance < NEAR and not folded and not data.missing


def _first_guess(answer: StrengthAnswer, data: SpinStatistics) -> tuple[float, float, float, float]:
    """gamma and H with as little bias as possible, each with its error."""
    m, found = answer.moments, answer.estimate
    gamma, error, H, H_error = found.gamma, found.gamma_error, found.H, found.H_error
    if answer.method.biased:
        gamma, error = unbiased(data, m)
        H, H_error = field(m, gamma), field_error(m, gamma, error)
    error = error if error < 1 else 1.0
    H_error = H_error if math.isfinite(H_error) else 1.0
    if 1 - gamma * stability(m) < NEAR:  # the formulas for errors end here
        error *= 3
    return gamma, error, H, H_error


def _of_spins(statistic: Callable[[Spins], Any], data: SpinStatistics) -> Any:
    return statistic(data.spins())


def see(statistic: Statistic, data: SpinStatistics) -> Array:
    """What is compared: the statistic, one number or several, and the mean spin."""
    mean = int(data.sums.sum()) / (data.n * data.N - data.missing)
    seen = np.append(np.asarray(statistic(data), dtype=np.float64), mean)
    if not np.isfinite(seen).all():
        raise InputError(
            f"statistic must give finite numbers for every data set: found {seen[:-1].tolist()}."
        )
    return seen


def calibrate(
    statistic: Statistic,
    observed: Array,
    setting: Ensemble,
    start: Point,
    error: Point,
    level: float = 0.9,
    n_simulations: int = 200,
    seed: Seed = 0,
    progress: Heard | None = None,
    shares: Array | None = None,
) -> Interval:
    """Intervals of J and H for data of which this was ``observed``, with :func:`see`.

    ``start`` is a first estimate, ``error`` its standard error; neither needs to be right. What was observed has
    ``shares`` of the variances of simulated data sets, where it is a mean over several. Simulations run in
    parallel under ``joblib.parallel_config(n_jobs=...)``, and the statistic with them, so it must be picklable.
    """
    observed = np.asarray(observed, dtype=np.float64)
    level = number("level", level)
    if not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1: found {level:g}.")
    n_simulations = count("n_simulations", n_simulations, 40)
    reach = float(student.ppf((1 + level) / 2, n_simulations - TERMS)) + _MARGIN
    ceiling = _CEILING * max(start.gamma, 1.0)
    simulations = _Simulations(statistic, setting, error, seed, n_simulations, progress, shares)
    window = window_around(start, Point(reach * error.gamma, reach * error.H), ceiling)
    simulations.run(window, n_simulations // 2)
    window = simulations.widen(window, observed, level, ceiling)
    centre, scale = simulations.surface(window).solve(observed)
    # The scale is known roughly: the window may halve or double.
    half = Point(*(min(max(reach * s, h / 2), 2 * h) for s, h in zip(scale, window.half, strict=True)))
    window = window_around(centre, half, ceiling)
    simulations.run(window, max(n_simulations - simulations.made, n_simulations // 4))
    window = simulations.widen(window, observed, level, ceiling)
    if simulations.stuck:
        warnings.warn(
            f"{simulations.stuck} of {simulations.made} simulated data sets may not be at equilibrium: take the "
            "interval as approximate.",
            NotEquilibratedWarning,
            stacklevel=4,  # of whoever asks an estimator for an interval
        )
    return _interval(simulations.surface(window).region(observed, level), level, simulations.made)


def _interval(region: Region, level: float, n_simulations: int) -> Interval:
    """In terms of J, with a note on open ends."""
    J = math.sqrt(region.centre.gamma)
    notes = []
    if region.gamma[1] is None:
        notes.append(f"the statistic hardly responds to J beyond {J:.3g}: the interval has no upper end")
    if None in region.H:
        notes.append("the interval of H has no end within reach")
    gamma = region.gamma[0] or 0.0, math.inf if region.gamma[1] is None else region.gamma[1]
    H = tuple(s * math.inf if end is None else end for s, end in zip((-1, 1), region.H, strict=True))
    return Interval(
        J=(math.sqrt(gamma[0]), math.sqrt(gamma[1])),
        H=(H[0], H[1]),
        J_corrected=J,
        H_corrected=region.centre.H,
        level=level,
        n_simulations=n_simulations,
        note="; ".join(notes),
    )


Packed = tuple[PackedSpins, bool]  # spins as bits, and whether the sampler complained

_cache: OrderedDict[tuple[Any, ...], Packed] = OrderedDict()


class _Simulations:
    """Data sets at lattice points; how many were ``made``, and how many of these got ``stuck``."""

    def __init__(
        self,
        statistic: Statistic,
        setting: Ensemble,
        error: Point,
        seed: Seed,
        expected: int,
        progress: Heard | None,
        shares: Array | None = None,
    ) -> None:
        self.statistic, self.setting, self.progress, self.expected = statistic, setting, progress, expected
        self.shares = shares
        rng = generator(seed)
        self.seed = seed if isinstance(seed, int) else int(rng.integers(2**62))
        # Powers of two, so that data sets of the same size find the same lattice.
        self.steps = Point(*(2.0 ** math.floor(math.log2(max(e, 1e-6) / 4)) for e in error))
        self.points: list[Point] = []
        self.values: list[Array] = []
        self.used: dict[tuple[int, int], int] = {}
        self.stuck = 0

    @property
    def made(self) -> int:
        return len(self.points)

    def run(self, window: Window, number: int) -> None:
        """Simulate at ``number`` more points of the window."""
        ends = zip(window.low, window.high, self.steps, strict=True)
        axes = [np.arange(math.ceil(low / step), math.floor(high / step) + 1) for low, high, step in ends]
        lattice = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 2)
        lattice = lattice[np.argsort(_rank(lattice, self.seed), kind="stable")]
        tasks: list[tuple[Point, tuple[int, ...]]] = []
        for copy in itertools.count():
            for i, j in lattice.tolist():
                if len(tasks) < number and self.used.get((i, j), -1) < copy:
                    self.used[i, j] = copy
                    at = Point(i * self.steps.gamma, j * self.steps.H)
                    tasks.append((at, (self.seed, i, abs(j), int(j < 0), copy)))
            if len(tasks) == number:
                break
        # Not r: it differs from data to data, and matters through the sampler alone.
        common = self.setting.n, self.setting.N, self.setting.J0, self.setting.pattern
        keys = [(*common, *self.setting.sampler(at), at, entropy) for at, entropy in tasks]
        results = Parallel(return_as="generator", batch_size=1)(
            delayed(_observe)(self.statistic, self.setting, at, entropy, _cache.get(key))
            for (at, entropy), key in zip(tasks, keys, strict=True)
        )
        for (at, _), key, (packed, seen) in zip(tasks, keys, results, strict=True):
            self.points.append(at)
            self.values.append(seen)
            self.stuck += packed[1]
            _cache[key] = packed
            _cache.move_to_end(key)
            if self.progress:
                self.progress(self.made, max(self.expected, self.made))
        _forget()

    def widen(self, window: Window, observed: Array, level: float, ceiling: float) -> Window:
        """The window, or a wider one where it does not hold all that the test accepts."""
        for _ in range(_MOVES):
            wider = self.surface(window).region(observed, level).wider(window, ceiling)
            if wider == window:
                break
            window = wider
            self.run(window, self.expected // 4)
        return window

    def surface(self, window: Window) -> Surface:
        """Fitted to what lies in the window, or nearly."""
        points, values = np.array(self.points), np.array(self.values)
        near = np.all(np.abs(window.scaled(points)) < 1.1, axis=1)
        return Surface(window, points[near], values[near], self.shares)


def _rank(lattice: NDArray[np.int64], seed: int) -> NDArray[np.uint64]:
    """A random number for each point, the same whenever it is asked for (the mixing function of SplitMix64)."""
    i, j = lattice.astype(np.uint64).T
    x = i * np.uint64(0x9E3779B97F4A7C15) + j * np.uint64(0xC2B2AE3D27D4EB4F) + np.uint64(seed % 2**64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


def _observe(
    statistic: Statistic, setting: Ensemble, at: Point, entropy: tuple[int, ...], packed: Packed | None
) -> tuple[Packed, Array]:
    """A data set of new couplings, or a remembered one, and what is seen of it."""
    if packed is None:
        spins, stuck = _draw(setting, at, np.random.SeedSequence(entropy))
        packed = PackedSpins.of(spins), stuck
    try:
        return packed, see(statistic, _with_gaps(packed[0], setting))
    except ValueError as error:
        failed = SimulatedDataError(
            f"the statistic does not exist for data simulated at J = {math.sqrt(at.gamma):.3g}, H = {at.H:.3g}, "
            f"where the interval looks for its ends: {error} Try another method, or data with more samples or spins."
        )
        failed.frozen = isinstance(error, ConstantSpinsError)
        raise failed from error


def _with_gaps(rows: PackedSpins, setting: Ensemble) -> SpinStatistics:
    """Simulated data without the cells that are missing from the data themselves."""
    words = rows.words if setting.absent is None else rows.words & ~setting.absent.words
    fresh = PackedSpins(words, setting.n)  # what is remembered stays as small as it is
    return SpinStatistics(setting.N, setting.n, fresh, absent=setting.absent)


def _draw(setting: Ensemble, at: Point, seed: np.random.SeedSequence) -> tuple[Spins, bool]:
    """Spins of new couplings, and whether the sampler complained."""
    sampler, sweeps = setting.sampler(at)
    H: Any = at.H if setting.pattern is None else at.H + np.array(setting.pattern)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", NotEquilibratedWarning)
        sim = simulate(
            setting.n,
            setting.N,
            J=math.sqrt(at.gamma),
            H=H,
            J0=setting.J0,
            sampler=sampler,
            sweeps=sweeps,
            seed=np.random.default_rng(seed),
        )
    return sim.spins, bool(caught)


def _forget() -> None:
    """Those not used for longest, where there are too many."""
    size = sum(rows.words.nbytes for rows, _ in _cache.values())
    while len(_cache) > 1 and size > _LARGEST_CACHE:
        size -= _cache.popitem(last=False)[1][0].words.nbytes
