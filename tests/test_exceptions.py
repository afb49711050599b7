import copy
import pickle
import re
import shlex

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import bayesing as bs
from bayesing.cli import cli
from bayesing.exceptions import InputError, MissingCellsError, NotSpinsError, Setting


@pytest.mark.parametrize(
    ("setting", "python", "shell"),
    [
        (Setting("force"), "force=True", "--force"),
        (Setting("missing", "drop-samples"), 'missing="drop-samples"', "--missing drop-samples"),
        (Setting("array", "NAME"), 'array="NAME"', "--array NAME"),
        (Setting("array", 'my "b"'), r'array="my \"b\""', """--array 'my "b"'"""),
        (Setting("drop_columns", ["id", "age"]), 'drop_columns=["id", "age"]', "--drop-columns id,age"),
        (
            Setting("drop_columns", ["a, b", "c"]),
            'drop_columns=["a, b", "c"]',
            """--drop-columns '"a, b",c'""",
        ),
        (Setting("rows", 100), "rows=100", "--rows 100"),
    ],
)
def test_a_setting_in_both_languages(setting, python, shell):
    assert (setting.in_python(), setting.in_shell()) == (python, shell)
    assert eval(f"dict({python})") == {setting.name: setting.value}


def test_an_error_is_said_in_both_languages():
    error = InputError("3 cells are missing. Choose ", Setting("missing", "drop-spins"), ".")
    assert str(error) == '3 cells are missing. Choose missing="drop-spins".'
    assert error.worded(Setting.in_shell) == "3 cells are missing. Choose --missing drop-spins."
    assert isinstance(error, ValueError)


def test_a_place_comes_first_and_only_once():
    error = NotSpinsError("found 2.", row=3, column=4, value=2)
    located = error.at("x.csv").at("x.csv")
    assert str(located) == "x.csv: found 2." and str(error) == "found 2."
    assert type(located) is NotSpinsError
    assert (located.row, located.column, located.value) == (3, 4, 2)


@pytest.mark.parametrize("make", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_survive_a_process(make):
    error = MissingCellsError(
        "found 7 ", Setting("force"), cells=7, samples=3, spins=2, N=9, n=5, row=1, column=4
    )
    again = make(error)
    assert type(again) is MissingCellsError and str(again) == "found 7 force=True"
    assert vars(again) == vars(error) and vars(error)["cells"] == 7


@pytest.mark.parametrize(
    "names", [["id"], ["age in years", "id"], ["a, b"], ['who, "exactly"'], ["it's"], ["$HOME", "a;b"]]
)
def test_the_remedy_works_when_it_is_typed(tmp_path, names):
    """Columns of labels are left out by the very words of the error, in the shell and in Python."""
    spins = np.random.default_rng(0).choice([-1, 1], (60, 5))
    table = pd.DataFrame(spins, columns=list("vwxyz"))
    for k, name in enumerate(names):
        table.insert(k, name, np.arange(60) * (k + 3) + 7)
    path = tmp_path / "x.csv"
    table.to_csv(path, index=False)
    result = CliRunner().invoke(cli, ["fit", str(path)])
    remedy = re.search(r"leave (?:it|them) out with (--drop-columns .*)\.$", result.stderr)[1]
    assert CliRunner().invoke(cli, ["fit", str(path), *shlex.split(remedy)]).exit_code == 0
    with pytest.raises(NotSpinsError) as caught:
        bs.read_spins(path)
    assert (caught.value.row, caught.value.column, caught.value.value) == (0, 0, "7")
    remedy = re.search(r"leave (?:it|them) out with (drop_columns=.*)\.$", str(caught.value))[1]
    assert bs.read_spins(path, **eval(f"dict({remedy})")).names == tuple("vwxyz")


def test_missing_cells_are_counted_in_the_error(tmp_path):
    (tmp_path / "x.csv").write_text("id,a,b,c\nu,1,0,1\nv,0,,1\nw,,,0\nx,1,1,1\n")
    with pytest.raises(MissingCellsError) as caught:
        bs.read_spins(tmp_path / "x.csv", drop_columns=["id"], missing="error")
    error = caught.value
    assert (error.cells, error.samples, error.spins, error.N, error.n) == (3, 2, 2, 4, 3)
    assert (error.row, error.column) == (1, 2)
    command = ["fit", str(tmp_path / "x.csv"), "--drop-columns", "id", "--missing", "error"]
    result = CliRunner().invoke(cli, command)
    assert (
        "Choose --missing keep, which keeps all samples and spins, or --missing drop-samples" in result.stderr
    )
    assert "drop-samples, which leaves 2 of 4 samples, or --missing drop-spins" in result.stderr
