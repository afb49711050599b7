"""Files that once cost much, were read in two ways, or ended in an exception that is no ValueError."""

import gzip
import io
import json
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.lib import format as npy

import bayesing as bs
from bayesing.io import _lines, _parquet, read_spins

from hostile import check_reader, check_text
from tables import HEADER, NAMES, X, lines, write

COINS = np.random.default_rng(0).integers(0, 2, 50)


def header(shape, dtype="<i8", fortran=False):
    """What stands before the numbers of an .npy file, whatever follows."""
    file = io.BytesIO()
    npy.write_array_header_2_0(file, {"descr": dtype, "fortran_order": fortran, "shape": shape})
    return file.getvalue()


def fails(path, message):
    """A ValueError in a second or so, with the name of the file."""
    start = time.monotonic()
    with pytest.raises(bs.InputError, match=message) as caught:
        read_spins(path)
    assert str(caught.value).startswith(f"{path}: ") and time.monotonic() - start < 5


@pytest.mark.parametrize("fortran", [False, True])
@pytest.mark.parametrize(
    ("shape", "dtype", "message"),
    [
        ((0, 10**8), "<i8", "at most 1,000,000 columns"),
        ((10**9, 10**9), "<i8", "at most 1,000,000 columns"),
        ((10**15, 3), "<i8", "its end is missing"),
        ((10**15, 3), "|i1", "its end is missing"),
        ((2, 3), "<U9999999", "found rows of 119999988 bytes"),
        ((2, 3), "|S0", "found rows of 0 bytes"),
    ],
)
def test_headers_that_promise_too_much(tmp_path, shape, dtype, message, fortran):
    fails(write(tmp_path / "x.npy", header(shape, dtype, fortran)), message)
    fails(write(tmp_path / "x.npy.gz", gzip.compress(header(shape, dtype, fortran))), message)


def test_characters_that_are_none(tmp_path):
    text = np.full((4, 3), "1").view(np.uint32)
    text[2, 1] = 0x7FFFFFFF
    np.save(tmp_path / "x.npy", text.view("U1"))
    fails(tmp_path / "x.npy", r"found the text '�' in row 3, column 2")


def test_an_array_in_fortrans_order_may_be_cut_while_it_is_read(tmp_path, monkeypatch):
    """A map of the file would end the process with SIGBUS."""
    monkeypatch.setattr("bayesing.io._arrays._BLOCK_BYTES", 2**13)
    path = tmp_path / "x.npy"
    np.save(path, np.asfortranarray(np.where(np.random.default_rng(0).random((5000, 20)) < 0.5, 1, -1)))
    batches = bs.read_batches(path, rows=10)
    next(batches)
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(bs.InputError, match="was cut while it was read"):
        list(batches)


@pytest.mark.parametrize("blank", ["\n", "# no\n", "\r\n"])
def test_a_megabyte_of_nothing_takes_no_time(tmp_path, blank):
    path = write(tmp_path / "x.csv", blank * (2**20 // len(blank)) + HEADER + lines(X))
    start = time.monotonic()
    data = read_spins(path)
    assert data.names == NAMES and data.spins.tolist() == X.tolist()
    assert time.monotonic() - start < 4  # once 8 s


def test_more_of_nothing_is_an_error(tmp_path):
    fails(
        write(tmp_path / "x.csv.gz", gzip.compress(b"\n" * 2**23, 1)),
        "MB of blank lines and comments",
    )


def test_lines_that_are_too_long(tmp_path):
    fails(write(tmp_path / "x.csv.gz", gzip.compress(b"1," * 2**22, 1)), "at most 1,000,000 columns")
    fails(write(tmp_path / "y.csv.gz", gzip.compress(b"1" * 2**26, 1)), "lines of at most 16 MB")
    fails(
        write(tmp_path / "z.txt.gz", gzip.compress(b'"1" ' * 2**21 + b"\n", 1)), "at most 1,000,000 columns"
    )


def test_long_texts_in_parquet(tmp_path, monkeypatch):
    """A text of 128 kB, 1000 times over: once where a dictionary holds it, and an error where none does."""
    N = 1000
    long = pa.DictionaryArray.from_arrays(pa.array(np.zeros(N, np.int32)), ["x" * 2**17]).cast(pa.string())
    coins = pa.array(np.resize(COINS, N))
    pq.write_table(
        pa.table({"a": coins, "b": coins, "long": long}), tmp_path / "x.parquet", compression="zstd"
    )
    del long
    assert (tmp_path / "x.parquet").stat().st_size < 10**5
    assert check_reader(tmp_path / "x.parquet")[0] == "NotSpinsError"
    assert read_spins(tmp_path / "x.parquet", drop_columns=["long"]).shape == (N, 2)
    monkeypatch.setattr(_parquet, "_MOST_BYTES", 2**15)
    fails(tmp_path / "x.parquet", "expected short cells, found 0 MB in a group of 1000 rows")


def test_times_beyond_those_of_python(tmp_path):
    times = pa.array(np.arange(50) * 2**56, pa.timestamp("us"))
    pq.write_table(pa.table({"a": COINS, "b": COINS, "t": times}), tmp_path / "x.parquet")
    fails(tmp_path / "x.parquet", r"column 3 .* named 't'")
    pq.write_table(pa.table({"t": times, "a": COINS, "b": COINS}), tmp_path / "x.parquet")
    assert read_spins(tmp_path / "x.parquet", drop_columns=["t"]).names == ("a", "b")


@pytest.mark.parametrize(
    "told", ["[]", "{", "7", '"a"', '{"index_columns": 3}', '{"index_columns": null}', "\udcff"]
)
def test_what_pandas_says_may_be_nonsense(tmp_path, told):
    table = pa.table({"a": COINS, "b": COINS})
    table = table.replace_schema_metadata({b"pandas": told.encode("utf-8", "surrogateescape")})
    pq.write_table(table, tmp_path / "x.parquet")
    assert read_spins(tmp_path / "x.parquet").names == ("a", "b")
    table = table.replace_schema_metadata(
        {b"pandas": json.dumps({"index_columns": ["a", {"kind": "range"}]})}
    )
    pq.write_table(table.append_column("c", [COINS]), tmp_path / "x.parquet")
    assert read_spins(tmp_path / "x.parquet").names == ("b", "c")


@pytest.mark.parametrize("repeats", [4, 20_000])  # one block, and several
@pytest.mark.parametrize("extension", [".csv", ".txt"])
def test_quotes_around_a_delimiter_are_the_same_in_any_block(tmp_path, repeats, extension):
    path = write(tmp_path / f"x{extension}", '"1,0",1\n"0,0",1\n"0,0",0\n' * repeats)
    found = check_text(path)
    assert found[0][:3] == [[1, 1], [-1, 1], [-1, -1]] and len(found[0]) == 3 * repeats
    path = write(tmp_path / f"y{extension}", "1,0,1\n" * 3 * repeats + '"1,0",1\n')
    assert "found 2 in row" in check_text(path)[1]


def test_a_thousand_is_not_one(tmp_path):
    for text in ('a,b\n1,0\n"1,000",1\n', "a;b\n1;0\n1,000;1\n"):
        assert "found the text '1,000'" in check_text(write(tmp_path / "x.csv", text))[1]
    assert check_text(write(tmp_path / "x.csv", "a;b\n1,0;0,00\n0,0000;1,0\n"))[0] == [[1, -1], [-1, 1]]


def test_numbers_of_two_columns(tmp_path):
    """Above words or ±1 they are a header; above 0 and 1 they may be a sample, and this is said."""
    for body in ("yes,no\nno,no\nyes,yes\n", "1,-1\n-1,-1\n-1,1\n"):
        assert read_spins(write(tmp_path / "x.csv", "0,1\n" + body)).names == ("0", "1")
    data = read_spins(write(tmp_path / "x.csv", "0,1\n1,0\n1,1\n0,0\n"))
    assert data.names is None and len(data) == 4
    assert data.notes == (
        "the first line, 0 and 1, is read as a sample. If it numbers the columns, give them names instead.",
    )


def test_tabs_between_names_with_blanks(tmp_path):
    text = "item one\titem two\tc\n1\t0\t1\n0\t1\t1\n1\t1\t0\n1\t\t0\n"
    for extension in ("txt", "dat", "csv", "tsv"):
        data = read_spins(write(tmp_path / f"x.{extension}", text))
        assert data.names == ("item one", "item two", "c") and data.missing == 1


def test_a_header_that_is_a_comment_is_said(tmp_path):
    np.savetxt(tmp_path / "x.txt", X, header="one two three four")
    data = read_spins(tmp_path / "x.txt")
    assert data.names is None and data.spins.tolist() == X.tolist()
    assert data.notes == (
        "the line '# one two three four' begins with # and is read as a comment. If it holds the names of the "
        "columns, remove the #.",
    )
    assert read_spins(write(tmp_path / "x.csv", "# by hand\n" + lines(X))).notes == ()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_line_ends_are_the_same_in_blocks_of_any_size(size):
    text = b"\xef\xbb\xbf1\r\n2\r3\n\r\n\r4\r\r\n5"
    whole = b"".join(_lines.whole_lines(io.BytesIO(text), size if size > 2 else size + 2))
    assert whole == b"1\n2\n3\n\n\n4\n\n5\n"
    assert b"".join(_lines.whole_lines(io.BytesIO(text[3:]), size)) == whole
