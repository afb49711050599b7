"""Missing cells and restricted Boltzmann machines: against enumeration of all that could stand in the gaps."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime
from scipy.special import logsumexp

import bayesing as bs
from bayesing.learning.restricted import (
    Frame,
    Point,
    RestrictedFit,
    Rows,
    hidden_centres,
    log_likelihood,
    unit_variances,
)
from bayesing.learning.restricted_evidence import posterior_by_blocks, posterior_of
from bayesing.learning.restricted_missing import left_of
from bayesing.sampling import restricted_missing

from samples import random_restricted, states, stats, with_gaps

n, k = 4, 2
MODEL = random_restricted(n, k, seed=1)
AT = Point(
    *(random_restricted(n, k, seed=9).joint().couplings[:n, n:], MODEL.fields + 0.2, MODEL.hidden_fields)
)
X = with_gaps(MODEL.sample(60, seed=5), 0.3, seed=2)
X[3] = X[4]  # a state that occurs twice
FRAME = Frame(np.array([0.1, -0.2, 0.3, 0.05]), np.array([0.2, -0.1]), np.array([2.0, 1.0]), np.zeros(n))


def completions(row):
    """All complete rows that show the same."""
    return np.array([v for v in states(len(row)) if ((v == row) | np.isnan(row)).all()])


def slow_log_likelihood(x, rows):
    W, h, c = np.split(x, [n * k, n * k + n])
    model = bs.RestrictedModel(W.reshape(n, k), h, c)
    return sum(logsumexp(model.log_likelihood(completions(row))) for row in rows)


@pytest.mark.parametrize("at_a_time", [5, 2**20])
def test_value_and_slopes_are_those_of_all_completions(at_a_time, monkeypatch):
    monkeypatch.setattr(restricted_missing, "_AT_A_TIME", at_a_time)
    rows, flat = Rows.of(stats(X)), np.concatenate([part.ravel() for part in AT])
    assert 0 < len(rows.packed) and len(rows) < 60 and rows.incomplete.counts.max() > 1
    found = log_likelihood(rows, AT)
    assert found.total == pytest.approx(slow_log_likelihood(flat, X), rel=1e-12)
    slopes = np.concatenate([part.ravel() for part in found[1:]])
    assert slopes == pytest.approx(approx_fprime(flat, slow_log_likelihood, 1e-6, X), abs=2e-4)
    means = []
    for row in X:
        v = completions(row)
        p = np.exp(AT.model.log_likelihood(v))
        means.append(p @ np.tanh(AT.hidden_fields + v @ AT.weights) / p.sum())
    assert hidden_centres(rows, AT) == pytest.approx(np.mean(means, axis=0), rel=1e-10)


def test_a_row_that_shows_nothing_changes_nothing():
    empty = np.vstack([X, np.full((3, n), np.nan)])
    one, other = (
        log_likelihood(Rows.of(bs.SpinStatistics.of(rows, keep_empty=True)), AT) for rows in (X, empty)
    )
    for a, b in zip(one, other, strict=True):
        assert b == pytest.approx(a, abs=1e-10)


def slopes(at, v):
    """Of ln P(v) in W, b and e, up to their means."""
    z, zeta = v - FRAME.d[: v.shape[1]], np.tanh(at.hidden_fields + v @ at.weights) - FRAME.mu
    return np.hstack([(z[:, :, None] * zeta[:, None, :]).reshape(len(v), -1), z, zeta])


def exact_lost(at, rows):
    """Sum over rows of the covariance of slopes, given what they show."""
    total = 0.0
    for row in rows:
        v = completions(row)
        p = np.exp(at.model.log_likelihood(v))
        total = total + np.cov(slopes(at, v).T, aweights=p / p.sum(), ddof=0) * (len(v) > 1)
    return total


def test_what_is_lost_of_the_curvature():
    incomplete = Rows.of(stats(X)).incomplete
    found = incomplete.lost(*AT, 200_000, seed=0).block(FRAME.d, FRAME.mu, np.arange(n), np.arange(k))
    exact = exact_lost(AT, X)
    size = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    assert (np.abs(found - exact) < 0.03 * size).all()


def test_errors_and_evidence_know_of_the_gaps():
    """One unit of six spins that the data show well."""
    model = bs.RestrictedModel(
        np.array([[0.9, -0.7, 0.8, 0.6, -0.8, 0.7]]).T, np.linspace(-0.4, 0.4, 6), [0.3]
    )
    rows = with_gaps(model.sample(800, seed=3), 0.25, seed=4)
    at, data = Point(model.weights, model.fields, model.hidden_fields), Rows.of(stats(rows))
    frame = Frame(np.zeros(6), np.zeros(1), np.array([2.0]), np.zeros(6))
    fit = RestrictedFit(at, frame, -1000.0, True)
    prior = np.concatenate([part.ravel() for part in frame.precisions])

    def covariance(v):
        p, zeta = np.exp(model.log_likelihood(v)), np.tanh(model.hidden_fields + v @ model.weights)
        features = np.hstack([v * zeta, v, zeta])
        return np.cov(features.T, aweights=p / p.sum(), ddof=0) if len(v) > 1 else np.zeros((13, 13))

    H = 800 * covariance(states(6)) - sum(covariance(completions(row)) for row in rows) + np.diag(prior)
    lost = data.incomplete.lost(*at, 100_000, 0)
    found, whole = posterior_of(fit, 800, 0, 100_000, lost), posterior_of(fit, 800, 0, 100_000)
    exact = np.diag(np.linalg.inv(H))[:6]
    assert found.weights[:, 0] == pytest.approx(np.sqrt(exact), rel=0.03)
    assert (found.weights > 1.1 * whole.weights).all() and (found.fields > whole.fields).all()
    expected = -1000 + (np.log(prior).sum() - np.linalg.slogdet(H)[1]) / 2 + np.log(2)
    assert found.log_evidence == pytest.approx(expected, abs=0.15)
    assert whole.log_evidence < expected - 0.8
    spins = model.sample(100_000, seed=1)
    assert posterior_by_blocks(fit, 800, spins, lost).weights[:, 0] == pytest.approx(np.sqrt(exact), rel=0.03)
    assert unit_variances(spins.astype(float), at, frame, 800, lost)[:, 0] == pytest.approx(exact, rel=0.05)


def test_more_than_all_is_not_lost():
    """Where by chance more seems to be lost than there is, nothing is left, and other directions are as they were."""
    H, V = np.diag([3.0, 2.0, 1.0]), np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    root = np.sqrt(H)
    for share, left in (((0.2, 0.5, 0.9), (0.8, 0.5, 0.1)), ((0.2, 0.5, 1.3), (0.8, 0.5, 0.0))):
        found = left_of(H, root @ V @ np.diag(share) @ V.T @ root)
        assert found == pytest.approx(root @ V @ np.diag(left) @ V.T @ root, abs=1e-5)


def test_draws_of_what_is_missing():
    """As often as all completions tell, and nothing that is there is changed."""
    row = np.array([[1, 0, 0, -1]], np.int8)
    drawn_states = restricted_missing.HiddenStates(*AT)
    ((_, v, gaps),) = drawn_states.blocks(np.repeat(row, 40_000, axis=0))
    drawn = drawn_states.drawn(drawn_states.given(v, gaps)[1], v, np.random.default_rng(0))
    assert (drawn[:, 0] == 1).all() and (drawn[:, 3] == -1).all()
    possible = completions(np.where(row[0] == 0, np.nan, row[0]))
    p = np.exp(AT.model.log_likelihood(possible))
    for state, expected in zip(possible, p / p.sum(), strict=True):
        share = (drawn == state).all(axis=1).mean()
        assert abs(share - expected) < 4.5 * np.sqrt(expected * (1 - expected) / 40_000)


# The estimator


TRUTH = bs.RestrictedModel(
    np.random.default_rng(0).normal(0, 0.6, (12, 2)), np.linspace(-0.4, 0.5, 12), [0.2, 0.3]
)
WHOLE = TRUTH.sample(1200, seed=1)
GAPPY = with_gaps(WHOLE, 0.2, seed=3)


@pytest.fixture(scope="module")
def rbm():
    return bs.RestrictedBoltzmannMachine(2, random_state=0).fit(GAPPY)


def test_units_are_found_with_errors_that_hold(rbm):
    whole = bs.RestrictedBoltzmannMachine(2, random_state=0).fit(WHOLE)
    ratio = (rbm.hidden_coupling_errors_ / whole.hidden_coupling_errors_).mean()
    assert 1.08 < ratio < 1.5
    W, best = rbm.hidden_couplings_, np.inf
    for order, signs in itertools.product([[0, 1], [1, 0]], itertools.product([1, -1], repeat=2)):
        z = (W[:, order] * signs - TRUTH.weights) / rbm.hidden_coupling_errors_[:, order]
        best = min(best, np.sqrt(np.mean(z**2)))
    assert 0.6 < best < 1.4
    test = TRUTH.sample(5000, seed=7)
    complete_rows = bs.RestrictedBoltzmannMachine(2).fit(WHOLE[~np.isnan(GAPPY).any(axis=1)])
    assert whole.score(test) > rbm.score(test) > complete_rows.score(test) + 0.05


def test_the_evidence_tells_the_number_of_units():
    found = bs.RestrictedBoltzmannMachine("auto", random_state=0).fit(GAPPY)
    assert found.hidden_couplings_.shape == (12, 2)
    evidence = found.evidence_by_n_hidden_
    assert evidence[2] > evidence[1] + 20 and evidence[2] > evidence[0] + 100


def test_score_and_transform_of_what_is_there(rbm):
    few = GAPPY[:30]
    expected, means = [], []
    for row in few:
        v = np.array(list(itertools.product(*([x] if x == x else [1.0, -1.0] for x in row))))
        logs = rbm.model_.log_likelihood(v)
        expected.append(logsumexp(logs))
        means.append(np.exp(logs - logs.max()) @ rbm.model_.hidden_means(v) / np.exp(logs - logs.max()).sum())
    assert rbm.score_samples(few) == pytest.approx(expected, rel=1e-10)
    assert rbm.transform(few) == pytest.approx(np.array(means), rel=1e-9)
    assert rbm.score_samples(WHOLE[:5]) == pytest.approx(rbm.model_.log_likelihood(WHOLE[:5]))
    empty = np.full((1, 12), np.nan)
    assert rbm.score_samples(empty) == pytest.approx([0.0], abs=1e-9)
    assert rbm.transform(empty)[0] == pytest.approx(rbm.model_.moments().hidden)
    assert rbm.score(np.vstack([few, empty])) == pytest.approx(np.mean(expected))


def test_empty_rows_and_columns(rbm):
    with pytest.warns(bs.LeftOutWarning, match="2 of 1202 samples"):
        same = bs.RestrictedBoltzmannMachine(2, random_state=0).fit(np.insert(GAPPY, [0, 9], np.nan, axis=0))
    assert (same.hidden_couplings_ == rbm.hidden_couplings_).all() and same.log_evidence_ == rbm.log_evidence_
    frame = pd.DataFrame(GAPPY[:300, :5], columns=list("abcde")).assign(nothing=np.nan)
    with pytest.warns(bs.LeftOutWarning, match=r"1 of 6 spins \(nothing\)"):
        found = bs.RestrictedBoltzmannMachine(1).fit(frame)
    without = bs.RestrictedBoltzmannMachine(1).fit(frame.drop(columns="nothing"))
    assert (found.hidden_couplings_[:5] == without.hidden_couplings_).all()
    assert not found.hidden_couplings_[5].any() and found.fields_[5] == 0 and found.field_errors_[5] == 1
    assert found.gamma_ / 6 == pytest.approx(without.gamma_ / 5)
    assert found.hidden_coupling_errors_[5] == pytest.approx(np.sqrt(found.gamma_ / 6))
    assert found.log_partition_ == pytest.approx(found.model_.log_partition())
    assert found.score(frame) == pytest.approx(without.score(frame.drop(columns="nothing")))
    automatic = bs.RestrictedBoltzmannMachine("auto").fit(frame.drop(columns="nothing"))
    with pytest.warns(bs.LeftOutWarning):
        again = bs.RestrictedBoltzmannMachine("auto").fit(frame)
    assert again.evidence_by_n_hidden_ == automatic.evidence_by_n_hidden_


def test_too_many_units_for_missing_cells(rbm):
    with pytest.raises(
        bs.InputError, match=r"up to 12 hidden units: found 13, and \d+ missing cells of 1200 x 12"
    ):
        bs.RestrictedBoltzmannMachine(13).fit(GAPPY)
