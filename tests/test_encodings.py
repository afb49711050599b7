"""Spins and variables that are 0 and 1: the same model."""

import numpy as np
import pytest

import bayesing as bs
from bayesing.encodings import check_encoding, from_zero_one, threshold_errors, to_zero_one
from bayesing.fields import Field

from samples import random_model, states

N_SPINS = 10


def weights_of_zero_one(omega, tau):
    """exp of sum tau x + sum_{i<j} omega x x of all states, from the definition."""
    x = (states(len(tau)) + 1) / 2
    i, j = np.triu_indices(len(tau), 1)
    return np.exp(x @ tau + (x[:, i] * x[:, j]) @ omega[i, j])


@pytest.mark.parametrize("seed", range(3))
def test_all_states_have_the_same_probabilities_both_ways(seed):
    model = random_model(N_SPINS, 0.8, seed)
    weights = weights_of_zero_one(*model.to_zero_one())
    exact = np.exp(-model.energy(states(N_SPINS)) - model.log_partition())
    assert weights / weights.sum() == pytest.approx(exact, rel=1e-10)
    back = bs.IsingModel.from_zero_one(*model.to_zero_one())
    assert back.couplings == pytest.approx(model.couplings, abs=1e-14)
    assert back.fields == pytest.approx(model.fields, abs=1e-14)
    rng = np.random.default_rng(seed)  # and from numbers that were 0/1 in the first place
    omega = np.triu(rng.normal(0, 1, (N_SPINS, N_SPINS)), 1)
    omega, tau = omega + omega.T, rng.normal(-1, 1, N_SPINS)
    other = bs.IsingModel.from_zero_one(omega, tau)
    weights = weights_of_zero_one(omega, tau)
    exact = np.exp(-other.energy(states(N_SPINS)) - other.log_partition())
    assert weights / weights.sum() == pytest.approx(exact, rel=1e-10)
    assert to_zero_one(*from_zero_one(omega, tau))[1] == pytest.approx(tau)


def exact_errors(model, N, gamma):
    """Of couplings and of thresholds, by the exact curvature of the log posterior, and the means of the spins."""
    n, S = model.n_spins, states(model.n_spins)
    p = np.exp(-model.energy(S) - model.log_partition())
    i, j = np.triu_indices(n, 1)
    features = np.hstack([S, S[:, i] * S[:, j]])
    means = p @ features
    d = means[:n]
    of_b, of_tau = np.zeros((2, n, features.shape[1]))
    of_b[:, :n], of_tau[:, :n] = np.eye(n), 2 * np.eye(n)
    for k, (a, b) in enumerate(zip(i, j, strict=True), n):
        of_b[a, k], of_b[b, k] = d[b], d[a]
        of_tau[a, k] = of_tau[b, k] = -2
    prior = of_b.T @ of_b
    prior[n:, n:] += n / gamma * np.eye(len(i))
    covariance = np.linalg.inv(N * ((features * p[:, None]).T @ features - np.outer(means, means)) + prior)
    errors = np.zeros((n, n))
    errors[i, j] = errors[j, i] = np.sqrt(np.diag(covariance)[n:])
    return errors, np.sqrt(np.diag(of_tau @ covariance @ of_tau.T)), d


@pytest.mark.parametrize(("field", "N"), [(0.3, 500), (-1.0, 700), (1.0, 500)])
def test_errors_of_thresholds_are_about_those_of_the_exact_curvature(field, N):
    model = random_model(9, 0.6, 1)
    model = bs.IsingModel(model.couplings, model.fields + field)
    errors, exact, d = exact_errors(model, N, 0.36)
    ratio = threshold_errors(errors, d, N) / exact
    assert 0.9 < ratio.mean() < 1.15 and ratio.min() > 0.75 and ratio.max() < 1.4


@pytest.mark.parametrize("N", [2, 50])
def test_errors_of_thresholds_without_couplings_are_exact(N):
    """Couplings that are known to be 0, spins of all means: what is left is the field of a spin by itself."""
    model = bs.IsingModel(np.zeros((5, 5)), [-2.0, -0.4, 0.0, 0.7, 1.5])
    errors, exact, d = exact_errors(model, N, 1e-9)
    assert threshold_errors(errors, d, N) == pytest.approx(exact, rel=1e-6)


def test_estimators_speak_both():
    sim = bs.simulate(9, 400, J=0.7, H=-0.4, seed=3)
    bm = bs.BoltzmannMachine("pseudolikelihood").fit(sim.spins)
    omega, tau = bm.model_.to_zero_one()
    for spin, zero_one in (
        (bm.edges(0.2), bm.edges(0.2, encoding="01")),
        (bm.strongest(5), bm.strongest(5, encoding="01")),
        (list(bm.pairs()), list(bm.pairs(encoding="01"))),
    ):
        assert len(spin) == len(zero_one) > 0
        for a, b in zip(spin, zero_one, strict=True):
            assert b == a._replace(J=omega[a.i, a.j], error=4 * a.error)
    frame = bm.to_frame(encoding="01")
    assert frame.J.to_numpy() == pytest.approx(omega[frame.i, frame.j])
    assert (frame.error == 4 * bm.to_frame().error).all() and (frame.edge == bm.to_frame().edge).all()
    thresholds = bm.fields(encoding="01")
    assert [each.field for each in thresholds] == pytest.approx(tau)
    assert bm.fields()[2] == Field(2, "x2", bm.fields_[2], bm.field_errors_[2])
    means = sim.spins.sum(axis=0) / 401
    expected = threshold_errors(bm.coupling_errors_, means, 400)
    assert [each.error for each in thresholds] == pytest.approx(expected, rel=1e-3)


def test_thresholds_agree_with_draws_of_the_posterior():
    sim = bs.simulate(8, 500, J=0.5, H=-0.3, seed=1)
    bm = bs.BoltzmannMachine("likelihood").fit(sim.spins)
    drawn = np.array(
        [bs.IsingModel(J, h).to_zero_one()[1] for J, h in zip(*bm.posterior(300, 0), strict=True)]
    )
    found = bm.fields(encoding="01")
    ratio = np.array([each.error for each in found]) / drawn.std(axis=0)
    assert 0.8 < ratio.mean() < 1.2  # 300 draws: 4% each, and the approximation
    z = (np.array([each.field for each in found]) - drawn.mean(axis=0)) / drawn.std(axis=0)
    assert np.abs(z).max() < 1


def test_unknown_encodings():
    assert check_encoding("01") and not check_encoding("±1")
    with pytest.raises(ValueError, match=r"encoding must be one of ±1, 01: found '0/1'. Did you mean '01'\?"):
        bs.BoltzmannMachine("spectral").fit(bs.simulate(5, 50, J=0.5, seed=0).spins).edges(encoding="0/1")
