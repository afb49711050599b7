r"""gamma from draws of the true posterior: the maximum of the evidence of all couplings and fields.

No expansion in weak couplings, no large n, no uniform field: the mode of the posterior
(:mod:`bayesing.learning.mode`), then draws around it while gamma moves to where :math:`E[\sum_{i<j} J_{ij}^2 \mid D]
= \gamma (n-1)/2`, and the curvature of the evidence there gives the error (:mod:`bayesing.learning.posterior`). H is
the mean of the fields at the mode, of spins that vary. The mean of the draws is further out, where the posterior of
fields has its longer tail.

Where the couplings do not look like those of the prior (:mod:`bayesing.weak`), and samples are at least ten times as
many as spins, gamma is that without the prior's pull (:mod:`bayesing.learning.scale`), and the other is a second
opinion; with fewer samples it is the other way round. J0 is n times the mean coupling of the draws, and gamma then is
of the deviations from it.

It takes seconds for 100 spins where the closed forms take milliseconds, and is right where they are not: in the spin
glass, and for data of another kind than many weak couplings.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..arguments import seed_sequence
from ..exceptions import AnotherKindWarning, NotConvergedWarning, Setting
from ..statistics import SpinStatistics
from ..threads import workers
from ..types import Array
from ._method import Estimate, Method, Options, Statistic

if TYPE_CHECKING:
    from ..learning.newton import Place

_SEARCH = 0.5  # share of the work that is the search for the mode
_PULLED = (
    0.85  # of J without the prior's pull over that with it, below which couplings are not those of the prior
)
_KNOWN = 0.8  # share of the data in J0, below which the prior has too much of a say
_MANY = 10  # samples a spin from which couplings without the prior's pull are precise enough
_MORE = 4.0  # times as many draws, at most, where data say little


def fit_likelihood(stats: SpinStatistics, options: Options) -> Estimate:
    """gamma and H, with the errors that the posterior has."""
    from ..learning.clamped import observed  # where they are needed, for kernels take time to load
    from ..learning.mode import find_mode
    from ..learning.newton import LEAST_GAMMA
    from ..learning.posterior import draw_posterior, information
    from ..learning.scale import FREE, without_pull

    n = stats.n
    search, draw, again, clamped = seed_sequence(options.seed).spawn(4)
    source = observed(stats.kept, clamped)

    def heard(start: float, share: float, done: float) -> None:
        if options.progress:
            options.progress(start + share * done, 1.0)

    with workers() as run:
        mode, _ = find_mode(source, None, n, search, run, heard=lambda done: heard(0.0, _SEARCH, done))
        at_zero = mode.gamma <= 1.01 * LEAST_GAMMA
        drawn = draw_posterior(
            source,
            mode,
            n,
            draw,
            run,
            _draws(mode),
            infer=0.0 if at_zero else 1.0,
            heard=lambda done: heard(_SEARCH, 1 - _SEARCH, done),
        )
        second = None
        if (options.doubted or options.compared) and not at_zero and not drawn.drifted:
            second = find_mode(source, FREE * drawn.gamma, n, again, run)[0]
            data = source.averaged(second.J, second.h, run)
    H = float(mode.h.mean())
    H_error = float(drawn.h.mean(axis=1).std()) if len(drawn.h) else _error_of_mean(mode)
    warnings: tuple[Warning, ...] = ()
    if drawn.drifted:
        text: tuple[str | Setting, ...] = (
            "The draws have left the data: they moved to states that the data never show. gamma is that of the mode "
            "alone. Copies of columns do this, and common causes that drive many spins at once: couplings with ",
            Setting("n_hidden", 1),
            " have one.",
        )
        warnings = (NotConvergedWarning(*text),)
    if at_zero or drawn.drifted:
        gamma = 0.0 if at_zero else mode.gamma
        error = mode.gamma / math.sqrt(information(mode.metric))
        return Estimate(gamma, error, H, H_error, lost=drawn.drifted, warnings=warnings)
    gamma, error, pull = drawn.gamma, drawn.gamma_error, None
    if second:
        free, free_error = without_pull(second, data, n)
        pull = math.sqrt(free / gamma)
        if stats.N >= _MANY * n and (options.doubted or pull < _PULLED):
            gamma, error = free, free_error
    J0, J0_error = 0.0, 0.0
    if options.mean_coupling:
        J0, J0_error, share = _mean_coupling(drawn.J, n, gamma)
        if share < _KNOWN:
            said = (
                f"The prior of couplings, whose mean is 0, pulls J0 to 0: the data have {100 * share:.0f}% of the "
                "say in it. Closed forms have no such prior."
            )
            warnings = (*warnings, AnotherKindWarning(said))
    gamma = max(gamma - J0**2 / n, 0.0)
    return Estimate(gamma, error, H, H_error, J0, J0_error, bound=drawn.bound, pull=pull, warnings=warnings)


def _mean_coupling(J: Array, n: int, gamma: float) -> tuple[float, float, float]:
    """n times the mean coupling, of draws (draws, n, n); other couplings of the same strength have other means.

    Also by how much the data make it narrower than the prior, whose variance of it is 2 gamma/n.
    """
    k = J.shape[1]
    means = n * J.sum(axis=(1, 2)) / (k * (k - 1))
    variance, of_prior = float(means.var()), 2 * gamma / n
    share = 1 - variance / of_prior if of_prior > 0 else 0.0
    return float(means.mean()), math.sqrt(variance + of_prior), max(share, 0.0)


def _draws(mode: Place) -> int:
    """So many that their noise is small beside the error of gamma, which it exceeds where data say little."""
    from ..learning.posterior import DRAWS, information

    n = len(mode.h)
    share = 4 * information(mode.metric) / (n * (n - 1))  # mean square of 1 - lambda K
    return round(DRAWS * min(max(0.25 / share, 1.0), _MORE))


def _error_of_mean(mode: Place) -> float:
    """Of the mean field, by the curvature at the mode."""
    mean = np.full(len(mode.h), 1 / len(mode.h))
    return math.sqrt(float(mean @ mode.metric.fields(mean)))


def _statistic(found: Estimate, gamma: float, options: Options) -> Statistic:
    return _susceptibility


def _susceptibility(stats: SpinStatistics) -> float:
    return stats.moments.chi_sg or 0.0


METHOD = Method(
    name="likelihood",
    about="the evidence of the true likelihood, from draws of the couplings",
    fit=fit_likelihood,
    statistic=_statistic,
    any_kind=True,
    mean_coupling=True,
    uses_missing=True,
    missing_needs_rows=True,
    holds="data of any kind, up to some hundred spins, also in the spin glass; seconds instead of milliseconds",
)
