"""What several modules of tests look at: one report in full, and how often files are opened."""

import builtins
import io
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

import bayesing as bs
from bayesing.report.request import Choices, Source
from bayesing.report.write import write_report
from pages import COMMAND, HOSTILE_NAMES, TITLE, Outline

from samples import gappy, stats

collect_ignore = ["fuzz_readers.py"]  # needs atheris


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A report with names that try to break it: where it is, its text, its numbers and its data."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    spins = bs.simulate(n_spins=20, n_samples=80, J=0.6, H=0.1, seed=3).spins
    names = (*HOSTILE_NAMES, *(f"spin {i}" for i in range(len(HOSTILE_NAMES), 20)))
    read = bs.SpinData.of(spins, names, "0/1")
    source = Source("<data>.csv", stats(read), ("3 rows with <missing> values were left out.",))
    analysis = write_report(path, source, Choices(simulations=40), TITLE, COMMAND)
    return SimpleNamespace(
        path=path, text=path.read_text(encoding="utf-8"), analysis=analysis, spins=spins, source=source
    )


@pytest.fixture(scope="session")
def caused(tmp_path_factory):
    """A report on a common cause and missing cells: where it is, its text and its numbers."""
    path = tmp_path_factory.mktemp("caused") / "report.html"
    analysis = write_report(path, Source("gappy", stats(gappy())), Choices(simulations=0, n_hidden=1))
    return SimpleNamespace(path=path, text=path.read_text(encoding="utf-8"), analysis=analysis)


@pytest.fixture
def opens(monkeypatch):
    """The names of the files that were opened since, by whatever function of Python."""
    opened, seen = io.open, []

    def noting(file, *arguments, **options):
        if isinstance(file, str | os.PathLike):
            seen.append(Path(file).name)
        return opened(file, *arguments, **options)

    for module in (io, builtins):
        monkeypatch.setattr(module, "open", noting)
    return seen


@pytest.fixture(scope="session")
def html(made):
    return Outline(made.text)
