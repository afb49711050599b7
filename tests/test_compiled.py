"""Kernels compile where nothing can be cached: a read-only installation, and a home that cannot be written to."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import bayesing as bs

SIMULATE = "import bayesing as bs; print(bs.__file__, bs.simulate(5, 3, 0.5, seed=0).spins.tolist())"


def test_kernels_compile_where_nothing_can_be_cached(tmp_path):
    """A file in the place of each ``__pycache__`` keeps even root from writing there."""
    source = tmp_path / "bayesing"
    shutil.copytree(Path(bs.__file__).parent, source, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [source, *filter(Path.is_dir, source.rglob("*"))]:
        (folder / "__pycache__").touch()
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "HOME": os.devnull, "NUMBA_CACHE_DIR": ""}
    environment.pop("XDG_CACHE_HOME", None)
    command = [sys.executable, "-W", "error", "-c", SIMULATE]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert result.stderr == ""
    expected = bs.simulate(5, 3, 0.5, seed=0).spins.tolist()
    assert result.stdout == f"{source / '__init__.py'} {expected}\n"
