"""Feed readers with what atheris makes of good files: ``python tests/fuzz_readers.py FOLDER -max_total_time=3600``.

The first byte of an input chooses the extension. What is found to fail is left in the folder above ``FOLDER``, the
corpus, as ``crash-...``. Options are those of libFuzzer.
"""

import sys
import tempfile
import warnings
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["bayesing.io", "bayesing.files"]):
    from bayesing.io._layout import DEFAULT_DELIMITER
    from bayesing.io._open import EXTENSIONS

    from hostile import check_reader, check_text, compressed, seeds, zipped

KINDS = (*EXTENSIONS, ".csv.gz", ".npy.gz", "npz of npy")
FOLDER = Path(tempfile.mkdtemp(prefix="bayesing-fuzz-"))


def one_input(data):
    """Write it to a file and read that."""
    kind, content = KINDS[data[0] % len(KINDS)] if data else ".csv", bytes(data[1:])
    if kind == "npz of npy":
        kind, content = ".npz", zipped({"spins": content})
    elif kind.endswith(".gz"):
        kind, content = compressed(kind.removesuffix(".gz"), content, "gz")
    path = FOLDER / f"x{kind}"
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_reader(path)
        if kind in DEFAULT_DELIMITER:
            check_text(path, chunk=5)


def write_corpus(folder):
    """Good files, to begin with."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, kind in enumerate(KINDS):
        inner = {".csv.gz": ".csv", ".npy.gz": ".npy", "npz of npy": ".npy"}.get(kind, kind)
        for k, content in enumerate(seeds(inner)):
            (folder / f"seed-{number}-{k}").write_bytes(bytes([number]) + content)


if __name__ == "__main__":
    write_corpus(Path(sys.argv[1]))
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
