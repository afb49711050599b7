r"""A text in blocks of whole lines, each of which ends in ``\n``, whatever ends them in the file."""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedIOBase

from ..exceptions import InputError

LONGEST_LINE = 2**24  # bytes: a million cells of 16 characters
_BOM = b"\xef\xbb\xbf"  # the byte-order mark, which may stand before the first line


def whole_lines(file: BufferedIOBase, size: int) -> Iterator[bytes]:
    """Blocks of about ``size`` bytes, or of one line if that is longer."""
    rest, first, halfway = b"", True, False
    while piece := file.read(size):
        if first:
            piece, first = piece.removeprefix(_BOM), False
        if halfway:  # of \r\n
            piece = piece.removeprefix(b"\n")
        halfway = piece.endswith(b"\r")
        if b"\r" in piece:
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        end = piece.rfind(b"\n") + 1
        if end:
            yield rest + piece[:end]
            rest = piece[end:]
        else:
            rest += piece
        if len(rest) > LONGEST_LINE:
            raise InputError(
                f"expected lines of at most {LONGEST_LINE >> 20} MB, found a longer one. A line holds one sample."
            )
    if rest:
        yield rest + b"\n"
