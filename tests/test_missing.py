"""Missing cells in the estimators: what is used, what is said, and what is right."""

import warnings

import numpy as np
import pandas as pd
import pytest

import bayesing as bs
from bayesing.exceptions import InputError

from samples import draw_exactly, random_model, with_gaps

n, N = 15, 600
MODEL = random_model(n, 0.8, seed=3, field=0.4)
WHOLE = draw_exactly(MODEL, N, np.random.default_rng(1)).astype(np.int8)
X = with_gaps(WHOLE, 0.2)
UPPER = np.triu_indices(n, 1)


@pytest.fixture(scope="module")
def bm():
    return bs.BoltzmannMachine().fit(X)


@pytest.fixture(scope="module")
def whole():
    return bs.BoltzmannMachine("likelihood").fit(WHOLE)


def small(share=0.2, n_samples=150, seed=0):
    """Few spins and samples, where any fit takes no time."""
    model = random_model(5, 0.9, seed=2, field=0.5)
    return with_gaps(draw_exactly(model, n_samples, np.random.default_rng(seed)), share)


# Which method


def test_auto_takes_the_likelihood_and_says_why(bm):
    share = 100 * np.isnan(X).mean()
    assert bm.method_ == "likelihood"
    assert bm.reason_ == f"{share:.2g}% of the cells are missing, and it uses all that are there"


@pytest.mark.parametrize("method", ["pseudolikelihood", "spectral"])
def test_methods_with_a_prior_hand_over(method):
    Y = small()
    found, own = (bs.BoltzmannMachine(name, gamma=0.5).fit(Y) for name in (method, "likelihood"))
    assert found.method_ == "likelihood" and found.reason_ == f"cells are missing, which {method} cannot use"
    assert (found.couplings_ == own.couplings_).all() and own.reason_ == "as asked"


@pytest.mark.parametrize("method", ["naive_mean_field", "tap", "independent_pair", "exact"])
def test_methods_without_a_prior_cannot_use_them(method):
    Y = small()
    with pytest.raises(
        InputError, match=rf'method="{method}" cannot use rows with missing cells: found \d+ missing'
    ):
        bs.BoltzmannMachine(method).fit(Y)


def test_the_strength():
    found = bs.EmpiricalBayes().fit(X)
    assert found.method_ == "likelihood" and "20% of the cells are missing" in found.reason_
    assert abs(found.J_ - 0.8) < 3 * found.J_error_ < 0.4
    assert abs(found.H_ - MODEL.fields.mean()) < 4 * found.H_error_
    laplace = bs.EmpiricalBayes(prior="laplace").fit(X)
    assert laplace.method_ == "susceptibility" and "moments are of those that are there" in laplace.reason_
    assert abs(laplace.J_ - 0.8) < 4 * laplace.J_error_


def test_batches():
    """Rows that were drawn of them will do; without any there is no answer."""
    parts = bs.SpinStatistics.of_batches(np.array_split(small(), 4))
    assert bs.BoltzmannMachine(random_state=0).fit(parts).method_ == "likelihood"
    parts = bs.SpinStatistics.of(small()).without_rows()
    with pytest.raises(InputError, match=r"needs all rows at once where cells are missing: found sums"):
        bs.BoltzmannMachine().fit(parts)
    assert bs.EmpiricalBayes().fit(parts).method_ == "susceptibility"


# Rows and columns without any cell


def test_a_row_that_shows_nothing_changes_nothing():
    Y = small()
    more = np.insert(Y, [0, 70, 150], np.nan, axis=0)
    one, a = bs.BoltzmannMachine(gamma=0.5).fit(Y), bs.EmpiricalBayes("susceptibility").fit(Y)
    words = r"^3 of 153 samples have no value at all and are left out\.$"
    with pytest.warns(bs.LeftOutWarning, match=words):
        other = bs.BoltzmannMachine(gamma=0.5).fit(more)
    with pytest.warns(bs.LeftOutWarning, match=words):
        b = bs.EmpiricalBayes("susceptibility").fit(pd.DataFrame(more))
    for name in ("couplings_", "coupling_errors_", "fields_", "field_errors_"):
        assert (getattr(one, name) == getattr(other, name)).all()
    assert one.check_ == other.check_
    assert (a.gamma_, a.gamma_error_, a.H_) == (b.gamma_, b.gamma_error_, b.H_)
    assert one.score(more) == one.score(Y) and one.log_likelihood(more) == one.log_likelihood(Y)


def test_a_column_that_shows_nothing_has_no_couplings():
    Y = small()
    own = bs.BoltzmannMachine(gamma=0.5).fit(Y)
    with pytest.warns(
        bs.LeftOutWarning, match=r"^1 of 6 spins \(x2\) has no value at all: nothing can be known"
    ):
        found = bs.BoltzmannMachine(gamma=0.6).fit(np.insert(Y, 2, np.nan, axis=1))
    kept = np.delete(np.arange(6), 2)
    assert not found.couplings_[2].any() and found.fields_[2] == 0
    assert found.coupling_errors_[2, kept] == pytest.approx(np.sqrt(0.6 / 6))
    # gamma/n is the same, and 0.1.
    assert found.couplings_[np.ix_(kept, kept)] == pytest.approx(own.couplings_, abs=1e-9)
    assert (found.impute(np.full((1, 6), np.nan))[0, 2]) == pytest.approx(0.5)
    empty = pd.DataFrame(np.insert(Y, [0] * 7, np.nan, axis=1), columns=list("abcdefghijkl"))
    with pytest.warns(
        bs.LeftOutWarning, match=r"^7 of 12 spins \(a, b, c, d, e, \.\.\.\) have .* known about them"
    ):
        bs.EmpiricalBayes("susceptibility").fit(empty)
    with pytest.raises(ValueError, match="vary between samples: found 1 of 3"):
        bs.BoltzmannMachine().fit([[1, np.nan, 1], [-1, np.nan, 1], [1, np.nan, np.nan], [1, np.nan, 1]])
    with pytest.raises(ValueError, match="with a cell that is not missing"):
        bs.BoltzmannMachine().fit(np.full((5, 3), np.nan))


def test_the_ways_to_say_missing():
    Y = small()
    one = bs.BoltzmannMachine(gamma=0.5).fit(Y)
    frame = pd.DataFrame((Y + 1) / 2).astype("Int8")
    objects = np.where(np.isnan(Y), None, Y)
    for other in (frame, objects):
        assert (bs.SpinStatistics.of(other).spins() == np.nan_to_num(Y)).all()
    assert (bs.BoltzmannMachine(gamma=0.5).fit(frame).couplings_ == one.couplings_).all()


# Is it right?


def test_intervals_hold_the_couplings(bm, whole):
    """90% of 105 couplings, of which as many are outside as binomial numbers may be."""
    truth = MODEL.couplings[UPPER]
    z = np.abs(bm.couplings_[UPPER] - truth) / bm.coupling_errors_[UPPER]
    assert 0.9 - 3 * np.sqrt(0.09 / 105) < np.mean(z < 1.645) <= 0.9 + 3 * np.sqrt(0.09 / 105)
    assert np.sqrt(np.mean(z**2)) == pytest.approx(1, abs=0.25)
    ratio = np.mean(bm.coupling_errors_[UPPER] ** 2 / whole.coupling_errors_[UPPER] ** 2)
    assert 1.2 < ratio < 1 / 0.8**2  # pairs that are there are 64%, and others tell something
    assert np.abs((bm.fields_ - MODEL.fields) / bm.field_errors_).max() < 4
    assert bm.certificate_.passed and bm.check_.passed and "fails" not in bm.check_.sentence


def test_nearer_to_the_truth_than_with_rows_left_out(bm, whole):
    complete = X[~np.isnan(X).any(axis=1)]
    assert 10 < len(complete) < 60
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        listwise = bs.BoltzmannMachine("likelihood").fit(complete)
    off = [np.linalg.norm(each.couplings_ - MODEL.couplings) for each in (whole, bm, listwise)]
    assert off[1] < 1.35 * off[0] and off[1] < 0.6 * off[2]


def test_missing_at_random_is_without_bias():
    """Whether cells are missing depends on a column that is there: rows that are left out are not like the others."""
    model = random_model(6, 1.0, seed=5, field=0.3)
    J = model.couplings.copy()
    J[0, 1] = J[1, 0] = 0.8
    model = bs.IsingModel(J, model.fields)
    rng = np.random.default_rng(0)
    Y = draw_exactly(model, 3000, rng).astype(float)
    gone = (rng.random(3000) < 0.9) & (Y[:, 0] > 0)
    Y[gone, 1] = np.nan
    means = model.means()
    found = bs.BoltzmannMachine("likelihood", gamma=1.0).fit(Y)
    z = (found.couplings_ - J)[np.triu_indices(6, 1)] / found.coupling_errors_[np.triu_indices(6, 1)]
    assert np.abs(z).max() < 3.5 and np.abs((found.fields_ - model.fields) / found.field_errors_).max() < 3.5
    assert found.model_.means()[:2] == pytest.approx(means[:2], abs=0.08)
    available = np.nanmean(Y[:, 1])
    listwise = bs.BoltzmannMachine("likelihood", gamma=1.0).fit(Y[~gone])
    assert abs(available - means[1]) > 0.2 and abs(listwise.model_.means()[0] - means[0]) > 0.4


def test_imputed_probabilities_are_calibrated(bm):
    """Of cells that were taken away: as often up as they are said to be; and better than the means."""
    new = draw_exactly(MODEL, 800, np.random.default_rng(9))
    gaps = with_gaps(new, 0.25, seed=4)
    away = np.isnan(gaps)
    found = bm.impute(gaps)
    assert (found[~away] == (new[~away] > 0)).all()
    p, up = found[away], new[away] > 0
    for low, high in ((0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.01)):
        inside = (p >= low) & (p < high)
        error = np.sqrt(np.mean(p[inside] * (1 - p[inside])) / inside.sum())
        assert inside.sum() > 100 and abs(up[inside].mean() - p[inside].mean()) < 4 * error + 0.02
    means = np.broadcast_to((1 + WHOLE.mean(axis=0)) / 2, away.shape)[away]
    assert np.mean((p - up) ** 2) < 0.9 * np.mean((means - up) ** 2)


def test_score_and_log_likelihood(bm):
    """More missing cells are less log likelihood to lose; complete rows are as without all of this."""
    assert bm.log_likelihood(X)[0] > bm.log_likelihood(WHOLE)[0]
    assert bm.log_likelihood(WHOLE)[0] == pytest.approx(
        -bm.model_.energy(WHOLE).mean() - bm.model_.log_partition()
    )
    few = WHOLE[:50].astype(float)
    few[0, 0] = np.nan
    rest = bm.score(WHOLE[1:50]) * 49 * n
    one = bm.score(few) * (50 * n - 1)
    assert -3 * n < one - rest < 0


def test_the_check_fails_for_a_wrong_model(bm):
    """Samples of other couplings do not look like the data, however many cells are missing."""
    other = with_gaps(draw_exactly(random_model(n, 0.8, seed=8, field=0.4), N, np.random.default_rng(1)), 0.2)
    assert bm.check(X).passed and not bm.check(other).passed
    found = bm.check(X)
    shown, independent = found.log_likelihood, found.independent
    assert shown == pytest.approx(bm.log_likelihood(X)[0], abs=0.1)
    d, counts = np.nanmean(X, axis=0), (~np.isnan(X)).sum(axis=0)
    p = (1 + d) / 2
    expected = np.sum(counts * (p * np.log(p) + (1 - p) * np.log(1 - p))) / N
    assert independent == pytest.approx(expected)


# What else there is


def test_draws_of_the_posterior():
    found = bs.BoltzmannMachine(gamma=0.5).fit(small(0.3))
    drawn, upper = found.posterior(60, seed=0), np.triu_indices(5, 1)
    spread = drawn.couplings.std(axis=0)[upper]
    assert np.mean(spread / found.coupling_errors_[upper]) == pytest.approx(1, abs=0.2)


def test_a_sparse_prior_finds_planted_edges():
    J = np.zeros((12, 12))
    for i in range(12):
        J[i, (i + 1) % 12] = J[(i + 1) % 12, i] = 0.55
    model = bs.IsingModel(J, np.linspace(-0.4, 0.4, 12))
    Y = with_gaps(draw_exactly(model, 800, np.random.default_rng(0)), 0.15)
    found = bs.BoltzmannMachine(prior="sparse").fit(Y)
    edges = {(edge.i, edge.j) for edge in found.edges()}
    planted = {(i, i + 1) for i in range(11)} | {(0, 11)}
    assert found.method_ == "likelihood" and planted <= edges and len(edges - planted) <= 2
    there = J > 0
    z = (found.couplings_ - J)[there] / found.coupling_errors_[there]
    assert np.sqrt(np.mean(z**2)) < 1.6 and np.abs(found.couplings_[(J == 0)]).mean() < 0.03
    complete = bs.BoltzmannMachine("likelihood", prior="sparse").fit(np.where(np.isnan(Y), 1, Y))
    assert np.abs(complete.couplings_ - J)[there].mean() > 2 * np.abs(found.couplings_ - J)[there].mean()


def test_two_groups_are_compared():
    model = random_model(8, 0.8, seed=6)
    J = model.couplings.copy()
    J[2, 5] = J[5, 2] = J[2, 5] + 0.9
    groups = [
        with_gaps(draw_exactly(m, 1200, np.random.default_rng(k)), 0.1, seed=k)
        for k, m in enumerate([model, bs.IsingModel(J, model.fields)])
    ]
    found = bs.compare(*groups)
    assert [(edge.i, edge.j) for edge in found.edges(fdr=0.1)] == [(2, 5)]
    best = found.edges(fdr=0.1)[0]
    assert abs(best.difference + 0.9) < 4 * best.error


def test_columns_and_rows_that_show_nothing_are_not_compared():
    a, b = small(0.02, 200), small(0.02, 200, seed=1)
    b[:, 1] = 1
    a[:, 1] = b[:, 3] = b[7] = np.nan
    with pytest.warns(bs.LeftOutWarning) as caught:
        found = bs.compare(a, b)
    assert found.left_out == (("x1", "no value in a, constant in b"), ("x3", "no value in b"))
    rows, columns = (str(warning.message) for warning in caught if warning.category is bs.LeftOutWarning)
    assert rows == "Group b: 1 of 200 samples has no value at all and is left out."
    assert columns == (
        "Columns that are not compared: x1 (no value in a, constant in b), x3 (no value in b)."
    )
    assert all(warning.filename == __file__ for warning in caught)
