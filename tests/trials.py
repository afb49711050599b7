"""Whether tests notice that another source has taken the place of a module.

No file is changed. For each source a process is forked that has libraries but not bayesing, imports the module from
memory and runs tests. Processes that tests start by themselves see the module as it is.
"""

import contextlib
import importlib.abc
import importlib.util
import json
import os
import resource
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from mutating import Mutant, places

CONFIGURATION = Path(__file__).resolve().parents[1] / "pyproject.toml"
OPTIONS = (
    *("-x", "-q", "-p", "no:cacheprovider", "--noconftest", "--assert=plain", "--hypothesis-seed=0"),
    *("--basetemp=tmp", f"--config-file={CONFIGURATION}", f"--rootdir={CONFIGURATION.parent}"),
)
MEMORY = 12 * 2**30  # bytes of addresses; a mutant that asks for more is killed
WATCHED = "watched.json"


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from a text. It has no file, so that Numba neither finds nor leaves machine code of it."""

    def __init__(self, name: str, source: str) -> None:
        self.name = name
        with warnings.catch_warnings(action="ignore"):
            self.code = compile(source, file_of(name), "exec")

    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_loader(name, self) if name == self.name else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(self.code, module.__dict__)


def file_of(name: str) -> str:
    """What stands in for the name of the module's file."""
    return f"<mutant of {name}>"


class Watch:
    """A plugin of pytest that notes, for each test, its time and the lines of the module that it runs."""

    def __init__(self, name: str) -> None:
        self.file, self.tests, self.collecting = file_of(name), {}, 0.0
        self.shared: set[int] = set()  # lines that ran before the tests, or for several

    @contextlib.contextmanager
    def _into(self, lines: set[int]):
        def trace(frame, event, argument):
            if frame.f_code.co_filename == self.file:
                lines.add(frame.f_lineno)
                return trace
            return None

        before = sys.gettrace()
        sys.settrace(trace)
        threading.settrace(trace)
        try:
            yield
        finally:
            sys.settrace(before)
            threading.settrace(before)

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self):
        begun = time.monotonic()
        with self._into(self.shared):
            result = yield
        self.collecting = time.monotonic() - begun
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        with self._into(self.shared) if fixturedef.scope != "function" else contextlib.nullcontext():
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        lines, begun = set(), time.monotonic()
        with self._into(lines):
            result = yield
        self.tests[item.nodeid] = time.monotonic() - begun, sorted(lines)
        return result


class Choice:
    """A plugin of pytest that runs some tests, quick ones first, each for so many seconds at most.

    The alarm is one that Python does not handle: it ends the process, whatever that is busy with.
    """

    def __init__(self, limits: dict[str, float], collecting: float) -> None:
        self.limits, self.collecting = limits, collecting

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self):
        signal.setitimer(signal.ITIMER_REAL, self.collecting)
        return (yield)

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if item.nodeid in self.limits]
        items.sort(key=lambda item: self.limits[item.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        signal.setitimer(signal.ITIMER_REAL, self.limits[item.nodeid])
        return (yield)


class Plan(NamedTuple):
    """What is known of the tests of a module: how long each takes, and the lines that it runs."""

    tests: dict[str, tuple[float, list[int]]]
    shared: frozenset[int]
    collecting: float

    def choose(self, mutant: Mutant, more: float) -> Choice | None:
        """The tests that may notice, all of them if the change matters at import or for several at once; or None.

        A test has five times as long as it takes without a mutant, and ``more`` seconds.
        """
        lines = set(places(mutant.source, mutant.number))
        everywhere = not lines or lines & self.shared
        limits = {
            name: 5 * seconds + more
            for name, (seconds, seen) in self.tests.items()
            if everywhere or lines.intersection(seen)
        }
        return Choice(limits, 5 * self.collecting + more) if limits else None


def begin(name: str, source: str, files: list[str], folder: str, plugin: Watch | Choice) -> int:
    """Fork a process that runs tests in a folder with another source of a module; its number."""
    if name.partition(".")[0] in sys.modules:
        raise RuntimeError(f"{name} has been imported, and would not be imported again")
    if process := os.fork():
        return process
    code: int = pytest.ExitCode.INTERNAL_ERROR
    try:
        os.setsid()  # what tests start can be ended with them
        os.chdir(folder)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        for stream in (1, 2):
            os.dup2(os.open("output", os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
        sys.meta_path.insert(0, Changed(name, source))
        if "@compiled" in source:  # machine code of callers has that of the unchanged function inside
            import numba

            njit = numba.njit
            numba.njit = lambda cache=False, **options: njit(**options)
        code = pytest.main([*OPTIONS, *files], [plugin])
        if isinstance(plugin, Watch):
            (Path(folder) / WATCHED).write_text(
                json.dumps([plugin.tests, sorted(plugin.shared), plugin.collecting])
            )
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


class Trial:
    """Tests of one mutant, as they run in a process and a folder of their own."""

    def __init__(self, name: str, mutant: Mutant, files: list[str], plugin: Watch | Choice) -> None:
        self.mutant = mutant
        self.folder = tempfile.TemporaryDirectory(prefix="bayesing-mutant-", ignore_cleanup_errors=True)
        self.begun = time.monotonic()
        self.process = begin(name, mutant.source, files, self.folder.name, plugin)

    def verdict(self) -> str | None:
        """``"survived"``, ``"killed"``, ``"timeout"`` or, as long as tests run, None."""
        process, status = os.waitpid(self.process, os.WNOHANG)
        if process == 0:
            return None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process, signal.SIGKILL)  # what it has started
        code = os.waitstatus_to_exitcode(status)
        if code in (4, 5):
            raise RuntimeError(f"pytest did not run tests:\n{self.output()}")
        return {0: "survived", -signal.SIGALRM: "timeout"}.get(code, "killed")

    @property
    def age(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self.begun

    def output(self) -> str:
        """What pytest said so far."""
        return (Path(self.folder.name) / "output").read_text("utf-8", "replace")


def watch(name: str, source: str, files: list[str]) -> Plan:
    """Run all tests once with the module as it is."""
    trial = Trial(name, Mutant(source, ""), files, Watch(name))
    while not (verdict := trial.verdict()):
        time.sleep(0.01)
    if verdict != "survived":
        raise RuntimeError(f"tests of {name} fail without any mutant:\n{trial.output()}")
    tests, shared, collecting = json.loads((Path(trial.folder.name) / WATCHED).read_text())
    return Plan(tests, frozenset(shared), collecting)


def trials(
    name: str, mutants: list[Mutant], files: list[str], plan: Plan, more: float, jobs: int
) -> Iterator[tuple[Mutant, str, float]]:
    """Run the tests of each mutant, ``jobs`` at a time; verdicts and seconds, as they end."""
    waiting, running = mutants[::-1], []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                mutant = waiting.pop()
                if chosen := plan.choose(mutant, more):
                    running.append(Trial(name, mutant, files, chosen))
                else:
                    yield mutant, "survived", 0.0
            for trial in tuple(running):
                if verdict := trial.verdict():
                    running.remove(trial)
                    yield trial.mutant, verdict, trial.age
                    trial.folder.cleanup()
            time.sleep(0.01)
    finally:
        for trial in running:
            os.killpg(trial.process, signal.SIGKILL)
            trial.folder.cleanup()
