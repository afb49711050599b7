"""Rows in the order of time: how long they remember, and whether means stay what they are."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from ..order import order_of
from ..series import FORGOTTEN, Memory
from ..statistics import SpinStatistics
from ..types import Array
from ._style import note, text_colour

_BEYOND = 2  # lags shown, in units of that at which rows have forgotten
_LEAST_SHOWN = 10  # lags
_MOST_LINES = 12  # spins: those whose means change most


def autocorrelation(ax: Axes, spins: ArrayLike | SpinStatistics) -> Axes:
    """The correlation of rows that are 0, 1, 2, ... apart, the mean over spins, and the limit of what is forgotten.

    >>> import numpy as np
    >>> from bayesing import plots
    >>> from matplotlib.figure import Figure
    >>> rows = np.repeat(np.random.default_rng(0).choice([-1, 1], (50, 8)), 4, axis=0)
    >>> ax = plots.autocorrelation(Figure().subplots(), rows)
    """
    return draw_autocorrelation(ax, SpinStatistics.of(spins).memory)


def draw_autocorrelation(ax: Axes, memory: Memory) -> Axes:
    """The same of what is known already."""
    last = min(max(_BEYOND * memory.lag, _LEAST_SHOWN), len(memory.rho) - 1)
    lags = np.arange(last + 1)
    ax.plot(lags, memory.rho[: last + 1], "o-", color="C0", markersize=3, linewidth=1.2, label="spins")
    known = memory.of_products[: last + 1]
    if memory.lag > 1:
        ax.plot(lags[: len(known)], known, "--", color="C1", linewidth=1.2, label="products of two")
        ax.legend(loc="best", fontsize="small")
    ax.axhline(FORGOTTEN, color=text_colour(), linewidth=0.8, linestyle=":")
    ax.set_xlim(0, last)
    ax.set_ylim(min(-0.05, float(memory.rho[: last + 1].min())), 1.02)
    ax.set_xlabel("rows apart")
    ax.set_ylabel("autocorrelation")
    ax.locator_params(axis="x", integer=True)
    return ax


def means_over_time(ax: Axes, spins: ArrayLike | SpinStatistics) -> Axes:
    """The mean of all spins over the rows in their order, and of the spins whose means change most.

    A mean that drifts makes couplings. It needs 160 rows.
    """
    stats = SpinStatistics.of(spins)
    found = order_of(stats)
    if found is None or found.means is None:
        note(ax, "There are too few rows.")
        return ax
    return draw_means(ax, found.means, stats.N)


def draw_means(ax: Axes, means: Array, N: int) -> Axes:
    """The same from the means of the spins in blocks of rows (blocks, n)."""
    middle = (np.arange(len(means)) + 0.5) * N / len(means)
    changing = np.argsort(-smoothed(means).std(axis=0), kind="stable")[:_MOST_LINES]
    for i in changing.tolist():
        ax.plot(middle, smoothed(means[:, [i]])[:, 0], color="C0", linewidth=0.7, alpha=0.45)
    ax.plot(middle, means.mean(axis=1), color=text_colour(), linewidth=1.8)
    ax.set_xlim(0, N)
    ax.set_xlabel("row")
    ax.set_ylabel("mean spin")
    return ax


def smoothed(means: Array) -> Array:
    """Averages over three neighbouring blocks, so that slow changes are seen."""
    padded = np.pad(means, ((1, 1), (0, 0)), mode="edge")
    return (padded[:-2] + padded[1:-1] + padded[2:]) / 3
