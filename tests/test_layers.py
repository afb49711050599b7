"""Imports point one way. The table is that of CONTRIBUTING.md; this test reads every import in the source."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bayesing as bs
from bayesing.boltzmann_machine import METHODS as COUPLINGS_METHODS
from bayesing.empirical_bayes import METHODS as STRENGTH_METHODS

SOURCE = Path(bs.__file__).parent

# Any row above may be imported, never a row below. In the base and model rows, only modules to the left.
ROWS = [
    ["exceptions", "types", "arguments", "files", "threads"],
    ["_popcount", "packed", "spins", "priors", "moments", "ising", "conditionals", "replica", "spectrum"],
    ["sampling", "strength", "couplings"],
    ["generator", "diagnosis"],
    ["calibration", "prediction"],
    ["empirical_bayes", "boltzmann_machine"],
    ["io", "datasets", "plots"],
    ["experiments", "report"],
    ["cli"],
    ["__main__"],
]
LEFT_ONLY = ROWS[:2]
REPORT = [
    *("budget", "request", "watch", "oddities", "intervals", "couplings", "held_out", "analysis"),
    *("format", "answer", "notes", "seen", "sentences", "tables", "drawing", "sketches", "pictures"),
    *("numbers", "page", "display", "write", "from_python"),
]
EXPERIMENTS = ["specification", "display", "runner", "summary", "figures", "reproduce"]


def modules():
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        if parts != ("__init__",):
            yield path, parts


def imports(path, parts):
    """Dotted names inside bayesing that a module imports, those inside functions included."""
    package = parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            if node.module:
                yield (*base, *node.module.split("."))
            else:
                yield from ((*base, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "bayesing":
            yield tuple(node.module.split(".")[1:])
        elif isinstance(node, ast.Import):
            yield from (
                tuple(a.name.split(".")[1:]) for a in node.names if a.name.split(".")[0] == "bayesing"
            )


def row_of(name):
    return next(index for index, row in enumerate(ROWS) if name in row)


def allowed(importer, imported):
    if imported == ("__version__",):
        return True
    here, there = row_of(importer[0]), row_of(imported[0])
    if there < here:
        return True
    if there > here:
        return False
    if ROWS[here] in LEFT_ONLY:
        return ROWS[here].index(imported[0]) < ROWS[here].index(importer[0])
    if importer[0] == imported[0] == "experiments":
        return EXPERIMENTS.index(imported[1]) < EXPERIMENTS.index(importer[1])
    if importer[0] == imported[0] == "report":
        return len(imported) > 1 and REPORT.index(imported[1]) < REPORT.index(importer[1])
    same_package = len(importer) > 1 and importer[0] == imported[0]
    return same_package and imported[-1].startswith(("_", "diagnostics"))


def test_every_module_has_a_row():
    assert {parts[0] for _, parts in modules()} == {name for row in ROWS for name in row}


def test_imports_point_upward():
    edges = [(parts, found) for path, parts in modules() for found in imports(path, parts)]
    assert len(edges) > 15
    assert [edge for edge in edges if not allowed(*edge)] == []


def test_the_rule_can_fail():
    assert not allowed(("spins",), ("moments",)) and not allowed(("exceptions",), ("files",))
    assert not allowed(("strength", "plefka"), ("sampling", "anneal"))
    assert not allowed(("strength", "plefka"), ("strength", "susceptibility"))
    assert not allowed(("couplings", "spectral"), ("strength", "spectral"))
    assert not allowed(("moments",), ("empirical_bayes",))
    assert not allowed(("report", "write"), ("experiments", "runner"))
    assert not allowed(("experiments", "figures"), ("report", "pictures"))
    assert not allowed(("report", "analysis"), ("report", "answer"))
    assert allowed(("moments",), ("spins",)) and allowed(("strength", "plefka"), ("moments",))


def test_reports_and_pictures_ask_estimators_and_do_not_know_methods_by_name():
    """A new method needs no change in them."""
    names = {*STRENGTH_METHODS, *COUPLINGS_METHODS} - {"auto"}
    quoted = re.compile(rf"""["'“]({"|".join(sorted(names))})["'”]""")
    assert quoted.search('of "tap".')
    for folder in ("report", "plots"):
        for path in (SOURCE / folder).rglob("*.*"):
            if path.suffix != ".pyc":
                assert not quoted.search(path.read_text(encoding="utf-8")), path


def fitted_attributes_set(code):
    """Attributes of fitted estimators that are set from outside: their names end in an underscore."""
    for node in ast.walk(ast.parse(code)):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in (
            t for whole in targets for t in (whole.elts if isinstance(whole, ast.Tuple) else [whole])
        ):
            fitted = isinstance(target, ast.Attribute) and target.attr.endswith("_")
            if fitted and not (isinstance(target.value, ast.Name) and target.value.id == "self"):
                yield target.attr


def test_reports_and_pictures_write_into_no_fitted_estimator():
    assert [*fitted_attributes_set("bm.reason_ = 'x'\na, eb.J_ = 1, 2\nself.H_ = 0")] == ["reason_", "J_"]
    for path, parts in modules():
        if parts[0] in ("report", "plots"):
            assert [*fitted_attributes_set(path.read_text())] == [], path


def loaded_after(code):
    command = f"import sys; {code}; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in result.stdout.split("\n")[-2].split()}


def test_start_up_stays_light():
    assert not {"numpy", "sklearn", "numba", "matplotlib", "scipy", "jinja2"} & loaded_after(
        "import bayesing"
    )
    help_text = (
        "from click.testing import CliRunner; from bayesing.cli import cli; CliRunner().invoke(cli, ['-h'])"
    )
    assert not {"numpy", "sklearn", "numba", "matplotlib", "scipy"} & loaded_after(help_text)
    fit = "import bayesing as bs; bs.EmpiricalBayes().fit([[1, -1, 1], [-1, -1, 1], [1, 1, -1], [1, -1, -1]])"
    beyond = loaded_after(f"import warnings; {fit}") - loaded_after("import sklearn.base")
    assert not {"numba", "matplotlib", "pandas", "dask"} & beyond


def test_public_names():
    assert set(bs.__all__) == set(bs._HOME)
    assert not {path.stem for path, _ in modules()} & set(bs.__all__)
    for name in bs.__all__:
        assert getattr(bs, name).__module__ == f"bayesing.{bs._HOME[name]}"
    assert set(bs.__all__) <= set(dir(bs))


def test_unknown_names_are_an_attribute_error():
    with pytest.raises(AttributeError, match="nonsense"):
        _ = bs.nonsense
