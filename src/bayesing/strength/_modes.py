r"""Weights at the modes of many logistic regressions at once, in single precision.

Each spin i has a regression of its own, :math:`f_i = \beta_i + b_i + \sum_{j \neq i} J_{ij} z_j`, with precisions
:math:`n/\gamma` of its couplings and 1 of :math:`b_i`, in place of the coupling to itself. The regressions do not
know of each other, but their matrix products are those of one matrix with all of them side by side. The modes by
themselves thus cost next to nothing beside the determinants that the evidence needs
(:mod:`bayesing.strength.pseudolikelihood`), which goes on in double precision from here.

Newton's method, whose steps are solved for by conjugate gradients. With the mean :math:`w_i` of
:math:`1 - \tanh^2 f_i` in place of that of every sample, the curvature is :math:`n/\gamma + N w_i C`. It is diagonal
in the eigenvectors of the covariance C of the spins, which makes it the preconditioner of all regressions at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Array
from ..weighted import Single, WeightedRows

_MOST_STEPS = 10  # of Newton's method; the evidence goes on from wherever this ends
_MOST_PRODUCTS = 12  # with the curvature, in a step
_FORCING = 0.01  # what is left of the slope after a step, squared, in the norm of the preconditioner
_FARTHEST = np.float32(3)  # change of any local field in a step
_TOLERANCE = 1e-7  # of ln E_i: what a step could gain
_SMALLEST = np.float32(1e-30)  # to divide by


class Modes:
    """The regressions of all spins on centred spins ``z``, of the rows that ``rows`` counts."""

    def __init__(self, z: Single, rows: WeightedRows, covariance: Array) -> None:
        self.z, self.spins, self.N = z, rows.spins, rows.N
        self.counts = None if rows.counts is None else rows.counts.astype(np.float32)[:, None]
        d, V = np.linalg.eigh(covariance)
        self.d, self.V = np.maximum(d, 0.0).astype(np.float32)[:, None], V.astype(np.float32)

    def near(self, targets: list[int], middle: Array, precision: float, start: Array) -> Array:
        """Weights near the modes, a column for each target, from those of ``start`` (n x targets)."""
        own = (np.array(targets), np.arange(len(targets)))
        s = self.spins[:, own[0]].astype(np.float32)
        lam, middle = np.float32(precision), middle.astype(np.float32)
        best = x = start.astype(np.float32)
        lowest: NDArray[np.floating] = np.full(len(targets), np.inf)
        f = self._fields(x, own) + middle
        for _ in range(_MOST_STEPS):
            t = np.tanh(f)
            slope = self._products(s - t, own) - _times(lam, x, own)
            W = 1 - t * t
            w = self._mean(W)

            def divided(y: Single, w: Single = w) -> Any:
                inside = y.copy()
                inside[own] = 0.0
                inside = self.V @ ((self.V.T @ inside) / (lam + self.N * w * self.d))
                inside[own] = y[own] / (self.N * w + 1)
                return inside

            direction = divided(slope)
            size = first = _dot(slope, direction)
            best = np.where(size < lowest, x, best)
            lowest = np.minimum(size, lowest)
            if (size < _TOLERANCE).all():
                break
            step, left = np.zeros_like(x), slope
            for _ in range(_MOST_PRODUCTS):
                bent = self._products(W * self._fields(direction, own), own) + _times(lam, direction, own)
                rate = size / np.maximum(_dot(direction, bent), _SMALLEST)
                step = step + rate * direction
                left = left - rate * bent
                towards = divided(left)
                before, size = size, _dot(left, towards)
                if ((size < _FORCING * first) | (size < _TOLERANCE / 10)).all():
                    break
                direction = towards + size / np.maximum(before, _SMALLEST) * direction
            change = self._fields(step, own)
            rate = np.minimum(1, _FARTHEST / np.maximum(np.abs(change).max(axis=0), _SMALLEST))
            x, f = x + rate * step, f + rate * change
        return best.astype(np.float64)

    def _fields(self, x: Single, own: tuple[NDArray[np.intp], NDArray[np.intp]]) -> Single:
        """F w: the weight of a spin for itself is its field."""
        couplings = x.copy()
        couplings[own] = 0.0
        fields = self.z @ couplings
        fields += x[own]
        return fields

    def _products(self, y: Single, own: tuple[NDArray[np.intp], NDArray[np.intp]]) -> Single:
        """F^T y."""
        y = y if self.counts is None else y * self.counts
        products = self.z.T @ y
        products[own] = y.sum(axis=0)
        return products

    def _mean(self, y: Single) -> Single:
        weighted = y if self.counts is None else y * self.counts
        return np.asarray(weighted.sum(axis=0) / np.float32(self.N))


def _times(lam: np.float32, x: Single, own: tuple[NDArray[np.intp], NDArray[np.intp]]) -> Single:
    """With the precisions of the prior."""
    product = lam * x
    product[own] = x[own]
    return product


def _dot(x: Single, y: Single) -> Any:
    """Column by column."""
    return np.einsum("ik,ik->k", x, y)
