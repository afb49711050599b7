"""Speed of reading, as ratios within one run: ``make bench``. No test depends on these numbers.

NumPy files against np.load and the one float32 product (X^T X or X X^T) that a fit cannot do without; text against
np.loadtxt and pyarrow.
"""

import tempfile
from pathlib import Path

import numpy as np
from pyarrow import csv

import bayesing as bs
from bayesing.io import read_spins

from timing import seconds


def spins_of(N: int, n: int) -> np.ndarray:
    return 2 * np.random.default_rng(0).integers(0, 2, (N, n), dtype=np.int8) - 1


def write_text(path: Path, spins: np.ndarray, up: str, down: str) -> None:
    with path.open("w") as file:
        for start in range(0, len(spins), 10_000):
            rows = np.where(spins[start : start + 10_000] > 0, up, down).tolist()
            file.writelines(",".join(row) + "\n" for row in rows)


def arrays(folder: Path, N: int, n: int) -> None:
    print(f"\n.npy, {N} samples of {n} spins, against np.load and one float32 product")
    spins = spins_of(N, n)
    single = spins.astype(np.float32)
    single = single.T if N > n else single
    for dtype in (np.int8, np.int64, np.float64):
        path = folder / "x.npy"
        np.save(path, spins.astype(dtype))
        load, product, read, fit = seconds(
            lambda path=path: np.load(path),
            lambda: single @ single.T,
            lambda path=path: read_spins(path),
            lambda path=path: bs.EmpiricalBayes().fit(read_spins(path)),
            repeats=5,
        )
        print(
            f"  {np.dtype(dtype).name:8} np.load {load:5.2f} s   product {product:5.2f} s   read_spins {read:5.2f} s"
            f"   with fit {fit:5.2f} s"
        )


def text(folder: Path, N: int, n: int) -> None:
    print(f"\n.csv, {N} samples of {n} spins")
    spins, path = spins_of(N, n), folder / "x.csv"
    columns = csv.ReadOptions(use_threads=False, autogenerate_column_names=True)
    for up, down in (("1", "0"), ("1", "-1"), ("1.0", "0.0"), ("yes", "no")):
        write_text(path, spins, up, down)
        others = [lambda: csv.read_csv(path, read_options=columns)]
        if up != "yes":
            others.append(lambda: np.loadtxt(path, np.float64, delimiter=","))
        read, *times = seconds(lambda: read_spins(path), *others, repeats=2)
        names = ("pyarrow, one thread, as columns", "loadtxt")
        more = "".join(
            f"   {name} {time:5.2f} s, {time / read:.1f} times that"
            for name, time in zip(names, times, strict=False)
        )
        print(
            f"  {up:>4}/{down:4} read_spins {read:5.2f} s, {path.stat().st_size / read / 1e6:.0f} MB/s{more}"
        )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        arrays(Path(name), 1_000_000, 50)
        arrays(Path(name), 500, 20_000)
        text(Path(name), 200_000, 50)
        text(Path(name), 500, 20_000)
