"""The strongest couplings as a network with names."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from ..boltzmann_machine import BoltzmannMachine
from ..edges import Coupling
from ..loadings import loadings_of, strongest_loadings
from ..types import Array
from ._couplings import order_of
from ._style import background, cause_colour, name_of, note, sign_colours, size_in_points, text_colour

_MOST_ALONE = 60  # spins up to which those without a line are drawn, too
WIDEST = 4.5  # points, of the strongest coupling's line
THINNEST = 0.8  # points: still seen on paper
_DASHES = (0, (2, 1.2))  # in units of the line's width
_LARGEST_FONT = 9.0  # points: the size of other text
_SMALLEST_FONT = 5.5  # points: just readable
_LETTER = 0.62  # width of a letter, in units of the font's size
_SQUARE = 8.0  # points, of a common cause
_LONGEST_NAME = 20  # letters
_COVERED = 0.4  # share of the area that names may cover, if the font can be so small
_STEPS = 300  # of the forces, and of moving names apart: nothing moves any more
_LAST_STEP = 0.02  # of the forces, in units of the typical distance
_FAR = 2.0  # typical distances beyond which spins do not repel each other: else all flee to the edges


def coupling_network(ax: Axes, bm: BoltzmannMachine, k: int = 40) -> Axes:
    """The k strongest couplings as lines between the names of their spins.

    Width is strength, red is positive and blue negative, and couplings that are not among the ``edges`` of the
    machine are dashed. Couplings that are exactly 0 are left out. Up to 60 spins, those without a line are drawn,
    too. Where a spin stands says nothing but that coupled ones attract each other: the layout is that of T.
    Fruchterman and E. Reingold (1991), and then names that overlap are moved apart.

    Common causes, if the machine has any, are squares with lines to the spins that they load on most. Half of the k
    lines are theirs, or all of them if the machine has no ``edges``.
    """
    edges, names = {(edge.i, edge.j) for edge in bm.edges()}, bm.names()
    couplings, each = share_of_lines(k, bm.answer_.n_hidden, bool(edges))
    loadings = strongest_loadings(loadings_of(bm.answer_, names), each) if each else ()
    strongest = bm.strongest(couplings) if couplings else []
    return draw_network(ax, network_of(strongest, size_in_points(ax), edges, names, loadings))


def share_of_lines(k: int, causes: int, edges: bool) -> tuple[int, int]:
    """How many of k lines are couplings, and how many each common cause has; all are theirs if there are no edges.

    >>> share_of_lines(40, 0, True), share_of_lines(40, 2, True), share_of_lines(40, 2, False)
    ((40, 0), (20, 10), (0, 20))
    """
    if not causes:
        return k, 0
    theirs = k // 2 if edges else k
    return k - theirs, max(theirs // causes, 1)


@dataclass(frozen=True, eq=False)
class Network:
    """Couplings and where their spins stand, in points, in a frame of this width and height."""

    edges: tuple[Coupling, ...]  # the strongest first
    names: dict[int, str]  # of the spins, as they are written, in the order of their positions
    positions: Array  # a row for each spin
    font: float  # points
    frame: tuple[float, float]
    there: Collection[tuple[int, int]] | None = (
        None  # i, j of the couplings that are there; None is all of them
    )
    loadings: tuple[Coupling, ...] = ()  # to common causes, whose numbers follow those of all spins

    @property
    def lines(self) -> tuple[Coupling, ...]:
        """Couplings and loadings, the strongest first."""
        return tuple(sorted((*self.edges, *self.loadings), key=lambda c: -abs(c.J)))

    @property
    def causes(self) -> set[int]:
        """Numbers of the common causes."""
        return {c.j for c in self.loadings}


def network_of(
    couplings: Sequence[Coupling],
    frame: tuple[float, float],
    there: Collection[tuple[int, int]] | None = None,
    all_names: Sequence[str] = (),
    loadings: Sequence[Coupling] = (),
) -> Network:
    """Couplings that are not 0, and a place in the frame for each of their spins.

    ``there`` are the pairs of which it can be told, and ``all_names`` those of all spins, which have a place, too,
    unless they are many. ``loadings`` are couplings to common causes, which have places as well.
    """
    edges, own = tuple(c for c in couplings if c.J != 0), tuple(c for c in loadings if c.J != 0)
    lines = (*edges, *own)
    if not lines:
        return Network((), {}, np.empty((0, 2)), _LARGEST_FONT, frame, there)
    found = dict(enumerate(all_names)) if len(all_names) <= _MOST_ALONE else {}
    found |= {spin: name for c in lines for spin, name in ((c.i, c.name_i), (c.j, c.name_j))}
    names = {spin: name_of(found[spin], _LONGEST_NAME) for spin in sorted(found)}
    at = {spin: place for place, spin in enumerate(names)}
    J = np.zeros((len(names), len(names)))
    for c in lines:
        J[at[c.i], at[c.j]] = J[at[c.j], at[c.i]] = c.J
    font, boxes = _boxes(list(names.values()), np.array(frame))
    return Network(edges, names, layout(J, boxes, np.array(frame)), font, frame, there, own)


def draw_network(ax: Axes, network: Network) -> Axes:
    """The picture of :func:`coupling_network`, of a network whose spins have their places."""
    ax.set_axis_off()
    if not network.lines:
        note(ax, "There are no couplings to show.")
        return ax
    at = {spin: place for place, spin in enumerate(network.names)}
    negative, positive = sign_colours(ax)
    lines = network.lines
    for c in reversed(lines):  # the strongest on top
        ends = network.positions[[at[c.i], at[c.j]]]
        ax.plot(
            *ends.T,
            color=positive if c.J > 0 else negative,
            linewidth=max(WIDEST * abs(c.J) / abs(lines[0].J), THINNEST),
            linestyle="-" if _is_there(c, network) else _DASHES,
            dash_capstyle="butt",
        )
    draw_spins(ax, network)
    _legend(ax, network)
    return ax


def draw_spins(ax: Axes, network: Network) -> None:
    """Points and names, on top of the lines, in the frame of the network."""
    is_cause = np.array([spin in network.causes for spin in network.names])
    if is_cause.any():
        ax.plot(*network.positions[is_cause].T, "s", color=cause_colour(ax), markersize=_SQUARE, zorder=3)
    ax.plot(*network.positions[~is_cause].T, "o", color=text_colour(), markersize=3.5, zorder=3)
    halo = [withStroke(linewidth=2, foreground=background(ax))]
    places = zip(network.names.values(), network.positions, _sides(network), is_cause, strict=True)
    for name, (x, y), side, square in places:
        away, colour = (_SQUARE / 2 + 1, cause_colour(ax)) if square else (3, text_colour())
        ax.annotate(name, (x, y), (0, away * side), textcoords="offset points", ha="center",
                    va="bottom" if side > 0 else "top", fontsize=network.font, path_effects=halo,
                    color=colour, weight="bold" if square else "normal", zorder=4,
                    bbox=dict(boxstyle="round,pad=0.1", fc=background(ax), ec="none", alpha=0.85)
                    if square else None)  # fmt: skip
    ax.set_xlim(0, network.frame[0])
    ax.set_ylim(0, network.frame[1])


def _sides(network: Network) -> list[int]:
    """Where names stand: above their points, 1, or below, -1, where fewer lines cross them there."""
    at = {spin: place for place, spin in enumerate(network.names)}
    crossed = np.zeros((len(at), 2), int)
    half = np.array([len(name) for name in network.names.values()]) * _LETTER * network.font / 2
    for c in network.lines:
        for i, j in ((at[c.i], at[c.j]), (at[c.j], at[c.i])):
            x, y = network.positions[j] - network.positions[i]
            if abs(x) * network.font < half[i] * abs(y):  # it leaves the name through its long side
                crossed[i, int(y < 0)] += 1
    return [-1 if below < above else 1 for above, below in crossed.tolist()]


def layout(J: Array, boxes: Array, frame: Array) -> Array:
    """Positions of spins in a frame of this width and height: coupled ones attract, all repel each other.

    ``boxes`` are the widths and heights that belong to them, which do not overlap in the end if there is room.
    """
    return _moved_apart(_stretched(_relaxed(J, boxes, frame), boxes, frame), boxes, frame)


def _relaxed(J: Array, boxes: Array, frame: Array) -> Array:
    """From an ellipse, moved by the forces of springs, d^2/l, and of charges, l^2/d.

    l is the length that fills the frame. Spins start in the order of their clustering.
    """
    m = len(J)
    angle = 2 * math.pi * np.argsort(order_of(J)) / m
    xy: Array = frame / 2 + frame / 3 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    length = math.sqrt(float(frame.prod()) / m)
    bound = (J != 0)[:, :, None]
    for heat in np.linspace(length, _LAST_STEP * length, _STEPS):
        apart = xy[:, None] - xy
        distance = np.maximum(np.linalg.norm(apart, axis=2, keepdims=True), 1e-3 * length)
        push = np.where(distance < _FAR * length, apart * (length / distance) ** 2, 0.0)
        pull = np.where(bound, apart * distance / length, 0.0)
        force = (push - pull).sum(axis=1)
        size = np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-12)
        xy = _inside(xy + force / size * np.minimum(size, heat), boxes, frame)
    return xy


def _moved_apart(xy: Array, boxes: Array, frame: Array) -> Array:
    """Boxes that overlap go apart, along the shorter way out."""
    m = len(xy)
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
    font = min(max(fitting, _SMALLEST_FONT), _LARGEST_FONT)
    return font, per_font * font


def _is_there(c: Coupling, network: Network) -> bool:
    return network.there is None or (c.i, c.j) in network.there or c.j in network.causes


def _legend(ax: Axes, network: Network) -> None:
    negative, positive, edges = *sign_colours(ax), network.lines
    strongest = f"$|{'W_{ia}' if edges[0].j in network.causes else 'J_{ij}'}|$ = {abs(edges[0].J):.2g}"
    handles = [Line2D([], [], color=text_colour(), linewidth=WIDEST, label=strongest)]
    if any(c.J > 0 for c in edges):
        handles.append(Line2D([], [], color=positive, linewidth=2, label="positive"))
    if any(c.J < 0 for c in edges):
        handles.append(Line2D([], [], color=negative, linewidth=2, label="negative"))
    if not all(_is_there(c, network) for c in edges):
        label = "may be 0"
        handles.append(Line2D([], [], color=text_colour(), linewidth=2, linestyle=_DASHES, label=label))
    if network.causes:
        square = Line2D([], [], color=cause_colour(ax), label="common cause", linestyle="none")
        square.set_marker("s")
        square.set_markersize(_SQUARE)
        handles.append(square)
    ax.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=2,
        fontsize="small",
        frameon=False,
    )
