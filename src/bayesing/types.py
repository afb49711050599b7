"""Types of arrays, each defined once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]
Spins = NDArray[np.int8]  # ±1, rows are samples
