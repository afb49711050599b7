import gzip

import numpy as np
import pytest

from bayesing.exceptions import InputError
from bayesing.io import _layout, batches_of, memory_of, open_table, read_batches, read_spins, read_table

from samples import random_spins
from tables import GAPS, big, lines, write


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.npy", "x.npz"])
def test_a_file_is_opened_twice_to_be_read(tmp_path, opens, name):
    spins = random_spins(400, 5)
    path = big(tmp_path / name, spins)
    opens.clear()
    np.testing.assert_array_equal(read_spins(path).spins, spins)
    assert opens == [name, name]
    opens.clear()
    assert sum(len(batch) for batch in read_batches(path, rows=100)) == 400
    assert opens == [name, name]


def test_the_memory_needed_takes_no_more_openings(tmp_path, opens):
    path = big(tmp_path / "x.csv", random_spins(400, 5))
    opens.clear()
    table = open_table(path)
    assert table.n_rows == pytest.approx(400, rel=0.05) and table.width == 5
    assert memory_of(table) > 0
    assert len(read_table(table)) == 400
    assert opens == ["x.csv"] * 2


def test_missing_cells_take_one_opening_more_in_batches_only(tmp_path, opens):
    path = write(tmp_path / "x.csv", "a,b,c\n" + lines(GAPS))
    opens.clear()
    assert len(read_spins(path, missing="drop-samples")) == 3
    assert opens == ["x.csv"] * 2
    opens.clear()
    assert sum(len(batch) for batch in batches_of(open_table(path), missing="drop-samples")) == 3
    assert opens == ["x.csv"] * 3


@pytest.mark.parametrize("compressed", [False, True])
def test_the_number_of_rows_is_exact_where_all_of_a_text_was_seen(tmp_path, compressed):
    text = ("# by hand\n\na,b,c\n" + "1,0,1\n" * 30).encode()
    path = tmp_path / ("x.csv.gz" if compressed else "x.csv")
    assert open_table(write(path, gzip.compress(text) if compressed else text)).n_rows == 30
    carriage_returns = text.replace(b"\n", b"\r")
    assert open_table(write(tmp_path / "mac.csv", carriage_returns)).n_rows == 30


def test_the_first_lines_may_be_far_down(tmp_path):
    comments = "# nothing but a comment, for a megabyte and more\n" * 30_000
    table = open_table(write(tmp_path / "x.csv", comments + "a,b\n1,0\n0,0\n1,1\n"))
    assert (table.names, table.first) == (("a", "b"), ("1", "0", "1"))
    assert read_table(table).spins.tolist() == [[1, -1], [-1, -1], [1, 1]]


def test_three_lines_are_looked_at_however_long_they_are(tmp_path, monkeypatch):
    monkeypatch.setattr(_layout, "_BEGINNING", 4)
    table = open_table(write(tmp_path / "x.csv", "item_1,item_2\n1,0\n0,0\n1,1\n"))
    assert table.names == ("item_1", "item_2") and read_table(table).shape == (3, 2)


def test_a_wrong_rule_is_an_error_before_the_file_is_looked_at(tmp_path):
    table = open_table(big(tmp_path / "x.csv", random_spins(9, 3)))
    for read in (read_table, batches_of):
        with pytest.raises(InputError, match=r"^missing must be one of .* found 'zero'"):
            read(table, missing="zero")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("width", [3, 200_000])
def test_the_first_cells_of_an_array(tmp_path, order, width):
    values = np.ones((50, width), np.int8, order)
    values[:, 0] = np.arange(50)
    np.save(tmp_path / "x.npy", values)
    first = open_table(tmp_path / "x.npy").first
    assert len(first) == (20 if width == 3 else 3) and first == list(range(len(first)))
