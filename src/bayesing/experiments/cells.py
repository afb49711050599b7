"""Cells of an experiment or a benchmark: computed in parallel, each finished one a file with a hash.

A cell's file is its content and a last line, ``# sha256 ...``: the hash of the settings, the cell's name and the
content. A changed digit, a lost end, the file of another cell and the file of other settings do not fit their hash.
Such cells are damaged; they are computed again.

Files are written by the client, whole or not at all. Where a cell's content follows from its name and the settings,
any number of jobs or Dask workers (of one thread each), and any number of interruptions, give the same bytes.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from ..exceptions import BayesingWarning
from ..files import writing

_MARK = b"# sha256 "
_SEAL = len(_MARK) + 64 + 1  # bytes of the last line: the mark, 64 hexadecimal digits, the end of the line


@dataclass(frozen=True)
class Task:
    """A cell to compute. ``work`` gives the content of its file; it can be pickled."""

    name: str
    work: Callable[[], bytes]
    cost: float = 1.0  # time relative to that of the other cells
    extent: str = ""  # such as "300 repeats", for messages


CellProgress = Callable[[Task], None]


@dataclass(frozen=True)
class CellFolder:
    """Finished cells of one set of settings, in ``folder/cells``; the settings are in ``folder/settings.json``."""

    folder: Path
    settings: Mapping[str, Any]  # what JSON can hold
    suffix: str = ".csv"

    def run(self, tasks: Iterable[Task], progress: CellProgress | None = None) -> None:
        """Compute the cells that are missing or damaged, long ones first; ``progress`` hears of each one.

        The number of jobs, and where they run, are those of ``joblib.parallel_config``.
        """
        tasks = list(tasks)
        self.prepare()
        done = self.finished(task.name for task in tasks)
        missing = [task for task in tasks if task.name not in done]
        self.warn_of_damage((task.name for task in missing), "It is computed again.")
        missing.sort(key=lambda task: -task.cost)  # long ones first: the last job ends soon
        works = (delayed(_compute)(task) for task in missing)
        for task, content, caught in Parallel(return_as="generator_unordered", batch_size=1)(works):
            self.write(task.name, content)
            if caught:
                times = f"{len(caught)} warning(s)" + (f" in {task.extent}" if task.extent else "")
                warnings.warn(f"{task.name}: {times}, the first: {caught[0]}", type(caught[0]), stacklevel=2)
            if progress:
                progress(task)

    def finished(self, names: Iterable[str]) -> set[str]:
        """Those of ``names`` whose files are here and fit their hash."""
        return {name for name in names if self._content(name) is not None}

    def warn_of_damage(self, unfinished: Iterable[str], remedy: str) -> None:
        """Warn of each unfinished cell that has a file nevertheless."""
        for name in unfinished:
            if self.path(name).exists():
                message = f"{self.path(name)}: expected a whole cell, found a damaged one. {remedy}"
                warnings.warn(message, BayesingWarning, stacklevel=3)

    def read(self, name: str) -> bytes:
        """Content of a finished cell, without the hash."""
        content = self._content(name)
        if content is None:
            raise ValueError(
                f"{self.path(name)}: expected a finished cell, found a missing or damaged one. Run it again."
            )
        return content

    def write(self, name: str, content: bytes) -> None:
        """A cell's file, with its hash, whole or not at all."""
        with writing(self.path(name), force=True) as file:
            file.write(content + self._seal(name, content))

    def path(self, name: str) -> Path:
        """File of a cell, whether it exists or not."""
        return self.folder / "cells" / f"{name}{self.suffix}"

    def prepare(self) -> None:
        """Make the folder, or check that it was made with the same settings."""
        self.check()
        (self.folder / "cells").mkdir(parents=True, exist_ok=True)
        path = self.folder / "settings.json"
        if not path.exists():
            with writing(path) as file:
                file.write((json.dumps(self.settings, indent=1) + "\n").encode())

    def check(self) -> None:
        """Raise a ValueError if the folder holds results of other settings; write nothing."""
        path = self.folder / "settings.json"
        if not path.exists():
            return
        try:
            found = dict(json.loads(path.read_text("utf-8")))
        except (ValueError, TypeError):
            found = {}
        expected = json.loads(json.dumps(self.settings))
        differ = [key for key in expected | found if expected.get(key) != found.get(key)]
        if differ or found.keys() != expected.keys():
            ours, theirs = ({key: values.get(key) for key in differ} for values in (expected, found))
            raise ValueError(
                f"{self.folder}: holds results of other settings, expected {json.dumps(ours)}, found "
                f"{json.dumps(theirs)}. Choose another folder, or remove this one."
            )

    def _content(self, name: str) -> bytes | None:
        try:
            whole = self.path(name).read_bytes()
        except FileNotFoundError:
            return None
        content = whole[:-_SEAL]
        return content if whole == content + self._seal(name, content) else None

    def _seal(self, name: str, content: bytes) -> bytes:
        owner = json.dumps([dict(self.settings), name], sort_keys=True).encode()
        return _MARK + hashlib.sha256(owner + b"\n" + content).hexdigest().encode() + b"\n"


def digest(plan: object) -> str:
    """16 hexadecimal digits that tell plans apart, by what ``repr`` says of them."""
    return hashlib.sha256(repr(plan).encode()).hexdigest()[:16]


def csv_bytes(rows: Iterable[Iterable[Any]]) -> bytes:
    """Rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _compute(task: Task) -> tuple[Task, bytes, list[BayesingWarning]]:
    """A cell's content, and the warnings on the way, which a worker cannot show."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BayesingWarning)
        content = task.work()
    ours = [warning.message for warning in caught if isinstance(warning.message, BayesingWarning)]
    for warning in caught:
        if not isinstance(warning.message, BayesingWarning):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return task, content, ours
