"""A method is one thing: a file, a line in a tuple, and nothing else in the house names it."""

import ast
import json
import re
from pathlib import Path

import numpy as np
import pytest

import bayesing as bs
from bayesing import couplings, strength
from bayesing.strength._method import with_field

import sixth
from commands import run_here
from samples import with_gaps

SOURCE = Path(bs.__file__).parent
SIM = bs.simulate(n_spins=40, n_samples=60, J=0.4, seed=1, sweeps=3)


@pytest.fixture
def with_sixth(monkeypatch):
    monkeypatch.setattr(strength, "METHODS", (*strength.METHODS, sixth.METHOD))


@pytest.fixture
def data(tmp_path):
    np.save(tmp_path / "data.npy", SIM.spins)
    return str(tmp_path / "data.npy")


def printed(*arguments):
    result = run_here(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.usefixtures("with_sixth")
def test_a_sixth_method_is_known_everywhere(data, tmp_path):
    eb = bs.EmpiricalBayes("sixth").fit(SIM.spins)
    assert eb.method_ == "sixth" and eb.gamma_ == pytest.approx(
        sixth.gamma_of(bs.SpinStatistics.of(SIM.spins))
    )
    found = eb.interval(n_simulations=40)
    assert found.J[0] < 0.4 < found.J[1]
    answer = json.loads(printed("fit", data, "--method", "sixth", "--json"))
    assert answer["method"] == "sixth" and answer["J"] == eb.J_
    assert answer["J"] == json.loads(printed("fit", data, "--method", "sixth", "--batch", "7", "--json"))["J"]
    assert "sixth" in printed("fit", "--help")
    output = tmp_path / "report.html"
    printed("report", data, "--method", "sixth", "--simulations", "0", "-o", str(output))
    assert "sixth: as asked" in output.read_text()
    with pytest.raises(ValueError, match='method="sixth" needs at least 5 samples: found 4'):
        bs.EmpiricalBayes("sixth").fit(SIM.spins[:4])
    with pytest.raises(ValueError, match='mean_coupling must be False with method="sixth"'):
        bs.EmpiricalBayes("sixth", mean_coupling=True).fit(SIM.spins)


@pytest.mark.parametrize(
    ("method", "estimator"),
    [
        *((method, bs.EmpiricalBayes) for method in strength.METHODS),
        *((method, bs.BoltzmannMachine) for method in couplings.METHODS),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else value.name,
)
def test_a_method_uses_missing_cells_or_says_which_method_does(method, estimator):
    data = bs.SpinStatistics.of(with_gaps(SIM.spins[:, :7], 0.1))
    if method.uses_missing:
        assert estimator(method.name).fit(data).method_ == method.name
        return
    if estimator is bs.BoltzmannMachine and method.priors:  # another one stands in
        found = estimator(method.name).fit(data)
        assert (found.method_, found.reason_) == (
            "likelihood",
            f"cells are missing, which {method.name} cannot use",
        )
        return
    with pytest.raises(ValueError, match=r"cannot use rows with missing cells: found \d+ missing") as caught:
        estimator(method.name).fit(data)
    methods = strength.METHODS if estimator is bs.EmpiricalBayes else couplings.METHODS
    can = [other.name for other in methods if other.uses_missing]
    assert all(f'"{name}"' in str(caught.value) for name in can) and 'missing="drop-samples"' in str(
        caught.value
    )


def test_an_unknown_name_raises_everywhere(data):
    for estimator in (bs.EmpiricalBayes("sixth"), bs.BoltzmannMachine("sixth")):
        with pytest.raises(ValueError, match=r"method must be one of auto, spectral, .*: found 'sixth'"):
            estimator.fit(SIM.spins)
    for arguments in (["fit", data], ["couplings", data, "-o", data + ".csv"], ["report", data]):
        result = run_here(*arguments, "--method", "sixth")
        assert result.exit_code == 2 and "method must be one of auto, spectral, " in result.output


def names_in(path, names):
    """Names of methods that stand in quotes in a file: in code, docstrings and messages."""
    text = path.read_text(encoding="utf-8")
    found = set(re.findall(rf"""["'“]({"|".join(names)})["'”]""", text))
    if path.suffix == ".py":
        constants = {node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)}
        found |= {name for name in names if name in constants}
    return found


def test_nobody_else_names_a_method():
    """But for a method's own file, the tuples, which import modules, and the rules of "auto"."""
    names = sorted({method.name for method in (*strength.METHODS, *couplings.METHODS)})
    own = {"mean_field.py": {"naive_mean_field", "tap", "independent_pair"}}
    elsewhere = {}
    for path in SOURCE.rglob("*"):
        if path.suffix not in (".py", ".html", ".toml", ".css") or path == SOURCE / "choice.py":
            continue
        found = names_in(path, names)
        if path.parent in (SOURCE / "strength", SOURCE / "couplings"):
            found -= own.get(path.name, {path.stem})
        if found:
            elsewhere[str(path.relative_to(SOURCE))] = sorted(found)
    assert elsewhere == {}


def test_the_search_for_names_can_fail(tmp_path):
    path = tmp_path / "x.py"
    path.write_text('def f(m):\n    """Take "tap"."""\n    return m == \'exact\' or "spectral law"\n')
    assert names_in(path, ["tap", "exact", "spectral"]) == {"tap", "exact"}


def test_what_a_method_does_not_say_it_cannot_do():
    plain = strength.Method("plain", "a method", lambda stats, options: None, lambda *arguments: None)
    able = [name for name, value in vars(plain).items() if value is True]
    assert able == [] and plain.priors == ("gaussian",) and plain.least_samples == 4
    bare = strength.Estimate(0.3, 0.1, 0.2, 0.05)
    assert (bare.J0, bare.J0_error, bare.bound, bare.lost) == (0, 0, None, False) and bare.unknown == ()


def test_the_error_of_J_is_half_the_image_of_that_of_gamma():
    """By differences where it is small; finite where gamma is 0."""
    assert strength.Estimate(0.49, 1e-6, 0.0, 0.1).J_error == pytest.approx(1e-6 / (2 * 0.7))
    assert strength.Estimate(0.6, 0.4, 0.0, 0.1).J_error == pytest.approx((1 - np.sqrt(0.2)) / 2)
    assert strength.Estimate(0.1, 0.3, 0.0, 0.1).J_error == pytest.approx(np.sqrt(0.4) / 2)
    assert strength.Estimate(0.1, np.inf, 0.0, 0.1).J_error == np.inf


def test_fields_are_those_of_the_spins_that_vary():
    """As many constant ones beside them: gamma of all is twice that of those that vary, and so is J0."""
    rows = bs.simulate(12, 80, J=0.5, H=0.4, J0=0.3, seed=2).spins
    wide = bs.SpinStatistics.of(np.hstack([rows, np.ones((80, 12), np.int8)]))
    options = strength.Options(mean_coupling=True)
    alone = with_field(bs.SpinStatistics.of(rows), 0.25, 0.1, options)
    found = with_field(wide, 0.5, 0.2, options)
    assert (found.H, found.H_error) == pytest.approx((alone.H, alone.H_error))
    assert (found.J0, found.J0_error) == pytest.approx(
        (2 * alone.J0, 2 * alone.J0_error)
    ) and alone.J0_error > 0
    assert (
        with_field(wide, 0.5, 0.4, strength.Options()).H_error
        > with_field(wide, 0.5, 0.2, strength.Options()).H_error
    )
