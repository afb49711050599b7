r"""The most probable couplings given the data: the mode of the true posterior, with a certificate.

.. math:: \ln P(J, h \mid D) = N \Big[ \sum_i h_i d_i + \sum_{i<j} J_{ij} d_{ij} - \ln Z(J, h) \Big]
    - \frac{n}{2\gamma} \sum_{i<j} J_{ij}^2 - \frac12 \sum_i (b_i - \beta_i)^2 ,

or :math:`\xi \sum_{i<j} |J_{ij}|`, :math:`\xi = \sqrt{2n/\gamma}`, in place of the squares for the Laplace prior.
:math:`b_i = h_i + \sum_j J_{ij} d_j` with the means d of the data, and :math:`\beta_i` is the middle of its prior
(:mod:`bayesing.conditionals`). Means and products are all that is needed of the data. ln Z and its slopes are beyond
reach for more than 20 spins, so that chains give the slopes (:mod:`bayesing.learning.mode`). A pseudo-likelihood,
which sees conditionals alone, has no such trouble, and no idea of the weight of states that the data never visit;
this one reproduces means and correlations.

gamma, if it is not given, is that of the evidence, from a few draws of the posterior, and so nearly the same as by
:mod:`bayesing.strength.likelihood`, which takes more of them. Where the draws run away it is that of the mode.

Errors are those of the curvature at the mode (:mod:`bayesing.learning.errors`); for the Laplace prior, of a Gaussian
prior of the same variance.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arguments import Seed, seed_sequence
from ..conditionals import fields_of, middle_of_fields
from ..exceptions import InputError, NotConvergedWarning, Setting, UnseenStatesWarning
from ..priors import xi
from ..statistics import SpinStatistics
from ..threads import workers
from ..types import Array, Indices
from ._method import (
    CouplingMethod,
    CouplingOptions,
    Couplings,
    DenseCouplings,
    Strength,
    embed,
    field_errors,
    no_couplings,
)

if TYPE_CHECKING:
    from ..learning.certificate import Certificate
    from ..learning.mode import Mode
    from ..learning.phases import Data, Free

_DRAWN = "gaussian"  # the prior under which draws are made
_BETWEEN = 4  # steps from one draw to the next
_MOST_TRIES = 3  # to come as near to the data as is aimed at
_AIM = 0.4  # standard errors, less than the certificate asks for


class PosteriorDraws(NamedTuple):
    """Couplings (draws, n, n) and fields (draws, n), each pair as probable as the data and the prior make it."""

    couplings: Array
    fields: Array


@dataclass(frozen=True, eq=False, kw_only=True)
class LikelihoodCouplings(DenseCouplings):
    """Couplings and fields at the mode, and how well they reproduce the data."""

    certificate: Certificate
    data: Data  # of the spins that vary
    mode: Mode
    varying: Indices

    def posterior(self, n_draws: int, seed: Seed = None) -> PosteriorDraws:
        """Draws of couplings and fields under a Gaussian prior.

        Couplings of constant spins are their prior's. Of a spin's field and these couplings the data know the sum b
        alone: the field makes up for the couplings.
        """
        from ..learning.posterior import draw_posterior

        n, kept = len(self.fields), np.ix_(self.varying, self.varying)
        first, second = seed_sequence(seed).spawn(2)
        with workers() as run:
            drawn = draw_posterior(self.data, self.mode, n, first, run, n_draws, _BETWEEN)
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


def draws_of(found: Couplings, method: str, prior: str, n_draws: int, seed: Seed = None) -> PosteriorDraws:
    """Draws around couplings that a method found under a prior, or an InputError where it has none."""
    if method != METHOD.name:
        raise InputError("posterior needs ", Setting("method", METHOD.name), f": found {method}.")
    if prior != _DRAWN:
        needed = Setting("prior", _DRAWN)
        raise InputError("posterior needs ", needed, f", the one prior that it can draw from: found {prior}.")
    if not isinstance(found, LikelihoodCouplings):
        few = "posterior has nothing to draw: the data show no couplings, gamma = 0. Give a gamma, such as "
        raise InputError(few, Setting("gamma", 0.1), ".")
    return found.posterior(n_draws, seed)


def _fields_of_constants(N: int, shape: tuple[int, int], rng: np.random.Generator) -> Array:
    r"""Draws of b for a spin that is always +1: :math:`P(b) \propto e^{-(b - \beta)^2/2} (1 + e^{-2b})^{-N}`."""
    middle = middle_of_fields(np.array([N]), N)
    b = middle + np.linspace(-8.0, 8.0, 2001)
    exponent = -((b - middle) ** 2) / 2 - N * np.logaddexp(0.0, -2 * b)
    share = np.cumsum(np.exp(exponent - exponent.max()))
    return np.asarray(np.interp(rng.random(shape) * share[-1], share, b))


def fit_couplings(stats: SpinStatistics, options: CouplingOptions) -> LikelihoodCouplings | DenseCouplings:
    """The mode at the strength of the options, or at the one that it infers itself."""
    from ..learning.certificate import certify  # where they are needed, for kernels take time to load
    from ..learning.errors import posterior_errors
    from ..learning.mode import find_mode, go_on
    from ..learning.newton import LEAST_GAMMA
    from ..learning.phases import Data
    from ..learning.posterior import information

    n, varying, given = stats.n, stats.varying, options.strength
    if given and len(varying) < 2:
        return no_couplings(stats, given)
    data = Data.of(stats.kept)
    laplace, progress = options.prior == "laplace", options.progress
    search, *checks, again = seed_sequence(options.seed).spawn(2 + _MOST_TRIES)

    def heard(share: float) -> None:
        if progress:
            progress(0.9 * share, 1.0)

    with workers() as run:
        gamma = given.gamma if given else None
        mode, learner = find_mode(data, gamma, n, search, run, laplace, heard)
        if given is None and mode.gamma <= 1.01 * LEAST_GAMMA:
            strength = Strength(0.0, _error_at_zero(mode, n))
            return no_couplings(stats, strength, math.inf)
        tries: list[tuple[Certificate, Free, Mode]] = []
        for check in checks:
            pull = _pull(mode, n, laplace)
            tries.append((*certify(data, mode.J, mode.h, pull, check, run, stats.kept.active), mode))
            found = tries[-1][0]
            if found.within(_AIM) and found.agreed:
                break
            if mode.settled and found.agreed:
                mode = go_on(learner, mode, laplace)
            elif len(tries) == 1:  # lost: another way may lead there
                mode, learner = find_mode(data, gamma, n, again, run, laplace)
            else:
                break
        certificate, free, mode = min(tries, key=lambda found: found[0].means + found[0].pairs)
        errors, of_fields = posterior_errors(data, free, mode.metric, run)
    if progress:
        progress(1.0, 1.0)
    fields, unknown = fields_of(stats.sums, stats.N), math.sqrt(mode.gamma / n)
    fields[varying] = mode.h
    return LikelihoodCouplings(
        matrix=embed(mode.J, varying, n),
        errors=embed(errors, varying, n, unknown),
        fields=fields,
        penalty=xi(mode.gamma, n) if laplace else n / mode.gamma,
        warnings=_warnings(stats.N, mode, certificate),
        field_errors=field_errors(stats, of_fields, unknown),
        strength=given or Strength(mode.gamma, mode.gamma / math.sqrt(information(mode.metric))),
        certificate=certificate,
        data=data,
        mode=mode,
        varying=varying,
    )


def _pull(mode: Mode, n: int, laplace: bool) -> Array:
    """The slope of the log prior of the couplings, or its bound where they are 0."""
    if not laplace:
        return -n / mode.gamma * mode.J
    slope = xi(mode.gamma, n)
    return np.where(mode.J == 0, slope, -slope * np.sign(mode.J))


def _error_at_zero(mode: Mode, n: int) -> float:
    """Of gamma where couplings vanish: from the curvature of the evidence there, 1/2 sum_{k<l} (N W/n)^2."""
    square = (mode.metric.N * mode.metric.W / n) ** 2
    return 1 / math.sqrt(max(float(square.sum() - np.trace(square)) / 4, 1e-12))


def _warnings(N: int, mode: Mode, certificate: Certificate) -> tuple[Warning, ...]:
    found: list[Warning] = []
    if not certificate.passed:
        if not certificate.agreed:
            advice = "Fit again with another random_state, and use the couplings only if both fits agree."
        elif not mode.settled:
            advice = (
                "The search was stopped: step after step led to states that the data do not show. Couplings are "
                "those of the last good step, with a Gaussian prior. Try a smaller gamma, or leave out rare spins."
            )
        else:
            advice = (
                f"The search has not arrived: try another random_state, or a gamma below {mode.gamma:.2g}."
            )
        found.append(NotConvergedWarning(f"{certificate.sentence} {advice}"))
    if certificate.has_another_state or (certificate.passed and not certificate.stays):
        found.append(UnseenStatesWarning(_unseen(N, certificate)))
    return tuple(found)


def _unseen(N: int, certificate: Certificate) -> str:
    """What of the model the data never show: another state, or more extreme samples."""
    if certificate.has_another_state:
        return (
            "No pairwise model describes these data. Couplings that give their correlations make another state, too: "
            f"of {N} samples of the fitted model, as many as there are data, {certificate.far:.2g} are in a state "
            "far from all of the data. A hidden cause that drives many spins at once would explain this."
        )
    return (
        "The model has the means and correlations of the data, but not their extremes: "
        f"of {N} samples of the fitted model, as many as there are data, {certificate.unseen:.2g} have clearly more "
        "or fewer active spins than any of the data. "
        "Sums that are fixed by design do this, and hidden causes that drive many spins at once."
    )


METHOD = CouplingMethod(
    name="likelihood",
    about="the most probable matrix by the true likelihood, from chains",
    fit=fit_couplings,
    searches=True,
    least_samples=4,
    priors=("gaussian", "laplace"),
    infers_strength=True,
    holds="data of any kind, up to some hundred spins: means and correlations are reproduced, or it says so",
)
