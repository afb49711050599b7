"""Methods that infer how strong the couplings are, gamma = J^2, and the field H, one a file.

A new method is a file that ends with its ``METHOD``, and a line here.
"""

from __future__ import annotations

from . import inversion, likelihood, plefka, pseudolikelihood, spectral, susceptibility
from ._method import Estimate, Evidence, Method, Options, Statistic

__all__ = ["METHODS", "Estimate", "Evidence", "Method", "Options", "Statistic"]

#: All methods, in the order in which tables and messages list them.
METHODS: tuple[Method, ...] = (
    spectral.METHOD,
    susceptibility.METHOD,
    inversion.METHOD,
    likelihood.METHOD,
    pseudolikelihood.METHOD,
    plefka.METHOD,
)
