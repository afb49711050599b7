"""The numbers of a report for machines, beyond those of a fit."""

from __future__ import annotations

import math
from typing import Any

from ..prediction import Comparison
from . import words
from .analysis import Analysis


def numbers(a: Analysis) -> dict[str, Any]:
    """What can be written as JSON: no number that is not finite."""
    held_out = None
    if a.held_out is not None:
        found = a.held_out.prediction
        held_out = {
            "n_fitted": a.held_out.fitted,
            "n_held_out": a.held_out.tested,
            "exact": found.exact,
            "pairs": _comparison(found.pairs),
            "triplets": _comparison(found.triplets),
        }
    couplings = None
    if a.bm is not None:
        couplings = {
            "method": a.bm.method_,
            "reason": a.bm.reason_,
            "gamma": a.bm.gamma_,
            "penalty": _finite(a.bm.penalty_),
            "n_samples": a.coupling_rows,
            "strongest": [c._asdict() | {"error": _finite(c.error)} for c in a.strongest],
        }
    return {
        "answer": " ".join(words.answer(a)),
        "encoding": a.source.encoding,
        "notes": [f"{note.title}: {note.text}" for note in words.notes(a)],
        "couplings": couplings,
        "held_out": held_out,
        "seed": a.choices.seed,
    }


def _comparison(found: Comparison) -> dict[str, float | None]:
    names = (
        "correlation",
        "expected_correlation",
        "slope",
        "slope_error",
        "chi2",
        "chi2_error",
    )
    return {"n": len(found.observed)} | {name: _finite(getattr(found, name)) for name in names}


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
