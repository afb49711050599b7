"""Files of SPSS and R."""

import sys

import numpy as np
import pandas as pd
import pytest

import bayesing as bs

from samples import random_spins

X = random_spins(40, 5)
FRAME = pd.DataFrame((X + 1) // 2, columns=[f"q{i}" for i in range(5)])


@pytest.fixture
def pyreadstat():
    return pytest.importorskip("pyreadstat", reason="files of SPSS need pyreadstat")


@pytest.fixture
def pyreadr():
    return pytest.importorskip("pyreadr", reason="files of R need pyreadr")


def test_numbers_of_spss(tmp_path, pyreadstat):
    frame = FRAME.astype(float)
    frame.iloc[3] = np.nan
    pyreadstat.write_sav(frame, tmp_path / "x.sav")
    data = bs.read_spins(tmp_path / "x.sav")
    assert data.names == tuple(FRAME.columns) and data.encoding == "0/1"
    assert (data.spins == np.delete(X, 3, axis=0)).all()  # a row without any value


def test_labels_of_spss_say_which_is_yes(tmp_path, pyreadstat):
    frame = pd.DataFrame(np.where(X > 0, 1.0, 2.0), columns=FRAME.columns).assign(q4=FRAME.q4.astype(float))
    frame.loc[5, "q1"] = 9
    labels = {f"q{i}": {1: "Yes", 2: "No", 9: "refused"} for i in range(4)} | {"q4": {0: "low", 1: "high"}}
    pyreadstat.write_sav(
        frame, tmp_path / "x.sav", variable_value_labels=labels, missing_ranges={"q1": [{"lo": 9, "hi": 9}]}
    )
    data = bs.read_spins(tmp_path / "x.sav")
    assert data.encoding == "0/1 and yes/no" and data.missing == 1
    expected = X.copy()
    expected[5, 1] = 0
    assert (data.spins == expected).all()
    frame.loc[5, "q1"] = 3  # which has no label, and is no spin
    pyreadstat.write_sav(frame, tmp_path / "y.sav", variable_value_labels=labels)
    with pytest.raises(bs.NotSpinsError, match="named 'q1'"):
        bs.read_spins(tmp_path / "y.sav")


def test_columns_are_left_out_as_of_other_files(tmp_path, pyreadstat):
    pyreadstat.write_sav(FRAME.assign(id=[f"p{i}" for i in range(40)], age=50.0), tmp_path / "x.sav")
    with pytest.raises(bs.NotSpinsError, match=r'drop_columns=\["id", "age"\]'):
        bs.read_spins(tmp_path / "x.sav")
    assert (bs.read_spins(tmp_path / "x.sav", drop_columns="id, age").spins == X).all()


def test_frames_of_r(tmp_path, pyreadr):
    frame = FRAME.assign(
        q0=X[:, 0] > 0, q1=pd.Categorical(np.where(X[:, 1] > 0, "yes", "no")), q2=FRAME.q2.astype(float)
    )
    frame.loc[2, "q2"] = np.nan
    pyreadr.write_rds(str(tmp_path / "x.rds"), frame)
    data = bs.read_spins(tmp_path / "x.rds")
    expected = X.copy()
    expected[2, 2] = 0
    assert (data.spins == expected).all() and data.missing == 1
    assert data.encoding == "0/1 and yes/no and true/false"
    pyreadr.write_rdata(str(tmp_path / "x.rda"), frame, df_name="answers")
    assert (bs.read_spins(tmp_path / "x.rda").spins == expected).all()
    assert (bs.read_spins(tmp_path / "x.rda", array="answers").spins == expected).all()
    with pytest.raises(
        bs.InputError, match=r"data frame named 'Answer', found answers. Did you mean 'answers'"
    ):
        bs.read_spins(tmp_path / "x.rda", array="Answer")


def test_several_frames_of_r(tmp_path, pyreadr, monkeypatch):
    frames = {"one": FRAME, "two": FRAME.iloc[:, ::-1]}  # pyreadr writes only one
    monkeypatch.setattr(pyreadr, "read_r", lambda path: frames)
    (tmp_path / "x.RData").touch()
    with pytest.raises(
        bs.InputError, match=r'a single data frame, found one, two. Choose one with array="NAME"'
    ):
        bs.read_spins(tmp_path / "x.RData")
    assert (bs.read_spins(tmp_path / "x.RData", "two").spins == X[:, ::-1]).all()


@pytest.mark.parametrize(
    ("ending", "package"), [(".sav", "pyreadstat"), (".rds", "pyreadr"), (".rda", "pyreadr")]
)
def test_damaged_files_and_missing_packages_are_one_sentence(tmp_path, ending, package, monkeypatch):
    pytest.importorskip(package, reason="to see what it makes of a damaged file")
    path = tmp_path / f"x{ending}"
    path.write_bytes(b"not such a file\n")
    with pytest.raises(
        bs.InputError, match=r"x\.\w+: expected a file of \w+, found one that is empty or damaged"
    ):
        bs.read_spins(path)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(bs.InputError, match=rf"needs the package {package}: pip install 'bayesing\[data\]'"):
        bs.read_spins(path)


def test_batches(tmp_path, pyreadstat):
    pyreadstat.write_sav(FRAME, tmp_path / "x.sav")
    batches = list(bs.read_batches(tmp_path / "x.sav", rows=7))
    assert [len(batch) for batch in batches] == [7] * 5 + [5]
    assert (np.concatenate([batch.spins for batch in batches]) == X).all()
