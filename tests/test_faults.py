"""Faults on the way to a file: signals at every line, full disks, names taken meanwhile, closed streams."""

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bayesing.files import writing

from commands import run, run_here

OLD, NEW = b"old", b"new" * 9000  # more than one buffer

# Writes a file in a process of its own, once for each line of ``bayesing.files``, which ends with a signal there.
AT_EVERY_LINE = """
import os, signal, sys
import bayesing.files as files

def child(number, force, line):
    seen = 0
    def trace(frame, event, argument):
        nonlocal seen
        if frame.f_code.co_filename != files.__file__:
            return None
        if event == "line":
            seen += 1
            if seen == line:
                os.kill(os.getpid(), number)
        return trace
    sys.settrace(trace)
    with files.writing("out", force) as file:
        for _ in range(9000):
            file.write(b"new")
    sys.settrace(None)
    os._exit(0)

number, force = int(sys.argv[1]), sys.argv[2] == "force"
for line in range(1, 1000):
    if os.path.exists("out"):
        os.unlink("out")
    if force:
        with open("out", "wb") as file:
            file.write(b"old")
    pid = os.fork()
    if pid == 0:
        child(number, force, line)
    status = os.waitpid(pid, 0)[1]
    content = open("out", "rb").read() if os.path.exists("out") else None
    left = [name for name in os.listdir() if name != "out"]
    known = {None: "none", b"old": "old", b"new" * 9000: "new"}.get(content)
    print(line, os.waitstatus_to_exitcode(status), known, len(left))
    if status == 0:
        break
"""


@pytest.mark.parametrize("force", ["keep", "force"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_at_any_line_leaves_a_whole_file_or_none(tmp_path, number, force):
    command = [sys.executable, "-c", AT_EVERY_LINE, str(int(number)), force]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    found = [line.split() for line in result.stdout.splitlines()]
    *ended, last = [(int(code), content, int(left)) for _, code, content, left in found]
    assert len(ended) > 40 and last == (0, "new", 0)
    assert {code for code, _, _ in ended} == {-number}
    before = "old" if force == "force" else "none"
    assert {content for _, content, _ in ended} == {before, "new"}
    # After SIGTERM nothing is left; after SIGKILL one file at most, until the next line is tried.
    assert {left for _, _, left in ended} == ({0} if number == signal.SIGTERM else {0, 1})


def test_a_file_that_is_being_written_is_not_taken_for_left_over(tmp_path):
    stale = tmp_path / ".bayesing-0123456789abcdef"
    stale.touch()
    other = tmp_path / ".bayesing-settings"
    other.touch()
    with writing(tmp_path / "one") as file:
        assert not stale.exists() and other.exists()
        file.write(b"1")
        with writing(tmp_path / "two") as second:
            second.write(b"2")
    assert (tmp_path / "one").read_bytes() == b"1"
    assert sorted(os.listdir(tmp_path)) == [".bayesing-settings", "one", "two"]


def test_many_may_write_to_a_folder_at_once(tmp_path):
    def write(k):
        for i in range(50):
            with writing(tmp_path / f"{k}-{i}") as file:
                file.write(b"x")

    threads = [threading.Thread(target=write, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(os.listdir(tmp_path)) == 200


def test_a_file_that_appears_meanwhile_is_kept(tmp_path):
    path = tmp_path / "out"

    def write():
        with writing(path) as file:
            file.write(NEW)
            path.write_bytes(OLD)

    with pytest.raises(ValueError, match=r"exists already.*force=True"):
        write()
    assert path.read_bytes() == OLD and os.listdir(tmp_path) == ["out"]


def test_a_file_system_without_links(tmp_path, monkeypatch):
    def no_links(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    test_a_file_that_appears_meanwhile_is_kept(tmp_path)
    with writing(tmp_path / "second") as file:
        file.write(NEW)
    assert (tmp_path / "second").read_bytes() == NEW


def test_an_existing_file_keeps_its_mode_and_nobody_else_sees_the_umask_change(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "umask", None)
    path = tmp_path / "out"
    path.write_bytes(OLD)
    path.chmod(0o600)
    with writing(path, force=True) as file:
        temporary = next(tmp_path.glob(".bayesing-*"))
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600  # before a byte is written
        file.write(NEW)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_is_blamed_on_the_file(tmp_path):
    """At most 1000 bytes a file, in a process of its own."""
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); "
        "sys.argv = ['bayesing', 'simulate', '--spins', '99', '--samples', '99', '-o', 'x.npz']; "
        "from bayesing.cli import main; main()"
    )
    run_here(
        "simulate", "--spins", 3, "--samples", 3, "-o", tmp_path / "first.npz"
    )  # kernels are cached by now
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (2, "error: x.npz: File too large.\n")
    assert os.listdir(tmp_path) == ["first.npz"]


DATA = "a,b,c\n" + "1,0,1\n0,0,1\n1,1,0\n0,1,1\n1,0,0\n" * 8


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A command with its streams open: what it says, and the file that it writes."""
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "x.csv").write_text(DATA)
    result = run("couplings", "x.csv", "-o", "out.csv", cwd=folder)
    assert result.returncode == 0
    return result.stdout, result.stderr, (folder / "out.csv").read_bytes()


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_lead_nowhere(tmp_path, closed, undisturbed):
    (tmp_path / "x.csv").write_text(DATA)
    shell = f'"{sys.executable}" -m bayesing couplings x.csv -o out.csv {closed}'
    result = subprocess.run(["sh", "-c", shell], cwd=tmp_path, capture_output=True, text=True, check=False)
    out, err, written = undisturbed
    assert result.returncode == 0 and (tmp_path / "out.csv").read_bytes() == written
    assert result.stdout == ("" if ">&-" in closed.split() else out)
    assert result.stderr == ("" if "2>&-" in closed else err)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_standard_error_takes_no_answer_away(tmp_path):
    """Of a file whose first column is left out, which is a note on standard error."""
    header, *rows = DATA.splitlines()
    numbered = [f"id,{header}", *(f"{k},{row}" for k, row in enumerate(rows, 1))]
    (tmp_path / "x.csv").write_text("\n".join(numbered))
    results = []
    for name, error in (("a.csv", ""), ("b.csv", "2>/dev/full")):
        shell = f'"{sys.executable}" -m bayesing couplings x.csv -o {name} {error}'
        results.append(
            subprocess.run(["sh", "-c", shell], cwd=tmp_path, capture_output=True, text=True, check=False)
        )
    heard, unheard = results
    assert "note: column 1" in heard.stderr and unheard.stderr == ""
    assert heard.returncode == unheard.returncode == 0
    assert unheard.stdout == heard.stdout.replace("a.csv", "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


INTERRUPTED = """
import os, signal, sys, threading, time
sys.argv = ["bayesing", "simulate", "--spins", "500", "--samples", "500", "-o", "x.npz"]
from bayesing.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background may ignore it

def interrupt():
    while signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # this script's time, not the command's
        time.sleep(1e-4)
    time.sleep({after})
    for _ in range({times}):
        os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
main()
"""


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("after", [0, 0.002, 0.03, 0.3])
def test_ctrl_c_at_any_time_is_130_without_a_traceback(tmp_path, after, times):
    command = [sys.executable, "-c", INTERRUPTED.format(after=after, times=times)]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode in (130, -signal.SIGINT)  # both are 130 to a shell
    assert result.stderr.strip() in ("interrupted", "")
    assert not (tmp_path / "x.npz").exists()


SWALLOWED = """
import ctypes, signal, sys
from bayesing.cli._process import process

@ctypes.CFUNCTYPE(None)
def callback():
    signal.raise_signal(signal.SIGINT)

def program():
    callback()
    while True:
        sum(range(100))

signal.signal(signal.SIGINT, signal.default_int_handler)
process(program)
"""


CONVERTED = """
import signal
from bayesing.cli._process import process

def program():
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt as error:
        raise {kind}("initialization failed") from error

signal.signal(signal.SIGINT, signal.default_int_handler)
process(program)
"""


@pytest.mark.parametrize("kind", ["ImportError", "SystemExit"])
def test_ctrl_c_that_a_library_turns_into_another_error_is_heard(kind):
    command = [sys.executable, "-c", CONVERTED.format(kind=kind)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (result.returncode, result.stderr) == (130, "interrupted\n")


def test_ctrl_c_that_a_callback_swallows_is_heard():
    command = [sys.executable, "-c", SWALLOWED]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (result.returncode, result.stderr) == (130, "interrupted\n")
