"""Files of 10^8 and 10^9 cells in one pass: cells a second, peak memory, and the same bits as with all rows."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

import bayesing as bs
from bayesing.experiments.cells import Task

from coupling_data import cell
from edge_data import claim
from front import Row, Settings, grouped

_AT_A_TIME = 250_000  # rows
_STRENGTH = 0.06  # of the mixing, which makes correlations of some percent
_LEAST_SECONDS = 0.01  # of the processor: what a ratio is taken of

Pieces = Iterator[np.ndarray]

#: What others do who only read the file.
PEERS = {
    "csv": {
        "polars.read_csv": "import polars; polars.read_csv(PATH)",
        "pyarrow": "import pyarrow.csv; pyarrow.csv.read_csv(PATH)",
    },
    "parquet": {
        "polars.read_parquet": "import polars; polars.read_parquet(PATH)",
        "pyarrow": "import pyarrow.parquet; pyarrow.parquet.read_table(PATH)",
    },
    "npy": {"np.load": "import numpy; numpy.load(PATH)"},
}


def reading_tasks(s: Settings) -> list[Task]:
    tasks = [cell(reading, s, kind, N, s.n, cost=N) for kind, N in s.files]
    return [replace(task, name=task.name.replace("/", "")) for task in tasks]  # which are names of files


def reading(s: Settings, kind: str, N: int, n: int) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / f"x.{kind.split()[0]}"
        WRITERS[kind](path, pieces(N, n), n)
        size = path.stat().st_size
        fit = [sys.executable, "-m", "bayesing", "fit", str(path), "--method", "spectral", "--json"]
        commands = {"bayesing fit": fit, "bayesing fit --batch": [*fit, "--batch", str(s.batch)]}
        for peer, code in PEERS[kind.split()[0]].items():
            commands[peer] = [sys.executable, "-c", code.replace("PATH", repr(str(path)))]
        best: dict[str, Run] = {}
        for _ in range(s.repeats):  # programs take turns
            for program, command in commands.items():
                run = measured(command)
                best[program] = min(best.get(program, run), run, key=lambda each: each.seconds)
        J = _in_memory(path) if N * n <= s.in_memory else ""
    for program, run in best.items():
        yield {
            **{"kind": kind, "N": N, "n": n, "megabytes": size / 1e6, "program": program},
            **{"seconds": run.seconds, "processor": run.processor, "peak_megabytes": run.peak},
            **{"J": run.J, "J_in_memory": J},
        }


class Run(NamedTuple):
    """Seconds on the clock and of the processor, peak memory in MB, and J, if the process prints one."""

    seconds: float
    processor: float
    peak: float
    J: float | str


#: Starts a process from a small one, for peak memory counts from that of whoever starts it.
_LAUNCH = """
import json, os, subprocess, sys, time
start = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stderr=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
seconds = time.perf_counter() - start
print(json.dumps([seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, status]), file=sys.stderr)
"""


def measured(command: list[str]) -> Run:
    """Run a process and wait for it."""
    launched = [sys.executable, "-c", _LAUNCH, *command]
    done = subprocess.run(launched, capture_output=True, text=True, check=True)
    seconds, processor, peak, status = json.loads(done.stderr)
    if status:
        raise RuntimeError(f"{' '.join(command)} did not end well: {status}.")
    return Run(seconds, processor, peak, json.loads(done.stdout)["J"] if done.stdout else "")


def _in_memory(path: Path) -> float:
    """J of all rows as one array. The data are signs of normal numbers, which is noticed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.AnotherKindWarning)
        return float(bs.EmpiricalBayes("spectral").fit(bs.read_spins(path).spins).J_)


def pieces(N: int, n: int) -> Pieces:
    """Signs of correlated normal numbers with different means: about 4% of correlation between any two."""
    rng = np.random.default_rng(7)
    mixing = (np.eye(n) + _STRENGTH * rng.standard_normal((n, n))).astype(np.float32)
    shift = 0.3 * rng.standard_normal(n).astype(np.float32)
    for start in range(0, N, _AT_A_TIME):
        normal = rng.standard_normal((min(_AT_A_TIME, N - start), n), np.float32)
        yield np.where(normal @ mixing > shift, np.int8(1), np.int8(-1))


def _write_npy(path: Path, rows: Pieces, n: int) -> None:
    with path.open("wb") as file:
        first = next(rows)
        at = file.tell()
        _header(file, len(first), n)
        N = len(first)
        file.write(first.tobytes())
        for piece in rows:
            N += len(piece)
            file.write(piece.tobytes())
        file.seek(at)
        _header(file, N, n)


def _header(file, N: int, n: int) -> None:
    """One whose length does not depend on the number of rows."""
    about = {"descr": "|i1", "fortran_order": False, "shape": (N, n)}
    text = f"{about!r}".ljust(118 - 1).encode() + b"\n"
    file.write(np.lib.format.magic(1, 0) + len(text).to_bytes(2, "little") + text)


def _tables(rows: Pieces, n: int, lower: int) -> Iterator[pa.Table]:
    names = [f"x{j}" for j in range(n)]
    for piece in rows:
        values = piece if lower < 0 else (piece > 0).astype(np.int8)
        yield pa.table([np.ascontiguousarray(values[:, j]) for j in range(n)], names=names)


def _write_parquet(path: Path, rows: Pieces, n: int) -> None:
    schema = pa.schema([(f"x{j}", pa.int8()) for j in range(n)])
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        for table in _tables(rows, n, -1):
            writer.write_table(table)


def _write_csv(lower: int, path: Path, rows: Pieces, n: int) -> None:
    schema = pa.schema([(f"x{j}", pa.int8()) for j in range(n)])
    how = pyarrow.csv.WriteOptions(quoting_style="none")
    with pyarrow.csv.CSVWriter(path, schema, write_options=how) as writer:
        for table in _tables(rows, n, lower):
            writer.write_table(table)


WRITERS: dict[str, Callable[[Path, Pieces, int], None]] = {
    "npy": _write_npy,
    "parquet": _write_parquet,
    "csv": lambda *arguments: _write_csv(-1, *arguments),
    "csv 0/1": lambda *arguments: _write_csv(0, *arguments),
}


def reading_summary(s: Settings, rows: list[Row]) -> None:
    for (kind, N, n), group in grouped(rows, "kind", "N", "n").items():
        print(f"  {kind}, {int(N):,} samples of {n} spins, {float(group[0]['megabytes']):,.0f} MB")
        for row in group:
            seconds, processor = float(row["seconds"]), max(float(row["processor"]), _LEAST_SECONDS)
            rate = int(N) * int(n) / processor / 1e6
            print(
                f"    {row['program']:20}  {seconds:6.2f} s, of the processor {processor:6.2f} s: {rate:5.0f} "
                f"million cells a second; peak {float(row['peak_megabytes']):5.0f} MB"
            )
    ours = [row for row in rows if row["program"].startswith("bayesing")]
    peak = max(float(row["peak_megabytes"]) for row in ours)
    claim(f"peak memory below {s.most_megabytes} MB: {peak:.0f} MB", peak < s.most_megabytes)
    groups = grouped(ours, "kind").values()
    answers = [{row[name] for row in group for name in ("J", "J_in_memory")} - {""} for group in groups]
    claim("J the same to the last bit, in batches or not, and in memory", all(len(J) == 1 for J in answers))
