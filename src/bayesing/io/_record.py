"""Spins with what is known about them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..spins import copies_of
from ..types import Spins


@dataclass(frozen=True, eq=False)
class SpinData:
    """Spins (int8, ±1, N x n) from a file or from spike times.

    ``names`` are those of the columns, if there are any. ``encoding`` says how the spins were written: "±1", "0/1",
    "yes/no", ..., or several of them. ``notes`` are sentences on what was left out or taken for granted.
    """

    spins: Spins
    names: tuple[str, ...] | None = None
    encoding: str = "±1"
    notes: tuple[str, ...] = ()


def on_constant_spins(constant: NDArray[np.bool_], names: Sequence[str] | None = None) -> tuple[str, ...]:
    """A note on the spins that never change, if there are any."""
    found = np.flatnonzero(constant).tolist()
    if not found:
        return ()
    listed = listing([f"'{names[j]}'" if names else f"column {j + 1}" for j in found])
    what = "is" if len(found) == 1 else "are"
    return (
        f"{len(found)} of {len(constant)} spins {what} the same in all samples ({listed}): the data say "
        "nothing about couplings of such spins, but H counts them. Leave them out for H of the others.",
    )


def on_copies(spins: Spins, names: Sequence[str] | None = None) -> tuple[str, ...]:
    """A note on spins that vary but are equal or opposite in all samples, if that is no accident."""
    N, n = spins.shape
    if N < 10 + 2 * math.log2(n):
        return ()
    pairs = [
        " and ".join(f"'{names[k]}'" if names else f"column {k + 1}" for k in (i, j))
        for i, j, _ in copies_of(spins)
    ]
    if not pairs:
        return ()
    return (
        f"spins are copies of each other, or opposites, in all samples ({listing(pairs)}): a pair of them may decide "
        "J. Leave one out.",
    )


def listing(texts: Sequence[str]) -> str:
    """The first three, and dots for more."""
    return ", ".join(texts[:3]) + (", ..." if len(texts) > 3 else "")
