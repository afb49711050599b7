r"""Estimates from rows that remember: a few thinned data sets, each fitted by itself, and the mean of what they say.

Methods take rows to be independent, and their estimates have no bias for few samples. Every T-th row is a data set
of independent rows (:mod:`bayesing.series`), so that thinning costs precision, not truth, and data sets that start
with other rows win most of it back. An evidence that is told a smaller number of samples for all rows would not do:
it makes J a tenth too small, because the noise of rows that remember is not that of fewer rows.

Errors are those of a thinned data set, less what the mean over several wins: for gamma as in
:meth:`~bayesing.series.Memory.variance_of_mean`. For H and J0 the formulas of :mod:`bayesing.replica` say what they
would be with the effective numbers of samples in place of the rows of a thinned data set.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from .couplings import Strength
from .exceptions import InputError, Setting
from .moments import SpinMoments
from .replica import mean_coupling, mean_field
from .series import Memory
from .statistics import SpinStatistics
from .strength import Estimate
from .strength._method import Evidence
from .types import Array

LEAST_ROWS = 10  # of a thinned data set


@dataclass(frozen=True, eq=False)
class Thinned:
    """Rows that remember, as a few data sets of rows that do not, which start with the rows ``starts``."""

    memory: Memory
    starts: tuple[int, ...]
    parts: tuple[SpinStatistics, ...]

    @classmethod
    def of(cls, data: SpinStatistics) -> Thinned | None:
        """None where rows do not remember; an error where they remember for too long."""
        if data.rows is None:
            raise InputError(
                Setting("series", True),
                " needs all rows at once, in their order: found sums and products alone, of data that were read in "
                "batches.",
            )
        data.check_variation()
        memory = data.memory
        if memory.lag == 1:
            return None
        starts = memory.starts()
        parts = tuple(data.take(memory.thinned(start)) for start in starts)
        fewest = min(part.N for part in parts)
        if fewest < LEAST_ROWS:
            long = f"at least {memory.stride}" if not memory.forgets else f"{memory.lag}"
            raise InputError(
                f"The rows remember for too long: {data.N} of them, whose autocorrelation is below 0.1 after {long} "
                f"rows, leave {fewest} that are independent, and {LEAST_ROWS} are needed. A mean that drifts has the "
                "same effect. Record for longer, or cut the data into parts."
            )
        return cls(memory, starts, parts)

    def averaged(self, found: Sequence[Estimate]) -> Estimate:
        """The mean of estimates by all parts."""
        gamma = float(np.mean([each.gamma for each in found]))
        one = _root_mean_square([each.gamma_error for each in found])
        error = one * math.sqrt(self.memory.variance_of_mean(gamma, self.starts))
        J0 = float(np.mean([each.J0 for each in found]))
        for_H, for_J0 = self._shares(gamma, one, error, J0, any(each.J0_error for each in found))
        return replace(
            found[0],
            gamma=gamma,
            gamma_error=error,
            H=float(np.mean([each.H for each in found])),
            H_error=for_H * _root_mean_square([each.H_error for each in found]),
            J0=J0,
            J0_error=for_J0 * _root_mean_square([each.J0_error for each in found]),
            bound=next((each.bound for each in found if each.bound is not None), None),
            case=_agreed([each.case for each in found]),
            evidence=_mean_evidence([each.evidence for each in found]),
            lost=any(each.lost for each in found),
            warnings=tuple({str(warning): warning for each in found for warning in each.warnings}.values()),
        )

    def averaged_strength(self, found: Sequence[Strength]) -> Strength:
        """The same for strengths of a prior."""
        gamma = float(np.mean([each.gamma for each in found]))
        share = math.sqrt(self.memory.variance_of_mean(gamma, self.starts))
        bound = next((each.bound for each in found if each.bound is not None), None)
        return Strength(gamma, share * _root_mean_square([each.error for each in found]), bound)

    def _shares(
        self, gamma: float, one: float, error: float, J0: float, has_mean: bool
    ) -> tuple[float, float]:
        """Errors of H and J0 by all rows, relative to those by a thinned data set."""
        moments = self.parts[0].kept.moments
        if not (math.isfinite(gamma) and math.isfinite(one)):
            return 1.0, 1.0
        of_J0 = 0.0, 0.0
        if has_mean:
            products = _with_samples(moments, self.memory.effective)
            of_J0 = mean_coupling(moments, gamma)[1], mean_coupling(products, gamma)[1]
        means = _with_samples(moments, self.memory.effective_for_means)
        before = mean_field(moments, gamma, one, J0, of_J0[0])[1]
        after = mean_field(means, gamma, error, J0, of_J0[1])[1]
        return min(after / before, 1.0), min(of_J0[1] / of_J0[0], 1.0) if has_mean else 1.0

    def variances(self, gamma: float) -> tuple[float, float]:
        """Of what all parts show, relative to one of them: of a statistic of couplings, and of the mean spin."""
        of_means, _ = self._shares(gamma, 0.0, 0.0, 0.0, False)
        return self.memory.variance_of_mean(gamma, self.starts), of_means**2


def _with_samples(moments: SpinMoments, N: float) -> SpinMoments:
    """The same moments, as if they were of so many samples."""
    more = N / moments.N
    counts = None if moments.counts is None else moments.counts * more
    common = None if moments.common is None else moments.common * more
    return replace(moments, N=N, counts=counts, common=common)  # type: ignore[arg-type]


def _root_mean_square(errors: Sequence[float]) -> float:
    return math.sqrt(float(np.mean(np.square(errors))))


def _agreed(cases: Sequence[str | None]) -> str | None:
    """What all of them say, else what is in the middle of two."""
    return cases[0] if len(set(cases)) == 1 else "interior"


def _mean_evidence(found: Sequence[Evidence | None]) -> Evidence | None:
    """The mean of several."""
    have = [each for each in found if each is not None]
    if len(have) < len(found):
        return None

    def at(H: ArrayLike, gamma: ArrayLike) -> Array:
        return np.asarray(np.mean([each.at(H, gamma) for each in have], axis=0))

    return Evidence(have[0].kind, at)
