import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import bayesing as bs
from bayesing.io import _text, batches_of, open_table, read_batches, read_spins

from samples import random_spins, with_gaps
from tables import WITHOUT_ROWS, X, big, gaps_in, lines, small_chunks, write


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.csv", "x.csv.gz", "x.parquet"])
@pytest.mark.parametrize("rows", [1, 7, 100, 1000, None])
def test_batches_are_the_whole(tmp_path, monkeypatch, name, rows):
    small_chunks(monkeypatch, 500)
    spins = random_spins(201, 5)
    batches = list(read_batches(big(tmp_path / name, spins), rows=rows))
    np.testing.assert_array_equal(np.concatenate([batch.spins for batch in batches]), spins)
    assert [len(batch.spins) for batch in batches[:-1]] == [rows] * (len(batches) - 1)
    assert len(batches) == -(-201 // (rows or 201))


@pytest.mark.parametrize("name", ["x.npy", "x.csv", "x.parquet"])
def test_the_encoding_of_batches_is_that_of_the_whole(tmp_path, monkeypatch, name):
    """Batches of ones only belong to either encoding, and both ways they are +1."""
    small_chunks(monkeypatch, 10)
    spins = np.ones((40, 5), np.int8)
    spins[25:] = random_spins(15, 5)
    for values, encoding in ((spins, "±1"), ((spins + 1) // 2, "0/1")):
        batches = list(read_batches(big(tmp_path / name, values), rows=10))
        np.testing.assert_array_equal(np.concatenate([batch.spins for batch in batches]), spins)
        assert [batch.encoding for batch in batches][:2] == ["1", "1"] and batches[-1].encoding == encoding
    values = (spins + 1) // 2
    values[39] = [-1, -1, 1, 1, 1]  # at the very end, what looked like 0/1 proves to be votes with gaps
    path = big(tmp_path / name, values)
    with pytest.raises(ValueError, match=r"0 beside -1 and 1 stands for missing"):
        list(read_batches(path, rows=10, missing="error"))
    whole, batches = read_spins(path), list(read_batches(path, rows=10))
    np.testing.assert_array_equal(np.concatenate([batch.spins for batch in batches]), whole.spins)
    assert (whole.spins == values).all() and {batch.encoding for batch in batches[2:]} == {"±1"}
    assert batches[-1].notes == whole.notes[:1] and batches[0].notes == ()
    batches = list(read_batches(path, rows=10, missing="drop-samples"))
    whole = read_spins(path, missing="drop-samples")
    np.testing.assert_array_equal(np.concatenate([batch.spins for batch in batches]), whole.spins)
    assert len(whole.spins) < 40 and (whole.spins[-1] == values[39]).all()
    assert {batch.encoding for batch in batches} == {whole.encoding} == {"±1"}
    assert {batch.notes for batch in batches} == {whole.notes[:1]}


def test_batches_of_numbers_and_words_make_one_whole(tmp_path, monkeypatch):
    """The numbers of the first batches are all 1, which is either encoding; words go with both."""
    monkeypatch.setattr(_text, "CHUNK", 10)
    words, ones = random_spins(12, 2), np.array([1] * 8 + [0, 1, 0, 0])
    rows = [f"{'yes' if a > 0 else 'no'},{b},{c > 0}" for (a, c), b in zip(words, ones, strict=True)]
    path = write(tmp_path / "x.csv", "\n".join(rows) + "\n")
    batches = list(read_batches(path, rows=4))
    assert batches[0].encoding == "1 and yes/no and true/false"
    found = bs.SpinStatistics.of_batches(batches)
    whole = bs.SpinStatistics.of(read_spins(path))
    assert found.encoding == whole.encoding == "0/1 and yes/no and true/false"
    assert found.sums.tolist() == whole.sums.tolist() == [words[:, 0].sum(), 6, words[:, 1].sum()]


def test_batches_without_missing_samples(tmp_path, monkeypatch):
    monkeypatch.setattr(_text, "CHUNK", 10)
    path = gaps_in(tmp_path / "x.csv")
    batches = list(read_batches(path, rows=2, missing="drop-samples"))
    assert [batch.spins.tolist() for batch in batches] == [WITHOUT_ROWS[:2], WITHOUT_ROWS[2:]]
    assert batches[0].notes == ("2 of 5 samples, with 2 missing cells, are left out.",)
    with pytest.raises(ValueError, match=r"2 missing cells, in 2 of 5 samples"):
        list(read_batches(path, rows=1, missing="error"))
    path = write(tmp_path / "y.csv", "1,\n,0\n1,\n")
    with pytest.raises(ValueError, match=r"drop-samples\" leaves 0 of 3 samples"):
        list(read_batches(path, rows=1, missing="drop-samples"))


@pytest.mark.parametrize("name", ["x.csv", "x.npy", "x.parquet"])
@pytest.mark.parametrize("rows", [1, 7, 40, 1000])
def test_batches_with_missing_cells_are_the_whole(tmp_path, monkeypatch, name, rows):
    """Also if whole samples, or all of the first or of the last batch, have no value."""
    small_chunks(monkeypatch, 60)
    X = with_gaps(random_spins(201, 5), 0.2)
    X[:45] = X[77] = X[199:] = np.nan
    for values in (X, (X + 1) / 2):
        path = tmp_path / name
        if name == "x.csv":
            write(
                path, "a,b,c,d,e\n" + lines([["" if np.isnan(x) else int(x) for x in row] for row in values])
            )
        else:
            big(path, values)
        batches, whole = list(read_batches(path, rows=rows)), read_spins(path)
        np.testing.assert_array_equal(np.concatenate([batch.spins for batch in batches]), whole.spins)
        assert [len(batch) for batch in batches[:-1]] == [rows] * (len(batches) - 1)
        assert batches[-1].notes == whole.notes and batches[-1].encoding == whole.encoding
        assert sum(batch.missing for batch in batches) == whole.missing == np.isnan(X).sum() - 5 * 48
        found, expected = bs.SpinStatistics.of_batches(batches), bs.SpinStatistics.of(whole)
        assert found.rows is None and (found.pair_counts == expected.pair_counts).all()
        assert (found.cross == expected.cross).all() and found.moments.chi_sg == expected.moments.chi_sg


@pytest.mark.parametrize(("low", "passes"), [(-1, 1), (0, 2)])
def test_only_a_file_that_begins_with_0_is_read_twice(tmp_path, low, passes):
    """At most: where -1 has been seen, the meaning of 0 is known."""
    X = np.where(random_spins(60, 4) > 0, 1, low)
    table, opened = open_table(write(tmp_path / "x.csv", lines(X))), []
    counted = replace(table, chunks=lambda: opened.append(1) or table.chunks())
    assert sum(len(batch) for batch in batches_of(counted, 10)) == 60 and len(opened) == passes


def test_columns_that_contradict_each_other_are_found_at_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(_text, "CHUNK", 10)
    path = write(tmp_path / "x.csv", "1,1\n-1,1\n" * 5 + "1,0\n1,1\n")
    for read in (read_spins, lambda path: list(read_batches(path, rows=2))):
        with pytest.raises(
            ValueError, match="found 0 in column 2 and -1 in column 1, and no column with both"
        ):
            read(path)


def test_places_are_those_in_the_whole_file(tmp_path, monkeypatch):
    monkeypatch.setattr(_text, "CHUNK", 10)
    for row, message in (
        ("1,0,1\n", r"as row 1 has, found 3 in row 7"),
        ("1,0,x,1\n", r"found the text 'x' in row 7, column 3"),
        ("1,,0,1\n", r"1 missing cell, in 1 of 8 samples .* the first at row 7, column 2"),
    ):
        path = write(tmp_path / "x.csv", lines((X + 1) // 2) + row + "1,1,1,1\n")
        for read in (read_spins, lambda *args, **how: list(read_batches(*args, rows=1, **how))):
            with pytest.raises(ValueError, match=message):
                read(path, missing="error")


def test_words_after_numbers_in_a_later_batch(tmp_path, monkeypatch):
    monkeypatch.setattr(_text, "CHUNK", 10)
    path = write(tmp_path / "x.csv", lines((X + 1) // 2) + "yes,no,no,no\n")
    with pytest.raises(ValueError, match=r"found the text 'yes' in row 7, column 1"):
        list(read_batches(path, rows=1))


def test_batches_of_no_rows(tmp_path):
    with pytest.raises(ValueError, match="rows must be at least 1: found rows=0"):
        read_batches(tmp_path / "x.csv", rows=0)


@pytest.mark.parametrize("name", ["x.npy", "x.csv", "x.csv.gz", "x.parquet"])
def test_memory_is_that_of_a_batch_and_not_of_the_file(tmp_path, monkeypatch, name):
    small_chunks(monkeypatch, 2**14)
    monkeypatch.setattr("bayesing.drawn._ROWS", 1000)
    peaks, spins = {}, random_spins(40_000, 20)
    bs.SpinStatistics.of_batches(read_batches(big(tmp_path / name, spins[:100]), 50))  # imports
    for N, rows in ((10_000, 1000), (40_000, 1000)):
        path = big(tmp_path / name, spins[:N])
        tracemalloc.start()
        found = bs.SpinStatistics.of_batches(read_batches(path, rows))
        peaks[N] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found.N == N and found.rows is None
    assert peaks[40_000] < 20 * 1000 * 20 + 30 * 2**14 < 40_000 * 20 * 2
    assert peaks[40_000] < 1.1 * peaks[10_000] + 2**16
    assert found.moments.C2 == bs.SpinMoments.of(spins).C2
