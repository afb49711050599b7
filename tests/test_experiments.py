"""The reproduction of the paper: specifications, statistics, and runs that are killed and go on."""

import csv
import hashlib
import logging
import math
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from click.testing import CliRunner

import bayesing as bs
from bayesing.cli import cli
from bayesing.experiments import runner
from bayesing.experiments.figures import draw
from bayesing.experiments.reproduce import reproduce, select, workload
from bayesing.experiments.specification import (
    NAMES,
    PAPER,
    Cell,
    Printed,
    Work,
    catalogue,
    cells_of,
    load,
    quick,
)
from bayesing.experiments.summary import Agreement, Row, _row, compare, exponents, markdown, rows_of

from clusters import cluster

# Specifications


def test_the_three_tables_have_42_printed_cells():
    printed = [p for name in ("table1", "table2", "table3") for p in load(name).printed]
    assert len(printed) == 42
    assert Counter((p.n, p.N, p.H) for p in printed) == dict.fromkeys(
        [(300, 120, 0.0), (500, 200, 0.0), (300, 30, 0.2), (500, 30, 0.2), (300, 5, 0.4), (500, 5, 0.4)], 7
    )
    value = {(p.n, p.H, p.J): (p.mean, p.sd) for p in printed}
    assert value[300, 0.0, 0.0] == ("0.048", "0.06") and value[500, 0.0, 1.2] == ("1.03", "0.01")
    assert value[500, 0.2, 1.2] == ("1.39", "0.16") and value[300, 0.4, 1.0] == ("0.95", "0.14")


def test_every_experiment_loads_and_the_figures_have_the_papers_grid():
    for name in PAPER:
        experiment = load(name)
        assert experiment.repeats == (60 if name == "appendix-c" else 300)
        if name.startswith("fig"):
            np.testing.assert_allclose(experiment.J, np.arange(15) / 10)
    assert load("fig8").prior == "laplace"
    assert {N / n for n, N in load("fig3").panels[1].sizes} == {0.1, 0.2, 0.4, 0.6, 1.0}
    with pytest.raises(ValueError, match=r"table1, table2.*found 'fig9'"):
        load("fig9")


def test_experiments_share_their_data():
    works = catalogue(small=False)
    assert set(cells_of(load("table1"))) <= set(cells_of(load("fig3")))
    assert set(cells_of(load("fig4"))) == set(cells_of(load("fig2"))) == set(cells_of(load("fig3")))
    assert works[Cell("anneal", "gaussian", 300, 0.0, 0.8)] == Work((30, 60, 120, 180, 300), 300)
    assert works[Cell("anneal", "gaussian", 500, 0.4, 1.2)] == Work((3, 5, 10), 300)
    tasks = workload(select(["all"], False), False)
    assert {task.name for task in tasks} == {cell.name for cell in works if cell.sampler == "anneal"}
    assert len({task.name for task in tasks}) == len(tasks)


def test_all_is_the_paper_and_names_count_once():
    assert [e.name for e in select(["all"], False)] == list(PAPER)
    assert [e.name for e in select(["fig2", "all", "fig2"], False)] == [
        "fig2",
        *[n for n in PAPER if n != "fig2"],
    ]
    assert "equilibrium" in NAMES and "equilibrium" not in PAPER


# Statistics


def simulated(cell, work, seed=0):
    return runner.simulate_cell(cell, work, seed).decode()


def test_a_cell_holds_estimates_of_nested_subsets():
    cell, work = Cell("anneal", "laplace", 30, 0.2, 0.6), Work((5, 12), 3)
    text = simulated(cell, work, seed=1)
    rows = list(csv.DictReader(text.splitlines()))
    assert [(row["repeat"], row["N"]) for row in rows] == [
        (str(r), str(N)) for r in range(3) for N in (5, 12)
    ]
    assert simulated(cell, work, seed=1) == text
    # Repeats are the same whatever their number, and differ from each other and from those of another seed.
    assert simulated(cell, Work((5, 12), 1), seed=1).splitlines() == text.splitlines()[:3]
    assert rows[0]["M"] != rows[2]["M"]
    assert simulated(cell, work, seed=2) != text


def test_rows_are_the_statistics_of_their_repeats():
    repeats = [
        {"gamma": "0.25", "J": "0.5", "H": "0.1", "e": "-0.6", "Phi": "1.0", "phi2": "2.0"},
        {"gamma": "inf", "J": "inf", "H": "inf", "e": "-0.7", "Phi": "2.0", "phi2": "-1.0"},
        {"gamma": "0.49", "J": "0.7", "H": "-0.2", "e": "-0.5", "Phi": "3.0", "phi2": "5.0"},
    ]
    row = _row("(a)", 300, 120, 0.05, 0.6, repeats)
    assert (row.repeats, row.infinite) == (3, 1)
    assert row.J_mean == pytest.approx(0.6) and row.J_sd == pytest.approx(0.2 / math.sqrt(2))
    assert row.H_mean == pytest.approx(-0.05) and row.H_mae == pytest.approx((0.05 + 0.25) / 2)
    assert (row.e, row.Phi, row.phi2) == pytest.approx((-0.6, 2.0, 2.0))


def agreement(J_mean, J_sd, mean, sd, infinite=0):
    row = Row("", 300, 120, 0.0, 0.8, 300, infinite, J_mean, J_sd, 0, 0, 0, 0, 0, 0)
    return Agreement("table1", Printed(300, 120, 0.0, 0.8, mean, sd), row)


def test_agreement_with_a_printed_cell():
    c = agreement(0.828, 0.02, "0.82", "0.02")
    assert c.half_digit == pytest.approx(0.005)
    assert c.error == pytest.approx(0.02 * math.sqrt(2 / 300))
    assert c.z == pytest.approx(0.003 / c.error) and c.within
    assert agreement(0.8249, 0.02, "0.82", "0.02").z == 0
    assert agreement(0.80, 0.02, "0.82", "0.02").z < -3 and not agreement(0.80, 0.02, "0.82", "0.02").within
    assert agreement(0.05, 0.06, "0.048", "0.06").half_digit == pytest.approx(0.0005)
    # Standard deviations: 15% and half the last digit.
    assert agreement(0.82, 0.0279, "0.82", "0.02").sd_within
    assert not agreement(0.82, 0.0281, "0.82", "0.02").sd_within
    assert not agreement(0.82, 0.0119, "0.82", "0.02").sd_within


def test_a_z_of_nothing_has_no_minus():
    for mean, z in ((0.8199, "+0.0"), (0.81495, "+0.0"), (0.81, "-3.1"), (0.8201, "+0.0")):
        row = agreement(mean, 0.02, "0.82", "0.02").ours
        table = replace(load("table1"), printed=(Printed(300, 120, 0.0, 0.8, "0.82", "0.02"),))
        text = markdown([(table, [row])], [])
        assert f"| {z} |" in text and "-0.0 " not in text
        assert "| combined standard error |" in text


def rows_of_appendix_c(experiment):
    return [
        Row(panel.label, n, N, panel.H, 0.6, 60, 0, 0, 0, 0, 0, 0, -0.69, -2.0 * n**0.5, 3.0 * n**-1.0)
        for panel in experiment.panels
        for n, N in panel.sizes
    ]


def test_the_figure_of_appendix_c_can_be_read():
    experiment = load("appendix-c")
    figure = draw(experiment, rows_of_appendix_c(experiment), [])
    figure.draw_without_rendering()
    for ax in figure.axes:
        assert ax.get_ylabel() == "|e|, |Phi|, |phi2|"
        labels = [label for label in ax.get_xticklabels(which="both") if label.get_text()]
        assert [label.get_text() for label in labels] == ["100", "200", "400", "800"]
        boxes = [label.get_window_extent() for label in labels]
        assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
        assert not ax.get_legend().get_window_extent().overlaps(ax.get_window_extent())


def test_exponents_of_appendix_c():
    experiment = load("appendix-c")
    rows = rows_of_appendix_c(experiment)
    found = {(panel, quantity): (fit, want) for panel, quantity, fit, want in exponents(experiment, rows)}
    assert found["H = 0.2, N = 0.4 n", "phi2"] == pytest.approx((-1.0, 2.0))
    assert found["H = 0, N = 30", "Phi"] == pytest.approx((0.5, 0.0))
    assert found["H = 0, N = 30", "e"] == pytest.approx((0.0, 0.0), abs=1e-12)


def test_a_reproduction_from_end_to_end(tmp_path):
    experiments = select(["table3", "fig7", "appendix-c"], small=True)
    heard = []
    reproduce(experiments, tmp_path, small=True, progress=lambda task: heard.append(task.name))
    assert sorted(heard) == sorted(task.name for task in workload(experiments, True))
    for name in ("table3", "fig7", "appendix-c"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (tmp_path / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    rows = list(csv.DictReader((tmp_path / "fig7.csv").read_text().splitlines()))
    assert [(row["n"], row["N"], row["J"]) for row in rows[:2]] == [("60", "5", "0"), ("60", "5", "0.4")]
    assert "exponent of n, fitted" in (tmp_path / "summary.md").read_text()
    before = {path: path.read_bytes() for path in tmp_path.glob("*.csv")}
    reproduce(experiments, tmp_path, small=True, progress=lambda *_: pytest.fail("nothing is left to do"))
    assert {path: path.read_bytes() for path in tmp_path.glob("*.csv")} == before


def test_the_summary_covers_all_that_the_folder_holds(tmp_path):
    def covered(*names):
        reproduce(select(names, small=True), tmp_path, small=True)
        text = (tmp_path / "summary.md").read_text()
        line = next(line for line in text.splitlines() if line.startswith("- experiments: "))
        return line.removeprefix("- experiments: "), text

    assert covered("appendix-c")[0] == "appendix-c (quick)"
    listed, text = covered("fig7")
    assert (
        listed == "table3, fig7, appendix-c (quick)"
    )  # in the order of the paper; Table III has Fig. 7's cells
    assert "exponent of n, fitted" in text and "compared at full scale only" in text
    assert {path.name for path in tmp_path.glob("*.csv")} == {"appendix-c.csv", "fig7.csv"}  # those named
    cell = next(iter(cells_of(select(["appendix-c"], small=True)[0])))
    (tmp_path / "cells" / f"{cell.name}.csv").write_text("")
    with pytest.warns(bs.BayesingWarning, match=rf"{cell.name}.csv: .*damaged.*left out of the summary"):
        assert covered("fig7")[0] == "table3, fig7 (quick)"


def test_the_summary_lists_printed_cells_and_infinite_estimates(tmp_path):
    experiment = load("table3")
    works = catalogue(small=False)
    cells = runner.results(tmp_path)
    cells.prepare()
    for cell in cells_of(experiment):  # the full experiment with three repeats
        cells.write(cell.name, runner.simulate_cell(cell, Work(works[cell].samples, 3), seed=0))
    rows = rows_of(experiment, cells)
    found = compare(experiment, rows)
    assert len(found) == 14
    assert all(a.ours.repeats == 3 and (a.ours.n, a.ours.J) == (a.printed.n, a.printed.J) for a in found)
    text = markdown([(experiment, rows)], ["- a header"])
    assert text.count("\n| 300 | 5 |") == text.count("\n| 500 | 5 |") == 7
    assert "a header" in text and "0.53" in text and "Infinite estimates" in text


def test_a_cell_of_each_table_agrees_with_the_paper():
    """Twelve repeats against the printed mean, within half the last digit and 3 combined standard errors."""
    for name, n, J in (("table1", 300, 0.4), ("table2", 300, 0.6), ("table3", 300, 0.8)):
        printed = next(p for p in load(name).printed if (p.n, p.J) == (n, J))
        cell = Cell("anneal", "gaussian", n, printed.H, J)
        rows = list(csv.DictReader(simulated(cell, Work((printed.N,), 12)).splitlines()))
        assert Agreement(name, printed, _row("", n, printed.N, printed.H, J, rows)).within


# Runs that are killed, mixed or farmed out


def command(folder, *arguments):
    return [
        sys.executable,
        "-m",
        "bayesing",
        "reproduce",
        "table3",
        "fig2",
        "--quick",
        "-o",
        str(folder),
        *arguments,
    ]


def csv_bytes(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.csv")} | {
        path.name: path.read_bytes() for path in (folder / "cells").glob("*")
    }


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("uninterrupted") / "quick"
    result = subprocess.run(command(folder.parent), capture_output=True, text=True, check=True)
    assert "summary.md" in result.stdout and "16/16 cells, 100% of the work" in result.stderr
    assert result.stderr.splitlines()[0] == f"16 of 16 cells to simulate, results in {folder}"
    return csv_bytes(folder)


def wait_for_cells(folder, count, process=None):
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if len(list(folder.glob("cells/[!.]*.csv"))) >= count or (process and process.poll() is not None):
            return
        time.sleep(0.01)
    raise AssertionError("no cell was finished in two minutes")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(tmp_path, uninterrupted, jobs):
    process = subprocess.Popen(
        command(tmp_path, "--jobs", str(jobs)), start_new_session=True, stderr=subprocess.DEVNULL
    )
    folder = tmp_path / "quick"
    wait_for_cells(folder, 2, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    finished = {path.name: path.read_bytes() for path in folder.glob("cells/[!.]*.csv")}
    assert 2 <= len(finished) < 16 and not list(folder.glob("*.csv"))
    assert all(uninterrupted[name] == content for name, content in finished.items())  # nothing half-written
    subprocess.run(command(tmp_path, "--jobs", str(jobs)), capture_output=True, check=True)
    assert {k: v for k, v in csv_bytes(folder).items() if not k.startswith(".")} == uninterrupted


def test_every_altered_digit_of_a_finished_reproduction_is_noticed(tmp_path):
    """One digit in each cell becomes another, anywhere in the file; the next run puts all of them right."""
    experiments = select(["table3", "appendix-c"], small=True)
    reproduce(experiments, tmp_path, small=True)
    before = csv_bytes(tmp_path)
    rng = np.random.default_rng(0)
    paths = sorted((tmp_path / "cells").iterdir())
    assert len(paths) > 10
    for path in paths:
        content = bytearray(path.read_bytes())
        place = rng.choice([k for k, byte in enumerate(content) if chr(byte).isdigit()])
        content[place] = ord("0") + (content[place] - ord("0") + rng.integers(1, 10)) % 10
        path.write_bytes(content)
    with pytest.warns(bs.BayesingWarning, match="damaged") as caught:
        reproduce(experiments, tmp_path, small=True)
    assert sorted(str(warning.message).split(":")[0] for warning in caught) == list(map(str, paths))
    assert csv_bytes(tmp_path) == before


def test_results_of_other_settings_are_not_mixed(tmp_path):
    runner.results(tmp_path / "quick", small=True).prepare()
    result = subprocess.run(command(tmp_path, "--seed", "1"), capture_output=True, text=True, check=False)
    assert result.returncode == 2 and result.stderr.count("\n") == 1
    assert "results of other settings" in result.stderr and f"-o {tmp_path}" in result.stderr


def test_a_quick_run_and_a_full_one_in_the_same_folder_do_not_collide(tmp_path, monkeypatch):
    def small_work(cell, work, seed):  # of the full run, 20 samples of 20 spins instead of 500
        works.add((cell.n, work))
        return runner.csv_bytes(
            [runner.COLUMNS, *runner._estimates(replace(cell, n=20), replace(work, repeats=2), seed)]
        )

    works = set()
    monkeypatch.setattr(runner, "simulate_cell", small_work)
    for option in (["--quick"], [], ["--quick"], []):
        result = CliRunner().invoke(cli, ["reproduce", "table3", "-o", str(tmp_path), *option])
        assert result.exit_code == 0, result.output
    quick_text, full_text = ((tmp_path / folder / "summary.md").read_text() for folder in ("quick", "."))
    assert "(quick)" in quick_text and "(quick)" not in full_text
    assert full_text.count("\n| 300 | 5 |") == full_text.count("\n| 500 | 5 |") == 7
    assert {n for n, _ in works} == {60, 100, 300, 500}


def test_the_summary_of_a_quick_run_has_every_point_in_a_table(tmp_path):
    experiments = select(["table3", "fig5"], small=True)
    reproduce(experiments, tmp_path, small=True)
    text = (tmp_path / "summary.md").read_text()
    cells = runner.results(tmp_path, small=True)
    for experiment in experiments:
        rows = rows_of(experiment, cells)
        section = text.split(f"## {experiment.title}\n")[1].split("\n## ")[0]
        table = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
        assert table[0][-9:] == ["n", "N", "H", "J", "J found", "sd", "H found", "sd", "repeats"]
        assert len(table) - 2 == len(rows) == len(experiment.J) * sum(len(p.sizes) for p in experiment.panels)
        for line, row in zip(table[2:], rows, strict=True):
            found = [
                row.n,
                row.N,
                row.H,
                row.J,
                row.J_mean,
                row.J_sd,
                row.H_mean,
                row.H_sd,
                row.repeats - row.infinite,
            ]
            assert list(map(float, line[-9:])) == pytest.approx(found, abs=5.1e-4, nan_ok=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seed", "-1"], "--seed must be at least 0: found --seed=-1"),
        (["--jobs", "0"], "or -1 for one each: found --jobs=0"),
        (["--jobs", "-2"], "found --jobs=-2"),
        (["--jobs", "100000"], "found --jobs=100000"),
        (["-o", ""], "-o '': expected the name of a folder, found an empty one"),
        (["-o", "file"], "-o 'file': expected the name of a folder, found that"),
        (["-o", "file/r"], "file is not one. Choose another."),
        (["-o", "link"], "link is not one"),
    ],
)
def test_wrong_arguments_are_one_sentence_and_leave_nothing_behind(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("nowhere")
    result = CliRunner().invoke(cli, ["reproduce", "table3", "--quick", *arguments])
    assert result.exit_code == 2 and message in result.output and result.output.count("\n") == 1
    assert sorted(os.listdir()) == ["file", "link"] and (tmp_path / "file").read_text() == ""


def test_unknown_experiments_and_clusters(tmp_path):
    for arguments, message in [
        (["fig9"], "found 'fig9'"),
        (["table3", "--quick", "--dask", "tcp://127.0.0.1:1"], "--dask"),
    ]:
        result = subprocess.run(
            [sys.executable, "-m", "bayesing", "reproduce", *arguments, "-o", str(tmp_path / "r")],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert result.returncode == 2 and message in result.stderr and "Traceback" not in result.stderr


def test_a_dask_cluster_that_loses_a_worker_gives_the_same_results(tmp_path, uninterrupted):
    """One of two workers is killed after the first finished cell."""
    folder = tmp_path / "quick"
    with cluster(tmp_path, 2) as (address, processes):
        run = subprocess.Popen(command(tmp_path, "--dask", address), stderr=subprocess.PIPE, text=True)
        processes.append(run)
        wait_for_cells(folder, 1, run)
        assert run.poll() is None
        processes[1].kill()
        _, errors = run.communicate(timeout=180)
        assert run.returncode == 0, errors
        assert csv_bytes(folder) == uninterrupted


def test_a_dask_cluster_that_loses_its_scheduler_is_one_sentence(tmp_path):
    folder = tmp_path / "quick"
    with cluster(tmp_path, 2) as (address, processes):
        run = subprocess.Popen(command(tmp_path, "all", "--dask", address), stderr=subprocess.PIPE, text=True)
        processes.append(run)
        wait_for_cells(folder, 1, run)
        processes[0].kill()
        _, errors = run.communicate(timeout=180)
    error = errors.splitlines()[-1]
    assert run.returncode == 2 and "Traceback" not in errors
    assert error.startswith(f"error: --dask {address}: the connection") and "again to go on" in error


def test_a_dask_cluster_without_workers_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr("bayesing.cli._probe.PATIENCE", 1)
    folder = tmp_path / "quick"
    with cluster(tmp_path, 0) as (address, _):
        result = CliRunner().invoke(cli, command(tmp_path, "--dask", address)[3:])
    # Whether tornado has time for a traceback of its own is a matter of chance.
    silent = not logging.getLogger("tornado.application").isEnabledFor(logging.CRITICAL)
    logging.disable(logging.NOTSET)
    assert silent
    assert result.exit_code == 2 and result.output.count("\n") == 1 and not folder.exists()
    assert f"error: --dask {address}: expected a scheduler with workers, found none" in result.output


def test_quick_is_small():
    for name in NAMES:
        small = quick(load(name))
        assert max(n for panel in small.panels for n, _ in panel.sizes) <= 160 and small.repeats <= 5
        assert small.printed == () and len(small.J) <= 4
        assert small.title == f"{load(name).title} (quick)"


def test_quick_keeps_what_the_panels_say_of_N():
    labels = {panel.label: panel.sizes for panel in quick(load("appendix-c")).panels}
    for H in ("0", "0.2"):
        assert labels[f"H = {H}, N = 30"] == ((20, 30), (40, 30), (80, 30), (160, 30))
        assert labels[f"H = {H}, N = 0.4 n"] == ((20, 8), (40, 16), (80, 32), (160, 64))
    assert quick(load("fig3")).panels[0].sizes == ((60, 6), (60, 12), (60, 24), (60, 36), (60, 60))
    assert quick(load("table1")).panels[0].sizes == ((60, 24), (100, 40))
    assert quick(load("table3")).panels[0].sizes == ((60, 5), (100, 5))
    for name in ("fig2", "fig3", "fig4", "fig5", "fig6", "fig7", "fig8", "equilibrium"):
        for panel, small in zip(load(name).panels, quick(load(name)).panels, strict=True):
            for (_, N), (_, fewer) in zip(panel.sizes, small.sizes, strict=True):
                assert fewer == (N // 5 if panel.H == 0 else N)


def test_the_reproduction_uses_the_same_estimator_as_the_class():
    cell = Cell("anneal", "gaussian", 40, 0.2, 0.6)
    rows = list(csv.DictReader(simulated(cell, Work((7, 16), 1)).splitlines()))
    key = int.from_bytes(hashlib.sha256(cell.name.encode()).digest()[:8], "little")
    sim = bs.simulate(40, 16, J=0.6, H=0.2, seed=np.random.SeedSequence([0, key, 0]))
    for row, N in zip(rows, (7, 16), strict=True):
        eb = bs.EmpiricalBayes(method="plefka").fit(sim.spins[:N])
        assert (float(row["gamma"]), float(row["H"]), row["case"]) == (eb.gamma_, eb.H_, eb.case_)
