r"""Where the spins of a network stand, where their names are written, and how lines go around the names.

**Places.** Coupled spins attract each other and all repel each other. A line of length d pulls with the force
:math:`w d` and two spins push with :math:`1/d`, in units of a typical distance, so that groups with many lines inside
and few between them stand apart (A. Noack, *Energy models for graph clustering*, 2007, is about such forces). Spins
start in the order of a clustering. Then the picture is filled, and boxes around names that overlap go apart.

**Names** stand above, below or beside their points: where fewest lines and other names are.

**Lines** are bent where a straight one would go through a name: a parabola with the least bend that meets none.
"""

from __future__ import annotations

import math

import numpy as np

from ..types import Array, Flags, Indices, Integers
from ._couplings import order_of

_STEPS = 300  # of the forces: nothing moves any more
_PATIENCE = 100  # steps after which names that still overlap are jammed
_OTHER_WAY = 8  # of these steps: in one of them they go the longer way
_LAST_STEP = 0.02  # of the forces, in units of the typical distance
_NEGATIVE = 0.2  # pull of a negative coupling, next to that of a positive one
_PULL = 3.0  # mean pull of all lines of a spin, in units of the push of a neighbour
_EVEN = 0.5  # share of a place that is its rank among others: no part of the picture is empty
_FILLED, _ROOM = 0.45, 1.6  # boxes grow until they fill so much of the picture, or so many times as wide
_GAP = 3.0  # points between a spin and its name
_POINT = 3.0  # points: radius around a spin that no other line should cross
_ON_LINE = 13  # places on a line, between which it is straight
_STILL = 1e-9  # points: a step that is none, and not divided by
_BENDS = tuple(sign * k / 20 for k in range(10) for sign in (1, -1))  # in units of the line's length
_ROUNDS = 3  # of choosing where names stand: each choice depends on others
_TURNS = 4  # of choosing names and bends in turn
_SHRUNK = 1.0  # points by which a line may touch the box of a name
_SIDES = np.array(
    [(0, 1), (0, -1), (1, 0), (-1, 0), (0.8, 1), (-0.8, 1), (0.8, -1), (-0.8, -1)]
    + [(x, y) for x in (1, -1) for y in (0.6, -0.6)]
)
_EASY = np.array(
    [0, 0.1, 0.6, 0.6, 0.8, 0.8, 0.9, 0.9, 1.0, 1.0, 1.1, 1.1]
)  # above is where a name is looked for
_PER_NAME, _PER_POINT, _PER_OVERLAP, _PER_BEND = (
    3.0,
    6.0,
    8.0,
    1.5,
)  # costs, of what a picture should not have


def layout(J: Array, boxes: Array, frame: Array, turn: float = 0.0) -> Array:
    """Positions of spins in a frame of this width and height: coupled ones attract, all repel each other.

    ``boxes`` are the widths and heights that belong to them, which do not overlap in the end if there is room. The
    ellipse of the start is turned by an angle, which leads to another picture of the same network.
    """
    roomy = boxes * float(np.clip(math.sqrt(_FILLED * frame.prod() / boxes.prod(axis=1).sum()), 1.0, _ROOM))
    spread = _moved_apart(_stretched(_relaxed(J, frame, turn), boxes, frame), roomy, frame, _PATIENCE)
    return _moved_apart(spread, boxes, frame, 3 * _STEPS)


def _relaxed(J: Array, frame: Array, turn: float) -> Array:
    """From an ellipse, moved by the forces."""
    m = len(J)
    angle = turn + 2 * math.pi * np.argsort(order_of(J)) / m
    xy: Array = frame / 2 + frame / 3 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    length = math.sqrt(float(frame.prod()) / m)
    weight = np.where(J > 0, J, -_NEGATIVE * J)
    total = float(weight.sum(axis=1).mean())
    weight = weight * (_PULL / total if total > 0 else 0.0)
    centre = frame / 2
    for heat in np.linspace(length, _LAST_STEP * length, _STEPS):
        apart = xy[:, None] - xy
        distance = np.maximum(np.linalg.norm(apart, axis=2), 1e-3 * length)
        force = ((length / distance) ** 2 - weight)[:, :, None] * apart / length
        push = force.sum(axis=1) - 0.3 * (xy - centre) / length
        size = np.maximum(np.linalg.norm(push, axis=1, keepdims=True) * length, 1e-12)
        xy = xy + push * length / size * np.minimum(size, heat)
    return xy


def _moved_apart(xy: Array, boxes: Array, frame: Array, steps: int) -> Array:
    """Boxes that overlap go apart, along the shorter way out; those that are jammed, now and then, the longer one."""
    m = len(xy)
    wide = (boxes[:, None] + boxes) / 2
    for step in range(steps):
        apart = xy[:, None] - xy
        overlap = wide - np.abs(apart)
        touching = (overlap > 0).all(axis=2) & ~np.eye(m, dtype=bool)
        if not touching.any():
            break
        vertical = overlap[:, :, 1] < overlap[:, :, 0]
        if step > _PATIENCE and step % _OTHER_WAY == 0:
            vertical = ~vertical
        way = np.stack([~vertical, vertical], axis=2)
        # Of two at the same place the first goes up.
        sign = np.where(apart == 0, np.triu(np.ones((m, m)), 1)[:, :, None] * 2 - 1, np.sign(apart))
        xy = _inside(xy + (0.5 * sign * overlap * way * touching[:, :, None]).sum(axis=1), boxes, frame)
    return xy


def _inside(xy: Array, boxes: Array, frame: Array) -> Array:
    return np.clip(xy, np.minimum(boxes / 2, frame / 2), np.maximum(frame - boxes / 2, frame / 2))


def _stretched(xy: Array, boxes: Array, frame: Array) -> Array:
    """To the edges of the frame, and more evenly spread."""
    low, high = xy.min(axis=0), xy.max(axis=0)
    edge = boxes.max(axis=0) / 2
    share = np.where(high > low, (xy - low) / np.where(high > low, high - low, 1), 0.5)
    if len(xy) > 2:
        rank = xy.argsort(axis=0, kind="stable").argsort(axis=0) / (len(xy) - 1)
        share = (1 - _EVEN) * share + _EVEN * rank
    return _inside(edge + share * (frame - 2 * edge), boxes, frame)


def written(xy: Array, sizes: Array, lines: Indices, frame: Array) -> tuple[Array, Array]:
    """Middles of names of these widths and heights, and bends of lines, which are pairs of spins (lines, 2)."""
    best, least = (xy, np.zeros(len(lines))), math.inf
    bends = np.zeros(len(lines))
    for _ in range(_TURNS):
        centres = _label_centres(xy, sizes, lines, bends, frame)
        bends = _bends(xy, centres, sizes, lines)
        met = names_met(xy, centres, sizes, lines, bends).sum()
        if met < least:
            best, least = (centres, bends), met
    return best


def _label_centres(xy: Array, sizes: Array, lines: Indices, bends: Array, frame: Array) -> Array:
    """Names stand above, below or beside their points, where fewest lines, points and other names are."""
    m = len(xy)
    reach = sizes / 2 + _GAP
    places = xy[:, None] + reach[:, None] * _SIDES  # spin, side
    path = curves(xy, lines, bends)
    out = ((places - sizes[:, None] / 2 < -1) | (places + sizes[:, None] / 2 > frame + 1)).any(axis=2)
    cost = 50.0 * out + _EASY
    for side in range(len(_SIDES)):
        box = places[:, side]
        cost[:, side] += _PER_NAME * _met(path, box, sizes).sum(axis=0)
        near = (np.abs(box[:, None] - xy) < sizes[:, None] / 2 + _POINT).all(axis=2)
        cost[:, side] += _PER_POINT * (near & ~np.eye(m, dtype=bool)).sum(axis=1)
    chosen = cost.argmin(axis=1)
    room = (sizes[:, None] + sizes) / 2
    for _ in range(_ROUNDS):
        for i in range(m):
            others = places[np.arange(m), chosen]
            overlap = (np.abs(places[i][:, None] - others) < room[i]).all(axis=2)
            overlap[:, i] = False
            chosen[i] = int((cost[i] + _PER_OVERLAP * overlap.sum(axis=1)).argmin())
    return np.asarray(places[np.arange(m), chosen])


def _bends(xy: Array, centres: Array, sizes: Array, lines: Indices) -> Array:
    """The least bend of each line with which it meets fewest names, and points of others."""
    bends = np.zeros(len(lines))
    crossing = np.flatnonzero(_hits(xy, centres, sizes, lines, 0.0))
    if len(crossing):
        some = lines[crossing]
        cost = [_hits(xy, centres, sizes, some, bend) + _PER_BEND * abs(bend) for bend in _BENDS]
        bends[crossing] = np.array(_BENDS)[np.argmin(cost, axis=0)]
    return bends


def _hits(xy: Array, centres: Array, sizes: Array, lines: Indices, bend: float) -> Integers:
    """How many names, and points of others, each line meets if it is bent by so much."""
    path = curves(xy, lines, np.full(len(lines), bend))
    points = _met(path, xy, np.full(xy.shape, 2 * (_POINT + _SHRUNK)))
    points[np.arange(len(lines))[:, None], lines] = False
    return np.asarray(_met(path, centres, sizes).sum(axis=1) + points.sum(axis=1))


def names_met(xy: Array, centres: Array, sizes: Array, lines: Indices, bends: Array) -> Flags:
    """Which lines go through which names (lines, names)."""
    return _met(curves(xy, lines, bends), centres, sizes)


def curves(xy: Array, lines: Indices, bends: Array) -> Array:
    """Places on parabolas between two spins (lines, places, 2)."""
    a, b = xy[lines[:, 0]], xy[lines[:, 1]]
    t = np.linspace(0, 1, _ON_LINE)[None, :, None]
    middle = controls(a, b, bends)[:, None]
    return np.asarray((1 - t) ** 2 * a[:, None] + 2 * t * (1 - t) * middle + t**2 * b[:, None])


def controls(a: Array, b: Array, bends: Array) -> Array:
    """The control points of parabolas from a to b."""
    across = np.stack([a[:, 1] - b[:, 1], b[:, 0] - a[:, 0]], axis=1)
    return np.asarray((a + b) / 2 + bends[:, None] * across)


def _met(path: Array, centres: Array, sizes: Array) -> Flags:
    """Which boxes a path goes through (paths, boxes).

    A path is made of straight pieces, and a piece meets a box if it is between its left and right side, and between
    its lower and upper side, at the same time: places on a path alone would miss names that are flat.
    """
    half = np.maximum(sizes / 2 - _SHRUNK, 0.5)
    enters, leaves = np.zeros(()), np.ones(())  # as shares of the way along a piece
    for k in (0, 1):
        start, step = path[:, :-1, k, None], np.diff(path[:, :, k], axis=1)[:, :, None]
        step = np.where(np.abs(step) < _STILL, _STILL, step)
        one, other = ((centres[:, k] + side * half[:, k] - start) / step for side in (-1, 1))
        enters = np.maximum(enters, np.minimum(one, other))
        leaves = np.minimum(leaves, np.maximum(one, other))
    return np.asarray((enters < leaves).any(axis=1))
