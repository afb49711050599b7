from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.optimize import brentq

import bayesing as bs
from bayesing.conditionals import independent_fields
from bayesing.replica import (
    at_line,
    collective_variance,
    field,
    field_error,
    mean_coupling,
    mean_field,
    order_parameters,
    overlap,
    site_fields,
)
from bayesing.strength._method import Options, with_field

from samples import random_model, random_spins, stats, with_gaps


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


@pytest.mark.parametrize("H", [-0.2, 1.3])
def test_the_line_of_de_almeida_and_thouless_from_its_definition(H):
    """Two nested searches, for q given J and for J, with adaptive quadrature."""

    def mean(f, J, q):
        weight = 1 / np.sqrt(2 * np.pi)
        return quad(lambda z: weight * np.exp(-z * z / 2) * f(np.tanh(H + J * np.sqrt(q) * z)), -9, 9)[0]

    def distance(J):
        q = brentq(lambda q: mean(lambda t: t**2, J, q) - q, 1e-9, 1)
        return 1 - J**2 * mean(lambda t: (1 - t**2) ** 2, J, q)

    assert at_line(H) == pytest.approx(brentq(distance, 1.0, 6.0), rel=1e-7)


def test_the_line_of_de_almeida_and_thouless_near_its_end():
    assert at_line(0.0) == pytest.approx(1, abs=1e-12)
    for H in (3e-4, -1e-3):
        assert at_line(H) - 1 == pytest.approx((3 / 4 * H**2) ** (1 / 3), rel=1e-3)
    # At strong fields J E[(1 - t^2)^2] is 4/3 times the Gaussian density of t = 0.
    J = at_line(40.0)
    assert J * 4 / 3 / np.sqrt(2 * np.pi) * np.exp(-((40 / J) ** 2) / 2) == pytest.approx(1, rel=0.1)


def test_without_couplings_the_field_is_that_of_a_free_spin():
    assert field(moments(M=-0.4), 0.0) == pytest.approx(np.arctanh(-0.4))
    # M of n N free spins has the variance (1 - M^2)/(n N), and dM/dH = 1 - M^2.
    m = moments(M=-0.4, q=0.16, chi_lin=1 - 0.16)
    assert field_error(m, 0.0, 0.0) == pytest.approx(1 / np.sqrt((1 - 0.16) * m.n * m.N))


def test_the_error_of_gamma_is_passed_on_to_the_field():
    m, h = moments(M=0.6, q=0.5), 1e-6
    by_gamma = (field(m, 0.8 + h) - field(m, 0.8 - h)) / (2 * h)
    without, with_error = field_error(m, 0.8, 0.0), field_error(m, 0.8, 0.3)
    assert with_error**2 - without**2 == pytest.approx((0.3 * by_gamma) ** 2, rel=1e-4)


def test_weak_couplings_make_the_mean_spin_vary_by_pairs():
    """To first order M varies by sum_{i<j} J_ij (v m + m v)/n, of variance 2 gamma t^2 v^2/n."""
    H, gamma = 0.5, 1e-4
    M, q = order_parameters(H, gamma)
    t, v = np.tanh(H), 1 - np.tanh(H) ** 2
    m = moments(M=M, q=q, chi_lin=0.0)
    assert field_error(m, gamma, 0.0) == pytest.approx(np.sqrt(2 * gamma / m.n) * t, rel=2e-3)
    assert v * field_error(m, gamma, 0.0) == pytest.approx(np.sqrt(2 * gamma * t**2 * v**2 / m.n), rel=2e-3)


@pytest.mark.parametrize(("H", "gamma"), [(0.5, 0.7), (-0.8, 1.6)])
def test_the_error_of_the_field_is_that_of_its_derivation(H, gamma):
    """n Var M and dM/dH with q' = dq/dH by differences, and averages by another quadrature; N is infinite."""
    M, q = order_parameters(H, gamma)
    (Mu, qu), (Md, qd) = (order_parameters(H + step, gamma) for step in (1e-5, -1e-5))
    slope, response = (qu - qd) / 2e-5, (Mu - Md) / 2e-5
    z, w = np.polynomial.hermite_e.hermegauss(80)
    w = w / w.sum()
    t = np.tanh(H + np.sqrt(gamma * q) * z)
    v = 1 - t**2
    tilted = t + gamma * slope / 2 * v
    kappa = w @ (t * v * (1 - gamma * slope * t))
    variance = w @ tilted**2 - (w @ tilted) ** 2 + gamma * kappa**2 / (1 - gamma * (w @ v**2))
    n = 10**9  # so that nothing is cut off
    m = moments(n=n, M=M, q=q, chi_lin=0.0)
    assert field_error(m, gamma, 0.0) == pytest.approx(np.sqrt(variance / n) / response, rel=1e-4)


def test_the_error_of_the_mean_coupling_in_limits():
    """A variance of N Gaussian sums varies by 2/(N - 1) of its square, and n times the mean coupling by 2 gamma/n."""
    m = moments(N=5, q=0.2, chi_lin=1.7)
    assert mean_coupling(m, 0.0) == pytest.approx((1 / 0.8 - 1 / 1.7, np.sqrt(2 / 4) / 1.7))
    assert mean_coupling(moments(N=10**12, n=9), 0.3)[1] == pytest.approx(np.sqrt(2 * 0.3 / 9), rel=1e-5)


def test_variance_by_loops_is_their_sum():
    """Loops of k couplings contribute 2 k (k-1)^2 x^k/n^2 to the variance of x, and d ln chi_SG = dx/(1 - x)."""
    n, r = 10**9, 0.7
    for x in (1e-3, 0.5):
        loops = sum(2 * k * (k - 1) ** 2 * x**k for k in range(2, 200)) / n**2 / (1 - x) ** 2
        assert collective_variance(n, 10**30, x / r, r) == pytest.approx(loops, rel=1e-6, abs=0)
    # The first is the floor: n times the sample variance of n^2/2 couplings varies by 4 gamma^2/n^2.
    assert collective_variance(n, 10**30, 1e-3, 1.0) == pytest.approx(4e-6 / n**2, rel=0.02, abs=0)


def test_variance_by_single_samples_is_that_of_a_quadratic_form():
    """4 Var(x^T C x)/(N (tr C^2)^2), with x Gaussian of covariance C = (1 + g - J)^-1 but for its fixed diagonal."""
    n, g = 1500, 0.3
    rng = np.random.default_rng(0)
    J = np.triu(rng.normal(0, np.sqrt(g / n), (n, n)), 1)
    C = np.linalg.inv((1 + g) * np.eye(n) - J - J.T)
    off = C - np.eye(n)
    variance = 2 * np.trace(off @ C @ off @ C)
    expected = 4 * variance / np.trace(C @ C) ** 2
    cutoff = (1 + 12 / (n * (1 - g) ** 3)) ** -2
    loops = 4 * g**2 * (1 + 2 * g) / (1 - g) ** 6 / n**2 * cutoff
    assert collective_variance(n, 1, g, 1.0) - loops == pytest.approx(expected * cutoff, rel=0.03, abs=0)


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


def test_site_fields_have_the_spread_of_the_fields():
    """Uniform fields are found uniform, though magnetisations differ; others are found where they are."""
    uniform = bs.simulate(300, 400, J=0.8, H=0.3, seed=1, sweeps=4).spins
    found, differ = site_fields(bs.SpinMoments.of(uniform), 0.64)
    assert not differ and found.std() < 0.12 and found.mean() == pytest.approx(0.3, abs=0.06)
    fields = np.random.default_rng(0).normal(-0.4, 0.6, 300)
    spins = bs.simulate(300, 400, J=0.8, H=fields, seed=2, sweeps=4).spins
    found, differ = site_fields(bs.SpinMoments.of(spins), 0.64)
    assert differ and found.std() == pytest.approx(fields.std(), rel=0.15)
    assert np.corrcoef(found, fields)[0, 1] > 0.7
    # A mean coupling acts as a field J0 M.
    moments = bs.SpinMoments.of(spins)
    shifted, _ = site_fields(moments, 0.64, J0=0.5)
    assert_allclose(shifted, found - 0.5 * moments.M)


def test_site_fields_are_shrunk_by_what_couplings_and_few_samples_explain():
    m, gamma = unequal(25), 0.2
    spread = FIELDS - FIELDS.mean()
    explained = gamma * m.q + np.mean(1 / (1 - np.tanh(FIELDS) ** 2)) / 25
    left = np.var(FIELDS, ddof=1) - explained
    found, differ = site_fields(m, gamma)
    assert differ and explained > 0.15 * left
    assert found - found.mean() == pytest.approx(np.sqrt(left / np.var(FIELDS, ddof=1)) * spread)
    assert found.mean() == pytest.approx(FIELDS.mean())


FIELDS = np.random.default_rng(0).normal(0.4, 0.9, 200)


def unequal(N=500):
    """Moments of free spins in these fields, such that estimates of atanh m_i are the fields."""
    t = np.tanh(FIELDS)
    found = t * (N + 1) / N
    return moments(
        n=len(t), N=N, M=t.mean(), q=np.mean(t**2), r=np.mean((1 - t**2) ** 2), magnetisations=found
    )


def test_the_mean_field_of_independent_spins():
    """Each has atanh m_i with the error 1/sqrt(N (1 - m_i^2))."""
    m = unequal()
    H, error = mean_field(m, 0.0, 0.0)
    assert H == pytest.approx(FIELDS.mean(), abs=1e-9)
    assert error == pytest.approx(np.sqrt(np.mean(np.cosh(FIELDS) ** 2) / (m.n * m.N)))
    assert mean_field(moments(M=0.3, q=0.1), 0.1, 0.2) == (
        field(moments(M=0.3, q=0.1), 0.1),
        field_error(moments(M=0.3, q=0.1), 0.1, 0.2),
    )


def test_weak_couplings_make_the_mean_field_vary_by_pairs():
    """To first order local fields have the mean sum_{i<j} J_ij (m_i + m_j)/n, and couplings the variance gamma/n."""
    gamma, t = 1e-4, np.tanh(FIELDS)
    by_pairs = sum((t[i] + t[j]) ** 2 for i in range(len(t)) for j in range(i)) * gamma / len(t) ** 3
    free, found = (mean_field(unequal(), g, 0.0)[1] for g in (0.0, gamma))
    assert found**2 - free**2 == pytest.approx(by_pairs, rel=0.02)


def test_a_mean_coupling_takes_its_part_of_the_mean_field():
    """Against the covariance (1/v - J0/n)^-1 of the spins: H is the mean of atanh m_i less J0 times that of m_i."""
    J0, m, t = 0.7, unequal(), np.tanh(FIELDS)
    v, n = 1 - t**2, len(t)
    C = np.linalg.inv(np.diag(1 / v) - J0 / n)
    slope = (1 / v - J0) / n  # of H along the means
    H, error = mean_field(m, 0.0, 0.0, J0)
    assert H == pytest.approx(FIELDS.mean() - J0 * m.M)
    assert error == pytest.approx(np.sqrt(slope @ C @ slope / m.N), rel=1e-6)
    assert mean_field(m, 0.0, 0.0, J0, 0.1)[1] ** 2 - error**2 == pytest.approx((0.1 * m.M) ** 2)


@pytest.mark.parametrize(("J0", "mean"), [(0.0, -0.8), (0.4, 0.3)])
def test_the_mean_of_unequal_fields(J0, mean):
    """40 data sets with other couplings each: no bias, and errors as they vary, known to 11%."""
    h = np.random.default_rng(1).normal(mean, 0.7, 80)
    options = Options(mean_coupling=J0 > 0)
    sets = [bs.simulate(80, 400, J=0.5, J0=J0, H=h, seed=seed, sweeps=3).spins for seed in range(40)]
    found = [with_field(bs.SpinStatistics.of(X), 0.25, 0.0, options) for X in sets]
    H, error = np.array([(estimate.H, estimate.H_error) for estimate in found]).T
    assert abs(H.mean() - h.mean()) < 3 * H.std(ddof=1) / np.sqrt(40)
    assert np.sqrt(np.mean(error**2)) / H.std(ddof=1) == pytest.approx(1, abs=3 * 0.11)


def test_the_error_of_the_mean_coupling_is_honest():
    """60 data sets with other couplings each: (J0_hat - mean)/error has the standard deviation 1, known to 9%."""
    sets = [bs.simulate(60, 50, J=0.4, J0=0.4, H=0.1, seed=seed, sweeps=3).spins for seed in range(60)]
    J0, error = np.array([mean_coupling(bs.SpinMoments.of(X), 0.16) for X in sets]).T
    assert 1 - 3 * 0.09 < np.std((J0 - J0.mean()) / error, ddof=1) < 1 + 3 * 0.09


def test_missing_cells_in_fields_and_their_errors():
    """Of independent spins: fields from the cells of each, and an error as of so many cells."""
    X = with_gaps(random_spins(90, 7), 0.4)
    X[20:, 3] = np.nan  # one spin with far fewer cells than the others
    data = stats(X)
    m = data.moments
    sites, _ = site_fields(m, 0.0)
    assert sites.mean() == pytest.approx(independent_fields(data.sums, data.counts).mean(), rel=1e-12)
    independent = replace(m, chi_lin=1 - overlap(m))
    cells = data.counts.mean()
    v = 1 - m.M**2  # dM/dH, all fields being the same
    expected = np.sqrt((1 - overlap(m)) / (7 * cells)) / v
    assert field_error(independent, 0.0, 0.0) == pytest.approx(expected, rel=1e-9)
    assert field_error(independent, 0.0, 0.0) > 1.2 * field_error(replace(independent, counts=None), 0.0, 0.0)
