r"""Spins as bits, 64 to a word, and their Gram matrices by counting bits.

Two rows of ±1 that differ in k of their L places have the product L - 2k, and k is the number of ones in the
exclusive or of their bits: a word of 64 spins takes two instructions, where a product of matrices takes 64
multiplications. Small matrices are left to BLAS, whose float32 is exact up to 2^24, so that nothing has to be
compiled or loaded for them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .types import Integers, Spins

Words = NDArray[np.uint64]
Gram = NDArray[np.integer]  # int32, or int64 beyond 2^31 samples

_WORD = 64  # spins
_UNPACKED = 2**20  # spins unpacked at a time: one megabyte
_FOR_BLAS = 2**32  # multiplications that take BLAS less time than it takes to load Numba
_EXACT = 2**24  # whole numbers up to here, and so sums of that many ±1, are exact in float32
_LARGEST_INT32 = 2**31 - 1


@dataclass(frozen=True, eq=False)
class PackedSpins:
    """N samples of n spins: ``words`` (N, ceil(n/64)), spin j is bit j % 64 of word j // 64, and 1 is +1."""

    words: Words
    n: int

    def __post_init__(self) -> None:
        self.words.flags.writeable = False

    def __getstate__(self) -> dict[str, Any]:
        return {"words": self.words, "n": self.n}

    @classmethod
    def of(cls, up: NDArray[Any]) -> PackedSpins:
        """Pack an array that is above 0 where spins are +1, such as one of ±1, of 0 and 1, or of bool.

        >>> PackedSpins.of(np.array([[1, -1, 1], [-1, -1, 1]])).words.tolist()
        [[5], [4]]
        """
        N, n = up.shape
        width = -(-n // _WORD)
        packed = np.zeros((N, 8 * width), np.uint8)
        step = max(1, _UNPACKED // n)
        for start in range(0, N, step):
            bits = np.packbits(up[start : start + step] > 0, axis=1, bitorder="little")
            packed[start : start + step, : bits.shape[1]] = bits
        return cls(packed.view("<u8").astype(np.uint64, copy=False), n)

    @classmethod
    def stacked(cls, parts: Sequence[PackedSpins]) -> PackedSpins:
        """The samples of all parts, one after the other."""
        return (
            parts[0] if len(parts) == 1 else cls(np.concatenate([part.words for part in parts]), parts[0].n)
        )

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, rows: Any) -> PackedSpins:
        """Some of the samples."""
        return PackedSpins(self.words[rows], self.n)

    def columns(self, chosen: NDArray[np.intp]) -> PackedSpins:
        """Some of the spins."""
        return PackedSpins.stacked([PackedSpins.of(spins[:, chosen]) for spins in self.blocks()])

    def unpack(self) -> Spins:
        """All of them as int8, ±1."""
        bits = self.words.astype("<u8", copy=False).view(np.uint8)
        spins = np.unpackbits(bits, axis=1, count=self.n, bitorder="little").view(np.int8)
        spins *= 2
        spins -= 1
        return spins

    def blocks(self, step: int | None = None) -> Iterator[Spins]:
        """The same, some rows at a time."""
        step = step or max(1, _UNPACKED // self.n)
        for start in range(0, len(self), step):
            yield self[start : start + step].unpack()

    def sums(self) -> Integers:
        """Of each spin over the samples."""
        if not _by_blas(len(self) * self.n * _WORD):
            return np.asarray(2 * np.bitwise_count(self.transposed).sum(axis=1, dtype=np.int64) - len(self))
        total = np.zeros(self.n, np.int64)
        for spins in self.blocks():
            total += spins.sum(axis=0, dtype=np.int32)
        return total

    def active(self) -> Integers:
        """The number of spins that are +1, of each sample."""
        return np.asarray(np.bitwise_count(self.words).sum(axis=1, dtype=np.int64))

    def samples_gram(self) -> Gram:
        """X X^T, a row for each sample."""
        N, n = len(self), self.n
        if n <= _EXACT and _by_blas(N * N * n):
            return _product(iter([self.unpack()]), n, N)
        return _counted(self.words, n)

    def spins_gram(self) -> Gram:
        """X^T X, a row for each spin."""
        N, n = len(self), self.n
        if _by_blas(n * n * N):
            return _product((spins.T for spins in self.blocks(max(1, _EXACT // n))), N, n)
        return _counted(self.transposed, N)

    @cached_property
    def transposed(self) -> Words:
        """Bits of the samples of each spin, (n, ceil(N/64)); as large as the rows."""
        from ._popcount import transpose

        return transpose(self.words)[: self.n]


def _by_blas(multiplications: int) -> bool:
    return multiplications < _FOR_BLAS and "numba" not in sys.modules


def _product(blocks: Iterator[Spins], length: int, k: int) -> Gram:
    """The sum of A A^T over blocks of columns of A, k x k, by products in float32."""
    gram = np.zeros((k, k), integers_up_to(length))
    for block in blocks:
        single = block.astype(np.float32)
        gram += (single @ single.T).astype(gram.dtype)
    return gram


def _counted(words: Words, length: int) -> Gram:
    """By counting bits, in pieces of so many words that 32 bits hold the sums."""
    from ._popcount import products

    if length <= _LARGEST_INT32:
        return products(words, length)
    step = _LARGEST_INT32 // _WORD
    gram = np.zeros((len(words), len(words)), np.int64)
    for start in range(0, words.shape[1], step):
        part = words[:, start : start + step]
        gram += products(part, min(_WORD * part.shape[1], length - _WORD * start))
    return gram


def bytes_of_row(n: int) -> int:
    """Of n spins as bits."""
    return 8 * -(-n // _WORD)


def integers_up_to(largest: int) -> Any:
    """The type of whole numbers that holds this one."""
    return np.int32 if largest <= _LARGEST_INT32 else np.int64
