"""The numbers of a report for machines, beyond those of a fit."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from ..loadings import Cause
from ..prediction import Comparison
from .analysis import Analysis
from .answer import answer
from .couplings import InferredCouplings
from .gaps import Gaps
from .held_out import HeldOut
from .notes import notes
from .tables import MOST_COUPLINGS

_COMPARED = ("correlation", "ceiling", "ceiling_error", "slope", "slope_error", "chi2", "chi2_error")


def numbers(a: Analysis) -> dict[str, Any]:
    """What can be written as JSON: no number that is not finite."""
    return {
        "answer": " ".join(answer(a)),
        "encoding": a.source.data.encoding,
        "notes": [f"{note.title}: {note.text}" for note in notes(a)],
        "missing": None if a.gaps is None else _missing(a, a.gaps),
        "variables": [variable._asdict() for variable in a.variables],
        "couplings": None if a.couplings is None else _couplings(a.couplings),
        "multi_information": None if a.likeness is None else asdict(a.likeness.multi_information),
        "held_out": None if a.held_out is None else _held_out(a.held_out),
        "seed": a.choices.seed,
    }


def _couplings(found: InferredCouplings) -> dict[str, Any]:
    return {
        "method": found.machine.method_,
        "reason": found.reason,
        "gamma": found.machine.gamma_,
        "penalty": _finite(found.machine.penalty_),
        "n_samples": found.rows,
        "strongest": [c._asdict() | {"error": _finite(c.error)} for c in found.strongest[:MOST_COUPLINGS]],
        "n_edges": len(found.edges),
        "expected_false_edges": found.false,
        "hidden": [_cause(cause) for cause in found.causes],
    }


def _cause(cause: Cause) -> dict[str, Any]:
    loadings = [{"name": each.name_i, "J": each.J, "error": each.error} for each in cause.loadings]
    return {"name": cause.name, "on": cause.on, "field": cause.field, "loadings": loadings}


def _missing(a: Analysis, found: Gaps) -> dict[str, Any]:
    most = [{"name": a.names[j], "cells": cells} for j, cells in found.most]
    return {"cells": found.cells, "samples": found.samples, "spins": found.spins, "most": most}


def _held_out(found: HeldOut) -> dict[str, Any]:
    return dict(
        n_fitted=found.fitted,
        n_held_out=found.tested,
        exact=found.prediction.exact,
        pairs=_comparison(found.prediction.pairs),
        triplets=_comparison(found.prediction.triplets),
    )


def _comparison(found: Comparison) -> dict[str, float | None]:
    return {"n": len(found.observed)} | {name: _finite(getattr(found, name)) for name in _COMPARED}


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
