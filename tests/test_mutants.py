"""Mutants are made of what runs, replace a module without touching its file, and are judged by its tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import bayesing as bs

from mutating import difference, meaning, places

TOY = '''"""A toy."""
from __future__ import annotations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    LEAST = 1
Number = int | float


def square(x: int | float) -> int | float:
    """Two numbers, 1 + 1."""
    return x * x


def unseen(x):
    return x + 1
'''
TESTS = """
import toy

def test_square():
    assert toy.square(3) == 9
    assert not hasattr(toy, "__file__")  # not the module on disk
"""
TRIALS = """
import sys
import sklearn.exceptions  # one of the settings of pytest names it
from mutating import Mutant, mutants
from trials import trials, watch
source, tests, toy, more = sys.argv[1:]
plan = watch("toy", toy, [tests])
for mutant, verdict, _ in trials("toy", eval(source), [tests], plan, float(more), 2):
    print(verdict, mutant.change.splitlines()[-1], sep=": ")
"""


@pytest.fixture
def judge(tmp_path):
    """Verdicts on mutants of the toy, by a process that has not imported it."""
    (tmp_path / "toy.py").write_text(TOY)
    (tmp_path / "test_toy.py").write_text(TESTS)
    folders = [
        tmp_path,
        Path(__file__).parent,
        Path(bs.__file__).parents[1],
        os.environ.get("PYTHONPATH", ""),
    ]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, folders))}

    def judge(sources, more=60):
        command = [sys.executable, "-c", TRIALS, sources, str(tmp_path / "test_toy.py"), TOY, str(more)]
        result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert result.stderr == ""
        assert (tmp_path / "toy.py").read_text() == TOY
        assert sorted(path.name for path in tmp_path.iterdir()) == ["test_toy.py", "toy.py"]
        return sorted(result.stdout.splitlines())

    return judge


def test_mutants_of_what_is_tested_are_killed_and_others_survive(judge):
    pytest.importorskip("cosmic_ray")
    arithmetic = ["+", "-", "*", "/", "//", "%", "**"]
    killed = [f"killed: +    return x {sign} x" for sign in arithmetic if sign != "*"]
    alive = [f"survived: +    return x {sign} 1" for sign in arithmetic if sign != "+"]
    numbers = [f"survived: +    return x + {number}" for number in (0, 2)]
    assert judge(f"list(mutants({TOY!r}))") == sorted(killed + alive + numbers)


def test_the_module_is_imported_from_memory(judge):
    kernel = TOY.replace("def square", "from bayesing.compiled import compiled\n@compiled()\ndef square")
    sources = {
        "same": TOY,
        "more": TOY.replace("x * x", "x * x + 1"),
        "error": TOY + "\n1 / 0\n",
        "kernel": kernel + "\nassert type(square._cache).__name__ == 'NullCache'\n",
        "stale": kernel.replace("x * x", "x * x + 1"),
    }
    found = judge(
        f"[Mutant(*pair) for pair in {[(source, f'-1 {name}') for name, source in sources.items()]}]"
    )
    assert found == [f"killed: -1 {name}" for name in ("error", "more", "stale")] + [
        f"survived: -1 {name}" for name in ("kernel", "same")
    ]


def test_a_mutant_that_does_not_end_is_ended(judge):
    at_import = TOY + "\nwhile True:\n    pass\n"
    in_a_test = TOY.replace("return x * x", "while True: pass")
    found = judge(f"[Mutant({at_import!r}, '-1 import'), Mutant({in_a_test!r}, '-1 test')]", more=2)
    assert found == ["timeout: -1 import", "timeout: -1 test"]


def test_annotations_aliases_and_docstrings_mean_nothing():
    for old, new in [
        ("x: int | float", "x: int & float"),
        ("= int | float", "= int ^ float"),
        ("1 + 1", "1 - 1"),
    ]:
        assert old in TOY and meaning(TOY.replace(old, new)) == meaning(TOY)
    assert meaning(TOY.replace("LEAST = 1", "LEAST = 2")) == meaning(TOY)
    assert meaning(TOY.replace("x + 1", "x + 2")) != meaning(TOY)
    with pytest.raises(SyntaxError):
        meaning("return 1")


def test_the_place_of_a_change_is_a_statement_within_a_function():
    lines = [
        *("def f(x=1):", "    y = (", "        x", "    )", "    if y:", "        return 1", "    return 2"),
        *("A = 3", "@compiled()", "def g():", "    return 1"),
    ]
    found = [places("\n".join(lines), k) for k in range(1, 12)]
    whole = range(2, 5)
    assert found[:7] == [range(0), whole, whole, whole, range(5, 6), range(6, 7), range(7, 8)]
    assert found[7:] == [range(0)] * 4


def test_a_difference_has_the_lines_that_changed():
    assert difference("a\nb = 1\nc", "a\nb = 2\nc") == "@@ -2 +2 @@\n-b = 1\n+b = 2"
