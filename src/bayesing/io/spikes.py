r"""Spike times to binary words: +1 where a cell fires in a bin, -1 where it does not.

Bin k is :math:`[t_{start} + k\,b, \; t_{start} + (k+1)\,b)` for bins of width b, and

.. math:: K = \lfloor (t_{stop} - t_{start}) / b \rfloor

of them are whole; what is left at the end is no bin. Array at the edge of a bin are rarely what they look like in
floating point (0.58/0.02 is 28.999999999999996), so that a time less than a millionth of a bin before an edge, or
less than rounding can tell, counts as on the edge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import number
from ..exceptions import InputError
from ..packed import PackedSpins
from ..spins import varies
from ..types import Array, Spins
from ._record import SpinData, on_constant_spins

_EDGE = 1e-6  # of a bin: a time so close before an edge is on the edge
_IN_ORDER = "rows are bins in the order of time, a series: series=True allows for what they remember."
_ROUNDING = 8  # units in the last place: the error of a few operations


def from_spike_trains(
    times: Any,
    bin: Any,
    t_start: Any = None,
    t_stop: Any = None,
    names: Sequence[str] | None = None,
) -> SpinData:
    """Spins from spike times: a column for each cell, a row for each bin, +1 where a bin holds at least one spike.

    ``times`` is a list of 1-D arrays in any order, one for each cell, in the unit of ``bin``; a dict from names to
    such arrays; a TsGroup of pynapple, in seconds; or a list of neo SpikeTrains, which are converted to their first
    unit. ``bin``, ``t_start`` and ``t_stop`` are numbers in that unit or, with neo, quantities in any.

    Arrays start at 0 and stop with the bin of the last spike; those of pynapple and neo where all have been recorded.
    Spikes outside of that or of a window that was given, or in what is left at its end, are left out and counted in
    ``notes``. So are bins with several spikes, which a binary word cannot tell from one. Rows are in the order of
    time: ``series=True`` of the estimators allows for what they remember.

    >>> from_spike_trains([[0.01, 0.05], [0.02, 0.021]], bin=0.02).spins
    array([[ 1, -1],
           [-1,  1],
           [ 1, -1]], dtype=int8)
    """
    if isinstance(times, Mapping):
        names, times = names or [str(name) for name in times], list(times.values())
    trains = _as_list(times)
    names = _names(trains, names)
    unit = next((train.units for train in trains if _has_unit(train)), None)
    width = number("bin", _in(unit, "bin", bin), least=0)
    if width == 0:
        raise InputError("bin must be above 0: found bin=0.")
    arrays = [_train(train, unit, k) for k, train in enumerate(trains)]
    start, stop = _window(trains, arrays, unit, width, t_start, t_stop)
    epochs = _epochs(trains, start, stop)
    whole = [(first, int(_bins(np.array([last]), first, width)[0])) for first, last in epochs]
    runs = [run for run in whole if run[1] > 0]
    K = sum(bins for _, bins in runs)
    if K < 2:
        raise InputError(
            f"Expected at least 2 whole bins: found {K} from {start:g} to {stop:g} with bin={width:g}. Give t_stop, "
            "or choose narrower ones."
        )
    spins, notes = _words(arrays, [_precision(train) for train in trains], runs, width)
    lengths = None
    if len(epochs) > 1:
        lengths = tuple(bins for _, bins in runs)
        short = f" {len(epochs) - len(runs)} are shorter than a bin and left out." * (len(runs) < len(epochs))
        notes.append(f"the recording has {len(epochs)} epochs, which are runs of their own.{short}")
    rows = PackedSpins.of(spins)
    notes = [*notes, *on_constant_spins(~varies(rows), names), _IN_ORDER]
    return SpinData(rows, names, "spikes", tuple(notes), lengths=lengths)


def _epochs(trains: list[Any], start: float, stop: float) -> list[tuple[float, float]]:
    """Beginnings and ends of what was recorded within the window: where pynapple knows of gaps, several."""
    found = [train.time_support for train in trains if _has_support(train)]
    if all(len(each.start) == 1 for each in found):
        return [(start, stop)]
    spans = {tuple(zip(map(float, each.start), map(float, each.end), strict=True)) for each in found}
    if len(spans) > 1:
        raise InputError(
            "Expected trains that were recorded at the same times: found different time supports. Restrict all to "
            "the same epochs."
        )
    inside = [(max(first, start), min(last, stop)) for first, last in spans.pop()]
    return [(first, last) for first, last in inside if last > first]


def _words(
    arrays: list[Array], precisions: list[float], runs: list[tuple[float, int]], width: float
) -> tuple[Spins, list[str]]:
    """The spins of runs, each from a time on so many bins, and notes on spikes that they do not show."""
    K = sum(bins for _, bins in runs)
    try:
        spins = np.full((K, len(arrays)), -1, np.int8)
    except (MemoryError, ValueError) as error:
        raise InputError(
            f"Expected bins that fit into memory: found {K} for each of {len(arrays)} cells, with bin={width:g}. "
            "Choose wider ones, in the unit of the times."
        ) from error
    outside = filled = several = 0
    for j, (array, eps) in enumerate(zip(arrays, precisions, strict=True)):
        parts, first = [], 0
        for start, length in runs:
            bins = _bins(array, start, width, eps)
            parts.append(bins[(bins >= 0) & (bins < length)].astype(np.int64) + first)
            first += length
        inside = np.concatenate(parts)
        outside += len(array) - len(inside)
        hit, spikes = np.unique(inside, return_counts=True)
        spins[hit, j] = 1
        filled += len(hit)
        several += int(np.count_nonzero(spikes > 1))
    notes = []
    if outside:
        total, end = sum(map(len, arrays)), runs[-1][0] + runs[-1][1] * width
        notes.append(
            f"{outside} of {total} spikes lie outside of the bins, from {runs[0][0]:g} to {end:g}, and are left out."
        )
    if several:
        share = 100 * several / filled
        notes.append(f"with bin = {width:g}, {share:.2g}% of the bins with spikes hold more than one.")
    return spins, notes


def _as_list(times: Any) -> list[Any]:
    try:
        trains = list(times)
    except TypeError as error:
        raise InputError(
            f"times must be a list of arrays, one for each cell: found {type(times).__name__}."
        ) from error
    if len(trains) < 2:
        raise InputError(f"times must be arrays of at least 2 cells: found {len(trains)}.")
    return trains


def _names(trains: list[Any], names: Sequence[str] | None) -> tuple[str, ...] | None:
    if names is None:
        own = [getattr(train, "name", None) for train in trains]
        return tuple(map(str, own)) if own and all(own) else None
    names = tuple(map(str, names))
    if len(names) != len(trains):
        raise InputError(f"Expected as many names as spike trains, {len(trains)}: found {len(names)}.")
    return names


def _has_unit(value: Any) -> bool:
    """Whether this is a quantity, such as a neo SpikeTrain."""
    return hasattr(value, "rescale") and hasattr(value, "units")


def _has_support(train: Any) -> bool:
    """Whether this is a Ts of pynapple, which knows when it was recorded."""
    return hasattr(train, "time_support") and callable(getattr(train, "times", None))


def _recorded(train: Any, unit: Any) -> tuple[float, float] | None:
    """From when to when, where that is known."""
    if _has_support(train):
        return float(train.time_support.start[0]), float(train.time_support.end[-1])
    if _has_unit(train):
        return float(_in(unit, "t_start", train.t_start)), float(_in(unit, "t_stop", train.t_stop))
    return None


def _in(unit: Any, name: str, value: Any) -> Any:
    """A quantity as a plain number or array in ``unit``; anything else as it is."""
    if not _has_unit(value):
        return value
    if unit is None:
        raise InputError(
            f"{name} must be a plain number where times are: found the quantity {value}. Use one unit for all."
        )
    try:
        return value.rescale(unit).magnitude
    except Exception as error:  # whatever the other library makes of metres
        raise InputError(f"{name} must be a time: found {value} ({error}).") from error


def _train(train: Any, unit: Any, k: int) -> Array:
    if unit is not None and not _has_unit(train):
        raise InputError(f"times must all have units, or none: found times[{k}] without.")
    try:
        array = np.asarray(train.times() if _has_support(train) else _in(unit, f"times[{k}]", train))
    except (TypeError, ValueError) as error:
        raise InputError(f"times[{k}] must be an array of times: found something else ({error}).") from error
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iuf"):
        raise InputError(
            f"times must be a list of 1-D arrays of numbers, one for each cell: found {_what(array)} at times[{k}]."
        )
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        at = int(np.argmin(np.isfinite(array)))
        raise InputError(f"times must be finite: found {array[at]} at times[{k}][{at}].")
    return array


def _what(array: NDArray[Any]) -> str:
    kind = "one number" if array.ndim == 0 else f"{array.ndim} dimension(s)"
    return f"{kind} of dtype {array.dtype}"


def _precision(train: Any) -> float:
    """The rounding error of the times as they were given, relative to their size."""
    dtype = getattr(train, "dtype", np.dtype(np.float64))
    return float(np.finfo(dtype).eps) if dtype.kind == "f" else float(np.finfo(np.float64).eps)


def _window(
    trains: list[Any], arrays: list[Array], unit: Any, width: float, t_start: Any, t_stop: Any
) -> tuple[float, float]:
    """From when to when; where it is not given, as the trains have it, or from 0 to the last spike's bin."""
    earliest = min((float(array.min()) for array in arrays if len(array)), default=0.0)
    latest = max((float(array.max()) for array in arrays if len(array)), default=0.0)
    spans = [span for span in (_recorded(train, unit) for train in trains) if span is not None]
    if t_start is not None:
        start = number("t_start", _in(unit, "t_start", t_start))
    elif spans:
        start = max(first for first, _ in spans)
    elif earliest < 0:
        raise InputError(
            f"Expected times from 0 on, where no t_start is given: found {earliest:g}. Give t_start."
        )
    else:
        start = 0.0
    if t_stop is not None:
        stop = number("t_stop", _in(unit, "t_stop", t_stop))
    elif spans:
        stop = min(last for _, last in spans)
    else:
        eps = max((_precision(train) for train in trains), default=0.0)
        stop = start + width * (float(_bins(np.array([latest]), start, width, eps)[0]) + 1)
    if not stop > start:
        raise InputError(f"t_stop must be after t_start: found t_start={start:g} and t_stop={stop:g}.")
    return start, stop


def _bins(times: Array, start: float, width: float, eps: float = float(np.finfo(np.float64).eps)) -> Array:
    """The number of the bin of each time, as a float, for it may be far outside."""
    slack = np.maximum(_EDGE, _ROUNDING * eps * (np.abs(times) + abs(start)) / width)
    return np.asarray(np.floor((times - start) / width + np.minimum(slack, 0.5)))
