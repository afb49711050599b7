r"""Counting bits: the kernels behind :mod:`bayesing.packed`, compiled when first used.

Words are taken four at a time, as one vector. To count the ones of every vector takes most of the time. Adders of
bits count eight vectors at once (R. Harley and D. Seal; see H. Warren, *Hacker's Delight*, 5-1): a full
adder, :math:`a + b + c = 2h + l`, takes five instructions. The sums of ones, twos and fours are kept from block to
block, and only the eights are counted, one vector of eight. Where a processor has shorter vectors LLVM splits ours.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_LANES = 4  # words in a vector
_VECTORS = 8  # in a block that is added up at once
_SHORT = 30  # vectors up to which each is counted by itself: a byte holds the count of 31
_CHUNK = 256  # words of a row at a time: 8 blocks, whose eights a byte can count
_ROWS = 4  # rows at a time, and twice as many that they meet: with chunks of 2 kilobytes they stay in the first cache


def products(words: Words, length: int) -> NDArray[np.int32]:
    """The products of all pairs of rows, as ±1, of so many bits."""
    k, width = words.shape
    if width % _LANES:
        padded = np.zeros((k, -(-width // _LANES) * _LANES), np.uint64)
        padded[:, :width] = words
        words = padded
    gram = np.zeros((k, k), np.int32)
    _differences(np.ascontiguousarray(words), gram)
    _finish(gram, length)
    return gram


def transpose(words: Words) -> Words:
    """The bits of all columns, (64 width, ceil(N/64)), from those of the rows, (N, width)."""
    N, width = words.shape
    turned = np.empty((64 * width, -(-N // 64)), np.uint64)
    _transpose(np.ascontiguousarray(words), turned)
    return turned


@intrinsic
def _differing(_: Any, words: Any, i: Any, j: Any, start: Any, stop: Any) -> Any:
    """In how many bits rows i and j differ from word ``start`` to ``stop``, a multiple of 4 and at most 256 words."""
    word, number = ir.IntType(64), ir.IntType(16)
    vector, octets = ir.VectorType(word, _LANES), ir.VectorType(ir.IntType(8), 8 * _LANES)
    numbers = ir.VectorType(number, 8 * _LANES)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        _, width = cgutils.unpack_tuple(builder, array.shape, 2)
        first, last = arguments[3:]
        starts = [
            builder.bitcast(
                builder.gep(array.data, [builder.add(builder.mul(row, width), first)]), vector.as_pointer()
            )
            for row in arguments[1:3]
        ]
        ctpop = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(octets, [octets]), f"llvm.ctpop.v{8 * _LANES}i8"
        )
        reduce = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(number, [numbers]), f"llvm.vector.reduce.add.v{8 * _LANES}i16"
        )

        def constant(value: int) -> Any:
            return ir.Constant(word, value)

        def kept(kind: Any) -> Any:
            return cgutils.alloca_once_value(builder, ir.Constant(kind, [0] * kind.count))

        def difference(k: Any) -> Any:
            left, right = (builder.load(builder.gep(start, [k]), align=8) for start in starts)
            return builder.xor(left, right)

        def add(low: Any, b: Any, c: Any) -> Any:
            """Add two vectors to one that is kept, and return what is carried."""
            a, either = builder.load(low), builder.xor(b, c)
            builder.store(builder.xor(either, a), low)
            return builder.or_(builder.and_(b, c), builder.and_(either, a))

        def count(bits: Any) -> Any:
            """Ones in each byte."""
            return builder.call(ctpop, [builder.bitcast(bits, octets)])

        def increase(total: Any, by: Any) -> None:
            builder.store(builder.add(builder.load(total), by), total)

        def summed(total: Any) -> Any:
            return builder.zext(builder.call(reduce, [builder.zext(total, numbers)]), word)

        length = builder.udiv(builder.sub(last, first), constant(_LANES))
        is_long = builder.icmp_unsigned(">", length, constant(_SHORT))
        blocks = builder.udiv(length, constant(_VECTORS))
        ones, twos, fours = kept(vector), kept(vector), kept(vector)
        eights, single = kept(octets), kept(octets)

        def differences_of(block: Any) -> list[Any]:
            start = builder.mul(block, constant(_VECTORS))
            return [difference(builder.add(start, constant(k))) for k in range(_VECTORS)]

        with builder.if_else(is_long) as (added, counted):
            with added, cgutils.for_range(builder, blocks) as loop:
                x = differences_of(loop.index)
                by_two = [add(ones, x[k], x[k + 1]) for k in range(0, _VECTORS, 2)]
                by_four = [add(twos, by_two[k], by_two[k + 1]) for k in (0, 2)]
                increase(eights, count(add(fours, *by_four)))
            with counted, cgutils.for_range(builder, blocks) as loop:
                for bits in differences_of(loop.index):
                    increase(single, count(bits))
        done = builder.mul(blocks, constant(_VECTORS))
        with cgutils.for_range(builder, builder.sub(length, done)) as loop:
            increase(single, count(difference(builder.add(done, loop.index))))
        result = cgutils.alloca_once_value(builder, summed(builder.load(single)))
        with builder.if_then(is_long):
            by_one, by_two, by_four = (count(builder.load(bits)) for bits in (ones, twos, fours))
            by_two = builder.add(by_two, builder.add(by_four, by_four))
            rest = summed(builder.add(by_one, builder.add(by_two, by_two)))
            increase(result, builder.add(rest, builder.mul(summed(builder.load(eights)), constant(8))))
        return builder.load(result)

    return types.int64(words, i, j, start, stop), generate


@numba.njit(nogil=True, cache=True)
def _differences(words: Words, counts: NDArray[np.int32]) -> None:
    """Add to ``counts``, below the diagonal, in how many bits rows differ; in pieces that stay in cache."""
    k, width = words.shape
    for start in range(0, width, _CHUNK):
        stop = min(start + _CHUNK, width)
        for top in range(0, k, _ROWS):
            for left in range(0, top + _ROWS, 2 * _ROWS):
                for i in range(top, min(top + _ROWS, k)):
                    for j in range(left, min(left + 2 * _ROWS, i)):
                        counts[i, j] += _differing(words, i, j, start, stop)


@numba.njit(nogil=True, cache=True)
def _finish(gram: NDArray[np.int32], length: int) -> None:
    """Make products of differences, in place, on both sides of the diagonal; in squares that stay in cache."""
    k = len(gram)
    for top in range(0, k, 64):
        for left in range(0, top + 1, 64):
            for i in range(top, min(top + 64, k)):
                gram[i, i] = length
                for j in range(left, min(left + 64, i)):
                    gram[i, j] = gram[j, i] = length - 2 * gram[i, j]


@numba.njit(nogil=True, cache=True)
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
