"""Couplings from all rows, or from as many as there is time for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..boltzmann_machine import BoltzmannMachine
from ..choice import MOST_LEARNT, QUICK, SUMMING, THOROUGH
from ..edges import Coupling
from ..exceptions import Setting
from ..loadings import Cause, causes_of, strongest_loadings
from ..statistics import SpinStatistics
from .request import Choices, Source

STRONGEST = 60  # couplings that are kept: those of the network
MOST_PAIRS = 1000  # that are kept in all
_MOST_LISTED = 400  # spins, of which all pairs are looked at
_LEAST_SAMPLES = 4  # from which couplings can be inferred
_LEAST_ROWS_PER_SPIN = 2  # where only some rows are used


@dataclass(frozen=True, eq=False)
class InferredCouplings:
    """A fitted machine, why its method was chosen, from how many rows, and couplings with names.

    ``edges`` are those that are there, the most probable first, and ``causes`` the common causes beside them.
    """

    machine: BoltzmannMachine
    reason: str
    rows: int
    strongest: tuple[Coupling, ...]  # the first the strongest
    edges: tuple[Coupling, ...]
    causes: tuple[Cause, ...] = ()
    others: tuple[Coupling, ...] = ()  # the most probable that are no edges

    @property
    def any(self) -> bool:
        """Whether one of the couplings is not 0."""
        return bool(self.strongest) and self.strongest[0].J != 0

    @property
    def false(self) -> float:
        """How many of the edges are expected to be false."""
        return sum(1 - edge.probability for edge in self.edges)

    @property
    def is_sparse(self) -> bool:
        """Whether a false edge is one that is not there, and not one of the other sign."""
        return self.machine.edge_probabilities_ is not None

    @property
    def shown(self) -> tuple[Coupling, ...]:
        """What is worth a look, the strongest first: edges, or the strongest couplings if there are none."""
        edges = sorted((edge for edge in self.edges if edge.J), key=lambda edge: -abs(edge.J))
        return tuple(edges[:STRONGEST]) or self.strongest

    def loadings(self, most: int) -> tuple[Coupling, ...]:
        """What common causes load on, up to so many lines for each; its strongest if none is clear."""
        return strongest_loadings((each for cause in self.causes for each in cause.loadings), most)


def couplings_of(source: Source, choices: Choices, rows: int) -> tuple[InferredCouplings | None, str]:
    """Couplings from all rows, if there is time for so many ``rows``; what was left out or reduced, and why."""
    data = source.data
    N, n = data.N, data.n
    if N < _LEAST_SAMPLES:
        why = f"Couplings were not inferred: that takes at least {_LEAST_SAMPLES} samples, and there are {N}."
        return None, why
    chains = bool(data.missing or choices.n_hidden)  # which only the true likelihood can do
    if chains and n > MOST_LEARNT and choices.couplings_method == "auto":
        what = "common causes" if choices.n_hidden else "missing cells"
        asked = choices.speak(Setting("couplings_method", SUMMING))
        return None, (
            f"Couplings were not inferred: with {what} that would take minutes for more than {MOST_LEARNT} spins, "
            f"and there are {n:,}. {asked} asks for them all the same."
        )
    if choices.couplings_method != "auto" or rows == N:
        machine = machine_for(choices).fit(data)
        return _inferred(machine, machine.reason_, data), ""
    all_the_same = choices.speak(Setting("couplings_method", THOROUGH))
    if rows < min(n, N) and choices.prior == "gaussian" and not chains:
        machine = machine_for(choices, QUICK).fit(data)
        why = (
            f"Couplings are those of the method {machine.method_}, which is fast. The method {THOROUGH} would take "
            f"minutes for {n:,} spins; it is better near the spin glass, for strong couplings and for very many "
            f"samples. {all_the_same} asks for it."
        )
        return _inferred(machine, "to save time", data), why
    rows = max(rows, min(N, _LEAST_ROWS_PER_SPIN * n))
    chosen = _chosen_rows(data, rows, choices)
    some = machine_for(choices).fit(chosen)
    if some.is_cheap_:
        return _inferred(machine_for(choices, some.method_).fit(data), some.reason_, data), ""
    how = "at equal distances" if choices.series else "a random choice"
    why = (
        f"Couplings were inferred from {chosen.N:,} of the {N:,} rows, {how}, to save time. "
        f"{choices.speak(Setting('couplings_method', some.method_))} asks for all of them."
    )
    return _inferred(some, some.reason_, chosen), why


def machine_for(choices: Choices, method: str | None = None, n_hidden: int | None = None) -> BoltzmannMachine:
    """A machine to be fitted, by what was chosen unless there is another method or number of common causes."""
    causes = choices.n_hidden if n_hidden is None else n_hidden
    return BoltzmannMachine(
        method or choices.couplings_method,
        choices.prior,
        n_hidden=causes,
        series=choices.series,
        random_state=choices.seed,
    )


def _inferred(machine: BoltzmannMachine, reason: str, data: SpinStatistics) -> InferredCouplings:
    strongest, edges = machine.strongest(STRONGEST), machine.edges()
    causes = causes_of(machine.answer_, machine.names(), data)
    others = tuple(_others(machine, len(edges))) if edges else tuple(strongest)
    rows = machine.answer_.n_samples  # where not all were kept, those that were drawn
    return InferredCouplings(machine, reason, rows, tuple(strongest), tuple(edges), causes, others)


def _others(machine: BoltzmannMachine, edges: int) -> list[Coupling]:
    """Pairs beyond the edges, the most probable first, unless all pairs are too many to look at each."""
    n = machine.n_features_in_
    if n > _MOST_LISTED:
        return []
    found = sorted(machine.pairs(), key=lambda c: (-c.probability, -abs(c.J)))
    return found[edges : max(edges, MOST_PAIRS)]


def _chosen_rows(data: SpinStatistics, rows: int, choices: Choices) -> SpinStatistics:
    """A random choice of rows, in their order; of a series, rows that are equally far apart."""
    data = data.sampled or data
    rows = min(rows, data.N)
    if choices.series:
        return data.take(slice(None, None, -(-data.N // rows)))
    chosen = np.random.default_rng(choices.seed).choice(data.N, rows, replace=False)
    return data.take(np.sort(chosen))
