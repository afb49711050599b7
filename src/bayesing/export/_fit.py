"""A fit as those see it who write it down: values, without the estimator that they come from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from .. import __version__
from ..edges import FDR, Coupling, edges_of, in_encoding, limit_for, pairs_of, strongest_of
from ..encodings import COUPLING, SPINS, check_encoding
from ..fields import Field, listed_fields
from ..inference import CouplingAnswer
from ..loadings import cause_names, limit_for_loadings, loadings_of
from ..types import Array

Item = TypeVar("Item")


@dataclass(frozen=True)
class Choices:
    """How to write couplings: the share of false edges, numbers for ±1 or for 0/1, and all pairs or the matrix.

    With ``top``, so many of the strongest couplings are written, the first the strongest, in place of all.
    """

    fdr: float = FDR
    encoding: str = SPINS
    matrix: bool = False
    top: int | None = None


class Over(Protocol):
    """Lets items pass, of which there are so many, and may show how many have gone by."""

    def __call__(self, items: Iterable[Item], total: int) -> Iterable[Item]: ...


def quietly(items: Iterable[Item], total: int) -> Iterable[Item]:
    """Items, as they are."""
    return items


@dataclass(frozen=True, eq=False)
class Fit:
    """What was found, names of the spins, whether these are the data's own, and what was asked for."""

    answer: CouplingAnswer
    names: list[str]
    named: bool
    parameters: dict[str, Any]

    @classmethod
    def of(cls, bm: Any) -> Fit:
        """That of an estimator that has been fitted."""
        return cls(bm.answer_, bm.names(), hasattr(bm, "feature_names_in_"), bm.get_params(deep=False))

    @property
    def labels(self) -> list[str]:
        """Names of the spins, and then of the common causes."""
        return [*self.names, *cause_names(self.answer.n_hidden, self.names)]

    def n_couplings(self, choices: Choices) -> int:
        """The number of couplings that are written."""
        pairs = pairs_among(len(self.names))
        return pairs if choices.top is None else min(choices.top, pairs)

    def n_pairs(self, choices: Choices) -> int:
        """The same with the loadings of common causes."""
        return self.n_couplings(choices) + len(self.names) * self.answer.n_hidden

    def pairs(self, choices: Choices) -> Iterator[tuple[Coupling, bool]]:
        limit = limit_for(self.answer, choices.fdr)
        top = choices.top
        found = (
            pairs_of(self.answer, self.names) if top is None else strongest_of(self.answer, self.names, top)
        )
        for pair in in_encoding(found, choices.encoding):
            yield pair, pair.probability > limit
        loadings = list(loadings_of(self.answer, self.names))
        if loadings:
            limit = limit_for_loadings(loadings, choices.fdr)
            for each in in_encoding(loadings, choices.encoding):
                yield each, each.probability > limit

    def edges(self, choices: Choices) -> list[Coupling]:
        """The couplings and loadings that are there, or the strongest of these couplings."""
        found = edges_of(self.answer, self.names, choices.fdr)
        if choices.top is not None:
            found = sorted(found, key=lambda edge: -abs(edge.J))[: choices.top]
        loadings = list(loadings_of(self.answer, self.names))
        if loadings:
            limit = limit_for_loadings(loadings, choices.fdr)
            found += [each for each in loadings if each.probability > limit]
        return list(in_encoding(found, choices.encoding))

    def fields(self, choices: Choices) -> list[Field]:
        """Fields, or thresholds, of all spins and common causes."""
        return listed_fields(self.answer, self.names, choices.encoding)

    def matrix(self, choices: Choices) -> Array:
        """All couplings; common causes are the last rows and columns."""
        whole = self.answer.model.couplings
        return COUPLING * whole if check_encoding(choices.encoding) else whole

    def about(self, choices: Choices) -> dict[str, Any]:
        """How it was found, in a few numbers and words; None where there is nothing to tell."""
        found, strength = self.answer, self.answer.strength
        return {
            "bayesing": __version__,
            "method": found.method.name,
            "reason": found.reason,
            "prior": None if strength is None else found.prior,
            "gamma": None if strength is None else strength.gamma,
            "n_spins": len(self.names),
            "n_samples": found.n_samples,
            "encoding": choices.encoding,
            "fdr": choices.fdr,
            "check_passed": None if found.check is None else found.check.passed,
        }


def pairs_among(n: int) -> int:
    """The number of pairs i < j."""
    return n * (n - 1) // 2


def finite(value: float | None) -> float | None:
    """A number, or None where it is not finite."""
    return None if value is None or not math.isfinite(value) else value
