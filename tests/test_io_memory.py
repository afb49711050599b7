import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from bayesing import packed
from bayesing.io import _memory, memory_of, open_table, read_spins

from samples import random_spins
from tables import big


def test_memory_that_a_file_needs(tmp_path):
    spins = random_spins(30_000, 20)
    exact = _memory.memory_needed(*spins.shape)
    assert exact > spins.nbytes
    for name, tolerance in (("x.npy", 0), ("x.npz", 0), ("x.parquet", 0), ("x.csv", 0.02), ("x.csv.gz", 0.3)):
        path = big(tmp_path / name, spins)
        assert memory_of(path) == pytest.approx(exact, rel=tolerance)
        assert memory_of(open_table(path)) == memory_of(path)


@pytest.mark.parametrize(("N", "n"), [(20_000, 100), (1000, 2000), (1500, 1500)])
def test_memory_needed_is_what_reading_and_a_decomposition_take(tmp_path, monkeypatch, N, n):
    monkeypatch.setattr(packed, "_by_blas", lambda _: True)  # whatever other tests have loaded
    path = big(tmp_path / "x.npy", random_spins(N, n))
    read_spins(path)  # imports
    tracemalloc.start()
    rows = read_spins(path).rows
    gram = rows.spins_gram() if n < N else rows.samples_gram()
    np.linalg.eigh(gram.astype(np.float64))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < memory_of(path) < 3 * peak


PEAK = """
import resource, sys
import numpy as np
from bayesing.io import read_spins
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
read_spins(sys.argv[1])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_reading_takes_a_fraction_of_the_file(tmp_path):
    """Bits and a copy of them make 2/8 of a file of int8; a chunk and what is made of it is a few megabytes."""
    pytest.importorskip("resource")
    path = big(tmp_path / "x.npy", np.tile(random_spins(1000, 256), (200, 1)))
    result = subprocess.run([sys.executable, "-c", PEAK, path], capture_output=True, text=True, check=True)
    peak = 1024 * int(result.stdout)
    assert peak < 0.45 * path.stat().st_size


def test_memory_available(monkeypatch):
    assert 2**20 < _memory.memory_available() < 2**50
    monkeypatch.setattr(_memory, "_cgroup", lambda: 123)
    assert _memory.memory_available() == 123
    monkeypatch.setattr(_memory, "_cgroup", lambda: None)
    monkeypatch.setattr(_memory, "_meminfo", lambda: None)
    assert _memory.memory_available() is None
