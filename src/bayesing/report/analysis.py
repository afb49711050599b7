"""All that a report says, as numbers: estimates, intervals, couplings, and what is odd about the data.

Every part has a bound on its cost (:mod:`bayesing.report.budget`). What is left out or reduced is said in
``left_out``, and every warning of the library is caught and kept, so that a reader of the report sees it too.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..arguments import count
from ..boltzmann_machine import BoltzmannMachine, Coupling
from ..calibration import Interval
from ..empirical_bayes import EmpiricalBayes
from ..exceptions import BayesingWarning, BoundWarning
from ..packed import PackedSpins
from ..prediction import Prediction, predict
from ..replica import NEAR
from ..spectrum import Spectrum, spectrum_of
from ..spins import copies_of
from ..types import Spins
from . import budget

LEVEL = 0.9
FEW_SPINS = 16  # that vary; with fewer, no intervals unasked
TOP = 20  # couplings in the table
HELD_OUT = 4  # one row in so many is held out
LEAST_ROWS = 40  # of which a quarter can be spared
_MOST_HELD_OUT = 20_000
_SAMPLES = 1000, 4000  # of the model, for its predictions
_LARGEST_SPECTRUM = 5000  # min(n, N)
_NEIGHBOURS, _COLUMNS, _SHUFFLES = 2000, 300, 200  # for the test of the order of the rows


@dataclass(frozen=True, eq=False)
class Source:
    """Spins, and what is known about them: a name, names of the columns, and how the file was read."""

    name: str
    spins: Spins
    names: tuple[str, ...] | None = None
    encoding: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Choices:
    """Methods, prior, seed, and the number of simulations for the intervals: None is as many as take seconds."""

    method: str = "auto"
    prior: str = "gaussian"
    couplings_method: str = "auto"
    simulations: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        count("--seed", self.seed, 0)
        if self.simulations is not None and self.simulations != 0:
            count("--simulations", self.simulations, budget.LEAST_SIMULATIONS)


@dataclass(frozen=True)
class Oddities:
    """What a careful reader of the data would notice: columns by their index, and how alike successive rows are."""

    copies: tuple[tuple[int, int, int], ...]  # i, j, and +1 where equal or -1 where opposite
    successive: float | None  # correlation of successive rows, where it is no accident
    shuffled: float  # the same in random order: its standard deviation


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What a machine fitted to ``fitted`` rows predicts of ``tested`` others."""

    prediction: Prediction
    method: str
    fitted: int
    tested: int


@dataclass(frozen=True)
class Caught:
    """A warning of the library, and during which step."""

    step: str
    category: type[Warning]
    message: str


@dataclass(frozen=True, eq=False)
class Analysis:
    """Everything that a report says; ``left_out`` names what it does not, and why."""

    source: Source
    choices: Choices
    eb: EmpiricalBayes
    interval: Interval | None
    bm: BoltzmannMachine | None
    coupling_rows: int
    held_out: HeldOut | None
    strongest: tuple[Coupling, ...]
    oddities: Oddities
    eigenvalues: Spectrum | None  # of the correlations; None where they would take long
    caught: tuple[Caught, ...]
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Of the spins: those of the columns, or x0, x1, ..."""
        return list(self.source.names or (f"x{i}" for i in range(self.n)))

    @property
    def n(self) -> int:
        return self.eb.moments_.n

    @property
    def N(self) -> int:
        return self.eb.moments_.N


class Watch(Protocol):
    """Who looks on: told of the cost of all steps, of each as it begins, and how far it is."""

    def plan(self, seconds: dict[str, float]) -> None: ...
    def begin(self, step: str) -> None: ...
    def advance(self, done: int, total: int) -> None: ...


class Nobody:
    """Who does not look."""

    def plan(self, seconds: dict[str, float]) -> None:
        """Ignore."""

    def begin(self, step: str) -> None:
        """Ignore."""

    def advance(self, done: int, total: int) -> None:
        """Ignore."""


FIT, INTERVALS, COUPLINGS, PREDICTION, PICTURES = (
    "estimating J and H",
    "simulating data sets",
    "inferring couplings",
    "predicting held-out samples",
    "drawing pictures",
)


def analyse(source: Source, choices: Choices, watch: Watch | None = None) -> Analysis:
    """Fit, calibrate, infer couplings and predict; a ValueError says what is wrong with data or choices."""
    watch = watch or Nobody()
    n, N = source.spins.shape[1], len(source.spins)
    caught: list[Caught] = []
    left_out: dict[str, str] = {}
    with _catching(FIT, caught):
        watch.begin(FIT)
        eb = EmpiricalBayes(choices.method, choices.prior, random_state=choices.seed).fit(source.spins)
    oddities = _look(source.spins, choices.seed)

    each = budget.simulation(n, N, eb.at_distance_, NEAR)
    simulations = budget.simulations(each) if choices.simulations is None else choices.simulations
    rows = budget.rows_for_couplings(n, N)
    watch.plan(
        {
            FIT: budget.spectrum(n, N),
            INTERVALS: simulations * each,
            COUPLINGS: budget.spectrum(n, N) + budget.pseudolikelihood(n, rows) * (eb.at_distance_ < NEAR),
            PREDICTION: budget.tempering(n, max(_SAMPLES), eb.at_distance_ < NEAR),
            PICTURES: 8.0,
        }
    )
    watch.begin(INTERVALS)
    with _catching(INTERVALS, caught):
        interval, why = _interval(eb, choices, simulations, watch)
        if why:
            left_out[INTERVALS] = why
    watch.begin(COUPLINGS)
    with _catching(COUPLINGS, caught):
        bm, used, why = _couplings(source, choices, rows)
        if why:
            left_out[COUPLINGS] = why
    watch.begin(PREDICTION)
    with _catching(PREDICTION, caught):
        held_out, why = _predict(source.spins, choices, bm, rows, eb.at_distance_ < NEAR)
        if why:
            left_out[PREDICTION] = why
    return Analysis(
        source=source,
        choices=choices,
        eb=eb,
        interval=interval,
        bm=bm,
        coupling_rows=used,
        held_out=held_out,
        strongest=tuple(bm.strongest(TOP)) if bm else (),
        oddities=oddities,
        eigenvalues=spectrum_of(source.spins)[0] if min(n, N) <= _LARGEST_SPECTRUM else None,
        caught=tuple(dict.fromkeys(caught)),
        left_out=left_out,
    )


@contextmanager
def _catching(step: str, caught: list[Caught]) -> Iterator[None]:
    """Keep the library's warnings for the report; those of others are shown as ever."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", BayesingWarning)
        yield
    for warning in found:
        if issubclass(warning.category, BayesingWarning):
            caught.append(Caught(step, warning.category, str(warning.message)))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def _interval(
    eb: EmpiricalBayes, choices: Choices, simulations: int, watch: Watch
) -> tuple[Interval | None, str]:
    """Intervals, or why there are none."""
    n, N = eb.moments_.n, eb.moments_.N
    varying = int(np.count_nonzero(np.abs(eb.moments_.magnetisations) < 1))
    least, asked = budget.LEAST_SIMULATIONS, choices.simulations
    all_the_same = f"--simulations {least} asks for them all the same."
    if N < 4:
        return None, f"Intervals by simulation need at least 4 samples: there are {N}."
    if asked == 0:
        return None, "Intervals by simulation were left out, as asked with --simulations 0."
    if asked is None and varying < FEW_SPINS:
        return None, (
            f"Intervals by simulation were left out: with {varying} spins that vary, strength is a matter of a few "
            f"couplings, and data sets with other couplings are a poor guide. {all_the_same}"
        )
    if not simulations:
        return None, (
            f"Intervals by simulation were left out: to simulate data sets of {N:,} samples of {n:,} spins takes "
            f"long. {all_the_same}"
        )
    try:
        return eb.interval(LEVEL, simulations, choices.seed, progress=watch.advance), ""
    except ValueError as error:
        if " vary" not in str(error):
            raise
        return None, (
            "Intervals by simulation were not found: in some simulated data sets of about this strength and field "
            "hardly any spin varies."
        )


def _couplings(source: Source, choices: Choices, rows: int) -> tuple[BoltzmannMachine | None, int, str]:
    """Couplings from all rows, or from as many as there is time for; how many, and what was done about the others."""
    spins, (N, n) = source.spins, source.spins.shape
    if N < 4:
        return None, 0, f"Couplings were not inferred: that takes at least 4 samples, and there are {N}."
    bm = _machine(choices)
    why = ""
    if choices.couplings_method != "auto" or rows == N:
        bm.fit(spins)
    elif rows < min(n, N) and choices.prior == "gaussian":
        bm = _machine(choices, "spectral").fit(spins)
        bm.reason_ = "to save time"
        why = (
            f'Couplings are those of "spectral", which is fast. Pseudo-likelihood of {n:,} spins would take minutes; '
            "it is better near the spin glass, for strong couplings and for very many samples. --couplings-method "
            "pseudolikelihood asks for it."
        )
    else:
        rows = max(rows, min(N, 2 * n))
        bm.fit(_some(spins, rows, choices.seed))
        if bm.method_ == "spectral":  # fast enough for all of them
            reason = bm.reason_
            bm = _machine(choices, "spectral").fit(spins)
            bm.reason_ = reason
        else:
            N = rows
            why = (
                f"Couplings were inferred from {rows:,} of the {len(spins):,} rows, a random choice, to save time. "
                "--couplings-method pseudolikelihood asks for all of them."
            )
    if source.names:
        bm.feature_names_in_ = np.array(source.names, dtype=object)
    return bm, N, why


def _predict(
    spins: Spins, choices: Choices, bm: BoltzmannMachine | None, most: int, hard: bool
) -> tuple[HeldOut | None, str]:
    """Fit three quarters of the rows by the same method and predict the others; or why not."""
    N, n = spins.shape
    if bm is None or N < LEAST_ROWS:
        return None, (
            f"Predictions were not tested: that takes at least {LEAST_ROWS} samples, a quarter of them to be held "
            f"out, and there are {N}."
        )
    short = bm.method_ != "spectral" and choices.couplings_method == "auto"
    test, train = _split(N, max(most, 2 * n) if short else N, choices.seed)
    if np.count_nonzero(np.abs(spins[train].mean(axis=0)) < 1) < 2:
        return None, "Predictions were not tested: without the held-out rows fewer than 2 spins vary."
    samples = min(max(_SAMPLES[0], 4 * len(test)), _SAMPLES[1])
    if not budget.can_predict(n, samples, hard):
        return (
            None,
            f"Predictions were not tested: to sample the fitted model of {n} spins would take minutes.",
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundWarning)  # said of the fit to all rows, or of none
        machine = _machine(choices, bm.method_).fit(spins[train])
    found = predict(machine.model_, spins[test], samples, np.random.default_rng([choices.seed, 2]))
    return HeldOut(found, machine.method_, len(train), len(test)), ""


def _split(N: int, most: int, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows to test and rows to fit, ``most`` of them, both chosen at random."""
    order = np.random.default_rng([seed, 1]).permutation(N)
    cut = N // HELD_OUT
    return np.sort(order[: min(cut, _MOST_HELD_OUT)]), np.sort(order[cut : cut + most])


def _machine(choices: Choices, method: str | None = None) -> BoltzmannMachine:
    return BoltzmannMachine(method or choices.couplings_method, choices.prior, random_state=choices.seed)


def _some(spins: Spins, rows: int, seed: int) -> Spins:
    """A random choice of rows, in their order."""
    chosen = np.random.default_rng(seed).choice(len(spins), rows, replace=False)
    return spins[np.sort(chosen)]


def _look(spins: Spins, seed: int) -> Oddities:
    N = len(spins)
    sums = spins.sum(axis=0, dtype=np.int64)
    varying = np.abs(sums) < N
    successive, deviation = _order(spins[:_NEIGHBOURS, np.flatnonzero(varying)[:_COLUMNS]], seed)
    return Oddities(
        copies=copies_of(PackedSpins.of(spins)),
        successive=successive,
        shuffled=deviation,
    )


def _order(spins: Spins, seed: int) -> tuple[float | None, float]:
    """Correlation of successive rows where it is far above that in random order, and the deviation of the latter.

    Independent rows may come in any order: a permutation test, whatever the couplings.
    """
    N = len(spins)
    if N < 20:
        return None, 0.0
    z = spins - spins.mean(axis=0)
    power = float(np.mean(z * z))
    if power == 0:
        return None, 0.0
    gram = z @ z.T / (power * spins.shape[1])
    rng = np.random.default_rng(seed)
    shuffled = []
    for _ in range(_SHUFFLES):
        order = rng.permutation(N)
        shuffled.append(float(gram[order[:-1], order[1:]].mean()))
    found = float(np.diagonal(gram, 1).mean())
    deviation = float(np.std(shuffled))
    far = found - float(np.mean(shuffled)) > 5 * deviation and found > 0.02
    return (found if far else None), deviation
