"""Sentences between the tables and pictures of a report."""

from __future__ import annotations

import math

from ..calibration import Interval
from ..prediction import Comparison
from .analysis import Analysis
from .format import counted, number, percent, plain
from .watch import Step

_SMALL_EXCESS = 0.25  # share by which residuals may exceed those of a perfect model and be called small
_CLEAR = 3.0  # standard errors that are no accident

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")

COUPLINGS = (
    "A coupling (an edge of the network) is what is left between two variables when all others are held fixed: the "
    "logarithm of an odds ratio over 4. Positive ones make both active or both inactive more likely."
)
STRENGTH = (
    "J is one number for all couplings together: J² is n times their mean square. H is the mean of the fields. Both "
    "place the data among the phases of models with many random couplings, which physicists ask for first."
)

MODEL = "The model is P(S) ∝ exp(Σ h_i S_i + Σ J_ij S_i S_j) with spins S_i = ±1."
STRENGTH_METHOD = (
    "For the strength J couplings are taken to be many and random, of mean 0 and variance γ/n = J²/n, and empirical "
    "Bayes infers J and the field H from the samples without estimating any single coupling."
)
ERRORS = (
    "Rows are assumed to be independent samples, unless they are a series. Standard errors are those over data sets "
    "of the same size, with other couplings of the same strength; those of single couplings are posterior standard "
    "deviations."
)


def method(a: Analysis) -> tuple[str, ...]:
    """The model, its priors and what errors mean."""
    found = a.couplings
    if found is None:
        how = ""
    elif found.is_sparse:
        how = (
            " Single couplings have a sparse prior: a mixture of 0 and of couplings of several sizes, whose shares "
            "are inferred from the same samples. Nothing is cross-validated."
        )
    elif found.machine.gamma_ is None:
        how = " Single couplings have no prior."
    else:
        how = (
            f" Single couplings have a {found.machine.prior.capitalize()} prior; nothing is cross-validated."
        )
    return f"{MODEL} {STRENGTH_METHOD}{how}", ERRORS


def subtitle(a: Analysis) -> str:
    """Below the title."""
    return (
        f"Which variables are coupled, and how strongly? {counted(a.N, 'sample')} of "
        f"{counted(a.n, 'binary variable')}."
    )


def simulated(found: Interval) -> str:
    """Where the intervals come from."""
    note = f" {found.note[0].upper()}{found.note[1:]}." if found.note else ""
    return (
        f"Intervals and estimates without bias are by {found.n_simulations} simulated data sets: they ask which J "
        f"and H would have produced such data.{note}"
    )


def couplings(a: Analysis) -> str:
    """Where the couplings come from, or why there are none."""
    found = a.couplings
    if found is None:
        return a.left_out[Step.COUPLINGS]
    rows = f"all {counted(a.N, 'sample')}" if found.rows == a.N else f"{found.rows:,} of the {a.N:,} samples"
    none = "" if found.any else " All of them are 0: the data show none."
    why = "" if a.choices.n_hidden == "auto" else f" ({plain(found.reason)})"
    return f"Couplings come from {rows}, by {found.machine.method_}{why}.{none}"


def check(a: Analysis) -> str:
    """What is compared, and what came of it; or why nothing was."""
    found = a.couplings.machine.check_ if a.couplings else None
    if found is None:
        return a.left_out.get(Step.LIKENESS, "")
    drawn = " Missing cells are drawn from the model." if a.gaps else ""
    verdict = (
        "Samples of the fitted model look like the data."
        if found.passed
        else "Samples of the fitted model do not look like the data in all of this: do not rely on the couplings."
    )
    return f"{verdict} Mismatches are in standard errors, about 1 or less for a good model.{drawn}"


def variables(a: Analysis) -> str:
    """What the columns of the table mean."""
    said = "Prevalence is the share of the samples in which a variable is active (+1, 1 or yes)."
    if a.couplings is None:
        return said
    said += " Its field h is its push where those of the others cancel: its odds of being active are then exp(2h)."
    if any(v.predictability is not None for v in a.variables):
        said += " Predictability is the share of its entropy that the other variables explain: 0 for none, 1 for all."
    return said


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
        "A common cause is a hidden unit that is coupled to many variables at once: when it is on, it pushes each "
        "of them by its coupling. Couplings between variables are what is left beside it."
    )
    return (f"{how[0].upper()}{how[1:]}.", f"The evidence gains {by}." if by else "", means)


def prediction(a: Analysis) -> tuple[str, ...]:
    """What was fitted, compared and found; or why not."""
    found = a.held_out
    if found is None:
        return (a.left_out[Step.PREDICTION],)
    by = "exact averages" if found.prediction.exact else "samples"
    above = (
        ""
        if a.couplings is None or a.couplings.rows < a.N
        else f" (The couplings above come from all {a.N:,}.)"
    )
    which, others = (
        (f"{found.fitted:,} samples of the first three quarters", f"{found.tested:,} of the last quarter")
        if found.in_order
        else (f"a random choice of {found.fitted:,} samples", f"{found.tested:,} samples")
    )
    fitted = (
        f"A model was fitted to {which}, by {found.method}, and {by} of it are compared with {others} that it had "
        f"not seen.{above}"
    )
    if found.in_order and a.order is not None and a.order.drifts:
        fitted += (
            " Means drift over the rows, so that the last quarter may differ from the others for this reason."
        )
    if found.drawn:
        fitted += (
            f" Of the cells of these samples {percent(found.drawn)} are missing. They are drawn from the model, "
            "given the others of their sample, which makes the test a little kinder."
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
