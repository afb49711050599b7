"""A picture of what each way to deal with missing cells costs: error of the couplings, and held-out likelihood."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from front import Row, grouped
from missing_data import column, paired
from missing_recovery import COMPLETE, OURS


def recovery_picture(rows: list[Row], path: Path) -> None:
    """A column for each kind of data: RMSE above, held-out loss below, a group of bars for each kind of gaps."""
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    figure = Figure(figsize=(5.2 * len(kinds), 6.4), layout="constrained")
    axes = figure.subplots(2, len(kinds), squeeze=False)
    for (top, bottom), kind in zip(axes.T, kinds, strict=True):
        here = [row for row in rows if row["kind"] == kind]
        whole = {row["seed"]: row for row in here if row["rule"] == COMPLETE}
        cases = {key: of for key, of in grouped(here, "missing", "share").items() if key[0] != "none"}
        rules = [OURS, *dict.fromkeys(row["rule"] for row in here if row["rule"] not in (COMPLETE, OURS))]
        top.axhline(np.mean(column(list(whole.values()), "rmse")), color="0.6", linewidth=1, label=COMPLETE)
        for k, rule in enumerate(rules):
            place = np.arange(len(cases)) + 0.8 * (k + 0.5) / len(rules) - 0.4
            of_rule = [
                [row for row in of if row["rule"] == rule and row["rmse"] != ""] for of in cases.values()
            ]
            for ax, values in ((top, error_of), (bottom, loss_of)):
                means, spreads = np.array([values(of, whole) for of in of_rule]).T
                style = {"width": 0.8 / len(rules), "color": f"C{k}", "error_kw": {"linewidth": 0.8}}
                ax.bar(place, means, yerr=spreads, label=rule, **style)
            for x, of in zip(place, of_rule, strict=True):
                if not of:
                    top.text(x, 0, "  no rows left", rotation=90, ha="center", fontsize="x-small")
        names = [f"{float(share):.0%}\n{mechanism}" for mechanism, share in cases]
        for ax in (top, bottom):
            ax.set_xticks(range(len(cases)), names, fontsize="small")
        top.set(title=kind, ylabel="RMSE of the couplings")
        bottom.set(ylabel="held-out loss, nats a row", yscale="log")
    figure.legend(
        *axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=6, fontsize="small"
    )
    figure.savefig(path, dpi=110)


def error_of(rows: list[Row], whole: dict[str, Row]) -> tuple[float, float]:
    """Mean and standard error; nothing where no rows were left."""
    values = column(rows, "rmse")
    return (np.mean(values), np.std(values) / np.sqrt(len(values))) if values else (np.nan, np.nan)


def loss_of(rows: list[Row], whole: dict[str, Row]) -> tuple[float, float]:
    """Below the fit of complete data; nothing where no rows were left."""
    if not rows:
        return np.nan, np.nan
    return paired([float(whole[row["seed"]]["held_out"]) for row in rows], column(rows, "held_out"))
