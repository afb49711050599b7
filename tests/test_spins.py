import re
import tracemalloc
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bayesing as bs
from bayesing import _popcount, packed
from bayesing.exceptions import NotSpinsError
from bayesing.packed import PackedSpins
from bayesing.spins import Copy, copies_from_products, copies_of, encode, pack_spins, varies

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
        (with_value("maybe", object), r"found the text 'maybe' at row 2, column 3"),
        (with_value("yes", object), r"found the text 'yes' beside numbers at row 2, column 3"),
        (with_value(float("nan"), object), r"missing value \(NaN\) at row 2, column 3"),
        (with_value(pd.NaT, object), r"missing value \(NaN\) at row 2, column 3"),
        (with_value(None, object), r"missing value \(NaN\) at row 2, column 3"),
        (with_value(np.complex128(1 + 2j), object), r"of type complex128 at row 2, column 3"),
        (with_value(np.timedelta64(1, "s"), object), r"of type timedelta64 at row 2, column 3"),
        (with_value(Decimal("1.00000000000000000001"), object), r"of type Decimal at row 2, column 3"),
        (with_value(10**400, object), r"of type int at row 2, column 3"),
        (with_value({}, object), r"found \{\} of type dict at row 2, column 3"),
        (np.array([["1", "-1"], ["1", "2"]]), r"found the text '2' at row 2, column 2"),
        (
            pd.DataFrame(ZERO_ONE).astype("Int64").replace(0, pd.NA),
            r"missing value \(NaN\) at row 1, column 2",
        ),
        (pl.DataFrame({"a": [1, None], "b": [0, 1]}), r"missing value \(NaN\) at row 2, column 1"),
        (np.ma.masked_equal(with_value(9, int), 9), r"missing value \(NaN\) at row 2, column 3"),
        ([[1, -1], [1]], r"rows of equal length"),
        ([[1, -1], [1, "x"]], r"found the text 'x' at row 2, column 2"),
        (
            [np.ma.array([1, 1], mask=[0, 1]), np.ma.array([1, -1])],
            r"missing value \(NaN\) at row 1, column 2",
        ),
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


def same_as_encode(X, **options):
    """Bits, or the error, that come of ``X`` are those of :func:`encode`."""
    try:
        spins, encoding = encode(X, **options)
    except ValueError as error:
        with pytest.raises(type(error), match=f"^{re.escape(str(error))}$"):
            pack_spins(X, **options)
        return False
    rows, absent, found = pack_spins(X, **options)
    np.testing.assert_array_equal(rows.unpack(), spins)
    assert found == encoding and absent is None
    return True


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "i8", "f2", "f4", "f8", object])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(3000, 70), (7, 400), (2, 2)])
def test_packing_is_encoding(dtype, order, shape):
    X = np.random.default_rng(0).integers(0, 2, shape).astype(dtype, order=order)
    X[0, 0] = 0
    assert same_as_encode(X)
    assert same_as_encode(X[::-1, ::2], min_spins=1)
    if np.dtype(dtype).kind not in "bu":
        assert same_as_encode(2 * X - 1)
        X[-1, -1] = -1
        assert not same_as_encode(X)
    if np.dtype(dtype).kind not in "b":
        X[-1, -1] = 3
        assert not same_as_encode(X)


GAPS = np.array([[0, 1, 0], [0, 0, 0], [1, 0, 1]], bool)
WITH_GAPS = np.where(GAPS, np.nan, PLUS_MINUS)


def nullable(dtype):
    return pd.DataFrame(ZERO_ONE).mask(GAPS).astype(dtype)


@pytest.mark.parametrize(
    ("make", "encoding"),
    [
        (lambda: WITH_GAPS, "±1"),
        (lambda: np.asfortranarray(WITH_GAPS), "±1"),
        (lambda: WITH_GAPS.astype(np.float16), "±1"),
        (lambda: np.where(GAPS, np.nan, ZERO_ONE), "0/1"),
        (lambda: WITH_GAPS.tolist(), "±1"),
        (lambda: np.where(GAPS, None, PLUS_MINUS), "±1"),
        (lambda: np.where(GAPS, pd.NA, ZERO_ONE), "0/1"),
        (lambda: np.where(GAPS, pd.NaT, ZERO_ONE.astype(bool)), "0/1"),
        (lambda: np.where(GAPS, Decimal("nan"), PLUS_MINUS), "±1"),
        (lambda: pd.DataFrame(WITH_GAPS), "±1"),
        (lambda: nullable("Int64"), "0/1"),
        (lambda: nullable("boolean"), "0/1"),
        (lambda: nullable("Float32"), "0/1"),
        (lambda: pl.DataFrame(np.where(GAPS, None, PLUS_MINUS).tolist(), orient="row"), "±1"),
        (
            lambda: pl.DataFrame(np.where(GAPS, None, ZERO_ONE.astype(bool)).tolist(), orient="row"),
            "0/1",
        ),
        (lambda: np.ma.array(PLUS_MINUS, mask=GAPS), "±1"),
        (lambda: np.ma.array(np.where(GAPS, 9, ZERO_ONE), mask=GAPS), "0/1"),
        (lambda: np.ma.array(np.where(GAPS, "?", PLUS_MINUS.astype(object)), mask=GAPS), "±1"),
        (lambda: list(np.ma.array(PLUS_MINUS, mask=GAPS)), "±1"),
    ],
)
def test_missing_cells_of_every_container(make, encoding):
    X = make()
    rows, absent, found = pack_spins(X)
    assert found == encoding
    np.testing.assert_array_equal(absent.unpack() > 0, GAPS)
    np.testing.assert_array_equal(rows.unpack(), np.where(GAPS, -1, PLUS_MINUS))  # bits are 0 there
    with pytest.raises(NotSpinsError, match=r"missing value \(NaN\) at row 1, column 2.*complete data"):
        bs.as_spins(X)


@pytest.mark.parametrize("order", ["C", "F"])
def test_missing_cells_in_some_blocks_only(order):
    rng = np.random.default_rng(3)
    X = rng.choice([0.0, 1.0], (3000, 70)).astype(float, order=order)
    gaps = np.zeros(X.shape, bool)
    gaps[1500:1600] = rng.random((100, 70)) < 0.3
    X[gaps] = np.nan
    before = X.copy()
    rows, absent, encoding = pack_spins(X)
    np.testing.assert_array_equal(X, before)
    assert encoding == "0/1" and ((absent.unpack() > 0) == gaps).all()
    assert ((rows.unpack() > 0) == (X == 1)).all()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0.5, r"found 0\.5 at row 3, column 2.*put NaN in its place"),
        (np.inf, r"found inf at row 3, column 2"),
        (0, r"found 0 beside -1 and 1 at row 3, column 2.*np\.where\(X == 0, np\.nan, X\)"),
    ],
)
def test_a_wrong_value_beside_missing_cells_is_found(value, message):
    X = np.where(GAPS, np.nan, PLUS_MINUS)
    X[2, 1] = value
    for order in "CF":
        with pytest.raises(NotSpinsError, match=message):
            pack_spins(np.asarray(X, order=order))


def test_ones_and_missing_cells_are_all_up():
    rows, absent, encoding = pack_spins([[1, np.nan], [1, 1]])
    assert encoding == "1" and rows.words.tolist() == [[1], [3]] and absent.words.tolist() == [[2], [0]]
    assert pack_spins(np.full((2, 2), np.nan))[2] == "1"


def test_packing_checks_the_shape_as_encoding_does():
    assert not same_as_encode(PLUS_MINUS[:1])
    assert same_as_encode(PLUS_MINUS[:1], min_samples=1)
    assert not same_as_encode(PLUS_MINUS[:, :1])
    assert same_as_encode(PLUS_MINUS[:, :1], min_spins=1)


def test_packing_makes_no_copy_of_the_whole():
    X = np.tile(PLUS_MINUS, (100_000, 20))
    tracemalloc.start()
    pack_spins(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes / 2


def test_an_error_has_the_place_and_the_value():
    with pytest.raises(NotSpinsError) as caught:
        bs.as_spins(with_value(0.5))
    assert (caught.value.row, caught.value.column, caught.value.value) == (1, 2, 0.5)


def test_spins_that_vary():
    spins = np.ones((5, 70), np.int8)
    spins[3, [0, 66]] = -1
    spins[:, 69] = -1
    assert np.flatnonzero(varies(PackedSpins.of(spins))).tolist() == [0, 66]


def slow_copies(spins):
    """All earlier spins against each, from the definition; each with the first that it copies."""
    found = []
    for j in range(spins.shape[1]):
        for i in range(j):
            sign = spins[0, i] * spins[0, j]
            if len(set(spins[:, j])) == 2 and (spins[:, i] == sign * spins[:, j]).all():
                found.append((i, j, sign))
                break
    return tuple(found)


@pytest.mark.parametrize(("N", "n", "p"), [(40, 12, 0.5), (60, 100, 0.05), (5000, 300, 0.001)])
def test_copies_follow_the_definition(N, n, p):
    """Also of spins that rarely change, and in more than one block of samples."""
    rng = np.random.default_rng(1)
    spins = np.where(rng.random((N, n)) < p, 1, -1).astype(np.int8)
    j = rng.choice(n, n // 3, replace=False)
    spins[:, j] = spins[:, rng.choice(n, n // 3)] * rng.choice(np.array([-1, 1], np.int8), n // 3)
    expected = slow_copies(spins)
    assert len(expected) > 2 and copies_of(PackedSpins.of(spins)) == expected
    wide, varying = spins.astype(np.int32), np.flatnonzero(np.abs(spins.mean(axis=0)) < 1)
    assert copies_from_products(wide.T @ wide, varying, N) == expected


def test_copies_that_may_be_an_accident_are_none():
    """Below 10 + 2 log2(n) samples, chance alone makes copies: 8 samples of 60 spins have many."""
    rng = np.random.default_rng(0)
    spins = rng.choice(np.array([-1, 1], np.int8), (22, 60))
    assert slow_copies(spins[:8]) and copies_of(PackedSpins.of(spins[:8])) == ()
    spins[:, 59] = -spins[:, 3]
    assert 21 < 10 + 2 * np.log2(60) < 22
    assert copies_of(PackedSpins.of(spins[:21])) == ()
    assert copies_from_products(spins[:21].T @ spins[:21], np.arange(60), 21) == ()
    assert copies_of(PackedSpins.of(spins)) == ((3, 59, -1),) == (Copy(3, 59, -1),)


@pytest.mark.parametrize("largest", [129, 200, 2**31 - 1])
def test_products_of_more_samples_than_32_bits_hold_are_summed_in_pieces(largest, monkeypatch):
    """Declared to be full at 129 or 200, for 300 samples: pieces of 2 or 3 words of 64."""
    monkeypatch.setattr(packed, "_LARGEST_INT32", largest)
    monkeypatch.setattr(packed, "_by_blas", lambda multiplications: False)
    products, lengths = _popcount.products, []
    monkeypatch.setattr(_popcount, "products", lambda words, k: lengths.append(k) or products(words, k))
    X = np.random.default_rng(0).choice(np.array([-1, 1], np.int8), (300, 5))
    found = PackedSpins.of(X).spins_gram()
    assert (found == X.T.astype(int) @ X).all()
    assert found.dtype == (np.int32 if largest > 300 else np.int64)
    assert max(lengths) <= largest and sum(lengths) == 300


@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
def test_bytes_of_a_row(n):
    assert PackedSpins.of(np.ones((3, n))).words.nbytes == 3 * packed.bytes_of_row(n)
