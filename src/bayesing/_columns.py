"""Columns that several groups have in common."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .exceptions import InputError
from .types import Indices


def common_columns(
    groups: Mapping[str, tuple[tuple[str, ...] | None, int]],
) -> tuple[dict[str, Indices], tuple[str, ...], dict[str, list[str]]]:
    """Which columns of each group all of them have, their names, and which groups lack the others.

    ``groups`` are the names of the columns, if there are any, and their number. Columns are matched by name, in the
    order of the first group, where all groups have names, else by position.
    """
    named = {label: names for label, (names, _) in groups.items() if names}
    sizes = {label: n for label, (_, n) in groups.items()}
    if len(set(sizes.values())) == 1 and len(set(named.values())) <= 1:
        n = max(sizes.values())
        names = next(iter(named.values()), tuple(f"x{i}" for i in range(n)))
        return dict.fromkeys(groups, np.arange(n)), names, {}
    if len(named) < len(groups):
        found = ", ".join(f"{n} in {label}" for label, n in sizes.items())
        raise InputError(
            f"Expected groups with the same columns, or with names by which columns can be matched: found {found}, "
            "and not all of them have names."
        )
    for label, names in named.items():
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(
                f"Expected columns with different names: found {twice!r} twice in group {label}."
            )
    everywhere = set.intersection(*(set(names) for names in named.values()))
    kept = tuple(name for name in next(iter(named.values())) if name in everywhere)
    if len(kept) < 2:
        raise InputError(
            f"Expected at least 2 columns that all groups have: found {len(kept)}. Check the names."
        )
    columns = {
        label: np.array([names.index(name) for name in kept], np.intp) for label, names in named.items()
    }
    others = dict.fromkeys(name for names in named.values() for name in names if name not in everywhere)
    lacking = {name: [label for label, names in named.items() if name not in names] for name in others}
    return columns, kept, lacking
