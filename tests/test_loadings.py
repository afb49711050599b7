from types import SimpleNamespace

import numpy as np
import pytest

import bayesing as bs
from bayesing.edges import Coupling
from bayesing.loadings import (
    Cause,
    cause_names,
    causes_of,
    limit_for_loadings,
    loadings_of,
    strongest_loadings,
    whole_rows,
)

from samples import stats, with_gaps

NAMES = [f"q{i}" for i in range(7)]


def driven(N=600, seed=0):
    """Seven spins, the first four of which follow a cause that is on in a quarter of the samples."""
    rng = np.random.default_rng(seed)
    on = rng.random(N) < 0.25
    field = np.outer(np.where(on, 1.0, -1.0), [1.0, 0.9, 0.8, -0.9, 0, 0, 0]) + np.linspace(-0.3, 0.3, 7)
    return np.where(rng.random((N, 7)) < 1 / (1 + np.exp(-2 * field)), 1, -1).astype(np.int8), on


@pytest.fixture(scope="module")
def fitted():
    X, on = driven()
    return bs.BoltzmannMachine(n_hidden=1, random_state=0).fit(X), X, on


def test_all_loadings_with_their_names_and_probabilities(fitted):
    bm, _, _ = fitted
    found = list(loadings_of(bm.answer_, NAMES))
    assert [(each.i, each.j) for each in found] == [(i, 7) for i in range(7)]
    assert {each.name_j for each in found} == {"cause 1"} and [each.name_i for each in found] == NAMES
    assert [each.J for each in found] == bm.hidden_couplings_[:, 0].tolist()
    assert [each.error for each in found] == bm.hidden_coupling_errors_[:, 0].tolist()
    draws = np.random.default_rng(1).normal(size=100_000)
    for each in found:
        right = np.mean((each.J + each.error * draws) * each.J > 0)
        assert each.probability == pytest.approx(right, abs=0.007)  # 4 standard errors
    assert list(loadings_of(bs.BoltzmannMachine("spectral").fit(fitted[1]).answer_, NAMES)) == []


def test_how_often_a_cause_is_on(fitted):
    bm, X, on = fitted
    (cause,) = causes_of(bm.answer_, NAMES, stats(X))
    W, c = bm.hidden_couplings_[:, 0], bm.hidden_fields_[0]
    weights = np.array([[np.exp(t * (c + s @ W)) for t in (1, -1)] for s in X.astype(float)])
    assert cause.on == pytest.approx(np.mean(weights[:, 0] / weights.sum(axis=1)), abs=1e-12)
    assert cause.on == pytest.approx(on.mean(), abs=0.08)
    assert (cause.name, cause.field) == ("cause 1", c)
    assert [each.name_i for each in cause.loadings[:4]] == [NAMES[i] for i in np.argsort(-np.abs(W))[:4]]
    assert {each.name_i for each in cause.clear(9)} >= set(NAMES[:4]) and len(cause.clear(2)) == 2
    gappy = causes_of(bm.answer_, NAMES, stats(with_gaps(X, 0.1)))[0]
    assert gappy.on == pytest.approx(cause.on, abs=0.04) and gappy.on != cause.on
    assert causes_of(bs.BoltzmannMachine("spectral").fit(X).answer_, NAMES, stats(X)) == ()


def test_two_causes_have_their_own_loadings():
    """Of a spin that no cause can have, all is 0, and its sign is anyone's guess."""
    W = np.array([[0.5, -0.2], [-0.9, 0.4], [0.0, 0.0], [0.1, 0.7]])
    c, errors = np.array([0.3, -0.6]), np.where(W == 0, 0.0, 0.1)
    hidden = SimpleNamespace(couplings=W, errors=errors, fields=c, field_errors=np.array([0.05, 0.07]))
    answer = SimpleNamespace(n_hidden=2, hidden=hidden)
    X = driven(N=50)[0][:, :4]
    X[:, 2] = 1
    causes = causes_of(answer, NAMES[:4], stats(X))
    for a, (cause, order) in enumerate(zip(causes, ([1, 0, 3, 2], [3, 1, 0, 2]), strict=True)):
        assert cause.name == f"cause {a + 1}" and {each.name_j for each in cause.loadings} == {cause.name}
        assert [(each.i, each.j) for each in cause.loadings] == [(i, 4 + a) for i in order]
        assert [each.J for each in cause.loadings] == W[order, a].tolist()
        assert (cause.field, cause.field_error) == (c[a], hidden.field_errors[a])
        assert cause.on == pytest.approx(np.mean(1 / (1 + np.exp(-2 * (X @ W[:, a] + c[a])))))
        assert cause.loadings[-1].probability == 0.5 and cause.loadings[-2].probability > 0.84


def test_missing_cells_are_drawn_and_the_others_stay(fitted):
    bm, X, _ = fitted
    gappy = with_gaps(X, 0.3)
    whole = whole_rows(bm.answer_, stats(gappy)).spins()
    there = ~np.isnan(gappy)
    assert (np.abs(whole) == 1).all() and (whole[there] == X[there]).all()
    # Cells that are drawn given the others are right more often than those drawn from the mean of their spin.
    gaps, m = ~there[:, :4], X[:, :4].mean(axis=0)
    alone = np.mean(1 + m**2) / 2
    assert (whole[:, :4][gaps] == X[:, :4][gaps]).mean() > alone + 4 * 0.5 / np.sqrt(gaps.sum())
    data = stats(X)
    assert whole_rows(bm.answer_, data) is data


def test_names_of_causes_are_new():
    assert cause_names(2, NAMES) == ["cause 1", "cause 2"]
    assert cause_names(1, ["cause 2"]) == ["cause 1"]
    assert cause_names(1, ["cause 1", "hidden cause 1"]) == ["hidden hidden cause 1"]
    assert cause_names(0, NAMES) == []


def test_the_strongest_of_each_cause():
    found = [
        Coupling(i, j, f"q{i}", f"cause {j - 2}", W, 0.1, 0.9)
        for i, j, W in ((0, 3, 0.3), (1, 3, -0.9), (2, 3, 0.5), (0, 4, 0.15), (1, 4, -0.19), (2, 4, 0.0))
    ]
    assert [each.J for each in strongest_loadings(found, 2)] == [-0.9, 0.5, -0.19]
    assert [each.J for each in strongest_loadings(found, 9)] == [-0.9, 0.5, 0.3, -0.19]
    cause = Cause("cause 2", 0.5, 0.0, 0.1, tuple(found[3:]))
    assert cause.clear(3) == ()


def test_loadings_that_are_told_have_few_wrong_signs():
    found = [Coupling(0, 1, "a", "b", 1.0, 0.1, p) for p in (0.99, 0.95, 0.9, 0.5)]
    assert limit_for_loadings(found, 0.06) == 0.5 and limit_for_loadings(found, 0.005) == 0.99
