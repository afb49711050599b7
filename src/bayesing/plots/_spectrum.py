"""The eigenvalues of the correlations against those of independent spins."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from ..spectrum import Spectrum
from ..statistics import SpinStatistics
from ..strength.spectral import law
from ..types import Array
from ._style import text_colour

_TRACY_WIDOM = 0.98  # the 95% point of the law of Tracy and Widom, for real matrices
_FAR = 4.0  # times the edge: the axis is logarithmic if the largest eigenvalue lies beyond
_NODES = 1000  # of the density that couplings would give: a smooth curve
_MOST_BINS = 30  # across the bulk
_FEWEST_BINS = 5  # across the bulk, of few eigenvalues
_DECADES = 300  # the edge over the least eigenvalue of a logarithmic axis: two and a half decades at most


def correlation_spectrum(
    ax: Axes, spins: ArrayLike | SpinStatistics | Spectrum, gamma: float | None = None
) -> Axes:
    """Eigenvalues of the correlation matrix of the spins that vary, and what independent spins would have.

    ``spins`` are the data, or their spectrum, where it is known already (:attr:`SpinStatistics.spectrum`).

    The matrix is that of the standardised spins, so that the mean of all n eigenvalues is 1. The curve is the density
    of Marchenko and Pastur with the ratio n/(N - 1), times n and the width of a bin. Where N <= n, the n - N + 1
    eigenvalues that are 0 are stated and not drawn. The dotted line is the edge with an allowance for finite n and N
    (Tracy and Widom), which independent spins exceed in 1 of 100 data sets; those beyond it are marked and counted.

    With ``gamma``, that of :class:`EmpiricalBayes`, the density that couplings of this strength would give is drawn
    as well, in the paramagnet, where it is known (see :func:`bayesing.strength.spectral.law`). The axis is
    logarithmic if the largest eigenvalue lies far out.
    """
    spectrum = spins if isinstance(spins, Spectrum) else SpinStatistics.of(spins).spectrum
    n, nu = round(spectrum.n), spectrum.nu
    d = spectrum.d[: min(n, int(nu))] if nu < n else spectrum.d
    edge = largest_of_noise(n, nu)
    logarithmic = bool(d.max() > _FAR * edge)
    bins = _bins(d, edge, logarithmic, n, nu)
    label = f"data, $n$ = {n}, $N$ = {round(nu) + 1}"
    counts, _, _ = ax.hist(d, bins=bins.tolist(), color="C0", alpha=0.6, label=label)
    _draw_densities(ax, n, nu, 0.0 if gamma is None else gamma, spectrum.scale, bins, logarithmic)
    _mark_beyond(ax, d, edge)
    if nu < n:
        ax.plot([], [], " ", label=f"{n - int(nu)} of {n} eigenvalues are 0, as $N$ ≤ $n$")
    if logarithmic:
        ax.set_xscale("log")
    ax.set_xlim(bins[0], bins[-1])
    ax.set_ylim(0, min(ax.get_ylim()[1], 2 * float(np.max(counts))))  # a density may diverge at 0
    ax.set_xlabel("eigenvalue of the correlation matrix")
    ax.set_ylabel("eigenvalues per bin")
    ax.legend(fontsize="small")
    return ax


def _draw_densities(
    ax: Axes, n: int, nu: float, gamma: float, scale: float, bins: Array, logarithmic: bool
) -> None:
    """Curves of independent spins, and of couplings of strength gamma where their density is known."""
    x, density = marchenko_pastur(n, nu)
    ax.plot(x, n * density * _width(x, bins, logarithmic), color=text_colour(), label="independent spins")
    g = 0.0 if math.isinf(scale) else gamma / scale
    if 0 < g < 1:
        predicted = law(g, nu, n, _NODES)
        x, density = _density(predicted.d[:_NODES], predicted.w[:_NODES] / n)  # without those that are 0
        fitted = f"couplings of $J$ = {math.sqrt(gamma):.2f}"
        ax.plot(x, n * density * _width(x, bins, logarithmic), color="C1", linestyle="--", label=fitted)


def _mark_beyond(ax: Axes, d: Array, edge: float) -> None:
    """The edge of noise, and the eigenvalues beyond it, just above the axis, where no bar or curve hides them."""
    ax.axvline(edge, color=text_colour(), alpha=0.7, linestyle=":")
    beyond = d[d > edge]
    counted = f"{len(beyond)} beyond what noise gives"
    ax.plot(beyond, np.full(len(beyond), 0.02), "v", color="C1", markersize=6, label=counted, clip_on=False,
            transform=ax.get_xaxis_transform())  # fmt: skip


def marchenko_pastur(n: int, nu: float) -> tuple[Array, Array]:
    """Density of the non-zero eigenvalues of independent spins, at points between its edges; its sum is min(1, nu/n).

    With c = n/nu it is sqrt((b - x)(x - a))/(2 pi c x), a and b being (1 -+ sqrt(c))^2.
    """
    c = n / nu
    low, high = (1 - math.sqrt(c)) ** 2, (1 + math.sqrt(c)) ** 2
    x = (low + high) / 2 - (high - low) / 2 * np.cos(np.linspace(0, math.pi, 402))[1:-1]
    return x, np.sqrt((high - x) * (x - low)) / (2 * math.pi * c * x)


def largest_of_noise(n: int, nu: float) -> float:
    """What the largest eigenvalue of independent spins exceeds with probability 0.01, about.

    The law of Tracy and Widom is centred and scaled as for covariance matrices (I. Johnstone, 2001; Z. Ma, 2012), of
    which this is the 95% point. In a correlation matrix the diagonal is fixed, which makes large values rarer.
    """
    a, b = math.sqrt(max(nu - 0.5, 0.5)), math.sqrt(n - 0.5)
    return float((a + b) ** 2 + _TRACY_WIDOM * (a + b) * (1 / a + 1 / b) ** (1 / 3)) / nu


def _bins(d: Array, edge: float, logarithmic: bool, n: int, nu: float) -> Array:
    """Some thirty across the bulk, fewer of few eigenvalues."""
    across = int(min(max(2 * math.sqrt(len(d)), _FEWEST_BINS), _MOST_BINS))
    if not logarithmic:
        step = edge / across
        return step * np.arange(math.ceil(max(d.max(), edge) / step * 1.02) + 1)
    low = min((1 - math.sqrt(n / nu)) ** 2, float(d.min()))
    low = max(low, edge / _DECADES)
    step = math.log(edge / low) / across
    return np.asarray(low * np.exp(step * np.arange(math.ceil(math.log(d.max() / low) / step * 1.02) + 1)))


def _width(x: Array, bins: Array, logarithmic: bool) -> Array:
    """Of a bin at x."""
    return x * math.log(bins[1] / bins[0]) if logarithmic else np.full(len(x), bins[1] - bins[0])


def _density(d: Array, share: Array) -> tuple[Array, Array]:
    """Between neighbouring points of a spectrum that are so many of it."""
    cumulated = np.cumsum(share) - share / 2
    return (d[1:] + d[:-1]) / 2, np.diff(cumulated) / np.diff(d)
