"""What to keep in mind: everything that a reader should know before using the numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..diagnosis import Phase
from ..exceptions import (
    AnotherKindWarning,
    BoundWarning,
    CheckWarning,
    DriftWarning,
    LaplaceWarning,
    MemoryWarning,
    NotConvergedWarning,
    NotEquilibratedWarning,
    NotSparseWarning,
    SaturationWarning,
    SomeRowsWarning,
    UnseenStatesWarning,
)
from ..io import AT_RANDOM, on_constant_spins
from ..words import sentences
from .analysis import Analysis, Caught
from .answer import corrected, disagrees, strength
from .format import between, listed, number, percent
from .watch import Step

_FEW_SAMPLES = 20  # below, every number is a rough guide
_LEADING_SHARE = 0.25  # of the variance in one pattern that is worth a word
_LEAST_SPINS = 10  # of fewer, one pattern always has such a share

_TITLES: dict[type[Warning], str] = {
    AnotherKindWarning: "J is not to be believed",
    CheckWarning: "Samples of the model do not look like the data",
    BoundWarning: "At the end of its range",
    DriftWarning: "Means drift over the rows",
    LaplaceWarning: "Laplace prior",
    MemoryWarning: "Rows remember those before them",
    NotConvergedWarning: "The search did not finish",
    NotSparseWarning: "Couplings are not sparse",
    UnseenStatesWarning: "The model has states that the data never show",
    NotEquilibratedWarning: "Not at equilibrium",
    SaturationWarning: "At the edge of the spin glass",
    SomeRowsWarning: "A random choice of rows",
}


_OF_ROWS = (MemoryWarning, DriftWarning)


class Note(NamedTuple):
    """Something to keep in mind: a few words, and a sentence or two. A ``calm`` one is no cause for concern."""

    title: str
    text: str
    calm: bool = False


def notes(a: Analysis) -> list[Note]:
    """All of them, in the order of the report."""
    found = [*_of_data(a), *_of_warnings(a), *_of_interval(a), *_of_regime(a), *_of_pattern(a)]
    found += [Note("Left out or reduced", text, calm=True) for text in a.left_out.values()]
    return [*found, _of_rows(a)]


def _of_rows(a: Analysis) -> Note:
    if a.choices.series:
        return Note(
            "Rows in the order of time",
            f"Rows are a series of samples of one and the same model. In all that is said of couplings, {a.N:,} of "
            f"them count as the {a.eb.effective_samples_:,.0f} independent ones that they are worth.",
            calm=True,
        )
    return Note(
        "Independent rows",
        "Rows are taken to be independent samples of one and the same model, in the estimates, in their errors and "
        "in the intervals. Errors are too small where rows follow each other in time more closely than the system "
        "forgets.",
        calm=True,
    )


def _of_data(a: Analysis) -> Iterable[Note]:
    """How the data were read, and columns that are constant or copies."""
    constant = on_constant_spins(np.abs(a.source.data.magnetisations) == 1, a.source.data.names)
    for text in a.source.notes:
        if text not in constant:
            yield Note("Missing cells" if text.endswith(AT_RANDOM) else "Reading the data", text)
    yield from _of_gaps(a)
    for text in constant:
        yield Note("Constant columns", text)
    if a.N < _FEW_SAMPLES:
        yield Note("Few samples", f"There are only {a.N} samples: take every number here as a rough guide.")
    copies = a.source.data.copies
    if copies:
        names = a.names
        pairs = [f"{names[i]} {'=' if sign > 0 else '= −'} {names[j]}" for i, j, sign in copies]
        yield Note(
            "Duplicated columns",
            f"Some columns equal another in every sample, or its opposite: {listed(pairs)}. They count as strongly "
            "coupled spins, and one such pair may decide J: leave one of them out.",
        )


def _of_gaps(a: Analysis) -> Iterable[Note]:
    """How many cells are missing and what was assumed, unless whoever read the data has said it."""
    found = a.gaps
    if found is None or any(text.endswith(AT_RANDOM) for text in a.source.notes):
        return
    verb = "is" if found.cells == 1 else "are"
    yield Note(
        "Missing cells",
        f"{found.cells:,} of {found.N * found.n:,} cells ({percent(found.share)}) {verb} missing, in "
        f"{found.samples:,} of {found.N:,} samples and {found.spins:,} of {found.n:,} spins. {AT_RANDOM}",
    )


def _of_warnings(a: Analysis) -> Iterable[Note]:
    before = {warning.category for warning in a.caught if warning.step is Step.COUPLINGS}
    said = set()
    for warning in a.caught:
        if warning.message in said or (warning.step is Step.PREDICTION and warning.category in before):
            continue  # said of the fit to all samples
        if warning.category in _OF_ROWS and warning.step is not Step.FIT:
            continue  # all steps look at the same rows
        said.add(warning.message)
        yield Note(_titled(warning), warning.message)


def _titled(warning: Caught) -> str:
    title = _TITLES.get(warning.category, "Warning")
    if warning.step is Step.INTERVALS and warning.category is SaturationWarning:
        title = "The interval has no end"
    return f"{title} (held-out samples)" if warning.step is Step.PREDICTION else title


def _of_interval(a: Analysis) -> Iterable[Note]:
    if a.interval is not None and disagrees(a):
        trust = (
            f"The J of the answer is the corrected one, {strength(a)}."
            if corrected(a)
            else "Neither is to be relied on: more samples would help, or another method."
        )
        yield Note(
            "Estimate and interval disagree",
            f"Data sets simulated with the J of the method {a.eb.method_}, {number(a.eb.J_)}, do not look like "
            f"these. The {100 * a.interval.level:g}% interval is {between(a.interval.J)}. {trust}",
        )


def _of_regime(a: Analysis) -> Iterable[Note]:
    reasons = sentences(a.eb.diagnosis_)
    if reasons and not any(warning.category is AnotherKindWarning for warning in a.caught):
        yield Note("Not many weak couplings", " ".join(reasons), calm=a.eb.diagnosis_.trusted)
    if a.eb.diagnosis_.phase is Phase.NEAR_GLASS:
        yield Note("The data lie near the spin glass", "Errors grow there, and methods begin to differ.")
    elif a.eb.diagnosis_.phase is Phase.GLASS and not a.eb.diagnosis_.trusted:
        yield Note(
            "The data lie beyond the edge of the spin glass",
            "Theory for many random couplings ends there: the estimate is approximate, and its error larger than "
            "given. Intervals by simulation do not depend on theory.",
        )


def _of_pattern(a: Analysis) -> Iterable[Note]:
    if a.spectrum is None or a.n < _LEAST_SPINS:
        return
    spectrum = a.spectrum
    leading = float(spectrum.d.max()) / spectrum.n
    if leading > _LEADING_SHARE:
        yield Note(
            "One pattern dominates",
            f"{100 * leading:.0f}% of the variance of the spins lies along one direction. Groups that act as one, "
            "such as parties, have this effect, and so has a spin glass of few spins. J describes couplings that are "
            "random and without a mean: here look at the couplings themselves rather than at J.",
        )
