"""The answer: sentences to paste into a paper."""

from __future__ import annotations

import math
from collections.abc import Iterable

from .. import __version__
from ..calibration import Interval
from ..diagnosis import Phase
from ..edges import FDR
from ..empirical_bayes import EmpiricalBayes
from ..words import sentences
from .analysis import Analysis
from .format import between, ceiling, counted, listed, number, percent, plus_minus, rounded, share
from .intervals import LEVEL

_PERCENT = f"{100 * LEVEL:g}%"
_LOADED = 3  # names of what a common cause loads on
_UNSEEN = 1.64  # standard errors of gamma that couplings may reach and go unnoticed: a 5% chance


def known(eb: EmpiricalBayes) -> bool:
    """Whether J is an estimate at all, and not the end of a range."""
    return eb.diagnosis_.phase is not Phase.UNKNOWN


def disagrees(a: Analysis) -> bool:
    """Whether simulated data sets contradict the estimate."""
    return known(a.eb) and a.interval is not None and not _covers(a.interval.J, a.eb.J_)


def corrected(a: Analysis) -> bool:
    """Whether simulated data sets contradict the estimate, and say by how much: theirs is the better one then."""
    return disagrees(a) and a.interval is not None and math.isfinite(a.interval.J[1])


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
    return [sentence for paragraph in paragraphs(a) for sentence in paragraph]


def paragraphs(a: Analysis) -> list[list[str]]:
    """The network, whether to believe it, how strong the couplings are together, and how all was found."""
    missing = f", with {percent(a.gaps.share)} of the cells missing" if a.gaps else ""
    network = (f"The data are {counted(a.N, 'sample')} of {counted(a.n, 'binary variable')}{missing}.",)
    found = [
        [*network, *_edges_sentence(a), *_strongest_sentence(a), *_causes_sentence(a)],
        [*_check_sentence(a), *_prediction_sentence(a)],
        [_couplings_sentence(a), *_doubts(a), _field_sentence(a.eb, a.interval), _regime_sentence(a)],
        [_attribution(a)],
    ]
    return [paragraph for paragraph in found if paragraph]


def _couplings_sentence(a: Analysis) -> str:
    eb, found = a.eb, a.interval
    if not known(eb):
        return _undetermined(eb, found)
    interval = f" ({_PERCENT} interval {between(found.J)})" if found else ""
    if eb.gamma_ == 0:
        return f"No couplings are seen: J = {strength(a)}{interval}.{_unseen(eb, found)}"
    size = f"couplings of typical size J/√n = {number(best(a) / math.sqrt(a.n), 2)}"
    if eb.diagnosis_.phase is Phase.UNSEEN:
        return (
            f"Their strength is J = {strength(a)}{interval}: {size}, which is hardly distinguished from none."
        )
    alone = (
        f" This J is corrected by simulation; the method {eb.method_} alone gives {plus_minus(eb.J_, eb.J_error_)}."
        if corrected(a)
        else ""
    )
    return f"The strength of all couplings together is J = {strength(a)}{interval}: {size}.{alone}"


def _undetermined(eb: EmpiricalBayes, found: Interval | None) -> str:
    """Why there is no J, and what simulations say of it."""
    why = (
        "the evidence grows without bound as the couplings grow"
        if math.isinf(eb.J_)
        else f"it lies at the end of the range that {eb.method_} searches"
    )
    simulated = (
        f" By simulation, J lies between {between(found.J, joined='and')} ({_PERCENT} interval)."
        if found and math.isfinite(found.J[1])
        else ""
    )
    return f"The strength J of the couplings is not determined: {why}.{simulated}"


def _unseen(eb: EmpiricalBayes, found: Interval | None) -> str:
    """How strong couplings may be that are not seen."""
    closed = found is not None and math.isfinite(found.J[1])
    most = found.J[1] if found and closed else math.sqrt(_UNSEEN * eb.gamma_error_)
    if not math.isfinite(most):
        return " Whether strong ones would be seen in so few data is unknown."
    return f" Couplings of J up to about {number(most, 2)} would go unnoticed in so few data."


def _doubts(a: Analysis) -> Iterable[str]:
    """Whether J can be believed where the data are of another kind than many weak couplings; why is a note."""
    found = a.eb.diagnosis_
    if not sentences(found):
        return
    if found.trusted:
        yield f"The data are not of many weak couplings, but the method {a.eb.method_} holds for such data, too."
    else:
        yield f"But J by {a.eb.method_} is not to be believed for these data."


def _check_sentence(a: Analysis) -> Iterable[str]:
    found = a.couplings.machine.check_ if a.couplings else None
    if found is None:
        return
    if not found.passed:
        yield found.worded(a.choices.speak)
        return
    more = "more" if found.gain > 0 else "less"
    yield (
        "Samples of the fitted model look like the data, which are "
        f"{number(abs(found.gain), 2)} nats a sample {more} probable under it than if all variables were independent."
    )


def _field_sentence(eb: EmpiricalBayes, found: Interval | None) -> str:
    if not math.isfinite(eb.H_):
        return f"The field H is not determined; the mean spin is {number(eb.answer_.magnetisation, 2, True)}."
    interval = f" ({_PERCENT} interval {between(found.H, True)})" if found else ""
    ends = found.H if found and all(map(math.isfinite, found.H)) else None
    if not math.isfinite(eb.H_error_):
        verdict = ""
    elif ends[0] <= 0 <= ends[1] if ends else abs(eb.H_) < 2 * eb.H_error_:
        verdict = ", compatible with no field"
    else:
        verdict = f", which favours {'+1' if eb.H_ > 0 else '−1'}"
    return f"The field is H = {plus_minus(eb.H_, eb.H_error_, True)}{interval}{verdict}."


def _regime_sentence(a: Analysis) -> str:
    eb, phase = a.eb, a.eb.diagnosis_.phase
    distance = f"1 − γr = {number(eb.diagnosis_.distance, 2)}"
    if phase is Phase.UNKNOWN:
        return "Where the data lie among the phases of the model is therefore unknown."
    if phase in (Phase.PARAMAGNET, Phase.UNSEEN):
        free = "spins fluctuate freely, and the estimate holds" if eb.gamma_ else "spins fluctuate freely"
        return f"This is a paramagnet ({distance}): {free}."
    if phase is Phase.EDGE:
        return (
            f"This is the edge of the spin glass or beyond it ({distance}), where the method {eb.method_} saturates: "
            "J may be larger than given."
        )
    if phase is Phase.ORDERED:
        return f"The spins are ordered: they align by themselves, in one state or another ({distance})."
    if phase is Phase.NOT_WEAK:
        return "Phases are defined for many weak couplings, and these are not."
    if phase is Phase.GLASS and eb.diagnosis_.trusted:
        return f"This is a spin glass ({distance}): many states compete."
    if phase is Phase.NEAR_GLASS:
        return f"This is a paramagnet near the spin glass ({distance}): J is determined, with less certainty."
    beyond = f"This is beyond the edge of the spin glass ({distance}), where theory ends: "
    if a.interval:
        return beyond + "the interval, by simulation, is what to rely on."
    return beyond + "J is approximate, and its error larger than given."


def _causes_sentence(a: Analysis) -> Iterable[str]:
    """What common causes there are, if they were asked for."""
    if a.couplings is None or not a.choices.n_hidden:
        return
    if not a.couplings.causes:
        yield "No common cause of many spins is seen beside the couplings."
        return
    each = []
    for cause in a.couplings.causes:
        names = [loading.name_i for loading in cause.clear(a.n)]
        what = f"loads on {listed(names, _LOADED)}" if names else "loads on nothing clearly"
        each.append(f"{cause.name}, on in {percent(cause.on)} of the samples, {what}")
    many = counted(len(each), "common cause")
    yield f"Beside the couplings there {'is' if len(each) == 1 else 'are'} {many}: {'; '.join(each)}."


def _strongest_sentence(a: Analysis) -> Iterable[str]:
    if a.couplings is None or not a.couplings.any:
        return
    first = a.couplings.strongest[0]
    value = plus_minus(first.J, first.error, True)
    kind = "The coupling" if a.n == 2 else "The strongest coupling is"
    if a.n == 2:
        yield f"{kind} of {first.name_i} and {first.name_j} is {value}."
    else:
        yield f"{kind} {value}, between {first.name_i} and {first.name_j}."


def _edges_sentence(a: Analysis) -> Iterable[str]:
    """How many couplings are there, and how many of them are expected to be false."""
    found = a.couplings
    if found is None or a.n < 3:
        return
    pairs = a.n * (a.n - 1) // 2
    if not found.edges:
        clear = "is clearly there" if found.is_sparse else "has a clear sign"
        yield f"No coupling {clear}, if a share of {100 * FDR:g}% may be false."
        return
    many, one = f"Of {pairs:,} pairs {len(found.edges):,}", len(found.edges) == 1
    if found.is_sparse:
        yield (
            f"{many} {'is an edge' if one else 'are edges'} of the network, couplings that can be told from 0 (false "
            f"discovery rate {100 * FDR:g}%): {found.false:.1f} are expected to be false."
        )
    else:
        yield (
            f"{many} {'has a coupling' if one else 'have couplings'} whose sign is clear (false discovery rate "
            f"{100 * FDR:g}%): {found.false:.1f} are expected to have the other sign. This prior takes no coupling "
            "to be 0; a sparse prior asks which pairs are edges of a network."
        )


def _prediction_sentence(a: Analysis) -> Iterable[str]:
    if a.held_out is None or not math.isfinite(a.held_out.prediction.pairs.correlation):
        return
    pairs = a.held_out.prediction.pairs
    yield (
        f"A model fitted to {counted(a.held_out.fitted, 'sample')} predicts the pair correlations of "
        f"{counted(a.held_out.tested, 'other')} with correlation {share(pairs.correlation)}{ceiling(pairs)}."
    )


def _attribution(a: Analysis) -> str:
    prior = {"gaussian": "Gaussian", "laplace": "Laplace"}[a.eb.prior]
    rows = "in the order of time" if a.choices.series else "taken as independent samples"
    sparse = (
        f" Couplings and edges are by {a.couplings.machine.method_} with a sparse prior."
        if a.couplings and a.couplings.is_sparse
        else ""
    )
    return (
        f"Estimates are by empirical Bayes (method {a.eb.method_}, {prior} prior of variance J²/n, rows {rows}) with "
        f"bayesing {__version__}.{sparse}"
    )
