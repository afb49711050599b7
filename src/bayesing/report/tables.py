"""The tables of a report, as texts in rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..boltzmann_machine import BoltzmannMachine
from ..words import regime, short
from .analysis import Analysis
from .answer import strength
from .couplings import InferredCouplings
from .format import between, chance, counted, number, percent, plain, plus_minus, rounded, share
from .gaps import Gaps
from .intervals import LEVEL

MOST_COUPLINGS = 20  # in the table
_UNBROKEN = "\u00a0"  # a space at which no line ends
MOST_LOADINGS = 6  # of a common cause, in the table


class Fact(NamedTuple):
    """What a glance should catch: a name, its value, and more in small letters."""

    name: str
    value: str
    more: str = ""


class Row(NamedTuple):
    """A row: its name, or those of two spins; its cells; and what the name means, in small letters."""

    names: tuple[str, ...]
    cells: tuple[str, ...]
    meaning: str = ""


@dataclass(frozen=True)
class Table:
    """Rows below a ``head``, or names with facts where it is empty. All but the first column may be numbers."""

    caption: str
    rows: tuple[Row, ...]
    head: tuple[str, ...] = ()
    numeric: bool = False

    @property
    def wide(self) -> bool:
        """Whether it may have to be scrolled."""
        return len(self.head) > 2


def headline(a: Analysis) -> tuple[Fact, ...]:
    """The four facts at the top."""
    eb, found = a.eb, a.interval
    level = f"{100 * LEVEL:g}%: "
    typical = f"J/√n = {number(eb.J_ / math.sqrt(a.n), 2)}"
    return (
        Fact("Strength J", strength(a), level + between(found.J) if found else typical),
        Fact(
            "Field H",
            plus_minus(eb.H_, eb.H_error_, True) if math.isfinite(eb.H_) else "not determined",
            level + between(found.H, True) if found else "",
        ),
        Fact("Regime", short(eb.diagnosis_), f"1 − γr = {number(eb.diagnosis_.distance, 2)}"),
        Fact(
            "Samples × spins",
            f"{a.N:,} × {a.n:,}",
            f"N/n = {number(a.N / a.n, 2)}" + (f", {percent(a.gaps.share)} missing" if a.gaps else ""),
        ),
    )


def estimates(a: Analysis) -> Table:
    """J, H and gamma with errors and, where there are any, intervals."""
    eb, found = a.eb, a.interval
    alone = (
        plus_minus(eb.J_, eb.J_error_),
        plus_minus(eb.H_, eb.H_error_, True),
        plus_minus(eb.gamma_, eb.gamma_error_),
    )
    columns = [alone]
    head: tuple[str, ...] = ("Quantity", "Estimate ± standard error")
    if found:
        head = (*head, f"{100 * found.level:g}% interval", "Without bias")
        low, high = found.J
        width, H_width = (high - low) / 2, (found.H[1] - found.H[0]) / 2
        columns.append((between(found.J), between(found.H, True), between((low**2, high**2))))
        columns.append(
            (
                rounded(found.J_corrected, width),
                rounded(found.H_corrected, H_width, True),
                rounded(found.J_corrected**2, 2 * width * found.J_corrected),
            )
        )
    symbols = (("J", "strength: couplings have variance J²/n"), ("H", "field"), ("γ", "J²"))
    rows = zip(symbols, zip(*columns, strict=True), strict=True)
    made = tuple(Row((symbol,), cells, meaning) for (symbol, meaning), cells in rows)
    return Table("Estimates", made, head, numeric=True)


def facts(a: Analysis) -> Table:
    """Size and encoding of the data, the regime, and the methods."""
    eb, found = a.eb, a.couplings
    constant = int(np.count_nonzero(np.abs(eb.moments_.magnetisations) == 1))
    named = {
        "Samples N": f"{a.N:,}",
        "Spins n": f"{a.n:,}" + (f", of which {constant} constant" if constant else ""),
        "N/n": number(a.N / a.n),
        "Missing cells": _gaps(a.gaps) if a.gaps else "",
        "Mean spin": number(eb.moments_.M, 3, True),
        "Encoding": a.source.data.encoding,
        "Regime": f"{regime(eb.diagnosis_, eb.method_)} (1 − γr = {number(eb.diagnosis_.distance, 2)})",
        "Method for J and H": f"{eb.method_}: {plain(eb.reason_)}",
        "Method for couplings": method_of(found) if found else "",
        "Prior of couplings": _prior(found.machine) if found else "",
        "Common causes": _how_many(a),
    }
    return _pairs("Data and methods", {name: value for name, value in named.items() if value})


def method_of(found: InferredCouplings) -> str:
    """The method, and why, unless common causes are why."""
    bm = found.machine
    return bm.method_ if bm.n_hidden == "auto" else f"{bm.method_}: {plain(found.reason)}"


def _gaps(found: Gaps) -> str:
    return (
        f"{found.cells:,} ({percent(found.share)}), in {counted(found.samples, 'sample')} and "
        f"{counted(found.spins, 'spin')}; taken to be missing at random"
    )


def missing(a: Analysis) -> Table | None:
    """The columns that miss most; None where no cell is missing."""
    if a.gaps is None:
        return None
    rows = tuple(Row((a.names[j],), (f"{cells:,}", percent(cells / a.gaps.N))) for j, cells in a.gaps.most)
    caption = "The columns that miss most" if len(rows) > 1 else "The column that misses cells"
    return Table(caption, rows, ("Spin", "Cells missing", "Share"), numeric=True)


def _how_many(a: Analysis) -> str:
    """The number of common causes and why, if they were asked for."""
    if a.couplings is None or not a.choices.n_hidden:
        return ""
    return a.couplings.reason if a.choices.n_hidden == "auto" else f"{len(a.couplings.causes)}, as asked"


def causes(a: Analysis) -> Table | None:
    """Common causes and what they load on; None where there are none."""
    if a.couplings is None or not a.couplings.causes:
        return None
    rows = []
    for cause in a.couplings.causes:
        clear = [
            f"{each.name_i} {plus_minus(each.J, each.error, True)}" for each in cause.clear(MOST_LOADINGS)
        ]
        clear = [text.replace(" ", _UNBROKEN) for text in clear]
        rows.append(
            Row(
                (cause.name.replace(" ", _UNBROKEN),),
                (percent(cause.on), str(len(cause.clear(a.n))), ", ".join(clear) or "nothing clearly"),
            )
        )
    head = ("Cause", "On", "Spins", "Loads most on (coupling ± error)")
    return Table("Common causes", tuple(rows), head)


def _prior(bm: BoltzmannMachine) -> str:
    """Its shape, strength and penalty."""
    if bm.gamma_ is None:
        return f"none, with the method {bm.method_}"
    penalty = "" if bm.penalty_ is None else f", penalty {number(bm.penalty_)}"
    return f"{bm.prior}, of variance J²/n with J = {number(math.sqrt(bm.gamma_))}{penalty}"


def edges(a: Analysis) -> Table | None:
    """The most probable edges or, if there are none, the strongest couplings; None where there are none either."""
    found = a.couplings
    if found is None or not found.any:
        return None
    listed = [c for c in found.edges or found.strongest if c.J][:MOST_COUPLINGS]
    rows = tuple(
        Row((c.name_i, c.name_j), (plus_minus(c.J, c.error, True), chance(c.probability))) for c in listed
    )
    many = f"The {len(listed)} {'most probable edges' if found.edges else 'strongest couplings'}"
    head = ("Pair of spins", "J ± error", "Probability of the edge" if found.is_sparse else "of its sign")
    return Table(many if len(listed) > 1 else "The coupling", rows, head, numeric=True)


def comparison(a: Analysis) -> Table | None:
    """Held-out samples against the model; None where nothing was predicted."""
    if a.held_out is None:
        return None
    orders = {"Pairs": a.held_out.prediction.pairs, "Triplets": a.held_out.prediction.triplets}
    found = {name: compared for name, compared in orders.items() if len(compared.observed)}
    each = found.values()
    rows = (
        Row(("Number compared",), tuple(f"{len(c.observed):,}" for c in each)),
        Row(("Correlation",), tuple(share(c.correlation) for c in each), "observed and predicted"),
        Row(("of a perfect model",), tuple(share(c.expected_correlation) for c in each)),
        Row(("Slope",), tuple(plus_minus(c.slope, c.slope_error) for c in each), "1 of a perfect model"),
        Row(
            ("χ²",),
            tuple(plus_minus(c.chi2, c.chi2_error) for c in each),
            "mean squared residual, in units of its error; 1 of a perfect model",
        ),
    )
    return Table("Held-out samples and the model", rows, ("Connected correlations", *found), numeric=True)


def making(seed: int, versions: dict[str, str], date: str, seconds: float) -> Table:
    """How the report came about."""
    made = {
        "Versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "Seed": str(seed),
        "Date": date,
        "Time taken": f"{seconds:.0f} s",
    }
    return _pairs("How this report was made; the same command makes the same report", made)


def _pairs(caption: str, named: dict[str, str]) -> Table:
    """Names with facts."""
    return Table(caption, tuple(Row((name,), (value,)) for name, value in named.items()))
