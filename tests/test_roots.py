import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from bayesing.roots import root

FUNCTIONS = {
    "cubic": (lambda x: x**3 - 2 * x - 5, 2, 3),
    "flat": (lambda x: (x - 0.3) ** 9, -1, 4),
    "step": (lambda x: math.tanh(1e6 * (x - 0.123)), -5, 5),
    "steep end": (lambda x: 1 / x - 1e-3, 1e-6, 1e6),
    "exponential": (lambda x: math.exp(-x) - 1e-9, 0, 60),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_agrees_with_scipy(name):
    f, a, b = FUNCTIONS[name]
    calls = []
    found = root(lambda x: calls.append(x) or f(x), a, b)
    if name == "flat":  # whose values drown in rounding near the root
        assert abs(found - 0.3) < 1e-1 and f(found) == pytest.approx(0, abs=1e-12)
    else:
        assert found == pytest.approx(brentq(f, a, b, xtol=1e-14), abs=1e-12, rel=1e-12)
    assert len(calls) < 2 * math.log2((b - a) / 1e-14) and all(a <= x <= b for x in calls)


@given(st.floats(-0.99, 0.99), st.floats(0.1, 50))
def test_any_shape(centre, steepness):
    found = root(lambda x: math.tanh(steepness * (x - centre)) + 0.1 * (x - centre), -1.0, 1.0, 1e-10)
    assert found == pytest.approx(centre, abs=1e-10)


def test_ends_and_wrong_brackets():
    assert root(lambda x: x, 0.0, 1.0) == 0.0 and root(lambda x: x - 1, 0.0, 1.0) == 1.0
    with pytest.raises(ValueError, match="different signs at 1 and 2: found 1 and 4"):
        root(lambda x: x * x, 1.0, 2.0)
