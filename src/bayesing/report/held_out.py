"""Does the model predict? Fit three quarters of the rows and compare with the others."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from ..exceptions import BoundWarning
from ..loadings import whole_rows
from ..prediction import Prediction, predict
from ..statistics import SpinStatistics
from ..types import Indices
from . import budget
from .couplings import InferredCouplings, machine_for
from .request import Choices

_ONE_IN = 4  # rows is held out
_LEAST_ROWS = 40  # of which a quarter can be spared
_MOST_HELD_OUT = 20_000  # rows: their correlations are known to 0.01
_LEAST_MODEL_SAMPLES = 1000  # of the model
MOST_MODEL_SAMPLES = 4000  # of the model: a few seconds
_MODEL_SAMPLES_PER_ROW = 4  # held out: noise of the model is then half of theirs
_MOST_CHAINED = 120  # spins that are fitted twice where cells are missing, or with common causes: a minute
_LEAST_ROWS_PER_SPIN = 2  # to fit, where only some rows are used


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What a machine fitted to ``fitted`` rows predicts of ``tested`` others."""

    prediction: Prediction
    method: str
    fitted: int
    tested: int
    drawn: float = 0.0  # share of the cells of these others that are missing, and drawn from the machine
    in_order: bool = False  # the first rows were fitted and the last were tested, in place of a random choice


def held_out_of(
    data: SpinStatistics, choices: Choices, couplings: InferredCouplings | None, most: int, hard: bool
) -> tuple[HeldOut | None, str]:
    """Fit three quarters of the rows by the same method and predict the others; or why not.

    Missing cells of the others are drawn from the fitted model, given what their row shows: what is compared then are
    complete samples, and those of a perfect model look like any other of its samples, whichever cells are missing.

    There is time to fit ``most`` rows with a method that searches. Models near the spin glass are ``hard`` to sample.
    """
    data = data.sampled or data  # where not all rows were kept
    N, n = data.N, data.n
    if couplings is None or N < _LEAST_ROWS:
        return None, (
            f"Predictions were not tested: that takes at least {_LEAST_ROWS} samples, a quarter of them to be held "
            f"out, and there are {N}."
        )
    machine = couplings.machine
    reduced = not machine.is_cheap_ and choices.couplings_method == "auto"
    few = max(most, _LEAST_ROWS_PER_SPIN * n) if reduced else N
    test, train = split(N, few, choices.seed)
    if choices.series:
        test, train = in_order(N, few, data.memory.lag)
    seen = data.take(train)
    if len(seen.varying) < 2:
        return None, "Predictions were not tested: without the held-out rows fewer than 2 spins vary."
    if (data.missing or machine.answer_.n_hidden) and n > _MOST_CHAINED:
        what = "missing cells" if data.missing else "common causes"
        return None, f"Predictions were not tested: another fit of {n} spins with {what} would take minutes."
    samples = min(max(_LEAST_MODEL_SAMPLES, _MODEL_SAMPLES_PER_ROW * len(test)), MOST_MODEL_SAMPLES)
    if not budget.can_predict(n, samples, hard):
        why = f"Predictions were not tested: to sample the fitted model of {n} spins would take minutes."
        return None, why
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundWarning)  # said of the fit to all rows, or of none
        fitted = machine_for(choices, machine.method_, machine.answer_.n_hidden).fit(seen)
    tested = data.take(test)
    spins = whole_rows(fitted.answer_, tested, choices.seed).spins()
    rng = np.random.default_rng([choices.seed, 2])
    found = predict(fitted.model_, spins, samples, rng, fitted.answer_.n_hidden)
    return HeldOut(
        found, fitted.method_, len(train), len(test), tested.missing / (tested.N * n), choices.series
    ), ""


def in_order(N: int, most: int, lag: int) -> tuple[Indices, Indices]:
    """Of rows that remember up to a ``lag``: independent ones of the last to test, and ``most`` of the first to fit.

    Rows to fit are at equal distances, if there are more of them.
    """
    cut = N - N // _ONE_IN
    return np.arange(cut + lag - 1, N, lag)[:_MOST_HELD_OUT], np.arange(0, cut, -(-cut // most))


def split(N: int, most: int, seed: int) -> tuple[Indices, Indices]:
    """Rows to test and rows to fit, ``most`` of them, both chosen at random."""
    order = np.random.default_rng([seed, 1]).permutation(N)
    cut = N // _ONE_IN
    return np.sort(order[: min(cut, _MOST_HELD_OUT)]), np.sort(order[cut : cut + most])
