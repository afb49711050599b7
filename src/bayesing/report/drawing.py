"""Drawing for light and for dark pages: SVG with text as paths, which looks the same everywhere, or PNG."""

from __future__ import annotations

import base64
import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image as PNG  # which matplotlib needs, too

Draw = Callable[[Axes], Axes]
Size = tuple[float, float]  # inches

_LARGEST_SVG = 100_000  # bytes: a PNG is smaller then
_DPI = 200  # of a PNG: sharp on paper and on fine screens
_PALETTE = 128  # colours of a PNG: no step is seen
_CSS_PIXELS = 96  # per inch

# page, ink, lines, and a cycle whose first colours are told apart with any kind of colour vision
_COLOURS = {
    "light": ("#ffffff", "#1c2430", "#8a94a3", ("#1f5fa8", "#c2540a", "#3f7d4e", "#7a4a9c")),
    "dark": ("#14181f", "#e4e8ee", "#7c8798", ("#7fb2ee", "#f0975a", "#86c995", "#c39ee0")),
}
SCHEMES = tuple(_COLOURS)


@dataclass(frozen=True)
class Image:
    """A drawing for one kind of page: its data: URI, and its size in CSS pixels."""

    uri: str
    width: int
    height: int


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


def render(draw: Draw, size: Size, scheme: str, as_png: bool = False) -> Image:
    """Draw once, as SVG or, where that is large, as PNG."""
    with _canvas(size, scheme) as (figure, ax), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # names in scripts that the font lacks: the table has them
        draw(ax)
        data = b"" if as_png else compact(_saved(figure, "svg"))
        as_png = as_png or len(data) > _LARGEST_SVG
        if as_png:
            data = _saved(figure, "png")
    kind = "png" if as_png else "svg+xml"
    uri = f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
    return Image(uri, round(_CSS_PIXELS * size[0]), round(_CSS_PIXELS * size[1]))


@contextmanager
def _canvas(size: Size, scheme: str) -> Iterator[tuple[Figure, Axes]]:
    """A figure with empty axes in the style of a scheme, whatever the settings of matplotlib are."""
    settings: dict[Any, Any] = {**mpl.rcParamsDefault}
    settings |= style(scheme)
    with mpl.rc_context(settings):
        figure = Figure(figsize=size, layout="constrained")
        yield figure, figure.subplots()


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
