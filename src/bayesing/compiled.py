"""Functions compiled by Numba, kept on disk where there is a place for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function when it is first called, to run without the interpreter's lock.

    The machine code is cached beside the source, or else in the home folder. Where neither can be written to, as in
    a container with a read-only installation, each process compiles anew.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(nogil=True, cache=True, **options)(function)
        except RuntimeError:  # no place for a cache
            return numba.njit(nogil=True, **options)(function)

    return decorate
