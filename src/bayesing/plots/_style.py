"""What the pictures have in common: colours that suit the background, names as they are written, notes."""

from __future__ import annotations

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap, to_hex, to_rgba

from ..texts import visible

_LONGEST = 24  # letters of a name

# From strong to weak, as in ColorBrewer's RdBu, which readers with any kind of colour vision tell apart.
_ON_LIGHT = ("#053061", "#2166ac", "#92c5de"), ("#f4a582", "#b2182b", "#67001f")
_ON_DARK = ("#d1e5f0", "#6baed6", "#1f5a94"), ("#a03020", "#f08a62", "#fddbc7")


def text_colour() -> str:
    """The colour of the style's text."""
    return str(mpl.rcParams["text.color"])


def background(ax: Axes) -> tuple[float, float, float]:
    """What lies behind the picture; behind a transparent one, black or white, whichever the text is not."""
    for colour in (ax.get_facecolor(), ax.figure.get_facecolor()):
        red, green, blue, opacity = to_rgba(colour)
        if opacity > 0.5:
            return red, green, blue
    return (0.0, 0.0, 0.0) if _lightness(to_rgba(text_colour())[:3]) > 0.5 else (1.0, 1.0, 1.0)


def diverging(ax: Axes) -> Colormap:
    """Blue below 0, red above, and 0 in the colour of the background: what is not there is not seen."""
    low, high = _ON_DARK if _lightness(background(ax)) < 0.5 else _ON_LIGHT
    return LinearSegmentedColormap.from_list("diverging", [*low, to_hex(background(ax)), *high])


def sign_colours(ax: Axes) -> tuple[str, str]:
    """Colours of what is negative and of what is positive, the same as in :func:`diverging`."""
    low, high = _ON_DARK if _lightness(background(ax)) < 0.5 else _ON_LIGHT
    return low[1], high[1]


def cause_colour(ax: Axes) -> str:
    """Of common causes: amber, which is told from red and from blue with any kind of colour vision."""
    return "#f2b84b" if _lightness(background(ax)) < 0.5 else "#a86f00"


def name_of(name: str, longest: int = _LONGEST) -> str:
    """A name as it is written: no formula where it has dollar signs, one line, and not too long."""
    line = visible(" ".join(name.split()))
    if len(line) > longest:
        line = line[: longest - 1].rstrip() + "…"
    return line.replace("$", r"\$")


def note(ax: Axes, text: str) -> None:
    """A sentence in the middle of a picture that has nothing else to show."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", wrap=True)


def size_in_points(ax: Axes) -> tuple[float, float]:
    """Width and height of the axes as they are now, which a layout may still change a little."""
    box = ax.get_window_extent()
    return box.width * 72 / ax.figure.dpi, box.height * 72 / ax.figure.dpi


def _lightness(rgb: tuple[float, ...]) -> float:
    return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]
