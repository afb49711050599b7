"""What there is to draw of an analysis. What costs time is found here once, for all versions of a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from .. import plots
from ..plots._couplings import draw_matrix
from ..plots._evidence import curve_of, draw_curve, draw_surface, surface_of
from ..plots._network import draw_network, network_of, share_of_lines
from . import seen
from .analysis import Analysis
from .answer import known
from .couplings import STRONGEST, InferredCouplings
from .drawing import SCHEMES, Draw, Size, frame_of
from .format import counted

_PLOT = (4.7, 3.7)  # inches: two side by side
_MATRIX = (6.6, 7.0)  # inches: the width of the text
_NETWORK = (7.0, 7.0)  # inches: likewise, with room for names
_NARROW = 4.0  # inches: the width of a telephone
_FEW_EDGES = 16  # of the network on a narrow screen
_LARGEST_MATRIX = 4000  # spins: 128 megabytes
_MOST_NAMES = 60  # beside a matrix
_FEW_NAMES = 24  # beside a matrix on a narrow screen
_MANY_SPINS = 150  # of a matrix: an SVG would be large
_MANY_POINTS = 1000  # likewise


@dataclass(frozen=True)
class View:
    """One version of a picture to be drawn: who draws it, at what size, and what is seen."""

    draw: Draw
    size: Size
    alt: str


@dataclass(frozen=True)
class Sketch:
    """A picture to be drawn, and what it means; perhaps with a view of its own for narrow screens."""

    key: str
    view: View
    caption: str
    narrow: View | None = None
    many: bool = False  # marks or letters: too many for SVG, without trying

    def tasks(self) -> Iterator[tuple[Draw, Size, str, bool]]:
        """What to draw, at what size, for which scheme, and whether as PNG; wide views first."""
        for view in (self.view, self.narrow):
            if view is not None:
                yield from ((view.draw, view.size, scheme, self.many) for scheme in SCHEMES)


def sketches(a: Analysis) -> Iterator[Sketch]:
    """All of them, in the order of the report."""
    yield from _of_strength(a)
    if a.couplings is not None:
        yield from _of_couplings(a.couplings, a.names)
    yield from _of_prediction(a)


def _of_strength(a: Analysis) -> Iterator[Sketch]:
    eb = a.eb
    if eb.evidence_kind_ == "curve":
        J, curve = curve_of(eb)
        yield Sketch(
            "evidence",
            View(partial(draw_curve, eb=eb, J=J, curve=curve), _PLOT, seen.curve_seen(a, J, curve)),
            "The log evidence of each strength of the couplings. The estimate lies a little above the maximum: it is "
            "corrected for what the evidence leaves out.",
        )
    elif eb.evidence_kind_ == "surface":
        H, J, surface = surface_of(eb)
        yield Sketch(
            "evidence",
            View(partial(draw_surface, eb=eb, H=H, J=J, surface=surface), _PLOT, seen.surface_seen(a)),
            "The log evidence of each strength of the couplings and each field, relative to its maximum.",
        )
    bars = f"{100 * a.interval.level:g}% intervals" if a.interval else "standard errors"
    yield Sketch(
        "phases",
        View(partial(plots.phase_diagram, eb=eb, interval=a.interval), _PLOT, seen.phases_seen(a)),
        f"The data set among the phases of a model with many random couplings. Bars are {bars}.",
    )
    if a.spectrum is not None:
        gamma = eb.gamma_ if known(eb) and eb.diagnosis_.distance > 0 else None
        draw = partial(plots.correlation_spectrum, spins=a.spectrum, gamma=gamma)
        yield Sketch(
            "spectrum",
            View(draw, _PLOT, seen.spectrum_seen(a.spectrum)),
            "Eigenvalues of the correlations. Independent spins would follow the solid curve; what lies beyond the "
            "dotted line is no accident."
            + (" Missing cells were drawn from the fitted model." if a.gaps else ""),
        )


def _of_couplings(found: InferredCouplings, names: tuple[str, ...]) -> Iterator[Sketch]:
    if len(names) <= _LARGEST_MATRIX:
        J = found.machine.couplings_
        draw, alt = partial(draw_matrix, J=J, names=names, order=plots.order_of(J)), seen.matrix_seen(J)
        yield Sketch(
            "matrix",
            View(partial(draw, max_names=_MOST_NAMES), _MATRIX, alt),
            "All couplings. Spins are ordered by a clustering, so that groups that act together form blocks.",
            View(partial(draw, max_names=_FEW_NAMES), _narrow(_MATRIX), alt),
            many=len(names) > _MANY_SPINS,
        )
    yield Sketch(
        "network",
        _network(found, STRONGEST, _NETWORK, names),
        f"{_most(found)}. Lines are as wide as couplings are strong"
        + ("." if found.edges or found.causes else "; dashed ones may be 0, or of the other sign.")
        + (
            " Squares are common causes, with lines to the spins that they load on most." * bool(found.causes)
        ),
        _network(found, _FEW_EDGES, _narrow(_NETWORK), ()),
        many=True,
    )


def _most(found: InferredCouplings) -> str:
    """What the network shows, of how many."""
    if not found.edges:
        return (
            "No coupling between spins is certain beside the common causes"
            if found.causes
            else "The strongest couplings, none of which is certain"
        )
    edges = counted(len(found.edges), "edge")
    drawn, _ = share_of_lines(STRONGEST, len(found.causes), True)
    if min(len(found.shown), drawn) == len(found.edges):
        return f"All {edges} that can be told" if len(found.edges) > 1 else "The one edge that can be told"
    return f"The strongest {min(len(found.shown), drawn)} of {edges} that can be told"


def _network(found: InferredCouplings, edges: int, size: Size, names: tuple[str, ...]) -> View:
    couplings, each = share_of_lines(edges, len(found.causes), bool(found.edges))
    loadings, shown = found.loadings(each), found.shown[:couplings]
    there = {(edge.i, edge.j) for edge in found.edges}
    network = network_of(shown, frame_of(size), there, names, loadings)
    return View(partial(draw_network, network=network), size, seen.network_seen(shown, loadings))


def _narrow(size: Size) -> Size:
    """Of the same shape, for a narrow screen."""
    return _NARROW, _NARROW / size[0] * size[1]


def _of_prediction(a: Analysis) -> Iterator[Sketch]:
    if a.held_out is None:
        return
    prediction = a.held_out.prediction
    for key, order, noun in (("pairs", 2, "Pair"), ("triplets", 3, "Triplet")):
        compared = prediction.of(order)
        if len(compared.observed):
            draw = partial(plots.predicted_correlations, prediction=prediction, order=order)
            yield Sketch(
                key,
                View(draw, _PLOT, seen.prediction_seen(compared)),
                f"{noun} correlations of samples that the model has not seen, against its predictions. A perfect "
                "model scatters around the diagonal by as much as the cross shows.",
                many=len(compared.observed) > _MANY_POINTS,
            )
