"""Methods that infer the couplings J_ij and the fields h_i, one a file.

A new method is a file that ends with its ``METHOD``, and a line here.
"""

from __future__ import annotations

from . import exact, likelihood, mean_field, pseudolikelihood, spectral
from ._method import Band, CouplingMethod, CouplingOptions, Couplings, DenseCouplings, Reduced, Strength

__all__ = [
    "METHODS",
    "PRIORS",
    "Band",
    "CouplingMethod",
    "CouplingOptions",
    "Couplings",
    "DenseCouplings",
    "Reduced",
    "Strength",
]

#: All methods, in the order in which tables and messages list them.
METHODS: tuple[CouplingMethod, ...] = (
    spectral.METHOD,
    likelihood.METHOD,
    pseudolikelihood.METHOD,
    exact.METHOD,
    mean_field.NAIVE,
    mean_field.TAP,
    mean_field.PAIR,
)

#: Names of all priors that one of the methods has.
PRIORS: tuple[str, ...] = tuple(dict.fromkeys(name for method in METHODS for name in method.priors))
