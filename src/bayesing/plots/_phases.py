"""Where the data lie among the phases of the model of Sherrington and Kirkpatrick."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..calibration import Interval
from ..empirical_bayes import EmpiricalBayes
from ..replica import at_line
from ..types import Array
from ._style import text_colour

_TICKS = (0, 0.25, 0.5, 1, 2, 4)  # of J and of |H|
_J_END = 12.0  # of the picture, unless the data lie beyond: far inside the spin glass
_H_END = 6.0  # likewise: spins are aligned
_ROOM = 1.3  # by which the picture reaches beyond the data


def phase_diagram(ax: Axes, eb: EmpiricalBayes, interval: Interval | None = None) -> Axes:
    """The paramagnet and the spin glass in the plane of J and H, and the data set with its error bars in it.

    The phases are those of couplings without a mean and of a uniform field (Sherrington and Kirkpatrick), beta = 1,
    with the line of de Almeida and Thouless between them from :func:`bayesing.replica.at_line`; 1/J is what is called
    temperature, H/J the field, where J is the unit. The axes are linear near 0 and compressed far out, x/(1 + x), so
    that the whole plane is in the picture.

    Bars are the standard errors, or ``interval`` if that is given. A mean coupling J0 acts as a field: what is drawn
    is H + J0 M. If fields differ from spin to spin, H is the one that a uniform field would be, and the line is not
    exact for them; the distance 1 - gamma r in the legend is, since r is taken from the data: positive in the
    paramagnet, negative in the spin glass. An arrow at the edge says that J, or the bar, has no end.
    """
    (J, low, high), (H, H_low, H_high) = _position(eb, interval)
    J_end = max([_J_END, *(_ROOM * x for x in (J, high) if math.isfinite(x))])
    H_end = max([_H_END, *(_ROOM * abs(x) for x in (H, H_low, H_high) if math.isfinite(x))])
    _draw_phases(ax, J_end, H_end)
    inside = min(J, J_end), min(max(H, -H_end), H_end)
    bars = [
        [[max(inside[0] - low, 0.0)], [max(min(high, J_end) - inside[0], 0.0)]],
        [[max(inside[1] - max(H_low, -H_end), 0.0)], [max(min(H_high, H_end) - inside[1], 0.0)]],
    ]
    style: dict[str, Any] = {"color": "C0", "markersize": 7, "capsize": 3, "zorder": 5, "clip_on": False}
    marker = "o" if math.isfinite(J) else ">"
    ax.errorbar(*inside, xerr=bars[0], yerr=bars[1], fmt=marker, label=_legend(eb, J, H), **style)
    if high > J_end and math.isfinite(J):
        ax.plot([J_end], [inside[1]], ">", color="C0", clip_on=False, zorder=5)
    ax.set_xlabel("strength of the couplings $J$ (compressed scale)")
    ax.set_ylabel("field $H$" if eb.J0_ == 0 else "field $H + J_0 M$")
    ax.legend(loc="upper left", fontsize="small")
    return ax


def _draw_phases(ax: Axes, J_end: float, H_end: float) -> None:
    """The compressed axes, the line between the phases, and their names."""
    ax.set_xscale("function", functions=(_squash, _stretch))
    ax.set_yscale("function", functions=(_squash, _stretch))
    half = _stretch(np.linspace(0, _squash(np.array(H_end)), 101))
    edge = [at_line(h) for h in half.tolist()]
    fields, line = np.append(-half[:0:-1], half), np.append(edge[:0:-1], edge)
    ax.fill_betweenx(fields, line, J_end, where=line < J_end, color="C1", alpha=0.18, linewidth=0)
    ax.plot(line, fields, color="C1", label="line of de Almeida and Thouless")
    ax.axhline(0, color=text_colour(), alpha=0.25, linewidth=0.8, zorder=0)
    ax.text(0.32, -1.6, "paramagnet", ha="center", va="center")
    ax.text(3.2, -0.45, "spin glass", ha="center", va="center")
    for axis in (ax.xaxis, ax.yaxis):
        ticks = _TICKS if axis is ax.xaxis else (*(-t for t in _TICKS[:0:-1]), *_TICKS)
        axis.set_ticks(ticks, labels=[f"{t:g}".replace("-", "−") for t in ticks])
        axis.set_ticks([], minor=True)
    ax.set_xlim(0, J_end)
    ax.set_ylim(-H_end, H_end)


def _position(
    eb: EmpiricalBayes, interval: Interval | None
) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """J and H, each with the ends of its bar."""
    shift = eb.J0_ * eb.moments_.M
    if interval is not None:
        J, H, ends, H_ends = interval.J_corrected, interval.H_corrected, interval.J, interval.H
    else:
        J, H = eb.J_, eb.H_
        dJ, dH = (0.0 if math.isnan(error) else error for error in (eb.J_error_, eb.H_error_))
        ends = (max(J - dJ, 0.0), J + dJ) if math.isfinite(J) else (J, J)
        H_ends = (H - dH, H + dH) if math.isfinite(H) else (H, H)
    return (J, *ends), (H + shift, H_ends[0] + shift, H_ends[1] + shift)


def _legend(eb: EmpiricalBayes, J: float, H: float) -> str:
    found = f"data: $J$ = {J:.2f}" if math.isfinite(J) else "data: $J$ is unbounded"
    return f"{found}, $H$ = {H:+.2f}\n" + rf"(1 − $\gamma r$ = {eb.at_distance_:.2f})".replace("-", "−")


def _squash(x: Array) -> Array:
    """x/(1 + |x|), without 0/0 at infinity."""
    return np.asarray(np.sign(x) * (1 - 1 / (1 + np.abs(x))))


def _stretch(y: Array) -> Array:
    """The inverse; matplotlib asks for it beyond ±1, too."""
    y = np.clip(y, -0.999, 0.999)
    return np.asarray(y / (1 - np.abs(y)))
