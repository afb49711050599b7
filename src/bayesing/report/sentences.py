"""Sentences between the tables and pictures of a report."""

from __future__ import annotations

import math

from .. import strength
from ..calibration import Interval
from ..prediction import Comparison
from .analysis import Analysis
from .format import counted, listed, number, percent, plain
from .watch import Step

_SMALL_EXCESS = 0.25  # share by which residuals may exceed those of a perfect model and be called small
_CLEAR = 3.0  # standard errors that are no accident

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")

METHOD = (
    "The model is P(S) ∝ exp(Σ h_i S_i + Σ J_ij S_i S_j) with spins S_i = ±1. Couplings are taken to be many and "
    "random, of mean 0 and variance γ/n = J²/n, and empirical Bayes infers J and the field H from the samples "
    "without estimating any single coupling. The couplings follow with that prior; nothing is cross-validated.",
    "Rows are assumed to be independent samples. Standard errors are those over data sets of the same size, with "
    "other couplings of the same strength; those of single couplings are posterior standard deviations.",
)


def subtitle(a: Analysis) -> str:
    """Below the title."""
    return (
        f"How strong are the couplings behind {counted(a.N, 'sample')} of {counted(a.n, 'binary variable')}?"
    )


def simulated(found: Interval) -> str:
    """Where the intervals come from."""
    note = f" {found.note[0].upper()}{found.note[1:]}." if found.note else ""
    return (
        f"Intervals and estimates without bias are by {found.n_simulations} simulated data sets: they ask which J "
        f"and H would have produced such data.{note}"
    )


def no_evidence(a: Analysis) -> str:
    """Why there is no picture of the evidence, if there is none."""
    if a.eb.evidence_kind_ is not None:
        return ""
    others = listed([method.name for method in strength.METHODS if method.evidence])
    return f"The method {a.eb.method_} has no evidence as a function of J to draw; the methods {others} do."


def couplings(a: Analysis) -> str:
    """Where the couplings come from, or why there are none."""
    found = a.couplings
    if found is None:
        return a.left_out[Step.COUPLINGS]
    rows = "all rows" if found.rows == a.N else f"{found.rows:,} of {a.N:,} rows"
    none = "" if found.any else " All of them are 0: the data show none."
    why = "" if a.choices.n_hidden == "auto" else f" ({plain(found.reason)})"
    return f"Couplings come from {rows}, by {found.machine.method_}{why}.{none}"


def causes(a: Analysis) -> tuple[str, ...]:
    """How many common causes there are and what they mean, if they were asked for."""
    found = a.couplings
    if not a.choices.n_hidden:
        return ()
    if found is None:
        return (a.left_out[Step.COUPLINGS],)
    gains = found.machine.answer_.gains
    asked = f"{counted(len(found.causes), 'common cause')}, as asked"
    how = plain(found.reason) if a.choices.n_hidden == "auto" else asked
    by = ", ".join(
        f"{number(gain.value)} ± {number(gain.error, 1)} nats by the {_ORDINALS[k]}"
        for k, gain in enumerate(gains)
    )
    means = (
        "A common cause is a hidden unit that is coupled to many spins at once: when it is on, it pushes each of "
        "them by its coupling. Couplings between spins are what is left beside it."
    )
    return (f"{how[0].upper()}{how[1:]}.", f"The evidence gains {by}." if by else "", means)


def prediction(a: Analysis) -> tuple[str, ...]:
    """What was fitted, compared and found; or why not."""
    found = a.held_out
    if found is None:
        return (a.left_out[Step.PREDICTION],)
    by = "exact averages" if found.prediction.exact else "samples"
    above = (
        "" if a.couplings is None or a.couplings.rows < a.N else " (The couplings above come from all rows.)"
    )
    fitted = (
        f"A model was fitted to a random choice of {found.fitted:,} rows, by {found.method}, and {by} of it are "
        f"compared with {found.tested:,} rows that it had not seen.{above}"
    )
    if found.drawn:
        fitted += (
            f" Of the cells of these rows {percent(found.drawn)} are missing. They are drawn from the model, given "
            "the others of their row, which makes the test a little kinder."
        )
    return fitted, verdict(found.prediction.pairs)


def verdict(found: Comparison) -> str:
    """Whether residuals are larger than noise makes them."""
    if not math.isfinite(found.chi2):
        return "There is nothing to compare."
    if found.chi2 < 1 + _CLEAR * found.chi2_error:
        return "Residuals of the pairs are no larger than chance makes those of a perfect model."
    excess = math.sqrt(found.chi2) - 1
    if excess < _SMALL_EXCESS:
        return (
            f"Residuals of the pairs are {100 * excess:.0f}% larger than those of a perfect model would be."
        )
    times = f"{number(math.sqrt(found.chi2), 2)} times"
    strong = ""
    if math.isfinite(found.slope) and abs(found.slope - 1) > _CLEAR * found.slope_error:
        strong = (
            f", and observed correlations are {'stronger' if found.slope > 1 else 'weaker'} than predicted"
        )
    return (
        f"The model falls short: residuals of the pairs are {times} as large as those of a perfect model would "
        f"be{strong}."
    )
