"""Restricted Boltzmann machines with many hidden units: chains, ln Z by annealing, and learning."""

import numpy as np
import pytest

import bayesing as bs
from bayesing.learning import restricted_chains, restricted_size
from bayesing.learning.restricted import Rows, log_likelihood
from bayesing.learning.restricted_chains import _Learner, fit_chains
from bayesing.learning.restricted_size import fit_size
from bayesing.sampling.restricted import SingleModel, anneal_restricted, draw_restricted, signs

from samples import random_restricted, stats


def test_signs_have_their_means():
    means = np.array([-1.0, -0.4, 0.0, 0.7, 1.0], dtype=np.float32)
    drawn = signs(np.tile(means, (40_000, 1)), np.random.default_rng(0))
    assert set(np.unique(drawn)) == {-1, 1} and drawn.dtype == np.float32
    assert np.abs(drawn.mean(axis=0) - means).max() < 4 / np.sqrt(40_000)


def test_sweeps_keep_the_distribution_of_the_model():
    """Exact samples stay exact: means and products of spins, and of spins and hidden means."""
    model = random_restricted(5, 3, seed=2)
    v, rng = model.sample(40_000, seed=0).astype(np.float32), np.random.default_rng(1)
    single = SingleModel(model.weights, model.fields, model.hidden_fields)
    for _ in range(3):
        v = single.sweep(v, rng)
    exact = model.moments()
    assert np.abs(v.mean(axis=0) - exact.visible).max() < 4.5 / 200
    products = v.T @ single.hidden_means(v) / len(v)
    assert np.abs(products - exact.products).max() < 4.5 / 200


@pytest.mark.parametrize("size", [(8, 5), (6, 25)])
def test_annealing_finds_the_partition_function(size):
    model = random_restricted(*size, seed=4, scale=0.4)
    base = np.arctanh(0.9 * model.means())
    found = anneal_restricted(model, base, n_chains=2000, temperatures=60, seed=1)
    assert 0.001 < found.log_partition_error < 0.05
    assert abs(found.log_partition - model.log_partition()) < 4 * found.log_partition_error
    drawn = draw_restricted(model, base, 3000, seed=2)
    assert drawn.shape == (3000, size[0]) and drawn.dtype == np.int8
    assert np.abs(drawn.mean(axis=0) - model.means()).max() < 4 / np.sqrt(3000)


def test_a_step_follows_the_slope_of_the_log_posterior(monkeypatch):
    """The mean of many steps from one point, against the exact slope; of few samples, so that the prior matters."""
    monkeypatch.setattr(restricted_chains, "CHAINS", 4096)
    monkeypatch.setattr(restricted_chains, "_MOST_RATE", 1e-9)  # nothing moves
    truth, at = random_restricted(5, 3, seed=1), random_restricted(5, 3, seed=6, scale=0.3)
    rows = Rows.of(stats(truth.sample(8, seed=0)))
    point = restricted_chains.Point(at.weights, at.fields, at.hidden_fields)
    total = 0.0
    for seed in range(8):
        learner = _Learner(rows, point, np.random.default_rng(seed))
        learner.v = at.sample(4096, seed=seed).astype(np.float32)  # at equilibrium
        learner.step(1.0)
        total = total + np.concatenate([part.ravel() for part in learner.velocity]) / 8
    value = log_likelihood(rows, point)
    frame = learner.frame
    b, e = frame.centred(point)
    W = value.weights - np.outer(value.fields, frame.mu) - np.outer(frame.d, value.hidden_fields)
    slope = [W - 5 / 5.0 * at.weights, value.fields - (b - frame.middle), value.hidden_fields - 0.1 * e]
    exact = np.concatenate([part.ravel() for part in slope]) / rows.N
    assert np.abs(exact).max() > 0.1
    assert np.abs(total - exact).max() < 5 / np.sqrt(8 * 4096)


def test_the_largest_eigenvalue_is_that_of_the_fisher_matrix():
    model = random_restricted(6, 4, seed=3)
    rows = Rows.of(stats(model.sample(300, seed=0)))
    learner = _Learner(
        rows, restricted_chains.first_point(rows, 4, np.random.default_rng(0)), np.random.default_rng(1)
    )
    v = model.sample(500, seed=5).astype(np.float32)
    z, zeta = v - learner.frame.d.astype(np.float32), SingleModel(*learner.at).hidden_means(v)
    learner.looks = 100
    learner._look(z, zeta)
    slopes = np.hstack([(z[:, :, None] * zeta[:, None, :]).reshape(500, -1), z, zeta])
    assert learner.largest == pytest.approx(np.linalg.eigvalsh(np.cov(slopes.T, ddof=0))[-1], rel=1e-3)


@pytest.fixture(scope="module")
def few():
    rng = np.random.default_rng(3)
    truth = bs.RestrictedModel(rng.normal(0, 0.5, (13, 2)), rng.normal(0.1, 0.2, 13), [0.1, -0.2])
    return truth, truth.sample(1000, seed=4)


@pytest.mark.parametrize("rows_of_a_step", [4096, 500])
def test_chains_find_what_enumeration_finds(few, monkeypatch, rows_of_a_step):
    truth, X = few
    monkeypatch.setattr(restricted_chains, "_ROWS", rows_of_a_step)
    fit, spins = fit_chains(Rows.of(stats(X)), 2, seed=0, steps=1200, averaged=600)
    exact = fit_size(stats(X), 2, seed=0)
    test = truth.sample(5000, seed=5)
    loss = exact.model.log_likelihood(test).mean() - fit.point.model.log_likelihood(test).mean()
    assert abs(loss) < 0.01  # half a standard error in each of 41 parameters costs 0.005
    assert spins.shape[1] == 13 and np.abs(spins.mean(axis=0) - fit.point.model.means()).max() < 0.05


def test_the_estimator_takes_chains_where_states_are_many(few, monkeypatch):
    monkeypatch.setattr(restricted_size, "few_states", lambda n, k: False)
    X, heard = few[1], []
    monkeypatch.setattr(restricted_size, "fit_chains", lambda *a: fit_chains(*a, steps=300, averaged=100))
    rbm = bs.RestrictedBoltzmannMachine(2, random_state=1).fit(X, progress=lambda *of: heard.append(of))
    assert rbm.method_ == "chains" and rbm.log_evidence_ is None and rbm.evidence_by_n_hidden_ == {}
    assert rbm.log_partition_error_ == 0 and rbm.log_partition_ == pytest.approx(rbm.model_.log_partition())
    assert rbm.hidden_coupling_errors_.shape == (13, 2) and (rbm.hidden_coupling_errors_ > 0).all()
    assert heard[0] == (0, 400) and len(heard) == 8
    monkeypatch.setattr(bs.RestrictedModel, "is_exact", property(lambda model: False))
    again = bs.RestrictedBoltzmannMachine(2, random_state=1).fit(X)
    assert (again.hidden_couplings_ == rbm.hidden_couplings_).all()
    assert 0 < again.log_partition_error_ < 0.02
    drawn = again.sample(1500, seed=0)
    assert drawn.shape == (1500, 13) and np.abs(drawn.mean(axis=0) - X.mean(axis=0)).max() < 0.2
    monkeypatch.undo()
    assert again.log_partition_ == pytest.approx(
        rbm.model_.log_partition(), abs=4 * again.log_partition_error_
    )


def test_chains_that_have_lost_the_data_are_said(few, monkeypatch):
    monkeypatch.setattr(restricted_size, "few_states", lambda n, k: False)

    def lost(rows, k, seed, heard):
        fit, spins = fit_chains(rows, k, seed, steps=3, averaged=2)
        away = fit.point._replace(fields=fit.point.fields + 3)
        return restricted_size.replace(fit, point=away), spins

    monkeypatch.setattr(restricted_size, "fit_chains", lost)
    with pytest.warns(bs.NotConvergedWarning, match="independent spins describe them better"):
        bs.RestrictedBoltzmannMachine(2).fit(few[1])
