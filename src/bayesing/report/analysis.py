"""All that a report says, as numbers: estimates, intervals, couplings, and what is odd about the data.

Every part has a bound on its cost (:mod:`bayesing.report.budget`). What is left out or reduced is said in
``left_out``, and every warning of the library is caught and kept, so that a reader of the report sees it too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..allowed import check_couplings
from ..calibration import Interval
from ..choice import LARGEST_SPECTRUM
from ..empirical_bayes import EmpiricalBayes
from ..exceptions import BayesingWarning, Setting
from ..loadings import whole_rows
from ..order import Order, order_of
from ..replica import NEAR
from ..spectrum import Spectrum
from . import budget
from .couplings import InferredCouplings, couplings_of
from .gaps import Gaps, gaps_of
from .held_out import MOST_MODEL_SAMPLES, HeldOut, held_out_of
from .intervals import interval_of
from .likeness import Likeness, likeness_of
from .request import Choices, Source
from .variables import DRAWS, Variable, variables_of
from .watch import Nobody, Step, Watch


@dataclass(frozen=True)
class Caught:
    """A warning of the library, and during which step."""

    step: Step
    category: type[Warning]
    message: str


@dataclass(frozen=True, eq=False)
class Analysis:
    """Everything that a report says; ``left_out`` names what it does not, and why."""

    source: Source
    choices: Choices
    eb: EmpiricalBayes
    interval: Interval | None
    couplings: InferredCouplings | None
    likeness: Likeness | None
    variables: tuple[Variable, ...]
    held_out: HeldOut | None
    order: Order | None  # of the rows; None for few
    gaps: Gaps | None  # None where no cell is missing
    spectrum: Spectrum | None  # of the correlations, with missing cells drawn; None where it would take long
    caught: tuple[Caught, ...]
    left_out: dict[Step, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the spins: those of the columns, or x0, x1, ..."""
        return self.source.labels

    @property
    def remembers(self) -> bool:
        """Whether rows remember those before them."""
        return self.order is not None and self.order.remembers

    @property
    def n(self) -> int:
        return self.source.data.n

    @property
    def N(self) -> int:
        return self.source.data.N


def analyse(source: Source, choices: Choices, watch: Watch | None = None) -> Analysis:
    """Fit, calibrate, infer couplings and predict; a ValueError says what is wrong with data or choices."""
    check_couplings(choices.couplings_method, choices.prior, "auto", choices.n_hidden)
    watch = watch or Nobody()
    steps = _Steps(watch, choices.speak)
    data = source.data
    n, N = data.n, data.N
    with steps.begun(Step.FIT):
        affordable = min(n, N) <= LARGEST_SPECTRUM
        if affordable and not data.missing:
            _ = data.eigenvectors  # of which couplings are made: one decomposition serves all
        eb = EmpiricalBayes(
            choices.method, choices.strength_prior, series=choices.series, random_state=choices.seed
        ).fit(data)
        spectrum = data.spectrum if affordable and not data.missing else None
        order = order_of(data)
    distance = eb.diagnosis_.distance
    hard, rows = distance < NEAR, budget.rows_for_couplings(n, N)
    each = budget.simulation(n, N, distance, NEAR)
    simulations = budget.simulations(each) if choices.simulations is None else choices.simulations
    watch.plan(_seconds(n, N, simulations * each, rows, hard))
    with steps.begun(Step.INTERVALS):
        interval, steps.why = interval_of(eb, choices, simulations, watch)
    with steps.begun(Step.COUPLINGS):
        couplings, steps.why = couplings_of(source, choices, rows)
        if data.missing and affordable and couplings:
            spectrum = whole_rows(couplings.machine.answer_, data, choices.seed).spectrum
        elif data.missing:
            steps.why += " The spectrum of the correlations, which needs complete rows, was left out, too."
    with steps.begun(Step.LIKENESS):
        variables, without = variables_of(data, source.labels, couplings, choices.seed, hard)
        likeness, why = likeness_of(data, couplings, choices.seed, hard)
        if couplings:
            steps.why = " ".join(filter(None, (why, without)))
    with steps.begun(Step.PREDICTION):
        held_out, steps.why = held_out_of(data, choices, couplings, rows, hard)
    return Analysis(
        source=source,
        choices=choices,
        eb=eb,
        interval=interval,
        couplings=couplings,
        likeness=likeness,
        variables=variables,
        held_out=held_out,
        order=order,
        gaps=gaps_of(data),
        spectrum=spectrum,
        caught=tuple(dict.fromkeys(steps.caught)),
        left_out=steps.left_out,
    )


def _seconds(n: int, N: int, intervals: float, rows: int, hard: bool) -> dict[str, float]:
    """Expected seconds of each step."""
    return {
        Step.FIT: budget.spectrum(n, N),
        Step.INTERVALS: intervals,
        Step.COUPLINGS: budget.spectrum(n, N) + budget.pseudolikelihood(n, rows) * hard,
        Step.LIKENESS: budget.drawing(n, DRAWS),
        Step.PREDICTION: budget.tempering(n, MOST_MODEL_SAMPLES, hard),
        Step.PICTURES: budget.SECONDS_FOR_PICTURES,
    }


class _Steps:
    """Steps as they are begun: ``why`` says what the present one leaves out."""

    def __init__(self, watch: Watch, speak: Callable[[Setting], str]) -> None:
        self.watch = watch
        self.speak = speak
        self.why = ""
        self.caught: list[Caught] = []
        self.left_out: dict[Step, str] = {}

    @contextmanager
    def begun(self, step: Step) -> Iterator[None]:
        """Keep the library's warnings for the report; those of others are shown as ever."""
        self.watch.begin(step)
        self.why = ""
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always", BayesingWarning)
            yield
        for warning in found:
            if isinstance(warning.message, BayesingWarning):
                self.caught.append(Caught(step, warning.category, warning.message.worded(self.speak)))
            else:
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
        if self.why:
            self.left_out[step] = self.why
