from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import bayesing as bs
from bayesing.replica import collective_variance, field, field_error, mean_coupling, order_parameters

from samples import random_model, random_spins


def moments(**changes):
    return replace(bs.SpinMoments.of(random_spins(20, 7)), **changes)


@pytest.mark.parametrize("gamma", [0.3, 1.7])
@pytest.mark.parametrize(("H", "J0"), [(0.35, 0.0), (-0.6, 0.4)])
def test_the_field_inverts_the_order_parameters(gamma, H, J0):
    M, q = order_parameters(H, gamma, J0)
    assert field(moments(M=M, q=q), gamma, J0) == pytest.approx(H, abs=1e-9)


def test_order_parameters_solve_their_equations_by_another_quadrature():
    H, gamma, J0 = 0.3, 0.8, 0.2
    M, q = order_parameters(H, gamma, J0)
    z, w = np.polynomial.hermite_e.hermegauss(80)
    t = np.tanh(H + J0 * M + np.sqrt(gamma * q) * z)
    assert (M, q) == pytest.approx((w @ t / w.sum(), w @ t**2 / w.sum()), abs=1e-8)


def test_without_couplings_the_field_is_that_of_a_free_spin():
    assert field(moments(M=-0.4), 0.0) == pytest.approx(np.arctanh(-0.4))
    # M of n N free spins has the variance (1 - M^2)/(n N), and dM/dH = 1 - M^2.
    m = moments(M=-0.4, q=0.16, chi_lin=1 - 0.16)
    assert field_error(m, 0.0) == pytest.approx(1 / np.sqrt((1 - 0.16) * m.n * m.N))


def test_weak_couplings_make_the_mean_spin_vary_by_pairs():
    """To first order M varies by sum_{i<j} J_ij (v m + m v)/n, of variance 2 gamma t^2 v^2/n."""
    H, gamma = 0.5, 1e-4
    M, q = order_parameters(H, gamma)
    t, v = np.tanh(H), 1 - np.tanh(H) ** 2
    m = moments(M=M, q=q, chi_lin=0.0)
    assert field_error(m, gamma) == pytest.approx(np.sqrt(2 * gamma / m.n) * t, rel=2e-3)
    assert v * field_error(m, gamma) == pytest.approx(np.sqrt(2 * gamma * t**2 * v**2 / m.n), rel=2e-3)


def test_few_loops_and_few_samples_by_hand():
    """To lowest order: tr C^2 = n + sum J^2, so that loops of two couplings, the J_ij^2 themselves, vary alone."""
    n, N, gamma = 10**6, 10**9, 1e-3
    assert collective_variance(n, N, gamma, 1.0) == pytest.approx(4 * gamma**2 / n**2, rel=0.02)
    # A sample says x^T C x = n + sum_ij J_ij x_i x_j, of variance 2 sum J^2 = 2 n gamma; four times that over N n^2.
    assert collective_variance(n, 1, gamma, 1.0) == pytest.approx(8 * gamma / n, rel=0.02)


def test_u_statistics_are_unbiased_in_an_enumerated_model():
    """Averages of r, q, chi_sg and chi_lin over all (2^3)^4 data sets of 4 samples of 3 spins."""
    model = random_model(3, J=0.9, seed=3)
    states = np.array(list(product([-1, 1], repeat=3)), dtype=np.int8)
    p = np.exp(-model.energy(states) - model.log_partition())
    assert p.sum() == pytest.approx(1)
    means = dict.fromkeys(["r", "q", "chi_sg", "chi_lin"], 0.0)
    for rows in product(range(8), repeat=4):
        found = bs.SpinMoments.of(states[list(rows)])
        for name in means:
            means[name] += p[list(rows)].prod() * getattr(found, name)
    m, C = model.means(), model.correlations()
    c = C - np.outer(m, m)
    exact = {
        "r": np.mean((1 - m**2) ** 2),
        "q": np.mean(m**2),
        "chi_sg": (c**2).sum() / 3,
        "chi_lin": c.sum() / 3,
    }
    assert means == pytest.approx(exact, rel=1e-10)


def test_mean_coupling_needs_a_sum_that_varies():
    with pytest.raises(ValueError, match="varies from sample to sample"):
        mean_coupling(moments(chi_lin=0.0), 0.1)
    with pytest.raises(ValueError, match="at least 4 samples: found 20"):
        mean_coupling(moments(chi_lin=None), 0.1)
