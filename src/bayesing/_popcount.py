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
_CHUNK = 512  # words of a row at a time: 16 blocks, whose eights a byte can count


def differences(words: Words) -> NDArray[np.int32]:
    """In how many bits each two rows differ."""
    k, width = words.shape
    padded = np.zeros((k, -(-width // _LANES) * _LANES), np.uint64)
    padded[:, :width] = words
    counts = np.zeros((k, k), np.int32)
    _differences(padded, counts)
    return counts


def transpose(words: Words) -> Words:
    """The bits of all columns, (64 width, ceil(N/64)), from those of the rows, (N, width)."""
    N, width = words.shape
    turned = np.empty((64 * width, -(-N // 64)), np.uint64)
    _transpose(np.ascontiguousarray(words), turned)
    return turned


@intrinsic
def _differing(_: Any, a: Any, b: Any) -> Any:
    """In how many bits two arrays of words differ; their length is a multiple of 4 and at most 512."""
    word, number = ir.IntType(64), ir.IntType(16)
    vector, octets = ir.VectorType(word, _LANES), ir.VectorType(ir.IntType(8), 8 * _LANES)
    numbers = ir.VectorType(number, 8 * _LANES)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays = [
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args, arguments, strict=True)
        ]
        starts = [builder.bitcast(array.data, vector.as_pointer()) for array in arrays]
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

        length = builder.udiv(arrays[0].nitems, constant(_LANES))
        is_long = builder.icmp_unsigned(">", length, constant(_SHORT))
        blocks = builder.select(is_long, builder.udiv(length, constant(_VECTORS)), constant(0))
        ones, twos, fours = kept(vector), kept(vector), kept(vector)
        eights, single = kept(octets), kept(octets)
        with cgutils.for_range(builder, blocks) as loop:
            first = builder.mul(loop.index, constant(_VECTORS))
            x = [difference(builder.add(first, constant(k))) for k in range(_VECTORS)]
            by_two = [add(ones, x[k], x[k + 1]) for k in range(0, _VECTORS, 2)]
            by_four = [add(twos, by_two[k], by_two[k + 1]) for k in (0, 2)]
            increase(eights, count(add(fours, *by_four)))
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

    return types.int64(a, b), generate


@numba.njit(nogil=True, cache=True)
def _differences(words: Words, counts: NDArray[np.int32]) -> None:
    """Add to ``counts``, a piece of all rows after the other, and fill both triangles."""
    k, width = words.shape
    for start in range(0, width, _CHUNK):
        stop = min(start + _CHUNK, width)
        for i in range(k):
            row = words[i, start:stop]
            for j in range(i):
                counts[i, j] += _differing(row, words[j, start:stop])
    for top in range(0, k, 64):  # in squares, which stay in cache
        for left in range(0, top + 1, 64):
            for i in range(top, min(top + 64, k)):
                for j in range(left, min(left + 64, i)):
                    counts[j, i] = counts[i, j]


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
