import numpy as np
import pytest
from scipy.optimize import check_grad

from bayesing import weighted
from bayesing.couplings._search import objective
from bayesing.weighted import WeightedRows

from samples import anywhere, repeated, slow_sums, stats


@pytest.mark.parametrize("distinct", [True, False])
@pytest.mark.parametrize("at_a_time", [2**17, 20])
def test_sums_are_those_of_every_sample(monkeypatch, distinct, at_a_time):
    """Rows that occur several times count as often, whether all are looked at at once or four at a time."""
    monkeypatch.setattr(weighted, "_AT_A_TIME", at_a_time)
    monkeypatch.setattr(weighted, "_LEAST_ROWS", 4)
    X = repeated().astype(np.int8)
    J, b = anywhere(5)
    P, p = anywhere(5, seed=1)
    rows = WeightedRows.distinct(stats(X)) if distinct else WeightedRows.of(X)
    assert (rows.N, rows.n, len(rows.spins)) == (45, 5, len(np.unique(X, axis=0)) if distinct else 45)
    curvatures = np.empty(rows.spins.shape, np.float32)
    total, products, sums, bent, bent_sums, w = slow_sums(X.astype(float), J, b, P, p)
    found = rows.slope(J, b, curvatures)
    assert found.total == pytest.approx(total, rel=1e-12)
    assert found.products == pytest.approx(products, abs=1e-11) and found.sums == pytest.approx(
        sums, abs=1e-11
    )
    assert rows.bend(curvatures, P, p)[0] == pytest.approx(bent, abs=1e-4)  # single precision
    assert rows.bend(curvatures, P, p)[1] == pytest.approx(bent_sums, abs=1e-4)
    assert rows.mean_curvatures(J, b - J @ X.mean(axis=0)) == pytest.approx(w, rel=1e-6)
    assert rows.covariance() == pytest.approx(np.cov(X.T, bias=True), abs=1e-12)


def test_the_gradient_of_weighted_rows_is_the_slope_of_their_objective():
    function = objective(WeightedRows.distinct(stats(repeated())), 3.7)
    J, b = anywhere(5, seed=2)
    theta = np.concatenate([J[np.triu_indices(5, 1)], b])
    assert check_grad(lambda t: function(t)[0], lambda t: function(t)[1], theta, epsilon=1e-6) < 5e-6


def test_rows_that_hardly_repeat_are_left_as_they_are():
    X = np.random.default_rng(0).choice(np.array([-1, 1], np.int8), (40, 30))
    X[1] = X[0]
    rows = WeightedRows.distinct(stats(X))
    assert rows.counts is None and (rows.spins == X).all()
