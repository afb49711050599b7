"""Cells that go missing, completely at random or depending on others, and how well a fit does without them.

Which cells go missing is a mechanism of ``MECHANISMS``. Its share is that of all cells.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

import bayesing as bs

from coupling_data import machine
from coupling_recovery import Z_90
from edge_data import pairs_of
from front import Row
from methods import log_likelihood

METHOD = "likelihood"
STEEP = 2.0  # of the log odds of a missing cell, for a standard deviation of what they depend on
CLEAR = 2.0  # standard errors that chance may explain

# Mechanisms


def completely_at_random(
    spins: np.ndarray, share: float, markers: list[int], rng: np.random.Generator
) -> np.ndarray:
    """Every cell is missing with the same probability."""
    return rng.random(spins.shape) < share


def at_random(spins: np.ndarray, share: float, markers: list[int], rng: np.random.Generator) -> np.ndarray:
    """The larger the sum of the markers, which are never missing, the more other cells of the row are missing."""
    total = spins[:, markers].sum(axis=1)
    z = (total - total.mean()) / total.std()
    n = spins.shape[1]
    wanted = share * n / (n - len(markers))
    offset = brentq(lambda a: expit(a + STEEP * z).mean() - wanted, -30, 30)
    missing = rng.random(spins.shape) < expit(offset + STEEP * z)[:, None]
    missing[:, markers] = False
    return missing


Mechanism = Callable[[np.ndarray, float, list[int], np.random.Generator], np.ndarray]
MECHANISMS: dict[str, Mechanism] = {"completely": completely_at_random, "given others": at_random}


def with_gaps(spins: np.ndarray, mechanism: str, share: float, markers: list[int], seed: int) -> np.ndarray:
    """Spins as floats, NaN where a cell is missing."""
    rng = np.random.default_rng([71, *mechanism.encode(), round(1000 * share), seed])
    return np.where(MECHANISMS[mechanism](spins, share, markers, rng), np.nan, spins)


# Fits


class Found(NamedTuple):
    """Couplings and fields with their errors, and the rows that they are from; 0 rows are too few for a fit."""

    couplings: np.ndarray
    errors: np.ndarray
    fields: np.ndarray
    field_errors: np.ndarray
    rows: int


def fit(X: np.ndarray, **parameters: Any) -> bs.BoltzmannMachine:
    """By the true likelihood. Its warnings are left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        return machine(METHOD, **parameters).fit(X)


def found(X: np.ndarray, **parameters: Any) -> Found:
    """What such a fit says."""
    bm = fit(X, **parameters)
    of_fields = bm.field_errors_
    if of_fields is None:  # gamma = 0: those of independent spins, with the prior of fields
        of_fields = 1 / np.sqrt(len(X) / np.cosh(bm.fields_) ** 2 + 1)
    return Found(bm.couplings_, bm.coupling_errors_, bm.fields_, of_fields, len(X))


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def scored(ours: Found, truth: bs.IsingModel, held_out: np.ndarray, n_chains: int) -> Row:
    """Error of the couplings, coverage of 90% intervals of couplings, edges and fields, and held-out likelihood."""
    J, errors, true = (pairs_of(matrix) for matrix in (ours.couplings, ours.errors, truth.couplings))
    inside = np.abs(J - true) < Z_90 * errors
    of_fields = np.abs(ours.fields - truth.fields) < Z_90 * ours.field_errors
    value, error = log_likelihood(bs.IsingModel(ours.couplings, ours.fields), held_out, n_chains)
    return {
        "rmse": math.sqrt(np.mean((J - true) ** 2)),
        "covered": inside.mean(),
        "covered_edges": inside[true != 0].mean(),
        "covered_fields": of_fields.mean(),
        "held_out": value,
        "held_out_error": error,
    }


# Paired comparisons


def paired(mine: list[float], other: list[float]) -> tuple[float, float]:
    """Mean of the differences, mine less other, and its standard error."""
    gaps = np.array(mine) - np.array(other)
    return float(gaps.mean()), float(gaps.std(ddof=1) / math.sqrt(len(gaps))) if len(gaps) > 1 else math.nan


def column(rows: list[Row], name: str) -> list[float]:
    return [float(row[name]) for row in rows]


def beyond_noise(gap: float, error: float) -> bool:
    """Whether a difference is above 0 by more than chance may explain."""
    return gap > CLEAR * error
