"""DATA that workers of a Dask cluster read, each file a task, and add up as a tree."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

if TYPE_CHECKING:
    from ..io import Portion
    from ..lazy import Reduced
    from ..statistics import SpinStatistics
    from ._cluster import Cluster
    from ._reading import Data, Read, ReadGroups, Reading

    Part = tuple[Portion, Reduced[SpinStatistics]]

Result = TypeVar("Result")


def read_on(
    cluster: Cluster,
    data: Data,
    reading: Reading,
    rows: int | None = None,
    all_rows: bool = False,
    heard: Callable[[float, float], None] | None = None,
) -> Read:
    """DATA, read by the workers; notes are those of the files, and not said aloud.

    ``rows`` at a time, if given, and then only some are kept; ``all_rows`` are, if asked for. ``heard`` is told how
    many files have been read, and of how many.
    """
    from ..exceptions import InputError
    from ..io import joined
    from ..lazy import added, tree
    from ._reading import Read

    client, most = cluster.client, sys.maxsize if all_rows else None if rows is None else 0
    name, paths = f"bayesing-{uuid4().hex}", _paths(data)
    how = (reading.array, reading.missing, reading.drop_columns, rows, most)
    read = [
        client.submit(_portion_there, path, k, *how, key=f"{name}-read-{k}", pure=False)
        for k, path in enumerate(paths)
    ]
    heads = [client.submit(itemgetter(0), one, key=f"{name}-head-{k}") for k, one in enumerate(read)]
    bodies = [client.submit(itemgetter(1), one, key=f"{name}-body-{k}") for k, one in enumerate(read)]
    whole = tree(bodies, lambda some: client.submit(added, some, most, pure=False))
    del read, bodies  # what has been added up is not needed any more
    portions = []
    for done, head in enumerate(heads):
        if heard:
            heard(done, len(heads))
        portions.append(cluster.result(head))
        if isinstance(portions[-1], InputError):
            raise portions[-1]
    found = joined(portions, cluster.result(whole), reading.missing)
    return Read(found.statistics, found.encoding, found.notes)


def read_by_on(cluster: Cluster, data: Data, by: str, reading: Reading) -> ReadGroups:
    """DATA by group, read by one worker: what a group is shows in all files together."""
    from ..exceptions import InputError

    future = cluster.client.submit(_groups_there, _paths(data), by, reading, pure=False)
    found: ReadGroups | InputError = cluster.result(future)
    if isinstance(found, InputError):
        raise found
    return found


def _paths(data: Data) -> tuple[str, ...]:
    """Files as workers can find them, whatever folder they are in."""
    from ..io import files_of

    return tuple(os.path.abspath(path) for path in files_of(data))


def _portion_there(path: str, run: int, *how: Any) -> Part | tuple[Any, Any]:
    """On a worker: an error is a value, and both of two."""
    from ..exceptions import InputError
    from ..io import read_portion

    found = _seen([path], lambda: read_portion(path, run, *how))
    return (found, found) if isinstance(found, InputError) else found


def _groups_there(paths: tuple[str, ...], by: str, reading: Reading) -> Any:
    from ._reading import read_by

    return _seen(paths, lambda: read_by(paths, by, reading, aloud=False))


def _seen(paths: tuple[str, ...] | list[str], read: Callable[[], Result]) -> Result | Any:
    """What is read, or an error, which names the worker if that does not see a file."""
    from distributed import get_worker

    from ..exceptions import InputError

    try:
        return read()
    except InputError as error:
        unseen = [path for path in paths if not os.access(path, os.R_OK)]
        if not unseen:
            return error
        worker: Any = get_worker()
        name = worker.address if str(worker.name) == worker.address else f"{worker.name} ({worker.address})"
        cannot = "cannot read it" if os.path.exists(unseen[0]) else "does not see it"
        return InputError(
            f"expected a file that all workers can read, found that the worker {name} {cannot}. Put files into a "
            "folder that all workers see, under the same path."
        ).at(unseen[0])
