"""Types of arrays, each defined once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
#: Hears of progress: how much is done, and of how much.
Heard = Callable[[float, float], object]
Integers = NDArray[np.int64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]
Spins = NDArray[np.int8]  # ±1, rows are samples
