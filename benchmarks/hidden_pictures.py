"""Pictures of the evidence of the number of hidden units."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from front import Row, grouped


def evidence_picture(rows: list[Row], path: Path) -> None:
    """Log evidence, less its largest, over the number of units tried; a panel for each number of samples."""
    groups = grouped(rows, "N")
    figure = Figure(figsize=(5.2 * len(groups), 3.8), layout="constrained")
    panels = figure.subplots(1, len(groups), squeeze=False)[0]
    for ax, ((N,), here) in zip(panels, groups.items(), strict=True):
        colours = {name: f"C{k}" for k, (name,) in enumerate(grouped(here, "data"))}
        for (name, _), line in grouped(here, "data", "seed").items():
            tried, loss = [int(row["tried"]) for row in line], [-float(row["evidence"]) for row in line]
            ax.plot(tried, loss, "o-", ms=4, lw=1, color=colours[name])
            best = loss.index(min(loss))
            ax.plot(tried[best], 0, "o", ms=9, mfc="none", color=colours[name])
        for name, colour in colours.items():
            ax.plot([], [], "o-", color=colour, label=name)
        ax.set_yscale("symlog", linthresh=10)
        ax.invert_yaxis()
        ax.set(xlabel="hidden units tried", title=f"N = {N}", ylabel="log evidence below the best (nats)")
        ax.legend(fontsize="small", loc="lower right")
    figure.savefig(path, dpi=110)
