r"""The two phases of Boltzmann learning: averages over the data, and over samples of the free model.

Everything is centred at the means d of the data, z = s - d. With :math:`b = h + J d` the exponent of P(S) is
:math:`\sum_{i<j} J_{ij} z_i z_j + \sum_i b_i z_i` up to a constant, and the directions J and b hardly mix.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from ..sampling._gibbs import Single
from ..statistics import SpinStatistics
from ..threads import Run
from ..types import Array

FISHER = 8192  # samples from which curvatures are taken


class Data(NamedTuple):
    """The sufficient statistics of spins that vary: N, means d and second moments :math:`C` around them."""

    N: int
    d: Array
    C: Array

    @classmethod
    def of(cls, stats: SpinStatistics) -> Data:
        """From sums and products alone."""
        d = np.asarray(stats.magnetisations, np.float64)
        return cls(stats.N, d, stats.cross / stats.N - np.outer(d, d))

    @property
    def n(self) -> int:
        """Number of spins."""
        return len(self.d)

    @property
    def rates(self) -> Array:
        """Fields of independent spins with these means."""
        edge = 1 - 1 / self.N
        return np.asarray(np.arctanh(np.clip(self.d, -edge, edge)))

    def errors(self, m: Array, C: Array) -> tuple[Array, Array]:
        r"""Standard errors of N samples of a model with means m and covariance C: of means, and of pairs z_i z_j.

        For two values per spin :math:`\operatorname{Var} z_i z_j = v_i v_j + 4 m_i m_j C_{ij} - C_{ij}^2` exactly.
        """
        v = 1 - m**2
        pairs = np.outer(v, v) + 4 * np.outer(m, m) * C - C**2
        least = 1 / self.N
        return np.sqrt(np.maximum(v, least) / self.N), np.sqrt(np.maximum(pairs, least**2) / self.N)


class Free:
    """Samples of the free model: spins (n, A) in parts, one a group of chains, and averages over them.

    Matrix products are taken part by part, in threads, and added in order.
    """

    def __init__(self, parts: list[Single], d: Array, run: Run) -> None:
        self.parts, self.run = parts, run
        self.centre = d.astype(np.float32)
        self.A = sum(part.shape[1] for part in parts)
        sums = run([partial(_moments, part) for part in parts])
        self.m: Array = sum(s for s, _ in sums) / self.A  #: Means.
        R: Array = sum(R for _, R in sums) / self.A
        self.second = _around(d, self.m, R)  #: <z_i z_j>.
        self.covariance: Array = R - np.outer(self.m, self.m)
        step = max(1, self.A // FISHER)
        self.some: list[Single] = run([partial(_centred, part, self.centre, step) for part in parts])
        self.B = sum(z.shape[1] for z in self.some)

    @classmethod
    def both(cls, a: Free, b: Free) -> Free:
        """Two halves of equal size as one, without going through the samples again."""
        whole = cls.__new__(cls)
        whole.parts, whole.run, whole.centre = a.parts + b.parts, a.run, a.centre
        whole.A, whole.B, whole.some = a.A + b.A, a.B + b.B, a.some + b.some
        whole.m, whole.second = (a.m + b.m) / 2, (a.second + b.second) / 2
        shift = np.outer(a.m - b.m, a.m - b.m) / 4
        whole.covariance = (a.covariance + b.covariance) / 2 + shift
        return whole

    def fourth(self, V: Array) -> Array:
        """Var(y_k y_l) of y = V^T z, and half of it for k = l."""
        basis = np.ascontiguousarray(V.T, np.float32)
        both = self.run([partial(_fourth, basis, z) for z in self.some])
        W: Array = sum(a for a, _ in both) / self.B - (sum(b for _, b in both) / self.B) ** 2
        W[np.diag_indices(len(W))] /= 2
        return W

    def exponents(self, J: Array, b: Array) -> Array:
        r""":math:`\sum_{i<j} J_{ij} z_i z_j + \sum_i b_i z_i` of every sample."""
        couplings, fields = J.astype(np.float32), b.astype(np.float32)
        tasks = [partial(_exponents, couplings, fields, part, self.centre) for part in self.parts]
        return np.concatenate(self.run(tasks))

    def response(self, J: Array, b: Array) -> tuple[Array, Array]:
        """How <z_i z_j> (0 for i = j) and <z_i> answer to a small change of parameters: covariances with it."""
        couplings, fields = J.astype(np.float32), b.astype(np.float32)
        exponents = self.run([partial(_exponent, couplings, fields, z) for z in self.some])
        mean = np.float32(sum(float(u.sum(dtype=np.float64)) for u in exponents) / self.B)
        pairs = zip(self.some, exponents, strict=True)
        both = self.run([partial(_weighted, z, u - mean) for z, u in pairs])
        second: Array = sum(a for a, _ in both) / self.B
        np.fill_diagonal(second, 0)
        return (second + second.T) / 2, sum(b for _, b in both) / self.B  # equal up to rounding


def _around(d: Array, m: Array, R: Array) -> Array:
    """Second moments around d, from means and raw second moments."""
    return R - np.outer(m, d) - np.outer(d, m) + np.outer(d, d)


def _moments(part: Single) -> tuple[Array, Array]:
    return part.sum(axis=1, dtype=np.float64), (part @ part.T).astype(np.float64)


def _centred(part: Single, d: Single, step: int) -> Single:
    return np.asarray(part[:, ::step] - d[:, None])


def _fourth(basis: Single, z: Single) -> tuple[Array, Array]:
    y = basis @ z
    second = (y @ y.T).astype(np.float64)
    y *= y
    return (y @ y.T).astype(np.float64), second


def _exponent(J: Single, b: Single, z: Single) -> Single:
    return np.asarray(0.5 * np.einsum("ip,ip->p", z, J @ z) + b @ z)


def _exponents(J: Single, b: Single, part: Single, d: Single) -> Array:
    out = np.empty(part.shape[1])
    for a in range(0, len(out), 2048):  # what is in cache
        out[a : a + 2048] = _exponent(J, b, part[:, a : a + 2048] - d[:, None])
    return out


def _weighted(z: Single, u: Single) -> tuple[Array, Array]:
    return ((z * u) @ z.T).astype(np.float64), (z @ u).astype(np.float64)
