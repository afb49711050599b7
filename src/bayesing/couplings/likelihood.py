r"""The most probable couplings given the data: the mode of the true posterior, with a certificate.

.. math:: \ln P(J, h \mid D) = N \Big[ \sum_i h_i d_i + \sum_{i<j} J_{ij} d_{ij} - \ln Z(J, h) \Big]
    - \frac{n}{2\gamma} \sum_{i<j} J_{ij}^2 - \frac12 \sum_i (b_i - \beta_i)^2 ,

or :math:`\xi \sum_{i<j} |J_{ij}|`, :math:`\xi = \sqrt{2n/\gamma}`, in place of the squares for the Laplace prior. The
sparse prior, a mixture, is first learned on the pseudo-likelihood and then goes on (:mod:`bayesing.learning.sparse`).
:math:`b_i = h_i + \sum_j J_{ij} d_j` with the means d of the data, and :math:`\beta_i` is the middle of its prior
(:mod:`bayesing.conditionals`). Means and products are all that is needed of the data. ln Z and its slopes are beyond
reach for more than 20 spins, so that chains give the slopes (:mod:`bayesing.learning.mode`). A pseudo-likelihood,
which sees conditionals alone, has no such trouble, and no idea of the weight of states that the data never visit;
this one reproduces means and correlations.

**Missing cells**, if there are any, are summed over: the likelihood is that of the cells that are there
(:mod:`bayesing.learning.clamped`), and the errors are those of what they tell.

gamma, if it is not given, is that of the evidence, from a few draws of the posterior, and so nearly the same as by
:mod:`bayesing.strength.likelihood`, which takes more of them. Where the draws run away it is that of the mode.

Errors are those of the curvature at the mode (:mod:`bayesing.learning.errors`); for the Laplace prior, of a Gaussian
prior of the same variance.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arguments import Seed, seed_sequence
from ..conditionals import fields_of, middle_of_fields
from ..exceptions import InputError, NotConvergedWarning, Setting, UnseenStatesWarning
from ..mixture import learn_edges
from ..priors import xi
from ..statistics import SpinStatistics
from ..threads import Run, workers
from ..types import Array, Heard, Indices
from ._causes import CauseCouplings, fit_causes
from ._method import (
    CouplingMethod,
    CouplingOptions,
    Couplings,
    DenseCouplings,
    Strength,
    embed,
    field_errors,
    independent,
    no_couplings,
)
from ._sparse import SparseCouplings, SparseFit, fit_completed, fit_sparse, knowledge, matrix_of, not_sparse

if TYPE_CHECKING:
    from ..learning.causes_evidence import Difference
    from ..learning.certificate import Certificate
    from ..learning.clamped import Clamped
    from ..learning.mode import Mode
    from ..learning.phases import Data, Free
    from ..learning.quadratic import Shape

_DRAWN = "gaussian"  # the prior under which draws are made
_BETWEEN = 4  # steps from one draw to the next
_MOST_TRIES = 3  # to come as near to the data as is aimed at
_GAMMA = 0.3  # of the Gaussian prior from which a sparse one is found
_COMPLETIONS = 3  # draws of missing cells that it is found from
_ONE_CAUSE = Setting("n_hidden", 1)
_SEED = Setting("random_state", 1)  # other than that by default
_AIM = 0.4  # standard errors, less than the certificate asks for


class PosteriorDraws(NamedTuple):
    """Couplings (draws, n, n) and fields (draws, n), each pair as probable as the data and the prior make it."""

    couplings: Array
    fields: Array


@dataclass(frozen=True, eq=False, kw_only=True)
class LikelihoodCouplings(DenseCouplings):
    """Couplings and fields at the mode, and how well they reproduce the data."""

    certificate: Certificate
    data: Data  # of the spins that vary, at the mode
    mode: Mode
    varying: Indices
    incomplete: SpinStatistics | None = None  # these spins, where cells are missing
    gains: tuple[Difference, ...] = ()  # of the evidence by a hidden unit, if it was asked about them

    def posterior(self, n_draws: int, seed: Seed = None) -> PosteriorDraws:
        """Draws of couplings and fields under a Gaussian prior.

        Couplings of constant spins are their prior's. Of a spin's field and these couplings the data know the sum b
        alone: the field makes up for the couplings.
        """
        from ..learning.clamped import observed
        from ..learning.posterior import draw_posterior

        n, kept = len(self.fields), np.ix_(self.varying, self.varying)
        first, second, third = seed_sequence(seed).spawn(3)
        source = self.data if self.incomplete is None else observed(self.incomplete, third)
        with workers() as run:
            drawn = draw_posterior(source, self.mode, n, first, run, n_draws, _BETWEEN)
        if drawn.drifted:
            text = "The draws have left the data: they moved to states that the data never show. Do not use them."
            warnings.warn(NotConvergedWarning(text), stacklevel=3)
        rng = np.random.default_rng(second)
        prior = rng.normal(0, math.sqrt(self.mode.gamma / n), (n_draws, n, n))
        J = np.triu(prior, 1)
        J += J.transpose(0, 2, 1)
        for k in range(n_draws):
            J[k][kept] = drawn.J[k]
        constant = np.delete(np.arange(n), self.varying)
        d, b = np.sign(self.fields), np.empty((n_draws, n))
        d[self.varying] = self.data.d
        b[:, self.varying] = drawn.h + drawn.J @ self.data.d
        b[:, constant] = d[constant] * _fields_of_constants(self.data.N, (n_draws, len(constant)), rng)
        return PosteriorDraws(J, b - J @ d)


@dataclass(frozen=True, eq=False, kw_only=True)
class SparseLikelihoodCouplings(LikelihoodCouplings, SparseCouplings):
    """The same with a sparse prior: how probably each coupling is there."""


def draws_of(
    found: Couplings, method: str, prior: str, n_draws: int, seed: Seed = None, worth: float = 1.0
) -> PosteriorDraws:
    """Draws around couplings that a method found under a prior, or an InputError where it has none.

    Of rows that are ``worth`` less than independent ones, draws are so much further from the mode.
    """
    if method != METHOD.name:
        raise InputError("posterior needs ", Setting("method", METHOD.name), f": found {method}.")
    if prior != _DRAWN:
        needed = Setting("prior", _DRAWN)
        raise InputError("posterior needs ", needed, f", the one prior that it can draw from: found {prior}.")
    if isinstance(found, CauseCouplings):
        raise InputError(
            "posterior cannot draw hidden units together with couplings: found "
            f"{len(found.hidden.fields)} of them. Take ",
            Setting("n_hidden", 0),
            ".",
        )
    if not isinstance(found, LikelihoodCouplings):
        if getattr(found, "is_kept", False):
            raise InputError("posterior needs the data of the fit, which a file does not keep. Fit again.")
        few = "posterior has nothing to draw: the data show no couplings, gamma = 0. Give a gamma, such as "
        raise InputError(few, Setting("gamma", 0.1), ".")
    drawn = found.posterior(n_draws, seed)
    if worth == 1:
        return drawn
    wider = 1 / math.sqrt(worth)
    J, h = found.matrix, found.fields
    return PosteriorDraws(J + wider * (drawn.couplings - J), h + wider * (drawn.fields - h))


def _fields_of_constants(N: int, shape: tuple[int, int], rng: np.random.Generator) -> Array:
    r"""Draws of b for a spin that is always +1: :math:`P(b) \propto e^{-(b - \beta)^2/2} (1 + e^{-2b})^{-N}`."""
    middle = middle_of_fields(np.array([N]), N)
    b = middle + np.linspace(-8.0, 8.0, 2001)
    exponent = -((b - middle) ** 2) / 2 - N * np.logaddexp(0.0, -2 * b)
    share = np.cumsum(np.exp(exponent - exponent.max()))
    return np.asarray(np.interp(rng.random(shape) * share[-1], share, b))


def fit_couplings(stats: SpinStatistics, options: CouplingOptions) -> DenseCouplings:
    """The mode at the strength of the options, or at the one that it infers itself."""
    from ..learning.clamped import observed  # where they are needed, for kernels take time to load
    from ..learning.errors import posterior_errors
    from ..learning.newton import LEAST_GAMMA
    from ..learning.posterior import information
    from ..learning.quadratic import Laplace
    from ..learning.sparse import Sparse

    n, given, worth = stats.n, options.strength, options.worth
    gains: tuple[Difference, ...] = ()
    if options.n_hidden:
        causes, gains = fit_causes(stats, options)
        if causes is not None:
            return causes
    if given and len(stats.varying) < 2:
        return no_couplings(stats, given)
    seeds = _Seeds.of(options.seed)
    source, gamma = observed(stats.kept, seeds.clamped), given.gamma if given else None
    shape: Laplace | Sparse | None = Laplace(n) if options.prior == "laplace" else None
    first: SparseFit | None = None
    with workers() as run:
        if options.prior == "sparse":
            first = _first(stats, source, seeds.first, run, worth)
            if not first.is_dense:
                shape, gamma = Sparse(first.size, first.b, worth), n * first.size.mean_square
        mode, certificate, data, free = _find(stats, source, gamma, shape, options.progress, seeds, run)
        if gamma is None and mode.gamma <= 1.01 * LEAST_GAMMA:
            none = no_couplings(stats, Strength(0.0, _error_at_zero(mode, n)), math.inf)
            return none if first is None else SparseCouplings(**vars(none), **_dense(stats, first, none))
        errors, of_fields = posterior_errors(data, free, mode.metric, run)
    if options.progress:
        options.progress(1.0, 1.0)
    unknown, extra = math.sqrt(mode.gamma / n), _warnings(stats.N, mode, certificate)
    fields = fields_of(stats.sums, stats.counts)
    fields[stats.varying] = mode.h
    found = LikelihoodCouplings(
        matrix=embed(mode.J, stats.varying, n),
        errors=embed(errors, stats.varying, n, unknown),
        fields=fields,
        penalty=xi(mode.gamma, n) if options.prior == "laplace" else None if shape else n / mode.gamma,
        warnings=extra,
        field_errors=field_errors(stats, of_fields, unknown),
        strength=given or Strength(mode.gamma, mode.gamma / math.sqrt(information(mode.metric))),
        certificate=certificate,
        data=data,
        mode=mode,
        varying=stats.varying,
        incomplete=stats.kept if stats.missing else None,
        gains=gains,
    )
    if first is None:
        return found
    found = independent(found, worth)
    if not isinstance(shape, Sparse):
        changed = replace(found, warnings=(*extra, not_sparse(first)))
        return SparseLikelihoodCouplings(**vars(changed), **_dense(stats, first, found))
    told, q = shape.known.b, shape.known.q
    edges = learn_edges(told, q).given(told, q)
    changed = replace(
        found,
        errors=matrix_of(stats, np.sqrt(shape.known.variance), unknown),
        field_errors=field_errors(stats, np.sqrt(first.of_fields), unknown),
        strength=Strength(n * shape.known.mean_square),
    )
    known = knowledge(stats, shape.known, edges)
    if not shape.started:  # couplings are far from independent then
        known |= {"edges": None}
    return SparseLikelihoodCouplings(**vars(changed), **known)


def _first(
    stats: SpinStatistics, source: Data | Clamped, seed: np.random.SeedSequence, run: Run, worth: float
) -> SparseFit:
    """What expectation propagation on the pseudo-likelihood finds, from which that on the likelihood goes on.

    Rows with missing cells are completed under the mode of a Gaussian prior.
    """
    from ..learning.mode import find_mode
    from ..learning.phases import Data

    if stats.rows is None:
        raise InputError(
            Setting("prior", "sparse"),
            " needs all rows at once: found sums and products alone, of data that were read in batches.",
        )
    lam = stats.n / (_GAMMA * worth)
    if isinstance(source, Data):
        return fit_sparse(stats.kept.spins(), lam, run, worth)
    mode, _ = find_mode(source, None, stats.n, seed, run)
    upper = np.triu_indices(len(mode.h), 1)
    left = source.averaged(mode.J, mode.h, run).left[upper]
    return fit_completed(source.completed(_COMPLETIONS), mode.J[upper], left, source.d, lam, run, worth)


def _dense(stats: SpinStatistics, first: SparseFit, found: DenseCouplings) -> dict[str, Any]:
    """What is known of edges where couplings are those of a Gaussian prior."""
    upper = np.triu_indices(len(stats.varying), 1)
    J, errors = (matrix[np.ix_(stats.varying, stats.varying)][upper] for matrix in found.rows())
    return first.knowledge_of(stats, J, errors)


class _Seeds(NamedTuple):
    """What is random, each with a seed of its own."""

    search: np.random.SeedSequence
    checks: list[np.random.SeedSequence]
    again: np.random.SeedSequence
    clamped: np.random.SeedSequence
    first: np.random.SeedSequence

    @classmethod
    def of(cls, seed: Seed) -> _Seeds:
        search, *checks, again, clamped, first = seed_sequence(seed).spawn(4 + _MOST_TRIES)
        return cls(search, checks, again, clamped, first)


def _find(
    stats: SpinStatistics,
    source: Data | Clamped,
    gamma: float | None,
    shape: Shape | None,
    progress: Heard | None,
    seeds: _Seeds,
    run: Run,
) -> tuple[Mode, Certificate, Data, Free]:
    """The mode whose samples are nearest to the data, of a few tries; its certificate, the data, and the samples."""
    from ..learning.certificate import certify
    from ..learning.mode import find_mode, go_on

    n = stats.n

    def heard(share: float) -> None:
        if progress:
            progress(0.9 * share, 1.0)

    mode, learner = find_mode(source, gamma, n, seeds.search, run, shape, heard)
    tries: list[tuple[Mode, Certificate, Data, Free]] = []
    for check in seeds.checks:
        pull = shape.pull(mode.J, mode.gamma) if shape else -n / mode.gamma * mode.J
        data = source.averaged(mode.J, mode.h, run)
        found, free = certify(data, mode.J, mode.h, pull, check, run, stats.kept.active)
        tries.append((mode, found, data, free))
        if (found.within(_AIM) and found.agreed) or len(tries) == _MOST_TRIES:
            break
        if mode.settled and found.agreed:
            mode = go_on(learner, mode, shape)
        elif len(tries) == 1:  # lost: another way may lead there
            mode, learner = find_mode(source, gamma, n, seeds.again, run, shape)
        else:
            break
    return min(tries, key=lambda found: found[1].means + found[1].pairs)


def _error_at_zero(mode: Mode, n: int) -> float:
    """Of gamma where couplings vanish: from the curvature of the evidence there, 1/2 sum_{k<l} (N W/n)^2."""
    square = (mode.metric.N * mode.metric.W / n) ** 2
    return 1 / math.sqrt(max(float(square.sum() - np.trace(square)) / 4, 1e-12))


def _warnings(N: int, mode: Mode, certificate: Certificate) -> tuple[Warning, ...]:
    found: list[Warning] = []
    advice: tuple[str | Setting, ...]
    if not certificate.passed:
        if not certificate.agreed:
            advice = (
                "Fit again with another seed, ",
                _SEED,
                ", and use the couplings only if both fits agree.",
            )
        elif not mode.settled:
            advice = (
                "The search was stopped: step after step led to states that the data do not show. Couplings are "
                "those of the last good step, with a Gaussian prior. Try a smaller gamma, or leave out rare spins.",
            )
        else:
            advice = (
                "The search has not arrived: try another seed, ",
                _SEED,
                f", or a gamma below {mode.gamma:.2g}.",
            )
        found.append(NotConvergedWarning(f"{certificate.sentence} ", *advice))
    if certificate.has_another_state or (certificate.passed and not certificate.stays):
        found.append(UnseenStatesWarning(*_unseen(N, certificate)))
    return tuple(found)


def _unseen(N: int, certificate: Certificate) -> tuple[str | Setting, ...]:
    """What of the model the data never show: another state, or more extreme samples."""
    if certificate.has_another_state:
        return (
            "No pairwise model describes these data. Couplings that give their correlations make another state, too: "
            f"of {N} samples of the fitted model, as many as there are data, {certificate.far:.2g} are in a state "
            "far from all of the data. A common cause that drives many spins at once would explain this: ",
            _ONE_CAUSE,
            " adds one.",
        )
    return (
        "The model has the means and correlations of the data, but not their extremes: "
        f"of {N} samples of the fitted model, as many as there are data, {certificate.unseen:.2g} have clearly more "
        "or fewer active spins than any of the data. "
        "Sums that are fixed by design do this, and common causes that drive many spins at once: ",
        _ONE_CAUSE,
        " adds one.",
    )


METHOD = CouplingMethod(
    name="likelihood",
    about="the most probable matrix by the true likelihood, from chains",
    fit=fit_couplings,
    searches=True,
    least_samples=4,
    priors=("gaussian", "laplace", "sparse"),
    infers_strength=True,
    hidden=True,
    uses_missing=True,
    missing_needs_rows=True,
    holds="data of any kind, up to some hundred spins: means and correlations are reproduced, or it says so",
)
