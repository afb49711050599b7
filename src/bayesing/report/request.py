"""What a report is asked for: the data with what is known about them, and the choices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..arguments import check_flag, count
from ..exceptions import InputError, Setting
from ..statistics import SpinStatistics
from . import budget


@dataclass(frozen=True, eq=False)
class Source:
    """The data, what they are called, and what there was to say of them when they were read."""

    name: str
    data: SpinStatistics
    notes: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the columns, or x0, x1, ..."""
        return self.data.names or tuple(f"x{i}" for i in range(self.data.n))


@dataclass(frozen=True)
class Choices:
    """Methods, prior, common causes, seed, and the number of simulations for the intervals.

    None simulations are as many as take seconds.

    ``speak`` words a setting as whoever asks for the report would type it, in Python or in a shell.
    """

    method: str = "auto"
    prior: str = "gaussian"
    couplings_method: str = "auto"
    n_hidden: int | str = 0
    simulations: int | None = None
    seed: int = 0
    series: bool = False  # whether rows are in the order of time
    speak: Callable[[Setting], str] = Setting.in_python

    @property
    def strength_prior(self) -> str:
        """The prior for J and H, of which there are fewer: a sparse one has the same J."""
        return "gaussian" if self.prior == "sparse" else self.prior

    def __post_init__(self) -> None:
        _check_count("seed", self.seed, 0)
        check_flag("series", self.series)
        if self.simulations is not None and self.simulations != 0:
            none = (", or ", Setting("simulations", 0), " for no intervals")
            _check_count("simulations", self.simulations, budget.LEAST_SIMULATIONS, *none)


def _check_count(name: str, value: Any, least: int, *otherwise: str | Setting) -> None:
    """An error unless the value is a whole number of at least ``least``."""
    try:
        count(name, value, least)
    except ValueError as error:
        expected = ("expected a whole number, ", Setting(name, least), " or more", *otherwise)
        raise InputError(*expected, ": found ", Setting(name, value), ".") from error
