"""Which files: one, a list of them, or all that match a pattern such as ``"day*.csv"``."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path

from ..exceptions import InputError

PathLike = str | os.PathLike[str]
Paths = PathLike | Sequence[PathLike]  # a file, a pattern, or several of either

_NUMBER = re.compile(r"(\d+)")
_LISTED = 2  # files that an error about all of them names


def files_of(source: Paths) -> tuple[Path, ...]:
    """All files, those of a pattern in their natural order; an InputError where there is none, or one twice.

    A name with ``*``, ``?`` or ``[`` in it is a pattern, unless there is a file of exactly that name. ``**`` stands
    for any number of folders.
    """
    given = [source] if isinstance(source, str | os.PathLike) else list(source)
    if not given:
        raise InputError("Expected the name of a file, or several: found none.")
    found = [path for each in given for path in _matching(os.fspath(each))]
    seen: set[str] = set()
    for path in found:
        real = os.path.realpath(path)
        if real in seen:
            raise InputError("expected each file once, found it twice. Leave one out.").at(path)
        seen.add(real)
    return tuple(found)


def _matching(name: str) -> list[Path]:
    if not glob.has_magic(name) or os.path.lexists(name):
        return [Path(name)]
    found = [path for path in map(Path, glob.glob(name, recursive=True)) if path.is_file()]
    if not found:
        raise InputError("expected a pattern that files match, found no such file. Check the path.").at(name)
    return sorted(found, key=natural)


def natural(path: PathLike) -> tuple[tuple[int | str, ...], str]:
    """For sorting by name, with the numbers in it by their size.

    >>> sorted(["day10.csv", "day2.csv", "day1.csv"], key=natural)
    ['day1.csv', 'day2.csv', 'day10.csv']
    """
    name = os.fspath(path)
    parts = _NUMBER.split(name)  # texts and numbers by turns, so that only like is compared with like
    return tuple(int(part) if k % 2 else part for k, part in enumerate(parts)), name


def called(paths: Sequence[Path]) -> str:
    """Files in a few words: the first of them, and how many there are."""
    if len(paths) <= _LISTED:
        return " and ".join(map(str, paths))
    return f"{paths[0]} and {len(paths) - 1} other files"
