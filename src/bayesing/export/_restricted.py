"""A whole restricted Boltzmann machine in an .npz file, from which it comes back without the data.

Arrays are what the attributes of the estimator are called, without the last underscore: ``hidden_couplings``,
``hidden_coupling_errors``, ``fields``, ``field_errors``, ``hidden_fields``, ``hidden_field_errors``, ``gamma``, and
``base``, the fields of independent spins with the means of the data. What is no array stands in ``about``, a text in
JSON.
"""

from __future__ import annotations

import json
import os
from typing import IO, Any, NamedTuple

import numpy as np

from ..learning.restricted_size import RestrictedAnswer
from ..restricted import RestrictedModel
from ._saved import Arrays, opened, origin, plain, warning_of, worded

_ERRORS = {
    "weight_errors": "hidden_coupling_errors",
    "field_errors": "field_errors",
    "hidden_field_errors": "hidden_field_errors",
}
_OTHERS = ("gamma", "base")
_FACTS = ("log_partition", "log_partition_error", "method", "reason")
_MODEL = {"weights": "hidden_couplings", "fields": "fields", "hidden_fields": "hidden_fields"}


class SavedRestricted(NamedTuple):
    """What a file has of a machine: the answer, names if the data had any, and what was asked for."""

    answer: RestrictedAnswer
    names: list[str] | None
    parameters: dict[str, Any]


def save_restricted(file: IO[bytes], kept: SavedRestricted) -> None:
    """Write it all."""
    found = kept.answer
    arrays: Arrays = {name: getattr(found.model, key) for key, name in _MODEL.items()}
    arrays |= {name: getattr(found, key) for key, name in _ERRORS.items()}
    arrays |= {name: getattr(found, name) for name in _OTHERS}
    about = origin(kept.parameters) | {name: getattr(found, name) for name in _FACTS}
    about |= {
        "names": kept.names,
        "evidences": list(found.evidences.items()),  # keys of JSON are texts
        "warnings": [worded(each) for each in found.warnings],
    }
    arrays["about"] = np.array(json.dumps(about, default=plain))
    np.savez_compressed(file, allow_pickle=False, **arrays)


def load_restricted(path: str | os.PathLike[str]) -> SavedRestricted:
    """Read what :func:`save_restricted` wrote; an InputError says what is wrong with a file."""
    needed = {*_MODEL.values(), *_ERRORS.values(), *_OTHERS}
    return opened(path, needed, "a restricted Boltzmann machine that was saved", _made)


def _made(arrays: Arrays, about: dict[str, Any]) -> SavedRestricted:
    model = RestrictedModel(**{key: arrays[name] for key, name in _MODEL.items()})
    found: dict[str, Any] = {key: arrays[name] for key, name in _ERRORS.items()}
    found |= {name: arrays[name] for name in _OTHERS} | {name: about[name] for name in _FACTS}
    answer = RestrictedAnswer(
        model=model,
        **found,
        evidences={int(k): float(value) for k, value in about["evidences"]},
        warnings=tuple(warning_of(each) for each in about["warnings"]),
    )
    n, k = model.weights.shape
    shapes = [answer.weight_errors.shape, answer.field_errors.shape, answer.hidden_field_errors.shape]
    if shapes != [(n, k), (n,), (k,)] or answer.gamma.shape != (k,) or answer.base.shape != (n,):
        raise ValueError(f"errors of shapes {shapes} beside weights of shape {(n, k)}")
    return SavedRestricted(answer, about["names"], about["parameters"])
