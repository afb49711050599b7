import gzip
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import bayesing as bs
from bayesing.io import open_table, read_groups

from commands import run, run_here
from groups import NAMES, frame, group


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two files, and one with all samples in random order, a column of groups and one that is no spin."""
    folder = tmp_path_factory.mktemp("groups")
    a, b = (frame((x + 1) // 2) for x in (group(900, 1, J02=0.8), group(600, 2)))
    a.to_csv(folder / "a.csv", index=False)
    b.to_csv(folder / "b.csv", index=False)
    both = pd.concat([a.assign(treatment="drug"), b.assign(treatment="none")]).sample(frac=1, random_state=0)
    both.insert(0, "age", 20 + np.arange(len(both)) % 60)
    both[["age", "treatment", *NAMES]].to_csv(folder / "both.csv", index=False)
    return folder


def test_two_files(files, tmp_path):
    output = tmp_path / "differences.csv"
    result = run("compare", files / "a.csv", files / "b.csv", "-o", output, "--permutations", 19, "--seed", 1)
    assert result.returncode == 0 and result.stderr == ""
    found = bs.compare(*(pd.read_csv(files / f"{name}.csv") for name in "ab"), permutations=19, seed=1)
    (edge,) = found.edges(fdr=0.05)
    low, high = found.strength.interval()
    for text in (
        "a.csv (900 samples) minus b.csv (600 samples), 7 spins",
        "1 of 21 couplings, with 5% false ones expected among them",
        f"likely   {edge.difference:+.4f} ± {edge.error:.4f}    sleep, worry",
        "fields   0 of 7 differ",
        f"J = {found.strength.J_a:.4f} minus {found.strength.J_b:.4f}",
        f"from {low:+.4f} to {high:+.4f}",
        f"p = 0.0500 by the largest difference, {found.test.p_value_strength:.4f} by the strength",
        f"wrote {output}: 21 differences",
    ):
        assert text in result.stdout
    pd.testing.assert_frame_equal(
        pd.read_csv(output), found.to_frame().assign(differs=lambda x: x["differs"].astype(int))
    )


def test_missing_cells_are_said(files, tmp_path):
    """How many, by group; a column that has none in a group is not compared."""
    holes = pd.read_csv(files / "b.csv").astype(float)
    holes.iloc[5:25, 2] = np.nan
    holes["hope"] = np.nan
    holes.to_csv(tmp_path / "b.csv", index=False)
    how = ("compare", files / "a.csv", tmp_path / "b.csv", "-o", tmp_path / "d.csv", "--force")
    result = run(*how)
    assert (
        "a.csv (900 samples) minus" in result.stdout and "15% of the cells missing), 6 spins" in result.stdout
    )
    assert "('hope') has no value at all" in result.stderr and "hope (no value in " in result.stderr
    (one,) = json.loads(run(*how, "--json").stdout)["comparisons"]
    assert one["n_missing"] == [0, 620] and one["n_samples"] == [900, 600]


def test_one_file_by_a_column(files, tmp_path):
    output = tmp_path / "d.csv"
    how = ("--drop-columns", "age", "--json")
    result = run_here("compare", files / "both.csv", "--by", "treatment", "-o", output, *how)
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    (one,) = answer["comparisons"]
    assert one["groups"] == ["drug", "none"] and one["n_samples"] == [900, 600] and one["names"] == NAMES
    assert one["n_missing"] == [0, 0]
    assert answer["encoding"] == "0/1" and answer["output"] == str(output) and one["test"] is None
    (edge,) = one["edges"]
    assert (edge["name_i"], edge["name_j"]) == ("sleep", "worry") and edge["difference"] > 0.5
    assert one["strength"]["interval"][0] < one["strength"]["value"] < one["strength"]["interval"][1]
    assert len(one["fields"]) == 7 and one["checks"][0]["passed"] and "1 of 21" in one["sentence"]
    table = pd.read_csv(output)
    assert [*table.columns[:3]] == ["group_a", "group_b", "i"] and set(table["group_a"]) == {"drug"}
    # The same as two files: samples are in another order, and nothing else.
    other = tmp_path / "other.csv"
    run_here("compare", files / "a.csv", files / "b.csv", "-o", other)
    difference = table["difference"] - pd.read_csv(other)["difference"]
    assert np.abs(difference).max() < 2e-3 and len(table) == 21


def test_three_groups_and_a_picture(tmp_path):
    parts = [frame(group(300, seed)).assign(wave=wave) for seed, wave in ((1, 10), (2, 9), (3, 11))]
    pd.concat(parts).to_csv(tmp_path / "x.tsv", sep="\t", index=False)
    for kind, first in ((".png", b"\x89PNG"), (".svg", b"<?xml")):
        output, picture = tmp_path / f"d{kind}.csv", tmp_path / f"p{kind}"
        result = run_here("compare", tmp_path / "x.tsv", "--by", "wave", "-o", output, "--picture", picture)
        assert result.exit_code == 0, result.output
        assert picture.read_bytes().startswith(first) and f"wrote {picture}" in result.stdout
    table = pd.read_csv(output)
    pairs = list(zip(table["group_a"], table["group_b"], strict=True))
    assert list(dict.fromkeys(pairs)) == [(9, 10), (9, 11), (10, 11)] and len(table) == 63
    assert result.stdout.count("  groups   ") == 3


@pytest.mark.parametrize("kind", [".csv", ".csv.gz", ".tsv", ".txt", ".parquet"])
def test_groups_of_all_formats(tmp_path, kind):
    spins, labels = group(9, 1), ["b", "a b", None] * 3
    table = frame(spins).assign(arm=labels)
    path = tmp_path / f"x{kind}"
    if kind == ".parquet":
        table.to_parquet(path)
    else:
        text = table.to_csv(index=False, sep={".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".txt": ";"}[kind])
        path.write_bytes(gzip.compress(text.encode()) if kind.endswith("gz") else text.encode())
    groups, notes = read_groups(open_table(path), "arm")
    assert list(groups) == ["a b", "b"] and groups["b"].names == tuple(NAMES)
    assert np.array_equal(groups["b"].spins, spins[::3]) and np.array_equal(groups["a b"].spins, spins[1::3])
    assert any("3 of 9 rows have no group in column 8 ('arm')" in note for note in notes)


def test_groups_know_which_rows_were_dropped(tmp_path):
    table = frame(group(8, 1)).assign(arm=[1, 2] * 4).astype(object)
    table.loc[2, "mood"] = None
    table.loc[5, "hope"] = None
    table.to_csv(tmp_path / "x.csv", index=False)
    groups, notes = read_groups(open_table(tmp_path / "x.csv"), "arm", missing="drop-samples")
    spins = group(8, 1)
    assert np.array_equal(groups["1"].spins, spins[[0, 4, 6]])
    assert np.array_equal(groups["2"].spins, spins[[1, 3, 7]]) and notes
    groups, notes = read_groups(open_table(tmp_path / "x.csv"), "arm")
    assert [groups[label].missing for label in "12"] == [1, 1] and "2 of 56 cells" in notes[0]
    assert (groups["1"].spins == 0).sum() == 1 and (groups["1"].spins[1] == 0).any()
    groups, _ = read_groups(open_table(tmp_path / "x.csv"), "8", missing="drop-spins")
    assert groups["1"].shape == (4, 5) and np.array_equal(groups["2"].spins[:, 0], spins[1::2, 0])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a.csv"], "Expected two files, one for each group, or one file and --by"),
        (["a.csv", "b.csv", "both.csv"], "found 3 file(s)"),
        (["a.csv", "a.csv"], "twice"),
        (["a.csv", "b.csv", "--by", "mood"], "Expected one file with --by"),
        (["both.csv", "--by", "nothing"], "expected a column named 'nothing' that names the groups"),
        (
            ["both.csv", "--by", "age", "--drop-columns", "treatment"],
            "expected from 2 to 20 different groups in the column 'age', found 60",
        ),
        (["both.csv", "--by", "treatment"], "age"),
        (["a.csv", "three.csv"], "Group three.csv has too few samples: expected at least 4, found 3"),
        (["a.csv", "none.csv"], "none.csv: expected a file, found no such file"),
        (["a.csv", "b.csv", "--fdr", "2"], "--fdr must be a finite number from 0 to 1"),
        (["a.csv", "b.csv", "--permutations", "-1"], "permutations must be at least 0"),
        (["a.csv", "b.csv", "--jobs", "0"], "--jobs"),
        (["a.csv", "b.csv", "--picture", "p.gif"], "ends in .png or .svg"),
        (["a.csv", "other.csv"], "columns that all groups have: found 0"),
    ],
)
def test_wrong_input_is_one_sentence(files, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(files)
    (files / "three.csv").write_text("\n".join((files / "a.csv").read_text().splitlines()[:4]))
    (files / "other.csv").write_text("o,p,q\n1,0,1\n0,1,1\n0,0,0\n1,1,0\n1,0,0\n")
    output = tmp_path / "d.csv"
    before = sorted(os.listdir(files))
    result = run_here("compare", *arguments, "-o", output)
    assert result.exit_code == 2 and result.stdout == ""
    error = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(error) == 1 and words in error[0] and "Traceback" not in result.stderr
    assert not output.exists() and sorted(os.listdir(files)) == before and not os.listdir(tmp_path)


def test_files_are_not_overwritten(files, tmp_path):
    output, picture = tmp_path / "d.csv", tmp_path / "p.png"
    output.write_text("mine")
    result = run_here("compare", files / "a.csv", files / "b.csv", "-o", output)
    assert result.exit_code == 2 and "--force" in result.stderr and output.read_text() == "mine"
    picture.write_text("mine")
    new = tmp_path / "new.csv"
    result = run_here("compare", files / "a.csv", files / "b.csv", "-o", new, "--picture", picture)
    assert result.exit_code == 2 and picture.read_text() == "mine" and not new.exists()
    result = run_here("compare", files / "a.csv", files / "b.csv", "-o", files / "a.csv", "--force")
    assert result.exit_code == 2 and "the data themselves" in result.stderr
    assert run_here("compare", files / "a.csv", files / "b.csv", "-o", output, "--force").exit_code == 0
    assert output.read_text().startswith("i,j,name_i")


def test_a_constant_item_is_said(files, tmp_path):
    table = pd.read_csv(files / "b.csv").assign(guilt=1)
    table.to_csv(tmp_path / "b.csv", index=False)
    result = run("compare", files / "a.csv", tmp_path / "b.csv", "-o", tmp_path / "d.csv")
    assert result.returncode == 0 and "guilt (constant in b.csv)" in result.stderr
    names = pd.read_csv(tmp_path / "d.csv")["name_i"]
    assert len(names) == 15 and "guilt" not in set(names)


def test_an_interrupt_leaves_nothing(files, tmp_path):
    arguments = [
        files / "a.csv",
        files / "b.csv",
        "-o",
        tmp_path / "d.csv",
        "--permutations",
        10**5,
        "--jobs",
        1,
    ]
    command = [sys.executable, "-m", "bayesing", "compare", *map(str, arguments)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    time.sleep(6)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in errors and not os.listdir(tmp_path)
