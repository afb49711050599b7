"""The strongest couplings as a network with names."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from ..boltzmann_machine import BoltzmannMachine
from ..edges import Coupling
from ..loadings import loadings_of, strongest_loadings
from ..types import Array, Indices
from ._layout import curves, layout, names_met, written
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
_LONG_NAME = 32  # letters, where spins are few
_WIDE = 400.0  # points, of a picture with room for them
_FEW = 30  # spins
_COVERED = 0.4  # share of the area that names may cover, if the font can be so small
_TURNS = (0.0, 0.8, 1.6, 2.4)  # angles of the start, which are tried until no line goes through a name
_TALL = 1.15  # height of a name, in units of the font's size


def coupling_network(ax: Axes, bm: BoltzmannMachine, k: int = 40) -> Axes:
    """The k strongest couplings as lines between the names of their spins.

    Width is strength, red is positive and blue negative, and couplings that are not among the ``edges`` of the
    machine are dashed. Couplings that are exactly 0 are left out. Up to 60 spins, those without a line are drawn,
    too. Where a spin stands says nothing but that coupled ones attract each other, by all ``edges`` of the machine,
    drawn or not: groups stand together. Names do not overlap if there is room, and lines bend around them.

    Common causes, if the machine has any, are squares with lines to the spins that they load on most. Half of the k
    lines are theirs, or all of them if the machine has no ``edges``.
    """
    edges, names = bm.edges(), bm.names()
    there = {(edge.i, edge.j) for edge in edges}
    couplings, each = share_of_lines(k, bm.answer_.n_hidden, bool(edges))
    loadings = strongest_loadings(loadings_of(bm.answer_, names), each) if each else ()
    strongest = bm.strongest(couplings) if couplings else []
    return draw_network(ax, network_of(strongest, size_in_points(ax), there, names, loadings, edges))


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
    labels: Array  # middles of the names
    sizes: Array  # widths and heights of the names
    bends: Array  # of the lines, in their order, in units of their length
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

    def has(self, c: Coupling) -> bool:
        """Whether it can be told that a coupling is there."""
        return self.there is None or (c.i, c.j) in self.there or c.j in self.causes

    @property
    def ends(self) -> Indices:
        """Places of the two spins of every line (lines, 2)."""
        return _ends(self.lines, self.names)

    @property
    def names_met(self) -> int:
        """How often a line goes through a name."""
        return int(names_met(self.positions, self.labels, self.sizes, self.ends, self.bends).sum())

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
    pulling: Sequence[Coupling] = (),
) -> Network:
    """Couplings that are not 0, and a place in the frame for each of their spins.

    ``there`` are the pairs of which it can be told, and ``all_names`` those of all spins, which have a place, too,
    unless they are many. ``loadings`` are couplings to common causes, which have places as well. Couplings that are
    ``pulling`` are not drawn: they bring spins of one group together.
    """
    edges, own = tuple(c for c in couplings if c.J != 0), tuple(c for c in loadings if c.J != 0)
    lines = (*edges, *own)
    if not lines:
        nothing = np.empty((0, 2))
        return Network((), {}, nothing, nothing, nothing, np.empty(0), _LARGEST_FONT, frame, there)
    found = dict(enumerate(all_names)) if len(all_names) <= _MOST_ALONE else {}
    found |= {spin: name for c in lines for spin, name in ((c.i, c.name_i), (c.j, c.name_j))}
    longest = _LONG_NAME if len(found) <= _FEW and frame[0] > _WIDE else _LONGEST_NAME
    names = {spin: name_of(found[spin], longest) for spin in sorted(found)}
    at = {spin: place for place, spin in enumerate(names)}
    J = np.zeros((len(names), len(names)))
    for c in (*pulling, *lines):
        if c.i in at and c.j in at:
            J[at[c.i], at[c.j]] = J[at[c.j], at[c.i]] = c.J
    area = np.array(frame)
    font, boxes = _boxes(list(names.values()), area)
    sizes = boxes - [0.6 * font, (2.0 - _TALL) * font]
    best, least = None, math.inf
    for turn in _TURNS:
        xy = layout(J, boxes, area, turn)
        network = Network(edges, names, xy, xy, sizes, np.empty(0), font, frame, there, own)
        labels, bends = written(xy, sizes, network.ends, area)
        network = replace(network, labels=labels, bends=bends)
        if network.names_met < least:
            best, least = network, network.names_met
        if not least:
            break
    assert best is not None
    return best


def _ends(lines: Sequence[Coupling], names: dict[int, str]) -> Indices:
    at = {spin: place for place, spin in enumerate(names)}
    return np.array([(at[c.i], at[c.j]) for c in lines], np.intp).reshape(-1, 2)


def draw_network(ax: Axes, network: Network) -> Axes:
    """The picture of :func:`coupling_network`, of a network whose spins have their places."""
    ax.set_axis_off()
    if not network.lines:
        note(ax, "There are no couplings to show.")
        return ax
    negative, positive = sign_colours(ax)
    lines = network.lines
    paths = curves(network.positions, network.ends, network.bends)
    for c, path in zip(reversed(lines), reversed(paths), strict=True):  # the strongest on top
        ax.plot(
            *path.T,
            color=positive if c.J > 0 else negative,
            linewidth=max(WIDEST * abs(c.J) / abs(lines[0].J), THINNEST),
            linestyle="-" if network.has(c) else _DASHES,
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
    for name, (x, y), square in zip(network.names.values(), network.labels, is_cause, strict=True):
        ax.text(x, y, name, ha="center", va="center", fontsize=network.font, path_effects=halo, zorder=4,
                color=cause_colour(ax) if square else text_colour(), weight="bold" if square else "normal",
                bbox=dict(boxstyle="round,pad=0.1", fc=background(ax), ec="none", alpha=0.85)
                if square else None)  # fmt: skip
    ax.set_xlim(0, network.frame[0])
    ax.set_ylim(0, network.frame[1])


def _boxes(names: list[str], frame: Array) -> tuple[float, Array]:
    """Size of the font, and of what each name and its point take up with it."""
    letters = np.array([len(name.replace("\\$", "$")) for name in names])
    per_font = np.stack([_LETTER * letters + 0.6, np.full(len(names), 2.0)], axis=1)
    fitting = math.sqrt(_COVERED * float(frame.prod() / per_font.prod(axis=1).sum()))
    font = min(max(fitting, _SMALLEST_FONT), _LARGEST_FONT)
    return font, per_font * font


def _legend(ax: Axes, network: Network) -> None:
    negative, positive, edges = *sign_colours(ax), network.lines
    strongest = f"$|{'W_{ia}' if edges[0].j in network.causes else 'J_{ij}'}|$ = {abs(edges[0].J):.2g}"
    handles = [Line2D([], [], color=text_colour(), linewidth=WIDEST, label=strongest)]
    if any(c.J > 0 for c in edges):
        handles.append(Line2D([], [], color=positive, linewidth=2, label="positive"))
    if any(c.J < 0 for c in edges):
        handles.append(Line2D([], [], color=negative, linewidth=2, label="negative"))
    if not all(network.has(c) for c in edges):
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
