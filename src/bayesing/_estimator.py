"""What estimators have in common: how they meet data, names and warnings, in scikit-learn's way."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from .exceptions import InputError
from .inference import CouplingAnswer, StrengthAnswer
from .packed import PackedSpins
from .statistics import SpinStatistics, is_several

Answer = TypeVar("Answer", StrengthAnswer, CouplingAnswer)


class SpinEstimator(BaseEstimator):
    """An estimator of spins: arrays and data frames, NaN where cells are missing, and the library's own records."""

    n_features_in_: int
    feature_names_in_: Any

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn is told: NaN is welcome, as a missing cell."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _remember(self, X: Any, data: SpinStatistics) -> None:
        """Keep the number of columns, and the names, of data that have been fitted."""
        if not (_is_ours(X) or is_several(X)):
            validate_data(self, X, skip_check_array=True)
            return
        self.n_features_in_ = data.n
        if data.names is not None:
            self.feature_names_in_ = np.array(data.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _meet_again(self, X: Any, keep_empty: bool = False) -> SpinStatistics:
        """Data to look at after the fit, which must have the same columns; rows that show nothing may be kept."""
        check_is_fitted(self)
        data = SpinStatistics.of(X, min_samples=1, keep_empty=keep_empty)
        if not (_is_ours(X) or is_several(X)):
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


def show(found: Iterable[Warning]) -> None:
    """Warn, as if from the line that called the method that calls this."""
    for warning in found:
        warnings.warn(warning, stacklevel=3)


def _is_ours(X: Any) -> bool:
    return isinstance(X, SpinStatistics) or isinstance(getattr(X, "rows", None), PackedSpins)
