"""Names of methods are those of the library, wherever they are shown."""

from dataclasses import replace

import pytest

from bayesing import couplings, strength
from bayesing.cli._methods import (
    AUTO,
    coupling_methods,
    coupling_priors,
    strength_methods,
    strength_priors,
)

from commands import run_here


def test_the_names():
    assert AUTO in strength_methods() and AUTO in coupling_methods()
    assert set(strength_methods()) & set(coupling_methods()) > {AUTO}
    assert strength_priors()[0] == coupling_priors()[0] == "gaussian"
    assert {*strength_priors(), "sparse"} == set(coupling_priors())


@pytest.mark.parametrize(
    ("command", "home", "names"),
    [("fit", strength, strength_methods()), ("couplings", couplings, coupling_methods())],
)
def test_a_new_method_is_in_the_help(monkeypatch, command, home, names):
    text = " ".join(run_here(command, "--help").stdout.split())
    assert f"One of: {', '.join(names)}. [default: auto]" in text
    monkeypatch.setattr(home, "METHODS", (*home.METHODS, replace(home.METHODS[0], name="magic")))
    text = " ".join(run_here(command, "--help").stdout.split())
    assert f"One of: {', '.join(names)}, magic. [default: auto]" in text
