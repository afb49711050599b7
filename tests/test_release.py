"""Version, changelog, workflow and sdist agree with pyproject.toml."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import bayesing as bs

from lowest import lowest

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
WORKFLOW = (ROOT / ".github" / "workflows" / "test.yml").read_text()
JOBS = yaml.safe_load(WORKFLOW)["jobs"]
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def declared_pythons():
    """Minor versions of Python 3 among the classifiers, in order."""
    found = (re.fullmatch(r".* Python :: 3\.(\d+)", line) for line in PYPROJECT["project"]["classifiers"])
    return sorted(int(match[1]) for match in found if match)


def commands(job):
    return [step["run"] for step in job["steps"] if "run" in step]


def test_the_newest_entry_of_the_changelog_is_this_version():
    headings = re.findall(
        r"^## (\S+) \((unreleased|\d{4}-\d\d-\d\d)\)$", (ROOT / "CHANGELOG.md").read_text(), re.M
    )
    assert headings[0][0] == bs.__version__
    assert PYPROJECT["tool"]["hatch"]["version"]["path"] == "src/bayesing/__init__.py"


def test_classifiers_begin_with_the_oldest_python_and_leave_none_out():
    minors = declared_pythons()
    assert PYPROJECT["project"]["requires-python"] == f">=3.{minors[0]}"
    assert minors == list(range(minors[0], minors[-1] + 1))


@pytest.mark.parametrize("page", ["README.md", "docs/quickstart.md", "Makefile"])
def test_pages_name_the_oldest_python(page):
    assert re.findall(r"Python (3\.\d+) or later", (ROOT / page).read_text()) == [
        f"3.{declared_pythons()[0]}"
    ]


def test_the_workflow_runs_everything_on_the_oldest_and_the_newest_python():
    job, minors = JOBS["everything"], declared_pythons()
    assert job["strategy"]["matrix"]["python"] == [f"3.{minors[0]}", f"3.{minors[-1]}"]
    assert commands(job) == [".ci/run"] and (ROOT / ".ci" / "run").stat().st_mode & 0o100
    assert job["container"] == "python:${{ matrix.python }}-bookworm"
    # Without it the Makefile would take Debian's own Python, whatever the matrix says.
    assert job["env"]["PYTHON"] == "python${{ matrix.python }}"
    assert re.search(r"^PYTHON \?=", (ROOT / "Makefile").read_text(), re.M)


def test_the_workflow_builds_the_package_on_the_oldest_python():
    job, oldest = JOBS["package"], f"python3.{declared_pythons()[0]}"
    assert commands(job) == ["make dist"]
    assert (
        job["env"]["PYTHON"] == oldest
        and job["container"] == oldest.replace("python", "python:") + "-bookworm"
    )


def test_the_workflow_needs_no_secret_and_pins_its_actions():
    assert "secrets" not in WORKFLOW and yaml.safe_load(WORKFLOW)["permissions"] == {"contents": "read"}
    actions = [step["uses"] for job in JOBS.values() for step in job["steps"] if "uses" in step]
    assert actions
    assert [action for action in actions if not re.fullmatch(r"actions/[\w-]+@v\d+", action)] == []


def test_the_site_is_hosted_as_everybody_builds_it():
    """Read the Docs runs the commands as they are written, on a Python that is declared."""
    hosted = yaml.safe_load((ROOT / ".readthedocs.yaml").read_text())
    build = hosted["build"]
    assert hosted["version"] == 2 and int(build["tools"]["python"].split(".")[1]) in declared_pythons()
    target, python = re.fullmatch(r"make (\w+) PYTHON=(\w+)", build["commands"][0]).groups()
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(rf"^{target}: .*stamp", makefile, re.M) and python == "python"
    copied = re.fullmatch(r"cp -r (\S+) \$READTHEDOCS_OUTPUT/html", build["commands"][-1])[1]
    assert f"-b html docs {copied}\n" in makefile


def test_the_sdist_has_what_its_tests_need():
    included = PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert [path for path in included if not (ROOT / path).exists()] == []  # also in an unpacked sdist
    read = set(
        re.findall(r'ROOT / "([\w.]+)"', "".join(path.read_text() for path in (ROOT / "tests").glob("*.py")))
    )
    assert {"CHANGELOG.md", "docs", "examples"} <= read
    assert read - {"pyproject.toml"} <= set(included)  # always part of an sdist


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_forms_for_issues_are_complete(path):
    form = yaml.safe_load(path.read_text())
    assert form["name"] and form["description"]
    names = [part["id"] for part in form["body"]]
    assert len(set(names)) == len(names)
    assert all(part["type"] in {"textarea", "input"} and part["attributes"]["label"] for part in form["body"])
    assert any(part.get("validations", {}).get("required") for part in form["body"])


def test_every_dependency_of_the_tests_has_a_minimum():
    exact = lowest((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = PYPROJECT["project"]["optional-dependencies"]
    for line in (*PYPROJECT["project"]["dependencies"], *extras["network"], *extras["dev"][1:]):
        name, least = re.match(r"([\w-]+)>=([\d.]+)", line).groups()
        assert f"{name}=={least}" in exact
