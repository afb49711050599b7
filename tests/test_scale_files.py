"""Commands on several files, and on data whose rows are not all kept: the same answers, and what is said."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bayesing as bs
from bayesing import couplings
from bayesing.export import Choices, Fit, check_size, write
from bayesing.export._table import read_couplings

from commands import run_here
from samples import random_spins, with_gaps

HEADER = ",".join(f"x{j}" for j in range(12))
DATA = bs.simulate(n_spins=12, n_samples=900, J=0.5, H=0.1, seed=4).spins


@pytest.fixture
def files(tmp_path, monkeypatch):
    """One table as a whole, and as files day2.csv, day10.csv and day11.csv."""
    monkeypatch.chdir(tmp_path)
    np.savetxt("all.csv", DATA, "%d", ",", header=HEADER, comments="")
    for k, part in zip((2, 10, 11), np.split(DATA, [200, 777]), strict=True):
        np.savetxt(f"day{k}.csv", part, "%d", ",", header=HEADER, comments="")
    return tmp_path


@pytest.fixture
def beyond(files, monkeypatch):
    """The same where few rows are kept."""
    monkeypatch.setattr("bayesing.drawn._ROWS", 300)
    monkeypatch.setattr("bayesing.io._fold.KEPT_BYTES", 1000)
    return files


def answer(*arguments):
    result = run_here(*arguments)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def without_notes(found):
    return {key: value for key, value in found.items() if key != "notes"}


# ---------------------------------------------------------------------------------------------- several files


@pytest.mark.parametrize("command", [["fit"], ["couplings", "-o", "J.csv", "--force"]], ids=lambda c: c[0])
def test_answers_are_those_of_one_file(files, command):
    expected = answer(*command, "all.csv", "--json")
    written = (files / "J.csv").read_bytes() if "-o" in command else b""
    for data in (["day*.csv"], ["day2.csv", "day10.csv", "day11.csv"], ["day2.csv", "day1?.csv"]):
        assert answer(*command, *data, "--json") == expected
        assert not written or (files / "J.csv").read_bytes() == written


def test_each_file_is_a_run_of_a_series(files):
    """Means of a run that ends high and of one that begins low do not follow each other."""
    X = np.sign(np.sin(np.arange(400)[:, None] / 9 + np.arange(5)) + 0.1).astype(int)
    np.savetxt("a.csv", X[:150], "%d", ",")
    np.savetxt("b.csv", X[150:][::-1], "%d", ",")
    parts = bs.SpinStatistics.of([X[:150], X[150:][::-1]])
    read = bs.SpinStatistics.of(bs.read_spins(["a.csv", "b.csv"]))
    assert read.runs == parts.runs == (150, 250)
    np.testing.assert_array_equal(read.autocorrelation, parts.autocorrelation)


def test_a_report_on_several_files(files, monkeypatch):
    monkeypatch.setattr("bayesing.report.write.pictures", lambda *_: [])
    found = answer("report", "day*.csv", "--simulations", 0, "--jobs", 1, "--json")
    page = (files / "report.html").read_text()
    assert "day2.csv and 2 other files" in page and found["n_samples"] == 900
    assert found["J"] == pytest.approx(answer("fit", "all.csv", "--json")["J"], rel=1e-12)


def test_data_are_not_written_over(files):
    result = run_here("couplings", "day*.csv", "-o", "day10.csv", "--force")
    assert result.exit_code == 2 and "found the data themselves" in result.stderr
    assert (files / "day10.csv").read_text().startswith("x0,")


@pytest.mark.parametrize("command", [["fit"], ["couplings", "-o", "J.csv"], ["report"]], ids=lambda c: c[0])
def test_one_sentence_with_the_name_of_the_file(files, command):
    (files / "day11.csv").write_text(HEADER.replace("x3", "x30") + "\n" + "1,-1,1,1" * 3 + "\n")
    for data, message in (
        (
            "day*.csv",
            "error: day11.csv: expected the same columns in all files, found 'x30', which day2.csv does",
        ),
        ("night*.csv", "error: night*.csv: expected a pattern that files match, found no such file"),
    ):
        result = run_here(command[0], data, *command[1:])
        assert result.exit_code == 2 and result.stderr.splitlines()[-1].startswith(message)
        assert "Traceback" not in result.stderr


# ------------------------------------------------------------------------------- data whose rows are not kept


@pytest.mark.parametrize("method", ["auto", "spectral", "susceptibility", "inversion", "likelihood"])
def test_strength_by_methods_that_need_no_rows(files, monkeypatch, method):
    expected = answer("fit", "all.csv", "--json", "--method", method, "--seed", 3)
    monkeypatch.setattr("bayesing.drawn._ROWS", 300)
    monkeypatch.setattr("bayesing.io._fold.KEPT_BYTES", 1000)
    found = answer("fit", "day*.csv", "--json", "--method", method, "--seed", 3)
    assert without_notes(found) == without_notes(expected)
    assert found["notes"] == [
        "the rows are more than 128 MB of bits: they are read in batches. Sums and products are kept, and 300 of the "
        "900 rows, a random choice, for what needs rows."
    ]


@pytest.mark.parametrize("method", ["spectral", "likelihood", "exact"])
def test_couplings_by_methods_that_need_no_rows(files, monkeypatch, method):
    arguments = ["couplings", "-o", "J.csv", "--force", "--json", "--method", method, "--seed", 3]
    expected = answer(*arguments, "all.csv")
    written = (files / "J.csv").read_bytes()
    monkeypatch.setattr("bayesing.drawn._ROWS", 300)
    monkeypatch.setattr("bayesing.io._fold.KEPT_BYTES", 1000)
    found = answer(*arguments, "day*.csv")
    assert (files / "J.csv").read_bytes() == written and found["gamma"] == expected["gamma"]
    assert found["warnings"] == expected["warnings"] and found["check"]["passed"]
    assert not next(each for each in couplings.METHODS if each.name == method).needs_rows


@pytest.mark.filterwarnings("default::bayesing.BayesingWarning")
@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["couplings", "--method", "pseudolikelihood"], "--method pseudolikelihood"),
        (["couplings", "--prior", "laplace"], "--prior laplace"),
        (["couplings", "--prior", "sparse"], "--prior sparse"),
        (["couplings", "--hidden", "1"], "--hidden 1"),
        (["fit", "--method", "pseudolikelihood"], "--method pseudolikelihood"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_what_needs_rows_is_given_some_and_says_so(beyond, arguments, what):
    command, *options = arguments
    output = ["-o", "J.csv"] if command == "couplings" else []
    result = run_here(command, "day*.csv", *output, *options, "--json", "--seed", 1)
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    sentence = (
        f"{what} needs rows, which are not all kept of data in batches: 300 of the 900 rows, a random choice"
    )
    assert any(text.startswith(sentence) for text in found["warnings"]) and found["n_samples"] == 900
    some = bs.io.fold_table(bs.io.open_tables("day*.csv")).statistics.sampled
    assert some.N == 300 == round(found["effective_samples"]) or command == "fit"
    if what == "--method pseudolikelihood" and command == "couplings":
        bm = bs.BoltzmannMachine("pseudolikelihood", random_state=1).fit(some)
        assert found["strongest"][0]["J"] == bm.strongest(1)[0].J


@pytest.mark.filterwarnings("default::bayesing.BayesingWarning")
def test_missing_cells_of_data_beyond_memory(beyond):
    """J is by the moments of all cells that are there; couplings are by rows."""
    X = with_gaps(random_spins(600, 6), 0.1)
    np.savetxt("gaps.csv", X, "%g", ",")
    expected = bs.EmpiricalBayes("susceptibility").fit(X)
    found = answer("fit", "gaps.csv", "--json")
    assert found["method"] == "susceptibility" and found["J"] == expected.J_
    result = run_here("couplings", "gaps.csv", "-o", "J.csv", "--json", "--seed", 1)
    warned = json.loads(result.stdout)["warnings"]
    assert any("beside missing cells needs rows" in text and "300 of the 600 rows" in text for text in warned)


@pytest.mark.filterwarnings("default::bayesing.BayesingWarning")
def test_rules_without_rows_choose_among_methods_that_need_none(monkeypatch):
    """Strong couplings are left to the likelihood, as long as spins are few."""
    monkeypatch.setattr("bayesing.drawn._ROWS", 300)
    strong = bs.simulate(n_spins=10, n_samples=5000, J=0.6, seed=2).spins
    folded = bs.SpinStatistics.of_batches([strong])
    bm = bs.BoltzmannMachine(random_state=0).fit(folded)
    assert bs.BoltzmannMachine().fit(strong).method_ == "pseudolikelihood"
    assert bm.method_ == "likelihood" and "sums and products are enough for it" in bm.reason_
    assert not any(isinstance(each, bs.SomeRowsWarning) for each in bm.answer_.warnings)
    monkeypatch.setattr("bayesing.choice.MOST_LEARNT", 9)
    assert bs.BoltzmannMachine(random_state=0).fit(folded).method_ == "spectral"


def test_a_report_beyond_memory(beyond, monkeypatch):
    monkeypatch.setattr("bayesing.report.write.pictures", lambda *_: [])
    found = answer("report", "day*.csv", "--simulations", 0, "--jobs", 1, "--json")
    page = (beyond / "report.html").read_text()
    assert "300 of the 900 rows, a random choice, for what needs rows" in page
    expected = answer("report", "all.csv", "--simulations", 0, "--jobs", 1, "--json", "--force")
    assert found["n_samples"] == 900 and found["J"] == expected["J"]
    assert "a random choice of 225 samples" in page and "compared with 75 samples" in page


def test_a_report_on_missing_cells_beyond_memory(beyond, monkeypatch):
    monkeypatch.setattr("bayesing.report.write.pictures", lambda *_: [])
    np.savetxt("gaps.csv", with_gaps(DATA[:, :6], 0.05), "%g", ",")
    found = answer("report", "gaps.csv", "--simulations", 0, "--jobs", 1, "--json")
    page = (beyond / "report.html").read_text()
    assert "Couplings come from 300 of the 900 samples" in page and "come from all 900" not in page
    assert found["n_samples"] == 900 and any(
        text.startswith("A random choice of rows") for text in found["notes"]
    )


def test_a_series_keeps_all_rows(beyond):
    found = answer("fit", "day*.csv", "--json", "--series")
    assert found["notes"] == [] and found["n_samples"] == 900
    result = run_here("couplings", "day*.csv", "-o", "J.csv", "--batch", 9, "--by", "x1")
    assert result.exit_code == 2 and "--by needs them in their order" in result.stderr


# ------------------------------------------------------------------------------------------------------ memory

PEAK = """
import sys
from pathlib import Path
from bayesing.cli import cli
try:
    cli(sys.argv[1:], standalone_mode=False)
finally:
    print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0], file=sys.stderr)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="where Linux tells the peak of memory")
def test_memory_does_not_grow_with_the_files(tmp_path):
    """Four files of 40,000 samples of 200 spins (8 MB), and forty of them: the same peak, within some megabytes."""
    spins = np.where(np.random.default_rng(0).random((40_000, 200)) < 0.5, np.int8(1), np.int8(-1))
    spins[:, 1:] *= np.where(np.random.default_rng(1).random((40_000, 1)) < 0.05, spins[:, :1], 1)
    np.save(tmp_path / "1.npy", spins)
    for k in range(2, 41):
        os.link(tmp_path / "1.npy", tmp_path / f"{k}.npy")
    peaks, samples = [], []
    for pattern in ("[1-4].npy", "*.npy"):
        arguments = ["fit", str(tmp_path / pattern), "--json", "--method", "spectral", "--batch", "20000"]
        command = [sys.executable, "-c", PEAK, *arguments]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        peaks.append(int(result.stderr.splitlines()[-1]) / 1024)
        samples.append(json.loads(result.stdout)["n_samples"])
    assert samples == [160_000, 1_600_000] and peaks[1] < peaks[0] + 25  # MB; bits of all rows have 51


# ---------------------------------------------------------------------------------- files of many couplings


@pytest.mark.parametrize("ending", ["csv", "parquet", "json", "graphml", "gexf"])
def test_the_strongest_couplings(files, ending):
    bm = bs.BoltzmannMachine("spectral").fit(bs.read_spins("all.csv"))
    result = run_here("couplings", "all.csv", "--method", "spectral", "-o", f"J.{ending}", "--top", 5)
    assert result.exit_code == 0
    strongest = [(each.i, each.j) for each in bm.strongest(5)]
    if ending in ("graphml", "gexf"):
        assert (
            "12 nodes and 5 edges" in result.stdout
            and (files / f"J.{ending}").read_text().count("<edge ") == 5
        )
        return
    if ending == "csv":
        found = [(pair.i, pair.j) for pair, _ in read_couplings("J.csv")]
        assert "wrote J.csv: 5 couplings" in result.stdout
    elif ending == "json":
        pairs = json.loads((files / "J.json").read_text())["edges"]
        found = [(int(pair["source"][1:]), int(pair["target"][1:])) for pair in pairs]
    else:
        import polars

        found = list(polars.read_parquet("J.parquet").select("i", "j").iter_rows())
    assert found == strongest


def test_top_goes_with_lists(files):
    for arguments, message in (
        (["-o", "J.csv", "--matrix", "--top", 3], "--top 3 goes with a list of pairs, not with a matrix"),
        (["-o", "J.npz", "--top", 3], "--top 3 goes with a list of pairs, not with an .npz file"),
        (["-o", "J.csv", "--top", 0], "top must be at least 1"),
    ):
        result = run_here("couplings", "all.csv", *arguments)
        assert result.exit_code == 2 and message in result.stderr


def test_gigabytes_are_not_written_silently(files, monkeypatch):
    monkeypatch.setattr("bayesing.export._write.MOST_PAIRS", 60)  # of 66
    for arguments in (["-o", "J.csv"], ["-o", "J.json"], ["-o", "J.gexf"], ["-o", "J.parquet", "--matrix"]):
        result = run_here("couplings", "all.csv", "--method", "spectral", *arguments)
        assert result.exit_code == 2 and not (files / arguments[1]).exists()
        assert "at most 60 pairs in such a file, found 66, of 12 spins" in result.stderr
        assert "with --top 100000, or all to a .parquet file." in result.stderr
    for arguments in (["-o", "J.csv", "--top", 61], ["-o", "J.parquet"], ["-o", "J.npz"]):
        assert run_here("couplings", "all.csv", "--method", "spectral", *arguments).exit_code == 0


def test_the_limit_is_ten_million_pairs():
    for n, ending, fails in ((4472, "csv", False), (4473, "csv", True), (10**5, "parquet", False)):
        if fails:
            with pytest.raises(bs.InputError, match="found 10,001,628, of 4,473 spins"):
                check_size(f"J.{ending}", Choices(), n)
        else:
            check_size(f"J.{ending}", Choices(), n)
    check_size("J.csv", Choices(top=7), 10**5)


def test_parquet_is_written_in_groups(files, monkeypatch):
    import pyarrow.parquet

    bm = bs.BoltzmannMachine("spectral").fit(bs.read_spins("all.csv"))
    write("whole.parquet", Fit.of(bm))
    monkeypatch.setattr("bayesing.export._table._ROW_GROUP", 20)
    assert write("groups.parquet", Fit.of(bm)) == "66 couplings"
    assert pyarrow.parquet.ParquetFile("groups.parquet").num_row_groups == 4
    whole, groups = (pyarrow.parquet.read_table(f"{name}.parquet") for name in ("whole", "groups"))
    assert whole.equals(groups) and whole.num_rows == 66
