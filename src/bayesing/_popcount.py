"""Counting bits: the kernels behind :mod:`bayesing.packed`, compiled when first used.

Words are taken four at a time, as one vector. LLVM counts the ones in each byte of a vector with six instructions, or
one where the processor can, and bytes are added up before they are summed. Eight pairs of rows go along together, so
that most words are in registers when they are needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from .compiled import compiled

Words = NDArray[np.uint64]

_LANES = 4  # words in a vector
_TALL = 4  # rows in a tile
_WIDE = 2  # rows that they meet
_CHUNK = 96  # words of a row at a time: a byte holds the ones of 31 vectors, and these are 24
_SQUARE = 24  # rows by rows at a time: with chunks of 768 bytes they stay in the first cache


def products(words: Words, length: int) -> NDArray[np.int32]:
    """The products of all pairs of rows, as ±1, of so many bits."""
    k, width = words.shape
    padded = np.zeros((-(-k // _TALL) * _TALL, -(-width // _LANES) * _LANES), np.uint64)
    padded[:k, :width] = words
    gram = np.full((len(padded), len(padded)), length, np.int32)
    _subtract_differences(padded, gram)
    return gram if len(gram) == k else np.ascontiguousarray(gram[:k, :k])


def transpose(words: Words) -> Words:
    """The bits of all columns, (64 width, ceil(N/64)), from those of the rows, (N, width)."""
    N, width = words.shape
    turned = np.empty((64 * width, -(-N // 64)), np.uint64)
    _transpose(np.ascontiguousarray(words), turned)
    return turned


@intrinsic
def _differing(_: Any, words: Any, i: Any, j: Any, start: Any, stop: Any) -> Any:
    """In how many bits rows i, i + 1, ... differ from j, j + 1, ... from word ``start`` to ``stop``: 4 x 2 counts."""
    word, number, octet = ir.IntType(64), ir.IntType(16), ir.IntType(8)
    vector, octets = ir.VectorType(word, _LANES), ir.VectorType(octet, 8 * _LANES)
    numbers = ir.VectorType(number, 8 * _LANES)
    zero = ir.Constant(octets, [0] * octets.count)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _, i, j, start, stop = arguments
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        _, width = cgutils.unpack_tuple(builder, array.shape, 2)
        ctpop, reduce = (
            cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, [argument]), name)
            for result, argument, name in (
                (octets, octets, f"llvm.ctpop.v{octets.count}i8"),
                (number, numbers, f"llvm.vector.reduce.add.v{numbers.count}i16"),
            )
        )

        def row(first: Any, k: int) -> Any:
            place = builder.mul(builder.add(first, ir.Constant(word, k)), width)
            return builder.bitcast(builder.gep(array.data, [builder.add(place, start)]), vector.as_pointer())

        left, right = [row(i, k) for k in range(_TALL)], [row(j, k) for k in range(_WIDE)]
        totals = {(a, b): cgutils.alloca_once(builder, octets) for a in left for b in right}
        for total in totals.values():
            builder.store(zero, total)
        length = builder.udiv(builder.sub(stop, start), ir.Constant(word, _LANES))
        with cgutils.for_range(builder, length) as loop:
            loaded = {p: builder.load(builder.gep(p, [loop.index]), align=8) for p in (*left, *right)}
            for (a, b), total in totals.items():
                bits = builder.bitcast(builder.xor(loaded[a], loaded[b]), octets)
                builder.store(builder.add(builder.load(total), builder.call(ctpop, [bits])), total)
        sums = [
            builder.zext(builder.call(reduce, [builder.zext(builder.load(total), numbers)]), word)
            for total in totals.values()
        ]
        return context.make_tuple(builder, signature.return_type, sums)

    return types.UniTuple(types.int64, _TALL * _WIDE)(words, i, j, start, stop), generate


@compiled()
def _subtract_differences(words: Words, gram: NDArray[np.int32]) -> None:
    """Subtract from ``gram``, on both sides of the diagonal, twice the number of bits in which rows differ."""
    k, width = words.shape
    for start in range(0, width, _CHUNK):
        stop = min(start + _CHUNK, width)
        for top in range(0, k, _SQUARE):
            for left in range(0, top + 1, _SQUARE):
                for i in range(top, min(top + _SQUARE, k), _TALL):
                    for j in range(left, min(left + _SQUARE, i + _TALL), _WIDE):
                        counts = _differing(words, i, j, start, stop)
                        for c in range(_TALL * _WIDE):
                            a, b = i + c // _WIDE, j + c % _WIDE
                            if b < a:
                                gram[a, b] -= 2 * counts[c]
                                gram[b, a] = gram[a, b]


@compiled()
def _transpose(words: Words, turned: Words) -> None:
    """Turn blocks of 64 x 64 bits: halves change places, then quarters, and so on (*Hacker's Delight*, 7-3)."""
    N, width = words.shape
    block = np.empty(64, np.uint64)
    for b in range(-(-N // 64)):
        for w in range(width):
            for k in range(64):
                row = 64 * b + k
                block[k] = words[row, w] if row < N else np.uint64(0)
            shift = np.uint64(32)
            mask = np.uint64(0x00000000FFFFFFFF)
            while shift:
                step = np.int64(shift)
                k = 0
                while k < 64:
                    swap = ((block[k] >> shift) ^ block[k + step]) & mask
                    block[k + step] ^= swap
                    block[k] ^= swap << shift
                    k = (k + step + 1) & ~step
                shift >>= np.uint64(1)
                mask ^= mask << shift
            for k in range(64):
                turned[64 * w + k, b] = block[k]
