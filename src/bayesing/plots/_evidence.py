"""The evidence of the couplings' strength, and estimates against the truth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from ..empirical_bayes import EmpiricalBayes
from ..types import Array
from ._style import text_colour

_CURVE_POINTS = 200  # strengths: a smooth curve
_J_MAX = 1.5  # to which a curve reaches: beyond the spin glass
_ROOM = 1.3  # by which it reaches beyond the estimate
_NO_MAXIMUM = 2.0  # to which a surface without a maximum reaches, in J
_GRID = (25, 51)  # fields and strengths of the surface: a second to compute
_DEEPEST = 3.0  # ln of the evidence below that of J = 0: decisive, whatever the prior
_LEVELS = [-(4.0**k) / 2 for k in range(7, -1, -1)]  # ln of the evidence: 128, 64, ..., 1 standard deviations
_DUSK = ListedColormap(mpl.colormaps["cividis"](np.linspace(0, 0.72, 256)))  # dark enough for white lines
_FIELD_REACH = 0.2  # of H, to each side of the estimate, at least
_FIELD_ERRORS = 4.0  # standard errors of H that the picture reaches, at least
_MOST_FIELD_REACH = 2.0  # of H: spins hardly respond to more


def evidence_curve(ax: Axes, eb: EmpiricalBayes, J_max: float = _J_MAX, J_true: float | None = None) -> Axes:
    """Log evidence of a fitted estimator against J, at its H, relative to that of no couplings.

    Where the evidence is a curve in J (``eb.evidence_kind_``), the estimate lies above its maximum: it is corrected
    for what the evidence leaves out. The picture reaches to ``J_max``, or further if the estimate does. Methods
    without an evidence are a ValueError.
    """
    return draw_curve(ax, eb, *curve_of(eb, J_max, J_true), J_true)


def curve_of(eb: EmpiricalBayes, J_max: float = _J_MAX, J_true: float | None = None) -> tuple[Array, Array]:
    """Strengths up to ``J_max`` or beyond the estimate, and the log evidence relative to J = 0 of all data."""
    J_max = max([J_max, *(_ROOM * J for J in (eb.J_, J_true or 0.0) if math.isfinite(J))])
    J = np.linspace(0, J_max, _CURVE_POINTS)
    curve = eb.evidence(eb.H_ if math.isfinite(eb.H_) else 0.0, J**2)
    scale = eb.moments_.n * eb.moments_.N  # per spin and sample it would be tiny: show the log-likelihood
    return J, scale * (curve - curve[0])


def draw_curve(ax: Axes, eb: EmpiricalBayes, J: Array, curve: Array, J_true: float | None = None) -> Axes:
    """The picture of :func:`evidence_curve`, of a curve that is known."""
    ax.plot(J, curve, color="C0")
    peak = max(float(np.nanmax(curve)), 0.0)
    deep = max(peak / 2, _DEEPEST)  # beyond the maximum the curve falls without end
    ax.set_ylim(max(-deep, 1.1 * float(np.nanmin(curve)) - 0.1), 1.1 * peak + 0.1 * deep)
    ax.set_xlim(0, J[-1])
    if math.isfinite(eb.J_):
        within = f" ± {eb.J_error_:.3f}" if math.isfinite(eb.J_error_) else ""
        ax.axvline(eb.J_, color="C0", linestyle="--", label=f"estimate, $J$ = {eb.J_:.3f}{within}")
        if within:
            ax.axvspan(max(eb.J_ - eb.J_error_, 0), eb.J_ + eb.J_error_, color="C0", alpha=0.15, linewidth=0)
    else:
        ax.plot([], [], " ", label="no maximum: $J$ is unbounded")
    if J_true is not None:
        ax.axvline(J_true, color=text_colour(), alpha=0.7, linestyle=":", label=f"truth, $J$ = {J_true:g}")
    ax.set_xlabel(r"strength of the couplings $J = \sqrt{\gamma}$")
    ax.set_ylabel("log evidence relative to $J = 0$")
    ax.legend()
    return ax


def evidence_surface(ax: Axes, eb: EmpiricalBayes) -> Axes:
    """Contours of the log evidence over H and J, with the estimate, where it is a surface (``eb.evidence_kind_``).

    Drawn is n N L_EB relative to its maximum on the map; lines are at -1/2, -2, -8, ..., -8192, which would be 1, 2,
    4, ... standard deviations of a Gaussian. Where the expansion has no extremum, nothing is drawn. With a field and
    strong couplings the estimate may be stationary on another branch than the one drawn, and then is no maximum of
    it. Where J is infinite, an arrow points to it.
    """
    if eb.evidence_kind_ != "surface":
        found = "has none" if eb.evidence_kind_ is None else "has one of J alone. Use evidence_curve"
        raise ValueError(
            f"evidence_surface needs an evidence that depends on H: the method {eb.method_} {found}."
        )
    return draw_surface(ax, eb, *surface_of(eb))


def surface_of(eb: EmpiricalBayes) -> tuple[Array, Array, Array]:
    """Fields, strengths, and the log evidence of all data there, relative to its maximum."""
    H, J = _grid(eb)
    surface = eb.moments_.n * eb.moments_.N * eb.evidence(H[:, None], J**2)
    return H, J, surface - np.nanmax(surface)


def draw_surface(ax: Axes, eb: EmpiricalBayes, H: Array, J: Array, surface: Array) -> Axes:
    """The picture of :func:`evidence_surface`, of a surface that is known."""
    shade = np.sqrt(np.minimum(-surface, -2 * _LEVELS[0]))  # turns a parabola into a cone: a slope everywhere
    ax.pcolormesh(J, H, -shade, cmap=_DUSK, shading="gouraud", rasterized=True)
    lines = ax.contour(J, H, surface, levels=_LEVELS, colors="white", linewidths=0.8, linestyles="solid")
    ax.clabel(lines, fmt=lambda level: f"−{-level:g}", fontsize="small")
    _mark_estimate(ax, eb, float(J[-1]))
    ax.set_xlim(0, J[-1])
    ax.set_ylim(H[0], H[-1])
    ax.set_xlabel(r"strength of the couplings $J = \sqrt{\gamma}$")
    ax.set_ylabel("field $H$")
    return ax


def _grid(eb: EmpiricalBayes) -> tuple[Array, Array]:
    """Fields and strengths, the closer to the estimate the denser."""
    J_top = _NO_MAXIMUM if math.isinf(eb.J_) else max(0.3, 2 * eb.J_) if eb.J_ else 1.0
    middle = _middle(eb)
    errors = _FIELD_ERRORS * eb.H_error_ if math.isfinite(eb.H_error_) else 0.0
    reach = min(max(_FIELD_REACH, 0.5 * abs(middle), errors), _MOST_FIELD_REACH)
    H = middle + reach * _dense_in_the_middle(_GRID[0])
    J = np.linspace(0, J_top, _GRID[1])
    if math.isfinite(eb.J_):
        J = np.unique(np.clip(np.append(J, eb.J_ + J_top / 2 * _dense_in_the_middle(_GRID[1])), 0, J_top))
    return H, J


def _middle(eb: EmpiricalBayes) -> float:
    """The field of the estimate, or that of independent spins where it has none."""
    return eb.H_ if math.isfinite(eb.H_) else math.atanh(eb.moments_.M)


def _dense_in_the_middle(points: int) -> Array:
    """From -1 to 1."""
    return np.sinh(np.linspace(-4, 4, points)) / math.sinh(4)


def _mark_estimate(ax: Axes, eb: EmpiricalBayes, J_top: float) -> None:
    H = _middle(eb)
    style: dict[str, Any] = {
        "color": "C1",
        "markeredgecolor": "white",
        "markersize": 10,
        "clip_on": False,
        "zorder": 5,
    }
    if math.isinf(eb.J_):
        ax.plot([J_top], [H], ">", linestyle="", label="no maximum: $J$ is unbounded", **style)
    else:
        ax.plot(
            [eb.J_], [H], "o", linestyle="", label=f"estimate, $J$ = {eb.J_:.3f}, $H$ = {H:+.3f}", **style
        )
    ax.legend(loc="upper left")


def recovery(ax: Axes, J_true: Sequence[float], estimates: Sequence[Sequence[float]]) -> Axes:
    """Estimates of J against the truth: every repeat, their mean, and the diagonal."""
    top = 1.05 * max(max(J_true), max(max(repeats) for repeats in estimates))
    ax.plot([0, top], [0, top], color=text_colour(), alpha=0.4, linewidth=1, label="truth")
    for J, repeats in zip(J_true, estimates, strict=True):
        ax.plot([J] * len(repeats), repeats, ".", color="C0", alpha=0.4)
    ax.plot(J_true, [np.mean(repeats) for repeats in estimates], "o-", color="C0", label="mean estimate")
    ax.set_xlim(-0.02 * top, top)
    ax.set_ylim(-0.02 * top, top)
    ax.set_xlabel("$J$ of the model")
    ax.set_ylabel("$J$ estimated")
    ax.legend()
    return ax
