import numpy as np
import pytest

import bayesing as bs
from bayesing.choice import QUICK, THOROUGH
from bayesing.exceptions import Setting
from bayesing.report import budget
from bayesing.report.analysis import analyse
from bayesing.report.request import Choices, Source
from bayesing.report.watch import Step

from samples import stats


def inferred(spins, **choices):
    found = analyse(Source("x", stats(spins)), Choices(simulations=0, **choices))
    return found.couplings, found.left_out.get(Step.COUPLINGS, "")


def test_couplings_have_the_names_of_the_columns(made):
    found = made.analysis.couplings
    plain = bs.BoltzmannMachine(random_state=0).fit(made.spins)
    assert [c[:2] + c[4:] for c in found.strongest] == [c[:2] + c[4:] for c in plain.strongest(60)]
    for c in found.strongest:
        assert (c.name_i, c.name_j) == (made.source.labels[c.i], made.source.labels[c.j])
    assert found.machine.names() == list(made.source.labels)


@pytest.fixture
def time_for(monkeypatch):
    """So many rows can be given to pseudo-likelihood."""
    return lambda rows: monkeypatch.setattr(budget, "rows_for_couplings", lambda *_: rows)


def test_some_rows_where_there_is_no_time_for_all(time_for, made):
    time_for(50)
    found, why = inferred(made.spins, prior="laplace")
    assert found.rows == 50 and "from 50 of the 80 rows" in why
    assert f'couplings_method="{THOROUGH}" asks for all of them' in why
    chosen = np.sort(np.random.default_rng(0).choice(80, 50, replace=False))
    expected = bs.BoltzmannMachine(prior="laplace", random_state=0).fit(made.spins[chosen])
    np.testing.assert_array_equal(found.machine.couplings_, expected.couplings_)


def test_all_rows_for_a_method_that_is_cheap(time_for, made):
    time_for(50)
    found, why = inferred(made.spins)  # weak couplings
    assert found.machine.method_ == QUICK and found.rows == 80 and why == ""
    assert "many and weak" in found.reason and found.machine.reason_ == "as asked"
    expected = bs.BoltzmannMachine(QUICK).fit(made.spins)
    np.testing.assert_array_equal(found.machine.couplings_, expected.couplings_)


def test_the_quick_method_where_there_is_hardly_any_time(time_for, made):
    time_for(10)
    found, why = inferred(made.spins, speak=Setting.in_shell)
    assert (found.machine.method_, found.reason, found.rows) == (QUICK, "to save time", 80)
    assert (
        f"those of the method {QUICK}, which is fast. The method {THOROUGH} would take minutes for 20 spins"
        in why
    )
    assert f"--couplings-method {THOROUGH} asks for it" in why
    asked, why = inferred(made.spins, couplings_method=THOROUGH)
    assert (asked.machine.method_, asked.rows, why) == (THOROUGH, 80, "")


def test_cheap_methods_do_not_search(made):
    cheap = {
        method: bs.BoltzmannMachine(method).fit(made.spins[:, :6]).is_cheap_ for method in (QUICK, "tap")
    }
    assert cheap == {QUICK: True, "tap": True}
    for method in (THOROUGH, "exact"):
        assert not bs.BoltzmannMachine(method).fit(made.spins[:, :6]).is_cheap_
