"""A real Dask scheduler and two worker processes: the same bits as here, and one sentence where something is lost."""

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import CancelledError

import dask.array as da
import numpy as np
import pytest
from distributed import Client
from distributed.scheduler import KilledWorker

import bayesing as bs
from bayesing.cli import _cluster, _probe
from bayesing.cli._cluster import LostError, _in_words
from bayesing.cli._probe import check_versions
from bayesing.statistics import SpinStatistics
from test_lazy import assert_same, spins

from clusters import cluster, one_more, wait_for_task
from commands import run_here

pytestmark = pytest.mark.filterwarnings("ignore::bayesing.exceptions.BayesingWarning")

WORKERS = 2
FILES = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Data in several files, with names and a few missing cells; workers are at home here, too."""
    folder = tmp_path_factory.mktemp("cluster")
    names = ",".join(f"item {j}" for j in range(12))
    cells = np.where(spins(20, 30 * FILES, 12) > 0, "1", "0").astype(object)
    cells[::50, 3] = ""
    for k in range(FILES):
        lines = [",".join(row) for row in cells[30 * k : 30 * k + 30]]
        (folder / f"part{k}.csv").write_text("\n".join([names, *lines]) + "\n")
    np.save(folder / "large.npy", spins(21, 100_000, 40))
    np.save(folder / "other.npy", spins(22, 200, 6))
    np.save(folder / "another.npy", spins(23, 200, 6))
    return folder


@pytest.fixture(scope="module")
def address(folder):
    with cluster(folder, WORKERS) as (address, _):
        yield address


@pytest.fixture(autouse=True)
def hear_again():
    """A command with a cluster silences logs, for the rest of its process."""
    yield
    logging.disable(logging.NOTSET)


def command(*arguments):
    return [sys.executable, "-m", "bayesing", *map(str, arguments)]


def started(*arguments):
    return subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def sentence(result):
    """What a command that fails says: one line."""
    assert result.exit_code == 2 and result.output.count("\n") == 1, result.output
    return result.output


# The same bits


def test_dask_arrays(address):
    X = spins(24)
    with Client(address):
        found = SpinStatistics.of(da.from_array(X, chunks=(20, 4)))
        J = bs.EmpiricalBayes().fit(da.from_array(X, chunks=(50, 7))).J_
    assert_same(found, SpinStatistics.of(X))
    assert J == bs.EmpiricalBayes().fit(X).J_


def same_output(folder, address, *arguments):
    """Run a command here and on the cluster: what it prints, and the file it writes, must be equal."""
    here, there = run_here(*arguments), run_here(*arguments, "--dask", address)
    assert here.exit_code == there.exit_code == 0, there.output
    assert there.stdout == here.stdout
    return there


@pytest.mark.parametrize(
    "more", [[], ["--missing", "drop-spins"], ["--batch", "7"], ["--series"], ["--json", "--by", "item 0"]]
)
def test_fit(folder, address, more):
    found = same_output(folder, address, "fit", f"{folder}/part*.csv", "--method", "susceptibility", *more)
    assert "J" in found.stdout


def test_notes_are_those_of_all_files(folder, address):
    found = json.loads(
        same_output(
            folder, address, "fit", f"{folder}/part*.csv", "--method", "susceptibility", "--json"
        ).stdout
    )
    assert found["encoding"] == "0/1"
    assert any("of 4320 cells" in note for note in found["notes"])


@pytest.mark.parametrize(
    "arguments",
    [
        ["couplings", "part*.csv", "--method", "spectral", "--missing", "drop-spins"],
        ["compare", "other.npy", "another.npy", "--permutations", "20", "--seed", "1"],
    ],
)
def test_files_that_are_written(folder, address, arguments):
    name, *rest = arguments
    rest = [folder / each if each.endswith((".csv", ".npy")) else each for each in rest]
    output = folder / "written.csv"
    texts = []
    for more in ([], ["--dask", address]):
        result = run_here(name, *rest, "-o", output, "--force", *more)
        assert result.exit_code == 0, result.output
        texts.append(output.read_text())
    assert texts[0] == texts[1] and texts[0].count("\n") > 15


def test_a_report(folder, address):
    """Simulations and pictures are made by the workers; the interval is that of a fit here."""
    data, how = folder / "other.npy", ["--simulations", "40", "--seed", "0", "--json"]
    result = run_here("report", data, "-o", folder / "r.html", *how, "--dask", address)
    assert result.exit_code == 0, result.output
    expected = json.loads(run_here("fit", data, "--interval", *how).stdout)
    assert json.loads(result.stdout)["interval"]["H"] == pytest.approx(expected["interval"]["H"], rel=1e-6)
    assert (folder / "r.html").read_text().count("<img") > 3


# A worker that dies


def test_a_worker_that_dies_while_files_are_read_changes_nothing(folder, address):
    files = [folder / f"same{k}.npy" for k in range(16)]
    for path in files:
        os.link(folder / "large.npy", path)
    assert_same_without("doomed", "-read-", folder, address, "fit", *files, "--method", "spectral", "--json")


def test_a_worker_that_dies_in_a_simulation_changes_nothing(folder, address):
    arguments = ["fit", folder / "other.npy", "--interval", "--simulations", "40", "--json"]
    assert_same_without("doomed", "joblib-", folder, address, *arguments)


def assert_same_without(name, kind, folder, address, *arguments):
    """A command prints the same on a cluster whose worker of this name is killed when it has such a task."""
    expected = run_here(*arguments)
    with one_more(folder, address, WORKERS + 1, name) as worker:
        run = started(*arguments, "--dask", address)
        wait_for_task(address, kind, name)
        assert run.poll() is None
        worker.kill()
        output, errors = run.communicate(timeout=60)
    assert run.returncode == expected.exit_code == 0 and output == expected.stdout, errors


# One sentence


@pytest.mark.skipif(not os.path.exists("/proc/self/cwd"), reason="a path that each process sees differently")
def test_a_file_that_one_worker_cannot_see(folder, address, tmp_path):
    names = [f"/proc/self/cwd/part{k}.csv" for k in range(FILES)]
    with one_more(folder, address, WORKERS + 1, "blind", cwd=tmp_path):
        found = sentence(run_here("fit", *names, "--dask", address))
    assert "found that the worker blind (tcp://127.0.0.1:" in found and "/proc/self/cwd/part" in found
    assert found.count("/proc/self/cwd/part") == 1


def test_files_that_do_not_agree(folder, address):
    found = sentence(run_here("fit", folder / "other.npy", folder / "large.npy", "--dask", address))
    assert f"{folder}/large.npy: expected 6 columns, as {folder}/other.npy has, found 40" in found
    found = sentence(run_here("fit", folder / "nowhere*.npy", "--dask", address))
    assert "nowhere*.npy: expected a pattern that files match" in found


def test_another_version_on_a_worker(folder, address, tmp_path):
    other = tmp_path / "bayesing-0.0.1.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: bayesing\nVersion: 0.0.1\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    with one_more(folder, address, WORKERS + 1, "old", PYTHONPATH=path):
        found = sentence(run_here("fit", folder / "other.npy", "--dask", address))
    assert "found bayesing 0.0.1 and Python" in found and "on tcp://127.0.0.1:" in found


def test_another_python_on_a_worker():
    ours = {"packages": {"python": "3.11.7.final.0", "bayesing": "1.2"}}
    check_versions("a", ours, {"w": {"packages": {"python": "3.11.2.final.0", "bayesing": "1.2"}}})
    for theirs, said in [
        ({"python": "3.12.7.final.0", "bayesing": "1.2"}, "bayesing 1.2 and Python 3.12 on w"),
        ({"python": "3.11.7.final.0", "bayesing": None}, "no bayesing and Python 3.11 on w"),
    ]:
        with pytest.raises(ValueError, match=said):
            check_versions("a", ours, {"w": {"packages": theirs}})


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(_probe, "PATIENCE", 1)
    monkeypatch.setattr(_probe, "_CONNECT", 0.5)
    monkeypatch.setattr(_cluster, "GONE", 6)


def test_a_silent_port(folder, impatient):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        where = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        found = sentence(run_here("fit", folder / "other.npy", "--dask", where))
    assert (
        f"--dask {where}: expected a Dask scheduler, found a port that is open and does not answer" in found
    )


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("tcp://127.0.0.1:1", "Timed out trying to connect"),
        ("tls://127.0.0.1:1", "expected certificates for tls, found none"),
        ("carrier-pigeon://127.0.0.1:1", "unknown address scheme"),
        ("127.0.0.1", "missing port number"),
    ],
)
def test_no_scheduler(folder, impatient, where, said):
    found = sentence(run_here("fit", folder / "other.npy", "--dask", where))
    assert found.startswith(f"error: --dask {where}: ") and said in found


def test_the_address_of_a_worker(folder, address):
    with Client(address) as client:
        worker = next(iter(client.nthreads()))
    assert "expected a Dask scheduler, found a Worker" in sentence(
        run_here("fit", folder / "other.npy", "--dask", worker)
    )


LONG = ["--interval", "--simulations", "50000"]  # which would take minutes


def test_all_is_lost(folder, tmp_path, impatient):
    """The last worker, a scheduler that falls silent, and one that dies, in the middle of simulations."""

    def found_when(strike):
        def wait_and_strike():
            wait_for_task(address, "joblib-")
            strike()

        thread = threading.Thread(target=wait_and_strike)
        thread.start()
        found = sentence(run_here("fit", folder / "other.npy", *LONG, "--dask", address))
        thread.join()
        assert found.endswith(". Check the cluster and run the same command again.\n")
        return found

    with cluster(tmp_path, 1) as (address, (scheduler, worker)):
        found = found_when(worker.kill)
        assert found.startswith(f"error: --dask {address}: the scheduler has lost its last worker.")
        with one_more(tmp_path, address, 1, "new"):
            found = found_when(lambda: scheduler.send_signal(signal.SIGSTOP))
            assert found.startswith(f"error: --dask {address}: the scheduler does not answer any more.")
            scheduler.send_signal(signal.SIGCONT)
        with one_more(tmp_path, address, 1, "last", wait=False):
            found = found_when(scheduler.kill)
            assert found.startswith(f"error: --dask {address}: the connection to the scheduler was lost.")


def test_interrupted(folder, address):
    run = started("fit", folder / "other.npy", *LONG, "--dask", address)
    wait_for_task(address, "joblib-")
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=20)
    assert run.returncode == 130 and errors.splitlines()[-1] == "interrupted"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (LostError("x"), "--dask a: x. Check the cluster and run the same command again."),
        (KilledWorker("task", None, 3), "several workers died of the same task"),
        (CancelledError(), "the connection to the scheduler was lost"),
        (OSError("Timed out"), "the connection to the scheduler was lost"),
    ],
)
def test_what_becomes_of_a_cluster_in_words(error, said):
    with pytest.raises(ValueError, match="--dask a") as caught, _in_words("a", ""):
        raise error
    assert said in str(caught.value)
    with (
        pytest.raises(ValueError, match=r"Cells are kept: .* again to go on"),
        _in_words("a", "Cells are kept: "),
    ):
        raise error


def test_errors_of_files_are_not_of_the_cluster():
    with pytest.raises(FileNotFoundError), _in_words("a", ""):
        os.stat("/no/such/file")
