"""What a diagnosis means, in words: the one place where they are made, from values."""

from __future__ import annotations

from collections.abc import Sequence

from .diagnosis import Diagnosis, Phase, Quantity, Reason
from .exceptions import DriftWarning, MemoryWarning, Setting, SomeRowsWarning
from .order import Order
from .statistics import SpinStatistics

_NOTHING = 0.3  # of J, which is not worth a number


def regime(diagnosis: Diagnosis, method: str) -> str:
    """The phase in words, with what it means for the estimate of the method of that name."""
    if diagnosis.phase is Phase.GLASS and diagnosis.trusted:
        return "spin glass"
    doubt = "" if diagnosis.trusted else ": J is not to be believed"
    return {
        Phase.PARAMAGNET: f"paramagnet{doubt}",
        Phase.UNSEEN: f"paramagnet; gamma is within two standard errors of 0{doubt}",
        Phase.NEAR_GLASS: f"paramagnet, near the spin glass{doubt}",
        Phase.GLASS: "spin glass: theory ends here, J is approximate and its error larger than given",
        Phase.EDGE: f"at the edge of the spin glass or beyond: {method} saturates here, J may be larger",
        Phase.ORDERED: f"ordered, spins align by themselves{doubt}",
        Phase.NOT_WEAK: f"not a model of many weak couplings{doubt}",
        Phase.UNKNOWN: "unknown: gamma is at the end of its range",
    }[diagnosis.phase]


def short(diagnosis: Diagnosis) -> str:
    """The phase in a word or two."""
    if diagnosis.phase is Phase.UNSEEN:
        return "paramagnet"
    return "not many weak couplings" if diagnosis.phase is Phase.NOT_WEAK else diagnosis.phase.value


def at_bound(bound: float, method: str) -> str:
    """What it means that gamma ran into the end of its range."""
    return (
        f"gamma = {bound:.3g} is the largest that {method} tries, and too small. Columns that are nearly copies of "
        "each other have this effect."
    )


def unbounded(names: Sequence[str]) -> str:
    """What it means that numbers are not finite."""
    return (
        f"The data say too little about {', '.join(names)}: found no finite number. Take more samples, or more spins "
        "that vary."
    )


def distrust(diagnosis: Diagnosis, method: str) -> str:
    """Why data of another kind make an estimate wrong; nothing for one that holds for them."""
    if diagnosis.trusted or diagnosis.phase in (Phase.UNKNOWN, Phase.EDGE, Phase.GLASS):
        return ""
    return f"{' '.join(sentences(diagnosis))} J by {method} is not to be believed."


def sentences(diagnosis: Diagnosis) -> list[str]:
    """In what the data are of another kind than many weak couplings, and what an estimate says against itself."""
    return [said for said in map(sentence, diagnosis.reasons) if said]


def sentence(reason: Reason) -> str:
    """What a reason says of the data, or of the estimate; nothing where the phase says it."""
    value, limit = _rounded(reason.value), _rounded(reason.limit)
    match reason.quantity:
        case Quantity.MEAN if reason.value > 0:
            return f"Correlations are positive on average (z = {value}): a mean coupling or a common input."
        case Quantity.MEAN:
            return f"Correlations are negative on average (z = {value}): spins that exclude each other."
        case Quantity.COPIES:
            return (
                f"Two columns are nearly copies of each other (correlation {value}): leave one of them out."
            )
        case Quantity.SPECTRUM:
            return (
                f"The spectrum is not that of many weak random couplings (distance {value}, allowed {limit})."
            )
        case Quantity.EDGE:
            return (
                f"One pattern varies too much: its variance is {value} times the largest of many weak couplings "
                f"(allowed {limit})."
            )
        case Quantity.SUSCEPTIBILITY:
            return (
                f"J by susceptibility is {value} times J by spectral (allowed {limit}); they agree where couplings "
                "are many and weak."
            )
        case Quantity.ORDER:
            return f"Spins align by themselves: J0 (1 - q) = {value}, and order begins at 1."
        case Quantity.SKEWNESS:
            return f"The number of active spins is skewed ({value}, allowed {limit}), as by bursts."
        case Quantity.KURTOSIS:
            return f"The number of active spins has two peaks (excess kurtosis {value}, allowed {limit})."
        case Quantity.UNSEEN:
            return (
                f"No pairwise model describes these data: couplings that give their correlations put {value} samples "
                "of as many as there are data in a state that the data never show. Think of a common cause: "
                "couplings can be inferred beside one."
            )
        case Quantity.PRIOR if reason.value < _NOTHING:
            return "Without the prior's pull nothing is left of J: the data alone do not tell it."
        case Quantity.PRIOR:
            return f"Without the prior's pull J would be {value} times as large (allowed {limit})."
        case Quantity.BIAS:
            return f"J is {value} times that of a method without bias (allowed {limit})."
        case Quantity.LOST:
            return "Draws of the couplings have left the data for states that these never show."
        case _:
            return ""


def _rounded(value: float) -> str:
    """Two digits, or all of a large number before the point."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.2g}"


def on_order(
    order: Order | None, data: SpinStatistics, series: bool, can: bool = True
) -> tuple[Warning, ...]:
    """What the order of the rows means for estimates, if anything.

    ``series`` says that they allow for memory, and ``can`` that they could.
    """
    found: list[Warning] = []
    if order is not None and order.remembers and not series:
        if data.rows is None:
            found.append(MemoryWarning(*on_memory_of_some(order)))
        else:
            fewer = f"one of {data.memory.lag} rows alone", "."
            remedy = ("them with ", Setting("series", True), ".") if can else fewer
            found.append(MemoryWarning(on_memory(order, data), *remedy))
    if order is not None and order.drifts:
        found.append(DriftWarning(on_drift(order)))
    return tuple(found)


def on_memory(order: Order, data: SpinStatistics) -> str:
    """How long rows remember, and what it means, up to what to fit."""
    memory = data.memory
    until = f"below 0.1 after {memory.lag} rows" if memory.forgets else "not below 0.1 within a run"
    return (
        f"Rows remember those before them: successive ones have the correlation {_rounded(order.successive)}, which "
        f"is {until}. Estimates take them to be independent, so that J is too large and errors are too small. If the "
        "rows are in the order of time, fit "
    )


def on_memory_of_some(order: Order) -> tuple[str | Setting, ...]:
    """The same where not all rows are there to say how long they remember."""
    return (
        "Rows remember those before them: successive ones have the correlation "
        f"{_rounded(order.successive)}. Estimates take them to be independent, so that J is too large and errors are "
        "too small. If the rows are in the order of time, fit as many of them as can be kept with ",
        Setting("series", True),
        ".",
    )


def on_some_rows(why: Sequence[str | Setting], some: SpinStatistics, data: SpinStatistics) -> SomeRowsWarning:
    """That so many rows had to do."""
    return SomeRowsWarning(
        *why,
        f" needs rows, which are not all kept of data in batches: {some.N} of the {data.N} rows, a random choice, "
        "were used, and errors are those of so many.",
    )


def on_drift(order: Order) -> str:
    """That means change, and what it means."""
    assert order.drift is not None
    return (
        f"The means of the spins drift over the rows: slow changes have {_rounded(order.drift)} times the power of "
        f"faster ones (allowed {_rounded(order.drift_limit)}). Spins that follow the same drift seem coupled. This "
        "is not memory, and no error allows for it: cut the rows into parts whose means are steady, and compare them."
    )


def another_kind(diagnosis: Diagnosis) -> str:
    """Why data are not compared with simulated ones."""
    return (
        "Intervals are by simulation of data with many weak couplings, and these data are of another kind. "
        + " ".join(sentences(diagnosis))
    )
