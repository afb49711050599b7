"""What commands show of an estimate: the one place that knows where the numbers come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..loadings import Cause, causes_of
from ..words import sentence
from ._errors import say

if TYPE_CHECKING:
    from ..boltzmann_machine import BoltzmannMachine
    from ..check import Check
    from ..edges import Coupling
    from ..inference import StrengthAnswer
    from ..learning.causes_evidence import Difference
    from ..learning.certificate import Certificate
    from ..statistics import SpinStatistics

STRONGEST = 10  # couplings to keep, as many as BoltzmannMachine.strongest gives unasked


@dataclass(frozen=True)
class ShownReason:
    """In what the data, or the estimate, are odd: a quantity, its value, the limit that it passed, and a sentence."""

    quantity: str
    value: float
    limit: float
    sentence: str


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
    trusted: bool
    reasons: tuple[ShownReason, ...]
    prior: str
    mean_coupling: bool
    n_spins: int
    n_samples: int
    effective_samples: float
    n_missing: int
    magnetisation: float
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class ShownCouplings:
    """The strongest couplings, how they were found, and the size of the data; in the order of the JSON.

    ``prior`` and ``gamma`` are None for methods without a prior, ``penalty`` for methods without a penalty. Edges are
    couplings that are there; so many of them are expected to be false. ``hidden_reason`` says why there are so many
    common causes, and is None where they were not asked for. ``hidden_gains`` are those of the evidence, by each.
    """

    method: str
    reason: str
    prior: str | None
    gamma: float | None
    penalty: float | None
    n_spins: int
    n_samples: int
    effective_samples: float
    n_missing: int
    fdr: float
    n_edges: int
    expected_false_edges: float
    strongest: tuple[Coupling, ...]
    hidden: tuple[Cause, ...]
    hidden_reason: str | None
    hidden_gains: tuple[Difference, ...]
    check: Check | None
    certificate: Certificate | None
    warnings: tuple[str, ...]


def shown(answer: StrengthAnswer) -> Shown:
    """What is shown of an answer."""
    estimate, moments = answer.estimate, answer.moments
    return Shown(
        gamma=estimate.gamma,
        gamma_error=estimate.gamma_error,
        J=estimate.J,
        J_error=estimate.J_error,
        H=estimate.H,
        H_error=estimate.H_error,
        J0=estimate.J0,
        J0_error=estimate.J0_error,
        case=estimate.case,
        method=answer.method.name,
        reason=answer.reason,
        regime=answer.regime,
        at_distance=answer.diagnosis.distance,
        trusted=answer.diagnosis.trusted,
        reasons=tuple(
            ShownReason(reason.quantity.value, reason.value, reason.limit, sentence(reason))
            for reason in answer.diagnosis.reasons
        ),
        prior=answer.options.prior,
        mean_coupling=answer.options.mean_coupling,
        n_spins=moments.n,
        n_samples=answer.n_samples,
        effective_samples=answer.effective_samples,
        n_missing=answer.n_missing,
        magnetisation=answer.magnetisation,
        warnings=tuple(map(say, answer.warnings)),
    )


def shown_couplings(bm: BoltzmannMachine, data: SpinStatistics, fdr: float) -> ShownCouplings:
    """What is shown of a machine that was fitted to these data."""
    edges, automatic = bm.edges(fdr), bm.n_hidden == "auto"
    why = None if bm.n_hidden == 0 else bm.reason_ if automatic else _as_asked(bm.answer_.n_hidden)
    return ShownCouplings(
        method=bm.method_,
        reason=bm.reason_,
        prior=None if bm.gamma_ is None else bm.prior,
        gamma=bm.gamma_,
        penalty=bm.penalty_,
        n_spins=bm.n_features_in_,
        n_samples=data.N,
        effective_samples=bm.effective_samples_,
        n_missing=data.missing,
        fdr=fdr,
        n_edges=len(edges),
        expected_false_edges=sum(1 - edge.probability for edge in edges),
        strongest=tuple(bm.strongest(STRONGEST)),
        hidden=causes_of(bm.answer_, bm.names(), data),
        hidden_reason=why,
        hidden_gains=bm.answer_.gains,
        check=bm.check_,
        certificate=bm.certificate_,
        warnings=tuple(map(say, bm.answer_.warnings)),
    )


def _as_asked(k: int) -> str:
    return f"{k} common cause{'s' * (k != 1)}, as asked"
