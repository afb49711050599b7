"""A method as somebody else might write it, in a file of its own: moments to lowest order, where H is 0."""

import math

from bayesing.strength._method import Method, with_field


def gamma_of(stats):
    """C2 = gamma/n + 1/N, to lowest order in gamma."""
    return stats.n * (stats.moments.C2 - 1 / stats.N)


def _fit(stats, options):
    gamma = max(gamma_of(stats), 0.0)
    return with_field(stats, gamma, math.sqrt(2) * (gamma / stats.n + 1 / stats.N), options)


def _statistic(found, gamma, options):
    return gamma_of


METHOD = Method(
    name="sixth",
    about="second moments to lowest order",
    fit=_fit,
    statistic=_statistic,
    least_samples=5,
    priors=("gaussian", "laplace"),
    holds="weak couplings without a field",
)
