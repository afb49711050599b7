"""The paper's figures as their captions describe them; its printed table values are marked where there are any."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..files import writing
from .specification import Experiment, Printed
from .summary import Row, exponents

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(experiment: Experiment, rows: list[Row], printed: list[Printed]) -> Figure:
    """Figure of one experiment."""
    from matplotlib.figure import Figure

    count = 2 if experiment.kind == "fields" else len(experiment.panels)
    height = 5.2 if experiment.kind == "orders" else 4.0  # with legends below
    figure = Figure(figsize=(4.6 * count, height), layout="constrained")
    axes = figure.subplots(1, count, squeeze=False)[0]
    figure.suptitle(experiment.title)
    if experiment.kind == "estimates":
        for ax, panel in zip(axes, experiment.panels, strict=True):
            _estimates(ax, [row for row in rows if row.panel == panel.label], printed)
            ax.set_title(panel.label)
    elif experiment.kind == "fields":
        _curves(axes[0], rows, "H_mae").set_ylabel("mean absolute error of H")
        _curves(axes[1], rows, "H_sd").set_ylabel("standard deviation of H")
        axes[0].set_title("(a)")
        axes[1].set_title("(b)")
    else:
        fitted = {(panel, quantity): value for panel, quantity, value, _ in exponents(experiment, rows)}
        for ax, panel in zip(axes, experiment.panels, strict=True):
            here = [row for row in rows if row.panel == panel.label]
            labels = {
                quantity: f"{quantity}: {fitted[panel.label, quantity]:+z.2f} ({predicted:+g})"
                for quantity, predicted in (panel.predicted or {}).items()
            }
            _orders(ax, here, labels)
            ax.set_title(panel.label)
    return figure


def _estimates(ax: Axes, rows: list[Row], printed: list[Printed]) -> None:
    top = 1.05 * max(row.J for row in rows)
    ax.plot([0, top], [0, top], color="0.6", linewidth=1)
    _curves(ax, rows, "J_mean")
    marked = {(row.n, row.N, row.H) for row in rows}
    points = [p for p in printed if (p.n, p.N, p.H) in marked]
    if points:
        values = [float(p.mean) for p in points]
        ax.plot([p.J for p in points], values, "kx", markersize=8, label="printed in the paper")
    ax.set_ylabel("J estimated")
    ax.set_ylim(bottom=0)
    ax.legend(title="(n, N)", fontsize="small")


def _orders(ax: Axes, rows: list[Row], labels: dict[str, str]) -> None:
    n = [row.n for row in rows]
    for quantity, label in labels.items():
        ax.loglog(n, np.abs([getattr(row, quantity) for row in rows]), "o-", label=label)
    ax.set_xticks(n, labels=map(str, n))
    ax.set_xticks([], minor=True)
    ax.set_xlabel("n")
    ax.set_ylabel(", ".join(f"|{quantity}|" for quantity in labels))
    ax.legend(title="exponent (predicted)", loc="upper center", bbox_to_anchor=(0.5, -0.15))  # off the curves


def _curves(ax: Axes, rows: list[Row], quantity: str) -> Axes:
    for n, N in dict.fromkeys((row.n, row.N) for row in rows):
        here = [row for row in rows if (row.n, row.N) == (n, N)]
        ax.plot(
            [row.J for row in here],
            [getattr(row, quantity) for row in here],
            "o-",
            markersize=4,
            label=f"({n}, {N})",
        )
    ax.set_xlabel("J of the model")
    ax.legend(title="(n, N)", fontsize="small")
    return ax


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write a figure as PNG and PDF."""
    for extension in ("png", "pdf"):
        with writing(folder / f"{name}.{extension}", force=True) as file:
            # Without the date the same results give the same bytes.
            metadata = {"CreationDate": None} if extension == "pdf" else None
            figure.savefig(file, format=extension, dpi=150, metadata=metadata)
