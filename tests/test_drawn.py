"""A random choice of rows: bounded, the same in whatever pieces they come, and fair."""

import numpy as np
import pytest
from scipy.stats import binom, chisquare

import bayesing as bs
from bayesing.drawn import Drawing, DrawnRows, keys_of, rows_drawn
from bayesing.order import order_of
from bayesing.packed import PackedSpins

from samples import random_spins, with_gaps


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr("bayesing.drawn._ROWS", 50)


def numbered(N, n=20):
    """Rows that say which they are, in binary digits."""
    return np.where((np.arange(N)[:, None] >> np.arange(n)) & 1, 1, -1).astype(np.int8)


def numbers(rows):
    return ((rows.unpack() > 0) << np.arange(rows.n)).sum(axis=1)


def slow_choice(places, most):
    """From the definition: the smallest keys, and of a pair that shares one the earlier row."""
    key = dict(zip(places, keys_of(np.array(places)).tolist(), strict=True))
    return sorted(sorted(places, key=lambda place: (key[place], place))[:most])


def test_rows_with_the_smallest_keys(monkeypatch):
    monkeypatch.setattr("bayesing.drawn._ROWS", 51)
    drawn = DrawnRows.of(PackedSpins.of(numbered(3000)))
    assert drawn.places.tolist() == numbers(drawn.rows).tolist() == slow_choice(list(range(3000)), 51)
    assert set(drawn.lengths) <= {1, 2, 3, 4} and sum(drawn.lengths) == 51 and 2 in drawn.lengths
    keys = keys_of(np.arange(6))
    assert keys[0] == keys[1] != keys[2] == keys[3] != keys[4]


def test_keys_are_the_published_ones():
    """The first number that SplitMix64 gives for the seeds 0 and 1234567, as its authors and others print them."""
    assert keys_of(np.array([0, 2 * 1234567])).tolist() == [0xE220A8397B1DCDAF, 6457827717110365317]


@pytest.mark.parametrize("pieces", [1, 7, 100, 3000])
def test_pieces_do_not_matter(pieces):
    rows, whole = PackedSpins.of(numbered(3000)), Drawing()
    whole.add(rows)
    drawing = Drawing()
    for part in np.array_split(np.arange(3000), pieces):
        drawing.add(rows[part], start=int(part[0]))
        assert drawing._held <= 2 * 50 + len(part)
    assert drawing.sample.places.tolist() == whole.sample.places.tolist()
    np.testing.assert_array_equal(drawing.sample.rows.words, whole.sample.rows.words)


def test_samples_of_runs_merge_in_any_order():
    rows = PackedSpins.of(numbered(900))
    a, b, c = (DrawnRows.of(rows[slice(300 * k, 300 * k + 300)], run=k) for k in range(3))
    merged = [DrawnRows.merged(parts) for parts in ([a, b, c], [c, DrawnRows.merged([b, a])])]
    assert merged[0].places.tolist() == merged[1].places.tolist()
    np.testing.assert_array_equal(merged[0].rows.words, merged[1].rows.words)
    assert len(merged[0]) == 50 and len(set((merged[0].places >> 40).tolist())) == 3
    same = [DrawnRows.of(rows[slice(300 * k, 300 * k + 300)]) for k in range(2)]
    both = same[0] + same[1]  # other runs, although their numbers are the same
    assert 15 < np.count_nonzero(numbers(both.rows) < 300) < 35 and max(both.lengths) < 5
    assert (np.diff(both.places) > 0).all() and (a + b).places.tolist() == (b + a).places.tolist()
    # Successive rows of different runs do not follow each other.
    assert DrawnRows.of(rows[:4], run=1).lengths == (4,)
    ends = DrawnRows.merged([DrawnRows.of(rows[:3], run=0), DrawnRows.of(rows[3:5], run=1)])
    assert ends.lengths == (3, 2)


def test_every_row_has_the_same_chance():
    """Over 200 runs, each of 400 rows of which 50 are chosen: by tenths of the run, and rows alone."""
    rows = PackedSpins.of(numbered(400))
    found = np.concatenate([numbers(DrawnRows.of(rows, run=run).rows) for run in range(200)])
    assert chisquare(np.bincount(found // 40, minlength=10)).pvalue > 1e-3
    times = np.bincount(found, minlength=400)
    assert binom.cdf(times.min(), 200, 1 / 8) > 1e-5 and binom.sf(times.max(), 200, 1 / 8) > 1e-5


def test_bounds_follow_the_number_of_spins(monkeypatch):
    monkeypatch.setattr("bayesing.drawn._ROWS", 2**17)
    assert [rows_drawn(n) for n in (2, 100, 1000, 10_000)] == [2**17, 2**17, 2**24 // 1000, 20_000]


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_statistics_of_batches_have_a_sample(gaps):
    X = with_gaps(random_spins(700, 6), gaps)
    if gaps:
        X[13] = np.nan  # a row that shows nothing, and is left out
    found = bs.SpinStatistics.of_batches(np.array_split(X, 9))
    again = bs.SpinStatistics.of_batches(np.array_split(X, 50))
    some = found.sampled
    assert found.rows is None and some.N == 50 and some.n == 6 and bool(some.missing) == (gaps > 0)
    np.testing.assert_array_equal(some.spins(), again.sampled.spins())
    narrow = found.select([4, 1])
    np.testing.assert_array_equal(narrow.sampled.spins(), some.spins()[:, [4, 1]])
    assert (found.active is None) == (gaps > 0) and (gaps or len(found.active) == 50)
    whole = bs.SpinStatistics.of(X)
    assert whole.sampled is whole and whole.without_rows().sampled is None
    both = found + bs.SpinStatistics.of(X[:30])
    assert both.rows is None and both.sampled.N == 50 and both.N == found.N + 30 - (gaps > 0)
    assert (found + whole.without_rows()).sampled is None


def test_the_order_of_rows_shows_in_pairs(monkeypatch):
    """Rows that remember are seen, with the correlation that all rows have."""
    monkeypatch.setattr("bayesing.drawn._ROWS", 2000)
    rng = np.random.default_rng(3)
    X = np.empty((20_000, 8), np.int8)
    X[0] = 1
    for t in range(1, len(X)):
        X[t] = np.where(rng.random(8) < 0.6, X[t - 1], np.where(rng.random(8) < 0.5, 1, -1))
    whole, folded = (make(X) for make in (bs.SpinStatistics.of, lambda X: bs.SpinStatistics.of_batches([X])))
    found, expected = order_of(folded), order_of(whole)
    assert found.remembers and expected.remembers
    assert found.successive == pytest.approx(0.6, abs=5 / np.sqrt(1000 * 8))
    with pytest.warns(bs.MemoryWarning, match="fit as many of them as can be kept with series=True"):
        bs.EmpiricalBayes("susceptibility").fit(folded)
    assert not order_of(bs.SpinStatistics.of_batches([rng.permutation(X)])).remembers
