"""What estimators have in common: how they meet data, names and warnings, in scikit-learn's way."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from .cells import as_row
from .exceptions import BayesingWarning, CopiesWarning, InputError, LeftOutWarning
from .inference import CouplingAnswer, StrengthAnswer
from .lazy import is_lazy
from .packed import PackedSpins
from .statistics import SpinStatistics, is_several
from .texts import visible

_LISTED = 5  # columns that a warning names, before dots

Answer = TypeVar("Answer", StrengthAnswer, CouplingAnswer)


class SpinEstimator(BaseEstimator):
    """An estimator of spins: arrays and data frames, NaN where cells are missing, and the library's own records."""

    n_features_in_: int
    feature_names_in_: Any

    if not TYPE_CHECKING:  # or every attribute would be known

        def __getattr__(self, name: str) -> NoReturn:
            """What is found by a fit is not there before, and scikit-learn's error says so."""
            if name == "_fitted" or (name.endswith("_") and not name.startswith("_")):
                check_is_fitted(self, "_answer")
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self
            )

    def _line(self) -> str:
        """What was found, in a line."""
        raise NotImplementedError

    def _card(self, title: str) -> str:
        """What was found, for a page."""
        raise NotImplementedError

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        call = str(super().__repr__(N_CHAR_MAX))
        return f"{call}: {visible(self._line())}" if self._is_fitted else call

    @property
    def _repr_html_(self) -> Any:
        """What notebooks show: the result, and before the fit scikit-learn's own picture."""
        before: Any = super()._repr_html_  # an AttributeError, if pictures are not wanted
        return self._shown if self._is_fitted else before

    def _repr_mimebundle_(self, **settings: Any) -> Any:
        """The same, by its kind."""
        if not self._is_fitted:
            return super()._repr_mimebundle_(**settings)
        found = {"text/plain": repr(self)}
        if hasattr(self, "_repr_html_"):
            found["text/html"] = self._shown()
        return found

    def _shown(self) -> str:
        return self._card(str(super().__repr__()))

    @property
    def _is_fitted(self) -> bool:
        return "_answer" in vars(self)

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn is told: NaN is welcome, as a missing cell."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _remember(self, X: Any, data: SpinStatistics) -> tuple[BayesingWarning, ...]:
        """Keep the number of columns, and the names, of data that have been fitted; what to say of empty ones.

        Of files, the notes of :class:`~bayesing.SpinData` say it.
        """
        if not knows_names(X):
            validate_data(self, X, skip_check_array=True)
        else:
            self.n_features_in_ = data.n
            if data.names is not None:
                self.feature_names_in_ = np.array(data.names, dtype=object)
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        copies = () if isinstance(X, SpinStatistics) else _on_copies(data, self.names())
        if is_ours(X) or is_several(X):
            return copies
        said = (*on_empty_rows(X, data), *on_empty_columns(data, self.names()))
        return (*copies, *map(LeftOutWarning, said))

    def _recall(self, n: int, names: list[str] | None) -> None:
        """The number of columns, and their names if they had any, of a fit that comes from a file."""
        self.n_features_in_ = n
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _meet_again(self, X: Any, keep_empty: bool = False) -> SpinStatistics:
        """Data to look at after the fit, which must have the same columns; rows that show nothing may be kept.

        One sample may be given without a second dimension, as ``X[0]`` is.
        """
        check_is_fitted(self)
        X = X if knows_names(X) else as_row(X)
        data = SpinStatistics.of(X, min_samples=1, keep_empty=keep_empty)
        if not knows_names(X):
            validate_data(self, X, reset=False, skip_check_array=True)
        elif data.n != self.n_features_in_:
            raise InputError(f"Expected {self.n_features_in_} spins (columns), as in fit: found {data.n}.")
        elif data.names and hasattr(self, "feature_names_in_") and list(data.names) != self.names():
            raise InputError("Expected the columns that fit has seen, in the same order: found other names.")
        return data

    def names(self) -> list[str]:
        """Names of the spins: those of the columns of the data, or x0, x1, ..."""
        check_is_fitted(self)
        if hasattr(self, "feature_names_in_"):
            return [str(name) for name in self.feature_names_in_]
        return [f"x{i}" for i in range(self.n_features_in_)]


class MethodEstimator(SpinEstimator, Generic[Answer]):
    """An estimator that has several methods, and keeps what one of them found as one record."""

    _answer: Answer

    @property
    def method_(self) -> str:
        """The method used."""
        return self._fitted.method.name

    @property
    def reason_(self) -> str:
        """Why it was used."""
        return self._fitted.reason

    @property
    def answer_(self) -> Answer:
        """All of it as one record."""
        return self._fitted

    @property
    def _fitted(self) -> Answer:
        check_is_fitted(self, "_answer")
        return self._answer


def on_empty_rows(X: Any, data: SpinStatistics) -> tuple[str, ...]:
    """What to say of rows of an array or a data frame in which all cells are missing; of files, their notes do."""
    if is_ours(X) or is_several(X) or not data.empty:
        return ()
    have, are = ("has", "is") if data.empty == 1 else ("have", "are")
    return (f"{data.empty} of {data.N + data.empty} samples {have} no value at all and {are} left out.",)


def on_empty_columns(data: SpinStatistics, names: Sequence[str]) -> tuple[str, ...]:
    """What to say of columns in which all cells are missing."""
    never = [names[i] for i in np.flatnonzero(data.counts == 0).tolist()]
    if not never:
        return ()
    listed = ", ".join(never[:_LISTED]) + (", ..." if len(never) > _LISTED else "")
    have, them = ("has", "it") if len(never) == 1 else ("have", "them")
    text = f"{len(never)} of {data.n} spins ({listed}) {have} no value at all"
    return (f"{text}: nothing can be known about {them}.",)


def _on_copies(data: SpinStatistics, names: Sequence[str]) -> tuple[BayesingWarning, ...]:
    """What to say of columns that are copies of each other; where no rows were kept, it would take long to look."""
    pairs = [f"{names[copy.i]} and {names[copy.j]}" for copy in data.copies] if data.rows is not None else []
    if not pairs:
        return ()
    listed = ", ".join(pairs[:_LISTED]) + (", ..." if len(pairs) > _LISTED else "")
    text = f"Columns are copies of each other, or opposites, in all samples ({listed})"
    return (
        CopiesWarning(f"{text}: such a pair may decide J and takes over couplings to others. Leave one out."),
    )


def show(found: Iterable[Warning]) -> None:
    """Warn, as if from the line that called the method that calls this."""
    for warning in found:
        warnings.warn(warning, stacklevel=3)


def knows_names(X: Any) -> bool:
    """Whether names are those of the statistics; scikit-learn does not know them."""
    return is_ours(X) or is_several(X) or is_lazy(X)


def is_ours(X: Any) -> bool:
    """Whether data are one of the library's own records."""
    return isinstance(X, SpinStatistics) or isinstance(getattr(X, "rows", None), PackedSpins)
