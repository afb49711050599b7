r"""Rows in the order of time: how long they remember, and how many independent rows they are worth.

The autocorrelation is the mean over the spins of

.. math:: \rho(t) = \frac{1}{n} \sum_i \langle z_i(\mu) z_i(\mu + t) \rangle , \qquad
    z_i = \frac{s_i - m_i}{\sqrt{1 - m_i^2}} ,

over all rows :math:`\mu` of the same run (a recording, a trial), by Fourier transforms: O(N n log N). Rows are said
to *remember* up to the ``lag`` at which it falls below 0.1. No model of time is needed.

**Thinned data.** Every T-th row is a data set of N/T rows that are independent, nearly. There are T of them, by the
row that they start with, and they are not independent of each other. Couplings are inferred from products
:math:`s_i s_j`, whose autocorrelation is, in the mean over pairs, with :math:`x = s - m`,

.. math:: \rho_2(t) = \frac{A(t) - A(\infty)}{A(0) - A(\infty)} , \qquad
    A(t) = \langle (x(\mu) \cdot x(\mu + t))^2 - \textstyle\sum_i x_i(\mu)^2 x_i(\mu + t)^2 \rangle ,

with random pairs of rows for :math:`A(\infty)`. It is :math:`\rho^2` where spins change one by one, and :math:`\rho`
where all of them are held for a while. Estimates of a correlation by data sets that start :math:`\delta` rows apart
have the correlation

.. math:: r(\delta) = \sum_k \rho_2(\delta + k T) .

What is left of the memory at T makes this noise larger, by a share of :math:`2 \rho_2(T)`, and n times the noise is
taken for :math:`\gamma`. T, the ``stride``, is therefore the first lag at which :math:`\rho < 1/\sqrt{8n}`: then it
is an eighth of the standard error of one thinned data set, :math:`2T/N` if there are no couplings.

The strength :math:`\gamma` is a sum over pairs of squares, of couplings of variance :math:`\gamma/n` and noise of
variance T/N. What varies is twice the square of the sum of both. The couplings are the same in all data sets, and the
noise has the correlation r: the mean of several estimates has the variance of one, times

.. math:: \frac{\langle (\gamma/n + r T/N)^2 \rangle}{(\gamma/n + T/N)^2} ,

the average over pairs of data sets, a data set with itself included. A few are nearly as good as all T: of three that
start T/3 rows apart, two have an r of about 0.1. This is for patterns that all forget alike. Slow patterns, which
strong couplings make, have a larger r and weigh more. Over chains of J = 0.3 to 0.9 the standard deviation is up to
2.5 times as large where J = 0.9, and 0.8 to 1.9 times elsewhere. Therefore the root of this ratio is used, which is
halfway to that of one thinned data set.

**Effective number.** A correlation from all rows has the variance that it would have from

.. math:: N_e = \frac{N}{\sum_t \rho_2(t)}

independent ones, the sum over lags of both signs, as far as there are rows so far apart. For a mean it is
:math:`\sum_t \rho(t)`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from .types import Array, Indices, Spins

FORGOTTEN = 0.1  # autocorrelation below which rows are taken to be independent
_STARTS = 3  # thinned data sets that are averaged
_MORE_STARTS = 6  # the same where they have fewer rows than spins: noise is larger, and a fit takes less time
_LEAST_ROWS = 20  # of a thinned data set, if it can be had
_LEFT = 8  # 1/(8 n) of products is what may be left of their memory
_REACH = 2  # lags up to so many times the stride
_AT_A_TIME = 2**21  # spins, in columns: 16 megabytes of numbers, and as much again for their transforms
_MOST_CELLS = 2**17  # of pairs of rows at one lag
_MOST_LAGS = 32  # of products; others are interpolated

Runs = tuple[int, ...]  # lengths of runs of successive rows


def autocorrelation_of(columns: Iterable[tuple[Spins, Array]], runs: Runs) -> Array:
    """rho(t) from t = 0 up to the longest run less one.

    ``columns`` are some spins at a time, (N, some), 0 where a cell is missing, with their means. Spins must vary.
    """
    longest = max(runs)
    products, counts = np.zeros(longest), np.zeros(longest)
    for spins, m in columns:
        there = spins != 0
        z = np.where(there, (spins - m) / np.sqrt(1 - m**2), 0.0)
        complete = bool(there.all())
        start = 0
        for length in runs:
            rows = slice(start, start + length)
            products[:length] += _lagged(z[rows])
            if complete:
                counts[:length] += z.shape[1] * np.arange(length, 0, -1)
            else:
                counts[:length] += np.rint(_lagged(there[rows].astype(np.float64)))
            start += length
    rho = np.divide(products, counts, out=np.zeros(longest), where=counts > 0)
    return np.asarray(rho / rho[0]) if rho[0] > 0 else rho


def _lagged(x: Array) -> Array:
    """The sum over columns and rows of x(t) x(t + lag), for all lags."""
    length = len(x)
    size = scipy.fft.next_fast_len(2 * length - 1, real=True)
    power = np.abs(scipy.fft.rfft(x, size, axis=0)) ** 2
    return np.asarray(scipy.fft.irfft(power.sum(axis=1), size)[:length])


def products_autocorrelation(spins: Spins, m: Array, runs: Runs, end: int) -> Array:
    """rho_2(t) for all t below ``end``, from spins (0 where a cell is missing) and their means."""
    number = np.repeat(np.arange(len(runs)), runs)  # of the run of each row
    lags = np.unique(np.linspace(0, end - 1, min(end, _MOST_LAGS)).astype(int))
    values = []
    for lag in lags.tolist():
        first = np.flatnonzero(number[: len(spins) - lag] == number[lag:])
        first = first[:: max(1, -(-len(first) * len(m) // _MOST_CELLS))]
        values.append(_squared_overlap(*(centred(spins[rows], m) for rows in (first, first + lag))))
    some = np.arange(len(spins))[:: max(1, -(-spins.size // _MOST_CELLS))]
    others = np.random.default_rng(0).permutation(some)
    far = _squared_overlap(*(centred(spins[rows], m) for rows in (some, others)))
    rho = (np.array(values) - far) / (values[0] - far) if values[0] > far else np.zeros(len(lags))
    rho[0] = 1.0
    return np.asarray(np.interp(np.arange(end), lags, rho))


def centred(spins: Spins, m: Array) -> Array:
    """Spins less their means, 0 where a cell is missing."""
    return np.where(spins != 0, spins - m, 0.0)


def _squared_overlap(x: Array, y: Array) -> float:
    """A: the mean over pairs of different spins of x_i x_j y_i y_j, over rows where all four are there."""
    there = ((x != 0) & (y != 0)).sum(axis=1).astype(np.float64)
    products = x * y
    total = float(np.sum(products.sum(axis=1) ** 2 - (products**2).sum(axis=1)))
    return total / max(float(np.sum(there**2 - there)), 1.0)


def columns_at_a_time(N: int) -> int:
    """So many that their transforms take little memory."""
    return max(1, _AT_A_TIME // N)


def lag_of(rho: Array, limit: float = FORGOTTEN) -> int:
    """The first lag at which it is below the limit; as many as there are, if there is none."""
    below = rho < limit
    return int(np.argmax(below)) if below.any() else len(rho)


def stride_of(rho: Array, n: int, N: int) -> int:
    """T: the distance of rows of a thinned data set of n spins, 1 where rows do not remember.

    Of N rows some must be left, so that it may be less, down to the lag.
    """
    lag = lag_of(rho)
    return 1 if lag == 1 else max(lag, min(lag_of(rho, 1 / math.sqrt(_LEFT * n)), N // _LEAST_ROWS))


def reach(stride: int, longest: int) -> int:
    """Up to which lag products are looked at."""
    return min(_REACH * stride, longest)


@dataclass(frozen=True, eq=False)
class Memory:
    """What is known of rows of n spins in the order of time: autocorrelations of spins and of products, and runs.

    Those of products are known up to twice the ``stride``, the distance of rows of a thinned data set.
    """

    n: int
    rho: Array
    of_products: Array
    runs: Runs

    @property
    def N(self) -> int:
        """Number of rows."""
        return sum(self.runs)

    @cached_property
    def lag(self) -> int:
        """The first at which the autocorrelation is below 0.1; the length of the longest run, if there is none."""
        return lag_of(self.rho)

    @property
    def forgets(self) -> bool:
        """Whether the autocorrelation falls so far within a run."""
        return self.lag < len(self.rho)

    @cached_property
    def stride(self) -> int:
        """T, the distance of rows of a thinned data set."""
        return stride_of(self.rho, self.n, self.N)

    def starts(self) -> tuple[int, ...]:
        """The rows that a few thinned data sets start with."""
        sets = min(_STARTS if self.N >= self.n * self.stride else _MORE_STARTS, self.stride)
        return tuple(k * self.stride // sets for k in range(sets))

    def thinned(self, start: int) -> Indices:
        """The rows of a thinned data set, every T-th of each run."""
        ends = np.cumsum(self.runs)
        pieces = [
            np.arange(end - length + start, end, self.stride)
            for end, length in zip(ends, self.runs, strict=True)
        ]
        return np.concatenate(pieces)

    @cached_property
    def effective(self) -> float:
        """N_e, the number of independent rows that say as much of couplings as these do."""
        return self.N / max(self._sum(self.of_products, self.lag), 1.0)

    @cached_property
    def effective_for_means(self) -> float:
        """The same for means."""
        return self.N / max(self._sum(self.rho, _REACH * self.lag), 1.0)

    @property
    def worth(self) -> float:
        """N_e/N, what one row is worth."""
        return self.effective / self.N

    def _sum(self, x: Array, end: int) -> float:
        """Over all lags of both signs below ``end``, each as often as there are rows so far apart."""
        if self.lag == 1:
            return 1.0
        lags = np.arange(1, min(end, len(x)))
        pairs = np.maximum(np.array(self.runs)[:, None] - lags, 0).sum(axis=0)
        return 1 + 2 * float(pairs @ x[lags]) / self.N

    def variance_of_mean(self, gamma: float, starts: Sequence[int]) -> float:
        """That of the mean of thinned strengths, relative to one of them, with room for slow patterns."""
        r = np.array([[self._shared(a - b) for a in starts] for b in starts])
        of_couplings, of_noise = max(gamma, 0.0) / self.n, self.stride / self.N
        one = (of_couplings + of_noise) ** 2
        return math.sqrt(float(np.mean((of_couplings + r * of_noise) ** 2)) / one)

    def _shared(self, apart: int) -> float:
        """r, the correlation of what two thinned data sets say that start so many rows ``apart``."""
        lags = np.abs(apart + self.stride * np.arange(-_REACH, _REACH + 1))
        lags = lags[lags < len(self.of_products)]
        return min(max(float(self.of_products[lags].sum()), 0.0), 1.0) if apart else 1.0
