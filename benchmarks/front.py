"""One command line for the benchmarks that take long.

    python benchmarks/NAME.py FOLDER [PART ...] [--jobs 1] [--quick]

Settings are data: ``specs/NAME.toml`` has a table for each part, and in it a table ``quick`` of what is smaller with
``--quick``. Finished cells are files with a hash in FOLDER/PART/cells, so that an interrupted run goes on where it
stopped. Tables and figures of a part are written to FOLDER.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import joblib

from bayesing.cli._progress import Cells, Progress
from bayesing.experiments.cells import CellFolder, Task, csv_bytes
from bayesing.files import writing

from methods import method_names

Settings = SimpleNamespace  # the table of a part
Row = dict[str, Any]
Found = dict[str, bytes]  # content of each finished cell by its name


class Part(NamedTuple):
    """A part of a benchmark: the cells it consists of, and what is written and printed at the end."""

    tasks: Callable[[Settings], list[Task]]
    finish: Callable[[Settings, Found, Path], None]
    suffix: str = ".csv"


def main(script: str, description: str | None, parts: dict[str, Part]) -> None:
    """Run the parts that the command line names, or all of them."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"{', '.join(parts)}; all, unless some are named"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--quick", action="store_true", help="the same in small, to see it run")
    arguments = parser.parse_args()
    for name in arguments.parts:
        if name not in parts:
            parser.error(f"PART must be one of {', '.join(parts)}: found {name!r}.")
    tables = load(Path(script), arguments.quick)
    chosen = {
        name: CellFolder(arguments.folder / name, tables[name], parts[name].suffix)
        for name in arguments.parts or parts
    }
    try:
        for cells in chosen.values():
            cells.check()
    except ValueError as error:
        parser.error(str(error))
    with joblib.parallel_config(n_jobs=arguments.jobs):
        for name, cells in chosen.items():
            start = time.perf_counter()
            run(parts[name], cells, arguments.folder)
            print(f"{name}: {(time.perf_counter() - start) / 60:.1f} minutes", file=sys.stderr, flush=True)


def load(script: Path, quick: bool) -> dict[str, dict[str, Any]]:
    """The settings of each part; ``methods = "all"`` becomes the names of the methods, less those ``apart``."""
    tables = tomllib.loads((script.parent / "specs" / f"{script.stem}.toml").read_text("utf-8"))
    for table in tables.values():
        small = table.pop("quick", {})
        if quick:
            table |= small
        apart = table.pop("apart", [])
        if table.get("methods") == "all":
            table["methods"] = [name for name in method_names() if name not in apart]
    return tables


def run(part: Part, cells: CellFolder, folder: Path) -> None:
    """Compute the cells that are missing, then finish."""
    settings = SimpleNamespace(**cells.settings)
    tasks = part.tasks(settings)
    names = [task.name for task in tasks]
    if tasks:
        done = cells.finished(names)
        with Progress("", keep=True) as progress:
            progress.line(
                f"{len(tasks) - len(done)} of {len(tasks)} cells to compute, results in {cells.folder}"
            )
            cells.run(tasks, Cells(progress, tasks, done))
    folder.mkdir(parents=True, exist_ok=True)
    print(f"\n{cells.folder.name}", flush=True)
    part.finish(settings, {name: cells.read(name) for name in names}, folder)


def rows_task(name: str, work: Callable[[], Iterable[Row]], cost: float = 1.0) -> Task:
    """A cell of rows: ``work`` gives them, all with the same keys."""
    return Task(name, partial(_content, work), cost)


def _content(work: Callable[[], Iterable[Row]]) -> bytes:
    return _table(list(work()))


def _table(rows: Sequence[Row]) -> bytes:
    columns = list(rows[0])
    return csv_bytes([columns, *([row[column] for column in columns] for row in rows)])


def rows_of(found: Found) -> list[dict[str, str]]:
    """The rows of all cells."""
    return [row for content in found.values() for row in csv.DictReader(content.decode().splitlines())]


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """Rows as a CSV file."""
    with writing(path, force=True) as file:
        file.write(_table(rows))


def grouped(rows: Iterable[Row], *columns: str) -> dict[tuple[Any, ...], list[Row]]:
    """Rows that agree in some columns, in the order of their first."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[column] for column in columns), []).append(row)
    return groups


def part(
    name: str,
    tasks: Callable[[Settings], list[Task]],
    summary: Callable[[Settings, list[Row]], None],
    draw: Callable[[list[Row], Path], None] | None = None,
) -> Part:
    """A part that writes all of its rows to one file, prints what they say, and may draw them into a PNG file."""

    def finish(s: Settings, found: Found, folder: Path) -> None:
        rows = rows_of(found)
        if not rows:
            return
        write_rows(folder / f"{name}.csv", rows)
        summary(s, rows)
        if draw:
            draw(rows, folder / f"{name}.png")

    return Part(tasks, finish)
