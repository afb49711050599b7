"""Experiments as data: what to simulate, and what the paper printed."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from ..generator import SamplerName
from ..priors import PriorName

# In the order of the paper; "equilibrium" goes beyond it and is not part of "all".
PAPER = ("table1", "table2", "table3", "fig2", "fig3", "fig4", "fig5", "fig6", "fig7", "fig8", "appendix-c")
NAMES = (*PAPER, "equilibrium")


@dataclass(frozen=True)
class Panel:
    """One set of axes: a field, and curves for several (n, N)."""

    label: str
    H: float
    sizes: tuple[tuple[int, int], ...]
    predicted: dict[str, float] | None = None


@dataclass(frozen=True)
class Printed:
    """Mean and standard deviation of J_hat as printed, text so that the last digit is known."""

    n: int
    N: int
    H: float
    J: float
    mean: str
    sd: str


@dataclass(frozen=True)
class Experiment:
    """A table or figure: ``kind`` "estimates" (of J), "fields" (estimates of H) or "orders" (Appendix C)."""

    name: str
    title: str
    source: str
    kind: str
    prior: PriorName
    sampler: SamplerName
    J: tuple[float, ...]
    repeats: int
    panels: tuple[Panel, ...]
    printed: tuple[Printed, ...]
    note: str


@dataclass(frozen=True, order=True)
class Cell:
    """One disorder ensemble: data sets that differ in N alone are nested subsets of the same simulation."""

    sampler: SamplerName
    prior: PriorName
    n: int
    H: float
    J: float

    @property
    def name(self) -> str:
        """Name of the cell's file."""
        return f"{self.sampler}-{self.prior}-n{self.n}-H{self.H:g}-J{self.J:g}"


@dataclass(frozen=True)
class Work:
    """What to do in a cell: numbers of samples, and repeats."""

    samples: tuple[int, ...]
    repeats: int


def load(name: str) -> Experiment:
    """Read the specification of one experiment."""
    if name not in NAMES:
        raise ValueError(f"Expected one of {', '.join(NAMES)} or all: found {name!r}.")
    text = (files(__package__) / "specs" / f"{name}.toml").read_text("utf-8")
    spec: dict[str, Any] = tomllib.loads(text)
    panels = tuple(
        Panel(p["label"], p["H"], tuple((n, N) for n, N in p["sizes"]), p.get("predicted"))
        for p in spec["panels"]
    )
    H = panels[0].H
    printed = tuple(
        Printed(row["n"], row["N"], H, round(0.2 * k, 1), mean, sd)
        for row in spec.get("paper", [])
        for k, (mean, sd) in enumerate(zip(row["mean"], row["sd"], strict=True))
    )
    return Experiment(
        name=name,
        title=spec["title"],
        source=spec["source"],
        kind=spec["kind"],
        prior=spec.get("prior", "gaussian"),
        sampler=spec.get("sampler", "anneal"),
        J=tuple(spec["J"]),
        repeats=spec["repeats"],
        panels=panels,
        printed=printed,
        note=spec.get("note", ""),
    )


def quick(experiment: Experiment) -> Experiment:
    """The same in small: a fifth of the spins (and of the samples that grow with them), few J, few repeats."""
    J = tuple(J for J in experiment.J if round(J * 10) % 4 == 0) or experiment.J
    panels = tuple(map(_small, experiment.panels))
    title, repeats = f"{experiment.title} (quick)", min(experiment.repeats, 5)
    return replace(experiment, title=title, J=J, repeats=repeats, panels=panels, printed=())


def _small(panel: Panel) -> Panel:
    keep = _same_samples(panel)
    sizes = tuple((n // 5, N if keep else max(3, N // 5)) for n, N in panel.sizes)
    n = panel.sizes[0][0]
    return replace(panel, sizes=sizes, label=panel.label.replace(f"n = {n}", f"n = {n // 5}"))


def _same_samples(panel: Panel) -> bool:
    """Whether several n have the same N: then N is a constant, and else it is meant in proportion to n."""
    samples: dict[int, set[int]] = defaultdict(set)
    for n, N in panel.sizes:
        samples[n].add(N)
    return len(samples) > 1 and len(set(map(frozenset, samples.values()))) == 1


def cells_of(experiment: Experiment) -> list[Cell]:
    """Cells that an experiment needs."""
    found = {
        Cell(experiment.sampler, experiment.prior, n, panel.H, J)
        for panel in experiment.panels
        for n, _ in panel.sizes
        for J in experiment.J
    }
    return sorted(found)


def catalogue(small: bool) -> dict[Cell, Work]:
    """All cells of all experiments, with every N and the most repeats that any of them asks for.

    A cell does not depend on which experiments are run, so that results can be shared and runs continued.
    """
    samples: dict[Cell, set[int]] = defaultdict(set)
    repeats: dict[Cell, int] = defaultdict(int)
    for name in NAMES:
        experiment = quick(load(name)) if small else load(name)
        for panel in experiment.panels:
            for n, N in panel.sizes:
                for J in experiment.J:
                    cell = Cell(experiment.sampler, experiment.prior, n, panel.H, J)
                    samples[cell].add(N)
                    repeats[cell] = max(repeats[cell], experiment.repeats)
    return {cell: Work(tuple(sorted(samples[cell])), repeats[cell]) for cell in samples}
