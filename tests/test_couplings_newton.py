import numpy as np
import pytest
from scipy.optimize import minimize

import bayesing as bs
from bayesing.conditionals import middle_of_fields
from bayesing.couplings._newton import Point, bend_of_means, independent, newton, preconditioner
from bayesing.weighted import WeightedRows

from samples import anywhere, random_spins, repeated, slow_sums, stats

PRECISE = 1e-8


def prior(n, seed=5):
    """Precisions and pulls that differ from pair to pair."""
    rng = np.random.default_rng(seed)
    q, pull = np.triu(rng.uniform(0.5, 20, (n, n)), 1), np.triu(rng.normal(0, 3, (n, n)), 1)
    return q + q.T, pull + pull.T


def slow_minimum(X, q, pull):
    """By another method, from sums over every spin of every sample."""
    N, n = X.shape
    upper, middle = np.triu_indices(n, 1), middle_of_fields(X.sum(axis=0), N)

    def function(theta):
        J = np.zeros((n, n))
        J[upper] = theta[:-n]
        J, b = J + J.T, theta[-n:]
        total = slow_sums(X.astype(float), J, b, J, b)[0]
        return -total + np.sum((q * J**2 / 2 - pull * J)[upper]) + np.sum((b - middle) ** 2) / 2

    found = minimize(function, np.zeros(len(upper[0]) + n), method="BFGS", options={"gtol": 1e-4})
    J = np.zeros((n, n))
    J[upper] = found.x[:-n]
    return J + J.T, found.x[-n:]


@pytest.mark.parametrize("seed", [3, 4])
def test_minimum_with_a_precision_and_a_pull_of_every_pair(seed):
    X = repeated(R=7, n=4, seed=seed)
    q, pull = prior(4)
    J, b = slow_minimum(X, q, pull)
    for rows in (WeightedRows.distinct(stats(X)), WeightedRows.of(X)):
        for start in (None, Point(*anywhere(4))):
            found, slope = newton(rows, q, pull, start, PRECISE)
            assert slope <= PRECISE
            assert found.J == pytest.approx(J, abs=1e-5) and found.b == pytest.approx(b, abs=1e-5)
            assert (found.J == found.J.T).all() and (np.diag(found.J) == 0).all()


def test_independent_spins_need_no_look_at_samples():
    """Value, slope and curvature without couplings are those of the sums over samples."""
    X = random_spins(57, 6)
    rows, (q, pull), (P, p) = WeightedRows.of(X), prior(6), anywhere(6)
    C = rows.covariance()
    x, value, slope, w = independent(rows, C, pull)
    curvatures = np.empty(X.shape, np.float32)
    total, products, sums = rows.slope(x.J, x.b, curvatures)
    away = x.b - middle_of_fields(rows.sums, 57)
    assert value == pytest.approx((away @ away / 2 - total) / 57)
    assert np.abs(sums - away).max() < 1e-10 and (slope.b == 0).all()
    others = ~np.eye(6, dtype=bool)
    assert slope.J[others] == pytest.approx(((-products - products.T - pull) / 57)[others])
    products, sums = rows.bend(curvatures, P, p)
    bent = bend_of_means(C, w, q, 57, Point(P, p))
    assert bent.J[others] == pytest.approx(((q * P + products + products.T) / 57)[others], rel=1e-5)
    assert bent.b == pytest.approx((p + sums) / 57, rel=1e-5)


@pytest.mark.parametrize("N", [20, 300])
def test_preconditioner_is_exact_for_the_couplings_of_independent_spins(N):
    """Where C is diagonal, so is the curvature: by its diagonal, or in eigenvectors."""
    c, w = np.linspace(0.1, 1, 12), np.linspace(1, 0.3, 12)
    q, (P, p) = prior(12)[0], anywhere(12)
    bent = bend_of_means(np.diag(c), w, q, N, Point(P, p))
    back = preconditioner(np.diag(c), q, N)(w)(bent)
    assert back.J == pytest.approx(P, rel=1e-5) and back.b == pytest.approx(p)


@pytest.mark.parametrize(("rate", "most"), [(0.5, 12), (0.03, 25)])
def test_few_looks_at_the_samples(monkeypatch, rate, most):
    """A wrong curvature or preconditioner finds the same, slowly; rare spins are no harder than others."""
    rng = np.random.default_rng(2)
    h = np.full(30, -0.5 * np.log(1 / rate - 1))
    J = np.triu(rng.normal(0, 0.7 / np.sqrt(30), (30, 30)), 1)
    X = bs.sample(bs.IsingModel(J + J.T, h), 3000, sampler="anneal", seed=1)
    looks = []
    for name in ("slope", "bend"):
        looked = getattr(WeightedRows, name)
        monkeypatch.setattr(WeightedRows, name, lambda *a, looked=looked: looks.append(1) or looked(*a))
    newton(WeightedRows.distinct(stats(X)), 2 * 30 / 0.49, 0.0, None, 1e-2 / np.sqrt(3000))
    assert len(looks) <= most
