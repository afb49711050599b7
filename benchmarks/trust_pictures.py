"""Rank histograms with the band of the binomial, and curves of how often what is probable is true."""

from __future__ import annotations

import io
import math
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from bayesing.files import writing

from trust_ranks import Histogram

ACROSS = 4  # panels side by side
COLOURS = 12  # of a picture
HIGHEST = 2.5  # times what is expected, of a bar that is drawn whole


def _save(figure: Figure, path: Path) -> None:
    """A PNG of few colours, which is a third as large."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=72)
    drawn.seek(0)
    with writing(path, force=True) as file:
        Image.open(drawn).convert("RGB").quantize(COLOURS).save(file, format="png", optimize=True)


def draw_histograms(found: dict[tuple[str, str], Histogram], path: Path) -> None:
    """A panel for each: counts relative to a flat histogram, and the band that 99% of all flat bars are in."""
    across = min(ACROSS, len(found))
    down = math.ceil(len(found) / across)
    figure = Figure(figsize=(2.75 * across, 1.75 * down + 0.2), layout="constrained")
    panels = figure.subplots(down, across, sharey=True, squeeze=False).ravel()
    for ax in panels[len(found) :]:
        ax.set_axis_off()
    for ax, ((case, quantity), h) in zip(panels, found.items(), strict=False):
        ends = np.concatenate([[0], np.cumsum(h.shares)])
        low, high = h.band
        ax.stairs(high, ends, baseline=low, fill=True, color="0.85")
        flat = h.words == "flat"
        heights = h.total / (h.number * h.shares)
        ax.stairs(np.minimum(heights, HIGHEST), ends, color="tab:blue" if flat else "tab:red", lw=1.5)
        ax.axhline(1, color="0.5", lw=0.5)
        ax.set(xlim=(0, 1), ylim=(0, HIGHEST), xticks=[0, 0.5, 1])
        ax.tick_params(labelsize=6)
        ax.set_title(
            f"{case.replace('; ', chr(10))}\n{quantity}: {100 * h.inside(0.9)[0]:.1f}% in 90%", fontsize=6.5
        )
    _save(figure, path)


def draw_curves(curves: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]], path: Path) -> None:
    """Share that is true over the probability that is said, with the 99% bar of the binomial."""
    across = min(ACROSS, len(curves))
    down = math.ceil(len(curves) / across)
    figure = Figure(figsize=(2.6 * across, 2.5 * down), layout="constrained")
    panels = figure.subplots(down, across, squeeze=False).ravel()
    for ax in panels[len(curves) :]:
        ax.set_axis_off()
    for ax, (name, (said, true, error)) in zip(panels, curves.items(), strict=False):
        ax.plot([0, 1], [0, 1], color="0.8", zorder=0)
        ax.errorbar(said, true, 2.576 * error, fmt="o-", ms=3, lw=1, capsize=2)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        ax.tick_params(labelsize=6)
        ax.set_title(name.replace("; ", "\n").replace(": ", ":\n"), fontsize=6.5)
    _save(figure, path)
