"""Run commands as a user does."""

import subprocess
import sys

from click.testing import CliRunner

from bayesing.cli import cli


def run(*arguments, cwd=None):
    command = [sys.executable, "-m", "bayesing", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


def run_here(*arguments):
    """The same without the second that a new process takes."""
    return CliRunner().invoke(cli, list(map(str, arguments)))
