"""What else is done with missing cells: complete the rows first, or predict cells one by one.

Imputation by regressions is scikit-learn's IterativeImputer, with Bayesian ridge regressions. Its values are rounded
to the nearer of ±1. With draws in place of means this is multiple imputation: several completions are fitted, and the
fits pooled by Rubin's rules (D. Rubin, *Multiple Imputation for Nonresponse in Surveys*, 1987).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer
from sklearn.linear_model import LogisticRegression

from missing_data import Found, found

FEWEST = 10  # rows for a fit

# Completed rows


def listwise(X: np.ndarray) -> np.ndarray:
    """Rows without missing cells."""
    return X[~np.isnan(X).any(axis=1)]


def mode(X: np.ndarray) -> np.ndarray:
    """The more frequent value of the column in every missing cell."""
    return np.where(np.isnan(X), np.where(np.nanmean(X, axis=0) >= 0, 1.0, -1.0), X)


def regressed(X: np.ndarray, seed: int = 0, draws: bool = False) -> np.ndarray:
    """Values of the IterativeImputer, which are not ±1; means, or draws around them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        imputer = IterativeImputer(random_state=seed, sample_posterior=draws, keep_empty_features=True)
        return np.asarray(imputer.fit_transform(X))


def rounded(values: np.ndarray) -> np.ndarray:
    return np.where(values >= 0, 1.0, -1.0)


def pooled(fits: list[Found]) -> Found:
    """Means of the fits, with the mean of their variances, and 1 + 1/m times the variance between them."""

    def total(values: list[np.ndarray], errors: list[np.ndarray]) -> np.ndarray:
        between = np.var(values, axis=0, ddof=1)
        return np.sqrt(np.mean(np.square(errors), axis=0) + (1 + 1 / len(values)) * between)

    J, errors, h, field_errors, rows = (list(field) for field in zip(*fits, strict=True))
    return Found(np.mean(J, axis=0), total(J, errors), np.mean(h, axis=0), total(h, field_errors), rows[0])


def of_listwise(X: np.ndarray) -> Found | None:
    left = listwise(X)
    return found(left) if len(left) >= FEWEST else None


COMPLETIONS: dict[str, Callable[[np.ndarray, int], Found | None]] = {
    "listwise": lambda X, m: of_listwise(X),
    "mode": lambda X, m: found(mode(X)),
    "iterative": lambda X, m: found(rounded(regressed(X))),
    "multiple": lambda X, m: pooled([found(rounded(regressed(X, k, draws=True))) for k in range(m)]),
}

# Probabilities of +1


def column_means(X: np.ndarray) -> np.ndarray:
    """The share of +1 of the column, with half an answer of either kind more."""
    there = (~np.isnan(X)).sum(axis=0)
    return np.broadcast_to((np.nansum(X > 0, axis=0) + 0.5) / (there + 1), X.shape)


def clipped(values: np.ndarray, least: float) -> np.ndarray:
    """Values from -1 to 1 as probabilities, none nearer to 0 or 1 than ``least``."""
    return np.clip((1 + values) / 2, least, 1 - least)


def neighbours(X: np.ndarray, k: int) -> np.ndarray:
    """Means of the k nearest rows."""
    return np.asarray(KNNImputer(n_neighbors=k, keep_empty_features=True).fit_transform(X))


def logistic(X: np.ndarray, C: float) -> np.ndarray:
    """A logistic regression of every column on the others, whose missing cells have their mode."""
    whole, up = mode(X), np.empty(X.shape)
    for i in range(X.shape[1]):
        others, there = np.delete(whole, i, axis=1), ~np.isnan(X[:, i])
        y = X[there, i] > 0
        if y.all() or not y.any():
            up[:, i] = column_means(X)[:, i]
            continue
        up[:, i] = LogisticRegression(C=C, max_iter=500).fit(others[there], y).predict_proba(others)[:, 1]
    return up
