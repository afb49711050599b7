"""A picture of how honest probabilities of edges are, and how well edges are found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from coupling_data import mean_by
from edge_recovery import FEW, SPARSE, reliability
from front import Row, grouped


def graphs_picture(rows: list[Row], path: Path) -> None:
    """Share of edges over their probability, for each N; F1 over N by every rule, the mean of all kinds."""
    figure = Figure(figsize=(9.2, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot([0, 1], [0, 1], color="0.8", zorder=0)
    ours = [row for row in rows if row["rule"] == SPARSE]
    for (N,), here in grouped(ours, "N").items():
        pairs, said, true = reliability(here)
        enough = pairs >= FEW
        error = np.sqrt(true * (1 - true) / np.maximum(pairs, 1))
        left.errorbar(
            said[enough],
            true[enough],
            error[enough],
            fmt="o-",
            markersize=4,
            linewidth=1,
            capsize=2,
            label=f"N = {N}",
        )
    left.set(xlabel="probability of an edge", ylabel="share that are edges", aspect="equal")
    left.legend(fontsize="small")
    means = mean_by(rows, "F1", "N", "rule")
    for rule in dict.fromkeys(row["rule"] for row in rows):
        points = {int(N): value for (N, name), value in means.items() if name == rule}
        style = "o-" if rule == SPARSE else "o:"
        right.plot(list(points), list(points.values()), style, markersize=4, label=rule)
    right.set(xscale="log", xlabel="samples N", ylabel="F1 of the edges", ylim=(0, 1))
    sizes = sorted({int(row["N"]) for row in rows})
    right.set_xticks(sizes, [str(N) for N in sizes], minor=False)
    right.minorticks_off()
    right.legend(fontsize="small")
    figure.savefig(path, dpi=110)
