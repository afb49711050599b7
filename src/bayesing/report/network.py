"""The network as SVG: lines and names that a style colours and a script may hide, with full names on hover."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..plots._layout import controls
from ..plots._network import THINNEST, WIDEST, Network, network_of, share_of_lines
from ..texts import visible
from . import seen
from .couplings import STRONGEST, InferredCouplings
from .format import chance, counted, number, plus_minus

_WIDE = (700.0, 580.0)  # points, of the picture on a screen or on paper
_NARROW = (340.0, 430.0)  # points: likewise, on a telephone
_FEW_LINES = 16  # on a narrow screen
_DASHED = "maybe"  # class of lines that may be 0


class Line(NamedTuple):
    """A coupling: its path, its width in points, its classes, the probability that it is false, and what it is."""

    path: str
    width: str
    kind: str
    wrong: str
    ends: tuple[int, int]
    title: str


class Dot(NamedTuple):
    """A variable: its place and that of its name, the name as it is written, and what it is in full."""

    number: int
    x: str
    y: str
    text_x: str
    text_y: str
    name: str
    title: str
    is_cause: bool


class Drawing(NamedTuple):
    """One version of the picture: the screen it is for, its size in points, what is drawn, and what is seen."""

    kind: str
    width: str
    height: str
    font: str
    lines: tuple[Line, ...]
    dots: tuple[Dot, ...]
    alt: str


class NetworkPicture(NamedTuple):
    """Both versions, what they mean, and what the widest line stands for."""

    drawings: tuple[Drawing, ...]
    caption: str
    legend: tuple[tuple[str, str], ...]  # classes of a line, and what it means


def network_picture(found: InferredCouplings | None, names: tuple[str, ...]) -> NetworkPicture | None:
    """The strongest couplings that are there; None where there is nothing to draw."""
    if found is None or not (found.any or found.causes):
        return None
    wide = _network(found, STRONGEST, _WIDE, names)
    narrow = _network(found, _FEW_LINES, _NARROW, ())
    if not wide.lines:
        return None
    loadings = tuple(c for c in wide.lines if c.j in wide.causes)
    caption = (
        f"{_most(found, len(wide.edges))}. Lines are as wide as couplings are strong; the widest is "
        f"{number(abs(wide.lines[0].J), 2)}."
        + " Variables of one group stand together: all of them pull, also those that are not drawn."
        * bool(found.edges)
        + (" Dashed lines may be 0, or of the other sign." * (not found.edges and not found.causes))
        + " Squares are common causes, with lines to the variables that they load on most." * bool(loadings)
    )
    drawings = (_drawing(wide, "wide-screen", names), _drawing(narrow, "narrow-screen", names))
    return NetworkPicture(drawings, caption, tuple(_legend(wide)))


def _legend(network: Network) -> Iterator[tuple[str, str]]:
    if any(c.J > 0 for c in network.lines):
        yield "plus", "positive: active together"
    if any(c.J < 0 for c in network.lines):
        yield "minus", "negative: one active, the other not"


def _most(found: InferredCouplings, drawn: int) -> str:
    """What the network shows, of how many."""
    if not found.edges:
        return (
            "No coupling between variables is certain beside the common causes"
            if found.causes
            else "The strongest couplings, none of which is certain"
        )
    what, told = ("edge", "that can be told") if found.is_sparse else ("coupling", "whose sign is clear")
    if drawn == len(found.edges):
        return f"All {counted(drawn, what)} {told}" if drawn > 1 else f"The one {what} {told}"
    return f"The strongest {drawn} of {counted(len(found.edges), what)} {told}"


def _network(
    found: InferredCouplings, lines: int, size: tuple[float, float], names: tuple[str, ...]
) -> Network:
    couplings, each = share_of_lines(lines, len(found.causes), bool(found.edges))
    loadings, shown = found.loadings(each), found.shown[:couplings]
    there = {(edge.i, edge.j) for edge in found.edges}
    return network_of(shown, size, there, names, loadings, found.edges)


def _drawing(network: Network, kind: str, names: tuple[str, ...]) -> Drawing:
    width, height = network.frame
    shown = [c for c in network.edges if c.j not in network.causes]
    alt = seen.network_seen(shown, network.loadings)
    lines, dots = tuple(_lines(network))[::-1], tuple(_dots(network, names))  # the strongest on top
    return Drawing(kind, _short(width), _short(height), _short(network.font), lines, dots, alt)


def _lines(network: Network) -> Iterator[Line]:
    height = network.frame[1]
    a, b = (network.positions[network.ends[:, k]] for k in (0, 1))
    middle = controls(a, b, network.bends)
    largest = abs(network.lines[0].J)
    for c, *places in zip(network.lines, a, middle, b, strict=True):
        (x, y), (u, v), (p, q) = ((_short(x), _short(height - y)) for x, y in places)
        kind = ("plus" if c.J > 0 else "minus") + ("" if network.has(c) else f" {_DASHED}")
        told = f"{visible(c.name_i)} and {visible(c.name_j)}: {plus_minus(c.J, c.error, True)}"
        yield Line(
            f"M{x} {y}Q{u} {v} {p} {q}",
            _short(max(WIDEST * abs(c.J) / largest, THINNEST)),
            kind,
            f"{1 - c.probability:.3g}",
            (c.i, c.j),
            f"{told} (probability {chance(c.probability)})",
        )


def _dots(network: Network, names: tuple[str, ...]) -> Iterator[Dot]:
    height = network.frame[1]
    degree: dict[int, int] = {}
    for c in network.lines:
        for spin in (c.i, c.j):
            degree[spin] = degree.get(spin, 0) + 1
    for spin, (x, y), (u, v) in zip(network.names, network.positions, network.labels, strict=True):
        cause = spin in network.causes
        name = network.names[spin].replace(r"\$", "$")
        full = visible(names[spin]) if spin < len(names) else _full(network, spin, name)
        lines = counted(degree.get(spin, 0), "line")
        yield Dot(
            spin,
            _short(x),
            _short(height - y),
            _short(u),
            _short(height - v),
            name,
            f"{full}, {lines}",
            cause,
        )


def _full(network: Network, spin: int, name: str) -> str:
    """The name of a spin, or of a common cause, as a line has it."""
    for c in network.lines:
        if spin in (c.i, c.j):
            return visible(c.name_i if c.i == spin else c.name_j)
    return name


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
