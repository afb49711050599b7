"""All documentation runs. Docstrings and the README's Python are run by pytest's doctest."""

import importlib
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
import yaml

import bayesing as bs

ROOT = Path(__file__).parents[1]


def test_the_commands_of_the_readme_print_what_it_says(tmp_path):
    blocks = re.findall(r"```console\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    steps = [step for block in blocks for step in re.split(r"^\$ ", block, flags=re.MULTILINE) if step]
    assert len(steps) >= 2
    for step in steps:
        command, expected = step.split("\n", 1)
        program, *arguments = shlex.split(command)
        assert program == "bayesing"
        result = subprocess.run(
            [sys.executable, "-m", program, *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=True,
        )
        # Another processor rounds differently, which makes other spins now and then.
        number = r"[-+]?\d+\.\d+"
        assert re.split(number, result.stdout) == re.split(number, expected)
        found, printed = (list(map(float, re.findall(number, text))) for text in (result.stdout, expected))
        assert found == pytest.approx(printed, abs=0.02)


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_examples_run(path, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: None)
    plt.switch_backend("agg")
    runpy.run_path(str(path))
    assert plt.get_fignums()
    plt.close("all")


def test_every_name_of_the_notation_exists():
    names = re.findall(r"`(bayesing\.[\w.]+)`", (ROOT / "docs" / "notation.md").read_text())
    assert len(names) > 25
    for name in names:
        module, attributes = name.split("."), []
        while True:
            try:
                value = importlib.import_module(".".join(module))
                break
            except ModuleNotFoundError:
                attributes.insert(0, module.pop())
        for attribute in attributes:
            fields = getattr(value, "__dataclass_fields__", {})
            value = fields[attribute] if attribute in fields else getattr(value, attribute)


def test_citation_and_changelog_speak_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == bs.__version__
    assert citation["references"][0]["identifiers"][0]["value"] == "arXiv:1906.06002"
    assert f"## {bs.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_layers_in_contributing_are_those_of_the_test():
    from test_layers import ROWS

    table = re.findall(r"^\s*\| \w[\w ]* \| (`.*?) \|$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    rows = [re.findall(r"`(\w+)/?`", row) for row in table]
    assert rows == ROWS[: len(rows)] and len(rows) == len(ROWS) - 1  # __main__ goes without saying
