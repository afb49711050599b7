"""Standard errors, against the enumerated curvature of the log posterior."""

import numpy as np
import pytest

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


def test_many_weak_couplings(monkeypatch):
    """The metric, which has them for many spins."""
    monkeypatch.setattr(errors, "MOST_SPINS", 5)
    data, free, metric, (couplings, fields) = prepared(8, 200, 0.3)
    found, of_fields = posterior_errors(data, free, metric, in_turn)
    off = ~np.eye(8, dtype=bool)
    assert found[off] == pytest.approx(couplings[off], rel=0.2)
    assert of_fields == pytest.approx(fields, rel=0.2)
