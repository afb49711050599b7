import sys

import numpy as np
import pytest

from bayesing.io import on_constant_spins, on_copies, read_batches, read_spins

from samples import stats
from tables import HEADER, NAMES, WITHOUT_COLUMNS, WITHOUT_ROWS, X, gaps_in, lines, write

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
        r"column 2 .* missing=\"drop-samples\", which leaves 3 of 5 samples.*drop-spins\", which leaves 2 of 3 spins",
    ):
        read_spins(path)
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
        read_spins(tmp_path / "x.npy")
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
        ValueError, match="missing must be one of error, drop-samples, drop-spins: found 'zero'"
    ):
        read_spins(tmp_path / "x.csv", missing="zero")
    with pytest.raises(ValueError, match="missing must be one of error, drop-samples: found 'drop-spins'"):
        read_batches(tmp_path / "x.csv", missing="drop-spins")


def test_constant_spins_are_said(tmp_path):
    spins = X.copy()
    spins[:, 2] = 1
    data = read_spins(write(tmp_path / "x.csv", HEADER + lines(spins)))
    assert data.notes == (
        "1 of 4 spins is the same in all samples ('c'): the data say nothing about couplings of such spins, "
        "and H is that of the others.",
    )
    assert (
        "2 of 3 spins are the same in all samples (column 1, column 3)"
        in on_constant_spins(np.array([1, 0, 1]))[0]
    )


def test_copies_are_said_unless_by_accident():
    spins = np.random.default_rng(0).choice(np.array([-1, 1], np.int8), (30, 6))
    assert on_copies(stats(spins).copies) == ()
    spins[:, 5], spins[:, 4], spins[:, 1], spins[:, 2] = spins[:, 0], -spins[:, 0], 1, -1
    (note,) = on_copies(stats(spins).copies)
    assert "(column 1 and column 5, column 1 and column 6)" in note
    assert "('a' and 'e', 'a' and 'f')" in on_copies(stats(spins).copies, list("abcdef"))[0]
    assert on_copies(stats(spins[:9]).copies) == ()
