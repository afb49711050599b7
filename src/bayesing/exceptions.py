"""Warnings, all of them subclasses of :class:`BayesingWarning`, and :class:`InputError`, a ``ValueError``."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Self


class Setting(NamedTuple):
    """An argument that would help, such as ``missing="drop-samples"``; the command line calls it otherwise."""

    name: str
    value: Any = True

    def in_python(self) -> str:
        """As it is typed in Python.

        >>> Setting("drop_columns", ["id", "age"]).in_python()
        'drop_columns=["id", "age"]'
        """
        texts = isinstance(self.value, str | list | tuple)
        value = json.dumps(self.value, ensure_ascii=False) if texts else repr(self.value)
        return f"{self.name}={value}"

    def in_shell(self) -> str:
        """As it is typed on the command line: a flag where the value is True, a list between commas.

        >>> Setting("drop_columns", ["id", "age in years"]).in_shell()
        "--drop-columns 'id,age in years'"
        >>> Setting("force").in_shell()
        '--force'
        """
        flag = "--" + _IN_SHELL.get(self.name, self.name).replace("_", "-")
        if self.value is True:
            return flag
        several = isinstance(self.value, list | tuple)
        value = ",".join(map(_between_commas, self.value)) if several else str(self.value)
        return f"{flag} {shlex.quote(value)}"


_IN_SHELL = {
    "n_hidden": "hidden",
    "random_state": "seed",
}  # options whose names are not those of the arguments


class _Worded:
    """A message of parts, texts and settings, so that a shell can say settings in its own words."""

    args: tuple[Any, ...]

    def __str__(self) -> str:
        return self.worded(Setting.in_python)

    def worded(self, speak: Callable[[Setting], str]) -> str:
        """The sentence, with settings as ``speak`` says them."""
        return worded(self.args, speak)


def worded(parts: Iterable[str | Setting], speak: Callable[[Setting], str]) -> str:
    """Texts and settings as one sentence."""
    return "".join(speak(part) if isinstance(part, Setting) else str(part) for part in parts)


def _between_commas(text: str) -> str:
    """A text in double quotes if it holds a comma or a quote, as in a file of comma-separated values."""
    return '"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text


class InputError(_Worded, ValueError):
    """Wrong input: what was expected, what was found and what to do, in one sentence.

    It is made of parts, texts and settings (:class:`~bayesing.exceptions.Setting`), so that a shell can say settings
    in its own words. Subclasses have fields that say which cell or how many. Their constructors must work with parts
    alone, for :meth:`at`.

    >>> print(InputError("3 cells are missing. Choose ", Setting("missing", "drop-spins"), "."))
    3 cells are missing. Choose missing="drop-spins".
    """

    def __init__(self, *parts: str | Setting) -> None:
        super().__init__(*parts)

    def at(self, place: object) -> Self:
        """The same error with a place, such as the name of a file, before it, unless it stands there already."""
        prefix = f"{place}: "
        if self.args and self.args[0] == prefix:
            return self
        located = type(self)(prefix, *self.args)
        located.__dict__.update(self.__dict__)
        return located


class ConstantSpinsError(InputError):
    """Fewer than two spins vary between samples, which says nothing about couplings."""


class SimulatedDataError(InputError):
    """The statistic does not exist for data simulated on the way to an interval; ``frozen`` if they do not vary."""

    frozen: bool = False


class NotSpinsError(InputError):
    """A cell that is not a spin.

    ``row`` and ``column`` count from 0, as indices of an array do, and are those of the whole table. ``value`` is
    what stands there. ``columns`` are all columns that hold something else than spins.
    """

    def __init__(
        self,
        *parts: str | Setting,
        row: int = 0,
        column: int = 0,
        value: Any = None,
        columns: tuple[int, ...] = (),
    ) -> None:
        super().__init__(*parts)
        self.columns = columns
        self.row = row
        self.column = column
        self.value = value


class MissingCellsError(InputError):
    """Cells are missing, and nothing says what to do about them.

    So many ``cells`` are missing, in so many ``samples`` of ``N`` and ``spins`` of ``n``. ``row`` and ``column`` are
    the place of the first, and count from 0.
    """

    def __init__(
        self,
        *parts: str | Setting,
        cells: int = 0,
        samples: int = 0,
        spins: int = 0,
        N: int = 0,
        n: int = 0,
        row: int = 0,
        column: int = 0,
    ) -> None:
        super().__init__(*parts)
        self.cells = cells
        self.samples = samples
        self.spins = spins
        self.N = N
        self.n = n
        self.row = row
        self.column = column


class BayesingWarning(_Worded, UserWarning):
    """Base class: ``warnings.simplefilter("error", bs.BayesingWarning)`` makes them all errors.

    A warning is made of parts, as an :class:`InputError` is.

    >>> print(BayesingWarning("Think of a common cause: ", Setting("n_hidden", 1), "."))
    Think of a common cause: n_hidden=1.
    """

    def __init__(self, *parts: str | Setting) -> None:
        super().__init__(*parts)


class BoundWarning(BayesingWarning):
    """An estimate lies at the end of its range and is not to be taken at face value."""


class NotEquilibratedWarning(BayesingWarning):
    """A sampler's diagnostics say that its samples are not yet those of the model."""


class NotConvergedWarning(BayesingWarning):
    """A search ended before its slope was small enough."""


class UnseenStatesWarning(BayesingWarning):
    """A model that has the correlations of the data also has states that the data never show."""


class AnotherKindWarning(BayesingWarning):
    """An estimate rests on a theory that does not hold for these data."""


class CheckWarning(BayesingWarning):
    """Samples of a fitted model do not look like the data."""


class MemoryWarning(BayesingWarning):
    """Rows are in the order of time and remember those before them, and they were taken to be independent."""


class DriftWarning(BayesingWarning):
    """Means of the spins change slowly over the rows, which looks like couplings."""


class NotSparseWarning(BayesingWarning):
    """The data do not show that some couplings are 0, and a prior of sparse couplings was not used."""


class SomeRowsWarning(BayesingWarning):
    """What needs rows was given a random choice of them, because not all were kept."""


class CopiesWarning(BayesingWarning):
    """Columns are copies of each other, or opposites, in all samples."""


class LeftOutWarning(BayesingWarning):
    """Columns or samples were left out: nothing is there in them, or they could not be compared between groups."""


class LaplaceWarning(BayesingWarning):
    """The condition under which the Laplace prior gives the Gaussian result does not hold."""


class SaturationWarning(BayesingWarning):
    """The data lie at the edge of the spin glass or beyond, where the method cannot tell strengths apart."""
