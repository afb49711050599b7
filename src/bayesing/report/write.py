"""Data in, one HTML file out."""

from __future__ import annotations

import os
import platform
import time
from datetime import datetime
from importlib.metadata import version

from .. import __version__
from ..files import check_output, writing
from ..threads import threads_for
from .analysis import Analysis, analyse
from .page import Provenance, page
from .pictures import pictures
from .request import Choices, Source
from .watch import Nobody, Step, Watch

_PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "matplotlib")


def write_report(
    path: str | os.PathLike[str],
    source: Source,
    choices: Choices | None = None,
    title: str | None = None,
    command: str = "",
    force: bool = False,
    watch: Watch | None = None,
) -> Analysis:
    """Analyse the data and write a report on them to ``path``, whole or not at all; the numbers are returned."""
    check_output(path, force)
    watch = watch or Nobody()
    start = time.monotonic()
    with threads_for(source.data.n):
        analysis = analyse(source, choices or Choices(), watch)
    watch.begin(Step.PICTURES)
    drawn = pictures(analysis, watch)
    versions = {"bayesing": __version__, "Python": platform.python_version()}
    versions |= {name: version(name) for name in _PACKAGES}
    date = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %z")
    provenance = Provenance(command, versions, date, time.monotonic() - start)
    text = page(analysis, drawn, title or source.name, provenance)
    with writing(path, force) as file:
        file.write(text.encode())
    return analysis
