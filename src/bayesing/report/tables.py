"""The tables of a report, as texts in rows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..boltzmann_machine import BoltzmannMachine
from ..prediction import Comparison
from ..words import regime, short
from .analysis import Analysis
from .answer import corrected, known, strength
from .couplings import MOST_PAIRS, InferredCouplings
from .format import between, chance, counted, listed, number, percent, plain, plus_minus, rounded, share
from .gaps import Gaps
from .intervals import LEVEL

MOST_COUPLINGS = 20  # in the table, unasked
MOST_ROWS = MOST_PAIRS  # in a table that can be filtered: 200 kilobytes
_SMALLEST_ERROR = 0.005  # of what is written with two digits after the point
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
    values: tuple[str, ...] = ()  # of the cells, for a script to sort by
    is_edge: bool = True


@dataclass(frozen=True)
class Table:
    """Rows below a ``head``, or names with facts where it is empty. All but the first column may be numbers."""

    caption: str
    rows: tuple[Row, ...]
    head: tuple[str, ...] = ()
    numeric: bool = False
    key: str = ""  # of a table that can be sorted and filtered

    @property
    def first(self) -> int:
        """How many rows are shown unasked."""
        return min(MOST_COUPLINGS, sum(row.is_edge for row in self.rows) or MOST_COUPLINGS)

    @property
    def wide(self) -> bool:
        """Whether it may have to be scrolled."""
        return len(self.head) > 2


def headline(a: Analysis) -> tuple[Fact, ...]:
    """The four facts at the top."""
    missing = f"{percent(a.gaps.share)} of the cells missing" if a.gaps else "no cell missing"
    return (
        Fact("Samples × variables", f"{a.N:,} × {a.n:,}", missing),
        _edges_fact(a),
        _check_fact(a),
        _strength_fact(a),
    )


def _edges_fact(a: Analysis) -> Fact:
    found = a.couplings
    if found is None:
        return Fact("Edges", "not inferred")
    pairs = counted(a.n * (a.n - 1) // 2, "pair")
    false = f", about {found.false:.0f} {'false' if found.is_sparse else 'wrong'}" if found.edges else ""
    return Fact("Edges" if found.is_sparse else "Clear signs", f"{len(found.edges):,}", f"of {pairs}{false}")


def _check_fact(a: Analysis) -> Fact:
    check = a.couplings.machine.check_ if a.couplings else None
    if check is None:
        return Fact("Model and data", "not compared")
    gain = f"{number(check.gain, 2, True)} nats a sample"
    return Fact("Model and data", "look alike" if check.passed else "do not match", gain)


def _strength_fact(a: Analysis) -> Fact:
    """J; whether it is that of the method or a corrected one, or its interval, or that it is not to be believed."""
    found = a.interval
    if not known(a.eb):
        more = ""
    elif corrected(a):
        more = f"by simulation; {a.eb.method_} alone: {number(a.eb.J_)}"
    elif not a.eb.diagnosis_.trusted:
        more = "not to be believed"
    elif found:
        more = f"{100 * LEVEL:g}%: {between(found.J)}"
    else:
        more = short(a.eb.diagnosis_)
    return Fact("Strength J", strength(a), more)


def estimates(a: Analysis) -> Table:
    """J, H and gamma with errors and, where there are any, intervals."""
    eb, found = a.eb, a.interval
    alone = (
        plus_minus(eb.J_, eb.J_error_),
        plus_minus(eb.H_, eb.H_error_, True),
        plus_minus(eb.gamma_, eb.gamma_error_),
    )
    columns = [alone]
    head: tuple[str, ...] = ("Quantity", f"By {eb.method_} ± standard error")
    if found:
        head = (*head, f"{100 * found.level:g}% interval", "By simulation")
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
    constant = int(np.count_nonzero(np.abs(a.source.data.magnetisations) == 1))
    named = {
        "Samples N": f"{a.N:,}" + _worth(a),
        "Variables n": f"{a.n:,}" + (f", of which {constant} constant" if constant else ""),
        "N/n": number(a.N / a.n),
        "Missing cells": _gaps(a.gaps) if a.gaps else "",
        "Mean spin": number(eb.answer_.magnetisation, 3, True),
        "Encoding": a.source.data.encoding,
        "Regime": f"{regime(eb.diagnosis_, eb.method_)} (1 − γr = {number(eb.diagnosis_.distance, 2)})",
        "Method for J and H": f"{eb.method_}: {plain(eb.reason_)}",
        "Method for couplings": method_of(found) if found else "",
        "Prior of couplings": _prior(found.machine) if found else "",
        "Common causes": _how_many(a),
    }
    return _pairs("Data and methods", {name: value for name, value in named.items() if value})


def _worth(a: Analysis) -> str:
    """What rows of a series are worth."""
    worth = a.eb.effective_samples_
    return "" if worth == a.N else f", worth {worth:,.0f} independent ones"


def method_of(found: InferredCouplings) -> str:
    """The method, and why, unless common causes are why."""
    bm = found.machine
    return bm.method_ if bm.n_hidden == "auto" else f"{bm.method_}: {plain(found.reason)}"


def _gaps(found: Gaps) -> str:
    return (
        f"{found.cells:,} ({percent(found.share)}), in {counted(found.samples, 'sample')} and "
        f"{counted(found.spins, 'variable')}; taken to be missing at random"
    )


def missing(a: Analysis) -> Table | None:
    """What is missing, where most of it is, and what is missing together; None where no cell is."""
    found = a.gaps
    if found is None:
        return None
    most = [f"{a.names[j]} ({percent(cells / found.N)})" for j, cells in found.most]
    named = {
        "Missing cells": f"{found.cells:,} of {found.N * found.n:,} ({percent(found.share)})",
        "Complete samples": f"{found.complete:,} of {found.N:,} ({percent(found.complete / found.N)})",
        "Most in one sample": f"{found.worst} of {counted(found.n, 'variable')}",
        "Variables that miss most": ", ".join(most),
    }
    for columns, samples in found.together:
        names = listed([a.names[j] for j in columns])
        named[f"Missing together, {samples:,} times"] = f"{counted(len(columns), 'variable')}: {names}"
    return _pairs("What is missing", named)


def check(a: Analysis) -> Table | None:
    """The model against the data that it was fitted to; None where nothing was compared."""
    found = a.couplings.machine.check_ if a.couplings else None
    if found is None:
        return None
    error = found.log_likelihood_error
    bits = number(found.gain / math.log(2), 2, True)
    rows = [
        Row(("Means",), (f"{found.means:.2f}",), "mismatch in standard errors"),
        Row(("Pair correlations",), (f"{found.pairs:.2f}",), "likewise"),
    ]
    if found.counts is not None:
        rows.append(Row(("Distribution of K, the number active",), (f"{found.counts:.2f}",), "likewise"))
    active = f"{number(found.active)} (data: {number(found.active_in_data)})"
    rows += [
        Row(("Mean number active",), (active,)),
        Row(
            ("Log-likelihood of a sample",),
            (_nats(found.log_likelihood, error),),
            f"independent variables: {_nats(found.independent, 0.0)}",
        ),
        Row(("Gain over independence",), (_nats(found.gain, error, True),), f"{bits} bits a sample"),
    ]
    if a.likeness is not None:
        nats = a.likeness.multi_information
        rows.append(
            Row(
                ("Multi-information of the model",),
                (_nats(nats.value, nats.error),),
                "how far its variables are from independent",
            )
        )
    return Table("The fitted model against the data", tuple(rows), ("Quantity", "Value"), numeric=True)


def _nats(value: float, error: float, sign: bool = False) -> str:
    """With its error, or to two digits after the point where that is smaller."""
    text = rounded(value, 0.1, sign) if error < _SMALLEST_ERROR else plus_minus(value, error, sign)
    return f"{text} nats"


def variables(a: Analysis) -> Table:
    """Every variable; columns that nobody knows are left out."""
    columns: dict[str, list[tuple[str, float]]] = {
        "Prevalence": [(percent(v.active), v.active) for v in a.variables],
    }
    if a.gaps:
        columns["Missing"] = [(percent(v.missing), v.missing) for v in a.variables]
    if all(v.field is not None for v in a.variables):
        columns["Field h"] = [
            (_with_error(v.field, v.field_error, True), v.field or 0.0) for v in a.variables
        ]
    if all(v.edges is not None for v in a.variables):
        columns["Edges"] = [(str(v.edges), v.edges or 0) for v in a.variables]
    if all(v.predictability is not None for v in a.variables):
        columns["Predictability"] = [
            (_with_error(v.predictability, v.predictability_error), v.predictability or 0.0)
            for v in a.variables
        ]
    rows = []
    for v, cells in zip(a.variables[:MOST_ROWS], zip(*columns.values(), strict=True), strict=False):
        texts, values = zip(*cells, strict=True)
        rows.append(Row((v.name,), texts, values=tuple(f"{value:.6g}" for value in values)))
    many = (
        f"All {counted(a.n, 'variable')}"
        if a.n <= MOST_ROWS
        else f"The first {MOST_ROWS:,} of {a.n:,} variables"
    )
    return Table(many, tuple(rows), ("Variable", *columns), numeric=True, key="variables-table")


def _with_error(value: float | None, error: float | None, sign: bool = False) -> str:
    if value is None:
        return ""
    return number(value, 2, sign) if error is None else plus_minus(value, error, sign)


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
    head = ("Cause", "On", "Variables", "Loads most on (coupling ± error)")
    return Table("Common causes", tuple(rows), head)


def _prior(bm: BoltzmannMachine) -> str:
    """Its shape, strength and penalty."""
    if bm.gamma_ is None:
        return f"none, with the method {bm.method_}"
    penalty = "" if bm.penalty_ is None else f", penalty {number(bm.penalty_)}"
    deviation = number(math.sqrt(bm.gamma_ / bm.n_features_in_))
    return f"{bm.prior}, standard deviation {deviation}{penalty}; fitted with the couplings, and no estimate of J"


def edges(a: Analysis) -> Table | None:
    """Pairs, the most probable edges first, or the strongest couplings if none is one; None where all are 0."""
    found = a.couplings
    if found is None or not found.any:
        return None
    shown = [c for c in (*found.edges, *found.others) if c.J][:MOST_ROWS]
    told = min(len(found.edges), MOST_ROWS)
    rows = tuple(
        Row(
            (c.name_i, c.name_j),
            (plus_minus(c.J, c.error, True), chance(c.probability)),
            values=(f"{c.J:.6g}", f"{1 - c.probability:.3g}"),
            is_edge=k < told,
        )
        for k, c in enumerate(shown)
    )
    pairs = counted(a.n * (a.n - 1) // 2, "pair")
    what = "Edges" if found.is_sparse else "Pairs with a clear sign"
    caption = f"{what}, the most probable first ({told:,} of {pairs})" if told else "The strongest couplings"
    head = ("Pair of variables", "J ± error", "Probability of the edge" if found.is_sparse else "of its sign")
    caption = caption if len(shown) > 1 else "The coupling"
    return Table(caption, rows, head, numeric=True, key="edges-table")


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
        *_ceilings(list(each)),
        Row(("Slope",), tuple(plus_minus(c.slope, c.slope_error) for c in each), "1 of a perfect model"),
        Row(
            ("χ²",),
            tuple(plus_minus(c.chi2, c.chi2_error) for c in each),
            "mean squared residual, in units of its error; 1 of a perfect model",
        ),
    )
    return Table("Held-out samples and the model", rows, ("Connected correlations", *found), numeric=True)


def _ceilings(each: list[Comparison]) -> Iterable[Row]:
    """What noise leaves to a perfect model, where it can be told."""
    if any(math.isfinite(c.ceiling) for c in each):
        cells = tuple(
            plus_minus(c.ceiling, max(c.ceiling_error, _SMALLEST_ERROR))
            if math.isfinite(c.ceiling)
            else "not known"
            for c in each
        )
        yield Row(("Noise ceiling",), cells, "what noise in these samples leaves to a perfect model")


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
