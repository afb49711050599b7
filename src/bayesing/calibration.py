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
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import least_squares
from scipy.stats import t as student

from .arguments import Seed, count, generator, number
from .exceptions import InputError, NotEquilibratedWarning
from .generator import SamplerName, simulate
from .replica import NEAR
from .types import Array, Spins

Statistic = Callable[[Spins], ArrayLike]
Progress = Callable[[int, int], None]

_MARGIN = 1.5  # standard errors by which the window is wider than the interval
_MOVES = 4  # of the window, at most
_GRID = 64  # points from the estimate to each end of the window
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


class SimulatedDataError(InputError):
    """The statistic cannot be had of some simulated data set, because hardly any spin varies in it, for example."""


class Point(NamedTuple):
    gamma: float
    H: float


@dataclass(frozen=True)
class Setting:
    """What the data sets have in common: their size, r (for the distance to the spin glass), J0, and the fields.

    ``pattern`` is added to the field H.
    """

    n: int
    N: int
    r: float
    J0: float = 0.0
    pattern: tuple[float, ...] | None = None

    def sampler(self, at: Point) -> tuple[SamplerName, int]:
        """What gives data at equilibrium: annealing far from the spin glass, more slowly nearer, then tempering."""
        distance = 1 - at.gamma * self.r
        return "anneal" if distance > NEAR else "temper", 4 if distance > 0.5 else 10


def see(statistic: Statistic, spins: Spins) -> Array:
    """What is compared: the statistic, one number or several, and the mean spin."""
    seen = np.append(np.asarray(statistic(spins), dtype=np.float64), spins.mean())
    if not np.isfinite(seen).all():
        raise ValueError(
            f"statistic must give finite numbers for every data set: found {seen[:-1].tolist()}."
        )
    return seen


def calibrate(
    statistic: Statistic,
    observed: Array,
    setting: Setting,
    start: Point,
    error: Point,
    level: float = 0.9,
    n_simulations: int = 200,
    seed: Seed = 0,
    progress: Progress | None = None,
) -> Interval:
    """Intervals of J and H for data of which this was ``observed``, with :func:`see`.

    ``start`` is a first estimate, ``error`` its standard error; neither needs to be right. Simulations run in
    parallel under ``joblib.parallel_config(n_jobs=...)``, and the statistic with them, so it must be picklable.
    """
    observed = np.asarray(observed, dtype=np.float64)
    level = number("level", level)
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1: found {level:g}.")
    n_simulations = count("n_simulations", n_simulations, 40)
    reach = float(student.ppf((1 + level) / 2, n_simulations - _TERMS)) + _MARGIN
    ceiling = _CEILING * max(start.gamma, 1.0)
    simulations = _Simulations(statistic, setting, error, seed, n_simulations, progress)
    window = _window(start, Point(reach * error.gamma, reach * error.H), ceiling)
    simulations.run(window, n_simulations // 2)
    window = simulations.widen(window, observed, level, ceiling)
    centre, scale = simulations.surface(window).solve(observed)
    # The scale is known roughly: the window may halve or double.
    half = Point(*(min(max(reach * s, h / 2), 2 * h) for s, h in zip(scale, window.half, strict=True)))
    window = _window(centre, half, ceiling)
    simulations.run(window, max(n_simulations - simulations.made, n_simulations // 4))
    window = simulations.widen(window, observed, level, ceiling)
    if simulations.stuck:
        warnings.warn(
            f"{simulations.stuck} of {simulations.made} simulated data sets may not be at equilibrium: take the "
            "interval as approximate.",
            NotEquilibratedWarning,
            stacklevel=3,
        )
    return simulations.surface(window).region(observed, level).interval(level, simulations.made)


@dataclass(frozen=True)
class Region:
    """The estimate, and the ends of what the test accepts around it; None where that has no end in the window."""

    centre: Point
    gamma: tuple[float | None, float | None]
    H: tuple[float | None, float | None]

    def wider(self, window: Window, ceiling: float) -> Window:
        """Twice as far from the centre on the sides that are open."""

        def moved(edge: Point, end: int) -> Point:
            ends = self.gamma[end], self.H[end]
            far = (2 * e - c if x is None else e for x, e, c in zip(ends, edge, self.centre, strict=True))
            gamma, H = far
            return Point(min(max(gamma, 0.0), ceiling), H)

        return Window(moved(window.low, 0), moved(window.high, 1))

    def interval(self, level: float, n_simulations: int) -> Interval:
        """In terms of J, with a note on open ends."""
        J = math.sqrt(self.centre.gamma)
        notes = []
        if self.gamma[1] is None:
            notes.append(f"the statistic hardly responds to J beyond {J:.3g}: the interval has no upper end")
        if None in self.H:
            notes.append("the interval of H has no end within reach")
        gamma = self.gamma[0] or 0.0, math.inf if self.gamma[1] is None else self.gamma[1]
        H = tuple(s * math.inf if end is None else end for s, end in zip((-1, 1), self.H, strict=True))
        return Interval(
            J=(math.sqrt(gamma[0]), math.sqrt(gamma[1])),
            H=(H[0], H[1]),
            J_corrected=J,
            H_corrected=self.centre.H,
            level=level,
            n_simulations=n_simulations,
            note="; ".join(notes),
        )


@dataclass(frozen=True)
class Window:
    """Trial values: a rectangle in gamma and H."""

    low: Point
    high: Point

    @property
    def half(self) -> Point:
        return Point((self.high.gamma - self.low.gamma) / 2, (self.high.H - self.low.H) / 2)

    def scaled(self, points: Array) -> Array:
        """Coordinates from -1 to 1."""
        low, high = np.array(self.low), np.array(self.high)
        return np.asarray((2 * points - low - high) / (high - low))


def _window(centre: Point, half: Point, ceiling: float) -> Window:
    low = max(centre.gamma - half.gamma, 0.0)
    high = min(max(centre.gamma, low) + half.gamma, ceiling)
    return Window(Point(min(low, high - half.gamma), centre.H - half.H), Point(high, centre.H + half.H))


class Surface:
    """What is seen as a function of gamma and H in a window, fitted to simulations there."""

    def __init__(self, window: Window, points: Array, values: Array) -> None:
        self.window = window
        X, u = _basis(window.scaled(points)), window.scaled(points)[:, 0]
        trend = np.column_stack([np.ones_like(u), u])
        # Of the slope of ln Var in u little is known from so few: it gets the prior N(0, 1).
        information = trend.T @ trend + np.diag([0.0, 2.0])
        k, number = values.shape
        self.dof = k - _TERMS
        self.coefficients = np.empty((_TERMS, number))
        self.log_variances = np.zeros((number, 2))
        self.uncertainty = np.empty((number, _TERMS, _TERMS))
        standardised = np.empty((k, number))
        for index, y in enumerate(values.T):
            a, b = math.log(max(float(np.var(y)), 1e-300)), 0.0
            for _ in range(20):
                root = np.exp(-(a + b * u) / 2)
                Q, R = np.linalg.qr(X * root[:, None])
                beta = np.linalg.solve(R, Q.T @ (y * root))
                # Residuals of fits that leave the point out, which are a little too large rather than too small.
                residuals = (y - X @ beta) * root / (1 - np.sum(Q**2, axis=1))
                step = np.linalg.solve(information, trend.T @ (residuals**2 - 1) - np.array([0.0, 2 * b]))
                a, b = a + step[0], min(max(b + step[1], -3.0), 3.0)
                if np.abs(step).max() < 1e-6:
                    break
            self.coefficients[:, index], self.log_variances[index] = beta, (a, b)
            standardised[:, index] = residuals
            inverse = np.linalg.inv(R)
            self.uncertainty[index] = inverse @ inverse.T
        # Towards none by as much as one data set says, so that it has an inverse.
        correlation = (np.corrcoef(standardised.T) * k + np.eye(number)) / (k + 1)
        self.whitening = np.linalg.inv(np.linalg.cholesky(correlation))

    def mean(self, at: Array) -> Array:
        return np.asarray(_basis(self.window.scaled(at)) @ self.coefficients)

    def deviation(self, at: Array) -> Array:
        u = self.window.scaled(at)[..., :1]
        return np.asarray(np.exp((self.log_variances[:, 0] + self.log_variances[:, 1] * u) / 2))

    def whitened(self, at: Array, observed: Array) -> Array:
        """Uncorrelated deviations of what was observed, of variance 1, at one point or many."""
        x = _basis(self.window.scaled(at))
        left = np.einsum("...i,kij,...j->...k", x, self.uncertainty, x)  # of the variance, in the mean
        deviation = np.sqrt(self.deviation(at) ** 2 + left)
        return np.asarray(((observed - self.mean(at)) / deviation) @ self.whitening.T)

    def solve(self, observed: Array) -> tuple[Point, Point]:
        """The point of the window that agrees best, and its standard errors."""
        low, high = np.array(self.window.low), np.array(self.window.high)
        middle = (low + high) / 2
        fit = least_squares(
            lambda at: self.whitened(at, observed), middle, bounds=(low, high), x_scale=high - low
        )
        step = 1e-3 * (high - low)
        A = np.column_stack(
            [(self.mean(fit.x + d) - self.mean(fit.x - d)) / (2 * d.sum()) for d in np.diag(step)]
        )
        response = self.whitening @ (A / self.deviation(fit.x)[:, None])
        strength, directions = np.linalg.eigh(response.T @ response * np.outer(high - low, high - low))
        # Where nothing responds the window may grow, up to its limits.
        variances = directions**2 @ (1 / np.maximum(strength, 1e-6))
        return Point(*map(float, fit.x)), Point(*map(float, np.sqrt(variances) * (high - low)))

    def region(self, observed: Array, level: float) -> Region:
        """All gamma, and all H, that the test does not reject, from D on a grid."""
        centre, _ = self.solve(observed)
        axes = [_grid(*ends) for ends in zip(self.window.low, centre, self.window.high, strict=True)]
        D = np.sqrt(np.sum(self.whitened(np.stack(np.meshgrid(*axes, indexing="ij"), -1), observed) ** 2, -1))
        # The least D is not 0 where T is lower than even gamma = 0 makes it, or where it has several numbers.
        limit = math.sqrt(float(student.ppf((1 + level) / 2, self.dof)) ** 2 + float(D.min()) ** 2)
        gamma, H = (_crossings(axis, np.min(D, axis=1 - k), limit) for k, axis in enumerate(axes))
        return Region(centre, gamma, H)


def _grid(low: float, centre: float, high: float) -> Array:
    """From low to high, by way of the centre."""
    return np.concatenate([np.linspace(low, centre, _GRID + 1)[:-1], np.linspace(centre, high, _GRID + 1)])


def _crossings(x: Array, y: Array, limit: float) -> tuple[float | None, float | None]:
    """Where y first exceeds the limit, to the left and to the right of the middle; None where it does not."""

    def first(x: Array, y: Array) -> float | None:
        above = y > limit
        if not above.any():
            return None
        k = max(int(np.argmax(above)), 1)
        return float(x[k - 1] + (x[k] - x[k - 1]) * (limit - y[k - 1]) / (y[k] - y[k - 1]))

    return first(x[_GRID::-1], y[_GRID::-1]), first(x[_GRID:], y[_GRID:])


_TERMS = 6


def _basis(u: Array) -> Array:
    x, y = np.moveaxis(u, -1, 0)
    return np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=-1)


Packed = tuple[NDArray[np.uint8], bool]  # bits of the spins, and whether the sampler complained

_cache: OrderedDict[tuple[Any, ...], Packed] = OrderedDict()


class _Simulations:
    """Data sets at lattice points; how many were ``made``, and how many of these got ``stuck``."""

    def __init__(
        self,
        statistic: Statistic,
        setting: Setting,
        error: Point,
        seed: Seed,
        expected: int,
        progress: Progress | None,
    ) -> None:
        self.statistic, self.setting, self.progress, self.expected = statistic, setting, progress, expected
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
            _remember(key, packed)
            if self.progress:
                self.progress(self.made, max(self.expected, self.made))

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
        return Surface(window, points[near], values[near])


def _rank(lattice: NDArray[np.int64], seed: int) -> NDArray[np.uint64]:
    """A random number for each point, the same whenever it is asked for (the mixing function of SplitMix64)."""
    i, j = lattice.astype(np.uint64).T
    x = i * np.uint64(0x9E3779B97F4A7C15) + j * np.uint64(0xC2B2AE3D27D4EB4F) + np.uint64(seed % 2**64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


def _observe(
    statistic: Statistic, setting: Setting, at: Point, entropy: tuple[int, ...], packed: Packed | None
) -> tuple[Packed, Array]:
    """A data set of new couplings, or a remembered one: packed, and what is seen of it."""
    if packed is None:
        spins, stuck = _draw(setting, at, np.random.SeedSequence(entropy))
        packed = np.packbits(spins > 0, axis=1), stuck
    else:
        spins = 2 * np.unpackbits(packed[0], axis=1, count=setting.n).astype(np.int8) - 1
    try:
        return packed, see(statistic, spins)
    except ValueError as error:
        raise SimulatedDataError(
            f"the statistic cannot be had of data simulated at J = {math.sqrt(at.gamma):.3g}, H = {at.H:.3g}, where "
            f"the interval looks for its ends ({error}) Try another method, or data with more samples or spins."
        ) from error


def _draw(setting: Setting, at: Point, seed: np.random.SeedSequence) -> tuple[Spins, bool]:
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


def _remember(key: tuple[Any, ...], packed: Packed) -> None:
    """Keep a data set, and forget those not used for longest where there are too many."""
    _cache[key] = packed
    _cache.move_to_end(key)
    size = sum(bits.nbytes for bits, _ in _cache.values())
    while len(_cache) > 1 and size > _LARGEST_CACHE:
        size -= _cache.popitem(last=False)[1][0].nbytes
