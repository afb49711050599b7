r"""Binary quadratic models of dimod, D-Wave's library, in which a state is good if its energy is low.

dimod minimises :math:`E = \sum_i h'_i s_i + \sum_{i<j} J'_{ij} s_i s_j`, and a Boltzmann machine has
:math:`P \propto e^{-E}`: here fields and couplings stand in the exponent with a plus, so that
:math:`h' = -h` and :math:`J' = -J`. dimod is imported where such a model is made; one that comes in brings its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from .exceptions import InputError
from .types import Array


def bqm_of(J: Array, h: Array, labels: Sequence[Hashable]) -> Any:
    """A ``dimod.BinaryQuadraticModel`` of spins, without the couplings that are 0."""
    try:
        import dimod
    except ImportError as error:
        raise ImportError("to_bqm needs dimod: pip install 'bayesing[network]'.") from error
    if len(labels) != len(h) or len(set(labels)) != len(h):
        found = f"{len(labels)}, of which {len(set(labels))} differ"
        raise InputError(f"Expected {len(h)} labels that differ, one for each spin: found {found}.")
    i, j = np.nonzero(np.triu(J, 1))
    linear = dict(zip(labels, (-h).tolist(), strict=True))
    quadratic = {(labels[a], labels[b]): -J[a, b].item() for a, b in zip(i.tolist(), j.tolist(), strict=True)}
    return dimod.BinaryQuadraticModel(linear, quadratic, 0.0, "SPIN")


def arrays_of(bqm: Any) -> tuple[Array, Array]:
    """J and h of such a model, whose variables may be spins or 0 and 1; its offset cancels in probabilities."""
    if not callable(getattr(bqm, "to_ising", None)) or not hasattr(bqm, "variables"):
        raise InputError(f"Expected a binary quadratic model of dimod: found {type(bqm).__name__}.")
    linear, quadratic, _ = bqm.to_ising()
    place = {label: k for k, label in enumerate(bqm.variables)}
    h, J = np.zeros(len(place)), np.zeros((len(place), len(place)))
    for label, value in linear.items():
        h[place[label]] = -value
    for (a, b), value in quadratic.items():
        J[place[a], place[b]] = J[place[b], place[a]] = -value
    return J, h
