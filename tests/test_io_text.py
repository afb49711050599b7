import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesing.io import _text, read_spins
from bayesing.io._bits import Bits
from bayesing.io._codes import flags_of
from bayesing.io._layout import Layout, layout_of, sniff

from samples import random_spins
from tables import HEADER, NAMES, X, lines, write, written_as


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
    layout = layout_of(path, "", ",")
    assert (layout.delimiter, layout.width, layout.names) == (delimiter, len(rows[0]), None)
    fast = _text._fast(path.read_bytes(), layout, _text.TextCodes())
    slow = _text._slow(path.read_bytes(), layout, _text.TextCodes(), 0)
    np.testing.assert_array_equal(fast, slow)
    bits = Bits.of(slow, flags_of(slow))
    np.testing.assert_array_equal(bits.up.unpack() > 0, expected > 0)
    np.testing.assert_array_equal(bits.absent(False).unpack() > 0, expected == 0)
    spins = read_spins(path, missing="drop-spins").spins
    np.testing.assert_array_equal(spins, expected[:, (expected != 0).all(axis=0)])


@pytest.mark.parametrize(
    "text", ['1,"0,1",1', "1,1\n0,0,0,0", "1,0,1\n\n1,1,0", "1,0,1\n#1,0,0", "1,0," + "0" * 9, "1,0,\0"]
)
def test_what_takes_care_is_left_to_the_slow_way(text):
    assert _text._fast(text.encode() + b"\n", Layout(",", 3, None, 0), _text.TextCodes()) is None


def test_blanks_at_the_beginning_of_a_line_are_no_cells():
    assert _text._fast(b" 1 0\n", Layout(" ", 3, None, 0), _text.TextCodes()) is None
    assert _text._fast(b"1 1 0\n", Layout(" ", 3, None, 0), _text.TextCodes()).tolist() == [[1, 1, 0]]


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
