r"""Common causes as a list: what each loads on, and how often it is on.

A hidden unit t_a is coupled to the spins by W_ia. Given a sample it is on with the probability

.. math:: P(t_a = +1 \mid s) = \frac{1}{2} \Big(1 + \tanh\big(c_a + \sum_i W_{ia} s_i\big)\Big) ,

and how often it is on is the mean of this over the data. Missing cells are drawn from the model first, given what
their row shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import scipy

from .edges import Coupling
from .inference import CouplingAnswer
from .mixture import limit_of
from .sampling.missing import completed, padded
from .statistics import SpinStatistics
from .types import Array

_CLEAR = 2.0  # standard errors from which a spin is said to belong to a cause


def strongest_loadings(loadings: Iterable[Coupling], most: int) -> tuple[Coupling, ...]:
    """Of each cause, so many of the strongest of more than 2 standard errors, or the strongest if none is clear."""
    by_cause: dict[int, list[Coupling]] = {}
    for each in sorted(loadings, key=lambda each: -abs(each.J)):
        by_cause.setdefault(each.j, []).append(each)
    found = []
    for _, own in sorted(by_cause.items()):
        found += clear_ones(own)[:most] or own[:1]
    return tuple(found)


def clear_ones(loadings: Iterable[Coupling]) -> list[Coupling]:
    """Those of more than 2 standard errors."""
    return [each for each in loadings if abs(each.J) > _CLEAR * each.error]


class Cause(NamedTuple):
    """A common cause: its name, how often it is on, its field, and what it loads on, the strongest first."""

    name: str
    on: float
    field: float
    field_error: float
    loadings: tuple[Coupling, ...]

    def clear(self, most: int) -> tuple[Coupling, ...]:
        """The strongest loadings of more than 2 standard errors, of which there may be none."""
        return tuple(clear_ones(self.loadings)[:most])


def cause_names(k: int, names: Sequence[str]) -> list[str]:
    """Names that no column has.

    >>> cause_names(2, ["a", "cause 2"])
    ['hidden cause 1', 'hidden cause 2']
    """
    noun = "cause"
    while any(f"{noun} {a + 1}" in names for a in range(k)):
        noun = f"hidden {noun}"
    return [f"{noun} {a + 1}" for a in range(k)]


def loadings_of(answer: CouplingAnswer, names: Sequence[str]) -> Iterator[Coupling]:
    """Every coupling of a spin i to a cause, whose number goes on after those of the spins; spin by spin."""
    n, hidden = len(names), answer.hidden
    of_causes = cause_names(answer.n_hidden, names)
    z = np.divide(
        np.abs(hidden.couplings),
        hidden.errors,
        out=np.zeros_like(hidden.couplings),
        where=hidden.errors > 0,
    )
    right = scipy.special.ndtr(z)
    for i, name in enumerate(names):
        for a, of_cause in enumerate(of_causes):
            W, error, sign = (float(x[i, a]) for x in (hidden.couplings, hidden.errors, right))
            yield Coupling(i, n + a, name, of_cause, W, error, sign)


def causes_of(answer: CouplingAnswer, names: Sequence[str], data: SpinStatistics) -> tuple[Cause, ...]:
    """All common causes of a fit to these data, the strongest first."""
    if not answer.n_hidden:
        return ()
    hidden, n = answer.hidden, len(names)
    found = list(loadings_of(answer, names))
    on = _how_often(answer, data)
    causes = []
    for a, name in enumerate(cause_names(answer.n_hidden, names)):
        own = sorted((each for each in found if each.j == n + a), key=lambda each: -abs(each.J))
        field, error = float(hidden.fields[a]), float(hidden.field_errors[a])
        causes.append(Cause(name, float(on[a]), field, error, tuple(own)))
    return tuple(causes)


def limit_for_loadings(loadings: Sequence[Coupling], fdr: float) -> float:
    """The probability above which loadings have a clear sign; a share ``fdr`` of them is expected not to."""
    return limit_of(np.array([each.probability for each in loadings]), fdr)


def whole_rows(answer: CouplingAnswer, data: SpinStatistics, seed: int = 0) -> SpinStatistics:
    """The same rows with their missing cells drawn from the fitted model, given what is there.

    Where not all rows were kept, those that were drawn.
    """
    data = data.sampled or data
    if not data.missing:
        return data
    spins = completed(answer.model, padded(data.spins(), answer.model.n_spins), seed)
    rows = np.ascontiguousarray(spins[:, : data.n])
    found = SpinStatistics.of(rows, min_samples=1)
    return SpinStatistics(found.N, found.n, found.rows, names=data.names, encoding=data.encoding)


def _how_often(answer: CouplingAnswer, data: SpinStatistics) -> Array:
    """The share of the samples in which each cause is on."""
    W, c = answer.hidden.couplings, answer.hidden.fields
    spins = whole_rows(answer, data).spins()
    return np.asarray((1 + np.tanh(spins @ W + c)).mean(axis=0) / 2)
