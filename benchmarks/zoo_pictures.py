"""Pictures of what is found in data of many kinds."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from front import Row, grouped


def points(ax: Axes, x: list[float], y: list[float], rows: list[Row], believed: str, colour: str) -> None:
    """A dot for each row, hollow where the column ``believed`` is 0."""
    faces = ["none" if row[believed] == "0" else colour for row in rows]
    ax.scatter(x, y, s=22, facecolors=faces, edgecolors=colour, linewidths=1.2)


def kinds_picture(rows: list[Row], path: Path) -> None:
    """Found J over the true one, and active units in samples over those in the data; hollow where in doubt."""
    figure = Figure(figsize=(11, 6), layout="constrained")
    left, right = figure.subplots(1, 2)
    colours = {group: f"C{k}" for k, (group,) in enumerate(grouped(rows, "group"))}
    known = [row for row in rows if row["true_J"] != ""]
    most = 1.1 * max((float(row["true_J"]) for row in known), default=1.0)
    left.fill_between([0, most], [0, 0.85 * most], [0, 1.15 * most], color="0.92", zorder=0)
    for (group,), here in grouped(known, "group").items():
        truth = [float(row["true_J"]) for row in here]
        points(left, truth, [float(row["J"]) for row in here], here, "trusted", colours[group])
        left.plot([], [], "o", color=colours[group], label=group)
    left.set(xlabel="true J", ylabel="found J; hollow: not trusted", ylim=(-0.05, 1.5 * most))
    left.legend(fontsize="small")
    kinds = grouped(rows, "kind")
    right.axvspan(0.95, 1.05, color="0.92", zorder=0)
    for place, here in enumerate(kinds.values()):
        ratio = [float(row["K"]) / float(row["K_in_data"]) for row in here]
        points(right, ratio, [place] * len(here), here, "passed", colours[here[0]["group"]])
    right.set(xlabel="active units in samples / in data; hollow: not passed", ylim=(len(kinds) - 0.5, -0.5))
    right.set_xscale("log")  # bursts are far away
    right.set_yticks(range(len(kinds)), [name for (name,) in kinds], fontsize="small")
    figure.savefig(path, dpi=110)
