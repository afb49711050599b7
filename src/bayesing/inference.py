"""From data to an answer: choose a method, check that it can be used, run it, and say what to make of it.

These are the functions behind :class:`~bayesing.EmpiricalBayes` and :class:`~bayesing.BoltzmannMachine`, free of
scikit-learn. Answers are values; whoever asks shows their ``warnings``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from . import couplings, strength
from .allowed import check_couplings, check_data, check_strength, is_auto, rows_for
from .arguments import Seed, check_flag
from .choice import AUTO, COUPLINGS, STRENGTH, CouplingSituation, StrengthSituation, find, first, stand_in
from .conditionals import fields_of
from .couplings import Band, CouplingMethod, Couplings, Reduced, Strength
from .couplings._causes import CauseCouplings, Hidden, model_of
from .couplings._sparse import SparseCouplings
from .couplings.likelihood import LikelihoodCouplings
from .diagnosis import Diagnosis, Phase, diagnose
from .exceptions import AnotherKindWarning, BoundWarning, CheckWarning, InputError, SaturationWarning
from .ising import IsingModel
from .moments import SpinMoments
from .order import order_of
from .statistics import SpinStatistics
from .strength import Estimate, Method, Options
from .texts import quoted_names
from .thinned import Thinned
from .types import Array, Flags, Heard, Indices
from .words import at_bound, distrust, on_order, regime, unbounded

MOST_DENSE = 30_000  # spins whose couplings and errors, 7 GB each, may be asked for as matrices

if TYPE_CHECKING:
    from .check import Check
    from .learning.causes_evidence import Difference
    from .learning.certificate import Certificate


@dataclass(frozen=True, eq=False)
class StrengthAnswer:
    """How strong the couplings are: the estimate, by which method and why, and where the data lie."""

    estimate: Estimate
    method: Method
    reason: str
    moments: SpinMoments
    diagnosis: Diagnosis
    options: Options
    chosen: bool  # by the rules of "auto"
    n_samples: int
    n_missing: int
    magnetisation: float
    said: tuple[Warning, ...] = ()  # of the order of the rows
    thinned: Thinned | None = None  # where rows remember, and are a series

    @property
    def effective_samples(self) -> float:
        """Independent rows that would say as much of couplings: N, unless rows remember."""
        return float(self.n_samples) if self.thinned is None else self.thinned.memory.effective

    @property
    def regime(self) -> str:
        """Where the data lie, in words."""
        return regime(self.diagnosis, self.method.name)

    @property
    def warnings(self) -> tuple[Warning, ...]:
        """What the method had to say, and what follows from the diagnosis."""
        found = (*self.estimate.warnings, *self.said)
        if self.estimate.bound:
            found += (BoundWarning(at_bound(self.estimate.bound, self.method.name)),)
        elif self.estimate.unknown and not any(isinstance(each, BoundWarning) for each in found):
            found += (BoundWarning(unbounded(self.estimate.unknown)),)
        if self.diagnosis.phase is Phase.EDGE:
            complete = not self.moments.missing
            able = [
                each for each in strength.METHODS if not each.saturates and (complete or each.uses_missing)
            ]
            remedy = f" Try {quoted_names([each.name for each in able])}." if able else ""
            found += (SaturationWarning(f"The data lie {self.regime}.{remedy}"),)
        doubt = distrust(self.diagnosis, self.method.name)
        return (*found, AnotherKindWarning(doubt)) if doubt else found


def infer_strength(
    data: SpinStatistics,
    method: str = AUTO,
    prior: str = "gaussian",
    mean_coupling: bool = False,
    seed: Seed = None,
    progress: Heard | None = None,
    series: bool = False,
) -> StrengthAnswer:
    """gamma, H and J0, by one of ``strength.METHODS`` or by the rules of "auto".

    Rows of a ``series`` are in the order of time. Where they remember, moments and the choice of a method are those
    of a thinned data set.
    """
    options = Options(prior, mean_coupling, seed, progress)
    check_strength(method, options)
    data.check_variation()
    thinned = Thinned.of(data) if check_flag("series", series) else None
    said = on_order(order_of(data), data, series)
    whole, data = data, data if thinned is None else thinned.parts[0]
    situation = StrengthSituation(data, options)
    reason, by_rule = "as asked", is_auto(method)
    if by_rule:
        rule = first(STRENGTH, situation)
        method, reason = rule.method, rule.reason(situation)
        if mean_coupling and not find(strength.METHODS, method).mean_coupling:
            raise InputError(f"mean_coupling=True needs at least 4 samples: found {data.N}.")
        if rule.mean_coupling:
            situation = situation.with_mean_coupling()
    chosen = find(strength.METHODS, method)
    data, few = rows_for(chosen, data)
    if data is not situation.stats:
        situation = situation.with_data(data)
    check_data(chosen, data)
    estimate, options = situation.fit(method), situation.options
    doubted = situation.doubts
    biased = () if doubted or not chosen.biased else situation.bias_of(estimate)
    if thinned is not None:
        others = [situation.with_data(part).fit(method) for part in thinned.parts[1:]]
        estimate = thinned.averaged([estimate, *others])
    diagnosis = diagnose(estimate, chosen, data.moments, doubted, options.mean_coupling, biased)
    return StrengthAnswer(
        estimate=estimate,
        method=chosen,
        reason=reason,
        moments=data.moments,
        diagnosis=diagnosis,
        options=options,
        chosen=by_rule,
        n_samples=whole.N,
        n_missing=whole.missing,
        magnetisation=data.moments.M if thinned is None else float(whole.magnetisations.mean()),
        said=(*said, *few),
        thinned=thinned,
    )


class Told(NamedTuple):
    """What errors that a method gives do not know of: what a row is worth, and what is uncertain about the prior.

    ``there`` are probabilities that couplings are; None for priors under which all of them are.
    """

    n: int
    worth: float
    strength: Strength | None
    there: Array | None

    def blocks(self, bands: Iterator[Band]) -> Iterator[Block]:
        """Pairs with errors that know of it."""
        return (Block(*band, self) for band in bands)

    def reduced(self, task: Callable[[Iterator[Block]], Reduced], bands: Iterator[Band]) -> Reduced:
        """What a task makes of them."""
        return task(self.blocks(bands))

    def widened(self, errors: Array) -> Array:
        """Errors that know of it."""
        errors = errors if self.worth == 1 else errors / math.sqrt(self.worth)
        return errors if self.strength is None else self.strength.widen(errors, self.n)


class Block(NamedTuple):
    """Successive rows of the couplings, and columns from the first of them on: pairs i < j, and others."""

    rows: Indices
    J: Array
    given: Array  # errors that a method gives
    told: Told

    @property
    def error(self) -> Array:
        """Standard errors."""
        return self.told.widened(self.given)

    @property
    def probability(self) -> Array:
        """That a coupling is there or, for priors under which all of them are, that its sign is right."""
        there = self.told.there
        return 1 - _false_signs(self.J, self.error) if there is None else there[self.rows, self.rows[0] :]

    def pairs(self, values: NDArray[Any]) -> NDArray[Any]:
        """Of a matrix of this shape, the entries of pairs i < j, one after the other."""
        k = len(self.rows)
        return np.append(values[:, :k][np.triu_indices(k, 1)], values[:, k:])

    def chosen(self, which: Flags) -> list[Array]:
        """i, j, coupling, error and probability of the pairs i < j among those marked."""
        k, there = len(self.rows), self.told.there
        which[:, :k] &= np.triu(np.ones((k, k), dtype=bool), 1)
        row, column = np.nonzero(which)
        i, j = self.rows[row], column + self.rows[0]
        J, error = self.J[row, column], self.told.widened(self.given[row, column])
        probability = 1 - _false_signs(J, error) if there is None else there[i, j]
        return [i, j, J, error, probability]


@dataclass(frozen=True, eq=False)
class CouplingAnswer:
    """Which couplings: with errors, by which method and why, and the strength of the prior, if there is one.

    ``prior`` is its name, ``n_samples`` the number of data, and ``base`` are the fields of independent spins with
    their means. ``check`` says whether samples of the model look like the data; it is None for more spins than can be
    sampled.
    """

    couplings: Couplings
    strength: Strength | None
    method: CouplingMethod
    reason: str
    prior: str = "gaussian"
    n_samples: int = 0
    base: Array | None = None
    check: Check | None = None
    said: tuple[Warning, ...] = ()  # of the order of the rows
    worth: float = 1.0  # of a row, in independent ones
    gains: tuple[
        Difference, ...
    ] = ()  # of the evidence, by the first hidden unit, the second, and so on, if asked

    @property
    def effective_samples(self) -> float:
        """Independent rows that would say as much of couplings: N, unless rows remember and are a series."""
        return self.worth * self.n_samples

    @property
    def told_worth(self) -> float:
        """That of rows which the errors of ``couplings`` do not know of: those of a sparse prior know it."""
        return 1.0 if isinstance(self.couplings, SparseCouplings) else self.worth

    @cached_property
    def matrices(self) -> tuple[Array, Array]:
        """All couplings and their errors, n x n, with what is uncertain about the strength of the prior."""
        n = len(self.couplings.fields)
        if n > MOST_DENSE:
            raise InputError(
                f"Expected at most {MOST_DENSE} spins where all couplings are asked for as a matrix: found {n}, "
                f"which would take {16 * n**2 / 1e9:.0f} GB with errors. Ask for strongest(k) or edges(fdr), which "
                "go through the pairs some at a time."
            )
        mean, deviation = self.couplings.rows()
        deviation = self._told.widened(deviation)
        mean.flags.writeable = deviation.flags.writeable = False  # many look at them
        return mean, deviation

    @property
    def hidden(self) -> Hidden:
        """Hidden units, of which there may be none."""
        found, n, wider = self.couplings, len(self.couplings.fields), 1 / math.sqrt(self.told_worth)
        if not isinstance(found, CauseCouplings):
            return Hidden.none(n)
        units = found.hidden
        return units._replace(errors=wider * units.errors, field_errors=wider * units.field_errors)

    @property
    def field_errors(self) -> Array | None:
        """Standard errors of the fields, of methods that have them."""
        found = self.couplings.field_errors
        return None if found is None else found / math.sqrt(self.told_worth)

    @property
    def n_hidden(self) -> int:
        """Their number."""
        return len(self.hidden.fields)

    @property
    def model(self) -> IsingModel:
        """Couplings and fields; hidden units are the last spins."""
        return model_of(self.couplings)

    @property
    def certificate(self) -> Certificate | None:
        """Whether a search by chains has arrived, of methods that make one."""
        certificate: Certificate | None = getattr(self.couplings, "certificate", None)
        return certificate

    @property
    def summary(self) -> str:
        """How couplings were found, and whether the model is good, in a line."""
        strength = ""
        if self.strength is not None:  # the size of one coupling: J is what the other estimator tells
            size = math.sqrt(self.strength.gamma / len(self.couplings.fields))
            strength = f", couplings expected to be about {size:.2g}"
        penalty = "" if self.couplings.penalty is None else f", penalty {self.couplings.penalty:.3g}"
        causes = f", {self.n_hidden} common cause{'s' * (self.n_hidden > 1)}" if self.n_hidden else ""
        checked = "" if self.check is None else f", check {'passed' if self.check.passed else 'NOT PASSED'}"
        return f"{self.method.name} ({self.reason}){strength}{penalty}{causes}{checked}"

    @property
    def probabilities(self) -> Array | None:
        """That a coupling is there, n x n; None for priors under which all of them are."""
        found = self.couplings
        return found.probabilities if isinstance(found, SparseCouplings) else None

    @cached_property
    def false_signs(self) -> Array:
        """Probability that a coupling does not have the sign that it is given, n x n."""
        found = self.couplings
        return found.false_signs if isinstance(found, SparseCouplings) else _false_signs(*self.matrices)

    def blocks(self) -> Iterator[Block]:
        """All pairs, some rows at a time."""
        return self._told.blocks(self.couplings.bands())

    def over(self, task: Callable[[Iterator[Block]], Reduced]) -> list[Reduced]:
        """What ``task`` makes of all pairs, in several parts at the same time, in order."""
        return self.couplings.over(partial(self._told.reduced, task))

    @property
    def _told(self) -> Told:
        n = len(self.couplings.fields)
        return Told(n, self.told_worth, self.strength, self.probabilities)

    @property
    def warnings(self) -> tuple[Warning, ...]:
        """What the method had to say, and what is to be said of gamma."""
        found = (*self.couplings.warnings, *self.said)
        if self.check is not None and not self.check.passed:
            found += (CheckWarning(*self.check.parts),)
        if self.strength is None:
            return found
        if self.strength.bound:
            found += (BoundWarning(at_bound(self.strength.bound, self.method.name)),)
        elif self.strength.gamma == 0:
            text = (
                "The data show no couplings: gamma and all couplings are 0. Their errors say how large couplings "
                "could be without showing in these data."
            )
            found += (BoundWarning(text),)
        return found


def _false_signs(J: Array, error: Array) -> Array:
    """Of normal posteriors; 1/2 where nothing is known."""
    z = np.divide(np.abs(J), error, out=np.zeros_like(J), where=error > 0)
    return np.asarray(scipy.special.ndtr(-z))


def infer_couplings(
    data: SpinStatistics,
    method: str = AUTO,
    prior: str = "gaussian",
    gamma: Any = AUTO,
    seed: Seed = None,
    progress: Heard | None = None,
    n_hidden: Any = 0,
    series: bool = False,
) -> CouplingAnswer:
    """Couplings and fields, by one of ``couplings.METHODS`` or by the rules of "auto".

    Rows of a ``series`` are in the order of time: how strong couplings are, and how many common causes there are, is
    then told by thinned data, and couplings by all rows, for as many as they are worth.
    """
    given_gamma = check_couplings(method, prior, gamma, n_hidden)
    thinned = Thinned.of(data) if check_flag("series", series) else None
    said = on_order(order_of(data), data, series)
    gains: tuple[Difference, ...] = ()
    by_evidence = is_auto(n_hidden)
    if by_evidence and thinned is not None:
        few = CouplingSituation(thinned.parts[0], prior, given_gamma, seed, progress, n_hidden)
        told = few.fit(first(COUPLINGS, few).method)[0]
        n_hidden = len(told.hidden.fields) if isinstance(told, CauseCouplings) else 0
        gains = gains_of(told)
    asked_for = None if is_auto(method) else find(couplings.METHODS, method)
    data, some = rows_for(asked_for, data, prior, n_hidden)
    situation = CouplingSituation(data, prior, given_gamma, seed, progress, n_hidden, thinned)
    reason = "as asked"
    if is_auto(method):
        data.check_variation()
        rule = first(COUPLINGS, situation)
        method, reason = rule.method, rule.reason(situation)
    asked = find(couplings.METHODS, method)
    chosen = stand_in(asked, data)
    if chosen is not asked:
        method, reason = chosen.name, f"cells are missing, which {asked.name} cannot use"
    check_data(chosen, data, infers=situation.gamma is None)
    found, given = situation.fit(method)
    units = len(found.hidden.fields) if isinstance(found, CauseCouplings) else 0
    base = np.append(fields_of(data.sums, data.counts), np.zeros(units))
    if by_evidence:
        gains = gains or gains_of(found)
        reason = told_by_evidence(found, gains)
    checked = situation.check(method)
    return CouplingAnswer(
        found, given, chosen, reason, prior, data.N, base, checked, (*said, *some), situation.worth, gains
    )


def gains_of(found: Couplings) -> tuple[Difference, ...]:
    """Of the evidence, by the first hidden unit, the second, and so on, if it was asked how many there are."""
    return found.gains if isinstance(found, LikelihoodCouplings | CauseCouplings) else ()


def told_by_evidence(found: Couplings, gains: tuple[Difference, ...]) -> str:
    """How many common causes there are, in words."""
    k = len(found.hidden.fields) if isinstance(found, CauseCouplings) else 0
    if not gains:  # nor any couplings, whose record has no gains
        return "no common causes by the evidence"
    last = gains[k] if k < len(gains) else gains[-1]
    return (
        f"{k or 'no'} common cause{'s' * (k != 1)} by the evidence, to which "
        f"{'another one' if k else 'one'} would add {last.value:.0f} ± {last.error:.0f} nats"
        if k < len(gains)
        else f"{k} common causes, up to which the evidence rises"
    )
