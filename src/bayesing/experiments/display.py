"""How far a run is: cells done, time left."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from .cells import Task


class Display:
    """A bar with time left on a terminal, a plain line at first and now and then elsewhere."""

    def __init__(self, tasks: Sequence[Task], done: Collection[str], folder: Path) -> None:
        self.folder = folder
        self.cells, self.finished = len(tasks), len(done)
        self.total = sum(task.cost for task in tasks)
        self.spent = sum((task.cost for task in tasks if task.name in done), 0.0)
        self.shown = self.finished

    def __enter__(self) -> Display:
        console = Console(stderr=True)
        self.bar = Bar(
            TextColumn("{task.fields[cells]} cells"),
            BarColumn(),
            TextColumn("{task.percentage:.0f}%"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(elapsed_when_finished=False),
            console=console,
            disable=not console.is_terminal,
        )
        self.bar.start()
        label = f"{self.finished}/{self.cells}"
        self.task = self.bar.add_task("", total=self.total, cells=label)
        self.bar.update(self.task, completed=self.spent)
        if self.bar.disable:
            _say(f"{self.cells - self.finished} of {self.cells} cells to simulate, results in {self.folder}")
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def __call__(self, task: Task) -> None:
        self.finished += 1
        self.spent += task.cost
        label = f"{self.finished}/{self.cells}"
        self.bar.update(self.task, completed=self.spent, cells=label)
        if self.bar.disable and (
            self.finished - self.shown >= self.cells / 10 or self.finished == self.cells
        ):
            self.shown = self.finished
            _say(f"{label} cells, {100 * self.spent / self.total:.0f}% of the work")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
