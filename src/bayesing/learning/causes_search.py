r"""The best of several modes, and the number of common causes.

**Two starts.** The posterior has several modes. A search starts from the units of a restricted machine, which has
them alone. It may leave a unit at the level of noise that another start finds: a fit with a unit less, of whose
couplings the leading direction becomes a unit. So the second start is tried where the first one does not end with
clear units, :math:`\sum_i W_{ia}^2/\operatorname{Var} W_{ia}` above ``CLEAR`` n, or does not gain. The evidence
(:mod:`~bayesing.learning.causes_evidence`) decides between both.

**How many?** One more after the other, as long as each gains more than ``LEAST_GAIN`` nats, ``A_PAIR`` for each pair
of spins, and twice the noise of the gain. Both machines that are compared have the same gamma of couplings: where
spins are rare, the likelihood of a coupling is skewed, and Laplace's approximation favours a large gamma by a
hundredth of a nat for each pair. What is common to both machines cancels. Then gamma is inferred from the start that
was the better one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..statistics import SpinStatistics
from ..threads import Run
from ..types import Heard
from .causes import Causes, Start, find_causes, restricted_start, split_start
from .causes_evidence import Difference, gain

LEAST_GAIN = 10.0  # nats; units that are not there gained from -30 to 9
A_PAIR = (
    0.01  # nats for each pair, by which Laplace's approximation may be off: 20 were seen for 60 rare spins
)
CLEAR = (
    6.0  # mean square of weights in standard errors: 10 and more of units that are there, 2 to 4 of others
)


class Task(NamedTuple):
    """What to fit: spins that vary, gamma of their couplings or None, and the number of spins of the prior."""

    stats: SpinStatistics
    gamma: float | None
    n_spins: int


def so_many(task: Task, k: int, seed: np.random.SeedSequence, run: Run, heard: Heard) -> Causes:
    """The fit with k units, as asked; a search that got lost is tried once more."""
    first, second, third, fourth, again = seed.spawn(5)
    found = _from_restricted(task, k, first, run)
    if not found.mode.settled:
        found = _from_restricted(task, k, again, run)
    heard(1, 2)
    if _clear(found):
        return found
    before = _from_restricted(task, k - 1, second, run)
    other = find_causes(task.stats, split_start(before), *task[1:], third, run)
    if found.mode.settled != other.mode.settled:
        return found if found.mode.settled else other
    return other if gain(found, other, fourth, run).value > 0 else found


def as_many_as_gain(
    task: Task, most: int, seed: np.random.SeedSequence, run: Run, heard: Heard
) -> tuple[Causes, Sequence[Difference]]:
    """The fit with as many units as the evidence tells, and what each of them gained, the one too many included."""
    none, *others = seed.spawn(most + 1)
    best, gains = _from_restricted(task, 0, none, run), list[Difference]()
    for k, own in enumerate(others, 1):
        heard(k, most + 2)
        trial, refit = own.spawn(2)
        start, gained = _another(task, best, trial, run)
        gains.append(gained)
        if not _enough(gained, task):
            break
        best = find_causes(task.stats, start, *task[1:], refit, run)
    return best, gains


def _another(task: Task, before: Causes, seed: np.random.SeedSequence, run: Run) -> tuple[Start, Difference]:
    """The start for one unit more that gains more, at the gamma of before, and this gain."""
    first, second = seed.spawn(2)
    starts = (restricted_start(task.stats, len(before.units) + 1, first), split_start(before))
    gains: list[Difference] = []
    for start, own in zip(starts, second.spawn(2), strict=True):
        fit, compared = own.spawn(2)
        found = find_causes(task.stats, start, before.mode.gamma, task.n_spins, fit, run)
        gains.append(gain(before, found, compared, run))
        if _enough(gains[-1], task):
            break
    best = int(np.argmax([gained.value for gained in gains]))
    return starts[best], gains[best]


def _from_restricted(task: Task, k: int, seed: np.random.SeedSequence, run: Run) -> Causes:
    first, second = seed.spawn(2)
    return find_causes(task.stats, restricted_start(task.stats, k, first), *task[1:], second, run)


def _enough(gained: Difference, task: Task) -> bool:
    n = task.stats.n
    return gained.value > max(LEAST_GAIN, A_PAIR * n * (n - 1) / 2) + 2 * gained.error


def _clear(found: Causes) -> bool:
    """Whether every unit stands out of the noise; so does none."""
    n = found.data.n - found.data.hidden
    W, variances = found.mode.J[:n, n:], found.mode.metric.variances(found.data.d)[0][:n, n:]
    return bool(((W**2 / variances).mean(axis=0) > CLEAR).all())
