"""Several files that are one table: the same bits as one file, and one sentence for whatever does not agree."""

import numpy as np
import pandas as pd
import pytest

import bayesing as bs
from bayesing.io import files_of, fold_table, open_tables, read_batches, read_groups, read_spins
from bayesing.io._paths import called

from samples import random_spins, with_gaps
from tables import HEADER, NAMES, big, small_chunks, write

FORMATS = ["x.npy", "x.npz", "x.csv", "x.csv.gz", "x.parquet"]
SIZES = [40, 1, 97, 63]  # rows of the files


def parts_of(folder, spins, name="x.npy"):
    """The same rows in several files, of different numbers of rows."""
    folder.mkdir(exist_ok=True)
    stem, ending = name.split(".", 1)
    ends = np.cumsum(SIZES)[:-1]
    return [
        big(folder / f"{stem}{k}.{ending}", part) for k, part in enumerate(np.split(spins, ends), 8)
    ]  # 8, 9, 10, 11


# -------------------------------------------------------------------------------- the same bits as one file


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("low", [-1, 0])
def test_files_are_the_rows_of_one(tmp_path, monkeypatch, name, low):
    small_chunks(monkeypatch, 100)
    spins = random_spins(sum(SIZES), 5)
    values = np.where(spins > 0, 1, low)
    whole = read_spins(big(tmp_path / name, values))
    paths = parts_of(tmp_path / "parts", values, name)
    for source in (paths, str(tmp_path / "parts" / "x*")):
        found = read_spins(source)
        np.testing.assert_array_equal(found.spins, spins)
        assert (found.names, found.encoding, found.notes) == (whole.names, whole.encoding, whole.notes)
        assert found.lengths == tuple(SIZES) and whole.lengths is None
    for rows in (1, 7, 64, 1000, None):
        batches = list(read_batches(paths, rows))
        np.testing.assert_array_equal(np.concatenate([batch.spins for batch in batches]), spins)
        assert [len(batch) for batch in batches[:-1]] == [rows] * (len(batches) - 1)


@pytest.mark.parametrize("name", ["x.npy", "x.csv", "x.parquet"])
@pytest.mark.parametrize("gaps", [0.0, 0.1])
def test_a_pass_has_the_statistics_of_all_rows(tmp_path, monkeypatch, name, gaps):
    """And it draws the same rows, whatever the batches, and whether or not the first file begins with 0."""
    monkeypatch.setattr("bayesing.drawn._ROWS", 30)
    X = with_gaps(random_spins(sum(SIZES), 7, seed=3), gaps)
    X[50] = np.nan if gaps else 1
    for values in (X, (X + 1) / 2):
        expected = bs.SpinStatistics.of(read_spins(parts_of(tmp_path / "parts", values, name)))
        drawn = set()
        for size in (30, 200, 2**18):
            small_chunks(monkeypatch, size)
            for rows in (1, 10, 1000):
                found, encoding, notes = fold_table(open_tables(str(tmp_path / "parts" / "x*")), rows)
                assert found.rows is None and found.N == expected.N == sum(SIZES) - (gaps > 0)
                assert encoding == found.encoding == expected.encoding
                assert found.moments.chi_sg == expected.moments.chi_sg and found.missing == expected.missing
                assert (found.cross == expected.cross).all() and (found.sums == expected.sums).all()
                assert bool(notes) == (gaps > 0)
                some = found.sampled
                drawn.add((some.spins().tobytes(), some.lengths))
        assert len(drawn) == 1 and some.N == 30 and some.names == expected.names
        paths = files_of(str(tmp_path / "parts" / "x*"))
        single = [fold_table(open_tables(path), first=k) for k, path in enumerate(paths)]
        total = sum(each.statistics for each in single)
        assert (total.cross == expected.cross).all() and total.encoding == encoding
        assert total.rows is None and (total.sampled.spins() == some.spins()).all()
        assert total.sampled.lengths == some.lengths
        rows = {row.tobytes() for row in expected.spins()}
        assert all(row.tobytes() in rows for row in some.spins())


def test_an_encoding_that_shows_late_is_read_again(tmp_path, monkeypatch):
    """0 is taken for the lower value until a -1 comes."""
    small_chunks(monkeypatch, 20)
    votes = np.where(random_spins(100, 4) > 0, 1, 0)
    votes[97] = [-1, 1, -1, 0]
    table = open_tables(big(tmp_path / "x.npy", votes))
    found, expected = fold_table(table, 5), bs.SpinStatistics.of(read_spins(tmp_path / "x.npy"))
    assert found.encoding == "±1" and "0 beside -1 and 1 stands for missing" in found.notes[1]
    assert (found.statistics.missing, found.statistics.N) == (expected.missing, expected.N)
    assert (found.statistics.cross == expected.cross).all() and found.statistics.missing > 100


def test_one_pass_is_enough_for_0_and_1(tmp_path, opens):
    big(tmp_path / "x.csv", np.where(random_spins(300, 4) > 0, 1, 0))
    opens.clear()
    fold_table(open_tables(tmp_path / "x.csv"))
    assert opens.count("x.csv") == 2  # once to look at the layout


def test_each_file_is_a_run(tmp_path):
    """Rows that are blank are of none; labels of runs begin anew in each file."""
    X = random_spins(9, 3).astype(float)
    X[4] = np.nan
    frame = pd.DataFrame(X, columns=list("abc")).assign(trial=[1, 1, 2, 2, 2, 1, 1, 2, 2])
    for k, part in enumerate((frame[:5], frame[5:])):
        part.to_csv(tmp_path / f"{k}.csv", index=False)
    paths = [tmp_path / "0.csv", tmp_path / "1.csv"]
    found = read_spins(paths, drop_columns="trial")
    assert found.lengths == (4, 4) == bs.SpinStatistics.of(found).runs
    groups = read_groups(open_tables(paths), "trial").groups
    assert {label: group.lengths for label, group in groups.items()} == {"1": (2, 2), "2": (2, 2)}
    np.testing.assert_array_equal(groups["2"].spins, X[[2, 3, 7, 8]])


def test_a_column_that_counts_begins_anew(tmp_path):
    X = pd.DataFrame(random_spins(8, 3), columns=list("abc"))
    X[:4].reset_index(drop=True).to_csv(tmp_path / "0.csv")
    X[4:].reset_index(drop=True).to_csv(tmp_path / "1.csv")
    found = read_spins(str(tmp_path / "?.csv"))
    assert found.names == ("a", "b", "c") and len(found.notes) == 1 and "counts the rows" in found.notes[0]
    np.testing.assert_array_equal(found.spins, X)


def test_different_formats_and_words(tmp_path):
    """Words say by themselves what they mean, and a column may be all 1."""
    a = write(tmp_path / "a.csv", HEADER + "yes,1,0,true\n" * 3)
    b = write(tmp_path / "b.csv", HEADER + "no,1,1,false\n" * 2)
    found = read_spins([a, b])
    assert found.encoding == "0/1 and yes/no and true/false"
    assert found.spins[:, [0, 2]].tolist() == [[1, -1]] * 3 + [[-1, 1]] * 2


# --------------------------------------------------------------------------------------------- which files


def test_patterns_are_in_natural_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b2").mkdir()
    for name in ("day10.csv", "day2.csv", "day1.csv", "b2/x.csv", "day[1].csv"):
        write(tmp_path / name, "1,0\n")
    assert [path.name for path in files_of("day?*.csv")] == [
        "day1.csv",
        "day2.csv",
        "day10.csv",
        "day[1].csv",
    ]
    assert [str(path) for path in files_of(["day2.csv", "b*/*.csv", "day1.csv"])] == [
        "day2.csv",
        "b2/x.csv",
        "day1.csv",
    ]
    assert [str(path) for path in files_of("day[1].csv")] == ["day[1].csv"]  # a file of just that name
    assert [path.name for path in files_of("**/x.csv")] == ["x.csv"]
    assert called(files_of("day?*.csv")) == "day1.csv and 3 other files"
    with pytest.raises(
        bs.InputError, match=r"^night\*\.csv: expected a pattern that files match, found no such"
    ):
        read_spins("night*.csv")
    with pytest.raises(bs.InputError, match=r"^day1\.csv: expected each file once, found it twice\."):
        files_of(["day1.csv", "./day1.csv"])
    with pytest.raises(bs.InputError, match="found none"):
        files_of([])


# ------------------------------------------------------------------------------------- what does not agree

GOOD = HEADER + "1,0,1,1\n0,0,1,0\n1,1,0,1\n"
BAD = {
    "another width": ("a,b,c\n1,0,1\n0,1,1\n", r"no 'd', which .*a\.csv has \(4 there, 3 here\)"),
    "more columns": ("a,b,c,d,e\n1,0,1,1,0\n0,1,1,0,1\n", r"found 'e', which .*a\.csv does not have \(4"),
    "another name": ("a,b,c,D\n1,0,1,1\n", r"found 'D', which .*a\.csv does not have and no 'd'"),
    "another order": (
        "a,c,b,d\n1,0,1,1\n",
        r"same order as in .*a\.csv, found 'c' as number 2, where .*a\.csv has 'b'\. Write",
    ),
    "no names": (
        "1,0,1,1\n0,1,1,0\n1,1,0,1\n",
        r"in all files or in none, found none here, where .*a\.csv has",
    ),
    "minus one": (
        HEADER + "1,-1,1,-1\n-1,1,1,1\n",
        r"0 and 1 as in .*a\.csv, found -1 in column 1 \('a'\)\. Recode",
    ),
    "words": (
        HEADER + "1,yes,1,1\n0,no,0,0\n",
        r"expected numbers in column 2 \('b'\), as in .*a\.csv, found a w",
    ),
    "words beside numbers": (HEADER + "1,yes,1,1\n0,0,0,0\n", r"found the text 'yes' in row 1, column 2"),
    "nothing": ("", r"found an empty file"),
    "a header": (HEADER, r"found a header and nothing below it"),
    "no spins": (HEADER + "1,0,1,2\n0,1,1,0\n", r"found 2 at row 1, column 4"),
    "cut off": (HEADER + "1,0,1,1\n0,1,1\n", r"expected 4 column\(s\), as the header has, found 3 in row 2"),
}


@pytest.mark.parametrize("what", BAD)
def test_an_error_names_the_file_that_differs(tmp_path, what):
    content, message = BAD[what]
    write(tmp_path / "a.csv", GOOD)
    bad = write(tmp_path / "b.csv", content)
    write(tmp_path / "c.csv", GOOD)
    for read in (
        read_spins,
        lambda path: list(read_batches(path, 2)),
        lambda path: fold_table(open_tables(path)),
    ):
        with pytest.raises(bs.InputError, match=message) as caught:
            read(str(tmp_path / "?.csv"))
        assert str(caught.value).startswith(f"{bad}: ") and str(caught.value).count("b.csv") == 1


def test_what_0_means_must_be_clear_in_each_file(tmp_path):
    votes = write(tmp_path / "a.csv", HEADER + "1,0,-1,1\n-1,0,1,0\n1,-1,1,1\n")
    bad = write(tmp_path / "b.csv", HEADER + "1,0,1,1\n1,1,1,1\n1,0,1,1\n")
    with pytest.raises(
        bs.InputError, match=r"-1 and 1 as in .*a\.csv, found 0 in column 2 .* and no -1"
    ) as caught:
        read_spins([votes, bad])
    assert str(caught.value).startswith(f"{bad}: ")
    good = write(tmp_path / "c.csv", HEADER + "1,1,1,1\n1,-1,1,1\n")
    assert read_spins([votes, good]).missing == 3


def test_arrays_of_different_width_or_without_rows(tmp_path):
    paths = [tmp_path / f"{k}.npy" for k in range(3)]
    for path, shape in zip(paths, [(5, 4), (5, 3), (0, 4)], strict=True):
        np.save(path, np.ones(shape, np.int8))
    with pytest.raises(bs.InputError, match=r"1\.npy: expected 4 columns, as .*0\.npy has, found 3\.$"):
        read_spins(paths[:2])
    with pytest.raises(bs.InputError, match=r"2\.npy: expected rows of spins, found none"):
        read_spins([paths[0], paths[2]])
    with pytest.raises(bs.InputError, match=r"9\.npy: expected a file, found no such file"):
        read_spins([paths[0], tmp_path / "9.npy"])


def test_the_place_of_a_missing_cell_is_that_in_its_file(tmp_path):
    a = write(tmp_path / "a.csv", GOOD)
    b = write(tmp_path / "b.csv", HEADER + "1,0,1,1\n1,,0,1\n")
    with pytest.raises(
        bs.MissingCellsError, match=r"row 2, column 2 .*, named 'b' of .*b\.csv\. Choose"
    ) as caught:
        read_spins([a, b], missing="error")
    assert caught.value.row == 4
    assert read_spins([a, b], missing="drop-samples").lengths == (3, 1)
    assert read_spins([a, b], missing="drop-spins").names == ("a", "c", "d")


@pytest.mark.parametrize("name", ["x.csv", "x.npy", "x.parquet"])
@pytest.mark.parametrize("grows", [True, False])
def test_a_file_that_changes_while_it_is_read(tmp_path, monkeypatch, name, grows):
    small_chunks(monkeypatch, 100)
    paths = parts_of(tmp_path / "parts", random_spins(sum(SIZES), 4), name)
    batches = read_batches(paths, 5)
    next(batches)
    content = paths[2].read_bytes()
    paths[2].write_bytes(content + content[-9:] if grows else content[: len(content) // 2])
    how = "grew" if grows else "was cut"
    with pytest.raises(
        bs.InputError, match=f"{paths[2].name}: expected .* found that it {how} while it was read"
    ):
        list(batches)


def test_names_of_columns_are_those_of_the_first(tmp_path):
    paths = [write(tmp_path / f"{k}.csv", GOOD) for k in range(3)]
    found = fold_table(open_tables(paths)).statistics
    assert found.names == NAMES and found.N == 9 and found.rows is None
    few = fold_table(open_tables([write(tmp_path / f"f{k}.csv", HEADER + "1,0,1,1\n") for k in range(3)]))
    assert few.statistics.rows is not None and few.statistics.runs == (1, 1, 1)  # no more rows than spins
