"""The strongest couplings as a network with names."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from ..boltzmann_machine import BoltzmannMachine, Coupling
from ..types import Array
from ._couplings import order_of
from ._style import background, name_of, note, sign_colours, size_in_points, text_colour

_CLEAR = 2.0  # standard errors from 0
_WIDEST = 4.5  # points
_DASHES = (0, (2, 1.2))
_LARGEST, _SMALLEST = 9.0, 5.5  # points, of the font
_LETTER = 0.62  # width of a letter, in units of the font's size
_COVERED = 0.4  # of the area by names, at most, if the font can be so small
_STEPS = 300


def coupling_network(ax: Axes, bm: BoltzmannMachine, k: int = 40) -> Axes:
    """The k strongest couplings as lines between the names of their spins.

    Width is strength, red is positive and blue negative, and couplings within two standard errors of 0 are dashed.
    Couplings that are exactly 0 are left out. Where a spin stands says nothing but that coupled ones attract each
    other: the layout is that of T. Fruchterman and E. Reingold (1991), and then names that overlap are moved apart.
    """
    edges = [c for c in bm.strongest(k) if c.J != 0]
    ax.set_axis_off()
    if not edges:
        note(ax, "There are no couplings to show.")
        return ax
    spins = sorted({spin for c in edges for spin in (c.i, c.j)})
    at = {spin: place for place, spin in enumerate(spins)}
    names = {spin: name_of(name, 20) for c in edges for spin, name in ((c.i, c.name_i), (c.j, c.name_j))}
    J = np.zeros((len(spins), len(spins)))
    for c in edges:
        J[at[c.i], at[c.j]] = J[at[c.j], at[c.i]] = c.J

    frame = np.array(size_in_points(ax))
    font, boxes = _boxes([names[spin] for spin in spins], frame)
    xy = layout(J, boxes, frame)
    negative, positive = sign_colours(ax)
    for c in reversed(edges):  # the strongest on top
        ends = xy[[at[c.i], at[c.j]]]
        ax.plot(
            *ends.T,
            color=positive if c.J > 0 else negative,
            linewidth=max(_WIDEST * abs(c.J) / abs(edges[0].J), 0.8),
            linestyle="-" if _clear(c) else _DASHES,
            dash_capstyle="butt",
        )
    ax.plot(*xy.T, "o", color=text_colour(), markersize=3.5, zorder=3)
    halo = [withStroke(linewidth=2, foreground=background(ax))]
    for spin, (x, y) in zip(spins, xy, strict=True):
        ax.annotate(names[spin], (x, y), (0, 3), textcoords="offset points", ha="center", va="bottom",
                    fontsize=font, path_effects=halo, zorder=4)  # fmt: skip
    ax.set_xlim(0, frame[0])
    ax.set_ylim(0, frame[1])
    _legend(ax, edges)
    return ax


def layout(J: Array, boxes: Array, frame: Array) -> Array:
    """Positions of spins in a frame of this width and height: coupled ones attract, all repel each other.

    ``boxes`` are the widths and heights that belong to them, which do not overlap in the end if there is room. The
    forces are those of springs, d^2/l, and of charges, l^2/d, l being the length that fills the frame.
    """
    m = len(J)
    angle = 2 * math.pi * np.argsort(order_of(J)) / m
    xy = frame / 2 + frame / 3 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    length = math.sqrt(float(frame.prod()) / m)
    bound = (J != 0)[:, :, None]
    for heat in np.linspace(length, 0.02 * length, _STEPS):
        apart = xy[:, None] - xy
        distance = np.maximum(np.linalg.norm(apart, axis=2, keepdims=True), 1e-3 * length)
        push = np.where(
            distance < 2 * length, apart * (length / distance) ** 2, 0.0
        )  # else all flee to the edges
        pull = np.where(bound, apart * distance / length, 0.0)
        force = (push - pull).sum(axis=1)
        size = np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-12)
        xy = _inside(xy + force / size * np.minimum(size, heat), boxes, frame)
    # Stretch to the frame, then move apart what overlaps, along the shorter way out.
    xy = _stretched(xy, boxes, frame)
    wide = (boxes[:, None] + boxes) / 2
    for _ in range(_STEPS):
        apart = xy[:, None] - xy
        overlap = wide - np.abs(apart)
        touching = (overlap > 0).all(axis=2) & ~np.eye(m, dtype=bool)
        if not touching.any():
            break
        vertical = overlap[:, :, 1] < overlap[:, :, 0]
        way = np.stack([~vertical, vertical], axis=2)
        # Of two at the same place the first goes up.
        sign = np.where(apart == 0, np.triu(np.ones((m, m)), 1)[:, :, None] * 2 - 1, np.sign(apart))
        xy = _inside(xy + (0.5 * sign * overlap * way * touching[:, :, None]).sum(axis=1), boxes, frame)
    return xy


def _inside(xy: Array, boxes: Array, frame: Array) -> Array:
    return np.clip(xy, np.minimum(boxes / 2, frame / 2), np.maximum(frame - boxes / 2, frame / 2))


def _stretched(xy: Array, boxes: Array, frame: Array) -> Array:
    low, high = xy.min(axis=0), xy.max(axis=0)
    edge = boxes.max(axis=0) / 2
    share = np.where(high > low, (xy - low) / np.where(high > low, high - low, 1), 0.5)
    return _inside(edge + share * (frame - 2 * edge), boxes, frame)


def _boxes(names: list[str], frame: Array) -> tuple[float, Array]:
    """Size of the font, and of what each name and its point take up with it."""
    letters = np.array([len(name.replace("\\$", "$")) for name in names])
    per_font = np.stack([_LETTER * letters + 0.6, np.full(len(names), 2.0)], axis=1)
    fitting = math.sqrt(_COVERED * float(frame.prod() / per_font.prod(axis=1).sum()))
    font = min(max(fitting, _SMALLEST), _LARGEST)
    return font, per_font * font


def _clear(c: Coupling) -> bool:
    return abs(c.J) >= _CLEAR * c.error


def _legend(ax: Axes, edges: list[Coupling]) -> None:
    negative, positive = sign_colours(ax)
    strongest = f"$|J_{{ij}}|$ = {abs(edges[0].J):.2g}"
    handles = [Line2D([], [], color=text_colour(), linewidth=_WIDEST, label=strongest)]
    if any(c.J > 0 for c in edges):
        handles.append(Line2D([], [], color=positive, linewidth=2, label="positive"))
    if any(c.J < 0 for c in edges):
        handles.append(Line2D([], [], color=negative, linewidth=2, label="negative"))
    if not all(map(_clear, edges)):
        label = "within 2 errors of 0"
        handles.append(Line2D([], [], color=text_colour(), linewidth=2, linestyle=_DASHES, label=label))
    ax.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=2,
        fontsize="small",
        frameon=False,
    )
