"""Fields of the spins as a list, with errors, as fields or as thresholds of variables that are 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .encodings import SPINS, check_encoding, threshold_errors
from .inference import CouplingAnswer
from .loadings import cause_names


class Field(NamedTuple):
    """The field of spin i, or its threshold, with its standard error; None for methods that have none."""

    i: int
    name: str
    field: float
    error: float | None


def listed_fields(answer: CouplingAnswer, names: Sequence[str], encoding: str = SPINS) -> list[Field]:
    """Every spin in the order of the columns, and then the common causes.

    Beside common causes, whose means are not known well enough, thresholds have no errors.
    """
    n, k, model = len(names), answer.n_hidden, answer.model
    labels, own = [*names, *cause_names(k, names)], answer.field_errors
    values, errors = model.fields, None if own is None else np.append(own, answer.hidden.field_errors)
    if check_encoding(encoding):
        values = model.to_zero_one()[1]
        errors = None
        if answer.base is not None and not k:
            errors = threshold_errors(answer.matrices[1], np.tanh(answer.base), answer.effective_samples)
    of_each = [None] * (n + k) if errors is None else errors.tolist()
    return [Field(i, *one) for i, one in enumerate(zip(labels, values.tolist(), of_each, strict=True))]
