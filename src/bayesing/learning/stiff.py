r"""Coordinates in which the posterior is nearly the same in all directions, and the few that are not.

With the metric's curvature :math:`N W + \lambda` in the basis V (:mod:`~bayesing.learning.newton`) couplings and
fields

.. math:: J = V (\sqrt{K} \circ E) V^T , \qquad b = V (\sqrt{k} \circ e) , \qquad
    K = \frac1{N W + \lambda} , \quad k = \frac1{N c + 1}

have a posterior of curvature about 1 in all directions (E, e): most lie between 1/2 and 2. In a few collective
directions, along which many pairs go together, the curvature is far larger: 21 on votes in two parties, 42 deep in
the spin glass. Steps that take it for 1 are thrown back further than they came. The leading eigenvectors v of the
curvature of samples, with their eigenvalues :math:`\kappa`, mend this:

.. math:: \text{curvature}^{-s} \approx 1 + \sum_v (\kappa_v^{-s} - 1) v v^T .
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..types import Array
from .newton import Metric, Pair, curvature
from .phases import Data, Free

DIRECTIONS = 10  # that are mended
_BASIS = 20  # products with the curvature, about: the cost of finding them
_ACCURACY = 0.1  # of their curvatures


class Stiff:
    """The leading directions of the curvature of samples ``free``, in the coordinates of a metric."""

    def __init__(self, data: Data, free: Free, metric: Metric) -> None:
        from scipy.sparse.linalg import LinearOperator, eigsh

        n = data.n
        self.pairs = np.triu_indices(n)
        # Each pair once: a diagonal element, of which there is one, counts half of what two others do.
        self.weights = np.where(self.pairs[0] == self.pairs[1], math.sqrt(0.5), 1.0)

        def product(x: Array) -> Array:
            return self.flat(*into(metric, *curvature(data, free, metric, *out(metric, *self.unflat(x)))))

        size = len(self.weights) + n
        operator: Any = LinearOperator((size, size), matvec=product, dtype=np.float64)
        directions = min(DIRECTIONS, size // 3)
        start = np.random.default_rng(0).normal(size=size)
        if directions < 1:
            found, vectors = np.ones(0), np.empty((size, 0))
        else:
            basis = min(max(_BASIS, directions + 2), size)
            found, vectors = eigsh(operator, directions, which="LA", tol=_ACCURACY, v0=start, ncv=basis)
        #: The least of these curvatures: of others at most.
        self.rest = float(found[0]) if len(found) else 1.0
        self.kappa, self.vectors = np.maximum(found, 1.0), vectors

    def flat(self, E: Array, e: Array) -> Array:
        """Both as one vector, with the usual length."""
        return np.concatenate([E[self.pairs] * self.weights, e])

    def unflat(self, x: Array) -> Pair:
        """Back."""
        n = self.pairs[0][-1] + 1
        E = np.zeros((n, n))
        E[self.pairs] = x[:-n] / self.weights
        return E + np.triu(E, 1).T, x[-n:]

    def mend(self, E: Array, e: Array, power: float) -> Pair:
        """Curvature to the power ``-power``, times (E, e)."""
        x = self.flat(E, e)
        return self.unflat(x + self.vectors @ ((self.kappa**-power - 1) * (self.vectors.T @ x)))


def product(metric: Metric, stiff: Stiff, J: Array, b: Array) -> Pair:
    """The curvature of the metric, mended, times a step of couplings and fields."""
    V, K, k = metric.V, np.sqrt(metric.K), np.sqrt(metric.k)
    E, e = stiff.mend((V.T @ J @ V) / K, (V.T @ b) / k, power=-1)
    return metric.rotate(E, 1 / K, within=True), V @ (e / k)


def out(metric: Metric, E: Array, e: Array) -> Pair:
    """Couplings and fields of coordinates (E, e)."""
    return metric.rotate(E, np.sqrt(metric.K), within=True), metric.V @ (e * np.sqrt(metric.k))


def into(metric: Metric, G: Array, g: Array) -> Pair:
    """Slopes along the coordinates, of slopes along couplings and fields."""
    V = metric.V
    return np.sqrt(metric.K) * (V.T @ G @ V), np.sqrt(metric.k) * (V.T @ g)
