"""Couplings as a file of the format that its name ends in."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO

from ..arguments import count, number
from ..encodings import SPINS, check_encoding
from ..exceptions import InputError, Setting
from ..files import writing
from ..inference import MOST_DENSE
from ..texts import did_you_mean
from ._fit import Choices, Fit, Over, pairs_among, quietly
from ._graph import write_gexf, write_graphml, write_json
from ._saved import write_npz
from ._table import write_csv, write_parquet

Writer = Callable[[IO[bytes], Fit, Choices, Over], str]

_WRITERS: dict[str, Writer] = {
    ".csv": write_csv,
    ".graphml": write_graphml,
    ".gexf": write_gexf,
    ".json": write_json,
    ".npz": write_npz,
    ".parquet": write_parquet,
}
_TABLES = (".csv", ".parquet")
MOST_PAIRS = 10**7  # in a file of text, which has about a gigabyte then

#: Endings of the files that couplings can be written to.
ENDINGS = tuple(_WRITERS)


def check_choices(path: str | os.PathLike[str], choices: Choices) -> str:
    """The ending of a file to write; an InputError where it is unknown, or does not go with the choices."""
    ending = Path(path).suffix.lower()
    if ending not in _WRITERS:
        hint = did_you_mean(ending, ENDINGS)
        raise InputError(
            f"expected the name of a file to write that ends in {', '.join(ENDINGS)}, found "
            f"{ending or 'no ending'}.{hint}"
        ).at(path)
    number("fdr", choices.fdr, least=0, most=1)
    if check_encoding(choices.encoding) and ending == ".npz":
        raise InputError("a whole fit is kept as it is, with ", Setting("encoding", SPINS), ".").at(path)
    if choices.matrix and ending not in _TABLES:
        raise InputError(
            Setting("matrix"), f" goes with a file that ends in {' or '.join(_TABLES)}, found {ending}."
        ).at(path)
    if choices.top is not None:
        count("top", choices.top, 1)
        if choices.matrix or ending == ".npz":
            what = "a matrix" if choices.matrix else "an .npz file"
            raise InputError(Setting("top", choices.top), f" goes with a list of pairs, not with {what}.").at(
                path
            )
    return ending


def check_size(path: str | os.PathLike[str], choices: Choices, n: int) -> None:
    """Raise an InputError if the couplings of n spins would silently fill a disk."""
    pairs, ending = pairs_among(n), Path(path).suffix.lower()
    compact = (ending == ".parquet" and not choices.matrix) or (ending == ".npz" and n <= MOST_DENSE)
    if pairs <= MOST_PAIRS or choices.top is not None or compact:
        return
    raise InputError(
        f"expected at most {MOST_PAIRS:,} pairs in such a file, found {pairs:,}, of {n:,} spins: gigabytes. Write "
        "the strongest of them with ",
        Setting("top", 100_000),
        ", or all to a .parquet file.",
    ).at(path)


def write(
    path: str | os.PathLike[str],
    fit: Fit,
    choices: Choices | None = None,
    force: bool = False,
    over: Over = quietly,
) -> str:
    """Write a fit, whole or not at all; in a few words, what was written."""
    choices = choices or Choices()
    writer = _WRITERS[check_choices(path, choices)]
    with writing(path, force) as file:
        written = writer(file, fit, choices, over)
    return f"{written}, for 0/1: four times those of spins" if check_encoding(choices.encoding) else written
