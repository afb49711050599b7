import gzip
import os
import pickle

import numpy as np
import pytest

from bayesing.io import read_batches, read_spins

from tables import HEADER, X, lines, write

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
            r"holds 1 and 2: recode it to 0 and 1 first, 1 for the answer that counts",
        ),
        ("x.csv", "1.0,2.0\n2.0,NA\n1.0,1.0\n", r"holds 1 and 2: recode it to 0 and 1 first"),
        ("x.csv", "t,a,b\n0.1,1,0\n0.2,0,1\n0.3,1,1\n", r"holds 0.1, 0.2, 0.3: .* drop_columns=\[\"t\"\]\."),
        ("x.csv", "id,age,a,b\n7,40,1,0\n4,41,0,1\n5,52,1,1\n", r"drop_columns=\[\"id\", \"age\"\]\."),
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
    for read in (read_spins, lambda path, **how: list(read_batches(path, rows=2, **how))):
        with pytest.raises(ValueError, match=message) as caught:
            read(path, missing="error")
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
