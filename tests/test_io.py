import gzip
import os
import pickle

import numpy as np
import pytest

from bayesing.files import writing
from bayesing.io import read_spins

from samples import random_spins

X = random_spins(6, 4)


def lines(rows, delimiter=","):
    return "".join(delimiter.join(map(str, row)) + "\n" for row in rows)


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("values", [X, (X + 1) // 2, X > 0, X.astype(float)])
def test_npy(tmp_path, values):
    np.save(tmp_path / "x.npy", values)
    data = read_spins(tmp_path / "x.npy")
    np.testing.assert_array_equal(data.spins, X)
    assert data.names is None


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


HEADER = "a,b,c,d\n"


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (lines(X), None),
        (lines((X + 1) // 2), None),
        (lines(X.astype(float)), None),
        (HEADER + lines(X), ("a", "b", "c", "d")),
        ("\ufeff" + HEADER + lines(X), ("a", "b", "c", "d")),
        (HEADER.replace("a", '"A, B (R ME)"') + lines(X), ("A, B (R ME)", "b", "c", "d")),
        (lines(X).replace("\n", "\r\n"), None),
        (lines(X) + "\n\n", None),
        (lines(X, " , "), None),
        ("0,1,2,3\n" + lines(X), ("0", "1", "2", "3")),
        ("1,2,3,4\n" + lines(X), ("1", "2", "3", "4")),
        (HEADER + lines([[f'"{v}"' for v in row] for row in X]), ("a", "b", "c", "d")),
    ],
)
def test_csv(tmp_path, content, names):
    data = read_spins(write(tmp_path / "x.csv", content))
    np.testing.assert_array_equal(data.spins, X)
    assert data.names == names


def test_tsv_and_capital_extension(tmp_path):
    data = read_spins(write(tmp_path / "x.TSV", "a\tb\tc\td\n" + lines(X, "\t")))
    np.testing.assert_array_equal(data.spins, X)


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
        ("x.csv", replaced(3, "1,,1,1\n"), r"an empty cell in row 4, column 2"),
        ("x.csv", replaced(3, "1,nan,1,1\n"), r"missing value \(NaN\) at row 4, column 2"),
        ("x.csv", replaced(3, "1,2,1,1\n"), r"found 2 at row 4, column 2"),
        ("x.csv", replaced(3, "1,300,1,1\n"), r"found 300.0 at row 4, column 2"),
        ("x.csv", replaced(3, "1,0.5,1,1\n"), r"found 0.5 at row 4, column 2"),
        ("x.csv", replaced(0, "1,x,1,1\n"), r"found the text 'x' in row 1, column 2"),
        ("x.csv", replaced(0, "NA,NA,NA,NA\n"), r"found the text 'NA' in row 1, column 1"),
        ("x.csv", replaced(0, ",,,\n"), r"found an empty cell in row 1, column 1"),
        ("x.csv", replaced(0, "?,?,?,?\n"), r"found the text '\?' in row 1, column 1"),
        ("x.csv", replaced(0, "True,False,True,True\n"), r"found the text 'True' in row 1, column 1"),
        (
            "x.csv",
            HEADER + replaced(3, "1,2,1,1\n"),
            r"found 2 at row 4, column 2 \(counting from 1, below the header",
        ),
        ("x.csv", replaced(3, "1,0_1,1,1\n"), r"the text '0_1' in row 4, column 2"),
        ("x.csv", replaced(3, "1," + "z" * 200_000 + ",1,1\n"), r"found '1,zz.*\.\.\.'"),
        ("x.csv", replaced(3, "1," + "z" * 1000 + ",1,1\n"), r"the text 'z{40}\.\.\.' in row 4, column 2"),
        (
            "x.csv",
            lines(X, ",").replace(",", ", ").replace("\n", ",\n"),
            r"found an empty cell in row 1, column 5",
        ),
        ("x.tsv", lines(X), r"separated by '\\t', found one column with ',' in it"),
        ("x.tsv", "1\t1\n\t\n1\t-1\n", r"an empty cell in row 2, column 1"),
        ("x.npy", b"\x93NUMPY\x01\x00\x10\x00{'descr': gibber", r"empty or damaged"),
        ("x.csv", "", r"found an empty file"),
        ("x.csv", "\n\n", r"found an empty file"),
        ("x.csv", HEADER, r"a header and nothing below"),
        ("x.csv", "1,1,-1,1\n", r"found n_samples=1"),
        ("x.csv", "1\n-1\n1\n", r"found 1 feature"),
        ("x.csv", b"\xff\xfe1\x00", r"expected text in UTF-8"),
        ("x.csv", lines(X, ";"), r"separated by ',', found one column with ';' in it"),
        ("x.npy", b"", r"empty or damaged"),
        ("x.npy", b"hello", r"Pickles are not opened"),
        ("x.npz", b"PK\x03\x04 broken", r"empty or damaged"),
        ("x.txt", lines(X), r"ending in .npy, .npz, .csv, .tsv, found .txt"),
        ("x", lines(X), r"found no extension"),
        ("x.csv.gz", gzip.compress(lines(X).encode()), r"found .gz"),
    ],
)
def test_bad_files_say_which_and_where(tmp_path, name, content, message):
    path = write(tmp_path / name, content)
    with pytest.raises(ValueError, match=message) as caught:
        read_spins(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


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
    with pytest.raises(ValueError, match="--force"), writing(path) as file:
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
