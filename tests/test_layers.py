"""Imports point one way. The table is that of CONTRIBUTING.md; this test reads every import in the source."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bayesing as bs
from bayesing import couplings, strength

SOURCE = Path(bs.__file__).parent

# Any row above may be imported, never a row below. In some rows, only modules to the left.
ROWS = [
    ["exceptions", "types"],
    ["texts", "_html", "arguments", "roots", "files", "threads", "compiled"],
    [
        "_popcount",
        "packed",
        "cells",
        "spins",
        "available",
        "moments",
        "spectrum",
        "series",
        "drawn",
        "lazy",
        "statistics",
        "order",
    ],
    ["priors", "mixture", "encodings", "bqm", "ising", "restricted", "conditionals", "weighted", "replica"],
    ["sampling"],
    ["learning"],
    ["generator", "entropy"],
    ["strength", "couplings"],
    ["weak", "diagnosis", "words", "check", "thinned", "choice", "allowed", "inference"],
    ["_surface", "calibration", "prediction"],
    [
        *("_estimator", "edges", "loadings", "fields", "centrality", "export", "_exports"),
        *("empirical_bayes", "boltzmann_machine"),
        "restricted_boltzmann_machine",
        *("_columns", "_told", "_permutation", "differences", "comparison"),
    ],
    ["io", "datasets", "plots"],
    ["experiments", "report"],
    ["cli"],
    ["__main__"],
]
_ARROWS = {"texts", "spins", "ising", "entropy", "choice", "calibration", "empirical_bayes"}
LEFT_ONLY = [row for row in ROWS if set(row) & _ARROWS]
REPORT = [
    *("budget", "request", "watch", "gaps", "intervals", "couplings"),
    *("likeness", "variables", "held_out", "analysis"),
    *(
        "format",
        "answer",
        "notes",
        "seen",
        "sentences",
        "tables",
        "drawing",
        "sketches",
        "pictures",
        "network",
    ),
    *("numbers", "page", "write", "from_python"),
]
LEARNING = [
    "population",
    "phases",
    "clamped",
    "newton",
    "stiff",
    "quadratic",
    "sparse",
    "posterior",
    "scale",
    "mode",
    "errors",
    "certificate",
    "restricted_missing",
    "restricted",
    "restricted_evidence",
    "restricted_chains",
    "restricted_size",
    "causes",
    "causes_evidence",
    "causes_search",
]
EXPERIMENTS = ["specification", "cells", "runner", "summary", "figures", "reproduce"]
GROUP = ("cli", "_main")  # knows all commands, which do not know each other


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
    row = ROWS[here]
    if row in LEFT_ONLY and importer[0] != imported[0]:
        return row.index(imported[0]) < row.index(importer[0])
    if importer[0] == imported[0] and importer[0] in ("experiments", "learning"):
        order = EXPERIMENTS if importer[0] == "experiments" else LEARNING
        return order.index(imported[1]) < order.index(importer[1])
    if importer[0] == imported[0] == "report":
        return len(imported) > 1 and REPORT.index(imported[1]) < REPORT.index(importer[1])
    if importer == GROUP and len(imported) > 1 and imported[0] == "cli":
        return True
    same_package = len(importer) > 1 and importer[0] == imported[0]
    if same_package and importer[-1] == "__init__":
        return True
    return same_package and imported[-1].startswith(("_", "diagnostics"))


def test_every_module_has_a_row():
    assert {parts[0] for _, parts in modules()} == {name for row in ROWS for name in row}


@pytest.mark.parametrize(
    ("package", "order"), [("report", REPORT), ("experiments", EXPERIMENTS), ("learning", LEARNING)]
)
def test_every_module_has_its_place_in_the_order(package, order):
    names = [parts[1] for _, parts in modules() if parts[0] == package and parts[1] != "__init__"]
    assert sorted(names) == sorted(order)


def test_imports_point_upward():
    edges = [(parts, found) for path, parts in modules() for found in imports(path, parts)]
    assert len(edges) > 15
    assert [edge for edge in edges if not allowed(*edge)] == []


def test_the_rule_can_fail():
    assert not allowed(("spins",), ("moments",))
    assert not allowed(("strength", "plefka"), ("choice",))
    assert not allowed(("sampling", "anneal"), ("strength", "plefka"))
    assert not allowed(("choice",), ("inference",))
    assert not allowed(("export", "_graph"), ("boltzmann_machine",))
    assert not allowed(("strength", "plefka"), ("strength", "susceptibility"))
    assert not allowed(("couplings", "spectral"), ("strength", "spectral"))
    assert not allowed(("moments",), ("empirical_bayes",))
    assert not allowed(("report", "write"), ("experiments", "runner"))
    assert not allowed(("experiments", "figures"), ("report", "pictures"))
    assert not allowed(("report", "analysis"), ("report", "answer"))
    assert not allowed(("learning", "newton"), ("learning", "mode"))
    assert not allowed(("cli", "demo"), ("cli", "fit"))
    assert allowed(("cli", "_main"), ("cli", "fit")) and allowed(("cli", "fit"), ("cli", "_text"))
    assert allowed(("moments",), ("spins",)) and allowed(("strength", "plefka"), ("moments",))


def test_methods_are_named_in_their_files_and_by_the_rules_of_choice_alone():
    """A new method needs no change anywhere else."""
    names = {method.name for method in (*strength.METHODS, *couplings.METHODS)}
    quoted = re.compile(rf"""["'“]({"|".join(sorted(names))})["'”]""")
    assert len(names) > 5 and quoted.search('of "tap".')
    naming = set()
    for path in SOURCE.rglob("*.*"):
        if path.suffix in (".py", ".jinja", ".css") and quoted.search(path.read_text(encoding="utf-8")):
            naming.add(path.relative_to(SOURCE).parts[0])
    assert naming == {"strength", "couplings", "choice.py"}


def attributes_set_from_outside(code):
    """What is assigned to fitted or private attributes of anything but self: their names say that they are."""
    for node in ast.walk(ast.parse(code)):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in (t for whole in targets for t in getattr(whole, "elts", [whole])):
            if isinstance(target, ast.Attribute) and (target.attr.endswith("_") or target.attr[0] == "_"):
                owner = target.value
                if not (isinstance(owner, ast.Name) and owner.id == "self"):
                    yield target.attr


def test_nothing_writes_into_a_fitted_estimator():
    written = "bm.reason_ = 'x'\na, eb.J_ = 1, 2\neb._answer += 1\nself.H_ = 0\nbm.method = 'x'"
    assert [*attributes_set_from_outside(written)] == ["reason_", "J_", "_answer"]
    for path, _ in modules():
        assert [*attributes_set_from_outside(path.read_text())] == [], path


def loaded_after(code):
    command = f"import sys; {code}; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in result.stdout.split("\n")[-2].split()}


def test_start_up_stays_light():
    assert not {"numpy", "sklearn", "numba", "matplotlib", "scipy"} & loaded_after("import bayesing")
    help_text = (
        "from click.testing import CliRunner; from bayesing.cli import cli; CliRunner().invoke(cli, ['-h'])"
    )
    assert not {"numpy", "sklearn", "numba", "matplotlib", "scipy"} & loaded_after(help_text)
    fit = "import bayesing as bs; bs.EmpiricalBayes().fit([[1, -1, 1], [-1, -1, 1], [1, 1, -1], [1, -1, -1]])"
    beyond = loaded_after(f"import warnings; {fit}") - loaded_after("import sklearn.base")
    assert not {"numba", "matplotlib", "pandas", "dask"} & beyond


def test_public_names():
    assert set(bs.__all__) == set(bs._HOME)
    assert not {parts[0] for _, parts in modules()} & set(bs.__all__)  # a module would hide the name
    for name in bs.__all__:
        assert getattr(bs, name).__module__ == f"bayesing.{bs._HOME[name]}"
    assert set(bs.__all__) <= set(dir(bs))


def test_unknown_names_are_an_attribute_error():
    with pytest.raises(AttributeError, match="nonsense"):
        _ = bs.nonsense
