"""Files of spins to test with."""

import gzip

import numpy as np
import pandas as pd
import polars as pl

from bayesing.io import _arrays, _layout, _parquet, _text

X = np.array(
    [[1, -1, 1, 1], [-1, -1, 1, -1], [1, 1, 1, -1], [-1, 1, -1, -1], [-1, -1, 1, 1], [1, -1, -1, -1]], np.int8
)
HEADER = "a,b,c,d\n"
NAMES = ("a", "b", "c", "d")

GAPS = [["1", "", "0"], ["0", "1", "1"], ["1", "NA", "0"], ["0", "1", "0"], ["1", "0", "1"]]
WITH_GAPS = [[1, 0, -1], [-1, 1, 1], [1, 0, -1], [-1, 1, -1], [1, -1, 1]]
WITHOUT_ROWS = [[-1, 1, 1], [-1, 1, -1], [1, -1, 1]]
WITHOUT_COLUMNS = [[1, -1], [-1, 1], [1, -1], [-1, -1], [1, 1]]


def lines(rows, delimiter=","):
    return "".join(delimiter.join(map(str, row)) + "\n" for row in rows)


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def written_as(spins, up, down):
    return np.where(spins > 0, up, down)


def gaps_in(path):
    """The same table, in the format of the extension."""
    text = "a,b,c\n" + lines(GAPS)
    numbers = np.array([[float(cell) if cell in "01" and cell else np.nan for cell in row] for row in GAPS])
    frame = pd.DataFrame(numbers, columns=list("abc"))
    if path.suffix == ".csv":
        write(path, text)
    elif path.suffix == ".npy":
        np.save(path, numbers)
    elif path.name == "floats.parquet":
        frame.to_parquet(path)
    elif path.name == "integers.parquet":
        frame.astype("Int64").to_parquet(path)
    elif path.name == "bools.parquet":
        frame.astype("boolean").to_parquet(path)
    elif path.name == "decimals.parquet":
        pl.from_pandas(frame).with_columns(pl.all().fill_nan(None).cast(pl.Decimal(3, 0))).write_parquet(path)
    else:
        texts = pd.DataFrame(
            [[{"1": "yes", "0": "no"}.get(c) for c in row] for row in GAPS], columns=list("abc")
        )
        texts.astype("category" if path.name == "categories.parquet" else "str").to_parquet(path)
    return path


def small_chunks(monkeypatch, size):
    """Files are read so many cells, or bytes of text, at a time."""
    for module in (_arrays, _parquet, _text):
        monkeypatch.setattr(module, "CHUNK", size)
    monkeypatch.setattr(_layout, "_BEGINNING", 4 * size)


def big(path, spins):
    """Spins in a file, in the format of the extension."""
    if path.suffix == ".parquet":
        pl.DataFrame(spins, schema=[f"x{j}" for j in range(spins.shape[1])]).write_parquet(
            path, row_group_size=100
        )
    elif path.suffix == ".npy":
        np.save(path, spins)
    elif path.suffix == ".npz":
        np.savez_compressed(path, spins=spins, other=np.zeros(3))
    else:
        text = lines(spins.tolist()).encode()
        write(path, gzip.compress(text, 1) if path.suffix == ".gz" else text)
    return path
