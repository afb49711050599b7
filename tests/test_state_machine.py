"""Random data sets, changed step by step, and all methods: numbers are finite or warned of, and symmetries hold."""

import os
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

import bayesing as bs
from bayesing import couplings, strength

EXAMPLES = int(os.environ.get("BAYESING_EXAMPLES", "12"))  # of sequences of steps; `make fuzz` takes more
SEARCHES = ("likelihood",)  # methods by random chains, whose answers keep symmetries within errors alone
STRENGTHS = [method for method in strength.METHODS if method.name not in SEARCHES]
COUPLINGS = [method for method in couplings.METHODS if method.name not in SEARCHES]
SHOWN = ("gamma_", "gamma_error_", "J_", "J_error_", "H_", "H_error_", "J0_", "J0_error_")
GAMMAS = (1e-8, 0.05, 0.3, 2.0, 1e8)
BLIND = (
    "susceptibility",
    "spectral",
    "inversion",
)  # their gamma does not change where spins change their signs

seeds = st.integers(0, 2**32 - 1)


def fitted(estimator, X):
    """A fitted estimator, or None where a ValueError says why there is none; and whether there were warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            estimator.fit(X)
        except ValueError:
            return None, False
    kinds = [warning.category for warning in caught]
    assert all(issubclass(kind, bs.BayesingWarning) for kind in kinds), kinds
    return estimator, bool(kinds)


def strength_of(method, X, mean_coupling=False):
    """Numbers by name, or None; they are finite, unless there is a warning."""
    found, warned = fitted(bs.EmpiricalBayes(method.name, mean_coupling=mean_coupling, random_state=0), X)
    if found is None:
        return None
    numbers = {name: getattr(found, name) for name in SHOWN}
    assert warned or np.isfinite(list(numbers.values())).all(), numbers
    assert found.regime_ and repr(found)
    return numbers


def machine_of(method, X, gamma):
    """Couplings, errors and fields, or None; they are finite, unless there is a warning."""
    settings = {"gamma": gamma} if method.priors else {}
    found, warned = fitted(bs.BoltzmannMachine(method.name, random_state=0, **settings), X)
    if found is None:
        return None
    arrays = found.couplings_, found.coupling_errors_, found.fields_
    assert warned or all(np.isfinite(array).all() for array in arrays)
    return arrays


def same(a, b, places=()):
    """Whether two answers of :func:`strength_of` are the same, within what searches leave."""
    assert (a is None) == (b is None)
    for name in () if a is None else places or a:
        np.testing.assert_allclose(a[name], b[name], rtol=2e-3, atol=2e-4, err_msg=name)


class DataSets(RuleBasedStateMachine):
    """A table of spins that changes, and what must hold of it at any time."""

    @initialize(
        seed=seeds, n=st.integers(2, 6), N=st.sampled_from([2, 4, 7, 12, 40, 150]), p=st.floats(0.02, 0.98)
    )
    def start(self, seed, n, N, p):
        self.X = np.where(np.random.default_rng(seed).random((N, n)) < p, 1.0, -1.0)

    @rule(seed=seeds, share=st.floats(0, 0.4))
    def correlate(self, seed, share):
        """Columns follow the first in a share of the rows, each with a sign of its own."""
        rng = np.random.default_rng(seed)
        signs = np.where(rng.random(self.X.shape[1]) < 0.5, 1, -1)
        follow = rng.random(self.X.shape) < share
        self.X = np.where(follow, self.X[:, :1] * signs, self.X)

    @rule(copies=st.integers(2, 5))
    def repeat_rows(self, copies):
        self.X = np.tile(self.X, (copies, 1))[:2000]

    @precondition(lambda self: self.X.shape[1] < 8)
    @rule(sign=st.sampled_from([1.0, -1.0]))
    def copy_a_column(self, sign):
        self.X = np.column_stack([self.X, sign * self.X[:, 0]])

    @precondition(lambda self: self.X.shape[1] < 8)
    @rule(value=st.sampled_from([1.0, -1.0]))
    def add_a_constant(self, value):
        self.X = np.column_stack([self.X, np.full(len(self.X), value)])

    @rule(seed=seeds, share=st.floats(0, 0.5))
    def lose_cells(self, seed, share):
        self.X = np.where(np.random.default_rng(seed).random(self.X.shape) < share, np.nan, self.X)

    @rule(method=st.sampled_from(STRENGTHS), mean_coupling=st.booleans(), seed=seeds)
    def strength_has_symmetries(self, method, mean_coupling, seed):
        if mean_coupling and not method.mean_coupling:
            return
        rng = np.random.default_rng(seed)
        before = strength_of(method, self.X, mean_coupling)
        shuffled = rng.permutation(self.X)[:, rng.permutation(self.X.shape[1])]
        same(before, strength_of(method, shuffled, mean_coupling))
        if method.name in BLIND and not mean_coupling:
            signs = np.where(rng.random(self.X.shape[1]) < 0.5, 1, -1)
            same(before, strength_of(method, self.X * signs), ("gamma_", "J_"))
        if np.isfinite(self.X).all():
            same(before, strength_of(method, (self.X > 0).astype(int), mean_coupling))
            if len(self.X) > 3:
                parts = bs.SpinStatistics.of(self.X[:2]) + bs.SpinStatistics.of(self.X[2:])
                same(before, strength_of(method, parts, mean_coupling))

    @rule(method=st.sampled_from(COUPLINGS), gamma=st.sampled_from(GAMMAS), seed=seeds)
    def couplings_have_symmetries(self, method, gamma, seed):
        rng = np.random.default_rng(seed)
        before = machine_of(method, self.X, gamma)
        if np.isnan(self.X).any() and not method.uses_missing:
            return  # a search stands in
        order = rng.permutation(self.X.shape[1])
        signs = np.where(rng.random(len(order)) < 0.5, 1, -1)
        after = machine_of(method, rng.permutation(self.X)[:, order] * signs, gamma)
        assert (before is None) == (after is None)
        if before is not None:
            J, errors, fields = before
            pairs = np.ix_(order, order)
            expected = J[pairs] * np.outer(signs, signs), errors[pairs], fields[order] * signs
            for one, two in zip(expected, after, strict=True):
                scale = np.abs(one).max(initial=0.0, where=np.isfinite(one))
                np.testing.assert_allclose(one, two, rtol=2e-3, atol=1e-4 * (1 + scale))


def test_data_sets_that_change():
    run_state_machine_as_test(
        DataSets,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=8,
            deadline=None,
            derandomize="BAYESING_EXAMPLES" not in os.environ,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize("name", SEARCHES)
def test_searches_are_finite_or_warn(name):
    rng = np.random.default_rng(0)
    for X in (rng.choice([-1, 1], (5, 3)), np.repeat(rng.choice([-1, 1], (30, 1)), 3, axis=1)):
        strength_of(next(method for method in strength.METHODS if method.name == name), X)
        machine_of(next(method for method in couplings.METHODS if method.name == name), X, 0.3)


@pytest.mark.parametrize(
    "X", [[[-1, 1], [-1, 1], [1, 1], [-1, -1]], np.random.default_rng(0).choice([-1, 1], (10**6, 3))]
)
def test_no_couplings_have_a_finite_error(X):
    """The error of independent pairs, n/N sqrt(2/pairs), and twice that at most."""
    eb, _ = fitted(bs.EmpiricalBayes(), X)
    N, n = np.shape(X)
    least = n / (N - 1) * np.sqrt(4 / (n * (n - 1))) / (1 - np.mean(eb.moments_.magnetisations**2)) ** 2
    assert eb.gamma_ == 0 and 0.5 * least < eb.gamma_error_ < 2.1 * least
    assert np.isfinite(eb.H_error_) and eb.H_error_ > 0
