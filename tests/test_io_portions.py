"""Files that are read one by one, and added up, are what they are when read together."""

import pickle

import numpy as np
import pytest

from bayesing import drawn, lazy
from bayesing.exceptions import InputError
from bayesing.io import fold_table, joined, open_tables, read_portion, read_spins
from bayesing.lazy import added, tree
from bayesing.statistics import SpinStatistics
from test_lazy import assert_same, spins

RULES = ("keep", "drop-samples", "drop-spins")


def written(folder, *tables, header="a,b,c,d,e,f,g"):
    """A .csv file of each table of texts."""
    paths = []
    for k, table in enumerate(tables):
        lines = [",".join(map(str, row)) for row in table]
        (folder / f"part{k}.csv").write_text("\n".join([header, *lines]) + "\n")
        paths.append(str(folder / f"part{k}.csv"))
    return paths


def read_apart(paths, missing="keep", **how):
    """As workers do: what they give is pickled on the way."""
    found = [
        pickle.loads(pickle.dumps(read_portion(path, k, missing=missing, **how)))
        for k, path in enumerate(paths)
    ]
    most = how.get("most")
    return joined(
        [one[0] for one in found], tree([one[1] for one in found], lambda s: added(s, most)), missing
    )


def tables(low="0", gaps=True, blank=True):
    """Texts of three tables, of which the second has missing cells and a row of nothing."""
    cells = np.where(spins(3) > 0, "1", low).astype(object)
    if gaps:
        cells[[80, 85, 90], [1, 2, 1]] = ""
        cells[99 if blank else 90, slice(None) if blank else 1] = ""
    return cells[:60], cells[60:100], cells[100:]


@pytest.mark.parametrize("missing", RULES)
@pytest.mark.parametrize("low", ["0", "-1", "no"])
@pytest.mark.parametrize("rows", [None, 1])
def test_the_same_as_together(tmp_path, missing, low, rows):
    up = {"no": "yes"}.get(low, "1")
    texts = tables(low, blank=missing != "drop-spins")
    paths = written(tmp_path, *(np.where(part == "1", up, part) for part in texts))
    found = read_apart(paths, missing, rows=rows)
    expected = read_spins(paths, missing=missing)
    stats = SpinStatistics.of(expected)
    assert (found.encoding, found.notes) == (expected.encoding, expected.notes)
    assert_same(found.statistics, stats)
    assert found.statistics.N == {"keep": 210, "drop-samples": 207, "drop-spins": 211}[missing]


@pytest.mark.parametrize("first", [0, 1])
def test_0_beside_minus_1_is_missing_in_the_file_that_has_both(tmp_path, first):
    """The pass begins anew where -1 comes after a 0 that was taken for down, and not where it comes before."""
    cells = np.where(spins(4) > 0, "1", "-1").astype(object)
    cells[[120, 130], [0, 3]] = "0"
    if not first:
        cells[100:131] = np.where(cells[100:131] == "-1", "1", cells[100:131])
    paths = written(tmp_path, cells[:100], cells[100:])
    found, expected = read_apart(paths, rows=1), read_spins(paths)
    assert found.notes == expected.notes and "0 beside -1 and 1 stands for missing" in found.notes[0]
    assert_same(found.statistics, SpinStatistics.of(expected))
    assert found.statistics.missing == 2


def test_0_after_minus_1_of_a_large_file(tmp_path, monkeypatch):
    """In chunks of a few rows, 0 comes many chunks before the first -1."""
    monkeypatch.setattr("bayesing.io._text.CHUNK", 200)
    cells = np.ones((400, 7), int)
    cells[10, 3] = 0
    cells[300:, :4] = -1
    cells[300:, 3] = np.where(np.arange(100) % 2, -1, 1)
    paths = written(tmp_path, cells)
    found, expected = read_apart(paths), read_spins(paths)
    assert_same(found.statistics, SpinStatistics.of(expected))
    assert found.statistics.missing == 1


def test_rows_are_drawn_as_in_one_pass(tmp_path, monkeypatch):
    monkeypatch.setattr(lazy, "KEPT_BYTES", 8 * 50)
    monkeypatch.setattr(lazy, "_WORTH_FOLDING", 1)
    monkeypatch.setattr(drawn, "_CELLS", 7 * 20)
    monkeypatch.setattr("bayesing.io._text.CHUNK", 200)  # bytes: a few rows at a time
    paths = written(tmp_path, *tables())
    found, expected = read_apart(paths, rows=11), fold_table(open_tables(paths), 13)
    assert found.statistics.rows is None and found.statistics.N == expected.statistics.N == 210
    np.testing.assert_array_equal(found.statistics.cross, expected.statistics.cross)
    np.testing.assert_array_equal(found.statistics.drawn.places, expected.statistics.drawn.places)
    np.testing.assert_array_equal(found.statistics.drawn.rows.words, expected.statistics.drawn.rows.words)
    everything = read_apart(paths, most=10**9)
    assert everything.statistics.rows is not None


@pytest.mark.parametrize(
    ("second", "header", "sentence"),
    [
        ([[1, 0, 1]] * 3, "a,b,c", "part1.csv: expected the same columns in all files"),
        ([[1, 0, 1, 1, 0, 1, 0]] * 3, "a,b,c,d,e,g,f", "part1.csv: expected the columns in the same order"),
        ([[1, -1, 1, 1, 1, 1, 1]] * 3, None, "part1.csv: expected numbers in one encoding, 0 and 1 as in"),
        ([["yes", *"010101"]] * 3, None, "part1.csv: expected numbers in column 1"),
        ([], None, "part1.csv: expected rows of spins, found a header"),
        ([[1, 0, 1, 7, 0, 1, 0]] * 3, None, "part1.csv: expected "),
    ],
)
def test_files_that_do_not_agree_are_named(tmp_path, second, header, sentence):
    (first,) = written(tmp_path, tables(gaps=False)[0])
    other = tmp_path / "part1.csv"
    lines = [",".join(map(str, row)) for row in second]
    other.write_text("\n".join([header or "a,b,c,d,e,f,g", *lines]) + "\n")
    with pytest.raises(InputError) as caught:
        read_apart([first, str(other)])
    assert sentence in str(caught.value) and str(tmp_path) in str(caught.value)


def test_missing_cells_can_be_an_error(tmp_path):
    paths = written(tmp_path, *tables())
    with pytest.raises(InputError, match=r"part1.csv: found \d+ missing cells"):
        read_apart(paths, "error")
    assert read_apart(paths[:1], "error").statistics.N == 60
