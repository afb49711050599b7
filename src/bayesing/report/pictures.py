"""The pictures of a report, each for light and for dark pages, as data: URIs.

SVG with text as paths looks the same everywhere; where it is large, a PNG takes its place. Pictures with many names are
drawn a second time for narrow screens, with fewer of them.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .. import plots
from ..plots._spectrum import largest_of_noise
from ..spectrum import spectrum_of
from . import words
from .analysis import Analysis

Draw = Callable[[Axes], Any]

_LARGEST_SVG = 150_000  # bytes
_DPI = 200
_EDGES, _FEW_EDGES = 40, 18  # of the network, and on a narrow screen
_LARGEST_MATRIX = 4000  # spins
_LARGEST_SPECTRUM = 5000

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
        "legend.frameon": False,
        "lines.linewidth": 1.6,
        "savefig.dpi": _DPI,
        "svg.fonttype": "path",
        "svg.hashsalt": "bayesing",  # the same picture is the same file
    }


def pictures(a: Analysis) -> Iterator[Picture]:
    """All that can be drawn of these data, in the order of the report."""
    eb, bm = a.eb, a.bm
    if eb.method_ == "spectral":
        curve = "The log evidence of each strength of the couplings. The estimate lies a little above the maximum: it is corrected for what the evidence leaves out."
        yield _picture("evidence", lambda ax: plots.evidence_curve(ax, eb, J_true=a.source.J_true), words.evidence_seen(a), curve)
    elif eb.method_ == "plefka":
        yield _picture("evidence", lambda ax: plots.evidence_surface(ax, eb), words.evidence_seen(a), "The log evidence of each strength of the couplings and each field, relative to its maximum.")
    bars = f"{100 * a.interval.level:g}% intervals" if a.interval else "standard errors"
    yield _picture("phases", lambda ax: plots.phase_diagram(ax, eb, a.interval), words.phases_seen(a),
        f"The data set among the phases of many random couplings. Bars are {bars}.")
    if min(a.n, a.N) <= _LARGEST_SPECTRUM:
        spectrum = spectrum_of(a.source.spins)[0]
        edge = largest_of_noise(round(spectrum.n), spectrum.nu)
        gamma = eb.gamma_ if words.known(eb) and eb.at_distance_ > 0 else None
        shown = spectrum.d[: min(round(spectrum.n), int(spectrum.nu))] if spectrum.nu < spectrum.n else spectrum.d
        yield _picture("spectrum", lambda ax: plots.correlation_spectrum(ax, a.source.spins, gamma), words.spectrum_seen(shown.tolist(), edge),
          "Eigenvalues of the correlations. Independent spins would follow the solid curve; what lies beyond the dotted line is no accident.")
    if a.n <= _LARGEST_MATRIX:
        yield _picture("matrix", lambda ax: plots.coupling_matrix(ax, bm, 60), words.matrix_seen(a),
            "All couplings. Spins are ordered by a clustering, so that groups that act together form blocks.", (7.2, 6.6),
            lambda ax: plots.coupling_matrix(ax, bm, 24))
    yield _picture("network", lambda ax: plots.coupling_network(ax, bm, _EDGES), words.network_seen(a, _EDGES),
        "The strongest couplings. Lines are as wide as the couplings are strong; dashed ones are within two standard errors of 0.", (7.2, 7.4),
            lambda ax: plots.coupling_network(ax, bm, _FEW_EDGES))
    if a.held_out is not None:
        prediction = a.held_out.prediction
        for key, order, noun in (("pairs", 2, "Pair"), ("triplets", 3, "Triplet")):
            if len(prediction.of(order).observed):
                yield _picture(key, lambda ax, order=order: plots.predicted_correlations(ax, prediction, order), words.prediction_seen(prediction.of(order)),
                    f"{noun} correlations of samples that the model has not seen, against its predictions. A perfect model scatters around the diagonal by as much as the cross shows.")


def _picture(key: str, draw: Draw, alt: str, caption: str, size: tuple[float, float] = (4.7, 3.7), narrow: Draw | None = None) -> Picture:
    light, dark = (_image(draw, size, scheme) for scheme in _COLOURS)
    small = None
    if narrow is not None:
        share = 4.0 / size[0]
        first, second = (_image(narrow, (4.0, share * size[1]), scheme) for scheme in _COLOURS)
        small = first, second
    return Picture(key, light, dark, small, alt, caption)


def _image(draw: Draw, size: tuple[float, float], scheme: str) -> Image:
    with mpl.rc_context({**mpl.rcParamsDefault, **style(scheme)}):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        # Without a date and a creator the same data give the same bytes.
        vector = _saved(figure, "svg", {"Date": None, "Creator": None, "Format": None, "Type": None})
        vector = re.sub(rb"\s*<metadata>.*?</metadata>", b"", vector, flags=re.DOTALL)
        kind, data = "svg+xml", vector
        if len(vector) > _LARGEST_SVG:
            kind, data = "png", _saved(figure, "png", {"Software": None})
    uri = f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
    return Image(uri, round(96 * size[0]), round(96 * size[1]))


def _saved(figure: Figure, kind: str, metadata: dict[str, None]) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format=kind, metadata=metadata)
    return file.getvalue()
