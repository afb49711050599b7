"""The networks of two groups, side by side, with what differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ..differences import Comparison
from ..edges import FDR, Coupling
from ..mixture import discoveries
from ._layout import curves
from ._network import THINNEST, WIDEST, Network, draw_spins, network_of
from ._style import name_of, note, sign_colours, size_in_points, text_colour

_MOST = 120  # couplings in both networks together: more cannot be told apart
_FAINT = 0.35  # opacity of couplings that do not differ
_SAME = 0.45  # of the width that their strength would give them
_DOTS = (0, (1, 1.6))  # in units of the line's width: a coupling that is there in the other group


def compared_networks(axes: Sequence[Axes], comparison: Comparison, fdr: float = FDR) -> Sequence[Axes]:
    """The networks of both groups in two Axes: spins at the same places, and couplings that differ in colour.

    Shown are the couplings that are there in one group or the other, and those that differ, each at an expected share
    ``fdr`` of false ones; of very many, the likeliest and strongest. Width is strength, on the same scale in both.
    Couplings that differ are red (positive) or blue (negative) and solid; dotted, where they are there in the other
    group alone. Those that do not differ are thin and grey.
    """
    first, second = axes
    for ax, label in zip(axes, comparison.groups, strict=True):
        ax.set_axis_off()
        ax.set_title(name_of(label, 40), fontsize="medium")
    there = [_edges(comparison, k, fdr) for k in (0, 1)]
    differing = {(edge.i, edge.j) for edge in comparison.edges(fdr)}
    network = _network(comparison, there[0] | there[1] | differing, differing, size_in_points(first))
    if not network.edges:
        for ax in axes:
            note(ax, "There are no couplings to show.")
        return axes
    largest = max(abs(c.J) for c in network.edges)
    for k, ax in enumerate(axes):
        J = comparison.couplings[k]
        for c in reversed(network.edges):  # the strongest on top
            mine = c._replace(J=float(J[c.i, c.j]))
            _draw(ax, network, mine, (c.i, c.j) in differing, (c.i, c.j) in there[k], largest)
        draw_spins(ax, network)
    _legend(first, _signs(first, comparison, differing, largest))
    _legend(second, _kinds(network, differing))
    return axes


def _edges(comparison: Comparison, k: int, fdr: float) -> set[tuple[int, int]]:
    """Pairs i < j whose coupling is there in one of the groups."""
    upper = np.triu_indices(len(comparison.names), 1)
    found = discoveries(comparison.edge_probabilities[k][upper], fdr) & (comparison.couplings[k][upper] != 0)
    return set(zip(upper[0][found].tolist(), upper[1][found].tolist(), strict=True))


def _network(
    comparison: Comparison,
    pairs: set[tuple[int, int]],
    differing: set[tuple[int, int]],
    frame: tuple[float, float],
) -> Network:
    """Pairs, at the larger of their couplings, those that differ first; and a place for each of their spins."""
    names, (J_a, J_b) = comparison.names, comparison.couplings
    shown = []
    for i, j in pairs:
        J = max(float(J_a[i, j]), float(J_b[i, j]), key=abs)
        shown.append(Coupling(i, j, names[i], names[j], J, 0.0, 1.0))
    shown.sort(key=lambda c: ((c.i, c.j) not in differing, -abs(c.J), c.i, c.j))
    return network_of(shown[:_MOST], frame)


def _draw(ax: Axes, network: Network, c: Coupling, differs: bool, there: bool, largest: float) -> None:
    if not (differs or there):
        return
    at = {spin: place for place, spin in enumerate(network.names)}
    negative, positive = sign_colours(ax)
    width = max(WIDEST * abs(c.J) / largest, THINNEST)
    look: dict[str, Any]
    if differs and there:
        look = {"color": positive if c.J > 0 else negative, "linewidth": width, "zorder": 2.2}
    elif differs:
        look = {"color": text_colour(), "linewidth": 1.2, "linestyle": _DOTS, "zorder": 2.1}
    else:
        look = {"color": text_colour(), "linewidth": max(_SAME * width, THINNEST), "alpha": _FAINT}
    ends = np.array([[at[c.i], at[c.j]]])
    bend = network.bends[[(line.i, line.j) == (c.i, c.j) for line in network.lines]]
    ax.plot(*curves(network.positions, ends, bend)[0].T, solid_capstyle="butt", **look)


def _signs(ax: Axes, comparison: Comparison, differing: set[tuple[int, int]], largest: float) -> list[Line2D]:
    """What widths and colours mean."""
    colours = sign_colours(ax)
    found = [Line2D([], [], color=text_colour(), linewidth=WIDEST, label=f"$|J_{{ij}}|$ = {largest:.2g}")]
    values = [float(J[pair]) for pair in differing for J in comparison.couplings]
    for colour, label, seen in zip(
        colours[::-1],
        ("positive", "negative"),
        (max(values, default=0.0) > 0, min(values, default=0.0) < 0),
        strict=True,
    ):
        if seen:
            found.append(Line2D([], [], color=colour, linewidth=2, label=f"differs, {label}"))
    return found


def _kinds(network: Network, differing: set[tuple[int, int]]) -> list[Line2D]:
    """What grey and dotted lines mean."""
    found = []
    if differing:
        label = "differs, and is there in the other group alone"
        found.append(Line2D([], [], color=text_colour(), linewidth=1.2, linestyle=_DOTS, label=label))
    if any((c.i, c.j) not in differing for c in network.edges):
        label = "not shown to differ" if differing else "no coupling differs"
        found.append(Line2D([], [], color=text_colour(), linewidth=1.2, alpha=_FAINT, label=label))
    return found


def _legend(ax: Axes, handles: list[Line2D]) -> None:
    ax.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=len(handles),
        fontsize="small",
        frameon=False,
    )
