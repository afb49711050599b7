r"""Where do the data lie, and can the estimate be believed? A pure function of an estimate, its method and the data.

:math:`\varepsilon = 1 - \gamma r` is the distance to the spin glass (:mod:`bayesing.replica`). Whether couplings are
many and weak, as closed forms take them to be, is read from the signs of :mod:`bayesing.weak`. Limits are such that
of 500 simulated data sets of many weak couplings (15 to 200 spins, half a sample a spin to 20, J up to 0.85, equal
and unequal fields, Gaussian and Laplace couplings) one estimate was not trusted (docs/another-kind.md). All
decisions are made on :class:`Diagnosis`; its words are in :mod:`bayesing.words`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from .moments import SpinMoments
from .replica import NEAR, stability
from .weak import LAW_HOLDS, Signs, SpectrumSigns, SumSigns

MEAN = 5.0  # of the mean correlation
_COPIES, _STANDS_OUT = 0.95, 6.0  # of the largest correlation, and relative to the others
_ORDERED = 0.9  # of J0 (1 - q)
_EDGE = 1.35  # of the largest eigenvalue over the edge of the law
_RATIO, _RATIO_ERRORS = 1.25, 5.0  # of J by susceptibility over J by spectral
_LOW_RATIO = 0.6  # where a mean coupling is left out
_SKEWNESS, _SKEWNESS_ERRORS = 0.5, 8.0
_KURTOSIS, _KURTOSIS_ERRORS = -0.5, 5.0
_UNSEEN = 5.0  # samples
_APART = 1.15  # between J with and without the prior's pull, or by two methods
_BIAS_ERRORS = 3.0  # of gamma of the method without bias
_CLEAR = 2.0  # standard errors of gamma from 0


class Phase(Enum):
    """Where the data lie."""

    PARAMAGNET = "paramagnet"
    UNSEEN = "paramagnet, without visible couplings"
    NEAR_GLASS = "near the spin glass"
    GLASS = "spin glass"
    EDGE = "edge of the spin glass"  # or beyond: the method cannot tell
    ORDERED = "ordered"
    NOT_WEAK = "not a model of many weak couplings"
    UNKNOWN = "unknown"


class Quantity(Enum):
    """What a reason is about."""

    DISTANCE = "distance to the spin glass"
    GAMMA = "gamma at the end of its range"
    MEAN = "mean correlation"
    COPIES = "largest correlation"
    SPECTRUM = "distance of the spectrum to its law"
    EDGE = "largest eigenvalue over the edge of the law"
    SUSCEPTIBILITY = "J by susceptibility over J by spectral"
    ORDER = "J0 (1 - q)"
    SKEWNESS = "skewness of the number of active spins"
    KURTOSIS = "kurtosis of the number of active spins"
    UNSEEN = "samples in states that the data never show"
    PRIOR = "J without the prior's pull over J with it"
    BIAS = "J over that of a method without bias"
    LOST = "draws that have left the data"


@dataclass(frozen=True)
class Reason:
    """Why an estimate is not to be trusted: a quantity, its value, and the limit that it passed."""

    quantity: Quantity
    value: float
    limit: float


@dataclass(frozen=True)
class Diagnosis:
    """The phase of the data, their distance to the spin glass, and whether to trust the estimate.

    ``reasons`` are why not or, for an estimate that holds for them, in what the data are of another kind.
    """

    phase: Phase
    distance: float
    trusted: bool = True
    reasons: tuple[Reason, ...] = ()

    @property
    def is_weak(self) -> bool:
        """Whether the data look like many weak couplings, perhaps with a mean, as simulated ones do."""
        return self.phase not in (Phase.ORDERED, Phase.NOT_WEAK)


class Estimated(Protocol):
    """What is looked at of an estimate: gamma, the end of the range that it ran into, and what it says of itself."""

    @property
    def gamma(self) -> float: ...
    @property
    def gamma_error(self) -> float: ...
    @property
    def bound(self) -> float | None: ...
    @property
    def pull(self) -> float | None: ...
    @property
    def lost(self) -> bool: ...


class Behaviour(Protocol):
    """What is looked at of a method: does it saturate at the spin glass, hold in it and beyond, or depend on N?"""

    @property
    def saturates(self) -> bool: ...
    @property
    def any_kind(self) -> bool: ...
    @property
    def biased(self) -> bool: ...


def doubts(signs: Signs) -> tuple[Reason, ...]:
    """In what data are not those of many weak couplings of mean 0; nothing, for those that are."""
    found = [*_of_spectrum(signs), *_of_sum(signs.sum)]
    if signs.largest > max(_COPIES, _STANDS_OUT * signs.typical):
        found.insert(0, Reason(Quantity.COPIES, signs.largest, _COPIES))
    if abs(signs.mean) > MEAN:
        found.insert(0, Reason(Quantity.MEAN, signs.mean, math.copysign(MEAN, signs.mean)))
        if signs.order > _ORDERED:
            found.append(Reason(Quantity.ORDER, signs.order, _ORDERED))
    return tuple(found)


def bias(estimate: Estimated, unbiased: Estimated, moments: SpinMoments) -> tuple[Reason, ...]:
    """Whether the J of a biased method is far from that of one without bias, in the paramagnet, where this holds."""
    gamma, error = unbiased.gamma, unbiased.gamma_error
    if (
        1 - gamma * stability(moments) < NEAR
        or gamma <= 0
        or abs(estimate.gamma - gamma) < _BIAS_ERRORS * error
    ):
        return ()
    ratio = math.sqrt(estimate.gamma / gamma)
    if 1 / _APART <= ratio <= _APART:
        return ()
    return (Reason(Quantity.BIAS, ratio, _APART if ratio > 1 else 1 / _APART),)


def is_mean_alone(found: tuple[Reason, ...]) -> bool:
    """Whether a mean coupling explains all that is odd."""
    return [reason.quantity for reason in found] == [Quantity.MEAN]


def is_ordered(found: tuple[Reason, ...]) -> bool:
    """Whether spins align by themselves."""
    return any(reason.quantity in (Quantity.ORDER, Quantity.KURTOSIS) for reason in found)


def _of_spectrum(signs: Signs) -> Iterator[Reason]:
    found: SpectrumSigns | None = signs.spectrum
    if found is None or found.g >= LAW_HOLDS:
        return
    allowed = 0.05 + (2.5 if signs.N >= signs.n else 6.0) / signs.n
    if found.distance > allowed:
        yield Reason(Quantity.SPECTRUM, found.distance, allowed)
    if found.edge > _EDGE:
        yield Reason(Quantity.EDGE, found.edge, _EDGE)
    if found.ratio > _RATIO and found.excess > _RATIO_ERRORS:
        yield Reason(Quantity.SUSCEPTIBILITY, found.ratio, _RATIO)
    if signs.with_mean and found.ratio < _LOW_RATIO and found.excess < -_RATIO_ERRORS:
        yield Reason(Quantity.SUSCEPTIBILITY, found.ratio, _LOW_RATIO)


def _of_sum(found: SumSigns | None) -> Iterator[Reason]:
    if found is None:
        return
    if abs(found.skewness) > _SKEWNESS and abs(found.skewness_errors) > _SKEWNESS_ERRORS:
        yield Reason(Quantity.SKEWNESS, found.skewness, math.copysign(_SKEWNESS, found.skewness))
    if found.kurtosis < _KURTOSIS and found.kurtosis_errors < -_KURTOSIS_ERRORS:
        yield Reason(Quantity.KURTOSIS, found.kurtosis, _KURTOSIS)
    if found.unseen > _UNSEEN:
        yield Reason(Quantity.UNSEEN, found.unseen, _UNSEEN)


def diagnose(
    estimate: Estimated,
    method: Behaviour,
    moments: SpinMoments,
    found: tuple[Reason, ...] = (),
    mean_coupling: bool = False,
    biased: tuple[Reason, ...] = (),
) -> Diagnosis:
    """Phase, distance and trust, given the doubts; ``mean_coupling`` says that the estimate allows for a mean."""
    distance = 1 - estimate.gamma * stability(moments)
    if method.saturates and method.biased and moments.chi_sg is not None:
        # Its gamma depends on N; this does not.
        distance = min(stability(moments) / moments.chi_sg, 1.0) if moments.chi_sg > 0 else 1.0
    if math.isinf(estimate.gamma) or estimate.bound:
        at_end = Reason(Quantity.GAMMA, estimate.gamma, estimate.bound or math.inf)
        return Diagnosis(Phase.UNKNOWN, distance, False, (at_end, *found))
    if mean_coupling and is_mean_alone(found):
        found = ()
    own = (*_of_estimate(estimate), *biased)
    if own or found:
        if not found:
            pulled = any(reason.quantity is Quantity.PRIOR for reason in own)
            return Diagnosis(Phase.NOT_WEAK if pulled else _phase(estimate, distance), distance, False, own)
        phase = Phase.ORDERED if is_ordered(found) else Phase.NOT_WEAK
        return Diagnosis(phase, distance, method.any_kind and not own, (*own, *found))
    phase = _phase(estimate, distance)
    if distance > NEAR:
        return Diagnosis(phase, distance)
    if method.saturates:
        return Diagnosis(Phase.EDGE, distance, False, (Reason(Quantity.DISTANCE, distance, NEAR),))
    if distance > 0 or method.any_kind:
        return Diagnosis(phase, distance)
    return Diagnosis(phase, distance, False, (Reason(Quantity.DISTANCE, distance, 0.0),))


def _phase(estimate: Estimated, distance: float) -> Phase:
    """Of many weak couplings."""
    if distance > NEAR:
        return Phase.UNSEEN if estimate.gamma < _CLEAR * estimate.gamma_error else Phase.PARAMAGNET
    return Phase.NEAR_GLASS if distance > 0 else Phase.GLASS


def _of_estimate(estimate: Estimated) -> Iterator[Reason]:
    """What an estimate says against itself."""
    if estimate.lost:
        yield Reason(Quantity.LOST, 1.0, 0.0)
    if estimate.pull is not None and not 1 / _APART <= estimate.pull <= _APART:
        yield Reason(Quantity.PRIOR, estimate.pull, _APART if estimate.pull > 1 else 1 / _APART)
