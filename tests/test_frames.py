"""Words in data frames, and columns that are no spins (bayesing.cells)."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bayesing as bs
from bayesing.spins import encode, pack_spins

X = np.array([[1, -1, 1], [-1, -1, 1], [1, 1, -1], [-1, 1, 1]], np.int8)


def words(up, down, which=slice(None)):
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).astype(object)
    for name in frame.columns[which]:
        frame[name] = np.where(X[:, "abc".index(name)] > 0, up, down)
    return frame


@pytest.mark.parametrize(
    ("frame", "encoding"),
    [
        (words("yes", "no"), "yes/no"),
        (words("Yes", " NO "), "yes/no"),
        (words("t", "f"), "t/f"),
        (words("true", "false").astype("category"), "true/false"),
        (words("yes", "no").astype("string"), "yes/no"),
        (pl.from_pandas(words("y", "n").astype(str)), "y/n"),
        (words("1", "0"), None),
        (words("1", "-1"), None),
        (words("yes", "no", slice(1)), "±1 and yes/no"),
        (words(True, False, slice(1)), "±1 and true/false"),
        (words("yes", "no").to_numpy(), "yes/no"),
        (words("yes", "no").to_numpy().tolist(), "yes/no"),
    ],
)
def test_words_are_as_in_files(frame, encoding):
    spins, found = encode(frame)
    assert (spins == X).all()
    if encoding:
        assert found == encoding
    assert (pack_spins(frame)[0].unpack() == X).all() and pack_spins(frame)[2] == found


def test_words_beside_zero_and_one():
    frame = words("yes", "no", slice(1)).assign(b=(X[:, 1] > 0).astype(int), c=X[:, 2] > 0)
    assert (encode(frame)[0] == X).all() and encode(frame)[1] == "0/1 and yes/no"
    frame["b"] = 1
    frame["c"] = "yes"
    assert encode(frame)[1] == "1 and yes/no"


def test_the_same_in_a_file(tmp_path):
    frame = words("yes", "no", slice(2))
    frame.to_csv(tmp_path / "x.csv", index=False)
    read = bs.read_spins(tmp_path / "x.csv")
    stats = bs.SpinStatistics.of(frame)
    assert read.encoding == stats.encoding == "±1 and yes/no"
    assert (read.spins == stats.spins()).all()


def test_missing_words():
    frame = words("yes", "no")
    frame.iloc[1, 2], frame.iloc[0, 0], frame.iloc[3, 1] = "NA", None, ""
    stats = bs.SpinStatistics.of(frame)
    assert stats.missing == 3 and stats.counts.tolist() == [3, 3, 3]
    assert (stats.spins() == np.where(frame.isin(["yes", "no"]), X, 0)).all()


def test_a_column_holds_numbers_or_words():
    frame = words("yes", "no", slice(1)).astype(object)
    frame.iloc[2, 0] = 1
    with pytest.raises(
        bs.NotSpinsError, match=r"'yes' beside numbers at row 1, column 1 .*named 'a'"
    ) as caught:
        bs.as_spins(frame)
    assert caught.value.column == 0


def table(numeric=False):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (30, 6)), columns=[f"q{i}" for i in range(6)])
    frame["id"] = np.arange(30) + 100 if numeric else [f"p{i}" for i in range(30)]
    frame["age"] = rng.integers(18, 80, 30)
    frame["late"] = [0] * 29 + [7]
    return frame


@pytest.mark.parametrize("numeric", [False, True])
def test_all_columns_that_are_no_spins_are_named_with_the_way_out(numeric):
    frame = table(numeric)
    with pytest.raises(bs.NotSpinsError) as caught:
        bs.BoltzmannMachine("spectral").fit(frame)
    assert caught.value.columns == (6, 7, 8)
    text = str(caught.value)
    assert "3 of 9 columns hold other values: id, age, late." in text and "named 'id'" in text
    way = text.split("Or leave them out: ")[1].removesuffix(".")
    assert way == 'X.drop(columns=["id", "age", "late"])'
    assert bs.BoltzmannMachine("spectral").fit(eval(way, {"X": frame})).n_features_in_ == 6


def test_the_way_out_in_polars_and_numpy():
    with pytest.raises(bs.NotSpinsError) as caught:
        bs.as_spins(pl.from_pandas(table()))
    way = str(caught.value).split("Or leave them out: ")[1].removesuffix(".")
    assert eval(way, {"X": pl.from_pandas(table())}).width == 6
    array = table(numeric=True).to_numpy()
    with pytest.raises(bs.NotSpinsError) as caught:
        bs.as_spins(array)
    way = str(caught.value).split("Or leave them out: ")[1].removesuffix(".")
    assert bs.as_spins(eval(way, {"X": array, "np": np})).shape == (30, 6)


def test_most_columns_are_not_to_be_left_out():
    answers = pd.DataFrame(np.random.default_rng(0).integers(1, 6, (20, 5)), columns=list("abcde"))
    with pytest.raises(bs.NotSpinsError) as caught:
        bs.as_spins(answers)
    assert "5 of 5 columns hold other values: a, b, c, d, e." in str(caught.value)
    assert "leave" not in str(caught.value)


def test_one_column_of_an_array_is_said_as_before():
    array = np.where(X > 0, 1, 0)
    array[1, 2] = 2
    with pytest.raises(bs.NotSpinsError) as caught:
        bs.as_spins(array)
    assert "columns" not in str(caught.value) and caught.value.columns == (2,)


def test_names_cannot_harm_a_terminal():
    frame = table().rename(columns={"id": "\x1b[2Jid"})
    with pytest.raises(bs.NotSpinsError) as caught:
        bs.as_spins(frame)
    assert "\x1b" not in str(caught.value)
