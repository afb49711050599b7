"""Errors as one sentence."""

import pytest

from bayesing.cli._errors import naming, plain_errors, say
from bayesing.exceptions import InputError, Setting


class CellError(InputError):
    """With a field."""


def test_a_setting_is_said_as_the_shell_has_it():
    error = InputError("3 cells are missing. Choose ", Setting("missing", "drop-spins"), ".")
    assert say(error) == "3 cells are missing. Choose --missing drop-spins."
    assert str(error) == '3 cells are missing. Choose missing="drop-spins".'
    assert say(ValueError("some other error.")) == "some other error."


def test_an_error_keeps_its_type_when_it_is_named():
    error = CellError("found 2 in a cell. Choose ", Setting("missing", "drop-spins"), ".")
    error.row = 7
    with pytest.raises(CellError) as caught, naming("x.csv"):
        raise error
    assert str(caught.value) == f"x.csv: {error}" and caught.value.row == 7
    assert Setting("missing", "drop-spins") in caught.value.args
    with pytest.raises(ValueError, match=r"^x\.csv: too few\.$"), naming("x.csv"):
        raise ValueError("too few.")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("one\ntwo"), "error: one two\n"),
        (InputError("wrong"), "error: wrong\n"),
        (MemoryError(), "error: There is not enough memory.\n"),
        (MemoryError("2 GB are too much."), "error: 2 GB are too much.\n"),
    ],
)
def test_errors_are_one_line_and_exit_code_2(capsys, error, line):
    with pytest.raises(SystemExit) as ended, plain_errors():
        raise error
    assert ended.value.code == 2 and capsys.readouterr().err == line


def test_other_errors_are_not_hidden():
    with pytest.raises(KeyError), plain_errors():
        raise KeyError("a bug")
