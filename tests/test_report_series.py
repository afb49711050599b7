"""Reports and commands on rows in the order of time."""

import csv
import json

import numpy as np
import pytest

import bayesing as bs
from bayesing.report.analysis import analyse
from bayesing.report.held_out import in_order
from bayesing.report.notes import notes
from bayesing.report.request import Choices, Source
from bayesing.report.sketches import sketches
from bayesing.report.tables import facts

from commands import run, run_here
from samples import random_spins, stats


@pytest.fixture(scope="module")
def rows():
    """Independent spins, each of which keeps its value with the probability 0.7."""
    rng = np.random.default_rng(0)
    found = rng.choice([-1, 1], (600, 8)).astype(np.int8)
    for t in range(1, len(found)):
        found[t] = np.where(rng.random(8) < 0.7, found[t - 1], found[t])
    return found


def of(X, **choices):
    return analyse(Source("x", stats(X)), Choices("spectral", simulations=0, **choices))


def test_a_report_on_a_series(rows):
    found = of(rows, series=True)
    said = {note.title: note.text for note in notes(found)}
    worth = found.eb.effective_samples_
    assert 150 < worth < 300  # 600 (1 - 0.49)/(1 + 0.49) = 205
    assert f"count as the {worth:.0f} independent ones" in said["Rows in the order of time"]
    assert "Rows remember those before them" not in said and "Independent rows" not in said
    assert any(f"600, worth {worth:.0f} independent ones" in str(row) for row in facts(found).rows)
    drawn = {sketch.key: sketch for sketch in sketches(found)}
    assert {"memory", "time"} <= set(drawn)
    assert "below 0.1 after" in drawn["memory"].view.alt
    assert found.couplings.machine.series and found.couplings.machine.effective_samples_ == worth
    assert found.N == 600


def test_rows_that_remember_are_said_once_and_drawn(rows):
    found = of(rows)
    said = [note for note in notes(found) if note.title == "Rows remember those before them"]
    assert len(said) == 1 and "series=True" in said[0].text
    assert {"memory", "time"} <= {sketch.key for sketch in sketches(found)}


def test_drift_is_said_and_drawn():
    rng = np.random.default_rng(1)
    up = rng.random((800, 8)) < 1 / (1 + np.exp(-1.5 * np.linspace(-1, 1, 800)))[:, None]
    found = of(np.where(up, 1, -1).astype(np.int8))
    assert "Means drift over the rows" in {note.title for note in notes(found)}
    drawn = {sketch.key: sketch for sketch in sketches(found)}
    assert "They drift." in drawn["time"].caption and "memory" not in drawn


def test_independent_rows_have_no_pictures_of_time():
    assert not {"memory", "time"} & {sketch.key for sketch in sketches(of(random_spins(300, 6)))}


def test_the_last_rows_of_a_series_are_held_out():
    test, train = in_order(100, 100, 1)
    assert test.tolist() == list(range(75, 100)) and train.tolist() == list(range(75))
    test, train = in_order(100, 30, 5)
    assert test.tolist() == [79, 84, 89, 94, 99] and train.tolist() == list(range(0, 75, 3))


# Commands


@pytest.fixture(scope="module")
def table(rows, tmp_path_factory):
    """A file with a column for the trial."""
    path = tmp_path_factory.mktemp("series") / "trials.csv"
    with path.open("w", newline="") as file:
        written = csv.writer(file)
        written.writerow(["trial", *(f"cell{i}" for i in range(8))])
        written.writerows([f"t{k // 200}", *row] for k, row in enumerate(rows.tolist()))
    return path


def test_commands_say_what_rows_are_worth(table):
    plain = run("fit", table, "--drop-columns", "trial", "--method", "spectral")
    assert "Rows remember" in plain.stderr and "--series" in plain.stderr
    answer = json.loads(
        run_here("fit", table, "--by", "trial", "--method", "spectral", "--series", "--json").stdout
    )
    assert answer["n_samples"] == 600 and 150 < answer["effective_samples"] < 300
    assert answer["n_spins"] == 8
    text = run_here("fit", table, "--by", "trial", "--method", "spectral", "--series").stdout
    assert f"600 samples, worth {answer['effective_samples']:.0f} independent ones, of 8 spins" in text


def test_couplings_of_trials(table, tmp_path):
    target = tmp_path / "J.csv"
    found = run_here(
        "couplings", table, "-o", target, "--by", "trial", "--method", "spectral", "--series", "--json"
    )
    whole = json.loads(found.stdout)
    assert 150 < whole["effective_samples"] < 300
    with target.open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 28


def test_what_does_not_go_together(table):
    for option in ("--series", "--by=trial"):
        found = run_here("fit", table, "--batch", "100", "--method", "spectral", option)
        assert found.exit_code == 2 and "needs them in their order" in found.stderr
    found = run_here("fit", table, "--by", "tral", "--series")
    assert found.exit_code == 2 and "tral" in found.stderr


def test_a_report_from_python_is_a_series(rows, tmp_path):
    with pytest.raises(ValueError, match="series must be True or False"):
        bs.write_report(rows, tmp_path / "x.html", series="yes")
