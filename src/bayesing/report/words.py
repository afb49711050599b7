"""The sentences of a report: the answer, what to keep in mind, and what is seen in the pictures."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from .. import __version__
from ..boltzmann_machine import BoltzmannMachine
from ..calibration import Interval
from ..empirical_bayes import EmpiricalBayes
from ..exceptions import (
    BoundWarning,
    LaplaceWarning,
    NotConvergedWarning,
    NotEquilibratedWarning,
    SaturationWarning,
)
from ..io import on_constant_spins
from ..plots._spectrum import largest_of_noise
from ..prediction import Comparison
from ..replica import NEAR
from .analysis import INTERVALS, LEVEL, PREDICTION, Analysis, Caught

FEW = 20  # samples
SMALL = 0.25  # share by which residuals may exceed those of a perfect model
LEADING = 0.25  # share of one pattern in the variance from which it is worth a word
_LISTED = 5  # names in a sentence

_TITLES: dict[type[Warning], str] = {
    BoundWarning: "At the end of its range",
    LaplaceWarning: "Laplace prior",
    NotConvergedWarning: "The search did not finish",
    NotEquilibratedWarning: "Not at equilibrium",
    SaturationWarning: "At the edge of the spin glass",
}


class Note(NamedTuple):
    """Something to keep in mind: a few words, and a sentence or two. A ``calm`` one is no cause for concern."""

    title: str
    text: str
    calm: bool = False


def number(value: float, digits: int = 3, sign: bool = False) -> str:
    """With so many significant digits, a true minus sign, and words for what is not finite."""
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value != 0 and not 1e-4 <= abs(value) < 1e5:
        text = f"{value:{'+' if sign else ''}.{digits - 1}e}"
    else:
        decimals = max(digits - 1 - math.floor(math.log10(abs(value))), 0) if value else 2
        text = f"{value:{'+' if sign else ''}.{min(decimals, 6)}f}"
    return text.replace("-", "−")


def share(value: float) -> str:
    """A correlation, in hundredths."""
    return f"{value:.2f}".replace("-", "−") if math.isfinite(value) else "unknown"


def rounded(value: float, scale: float, sign: bool = False) -> str:
    """To two digits of the ``scale`` of its error."""
    if not (math.isfinite(value) and 0 < scale < math.inf):
        return number(value, sign=sign)
    decimals = min(max(1 - math.floor(math.log10(scale)), 0), 6)
    return f"{value:{'+' if sign else ''}.{decimals}f}".replace("-", "−")


def plus_minus(value: float, error: float, sign: bool = False) -> str:
    """0.789 ± 0.013, to two digits of the error."""
    if math.isnan(value):
        return "unknown"
    if not math.isfinite(error):
        return f"{number(value, sign=sign)} (error unknown)"
    return f"{rounded(value, error, sign)} ± {rounded(error, error)}"


def between(ends: tuple[float, float], sign: bool = False) -> str:
    """0.76 to 0.81, or 'above 0.76' where there is no upper end."""
    low, high = ends
    width = high - low
    if math.isinf(high) and math.isinf(low):
        return "no bounds"
    if math.isinf(high):
        return f"above {number(low, sign=sign)}"
    if math.isinf(low):
        return f"below {number(high, sign=sign)}"
    return f"{rounded(low, width, sign)} to {rounded(high, width, sign)}"


def counted(k: int, noun: str) -> str:
    """1 sample, 2 samples, 1,000,000 samples."""
    return f"{k:,} {noun}{'' if k == 1 else 's'}"


def listed(names: Sequence[str], most: int = _LISTED) -> str:
    """A, B and C; or A, B, C and 7 more."""
    shown = list(names[:most])
    more = len(names) - len(shown)
    if more:
        return ", ".join(shown) + f" and {more} more"
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + f" and {shown[-1]}"


# ---------------------------------------------------------------------------------------------- the answer


def known(eb: EmpiricalBayes) -> bool:
    """Whether J is an estimate at all, and not the end of a range."""
    return math.isfinite(eb.J_) and not eb.regime_.startswith("unknown")


def corrected(a: Analysis) -> bool:
    """Whether simulated data sets contradict the estimate, and say by how much: theirs is the better one then."""
    found = a.interval
    return known(a.eb) and found is not None and math.isfinite(found.J[1]) and not _covers(found.J, a.eb.J_)


def _covers(ends: tuple[float, float], value: float) -> bool:
    return ends[0] <= value <= ends[1]


def strength(a: Analysis) -> str:
    """0.789 ± 0.013; the corrected estimate where it is needed; or what can be said."""
    if not known(a.eb):
        return "not determined"
    if a.interval and corrected(a):
        return rounded(a.interval.J_corrected, (a.interval.J[1] - a.interval.J[0]) / 2)
    return plus_minus(a.eb.J_, a.eb.J_error_)


def best(a: Analysis) -> float:
    """The J of :func:`strength`."""
    return a.interval.J_corrected if a.interval and corrected(a) else a.eb.J_


def answer(a: Analysis) -> list[str]:
    """Sentences to paste into a paper."""
    subject = f"From {counted(a.N, 'sample')} of {counted(a.n, 'spin')}, "
    return [
        subject + _couplings_sentence(a),
        _field_sentence(a.eb, a.interval),
        _regime_sentence(a),
        *_strongest_sentence(a),
        *_prediction_sentence(a),
        _attribution(a),
    ]


def _couplings_sentence(a: Analysis) -> str:
    eb, found = a.eb, a.interval
    percent = f"{100 * LEVEL:g}% interval"
    if not known(eb):
        why = (
            "the evidence grows without bound as the couplings grow"
            if math.isinf(eb.J_)
            else f"it lies at the end of the range that {eb.method_} searches"
        )
        simulated = (
            f" By simulation, J lies between {between(found.J).replace(' to ', ' and ')} ({percent})."
            if found and math.isfinite(found.J[1])
            else ""
        )
        return f"the strength J of the couplings is not determined: {why}.{simulated}"
    interval = f" ({percent} {between(found.J)})" if found else ""
    if eb.gamma_ == 0:
        most = found.J[1] if found and math.isfinite(found.J[1]) else math.sqrt(1.64 * eb.gamma_error_)
        unseen = (
            f" Couplings of J up to about {number(most, 2)} would go unnoticed in so few data."
            if math.isfinite(most)
            else " Whether strong ones would be seen in so few data is unknown."
        )
        return f"no couplings are seen: J = {strength(a)}{interval}.{unseen}"
    size = f"couplings of typical size J/√n = {number(best(a) / math.sqrt(a.n), 2)}"
    if eb.gamma_ < 2 * eb.gamma_error_ and eb.at_distance_ > NEAR:
        return f"J = {strength(a)}{interval}: {size}, which is hardly distinguished from none."
    alone = f" The method {eb.method_} alone gives {plus_minus(eb.J_, eb.J_error_)}." if corrected(a) else ""
    return f"J = {strength(a)}{interval}: {size}.{alone}"


def _field_sentence(eb: EmpiricalBayes, found: Interval | None) -> str:
    if not math.isfinite(eb.H_):
        return f"The field H is not determined; the mean spin is {number(eb.moments_.M, 2, True)}."
    interval = f" ({100 * LEVEL:g}% interval {between(found.H, True)})" if found else ""
    if not math.isfinite(eb.H_error_):
        verdict = ""
    elif found.H[0] <= 0 <= found.H[1] if found else abs(eb.H_) < 2 * eb.H_error_:
        verdict = ", compatible with no field"
    else:
        verdict = f", which favours {'+1' if eb.H_ > 0 else '−1'}"
    return f"The field is H = {plus_minus(eb.H_, eb.H_error_, True)}{interval}{verdict}."


def _regime_sentence(a: Analysis) -> str:
    eb = a.eb
    distance = f"1 − γr = {number(eb.at_distance_, 2)}"
    if not known(eb):
        return "Where the data lie among the phases of the model is therefore unknown."
    if eb.at_distance_ > NEAR:
        free = "spins fluctuate freely, and the estimate holds" if eb.gamma_ else "spins fluctuate freely"
        return f"This is a paramagnet ({distance}): {free}."
    if eb.method_ in ("plefka", "susceptibility"):
        return (
            f"This is the edge of the spin glass or beyond it ({distance}), where the method {eb.method_} saturates: "
            "J may be larger than given."
        )
    if eb.at_distance_ > 0:
        return f"This is a paramagnet near the spin glass ({distance}): J is determined, with less certainty."
    beyond = f"This is beyond the edge of the spin glass ({distance}), where theory ends: "
    if a.interval:
        return beyond + "the interval, by simulation, is what to rely on."
    return beyond + "J is approximate, and its error larger than given."


def _strongest_sentence(a: Analysis) -> Iterable[str]:
    if not a.strongest or a.strongest[0].J == 0:
        return
    first = a.strongest[0]
    pairs = a.n * (a.n - 1) // 2
    value = plus_minus(first.J, first.error, True)
    if pairs == 1:
        yield f"The coupling of {first.name_i} and {first.name_j} is {value}."
    else:
        yield f"The strongest of {pairs:,} couplings is {value}, between {first.name_i} and {first.name_j}."


def _prediction_sentence(a: Analysis) -> Iterable[str]:
    if a.held_out is None or not math.isfinite(a.held_out.prediction.pairs.correlation):
        return
    pairs = a.held_out.prediction.pairs
    yield (
        f"A model fitted to {counted(a.held_out.fitted, 'sample')} predicts the pair correlations of "
        f"{counted(a.held_out.tested, 'other')} with correlation {share(pairs.correlation)} "
        f"(a perfect model would reach {share(pairs.expected_correlation)})."
    )


def _attribution(a: Analysis) -> str:
    prior = {"gaussian": "Gaussian", "laplace": "Laplace"}[a.eb.prior]
    return (
        f"Estimates are by empirical Bayes (method {a.eb.method_}, {prior} prior of variance J²/n, rows taken as "
        f"independent samples) with bayesing {__version__}."
    )


# ------------------------------------------------------------------------------------- what to keep in mind


def notes(a: Analysis) -> list[Note]:
    """Everything that a reader should know before using the numbers."""
    found = [*_of_data(a), *_of_warnings(a), *_of_regime(a)]
    found += [Note("Left out or reduced", text, calm=True) for text in a.left_out.values()]
    independent = (
        "Rows are taken to be independent samples of one and the same model, in the estimates, in their errors and "
        "in the intervals. Errors are too small where rows follow each other in time more closely than the system "
        "forgets."
    )
    return [*found, Note("Independent rows", independent, calm=True)]


def _of_data(a: Analysis) -> Iterable[Note]:
    names, odd = a.names, a.oddities
    constant = on_constant_spins(np.abs(a.eb.moments_.magnetisations) == 1, a.source.names)
    for text in a.source.notes:
        if text not in constant:
            yield Note("Reading the data", text)
    for text in constant:
        yield Note("Constant columns", text)
    if a.N < FEW:
        yield Note("Few samples", f"There are only {a.N} samples: take every number here as a rough guide.")
    if odd.copies:
        pairs = [f"{names[i]} {'=' if sign > 0 else '= −'} {names[j]}" for i, j, sign in odd.copies]
        yield Note(
            "Duplicated columns",
            f"Some columns equal another in every sample, or its opposite: {listed(pairs)}. They count as strongly "
            "coupled spins, and one such pair may decide J: leave one of them out.",
        )
    if odd.successive is not None:
        yield Note(
            "The order of the rows matters",
            f"Successive rows resemble each other: their correlation is {number(odd.successive, 2)}, where rows in "
            f"random order have 0 ± {number(odd.shuffled, 1)}. They are not independent, and errors are larger "
            "than given. Fewer rows, farther apart, would be safer.",
        )


def _of_warnings(a: Analysis) -> Iterable[Note]:
    for warning in a.caught:
        yield Note(_titled(warning), warning.message)


def _titled(warning: Caught) -> str:
    title = _TITLES.get(warning.category, "Warning")
    if warning.step == INTERVALS and warning.category is SaturationWarning:
        title = "The interval has no end"
    return f"{title} (held-out samples)" if warning.step == PREDICTION else title


def _of_regime(a: Analysis) -> Iterable[Note]:
    eb, found = a.eb, a.interval
    if known(eb) and found is not None and not _covers(found.J, eb.J_):
        trust = (
            f"The J of the answer is the corrected one, {strength(a)}."
            if corrected(a)
            else "Neither is to be relied on: more samples would help, or another method."
        )
        yield Note(
            "Estimate and interval disagree",
            f"Data sets simulated with the J of the method {eb.method_}, {number(eb.J_)}, do not look like these. "
            f"The {100 * found.level:g}% interval is {between(found.J)}. {trust}",
        )
    leading = float(a.eigenvalues.d.max()) / a.eigenvalues.n if a.eigenvalues else 0.0
    if known(eb) and eb.at_distance_ <= NEAR and eb.method_ not in ("plefka", "susceptibility"):
        where = "beyond the edge of the spin glass" if eb.at_distance_ <= 0 else "near the spin glass"
        text = (
            "Theory for many random couplings ends there: the estimate is approximate, and its error larger than "
            "given. Intervals by simulation do not depend on theory."
            if eb.at_distance_ <= 0
            else "Errors grow there, and methods begin to differ."
        )
        yield Note(f"The data lie {where}", text)
    if leading > LEADING and a.n >= 10:
        yield Note(
            "One pattern dominates",
            f"{100 * leading:.0f}% of the variance of the spins lies along one direction. Groups that act as one, "
            "such as parties, have this effect, and so has a spin glass of few spins. J describes couplings that are "
            "random and without a mean: here look at the couplings themselves rather than at J.",
        )


# ------------------------------------------------------------------------------------ what the pictures show


def evidence_seen(a: Analysis) -> str:
    """The curve of "spectral", or the surface of "plefka"."""
    eb = a.eb
    if eb.method_ == "plefka":
        seen = (
            f"The estimate, J = {number(eb.J_)} and H = {number(eb.H_, sign=True)}, is marked."
            if math.isfinite(eb.J_)
            else "It rises without end towards strong couplings: an arrow at the edge says that there is no maximum."
        )
        return f"A map of the log evidence over J and H. {seen}"
    J = np.linspace(0, max(1.5, 1.3 * eb.J_), 200)
    curve = a.n * a.N * eb.evidence(eb.H_, J**2)
    top = int(np.nanargmax(curve))
    rise = (
        f"it rises from 0 at J = 0 to {number(float(curve[top]))} at J = {number(float(J[top]), 2)} and falls beyond"
        if top
        else "it falls from 0 at J = 0"
    )
    return (
        f"Curve of the log evidence against J from 0 to {number(float(J[-1]), 2)}: {rise}. A dashed line marks the "
        f"estimate, J = {number(eb.J_)}."
    )


def phases_seen(a: Analysis) -> str:
    """Where the point lies."""
    eb = a.eb
    J, H = (a.interval.J_corrected, a.interval.H_corrected) if a.interval else (eb.J_, eb.H_)
    side = (
        "in the paramagnet"
        if eb.at_distance_ > NEAR
        else "near the line"
        if eb.at_distance_ > 0
        else "in the spin glass"
    )
    place = (
        f"The data set is a point at J = {number(J, 2)} and H = {number(H, 2, True)}, {side}."
        if math.isfinite(J)
        else "An arrow at the edge stands for the data set, whose J has no bound."
    )
    return (
        "Plane of coupling strength J and field H. The line of de Almeida and Thouless starts at J = 1, H = 0 and "
        f"separates the paramagnet, to its left, from the spin glass. {place}"
    )


def spectrum_seen(a: Analysis) -> str:
    """How many eigenvalues stand out, and how far."""
    assert a.eigenvalues is not None
    n, nu = round(a.eigenvalues.n), a.eigenvalues.nu
    d, edge = a.eigenvalues.d, largest_of_noise(n, nu)
    beyond, largest = int(np.count_nonzero(d > edge)), number(float(d.max()))
    outside = (
        f"{counted(beyond, 'eigenvalue')} {'lies' if beyond == 1 else 'lie'} beyond it, the largest at {largest}"
        if beyond
        else f"none lies beyond it, the largest is {largest}"
    )
    zeros = f" {counted(n - int(nu), 'eigenvalue')} are 0." if nu < n else ""
    return (
        f"Histogram of the eigenvalues of the correlations of {counted(n, 'spin')}, with the curve that independent "
        f"spins would give. Noise reaches up to {number(edge)}: {outside}.{zeros}"
    )


def matrix_seen(bm: BoltzmannMachine) -> str:
    """Range, signs and zeros of the matrix."""
    n = bm.n_features_in_
    J = bm.couplings_[np.triu_indices(n, 1)]
    zero = np.count_nonzero(J == 0) / len(J)
    none = f", {100 * zero:.0f}% exactly 0" if zero else ""
    return (
        f"Matrix of the couplings of {counted(n, 'spin')}, ordered so that spins that belong together are side by "
        f"side. Couplings range from {number(float(J.min()), 2, True)} to {number(float(J.max()), 2, True)}; "
        f"{100 * np.count_nonzero(J > 0) / len(J):.0f}% are positive{none}."
    )


def network_seen(bm: BoltzmannMachine, k: int) -> str:
    """The first few chords."""
    edges = [c for c in bm.strongest(k) if c.J]
    if not edges:
        return "An empty network: there are no couplings to show."
    spins = {spin for c in edges for spin in (c.i, c.j)}
    first = "; ".join(f"{c.name_i} and {c.name_j}, {number(c.J, 2, True)}" for c in edges[:3])
    positive = sum(c.J > 0 for c in edges)
    return (
        f"Network of the {counted(len(edges), 'strongest coupling')}, between {counted(len(spins), 'spin')} on a "
        f"circle: {positive} positive, {len(edges) - positive} negative. The strongest are {first}."
    )


def prediction_seen(found: Comparison) -> str:
    """How the points scatter around the diagonal."""
    kind = {2: "pair", 3: "triplet"}[found.order]
    slope = f", slope {plus_minus(found.slope, found.slope_error)}" if math.isfinite(found.slope) else ""
    correlation = (
        f"correlation {share(found.correlation)}, where a perfect model would reach "
        f"{share(found.expected_correlation)}{slope}"
        if math.isfinite(found.correlation)
        else "predictions do not vary"
    )
    return (
        f"Scatter of {counted(len(found.observed), f'{kind} correlation')} as observed in held-out samples, from "
        f"{number(float(found.observed.min()), 2, True)} to {number(float(found.observed.max()), 2, True)}, against "
        f"those of the model, along the diagonal: {correlation}."
    )


# ------------------------------------------------------------------------------------------- smaller things


def subtitle(a: Analysis) -> str:
    """Below the title."""
    return (
        f"How strong are the couplings behind {counted(a.N, 'sample')} of {counted(a.n, 'binary variable')}?"
    )


def regime(eb: EmpiricalBayes) -> str:
    """In a word or two."""
    if not known(eb):
        return "unknown"
    if eb.at_distance_ > NEAR:
        return "paramagnet"
    if eb.method_ in ("plefka", "susceptibility"):
        return "edge of the spin glass"
    return "near the spin glass" if eb.at_distance_ > 0 else "spin glass"


def prior(bm: BoltzmannMachine) -> str:
    """Its shape, strength and penalty."""
    if bm.gamma_ is None:
        return f"none, with the method {bm.method_}"
    penalty = "" if bm.penalty_ is None else f", penalty {number(bm.penalty_)}"
    return f"{bm.prior}, of variance J²/n with J = {number(math.sqrt(bm.gamma_))}{penalty}"


def plain(reason: str) -> str:
    """A reason of the library in the letters of a printed page."""
    return re.sub(r"-(?=\d)| - ", lambda found: found[0].replace("-", "−"), reason).replace("gamma r", "γr")


def verdict(found: Comparison) -> str:
    """Whether residuals are larger than noise makes them."""
    if not math.isfinite(found.chi2):
        return "There is nothing to compare."
    if found.chi2 < 1 + 3 * found.chi2_error:
        return "Residuals of the pairs are no larger than chance makes those of a perfect model."
    excess = math.sqrt(found.chi2) - 1
    if excess < SMALL:
        return (
            f"Residuals of the pairs are {100 * excess:.0f}% larger than those of a perfect model would be."
        )
    times = f"{number(math.sqrt(found.chi2), 2)} times"
    strong = ""
    if math.isfinite(found.slope) and abs(found.slope - 1) > 3 * found.slope_error:
        strong = (
            f", and observed correlations are {'stronger' if found.slope > 1 else 'weaker'} than predicted"
        )
    return (
        f"The model falls short: residuals of the pairs are {times} as large as those of a perfect model would "
        f"be{strong}."
    )


def no_prediction(a: Analysis) -> str:
    """Why nothing was predicted."""
    return a.left_out[PREDICTION]


def method(a: Analysis) -> Iterable[str]:
    """What was done, for those who want to know."""
    yield (
        "The model is P(S) ∝ exp(Σ h_i S_i + Σ J_ij S_i S_j) with spins S_i = ±1. Couplings are taken to be many and "
        "random, of mean 0 and variance γ/n = J²/n, and empirical Bayes infers J and the field H from the samples "
        "without estimating any single coupling. The couplings follow with that prior; nothing is cross-validated."
    )
    yield (
        "Rows are assumed to be independent samples. Standard errors are those over data sets of the same size, with "
        "other couplings of the same strength; those of single couplings are posterior standard deviations."
    )
