r"""The two phases of Boltzmann learning: averages over the data, and over samples of the free model.

Everything is centred at the means d of the data, z = s - d. With :math:`b = h + J d` the exponent of P(S) is
:math:`\sum_{i<j} J_{ij} z_i z_j + \sum_i b_i z_i` up to a constant, and the directions J and b hardly mix.

**Missing cells.** The averages over the data are then those of what is missing, too, given what is there. They change
with the parameters (:mod:`~bayesing.learning.clamped`), while the centre d, the means of the cells that are there,
stays. Of the curvature :math:`N \operatorname{Cov}(\phi)` of complete rows, what the missing cells vary by is lost:
:math:`\sum_\mu \operatorname{Cov}(\phi \mid \text{what row } \mu \text{ shows})` (T. Louis, *Finding the observed
information matrix when using the EM algorithm*, 1982). Two chains s and s' of the same row tell it without bias, as
half the square of their difference.

**Hidden units** are spins that are missing in every row: k columns more, coupled to the spins that are seen and not
to each other. Given these, each is independent of the others, with the mean
:math:`\tau_a = \tanh(c_a + \sum_i W_{ia} s_i)`. This mean takes its place everywhere: in averages over the data, in
those over samples of the free model, and in curvatures, which are then those of the spins that are seen alone. Fields
of hidden units have the prior :math:`e_a = c_a + \sum_i W_{ia} d_i \sim N(0, 10)`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np

from ..conditionals import independent_fields, middle_of_fields
from ..sampling._gibbs import Single
from ..statistics import SpinStatistics
from ..threads import Run
from ..types import Array, Indices

FISHER = 2**15  # samples from which curvatures are taken, or n^2: more than there are parameters
HIDDEN_PRECISION = 0.1  # of the prior of e: fields of up to 6, rates down to 1 in 100,000
LEAST_LEFT = 0.05  # of the curvature: by chance, pairs of chains may show more to be lost than there is
_AT_A_TIME = 2048  # samples, which stay in cache


@dataclass(frozen=True, eq=False)
class Data:
    """Averages over N rows of spins that vary: second moments C around the centre d, and ``shift``, means less d.

    ``counts`` are the cells of each spin that are there, N unless some are missing. ``lost`` is the curvature that
    missing cells take away. The last ``hidden`` of the spins are hidden units.
    """

    N: int
    d: Array
    C: Array
    shift: Array | float = 0.0
    counts: Array | None = None
    lost: Lost | None = None
    hidden: int = 0

    @classmethod
    def of(cls, stats: SpinStatistics) -> Data:
        """From sums and products alone, of complete rows."""
        d = np.asarray(stats.magnetisations, np.float64)
        return cls(stats.N, d, stats.cross / stats.N - np.outer(d, d))

    @property
    def n(self) -> int:
        """Number of spins."""
        return len(self.d)

    @property
    def mean(self) -> Array:
        """Means of the spins; d itself for complete rows."""
        return self.d + self.shift

    @property
    def left(self) -> Array:
        """The share of what complete rows tell of each pair that is left where cells are missing, n x n."""
        if self.lost is None:
            return np.ones_like(self.C)
        mean = self.mean
        full = variances_of_pairs(mean, self.C - np.outer(self.shift, self.shift))
        lost, _ = self.lost.fourth(np.eye(self.n))
        return np.clip(1 - lost / np.maximum(full, 1 / self.N), LEAST_LEFT, 1.0)

    @property
    def rates(self) -> Array:
        """Fields b^0 of independent spins with these means."""
        return self._without_hidden(independent_fields(self._counts * self.d, self._counts))

    @property
    def middle(self) -> Array:
        """beta, the middle of the prior of b."""
        return self._without_hidden(middle_of_fields(self._counts * self.d, self._counts))

    @property
    def precision(self) -> Array | float:
        """Of the prior of b."""
        return field_precision(self.n, self.hidden)

    @property
    def _counts(self) -> Array | int:
        return self.N if self.counts is None else self.counts

    def _without_hidden(self, fields: Array) -> Array:
        """With 0 for hidden units."""
        fields[self.n - self.hidden :] = 0.0
        return fields

    @property
    def pairs(self) -> tuple[Indices, Indices]:
        """All i < j that may be coupled: hidden units are not coupled to each other."""
        i, j = np.triu_indices(self.n, 1)
        coupled = i < self.n - self.hidden
        return i[coupled], j[coupled]

    def errors(self, m: Array, C: Array) -> tuple[Array, Array]:
        """Standard errors of N samples of a model with means m and covariance C: of means, and of pairs z_i z_j.

        They are at least 1/N: a single sample with both of two rare spins adds 4/N to the average of z_i z_j.
        """
        pairs, least = variances_of_pairs(m, C), 1 / self.N
        return np.sqrt(np.maximum(1 - m**2, least) / self.N), np.sqrt(np.maximum(pairs, least) / self.N)

    def look(self, J: Array, h: Array, run: Run) -> tuple[Data, Data]:
        """The averages under a model, by two halves of what is random: complete rows stay what they are."""
        return self, self

    def averaged(self, J: Array, h: Array, run: Run) -> Data:
        """The averages under a model, as precise as may be."""
        return self

    def with_fewer(self, most: int) -> Data:
        """Where averages are random: from so many chains of a row at most."""
        return self

    @classmethod
    def both(cls, a: Data, b: Data) -> Data:
        """Two halves as one."""
        if a is b:
            return a
        return replace(a, C=(a.C + b.C) / 2, shift=(a.shift + b.shift) / 2)


def field_precision(n: int, hidden: int) -> Array | float:
    """Of the priors of n centred fields, the last of which are those of hidden units; one number if all are alike."""
    if not hidden:
        return 1.0
    return np.append(np.ones(n - hidden), np.full(hidden, HIDDEN_PRECISION))


def blank(matrix: Array, hidden: int) -> Array:
    """Couplings, or slopes, with 0 where there is no pair: on the diagonal, and between hidden units."""
    np.fill_diagonal(matrix, 0)
    if hidden:
        matrix[-hidden:, -hidden:] = 0
    return matrix


def summed_out(spins: Single, J: Array | Single, h: Array | Single, hidden: int) -> Single:
    """Joint spins (n, A) with the mean of every hidden unit in its place; changed in place."""
    if hidden:
        weights, fields = J[-hidden:, :-hidden].astype(np.float32), h[-hidden:].astype(np.float32)
        spins[-hidden:] = np.tanh(weights @ spins[:-hidden] + fields[:, None])
    return spins


class Source(Protocol):
    """Where averages over the data come from: :class:`Data` for complete rows, or chains of what is missing."""

    @property
    def N(self) -> int: ...
    @property
    def n(self) -> int: ...
    @property
    def d(self) -> Array: ...
    @property
    def hidden(self) -> int: ...

    def look(self, J: Array, h: Array, run: Run) -> tuple[Data, Data]:
        """The averages under a model, by two halves of what is random."""
        ...

    def averaged(self, J: Array, h: Array, run: Run) -> Data:
        """The averages under a model, as precise as may be."""
        ...

    def with_fewer(self, most: int) -> Source:
        """Where averages are random: from so many chains of a row at most."""
        ...


class Lost:
    """Pairs of chains (n, B) of the same rows, and the curvature of N rows that is lost, for one of them.

    ``share`` is that of all rows in these pairs.
    """

    def __init__(self, first: Single, second: Single, d: Array, share: float, copies: int) -> None:
        self.first, self.second, self.share, self.copies = first, second, share, copies
        self.centre = d.astype(np.float32)

    @classmethod
    def joined(cls, parts: list[Lost], enough: int) -> Lost | None:
        """All pairs of several looks at the same rows, the last of them first, until there are enough."""
        if not parts:
            return None
        last = parts[-1]
        used = parts[: -1 - math.ceil(enough / last.first.shape[1]) : -1]
        first, second = (
            np.concatenate([getattr(part, name) for part in used], axis=1) for name in ("first", "second")
        )
        return cls(first, second, last.centre.astype(np.float64), last.share, last.copies)

    def fourth(self, V: Array) -> tuple[Array, Array]:
        """What is lost of Var(y_k y_l), y = V^T z, half of it for k = l; and of Var(y_k)."""
        basis = np.ascontiguousarray(V.T, np.float32)
        n, B = self.first.shape
        W, c = np.zeros((n, n)), np.zeros(n)
        for x, y in zip(_centred(self.first, self.centre), _centred(self.second, self.centre), strict=True):
            x, y = basis @ x, basis @ y
            c += np.sum((x - y) ** 2, axis=1, dtype=np.float64) / 2
            both = x * y
            x *= x
            y *= y
            W += (x @ x.T + y @ y.T) / 2 - both @ both.T
        W *= self.share / B
        W[np.diag_indices(n)] /= 2
        return W, c * (self.share / B)


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
        self.second = around(d, self.m, R)  #: <z_i z_j>.
        self.covariance: Array = R - np.outer(self.m, self.m)
        self.step = max(1, self.A // max(FISHER, len(d) ** 2))  # curvatures are from every so manieth sample
        self.B = sum(len(range(0, part.shape[1], self.step)) for part in parts)

    @classmethod
    def both(cls, a: Free, b: Free) -> Free:
        """Two halves of equal size as one, without going through the samples again."""
        whole = cls.__new__(cls)
        whole.parts, whole.run, whole.centre = a.parts + b.parts, a.run, a.centre
        whole.A, whole.B, whole.step = a.A + b.A, a.B + b.B, a.step
        whole.m, whole.second = (a.m + b.m) / 2, (a.second + b.second) / 2
        shift = np.outer(a.m - b.m, a.m - b.m) / 4
        whole.covariance = (a.covariance + b.covariance) / 2 + shift
        return whole

    def fourth(self, V: Array) -> Array:
        """Var(y_k y_l) of y = V^T z, and half of it for k = l."""
        basis = np.ascontiguousarray(V.T, np.float32)
        both = self.run([partial(_fourth, basis, *some) for some in self._some])
        W: Array = sum(a for a, _ in both) / self.B - (sum(b for _, b in both) / self.B) ** 2
        W[np.diag_indices(len(W))] /= 2
        return W

    def exponents(self, J: Array, b: Array) -> Array:
        r""":math:`\sum_{i<j} J_{ij} z_i z_j + \sum_i b_i z_i` of every sample."""
        couplings, fields = J.astype(np.float32), b.astype(np.float32)
        tasks = [partial(_exponents, couplings, fields, part, self.centre) for part in self.parts]
        return np.concatenate(self.run(tasks))

    @property
    def _some(self) -> list[tuple[Single, Single]]:
        """The samples that curvatures are from, and their centre."""
        return [(part[:, :: self.step], self.centre) for part in self.parts]

    def response(self, J: Array, b: Array) -> tuple[Array, Array]:
        """How <z_i z_j> (0 for i = j) and <z_i> answer to a small change of parameters: covariances with it."""
        change = self._change(J, b)
        return self._pairs_with(change), self._means_with(change)

    def pairs_answer(self, b: Array) -> Array:
        """How <z_i z_j> (0 for i = j) answer to a small change of the fields alone."""
        return self._pairs_with(self._change(None, b))

    def means_answer(self, J: Array) -> Array:
        """How <z_i> answer to a small change of the couplings alone."""
        return self._means_with(self._change(J, None))

    def _change(self, J: Array | None, b: Array | None) -> list[Single]:
        """Of the exponents, less its mean, in every part of the samples that curvatures are from."""
        couplings, fields = (None if x is None else x.astype(np.float32) for x in (J, b))
        found = self.run([partial(_exponents, couplings, fields, *some) for some in self._some])
        mean = sum(float(u.sum()) for u in found) / self.B
        return [(u - mean).astype(np.float32) for u in found]

    def _pairs_with(self, change: list[Single]) -> Array:
        tasks = zip(self._some, change, strict=True)
        second: Array = np.sum(self.run([partial(_weighted, *some, u) for some, u in tasks]), axis=0) / self.B
        np.fill_diagonal(second, 0)
        return np.asarray((second + second.T) / 2)  # equal up to rounding

    def _means_with(self, change: list[Single]) -> Array:
        # The centre does not matter: the mean of the change is 0.
        return np.asarray(sum(part @ u for (part, _), u in zip(self._some, change, strict=True)) / self.B)


def variances_of_pairs(m: Array, C: Array) -> Array:
    r"""Of :math:`z_i z_j`, z = s - m: for spins exactly :math:`v_i v_j + 4 m_i m_j C_{ij} - C_{ij}^2`."""
    v = 1 - m**2
    return np.asarray(np.outer(v, v) + 4 * np.outer(m, m) * C - C**2)


def around(d: Array, m: Array, R: Array) -> Array:
    """Second moments around d, from means and raw second moments."""
    return R - np.outer(m, d) - np.outer(d, m) + np.outer(d, d)


def _moments(part: Single) -> tuple[Array, Array]:
    return part.sum(axis=1, dtype=np.float64), (part @ part.T).astype(np.float64)


def _centred(part: Single, d: Single) -> Iterator[Single]:
    """z of some samples at a time."""
    for a in range(0, part.shape[1], _AT_A_TIME):
        yield part[:, a : a + _AT_A_TIME] - d[:, None]


def _fourth(basis: Single, part: Single, d: Single) -> tuple[Array, Array]:
    n = len(basis)
    fourth, second = np.zeros((n, n)), np.zeros((n, n))
    for z in _centred(part, d):
        y = basis @ z
        second += y @ y.T
        y *= y
        fourth += y @ y.T
    return fourth, second


def _exponents(J: Single | None, b: Single | None, part: Single, d: Single) -> Array:
    out = [_exponent(J, b, z) for z in _centred(part, d)]
    return np.concatenate(out).astype(np.float64)


def _exponent(J: Single | None, b: Single | None, z: Single) -> Single:
    of_couplings = 0 if J is None else 0.5 * np.einsum("ip,ip->p", z, J @ z)
    return np.asarray(of_couplings + (0 if b is None else b @ z))


def _weighted(part: Single, d: Single, u: Single) -> Array:
    n = len(d)
    second = np.zeros((n, n))
    for k, z in enumerate(_centred(part, d)):
        second += (z * u[k * _AT_A_TIME : (k + 1) * _AT_A_TIME]) @ z.T
    return second
