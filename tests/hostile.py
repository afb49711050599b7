"""Files that try to break the readers: seeds of every format, ways to damage them, and what must hold of any."""

import bz2
import gzip
import io
import lzma
import random
import resource
import time
import zipfile
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from bayesing.io import _text, read_batches, read_spins
from bayesing.io._open import EXTENSIONS

SECONDS = 20.0  # for a file of some kilobytes, on a busy machine
MEGABYTES = 500  # of memory more than before

TEXTS = (
    "a,b,c\n1,0,1\n0,1,1\n1,1,0\n0,0,1\n",
    "1;-1;1\n-1;-1;1\n1;1;-1\n",
    "0\t1\n1\t0\n\t1\n1\tNA\n",
    '\ufeff"x y"\t"z"\r\nyes\tno\r\nno\tno\r\nyes\tyes\r\n',
    "# a b c\n 1 0 1\n 0  1 1\n 1 1 0\n",
    ",a,b\n0,1,0\n1,0,0\n2,1,1\n3,0,1\n",
    '"1,0",1,"0,0"\n"0,0",0,"1,0"\n1,1,"1,000"\n',
    "1|0|\r1|1|\r0|?|\r",
    "t,y,n\n1,0,1\n.,-,1\n1,1,#N/A\n",
    "101,102,103\n1,0,1\n1,1,0\n0,1,1\n\n\n",
)


@cache
def seeds(extension):
    """Small files of a format, as bytes; one of a format that is new to this list is empty."""
    if extension in (".csv", ".tsv", ".txt", ".dat"):
        return tuple(text.encode() for text in TEXTS)
    if extension == ".npy":
        return tuple(_npy(array) for array in _arrays())
    if extension == ".npz":
        return tuple(zipped({"spins": _npy(array)}) for array in _arrays())
    if extension == ".parquet":
        return tuple(_parquet(table) for table in _tables())
    return (b"",)


def _arrays():
    X = np.where(np.random.default_rng(0).random((7, 4)) < 0.5, 1, -1)
    yield from (X.astype(kind) for kind in ("i1", "i8", ">i4", "f4", "f8", "f2"))
    yield np.asfortranarray(X.astype("f8"))
    yield X > 0
    yield np.where(X > 0, "yes", "no")
    yield np.asfortranarray(np.where(X > 0, "1", "").astype(">U3"))
    yield np.where(X > 0, b"y", b"n")
    yield np.where(X > 0, 1, np.nan)
    yield np.empty((0, 3))
    yield X.astype("c8")


def _npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def zipped(members):
    """An .npz of these contents."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


def _tables():
    frame = pd.DataFrame({"a": [1, 0, 1, 0], "b": [0, 0, 1, 1], "c": [1, 1, 0, 0]})
    yield pa.Table.from_pandas(frame)
    yield pa.Table.from_pandas(frame.set_index("a"))
    yield pa.Table.from_pandas(frame.astype("float64").where(frame > 0))
    yield pa.Table.from_pandas(frame.astype(bool).astype(str).astype("category"))
    yield pa.Table.from_pandas(frame.astype(bool).astype(str))
    yield pa.table(
        {"t": pa.array([2**62, 0, 1, -(2**62)], pa.timestamp("us")), "a": [1, 0, 1, 1], "b": [0, 1, 1, 0]}
    )
    yield pa.table({"l": [[1], [], None, [0, 1]], "a": [1, 0, 1, 1], "b": [b"1", b"0", b"\xff", None]})


def _parquet(table):
    file = io.BytesIO()
    pq.write_table(table, file, compression="none", use_dictionary=len(table.schema) % 2 == 1)
    return file.getvalue()


def damaged(content, rng, others):
    """The same with a few bytes, or pieces, that are not as they were."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        at = rng.randrange(len(data) + 1)
        piece = rng.choice(others)
        start = rng.randrange(len(piece) + 1)
        kind = rng.randrange(8)
        if kind == 0 and data:
            data[at % len(data)] ^= 1 << rng.randrange(8)
        elif kind == 1 and data:
            data[at % len(data)] = rng.choice(b"\x00\xff\x7f\x80\"\r\n,;\t |#-0129eN.{}()'")
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            del data[at : at + rng.randrange(1, 16)]
        elif kind == 4:
            data[at:at] = piece[start : start + rng.randrange(1, 64)]
        elif kind == 5:
            data[at : at + 8] = rng.choice((0, 1, 2**31 - 1, 2**32 - 1, 2**63 - 1, 10**8)).to_bytes(
                8, "little"
            )
        elif kind == 6:
            data[at:at] = data[at : at + rng.randrange(1, 64)] * rng.randrange(1, 40)
        else:
            numbers = (
                b"0",
                b"-1",
                b"99999999",
                b"1000000000000",
                b"True",
                b"<U9999999",
                b"|S0",
                b"|O",
                b"<M8[us]",
            )
            data[at : at + rng.randrange(4)] = rng.choice(numbers)
    return bytes(data)


def hostile(seed):
    """A damaged file by the number of a seed: its extension and its content."""
    rng = random.Random(seed)
    extension = rng.choice(EXTENSIONS)
    if extension == ".npz" and rng.random() < 0.7:  # damage inside of the archive, not to it
        inner = seeds(".npy")
        content = damaged(rng.choice(inner), rng, inner)
        return extension, zipped({rng.choice(("spins", "x", "")): content})
    content = damaged(rng.choice(seeds(extension)), rng, seeds(extension))
    if extension not in (".npz", ".parquet") and rng.random() < 0.2:
        extension, content = compressed(extension, content, rng.choice(("gz", "bz2", "xz", "zst")))
        if rng.random() < 0.3:
            content = damaged(content, rng, (content,))
    return extension, content


def compressed(extension, content, name):
    """Compressed, with the extension of that."""
    kinds = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    packed = kinds[name](content) if name in kinds else pa.compress(content, codec="zstd", asbytes=True)
    return f"{extension}.{name}", packed


def outcome(path, **settings):
    """What comes of reading a file: the data, or a ValueError. Anything else is raised."""
    try:
        found = read_spins(path, **settings)
    except ValueError as error:
        return type(error).__name__, str(error)
    return found.spins.tolist(), found.names, found.encoding, found.notes


def check_reader(path):
    """A file can be read or is a ValueError, in bounded time and memory, and at once as in batches."""
    start, before = time.monotonic(), _peak()
    whole = outcome(path)
    try:
        batches = list(read_batches(path, rows=2))
        assert [row for batch in batches for row in batch.spins.tolist()] == whole[0]
        assert batches[-1].encoding == whole[2]
    except ValueError:
        assert isinstance(whole[0], str)
    assert time.monotonic() - start < SECONDS
    assert _peak() - before < MEGABYTES
    return whole


def check_text(path, chunk=None):
    """The slow way to read text gives the same, to the word of an error; so do blocks of another size."""
    fast, chunk_before = _text._fast, _text.CHUNK
    found = outcome(path)
    try:
        _text._fast = lambda *_: None
        assert outcome(path) == found
        if chunk:
            _text._fast, _text.CHUNK = fast, chunk
            again = outcome(path)
            assert (
                again == found if len(found) > 2 else len(again) == 2
            )  # of two errors, either may come first
    finally:
        _text._fast, _text.CHUNK = fast, chunk_before
    return found


def _peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
