"""Who looks on while a report is made, and the steps that are seen."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol


class Step(StrEnum):
    """The steps of a report, in their order, as they are shown."""

    FIT = "estimating J and H"
    INTERVALS = "simulating data sets"
    COUPLINGS = "inferring couplings"
    LIKENESS = "comparing the model with the data"
    PREDICTION = "predicting held-out samples"
    PICTURES = "drawing pictures"


class Watch(Protocol):
    """Who looks on: told of the cost of all steps, of each as it begins, and how far it is."""

    def plan(self, seconds: dict[str, float]) -> None: ...
    def begin(self, step: str) -> None: ...
    def advance(self, done: float, total: float) -> None: ...


class Nobody:
    """Who does not look."""

    def plan(self, seconds: dict[str, float]) -> None:
        """Ignore."""

    def begin(self, step: str) -> None:
        """Ignore."""

    def advance(self, done: float, total: float) -> None:
        """Ignore."""
