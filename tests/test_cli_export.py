"""``bayesing couplings -o`` in every format, and names that try to do harm."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import bayesing as bs
from bayesing.cli import cli
from bayesing.export import read_couplings

from commands import run_here

SIM = bs.simulate(7, 200, J=0.8, H=0.2, seed=2)
NAMES = ["=cmd", "+a", "-b", "@c", "\x1b[2Jd", "e", "[/red]f"]


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame((SIM.spins + 1) // 2, columns=NAMES).to_csv("x.csv", index=False)
    return "x.csv"


def couplings(*arguments, code=0):
    result = CliRunner().invoke(cli, ["couplings", "x.csv", "--method", "spectral", *arguments], color=True)
    assert result.exit_code == code, result.output
    assert "\x1b[2J" not in result.output
    return result


@pytest.mark.parametrize("ending", ["csv", "parquet", "graphml", "gexf", "json", "npz"])
def test_every_ending(data, ending):
    result = couplings("-o", f"J.{ending}")
    bm = bs.BoltzmannMachine("spectral").fit(pd.DataFrame(SIM.spins, columns=NAMES))
    bm.export(f"python.{ending}")
    written, expected = (Path(f"{name}.{ending}").read_bytes() for name in ("J", "python"))
    if ending == "npz":
        found = bs.BoltzmannMachine.load("J.npz")
        assert found.names() == NAMES and (found.couplings_ == bm.couplings_).all()
    else:
        assert written == expected
    assert result.stdout.splitlines()[-1].startswith(f"wrote J.{ending}: ")


def test_fields_and_zero_one(data):
    result = couplings("-o", "J.csv", "--fields", "h.csv", "--encoding", "01", "--fdr", "0.2")
    assert "21 couplings, for 0/1: four times those of spins" in result.stdout
    assert result.stdout.splitlines()[-1] == "wrote h.csv: 7 thresholds"
    bm = bs.BoltzmannMachine("spectral").fit(pd.DataFrame(SIM.spins, columns=NAMES))
    assert f"{4 * bm.strongest(1)[0].J:+.4f} ±" in result.stdout and result.stdout.count("of 0 and 1\n") == 3
    assert [pair for pair, _ in read_couplings("J.csv")] == list(bm.pairs(encoding="01"))
    fields = pd.read_csv("h.csv")
    assert fields.field.to_numpy() == pytest.approx(bm.model_.to_zero_one()[1])
    answer = json.loads(couplings("-o", "K.csv", "--fields", "g.csv", "--json").stdout)
    assert answer["fields_output"] == "g.csv" and pd.read_csv("g.csv").error.isna().all()


def test_wrong_choices_are_one_sentence_before_any_work(data):
    for arguments, message in (
        (["-o", "J.xml"], "ends in .csv, .graphml, .gexf, .json, .npz, .parquet, found .xml."),
        (
            ["-o", "J.gexf", "--matrix"],
            "--matrix goes with a file that ends in .csv or .parquet, found .gexf.",
        ),
        (
            ["-o", "J.csv", "--encoding", "0/1"],
            "encoding must be one of ±1, 01: found '0/1'. Did you mean '01'?",
        ),
        (["-o", "J.npz", "--encoding", "01"], "J.npz: a whole fit is kept as it is, with --encoding '±1'."),
        (
            ["-o", "J.csv", "--fields", "h.txt"],
            "h.txt: expected the name of a file to write that ends in .csv.",
        ),
        (["-o", "J.csv", "--fields", "J.csv"], "--fields must be another file than J.csv."),
        (["-o", "J.csv", "--fields", "x.csv"], "found the data themselves"),
        (["-o", "J.csv", "--fdr", "2"], "--fdr must be"),
        (["-o", "J.csv", "--drop-columns", "E"], "Did you mean 'e'?"),
        (["-o", "J.csv", "--missing", "drop_samples"], "Did you mean 'drop-samples'?"),
    ):
        result = couplings(*arguments, code=2)
        assert message in result.stderr and result.stderr.count("\n") == 1, result.stderr
    assert [path.name for path in Path().iterdir()] == ["x.csv"]
    np.savetxt("h.csv", [1])
    assert "h.csv: the file exists already" in couplings("-o", "J.csv", "--fields", "h.csv", code=2).stderr


def test_names_cannot_move_the_cursor_or_break_the_bar(data):
    couplings("-o", "J.csv")
    pd.DataFrame(SIM.spins, columns=NAMES).assign(g=["\x1b[2Jdrug", "[/b]placebo"] * 100).to_csv(
        "groups.csv", index=False
    )
    result = CliRunner().invoke(
        cli, ["compare", "groups.csv", "--by", "g", "-o", "d.csv", "--permutations", "0"], color=True
    )
    assert result.exit_code == 0, result.output
    assert "\x1b[2J" not in result.output and r"\x1b[2Jdrug" in result.output
    names = pd.read_csv("d.csv").name_i
    assert not any(name.startswith(("=", "+", "-", "@")) for name in names) and "'=cmd" in set(names)
    wrong = CliRunner().invoke(cli, ["fit", "x.csv", "--drop-columns", "\x1b[2Jno"], color=True)
    assert wrong.exit_code == 2 and "\x1b[2J" not in wrong.output


def test_all_columns_that_are_no_spins_are_named_at_once(data):
    frame = pd.read_csv("x.csv").assign(id=[f"p{i}" for i in range(200)], age=40, late=[0] * 199 + [9])
    frame.to_csv("y.csv", index=False)
    result = run_here("fit", "y.csv")
    assert (
        result.exit_code == 2 and "3 of 10 columns hold other values: 'id', 'age', 'late'." in result.stderr
    )
    way = result.stderr.split("leave them out with ")[1].strip().removesuffix(".")
    assert way == "--drop-columns id,age,late"
    assert run_here("fit", "y.csv", *way.split()).exit_code == 0


def test_columns_that_fail_only_far_below_are_named_too(tmp_path):
    rows = 60_000  # several chunks
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (rows, 8)), columns=list("abcdefgh"))
    frame["a"] = np.arange(rows) + 7
    frame.loc[rows - 1, "h"] = 3
    frame.to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(bs.NotSpinsError) as caught:
        bs.read_spins(tmp_path / "x.csv")
    assert caught.value.columns == (0, 7) and 'drop_columns=["a", "h"]' in str(caught.value)
