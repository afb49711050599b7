"""All couplings at a glance, and the order of the spins that shows what belongs together."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.sparse.linalg import eigsh
from scipy.spatial.distance import squareform

from ..boltzmann_machine import BoltzmannMachine
from ..types import Array, Indices
from ._style import diverging, name_of, size_in_points

_MARGIN = 1.05  # lambda over the largest eigenvalue of J: above 1, so that the inverse is positive
_LEAST_LAMBDA = (
    1e-3  # in units of the strongest coupling: lambda stays positive where all couplings are negative
)
_MOST_OPTIMAL = 1000  # spins: an optimal order of the leaves takes seconds beyond
_MOST_CLUSTERED = 3000  # spins: the clustering itself takes seconds beyond
_MOST_PIXELS = 600  # a side: more are not told apart in a picture of 6 inches
_PERCENTILE = 98.0  # of absolute couplings, where colours end: one strong pair does not fade the others
_LINE_HEIGHT = 1.25  # of a line of text, in units of the font's size
_FONT = 7.0  # points, of the names
_LONGEST_NAME = 16  # letters: an inch of this font
_LONG_NAME = 30  # letters, beside the rows of a matrix that is wide
_WIDE = 300.0  # points, of such a matrix


def coupling_matrix(
    ax: Axes, bm: BoltzmannMachine, max_names: int = 60, order: Indices | None = None
) -> Axes:
    """The matrix of couplings, with spins that belong together side by side.

    The order is that of a hierarchical clustering (average linkage) of what the couplings do rather than of the
    couplings themselves: the similarity of two spins is their correlation in mean-field theory, the sum over all
    paths between them, (lambda - J)^-1 with its diagonal made 1, lambda a little above the largest eigenvalue of J.
    Members of a group need not be coupled directly, and in a sparse matrix most are not. Above 3000 spins they are
    ordered by the leading eigenvector of J. Neighbours in this order are coupled positively even where all couplings
    are noise: it takes blocks to speak of groups.

    Red is positive, blue negative, and colours end at the 98th percentile of absolute values, as the colour bar
    says, so that one strong pair does not fade the rest. More than 600 spins are averaged to fewer pixels. Names are
    written for at most ``max_names`` spins; where they do not fit, those of every second, third, ... row.

    ``order`` is that of the spins, where it is known already: what :func:`order_of` gives by default.
    """
    J = bm.couplings_
    return draw_matrix(ax, J, bm.names(), order_of(J) if order is None else order, max_names)


def draw_matrix(ax: Axes, J: Array, names: Sequence[str], order: Indices, max_names: int) -> Axes:
    """The picture of :func:`coupling_matrix`, of couplings, names and an order."""
    n = len(J)
    shown, factor = _reduced(J[np.ix_(order, order)])
    limit, clipped = _colour_limit(shown)
    extent = (-0.5, n - 0.5, n - 0.5, -0.5)
    image = ax.imshow(shown, cmap=diverging(ax), vmin=-limit, vmax=limit, extent=extent, interpolation="none")
    bar = ax.figure.colorbar(
        image, ax=ax, extend="both" if clipped else "neither", location="bottom", fraction=0.05
    )
    averaged = f", means of {factor} × {factor}" if factor > 1 else ""
    ends = f" (colours end at the {_PERCENTILE:g}th percentile)" if clipped else ""
    bar.set_label(f"coupling $J_{{ij}}${averaged}{ends}")
    _write_names(ax, [names[i] for i in order], max_names)
    return ax


def order_of(J: Array) -> Indices:
    """Spins in an order in which similar ones are neighbours; as they are where there are no couplings.

    It is that of :func:`coupling_matrix`, which explains it, for a symmetric matrix of couplings J.
    """
    n = len(J)
    if n < 3 or not J.any():
        return np.arange(n)
    (top,), vector = eigsh(J, k=1, which="LA", v0=np.full(n, 1.0) + np.arange(n) / n)
    if n > _MOST_CLUSTERED:
        return np.argsort(vector[:, 0])
    similarity = np.linalg.inv(max(top, _LEAST_LAMBDA * float(np.abs(J).max())) * _MARGIN * np.eye(n) - J)
    size = np.sqrt(np.diagonal(similarity))
    distance = np.clip(1 - similarity / np.outer(size, size), 0, 2)
    np.fill_diagonal(distance, 0.0)
    condensed = squareform((distance + distance.T) / 2, checks=False)
    tree = linkage(condensed, "average")
    if n <= _MOST_OPTIMAL:
        tree = optimal_leaf_ordering(tree, condensed)
    return np.asarray(leaves_list(tree), dtype=np.intp)


def _colour_limit(shown: Array) -> tuple[float, bool]:
    """The coupling of the strongest colour, and whether some are stronger."""
    limit = float(np.percentile(np.abs(shown[np.triu_indices(len(shown), 1)]), _PERCENTILE))
    largest = float(np.abs(shown).max())
    limit = limit or largest or 1.0
    return limit, largest > limit


def _reduced(J: Array) -> tuple[Array, int]:
    """The matrix, or means of its blocks; how many couplings a side."""
    n = len(J)
    factor = math.ceil(n / _MOST_PIXELS)
    if factor == 1:
        return J, 1
    starts = np.arange(0, n, factor)
    sums = np.add.reduceat(np.add.reduceat(J, starts, axis=0), starts, axis=1)
    sizes = np.diff(np.append(starts, n))
    return sums / np.outer(sizes, sizes), factor


def _write_names(ax: Axes, names: list[str], max_names: int) -> None:
    n = len(names)
    room = min(size_in_points(ax)) / n  # per spin
    every = max(1, math.ceil(_LINE_HEIGHT * _FONT / room), math.ceil(n / max(max_names, 1)))
    ticks = range(every // 2, n, every)
    labels = [name_of(names[i], _LONGEST_NAME) for i in ticks]
    longest = _LONG_NAME if min(size_in_points(ax)) >= _WIDE else _LONGEST_NAME
    ax.set_yticks(ticks, [name_of(names[i], longest) for i in ticks], fontsize=_FONT)
    ax.set_xticks(ticks if every == 1 else [], labels if every == 1 else [], fontsize=_FONT, rotation=90)
    ax.tick_params(length=2 if every > 1 else 0)
    ax.set_xlabel("spins, clustered" + (f" (1 name in {every})" if every > 1 else ""))
