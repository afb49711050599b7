"""Every variable by itself: how often it is active or missing, its field, and how well the others tell it."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from ..exceptions import NotConvergedWarning
from ..statistics import SpinStatistics
from . import budget
from .couplings import InferredCouplings

DRAWS = 40  # of the couplings: an error is known to a ninth


class Variable(NamedTuple):
    """One column: shares of its cells, its field, the number of its edges, and its predictability.

    None is what was not found.
    """

    name: str
    active: float  # share of the cells that are there
    observed: int
    missing: float  # share of all cells
    field: float | None
    field_error: float | None
    edges: int | None
    predictability: float | None
    predictability_error: float | None


def variables_of(
    data: SpinStatistics,
    names: tuple[str, ...],
    found: InferredCouplings | None,
    seed: int,
    hard: bool,
) -> tuple[tuple[Variable, ...], str]:
    """All of them, in the order of the columns; and why there is no predictability, if there is none."""
    counts = np.asarray(data.counts, dtype=np.float64)
    active = (1 + data.magnetisations) / 2
    n = data.n
    columns: list[list[float | int | None]] = [[None] * n for _ in range(5)]
    why = "Predictability was not found, for there are no couplings." if found is None else ""
    if found is not None:
        columns[:3] = _of_fit(found, n)
        why = _obstacle(found, n, hard)
        if not why:
            columns[3:], why = _predictability(found, n, seed)
    rows = zip(
        names, active.tolist(), data.counts.tolist(), (1 - counts / data.N).tolist(), *columns, strict=True
    )
    return tuple(Variable(*row) for row in rows), why


def _of_fit(found: InferredCouplings, n: int) -> list[list[float | int | None]]:
    """Fields, their errors, and the number of edges."""
    machine = found.machine
    errors = machine.field_errors_
    degrees = np.bincount([spin for edge in found.edges for spin in (edge.i, edge.j)], minlength=n)
    return [machine.fields_.tolist(), [None] * n if errors is None else errors.tolist(), degrees.tolist()]


def _predictability(
    found: InferredCouplings, n: int, seed: int
) -> tuple[list[list[float | int | None]], str]:
    """With its error, or why there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotConvergedWarning)
        try:
            central = found.machine.centrality(DRAWS, seed=seed)
        except NotConvergedWarning:
            why = "Predictability was not found: draws of the couplings move to states that the data never show."
            return [[None] * n, [None] * n], why
    return [central.predictability.tolist(), central.predictability_error.tolist()], ""


def _obstacle(found: InferredCouplings, n: int, hard: bool) -> str:
    """Why not to draw couplings, if there is a reason."""
    if found.machine.answer_.n_hidden:
        return "Predictability was not found: it is of direct couplings, and there are common causes beside them."
    if not budget.can_draw(n, DRAWS, hard):
        return f"Predictability was not found: to draw the couplings of {n:,} spins would take minutes."
    return ""
