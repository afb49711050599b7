"""Mutants of a module: sources that differ in one place, and whether tests notice when one takes its place.

Cosmic Ray says what can be changed: a sign, a number, a comparison. No file is changed. For each mutant a process is
forked that has libraries but not bayesing, imports the mutant from memory and runs tests. Processes that tests
start by themselves see the module as it is.
"""

import ast
import contextlib
import difflib
import hashlib
import importlib.abc
import importlib.util
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

CONFIGURATION = Path(__file__).resolve().parents[1] / "pyproject.toml"
OPTIONS = (
    *("-x", "-q", "-p", "no:cacheprovider", "--noconftest"),
    *("--assert=plain", "--hypothesis-seed=0", "--basetemp=tmp"),
)
MEMORY = 12 * 2**30  # bytes of addresses; a mutant that asks for more is killed
ARITHMETIC = {"Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow"}
BITS = {"BitOr", "BitAnd", "BitXor", "RShift", "LShift"}


class Mutant(NamedTuple):
    """A changed source, and where it differs."""

    source: str
    change: str  # lines that went and came, with their number

    @property
    def key(self) -> str:
        """The same for the same change of the same source."""
        return digest(self.source)

    @property
    def lines(self) -> set[str]:
        """The changed line as it was, and as it has become."""
        return {line[1:].strip() for line in self.change.splitlines() if line[0] in "-+"}


def digest(*texts: str) -> str:
    """Sixteen digits that differ if texts do."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


# --- what to change ---------------------------------------------------------------------------------------


def operators() -> Iterator[object]:
    """Those of Cosmic Ray, without those that need a name and those whose mutants would fail at the first call."""
    from cosmic_ray.plugins import get_operator, operator_names

    for name in operator_names():
        kind, *change = name.partition("/")[2].split("_")
        between = set(change)
        if kind.startswith("Variable") or kind == "RemoveDecorator" or between & {"UAdd", "Invert"}:
            continue
        if kind == "ReplaceBinaryOperator" and not (between <= ARITHMETIC or between <= BITS):
            continue
        if kind == "ReplaceComparisonOperator" and len(between & {"Is", "IsNot"}) == 1:
            continue
        yield get_operator(name)()


def mutants(source: str, seed: str = "") -> Iterator[Mutant]:
    """All that differ from the source and from each other when the program runs, in random order."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code

    nodes = list(ast_nodes(get_ast(source)))
    places = [
        (operator, occurrence)
        for operator in operators()
        for occurrence in range(sum(len(list(operator.mutation_positions(node))) for node in nodes))
    ]
    random.Random(seed).shuffle(places)
    seen = {meaning(source)}
    for operator, occurrence in places:
        changed = mutate_code(source, operator, occurrence)
        with contextlib.suppress(SyntaxError):
            if (means := meaning(changed)) not in seen:
                seen.add(means)
                yield Mutant(changed, difference(source, changed))


class _Untyped(ast.NodeTransformer):
    """Leaves out what only readers and type checkers look at: annotations, aliases of types, docstrings."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        leaves = {type(part) for part in ast.walk(node.value) if isinstance(part, ast.expr)}
        alias = ast.BinOp in leaves and leaves <= {ast.BinOp, ast.Name, ast.Attribute, ast.Subscript}
        return None if alias and node.col_offset == 0 else self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if "TYPE_CHECKING" in ast.dump(node.test) else self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)


def meaning(source: str) -> str:
    """What of a source counts when it runs; a SyntaxError if it cannot."""
    with warnings.catch_warnings(action="ignore"):
        compile(source, "<mutant>", "exec")
        return ast.dump(_Untyped().visit(ast.parse(source)))


def difference(source: str, changed: str) -> str:
    """The lines that differ, with their number."""
    lines = difflib.unified_diff(source.splitlines(), changed.splitlines(), n=0, lineterm="")
    return "\n".join(line for line in lines if not line.startswith(("---", "+++")))


# --- whether tests notice ---------------------------------------------------------------------------------


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from a text. It has no file, so that Numba neither finds nor leaves machine code of it."""

    def __init__(self, name: str, source: str) -> None:
        self.name = name
        with warnings.catch_warnings(action="ignore"):
            self.code = compile(source, f"<mutant of {name}>", "exec")

    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_loader(name, self) if name == self.name else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(self.code, module.__dict__)


def begin(name: str, source: str, tests: list[str], folder: str) -> int:
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
        places = [f"--config-file={CONFIGURATION}", f"--rootdir={CONFIGURATION.parent}"]
        code = pytest.main([*OPTIONS, *places, *tests])
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


class Trial:
    """The tests of one mutant, as they run in a process and a folder of their own."""

    def __init__(self, name: str, mutant: Mutant, tests: list[str], patience: float) -> None:
        self.mutant, self.patience = mutant, patience
        self.folder = tempfile.TemporaryDirectory(prefix="bayesing-mutant-", ignore_cleanup_errors=True)
        self.begun = time.monotonic()
        self.process = begin(name, mutant.source, tests, self.folder.name)

    def verdict(self) -> str | None:
        """``"survived"``, ``"killed"``, ``"timeout"`` or, as long as tests run, None."""
        process, status = os.waitpid(self.process, os.WNOHANG)
        found = None if process == 0 else "survived" if status == 0 else "killed"
        if found is None and self.age > self.patience:
            found = "timeout"
        if found == "killed" and os.waitstatus_to_exitcode(status) in (4, 5):
            raise RuntimeError(f"pytest has no tests to run: {self.output()}")
        if found:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process, signal.SIGKILL)
            if found == "timeout":
                os.waitpid(self.process, 0)
        return found

    @property
    def age(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self.begun

    def output(self) -> str:
        """What pytest said so far."""
        return (Path(self.folder.name) / "output").read_text("utf-8", "replace")


def trials(
    name: str, todo: list[Mutant], tests: list[str], patience: float, jobs: int
) -> Iterator[tuple[Trial, str]]:
    """Run the tests of each mutant, so many at a time; each with its verdict, as they end."""
    waiting, running = todo[::-1], []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(Trial(name, waiting.pop(), tests, patience))
            for trial in tuple(running):
                if verdict := trial.verdict():
                    running.remove(trial)
                    yield trial, verdict
                    trial.folder.cleanup()
            time.sleep(0.01)
    finally:
        for trial in running:
            os.killpg(trial.process, signal.SIGKILL)
