"""Sites beside the chains, on a likelihood that is quadratic in each coupling by itself, where all is known."""

import numpy as np
import pytest

from bayesing.learning.sparse import Sparse
from bayesing.mixture import Mixture

n = 4
UPPER = np.triu_indices(n, 1)
RNG = np.random.default_rng(0)
PRIOR = Mixture(np.array([0.6, 0.3, 0.1]), np.zeros(3), np.array([0.0, 0.04, 0.36]))
Q = RNG.uniform(10, 60, 6)
TOLD = RNG.normal(0, 0.5, 6)
B = np.array([0.1, -0.2, 0.3, 0.0])


def matrix(upper):
    J = np.zeros((n, n))
    J[UPPER] = upper
    return J + J.T


class Separate:
    """The log likelihood - sum q (J - told)^2/2, whose mode under a prior is one step of the length 1/q from told."""

    def mode(self, G, g, J, b, start, shrink):
        return shrink(matrix(TOLD), matrix(1 / Q)), b


def start():
    """Knowledge of other numbers, as the pseudo-likelihood might have it."""
    return Sparse(PRIOR.given(TOLD + 0.2, Q), B)


def mode(shape):
    J, b = shape.mode(Separate(), *np.zeros((2, n, n)), np.zeros((n, n)), B, np.zeros((n, n)), 0.3)
    assert b is B
    return J[UPPER]


def test_what_the_data_alone_say_is_told_from_the_mode():
    shape = start()
    tau, nu = shape.site
    J = mode(shape)
    assert J == pytest.approx((Q * TOLD + nu) / (Q + tau))
    assert shape.known.b == pytest.approx(TOLD)
    assert shape.known.q == pytest.approx(Q)


def test_it_ends_at_the_means_of_the_mixture():
    shape = start()
    for _ in range(40):
        J = mode(shape)
    assert J == pytest.approx(PRIOR.given(TOLD, Q).mean, abs=1e-4)
    assert shape.known.mean == pytest.approx(J, abs=1e-4)


def test_the_pull_balances_the_slope_of_the_likelihood():
    shape = start()
    J = mode(shape)
    slope = Q * (TOLD - J)
    assert shape.pull(matrix(J), 0.3)[UPPER] == pytest.approx(-slope)


def test_chains_start_from_the_means_and_sites_stay_where_they_cannot():
    shape = start()
    J, b = shape.start
    assert J[UPPER] == pytest.approx(shape.known.mean) and (b == B).all()
    before, known = shape.site, shape.known
    shape.refuse()
    mode(shape)
    assert shape.site is before and shape.known is known
