"""Arguments that many functions take: counts, numbers and seeds, checked the same way everywhere."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Seed = int | np.random.SeedSequence | np.random.Generator | np.random.RandomState | None

LARGEST_NUMBER = 1e15  # of a coupling, a field, J or gamma: far beyond any use, and nothing overflows


def count(name: str, value: Any, least: int) -> int:
    """``value`` as an int, or a ValueError unless it is a whole number of at least ``least``."""
    try:
        number = operator.index(value)
    except TypeError as error:
        raise ValueError(f"{name} must be a whole number: found {value!r}.") from error
    if number < least:
        raise ValueError(f"{name} must be at least {least}: found {name}={number}.")
    return number


def number(name: str, value: Any, least: float = -LARGEST_NUMBER, most: float = LARGEST_NUMBER) -> float:
    """``value`` as a float, or a ValueError unless it is a finite number from ``least`` to ``most``."""
    try:
        result = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be a number: found {value!r}.") from error
    if not (least <= result <= most):
        bounds = f"from {least:g} to {most:g}"
        raise ValueError(f"{name} must be a finite number {bounds}: found {name}={result:g}.")
    return result


def check_flag(name: str, value: Any) -> bool:
    """``value``, or a ValueError unless it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False: found {value!r}.")
    return bool(value)


def numbers(name: str, values: Any, least: float = -LARGEST_NUMBER) -> NDArray[np.float64]:
    """``values`` as a float64 array, or a ValueError that names the first entry at fault.

    The array is a new one, except where ``values`` is one already that nobody can write to.
    """
    if np.ma.is_masked(values):
        raise ValueError(f"{name} must be numbers: found masked ones.")
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufO":
            raise TypeError(f"an array of dtype {array.dtype}")
        frozen = array is values and array.base is None and not array.flags.writeable
        array = np.array(array, dtype=np.float64, copy=None if frozen else True)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be real numbers: found something else ({error}).") from error
    if array.size and not (array.min() >= least and array.max() <= LARGEST_NUMBER):  # also for NaN
        place = np.argwhere(~((array >= least) & (array <= LARGEST_NUMBER)))[0].tolist()
        where = f" at {name}[{', '.join(map(str, place))}]" if place else ""
        found = array[tuple(place)]
        raise ValueError(
            f"{name} must be finite, from {least:g} to {LARGEST_NUMBER:g}: found {found:g}{where}."
        )
    return array


def seed_sequence(seed: Seed, default: int = 0) -> np.random.SeedSequence:
    """What independent streams are spawned from; None is a fixed choice, and a Generator is drawn from."""
    if isinstance(seed, np.random.SeedSequence):
        return np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key)
    if isinstance(seed, np.random.Generator | np.random.RandomState):
        return np.random.SeedSequence(int(generator(seed).integers(2**63)))
    generator(seed)
    return np.random.SeedSequence(default if seed is None else seed)


def generator(seed: Seed) -> np.random.Generator:
    """A random generator from an int, a SeedSequence, a Generator (used as it is) or None (unpredictable).

    The same seed gives the same numbers, for any number of threads or workers.
    """
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"seed must be an int that is not negative, a SeedSequence, a Generator or None: found {seed!r}."
        ) from error
