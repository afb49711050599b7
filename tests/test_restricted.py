import pickle

import numpy as np
import pytest
from scipy.stats import chi2

import bayesing as bs
from bayesing import restricted
from bayesing.restricted import RestrictedModel, log_2cosh

from samples import random_restricted, states


def weights_of_all(model):
    """exp(h v + c t + v W t) from the definition, visible states in rows and hidden ones in columns."""
    table = np.empty((2**model.n_spins, 2**model.n_hidden))
    for a, v in enumerate(states(model.n_spins)):
        for b, t in enumerate(states(model.n_hidden)):
            exponent = model.fields @ v + model.hidden_fields @ t
            exponent += sum(
                v[i] * model.weights[i, j] * t[j] for i in range(model.n_spins) for j in range(model.n_hidden)
            )
            table[a, b] = np.exp(exponent)
    return table


@pytest.mark.parametrize("size", [(4, 2), (2, 4), (5, 0)])
def test_everything_is_the_sum_over_all_states(size):
    model = random_restricted(*size)
    table, v, t = weights_of_all(model), states(size[0]), states(size[1])
    p = table / table.sum()
    assert model.log_partition() == pytest.approx(np.log(table.sum()))
    assert np.exp(model.log_weights(v)) == pytest.approx(table.sum(axis=1))
    assert np.exp(model.log_likelihood(v)) == pytest.approx(p.sum(axis=1))
    assert model.hidden_means(v) == pytest.approx(table @ t / table.sum(axis=1)[:, None])
    found = model.moments()
    assert found.log_partition == pytest.approx(np.log(table.sum()))
    assert found.visible == pytest.approx(p.sum(axis=1) @ v) and (model.means() == found.visible).all()
    assert found.hidden == pytest.approx(p.sum(axis=0) @ t)
    assert found.products == pytest.approx(v.T @ p @ t)
    joint = model.joint()
    assert joint.log_partition() == pytest.approx(np.log(table.sum()))
    assert joint.correlations()[: size[0], size[0] :] == pytest.approx(v.T @ p @ t)


def test_blocks_of_states_and_of_rows_change_nothing(monkeypatch):
    model = random_restricted(7, 5, seed=3)
    X = model.sample(50, seed=1)
    whole = [model.moments(), model.log_weights(X), model.hidden_means(X), model.log_partition()]
    monkeypatch.setattr(restricted, "_AT_A_TIME", 40)
    parts = [model.moments(), model.log_weights(X), model.hidden_means(X), model.log_partition()]
    for one, other in zip(whole[0], parts[0], strict=True):
        assert one == pytest.approx(other, rel=1e-12)
    for one, other in zip(whole[1:], parts[1:], strict=True):
        assert one == pytest.approx(other, rel=1e-12)
    assert model.sample(50, seed=1).shape == X.shape


@pytest.mark.parametrize("size", [(4, 2), (3, 5), (4, 0)])
def test_samples_have_the_probabilities_of_the_model(size, monkeypatch):
    monkeypatch.setattr(restricted, "_AT_A_TIME", 10_000)
    model, N = random_restricted(*size, seed=5), 40_000
    X = model.sample(N, seed=2)
    assert X.dtype == np.int8 and set(np.unique(X)) == {-1, 1}
    place = (X > 0) @ 2 ** np.arange(size[0])
    expected = N * np.exp(model.log_likelihood(restricted.all_states(size[0])))
    observed = np.bincount(place, minlength=2 ** size[0])
    statistic = ((observed - expected) ** 2 / expected).sum()
    assert 0.001 < chi2.sf(statistic, 2 ** size[0] - 1) < 0.999
    assert (model.sample(9, seed=4) == model.sample(9, seed=4)).all()


def test_order_and_signs_of_units_do_not_matter():
    model = random_restricted(6, 3, seed=2)
    sign = np.array([-1, 1, -1])
    other = RestrictedModel(
        (model.weights * sign)[:, [2, 0, 1]], model.fields, (model.hidden_fields * sign)[[2, 0, 1]]
    )
    X = model.sample(20, seed=0)
    assert other.log_likelihood(X) == pytest.approx(model.log_likelihood(X))
    assert other.hidden_means(X) == pytest.approx((model.hidden_means(X) * sign)[:, [2, 0, 1]])


def test_without_hidden_units_spins_are_independent():
    model = RestrictedModel(np.zeros((3, 0)), [0.3, -1.0, 2.0], [])
    assert model.means() == pytest.approx(np.tanh(model.fields))
    assert model.hidden_means([[1, 1, -1]]).shape == (1, 0) and model.joint().n_spins == 3


def test_at_another_temperature():
    model = random_restricted(4, 2, seed=6)
    for beta in (0.0, 0.4, 2.5):
        for name in ("weights", "fields", "hidden_fields"):
            assert (getattr(model.at(beta), name) == beta * getattr(model, name)).all()
    assert model.at(1) is model


def test_large_fields_do_not_overflow():
    x = np.linspace(-800, 800, 2500)[:, None] * np.array([1.0, 1e-6])
    expected = np.logaddexp(x, -x).sum(axis=0), np.tanh(x)
    total, tanh = log_2cosh(x)
    assert total == pytest.approx(expected[0], rel=1e-13) and tanh == pytest.approx(expected[1], abs=1e-15)


def test_a_model_cannot_be_changed_and_survives_a_pickle():
    W = np.ones((3, 2))
    model = RestrictedModel(W, np.zeros(3), np.zeros(2))
    W[0, 0] = 5
    assert model.weights[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        model.fields[0] = 1
    again = pickle.loads(pickle.dumps(model))
    assert (again.weights == model.weights).all() and not again.weights.flags.writeable


def test_wrong_input():
    with pytest.raises(ValueError, match=r"a row for each spin: found shape \(3,\)"):
        RestrictedModel(np.zeros(3), np.zeros(3), [])
    with pytest.raises(ValueError, match=r"shapes \(3,\) and \(2,\).*found \(2,\) and \(2,\)"):
        RestrictedModel(np.zeros((3, 2)), np.zeros(2), np.zeros(2))
    with pytest.raises(ValueError, match="weights must be finite"):
        RestrictedModel([[np.nan]], [0], [0])
    with pytest.raises(ValueError, match="Expected samples of 4 spins"):
        random_restricted(4, 2).log_weights([[1, -1]])
    with pytest.raises(ValueError, match="at least 1 sample"):
        random_restricted(4, 2).log_weights(np.empty((0, 4)))
    large = RestrictedModel(np.zeros((21, 22)), np.zeros(21), np.zeros(22))
    with pytest.raises(ValueError, match="up to 20 of them: found 22 hidden and 21 visible"):
        large.log_partition()
    assert not large.is_exact and large.log_weights(np.ones((2, 21))).shape == (2,)
    assert bs.RestrictedModel is RestrictedModel
