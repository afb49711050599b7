import json
import os
import re
import subprocess
import sys
import warnings
from dataclasses import asdict
from html import unescape
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import bayesing as bs
from bayesing.cli import cli

from commands import run, run_here
from samples import random_spins


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.npz"
    sim = bs.simulate(n_spins=60, n_samples=24, J=0.7, H=0.1, seed=1)
    np.savez(path, spins=sim.spins)
    return path


def test_fit_prints_the_estimate(data):
    result = run("fit", data)
    eb = bs.EmpiricalBayes().fit(np.load(data)["spins"])
    assert result.returncode == 0 and result.stderr == ""
    pairs = (f"{eb.J_:.4f} ± {eb.J_error_:.4f}", f"{eb.H_:+.4f} ± {eb.H_error_:.4f}", f"{eb.gamma_:.4g}")
    for text in (*pairs, "24 samples of 60 spins", eb.regime_, f"{eb.method_} ({eb.reason_})"):
        assert text in result.stdout
    assert "J0" not in result.stdout
    eb = bs.EmpiricalBayes(mean_coupling=True).fit(np.load(data)["spins"])
    assert f"{eb.J0_:+.4f} ± {eb.J0_error_:.4f}" in run("fit", data, "--mean-coupling").stdout


def test_fit_json(data):
    eb = bs.EmpiricalBayes(method="plefka").fit(np.load(data)["spins"])
    answer = json.loads(run("fit", data, "--method", "plefka", "--json").stdout)
    for name in [
        "gamma",
        "J",
        "H",
        "gamma_error",
        "J_error",
        "H_error",
        "J0",
        "at_distance",
        "regime",
        "reason",
    ]:
        assert answer[name] == getattr(eb, f"{name}_")
    assert (answer["n_spins"], answer["n_samples"], answer["method"], answer["case"]) == (
        60,
        24,
        "plefka",
        "interior",
    )


def test_an_infinite_gamma_is_null_in_valid_json(tmp_path):
    (tmp_path / "x.csv").write_text("1,1,-1,-1\n1,-1,1,-1\n")
    result = run("fit", tmp_path / "x.csv", "--json")
    answer = json.loads(result.stdout, parse_constant=pytest.fail)
    assert (answer["gamma"], answer["J"], answer["case"]) == (None, None, "infinite")
    assert result.returncode == 0
    note, warning = result.stderr.splitlines()
    assert note.startswith("note: 2 of 4 spins are the same in all samples (x0, x3)")
    assert warning.startswith("warning: The evidence grows without bound")


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("x.csv", "1,-1\n1,2\n", "row 2, column 2"),
        ("x.csv", "1,-1\n1\n", "row 2"),
        ("x.csv", "1,-1\n1,no\n", "row 2, column 2"),
        ("x.csv", "1,-1\n", "n_samples=1"),
        ("x.xlsx", "", ".xlsx"),
        ("x.csv", None, "no such file"),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_code_2(tmp_path, name, content, expected):
    if content is not None:
        (tmp_path / name).write_text(content)
    result = run("fit", tmp_path / name)
    assert result.returncode == 2 and result.stdout == ""
    assert result.stderr.startswith(f"error: {tmp_path / name}: ") and expected in result.stderr
    assert result.stderr.count("\n") == 1 and "Traceback" not in result.stderr


def test_constant_data_are_wrong_input_too(tmp_path):
    (tmp_path / "x.csv").write_text("1,1\n1,1\n")
    result = run("fit", tmp_path / "x.csv")
    assert result.returncode == 2 and "x.csv: Expected at least 2 spins (columns) that vary" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [["fit"], ["fit", "x.csv", "--nonsense"], ["nonsense"], ["fit", "data.npz", "--method", "magic"]],
)
def test_wrong_usage_is_one_sentence_and_exit_code_2(data, arguments):
    result = run(*arguments, cwd=data.parent)
    assert result.returncode == 2 and result.stdout == ""
    assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1


def test_no_command_shows_the_help():
    assert "Commands:" in run().stdout


def test_closed_and_full_standard_output(data):
    shell = f"{sys.executable} -m bayesing fit {data}"
    closed = subprocess.run(
        ["bash", "-c", f"{shell} | head -0; echo ${{PIPESTATUS[0]}}"], capture_output=True, text=True
    )
    assert (closed.stdout, closed.stderr) == ("1\n", "")
    full = subprocess.run(["bash", "-c", f"{shell} > /dev/full"], capture_output=True, text=True)
    assert (full.returncode, full.stderr) == (2, "error: standard output: No space left on device.\n")


def test_output_that_cannot_be_written(tmp_path):
    for name, message in [
        ("x.csv", "ends in .npz"),
        ("no/x.npz", "existing directory"),
        (".npz", "ends in .npz"),
    ]:
        result = run("simulate", "--spins", 5, "--samples", 4, "-o", name, cwd=tmp_path)
        assert result.returncode == 2 and message in result.stderr and result.stderr.count("\n") == 1
    os.symlink("target.npz", tmp_path / "link.npz")
    command = ["simulate", "--spins", 5, "--samples", 4, "-o", "link.npz"]
    assert run(*command, cwd=tmp_path).returncode == 2
    assert run(*command, "--force", cwd=tmp_path).returncode == 0
    assert sorted(os.listdir(tmp_path)) == ["link.npz", "target.npz"] and (tmp_path / "link.npz").is_symlink()


def test_simulate_then_fit(tmp_path):
    settings = ["--spins", 40, "--samples", 16, "--J", 0.5, "--H", 0.2, "--seed", 7, "-o", "s.npz"]
    assert run("simulate", *settings, cwd=tmp_path).returncode == 0
    sim = bs.simulate(n_spins=40, n_samples=16, J=0.5, H=0.2, seed=7)
    with np.load(tmp_path / "s.npz") as file:
        np.testing.assert_array_equal(file["spins"], sim.spins)
        np.testing.assert_array_equal(file["couplings"], sim.couplings)
    assert run("fit", "s.npz", cwd=tmp_path).returncode == 0
    again = run("simulate", *settings, cwd=tmp_path)
    assert again.returncode == 2 and "--force" in again.stderr
    assert run("simulate", *settings, "--force", cwd=tmp_path).returncode == 0
    assert run("simulate", "-o", "s.csv", cwd=tmp_path).returncode == 2
    assert sorted(os.listdir(tmp_path)) == ["s.npz"]


def test_demo_writes_two_reports(tmp_path, monkeypatch):
    from bayesing.report import budget

    monkeypatch.setattr(budget, "simulations", lambda _: 0)  # intervals and pictures are tested elsewhere
    monkeypatch.setattr("bayesing.report.write.pictures", lambda *_: [])
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli, ["demo"], catch_exceptions=False)
    assert result.exit_code == 0 and result.stderr == ""
    names = ["senate.csv", "senate.html", "simulated.html", "simulated.npz"]
    assert sorted(os.listdir("bayesing-demo")) == names
    assert "Look at bayesing-demo/simulated.html and bayesing-demo/senate.html" in result.stdout
    commands = re.findall(r"^\$ (bayesing .*)$", result.stdout, re.MULTILINE)
    assert [command.split()[1] for command in commands] == ["simulate", "fit", "report", "report"]
    J = float(re.search(r"J +(0\.\d+) ±", result.stdout)[1])
    assert J == pytest.approx(0.8, abs=0.05)  # 0.013 is its standard error
    votes = bs.load_senate109(missing="drop")
    assert pd.read_csv("bayesing-demo/senate.csv").to_numpy().tolist() == votes.spins.tolist()
    text = Path("bayesing-demo/senate.html").read_text(encoding="utf-8")
    assert commands[-1] in unescape(text) and "SNOWE (R ME)" in text
    again = CliRunner().invoke(cli, ["demo"], catch_exceptions=False)
    assert again.exit_code == 2 and "--force" in again.stderr and again.stdout == ""


INTERRUPTED = """
import os, signal, sys
import numpy as np
np.savez_compressed = lambda file, **arrays: (file.write(b"half"), os.kill(os.getpid(), signal.SIGINT))
sys.argv = ["bayesing", "simulate", "--spins", "5", "--samples", "4", "-o", "x.npz"]
from bayesing.cli import main
main()
"""


def test_ctrl_c_is_exit_code_130_and_leaves_nothing_behind(tmp_path):
    command = [sys.executable, "-c", INTERRUPTED]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr.strip()) == (130, "", "interrupted")
    assert os.listdir(tmp_path) == []


def test_version():
    assert run("--version").stdout.strip() == f"bayesing, version {bs.__version__}"


def test_csv_and_npy_give_the_same(tmp_path):
    X = random_spins(9, 7)
    np.save(tmp_path / "x.npy", X)
    np.savetxt(tmp_path / "x.csv", (X + 1) // 2, fmt="%d", delimiter=",", header="a,b,c,d,e,f,g", comments="")
    one, two = (json.loads(run("fit", tmp_path / name, "--json").stdout) for name in ("x.npy", "x.csv"))
    assert (one.pop("encoding"), two.pop("encoding")) == ("±1", "0/1")
    assert one == two and one["notes"] == []


def test_what_was_read_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = bs.simulate(n_spins=5, n_samples=60, J=0.8, H=0.2, seed=1).spins
    table = pd.DataFrame(np.where(X > 0, "Yes", "No"), columns=list("abcde"))
    table.iloc[7, 2] = None
    table["b"] = "yes"
    table["when"] = np.linspace(0, 1, 60)
    table.to_csv(tmp_path / "x.tsv", sep="\t")
    for command in (["fit", "x.tsv"], ["couplings", "x.tsv", "-o", "J.csv"]):
        result = run_here(*command)
        assert result.exit_code == 2 and "--drop-columns when" in result.stderr
        result = run_here(*command, "--drop-columns", "when", "--missing", "error")
        assert result.exit_code == 2 and "drop-samples, which leaves 59 of 60 samples" in result.stderr
        result = run_here(*command, "--drop-columns", "when", "--missing", "drop-samples")
        assert result.exit_code == 0 and "59 samples of 5 spins" in result.stdout
        assert "encoded yes/no" in result.stdout
        notes = result.stderr.splitlines()
        assert [note[:6] for note in notes] == ["note: "] * 3
        for note, text in zip(
            notes, ("counts the rows", "1 of 60 samples", "the same in all samples ('b')"), strict=True
        ):
            assert text in note
    columns = "when, b,c"
    answer = run_here("fit", "x.tsv", "--json", "--drop-columns", columns)
    assert json.loads(answer.stdout)["n_spins"] == 3
    assert json.loads(answer.stdout)["notes"] == ["column 1 counts the rows and is left out."]


def test_fit_in_batches(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = bs.simulate(n_spins=6, n_samples=90, J=0.8, H=0.2, seed=1).spins
    np.savetxt(tmp_path / "x.csv", (X + 1) // 2, fmt="%d", delimiter=",")
    expected = bs.EmpiricalBayes().fit(X)
    result = run_here("fit", "x.csv", "--batch", 40, "--json")
    answer = json.loads(result.stdout)
    assert result.stderr == "" and answer["method"] == expected.method_ and answer["encoding"] == "0/1"
    assert (answer["J"], answer["H"], answer["J_error"]) == (expected.J_, expected.H_, expected.J_error_)
    for arguments, message in [
        (["--batch", 0], "rows must be at least 1"),
        (["--batch", 9, "--series"], "--series needs them in their order: leave out one of them"),
        (["--batch", 9, "--missing", "drop-spins"], "one of keep, error, drop-samples: found 'drop-spins'"),
    ]:
        result = run_here("fit", "x.csv", *arguments)
        assert result.exit_code == 2 and message in result.stderr and result.stderr.count("\n") == 1


def test_data_beyond_memory_are_read_in_batches_and_it_is_said(data, monkeypatch):
    monkeypatch.setattr("bayesing.io.memory_available", lambda: 1000)
    expected = bs.EmpiricalBayes().fit(np.load(data)["spins"])
    result = run_here("fit", data, "--json")
    assert json.loads(result.stdout)["J"] == expected.J_
    assert result.stderr.startswith("note: the data need about") and "read in batches" in result.stderr
    assert json.loads(result.stdout)["notes"] == [result.stderr.removeprefix("note: ").strip()]
    result = run_here("fit", data, "--json", "--method", "pseudolikelihood")
    assert json.loads(result.stdout)["method"] == "pseudolikelihood"
    assert result.stderr.startswith("note: the data need about") and "all rows for what" in result.stderr


def test_fit_interval(data):
    result = run("fit", data, "--interval", "--simulations", 40, "--seed", 2, "--jobs", 1, "--json")
    assert result.returncode == 0 and result.stderr == ""
    found = bs.EmpiricalBayes().fit(np.load(data)["spins"]).interval(n_simulations=40, seed=2)
    answer = json.loads(result.stdout)["interval"]
    assert answer["J"] == list(found.J) and answer["H_corrected"] == found.H_corrected
    text = run("fit", data, "--interval", "--simulations", 40, "--seed", 2, "--jobs", 1).stdout
    assert f"90%      J from {found.J[0]:.4f} to {found.J[1]:.4f}" in text
    wrong = run("fit", data, "--interval", "--level", 2)
    assert wrong.returncode == 2 and "level must be between 0 and 1: found 2" in wrong.stderr


def test_couplings_writes_a_list_of_pairs(tmp_path):
    X = bs.simulate(n_spins=6, n_samples=80, J=0.8, seed=1).spins
    header = "a,b,c,d,e,f"
    np.savetxt(tmp_path / "x.csv", X, fmt="%d", delimiter=",", header=header, comments="")
    result = run("couplings", "x.csv", "-o", "J.csv", "--method", "pseudolikelihood", cwd=tmp_path)
    assert result.returncode == 0 and result.stderr == ""
    bm = bs.BoltzmannMachine("pseudolikelihood").fit(X)
    table = pd.read_csv(tmp_path / "J.csv")
    assert list(table.columns) == [*"ij", "name_i", "name_j", "J", "error", "probability", "edge"]
    assert len(table) == 15
    frame = bm.to_frame(fdr=0.05)
    assert (
        table.probability.to_numpy() == pytest.approx(frame.probability) and (table.edge == frame.edge).all()
    )
    assert (table.name_i == [header[2 * i] for i in table.i]).all()
    assert table.J.to_numpy() == pytest.approx(bm.couplings_[table.i, table.j])
    assert table.error.to_numpy() == pytest.approx(bm.coupling_errors_[table.i, table.j])
    for text in (
        "80 samples of 6 spins",
        f"standard deviation {np.sqrt(bm.gamma_ / 6):.4f}",
        "wrote J.csv: 15 couplings",
        "as asked",
    ):
        assert text in result.stdout


def test_couplings_writes_a_matrix(data, tmp_path):
    command = ["couplings", data, "-o", "J.csv", "--matrix", "--gamma", 0.5, "--prior", "laplace"]
    assert run(*command, cwd=tmp_path).returncode == 0
    bm = bs.BoltzmannMachine(prior="laplace", gamma=0.5).fit(np.load(data)["spins"])
    table = pd.read_csv(tmp_path / "J.csv")
    assert list(table.columns) == [f"x{i}" for i in range(60)]
    assert table.to_numpy() == pytest.approx(bm.couplings_)
    again = run(*command, cwd=tmp_path)
    assert again.returncode == 2 and "--force" in again.stderr
    assert run(*command, "--force", cwd=tmp_path).returncode == 0


def test_couplings_for_machines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = bs.simulate(n_spins=5, n_samples=70, J=0.8, H=0.2, seed=1).spins
    np.savetxt("x.csv", (X + 1) // 2, fmt="%d", delimiter=",", header="a,b,c,d,e", comments="")
    result = run_here("couplings", "x.csv", "-o", "J.csv", "--method", "pseudolikelihood", "--json")
    answer = json.loads(result.stdout, parse_constant=pytest.fail)
    bm = bs.BoltzmannMachine("pseudolikelihood").fit(pd.DataFrame(X, columns=list("abcde")))
    strongest = [edge._asdict() for edge in bm.strongest(10)]
    edges = bm.edges(fdr=0.05)
    assert answer == {
        "method": "pseudolikelihood",
        "reason": "as asked",
        "prior": "gaussian",
        "gamma": pytest.approx(bm.gamma_),
        "penalty": pytest.approx(bm.penalty_),
        "n_spins": 5,
        "n_samples": 70,
        "effective_samples": 70.0,
        "n_missing": 0,
        "fdr": 0.05,
        "n_edges": len(edges),
        "expected_false_edges": pytest.approx(sum(1 - edge.probability for edge in edges)),
        "strongest": [pytest.approx(edge) for edge in strongest],
        "hidden": [],
        "hidden_reason": None,
        "hidden_gains": [],
        "check": {name: pytest.approx(value) for name, value in asdict(bm.check_).items()}
        | {"gain": pytest.approx(bm.check_.gain), "passed": True, "sentence": bm.check_.sentence},
        "certificate": None,
        "warnings": [],
        "encoding": "0/1",
        "notes": [],
        "output": "J.csv",
    }
    assert len(pd.read_csv("J.csv")) == len(strongest) == 10


@pytest.fixture(scope="module")
def driven(tmp_path_factory):
    """A file with holes, and a cause behind four of its six columns; the second is called as a cause would be."""
    rng = np.random.default_rng(0)
    field = np.outer(np.where(rng.random(400) < 0.3, 1, -1), [0.9, 0.9, 0.9, -0.9, 0, 0])
    X = np.where(rng.random(field.shape) < 1 / (1 + np.exp(-2 * field)), 1, 0)
    table = pd.DataFrame(X, columns=["a", "cause 1", "c", "d", "e", "f"]).astype("Int8")
    table[rng.random(X.shape) < 0.05] = pd.NA
    path = tmp_path_factory.mktemp("driven") / "x.csv"
    table.to_csv(path, index=False)
    X = table.astype(float).to_numpy()
    return path, X, bs.BoltzmannMachine(n_hidden=1).fit(X)


def test_common_causes_in_text_and_in_the_file(driven, tmp_path):
    path, _, bm = driven
    result = run_here("couplings", path, "-o", tmp_path / "J.csv", "--hidden", 1)
    assert (
        result.exit_code == 0 and result.stderr.startswith("note: ") and "missing at random" in result.stderr
    )
    assert "400 samples of 6 spins, " in result.stdout and "% of the cells missing" in result.stdout
    lines = result.stdout.splitlines()
    start = lines.index("  causes   1 common cause, as asked")
    assert re.fullmatch(r" {11}hidden cause 1, on in \d\d% of the samples, loads on", lines[start + 1])
    W, errors = bm.hidden_couplings_[:, 0], bm.hidden_coupling_errors_[:, 0]
    first = np.argmax(np.abs(W))
    names = ["a", "cause 1", "c", "d", "e", "f"]
    assert lines[start + 2] == f"           {W[first]:+.4f} ± {errors[first]:.4f}    {names[first]}"
    assert lines[-1] == f"wrote {tmp_path / 'J.csv'}: 15 couplings and 6 loadings"
    table = pd.read_csv(tmp_path / "J.csv")
    loadings = table[table.j == 6]
    assert len(table) == 21 and loadings.name_j.tolist() == ["hidden cause 1"] * 6
    assert loadings.name_i.tolist() == names and loadings.J.to_numpy() == pytest.approx(W)
    assert loadings.error.to_numpy() == pytest.approx(errors)
    assert loadings.edge.tolist()[:4] == [1] * 4 and (loadings.probability[:4] > 0.99).all()


def test_common_causes_in_a_matrix_and_for_machines(driven, tmp_path):
    path, X, bm = driven
    command = ["couplings", path, "-o", tmp_path / "J.csv", "--hidden", 1, "--matrix", "--json"]
    answer = json.loads(run_here(*command).stdout, parse_constant=pytest.fail)
    table = pd.read_csv(tmp_path / "J.csv")
    assert list(table.columns) == ["a", "cause 1", "c", "d", "e", "f", "hidden cause 1"]
    assert table.to_numpy() == pytest.approx(bm.model_.couplings) and table.shape == (7, 7)
    (cause,) = answer["hidden"]
    assert (cause["name"], cause["field"]) == ("hidden cause 1", pytest.approx(bm.hidden_fields_[0]))
    assert 0.2 < cause["on"] < 0.4
    W = {each["i"]: each["J"] for each in cause["loadings"]}
    assert [W[i] for i in range(6)] == pytest.approx(bm.hidden_couplings_[:, 0])
    assert {each["name"] for each in cause["loadings"]} == {"a", "cause 1", "c", "d", "e", "f"}
    assert answer["hidden_reason"] == "1 common cause, as asked" and answer["n_missing"] == np.isnan(X).sum()
    assert answer["hidden_gains"] == []


def test_how_many_causes_the_evidence_tells(tmp_path):
    rng = np.random.default_rng(0)
    rates = np.where(rng.random((1500, 1)) < 0.06, 0.5, 0.03)  # bursts, which no couplings explain
    pd.DataFrame(rng.random((1500, 10)) < rates).to_csv(tmp_path / "x.csv", index=False)
    result = run_here("couplings", tmp_path / "x.csv", "-o", tmp_path / "J.csv", "--hidden", "auto", "--json")
    answer = json.loads(result.stdout)
    assert answer["hidden_reason"] == answer["reason"] and len(answer["hidden"]) == 1
    assert answer["reason"].startswith("1 common cause by the evidence, to which another one would add ")
    first, second = (gain["value"] for gain in answer["hidden_gains"])
    assert second < 10 < first and f"{second:.0f}" in answer["reason"]


@pytest.mark.parametrize("value", ["-1", "2.5", "many", "13", ""])
def test_a_wrong_number_of_causes(driven, tmp_path, value):
    for command, name in (("couplings", "x.csv"), ("report", "x.html")):
        result = run_here(command, driven[0], "-o", tmp_path / name, "--hidden", value)
        assert result.exit_code == 2 and result.stdout == "" and os.listdir(tmp_path) == []
        assert result.stderr == (
            f"error: --hidden must be auto or a whole number from 0 to 12: found {value!r}.\n"
        )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "spectral"], "error: --method spectral cannot have hidden units: found --hidden 7."),
        (
            ["--prior", "sparse"],
            "error: hidden units need --prior gaussian: found --prior sparse and --hidden 7.",
        ),
        ([], "expected at most as many common causes as spins that vary, 6: found --hidden 7."),
    ],
)
def test_causes_that_cannot_be_had(driven, tmp_path, arguments, message):
    result = run_here("couplings", driven[0], "-o", tmp_path / "J.csv", "--hidden", 7, *arguments)
    assert result.exit_code == 2 and message in result.stderr and os.listdir(tmp_path) == []


def test_missing_cells_and_methods_that_cannot_use_them(driven):
    path, *_ = driven
    for arguments, message in [
        (["--method", "plefka"], '"susceptibility" or "likelihood" can.'),
        (["--method", "plefka", "--batch", 50], '"susceptibility" can.'),
    ]:
        result = run_here("fit", path, *arguments)
        assert result.exit_code == 2 and message in result.stderr.splitlines()[-1]


@pytest.mark.filterwarnings("default::bayesing.BayesingWarning")
def test_warnings_name_options(tmp_path, monkeypatch):
    def warn(*_, **__):
        text = "Think of a common cause: ", bs.exceptions.Setting("n_hidden", 1), "."
        warnings.warn(bs.exceptions.CheckWarning(*text), stacklevel=2)
        raise ValueError("enough")

    monkeypatch.setattr("bayesing.cli._reading.read", warn)
    result = run_here("fit", tmp_path / "x.csv")
    assert result.stderr == "warning: Think of a common cause: --hidden 1.\nerror: enough\n"


@pytest.mark.filterwarnings("default::bayesing.BoundWarning")
def test_couplings_without_a_prior_or_a_finite_penalty_are_valid_json(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("independent.npy", np.array(list(product((-1, 1), repeat=5))))
    for method, prior, gamma in (("pseudolikelihood", "gaussian", 0.0), ("exact", None, None)):
        arguments = ["independent.npy", "-o", "J.csv", "--force", "--json", "--method", method]
        answer = json.loads(run_here("couplings", *arguments).stdout, parse_constant=pytest.fail)
        assert (answer["method"], answer["prior"], answer["gamma"]) == (method, prior, gamma)
        assert answer["penalty"] is None  # infinite for the former


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["data.npz", "-o", "J.txt"], "ends in .csv"),
        (["none.npz", "-o", "J.csv"], "none.npz: expected a file, found no such file"),
        (["data.npz", "-o", "J.csv", "--gamma", "much"], "gamma must be a number: found 'much'"),
        (["data.npz", "-o", "J.csv", "--method", "tap"], "data.npz: --method tap inverts"),
        (["data.npz", "-o", "J.csv", "--method", "exact"], "n up to 16: found n = 60"),
        (["data.npz"], "Missing option"),
    ],
)
def test_couplings_of_wrong_input(data, arguments, message):
    result = run("couplings", *arguments, cwd=data.parent)
    assert result.returncode == 2 and result.stdout == ""
    assert message in result.stderr and result.stderr.count("\n") == 1
    assert os.listdir(data.parent) == ["data.npz"]


def test_the_data_are_not_overwritten(tmp_path):
    np.savetxt(tmp_path / "x.csv", np.random.default_rng(0).choice([-1, 1], (40, 5)), "%d", ",")
    before = (tmp_path / "x.csv").read_bytes()
    result = run("couplings", "x.csv", "-o", "./x.csv", "--force", cwd=tmp_path)
    assert result.returncode == 2 and "found the data themselves" in result.stderr
    assert (tmp_path / "x.csv").read_bytes() == before
