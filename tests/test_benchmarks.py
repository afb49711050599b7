"""Benchmarks in small: their settings load, and they run, go on, and refuse results of other settings."""

import csv
import importlib
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import bayesing as bs

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
CELLS = {
    "accuracy": {"estimates": 90},
    "calibration": {"bias": 100, "glass": 56, "coverage": 120, "cost": 0, "figure3": 78},
    "couplings": {
        **{"recovery": 30, "coverage": 172, "logistic": 6, "real": 30},
        **{"sparse": 10, "exact": 25, "rule": 114, "large": 3},
    },
    "likelihood": {
        **{"exact": 20, "simulated": 42, "real": 15, "recordings": 0, "hard": 30},
        **{"strength": 80, "cost": 6, "peer": 0},
    },
    "robustness": {"beyond": 32, "errors": 40},
    "zoo": {"kinds": 96, "alarms": 50, "cost": 6},
}


@pytest.fixture
def imported(monkeypatch):
    """Import a benchmark, or what they share, as a script beside it does; without data or programs from elsewhere."""
    for name in ("BAYESING_DATA", "BAYESING_PEER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


@pytest.fixture
def run(imported, monkeypatch, capsys):
    """Run a benchmark as from the command line: what it prints, and says on standard error."""

    def run_(name, folder, *arguments):
        monkeypatch.setattr(sys, "argv", [f"{name}.py", str(folder), *arguments])
        imported("front").main(str(BENCHMARKS / f"{name}.py"), "", imported(name).PARTS)
        return capsys.readouterr()

    return run_


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", CELLS)
def test_every_part_has_settings_and_cells(imported, name):
    parts, load = imported(name).PARTS, imported("front").load
    for quick in (False, True):
        tables = load(BENCHMARKS / f"{name}.py", quick)
        assert list(parts) == list(CELLS[name]) and set(parts) == set(tables)
        tasks = {part: parts[part].tasks(SimpleNamespace(**tables[part])) for part in parts}
        for part, found in tasks.items():
            assert len({task.name for task in found}) == len(found)
            assert len(found) == CELLS[name][part] if not quick else len(found) <= CELLS[name][part]


def test_methods_are_those_of_the_library(imported):
    names = imported("methods").method_names()
    assert "spectral" in names and "auto" not in names
    spins = bs.simulate(12, 60, J=0.6, H=0.2, seed=0).spins
    for name in names:
        assert imported("methods").fitted(spins, name).method_ == name
    tables = imported("front").load(BENCHMARKS / "accuracy.py", quick=True)
    assert tables["estimates"]["methods"] == [name for name in names if name != "likelihood"]


@pytest.mark.parametrize(
    ("name", "part", "table", "lines"),
    [
        ("accuracy", "estimates", "accuracy.csv", 44),
        ("calibration", "coverage", "coverage.csv", 2),
        ("calibration", "bias", "bias.csv", 2),
        ("couplings", "exact", "exact.csv", 32),
        ("likelihood", "exact", "exact.csv", 1),
        ("likelihood", "hard", "hard.csv", 1),
        ("robustness", "errors", "errors.csv", 20),
        ("zoo", "alarms", "alarms.csv", 4),
    ],
)
def test_a_benchmark_runs_and_goes_on(tmp_path, run, name, part, table, lines):
    first = run(name, tmp_path, part, "--quick")
    rows = list(csv.DictReader((tmp_path / table).read_text().splitlines()))
    assert len(rows) == lines
    before = files(tmp_path)
    cell = sorted((tmp_path / part / "cells").iterdir())[0]
    content = cell.read_bytes()
    cell.write_bytes(content[:100] + bytes([content[100] ^ 1]) + content[101:])
    with pytest.warns(bs.BayesingWarning, match=f"{cell.name}: .*damaged"):
        again = run(name, tmp_path, part, "--quick")
    assert again.out == first.out and again.err.startswith("1 of ")
    assert files(tmp_path) == before


def test_kinds_of_data_are_fitted_and_drawn(tmp_path, run):
    said = run("zoo", tmp_path, "kinds", "cost", "--quick").out
    rows = list(csv.DictReader((tmp_path / "kinds.csv").read_text().splitlines()))
    assert [row["kind"] for row in rows] == ["dense 0.6 small", "rare blocks"]
    assert all(float(row["gain"]) > float(row["gain_error"]) > 0 for row in rows)
    assert said.count("promised") == 4 and "diagnosis, n = 20, N = 40" in said
    assert (tmp_path / "kinds.png").exists()


def test_kinds_of_data_have_the_truth_that_they_say(imported):
    kinds = imported("zoo_data").KINDS
    assert len(kinds) >= 27 and "recording" not in kinds
    for name in (
        "copies",
        "sparse signs",
        "rare blocks",
        "independent rare",
        "lattice 0.44",
        "ferromagnet 1.2",
    ):
        data = kinds[name](0)
        assert data.spins.dtype == data.held_out.dtype == np.int8 and len(data.held_out) > 1000
        s = np.concatenate([data.spins, data.held_out]).astype(float)
        # E s_i s_j = E s_j tanh(h_i + sum_k J_ik s_k) for i != j: true of these couplings and no others
        rest = s - np.tanh(s @ data.model.couplings + data.model.fields)
        error = np.sqrt(rest.var(axis=0) / len(s))[:, None]
        pairs = (rest.T @ s / len(s) / error)[~np.eye(s.shape[1], dtype=bool)]
        assert abs(np.mean(pairs**2) - 1) < 0.35, name
    mean = imported("zoo_data").mean_active
    assert mean(kinds["bursts"](0).spins) == pytest.approx(
        60 * (0.98 * 0.01 + 0.02 * 0.15), abs=5 * 0.0105
    )  # standard errors
    assert np.array_equal(kinds["copies"](1).spins, kinds["copies"](1).spins)
    assert kinds["rare blocks"](0).J == pytest.approx(np.sqrt(25 * (50 / 300) * 0.35**2))
    assert kinds["bursts"](0).J is None and kinds["independent"](0).J == 0


def test_auto_in_the_benchmark_is_that_of_the_library(imported):
    accuracy, front = imported("accuracy"), imported("front")
    table = front.load(BENCHMARKS / "accuracy.py", quick=True)["estimates"]
    spins = bs.simulate(20, 200, J=0.8, sweeps=4, seed=3).spins
    found = {row["method"]: row for row in accuracy.estimates(SimpleNamespace(**table), spins)}
    eb = bs.EmpiricalBayes(random_state=0).fit(spins)
    assert (found["auto"]["estimate"], found["auto"]["taken"]) == (eb.J_, eb.method_)
    assert found["uncorrected"]["estimate"] != found["spectral"]["estimate"] > 0


def test_results_of_other_settings_are_refused_before_any_work(tmp_path, run, capsys):
    (tmp_path / "errors").mkdir()
    (tmp_path / "errors" / "settings.json").write_text("{}")
    with pytest.raises(SystemExit):
        run("robustness", tmp_path, "--quick")
    assert "errors: holds results of other settings" in capsys.readouterr().err
    assert not (tmp_path / "beyond").exists()


def test_an_unknown_part_is_one_sentence(tmp_path, run, capsys):
    with pytest.raises(SystemExit):
        run("robustness", tmp_path, "nonsense")
    assert capsys.readouterr().err.endswith("PART must be one of beyond, errors: found 'nonsense'.\n")


def test_a_benchmark_is_a_script(tmp_path):
    command = [
        sys.executable,
        str(BENCHMARKS / "couplings.py"),
        str(tmp_path),
        "sparse",
        "--quick",
        "--jobs",
        "2",
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "2/2 cells, 100% of the work" in result.stderr and "laplace, |J|/error" in result.stdout
    assert (tmp_path / "sparse.csv").exists()
