"""Files written whole or not at all, and NumPy files read without ever unpickling."""

from __future__ import annotations

import os
import re
import secrets
import signal
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from .exceptions import InputError, Setting
from .texts import visible

_PREFIX = ".bayesing-"  # of the names of temporary files
_TEMPORARY = re.compile(re.escape(_PREFIX) + "[0-9a-f]{16}")  # their whole names
_unfinished: set[Path] = set()  # temporary files of this process


@contextmanager
def writing(path: str | os.PathLike[str], force: bool = False) -> Iterator[IO[bytes]]:
    """A file that appears under ``path`` complete or not at all; an existing one is kept unless ``force``.

    What is written goes to a temporary file beside it, which is removed if anything goes wrong, SIGTERM included. One
    whose process was killed is removed by the next that writes to the same folder. An existing file keeps its mode.
    """
    check_output(path, force)
    target = Path(os.path.realpath(path))  # a link stays a link, and its target is replaced
    _remove_leftovers(target.parent)
    with _removed_on_sigterm(), _temporary(target.parent) as (handle, temporary):
        try:
            if force and target.exists():
                os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
            with os.fdopen(handle, "wb") as file:
                yield file
        except OSError as error:  # such as a full disk
            error.filename = error.filename or os.fspath(path)
            raise
        try:
            _move(temporary, target, force)
        except FileExistsError as error:
            raise _exists(path) from error


@contextmanager
def _temporary(folder: Path) -> Iterator[tuple[int, Path]]:
    """A new file, with the mode of new files, open for writing; it is locked as long as this lasts, and then gone."""
    while True:
        temporary = folder / f"{_PREFIX}{secrets.token_hex(8)}"
        _unfinished.add(temporary)
        lock = None
        try:
            handle = os.open(
                temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666
            )
            lock = _lock(handle)
            if lock is not None and not os.fstat(lock).st_nlink:
                os.close(handle)  # another process took it for left over before it was locked
                continue
            yield handle, temporary
            return
        finally:
            temporary.unlink(missing_ok=True)
            _unfinished.discard(temporary)
            if lock is not None:
                os.close(lock)


def _move(temporary: Path, target: Path, force: bool) -> None:
    """Give a file its name; FileExistsError if there is one of that name, unless ``force``."""
    if force:
        os.replace(temporary, target)
        return
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if os.path.lexists(target):
            raise FileExistsError from None
        os.replace(temporary, target)


def _remove_leftovers(folder: Path) -> None:
    """Remove temporary files whose process ended without removing them: nobody holds their locks."""
    for path in folder.glob(f"{_PREFIX}*"):
        if not _TEMPORARY.fullmatch(path.name):
            continue
        with suppress(OSError):  # another's file, or gone by now
            handle = os.open(path, os.O_WRONLY)
            lock = _lock(handle, wait=False)
            os.close(handle)
            if lock is not None:
                path.unlink()
                os.close(lock)


def _lock(handle: int, wait: bool = True) -> int | None:
    """Lock an open file, until the descriptor that is returned is closed, too; None where that is not possible."""
    if sys.platform == "win32":  # where a file that is open cannot be removed
        return None
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return None
    return os.dup(handle)


@contextmanager
def _removed_on_sigterm() -> Iterator[None]:
    """Remove temporary files before a SIGTERM ends the process; programs with a handler of their own keep it."""
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _remove_and_end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _remove_and_end(*_: object) -> None:
    for temporary in tuple(_unfinished):
        with suppress(OSError):
            temporary.unlink()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.raise_signal(signal.SIGTERM)


def check_output(path: str | os.PathLike[str], force: bool = False) -> None:
    """Raise an InputError where :func:`writing` would, before any work is done."""
    path = Path(path)
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise InputError(f"expected an existing directory, found none named {folder}. Make it first.").at(
            path
        )
    if path.is_dir():
        raise InputError("expected the name of a file to write, found a directory.").at(path)
    if os.path.lexists(path) and not force:
        raise _exists(path)
    if not os.access(folder, os.W_OK):
        raise InputError(f"expected a directory that can be written to, found that {folder} cannot.").at(path)


def _exists(path: str | os.PathLike[str]) -> InputError:
    sentence = "the file exists already. Choose another name, or overwrite it with "
    return InputError(sentence, Setting("force"), ".").at(path)


def check_folder(path: str) -> None:
    """Raise an InputError unless ``path`` is a folder that can be written to, or can be made one."""
    if not path:
        raise InputError("expected the name of a folder, found an empty one.")
    folder = Path(os.path.abspath(path))
    while not os.path.lexists(folder):
        folder = folder.parent
    if not folder.is_dir():
        raise InputError(f"expected the name of a folder, found that {folder} is not one. Choose another.")
    if not os.access(folder, os.W_OK):
        raise InputError(f"expected a folder that can be written to, found that {folder} cannot.")


def check_input(path: Path) -> None:
    """Raise an InputError unless there is a file to read."""
    if not path.is_file():
        found = "a directory" if path.is_dir() else "something else" if path.exists() else "no such file"
        raise InputError(f"expected a file, found {found}. Check the path.")


def load_arrays(path: Path) -> NDArray[Any] | dict[str, NDArray[Any]]:
    """The array of an .npy file, or the arrays of an .npz by name. An InputError says what is wrong with it."""
    check_input(path)
    with numpy_errors(), path.open("rb") as file:
        loaded = np.load(file, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        return {name: loaded[name] for name in loaded.files}


@contextmanager
def numpy_errors() -> Iterator[None]:
    """Whatever goes wrong in reading a NumPy file becomes an InputError of one sentence."""
    try:
        yield
    except Exception as error:  # a damaged file makes NumPy's reader fail in a dozen ways
        if isinstance(error, ValueError) and ("pickle" in str(error) or "magic string is not" in str(error)):
            raise InputError(
                "expected an array of numbers, found Python objects or a file that is not NumPy's. "
                "Pickles are not opened; save the data as an array of integers."
            ) from error
        raise damaged("a NumPy file", error) from error


def damaged(what: str, error: Exception) -> InputError:
    """An error of one line from whatever another library makes of a damaged file."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    line = visible(reason.split("\n")[0])  # it may quote bytes of the file
    return InputError(f"expected {what}, found one that is empty or damaged ({line}).")
