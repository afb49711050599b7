"""How commands read DATA."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import bayesing as bs
from bayesing.cli import _reading
from bayesing.cli._reading import MOST_MEMORY, Reading, beyond_memory, names_in, read, read_moments

from commands import run_here
from samples import random_spins


@pytest.fixture
def table(tmp_path):
    """Column c is constant, and d is a copy of a."""
    X = random_spins(40, 4)
    X[:, 2], X[:, 3] = 1, X[:, 0]
    path = tmp_path / "x.csv"
    np.savetxt(path, X, fmt="%d", delimiter=",", header="a,b,c,d", comments="")
    return path


@pytest.fixture
def opened(monkeypatch):
    """How often each file was opened."""
    count, plain = Counter(), Path.open

    def counting(path, *arguments, **options):
        count[path.name] += 1
        return plain(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", counting)
    return count


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


def test_moments_in_batches_are_those_of_all_samples(table, capsys):
    moments, last = read_moments(str(table), Reading(drop_columns=("d",)), 7)
    expected = bs.SpinMoments.of(bs.read_spins(table, drop_columns=["d"]).spins)
    assert (moments.N, moments.M, moments.C2) == (40, expected.M, expected.C2)
    assert len(last.notes) == 1 and last.names == ("a", "b", "c")
    assert capsys.readouterr().err == f"note: {last.notes[0]}\n"


@pytest.mark.parametrize(
    "command", [["fit"], ["couplings", "-o", "J.csv"], ["report", "--simulations", "0", "--jobs", "1"]]
)
def test_a_table_is_opened_no_more_often_than_reading_takes(tmp_path, opened, monkeypatch, command):
    monkeypatch.setattr("bayesing.report.write.pictures", lambda *_: [])
    monkeypatch.chdir(tmp_path)
    np.savetxt("x.csv", bs.simulate(n_spins=6, n_samples=90, J=0.8, seed=1).spins, "%d", ",")
    opened.clear()
    bs.read_spins("x.csv")
    needed = opened["x.csv"]
    opened.clear()
    assert run_here(*command, "x.csv").exit_code == 0
    assert 0 < opened["x.csv"] == needed


@pytest.mark.parametrize("name", ["x.csv", "x.npy"])
def test_a_file_that_surely_fits_is_not_opened(tmp_path, opened, monkeypatch, name):
    path, X = tmp_path / name, random_spins(30, 30)
    np.save(path, X) if name == "x.npy" else np.savetxt(path, X, "%d", ",")
    size = path.stat().st_size
    assert bs.io.memory_of(path) <= MOST_MEMORY * size
    opened.clear()
    monkeypatch.setattr("bayesing.io.memory_available", lambda: MOST_MEMORY * size)
    assert beyond_memory(str(path), Reading()) == "" and opened[name] == 0
    monkeypatch.setattr("bayesing.io.memory_available", lambda: bs.io.memory_of(path))
    assert beyond_memory(str(path), Reading()) == "" and opened[name] > 0
    monkeypatch.setattr("bayesing.io.memory_available", lambda: 20_000)
    assert beyond_memory(str(path), Reading()).endswith("of which 2e-05 GB are available")


def test_too_little_memory_is_said_and_asked_for_once(table, monkeypatch, capsys):
    monkeypatch.setattr("bayesing.io.memory_available", lambda: 1000)
    beyond = beyond_memory(str(table), Reading())
    read(str(table), Reading())
    assert capsys.readouterr().err.startswith(f"note: {beyond}.\n")
    monkeypatch.setattr(_reading, "beyond_memory", pytest.fail)
    read(str(table), Reading(), beyond)
    assert capsys.readouterr().err.startswith(f"note: {beyond}.\n")


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
