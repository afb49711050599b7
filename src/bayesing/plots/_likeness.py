"""Data and samples of a fitted model side by side: the number of active spins, and moments."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from ..types import Array
from ._style import note, text_colour

_MOST_POINTS = 2000  # beyond, they would hide each other and are counted in hexagons
_MARGIN = 0.06  # of the range, around the points
_LEAST = 0.3  # of one sample in the data: shares below are not drawn


def active_counts(ax: Axes, data: ArrayLike, model: ArrayLike, independent: ArrayLike, n_data: int) -> Axes:
    """Shares of the samples with K = 0, 1, ..., n active spins: in the data, in a model and without couplings.

    The scale is logarithmic, and bars are the standard errors of ``n_data`` samples (of a series, those it is worth).
    A model of pairs has the means and correlations of the data by construction, and not this distribution: it shows
    what pairs leave out.
    """
    shares, by_model, free = (np.asarray(x, dtype=float) for x in (data, model, independent))
    K = np.arange(len(shares))
    seen = shares > 0
    least = _LEAST * min(1 / n_data, shares[seen].min())  # rows that remember count as fewer: n_data < rows
    errors = np.sqrt(shares * (1 - shares) / n_data)
    ax.plot(K, np.where(free > least, free, np.nan), "--", color="C1", linewidth=1.2, label="independent")
    ax.plot(
        K, np.where(by_model > 0, by_model, np.nan), "-", color=text_colour(), linewidth=1.2, label="model"
    )
    down = np.minimum(errors, shares - least)[seen]
    ax.errorbar(K[seen], shares[seen], [down, errors[seen]], fmt="o", color="C0", markersize=3.5, linewidth=1,
                label="data")  # fmt: skip
    ax.set_yscale("log")
    ax.set_ylim(least, None)
    there = np.flatnonzero((shares > 0) | (by_model > 0) | (free > least))
    ax.set_xlim(max(there[0] - 0.5, -0.5), there[-1] + 0.5)
    ax.set_xlabel("number of active variables K")
    ax.set_ylabel("share of the samples")
    ax.legend(loc="best", fontsize="small")
    return ax


def draw_moments(ax: Axes, pairs: Array, what: str) -> Axes:
    """A moment of the model against that of the data, rows of ``pairs``; more than 2000 are counted in hexagons."""
    ax.set_xlabel(f"{what}, data")
    ax.set_ylabel(f"{what}, model")
    if not len(pairs):
        note(ax, "There is nothing to compare.")
        return ax
    low, high = float(pairs.min()), float(pairs.max())
    room = _MARGIN * (high - low) or 0.1
    ends = (low - room, high + room)
    if len(pairs) > _MOST_POINTS:
        ax.hexbin(*pairs.T, gridsize=40, bins="log", mincnt=1, cmap="viridis", extent=(*ends, *ends),
                  linewidths=0.1)  # fmt: skip
    else:
        ax.plot(*pairs.T, ".", color="C0", alpha=0.6, markersize=5)
    ax.axline((low, low), slope=1, color=text_colour(), linewidth=1, linestyle="--")
    ax.set_xlim(ends)
    ax.set_ylim(ends)
    ax.locator_params(nbins=5)
    return ax
