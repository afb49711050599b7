"""Dask arrays and data frames give what the same rows in memory give, to the last bit."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import bayesing as bs
from bayesing import drawn, lazy
from bayesing.exceptions import InputError, LeftOutWarning, NotSpinsError
from bayesing.lazy import is_lazy
from bayesing.statistics import SpinStatistics

N, n = 211, 7


def spins(seed=0, N=N, n=n):
    """Dependent spins with different means: a product of wrong columns would show."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(N, 1))
    return np.where(rng.normal(size=(N, n)) + 0.7 * common > np.linspace(-0.5, 0.8, n), 1, -1).astype(np.int8)


def frame(X):
    return pd.DataFrame(X, columns=[f"item {j}" for j in range(X.shape[1])])


def assert_same(found, expected):
    """All that is kept of the data, bit for bit."""
    assert (found.N, found.n, found.names, found.encoding) == (
        expected.N,
        expected.n,
        expected.names,
        expected.encoding,
    )
    assert (found.runs, found.empty, found.missing) == (expected.runs, expected.empty, expected.missing)
    np.testing.assert_array_equal(found.rows.words, expected.rows.words)
    if expected.absent is None:
        assert found.absent is None
    else:
        np.testing.assert_array_equal(found.absent.words, expected.absent.words)
    for name in ("sums", "counts", "cross", "pair_counts", "pair_sums"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)


@pytest.mark.parametrize("scheduler", ["sync", "threads", "processes"])
def test_an_array_is_that_of_memory_with_any_scheduler(scheduler):
    X = spins()
    with dask.config.set(scheduler=scheduler, num_workers=2):
        assert_same(SpinStatistics.of(da.from_array(X, chunks=(40, n))), SpinStatistics.of(X))


@pytest.mark.parametrize("chunks", [(1, 7), (3, 2), (40, 3), (300, 7), (100, 1)])
def test_blocks_of_any_shape(chunks):
    X = spins(1)
    assert_same(SpinStatistics.of(da.from_array(X, chunks=chunks)), SpinStatistics.of(X))


def test_fewer_samples_than_spins():
    X = spins(2, 23, 80)
    found = SpinStatistics.of(da.from_array(X, chunks=(4, 30)))
    assert_same(found, SpinStatistics.of(X))
    assert found.rows is not None


@pytest.mark.parametrize("kind", [np.int8, np.float32, np.uint8, bool, object])
def test_types_of_cells(kind):
    X = (spins(3) > 0).astype(kind)
    assert_same(SpinStatistics.of(da.from_array(X, chunks=(50, 4))), SpinStatistics.of(X))


def test_words():
    X = np.where(spins(3) > 0, "yes", "no").astype(object)
    X[5, 2] = None
    found = SpinStatistics.of(da.from_array(X, chunks=(50, 4)))
    assert_same(found, SpinStatistics.of(X))
    assert found.encoding == "yes/no" and found.missing == 1


def gappy(seed=4):
    X = spins(seed).astype(np.float64)
    X[np.random.default_rng(seed).random(X.shape) < 0.1] = np.nan
    X[[17, 90]] = np.nan
    return X


def test_missing_cells_and_empty_rows():
    X = gappy()
    found = SpinStatistics.of(da.from_array(X, chunks=(37, 5)))
    assert_same(found, SpinStatistics.of(X))
    assert found.empty == 2 and found.missing > 50
    kept = SpinStatistics.of(da.from_array(X, chunks=(37, 5)), keep_empty=True)
    assert kept.N == N and kept.empty == 0


def test_masked_arrays():
    X = np.ma.masked_array(spins(5), mask=np.zeros((N, n), bool))
    X.mask[3, 4] = True
    assert_same(SpinStatistics.of(da.from_array(X, chunks=(60, 3), asarray=False)), SpinStatistics.of(X))


def test_a_data_frame_with_empty_partitions():
    table = frame(gappy(6))
    parts = [table[:0], table[:50], table[50:51], table[51:51], table[51:]]
    X = dd.from_delayed([dask.delayed(part) for part in parts], meta=table[:0])
    found = SpinStatistics.of(X)
    assert_same(found, SpinStatistics.of(table))
    assert found.names[:2] == ("item 0", "item 1")


def test_lengths_that_dask_does_not_know():
    table = frame(spins(7))
    X = dd.from_pandas(table, npartitions=4).to_dask_array()
    assert np.isnan(X.shape[0])
    wide = da.concatenate([X[:, :3], X[:, 3:]], axis=1, allow_unknown_chunksizes=True)
    assert wide.numblocks[1] == 2
    for one in (X, wide):
        assert_same(SpinStatistics.of(one), SpinStatistics.of(table.to_numpy()))


@pytest.fixture
def few(monkeypatch):
    """Not more than 100 rows of 7 spins are kept, and 20 are drawn."""
    monkeypatch.setattr(lazy, "KEPT_BYTES", 100 * 8)
    monkeypatch.setattr(lazy, "_WORTH_FOLDING", 1)
    monkeypatch.setattr(drawn, "_CELLS", 20 * n)


@pytest.mark.parametrize("gaps", [False, True])
def test_of_many_rows_some_are_drawn(few, gaps):
    X = gappy(8) if gaps else spins(8)
    found = SpinStatistics.of(da.from_array(X, chunks=(30, n)))
    expected = SpinStatistics.of(X)
    assert found.rows is None and found.N == expected.N and found.empty == 2 * gaps
    for name in ("sums", "cross", "pair_counts", "pair_sums"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
    assert found.moments.chi_sg == expected.moments.chi_sg
    some = found.sampled.spins()
    assert some.shape == (20, n) and found.missing == expected.missing
    rows = {row.tobytes() for row in expected.spins()}
    assert all(row.tobytes() in rows for row in some)


def test_the_bound_holds_for_parts_of_the_tree(few):
    """Rows are given up as soon as there are too many, not at the end, and never before."""
    X = spins(9)
    parts = [lazy.part_of(SpinStatistics.of(X[k : k + 50]), k) for k in range(0, 200, 50)]
    two = lazy.added(parts[:2])
    assert two.kept.N == 100 and two.folded.rows is None and len(two.drawn) == 20
    assert lazy.added(parts[:3]).kept is None and lazy.added([two, parts[2]]).kept is None
    four, by_two = lazy.added(parts), lazy.added([two, lazy.added(parts[2:])])
    np.testing.assert_array_equal(four.drawn.places, by_two.drawn.places)
    np.testing.assert_array_equal(four.drawn.rows.words, by_two.drawn.rows.words)
    np.testing.assert_array_equal(four.folded.cross, SpinStatistics.of(X[:200]).cross)


def test_estimators_give_the_same_numbers_and_keep_names():
    table = frame(spins(10, 400, 9))
    X = dd.from_pandas(table, npartitions=5)
    a, b = (bs.EmpiricalBayes().fit(data) for data in (table, X))
    assert (a.J_, a.H_, a.J_error_, a.method_) == (b.J_, b.H_, b.J_error_, b.method_)
    assert a.feature_names_in_.tolist() == b.feature_names_in_.tolist() and b.n_features_in_ == 9
    c, d = (bs.BoltzmannMachine().fit(data) for data in (table, X))
    np.testing.assert_array_equal(c.couplings_, d.couplings_)
    assert d.score(X) == c.score(table)
    with pytest.raises(InputError, match="other names"):
        d.score(X.rename(columns={"item 0": "x"}))


def test_a_series_goes_on_from_block_to_block():
    rng = np.random.default_rng(11)
    X = spins(11, 400, 9)
    X[1:] = np.where(rng.random((399, 1)) < 0.5, X[:-1], X[1:])
    found, expected = (bs.EmpiricalBayes(series=True).fit(data) for data in (da.from_array(X, (37, 9)), X))
    assert (found.J_, found.effective_samples_) == (expected.J_, expected.effective_samples_)


def test_empty_rows_are_said():
    with pytest.warns(LeftOutWarning, match="2 of 211 samples have no value at all and are left out"):
        bs.EmpiricalBayes().fit(dd.from_pandas(frame(gappy()), npartitions=3))


def test_compare_takes_them():
    a, b = frame(spins(12)), frame(spins(13))
    expected = bs.compare(a, b)
    found = bs.compare(dd.from_pandas(a, npartitions=2), dd.from_pandas(b, npartitions=3))
    assert list(found.pairs()) == list(expected.pairs())


@pytest.mark.parametrize("scheduler", ["sync", "processes"])
def test_the_first_block_at_fault_is_named(scheduler):
    X = spins(14)
    X[130, 3] = 5
    X[200, 3] = 6
    with dask.config.set(scheduler=scheduler, num_workers=2), pytest.raises(NotSpinsError) as caught:
        SpinStatistics.of(da.from_array(X, chunks=(50, n)))
    sentence = str(caught.value)
    assert sentence.startswith("block 3 of 5 (from row 101 on): Spins must be")
    assert "found 5 at row 31, column 4" in sentence and "\n" not in sentence


def test_encodings_must_agree():
    X = spins(15)
    X[100:] = X[100:] > 0
    with pytest.raises(InputError, match="same encoding as before, ±1: found 0/1"):
        SpinStatistics.of(da.from_array(X, chunks=(50, n)))


def test_wrong_shapes():
    with pytest.raises(InputError, match="found 3 dimension"):
        SpinStatistics.of(da.zeros((4, 3, 2)))
    with pytest.raises(InputError, match="found 1 dimension"):
        SpinStatistics.of(da.zeros(4))
    with pytest.raises(InputError, match="found n_samples=1"):
        SpinStatistics.of(da.ones((1, 3)))
    with pytest.raises(InputError, match="found n_samples=0"):
        SpinStatistics.of(dd.from_pandas(frame(spins())[:0], npartitions=1))
    with pytest.raises(InputError, match="1 feature"):
        SpinStatistics.of(da.ones((5, 1)))


def test_what_is_lazy():
    assert is_lazy(da.zeros((2, 2))) and is_lazy(dd.from_pandas(frame(spins()), npartitions=1))
    assert not any(
        map(is_lazy, (spins(), frame(spins()), [[1]], dask.delayed(1), SpinStatistics.of(spins())))
    )
