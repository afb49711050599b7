"""Rows with missing cells under a model, against the sum over all of their states."""

import itertools

import numpy as np
import pytest

import bayesing as bs
from bayesing.sampling import missing
from bayesing.sampling._clamped import cells_of, go_through
from bayesing.sampling.missing import completed, filled, log_conditionals_shown, padded, shown

from samples import draw_exactly, random_model, stats, with_gaps
from slow import given

MODEL = random_model(7, 1.6, seed=4, field=0.7)


def rows(model, N, share, seed=0):
    """Spins with so many cells missing, 0 there; the first row shows all, the second nothing."""
    X = draw_exactly(model, N, np.random.default_rng(seed)).astype(np.int8)
    X[np.random.default_rng(seed + 1).random(X.shape) < share] = 0
    X[0], X[1] = np.where(X[0] == 0, 1, X[0]), 0
    return X


def exact(model, X):
    """ln of the sum over what is missing, and the probability of +1 of every cell."""
    found = [given(model, row) for row in X]
    return np.array([total for *_, total in found]), np.array([p @ (s > 0) for s, p, _ in found])


@pytest.mark.parametrize("m", [0, 1, 3, 10])
def test_all_states_of_what_is_missing(m):
    model = random_model(12, 1.3, seed=m, field=0.6)
    row = draw_exactly(model, 1, np.random.default_rng(m))[0].astype(float)
    cells = np.sort(np.random.default_rng(1).permutation(12)[:m])
    row[cells] = 0
    up = np.full(m, np.nan)
    total = go_through(row, model.couplings, model.fields, cells, up)
    states, p, expected = given(model, row)
    assert total == pytest.approx(expected, abs=1e-10)
    assert up == pytest.approx(p @ (states[:, cells] > 0), abs=1e-10)


def test_large_exponents_do_not_overflow():
    """States come in an order in which the most probable ones are last."""
    model = bs.IsingModel(300 * (1 - np.eye(4)), np.array([5.0, 0.0, 200.0, 100.0]))
    found = shown(model, np.zeros((1, 4), np.int8))
    assert found.log_weights == pytest.approx([2105.0]) and found.up == pytest.approx(np.ones((1, 4)))


def test_few_missing_cells_are_exact():
    X = rows(MODEL, 40, 0.35)
    found = shown(MODEL, X)
    totals, up = exact(MODEL, X)
    assert found.log_weights == pytest.approx(totals, abs=1e-10) and found.up == pytest.approx(up, abs=1e-10)
    assert found.log_weights[1] == pytest.approx(MODEL.log_partition()) and found.error == 0
    assert (found.up[X == 1] == 1).all() and (found.up[X == -1] == 0).all()


def test_many_missing_cells_are_annealed(monkeypatch):
    """Each logarithm within its own standard error, and the errors neither too large nor too small."""
    monkeypatch.setattr(missing, "EXACT", 1)
    X = rows(MODEL, 60, 0.6)
    totals, up = exact(MODEL, X)
    many = (X == 0).sum(axis=1) > 1
    looks = [shown(MODEL, X, seed) for seed in range(12)]
    off = np.array([look.log_weights - totals for look in looks])
    assert np.abs(off[:, ~many]).max() < 1e-10
    z = off[:, many] / np.sqrt(looks[0].variances[many])
    assert 0.75 < np.sqrt(np.mean(z**2)) < 1.3 and abs(off[:, many].mean()) < 4 * looks[0].error / np.sqrt(12)
    mean = np.mean([look.up for look in looks], axis=0)
    assert np.abs(mean - up).max() < 0.03 and np.sqrt(np.mean((mean - up)[X == 0] ** 2)) < 0.006
    assert (shown(MODEL, X, 3).log_weights == looks[3].log_weights).all()
    assert looks[0].error == pytest.approx(np.sqrt(looks[0].variances.sum()) / 60)


def test_hidden_units_are_columns_that_are_missing_in_every_row():
    X = rows(MODEL, 9, 0.3)[:, :5]
    assert (
        (padded(X, 7)[:, :5] == X).all() and not padded(X, 7)[:, 5:].any() and padded(X, 5).shape == X.shape
    )
    assert shown(MODEL, padded(X, 7)).log_weights == pytest.approx(exact(MODEL, padded(X, 7))[0])


def test_draws_are_those_of_the_conditional_distribution():
    """All states of one row, by the chi square of how often each is drawn; the rest of the row stays."""
    row = np.array([1, 0, -1, 0, 0, 1, 0], np.int8)
    states, p, _ = given(MODEL, row)
    drawn = completed(MODEL, np.repeat(row[None], 20_000, axis=0), 0)
    assert drawn.dtype == np.int8 and (drawn[:, row != 0] == row[row != 0]).all()
    counts = np.array([(drawn == state).all(axis=1).sum() for state in states])
    assert counts.sum() == 20_000
    chi2 = np.sum((counts - 20_000 * p) ** 2 / (20_000 * p))
    assert chi2 < 15 + 4 * np.sqrt(30)
    assert (completed(MODEL, np.ones((3, 7), np.int8)) == 1).all()
    assert (completed(MODEL, rows(MODEL, 9, 0.4), 5) == completed(MODEL, rows(MODEL, 9, 0.4), 5)).all()


def test_filled_cells_have_the_mean_of_their_spin():
    X = draw_exactly(MODEL, 4000, np.random.default_rng(0))
    gaps = stats(with_gaps(X, 0.4))
    whole = filled(gaps)
    assert not whole.missing and whole.N == gaps.N and whole.names == gaps.names
    there = gaps.spins() != 0
    assert (whole.spins()[there] == gaps.spins()[there]).all()
    drawn = np.where(there, np.nan, whole.spins())
    error = np.sqrt((1 - gaps.magnetisations**2) / (~there).sum(axis=0))
    assert np.abs((np.nanmean(drawn, axis=0) - gaps.magnetisations) / error).max() < 3.5
    pairs = [
        np.nanmean(drawn[:, i] * drawn[:, j]) - np.prod(gaps.magnetisations[[i, j]])
        for i, j in [(0, 1), (2, 5)]
    ]
    assert np.abs(pairs).max() < 4 / np.sqrt(0.16 * 4000)


def test_conditionals_of_the_cells_that_are_there():
    """P(s_i | the others that are there): two sums over what is missing, one of them over i as well."""
    X = rows(MODEL, 12, 0.4)
    found = log_conditionals_shown(MODEL, X)
    expected = []
    for row in X:
        for i in np.flatnonzero(row):
            others = row.copy()
            others[i] = 0
            expected.append(given(MODEL, row)[2] - given(MODEL, others)[2])
    assert found == pytest.approx(np.array(expected), abs=1e-9) and len(found) == (X != 0).sum()


def test_columns_of_missing_cells():
    X = rows(MODEL, 30, 0.5)
    starts, cells = cells_of(X)
    assert [cells[a:b].tolist() for a, b in itertools.pairwise(starts)] == [
        np.flatnonzero(row == 0).tolist() for row in X
    ]
