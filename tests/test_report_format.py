import math

import pytest

from bayesing.report.format import between, chance, counted, listed, number, plain, plus_minus, rounded, share


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0.78912, 0.01304, "0.789 ± 0.013"),
        (-0.0012, 0.0048, "−0.0012 ± 0.0048"),
        (5.09, 0.96, "5.09 ± 0.96"),
        (123.4, 56.0, "123 ± 56"),
        (0.5, math.inf, "0.500 (error unknown)"),
        (math.nan, math.nan, "unknown"),
    ],
)
def test_estimates_are_rounded_to_two_digits_of_their_error(value, error, text):
    assert plus_minus(value, error) == text


@pytest.mark.parametrize(
    ("value", "digits", "sign", "text"),
    [
        (0.0, 3, False, "0.00"),
        (1.23456, 3, False, "1.23"),
        (-1.23456, 2, False, "−1.2"),
        (0.5, 2, True, "+0.50"),
        (98765.4, 3, False, "98765"),
        (123456.0, 3, False, "1.23e+05"),
        (0.00012345, 3, False, "0.000123"),
        (0.000012345, 2, True, "+1.2e−05"),
        (math.nan, 3, False, "unknown"),
        (-math.inf, 3, False, "−∞"),
    ],
)
def test_numbers_have_significant_digits(value, digits, sign, text):
    assert number(value, digits, sign) == text


def test_shares_and_scales():
    assert share(-0.126) == "−0.13" and share(math.nan) == "unknown"
    assert rounded(1.23456, 0.04, sign=True) == "+1.235" and rounded(0.5, math.inf) == "0.500"


def test_intervals_in_words():
    assert between((0.765, 0.8163)) == "0.765 to 0.816"
    assert between((0.765, 0.8163), joined="and") == "0.765 and 0.816"
    assert between((-0.0031, 0.0158), sign=True) == "−0.003 to +0.016"
    assert between((1.53, math.inf)) == "above 1.53"
    assert between((-math.inf, 0.2), sign=True) == "below +0.200"
    assert between((-math.inf, math.inf)) == "no bounds"


def test_counts_and_lists():
    assert [counted(k, "sample") for k in (0, 1, 2000)] == ["0 samples", "1 sample", "2,000 samples"]
    assert listed(["a"]) == "a" and listed(list("ab")) == "a and b" and listed(list("abc")) == "a, b and c"
    assert listed(list("abcdefg"), 5) == "a, b, c, d, e and 2 more"


def test_reasons_in_print():
    assert plain("near the spin glass, 1 - gamma r = -12.08") == "near the spin glass, 1 − γr = −12.08"
    assert plain("pseudo-likelihood") == "pseudo-likelihood"


def test_probabilities():
    assert [chance(p) for p in (0.0, 0.004, 0.05, 0.5, 0.994, 0.996, 1.0)] == [
        *("< 0.01", "< 0.01", "0.05", "0.50", "0.99", "> 0.99", "> 0.99")
    ]
