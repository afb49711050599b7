"""Names of methods are those of the library, wherever they are shown."""

import ast
from pathlib import Path

import pytest

from bayesing import cli
from bayesing.cli._methods import AUTO, coupling_methods, moment_methods, priors, strength_methods

from commands import run_here


def test_the_names():
    assert set(moment_methods()) < set(strength_methods())
    assert AUTO in strength_methods() and AUTO in coupling_methods()
    assert set(strength_methods()) & set(coupling_methods()) > {AUTO}
    assert priors()[0] == "gaussian"


@pytest.mark.parametrize(
    ("command", "home"),
    [("fit", "bayesing.empirical_bayes.METHODS"), ("couplings", "bayesing.boltzmann_machine.METHODS")],
)
def test_a_new_method_is_in_the_help(monkeypatch, command, home):
    names = strength_methods() if command == "fit" else coupling_methods()
    text = " ".join(run_here(command, "--help").stdout.split())
    assert f"One of: {', '.join(names)}. [default: auto]" in text
    monkeypatch.setattr(home, (*names, "magic"))
    text = " ".join(run_here(command, "--help").stdout.split())
    assert f"One of: {', '.join(names)}, magic. [default: auto]" in text


def test_no_command_knows_the_name_of_a_method():
    names = {*strength_methods(), *coupling_methods()} - {AUTO}
    paths = list(Path(cli.__file__).parent.glob("*.py"))
    assert len(paths) > 10
    for path in paths:
        texts = [
            node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)
        ]
        assert not names & {text for text in texts if isinstance(text, str)}, path.name
