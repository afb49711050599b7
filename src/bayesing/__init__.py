"""Empirical Bayes for Boltzmann machines.

From N snapshots of n binary variables, infer how strong the couplings are
(gamma = J^2) and the field H, after M. Yasuda and T. Obuchi, *Empirical Bayes
Method for Boltzmann Machines* (arXiv:1906.06002), and beyond.

    >>> import bayesing as bs
    >>> sim = bs.simulate(n_spins=200, n_samples=80, J=0.6, seed=2)
    >>> eb = bs.EmpiricalBayes().fit(sim.spins)
    >>> print(f"J = {eb.J_:.2f} ± {eb.J_error_:.2f}")
    J = 0.58 ± 0.02

Names are resolved when first used, so that ``import bayesing`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "AnotherKindWarning": "exceptions",
    "BayesingWarning": "exceptions",
    "BoltzmannMachine": "boltzmann_machine",
    "BoundWarning": "exceptions",
    "CheckWarning": "exceptions",
    "CopiesWarning": "exceptions",
    "DriftWarning": "exceptions",
    "EmpiricalBayes": "empirical_bayes",
    "InputError": "exceptions",
    "IsingModel": "ising",
    "LaplaceWarning": "exceptions",
    "LeftOutWarning": "exceptions",
    "MemoryWarning": "exceptions",
    "MissingCellsError": "exceptions",
    "NotConvergedWarning": "exceptions",
    "NotEquilibratedWarning": "exceptions",
    "NotSparseWarning": "exceptions",
    "NotSpinsError": "exceptions",
    "RestrictedBoltzmannMachine": "restricted_boltzmann_machine",
    "RestrictedModel": "restricted",
    "SaturationWarning": "exceptions",
    "Simulation": "generator",
    "SomeRowsWarning": "exceptions",
    "SpinData": "io._record",
    "SpinDataset": "datasets",
    "SpinMoments": "moments",
    "SpinStatistics": "statistics",
    "UnseenStatesWarning": "exceptions",
    "annealed_importance_sampling": "sampling.anneal",
    "as_spins": "spins",
    "compare": "comparison",
    "compare_groups": "comparison",
    "from_spike_trains": "io.spikes",
    "load_digits": "datasets",
    "load_senate109": "datasets",
    "parallel_tempering": "sampling.tempering",
    "read_batches": "io._batches",
    "read_spins": "io._read",
    "sample": "generator",
    "simulate": "generator",
    "write_report": "report.from_python",
}

__all__ = [
    "AnotherKindWarning",
    "BayesingWarning",
    "BoltzmannMachine",
    "BoundWarning",
    "CheckWarning",
    "CopiesWarning",
    "DriftWarning",
    "EmpiricalBayes",
    "InputError",
    "IsingModel",
    "LaplaceWarning",
    "LeftOutWarning",
    "MemoryWarning",
    "MissingCellsError",
    "NotConvergedWarning",
    "NotEquilibratedWarning",
    "NotSparseWarning",
    "NotSpinsError",
    "RestrictedBoltzmannMachine",
    "RestrictedModel",
    "SaturationWarning",
    "Simulation",
    "SomeRowsWarning",
    "SpinData",
    "SpinDataset",
    "SpinMoments",
    "SpinStatistics",
    "UnseenStatesWarning",
    "annealed_importance_sampling",
    "as_spins",
    "compare",
    "compare_groups",
    "from_spike_trains",
    "load_digits",
    "load_senate109",
    "parallel_tempering",
    "read_batches",
    "read_spins",
    "sample",
    "simulate",
    "write_report",
]

if TYPE_CHECKING:
    from .boltzmann_machine import BoltzmannMachine
    from .comparison import compare, compare_groups
    from .datasets import SpinDataset, load_digits, load_senate109
    from .empirical_bayes import EmpiricalBayes
    from .exceptions import (
        AnotherKindWarning,
        BayesingWarning,
        BoundWarning,
        CheckWarning,
        CopiesWarning,
        DriftWarning,
        InputError,
        LaplaceWarning,
        LeftOutWarning,
        MemoryWarning,
        MissingCellsError,
        NotConvergedWarning,
        NotEquilibratedWarning,
        NotSparseWarning,
        NotSpinsError,
        SaturationWarning,
        SomeRowsWarning,
        UnseenStatesWarning,
    )
    from .generator import Simulation, sample, simulate
    from .io._batches import read_batches
    from .io._read import read_spins
    from .io._record import SpinData
    from .io.spikes import from_spike_trains
    from .ising import IsingModel
    from .moments import SpinMoments
    from .report.from_python import write_report
    from .restricted import RestrictedModel
    from .restricted_boltzmann_machine import RestrictedBoltzmannMachine
    from .sampling.anneal import annealed_importance_sampling
    from .sampling.tempering import parallel_tempering
    from .spins import as_spins
    from .statistics import SpinStatistics


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'bayesing' has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
