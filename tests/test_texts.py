import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesing.texts import code_of, did_you_mean, protected, unprotected, visible

FORMULAS = ["=1+1", "+1", "-2", "@SUM(A1)", "\t=1", "\r=1"]


@given(st.text() | st.text(alphabet="=+-@\t\r'a", max_size=4))
def test_a_protected_name_is_no_formula_and_comes_back(name):
    cell = protected(name)
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert unprotected(cell) == name
    assert cell == name or cell == "'" + name


def test_names_that_are_no_formulas_are_left_alone():
    assert [protected(name) for name in ("age", "q=1", "1-2", "")] == ["age", "q=1", "1-2", ""]
    assert all(protected(name) == "'" + name for name in FORMULAS)
    assert unprotected("'tis") == "'tis"  # written by somebody else


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_no_control_character_is_left(text):
    shown = visible(text)
    assert not any(unicodedata.category(c) in ("Cc", "Zl", "Zp") for c in shown)
    assert not any(c in "\u202e\u2066\u200f" for c in shown)
    assert visible(shown) == shown
    if text.isprintable():
        assert shown == text


def test_what_is_kept_and_what_is_shown():
    assert visible("\x1b[2J\x07\x9b1mé\u202e") == r"\x1b[2J\x07\x9b1mé\u202e"
    assert visible("a\nb\tc", keep="\n") == "a\nb\\tc"
    assert visible(7) == "7"


@pytest.mark.parametrize(
    ("found", "known", "meant"),
    [
        ("ID", ["q1", "id", "age"], "id"),
        ("Drop_Samples", ["keep", "drop-samples", "drop-spins"], "drop-samples"),
        ("spektral", ["auto", "spectral"], "spectral"),
        ("0/1", ["±1", "01"], "01"),
        ("nobody", ["q1", "id", "age"], None),
        (None, ["id"], None),
        ("x", [], None),
    ],
)
def test_near_misses(found, known, meant):
    assert did_you_mean(found, known) == (f" Did you mean {meant!r}?" if meant else "")


def test_codes_of_texts():
    assert [code_of(text) for text in (" 1 ", "-1.0", "0", "No", "YES", "f", "TRUE", "", "?", "x", "2")] == [
        *(1, -1, 0, 2, 3, 8, 7),
        *(10, 10, 11, 11),
    ]
