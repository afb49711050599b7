"""What is seen of data as a function of gamma and H: a quadratic surface through simulations, and where it agrees.

See :mod:`bayesing.calibration` for the model and the test.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares
from scipy.stats import t as student

from .types import Array

TERMS = 6  # of a quadratic function of two variables
_GRID = 64  # points from the estimate to each end of the window


class Point(NamedTuple):
    """A trial value of gamma and H, or a length in each of them."""

    gamma: float
    H: float


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


def window_around(centre: Point, half: Point, ceiling: float) -> Window:
    low = max(centre.gamma - half.gamma, 0.0)
    high = min(max(centre.gamma, low) + half.gamma, ceiling)
    return Window(Point(min(low, high - half.gamma), centre.H - half.H), Point(high, centre.H + half.H))


class Surface:
    """What is seen as a function of gamma and H in a window, fitted to simulations there."""

    def __init__(self, window: Window, points: Array, values: Array, shares: Array | None = None) -> None:
        self.window = window
        self.shares = (
            np.ones(values.shape[1]) if shares is None else shares
        )  # of the variance, in what is observed
        X, u = _basis(window.scaled(points)), window.scaled(points)[:, 0]
        trend = np.column_stack([np.ones_like(u), u])
        # Of the slope of ln Var in u little is known from so few: it gets the prior N(0, 1).
        information = trend.T @ trend + np.diag([0.0, 2.0])
        k, number = values.shape
        self.dof = k - TERMS
        self.coefficients = np.empty((TERMS, number))
        self.log_variances = np.zeros((number, 2))
        self.uncertainty = np.empty((number, TERMS, TERMS))
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
        return np.asarray(
            np.exp((self.log_variances[:, 0] + self.log_variances[:, 1] * u) / 2) * np.sqrt(self.shares)
        )

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


def _basis(u: Array) -> Array:
    x, y = np.moveaxis(u, -1, 0)
    return np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=-1)
