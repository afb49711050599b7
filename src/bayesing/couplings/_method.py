"""What a method that infers couplings is, takes and gives."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from ..arguments import Seed
from ..conditionals import curvature, fields_of
from ..statistics import SpinStatistics
from ..types import Array, Heard, Indices

AUTO_HIDDEN = "auto"  # as many hidden units as the evidence tells


class Strength(NamedTuple):
    """gamma, the strength of the prior, with its standard error, and a bound it hit, if any."""

    gamma: float
    error: float = 0.0
    bound: float | None = None

    def over(self, worth: float) -> Strength:
        """For independent rows, from that beside rows which are ``worth`` less."""
        return self if worth == 1 else Strength(self.gamma / worth, self.error / worth, self.bound)

    @property
    def expected(self) -> float:
        """The mean of gamma, not below 0, given estimate and error: larger where they are of the same size."""
        if not 0 < self.error < math.inf:
            return self.gamma
        a = self.gamma / self.error
        density = math.exp(-(a**2) / 2) / math.sqrt(2 * math.pi)
        return self.gamma + self.error * density / (0.5 + math.erf(a / math.sqrt(2)) / 2)

    def widen(self, errors: Array, n: int) -> Array:
        """Errors of couplings of n spins given gamma, with ``expected`` in its place: one prior for another."""
        if self.gamma == 0 or self.expected == self.gamma:
            return errors
        variance = errors**2
        return np.asarray(np.sqrt(variance / (1 - variance * (n / self.gamma - n / self.expected))))


class CouplingOptions(NamedTuple):
    """What a method is told: the strength of the prior, its name, a seed, and who hears of progress.

    ``strength`` is None for methods without a prior, and for those that infer it, unless it is given.
    """

    strength: Strength | None = None
    prior: str = "gaussian"
    seed: Seed = None
    progress: Heard | None = None
    n_hidden: int | str = 0  # hidden units, or AUTO_HIDDEN
    worth: float = 1.0  # of a row, in independent rows: priors that a method infers itself need to know


class Band(NamedTuple):
    """Successive rows, by their numbers, and their couplings, with errors, to the spins from the first row's on.

    Pairs i < j are all there. Others, of which the matrices have a few, are to be left out.
    """

    rows: Indices
    J: Array
    error: Array


#: What is made of some bands.
Reduced = TypeVar("Reduced")


class Couplings(Protocol):
    """Couplings with standard errors, by rows, and fields: what every method gives.

    ``penalty`` is that of a method with a penalty, ``field_errors`` and ``strength`` are of methods that infer them,
    and ``warnings`` are for whoever asked.
    """

    @property
    def fields(self) -> Array: ...
    @property
    def penalty(self) -> float | None: ...
    @property
    def warnings(self) -> tuple[Warning, ...]: ...
    @property
    def field_errors(self) -> Array | None: ...
    @property
    def strength(self) -> Strength | None: ...

    def rows(self, chosen: Any = ...) -> tuple[Array, Array]:
        """Couplings of the spins ``chosen`` to all n, and their errors."""
        ...

    def bands(self) -> Iterator[Band]:
        """All pairs i < j, some rows at a time."""
        ...

    def over(self, task: Callable[[Iterator[Band]], Reduced]) -> list[Reduced]:
        """The same, in several parts at the same time: what ``task`` makes of each of them, in order."""
        ...


@dataclass(frozen=True, eq=False)
class DenseCouplings:
    """Couplings and their standard errors (n x n, symmetric, 0 on the diagonal), and fields (n)."""

    matrix: Array
    errors: Array
    fields: Array
    penalty: float | None = None
    warnings: tuple[Warning, ...] = ()
    field_errors: Array | None = None
    strength: Strength | None = None

    def rows(self, chosen: Any = slice(None)) -> tuple[Array, Array]:
        """Couplings of the spins ``chosen`` to all n, and their errors."""
        return self.matrix[chosen], self.errors[chosen]

    def bands(self) -> Iterator[Band]:
        """All rows at once."""
        yield Band(np.arange(len(self.matrix)), self.matrix, self.errors)

    def over(self, task: Callable[[Iterator[Band]], Reduced]) -> list[Reduced]:
        """What ``task`` makes of all rows at once."""
        return [task(self.bands())]


@dataclass(frozen=True)
class CouplingMethod:
    """A method: what it is called, what it does in a line, and what it can do.

    ``fit`` infers :class:`Couplings` from data.
    """

    name: str
    about: str  #: What it is, in a line.
    fit: Callable[[SpinStatistics, CouplingOptions], Couplings]
    needs_rows: bool = False  #: Whether sums and products are not enough.
    least_samples: int = 2  #: N from which it works at all.
    priors: tuple[str, ...] = ()  #: Names of the priors that it has; none for methods without a prior.
    infers_strength: bool = False  #: Whether it infers the strength of its prior together with the couplings.
    searches: bool = False  #: Whether it goes through all samples again and again.
    hidden: bool = False  #: Whether it can have hidden units.
    uses_missing: bool = False  #: Whether it can use rows with missing cells.
    missing_needs_rows: bool = False  #: Whether sums and products are then not enough.
    holds: str = ""  #: Where it holds, in a line.


D = TypeVar("D", bound=DenseCouplings)


def independent(found: D, worth: float) -> D:
    """What was found beside rows that are ``worth`` less than independent ones, with errors as they are then."""
    if worth == 1:
        return found
    wider = 1 / math.sqrt(worth)
    of_fields = None if found.field_errors is None else wider * found.field_errors
    strength = found.strength and found.strength.over(worth)
    return replace(found, errors=wider * found.errors, field_errors=of_fields, strength=strength)


def no_couplings(stats: SpinStatistics, strength: Strength, penalty: float | None = None) -> DenseCouplings:
    """All couplings 0, where gamma is, give or take what its error allows; the strength is handed on."""
    n = stats.n
    errors = np.full((n, n), math.sqrt(strength.expected / n))
    np.fill_diagonal(errors, 0.0)
    fields = fields_of(stats.sums, stats.counts)
    return DenseCouplings(np.zeros((n, n)), errors, fields, penalty, strength=strength)


def field_errors(stats: SpinStatistics, of_varying: Array, unknown: float) -> Array:
    """Errors of all fields, from those of spins that vary and the deviation of couplings that are unknown.

    The data say nothing of couplings of constant spins, and fields make up for them.
    """
    variances = 1 / (stats.counts * curvature(fields_of(stats.sums, stats.counts)) + 1)
    variances[stats.varying] = of_varying**2
    within = np.zeros((len(of_varying), len(of_varying)))
    unknowns = embed(within, stats.varying, stats.n, unknown**2)
    return np.asarray(np.sqrt(variances + unknowns @ stats.magnetisations**2))


def embed(block: Array, chosen: Indices, n: int, rest: float = 0.0) -> Array:
    """The n x n matrix with ``block`` in the rows and columns ``chosen``, ``rest`` elsewhere, 0 on the diagonal."""
    if len(chosen) < n:
        whole = np.full((n, n), rest)
        whole[np.ix_(chosen, chosen)] = block
        block = whole
    np.fill_diagonal(block, 0.0)
    return block
