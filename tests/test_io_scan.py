"""The compiled reader of 0, 1 and -1 agrees with the slow one, or leaves the text to it."""

import numpy as np
import pytest

import bayesing as bs
from bayesing.exceptions import InputError
from bayesing.io import _text
from bayesing.io._codes import TextCodes
from bayesing.io._layout import Layout
from bayesing.io._scan import scan

from tables import lines, small_chunks, write

ODD = ["", "-", "--1", "-0", "2", "1.0", "+1", "1 ", " 1", "10", "yes", "NA", "-1-", "1-"]


def slow(block, delimiter, width):
    try:
        return _text._slow(block, Layout(delimiter, width, None, 0), TextCodes(), 0)
    except InputError:
        return None


@pytest.mark.parametrize("delimiter", [",", ";", "\t", " "])
def test_plain_cells(delimiter):
    rng = np.random.default_rng(0)
    for width in (1, 2, 7):
        cells = rng.choice(["0", "1", "-1"], (11, width))
        block = lines(cells, delimiter).encode()
        found = scan(block, delimiter, width)
        np.testing.assert_array_equal(found, cells.astype(int))
        np.testing.assert_array_equal(found, slow(block, delimiter, width))
        assert scan(block, delimiter, width + 1) is None
        assert scan(block[:-1], delimiter, width) is None or width == 1
        assert scan(block[:-2] + b"\n", delimiter, width) is None or block.endswith(b"-1\n")


def test_other_cells_are_left_to_others_or_read_alike():
    rng = np.random.default_rng(1)
    left = 0
    for _ in range(600):
        cells = rng.choice(["0", "1", "-1"], (4, 3)).astype(object)
        cells[rng.integers(4), rng.integers(3)] = str(rng.choice(ODD))
        block = lines(cells).encode()
        if rng.random() < 0.3:
            at = rng.integers(len(block))
            block = block[:at] + bytes(rng.choice([b",", b"\n", b"-", b"1"])) + block[at:]
        found, expected = scan(block, ",", 3), slow(block, ",", 3)
        if found is None:
            left += 1
        else:
            np.testing.assert_array_equal(found, expected)
    assert 400 < left < 600  # "-0" is 0 to both


def test_a_large_file_is_read_by_it(tmp_path, monkeypatch):
    """Also where some blocks of the file are left to others."""
    small_chunks(monkeypatch, 100)
    monkeypatch.setattr(_text, "_FOR_COMPILER", 0)
    X = np.where(np.random.default_rng(2).random((200, 4)) < 0.5, 1, -1)
    rows = [list(map(str, row)) for row in X]
    rows[77][2] = "1.0" if X[77, 2] > 0 else "-1.0"
    path = write(tmp_path / "x.csv", "a,b,c,d\n" + lines(rows) + "# the end\n")
    used = []
    monkeypatch.setattr("bayesing.io._scan.scan", lambda *args: used.append(scan(*args)) or used[-1])
    found = bs.read_spins(path)
    np.testing.assert_array_equal(found.spins, X)
    assert sum(codes is None for codes in used) == 2 and len(used) > 10
