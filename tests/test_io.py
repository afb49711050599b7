import bz2
import csv
import gzip
import io
import lzma
import os
import pickle
import sys
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesing as bs
from bayesing.files import writing
from bayesing.io import (
    _arrays,
    _memory,
    _parquet,
    _text,
    memory_of,
    on_constant_spins,
    on_copies,
    read_batches,
    read_spins,
)
from bayesing.io._codes import MISSING, OTHER, Encoding, code_of, codes_of_numbers, flags_of
from bayesing.io._text import sniff

from samples import random_spins

X = np.array(
    [[1, -1, 1, 1], [-1, -1, 1, -1], [1, 1, 1, -1], [-1, 1, -1, -1], [-1, -1, 1, 1], [1, -1, -1, -1]], np.int8
)
WORDS = [("yes", "no"), ("Y", "n"), ("TRUE", "False"), ("t", "F")]


def lines(rows, delimiter=","):
    return "".join(delimiter.join(map(str, row)) + "\n" for row in rows)


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def written_as(spins, up, down):
    return np.where(spins > 0, up, down)


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
    with pytest.raises(ValueError, match=r"found a, b. Choose one with --array NAME"):
        read_spins(tmp_path / "two.npz")
    with pytest.raises(ValueError, match=r"named 'c', found a, b"):
        read_spins(tmp_path / "two.npz", "c")


# Tables of text

HEADER = "a,b,c,d\n"
NAMES = ("a", "b", "c", "d")
COUNTED = np.column_stack([np.arange(6), (X + 1) // 2])


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (lines(X), None),
        (lines((X + 1) // 2), None),
        (lines(X.astype(float)), None),
        (lines(written_as(X, "+1", "-1.0")), None),
        (lines(written_as(X, "1e0", "\N{MINUS SIGN}1")), None),
        (HEADER + lines(X), NAMES),
        ("\ufeff" + HEADER + lines(X), NAMES),
        ("\ufeff" + lines(X), None),
        (HEADER.replace("a", '"A, B (R ME)"') + lines(X), ("A, B (R ME)", "b", "c", "d")),
        (lines(X).replace("\n", "\r\n"), None),
        (lines(X).replace("\n", "\r"), None),
        ("\n# a comment, with commas\n" + HEADER + lines(X).replace("\n", "\n# and\n\n", 2) + "\n\n", NAMES),
        (lines(X).rstrip(), None),
        (lines(X, " , "), None),
        ("0,1,2,3\n" + lines(X), ("0", "1", "2", "3")),
        ("1,2,3,4\n" + lines(X), ("1", "2", "3", "4")),
        ("17,4,33,8\n" + lines(X), ("17", "4", "33", "8")),
        ("t,y,n,f\n" + lines(X), ("t", "y", "n", "f")),
        (HEADER + lines([[f'"{v}"' for v in row] for row in X]), NAMES),
        (lines(X, ";"), None),
        ("a;b;c;d\n" + lines(written_as(X, "1,0", "0,0"), ";"), NAMES),
        (lines(X, "|"), None),
        (lines(X, "\t"), None),
        (lines(X, "  "), None),
        (lines(X).replace("\n", ",\n"), None),
        (HEADER + lines(X).replace("\n", ",\n"), NAMES),
        ((HEADER + lines(X)).replace("\n", ",\n"), NAMES),
    ],
)
@pytest.mark.parametrize("extension", ["csv", "tsv", "txt", "dat"])
def test_tables_of_text(tmp_path, content, names, extension):
    data = read_spins(write(tmp_path / f"x.{extension}", content))
    np.testing.assert_array_equal(data.spins, X)
    assert data.names == names


def test_capital_extension_and_savetxt(tmp_path):
    np.savetxt(tmp_path / "x.TXT", X)
    np.testing.assert_array_equal(read_spins(tmp_path / "x.TXT").spins, X)


def by_the_csv_module(text, delimiter):
    """A slow and readable twin: -1, 1, and 0 where a cell is missing."""
    values = {"1": 1, "1.0": 1, "+1": 1, "0": -1, "0.0": -1, "": 0, "NA": 0, "nan": 0}
    rows = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    return np.array([[values[cell.strip()] for cell in row] for row in rows if row])


spellings = st.sampled_from(["1", "1.0", "+1", "0", "0.0", "", "NA", "nan", '"1"', '"0"', " 1", "0 "])


@given(
    st.integers(2, 5).flatmap(lambda n: st.lists(st.lists(spellings, min_size=n, max_size=n), min_size=2)),
    st.sampled_from([",", ";", "\t", "|"]),
)
@settings(max_examples=60, deadline=None)
def test_both_ways_of_reading_text_agree_with_the_csv_module(tmp_path_factory, rows, delimiter):
    rows = [
        ["1", *row, "0"] for row in rows
    ]  # so that there are two columns without missing cells, and no header
    path = write(tmp_path_factory.mktemp("t") / "x.csv", lines(rows, delimiter))
    expected = by_the_csv_module(path.read_text(), delimiter)
    layout = _text._layout(path, "", ",")
    assert (layout.delimiter, layout.width, layout.names) == (delimiter, len(rows[0]), None)
    fast = _text._fast(path.read_bytes(), layout, _text.TextCodes())
    slow = _text._slow(path.read_bytes(), layout, _text.TextCodes(), 0)
    np.testing.assert_array_equal(fast, slow)
    np.testing.assert_array_equal(Encoding.of(flags_of(slow)).decode(slow), expected)
    spins = read_spins(path, missing="drop-spins").spins
    np.testing.assert_array_equal(spins, expected[:, (expected != 0).all(axis=0)])


@pytest.mark.parametrize(
    "text", ['1,"0,1",1', "1,1\n0,0,0,0", "1,0,1\n\n1,1,0", "1,0,1\n#1,0,0", "1,0," + "0" * 9, "1,0,\0"]
)
def test_what_takes_care_is_left_to_the_slow_way(text):
    assert _text._fast(text.encode() + b"\n", _text.Layout(",", 3, None, 0), _text.TextCodes()) is None


def test_blanks_at_the_beginning_of_a_line_are_no_cells():
    assert _text._fast(b" 1 0\n", _text.Layout(" ", 3, None, 0), _text.TextCodes()) is None
    assert _text._fast(b"1 1 0\n", _text.Layout(" ", 3, None, 0), _text.TextCodes()).tolist() == [[1, 1, 0]]


def test_text_is_the_same_in_blocks_of_any_size(tmp_path, monkeypatch):
    spins = random_spins(300, 7)
    rows = written_as(spins, "1", "-1").tolist()
    rows[120][3] = "+1.0" if spins[120, 3] > 0 else "-1.000000000"
    path = write(tmp_path / "x.csv", "a,b,c,d,e,f,g\n" + lines(rows))
    for size in (1, 50, 1000, 10**6):
        monkeypatch.setattr(_text, "CHUNK", size)
        np.testing.assert_array_equal(read_spins(path).spins, spins)


@pytest.mark.parametrize(
    ("sample", "default", "expected"),
    [
        (["a;b", "1,0;0,0"], ",", ";"),
        (["1,0", "0,1"], ",", ","),
        (["1,0", "0,1"], "\t", ","),
        (["1\t\t0", "\t1\t0"], ",", "\t"),
        (["a b,c d", "spike here,silent"], ",", ","),
        (["1, 0", "0, 1"], " ", ","),
    ],
)
def test_the_delimiter_is_the_one_that_makes_values(sample, default, expected):
    assert sniff(sample, default) == expected


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
    rows = COUNTED.tolist()
    rows[4][0] = 7
    path = write(tmp_path / "x.csv", lines(rows))
    with pytest.raises(
        ValueError, match=r"to go on counting the rows, .* found 7 at row 5.*--drop-columns 1"
    ):
        read_spins(path)
    np.testing.assert_array_equal(read_spins(path, drop_columns=["1"]).spins, X)


def test_columns_are_dropped_by_name_or_number(tmp_path):
    table = pd.DataFrame(X, columns=list(NAMES))
    table.insert(1, "age", [33, 41, 19, 20, 27, 64])
    table.insert(3, 'who, "exactly"', list("uvwxyz"))
    table.to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(
        ValueError, match=r"found 33 at row 1, column 2 .*named 'age'.* holds 33, 41, 19, \.\.\."
    ):
        read_spins(tmp_path / "x.csv")
    for columns in (["age", 'who, "exactly"'], ["2", "4"]):
        data = read_spins(tmp_path / "x.csv", drop_columns=columns)
        np.testing.assert_array_equal(data.spins, X)
        assert data.names == NAMES and data.notes == ()
    with pytest.raises(
        ValueError, match=r"a column named 'nobody' .*from 1 to 6, found 'a', 'age', 'b', \.\.\."
    ):
        read_spins(tmp_path / "x.csv", drop_columns=["nobody"])
    with pytest.raises(ValueError, match=r"at least 2, found 1 feature"):
        read_spins(tmp_path / "x.csv", drop_columns="23456")


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


# Missing values

GAPS = [["1", "", "0"], ["0", "1", "1"], ["1", "NA", "0"], ["0", "1", "0"], ["1", "0", "1"]]
WITHOUT_ROWS = [[-1, 1, 1], [-1, 1, -1], [1, -1, 1]]
WITHOUT_COLUMNS = [[1, -1], [-1, 1], [1, -1], [-1, -1], [1, 1]]


def gaps_in(path):
    """The same table, in the format of the extension."""
    text = "a,b,c\n" + lines(GAPS)
    numbers = np.array([[float(cell) if cell in "01" and cell else np.nan for cell in row] for row in GAPS])
    frame = pd.DataFrame(numbers, columns=list("abc"))
    if path.suffix == ".csv":
        write(path, text)
    elif path.suffix == ".npy":
        np.save(path, numbers)
    elif path.name == "floats.parquet":
        frame.to_parquet(path)
    elif path.name == "integers.parquet":
        frame.astype("Int64").to_parquet(path)
    elif path.name == "bools.parquet":
        frame.astype("boolean").to_parquet(path)
    elif path.name == "decimals.parquet":
        pl.from_pandas(frame).with_columns(pl.all().fill_nan(None).cast(pl.Decimal(3, 0))).write_parquet(path)
    else:
        texts = pd.DataFrame(
            [[{"1": "yes", "0": "no"}.get(c) for c in row] for row in GAPS], columns=list("abc")
        )
        texts.astype("category" if path.name == "categories.parquet" else "str").to_parquet(path)
    return path


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
        r"column 2 .*drop-samples, which leaves 3 of 5 samples.*drop-spins, which leaves 2 of 3 spins",
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
        ValueError, match=r"drop-samples leaves 1 of 4 samples and --missing drop-spins 0 of 3 spins"
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
        "but H counts them. Leave them out for H of the others.",
    )
    assert (
        "2 of 3 spins are the same in all samples (column 1, column 3)"
        in on_constant_spins(np.array([1, 0, 1]))[0]
    )


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
    with pytest.raises(ValueError, match=r"2020-01-01 in row 1, column 5.*named 'day'.*--drop-columns day"):
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


# Wrong input

BAD = lines(X).splitlines(keepends=True)


def replaced(row, text):
    return "".join([*BAD[:row], text, *BAD[row + 1 :]])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", replaced(2, "1,1,1\n"), r"expected 4 column\(s\), as row 1 has, found 3 in row 3"),
        ("x.csv", replaced(2, "1,1,1,1,1\n"), r"found 5 in row 3"),
        ("x.csv", HEADER + replaced(2, "1,1,1\n"), r"as the header has, found 3 in row 3 .*below the header"),
        ("x.csv", "a,b,c\n" + lines(X), r"expected 3 column\(s\), as the header has, found 4 in row 1"),
        ("x.csv", "a,b,c,d,e\n" + lines(X), r"expected 5 column\(s\), as the header has, found 4 in row 1"),
        ("x.csv", replaced(3, "1,yes,1,1\n"), r"the text 'yes' in row 4, column 2"),
        ("x.csv", replaced(3, "1,,1,1\n"), r"1 missing cell, in 1 of 6 .* the first at row 4, column 2"),
        ("x.csv", replaced(3, "1,nan,1,1\n"), r"1 missing cell, .* the first at row 4, column 2"),
        ("x.csv", replaced(3, "1,2,1,1\n"), r"found 2 at row 4, column 2"),
        ("x.csv", replaced(3, "1,300,1,1\n"), r"found 300 at row 4, column 2"),
        ("x.csv", replaced(3, "1,0.5,1,1\n"), r"found 0.5 at row 4, column 2"),
        ("x.csv", replaced(0, "1,x,1,1\n"), r"found the text 'x' in row 1, column 2"),
        ("x.csv", replaced(0, "NA,NA,NA,NA\n"), r"4 missing cells, .* the first at row 1, column 1"),
        ("x.csv", replaced(0, ",,,\n"), r"4 missing cells, .* the first at row 1, column 1"),
        ("x.csv", replaced(0, "?,?,?,?\n"), r"4 missing cells, .* the first at row 1, column 1"),
        ("x.csv", replaced(0, "True,False,True,True\n"), r"found the text 'True' in row 1, column 1"),
        (
            "x.csv",
            HEADER + replaced(3, "1,2,1,1\n"),
            r"found 2 at row 4, column 2 \(counting from 1, below the header",
        ),
        ("x.csv", replaced(3, "1,0_1,1,1\n"), r"the text '0_1' in row 4, column 2"),
        ("x.csv", replaced(3, "1," + "z" * 200_000 + ",1,1\n"), r"the text 'z{40}\.\.\.' in row 4, column 2"),
        ("x.csv", replaced(3, '1,"' + "z" * 200_000 + '",1,1\n'), r"short cells, found '1,\"zz.*\.\.\.'"),
        ("x.csv", replaced(3, "1," + "z" * 1000 + ",1,1\n"), r"the text 'z{40}\.\.\.' in row 4, column 2"),
        ("x.tsv", "1\t1\n\t\n1\t-1\n", r"2 missing cells, .* the first at row 2, column 1"),
        ("x.csv", "a,b\nA,B\nB,B\nA,A\n", r"holds 'A' and 'B': recode it to 1 and 0 first"),
        ("x.csv", "a;b\nspike;silent\nsilent;spike\n", r"holds 'spike' and 'silent': recode it"),
        (
            "x.csv",
            "1,2\n2,2\n1,1\n",
            r"holds 1 and 2: recode it to 0 and 1 first, for instance by subtracting",
        ),
        ("x.csv", "1.0,2.0\n2.0,NA\n1.0,1.0\n", r"holds 1 and 2: recode it to 0 and 1 first"),
        ("x.csv", "t,a,b\n0.1,1,0\n0.2,0,1\n0.3,1,1\n", r"holds 0.1, 0.2, 0.3: .* --drop-columns t\."),
        ("x.csv", "id,age,a,b\n7,40,1,0\n4,41,0,1\n5,52,1,1\n", r"--drop-columns id,age\."),
        (
            "x.csv",
            "a,b\nyes,1\nno,0\n1,1\n",
            r"either numbers or words in a column, found the text 'yes' in row 1",
        ),
        ("x.csv", "yes,no,maybe\nno,no,yes\nyes,no,no\n", r"found the text 'maybe' in row 1, column 3"),
        ("x.npy", b"\x93NUMPY\x01\x00\x10\x00{'descr': gibber", r"empty or damaged"),
        ("x.csv", "", r"found an empty file"),
        ("x.csv", "\n\n", r"found an empty file"),
        ("x.txt", "\t\n \t\n", r"found 1 feature"),
        ("x.csv", HEADER, r"a header and nothing below"),
        ("x.csv", "1,1,-1,1\n", r"found n_samples=1"),
        ("x.csv", "1\n-1\n1\n", r"found 1 feature"),
        ("x.csv", b"\xff\xfe1\x00", r"expected text in UTF-8"),
        ("x.csv", b"a,b\n\xff,1\n0,1\n", r"expected text in UTF-8"),
        ("x.csv", b"\x00\x01,\x00\n", r"expected text in UTF-8"),
        ("x.npy", b"", r"empty or damaged"),
        ("x.npy", b"hello", r"Pickles are not opened"),
        ("x.npy", b"hello, this is no array", r"Pickles are not opened"),
        ("x.npz", b"PK\x03\x04 broken", r"empty or damaged"),
        ("x.parquet", b"PAR1 broken PAR1", r"expected a Parquet file, found one that is empty or damaged"),
        ("x.parquet", b"", r"expected a Parquet file, found one that is empty or damaged"),
        ("x.csv.gz", lines(X), r"expected a .gz file, found one that is cut off or damaged"),
        ("x.npz.gz", b"", r"ending in .npz, which is compressed already, found .gz"),
        ("x.xlsx", lines(X), r"ending in .npy, .npz, .csv, .tsv, .txt, .dat, .parquet, .*, found .xlsx"),
        ("x", lines(X), r"found no extension"),
        ("x.gz", gzip.compress(lines(X).encode(), mtime=0), r"found no extension"),
    ],
)
def test_bad_files_say_which_and_where(tmp_path, name, content, message):
    path = write(tmp_path / name, content)
    for read in (read_spins, lambda path: list(read_batches(path, rows=2))):
        with pytest.raises(ValueError, match=message) as caught:
            read(path)
        assert str(caught.value).count(str(path)) == 1
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones(4), r"found 1 dimension"),
        (np.ones((2, 2, 2)), r"found 3 dimension"),
        (np.ones((4, 0)), r"0 feature"),
        (np.ones((0, 4)), r"n_samples=0"),
        (np.ones((3, 4), complex), r"complex"),
        (np.zeros((3, 4), "M8[s]"), r"dtype datetime64"),
        (np.full((3, 4), np.inf), r"found inf at row 1, column 1"),
    ],
)
def test_bad_arrays(tmp_path, array, message):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(ValueError, match=message):
        read_spins(tmp_path / "x.npy")


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_that_are_cut_off(tmp_path, order):
    np.save(tmp_path / "x.npy", np.asarray(X, order=order))
    path = write(tmp_path / "x.npy", (tmp_path / "x.npy").read_bytes()[:-5])
    with pytest.raises(ValueError, match="empty or damaged"):
        read_spins(path)


class Bomb:
    """Unpickling this leaves a mark."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_pickles_are_never_opened(tmp_path):
    mark = str(tmp_path / "mark")
    np.save(tmp_path / "object.npy", np.array([[Bomb(mark), 1]], object))
    np.savez(tmp_path / "object.npz", spins=np.array([[Bomb(mark), 1]], object))
    (tmp_path / "pickle.npy").write_bytes(pickle.dumps(Bomb(mark)))
    for name in ("object.npy", "object.npz", "pickle.npy"):
        with pytest.raises(ValueError, match="Pickles are not opened"):
            read_spins(tmp_path / name)
    assert not os.path.exists(mark)


def test_missing_file_and_directory(tmp_path):
    with pytest.raises(ValueError, match="no such file"):
        read_spins(tmp_path / "x.npy")
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(ValueError, match="found a directory"):
        read_spins(tmp_path / "d.csv")


def test_array_is_for_npz_only(tmp_path):
    with pytest.raises(ValueError, match="npz file only"):
        read_spins(write(tmp_path / "x.csv", lines(X)), "spins")


# Batches


def small_chunks(monkeypatch, size):
    for module in (_arrays, _parquet, _text):
        monkeypatch.setattr(module, "CHUNK", size)


def big(path, spins):
    """Spins in a file, in the format of the extension."""
    if path.suffix == ".parquet":
        pl.DataFrame(spins, schema=[f"x{j}" for j in range(spins.shape[1])]).write_parquet(
            path, row_group_size=100
        )
    elif path.suffix == ".npy":
        np.save(path, spins)
    elif path.suffix == ".npz":
        np.savez_compressed(path, spins=spins, other=np.zeros(3))
    else:
        text = lines(spins.tolist()).encode()
        write(path, gzip.compress(text, 1) if path.suffix == ".gz" else text)
    return path


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
        list(read_batches(path, rows=10))
    batches = list(read_batches(path, rows=10, missing="drop-samples"))
    whole = read_spins(path, missing="drop-samples")
    np.testing.assert_array_equal(np.concatenate([batch.spins for batch in batches]), whole.spins)
    assert len(whole.spins) < 40 and (whole.spins[-1] == values[39]).all()
    assert {batch.encoding for batch in batches} == {whole.encoding} == {"±1"}
    assert {batch.notes for batch in batches} == {whole.notes[:1]}


def test_batches_without_missing_samples(tmp_path, monkeypatch):
    monkeypatch.setattr(_text, "CHUNK", 10)
    path = gaps_in(tmp_path / "x.csv")
    batches = list(read_batches(path, rows=2, missing="drop-samples"))
    assert [batch.spins.tolist() for batch in batches] == [WITHOUT_ROWS[:2], WITHOUT_ROWS[2:]]
    assert batches[0].notes == ("2 of 5 samples, with 2 missing cells, are left out.",)
    with pytest.raises(ValueError, match=r"2 missing cells, in 2 of 5 samples"):
        list(read_batches(path, rows=1))
    path = write(tmp_path / "y.csv", "1,\n,0\n1,\n")
    with pytest.raises(ValueError, match=r"drop-samples leaves 0 of 3 samples"):
        list(read_batches(path, rows=1, missing="drop-samples"))


def test_places_are_those_in_the_whole_file(tmp_path, monkeypatch):
    monkeypatch.setattr(_text, "CHUNK", 10)
    for row, message in (
        ("1,0,1\n", r"as row 1 has, found 3 in row 7"),
        ("1,0,x,1\n", r"found the text 'x' in row 7, column 3"),
        ("1,,0,1\n", r"1 missing cell, in 1 of 8 samples .* the first at row 7, column 2"),
    ):
        path = write(tmp_path / "x.csv", lines((X + 1) // 2) + row + "1,1,1,1\n")
        for read in (read_spins, lambda path: list(read_batches(path, rows=1))):
            with pytest.raises(ValueError, match=message):
                read(path)


def test_words_after_numbers_in_a_later_batch(tmp_path, monkeypatch):
    monkeypatch.setattr(_text, "CHUNK", 10)
    path = write(tmp_path / "x.csv", lines((X + 1) // 2) + "yes,no,no,no\n")
    with pytest.raises(ValueError, match=r"found the text 'yes' in row 7, column 1"):
        list(read_batches(path, rows=1))


def test_batches_of_no_rows(tmp_path):
    with pytest.raises(ValueError, match="rows must be at least 1: found rows=0"):
        read_batches(tmp_path / "x.csv", rows=0)


def moments_in_batches(path, rows):
    accumulator = None
    for batch in read_batches(path, rows):
        accumulator = accumulator or bs.MomentAccumulator(batch.spins.shape[1])
        accumulator.update(batch.spins)
    return accumulator.moments()


@pytest.mark.parametrize("name", ["x.npy", "x.csv", "x.csv.gz", "x.parquet"])
def test_memory_is_that_of_a_batch_and_not_of_the_file(tmp_path, monkeypatch, name):
    small_chunks(monkeypatch, 2**14)
    peaks, spins = {}, random_spins(40_000, 20)
    moments_in_batches(big(tmp_path / name, spins[:100]), 50)  # imports
    for N, rows in ((10_000, 1000), (40_000, 1000)):
        path = big(tmp_path / name, spins[:N])
        tracemalloc.start()
        moments = moments_in_batches(path, rows)
        peaks[N] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert moments.N == N
    assert peaks[40_000] < 20 * 1000 * 20 + 30 * 2**14 < 40_000 * 20 * 2
    assert peaks[40_000] < 1.1 * peaks[10_000] + 2**16
    assert moments.C2 == bs.SpinMoments.of(spins).C2


# Memory


def test_memory_that_a_file_needs(tmp_path):
    spins = random_spins(30_000, 20)
    exact = _memory.memory_needed(*spins.shape)
    assert exact > spins.nbytes
    for name, tolerance in (("x.npy", 0), ("x.npz", 0), ("x.parquet", 0), ("x.csv", 0.02), ("x.csv.gz", 0.3)):
        assert memory_of(big(tmp_path / name, spins)) == pytest.approx(exact, rel=tolerance)


@pytest.mark.parametrize(("N", "n"), [(20_000, 100), (1000, 2000)])
def test_memory_needed_is_what_reading_and_fitting_take(tmp_path, N, n):
    path = big(tmp_path / "x.npy", random_spins(N, n))
    bs.EmpiricalBayes().fit(read_spins(path).spins[:100, :10])  # imports
    tracemalloc.start()
    bs.EmpiricalBayes().fit(read_spins(path).spins)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < memory_of(path) < 2 * peak


def test_memory_available(monkeypatch):
    assert 2**20 < _memory.memory_available() < 2**50
    monkeypatch.setattr(_memory, "_cgroup", lambda: 123)
    assert _memory.memory_available() == 123
    monkeypatch.setattr(_memory, "_cgroup", lambda: None)
    monkeypatch.setattr(_memory, "_meminfo", lambda: None)
    assert _memory.memory_available() is None


def test_writing_is_all_or_nothing(tmp_path):
    path = tmp_path / "out.bin"

    def interrupted():
        with writing(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []
    with writing(path) as file:
        file.write(b"whole")
    with pytest.raises(ValueError, match="force=True"), writing(path) as file:
        file.write(b"other")
    assert path.read_bytes() == b"whole"
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask
    with writing(path, force=True) as file:
        file.write(b"other")
    assert path.read_bytes() == b"other"
    with pytest.raises(ValueError, match="existing directory"), writing(tmp_path / "no" / "x.bin"):
        pass
    with pytest.raises(ValueError, match="found a directory"), writing(tmp_path, force=True):
        pass


def test_copies_are_said_unless_by_accident():
    spins = np.random.default_rng(0).choice(np.array([-1, 1], np.int8), (30, 6))
    assert on_copies(spins) == ()
    spins[:, 5], spins[:, 4], spins[:, 1], spins[:, 2] = spins[:, 0], -spins[:, 0], 1, -1
    (note,) = on_copies(spins)
    assert "(column 1 and column 5, column 1 and column 6)" in note
    assert "('a' and 'e', 'a' and 'f')" in on_copies(spins, list("abcdef"))[0]
    assert on_copies(spins[:9]) == ()
