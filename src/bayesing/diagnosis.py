r"""Where do the data lie, and can the estimate be believed? A pure function of the estimate, its method and moments.

:math:`\varepsilon = 1 - \gamma r` is the distance to the spin glass (:mod:`bayesing.replica`). All decisions are made
on :class:`Diagnosis`, whose words are made here and nowhere else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from .moments import SpinMoments
from .replica import NEAR, stability

_CLEAR = 2.0  # standard errors of gamma from 0


class Phase(Enum):
    """Where the data lie."""

    PARAMAGNET = "paramagnet"
    UNSEEN = "paramagnet, without visible couplings"
    NEAR_GLASS = "near the spin glass"
    GLASS = "spin glass"
    EDGE = "edge of the spin glass"  # or beyond: the method cannot tell
    UNKNOWN = "unknown"


class Quantity(Enum):
    """What a reason is about."""

    DISTANCE = "distance to the spin glass"
    GAMMA = "gamma at the end of its range"


@dataclass(frozen=True)
class Reason:
    """Why an estimate is not to be trusted: a quantity, its value, and the limit that it passed."""

    quantity: Quantity
    value: float
    limit: float


@dataclass(frozen=True)
class Diagnosis:
    """The phase of the data, their distance to the spin glass, and whether to trust the estimate; if not, why."""

    phase: Phase
    distance: float
    trusted: bool = True
    reasons: tuple[Reason, ...] = ()


class Estimated(Protocol):
    """What is looked at of an estimate: gamma, and the end of the range that it ran into, if any."""

    @property
    def gamma(self) -> float: ...
    @property
    def gamma_error(self) -> float: ...
    @property
    def bound(self) -> float | None: ...


class Behaviour(Protocol):
    """What is looked at of a method: does it saturate at the spin glass, hold in it, or depend on N?"""

    @property
    def saturates(self) -> bool: ...
    @property
    def in_glass(self) -> bool: ...
    @property
    def biased(self) -> bool: ...


def diagnose(estimate: Estimated, method: Behaviour, moments: SpinMoments) -> Diagnosis:
    """Phase, distance and trust."""
    distance = 1 - estimate.gamma * stability(moments)
    if method.saturates and method.biased and moments.chi_sg is not None:
        # Its gamma depends on N; this does not.
        distance = min(stability(moments) / moments.chi_sg, 1.0) if moments.chi_sg > 0 else 1.0
    if math.isinf(estimate.gamma) or estimate.bound:
        at_end = Reason(Quantity.GAMMA, estimate.gamma, estimate.bound or math.inf)
        return Diagnosis(Phase.UNKNOWN, distance, False, (at_end,))
    if distance > NEAR:
        unseen = estimate.gamma < _CLEAR * estimate.gamma_error
        return Diagnosis(Phase.UNSEEN if unseen else Phase.PARAMAGNET, distance)
    if method.saturates:
        return Diagnosis(Phase.EDGE, distance, False, (Reason(Quantity.DISTANCE, distance, NEAR),))
    if distance > 0:
        return Diagnosis(Phase.NEAR_GLASS, distance)
    if method.in_glass:
        return Diagnosis(Phase.GLASS, distance)
    return Diagnosis(Phase.GLASS, distance, False, (Reason(Quantity.DISTANCE, distance, 0.0),))


def regime(diagnosis: Diagnosis, method: str) -> str:
    """The phase in words, with what it means for the estimate of the method of that name."""
    if diagnosis.phase is Phase.GLASS and diagnosis.trusted:
        return "spin glass"
    return {
        Phase.PARAMAGNET: "paramagnet",
        Phase.UNSEEN: "paramagnet; gamma is within two standard errors of 0",
        Phase.NEAR_GLASS: "paramagnet, near the spin glass",
        Phase.GLASS: "spin glass: theory ends here, J is approximate and its error larger than given",
        Phase.EDGE: f"at the edge of the spin glass or beyond: {method} saturates here, J may be larger",
        Phase.UNKNOWN: "unknown: gamma is at the end of its range",
    }[diagnosis.phase]


def short(diagnosis: Diagnosis) -> str:
    """The phase in a word or two."""
    return "paramagnet" if diagnosis.phase is Phase.UNSEEN else diagnosis.phase.value


def at_bound(bound: float, method: str) -> str:
    """What it means that gamma ran into the end of its range."""
    return (
        f"gamma = {bound:.3g} is the largest that {method} tries, and too small. Columns that are nearly copies of "
        "each other have this effect."
    )
