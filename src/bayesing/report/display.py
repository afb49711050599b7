"""How far a report is: the step, and the time left. On a terminal alone."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


class Display:
    """A bar over the expected seconds of all steps; it looks on as :class:`bayesing.report.watch.Watch` says."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.step, self.done = "", 0.0

    def __enter__(self) -> Display:
        console = Console(stderr=True)
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(elapsed_when_finished=False),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.bar.start()
        self.task = self.bar.add_task("reading", total=None)
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def plan(self, seconds: dict[str, float]) -> None:
        """Expected seconds of each step."""
        self.seconds = seconds
        self.bar.update(self.task, total=sum(seconds.values()))

    def begin(self, step: str) -> None:
        """The step before has ended."""
        self.done += self.seconds.get(self.step, 0.0)
        self.step = step
        self.bar.update(self.task, description=step, completed=self.done)

    def advance(self, done: int, total: int) -> None:
        """So much of the step is done."""
        self.bar.update(self.task, completed=self.done + self.seconds.get(self.step, 0.0) * done / total)
