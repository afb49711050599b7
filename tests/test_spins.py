from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bayesing as bs
from bayesing.spins import encode

PLUS_MINUS = np.array([[1, -1, 1], [-1, -1, 1], [1, 1, 1]], np.int8)
ZERO_ONE = (PLUS_MINUS + 1) // 2


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "f2", "f4", "f8", "longdouble", object])
def test_plus_minus_one_of_every_dtype(dtype):
    spins = bs.as_spins(PLUS_MINUS.astype(dtype))
    assert spins.dtype == np.int8 and spins.flags.c_contiguous
    np.testing.assert_array_equal(spins, PLUS_MINUS)


@pytest.mark.parametrize("dtype", ["?", "i1", "i8", "u1", "u8", "f2", "f4", "f8", object])
@pytest.mark.parametrize("order", ["C", "F"])
def test_zero_one_of_every_dtype(dtype, order):
    np.testing.assert_array_equal(bs.as_spins(ZERO_ONE.astype(dtype, order=order)), PLUS_MINUS)


@pytest.mark.parametrize(
    "make",
    [
        lambda: PLUS_MINUS.tolist(),
        lambda: ZERO_ONE.astype(bool).tolist(),
        lambda: pd.DataFrame(PLUS_MINUS),
        lambda: pd.DataFrame({"a": [True, False, True], "b": [0, 0, 1], "c": [1.0, 1.0, 1.0]}),
        lambda: pd.DataFrame(ZERO_ONE).astype("boolean"),
        lambda: pd.DataFrame(ZERO_ONE).astype("Int64"),
        lambda: pl.DataFrame(PLUS_MINUS),
        lambda: pl.DataFrame(ZERO_ONE.astype(bool)),
        lambda: pd.DataFrame(PLUS_MINUS, columns=["toarray", "_mask", "to_numpy"]),
        lambda: np.ma.masked_array(PLUS_MINUS, mask=False),
        lambda: PLUS_MINUS[::-1][::-1],
    ],
)
def test_every_container(make):
    np.testing.assert_array_equal(bs.as_spins(make()), PLUS_MINUS)


def test_the_input_is_not_changed():
    X = ZERO_ONE.astype(np.int8)
    bs.as_spins(X)[0, 0] = 7
    np.testing.assert_array_equal(X, ZERO_ONE)


def test_encodings():
    assert encode(PLUS_MINUS)[1] == "±1"
    assert encode(ZERO_ONE)[1] == "0/1"
    assert encode(np.ones((2, 2)))[1] == "1"
    assert (bs.as_spins(np.ones((2, 2))) == 1).all()
    assert (bs.as_spins(np.zeros((2, 2))) == -1).all()


def with_value(value, dtype=float, row=1, column=2, base=PLUS_MINUS, order="C"):
    X = base.astype(dtype, order=order)
    X[row, column] = value
    return X


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (with_value(np.nan), r"missing value \(NaN\) at row 2, column 3"),
        (with_value(np.nan, order="F"), r"missing value \(NaN\) at row 2, column 3"),
        (with_value(np.inf), r"found inf at row 2, column 3"),
        (with_value(-np.inf), r"found -inf at row 2, column 3"),
        (with_value(2, int), r"found 2 at row 2, column 3"),
        (with_value(257, int), r"found 257 at row 2, column 3"),
        (with_value(0.5), r"found 0.5 at row 2, column 3"),
        (with_value(5e-324, base=ZERO_ONE), r"found 5e-324 at row 2, column 3"),
        (with_value(0.999, base=ZERO_ONE), r"found 0.999 at row 2, column 3"),
        (with_value(0, int), r"found 0 beside -1 and 1 at row 2, column 3"),
        (with_value(0, int, order="F"), r"found 0 beside -1 and 1 at row 2, column 3"),
        (with_value("yes", object), r"found the text 'yes' at row 2, column 3"),
        (with_value(float("nan"), object), r"missing value \(NaN\) at row 2, column 3"),
        (with_value(pd.NaT, object), r"missing value \(NaN\) at row 2, column 3"),
        (with_value(None, object), r"missing value \(NaN\) at row 2, column 3"),
        (with_value(np.complex128(1 + 2j), object), r"of type complex128 at row 2, column 3"),
        (with_value(np.timedelta64(1, "s"), object), r"of type timedelta64 at row 2, column 3"),
        (with_value(Decimal("1.00000000000000000001"), object), r"of type Decimal at row 2, column 3"),
        (with_value(10**400, object), r"of type int at row 2, column 3"),
        (with_value({}, object), r"found \{\} of type dict at row 2, column 3"),
        (np.array([["1", "-1"], ["1", "1"]]), r"found the text '1' at row 1, column 1"),
        (
            pd.DataFrame(ZERO_ONE).astype("Int64").replace(0, pd.NA),
            r"missing value \(NaN\) at row 1, column 2",
        ),
        (pl.DataFrame({"a": [1, None], "b": [0, 1]}), r"missing value \(NaN\) at row 2, column 1"),
        (np.ma.masked_equal(with_value(9, int), 9), r"missing \(masked\) value at row 2, column 3"),
        ([[1, -1], [1]], r"rows of equal length"),
        ([[1, -1], [1, "x"]], r"found the text 'x' at row 2, column 2"),
        ([np.ma.array([1, 1], mask=[0, 1]), np.ma.array([1, -1])], r"\(masked\) value at row 1, column 2"),
        (PLUS_MINUS.astype(complex), r"Complex data not supported"),
        (PLUS_MINUS.astype("m8[s]"), r"dtype timedelta64"),
        (PLUS_MINUS[0], r"found 1 dimension.*Reshape your data"),
        (PLUS_MINUS[None], r"found 3 dimension"),
        (PLUS_MINUS[:1], r"found n_samples=1"),
        (PLUS_MINUS[:, :1], r"found 1 feature\(s\)"),
        (np.empty((0, 3)), r"found n_samples=0"),
        (np.empty((3, 0)), r"found 0 feature\(s\)"),
        ([], r"found 1 dimension"),
        (3, r"found 0 dimension"),
    ],
)
def test_bad_input_says_what_and_where(X, message):
    with pytest.raises(ValueError, match=message):
        bs.as_spins(X)


def test_bad_value_far_down_a_large_array():
    X = np.ones((3000, 70))
    X[2987, 41] = 3
    with pytest.raises(ValueError, match=r"found 3\.0 at row 2988, column 42"):
        bs.as_spins(X)


def test_the_encoding_is_that_of_all_blocks():
    X = -np.ones((3000, 70), np.int8)
    X[2000:] = 1
    np.testing.assert_array_equal(bs.as_spins(X), X)
    np.testing.assert_array_equal(bs.as_spins(X[::-1]), X[::-1])


def test_sparse_is_declined_with_a_remedy():
    from scipy.sparse import csr_array

    with pytest.raises(ValueError, match=r"sparse csr_array. Use X.toarray\(\)"):
        bs.as_spins(csr_array(ZERO_ONE))
