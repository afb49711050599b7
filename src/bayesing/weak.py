r"""Are these couplings many and weak, as the theory behind the closed forms takes them to be?

A handful of numbers, each of which has a known range where it holds, from what a spectral fit has computed anyway. Of
the spins that vary, :math:`c_{ij}` are the correlations and :math:`d_k` their eigenvalues; g is the strength of the
standardised couplings by :mod:`bayesing.strength.spectral`, and K the number of active spins of a sample.

- **Mean correlation**, :math:`z = \sum_{i<j} c_{ij} / (\sum_{i<j} c_{ij}^2)^{1/2}`. Random couplings make
  correlations of both signs; a mean coupling, or a common input, makes them positive, or negative.
- **Largest correlation**, of spins that are at least ten times on either side, and the root mean square of all:
  columns that are nearly copies of each other stand out.
- **Spectrum**: the largest distance between the distribution of the :math:`d_k` and their law at g
  (:func:`bayesing.strength.spectral.law_at`), and the largest :math:`d_k` over the edge of the law. Few strong
  couplings, groups and hidden causes have other spectra.
- **Susceptibility**: J by :mod:`bayesing.strength.susceptibility` over that by the spectrum. They weigh the
  :math:`d_k` differently, and agree if these follow the law.
- **Order**, :math:`J_0 (1-q) = 1 - (1-q)/\chi_{lin}`: 1 where spins align by themselves.
- **Sum of the spins**: skewness and excess kurtosis of K beyond those of independent spins. Many weak couplings
  make neither; bursts are skewed, and two ordered states have two peaks.
- **Unseen samples**: the model of exchangeable spins, :math:`P(K) \propto \binom{n}{K} e^{aK + bK^2}`, with the
  mean and variance of K in the data, and how many of N of its samples lie behind a valley of P, where no sample of
  the data is. Pairwise couplings that explain such data make a second state.

If the mean correlation alone is odd, the others are looked at again without the direction in which a mean coupling
acts: if they are calm, there is a mean coupling, and nothing else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from .exceptions import InputError
from .moments import SpinMoments
from .replica import overlap
from .spectrum import Spectrum
from .statistics import SpinStatistics
from .strength.spectral import SpectralFit, fit_spectral, law_at
from .strength.susceptibility import fit_susceptibility
from .types import Array, Integers

_UNSEEN_WIDTH = 0.01  # of the variance that noise gives eigenvalues: a g that is not seen beside it
LAW_HOLDS = 0.8  # g up to which the law of the spectrum is compared with
_OFTEN = 10  # samples with either value of a spin, for its correlations to mean anything
_MOST_COMPARED = 2000  # spins whose correlations are formed where samples are fewer than spins
_AT_A_TIME = 2**21  # numbers: 16 megabytes
_MOST_STANDARDISED = 2**26  # numbers in single precision: 256 megabytes
_VALLEY = 3.0  # nats, below the second peak of P(K)


@dataclass(frozen=True)
class SpectrumSigns:
    """Of eigenvalues: g, their distance to its law, the largest over its edge, and J by susceptibility over J."""

    g: float
    distance: float
    edge: float
    ratio: float
    excess: float  # of gamma by susceptibility, in standard errors


@dataclass(frozen=True)
class SumSigns:
    """Of the number of active spins: skewness and excess kurtosis, each also in standard errors, unseen samples."""

    skewness: float
    skewness_errors: float
    kurtosis: float
    kurtosis_errors: float
    unseen: float


def mean_correlation(stats: SpinStatistics, formed: bool = True) -> tuple[float, float]:
    """Of all correlations i < j: their sum over the root of the sum of their squares, and their root mean square.

    ``formed`` says that the matrix of their eigenvalues is there, or will be needed.
    """
    kept = stats.kept
    n = kept.n
    if kept.N > n:
        total = float(kept.correlations.sum())
    else:  # D is Z Z^T/N, and the sum of Z^T Z/N is that of the squares of the sums of z over the spins
        m = kept.magnetisations
        weights = 1 / np.sqrt(1 - m**2)
        spins, step = kept.spins(), max(1, _AT_A_TIME // kept.N)
        parts = (slice(start, start + step) for start in range(0, n, step))
        sums = sum(spins[:, part] @ weights[part] for part in parts) - m @ weights
        total = float(sums @ sums) / kept.N
    formed = formed or kept.N > n
    squares = (_square(kept.correlations) if formed else _sum_of_squares(kept)) - n
    if squares <= 0:
        return 0.0, 0.0
    return (total - n) / math.sqrt(2 * squares), math.sqrt(squares / (n * (n - 1)))


def _square(D: NDArray[np.floating]) -> float:
    return float(np.vdot(D, D))


def _sum_of_squares(kept: SpinStatistics) -> float:
    """Of all correlations: that of Z Z^T/N, which is formed in pieces, in single precision."""
    spins, m = kept.spins(), kept.magnetisations.astype(np.float32)
    weights, step = 1 / np.sqrt(1 - m**2), max(1, _MOST_STANDARDISED // kept.n)
    total = 0.0
    for i in range(0, kept.N, step):
        one = (spins[i : i + step] - m) * weights
        total += _square(one @ one.T)
        for j in range(i + step, kept.N, step):
            total += 2 * _square(one @ ((spins[j : j + step] - m) * weights).T)
    return total / kept.N**2


def largest_correlation(stats: SpinStatistics) -> float:
    """The largest absolute correlation of two spins that are often enough on either side.

    0 for more spins than fit into a matrix, unless there are more samples, so that the matrix is there already.
    """
    kept = stats.kept
    often = np.flatnonzero((kept.N - np.abs(kept.sums)) / 2 >= _OFTEN)
    if len(often) < 2 or (kept.N <= kept.n and len(often) > _MOST_COMPARED):
        return 0.0
    if kept.N > kept.n:
        D = np.abs(kept.correlations[np.ix_(often, often)])
    else:
        m = kept.magnetisations[often]
        Z = ((kept.spins()[:, often] - m) / np.sqrt(1 - m**2)).astype(np.float32)
        D = np.abs(Z.T @ Z / kept.N)
    np.fill_diagonal(D, 0.0)
    return float(D.max())


def spectrum_signs(stats: SpinStatistics, fit: SpectralFit, without_mean: bool = False) -> SpectrumSigns:
    """Whether eigenvalues follow the law of the g that was found in them."""
    g = fit.gamma / fit.spectrum.scale
    least = min(1e-4, _UNSEEN_WIDTH * fit.spectrum.n / fit.spectrum.nu)  # the law needs a g above 0
    distance, edge = _against_law(fit.spectrum, min(max(g, least), LAW_HOLDS))
    try:
        other = fit_susceptibility(stats.moments, without_mean).gamma
    except InputError:  # of spins that hardly vary
        other = fit.gamma
    ratio = math.sqrt(other / fit.gamma) if fit.gamma > 0 else 1.0
    return SpectrumSigns(g, distance, edge, ratio, (other - fit.gamma) / fit.gamma_error)


def _against_law(spectrum: Spectrum, g: float) -> tuple[float, float]:
    """The distance of the eigenvalues that are not 0 to their law, as distributions; the largest over its edge."""
    law = law_at(g, spectrum.nu, spectrum.n)
    d = np.sort(spectrum.d[spectrum.w == 1]) if spectrum.nu >= spectrum.n else np.sort(spectrum.d[:-1])
    expected, w = (law.d, law.w) if spectrum.nu >= spectrum.n else (law.d[:-1], law.w[:-1])
    order = np.argsort(expected)
    below = (np.cumsum(w[order]) - w[order] / 2) / w.sum()
    share = np.interp(d, expected[order], below, left=0.0, right=1.0)
    rank = (np.arange(len(d)) + 0.5) / len(d)
    return float(np.abs(share - rank).max()), float(d[-1] / expected.max())


def order(moments: SpinMoments) -> float:
    """J0 (1 - q) by the response of all spins together; 1 where they align by themselves."""
    chi_lin = moments.chi_lin
    return 1 - (1 - overlap(moments)) / chi_lin if chi_lin and chi_lin > 0 else 0.0


def sum_signs(stats: SpinStatistics, active: Integers) -> SumSigns:
    """Whether the number of active spins is distributed as that of many weakly coupled spins.

    The error of the skewness is that of independent spins, which is large where they are rare. Two peaks have a
    negative kurtosis, whatever that of independent spins is.
    """
    N, n = len(active), stats.n
    x = active - active.mean()
    variance = float(np.mean(x**2))
    if variance == 0:  # fixed by design
        return SumSigns(0.0, 0.0, 0.0, 0.0, 0.0)
    k2, k3, k4, k6 = _cumulants((1 + stats.magnetisations) / 2)
    skewness = (float(np.mean(x**3)) - k3) / variance**1.5
    raw = float(np.mean(x**4)) / variance**2 - 3
    kurtosis = max(raw, raw - k4 / variance**2)
    m4, m6 = k4 + 3 * k2**2, k6 + 15 * k4 * k2 + 10 * k3**2 + 15 * k2**3
    error = math.sqrt((m6 - k3**2 - 6 * m4 * k2 + 9 * k2**3) / N) / k2**1.5
    unseen = _unseen(active, N, n, variance - k2) if variance > k2 else 0.0
    return SumSigns(skewness, skewness / error, kurtosis, kurtosis / math.sqrt(24 / N), unseen)


def _cumulants(p: Array) -> tuple[float, float, float, float]:
    """The second, third, fourth and sixth of the number of active spins, if they are independent with these rates."""
    v = p * (1 - p)
    found = v, v * (1 - 2 * p), v * (1 - 6 * v), v * (1 - 30 * v + 120 * v**2)
    k2, k3, k4, k6 = (float(k.sum()) for k in found)
    return k2, k3, k4, k6


def _unseen(active: Integers, N: int, n: int, excess: float) -> float:
    """Samples of N that exchangeable spins put behind a valley, where no sample of the data is.

    ``excess`` is the variance of K beyond that of independent spins.
    """
    mean, k = float(active.mean()), np.arange(n + 1.0)
    states = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    variance = excess + mean * (1 - mean / n)
    log_P = _exchangeable(states, k, mean, variance)
    if log_P is None:
        return 0.0
    top = int(log_P.argmax())
    unseen = 0.0
    for side, ks in ((log_P[top:], k[top:]), (log_P[: top + 1][::-1], k[: top + 1][::-1])):
        lowest = int(np.argmin(side[: int(np.argmax(side - np.minimum.accumulate(side))) + 1]))
        behind = side[lowest:]
        if behind.max() - side[lowest] > _VALLEY and not np.any(
            (active >= ks[lowest:].min()) & (active <= ks[lowest:].max())
        ):
            unseen += N * float(np.exp(logsumexp(behind)))
    return unseen


def _exchangeable(states: Array, k: Array, mean: float, variance: float) -> Array | None:
    r"""ln P of :math:`P(K) \propto \binom nK e^{aK + b(K-\bar K)^2/2}` with this mean and variance.

    Newton's method from independent spins, on a concave function of a and b; None if moments cannot be had.
    """
    x = k - mean
    features = np.stack([x, x**2 / 2])
    target = np.array([0.0, variance / 2])
    p = mean / (len(k) - 1)
    parameters = np.array([math.log(p / (1 - p)), 0.0])

    def log_P(parameters: Array) -> Array:
        exponent = states + parameters @ features
        return np.asarray(exponent - logsumexp(exponent))

    def height(parameters: Array) -> float:
        return float(parameters @ target - logsumexp(states + parameters @ features))

    for _ in range(100):
        P = np.exp(log_P(parameters))
        moments = features @ P
        gap = target - moments
        centred = features - moments[:, None]
        step = np.linalg.solve((centred * P) @ centred.T + 1e-12 * np.eye(2), gap)
        gain = float(gap @ step)
        if gain < 1e-10:
            return log_P(parameters)
        rate, here = 1.0, height(parameters)
        while height(parameters + rate * step) < here + 0.1 * rate * gain and rate > 1e-8:
            rate /= 2
        parameters = parameters + rate * step
    return None


@dataclass(frozen=True)
class Signs:
    """All of them; those of eigenvalues and of sums are None where there are none to look at.

    ``with_mean`` says that eigenvalues are those without the direction in which a mean coupling acts.
    """

    n: int
    N: int
    mean: float
    typical: float  # correlation, as a root mean square
    largest: float
    order: float
    spectrum: SpectrumSigns | None
    sum: SumSigns | None
    with_mean: bool


def signs_of(stats: SpinStatistics, fit: SpectralFit | None, mean_limit: float) -> Signs:
    """The signs of these data; ``fit`` is that of the spectrum, if it was affordable."""
    kept = stats.kept
    mean, typical = mean_correlation(kept, formed=fit is not None)
    with_mean = abs(mean) > mean_limit
    eigenvalues = None
    if fit is not None:
        if with_mean:
            try:
                fit = fit_spectral(stats, True)
            except InputError:  # nothing else varies
                with_mean = False
        eigenvalues = spectrum_signs(stats, fit, with_mean)
    active = kept.active
    return Signs(
        kept.n,
        kept.N,
        mean,
        typical,
        largest_correlation(kept),
        order(kept.moments),
        eigenvalues,
        None if active is None else sum_signs(kept, active),
        with_mean,
    )
