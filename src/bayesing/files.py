"""Files written whole or not at all, and NumPy files read without ever unpickling."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from .exceptions import InputError, Setting


@contextmanager
def writing(path: str | os.PathLike[str], force: bool = False) -> Iterator[IO[bytes]]:
    """A file that appears under ``path`` complete or not at all; an existing one is kept unless ``force``."""
    check_output(path, force)
    path = Path(os.path.realpath(path))  # a link stays a link, and its target is replaced
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".bayesing-")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def check_output(path: str | os.PathLike[str], force: bool = False) -> None:
    """Raise a ValueError where :func:`writing` would, before any work is done."""
    path = Path(path)
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise ValueError(f"{path}: expected an existing directory, found none named {folder}. Make it first.")
    if path.is_dir():
        raise ValueError(f"{path}: expected the name of a file to write, found a directory.")
    if os.path.lexists(path) and not force:
        raise InputError(
            f"{path}: the file exists already. Choose another name, or overwrite it with ",
            Setting("force"),
            ".",
        )
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{path}: expected a directory that can be written to, found that {folder} cannot.")


def check_folder(path: str) -> None:
    """Raise a ValueError unless ``path`` is a folder that can be written to, or can be made one."""
    if not path:
        raise ValueError("expected the name of a folder, found an empty one.")
    folder = Path(os.path.abspath(path))
    while not os.path.lexists(folder):
        folder = folder.parent
    if not folder.is_dir():
        raise ValueError(f"expected the name of a folder, found that {folder} is not one. Choose another.")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"expected a folder that can be written to, found that {folder} cannot.")


def check_input(path: Path) -> None:
    """Raise a ValueError unless there is a file to read."""
    if not path.is_file():
        found = "a directory" if path.is_dir() else "something else" if path.exists() else "no such file"
        raise ValueError(f"expected a file, found {found}. Check the path.")


def load_arrays(path: Path) -> NDArray[Any] | dict[str, NDArray[Any]]:
    """The array of an .npy file, or the arrays of an .npz by name. A ValueError says what is wrong with it."""
    check_input(path)
    with numpy_errors(), path.open("rb") as file:
        loaded = np.load(file, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        return {name: loaded[name] for name in loaded.files}


@contextmanager
def numpy_errors() -> Iterator[None]:
    """Whatever goes wrong in reading a NumPy file becomes a ValueError of one sentence."""
    try:
        yield
    except Exception as error:  # a damaged file makes NumPy's reader fail in a dozen ways
        if isinstance(error, ValueError) and ("pickle" in str(error) or "magic string is not" in str(error)):
            raise ValueError(
                "expected an array of numbers, found Python objects or a file that is not NumPy's. "
                "Pickles are not opened; save the data as an array of integers."
            ) from error
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ValueError(f"expected a NumPy file, found one that is empty or damaged ({reason}).") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
