import json
import os
import subprocess
import sys
from html import unescape

import numpy as np
import pytest
from click.testing import CliRunner

import bayesing as bs
from bayesing.cli import cli

from samples import ENDLESS, random_spins


def run(*arguments, cwd):
    command = [sys.executable, "-m", "bayesing", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


def test_the_command(tmp_path):
    X = bs.simulate(n_spins=6, n_samples=50, J=0.6, seed=1).spins
    np.savetxt(tmp_path / "x.csv", (X + 1) // 2, fmt="%d", delimiter=",", header="a,b,c,d,e,<f>", comments="")
    command = ["report", "x.csv", "-o", "r.html", "--jobs", 1, "--title", "A & B"]
    result = run(*command, cwd=tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (
        0,
        "wrote r.html: look at it in a browser\n",
        "",
    )
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "bayesing report x.csv -o r.html --jobs 1 --title 'A & B'" in unescape(text)
    assert "--simulations 40 asks for them all the same" in text and "simulations=" not in text
    assert "<h1>A &amp; B</h1>" in text and "&lt;f&gt;" in text and "0/1" in text
    again = CliRunner().invoke(cli, ["report", str(tmp_path / "x.csv"), "-o", str(tmp_path / "r.html")])
    assert again.exit_code == 2 and "--force" in again.stderr and again.stderr.count("\n") == 1
    assert sorted(os.listdir(tmp_path)) == ["r.html", "x.csv"]


def test_the_command_for_machines(tmp_path, monkeypatch):
    monkeypatch.setattr("bayesing.report.write.pictures", lambda *_: [])
    monkeypatch.chdir(tmp_path)
    np.savetxt("x.csv", ENDLESS, fmt="%d", delimiter=",")
    result = CliRunner().invoke(cli, ["report", "x.csv", "--json"], catch_exceptions=False)
    answer = json.loads(result.stdout, parse_constant=pytest.fail)
    assert (answer["J"], answer["case"], answer["couplings"], answer["n_samples"]) == (
        None,
        "infinite",
        None,
        2,
    )
    assert (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x.csv", "-o", "r.pdf"], "r.pdf: expected the name of a file to write that ends in .html"),
        (["none.csv"], "none.csv: expected a file, found no such file"),
        (["x.csv", "--method", "magic"], "method must be one of"),
        (["x.csv", "--couplings-method", "magic"], "method must be one of"),
        (["x.csv", "--prior", "laplace", "--method", "spectral"], 'prior must be "gaussian"'),
        (
            ["x.csv", "--simulations", "3"],
            "--simulations 40 or more, or --simulations 0 for no",
        ),
        (["x.csv", "--jobs", "0"], "--jobs must be a positive number"),
        (["x.csv", "--missing", "guess"], "guess"),
        (["constant.csv"], "constant.csv: Expected at least 2 spins (columns) that vary"),
    ],
)
def test_wrong_input_is_one_sentence(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    np.savetxt("x.csv", random_spins(12, 5), fmt="%d", delimiter=",")
    (tmp_path / "constant.csv").write_text("1,1\n1,1\n")
    result = CliRunner().invoke(cli, ["report", *arguments], catch_exceptions=False)
    assert result.exit_code == 2 and result.stdout == ""
    assert message in result.stderr and result.stderr.count("\n") == 1
    assert sorted(os.listdir(tmp_path)) == ["constant.csv", "x.csv"]


INTERRUPTED = """
import os, signal, sys
import bayesing.report.write as write
def page(*_):
    os.kill(os.getpid(), signal.SIGINT)
    return "half"
write.page, write.pictures = page, lambda *_: []
sys.argv = ["bayesing", "report", "x.csv"]
from bayesing.cli import main
main()
"""


def test_ctrl_c_leaves_nothing_behind(tmp_path):
    np.savetxt(tmp_path / "x.csv", random_spins(12, 5), fmt="%d", delimiter=",")
    command = [sys.executable, "-c", INTERRUPTED]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr.strip()) == (130, "", "interrupted")
    assert os.listdir(tmp_path) == ["x.csv"]
