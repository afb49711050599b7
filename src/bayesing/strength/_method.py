"""What a method that infers the strength of the couplings is, takes and gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from numpy.typing import ArrayLike

from ..arguments import Seed
from ..replica import mean_coupling, mean_field
from ..statistics import SpinStatistics
from ..types import Array, Heard


class Options(NamedTuple):
    """What a method is told: the prior, whether couplings have a mean, a seed, and who hears of progress.

    ``doubted`` says that the couplings do not look like those of the prior, so that a second opinion is wanted, and
    ``compared`` that it is wanted although they do.
    """

    prior: str = "gaussian"
    mean_coupling: bool = False
    seed: Seed = None
    progress: Heard | None = None
    doubted: bool = False
    compared: bool = False


class Evidence(NamedTuple):
    """The log evidence per spin and sample as a function of (H, gamma): a "curve" in gamma alone, or a "surface"."""

    kind: Literal["curve", "surface"]
    at: Callable[[ArrayLike, ArrayLike], Array]


@dataclass(frozen=True, eq=False)
class Estimate:
    """What every method gives: gamma, H and J0 (0 unless asked for) with standard errors.

    ``bound`` is the end of its range that gamma ran into, if any. ``case`` says where the evidence has its maximum,
    if a method knows. ``pull`` is J without the prior's pull over J with it, where a second opinion was wanted, and
    ``lost`` says that the method did not find its way. ``warnings`` are for whoever asked.
    """

    gamma: float
    gamma_error: float
    H: float
    H_error: float
    J0: float = 0.0
    J0_error: float = 0.0
    bound: float | None = None
    case: str | None = None
    evidence: Evidence | None = None
    pull: float | None = None
    lost: bool = False
    warnings: tuple[Warning, ...] = ()

    @property
    def J(self) -> float:
        """The square root of gamma."""
        return math.sqrt(self.gamma)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Names of the numbers that are not finite."""
        names = ("gamma", "gamma_error", "H", "H_error", "J0", "J0_error")
        return tuple(name for name in names if not math.isfinite(getattr(self, name)))

    @property
    def J_error(self) -> float:
        """Standard error of J: half the length of the image of that of gamma, so that it stays finite at 0."""
        if math.isinf(self.gamma_error):
            return math.inf
        low = max(self.gamma - self.gamma_error, 0.0)
        return (math.sqrt(self.gamma + self.gamma_error) - math.sqrt(low)) / 2


Statistic = Callable[[SpinStatistics], ArrayLike]


@dataclass(frozen=True)
class Method:
    """A method: what it is called, what it does in a line, and what it can do.

    ``fit`` infers an :class:`Estimate`. ``statistic`` gives, for what was inferred and a first guess of gamma, both
    above 0, a function of data that rises with their gamma, for calibration by simulation.
    """

    name: str
    about: str  #: What it is, in a line.
    fit: Callable[[SpinStatistics, Options], Estimate]
    statistic: Callable[[Estimate, float, Options], Statistic]
    needs_rows: bool = False  #: Whether sums and products are not enough.
    least_samples: int = 4  #: N from which it works at all.
    priors: tuple[str, ...] = ("gaussian",)  #: Names of the priors for which it holds.
    mean_coupling: bool = False  #: Whether it can estimate J0.
    evidence: bool = False  #: Whether its estimates have an evidence.
    saturates: bool = False  #: Whether gamma cannot grow beyond the edge of the spin glass.
    any_kind: bool = (
        False  #: Whether it holds in the spin glass, and for couplings that are not many and weak.
    )
    #: Whether gamma is off even where theory holds, so that calibration starts from another method's.
    biased: bool = False
    uses_missing: bool = False  #: Whether it can use rows with missing cells.
    missing_needs_rows: bool = False  #: Whether sums and products are then not enough.
    holds: str = ""  #: Where it holds, in a line.


def with_field(
    stats: SpinStatistics,
    gamma: float,
    gamma_error: float,
    options: Options,
    bound: float | None = None,
    evidence: Evidence | None = None,
) -> Estimate:
    """An estimate of gamma with the field, and J0 if asked for, that replica-symmetric theory has for it.

    Constant spins do not count: couplings of variance gamma/n, gamma k/n over k, of the k spins that vary give H.
    """
    moments = stats.kept.moments
    share = moments.n / stats.n
    J0, J0_error = mean_coupling(moments, gamma * share) if options.mean_coupling else (0.0, 0.0)
    H, H_error = mean_field(moments, gamma * share, gamma_error * share, J0, J0_error)
    return Estimate(gamma, gamma_error, H, H_error, J0 / share, J0_error / share, bound, evidence=evidence)
