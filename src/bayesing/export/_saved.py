"""A whole fit in an .npz file, from which it comes back without the data. Nothing is ever pickled.

Arrays are what they are called: ``couplings``, ``coupling_errors``, ``fields``, ``field_errors``, ``names``, and
those of hidden units and of a sparse prior if there are any; ``gamma``, ``method`` and ``version`` are single
values. What is no array stands in ``about``, a text in JSON.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import __version__, couplings, exceptions
from ..check import Check
from ..choice import find
from ..couplings import DenseCouplings, Strength
from ..couplings._causes import CauseCouplings, Hidden
from ..couplings._sparse import SparseCouplings
from ..exceptions import BayesingWarning, InputError, Setting
from ..files import load_arrays
from ..inference import CouplingAnswer
from ..learning.causes_evidence import Difference
from ..learning.certificate import Certificate
from ._fit import Choices, Fit, Over

_FORMAT = 1  # of the file; one that is newer is not read
_SPARSE = ("probabilities", "false_signs", "told", "precisions")
_HIDDEN = {
    "couplings": "hidden_couplings",
    "errors": "hidden_coupling_errors",
    "fields": "hidden_fields",
    "field_errors": "hidden_field_errors",
    "gamma": "hidden_gamma",
}

Arrays = dict[str, NDArray[Any]]
Made = TypeVar("Made")


class Saved(NamedTuple):
    """What a file has of a fit: the answer, names if the data had any, and what was asked for."""

    answer: CouplingAnswer
    names: list[str] | None
    parameters: dict[str, Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class KeptCouplings(DenseCouplings):
    """Couplings of a file, without the data that they were found from."""

    certificate: Certificate | None = None
    is_kept: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class KeptSparseCouplings(KeptCouplings, SparseCouplings):
    """The same with a sparse prior."""


def save(file: IO[bytes], fit: Fit) -> None:
    """Write it all."""
    found, kept = fit.answer, fit.answer.couplings
    J, errors = found.matrices
    given = kept.rows()[1]
    arrays: Arrays = {"couplings": J, "coupling_errors": errors, "fields": kept.fields}
    optional = {
        "errors_given_gamma": None if np.array_equal(errors, given) else given,
        "field_errors": found.field_errors,
        "base": found.base,
        "gamma": None if found.strength is None else np.array(found.strength.gamma),
    }
    arrays |= {name: array for name, array in optional.items() if array is not None}
    if found.n_hidden:
        arrays |= {name: getattr(found.hidden, key) for key, name in _HIDDEN.items()}
    if isinstance(kept, SparseCouplings):
        arrays |= {name: getattr(kept, name) for name in _SPARSE}
    arrays |= {
        "names": np.array(fit.names, dtype=np.str_),
        "method": np.array(found.method.name),
        "version": np.array(__version__),
        "about": np.array(json.dumps(_about(fit), default=plain)),
    }
    np.savez_compressed(file, allow_pickle=False, **arrays)


def write_npz(file: IO[bytes], fit: Fit, choices: Choices, over: Over) -> str:
    """The same, as other formats are written."""
    save(file, fit)
    n, k = len(fit.names), fit.answer.n_hidden
    return f"the whole fit, {n} spins" + (f" and {k} common cause{'s' * (k != 1)}" if k else "")


def origin(parameters: dict[str, Any]) -> dict[str, Any]:
    """Versions, and what was asked for; a seed if it is a number."""
    seed = parameters.get("random_state")
    return {
        "format": _FORMAT,
        "versions": {"bayesing": __version__, "numpy": np.__version__},
        "parameters": parameters | {"random_state": seed if isinstance(seed, int) else None},
    }


def _about(fit: Fit) -> dict[str, Any]:
    found, kept = fit.answer, fit.answer.couplings
    return origin(fit.parameters) | {
        "method": found.method.name,
        "reason": found.reason,
        "prior": found.prior,
        "n_samples": found.n_samples,
        "penalty": kept.penalty,
        "strength": found.strength,
        "names": fit.names if fit.named else None,
        "check": None if found.check is None else asdict(found.check),
        "certificate": None if found.certificate is None else asdict(found.certificate),
        "gains": found.gains,
        "worth": found.worth,
        "warnings": [worded(each) for each in kept.warnings],
        "said": [worded(each) for each in found.said],
    }


def plain(value: Any) -> Any:
    """Numbers of NumPy as Python's."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise InputError(f"cannot keep {value!r} of type {type(value).__name__} in a file.")


def worded(warning: Warning) -> list[Any]:
    """A warning as its class and its parts, in which a setting is a pair."""
    parts = [list(part) if isinstance(part, Setting) else str(part) for part in warning.args]
    return [type(warning).__name__, parts]


def warning_of(written: list[Any]) -> BayesingWarning:
    """The warning again."""
    name, parts = written
    kind = getattr(exceptions, str(name), BayesingWarning)
    if not (isinstance(kind, type) and issubclass(kind, BayesingWarning)):
        kind = BayesingWarning
    return kind(*(Setting(*part) if isinstance(part, list) else str(part) for part in parts))


def load(path: str | os.PathLike[str]) -> Saved:
    """Read what :func:`save` wrote; an InputError says what is wrong with a file."""
    return opened(
        path,
        {"couplings", "fields"},
        "a fit that was saved",
        lambda arrays, about: Saved(_answer(arrays, about), about["names"], about["parameters"]),
    )


def opened(
    path: str | os.PathLike[str], needed: set[str], what: str, make: Callable[[Arrays, dict[str, Any]], Made]
) -> Made:
    """What ``make`` has from the arrays and the JSON of a file; an InputError if it is not ``what`` it should be."""
    try:
        arrays = load_arrays(Path(path))
        if not isinstance(arrays, dict) or not needed | {"about"} <= set(arrays):
            found = ", ".join(arrays) if isinstance(arrays, dict) else "one array without a name"
            raise InputError(f"expected {what}, found {found or 'nothing'}.")
        try:
            about = json.loads(str(arrays["about"]))
            if about["format"] > _FORMAT:
                raise InputError(
                    "expected a fit that this version can read, found one of version "
                    f"{about['versions']['bayesing']}. Install it: pip install --upgrade bayesing."
                )
            return make(arrays, about)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"expected {what}, found one that is damaged ({error}).") from error
    except InputError as error:
        raise error.at(os.fspath(path)) from error


def _answer(arrays: Arrays, about: dict[str, Any]) -> CouplingAnswer:
    strength = None if about["strength"] is None else Strength(*about["strength"])
    certificate = None if about["certificate"] is None else Certificate(**about["certificate"])
    # What rows are worth widens errors: those of a file are wide already.
    narrow = 1.0 if "probabilities" in arrays else math.sqrt(about["worth"])
    common: dict[str, Any] = {
        "matrix": arrays["couplings"],
        "errors": arrays.get("errors_given_gamma", arrays["coupling_errors"]),
        "fields": arrays["fields"],
        "penalty": about["penalty"],
        "warnings": tuple(warning_of(each) for each in about["warnings"]),
        "field_errors": narrow * arrays["field_errors"] if "field_errors" in arrays else None,
        "strength": strength,
    }
    n = len(arrays["fields"])
    if not arrays["couplings"].shape == arrays["coupling_errors"].shape == (n, n):
        raise ValueError(f"couplings of shape {arrays['couplings'].shape} and {n} fields")
    kept: DenseCouplings
    if "hidden_couplings" in arrays:
        assert certificate is not None
        hidden = Hidden(**{key: arrays[name] for key, name in _HIDDEN.items()})
        hidden = hidden._replace(errors=narrow * hidden.errors, field_errors=narrow * hidden.field_errors)
        kept = CauseCouplings(**common, hidden=hidden, certificate=certificate)
    elif "probabilities" in arrays:
        common |= {name: arrays[name] for name in _SPARSE}
        kept = KeptSparseCouplings(**common, edges=None, certificate=certificate)
    else:
        kept = KeptCouplings(**common, certificate=certificate)
    return CouplingAnswer(
        kept,
        strength,
        find(couplings.METHODS, about["method"]),
        about["reason"],
        about["prior"],
        about["n_samples"],
        arrays.get("base"),
        None if about["check"] is None else Check(**about["check"]),
        tuple(warning_of(each) for each in about["said"]),
        about["worth"],
        tuple(Difference(*gain) for gain in about["gains"]),
    )
