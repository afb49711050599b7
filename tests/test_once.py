"""Nothing is computed twice: Gram matrices, decompositions, encodings and openings of a file, counted."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

import bayesing as bs
from bayesing import packed, spins

from commands import run_here


class Counter:
    """Calls of functions by a hash of what they are called with."""

    def __init__(self, monkeypatch):
        self.monkeypatch = monkeypatch
        self.calls = {}

    def watch(self, owner, name, content):
        real = getattr(owner, name)

        def counted(*arguments, **options):
            key = hashlib.sha256(np.ascontiguousarray(content(arguments[0])).tobytes()).hexdigest()
            self.calls.setdefault(name, []).append(key)
            return real(*arguments, **options)

        self.monkeypatch.setattr(owner, name, counted)

    def repeated(self):
        """Names of functions that were called twice with the same."""
        return {name for name, keys in self.calls.items() if len(set(keys)) < len(keys)}

    def count(self, *names):
        return sum(len(self.calls.get(name, ())) for name in names)


@pytest.fixture
def counter(monkeypatch):
    counter = Counter(monkeypatch)
    for name in ("samples_gram", "spins_gram"):
        counter.watch(packed.PackedSpins, name, lambda rows: rows.words)
    for name in ("eigh", "eigvalsh"):
        counter.watch(np.linalg, name, lambda matrix: matrix)
    counter.watch(spins, "encode", np.asarray)
    counter.watch(spins, "pack_spins", np.asarray)
    return counter


@pytest.fixture(params=[(30, 200), (60, 25)], ids=["many samples", "few samples"])
def table(request, tmp_path):
    n, N = request.param
    X = bs.simulate(n, N, J=0.5, H=0.2, seed=1, sweeps=3).spins
    path = tmp_path / "data.csv"
    names = ",".join(f"spin {i}" for i in range(n))
    np.savetxt(path, X, fmt="%d", delimiter=",", header=names, comments="")
    return path


def done(*arguments):
    result = run_here(*arguments)
    assert result.exit_code == 0, result.output


def test_fit_forms_and_decomposes_once(table, counter):
    done("fit", table)
    assert counter.count("samples_gram", "spins_gram") == 1
    assert counter.count("eigh", "eigvalsh") == 1
    assert counter.count("encode", "pack_spins") == 0  # bits come from the file


@pytest.mark.parametrize("method", ["auto", "spectral", "pseudolikelihood"])
def test_couplings_form_and_decompose_once(table, counter, method):
    done("couplings", table, "--method", method, "-o", table.with_suffix(".out.csv"))
    assert counter.repeated() == set()
    # Products of samples for moments, where they are few, and of spins for errors; one eigenproblem, and two more of
    # other matrices that speed up searches: for gamma, and for couplings.
    assert counter.count("samples_gram", "spins_gram") <= 2
    assert counter.count("eigh", "eigvalsh") <= (3 if method == "pseudolikelihood" else 1)


@pytest.mark.parametrize("method", ["auto", "pseudolikelihood"])
def test_a_report_forms_each_matrix_once_and_decomposes_it_once(table, counter, method):
    options = ["--couplings-method", method, "--simulations", "0", "--jobs", "1"]
    done("report", table, *options, "-o", table.with_suffix(".html"))
    assert counter.repeated() == set()
    eigen = counter.calls.get("eigh", []) + counter.calls.get("eigvalsh", [])
    assert len(set(eigen)) == len(eigen) and eigen


@pytest.mark.parametrize("command", ["fit", "couplings", "report"])
def test_a_csv_is_opened_at_most_twice(table, command, monkeypatch):
    opened = []
    real = Path.open
    monkeypatch.setattr(Path, "open", lambda self, *a, **k: opened.append(self) or real(self, *a, **k))
    output = {"fit": [], "couplings": ["-o", str(table) + ".out.csv"], "report": ["-o", str(table) + ".html"]}
    more = ["--simulations", "0"] if command == "report" else []
    done(command, table, *output[command], *more)
    assert 1 <= opened.count(table) <= 2


def test_the_counter_can_fail(counter):
    X = bs.SpinStatistics.of(bs.simulate(5, 30, J=0.3, seed=0).spins)
    _ = X.spectrum, X.eigenvectors  # in the wrong order
    _ = X.rows.spins_gram()
    assert counter.repeated() == {"spins_gram"} and counter.count("eigh", "eigvalsh") == 2
