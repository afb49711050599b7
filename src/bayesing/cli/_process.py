"""What surrounds a process: Ctrl-C, which is exit code 130, and standard streams that may be closed.

Nothing that takes time to import is needed here, so that Ctrl-C is heard from the beginning.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

INTERRUPTED = 130  # exit code: 128 and the number of the signal, as shells have it


def process(program: Callable[[], None]) -> None:
    """Run a program: the first Ctrl-C unwinds it, and one that comes later, or at its end, ends it at once."""
    heard = False

    def interrupt(*_: object) -> NoReturn:
        nonlocal heard
        heard = True
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        raise KeyboardInterrupt

    def unheard(of: sys.UnraisableHookArgs) -> None:  # a compiler's callback cannot raise, and swallows it
        if issubclass(of.exc_type, KeyboardInterrupt):
            signal.signal(signal.SIGINT, interrupt)
            threading.Timer(0.01, signal.raise_signal, [signal.SIGINT]).start()
        else:
            sys.__unraisablehook__(of)

    sys.unraisablehook = unheard
    try:
        try:
            if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as shells set it for the background
                signal.signal(signal.SIGINT, interrupt)
            _open_streams()
            program()
        finally:  # may be interrupted as well
            if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
                signal.signal(signal.SIGINT, signal.SIG_DFL)
    except KeyboardInterrupt:
        interrupted()
    except BaseException as error:
        if heard and not (isinstance(error, SystemExit) and error.code == INTERRUPTED):
            interrupted()  # another library has made something else of it
        raise


def interrupted() -> NoReturn:
    """Say so, and end."""
    with suppress(OSError):
        print("interrupted", file=sys.stderr)
    sys.exit(INTERRUPTED)


def _open_streams() -> None:
    """Standard streams that are closed lead nowhere; or the next file to be opened would take their place."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            os.set_inheritable(
                os.open(os.devnull, os.O_RDWR), True
            )  # it takes the lowest number that is free
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def give_up(stream: int) -> None:
    """Let standard output (1) or error (2) lead nowhere, or the interpreter tries once more to write what is left."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
