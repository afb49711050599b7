import numpy as np
import pytest
from scipy.optimize import brentq

from bayesing.conditionals import curvature, fit_fields, log_conditional, slope, total_and_slope


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


@pytest.mark.parametrize("scale", [0.0, 0.5, 5.0, 60.0])
def test_fields_are_where_the_slope_vanishes(scale):
    """Spin by spin with a bisection; one spin is constant, and one goes against its couplings."""
    local = local_fields(scale)
    spins = np.where(np.random.default_rng(2).random(local.shape) < 0.6, 1, -1).astype(np.int8)
    spins[:, 0] = 1
    spins[:, 1] = -np.sign(local[:, 1] + 1e-9)
    fields = fit_fields(spins, local)
    for i in range(spins.shape[1]):
        root = brentq(lambda h, i=i: (spins[:, i] - np.tanh(local[:, i] + h)).sum() - h, -200, 200)
        assert fields[i] == pytest.approx(root, abs=1e-4)


def test_fields_without_couplings():
    spins = np.array([[1, 1], [1, -1], [1, 1], [-1, 1]], np.int8).repeat(1000, axis=0)
    assert fit_fields(spins) == pytest.approx(np.arctanh([0.5, 0.5]), abs=1e-3)


def test_fields_against_absurd_couplings_are_finite():
    spins = np.array([[1, -1], [1, 1], [-1, 1]], np.int8)
    assert np.isfinite(fit_fields(spins, np.array([[1e6, -1e6], [-1e5, 1e300], [3.0, -1e9]]))).all()


def test_newton_needs_a_few_steps(monkeypatch):
    """A wrong curvature would find the same fields, slowly."""
    steps = []
    einsum = np.einsum
    monkeypatch.setattr(np, "einsum", lambda *args: steps.append(1) or einsum(*args))
    fit_fields(np.where(local_fields(1.0, 500) > 0, 1, -1).astype(np.int8), local_fields(0.5, 500)[::-1])
    assert 2 <= len(steps) <= 5
