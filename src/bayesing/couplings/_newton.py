r"""The search for couplings of largest pseudo-likelihood where the prior is quadratic: Newton's method.

With symmetric J and centred fields b (:mod:`bayesing.weighted`), precisions :math:`q_{ij}` and pulls :math:`l_{ij}`
of the couplings, it minimises, per sample,

.. math::

    - \sum_\mu \sum_i \ln P(s_i \mid \text{rest}) + \sum_{i<j} \left( \tfrac12 q_{ij} J_{ij}^2 - l_{ij} J_{ij} \right)
    + \tfrac12 \sum_i (b_i - \beta_i)^2 .

**Steps** are solved for by conjugate gradients, to a tenth of the slope (R. Dembo and T. Steihaug, *Truncated-Newton
algorithms*, 1983). Products with the curvature are in single precision, which is enough for a direction, and take a
third of the time of a slope. The slope decides where to stop, and is in double precision.

**Preconditioner.** With mean curvatures :math:`w_i = \langle 1 - \tanh^2 f_i \rangle` and the covariance C of the
spins, the curvature per sample is about :math:`P \mapsto q P/N + w P C + C P w`. Its diagonal is
:math:`D_{ij} = q_{ij}/N + w_i C_{jj} + C_{ii} w_j`. Where samples are many, its neighbour

.. math:: P \mapsto v P C' + C' P v , \qquad C' = C + a , \quad v_i = C'_{ii} , \quad 2 a^2 = \bar q / N ,

has about the right size for spins that vary and for spins that hardly do, for which the prior decides, and is
diagonal in the eigenvectors of :math:`v^{-1/2} C' v^{-1/2}`, which do not change along the way. Its inverse is
scaled from both sides so that the diagonal of the operator is D.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..conditionals import independent_fields, middle_of_fields
from ..types import Array
from ..weighted import WeightedRows

_MOST_STEPS = 100  # of Newton's method; 10 are enough for all data that were tried
_MOST_PRODUCTS = 100  # with the curvature, in a step
_FORCING = 0.1  # what is left of the slope after a step, in the norm of the preconditioner
_MANY_SAMPLES = 3  # over spins, from which a preconditioner with eigenvectors is worth its matrix products
_LEAST_RATE = 1e-6  # of a step
_ROUNDING = 1e-13  # of the objective per sample, relative


class Point(NamedTuple):
    """Couplings (n x n) and centred fields; or a slope in both, or a change of both."""

    J: Array
    b: Array

    def dot(self, other: Point) -> float:
        """Over pairs i < j and fields."""
        return float(np.vdot(self.J, other.J) / 2 + self.b @ other.b)

    def plus(self, rate: float, other: Point) -> Point:
        """A step along another."""
        return Point(self.J + rate * other.J, self.b + rate * other.b)

    @property
    def largest(self) -> float:
        """In absolute value."""
        return float(max(np.abs(self.J).max(), np.abs(self.b).max()))


Operator = Callable[[Point], Point]


def newton(
    rows: WeightedRows, q: Array | float, pull: Array | float, start: Point | None, tolerance: float
) -> tuple[Point, float]:
    """The minimum, and the largest slope per sample there; q and ``pull`` are n x n or the same for all pairs.

    Without a ``start`` it is independent spins, where a step takes no look at the samples.
    """
    N, middle = rows.N, middle_of_fields(rows.sums, rows.N)
    C = rows.covariance()
    curvatures = np.empty(rows.spins.shape, np.float32)

    def at(x: Point) -> tuple[float, Point]:
        total, products, sums = rows.slope(x.J, x.b, curvatures)
        away = x.b - middle
        prior = np.vdot(x.J, q * x.J / 2 - pull) / 2 + away @ away / 2
        slope = _hollow(q * x.J - pull - (products + products.T)) / N
        return float(prior - total) / N, Point(slope, (away - sums) / N)

    def bend(change: Point) -> Point:
        products, sums = rows.bend(curvatures, *change)
        return Point(_hollow(q * change.J + (products + products.T)) / N, (change.b + sums) / N)

    divided = preconditioner(C, q, N)
    if start is None:
        x, value, slope, w = independent(rows, C, pull)
        step = _solve(lambda change: bend_of_means(C, w, q, N, change), divided(w), slope, tolerance)
    else:
        x = start
        value, slope = at(x)
    for k in range(_MOST_STEPS):
        if slope.largest <= tolerance:
            break
        if k or start is not None:
            w = curvatures.sum(axis=0, dtype=np.float64) / N
            step = _solve(bend, divided(w), slope, tolerance)
        rate, expected = 1.0, slope.dot(step)
        while True:
            further = x.plus(rate, step)
            lower, there = at(further)
            if lower <= value + 1e-4 * rate * expected + _ROUNDING * abs(value) or rate < _LEAST_RATE:
                break
            rate /= 2
        x, value, slope = further, lower, there
    return x, slope.largest


def independent(rows: WeightedRows, C: Array, pull: Array | float) -> tuple[Point, float, Point, Array]:
    """The point without couplings, where fields are best: value, slope and curvatures w of the conditionals."""
    N, b = rows.N, independent_fields(rows.sums, rows.N)
    away = b - middle_of_fields(rows.sums, N)
    value = float(N * np.logaddexp(b, -b).sum() - rows.sums @ b + away @ away / 2) / N
    slope = Point(_hollow(-2 * C - pull / N), np.zeros_like(b))
    return Point(np.zeros_like(C), b), value, slope, 1 - np.tanh(b) ** 2


def bend_of_means(C: Array, w: Array, q: Array | float, N: int, change: Point) -> Point:
    """The product with the curvature where it is the same in all samples: q P/N + w P C + C P w."""
    product = w[:, None] * (change.J @ C)
    return Point(_hollow(q * change.J / N + (product + product.T)), (w + 1 / N) * change.b)


def preconditioner(C: Array, q: Array | float, N: int) -> Callable[[Array], Operator]:
    """From mean curvatures w to about the inverse of the curvature per sample."""
    n, c = len(C), np.diag(C)
    if N < _MANY_SAMPLES * n:

        def diagonal(w: Array) -> Operator:
            D = q / N + np.outer(w, c) + np.outer(c, w)
            return lambda slope: Point(slope.J / D, slope.b / (w + 1 / N))

        return diagonal
    a = math.sqrt(max(float(np.mean(q)) / N, 1e-12) / 2)
    v = c + a
    norm = np.sqrt(np.outer(v, v))
    d, V = np.linalg.eigh((C + a * np.eye(n)) / norm)
    V = V.astype(np.float32)
    K = (1 / (d[:, None] + d)).astype(np.float32)

    def eigenbasis(w: Array) -> Operator:
        D = q / N + np.outer(w, c) + np.outer(c, w)
        scale = (np.sqrt(2 / D)).astype(np.float32)  # the diagonal of the neighbour is 2 v_i v_j

        def apply(slope: Point) -> Point:
            G = V.T @ (scale * slope.J.astype(np.float32)) @ V
            J = (scale * (V @ (K * G) @ V.T)).astype(np.float64)
            return Point(_hollow(J + J.T) / 2, slope.b / (w + 1 / N))

        return apply

    return eigenbasis


def _solve(bend: Operator, divided: Operator, slope: Point, tolerance: float) -> Point:
    """About the step that takes the slope away, by conjugate gradients."""
    step = Point(np.zeros_like(slope.J), np.zeros_like(slope.b))
    left = Point(-slope.J, -slope.b)
    direction = divided(left)
    size = first = left.dot(direction)
    for _ in range(_MOST_PRODUCTS):
        bent = bend(direction)
        rate = size / direction.dot(bent)
        step, left = step.plus(rate, direction), left.plus(-rate, bent)
        if left.largest < tolerance / 3:
            break
        towards = divided(left)
        before, size = size, left.dot(towards)
        if size < _FORCING**2 * first:
            break
        direction = towards.plus(size / before, direction)
    return step


def _hollow(matrix: Array) -> Array:
    """The same, changed in place, with zeros on the diagonal."""
    np.fill_diagonal(matrix, 0.0)
    return matrix
