"""The examples of docstrings and pages may write files: each set of them runs in a folder of its own.

Those of the README run after `make demo` alone, which installs no extra: there the packages of extras cannot be
imported.
"""

import sys

import pytest

EXTRAS = (
    "arviz",
    "dask",
    "dimod",
    "distributed",
    "networkx",
    "pandas",
    "polars",
    "pyarrow",
    "pyreadr",
    "pyreadstat",
)


@pytest.fixture(autouse=True)
def _folder_of_its_own(request, tmp_path, monkeypatch):
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def _only_what_the_demo_installs(request, monkeypatch):
    if isinstance(request.node, pytest.DoctestItem) and request.node.path.name == "README.md":
        for name in EXTRAS:
            monkeypatch.setitem(sys.modules, name, None)  # an import is an ImportError
