"""How commands read DATA."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import bayesing as bs
from bayesing import strength
from bayesing.cli._reading import Reading, names_in, read, read_batches

from commands import run_here
from samples import random_spins, with_gaps


@pytest.fixture
def table(tmp_path):
    """Column c is constant, and d is a copy of a."""
    X = random_spins(40, 4)
    X[:, 2], X[:, 3] = 1, X[:, 0]
    path = tmp_path / "x.csv"
    np.savetxt(path, X, fmt="%d", delimiter=",", header="a,b,c,d", comments="")
    return path


def test_notes_are_kept_and_said(table, capsys):
    found = read(str(table), Reading())
    constant, copies = found.notes
    assert "the same in all samples ('c')" in constant and "copies of each other" in copies
    assert "'a' and 'd'" in copies
    assert capsys.readouterr().err.splitlines() == [f"note: {note}" for note in found.notes]


def test_a_report_has_its_own_words_for_copies(table, capsys):
    found = read(str(table), Reading(), aloud=False)
    assert len(found.notes) == 1 and "the same in all samples" in found.notes[0]
    assert capsys.readouterr().err == ""


def test_batches_are_all_samples_with_the_same_notes(table, capsys):
    found, whole = read_batches(str(table), Reading(), 7), read(str(table), Reading())
    assert found.statistics.rows is None and whole.statistics.rows is not None
    assert (found.statistics.N, found.statistics.names) == (40, tuple("abcd"))
    np.testing.assert_array_equal(found.statistics.cross, whole.statistics.cross)
    assert found.notes == whole.notes and found.encoding == whole.encoding == "±1"
    assert capsys.readouterr().err.splitlines() == [f"note: {note}" for note in 2 * found.notes]
    fewer = read_batches(str(table), Reading(drop_columns=("d",)), 7)
    assert fewer.statistics.names == ("a", "b", "c") and len(fewer.notes) == 1


WITHOUT_ROWS = ["auto", *(method.name for method in strength.METHODS if not method.needs_rows)]


@pytest.mark.filterwarnings("default::bayesing.BoundWarning", "default::bayesing.AnotherKindWarning")
@pytest.mark.parametrize("method", WITHOUT_ROWS)
def test_fits_in_batches_are_those_of_all_samples(tmp_path, monkeypatch, table, method):
    """Also their notes: of a column that is constant, and of one that is a copy, unless the method cannot take it."""
    monkeypatch.chdir(tmp_path)
    np.savetxt("plain.csv", bs.simulate(n_spins=9, n_samples=60, J=0.6, H=0.1, seed=2).spins, "%d", ",")
    for path in ["plain.csv", *["x.csv"] * (method != "inversion")]:
        at_once = run_here("fit", path, "--method", method, "--json", "--seed", 1)
        for rows in (7, 1000):
            in_batches = run_here("fit", path, "--method", method, "--json", "--seed", 1, "--batch", rows)
            assert at_once.exit_code == in_batches.exit_code == 0
            assert json.loads(in_batches.stdout) == json.loads(at_once.stdout)
            assert in_batches.stderr == at_once.stderr


COMMANDS = [
    ["fit"],
    ["fit", "--batch", "20"],
    ["couplings", "-o", "J.csv"],
    ["report", "--simulations", "0", "--jobs", "1"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("memory", [None, 1000])
def test_a_table_is_opened_twice_at_most(tmp_path, opens, monkeypatch, command, memory):
    """Once to look at and once to read, whether or not it fits into memory."""
    monkeypatch.setattr("bayesing.report.write.pictures", lambda *_: [])
    monkeypatch.setattr("bayesing.io.memory_available", lambda: memory)
    monkeypatch.chdir(tmp_path)
    np.savetxt("x.csv", bs.simulate(n_spins=6, n_samples=90, J=0.8, seed=1).spins, "%d", ",")
    opens.clear()
    assert run_here(*command, "x.csv").exit_code == 0
    assert 1 <= opens.count("x.csv") <= 2


LOADED = (
    "import sys; from bayesing.cli import cli; cli(sys.argv[1:], standalone_mode=False); print(*sys.modules)"
)


@pytest.mark.parametrize("method", ["auto", "plefka", "susceptibility"])
def test_a_closed_form_loads_nothing_heavy(tmp_path, method):
    np.savetxt(tmp_path / "x.csv", random_spins(40, 4), "%d", ",")
    command = [sys.executable, "-c", LOADED, "fit", "x.csv", "--method", method]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = result.stdout.splitlines()[-1].split()
    assert "bayesing.inference" in loaded and "numpy" in loaded
    assert not {"sklearn", "numba", "matplotlib", "scipy.optimize", "pandas", "joblib"} & set(loaded)


def test_too_little_memory_is_said(table, monkeypatch, capsys):
    monkeypatch.setattr("bayesing.io.memory_available", lambda: 1000)
    size = f"{bs.io.memory_of(table) / 1e9:.2g} GB"
    needed = f"note: the data need about {size} of memory, of which 1e-06 GB are available"
    found = read(str(table), Reading(), all_rows=True)
    assert capsys.readouterr().err.startswith(f"{needed}.\n") and found.statistics.rows is not None
    found = read(str(table), Reading())
    assert found.statistics.rows is None and "Sums and products are kept, and all rows" in found.notes[-1]
    said = capsys.readouterr().err
    assert f"{needed}: they are read in batches" in said and said.count("GB of memory") == 1
    found = read(str(table), Reading(missing="drop-spins"))  # which batches cannot do
    assert found.statistics.rows is not None and capsys.readouterr().err.startswith(f"{needed}.\n")
    monkeypatch.setattr("bayesing.io.memory_available", lambda: bs.io.memory_of(table))
    read(str(table), Reading())
    assert "GB" not in capsys.readouterr().err


def test_names_of_columns():
    assert names_in(("a,b , c", "1")) == ("a", "b", "c", "1")
    assert names_in(('"height, cm",b',)) == ("height, cm", "b")
    assert names_in(()) == ()


@pytest.mark.parametrize(
    ("command", "path"),
    [(["fit"], "x.csv"), (["couplings", "-o", "J.csv"], "./x.csv"), (["report"], "./x.csv")],
)
def test_an_error_has_the_name_of_the_file_once(tmp_path, monkeypatch, command, path):
    monkeypatch.chdir(tmp_path)
    for content, message in (("1,-1\n1,2\n", "found 2 at row 2"), ("1,1\n1,1\n1,1\n1,1\n", "vary")):
        (tmp_path / "x.csv").write_text(content)
        error = run_here(*command, path).stderr.splitlines()[-1]
        assert error.count("x.csv") == 1 and message in error


def test_missing_cells_are_used_and_said(tmp_path, monkeypatch):
    """By a method that can: the same at once, in batches, and in Python. Another method says which can."""
    monkeypatch.chdir(tmp_path)
    X = with_gaps(bs.simulate(n_spins=12, n_samples=200, J=0.5, H=0.2, seed=1, sweeps=5).spins, 0.045)
    frame = pd.DataFrame(X, columns=list("abcdefghijkl"))
    frame.to_csv("x.csv", index=False)
    expected = bs.EmpiricalBayes("susceptibility").fit(frame)
    share, cells = 100 * np.isnan(X).mean(), int(np.isnan(X).sum())
    result = run_here("fit", "x.csv", "--method", "susceptibility")
    assert result.exit_code == 0
    assert f"200 samples of 12 spins, {share:.2g}% of the cells missing (N/n" in result.stdout
    assert f"note: {cells} of 2400 cells ({share:.2g}%) are missing" in result.stderr
    for arguments in ((), ("--batch", 30)):
        result = run_here("fit", "x.csv", "--method", "susceptibility", "--json", *arguments)
        answer = json.loads(result.stdout)
        assert answer["n_missing"] == cells and answer["n_samples"] == 200
        assert answer["J"] == pytest.approx(expected.J_, rel=1e-12) and answer["H"] == pytest.approx(
            expected.H_
        )
        assert "missing at random, given the values" in answer["notes"][0]
    result = run_here("fit", "x.csv", "--method", "plefka")
    assert result.exit_code == 2 and result.stderr.count("\n") == 2  # a note, and the error
    assert 'missing cells of 200 x 12. "susceptibility"' in result.stderr
    assert "--missing drop-samples or --missing drop-spins." in result.stderr
    result = run_here("fit", "x.csv", "--method", "spectral", "--missing", "drop-samples", "--json")
    answer = json.loads(result.stdout)
    assert answer["n_missing"] == 0 and answer["n_samples"] == (~np.isnan(X).any(axis=1)).sum()
    assert "keep,error,drop-samples,drop-spins" in "".join(run_here("fit", "--help").stdout.split())


@pytest.mark.parametrize(
    "command",
    [
        ["fit"],
        ["couplings", "-o", "J.csv"],
        ["report", "-o", "r.html", "--simulations", "0"],
        ["compare", "--by", "5", "-o", "d.csv", "--permutations", "5"],
    ],
)
@pytest.mark.filterwarnings("default::bayesing.BayesingWarning")
def test_no_command_falls_over_missing_cells(tmp_path, monkeypatch, command):
    """Each has an answer."""
    monkeypatch.chdir(tmp_path)
    X = with_gaps(random_spins(60, 5), 0.1)
    pd.DataFrame(X).to_csv("x.csv", index=False, header=False)
    result = run_here(command[0], "x.csv", *command[1:])
    assert result.exit_code == 0 and "Traceback" not in result.stderr
