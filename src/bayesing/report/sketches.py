"""What there is to draw of an analysis. What costs time is found here once, for all versions of a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from .. import plots
from ..plots._couplings import draw_matrix
from ..plots._evidence import curve_of, draw_curve, draw_surface, surface_of
from ..plots._likeness import draw_moments
from ..plots._time import draw_autocorrelation, draw_means
from . import seen
from .analysis import Analysis
from .answer import known
from .couplings import InferredCouplings
from .drawing import SCHEMES, Draw, Size

_PLOT = (4.7, 3.7)  # inches: two side by side
_THIRD = (3.3, 2.9)  # inches: three side by side
_MATRIX = (6.6, 7.0)  # inches: the width of the text
_NARROW = 4.0  # inches: the width of a telephone
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
    yield from _of_likeness(a)
    yield from _of_time(a)
    if a.couplings is not None and a.couplings.any:
        yield from _of_couplings(a.couplings, a.names)
    yield from _of_prediction(a)
    yield from _of_strength(a)


def _of_likeness(a: Analysis) -> Iterator[Sketch]:
    found = a.likeness
    if found is None:
        return
    draw = partial(
        plots.active_counts,
        data=found.active[0],
        model=found.active[1],
        independent=found.active[2],
        n_data=found.n_data,
    )
    yield Sketch(
        "active",
        View(draw, _THIRD, seen.active_seen(found)),
        "How many variables are active at once. Bars are standard errors of the data.",
    )
    for key, moments, what, of in (
        ("means", found.means, "mean", "variable"),
        ("correlations", found.pairs, "pair correlation", "pair"),
    ):
        if len(moments):
            yield Sketch(
                key,
                View(
                    partial(draw_moments, pairs=moments, what=what), _THIRD, seen.moments_seen(moments, what)
                ),
                f"The {what} of every {of}. Points of a good fit lie on the line.",
                many=len(moments) > _MANY_POINTS,
            )


def _of_time(a: Analysis) -> Iterator[Sketch]:
    """How long rows remember, and means over time, where rows are in an order that matters or is said to."""
    found = a.order
    if found is None or not (a.choices.series or found.remembers or found.drifts):
        return
    if found.remembers:
        memory = a.source.data.memory
        yield Sketch(
            "memory",
            View(partial(draw_autocorrelation, memory=memory), _PLOT, seen.memory_seen(memory)),
            "The correlation of rows that are so far apart, the mean over the variables. Below the dotted line rows "
            "have forgotten.",
        )
    if found.means is not None:
        drifts = " They drift." if found.drifts else ""
        yield Sketch(
            "time",
            View(partial(draw_means, means=found.means, N=a.N), _PLOT, seen.time_seen(found)),
            "The mean of all variables over the rows in their order (thick), and those of the variables that change "
            f"most.{drifts}",
        )


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
            "All couplings, edges or not. Variables are ordered by a clustering: groups form blocks.",
            View(partial(draw, max_names=_FEW_NAMES), _narrow(_MATRIX), alt),
            many=len(names) > _MANY_SPINS,
        )


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
                f"{noun} correlations of samples that the model has not seen, against its predictions. Those of a "
                "perfect model scatter around the diagonal by as much as the cross shows.",
                many=len(compared.observed) > _MANY_POINTS,
            )
