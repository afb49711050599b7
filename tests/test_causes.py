"""Common causes in the estimator of couplings."""

import pickle

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.base import clone

import bayesing as bs
from bayesing.exceptions import InputError

from samples import FREE, joint_model, states
from slow import exponents, given

N = 12


def planted(seed=0, n=N, n_samples=1500):
    """Weak couplings and one cause with weights of both signs, which is on in a quarter of the samples or so."""
    rng = np.random.default_rng(seed)
    model = joint_model(n, 1, seed, J=0.3)
    J, h = model.couplings.copy(), model.fields.copy()
    J[n, :n] = J[:n, n] = rng.choice([-1, 1], n) * rng.uniform(0.4, 0.9, n)
    h[n] = -0.5
    model = bs.IsingModel(J, h)
    return model, bs.sample(model, n_samples, seed=seed + 1)[:, :n]


MODEL, X = planted()


@pytest.fixture(scope="module")
def bm():
    return bs.BoltzmannMachine(n_hidden=1).fit(X)


@pytest.fixture(scope="module")
def auto():
    return bs.BoltzmannMachine(n_hidden="auto").fit(X)


@pytest.fixture(scope="module")
def gappy():
    Y = np.where(np.random.default_rng(3).random(X.shape) < 0.15, np.nan, X)
    return Y, bs.BoltzmannMachine(n_hidden=1).fit(Y)


def overlap(a, b):
    return abs(a @ b) / np.linalg.norm(a) / np.linalg.norm(b)


def joint_states(bm):
    """Probabilities of all states of the spins that are seen, by summing those of the joint model."""
    model = bm.model_
    both = states(model.n_spins)
    weights = exponents(model, both)
    p = np.exp(weights - logsumexp(weights)).reshape(2**N, -1)  # hidden units are the last columns
    return both.reshape(2**N, -1, model.n_spins)[:, 0, :N], p.sum(axis=1)


# What is found


def test_the_cause_is_found(bm):
    W, errors, truth = bm.hidden_couplings_[:, 0], bm.hidden_coupling_errors_[:, 0], MODEL.couplings[:N, N]
    assert bm.method_ == "likelihood" and "common causes" in bm.reason_
    assert overlap(W, truth) > 0.95 and W.sum() > 0
    sign = np.sign(W @ truth)
    z = (sign * W - truth) / errors
    assert 0.65 < np.sqrt(np.mean(z**2)) < 1.6 and (errors < 0.4).all()
    assert abs(sign * bm.hidden_fields_[0] - MODEL.fields[N]) < 4 * bm.answer_.hidden.field_errors[0]
    upper = np.triu_indices(N, 1)
    z = (bm.couplings_ - MODEL.couplings[:N, :N])[upper] / bm.coupling_errors_[upper]
    assert 0.6 < np.sqrt(np.mean(z**2)) < 1.4
    assert ((bm.fields_ - MODEL.fields[:N]) / bm.field_errors_).std() < 2
    assert bm.check_.passed and bm.certificate_.passed and "1 common cause," in repr(bm)
    n = bm.answer_
    assert n.n_hidden == 1 and n.hidden.gamma[0] == pytest.approx(N * np.mean(W**2), rel=0.3)


def test_couplings_alone_are_further_from_the_truth(bm):
    """Half of what the test above is about: the cause is not taken for couplings."""
    plain = bs.BoltzmannMachine("likelihood").fit(X)
    truth = MODEL.couplings[:N, :N]
    assert np.linalg.norm(bm.couplings_ - truth) < 0.6 * np.linalg.norm(plain.couplings_ - truth)
    assert bm.gamma_ < 0.5 * plain.gamma_
    assert plain.hidden_couplings_.shape == (N, 0) == plain.hidden_coupling_errors_.shape
    assert plain.hidden_fields_.shape == (0,)


def test_the_evidence_tells_how_many(auto, bm):
    assert (
        auto.hidden_couplings_.shape == (N, 1)
        and overlap(auto.hidden_couplings_[:, 0], bm.hidden_couplings_[:, 0]) > 0.99
    )
    assert auto.reason_.startswith("1 common cause by the evidence, to which another one would add")
    gains = auto.answer_.couplings.gains
    assert len(gains) == 2 and gains[0].value > 30 and gains[1].value < 10


def test_no_cause_is_invented():
    pairwise = bs.simulate(N, 1500, J=0.7, H=0.2, seed=1).spins
    found = bs.BoltzmannMachine(n_hidden="auto").fit(pairwise)
    assert found.hidden_couplings_.shape == (N, 0) and found.model_.n_spins == N
    assert found.reason_.startswith("no common causes by the evidence, to which one would add")
    assert len(found.answer_.couplings.gains) == 1


@pytest.mark.filterwarnings("ignore::bayesing.BayesingWarning")
def test_no_cause_and_no_couplings(monkeypatch):
    monkeypatch.setattr("bayesing.learning.newton.LEAST_GAMMA", 1.0)
    found = bs.BoltzmannMachine(n_hidden="auto").fit(FREE[:, :5])
    assert not found.couplings_.any() and found.reason_ == "no common causes by the evidence"


def test_a_constant_spin_and_a_given_gamma(bm):
    constant = np.insert(X[:600], 3, 1, axis=1)
    found = bs.BoltzmannMachine(n_hidden=1, gamma=0.1).fit(constant)
    assert found.gamma_ == 0.1 and found.hidden_couplings_.shape == (N + 1, 1)
    assert found.hidden_couplings_[3] == 0 and found.fields_[3] > 2
    unit = found.answer_.hidden.gamma[0]
    assert found.hidden_coupling_errors_[3, 0] == pytest.approx(np.sqrt(unit / (N + 1)))
    assert overlap(np.delete(found.hidden_couplings_[:, 0], 3), bm.hidden_couplings_[:, 0]) > 0.9


# What can be asked of it


def test_the_model_has_the_cause_as_its_last_spin(bm):
    J = bm.model_.couplings
    assert bm.model_.n_spins == N + 1 and J[N, N] == 0
    assert J[:N, :N] == pytest.approx(bm.couplings_) and (J[:N, N:] == bm.hidden_couplings_).all()
    assert (bm.model_.fields == np.append(bm.fields_, bm.hidden_fields_)).all()


def test_log_likelihood_and_score_are_those_of_the_spins_that_are_seen(bm):
    rows = X[:40]
    totals = [given(bm.model_, np.append(row, 0))[2] for row in rows]
    value, error = bm.log_likelihood(rows)
    assert value == pytest.approx(np.mean(totals) - bm.model_.log_partition()) and error == 0
    conditionals = []
    for row, total in zip(rows, totals, strict=True):
        for i in range(N):
            others = np.append(row, 0)
            others[i] = 0
            conditionals.append(total - given(bm.model_, others)[2])
    assert bm.score(rows) == pytest.approx(np.mean(conditionals))


def test_missing_cells_are_told_by_couplings_and_cause(bm):
    rows = X[:20].astype(float)
    rows[np.random.default_rng(0).random(rows.shape) < 0.4] = np.nan
    rows[7] = np.nan
    found = bm.impute(rows)
    for row, up in zip(rows, found, strict=True):
        all_states, p, _ = given(bm.model_, np.append(np.nan_to_num(row), 0))
        exact = p @ (all_states[:, :N] > 0)
        assert up == pytest.approx(exact, abs=0.03 if np.isnan(row).sum() >= 10 else 1e-9)
    totals = [given(bm.model_, np.append(np.nan_to_num(row), 0))[2] for row in np.delete(rows, 7, axis=0)]
    assert bm.log_likelihood(rows)[0] == pytest.approx(np.mean(totals) - bm.model_.log_partition(), abs=1e-4)


def test_entropy_is_that_of_the_spins_that_are_seen(bm):
    spins, p = joint_states(bm)
    entropy = -(p @ np.log(p))
    value, error = bm.entropy()
    assert abs(value - entropy) < 4 * error and 0 < error < 0.02
    up = p @ (spins > 0)
    independent = -(up @ np.log(up) + (1 - up) @ np.log(1 - up))
    value, error = bm.multi_information()
    assert abs(value - (independent - entropy)) < 4 * error < 0.1


def test_samples_are_those_of_the_spins_that_are_seen(bm):
    drawn = bm.sample(4000, seed=0)
    assert drawn.shape == (4000, N) and drawn.dtype == np.int8 and drawn.flags.c_contiguous
    spins, p = joint_states(bm)
    mean, pairs = p @ spins, (spins.T * p) @ spins
    assert np.abs(drawn.mean(axis=0) - mean).max() < 4.5 / np.sqrt(4000)
    assert np.abs(drawn.T.astype(float) @ drawn / 4000 - pairs).max() < 4.5 / np.sqrt(4000)


@pytest.mark.parametrize("method", ["posterior", "centrality"])
def test_what_hidden_units_do_not_have(bm, method):
    with pytest.raises(InputError, match=f"{method} .* hidden units .*n_hidden=0"):
        getattr(bm, method)()


def test_contracts(bm, auto):
    assert bm.get_params() == {
        "method": "auto",
        "prior": "gaussian",
        "gamma": "auto",
        "n_hidden": 1,
        "series": False,
        "random_state": None,
    }
    assert clone(auto).get_params() == auto.get_params()
    again = pickle.loads(pickle.dumps(bm))
    assert (again.hidden_couplings_ == bm.hidden_couplings_).all() and repr(again) == repr(bm)
    assert again.log_likelihood(X[:9]) == bm.log_likelihood(X[:9])
    one, other = (bs.BoltzmannMachine(n_hidden=1, gamma=0.1).fit(X[:200]) for _ in range(2))
    assert (one.hidden_couplings_ == other.hidden_couplings_).all() and (
        one.couplings_ == other.couplings_
    ).all()


# Beside missing cells


def test_a_cause_is_found_where_cells_are_missing(gappy, bm):
    Y, found = gappy
    assert overlap(found.hidden_couplings_[:, 0], MODEL.couplings[:N, N]) > 0.95
    assert found.hidden_coupling_errors_.mean() > 1.03 * bm.hidden_coupling_errors_.mean()
    assert found.coupling_errors_.mean() > 1.05 * bm.coupling_errors_.mean()
    upper = np.triu_indices(N, 1)
    z = (found.couplings_ - MODEL.couplings[:N, :N])[upper] / found.coupling_errors_[upper]
    assert 0.6 < np.sqrt(np.mean(z**2)) < 1.4
    more = np.vstack([Y[:700], np.full((3, N), np.nan), Y[700:]])
    with pytest.warns(bs.LeftOutWarning, match="3 of 1503 samples"):
        again = bs.BoltzmannMachine(n_hidden=1).fit(more)
    assert (again.couplings_ == found.couplings_).all() and (
        again.hidden_couplings_ == found.hidden_couplings_
    ).all()


def test_the_evidence_where_cells_are_missing(gappy):
    Y, _ = gappy
    found = bs.BoltzmannMachine(n_hidden="auto").fit(Y)
    assert found.hidden_couplings_.shape == (N, 1)


# Bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_hidden": 13}, 'n_hidden must be "auto" or at most 12 beside couplings: found 13. Restricted'),
        ({"n_hidden": 5}, "at most as many common causes as spins that vary, 4: found n_hidden=5"),
        (
            {"n_hidden": 1, "prior": "laplace"},
            'hidden units need prior="gaussian": found prior="laplace" and n_hidden=1',
        ),
        ({"n_hidden": "auto", "prior": "sparse"}, 'hidden units need prior="gaussian"'),
        (
            {"n_hidden": 1, "method": "spectral"},
            'method="spectral" cannot have hidden units: found n_hidden=1.*"likelihood"',
        ),
        ({"n_hidden": "auto", "method": "tap"}, 'method="tap" cannot have hidden units'),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        bs.BoltzmannMachine(**parameters).fit(X[:50, :4])


def test_too_many_spins_for_the_evidence():
    spins = np.random.default_rng(0).choice([-1, 1], (60, 110))
    with pytest.raises(InputError, match=r"up to about 90 spins: found 110 that vary.*n_hidden=1"):
        bs.BoltzmannMachine(n_hidden="auto").fit(spins)
