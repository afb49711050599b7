"""Warnings, all of them subclasses of :class:`BayesingWarning`, and :class:`InputError`, a ``ValueError``."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any, NamedTuple, Self


class Setting(NamedTuple):
    """An argument that would help, such as ``missing="drop-samples"``; the command line calls it otherwise."""

    name: str
    value: Any = True

    def in_python(self) -> str:
        """As it is typed in Python."""
        value = f'"{self.value}"' if isinstance(self.value, str) else repr(self.value)
        return f"{self.name}={value}"

    def in_shell(self) -> str:
        """As it is typed on the command line: an option, which has no value where it is a flag."""
        option = f"--{self.name.replace('_', '-')}"
        return option if self.value is True else f"{option} {shlex.quote(str(self.value))}"


class InputError(ValueError):
    """Wrong input: what was expected, what was found and what to do, in one sentence.

    It is made of parts, texts and :class:`Setting`s, so that a shell can say the latter in its own words. Subclasses
    have fields that say which cell or how many.

    >>> print(InputError("3 cells are missing. Choose ", Setting("missing", "drop-spins"), "."))
    3 cells are missing. Choose missing="drop-spins".
    """

    def __init__(self, *parts: str | Setting) -> None:
        super().__init__(*parts)

    def __str__(self) -> str:
        return self.worded(Setting.in_python)

    def worded(self, speak: Callable[[Setting], str]) -> str:
        """The sentence, with settings as ``speak`` says them."""
        return "".join(speak(part) if isinstance(part, Setting) else str(part) for part in self.args)

    def at(self, place: object) -> Self:
        """The same error with a place, such as the name of a file, before it."""
        located = type(self)(f"{place}: ", *self.args)
        located.__dict__.update(self.__dict__)
        return located


class BayesingWarning(UserWarning):
    """Base class: ``warnings.simplefilter("error", bs.BayesingWarning)`` makes them all errors."""


class BoundWarning(BayesingWarning):
    """An estimate lies at the end of its range and is not to be taken at face value."""


class NotEquilibratedWarning(BayesingWarning):
    """A sampler's diagnostics say that its samples are not yet those of the model."""


class NotConvergedWarning(BayesingWarning):
    """A search ended before its slope was small enough."""


class LaplaceWarning(BayesingWarning):
    """The condition under which the Laplace prior gives the Gaussian result does not hold."""


class SaturationWarning(BayesingWarning):
    """The data lie at the edge of the spin glass or beyond, where the method cannot tell strengths apart."""
