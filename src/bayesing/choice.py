r"""Which method? The rules of "auto", in order, as data: the first that applies decides.

``STRENGTH`` and ``COUPLINGS`` are the tables of the page *Which method when*, which is made from them. Beside the
methods' own files and the tuples that collect them, this is the only place that names methods.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from . import couplings, strength
from .arguments import Seed
from .conditionals import fields_of
from .couplings import CouplingMethod, CouplingOptions, Couplings, Strength
from .couplings._causes import model_of
from .couplings._method import no_couplings
from .couplings.spectral import SpectralCouplings
from .diagnosis import MEAN, Reason, bias, doubts, is_mean_alone, is_ordered
from .exceptions import InputError
from .moments import SpinMoments
from .replica import NEAR, stability
from .sampling.missing import filled
from .statistics import SpinStatistics
from .strength import Estimate, Method, Options
from .strength import pseudolikelihood as regressions
from .strength.spectral import SpectralFit, estimate_of, fit_spectral
from .strength.susceptibility import fit_susceptibility
from .texts import did_you_mean
from .thinned import Thinned
from .threads import threads_for
from .types import Heard
from .weak import LAW_HOLDS, signs_of

if TYPE_CHECKING:
    from .check import Check

AUTO = "auto"
QUICK = "spectral"  # couplings of data of any size: one decomposition of a matrix
THOROUGH = "pseudolikelihood"  # couplings that are strong, or seen in many samples: a search
SUMMING = "likelihood"  # couplings beside missing cells or common causes, which it sums over
LARGEST_SPECTRUM = 5000  # min(n, N) up to which an eigendecomposition is a matter of a minute
MOST_SPINS = 5000  # for pseudo-likelihood, whose search holds some twenty matrices
MOST_CHECKED = 5000  # spins, whose couplings are one matrix
MOST_LEARNT = 200  # spins for the true likelihood, which takes a minute for them
_LEAST_GAMMA = 1e-3  # of couplings beside common causes, or of which some may be there: next to nothing
_LEAST_FOR_DOUBT = 10  # samples from which data can look odd
_ENOUGH = 6  # samples a spin from which a J without the prior's pull is known in the spin glass, to a tenth
STRONG = 0.5  # a standardised coupling from which "spectral", an expansion in weak ones, is worse
BIASED = 0.2  # its bias relative to its errors from which it is worse, because samples are many
RUNAWAY = 1.2  # J over that of "pseudolikelihood"
_FOR_RUNAWAY = 12  # spins whose regressions tell a runaway
_PAIRS = 8000  # couplings from which gamma of pseudo-likelihood is taken, at least
_SPINS = 8  # and spins
_SAMPLES = 20_000  # or 100 n are enough for gamma, which is then as uncertain as the couplings are few

M = TypeVar("M", Method, CouplingMethod)
S = TypeVar("S")


@dataclass(frozen=True)
class Rule(Generic[S]):
    """When, which method, and why: ``when`` in words for the documentation, ``applies`` and ``reason`` for data.

    ``mean_coupling`` says that a mean coupling is estimated, asked for or not.
    """

    when: str
    method: str
    applies: Callable[[S], bool]
    reason: Callable[[S], str]
    mean_coupling: bool = False


def find(methods: tuple[M, ...], name: Any) -> M:
    """The method of that name, or an error that lists all names."""
    for method in methods:
        if isinstance(name, str) and method.name == name:
            return method
    names = [AUTO, *(method.name for method in methods)]
    raise InputError(f"method must be one of {', '.join(names)}: found {name!r}.{did_you_mean(name, names)}")


# ------------------------------------------------------------------------------ how strong are the couplings


class StrengthSituation:
    """Data and options, and what methods say of them, each run once and only if a rule asks."""

    def __init__(self, stats: SpinStatistics, options: Options) -> None:
        self.stats, self.options = stats, options
        self._fits: dict[str, Estimate] = {}

    def fit(self, name: str) -> Estimate:
        """What a method finds."""
        if name not in self._fits:
            self._fits[name] = self._fit(name)
        return self._fits[name]

    def _fit(self, name: str) -> Estimate:
        if name == "spectral" and not self.options.mean_coupling:
            return estimate_of(self.spectral, self.stats, self.options)
        method, options = find(strength.METHODS, name), self.options
        if method.any_kind:
            options = options._replace(doubted=bool(self.doubts), compared=self.may_be_ordered)
        return method.fit(self.stats, options)

    @cached_property
    def whole(self) -> SpinStatistics:
        """The data, with missing cells drawn by chance: good enough to look for what is odd."""
        some = self.stats.sampled
        return filled(some) if self.stats.missing and some is not None else self.stats

    @cached_property
    def spectral(self) -> SpectralFit:
        """The fit of "spectral" without a mean coupling, which others look at, too."""
        return fit_spectral(self.whole)

    def with_mean_coupling(self) -> StrengthSituation:
        """The same data, and a mean coupling estimated; what was found of the data stays."""
        other = StrengthSituation(self.stats, self.options._replace(mean_coupling=True))
        other.__dict__["doubts"] = self.doubts
        return other

    def with_data(self, stats: SpinStatistics) -> StrengthSituation:
        """The same options for other data of the same kind."""
        other = StrengthSituation(stats, self.options)
        other.__dict__["doubts"] = self.doubts
        return other

    @cached_property
    def doubts(self) -> tuple[Reason, ...]:
        """In what the data are not those of many weak couplings, as far as there are enough to tell."""
        if not self.can_doubt:
            return ()
        return doubts(signs_of(self.whole, self.spectral if self.decomposes else None, MEAN))

    def bias_of(self, found: Estimate) -> tuple[Reason, ...]:
        """Whether an estimate is far from that of a method without bias, as far as there is one."""
        if not (self.can_doubt and self.decomposes) or self.stats.missing:
            return ()
        return bias(found, self.fit("spectral"), self.stats.moments)

    @property
    def can_doubt(self) -> bool:
        """Whether there are samples enough to look odd, and rows if cells are missing."""
        return self.stats.N >= _LEAST_FOR_DOUBT and not (self.stats.missing and self.stats.sampled is None)

    @cached_property
    def may_be_ordered(self) -> bool:
        """Whether J is so large that an ordered state would look the same, with samples enough to tell them apart.

        Where about half of the spins are of the other sign in both states, the sum of the spins does not show them,
        and beyond its range the law of the spectrum does not either. A J without the prior's pull does.
        """
        if not (self.can_doubt and self.decomposes and self.stats.N >= _ENOUGH * self.stats.n):
            return False
        return self.spectral.gamma >= LAW_HOLDS * self.spectral.spectrum.scale

    @property
    def share_missing(self) -> float:
        """Of the cells, in percent."""
        return 100 * self.stats.missing / (self.stats.n * self.stats.N)

    @property
    def decomposes(self) -> bool:
        """Whether an eigendecomposition is affordable."""
        return min(self.stats.n, self.stats.N) <= LARGEST_SPECTRUM

    @property
    def learns(self) -> bool:
        """Whether "likelihood" is to be had: in a minute, and with a prior that it has."""
        method = find(strength.METHODS, "likelihood")
        return self.stats.n <= MOST_LEARNT and self.options.prior in method.priors

    @cached_property
    def inverts(self) -> bool:
        """Whether "inversion" is more precise than "spectral", as measured in docs/accuracy.md, and can be had."""
        n, N, found = self.stats.n, self.stats.N, self.fit("spectral")
        distance = 1 - found.gamma * stability(self.stats.moments)
        near = distance < (0.3 if N >= 10 * n else 0.05 if N >= 3 * n else -math.inf)
        if found.bound is not None or not near or (self.learns and self.may_be_ordered):
            return False
        try:
            self.fit("inversion")
        except InputError:  # of columns that follow from others
            return False
        return True

    @property
    def in_glass(self) -> bool:
        """Whether the J of closed forms lies in the spin glass."""
        found = self.fit("inversion" if self.inverts else "spectral")
        return found.bound is None and found.gamma * stability(self.stats.moments) >= 1

    @property
    def runs_away(self) -> bool:
        """Whether J is far above that of the regressions of a few spins.

        Deep in the spin glass a mode that hardly moves makes "spectral" and "inversion" several times too large, in
        one data set of three. "pseudolikelihood" is a fifth too large there, in all of them.
        """
        some = self.stats.sampled
        if not self.in_glass or self.options.mean_coupling or some is None:
            return False
        if some.N < some.n:  # regressions give too small a J then
            return False
        found = self.fit("inversion" if self.inverts else "spectral")
        with threads_for(self.stats.n):
            few = regressions.fit_pseudolikelihood(some, _FOR_RUNAWAY, 0)
        return found.gamma > RUNAWAY**2 * few.gamma


#: The rules of "auto" for the strength of the couplings.
STRENGTH: tuple[Rule[StrengthSituation], ...] = (
    Rule(
        "fewer than 4 samples",
        "plefka",
        lambda s: s.stats.N < 4,
        lambda s: "the only method for fewer than 4 samples",
    ),
    Rule(
        f"missing cells, up to {MOST_LEARNT} spins, rows that were kept, and a Gaussian prior",
        "likelihood",
        lambda s: s.stats.missing > 0 and s.learns and s.stats.rows is not None,
        lambda s: f"{s.share_missing:.2g}% of the cells are missing, and it uses all that are there",
    ),
    Rule(
        "missing cells",
        "susceptibility",
        lambda s: s.stats.missing > 0,
        lambda s: (
            f"{s.share_missing:.2g}% of the cells are missing, and its moments are of those that are there"
        ),
    ),
    Rule(
        "a Laplace prior",
        "susceptibility",
        lambda s: s.options.prior == "laplace",
        lambda s: "it holds for couplings of any prior",
    ),
    Rule(
        f"$\\min(n, N) > {LARGEST_SPECTRUM}$",
        "susceptibility",
        lambda s: not s.decomposes,
        lambda s: f"an eigendecomposition beyond {LARGEST_SPECTRUM} would take long",
    ),
    Rule(
        f"a mean correlation that a mean coupling explains: $|z| > {MEAN:g}$, and nothing else is odd",
        "spectral",
        lambda s: is_mean_alone(s.doubts),
        lambda s: f"correlations have a mean, z = {s.doubts[0].value:.3g}, which a mean coupling explains",
        mean_coupling=True,
    ),
    Rule(
        f"the tests of the page *Data of another kind* say so, up to {MOST_LEARNT} spins",
        "likelihood",
        lambda s: bool(s.doubts) and s.learns,
        lambda s: "the data are not of many weak couplings, the theory behind closed forms",
    ),
    Rule(
        f"the $J$ of the rules below lies in the spin glass, up to {MOST_LEARNT} spins",
        "likelihood",
        lambda s: s.in_glass and s.learns,
        lambda s: "it holds in the spin glass, where closed forms end",
    ),
    Rule(
        f"$J(1-q) > {math.sqrt(LAW_HOLDS):.2g}$ and $N \\ge {_ENOUGH} n$, up to {MOST_LEARNT} spins",
        "likelihood",
        lambda s: s.may_be_ordered and s.learns,
        lambda s: "J is large, and it can tell a spin glass from order",
    ),
    Rule(
        f"the $J$ of the rules below lies in the spin glass, and is more than {RUNAWAY:g} times the $J$ of "
        f"{_FOR_RUNAWAY} regressions; from $N = n$ on, not with a mean coupling, nor where rows were not kept",
        "pseudolikelihood",
        lambda s: s.runs_away,
        lambda s: "deep in the spin glass, where the others run away",
    ),
    Rule(
        '$1 - \\gamma r$ by "spectral" below 0.05 and $N \\ge 3n$, or below 0.3 and $N \\ge 10n$',
        "inversion",
        lambda s: s.inverts,
        lambda s: "the most precise at the spin glass, with many samples",
    ),
    Rule("all else", "spectral", lambda s: True, lambda s: "the most precise method at every N"),
)


def unbiased(stats: SpinStatistics | None, moments: SpinMoments) -> tuple[float, float]:
    """gamma and its error, for a first guess where a method's own is biased: "spectral", or what moments tell."""
    if stats is None or not stats.has_data or stats.missing:
        closed = fit_susceptibility(moments)
        return closed.gamma, closed.gamma_error
    found = find(strength.METHODS, "spectral").fit(stats, Options())
    return found.gamma, found.gamma_error


def statistic_near_glass(stats: SpinStatistics, gamma: float, options: Options) -> Callable[[Any], ArrayLike]:
    """For "auto": the scores of "spectral" and of "pseudolikelihood".

    Their errors are opposite in the spin glass, so that together they say much more than each alone.
    """
    spectral, regression = (find(strength.METHODS, name) for name in ("spectral", "pseudolikelihood"))
    own = regressions.fit_pseudolikelihood(stats, regressions.MANY_SPINS, 0, gamma)
    at = Estimate(max(own.gamma, 1 / stats.N), own.gamma_error, own.H, own.H_error)
    scores = (spectral.statistic(at, gamma, options), regression.statistic(at, at.gamma, options))
    return partial(_together, scores)


def _together(statistics: tuple[Callable[[Any], ArrayLike], ...], stats: SpinStatistics) -> ArrayLike:
    return np.array([statistic(stats) for statistic in statistics])


# ------------------------------------------------------------------------------------------ which couplings


class CouplingSituation:
    """Data, the prior's name and strength if it is given, and what methods say of them, each run once."""

    def __init__(
        self,
        stats: SpinStatistics,
        prior: str,
        gamma: float | None,
        seed: Seed,
        progress: Heard | None = None,
        n_hidden: int | str = 0,
        thinned: Thinned | None = None,
    ) -> None:
        self.stats, self.prior, self.gamma, self.seed, self.progress = stats, prior, gamma, seed, progress
        self.n_hidden, self.thinned = n_hidden, thinned
        self.few = stats if thinned is None else thinned.parts[0]  # independent rows
        self.worth = 1.0 if thinned is None else thinned.memory.worth
        self.strength = StrengthSituation(self.few, Options("gaussian", False, seed))
        self._fits: dict[str, tuple[Couplings, Strength | None]] = {}
        self._checks: dict[str, Check | None] = {}

    def fit(self, name: str) -> tuple[Couplings, Strength | None]:
        """What a method finds, and the strength of its prior, if it has one."""
        if name not in self._fits:
            self._fits[name] = self._fit(name)
        return self._fits[name]

    def _fit(self, name: str) -> tuple[Couplings, Strength | None]:
        r"""Rows that remember are worth less: their likelihood counts less, or what is the same, the prior more.

        With :math:`w \ln P(D | J) + \ln P(J | \gamma)` in place of the log posterior, the mode is that of all rows
        with a prior 1/w as strong, and errors are as many times larger as its root says.
        """
        method = find(couplings.METHODS, name)
        infers = method.infers_strength and self.thinned is None
        given = self._strength(name) if method.priors and (self.gamma is not None or not infers) else None
        hidden = self.n_hidden if method.hidden else 0
        if self.thinned is not None and given and given.gamma == 0:
            if self.prior != "sparse" and not hidden:
                return no_couplings(self.stats, given), given
            if method.infers_strength:  # which it does not of a series, and 0 would leave nothing to search
                given = given._replace(gamma=_LEAST_GAMMA)
        beside = given and given.over(1 / self.worth ** (2 if self.prior == "laplace" else 1))
        options = CouplingOptions(beside, self.prior, self.seed, self.progress, hidden, self.worth)
        found = method.fit(self.stats, options)
        own = found.strength if self.thinned is None or self.prior == "sparse" else None
        return found, own or given

    @cached_property
    def doubts(self) -> tuple[Reason, ...]:
        """In what the data are not those of many weak couplings."""
        complete = not self.stats.missing
        if self.prior == "gaussian" and complete and self.strength.can_doubt and self.strength.decomposes:
            _ = self.few.eigenvectors  # before the eigenvalues: one decomposition gives both
        return self.strength.doubts

    def check(self, name: str) -> Check | None:
        """Whether samples of the model that a method finds look like the data; None beyond what can be sampled."""
        if name not in self._checks:
            self._checks[name] = self._check(name) if self.stats.n <= MOST_CHECKED else None
        return self._checks[name]

    def _check(self, name: str) -> Check:
        from .check import check, quick, thorough  # where it is needed, for kernels take time to load

        stats, found = self.stats, self.fit(name)[0]
        searches = find(couplings.METHODS, name).searches
        effort = thorough(stats.n) if searches else quick(stats.n, stats.N)
        return check(model_of(found), stats, effort, fields_of(stats.sums, stats.counts), self.worth)

    @cached_property
    def cheap(self) -> Rule[CouplingSituation]:
        """The rule that decides between methods that do not sample."""
        return first(CHEAP, self)

    @property
    def learns(self) -> bool:
        """Whether "likelihood" is to be had: in a minute, from enough samples, and with a prior that it has."""
        method = find(couplings.METHODS, "likelihood")
        enough = self.stats.N >= method.least_samples
        return self.stats.n <= MOST_LEARNT and enough and self.prior in method.priors

    @property
    def fails(self) -> bool:
        """Whether the couplings of the cheap method fail their check, and "likelihood" is to be had."""
        if not self.learns:
            return False
        found = self.check(self.cheap.method)
        return found is not None and not found.passed

    @cached_property
    def too_strong(self) -> Rule[CouplingSituation] | None:
        """The rule by which couplings are not weak enough, or samples too many, for an expansion; None if none is."""
        return next((rule for rule in _TOO_STRONG if rule.applies(self)), None)

    @property
    def distance(self) -> float:
        """To the spin glass, by "spectral"."""
        found = self.fit("spectral")[1]
        assert found is not None
        return 1 - found.gamma * stability(self.few.moments)

    @property
    def spectral(self) -> SpectralCouplings | None:
        """What "spectral" finds; None where it finds no couplings."""
        found = self.fit("spectral")[0]
        return found if isinstance(found, SpectralCouplings) else None

    def _strength(self, name: str) -> Strength:
        """gamma by the method's own evidence or, if it has none, by that of "auto"."""
        if self.gamma is not None:
            return Strength(self.gamma)
        if self.thinned is None:
            return self._strength_by(name, self.strength)
        others = [self.strength.with_data(part) for part in self.thinned.parts[1:]]
        found = [self._strength_by(name, situation) for situation in (self.strength, *others)]
        return self.thinned.averaged_strength(found)

    def _strength_by(self, name: str, situation: StrengthSituation) -> Strength:
        stats = situation.stats
        # Of thinned data, which are few, the evidence of methods that search makes gamma too small, or too large.
        method = find(couplings.METHODS, name)
        few = self.thinned is not None and (method.infers_strength or (method.searches and stats.N < stats.n))
        if name == "pseudolikelihood" and not few:
            most = max(_SAMPLES, 100 * stats.n)
            some = stats if stats.N <= most else stats.take(slice(None, None, -(-stats.N // most)))
            with threads_for(stats.n):
                seed = 0 if self.seed is None else self.seed
                fit = regressions.fit_pseudolikelihood(some, max(_SPINS, _PAIRS // stats.n), seed)
            return Strength(fit.gamma, fit.gamma_error, fit.bound)
        if name == "spectral":
            _ = stats.eigenvectors  # before the eigenvalues: one decomposition gives both
        own = any(method.name == name for method in strength.METHODS) and not few
        is_start = (
            self.prior == "sparse" and situation.decomposes and not stats.missing
        )  # widths are inferred
        other = QUICK if is_start else first(STRENGTH, situation).method
        estimate = situation.fit(name if own else other)
        return Strength(estimate.gamma, estimate.gamma_error, estimate.bound)


#: When couplings are not weak enough, or samples too many, for an expansion in weak ones.
_TOO_STRONG: tuple[Rule[CouplingSituation], ...] = (
    Rule(
        "the tests of the page *Data of another kind* find more than a mean coupling",
        "pseudolikelihood",
        lambda s: bool(s.doubts) and not is_mean_alone(s.doubts),
        lambda s: "the data are not of many weak couplings",
    ),
    Rule(
        f'$1 - \\gamma r$ by "spectral" of {NEAR:g} or less',
        "pseudolikelihood",
        lambda s: s.distance <= NEAR,
        lambda s: f"near the spin glass, 1 - gamma r = {s.distance:.2f}",
    ),
    Rule(
        f'a standardised coupling by "spectral" of {STRONG:g} or more',
        "pseudolikelihood",
        lambda s: s.spectral is not None and s.spectral.largest >= STRONG,
        lambda s: f"a coupling is strong, {s.spectral.largest if s.spectral else 0:.2f} when standardised",
    ),
    Rule(
        f'a bias of "spectral" of {BIASED:g} errors or more',
        "pseudolikelihood",
        lambda s: s.spectral is not None and s.spectral.bias >= BIASED,
        lambda s: (
            f"with this many samples the bias of an expansion is visible, {s.spectral.bias if s.spectral else 0:.2f} "
            "standard errors"
        ),
    ),
)

#: The rules of "auto" for the couplings, as long as their samples look like the data.
CHEAP: tuple[Rule[CouplingSituation], ...] = (
    Rule(
        "a Laplace or a sparse prior",
        "pseudolikelihood",
        lambda s: s.prior != "gaussian",
        lambda s: f"the method for a {s.prior.replace('laplace', 'Laplace')} prior",
    ),
    Rule(
        f"more than {MOST_SPINS} spins",
        "spectral",
        lambda s: s.stats.n > MOST_SPINS,
        lambda s: f"beyond {MOST_SPINS} spins pseudo-likelihood would take long",
    ),
    Rule(
        "data in batches, whose rows were not kept",
        "spectral",
        lambda s: s.stats.rows is None,
        lambda s: "sums and products are enough for it",
    ),
    *_TOO_STRONG,
    Rule(
        "all else",
        "spectral",
        lambda s: True,
        lambda s: f"couplings are many and weak, 1 - gamma r = {s.distance:.2f}",
    ),
)

#: The rules of "auto" for the couplings.
COUPLINGS: tuple[Rule[CouplingSituation], ...] = (
    Rule(
        "hidden units are asked for",
        "likelihood",
        lambda s: s.n_hidden != 0,
        lambda s: "the method that can have common causes",
    ),
    Rule(
        "missing cells",
        "likelihood",
        lambda s: s.stats.missing > 0,
        lambda s: f"{s.strength.share_missing:.2g}% of the cells are missing, and it uses all that are there",
    ),
    Rule(
        f"spins that align by themselves, up to {MOST_LEARNT} of them",
        "likelihood",
        lambda s: s.learns and is_ordered(s.doubts),
        lambda s: "spins align by themselves, and conditionals do not see how much each ordered state weighs",
    ),
    Rule(
        f"samples of the model by the rules below do not look like the data, up to {MOST_LEARNT} spins",
        "likelihood",
        lambda s: s.fails,
        lambda s: f"samples of the model by {s.cheap.method} do not look like the data",
    ),
    Rule(
        "data in batches, whose rows were not kept, if the rules below would else choose pseudo-likelihood, up to "
        f"{MOST_LEARNT} spins",
        "likelihood",
        lambda s: s.stats.rows is None and s.learns and s.prior == "gaussian" and s.too_strong is not None,
        lambda s: (
            f"{s.too_strong.reason(s) if s.too_strong else ''}, and sums and products are enough for it"
        ),
    ),
    *CHEAP,
)


def stand_in(method: CouplingMethod, stats: SpinStatistics) -> CouplingMethod:
    """The method itself or, for one with a prior that cannot use rows with missing cells, one that can."""
    if not stats.missing or method.uses_missing or not method.priors:
        return method
    return find(couplings.METHODS, "likelihood")


def first(rules: tuple[Rule[S], ...], situation: S) -> Rule[S]:
    """The first rule that applies; the last one always does."""
    return next(rule for rule in rules if rule.applies(situation))
