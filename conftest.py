"""The examples of docstrings and pages may write files: each set of them runs in a folder of its own."""

import pytest


@pytest.fixture(autouse=True)
def _folder_of_its_own(request, tmp_path, monkeypatch):
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(tmp_path)
