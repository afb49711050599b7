"""How far a command is: on a terminal, a bar with the step, the time gone and the time left.

All of it goes to standard error. Where that is no terminal there is no bar; long runs print a line now and then.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from rich import progress as rich
from rich.console import Console
from rich.text import Text

from ..texts import visible
from ._output import echo

if TYPE_CHECKING:
    from ..experiments.cells import Task

Item = TypeVar("Item")

MEMORY = 3600.0  # seconds that the speed is taken from: a cell of an experiment takes minutes
UPDATES = 200  # of the bar at most while items go by: it has fewer characters
LINES = 10  # about so many in a run without a terminal


class TimeLeft(rich.TimeRemainingColumn):
    """The time left, and what it is; nothing as long as nobody knows how much there is to do."""

    def render(self, task: rich.Task) -> Text:
        """Some characters."""
        text = super().render(task)
        return Text.assemble("left ", text) if text else text


class Progress:
    """A bar over the steps of a command.

    With a plan, the bar runs once over the expected cost of all steps. Without one, it runs over each step.
    """

    def __init__(self, step: str, keep: bool = False, console: Console | None = None) -> None:
        console = console or Console(stderr=True)
        self.on_terminal = console.is_terminal
        self.costs: Mapping[str, float] = {}
        self.step, self.before = visible(step), 0.0
        self.bar = rich.Progress(
            rich.TextColumn("{task.description}", markup=False),
            rich.BarColumn(),
            rich.TaskProgressColumn(),
            rich.TimeElapsedColumn(),
            TimeLeft(),
            console=console,
            transient=not keep,
            disable=not self.on_terminal,
            speed_estimate_period=MEMORY,
        )
        self.task = self.bar.add_task(self.step, total=None)

    def __enter__(self) -> Progress:
        if self.on_terminal:
            self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.on_terminal:  # or older versions of rich print an empty line
            self.bar.stop()

    def plan(self, seconds: Mapping[str, float]) -> None:
        """Expected seconds of each step."""
        self.costs = seconds
        self.bar.update(self.task, total=sum(seconds.values()))

    def begin(self, step: str) -> None:
        """The step before has ended."""
        self.before += self.costs.get(self.step, 0.0)
        self.step = visible(step)
        self.bar.update(self.task, description=self.step, completed=self.before if self.costs else None)

    def advance(self, done: float, total: float) -> None:
        """So much of the step is done."""
        if self.costs:
            cost = self.costs.get(self.step, 0.0)
            self.bar.update(self.task, completed=self.before + cost * done / total)
        else:
            self.bar.update(self.task, completed=done, total=total)

    def over(self, items: Iterable[Item], total: int) -> Iterator[Item]:
        """The items, of which there are ``total``; the bar shows how many have gone by."""
        every = max(1, total // UPDATES)
        for done, item in enumerate(items):
            if done % every == 0:
                self.advance(done, total)
            yield item

    def line(self, text: str) -> None:
        """A plain line, where there is no bar."""
        if not self.on_terminal:
            echo(text, err=True)


class Cells:
    """Hears of each finished cell of experiments, and shows how many there are and how much work is left."""

    def __init__(self, progress: Progress, tasks: Sequence[Task], done: Collection[str]) -> None:
        self.progress = progress
        self.cells, self.finished, self.said = len(tasks), len(done), len(done)
        self.total = sum(task.cost for task in tasks)
        self.spent = sum((task.cost for task in tasks if task.name in done), 0.0)
        self._show()

    def __call__(self, task: Task) -> None:
        self.finished += 1
        self.spent += task.cost
        self._show()
        if self.finished - self.said >= self.cells / LINES or self.finished == self.cells:
            self.said = self.finished
            self.progress.line(f"{self._label()}, {100 * self.spent / self.total:.0f}% of the work")

    def _show(self) -> None:
        self.progress.begin(self._label())
        self.progress.advance(self.spent, self.total)

    def _label(self) -> str:
        return f"{self.finished}/{self.cells} cells"
