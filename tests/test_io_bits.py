import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesing.io._bits import Bits
from bayesing.io._codes import MISSING, flags_of
from bayesing.io._missing import Tally
from bayesing.packed import PackedSpins

NUMBERS = [-1, 0, 1, MISSING]
WORDS = [2, 3, 6, 7, MISSING]


@st.composite
def code_tables(draw):
    """Columns of numbers and columns of words, with missing cells, of any width up to three machine words."""
    kinds = draw(st.lists(st.sampled_from([[0, 1], [-1, 1], NUMBERS, WORDS]), min_size=1, max_size=9))
    rows = draw(st.integers(1, 12))
    columns = [draw(st.lists(st.sampled_from(kind), min_size=rows, max_size=rows)) for kind in kinds]
    return np.tile(np.array(columns, np.int8).T, (1, draw(st.sampled_from([1, 20]))))


def slow_flags(codes):
    return [sum(1 << (code + 1) for code in {*column}) for column in codes.T.tolist()]


@given(code_tables(), st.integers(1, 300))
@settings(max_examples=200, deadline=None)
def test_codes_that_occur_are_those_of_the_definition(codes, times):
    """However many rows there are, and also if a code occurs in the last of them only."""
    assert flags_of(np.vstack([np.repeat(codes[:1], times, axis=0), codes])).tolist() == slow_flags(codes)


def test_no_rows_have_no_codes():
    assert flags_of(np.zeros((0, 3), np.int8)).tolist() == [0, 0, 0]


@given(code_tables())
@settings(max_examples=200, deadline=None)
def test_bits_follow_the_definition(codes):
    bits = Bits.of(codes, flags_of(codes))
    np.testing.assert_array_equal(bits.up.unpack() > 0, np.isin(codes, [1, 3, 5, 7, 9]))
    np.testing.assert_array_equal(bits.absent(False).unpack() > 0, codes == MISSING)
    np.testing.assert_array_equal(bits.absent(True).unpack() > 0, (codes == MISSING) | (codes == 0))


def test_zeros_cost_no_memory_where_no_minus_one_is_near():
    codes = np.array([[0, 1], [1, 0]], np.int8)
    assert Bits.of(codes, flags_of(codes)).zero is None
    codes[0, 0] = -1
    assert Bits.of(codes, flags_of(codes)).zero is not None


@pytest.mark.parametrize("cut", [1, 7, 19])
def test_a_tally_counts_what_is_missing(cut):
    absent = np.random.default_rng(0).random((20, 100)) < 0.02
    absent[:3] = False
    tally = Tally(100).add(PackedSpins.of(absent[:cut])).add(PackedSpins.of(absent[cut:]))
    assert (tally.N, tally.cells, tally.samples) == (20, absent.sum(), absent.any(axis=1).sum())
    assert tally.columns.tolist() == absent.any(axis=0).tolist()
    assert tally.spins == absent.any(axis=0).sum()
    assert tally.first == tuple(np.argwhere(absent)[0].tolist())
