import numpy as np
import pytest
from scipy.optimize import approx_fprime, linear_sum_assignment
from scipy.special import logsumexp
from scipy.stats import multivariate_t

import bayesing as bs
from bayesing.conditionals import independent_fields
from bayesing.learning import restricted as learning
from bayesing.learning import restricted_size as size
from bayesing.learning.restricted import (
    Point,
    RestrictedFit,
    Rows,
    fit_restricted,
    frame_at,
    held_mode,
    hidden_centres,
    log_likelihood,
    next_gamma,
    search,
    unit_variances,
)
from bayesing.learning.restricted_evidence import fisher_matrix, posterior_by_blocks, posterior_of
from bayesing.learning.restricted_size import fit_best_size, fit_size, ordered

from samples import random_restricted, states, stats


def data_of(n, k, N, seed=0, scale=0.7):
    model = random_restricted(n, k, seed, scale)
    return model, stats(model.sample(N, seed=seed + 100))


def point_of(model):
    return Point(model.weights, model.fields, model.hidden_fields)


def flat(at):
    return np.concatenate([np.ravel(part) for part in at])


def unflat(x, n, k):
    W, h, c = np.split(x, [n * k, n * k + n])
    return Point(W.reshape(n, k), h, c)


def overlaps(W, truth):
    """|cosine| of each true unit with the one that was found for it."""
    cosines = np.abs((W / np.linalg.norm(W, axis=0)).T @ (truth / np.linalg.norm(truth, axis=0)))
    return cosines[linear_sum_assignment(-cosines)]


def overlaps_with(w, W):
    return np.abs(w @ W) / (np.linalg.norm(w) * np.linalg.norm(W, axis=0))


# The likelihood


@pytest.mark.parametrize("kept", [0, 2**24])
def test_value_and_slopes_are_those_of_all_states(kept, monkeypatch):
    monkeypatch.setattr(learning, "_KEPT", kept)
    monkeypatch.setattr(learning, "_AT_A_TIME", 20)
    _, data = data_of(4, 2, 70, seed=1)
    at, X = point_of(random_restricted(4, 2, seed=9)), data.spins().astype(float)
    v, t = states(4), states(2)

    def slow(x):
        W, h, c = unflat(x, 4, 2)
        exponents = (v @ h)[:, None] + t @ c + v @ W @ t.T
        given = (X @ h)[:, None] + t @ c + X @ W @ t.T
        return float((logsumexp(given, axis=1) - logsumexp(exponents)).sum())

    found = log_likelihood(Rows.of(data), at)
    assert found.total == pytest.approx(slow(flat(at)), rel=1e-12)
    assert flat(found[1:]) == pytest.approx(approx_fprime(flat(at), slow, 1e-6), abs=2e-4)
    assert hidden_centres(Rows.of(data), at) == pytest.approx(
        np.tanh(at.hidden_fields + X @ at.weights).mean(0)
    )


@pytest.mark.parametrize("n", [3, 70])
def test_equal_rows_are_counted(n):
    X = np.random.default_rng(0).choice([-1, 1], (6, n))[[0, 1, 1, 2, 5, 5, 5]]
    rows = Rows.of(stats(X))
    assert sorted(rows.counts) == [1, 1, 2, 3] or n == 3
    assert rows.N == 7 and (rows.sums == X.sum(axis=0)).all()
    total = sum(counts @ spins for spins, counts in rows.blocks())
    assert (total == X.sum(axis=0)).all() and rows.counts.sum() == 7


# The mode


def test_the_search_ends_where_the_posterior_is_flat():
    _, data = data_of(5, 2, 300, seed=2)
    rows, X = Rows.of(data), data.spins().astype(float)
    gamma = np.array([1.0, 3.0])
    start = point_of(random_restricted(5, 2, seed=8, scale=0.1))
    frame = frame_at(rows, start, gamma)
    at, value = search(rows, start, frame, 500)

    def log_posterior(x):
        W, b, e = unflat(x, 5, 2)
        h, c = b - W @ frame.mu, e - W.T @ X.mean(axis=0)
        model = bs.RestrictedModel(W, h, c)
        prior = (5 / gamma * W**2).sum() + ((b - frame.middle) ** 2).sum() + 0.1 * (e**2).sum()
        return float(model.log_likelihood(X).sum() - prior / 2)

    x = flat((at.weights, *frame.centred(at)))
    assert value == pytest.approx(log_posterior(x), rel=1e-12)
    assert value == pytest.approx(log_likelihood(rows, at).total + frame.log_prior(at), rel=1e-12)
    # in units of about 1/sqrt(N), up to the step of the numerical slope
    assert np.abs(approx_fprime(x, log_posterior, 1e-6)).max() / np.sqrt(300) < 0.02


def test_without_units_fields_are_those_of_independent_spins():
    _, data = data_of(5, 2, 300, seed=2)
    answer = fit_size(data, 0, seed=0)
    assert answer.model.fields == pytest.approx(independent_fields(data.sums, data.N), abs=1e-3)
    assert answer.model.weights.shape == (5, 0) and answer.gamma.shape == (0,)
    m = np.tanh(answer.model.fields)
    assert answer.field_errors == pytest.approx(1 / np.sqrt(300 * (1 - m**2) + 1), rel=0.02)


# Fisher matrix, errors and evidence


def exact_fisher(at, frame):
    """Covariance of the slopes of ln P(v) in W, b and e under the model, over all states."""
    n, k = at.weights.shape
    v = states(n)
    p = np.exp(at.model.log_likelihood(v))
    zeta = np.tanh(at.hidden_fields + v @ at.weights) - frame.mu
    z = v - frame.d
    features = np.hstack([(z[:, :, None] * zeta[:, None, :]).reshape(len(v), n * k), z, zeta])
    return np.cov(features.T, aweights=p, ddof=0)


def test_the_fisher_matrix_is_that_of_all_states():
    model, data = data_of(4, 2, 500, seed=4)
    at = point_of(model)
    frame = frame_at(Rows.of(data), at, np.array([2.0, 1.0]))
    exact, found = exact_fisher(at, frame), fisher_matrix(at, frame, 100_000, seed=0)
    room = 5 * np.sqrt(np.outer(np.diag(exact), np.diag(exact)) * 3 / 100_000)
    assert (np.abs(found - exact) < room).all()


def test_errors_are_those_of_the_inverse_in_the_models_own_parameters():
    """By another route: H is moved from (W, b, e) to (W, h, c), and inverted there."""
    _, data = data_of(4, 2, 800, seed=5)
    rows = Rows.of(data)
    start, _ = held_mode(rows, point_of(random_restricted(4, 2, seed=5)), np.full(2, 2.0))
    frame = frame_at(rows, start, np.full(2, 2.0))
    at, value = search(rows, start, frame, 300)
    found = posterior_of(RestrictedFit(at, frame, value, True), 800, seed=0)
    H = 800 * exact_fisher(at, frame) + np.diag(flat(frame.precisions))

    def centred(x):
        moved = unflat(x, 4, 2)
        return flat((moved.weights, *frame.centred(moved)))

    x = flat(at)
    jacobian = np.stack([centred(x + d) - centred(x) for d in np.eye(len(x))], axis=1)
    errors = unflat(np.sqrt(np.diag(np.linalg.inv(jacobian.T @ H @ jacobian))), 4, 2)
    for one, other in zip(errors, (found.weights, found.fields, found.hidden_fields), strict=True):
        assert other == pytest.approx(one, rel=0.03)


def fit_one_unit(n, N, seed):
    rng = np.random.default_rng(seed)
    W = rng.uniform(0.6, 1.2, (n, 1)) * rng.choice([-1, 1], (n, 1))
    model = bs.RestrictedModel(W, rng.normal(0.2, 0.3, n), [0.3])
    rows = Rows.of(stats(model.sample(N, seed=seed)))
    at, _ = held_mode(rows, point_of(model), np.ones(1))
    return rows, fit_restricted(rows, at, np.ones(1), seed=0)


def test_the_evidence_is_the_integral_over_all_parameters():
    """By importance sampling, nine parameters; the other mode, of opposite sign, is as large."""
    n, N = 4, 5000
    rows, fit = fit_one_unit(n, N, seed=12)
    frame, at = fit.frame, fit.point
    precisions = flat(frame.precisions)
    H = N * exact_fisher(at, frame) + np.diag(precisions)
    proposal = multivariate_t(flat((at.weights, *frame.centred(at))), np.linalg.inv(H), df=8, seed=0)
    draws = proposal.rvs(40_000)
    W, b, e = draws[:, :n], draws[:, n : 2 * n], draws[:, 2 * n]
    h, c = b - W * frame.mu, e - W @ frame.d

    def log_weights_of(v):
        u = c[:, None] + W @ v.T
        return h @ v.T + np.logaddexp(u, -u)

    v = np.concatenate([spins for spins, _ in rows.blocks()])
    log_likelihoods = log_weights_of(v) @ rows.counts - N * logsumexp(log_weights_of(states(n)), axis=1)
    away = draws - np.concatenate([np.zeros(n), frame.middle, [0]])
    log_priors = (np.log(precisions / (2 * np.pi)).sum() - away**2 @ precisions) / 2
    log_ratios = log_likelihoods + log_priors - proposal.logpdf(draws)
    integral = logsumexp(log_ratios) - np.log(len(draws)) + np.log(2)
    assert np.exp(2 * logsumexp(log_ratios) - logsumexp(2 * log_ratios)) > 10_000  # effective draws
    assert posterior_of(fit, N, seed=0).log_evidence == pytest.approx(integral, abs=0.1)


def test_with_one_unit_blocks_are_the_whole():
    rows, fit = fit_one_unit(6, 2000, seed=3)
    spins = fit.point.model.sample(16_000, 0)
    whole, blocks = posterior_of(fit, rows.N, 0, A=16_000), posterior_by_blocks(fit, rows.N, spins)
    # of the same samples, in float32
    assert blocks.log_evidence == pytest.approx(whole.log_evidence, abs=1e-3)
    assert blocks.weights == pytest.approx(whole.weights, rel=1e-3)
    assert blocks.hidden_fields == pytest.approx(whole.hidden_fields, rel=1e-3)
    assert blocks.fields == pytest.approx(whole.fields, rel=0.2)  # of one spin and its weights
    variances = unit_variances(spins.astype(float), fit.point, fit.frame, rows.N)
    assert variances == pytest.approx(whole.weights**2, rel=2e-3)


def test_gamma_is_where_the_evidence_is_largest():
    rows, fit = fit_one_unit(12, 2000, seed=3)
    assert fit.settled

    def evidence(factor):
        gamma = factor * fit.gamma
        at, value = search(rows, fit.point, frame_at(rows, fit.point, gamma), 300)
        other = RestrictedFit(at, frame_at(rows, at, gamma), value, True)
        return posterior_of(other, rows.N, seed=0, A=200_000).log_evidence

    low, middle, high = (evidence(factor) for factor in (0.6, 1.0, 1 / 0.6))
    # d^2 ln P / d(ln gamma)^2 = -n/2, but for what the data do not determine
    assert middle - 0.8 > max(low, high) - 0.3 and middle > low and middle > high
    assert next_gamma(fit.point, fit.gamma, np.zeros((12, 1))) == pytest.approx((fit.point.weights**2).sum(0))
    assert next_gamma(fit.point, fit.gamma / 10, np.zeros((12, 1))) == pytest.approx(0.3 * fit.gamma)


def test_units_without_weights_do_not_count_as_modes():
    """A machine with a unit that has next to no weights has the evidence of the machine without it."""
    rows, fit = fit_one_unit(6, 2000, seed=3)
    one = posterior_of(fit, rows.N, seed=0).log_evidence
    at = fit.point
    W = np.column_stack([at.weights, np.full(6, 1e-6)])
    more = Point(W, at.fields, np.append(at.hidden_fields, 0.0))
    frame = frame_at(rows, more, np.append(fit.gamma, 1e-6))
    value = log_likelihood(rows, more).total + frame.log_prior(more)
    two = posterior_of(RestrictedFit(more, frame, value, True), rows.N, seed=0).log_evidence
    assert two == pytest.approx(one, abs=0.3)  # other samples; ln 4 = 1.4 if it counted


# Units


def test_units_are_sorted_and_have_a_sign():
    model = random_restricted(6, 4, seed=3)
    data = stats(model.sample(400, seed=0))
    rows = Rows.of(data)
    fit = RestrictedFit(
        point_of(model), frame_at(rows, point_of(model), np.array([1.0, 2.0, 3.0, 4.0])), 0.0, True
    )
    found = ordered(fit)
    W = found.point.weights
    strength = ((1 - rows.means**2)[:, None] * W**2).sum(axis=0)
    assert (np.diff(strength) <= 0).all() and (W.sum(axis=0) >= 0).all()
    X = data.spins()
    assert found.point.model.log_likelihood(X) == pytest.approx(model.log_likelihood(X))
    assert found.frame.mu == pytest.approx(hidden_centres(rows, found.point))
    order = [int(np.argmax(overlaps_with(W[:, a], model.weights))) for a in range(4)]
    assert sorted(order) == [0, 1, 2, 3] and (found.gamma == 1 + np.array(order)).all()


@pytest.fixture(scope="module")
def planted():
    rng = np.random.default_rng(4)
    truth = bs.RestrictedModel(
        rng.normal(0, np.sqrt(3 / 25), (25, 2)), rng.normal(0.1, 0.3, 25), rng.normal(0, 0.3, 2)
    )
    data = stats(truth.sample(3000, seed=5))
    return truth, data, fit_best_size(data, seed=0)


def test_planted_units_are_found_with_honest_errors(planted):
    truth, _, found = planted
    assert found.model.n_hidden == 2 and found.reason == "the evidence is largest" and not found.warnings
    assert sorted(found.evidences) == [0, 1, 2, 3, 4]
    assert max(found.evidences, key=found.evidences.get) == 2
    assert overlaps(found.model.weights, truth.weights).min() > 0.98
    same = ordered_like(truth, found.model)
    z = (found.model.weights - same.weights) / found.weight_errors
    assert 0.75 < np.sqrt(np.mean(z**2)) < 1.25  # of 50 numbers: the error of the root mean square is 0.1
    z = (found.model.fields - same.fields) / found.field_errors
    assert 0.6 < np.sqrt(np.mean(z**2)) < 1.4
    assert (np.abs(found.model.hidden_fields - same.hidden_fields) < 4 * found.hidden_field_errors).all()
    assert found.gamma == pytest.approx(3, rel=0.6)
    X = truth.sample(20_000, seed=9)
    loss = (truth.log_likelihood(X) - found.model.log_likelihood(X)).mean()
    assert 0 < loss < 2 * 77 / (2 * 3000)  # 77 parameters cost half a nat each, in all


def ordered_like(truth, found):
    """The true model with the order and the signs of the units that were found."""
    products = found.weights.T @ truth.weights
    order = linear_sum_assignment(-np.abs(products))[1]
    sign = np.sign(products[np.arange(len(order)), order])
    return bs.RestrictedModel(truth.weights[:, order] * sign, truth.fields, truth.hidden_fields[order] * sign)


def test_independent_spins_have_no_units():
    data = stats(random_restricted(15, 0, seed=1).sample(400, seed=0))
    assert fit_best_size(data, seed=0).model.n_hidden == 0


def test_an_evidence_that_still_rises_is_said(planted, monkeypatch):
    monkeypatch.setattr(size, "MOST_UNITS", 1)
    found = fit_best_size(planted[1], seed=0)
    assert found.model.n_hidden == 1 and "still rises" in found.reason
    assert [type(warning) for warning in found.warnings] == [bs.BoundWarning]


def test_starts_may_see_some_of_many_rows(planted, monkeypatch):
    _, data, found = planted
    monkeypatch.setattr(size, "_MANY", 1000)
    monkeypatch.setattr(size, "_SOME", 500)
    part = fit_size(data, 2, seed=0)
    assert overlaps(part.model.weights, found.model.weights).min() > 0.999
    assert part.log_evidence == pytest.approx(found.log_evidence, abs=1)


def test_progress_and_blocks_for_many_parameters(planted, monkeypatch):
    heard = []
    monkeypatch.setattr(size, "MOST_PARAMETERS", 10)
    found = fit_best_size(planted[1], 0, lambda done, of: heard.append((done, of)))
    assert found.model.n_hidden == 2 and heard == [(k + 1, 13) for k in range(5)]
    ratio = found.weight_errors / planted[2].weight_errors
    assert 0.9 < ratio.mean() < 1.02 and 0.75 < ratio.min() and ratio.max() < 1.1
    assert found.log_evidence == pytest.approx(planted[2].log_evidence, abs=6)
