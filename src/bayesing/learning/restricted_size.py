r"""Which restricted Boltzmann machine: the best of several starts, and the number of hidden units of largest
evidence.

**Starts.** The posterior has many modes. The search is run from several random starts, with the scale of the
weights held, and the start that leads to the highest mode goes on. Where there is a fit with one unit less, this
fit with its scales and a new random unit are another start, and the larger evidence decides. With more than 50,000
distinct samples the starts see a random 20,000 of them.

**Many units**, whose states are too many to go through, are learned by chains
(:mod:`bayesing.learning.restricted_chains`).

**The number of units** k = 0, 1, 2, ... is raised until the evidence (:mod:`bayesing.learning.restricted_evidence`)
has fallen twice in a row, or to 12. Evidences within 1 nat of the largest one are not told apart, and the smallest
of their numbers of units is taken.

**Order and signs.** The model does not change with the order of its units, nor with the sign of a unit's weights
and field. Units are sorted by their strength :math:`\sum_i W_{ia}^2 \operatorname{Var} v_i`, the strongest first,
and have weights whose sum is not negative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from ..conditionals import independent_fields
from ..exceptions import BayesingWarning, BoundWarning, NotConvergedWarning
from ..restricted import RestrictedModel
from ..sampling.restricted import anneal_restricted
from ..statistics import SpinStatistics
from ..types import Array, Heard, Indices
from .restricted import (
    FIRST_GAMMA,
    Point,
    RestrictedFit,
    Rows,
    first_point,
    fit_restricted,
    held_mode,
)
from .restricted_chains import fit_chains
from .restricted_evidence import (
    MOST_PARAMETERS,
    SAMPLES,
    RestrictedPosterior,
    enough_samples,
    posterior_by_blocks,
    posterior_of,
)

MOST_UNITS = 12  # that "auto" tries
_FEW = 12  # hidden or visible spins, whose 4096 states are gone through at every step
_SEVERAL = 16  # the same if the other side is small as well
_MOST_TERMS = 2**22  # states times spins of the other side: 20 milliseconds
_STARTS = 3  # random ones
_MANY = 50_000  # distinct samples, from which starts see some of them
_SOME = 20_000  # samples that they see
_NOISE = 1.0  # nats: evidences are from samples, and have standard errors of about a half
_FALLS = 2  # of the evidence in a row, that end the search for k


@dataclass(frozen=True, eq=False)
class RestrictedAnswer:
    """A fitted machine: the model with standard errors, scales, ln Z, and evidences by the number of hidden units.

    ``base`` are fields of independent spins with the means of the data.
    """

    model: RestrictedModel
    gamma: Array
    weight_errors: Array
    field_errors: Array
    hidden_field_errors: Array
    base: Array
    log_partition: float
    log_partition_error: float
    evidences: dict[int, float]
    method: str
    reason: str
    warnings: tuple[BayesingWarning, ...] = field(default=())

    @property
    def log_evidence(self) -> float | None:
        """That of this number of units, if it is known."""
        return self.evidences.get(self.model.n_hidden)


def fewest_units(evidences: dict[int, float]) -> int:
    """The smallest number of units whose evidence is the largest, within its noise.

    >>> fewest_units({0: -50.0, 1: -10.4, 2: -10.0, 3: -14.0})
    1
    """
    most = max(evidences.values())
    return min(k for k, evidence in evidences.items() if evidence >= most - _NOISE)


def few_states(n: int, k: int) -> bool:
    """Whether the states of one side can be gone through at every step: up to 12 spins, or 16 if n and k are small.

    >>> few_states(1000, 12), few_states(60, 16), few_states(1000, 16), few_states(46, 64)
    (True, True, False, False)
    """
    small, large = min(n, k), max(n, k)
    return small <= _FEW or (small <= _SEVERAL and 2**small * large <= _MOST_TERMS)


def fit_size(data: SpinStatistics, k: int, seed: int, heard: Heard | None = None) -> RestrictedAnswer:
    """The machine with k hidden units, by enumeration of states where these are few, else by chains."""
    seen = np.flatnonzero(data.counts)
    if len(seen) < data.n:
        return _with_empty(fit_size(data.select(seen), k, seed, heard), seen, data.n)
    rows = Rows.of(data)
    if not few_states(data.n, k):
        return _by_chains(rows, k, seed, heard)
    (fit,) = _modes(data, rows, k, seed, heard=heard)
    posterior = _posterior(rows, fit, seed, None)
    return _answer(rows, fit, posterior, {k: posterior.log_evidence}, "as asked")


def fit_best_size(data: SpinStatistics, seed: int, heard: Heard | None = None) -> RestrictedAnswer:
    """The machine with the number of hidden units of largest evidence, up to 12."""
    seen = np.flatnonzero(data.counts)
    if len(seen) < data.n:
        return _with_empty(fit_best_size(data.select(seen), seed, heard), seen, data.n)
    rows, most = Rows.of(data), min(MOST_UNITS, data.n)
    by_blocks = data.n * (most + 1) + most > MOST_PARAMETERS  # the same approximation for all k
    found: dict[int, tuple[RestrictedFit, RestrictedPosterior]] = {}
    evidences: dict[int, float] = {}
    last: RestrictedFit | None = None
    for k in range(most + 1):
        fits = [(fit, _posterior(rows, fit, seed, by_blocks)) for fit in _modes(data, rows, k, seed, last)]
        found[k] = max(fits, key=lambda of: of[1].log_evidence)
        last, evidences[k] = found[k][0], found[k][1].log_evidence
        if heard is not None:
            heard(k + 1, most + 1)
        if k - max(evidences, key=lambda size: evidences[size]) >= _FALLS:
            break
    chosen = fewest_units(evidences)
    reason = "the evidence is largest" if chosen < most else "the evidence still rises with their number"
    answer = _answer(rows, *found[chosen], evidences, reason)
    if chosen == most and chosen:
        rises = BoundWarning(
            f"The evidence still rises with the number of hidden units at {chosen}, the most that are tried. "
            "More units describe the data better, and this number of units has no meaning of its own."
        )
        answer = replace(answer, warnings=(*answer.warnings, rises))
    return answer


def _with_empty(answer: RestrictedAnswer, seen: Indices, n: int) -> RestrictedAnswer:
    """With spins that were never seen, of which the prior alone is known: no weights, and no field."""

    def all_spins(values: Array, others: Array | float) -> Array:
        found = np.full((n, *values.shape[1:]), others)
        found[seen] = values
        return found

    model, gamma = answer.model, answer.gamma * n / len(seen)
    return replace(
        answer,
        model=RestrictedModel(
            all_spins(model.weights, 0.0), all_spins(model.fields, 0.0), model.hidden_fields
        ),
        gamma=gamma,
        weight_errors=all_spins(answer.weight_errors, np.sqrt(gamma / n)),
        field_errors=all_spins(answer.field_errors, 1.0),
        base=all_spins(answer.base, 0.0),
        log_partition=answer.log_partition + (n - len(seen)) * math.log(2),
    )


def ordered(fit: RestrictedFit) -> RestrictedFit:
    """The same model with its units in order, and with their signs."""
    W, h, c = fit.point
    strength = (1 - fit.frame.d**2) @ W**2
    order = np.argsort(-strength, kind="stable")
    sign = np.where(W.sum(axis=0) < 0, -1.0, 1.0)[order]
    frame = replace(fit.frame, mu=fit.frame.mu[order] * sign, gamma=fit.frame.gamma[order])
    return replace(fit, point=Point(W[:, order] * sign, h, c[order] * sign), frame=frame)


def _modes(
    data: SpinStatistics,
    rows: Rows,
    k: int,
    seed: int,
    last: RestrictedFit | None = None,
    heard: Heard | None = None,
) -> list[RestrictedFit]:
    """From the random start that leads to the highest mode, and from the last fit and a new unit."""
    rng = np.random.default_rng([seed, k])
    many = len(rows) > _MANY
    some = Rows.of(data.take(rng.choice(data.N, _SOME, replace=False))) if many else rows
    gamma = np.full(k, FIRST_GAMMA)
    starts = [first_point(some, k, rng) for _ in range(_STARTS if k else 1)]
    at, _ = max((held_mode(some, start, gamma) for start in starts), key=lambda mode: mode[1])
    begin = [(at, gamma)]
    if last is not None and k:
        begin.append((_with_one_more(last.point, starts[0]), np.append(last.gamma, FIRST_GAMMA)))
    fits = []
    for at, gamma in begin:
        if many:
            fit = fit_restricted(some, at, gamma, seed)
            at, gamma = fit.point, fit.gamma
        fits.append(ordered(fit_restricted(rows, at, gamma, seed, heard)))
    return fits


def _with_one_more(before: Point, random: Point) -> Point:
    """A fit with the last of some random units added."""
    weights = np.column_stack([before.weights, random.weights[:, -1]])
    return Point(weights, before.fields, np.append(before.hidden_fields, random.hidden_fields[-1]))


def _posterior(rows: Rows, fit: RestrictedFit, seed: int, by_blocks: bool | None) -> RestrictedPosterior:
    if by_blocks is None:
        n, k = fit.point.weights.shape
        by_blocks = n * (k + 1) + k > MOST_PARAMETERS
    A = enough_samples(rows.n) if by_blocks else SAMPLES
    lost = rows.incomplete.lost(*fit.point, A, seed) if rows.incomplete else None
    if not by_blocks:
        return posterior_of(fit, rows.N, seed, A, lost)
    return posterior_by_blocks(fit, rows.N, fit.point.model.sample(A, seed), lost)


def _by_chains(rows: Rows, k: int, seed: int, heard: Heard | None) -> RestrictedAnswer:
    """Learned by chains; ln Z is by enumeration up to 20 hidden units, else by annealing."""
    fit, spins = fit_chains(rows, k, seed, heard)
    fit, model = ordered(fit), fit.point.model
    posterior = posterior_by_blocks(fit, rows.N, spins)
    base = independent_fields(rows.sums, rows.N)
    answer = replace(_answer(rows, fit, posterior, {}, "as asked"), method="chains")
    if not model.is_exact:
        _, log_partition, error = anneal_restricted(model, base, seed=seed)
        answer = replace(answer, log_partition=log_partition, log_partition_error=error)
    total = sum(float(model.log_weights(v) @ counts) for v, counts in rows.blocks())
    total -= rows.N * answer.log_partition
    independent = float(rows.sums @ base - rows.N * np.logaddexp(base, -base).sum())
    if total < independent:
        words = (
            "The chains have lost the data: independent spins describe them better. Use fewer hidden units."
        )
        answer = replace(answer, warnings=(NotConvergedWarning(words),))
    return answer


def _answer(
    rows: Rows, fit: RestrictedFit, posterior: RestrictedPosterior, evidences: dict[int, float], reason: str
) -> RestrictedAnswer:
    model = fit.point.model
    warnings: tuple[BayesingWarning, ...] = ()
    if not fit.settled:
        warnings = (NotConvergedWarning("The scales of the hidden units have not come to rest."),)
    return RestrictedAnswer(
        model=model,
        gamma=fit.gamma,
        weight_errors=posterior.weights,
        field_errors=posterior.fields,
        hidden_field_errors=posterior.hidden_fields,
        base=independent_fields(rows.sums, rows.seen),
        log_partition=model.log_partition() if model.is_exact else math.nan,
        log_partition_error=0.0,
        evidences=evidences,
        method="enumeration",
        reason=reason,
        warnings=warnings,
    )
