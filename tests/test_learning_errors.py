"""Standard errors, against the enumerated curvature of the log posterior."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy

from bayesing.learning import errors
from bayesing.learning.errors import posterior_errors
from bayesing.learning.newton import Metric
from bayesing.learning.phases import Data, Free

from samples import draw_exactly, in_turn, random_model, stats, without_noise
from slow import Posterior, pack, unpack

GAMMA = 0.5


def prepared(n, N, J):
    model = random_model(n, J, seed=3, field=0.6)
    X = draw_exactly(model, N, np.random.default_rng(0)).astype(np.int8)
    data = Data.of(stats(X))
    parts = np.array_split(without_noise(model, 39_000), 3)
    free = Free([np.ascontiguousarray(part.T, np.float32) for part in parts], data.d, in_turn)
    exact = Posterior.of(X, GAMMA).deviations(pack(model.couplings, model.fields))
    return data, free, Metric(free, N, n / GAMMA), unpack(exact, n)


@pytest.mark.parametrize(("n", "N", "J"), [(6, 40, 1.0), (6, 3000, 1.0), (2, 50, 1.0)])
def test_few_spins(n, N, J):
    data, free, metric, (couplings, fields) = prepared(n, N, J)
    found, of_fields = posterior_errors(data, free, metric, in_turn)
    assert found == pytest.approx(couplings, rel=0.03) and of_fields == pytest.approx(fields, rel=0.03)
    assert (found == found.T).all() and not np.diagonal(found).any()


def test_some_of_many_samples(monkeypatch):
    """Enough are taken for the matrix, spread over all of them."""
    monkeypatch.setattr(errors, "_LEAST", 12_000)
    data, free, metric, (couplings, fields) = prepared(6, 3000, 1.0)
    found, of_fields = posterior_errors(data, free, metric, in_turn)
    off = ~np.eye(6, dtype=bool)
    assert np.median(found[off] / couplings[off]) == pytest.approx(1, abs=0.1)
    assert np.median(of_fields / fields) == pytest.approx(1, abs=0.1)


def test_samples_that_are_taken(monkeypatch):
    """At least 20 for each parameter, and not many more."""
    monkeypatch.setattr(errors, "_LEAST", 1)
    data, free, metric, _ = prepared(6, 40, 1.0)
    taken = []

    def run(tasks):
        taken.extend(task.args[0].shape[1] for task in tasks)
        return in_turn(tasks)

    posterior_errors(data, free, metric, run)
    assert 20 * 21 <= sum(taken) < 21 * 21


def test_less_is_lost_than_there_is():
    """The first of 1, 0.8, 0.64, ... of it that leaves a curvature; nothing where a tenth is too much."""
    curvature, eye = np.diag([3.0, 2.0]), np.eye(2)
    for lost, share in ((1.0, 1), (2.4, 0.8), (15.0, 0.8**10), (40.0, 0)):
        factor = errors.factor_of_left(curvature, lost * eye)
        assert scipy.linalg.cho_solve(factor, eye) == pytest.approx(
            np.linalg.inv(curvature - share * lost * eye)
        )


def test_what_is_lost_is_half_the_square_of_differences():
    """Of products of pairs and of spins, over 2500 rows of two chains, in blocks that do not divide them."""
    rng = np.random.default_rng(1)
    first, second = rng.choice([-1, 1], (2, 4, 2500)).astype(np.float32)
    lost = SimpleNamespace(first=first, second=second, share=0.3)
    i, j = pairs = np.triu_indices(4, 1)
    for centre in (0.0, np.array([0.1, -0.2, 0.3, 0.4])):
        a, b = (np.array(s, float) - np.broadcast_to(centre, 4)[:, None] for s in (first, second))
        apart = np.vstack([a[i] * a[j] - b[i] * b[j], a - b])
        expected = 0.3 * (apart @ apart.T) / (2 * 2500)
        assert errors.lost_curvature(lost, pairs, centre) == pytest.approx(expected, abs=1e-5)


def test_many_weak_couplings():
    """The metric, which has them for many spins."""
    data, free, metric, (couplings, fields) = prepared(8, 200, 0.3)
    found, of_fields = posterior_errors(data, free, metric, in_turn, most_spins=7)
    by_metric = metric.variances(data.d)
    assert (found == np.sqrt(by_metric[0])).all() and (of_fields == np.sqrt(by_metric[1])).all()
    dense = posterior_errors(data, free, metric, in_turn, most_spins=8)
    assert (dense[1] != of_fields).all()
    off = ~np.eye(8, dtype=bool)
    assert found[off] == pytest.approx(couplings[off], rel=0.2)
    assert of_fields == pytest.approx(fields, rel=0.2)
