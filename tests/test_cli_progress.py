"""How far a command is."""

import io

import pytest
from rich.console import Console

from bayesing.cli._progress import Cells, Progress
from bayesing.experiments.cells import Task

from commands import run_here


def terminal():
    return Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)


def test_a_planned_bar_knows_how_far_it_is():
    with Progress("reading") as progress:
        progress.begin("one")
        progress.plan({"one": 1.0, "two": 4.0, "three": 5.0})
        progress.begin("two")
        task = progress.bar.tasks[0]
        assert (task.completed, task.total, task.description) == (1.0, 10.0, "two")
        progress.advance(3, 4)
        assert task.completed == 4.0
        progress.begin("three")
        assert task.completed == 5.0


def test_without_a_plan_the_bar_is_that_of_the_step():
    with Progress("inferring") as progress:
        task = progress.bar.tasks[0]
        assert task.total is None
        progress.begin("writing")
        progress.advance(3, 4)
        assert (task.description, task.completed, task.total) == ("writing", 3, 4)


def test_items_go_by_and_the_bar_follows():
    with Progress("writing") as progress:
        task = progress.bar.tasks[0]
        seen = [(item, task.completed) for item in progress.over(iter("abcdefgh"), 8)]
    assert seen == list(zip("abcdefgh", range(8), strict=True))


def test_the_bar_is_on_a_terminal_alone(capsys):
    console = terminal()
    with Progress("simulating", console=console) as progress:
        progress.advance(1, 4)
        progress.line("a line")
    shown = console.file.getvalue()
    assert "simulating" in shown and " 25%" in shown and "left" in shown and "a line" not in shown
    with Progress("simulating") as progress:
        progress.advance(1, 4)
        progress.line("a line")
    assert tuple(capsys.readouterr()) == ("", "a line\n")


def test_no_time_is_left_as_long_as_nobody_knows():
    console = terminal()
    with Progress("reading", console=console):
        pass
    assert "reading" in console.file.getvalue() and "left" not in console.file.getvalue()


@pytest.mark.parametrize("seconds", [1.0, 600.0])
def test_the_time_left_is_known_for_slow_cells_too(seconds):
    """Two cells of five were there before; each of the others takes the same time."""
    now = 0.0
    progress = Progress("", console=terminal())
    progress.bar.get_time = lambda: now
    tasks = [Task(str(k), bytes) for k in range(5)]
    cells = Cells(progress, tasks, {"0", "1"})
    for task in tasks[2:4]:
        now += seconds
        cells(task)
    assert progress.bar.tasks[0].time_remaining == pytest.approx(seconds, abs=1)


def test_cells_are_counted_and_said_now_and_then(capsys):
    tasks = [Task(str(k), bytes, 10.0 if k == 30 else 1.0) for k in range(31)]
    with Progress("") as progress:
        cells = Cells(progress, tasks, {str(k) for k in range(6)})
        bar = progress.bar.tasks[0]
        assert (bar.description, bar.completed, bar.total) == ("6/31 cells", 6.0, 40.0)
        for task in tasks[6:]:
            cells(task)
        assert (bar.description, bar.completed) == ("31/31 cells", 40.0)
    lines = [f"{k}/31 cells, {100 * k / 40:.0f}% of the work" for k in range(10, 31, 4)]
    assert capsys.readouterr().err.splitlines() == [*lines, "31/31 cells, 100% of the work"]


def test_commands_show_it(tmp_path, monkeypatch):
    """All but that of experiments: on a terminal, nothing is left of the bar in the end."""
    console = terminal()
    monkeypatch.setattr("bayesing.cli._progress.Console", lambda **_: console)
    monkeypatch.setattr("bayesing.report.write.pictures", lambda *_: [])
    monkeypatch.chdir(tmp_path)
    run_here("simulate", "--spins", 20, "--samples", 40, "--seed", 1, "-o", "x.npz")
    for command, step in (
        (["fit", "x.npz", "--interval", "--simulations", 40, "--jobs", 1], "simulating data sets"),
        (["couplings", "x.npz", "-o", "J.csv"], "inferring 190 couplings from 40 samples"),
        (["report", "x.npz", "--simulations", 0, "--jobs", 1], "reading"),
    ):
        console.file.truncate(0)
        assert run_here(*command).exit_code == 0
        assert step in console.file.getvalue()
        assert console.file.getvalue().endswith("\x1b[1A\x1b[2K")
