"""The pictures of a report, each for light and for dark pages, as data: URIs.

SVG with text as paths looks the same everywhere; where it is large, a PNG takes its place. Pictures with many names
are drawn a second time for narrow screens, with fewer of them.
"""

from __future__ import annotations

import base64
import io
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import matplotlib as mpl
from cycler import cycler
from joblib import Parallel, delayed
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image as PNG  # which matplotlib needs, too

from .. import plots
from ..boltzmann_machine import BoltzmannMachine
from . import words
from .analysis import Analysis, Watch

Draw = Callable[[Axes], Axes]

_LARGEST_SVG = 100_000  # bytes
_DPI, _PALETTE = 200, 128  # of a PNG
_NARROW = 4.0  # inches
EDGES, FEW_EDGES = 40, 16  # of the network, and on a narrow screen
LARGEST_MATRIX = 4000  # spins
_LARGE, _MANY = 150, 1000  # spins of a matrix, and points, that are too many for an SVG

_COLOURS = {
    # page, ink, lines, and a cycle whose first colours are told apart with any kind of colour vision
    "light": ("#ffffff", "#1c2430", "#8a94a3", ("#1f5fa8", "#c2540a", "#3f7d4e", "#7a4a9c")),
    "dark": ("#14181f", "#e4e8ee", "#7c8798", ("#7fb2ee", "#f0975a", "#86c995", "#c39ee0")),
}


@dataclass(frozen=True)
class Image:
    """A picture for one kind of page: its data: URI, and its size in CSS pixels."""

    uri: str
    width: int
    height: int


@dataclass(frozen=True)
class Picture:
    """A picture for light and dark, and for narrow screens if they get another; what is seen, and what it means."""

    key: str
    light: Image
    dark: Image
    narrow: tuple[Image, Image] | None
    alt: str
    caption: str


def style(scheme: str) -> dict[str, Any]:
    """Settings of matplotlib for light or dark pages."""
    page, ink, lines, cycle = _COLOURS[scheme]
    return {
        "figure.facecolor": page,
        "axes.facecolor": page,
        "savefig.facecolor": page,
        "text.color": ink,
        "axes.labelcolor": ink,
        "axes.edgecolor": lines,
        "axes.linewidth": 0.7,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.prop_cycle": cycler(color=cycle),
        "axes.labelsize": 9,
        "xtick.color": lines,
        "ytick.color": lines,
        "xtick.labelcolor": ink,
        "ytick.labelcolor": ink,
        "xtick.labelsize": 8,
        "ytick.labelsize": 8,
        "font.size": 9,
        "legend.fontsize": 8,
        "legend.framealpha": 0.85,  # lines behind it do not cross its letters
        "legend.edgecolor": page,
        "lines.linewidth": 1.6,
        "savefig.dpi": _DPI,
        "svg.fonttype": "path",
        "svg.hashsalt": "bayesing",  # the same picture is the same file
    }


@dataclass(frozen=True)
class Sketch:
    """A picture to be drawn: who draws it, at what size in inches, and for narrow screens."""

    key: str
    draw: Draw
    alt: str
    caption: str
    size: tuple[float, float] = (4.7, 3.7)
    narrow: Draw | None = None
    many: bool = False  # marks or letters: too many for SVG, without trying

    def tasks(self) -> Iterator[tuple[Draw, tuple[float, float], str, bool]]:
        """What to draw, at what size, for which scheme, and whether as PNG."""
        for scheme in _COLOURS:
            yield self.draw, self.size, scheme, self.many
        if self.narrow is not None:
            for scheme in _COLOURS:
                yield self.narrow, (_NARROW, _NARROW / self.size[0] * self.size[1]), scheme, self.many


def pictures(a: Analysis, watch: Watch | None = None) -> list[Picture]:
    """All that can be drawn of these data, in the order of the report; in parallel, where joblib is told so."""
    planned = list(sketches(a))
    tasks = [task for sketch in planned for task in sketch.tasks()]
    drawings = []
    for image in Parallel(return_as="generator")(delayed(render)(*task) for task in tasks):
        drawings.append(image)
        if watch:
            watch.advance(len(drawings), len(tasks))
    images = iter(drawings)
    found = []
    for sketch in planned:
        drawn = [next(images) for _ in sketch.tasks()]
        narrow = (drawn[2], drawn[3]) if sketch.narrow else None
        found.append(Picture(sketch.key, drawn[0], drawn[1], narrow, sketch.alt, sketch.caption))
    return found


def sketches(a: Analysis) -> Iterator[Sketch]:
    """What there is to draw."""
    yield from _of_strength(a)
    if a.bm is not None:
        yield from _of_couplings(a.bm)
    if a.held_out is None:
        return
    prediction = a.held_out.prediction
    for key, order, noun in (("pairs", 2, "Pair"), ("triplets", 3, "Triplet")):
        if len(prediction.of(order).observed):
            yield Sketch(
                key,
                partial(plots.predicted_correlations, prediction=prediction, order=order),
                words.prediction_seen(prediction.of(order)),
                f"{noun} correlations of samples that the model has not seen, against its predictions. A perfect "
                "model scatters around the diagonal by as much as the cross shows.",
                many=len(prediction.of(order).observed) > _MANY,
            )


def _of_strength(a: Analysis) -> Iterator[Sketch]:
    eb = a.eb
    if eb.method_ == "spectral":
        yield Sketch(
            "evidence",
            partial(plots.evidence_curve, eb=eb),
            words.evidence_seen(a),
            "The log evidence of each strength of the couplings. The estimate lies a little above the maximum: it is "
            "corrected for what the evidence leaves out.",
        )
    elif eb.method_ == "plefka":
        yield Sketch(
            "evidence",
            partial(plots.evidence_surface, eb=eb),
            words.evidence_seen(a),
            "The log evidence of each strength of the couplings and each field, relative to its maximum.",
        )
    bars = f"{100 * a.interval.level:g}% intervals" if a.interval else "standard errors"
    yield Sketch(
        "phases",
        partial(plots.phase_diagram, eb=eb, interval=a.interval),
        words.phases_seen(a),
        f"The data set among the phases of a model with many random couplings. Bars are {bars}.",
    )
    if a.eigenvalues is not None:
        gamma = eb.gamma_ if words.known(eb) and eb.at_distance_ > 0 else None
        yield Sketch(
            "spectrum",
            partial(plots.correlation_spectrum, spins=a.source.spins, gamma=gamma),
            words.spectrum_seen(a),
            "Eigenvalues of the correlations. Independent spins would follow the solid curve; what lies beyond the "
            "dotted line is no accident.",
        )


def _of_couplings(bm: BoltzmannMachine) -> Iterator[Sketch]:
    n = bm.n_features_in_
    if n <= LARGEST_MATRIX:
        yield Sketch(
            "matrix",
            partial(plots.coupling_matrix, bm=bm, max_names=60),
            words.matrix_seen(bm),
            "All couplings. Spins are ordered by a clustering, so that groups that act together form blocks.",
            (6.6, 7.0),
            partial(plots.coupling_matrix, bm=bm, max_names=24),
            many=n > _LARGE,
        )
    yield Sketch(
        "network",
        partial(plots.coupling_network, bm=bm, k=EDGES),
        words.network_seen(bm, EDGES),
        "The strongest couplings. Lines are as wide as couplings are strong; dashed ones are within two standard "
        "errors of 0.",
        (7.0, 7.0),
        partial(plots.coupling_network, bm=bm, k=FEW_EDGES),
        many=True,
    )


def render(draw: Draw, size: tuple[float, float], scheme: str, as_png: bool = False) -> Image:
    """Draw once, as SVG or, where that is large, as PNG."""
    settings: dict[Any, Any] = {**mpl.rcParamsDefault}
    settings |= style(scheme)
    with mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # names in scripts that the font lacks: the table has them
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        data = b"" if as_png else compact(_saved(figure, "svg"))
        as_png = as_png or len(data) > _LARGEST_SVG
        if as_png:
            data = _saved(figure, "png")
    kind = "png" if as_png else "svg+xml"
    uri = f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
    return Image(uri, round(96 * size[0]), round(96 * size[1]))


def compact(svg: bytes) -> bytes:
    """Without comments, metadata (a date), line breaks and the thousandths of a point: the same picture in short."""
    text = svg.decode()
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    # Not below 1: those are scales of letters.
    text = re.sub(r"(?<![\d.])[1-9]\d*\.\d{3,}", lambda found: f"{float(found[0]):.2f}", text)
    text = re.sub(r">\s+<", "><", text)
    return re.sub(r"\s+", " ", text).encode()


def _saved(figure: Figure, kind: str) -> bytes:
    """As SVG, or as PNG in a palette of colours."""
    file = io.BytesIO()
    figure.savefig(file, format=kind)
    if kind == "svg":
        return file.getvalue()
    small = io.BytesIO()
    with PNG.open(file) as image:
        image.convert("RGB").quantize(_PALETTE, dither=PNG.Dither.NONE).save(small, "png")
    return small.getvalue()
