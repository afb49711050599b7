"""Correlations of held-out samples against those of a model."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes

from ..prediction import Comparison, Prediction
from ..types import Array
from ._style import background, note, text_colour

_MOST_POINTS = 2000  # beyond, they would hide each other and are counted in hexagons
_PARTS = 10  # of the points, by prediction, whose means are shown
_LEAST_IN_PART = 10  # points: the mean of fewer is noise
_MARGIN = 0.06  # of the range, around the points
_NAMES = {2: ("pair", "$C_{ij}$"), 3: ("triplet", "$T_{ijk}$")}


def predicted_correlations(ax: Axes, prediction: Prediction, order: int = 2) -> Axes:
    """Connected correlations of pairs (``order=2``) or triplets (3) as observed, against those of the model.

    The prediction is on the horizontal axis: noise is nearly all in what is observed, so that points of a perfect
    model scatter up and down around the diagonal. The axes have scales of their own. More than 2000 points are
    counted in hexagons. Of 100 and more, the means of the tenth with the smallest predictions, of the next, ... are
    shown. The cross shows the typical (median) standard error of either side. In the title: the correlation
    coefficient, and what noise leaves of it to a perfect model, where that can be told; the slope of the observed on
    the predicted, and chi^2, the mean square of residuals in units of their standard errors, with the 1 of a perfect
    model in brackets.
    """
    found = prediction.of(order)
    kind, symbol = _NAMES[order]
    ax.set_xlabel(f"{kind} correlation {symbol} of the model")
    ax.set_ylabel(f"{symbol} of {prediction.n_samples} held-out samples")
    if not len(found.observed):
        note(ax, f"There are no {kind}s to compare.")
        return ax
    x, y = _range(found.predicted), _range(found.observed)
    if len(found.observed) > _MOST_POINTS:
        image = ax.hexbin(found.predicted, found.observed, gridsize=45, bins="log", mincnt=1, cmap="viridis",
                          extent=(*x, *y), linewidths=0.1)  # fmt: skip
        ax.figure.colorbar(image, ax=ax, label=f"{kind}s per hexagon", shrink=0.8)
    else:
        ax.plot(found.predicted, found.observed, ".", color="C0", alpha=0.5, markersize=5)
    ax.axline((0, 0), slope=1, color=text_colour(), linewidth=1, linestyle="--", label="perfect model")
    if len(found.observed) >= _LEAST_IN_PART * _PARTS:
        parts = np.array_split(np.argsort(found.predicted, kind="stable"), _PARTS)
        means = np.array([[found.predicted[part].mean(), found.observed[part].mean()] for part in parts])
        ax.plot(*means.T, "o", color="C1", markeredgecolor=background(ax), label="means of tenths")
    _draw_errors(ax, found, x, y)
    ax.set_xlim(x)
    ax.set_ylim(y)
    ax.locator_params(nbins=6)
    ax.set_title(_summary(found), loc="left", fontsize="small")
    ax.legend(loc="upper left", fontsize="small", framealpha=0.6)
    return ax


def _draw_errors(ax: Axes, found: Comparison, x: tuple[float, float], y: tuple[float, float]) -> None:
    """A cross in the lower right corner, as large as the typical standard errors."""
    errors = [float(np.median(error)) for error in (found.predicted_error, found.observed_error)]
    right = x[1] - max(_MARGIN * (x[1] - x[0]), 1.2 * errors[0])
    down = y[0] + max(_MARGIN * (y[1] - y[0]), 1.2 * errors[1])
    ax.errorbar(
        right, down, xerr=errors[0], yerr=errors[1], color=text_colour(), capsize=2, label="standard errors"
    )


def _range(values: Array) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    room = _MARGIN * (high - low) or 0.1
    return low - room, high + room


def _summary(found: Comparison) -> str:
    lines = []
    if math.isfinite(found.correlation):
        most = f" (at most {found.ceiling:.2f} ± {found.ceiling_error:.2f})" if found.ceiling > 0 else ""
        lines.append(f"correlation {found.correlation:.2f}{most}")
    if math.isfinite(found.slope):
        lines.append(f"slope {found.slope:.2f} ± {found.slope_error:.2f} (1)")
    if math.isfinite(found.chi2):
        lines.append(rf"$\chi^2$ = {found.chi2:.2f} ± {found.chi2_error:.2f} (1)")
    return "\n".join([lines[0], ", ".join(lines[1:])]) if len(lines) > 2 else "\n".join(lines)
