"""Pictures that commands write."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..differences import Comparison

_KINDS = (".png", ".svg")
_SIZE = (10.0, 5.2)  # inches, of two networks side by side


def check_picture(path: str, force: bool, others: Sequence[str]) -> None:
    """Raise a ValueError unless ``path`` can be written, and is a .png or an .svg file that is none of the others."""
    from ..files import check_output

    kind = os.path.splitext(path)[1].lower()
    if kind not in _KINDS:
        raise ValueError(
            f"{path}: expected the name of a picture to write that ends in {' or '.join(_KINDS)}."
        )
    if any(os.path.abspath(path) == os.path.abspath(other) for other in others):
        raise ValueError(f"{path}: expected a file of its own for the picture. Choose another name.")
    check_output(path, force)


def draw_comparisons(path: str, found: Sequence[Comparison], fdr: float, force: bool) -> None:
    """A row of two networks for each comparison."""
    import warnings

    import matplotlib as mpl
    from matplotlib.figure import Figure

    from ..files import writing
    from ..plots import compared_networks
    from ..report.drawing import style

    settings: dict[Any, Any] = {**mpl.rcParamsDefault}
    settings |= style("light")
    with mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # names in scripts that the font lacks: the table has them
        figure = Figure(figsize=(_SIZE[0], _SIZE[1] * len(found)), layout="constrained")
        for axes, comparison in zip(figure.subplots(len(found), 2, squeeze=False), found, strict=True):
            compared_networks(axes, comparison, fdr)
        with writing(path, force) as file:
            figure.savefig(file, format=os.path.splitext(path)[1].lower()[1:])
