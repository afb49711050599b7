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
from .format import between, chance, number, plain, plus_minus, rounded, share
from .intervals import LEVEL

MOST_COUPLINGS = 20  # in the table


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
        Fact("Samples × spins", f"{a.N:,} × {a.n:,}", f"N/n = {number(a.N / a.n, 2)}"),
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
        "Mean spin": number(eb.moments_.M, 3, True),
        "Encoding": a.source.data.encoding,
        "Regime": f"{regime(eb.diagnosis_, eb.method_)} (1 − γr = {number(eb.diagnosis_.distance, 2)})",
        "Method for J and H": f"{eb.method_}: {plain(eb.reason_)}",
        "Method for couplings": f"{found.machine.method_}: {plain(found.reason)}" if found else "",
        "Prior of couplings": _prior(found.machine) if found else "",
    }
    return _pairs("Data and methods", {name: value for name, value in named.items() if value})


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
