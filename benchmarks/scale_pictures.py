"""A picture of how time and memory grow with the number of spins and of samples, a line for each method."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from front import Row, grouped

LEAST = {"seconds": 1e-3, "MiB": 1.0}  # below, it is next to nothing
LABELS = {
    ("kind", "strength"): "J and H",
    ("kind", "couplings"): "couplings",
    ("size", "n"): "spins n",
    ("size", "N"): "samples N",
    ("what", "seconds"): "seconds of the processor",
    ("what", "MiB"): "MiB beyond the data",
}


def growth_picture(rows: list[Row], path: Path) -> None:
    """Time above and memory below; for each kind of fit one column along n and one along N."""
    kinds = list(dict.fromkeys(str(row["kind"]) for row in rows))
    columns = [(kind, size) for kind in kinds for size in ("n", "N")]
    figure = Figure(figsize=(3.4 * len(columns), 6.4), layout="constrained")
    axes = figure.subplots(2, len(columns), sharey="row", squeeze=False)
    colors = {name: f"C{k}" for k, name in enumerate(dict.fromkeys(str(row["method"]) for row in rows))}
    for (kind, size), pair in zip(columns, axes.T, strict=True):
        for ax, what in zip(pair, ("seconds", "MiB"), strict=True):
            for (of, name), here in grouped(rows, "kind", "method").items():
                if of == kind:
                    _line(ax, along(here, size), size, what, color=colors[name], label=name)
            ax.set(xscale="log", yscale="log", xlabel=LABELS["size", size])
            ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 4.0)))
            ax.xaxis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
            ax.xaxis.set_minor_formatter(NullFormatter())
            ax.tick_params(axis="x", labelsize="small")
        pair[0].set_title(LABELS["kind", kind])
    for ax, what in zip(axes[:, 0], ("seconds", "MiB"), strict=True):
        ax.set_ylabel(LABELS["what", what])
        ax.autoscale(axis="y")
        ax.set_ylim(bottom=0.8 * LEAST[what])
    lines = {line.get_label(): line for ax in axes.flat for line in ax.get_lines()}
    figure.legend(
        lines.values(), lines.keys(), loc="outside lower center", ncols=len(lines), fontsize="small"
    )
    figure.savefig(path, dpi=110)


def along(rows: list[Row], size: str) -> list[Row]:
    """The rows of one method in which the other size is that in the middle, in the order of this one."""
    other = {"n": "N", "N": "n"}[size]
    values = [int(row[other]) for row in rows]
    middle = max(values, key=values.count)
    return sorted((row for row in rows if int(row[other]) == middle), key=lambda row: int(row[size]))


def _line(ax: Axes, rows: list[Row], size: str, what: str, **style: str) -> None:
    ax.plot(
        [int(row[size]) for row in rows],
        [max(float(row[what]), LEAST[what]) for row in rows],
        marker="o",
        markersize=4,
        linewidth=1.2,
        **style,  # type: ignore[arg-type]
    )
