"""Rows that remember: against definitions, chains of a known model, and rows in random order."""

import math
import re
import warnings

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.optimize import minimize

import bayesing as bs
from bayesing import plots, series
from bayesing.conditionals import middle_of_fields
from bayesing.couplings import CouplingOptions, Strength, spectral
from bayesing.couplings._sparse import fit_sparse
from bayesing.ising import all_states
from bayesing.order import order_of
from bayesing.statistics import SpinStatistics
from bayesing.threads import workers


def chain(n, N, J, share, seed, H=0.3, drift=0.0):
    """Rows of Gibbs sampling between which a share of the spins is drawn anew, and the couplings."""
    rng = np.random.default_rng(seed)
    couplings = np.triu(rng.normal(0, J / math.sqrt(n), (n, n)), 1)
    couplings += couplings.T
    fields = rng.normal(H, 0.2, n)
    s, rows = rng.choice([-1.0, 1.0], n), np.empty((N, n), np.int8)
    updates = max(1, round(share * n))
    for t in range(-50 * n // updates, N):
        now = drift * (2 * max(t, 0) / N - 1)
        for i, u in zip(rng.integers(n, size=updates), rng.random(updates), strict=True):
            s[i] = 1.0 if u < 1 / (1 + math.exp(-2 * (couplings[i] @ s + fields[i] + now))) else -1.0
        if t >= 0:
            rows[t] = s
    return rows, couplings, fields


@pytest.fixture(scope="module")
def remembering():
    return chain(30, 1500, 0.6, 0.1, 1)


def shuffled(rows, seed=0):
    return np.random.default_rng(seed).permutation(rows)


def quiet(estimator, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        return estimator.fit(X)


def said_of(estimator, X):
    """What is said of a fit, by the kind of warning."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        estimator.fit(X)
    return {warning.category: str(warning.message) for warning in found}


def by_definition(spins, runs):
    """rho(t) by loops, with cells that are 0 left out."""
    there = spins != 0
    m = spins.sum(axis=0) / there.sum(axis=0)
    z = (spins - m) / np.sqrt(1 - m**2)
    ends = np.cumsum(runs)
    rho = []
    for lag in range(max(runs)):
        products = [
            z[a, i] * z[a + lag, i]
            for end, length in zip(ends, runs, strict=True)
            for a in range(end - length, end - lag)
            for i in range(spins.shape[1])
            if there[a, i] and there[a + lag, i]
        ]
        rho.append(np.mean(products) if products else 0.0)
    return np.array(rho) / rho[0]


# Autocorrelation, lag and effective number


@pytest.mark.parametrize("runs", [(41,), (17, 5, 19)])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("at_a_time", [2**21, 100])
def test_autocorrelation_is_that_of_the_definition(runs, gaps, at_a_time, monkeypatch):
    rows, _, _ = chain(7, 41, 0.6, 0.3, 3)
    X = rows.astype(float)
    if gaps:
        X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    monkeypatch.setattr(series, "_AT_A_TIME", at_a_time)
    parts = np.split(X, np.cumsum(runs)[:-1])
    found = SpinStatistics.of(parts if len(runs) > 1 else X)
    np.testing.assert_allclose(
        found.autocorrelation, by_definition(np.nan_to_num(X).astype(int), runs), atol=1e-12
    )


def test_autocorrelation_of_products_is_that_of_the_definition():
    rows, _, _ = chain(5, 60, 0.6, 0.3, 4)
    runs, x = (25, 35), rows - rows.mean(axis=0)
    found = series.products_autocorrelation(rows, rows.mean(axis=0), runs, 6)

    def mean(a, b):
        pairs = [(i, j) for i in range(5) for j in range(5) if i != j]
        return np.mean([a[:, i] * a[:, j] * b[:, i] * b[:, j] for i, j in pairs])

    far = mean(x, x[np.random.default_rng(0).permutation(60)])
    for lag in range(1, 6):
        pairs = [(t, t + lag) for t in [*range(25 - lag), *range(25, 60 - lag)]]
        one, other = (x[list(index)] for index in zip(*pairs, strict=True))
        expected = (mean(one, other) - far) / (mean(x, x) - far)
        assert found[lag] == pytest.approx(expected, abs=1e-12)


def test_lag_and_thinned_rows_stay_within_runs():
    rho = np.array([1, 0.6, 0.3, 0.09, 0.2, 0])
    memory = series.Memory(5, rho, rho[:6] ** 2, (6, 4))
    assert memory.lag == 3 and memory.forgets
    assert memory.starts() == (0, 1, 2)
    assert memory.thinned(0).tolist() == [0, 3, 6, 9]
    assert memory.thinned(2).tolist() == [2, 5, 8]
    # lags 1 and 2, of 5 + 3 and 4 + 2 pairs of rows
    assert memory.effective == pytest.approx(10 / (1 + 2 * (8 * 0.36 + 6 * 0.09) / 10))


def test_of_short_runs_that_do_not_forget_one_row_each_is_left():
    rows = np.repeat(np.random.default_rng(0).choice([-1, 1], (40, 6)), 3, axis=0)
    found = SpinStatistics.of(list(rows.reshape(40, 3, 6))).memory
    assert found.lag == 3 and not found.forgets
    assert found.thinned(0).tolist() == list(range(0, 120, 3))


def test_rows_that_are_held_are_worth_one():
    rows = np.random.default_rng(1).choice([-1, 1], (800, 20))
    found = SpinStatistics.of(np.repeat(rows, 4, axis=0)).memory
    assert found.effective == pytest.approx(800, rel=0.03)


def test_spins_that_change_one_by_one_have_the_square_for_products():
    rng = np.random.default_rng(2)
    rows = rng.choice([-1, 1], (4000, 40))
    for t in range(1, len(rows)):
        rows[t] = np.where(rng.random(40) < 0.7, rows[t - 1], rows[t])
    memory = SpinStatistics.of(rows).memory
    # 40 spins and 4000 rows: an error of about 0.004 of rho, and of 1/sqrt(4000) / 20 of rho_2
    np.testing.assert_allclose(memory.rho[:6], 0.7 ** np.arange(6), atol=0.02)
    np.testing.assert_allclose(memory.of_products[:6], 0.49 ** np.arange(6), atol=0.02)
    assert memory.effective == pytest.approx(4000 * (1 - 0.49) / (1 + 0.49), rel=0.05)
    assert memory.effective_for_means == pytest.approx(4000 * 0.3 / 1.7, rel=0.08)


def test_variance_of_the_mean_of_thinned_strengths():
    """Sums of squared correlations of independent spins that remember: the variance of their mean is as said."""
    rng, n, N, keep, repeats = np.random.default_rng(3), 12, 240, 0.7, 500
    rows = rng.choice([-1.0, 1.0], (N, repeats, n))
    for t in range(1, N):
        rows[t] = np.where(rng.random((repeats, n)) < keep, rows[t - 1], rows[t])
    rho = keep ** np.arange(40.0)
    memory = series.Memory(n, rho, rho**2, (N,))
    upper = np.triu_indices(n, 1)

    def strengths(start):
        part = rows[memory.thinned(start)]
        C = np.einsum("tri,trj->rij", part, part) / len(part)
        return (C[:, upper[0], upper[1]] ** 2).sum(axis=1)

    found = np.array([strengths(start) for start in memory.starts()])
    ratio = found.mean(axis=0).var() / found.var(axis=1).mean()
    said = (
        memory.variance_of_mean(0.0, memory.starts()) ** 2
    )  # which leaves room for slow patterns: here are none
    assert said < 0.5
    assert ratio == pytest.approx(said, rel=0.25)  # two variances of 500 numbers, each known to 6%


def test_a_strength_that_is_couplings_alone_gains_nothing():
    rho = 0.5 ** np.arange(20.0)
    memory = series.Memory(10, rho, rho**2, (10**6,))
    assert memory.variance_of_mean(1.0, memory.starts()) == pytest.approx(1.0, abs=1e-3)


# Said, and not said


def test_rows_that_remember_are_said(remembering):
    rows, _, _ = remembering
    for estimator in (bs.EmpiricalBayes("spectral"), bs.BoltzmannMachine("spectral")):
        said = said_of(estimator, rows)[bs.MemoryWarning]
        assert re.search(r"below 0\.1 after \d+ rows.*series=True", said)
        assert bs.MemoryWarning not in said_of(estimator.set_params(series=True), rows)
    said = said_of(bs.RestrictedBoltzmannMachine(1, random_state=0), rows[:, :6])[bs.MemoryWarning]
    assert re.search(r"fit one of \d+ rows alone", said)


@pytest.mark.parametrize("seed", range(20))
def test_no_false_alarm_on_shuffled_rows(remembering, seed):
    rows = shuffled(remembering[0], seed)
    rng = np.random.default_rng(seed)
    rare = np.where(rng.random((rng.integers(20, 600), 40)) < 0.02, 1, -1)
    ferromagnet = rng.choice([-1, 1], (300, 1)) * np.where(rng.random((300, 30)) < 0.1, -1, 1)
    for data in (rows, rows[:25], rare, ferromagnet):
        found = order_of(SpinStatistics.of(data))
        assert found is None or not (found.remembers or found.drifts)


def test_order_with_missing_cells(remembering):
    X = remembering[0].astype(float)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    found = order_of(SpinStatistics.of(X))
    assert found.remembers and not found.drifts
    other = order_of(SpinStatistics.of(shuffled(X)))
    assert not other.remembers and not other.drifts


def test_drift_is_said_and_is_not_memory():
    rows, _, _ = chain(30, 800, 0.3, 5.0, 5, drift=0.5)
    found = order_of(SpinStatistics.of(rows))
    assert found.drifts and found.drift_share > 0.05
    assert found.means.shape == (64, 30)
    assert found.means[-8:].mean() - found.means[:8].mean() > 0.5
    said = said_of(bs.EmpiricalBayes("spectral"), rows)
    assert "cut the rows into parts" in said[bs.DriftWarning]
    assert bs.MemoryWarning not in said
    steady = order_of(SpinStatistics.of(chain(30, 800, 0.3, 5.0, 5)[0]))
    assert not steady.drifts


def test_too_long_a_memory_is_an_error(remembering):
    rows = np.repeat(remembering[0][:30:3], 30, axis=0)
    with pytest.raises(bs.InputError, match=r"remember for too long: .* Record for longer"):
        bs.EmpiricalBayes(series=True).fit(rows)


def test_a_series_needs_rows_and_a_flag(remembering):
    folded = SpinStatistics.of(remembering[0]).without_rows()
    for estimator in (bs.EmpiricalBayes(series=True), bs.BoltzmannMachine(series=True)):
        with pytest.raises(bs.InputError, match="series=True needs all rows at once"):
            estimator.fit(folded)
    with pytest.raises(ValueError, match="series must be True or False: found 'yes'"):
        bs.EmpiricalBayes(series="yes").fit(remembering[0])


# Estimates


def test_independent_rows_are_fitted_as_they_are():
    spins = bs.simulate(40, 200, J=0.6, H=0.2, seed=1).spins
    for estimator in (bs.EmpiricalBayes, bs.BoltzmannMachine):
        plain, ours = estimator("spectral").fit(spins), estimator("spectral", series=True).fit(spins)
        assert ours.gamma_ == plain.gamma_
        assert ours.effective_samples_ == plain.effective_samples_ == 200


@pytest.mark.parametrize("method", ["spectral", "susceptibility", "likelihood"])
def test_J_of_a_chain(remembering, method):
    rows, _, _ = remembering
    naive = quiet(bs.EmpiricalBayes("spectral"), rows)
    ours = quiet(bs.EmpiricalBayes(method, series=True, random_state=0), rows)
    assert naive.J_ > 0.75  # 0.6 in truth
    assert abs(ours.J_ - 0.6) < 3 * ours.J_error_ < 0.3
    assert 100 < ours.effective_samples_ < 600


def test_errors_are_somewhat_smaller_than_those_of_one_thinned_fit(remembering):
    rows, _, _ = remembering
    memory = SpinStatistics.of(rows).memory
    one = quiet(bs.EmpiricalBayes("spectral"), rows[:: memory.stride])
    ours = quiet(bs.EmpiricalBayes("spectral", series=True), rows)
    assert 0.4 * one.gamma_error_ < ours.gamma_error_ < one.gamma_error_
    assert 0.4 * one.H_error_ < ours.H_error_ < one.H_error_


def test_mean_coupling_of_a_series(remembering):
    found = quiet(bs.EmpiricalBayes("spectral", mean_coupling=True, series=True), remembering[0])
    assert 0 < found.J0_error_ < 1
    assert abs(found.J0_) < 4 * found.J0_error_


def test_interval_of_a_series(remembering):
    found = quiet(bs.EmpiricalBayes("spectral", series=True), remembering[0]).interval(n_simulations=60)
    assert found.J[0] < 0.6 < found.J[1] < 1.0
    assert found.J[1] - found.J[0] > 0.05


def test_trials_may_be_a_list_or_statistics_that_were_added(remembering):
    parts = np.split(remembering[0], [400, 900])
    whole = SpinStatistics.of(parts[0]) + SpinStatistics.of(parts[1]) + SpinStatistics.of(parts[2])
    assert whole.runs == (400, 500, 600)
    a, b = (quiet(bs.EmpiricalBayes("spectral", series=True), X) for X in (parts, whole))
    assert a.gamma_ == b.gamma_ and a.n_features_in_ == 30
    c = quiet(bs.EmpiricalBayes("spectral", series=True), remembering[0])
    assert a.gamma_ != c.gamma_  # which takes no row across an end for a successor


# Couplings


@pytest.mark.parametrize("method", ["spectral", "pseudolikelihood", "likelihood"])
@pytest.mark.parametrize("prior", ["gaussian"])
def test_couplings_cover(remembering, method, prior):
    rows, couplings, _ = remembering
    upper = np.triu_indices(30, 1)
    bm = quiet(bs.BoltzmannMachine(method, prior, series=True, random_state=0), rows)
    z = ((bm.couplings_ - couplings)[upper]) / bm.coupling_errors_[upper]
    # 435 pairs: 90% ± 1.4%
    assert 0.85 < np.mean(np.abs(z) < 1.645) < 0.96
    naive = quiet(bs.BoltzmannMachine(method, prior, random_state=0), rows)
    off = ((naive.couplings_ - couplings)[upper]) / naive.coupling_errors_[upper]
    assert np.mean(np.abs(off) < 1.645) < 0.8
    assert bm.check_.passed
    assert bm.effective_samples_ < 600


def test_mode_and_errors_are_those_of_a_likelihood_that_counts_less():
    """At n = 4 by enumeration: ln P(D | J), and a prior that is 1/w as strong; errors by the curvature, over w."""
    rows, _, _ = chain(4, 500, 0.8, 0.5, 7)
    gamma, n, pairs = 0.7, 4, np.triu_indices(4, 1)
    bm = quiet(bs.BoltzmannMachine("likelihood", gamma=gamma, series=True, random_state=0), rows)
    w, states, N = bm.effective_samples_ / 500, all_states(4), len(rows)
    assert w < 0.8
    d = rows.mean(axis=0)
    products, data = (
        states[:, pairs[0]] * states[:, pairs[1]],
        (rows[:, pairs[0]] * rows[:, pairs[1]]).mean(axis=0),
    )
    beta = middle_of_fields(rows.sum(axis=0), N)

    def minus_log_posterior(theta):
        J, h = np.zeros((4, 4)), theta[6:]
        J[pairs] = theta[:6]
        J += J.T
        log_Z = np.logaddexp.reduce(products @ theta[:6] + states @ h)
        prior = n / (2 * gamma * w) * theta[:6] @ theta[:6] + ((h + J @ d - beta) ** 2).sum() / 2
        return -N * (data @ theta[:6] + d @ h - log_Z) + prior

    exact = minimize(minus_log_posterior, np.zeros(10), method="BFGS", options={"gtol": 1e-6})
    hessian = np.array(
        [
            [
                sum(
                    a * b * minus_log_posterior(exact.x + 1e-3 * (a * e + b * f))
                    for a in (1, -1)
                    for b in (1, -1)
                )
                / 4e-6
                for e in np.eye(10)
            ]
            for f in np.eye(10)
        ]
    )
    errors = np.sqrt(np.diag(np.linalg.inv(hessian))[:6] / w)
    assert np.abs(bm.couplings_[pairs] - exact.x[:6]).max() < 0.15 * errors.min()
    np.testing.assert_allclose(bm.answer_.matrices[1][pairs], errors, rtol=0.1)


def test_rows_three_times_that_are_worth_a_third_change_nothing():
    spins = bs.simulate(12, 300, J=0.8, H=0.2, seed=3).spins
    many = np.repeat(spins, 3, axis=0)
    gamma = 0.5
    one = spectral.METHOD.fit(SpinStatistics.of(spins), CouplingOptions(Strength(gamma)))
    three = spectral.METHOD.fit(SpinStatistics.of(many), CouplingOptions(Strength(gamma / 3)))
    np.testing.assert_allclose(three.rows()[0], one.rows()[0], atol=0.003)
    np.testing.assert_allclose(three.rows()[1] * math.sqrt(3), one.rows()[1], rtol=0.02)
    with workers() as run:
        a, b = fit_sparse(spins, 12 / 0.5, run), fit_sparse(many, 3 * 12 / 0.5, run, 1 / 3)
    np.testing.assert_allclose(b.size.b, a.size.b, atol=0.01)
    np.testing.assert_allclose(b.size.q, a.size.q, rtol=0.02)
    np.testing.assert_allclose(b.size.mean, a.size.mean, atol=0.01)
    np.testing.assert_allclose(b.edges.probabilities, a.edges.probabilities, atol=0.05)
    np.testing.assert_allclose(b.of_fields, a.of_fields, rtol=0.05)


@pytest.mark.parametrize("method", ["pseudolikelihood", "likelihood"])
def test_edges_of_a_series(method):
    n, rng = 16, np.random.default_rng(8)
    there = np.triu(rng.random((n, n)) < 0.15, 1)
    couplings = np.where(there, 0.5, 0.0)
    couplings += couplings.T
    s, rows = rng.choice([-1.0, 1.0], n), np.empty((2500, n), np.int8)
    for t in range(-200, 2500):
        for i, u in zip(rng.integers(n, size=3), rng.random(3), strict=True):
            s[i] = 1.0 if u < 1 / (1 + math.exp(-2 * couplings[i] @ s)) else -1.0
        rows[max(t, 0)] = s
    ours = quiet(bs.BoltzmannMachine(method, "sparse", series=True, random_state=0), rows)
    naive = quiet(bs.BoltzmannMachine(method, "sparse", random_state=0), rows)
    false = [sum(not there[e.i, e.j] for e in bm.edges(0.05)) for bm in (ours, naive)]
    assert false[0] <= 2 < false[1]
    assert (ours.edge_probabilities_[there] > 0.9).mean() > 0.5


def test_posterior_draws_are_as_wide_as_errors(remembering):
    rows, _, _ = remembering
    bm = quiet(bs.BoltzmannMachine("likelihood", gamma=0.36, series=True, random_state=0), rows[:, :10])
    draws = bm.posterior(200, seed=0)
    upper = np.triu_indices(10, 1)
    ratio = draws.couplings.std(axis=0)[upper] / bm.coupling_errors_[upper]
    assert np.mean(ratio) == pytest.approx(1, abs=0.1)


def test_a_gamma_of_none(remembering):
    rng = np.random.default_rng(9)
    rows = rng.choice([-1, 1], (600, 10))
    for t in range(1, len(rows)):
        rows[t] = np.where(rng.random(10) < 0.6, rows[t - 1], rows[t])
    bm = quiet(bs.BoltzmannMachine("likelihood", series=True, random_state=0), rows)
    assert math.sqrt(bm.gamma_) < 0.35
    assert np.isfinite(bm.coupling_errors_).all()


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"n_hidden": 1},
        {"prior": "sparse"},
        {"method": "likelihood", "prior": "sparse"},
        {"prior": "laplace"},
    ],
    ids=str,
)
def test_where_no_strength_is_seen(choices):
    rng = np.random.default_rng(9)
    rows = rng.choice([-1, 1], (400, 6))
    for t in range(1, len(rows)):
        rows[t] = np.where(rng.random(6) < 0.5, rows[t - 1], rows[t])
    assert quiet(bs.EmpiricalBayes("spectral", series=True), rows).gamma_ == 0
    bm = quiet(bs.BoltzmannMachine(**choices, series=True, random_state=0), rows)
    assert bm.gamma_ < 0.05 and np.abs(bm.couplings_).max() < 0.1
    assert np.isfinite(bm.coupling_errors_).all() and bm.check_.passed


def test_missing_cells_of_a_series(remembering):
    rows, _, _ = remembering
    X = rows[:, :12].astype(float)
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    bm = quiet(bs.BoltzmannMachine(series=True, random_state=0), X)
    assert bm.method_ == "likelihood"
    assert 100 < bm.effective_samples_ < 800
    eb = quiet(bs.EmpiricalBayes("susceptibility", series=True), X)
    assert 0 <= eb.J_ < 1


def test_causes_of_a_series_are_told_by_thinned_data():
    rng, n = np.random.default_rng(11), 12
    on, spins, rows = False, np.full(n, -1), np.empty((1500, n), np.int8)
    for t in range(1500):
        on = rng.random() < 0.3 if rng.random() < 0.3 else on
        new = np.where(rng.random(n) < (0.6 if on else 0.08), 1, -1)
        spins = np.where(rng.random(n) < 0.5, new, spins)
        rows[t] = spins
    bm = quiet(bs.BoltzmannMachine(n_hidden="auto", series=True, random_state=0), rows)
    assert bm.answer_.n_hidden == 1
    assert "by the evidence" in bm.reason_
    assert bm.hidden_coupling_errors_.shape == (n, 1)


def test_spike_trains_say_that_they_are_a_series():
    data = bs.from_spike_trains([[0.01, 0.05], [0.02, 0.021]], bin=0.02)
    assert any("a series" in note for note in data.notes)


# Pictures


def test_pictures_of_time(remembering):
    ax = plots.autocorrelation(Figure().subplots(), remembering[0])
    line = ax.get_lines()[0].get_ydata()
    np.testing.assert_array_equal(line, SpinStatistics.of(remembering[0]).autocorrelation[: len(line)])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["spins", "products of two"]
    drifting = chain(30, 800, 0.3, 5.0, 5, drift=0.5)[0]
    ax = plots.means_over_time(Figure().subplots(), drifting)
    mean = ax.get_lines()[-1].get_ydata()
    assert len(mean) == 64 and mean[-8:].mean() - mean[:8].mean() > 0.5
    ax = plots.means_over_time(Figure().subplots(), drifting[:50])
    assert ax.texts[0].get_text() == "There are too few rows."


def test_products_of_rows_with_missing_cells():
    """The mean over pairs of different spins that both rows show."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 4, 5)) * (rng.random((2, 4, 5)) < 0.7)
    terms = [
        x[a, i] * x[a, j] * y[a, i] * y[a, j]
        for a in range(4)
        for i in range(5)
        for j in range(5)
        if i != j and x[a, i] * x[a, j] * y[a, i] * y[a, j] != 0
    ]
    assert len(terms) > 10 and series._squared_overlap(x, y) == pytest.approx(np.mean(terms))


def test_rows_that_forget_at_once_are_worth_themselves():
    """Whatever noise is in their autocorrelation."""
    rho = np.array([1, 0.09, 0.06, 0.2, 0.0])
    memory = series.Memory(50, rho, rho, (100,))
    assert (memory.lag, memory.stride, memory.effective, memory.effective_for_means) == (1, 1, 100, 100)


def test_order_is_that_of_the_definition():
    """Of 25 rows in two runs, with missing cells: products of successive rows over their variance."""
    rows, _, _ = chain(6, 25, 0.6, 0.5, 4)
    X = rows.astype(float)
    assert (np.abs(X.mean(axis=0)) < 0.9).all()  # all spins vary
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    found = order_of(SpinStatistics.of([X[:10], X[10:]]))
    x = X - np.nanmean(X, axis=0)
    first = [*range(9), *range(10, 24)]
    products = [np.nansum(x[a] * x[a + 1]) for a in first]
    both = np.mean([np.sum(~np.isnan(x[a] * x[a + 1])) for a in first])
    variance = both * np.nanmean(x[first] ** 2)
    assert found.successive == pytest.approx(np.mean(products) / variance + 1 / 25)
    assert found.drift is None and order_of(SpinStatistics.of(rows[:19])) is None


def test_the_share_of_a_drift():
    """Means that follow half a cosine of amplitude a, which is one of those that are looked at: a^2/2."""
    N, n, a = 6400, 20, 0.6
    means = a * np.cos(np.pi * (np.arange(N) + 0.5) / N)[:, None]
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((N, n)) < (1 + means) / 2, 1, -1)
    found = order_of(SpinStatistics.of(rows))
    assert found.drifts and found.drift_share == pytest.approx(a**2 / 2, rel=0.1) and not found.remembers
    assert found.means[0].mean() == pytest.approx(a, abs=0.1)
    assert found.means == pytest.approx(rows.reshape(64, 100, n).mean(axis=1))  # every row is in one block


def test_no_order_where_no_spin_is_known_in_two_rows_that_follow_each_other():
    X = np.random.default_rng(2).choice([-1.0, 1.0], (60, 6))
    X[::2, :3] = X[1::2, 3:] = np.nan
    assert order_of(SpinStatistics.of(X)) is None
