import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import binom

from bayesing import conditionals
from bayesing.conditionals import (
    curvature,
    fields_of,
    independent_fields,
    log_conditional,
    middle_of_fields,
    slope,
    total_and_slope,
)


def local_fields(scale, N=37, n=6):
    return np.random.default_rng(1).normal(0.3, scale, (N, n))


def test_one_spin_given_the_others():
    s, f = np.array([1.0, -1.0, 1.0]), np.array([0.3, 0.7, -1.1])
    assert np.exp(log_conditional(s, f)) == pytest.approx(np.exp(s * f) / (2 * np.cosh(f)))
    h = 1e-5
    assert slope(s, f) == pytest.approx((log_conditional(s, f + h) - log_conditional(s, f - h)) / (2 * h))
    assert curvature(f) == pytest.approx((slope(s, f - h) - slope(s, f + h)) / (2 * h))


@pytest.mark.parametrize("N", [1, 999, 2300])
def test_the_sum_is_that_of_the_terms(N):
    f = local_fields(3.0, N)
    s = np.sign(local_fields(1.0, N)[::-1])
    out = np.empty_like(f)
    assert total_and_slope(s, f, out) == pytest.approx(log_conditional(s, f).sum())
    assert out == pytest.approx(slope(s, f), abs=1e-14)


@pytest.mark.parametrize("variance", [0.0, 0.01, 0.3, 9.0])
def test_fields_are_where_the_slope_vanishes(variance):
    """Spin by spin, by quadrature and bisection; one spin is constant, and one goes against its couplings."""
    N, sums, mean = 37, np.array([37, 11, -20, 5]), np.array([0.2, -3.0, 0.4, 0.0])
    fields = fields_of(sums, N, mean, variance)

    def slope_at(h, i):
        def weighted(z):
            return np.tanh(h + mean[i] + np.sqrt(variance) * z) * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)

        m = sums[i] / (N + 1)
        pull = h + mean[i] - np.arctanh(m) + m
        return sums[i] - N * quad(weighted, -9, 9, limit=200)[0] - pull

    for i in range(4):
        assert fields[i] == pytest.approx(brentq(slope_at, -30, 30, args=(i,)), abs=1e-6)


def test_gaussian_local_fields_stand_for_those_of_many_samples():
    """Against the same equation summed over samples: 100,000 of them differ from a Gaussian by 1/sqrt(N)."""
    local = np.random.default_rng(0).normal(0.3, 0.8, 100_000)
    total = 20_000
    middle = np.arctanh(total / 100_001) - total / 100_001
    exact = brentq(lambda h: total - np.tanh(h + local).sum() - (h + local.mean() - middle), -9, 9)
    found = fields_of(np.array([total]), len(local), local.mean(), local.var())
    assert found[0] == pytest.approx(exact, abs=5 / np.sqrt(len(local)))


def test_fields_of_independent_spins_have_next_to_no_bias():
    """Over all numbers of active samples, for spins from rare to frequent; atanh of the mean is infinite for some."""
    N, p = 200, np.array([0.05, 0.1, 0.5, 0.8])
    k = np.arange(N + 1)
    expected = independent_fields(2 * k - N, N) @ binom.pmf(k[:, None], N, p)
    h = np.log(p / (1 - p)) / 2
    assert np.abs(expected - h).max() < 2e-3 and (np.abs(expected - h) < 0.2 / (N * p) ** 2 + 1e-4).all()


def test_fields_without_couplings():
    sums = np.array([2000, -31, 4000])
    assert fields_of(sums, 4000) == pytest.approx(independent_fields(sums, 4000), abs=1e-9)


def test_each_spin_may_have_its_own_number_of_samples():
    """None, where it was never observed: its field is 0, the middle of the prior."""
    sums, N = np.array([3, -40, 0]), np.array([7, 90, 0])
    found = fields_of(sums, N, np.array([0.1, -0.2, 0.0]), 0.25)
    for i in range(3):
        alone = fields_of(sums[i : i + 1], int(N[i]), np.array([0.1, -0.2, 0.0])[i : i + 1], 0.25)
        assert found[i] == pytest.approx(alone[0], abs=1e-8)
    assert found[2] == pytest.approx(0, abs=1e-12)


def test_fields_against_absurd_couplings_are_finite():
    assert np.isfinite(fields_of(np.array([1, 1]), 3, np.array([1e6, -1e300]), np.array([1e9, 0.0]))).all()


@pytest.mark.parametrize("variance", [1.0, 30.0, 1e3])
def test_fields_are_found_where_newtons_steps_lead_astray(variance):
    """Wide local fields make tanh a step, at N = 4000: by the same sums over points, the slope is 0 in the end."""
    N, sums = 4000, np.array([4000, 3998, 3000, 100, -2500, -3999])
    b = fields_of(sums, N, 0.0, variance)
    x = np.sqrt(variance) * conditionals._Z
    slopes = sums - N * np.tanh(b[:, None] + x) @ conditionals._DZ - (b - middle_of_fields(sums, N))
    assert np.abs(slopes).max() <= 1e-6 * N


def test_newton_needs_a_few_steps(monkeypatch):
    """A wrong curvature would find the same fields, slowly."""
    steps = []
    tanh = np.tanh
    monkeypatch.setattr(np, "tanh", lambda x: steps.append(1) or tanh(x))
    fields_of(np.array([100, -350, 20]), 500, np.array([0.3, -0.2, 0.1]), 0.25)
    assert 2 <= len(steps) <= 7
