import sys

import numpy as np
import pytest

from bayesing.io import SpinData, on_constant_spins, on_copies, read_batches, read_spins

from samples import stats
from tables import HEADER, NAMES, WITH_GAPS, WITHOUT_COLUMNS, WITHOUT_ROWS, X, gaps_in, lines, write

KINDS = ["x.csv", "x.npy"] + [
    f"{kind}.parquet" for kind in ("floats", "integers", "bools", "decimals", "texts", "categories")
]


@pytest.mark.parametrize(
    ("name", "library"),
    [(name, "pyarrow") for name in KINDS] + [(name, "polars") for name in KINDS if name.endswith("parquet")],
)
def test_missing_values(tmp_path, monkeypatch, name, library):
    path = gaps_in(tmp_path / name)
    if library == "polars":
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(
        ValueError,
        match=r"2 missing cells, in 2 of 5 samples \(rows\) and 1 of 3 spins \(columns\), the first at row 1, "
        r"column 2 .* missing=\"keep\", which keeps all.* missing=\"drop-samples\", which leaves 3 of 5 samples.*"
        r"drop-spins\", which leaves 2 of 3 spins",
    ):
        read_spins(path, missing="error")
    data = read_spins(path)
    np.testing.assert_array_equal(data.spins, WITH_GAPS)
    assert data.missing == 2 and (data.absent.unpack() > 0).tolist() == (np.array(WITH_GAPS) == 0).tolist()
    assert data.notes == (
        "2 of 15 cells (13%) are missing, in 2 of 5 samples and 1 of 3 spins. They are taken to be missing at "
        "random, given the values that are there.",
    )
    found = stats(data)
    assert found.missing == 2 and found.counts.tolist() == [5, 3, 5] and found.names == data.names
    data = read_spins(path, missing="drop-samples")
    np.testing.assert_array_equal(data.spins, WITHOUT_ROWS)
    assert data.notes == ("2 of 5 samples, with 2 missing cells, are left out.",)
    data = read_spins(path, missing="drop-spins")
    np.testing.assert_array_equal(data.spins, WITHOUT_COLUMNS)
    assert data.names == (None if name == "x.npy" else ("a", "c"))
    where = "column 2" if name == "x.npy" else "'b'"
    assert data.notes == (f"1 of 3 spins ({where}), with 2 missing cells, is left out.",)
    assert data.spins.flags.c_contiguous


@pytest.mark.parametrize("text", ["", " ", "NaN", "na", "N/A", "#N/A", "null", "None", "?", "-", "."])
def test_ways_to_say_missing(tmp_path, text):
    path = write(tmp_path / "x.csv", HEADER + f"{text},1,0,1\n" + lines((X + 1) // 2))
    data = read_spins(path, missing="drop-samples")
    np.testing.assert_array_equal(data.spins, X)
    assert data.names == NAMES and data.notes[0].startswith(
        "1 of 7 samples, with 1 missing cell, is left out"
    )


def test_zero_beside_minus_one_and_one_is_missing(tmp_path):
    votes = np.vstack([X, [[1, 0, -1, 0]]])
    votes[0, 1] = 0
    np.save(tmp_path / "x.npy", votes)
    with pytest.raises(
        ValueError, match=r"3 missing cells \(0 beside -1 and 1 stands for missing\), in 2 of 7"
    ):
        read_spins(tmp_path / "x.npy", missing="error")
    data = read_spins(tmp_path / "x.npy")
    np.testing.assert_array_equal(data.spins, votes)
    assert data.missing == 3 and data.encoding == "±1"
    assert data.notes[0].startswith(
        "0 beside -1 and 1 stands for missing: 3 of 28 cells (11%) are missing, in 2 of 7"
    )
    data = read_spins(tmp_path / "x.npy", missing="drop-samples")
    np.testing.assert_array_equal(data.spins, X[1:])
    assert data.encoding == "±1"
    assert data.notes[0].startswith(
        "0 beside -1 and 1 stands for missing: 2 of 7 samples, with 3 missing cells"
    )


@pytest.mark.parametrize("missing", ["drop-samples", "drop-spins"])
def test_nothing_left(tmp_path, missing):
    path = write(tmp_path / "x.csv", "1,0,\n0,1,1\n,1,0\n1,,0\n")
    with pytest.raises(
        ValueError, match=r"drop-samples\" leaves 1 of 4 samples and missing=\"drop-spins\" 0 of 3 spins"
    ):
        read_spins(path, missing=missing)


def test_an_unknown_rule(tmp_path):
    with pytest.raises(
        ValueError, match="missing must be one of keep, error, drop-samples, drop-spins: found 'zero'"
    ):
        read_spins(tmp_path / "x.csv", missing="zero")
    with pytest.raises(
        ValueError, match="missing must be one of keep, error, drop-samples: found 'drop-spins'"
    ):
        read_batches(tmp_path / "x.csv", missing="drop-spins")


def test_samples_and_spins_without_any_value(tmp_path):
    """Such samples are left out, such spins are kept; both are said. A spin that is seen once is constant."""
    path = write(tmp_path / "x.csv", "a,b,c,d\n,,,\n1,,0,NA\n0,,1,NA\n,,,\n1,,1,yes\n")
    data = read_spins(path)
    np.testing.assert_array_equal(data.spins, [[1, 0, -1, 0], [-1, 0, 1, 0], [1, 0, 1, 1]])
    assert data.notes == (
        "2 of 5 samples have no value at all and are left out.",
        "5 of 12 cells (42%) are missing, in 3 of 3 samples and 2 of 4 spins. They are taken to be missing at "
        "random, given the values that are there.",
        "1 of 4 spins ('b') has no value at all: nothing can be known about it.",
        "1 of 4 spins is the same in all samples ('d'): the data say nothing about couplings of such spins, and H is "
        "that of the others.",
    )
    found = stats(data)
    assert found.N == 3 and found.missing == data.missing == 5 and found.varying.tolist() == [0, 2]
    with pytest.raises(ValueError, match=r"found that .*leaves 0 of 5 samples"):
        read_spins(path, missing="drop-samples")
    blank = read_spins(write(tmp_path / "y.csv", "1,0\n,\n0,1\n"))
    assert blank.absent is None and blank.notes == ("1 of 3 samples has no value at all and is left out.",)


@pytest.mark.parametrize(("text", "left"), [("a,b\n,\n,NA\n,\n", 0), ("a,b\n,\n1,NA\n,\n", 1)])
def test_hardly_any_value_is_an_error(tmp_path, text, left):
    path = write(tmp_path / "x.csv", text)
    for read in (read_spins, lambda path: list(read_batches(path, 1))):
        with pytest.raises(
            ValueError, match=f"2 samples with a value, found {left}: all cells of the other {3 - left}"
        ):
            read(path)


def test_arrays_with_missing_cells_are_data_as_well():
    X = np.where(np.array(WITH_GAPS) == 0, np.nan, WITH_GAPS)
    data = SpinData.of(X, names=tuple("abc"))
    assert data.spins.tolist() == WITH_GAPS and data.missing == 2 and stats(data).missing == 2


def test_constant_spins_are_said(tmp_path):
    spins = X.copy()
    spins[:, 2] = 1
    data = read_spins(write(tmp_path / "x.csv", HEADER + lines(spins)))
    assert data.notes == (
        "1 of 4 spins is the same in all samples ('c'): the data say nothing about couplings of such spins, "
        "and H is that of the others.",
    )
    assert "2 of 3 spins are the same in all samples (x0, x2)" in on_constant_spins(np.array([1, 0, 1]))[0]


def test_copies_are_said_unless_by_accident():
    spins = np.random.default_rng(0).choice(np.array([-1, 1], np.int8), (30, 6))
    assert on_copies(stats(spins).copies) == ()
    spins[:, 5], spins[:, 4], spins[:, 1], spins[:, 2] = spins[:, 0], -spins[:, 0], 1, -1
    (note,) = on_copies(stats(spins).copies)
    assert "(x0 and x4, x0 and x5)" in note
    assert "('a' and 'e', 'a' and 'f')" in on_copies(stats(spins).copies, list("abcdef"))[0]
    assert on_copies(stats(spins[:9]).copies) == ()
