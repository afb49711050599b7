import numpy as np
import pytest

import bayesing as bs
from bayesing.report.oddities import oddities_of, order_of_rows

from samples import random_spins, stats


def test_copies_and_constant_columns():
    X = random_spins(60, 6)
    X[0] = -1
    odd = np.column_stack([X, X[:, 1], -X[:, 2], np.ones(60, np.int8)]).astype(np.int8)
    found = oddities_of(stats(odd), 0)
    assert found.copies == ((1, 6, 1), (2, 7, -1)) and found.successive is None


def test_rows_that_follow_each_other_in_time():
    rng = np.random.default_rng(0)
    slow = np.where(np.cumsum(rng.normal(size=(300, 7)), axis=0) > 0, 1, -1).astype(np.int8)
    z = slow - slow.mean(axis=0)
    found = oddities_of(stats(slow), 0)
    assert found.successive == pytest.approx(np.mean(z[1:] * z[:-1]) / np.mean(z**2))
    # Of 299 pairs of rows, each a mean over 7 columns that are not independent.
    assert 1 / np.sqrt(299 * 7) < found.shuffled < 1 / np.sqrt(299)
    assert oddities_of(stats(rng.permutation(slow)), 0).successive is None


def test_independent_rows_are_seldom_said_to_be_in_order():
    coupled = bs.simulate(n_spins=30, n_samples=2000, J=0.9, sweeps=4, seed=0).spins
    flagged = [order_of_rows(part, 0)[0] is not None for part in coupled.reshape(20, 100, 30)]
    assert sum(flagged) == 0  # five standard deviations


def test_too_few_rows_show_no_order():
    slow = np.repeat([[1, -1, 1], [-1, 1, 1]], 9, axis=0).astype(np.int8)
    assert order_of_rows(slow, 0) == (None, 0.0)
    assert order_of_rows(np.repeat(slow, 2, axis=0), 0)[0] > 0.9
