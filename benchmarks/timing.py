"""Times that can be compared: functions take turns, and the best time counts, since disturbances only add."""

import time
from collections.abc import Callable


def seconds(*functions: Callable[[], object], repeats: int = 15) -> list[float]:
    """Best time of each function; the first round warms up and does not count."""
    times: list[list[float]] = [[] for _ in functions]
    for round_ in range(repeats + 1):
        for function, record in zip(functions, times, strict=True):
            start = time.perf_counter()
            function()
            if round_:
                record.append(time.perf_counter() - start)
    return [min(record) for record in times]


def processor_seconds(*functions: Callable[[], object], repeats: int, times: int = 1) -> list[float]:
    """Best time of the processor, for a machine that others use too, of functions called ``times`` in a row."""
    best = [float("inf")] * len(functions)
    for _ in range(repeats):
        for k, function in enumerate(functions):
            start = time.process_time()
            for _ in range(times):
                function()
            best[k] = min(best[k], (time.process_time() - start) / times)
    return best
