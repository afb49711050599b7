"""From cells to tables: one tidy CSV per experiment, and all printed cells beside ours in ``summary.md``."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..files import writing
from ..types import Array
from .cells import CellFolder, csv_bytes
from .specification import Cell, Experiment, Printed


@dataclass(frozen=True)
class Row:
    """Statistics of one point of a table or figure; repeats with an infinite gamma are counted and left out."""

    panel: str
    n: int
    N: int
    H: float
    J: float
    repeats: int
    infinite: int
    J_mean: float
    J_sd: float
    H_mean: float
    H_mae: float
    H_sd: float
    e: float
    Phi: float
    phi2: float


def rows_of(experiment: Experiment, cells: CellFolder) -> list[Row]:
    """Statistics of every point of an experiment, from the files of its cells."""
    return [
        _row(panel.label, n, N, panel.H, J, _read(experiment, n, N, panel.H, J, cells))
        for panel in experiment.panels
        for n, N in panel.sizes
        for J in experiment.J
    ]


def _read(
    experiment: Experiment, n: int, N: int, H: float, J: float, cells: CellFolder
) -> list[dict[str, str]]:
    cell = Cell(experiment.sampler, experiment.prior, n, H, J)
    lines = cells.read(cell.name).decode().splitlines()
    rows = [row for row in csv.DictReader(lines) if int(row["N"]) == N]
    return rows[: experiment.repeats]


def _row(panel: str, n: int, N: int, H: float, J: float, rows: list[dict[str, str]]) -> Row:
    def column(name: str) -> Array:
        return np.array([float(row[name]) for row in rows])

    finite = np.isfinite(column("gamma"))
    J_hat, H_hat = column("J")[finite], column("H")[finite]
    spread = len(J_hat) > 1
    return Row(
        panel,
        n,
        N,
        H,
        J,
        repeats=len(rows),
        infinite=int((~finite).sum()),
        J_mean=float(J_hat.mean()) if len(J_hat) else math.nan,
        J_sd=float(J_hat.std(ddof=1)) if spread else math.nan,
        H_mean=float(H_hat.mean()) if len(H_hat) else math.nan,
        H_mae=float(np.abs(H_hat - H).mean()) if len(H_hat) else math.nan,
        H_sd=float(H_hat.std(ddof=1)) if spread else math.nan,
        e=float(column("e").mean()),
        Phi=float(column("Phi").mean()),
        phi2=float(column("phi2").mean()),
    )


def write_csv(rows: list[Row], path: Path) -> None:
    """Rows as a tidy CSV, six digits."""
    names = list(Row.__dataclass_fields__)
    table = ([getattr(row, name) for name in names] for row in rows)
    rounded = ([f"{value:.6g}" if isinstance(value, float) else value for value in row] for row in table)
    with writing(path, force=True) as file:
        file.write(csv_bytes([names, *rounded]))


@dataclass(frozen=True)
class Agreement:
    """A printed value beside ours. ``within`` allows half of the last printed digit and 3 standard errors."""

    table: str
    printed: Printed
    ours: Row

    @property
    def half_digit(self) -> float:
        """Half a unit of the last printed digit of the mean."""
        return _half_digit(self.printed.mean)

    @property
    def difference(self) -> float:
        """Ours less the paper's."""
        return self.ours.J_mean - float(self.printed.mean)

    @property
    def error(self) -> float:
        """Combined standard error: ours, and the paper's from its printed standard deviation over 300."""
        ours = self.ours.J_sd / math.sqrt(max(1, self.ours.repeats - self.ours.infinite))
        return math.hypot(ours, float(self.printed.sd) / math.sqrt(300))

    @property
    def z(self) -> float:
        """Difference beyond half of the last printed digit, in combined standard errors, with its sign."""
        beyond = max(0.0, abs(self.difference) - self.half_digit)
        return math.copysign(beyond / self.error, self.difference)

    @property
    def within(self) -> bool:
        """Whether the means agree."""
        return abs(self.z) <= 3

    @property
    def sd_within(self) -> bool:
        """Whether the standard deviations agree within 15% and half of the last printed digit."""
        printed = float(self.printed.sd)
        return abs(self.ours.J_sd - printed) <= 0.15 * printed + _half_digit(self.printed.sd)


def _half_digit(text: str) -> float:
    return 0.5 * 10.0 ** -len(text.partition(".")[2])


def compare(experiment: Experiment, rows: list[Row]) -> list[Agreement]:
    """Every printed cell of an experiment with our row for it."""
    ours = {(row.n, row.N, row.H, row.J): row for row in rows}
    return [Agreement(experiment.name, p, ours[p.n, p.N, p.H, p.J]) for p in experiment.printed]


def exponents(experiment: Experiment, rows: list[Row]) -> list[tuple[str, str, float, float]]:
    """(panel, quantity, fitted exponent in n, predicted one) for Appendix C."""
    found = []
    for panel in experiment.panels:
        here = [row for row in rows if row.panel == panel.label]
        n = np.log([row.n for row in here])
        for quantity, predicted in (panel.predicted or {}).items():
            values = np.log(np.abs([getattr(row, quantity) for row in here]))
            found.append((panel.label, quantity, float(np.polyfit(n, values, 1)[0]), predicted))
    return found


def markdown(results: list[tuple[Experiment, list[Row]]], header: list[str], small: bool = False) -> str:
    """``summary.md``: what was run, all printed cells with z, and the exponents of Appendix C.

    A ``small`` run has no printed cells: every point has a line, with J and H as simulated and as found.
    """
    lines = ["# Reproduction of arXiv:1906.06002", "", *header, ""]
    for experiment, rows in results:
        agreements = compare(experiment, rows)
        if agreements:
            beyond = sum(not a.within for a in agreements)
            spreads = sum(not a.sd_within for a in agreements)
            lines += [
                f"## {experiment.title}",
                "",
                f"{len(agreements)} printed cells: {beyond} mean(s) and {spreads} standard deviation(s) are out of "
                "tolerance, which is half the last printed digit + 3 combined standard errors for means, 15% + half "
                "the last digit for standard deviations. z counts what exceeds half the last digit. "
                f"{experiment.note}".strip(),
                "",
                "| n | N | H | J | ours | paper | combined standard error | z | sd ours | sd paper | infinite | |",
                "|---|---|---|---|---|---|---|---|---|---|---|---|",
                *(_line(a) for a in agreements),
                "",
            ]
        elif small and experiment.kind != "orders":
            lines += [
                f"## {experiment.title}",
                "",
                "| | n | N | H | J | J found | sd | H found | sd | repeats |",
                "|---|---|---|---|---|---|---|---|---|---|",
                *(_point(row) for row in rows),
                "",
            ]
        if experiment.kind == "orders":
            lines += [
                f"## {experiment.title}",
                "",
                "| | quantity | exponent of n, fitted | predicted |",
                "|---|---|---|---|",
            ]
            lines += [
                f"| {p} | {q} | {fit:+z.2f} | {want:+g} |" for p, q, fit, want in exponents(experiment, rows)
            ]
            lines += [""]
    infinite = [(e.name, row) for e, rows in results for row in rows if row.infinite]
    lines += [
        "## Infinite estimates",
        "",
        "Repeats with an infinite gamma are counted here and left out of means.",
        "",
    ]
    lines += [
        f"- {name}: n = {row.n}, N = {row.N}, H = {row.H:g}, J = {row.J:g}: {row.infinite} of {row.repeats} repeats"
        for name, row in infinite
    ] or ["None."]
    return "\n".join(lines) + "\n"


def _point(row: Row) -> str:
    """J and H of one point, and means and standard deviations of their estimates."""
    found = f"{row.J_mean:.3f} | {row.J_sd:.3f} | {row.H_mean:+.3f} | {row.H_sd:.3f}"
    return f"| {row.panel} | {row.n} | {row.N} | {row.H:g} | {row.J:g} | {found} | {row.repeats - row.infinite} |"


def _line(a: Agreement) -> str:
    mark = ("" if a.within else "mean ") + ("" if a.sd_within else "sd")
    p = a.printed
    return (
        f"| {p.n} | {p.N} | {p.H:g} | {p.J:g} | {a.ours.J_mean:.4f} | {p.mean} | "
        f"{a.error:.4f} | {a.z:+z.1f} | {a.ours.J_sd:.3f} | {p.sd} | {a.ours.infinite} | {mark.strip()} |"
    )
