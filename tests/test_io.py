import bz2
import gzip
import io
import lzma
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayesing.exceptions import NotSpinsError
from bayesing.io import _text, read_batches, read_spins
from bayesing.io._codes import MISSING, OTHER, code_of, codes_of_numbers

from tables import HEADER, NAMES, X, lines, write, written_as

COUNTED = np.column_stack([np.arange(6), (X + 1) // 2])
WORDS = [("yes", "no"), ("Y", "n"), ("TRUE", "False"), ("t", "F")]


# NumPy files


@pytest.mark.parametrize(
    ("values", "encoding"),
    [
        (X, "±1"),
        (X.astype(np.int64), "±1"),
        (X.astype(">f4"), "±1"),
        ((X + 1) // 2, "0/1"),
        (((X + 1) // 2).astype(np.uint16), "0/1"),
        (X > 0, "true/false"),
        (X.astype(float), "±1"),
        (X.astype(np.float16), "±1"),
        (np.asfortranarray(X), "±1"),
        (np.asfortranarray(X > 0), "true/false"),
        (written_as(X, "yes", "no"), "yes/no"),
        (written_as(X, "1", "0").astype("S"), "0/1"),
        (np.abs(X), "1"),
    ],
)
def test_npy(tmp_path, values, encoding):
    np.save(tmp_path / "x.npy", values)
    np.savez_compressed(tmp_path / "x.npz", values)
    for name in ("x.npy", "x.npz"):
        data = read_spins(tmp_path / name)
        np.testing.assert_array_equal(data.spins, np.abs(X) if encoding == "1" else X)
        assert data.spins.dtype == np.int8 and data.spins.flags.c_contiguous and data.spins.flags.writeable
        assert (data.names, data.encoding) == (None, encoding)


def test_npz_takes_spins_or_the_only_array_or_the_one_named(tmp_path):
    np.savez(tmp_path / "only.npz", whatever=X)
    np.savez(tmp_path / "spins.npz", spins=X, couplings=np.zeros((4, 4)))
    np.savez(tmp_path / "two.npz", a=X, b=-X)
    for path, array, expected in [
        ("only", None, X),
        ("spins", None, X),
        ("two", "b", -X),
        ("spins", "spins", X),
    ]:
        np.testing.assert_array_equal(read_spins(tmp_path / f"{path}.npz", array).spins, expected)
    with pytest.raises(ValueError, match=r"found a, b. Choose one with array=\"NAME\"\."):
        read_spins(tmp_path / "two.npz")
    with pytest.raises(ValueError, match=r"named 'c', found a, b"):
        read_spins(tmp_path / "two.npz", "c")


# Row numbers and other columns that are no spins


@pytest.mark.parametrize(
    ("name", "content", "names"),
    [
        ("x.csv", pd.DataFrame(COUNTED[:, 1:], columns=list(NAMES)).to_csv(), NAMES),
        ("x.csv", pd.DataFrame(COUNTED[:, 1:]).to_csv(), ("0", "1", "2", "3")),
        ("x.csv", lines(COUNTED), None),
        ("x.csv", "trial," + HEADER + lines(COUNTED + np.eye(1, 5, dtype=int)), NAMES),
        (
            "x.txt",  # as R's write.table has it
            '"a" "b" "c" "d"\n' + lines([[f'"{k + 1}"', *row[1:]] for k, row in enumerate(COUNTED)], " "),
            NAMES,
        ),
    ],
)
def test_a_first_column_that_counts_is_left_out_and_said(tmp_path, name, content, names):
    data = read_spins(write(tmp_path / name, content))
    np.testing.assert_array_equal(data.spins, X)
    assert data.names == names
    assert len(data.notes) == 1 and "counts the rows and is left out" in data.notes[0]


def test_a_column_that_stops_counting_is_an_error_also_in_a_later_block(tmp_path, monkeypatch):
    monkeypatch.setattr(_text, "CHUNK", 10)
    rows = np.column_stack([np.arange(42), np.tile((X + 1) // 2, (7, 1))])
    rows[33, 0] = 7
    path = write(tmp_path / "x.csv", lines(rows))
    message = r"to go on counting the rows, .* found 7 at row 34.*drop_columns=\[\"1\"\]"
    with pytest.raises(NotSpinsError, match=message) as caught:
        read_spins(path)
    assert (caught.value.row, caught.value.column, caught.value.value) == (33, 0, "7")
    np.testing.assert_array_equal(read_spins(path, drop_columns=["1"]).spins, np.tile(X, (7, 1)))


def test_columns_are_dropped_by_name_or_number(tmp_path):
    table = pd.DataFrame(X, columns=list(NAMES))
    table.insert(1, "age", [33, 41, 19, 20, 27, 64])
    table.insert(3, 'who, "exactly"', list("uvwxyz"))
    table.to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(
        ValueError, match=r"found 33 at row 1, column 2 .*named 'age'.* holds 33, 41, 19, \.\.\."
    ):
        read_spins(tmp_path / "x.csv")
    for columns in (["age", 'who, "exactly"'], ["2", "4"], [2, 4], "2, 4", 'age,"who, ""exactly"""'):
        data = read_spins(tmp_path / "x.csv", drop_columns=columns)
        np.testing.assert_array_equal(data.spins, X)
        assert data.names == NAMES and data.notes == ()
    with pytest.raises(
        ValueError, match=r"a column named 'nobody' .*from 1 to 6, found 'a', 'age', 'b', \.\.\."
    ):
        read_spins(tmp_path / "x.csv", drop_columns=["nobody"])
    with pytest.raises(ValueError, match=r"at least 2, found 1 feature"):
        read_spins(tmp_path / "x.csv", drop_columns=[2, 3, 4, 5, 6])


# Encodings


@pytest.mark.parametrize(("up", "down"), WORDS)
def test_words_are_read_in_any_case(tmp_path, up, down):
    rows = written_as(X, up, down)
    rows[0] = [text.swapcase() for text in rows[0]]
    for header, names in ((HEADER, NAMES), ("", None)):
        data = read_spins(write(tmp_path / "x.csv", header + lines(rows)))
        np.testing.assert_array_equal(data.spins, X)
        assert (data.encoding, data.names) == (f"{up}/{down}".lower(), names)


def test_names_that_are_words_too(tmp_path):
    data = read_spins(write(tmp_path / "x.csv", "y,q1,q2,q3\n" + lines(written_as(X, "yes", "no"))))
    np.testing.assert_array_equal(data.spins, X)
    assert data.names == ("y", "q1", "q2", "q3")


def test_columns_in_different_encodings(tmp_path):
    table = pd.DataFrame(
        {"a": written_as(X[:, 0], "yes", "no"), "b": (X[:, 1] + 1) // 2, "c": X[:, 2] > 0, "d": X[:, 3] > 0}
    )
    table.to_csv(tmp_path / "x.csv", index=False)
    table.to_parquet(tmp_path / "x.parquet")
    for name in ("x.csv", "x.parquet"):
        data = read_spins(tmp_path / name)
        np.testing.assert_array_equal(data.spins, X)
        assert data.encoding == "0/1 and yes/no and true/false"


def test_zero_in_one_column_and_minus_one_in_another_is_not_guessed(tmp_path):
    path = write(tmp_path / "x.csv", "a,b,c\n1,1,1\n0,1,1\n1,-1,1\n")
    for missing in ("error", "drop-samples"):
        for read in (read_spins, lambda *a, **k: list(read_batches(*a, **k))):
            with pytest.raises(ValueError, match=r"found 0 in column 1 \('a'\) and -1 in column 2 \('b'\)"):
                read(path, missing=missing)


@pytest.mark.parametrize(
    ("dtype", "values"),
    [(kind, [-1, 0, 1, 0.5, -0.0, 2, -2, np.nan, np.inf]) for kind in ("f2", "f4", "f8", "longdouble")]
    + [(kind, [-1, 0, 1, 2, -2, 100]) for kind in ("i1", "i4", "i8")]
    + [(kind, [0, 1, 2, 255]) for kind in ("u1", "u8")],
)
def test_codes_of_numbers_are_those_of_their_texts(dtype, values):
    expected = {-1: -1, 0: 0, 1: 1}
    for value in values:
        table = np.ones((3, 2), dtype)
        table[1, 1] = value
        code = MISSING if np.isnan(value) else expected.get(value, OTHER)
        np.testing.assert_array_equal(codes_of_numbers(table), [[1, 1], [1, code], [1, 1]])
        assert code_of(str(table[1, 1])) == code


# Parquet


def test_an_index_of_pandas_is_left_out(tmp_path):
    table = pd.DataFrame(X, columns=list(NAMES), index=pd.Index(list("uvwxyz"), name="who"))
    table.to_parquet(tmp_path / "x.parquet")
    data = read_spins(tmp_path / "x.parquet")
    np.testing.assert_array_equal(data.spins, X)
    assert data.names == NAMES and data.notes == ("column 5 ('who') is an index of pandas and left out.",)


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_types_that_cannot_be_spins(tmp_path, monkeypatch, library):
    if library == "polars":
        monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    table = pl.DataFrame(X, schema=list(NAMES)).with_columns(
        pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 1, 6)).alias("day")
    )
    table.write_parquet(tmp_path / "x.parquet")
    with pytest.raises(
        ValueError, match=r"2020-01-01 in row 1, column 5.*named 'day'.*drop_columns=\[\"day\"\]"
    ):
        read_spins(tmp_path / "x.parquet")
    np.testing.assert_array_equal(read_spins(tmp_path / "x.parquet", drop_columns=["day"]).spins, X)


def test_parquet_and_zst_without_the_packages(tmp_path, monkeypatch):
    pl.DataFrame(X).write_parquet(tmp_path / "x.parquet")
    write(tmp_path / "x.csv.zst", b"")
    for name in ("pyarrow", "pyarrow.parquet", "polars"):
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("x.parquet", "x.csv.zst"):
        with pytest.raises(ValueError, match=r"needs the package pyarrow.*pip install 'bayesing\[data\]'"):
            read_spins(tmp_path / name)


# Compressed files

COMPRESS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda content: pa.compress(content, codec="zstd", asbytes=True),
}


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize("extension", [".csv", ".tsv", ".npy"])
def test_compressed_files(tmp_path, compression, extension):
    content = io.BytesIO()
    np.save(content, X)
    content = content.getvalue() if extension == ".npy" else (HEADER + lines(X)).encode()
    path = write(tmp_path / f"x{extension}{compression}", COMPRESS[compression](content))
    np.testing.assert_array_equal(read_spins(path).spins, X)
    cut = write(tmp_path / f"cut{extension}{compression}", path.read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"damaged") as caught:
        read_spins(cut)
    assert str(caught.value).startswith(str(cut)) and "\n" not in str(caught.value)
