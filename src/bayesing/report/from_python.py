"""A report on data that are in memory."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..exceptions import Setting
from ..generator import Simulation
from ..io import SpinData
from ..statistics import SpinStatistics
from .request import Choices, Source
from .write import write_report as write_report_on


def write_report(
    X: Any,
    path: str | os.PathLike[str],
    title: str | None = None,
    method: str = "auto",
    prior: str = "gaussian",
    couplings_method: str = "auto",
    simulations: int | None = None,
    seed: int = 0,
    force: bool = False,
    n_hidden: Any = 0,
    series: bool = False,
) -> None:
    """Write a report on ``X`` to an .html file: the answer in words, numbers with intervals, pictures, and couplings.

    It is one file that needs no network, for screens of any size and for paper. What would take minutes is left out
    or reduced, and the report says so. Rows of ``X`` are samples, columns are spins.

    Parameters
    ----------
    X : array, data frame, SpinData, SpinDataset or Simulation
        Spins (±1, 0/1 or bool), of which some may be missing (NaN); those of a data frame, of :class:`SpinData` or
        :class:`SpinDataset` have names.
    path : str or path
        The file to write, with the ending .html.
    title : str or None
        Title of the report; the name of the file by default.
    method, prior : str
        Method for J and H, and prior of the couplings, as of :class:`EmpiricalBayes`.
    couplings_method : str
        Method for the couplings, as of :class:`BoltzmannMachine`.
    simulations : int or None
        Data sets to simulate for the intervals, 0 for none; None is as many as take seconds.
    seed : int
        The same seed gives the same report.
    force : bool
        Whether to overwrite a file.
    n_hidden : int or "auto"
        Common causes beside the couplings, as of :class:`BoltzmannMachine`.
    series : bool
        Whether rows are in the order of time, as of :class:`BoltzmannMachine`.

    Examples
    --------
    >>> import bayesing as bs
    >>> sim = bs.simulate(n_spins=6, n_samples=30, J=0.6, seed=0)
    >>> bs.write_report(sim.spins, "report.html", title="Six spins", simulations=0)
    """
    target = Path(path)
    if target.suffix.lower() != ".html":
        raise ValueError(f"{target}: expected the name of a file to write that ends in .html.")
    choices = Choices(method, prior, couplings_method, n_hidden, simulations, seed, series)
    command = _call(target, title, choices)
    write_report_on(target, _source(X, target.stem), choices, title, command, force)


def _source(X: Any, name: str) -> Source:
    """Spins with the names of the columns, and whatever else is known about them."""
    if isinstance(X, Simulation):
        X = X.spins
    return Source(name, SpinStatistics.of(X), X.notes if isinstance(X, SpinData) else ())


def _call(path: Path, title: str | None, choices: Choices) -> str:
    """What was typed, but for the name of the data and for what is as by default."""
    chosen = {field.name: getattr(choices, field.name) for field in fields(choices)}
    chosen = {"title": title} | {name: value for name, value in chosen.items() if name != "speak"}
    usual = {"title": None} | {field.name: field.default for field in fields(choices)}
    settings = [Setting(*item).in_python() for item in chosen.items() if item[1] != usual[item[0]]]
    return f"bs.write_report({', '.join(['X', repr(str(path)), *settings])})"
