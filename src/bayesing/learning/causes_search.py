r"""The best of several modes, and the number of common causes.

A search starts from the units of a restricted machine, which has them alone, or from a fit with a unit less, of whose
couplings the leading direction becomes a unit. Neither start is always the better one. Of the modes that they lead
to, the one of larger evidence is taken (:mod:`~bayesing.learning.causes_evidence`).

**How many?** One more after the other, as long as each gains more than :data:`LEAST_GAIN` nats, and twice the noise
of the gain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..statistics import SpinStatistics
from ..threads import Run
from ..types import Heard
from .causes import Causes, find_causes, restricted_start, split_start
from .causes_evidence import Difference, gain

LEAST_GAIN = 10.0  # nats: a unit that is not there gains from -30 to 9


class Task(NamedTuple):
    """What to fit: spins that vary, gamma of their couplings or None, and the number of spins of the prior."""

    stats: SpinStatistics
    gamma: float | None
    n_spins: int


def with_units(task: Task, k: int, before: Causes | None, seed: np.random.SeedSequence, run: Run) -> Causes:
    """The fit with k units, from both starts if there is a fit with one less."""
    first, second, third, fourth = seed.spawn(4)
    found = find_causes(task.stats, restricted_start(task.stats, k, first), *task[1:], second, run)
    if before is None:
        return found
    other = find_causes(task.stats, split_start(before), *task[1:], third, run)
    return other if gain(found, other, fourth, run).value > 0 else found


def so_many(task: Task, k: int, seed: np.random.SeedSequence, run: Run, heard: Heard) -> Causes:
    """The fit with k units, as asked."""
    first, second = seed.spawn(2)
    before = with_units(task, k - 1, None, first, run) if k else None
    heard(1, 3)
    return with_units(task, k, before, second, run)


def as_many_as_gain(
    task: Task, most: int, seed: np.random.SeedSequence, run: Run, heard: Heard
) -> tuple[Causes, Sequence[Difference]]:
    """The fit with as many units as the evidence tells, and what each of them gained, the one too many included."""
    gains: list[Difference] = []
    best: Causes | None = None
    for k, own in enumerate(seed.spawn(most + 1)):
        fit, compared = own.spawn(2)
        found = with_units(task, k, best, fit, run)
        heard(k + 1, most + 2)
        if best is not None:
            gains.append(gain(best, found, compared, run))
            if gains[-1].value <= LEAST_GAIN + 2 * gains[-1].error:
                break
        best = found
    assert best is not None
    return best, gains
