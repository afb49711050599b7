"""Pictures of what the true likelihood finds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from front import Row, grouped

LABELS = {
    "data": "words",
    "pseudolikelihood": "samples, pseudo-likelihood",
    "likelihood": "samples, likelihood",
}


def active_cells(rows: list[Row], path: Path) -> None:
    """How many cells are active at once: in the data, and in samples of two fits of them."""
    first = next(row for row in rows if row["data"] == "words")
    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    ax = figure.subplots()
    for name, label in LABELS.items():
        p = np.array(first[f"active_{name}"].split(), dtype=float)
        style = {"color": "0.75", "linewidth": 5} if name == "data" else {"linewidth": 1.8}
        ax.plot(np.where(p > 0, p, np.nan), label=label, **style)
    ax.set(yscale="log", xlabel="active cells of 50", ylabel="share")
    ax.legend()
    figure.savefig(path, dpi=110)


def strengths(rows: list[Row], path: Path) -> None:
    """Inferred over realised J, by the posterior and by the closed forms."""
    fields = sorted({row["H"] for row in rows})
    figure = Figure(figsize=(8.4, 3.8), layout="constrained")
    axes = figure.subplots(1, len(fields), sharey=True, squeeze=False)[0]
    for ax, H in zip(axes, fields, strict=True):
        ax.axhline(1, color="0.8", zorder=0)
        for (N, method), here in grouped([row for row in rows if row["H"] == H], "N", "method").items():
            if method == "interval":
                continue
            ratios = {
                float(J): [float(row["estimate"]) / float(row["realised"]) for row in of_one]
                for (J,), of_one in grouped(here, "J").items()
            }
            means, spreads = ([f(of_one) for of_one in ratios.values()] for f in (np.mean, np.std))
            style = "-" if method == "likelihood" else ":"
            ax.errorbar(
                list(ratios),
                means,
                spreads,
                fmt=f"o{style}",
                markersize=4,
                capsize=2,
                label=f"{method}, N = {N}",
            )
        ax.set(xlabel="J", title=f"H = {H}")
    axes[0].set_ylabel("inferred J / realised J")
    axes[0].legend(fontsize="small")
    figure.savefig(path, dpi=110)
