"""What is found when two groups are compared: differences of couplings, of fields and of the overall strength.

Every difference is the first group minus the second.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from ._permutation import PermutationTest
from ._told import GroupStrength
from .arguments import number
from .check import Check
from .edges import FDR
from .mixture import discoveries
from .types import Array, Flags, Indices

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.9  # of intervals of the strength
_ONE_ERROR = math.erf(1 / math.sqrt(2))  # level of an interval of one standard error to both sides


class Difference(NamedTuple):
    """One coupling, between the columns i < j, in both groups, and by how much it differs: a minus b.

    ``J_a`` and ``J_b`` are those of the two fits, each pulled towards 0 by its own prior. ``difference`` is inferred
    from what the data alone say, with a prior of its own: it is near 0 where the data do not show a difference, and
    is not J_a - J_b. ``probability`` is that the coupling differs at all.
    """

    i: int
    j: int
    name_i: str
    name_j: str
    J_a: float
    J_b: float
    difference: float
    error: float
    probability: float


class FieldDifference(NamedTuple):
    """The field of column i in both groups, by how much it differs (a minus b), and a two-sided p-value.

    ``error``, ``z`` and ``p_value`` are None if one of the fits has no errors of fields.
    """

    i: int
    name: str
    h_a: float
    h_b: float
    difference: float
    error: float | None
    z: float | None
    p_value: float | None


class LeftOut(NamedTuple):
    """A column that is not compared, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class StrengthDifference:
    """Overall strength J of the couplings of both groups, and how much they differ: a minus b.

    J is the root of n times the mean square of all couplings, without what noise adds to it.
    """

    a: GroupStrength
    b: GroupStrength

    @property
    def J_a(self) -> float:
        """Of the first group."""
        return self.a.J

    @property
    def J_b(self) -> float:
        """Of the second group."""
        return self.b.J

    @property
    def value(self) -> float:
        """J_a - J_b."""
        return self.J_a - self.J_b

    @property
    def error(self) -> float:
        """Half of the interval that holds 68%: the standard error, unless J is near 0."""
        low, high = self.interval(_ONE_ERROR)
        return (high - low) / 2

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """An interval of the difference, from those of both J (the method of G. Zou and A. Donner, 2008).

        J is not below 0: near 0 its interval is longer upwards, and so is that of the difference.
        """
        level = number("level", level, least=0, most=1)
        z = float(scipy.special.ndtri((1 + level) / 2))
        (low_a, high_a), (low_b, high_b) = self.a.ends(z), self.b.ends(z)
        low = self.value - math.hypot(self.J_a - low_a, high_b - self.J_b)
        return low, self.value + math.hypot(high_a - self.J_a, self.J_b - low_b)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Which couplings differ between two groups; matrices are n x n, over the columns that are compared.

    Differences are the first group minus the second. ``names`` are the columns, ``left_out`` those that cannot be
    compared. ``checks`` say of both fits whether samples of the model look like the data.
    """

    groups: tuple[str, str]
    names: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    couplings: tuple[Array, Array]  #: J_ij of both fits.
    edge_probabilities: tuple[Array, Array]  #: That a coupling is there, in each group by itself.
    differences: Array
    errors: Array  #: Standard errors of the differences.
    probabilities: Array  #: That a coupling differs.
    false_sign_rates: Array  #: Probability that a difference is 0, or has the other sign.
    fields: tuple[FieldDifference, ...]
    strength: StrengthDifference
    test: PermutationTest | None
    checks: tuple[Check | None, Check | None]

    @property
    def trusted(self) -> bool:
        """Whether no fit has failed its check."""
        return all(check is None or check.passed for check in self.checks)

    def pairs(self) -> Iterator[Difference]:
        """Every coupling i < j, row by row."""
        return self._listed(np.arange(len(self._upper[0])))

    def edge_flags(self, fdr: float = FDR) -> Flags:
        """Which of the ``pairs`` differ; a share ``fdr`` of them is expected not to."""
        return discoveries(self.probabilities[self._upper], number("fdr", fdr, least=0, most=1))

    def edges(self, fdr: float = FDR) -> list[Difference]:
        """The couplings that differ, the most probable first; a share ``fdr`` of them is expected not to."""
        order = np.lexsort((-np.abs(self.differences[self._upper]), -self.probabilities[self._upper]))
        return list(self._listed(order[self.edge_flags(fdr)[order]]))

    def differing_fields(self, fdr: float = FDR) -> list[FieldDifference]:
        """The fields that differ, the most significant first, by the rule of Y. Benjamini and Y. Hochberg (1995)."""
        fdr = number("fdr", fdr, least=0, most=1)
        tested = sorted(
            ((found.p_value, found) for found in self.fields if found.p_value is not None), key=lambda x: x[0]
        )
        small = [k for k, (p, _) in enumerate(tested, 1) if p <= fdr * k / len(tested)]
        return [found for _, found in tested[: max(small, default=0)]]

    def to_frame(self, fdr: float = FDR) -> pd.DataFrame:
        """A pandas data frame with a row for every coupling i < j, and whether it differs."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install 'bayesing[data]'.") from error
        frame = pd.DataFrame(list(self.pairs()), columns=list(Difference._fields))
        frame["differs"] = self.edge_flags(fdr)
        return frame

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        n, pairs, found = len(self.names), len(self._upper[0]), len(self.edges())
        a, b = self.groups
        low, high = self.strength.interval()
        words = [
            f"{found} of {pairs} couplings of {n} spins differ between {a} and {b}, at an expected share of "
            f"{FDR:.0%} false ones.",
            f"The overall strength J is {self.strength.J_a:.2f} in {a} and {self.strength.J_b:.2f} in {b}: a "
            f"difference of {self.strength.value:+.2f}, from {low:+.2f} to {high:+.2f} with {LEVEL:.0%} confidence.",
        ]
        if self.test:
            p, K = self.test.p_value, self.test.permutations
            words.append(f"Of the test that nothing differs, p = {p:.2g} ({K} permutations).")
        if not self.trusted:
            words.append("Samples of a fitted model do not look like its data: take all of this with care.")
        return " ".join(words)

    def __repr__(self) -> str:
        return f"<Comparison of {self.groups[0]} minus {self.groups[1]}: {self.sentence}>"

    @property
    def _upper(self) -> tuple[Indices, Indices]:
        i, j = np.triu_indices(len(self.names), 1)
        return i, j

    def _listed(self, order: Indices) -> Iterator[Difference]:
        i, j = (index[order] for index in self._upper)
        matrices = (*self.couplings, self.differences, self.errors, self.probabilities)
        columns = (x.tolist() for x in (i, j, *(matrix[i, j] for matrix in matrices)))
        for a, b, *found in zip(*columns, strict=True):
            yield Difference(a, b, self.names[a], self.names[b], *found)
