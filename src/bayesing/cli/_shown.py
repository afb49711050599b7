"""What commands show of an estimate: the one place that knows where the numbers come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..boltzmann_machine import BoltzmannMachine, Coupling
    from ..empirical_bayes import EmpiricalBayes

STRONGEST = 10  # couplings to keep, as many as BoltzmannMachine.strongest gives unasked


@dataclass(frozen=True)
class Shown:
    """Estimates of J and H, how they were found, and the size of the data; in the order of the JSON."""

    gamma: float
    gamma_error: float
    J: float
    J_error: float
    H: float
    H_error: float
    J0: float
    J0_error: float
    case: str | None
    method: str
    reason: str
    regime: str
    at_distance: float
    prior: str
    mean_coupling: bool
    n_spins: int
    n_samples: int
    magnetisation: float


@dataclass(frozen=True)
class ShownCouplings:
    """The strongest couplings, how they were found, and the size of the data; in the order of the JSON.

    ``prior`` and ``gamma`` are None for methods without a prior, ``penalty`` for methods without a penalty.
    """

    method: str
    reason: str
    prior: str | None
    gamma: float | None
    penalty: float | None
    n_spins: int
    n_samples: int
    strongest: tuple[Coupling, ...]


def shown(eb: EmpiricalBayes) -> Shown:
    """What is shown of a fitted estimator."""
    return Shown(
        gamma=eb.gamma_,
        gamma_error=eb.gamma_error_,
        J=eb.J_,
        J_error=eb.J_error_,
        H=eb.H_,
        H_error=eb.H_error_,
        J0=eb.J0_,
        J0_error=eb.J0_error_,
        case=eb.case_,
        method=eb.method_,
        reason=eb.reason_,
        regime=eb.regime_,
        at_distance=eb.at_distance_,
        prior=eb.prior,
        mean_coupling=eb.mean_coupling,
        n_spins=eb.moments_.n,
        n_samples=eb.moments_.N,
        magnetisation=eb.moments_.M,
    )


def shown_couplings(bm: BoltzmannMachine, n_samples: int) -> ShownCouplings:
    """What is shown of a fitted machine."""
    return ShownCouplings(
        method=bm.method_,
        reason=bm.reason_,
        prior=None if bm.gamma_ is None else bm.prior,
        gamma=bm.gamma_,
        penalty=bm.penalty_,
        n_spins=bm.n_features_in_,
        n_samples=n_samples,
        strongest=tuple(bm.strongest(STRONGEST)),
    )
