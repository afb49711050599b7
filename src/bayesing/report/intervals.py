"""Intervals by simulation, or why there are none."""

from __future__ import annotations

import numpy as np

from ..calibration import Interval
from ..empirical_bayes import EmpiricalBayes
from ..exceptions import Setting, SimulatedDataError
from . import budget
from .request import Choices
from .watch import Watch

LEVEL = 0.9  # probability that an interval covers
_LEAST_SAMPLES = 4  # that simulated data sets can be compared with
_LEAST_SPINS = 16  # that vary: strength is a matter of a few couplings otherwise


def interval_of(
    eb: EmpiricalBayes, choices: Choices, simulations: int, watch: Watch
) -> tuple[Interval | None, str]:
    """Intervals by so many simulations; or None, and a sentence that says why."""
    if why := _obstacle(eb, choices, simulations):
        return None, why
    try:
        return eb.interval(LEVEL, simulations, choices.seed, progress=watch.advance), ""
    except SimulatedDataError as error:
        return None, f"Intervals by simulation were not found: {error.worded(choices.speak)}"


def _obstacle(eb: EmpiricalBayes, choices: Choices, simulations: int) -> str:
    """Why not to simulate, if there is a reason."""
    n, N = eb.moments_.n, eb.moments_.N
    varying = int(np.count_nonzero(np.abs(eb.moments_.magnetisations) < 1))
    all_the_same = (
        f"{choices.speak(Setting('simulations', budget.LEAST_SIMULATIONS))} asks for them all the same."
    )
    if N < _LEAST_SAMPLES:
        return f"Intervals by simulation need at least {_LEAST_SAMPLES} samples: there are {N}."
    if choices.simulations == 0:
        asked = choices.speak(Setting("simulations", 0))
        return f"Intervals by simulation were left out, as asked with {asked}."
    if not eb.diagnosis_.is_weak:
        return (
            "Intervals by simulation were left out: they are by data with many weak couplings, and these data are of "
            "another kind."
        )
    if choices.simulations is None and varying < _LEAST_SPINS:
        return (
            f"Intervals by simulation were left out: with {varying} spins that vary, strength is a matter of a few "
            f"couplings, and data sets with other couplings are a poor guide. {all_the_same}"
        )
    if not simulations:
        return (
            f"Intervals by simulation were left out: to simulate data sets of {N:,} samples of {n:,} spins takes "
            f"long. {all_the_same}"
        )
    return ""
