"""Cells as files: any alteration is noticed, long ones come first, other settings are refused."""

import json
import os
import shutil
import signal
import subprocess
import sys
import warnings
from functools import partial

import joblib
import numpy as np
import pytest

import bayesing as bs
from bayesing.experiments import runner
from bayesing.experiments.cells import CellFolder, Task, csv_bytes, digest
from bayesing.experiments.specification import Cell

CELL = Cell("anneal", "gaussian", 60, 0.4, 0.4)


def numbers_of(name):
    """Some rows of numbers that follow from a name."""
    rng = np.random.default_rng(list(name.encode()))
    return csv_bytes([["k", "x"], *((k, repr(x)) for k, x in enumerate(rng.normal(size=5).tolist()))])


def tasks(*names, cost=lambda name: 1.0):
    return [Task(name, partial(numbers_of, name), cost(name)) for name in names]


@pytest.fixture
def cells(tmp_path):
    return CellFolder(tmp_path, {"seed": 0})


# Files


def test_a_file_is_its_content_and_a_hash(cells):
    cells.run(tasks("a", "b"))
    assert cells.finished(["a", "b", "c"]) == {"a", "b"}
    assert cells.read("a") == numbers_of("a")
    assert cells.path("a").read_bytes().startswith(numbers_of("a") + b"# sha256 ")
    lines = cells.path("a").read_text().splitlines()
    assert len(lines) == 7 and len(lines[-1].split()[-1]) == 64
    with pytest.raises(ValueError, match=r"c.csv: expected a finished cell, found a missing or damaged one"):
        cells.read("c")


def test_content_may_be_anything(cells):
    for content in (b"", b"\n", b"\r\n\0\xff", b"# sha256 no"):
        cells.prepare()
        cells.write("a", content)
        assert cells.read("a") == content


def noticed(cells, name):
    """Whether a cell's file is seen to be damaged, by those who go on with a run and those who read it."""
    with pytest.raises(ValueError, match="damaged"):
        cells.read(name)
    return cells.finished([name]) == set()


def test_every_altered_byte_is_noticed(tmp_path):
    """Each byte of a cell of the reproduction in turn, its hash included; digits become other digits."""
    cells = runner.results(tmp_path, small=True)
    cells.run(runner.tasks_of([CELL], small=True))
    path = cells.path(CELL.name)
    content = path.read_bytes()
    digits = 0
    for place, byte in enumerate(content):
        digit = chr(byte).isdigit()
        digits += digit
        other = (byte - 48 + 1 + place % 9) % 10 + 48 if digit else byte ^ 1
        assert other != byte
        path.write_bytes(content[:place] + bytes([other]) + content[place + 1 :])
        assert noticed(cells, CELL.name), place
    assert digits > 500
    path.write_bytes(content)
    assert cells.finished([CELL.name]) == {CELL.name}


def test_every_truncation_is_noticed(cells):
    cells.run(tasks("a"))
    content = cells.path("a").read_bytes()
    for length in range(len(content)):
        cells.path("a").write_bytes(content[:length])
        assert noticed(cells, "a"), length


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content + b"\n",
        lambda content: content + content,
        lambda content: content[content.index(b"\n") + 1 :],  # without its header
        lambda content: content.replace(b"\n", b"\r\n"),
        lambda content: content[: content.index(b"#")],  # without its hash
    ],
)
def test_a_damaged_cell_is_computed_again(cells, damage):
    cells.run(tasks("a", "b"))
    content = cells.path("a").read_bytes()
    assert damage(content) != content
    cells.path("a").write_bytes(damage(content))
    assert noticed(cells, "a")
    heard = []
    with pytest.warns(bs.BayesingWarning, match=r"a.csv: .*damaged.*again") as caught:
        cells.run(tasks("a", "b"), lambda task: heard.append(task.name))
    assert len(caught) == 1 and heard == ["a"] and cells.path("a").read_bytes() == content


def test_the_file_of_another_cell_or_other_settings_is_noticed(cells, tmp_path):
    cells.run(tasks("a", "b"))
    shutil.copy(cells.path("b"), cells.path("a"))
    assert noticed(cells, "a")
    other = CellFolder(tmp_path / "other", {"seed": 1})
    other.run(tasks("a"))
    assert other.read("a") == numbers_of("a")
    shutil.copy(other.path("a"), cells.path("a"))
    assert noticed(cells, "a")


def test_results_of_other_settings_are_refused(cells, tmp_path):
    cells.run(tasks("a"))
    with pytest.raises(ValueError, match=r'other settings, expected {"seed": 1}, found {"seed": 0}'):
        CellFolder(tmp_path, {"seed": 1}).run(tasks("a"))
    for damaged in ("{", "3", "{}", '{"seed": 0, "more": null}'):
        (tmp_path / "settings.json").write_text(damaged)
        with pytest.raises(ValueError, match="other settings"):
            cells.check()


def test_other_settings_are_told_by_what_differs(tmp_path):
    CellFolder(tmp_path, {"seed": 0, "J": [0.2], "n": 3}).prepare()
    with pytest.raises(ValueError, match=r'expected {"J": \[0.3\], "n": 4}, found {"J": \[0.2\], "n": 3}\.'):
        CellFolder(tmp_path, {"seed": 0, "J": [0.3], "n": 4}).check()


def test_settings_may_hold_tuples(tmp_path):
    for _ in range(2):
        CellFolder(tmp_path, {"J": (0.2, 0.4)}).run(tasks("a"))
    assert json.loads((tmp_path / "settings.json").read_text()) == {"J": [0.2, 0.4]}


def test_a_digest_tells_plans_apart():
    assert digest([1, 2]) == digest([1, 2]) != digest([1, 3])
    assert len(digest([1, 2])) == 16


# Runs


def test_long_cells_come_first_and_finished_ones_not_at_all(cells):
    heard = []
    cost = {"a": 1.0, "b": 5.0, "c": 3.0, "d": 4.0}.get
    cells.run(tasks("c", cost=cost))
    cells.run(tasks("a", "b", "c", "d", cost=cost), lambda task: heard.append(task.name))
    assert heard == ["b", "d", "a"]


def test_any_number_of_jobs_gives_the_same_bytes(tmp_path):
    names, found = [f"cell-{k}" for k in range(12)], []
    for jobs in (1, 2):
        cells = CellFolder(tmp_path / str(jobs), {})
        with joblib.parallel_config(n_jobs=jobs):
            cells.run(tasks(*names))
        found.append({name: cells.path(name).read_bytes() for name in names})
    assert found[0] == found[1]


SLOW = """
import sys, time
from functools import partial
from pathlib import Path
import joblib
from bayesing.experiments.cells import CellFolder, Task

def slow(k, seconds):
    time.sleep(seconds)
    return f"{k}\\n".encode() * 1000

if __name__ == "__main__":
    tasks = [Task(f"cell-{k}", partial(slow, k, float(sys.argv[3]))) for k in range(8)]
    with joblib.parallel_config(n_jobs=int(sys.argv[2])):
        CellFolder(Path(sys.argv[1]), {}).run(tasks, lambda task: print(task.name, flush=True))
"""


def test_a_run_that_is_killed_goes_on_with_the_rest(tmp_path):
    script, folder = tmp_path / "slow.py", tmp_path / "results"
    script.write_text(SLOW)
    command = [sys.executable, str(script), str(folder), "2"]
    process = subprocess.Popen([*command, "0.3"], start_new_session=True, stdout=subprocess.PIPE, text=True)
    first = [process.stdout.readline().strip() for _ in range(2)]
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    cells, names = CellFolder(folder, {}), [f"cell-{k}" for k in range(8)]
    kept = {name: cells.path(name).stat().st_mtime_ns for name in cells.finished(names)}
    assert set(first) <= set(kept) and len(kept) < 8
    result = subprocess.run([*command, "0"], capture_output=True, text=True, check=True)
    assert sorted([*result.stdout.split(), *kept]) == names and "damaged" not in result.stderr
    assert {name: cells.path(name).stat().st_mtime_ns for name in kept} == kept
    assert all(cells.read(f"cell-{k}") == f"{k}\n".encode() * 1000 for k in range(8))


@pytest.mark.parametrize("backend", ["sequential", "loky"])
def test_warnings_of_a_worker_are_shown_by_the_client_once_a_cell(tmp_path, backend):
    script = tmp_path / "script.py"
    script.write_text(WARNING_WORKER)
    result = subprocess.run(
        [sys.executable, str(script), backend, str(tmp_path / "r")],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line for line in result.stderr.splitlines() if "Warning" in line]
    assert len(lines) == 2
    for line, J in zip(sorted(lines), ("0.4", "0"), strict=True):
        assert "NotEquilibratedWarning" in line and f"n60-H0.4-J{J}:" in line
        assert "5 warning(s) in 5 repeats" in line and "for n = 60" in line


WARNING_WORKER = """
import sys, warnings
from pathlib import Path
import joblib
import bayesing as bs
from bayesing.experiments import runner
from bayesing.experiments.specification import Cell

plain = runner.simulate

def simulate(n, *arguments, **options):
    warnings.warn(f"Not equilibrated for n = {n}.", bs.NotEquilibratedWarning)
    return plain(n, *arguments, **options)

def simulate_cell(*arguments, plain=runner.simulate_cell):
    runner.simulate = simulate  # in the worker, which imports its own
    return plain(*arguments)

if __name__ == "__main__":
    runner.simulate_cell = simulate_cell
    cells = [Cell("anneal", "gaussian", 60, 0.4, J) for J in (0.0, 0.4)]
    with joblib.parallel_config(backend=sys.argv[1], n_jobs=2 if sys.argv[1] == "loky" else 1):
        runner.results(Path(sys.argv[2]), small=True).run(runner.tasks_of(cells, small=True))
"""


def noisy():
    warnings.warn("of another library", RuntimeWarning, stacklevel=1)
    return b""


def test_warnings_of_other_libraries_are_not_swallowed(cells):
    with pytest.warns(RuntimeWarning, match="of another library"):
        cells.run([Task("a", noisy)])
