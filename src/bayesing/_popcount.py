r"""Counting bits: the kernels behind :mod:`bayesing.packed`, compiled when first used.

Ones are counted in vectors of four words. Counting every vector by itself would cost most of the time; adders of
bits count eight of them at once (R. Harley and D. Seal, see H. Warren, *Hacker's Delight*, 5-2): the full adder
:math:`a + b + c = 2h + l` takes five instructions, and three bits that count to seven go from block to block, so that
only every eighth vector is counted. Without such vectors in the processor LLVM makes smaller ones of them.
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
_VECTORS = 8  # that are added up at once
_CHUNK = 256  # words of a row at a time, so that a few hundred rows stay in the second cache


def differences(words: Words) -> NDArray[np.int32]:
    """In how many bits each two rows differ."""
    k, width = words.shape
    if width % _LANES:
        padded = np.zeros((k, -(-width // _LANES) * _LANES), np.uint64)
        padded[:, :width] = words
        words = padded
    counts = np.zeros((k, k), np.int32)
    _differences(np.ascontiguousarray(words), counts)
    return counts


def transpose(words: Words) -> Words:
    """The bits of all columns, (64 width, ceil(N/64)), from those of the rows, (N, width)."""
    N, width = words.shape
    turned = np.empty((64 * width, -(-N // 64)), np.uint64)
    _transpose(np.ascontiguousarray(words), turned)
    return turned


@intrinsic  # type: ignore[untyped-decorator]
def _differing(typing: Any, a: Any, b: Any) -> Any:
    """In how many bits two arrays of words differ, whose length is a multiple of 4."""
    vector = ir.VectorType(ir.IntType(64), _LANES)
    zero = ir.Constant(vector, [0] * _LANES)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays = [
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args, arguments, strict=True)
        ]
        starts = [builder.bitcast(array.data, vector.as_pointer()) for array in arrays]
        length = builder.udiv(arrays[0].nitems, ir.Constant(arrays[0].nitems.type, _LANES))
        block = ir.Constant(length.type, _VECTORS)
        blocks = builder.udiv(length, block)
        ones, twos, fours, total = (cgutils.alloca_once_value(builder, zero) for _ in range(4))

        def difference(k: Any) -> Any:
            left, right = (builder.load(builder.gep(start, [k]), align=8) for start in starts)
            return builder.xor(left, right)

        def add(low: Any, b: Any, c: Any) -> Any:
            """Add two vectors to one that is kept, and return what is carried."""
            a = builder.load(low)
            either = builder.xor(a, b)
            builder.store(builder.xor(either, c), low)
            return builder.or_(builder.and_(a, b), builder.and_(either, c))

        ctpop = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(vector, [vector]), f"llvm.ctpop.v{_LANES}i64"
        )

        def count(value: Any, shift: int) -> None:
            number = builder.shl(builder.call(ctpop, [value]), ir.Constant(vector, [shift] * _LANES))
            builder.store(builder.add(builder.load(total), number), total)

        with cgutils.for_range(builder, blocks) as loop:
            first = builder.mul(loop.index, block)
            x = [difference(builder.add(first, ir.Constant(first.type, k))) for k in range(_VECTORS)]
            by_two = [add(ones, x[k], x[k + 1]) for k in range(0, _VECTORS, 2)]
            by_four = [add(twos, by_two[k], by_two[k + 1]) for k in (0, 2)]
            count(add(fours, *by_four), 3)
        with cgutils.for_range(builder, builder.sub(length, builder.mul(blocks, block))) as loop:
            count(difference(builder.add(builder.mul(blocks, block), loop.index)), 0)
        for shift, kept in enumerate((ones, twos, fours)):
            count(builder.load(kept), shift)
        lanes = builder.load(total)
        result = builder.extract_element(lanes, ir.Constant(ir.IntType(32), 0))
        for lane in range(1, _LANES):
            result = builder.add(result, builder.extract_element(lanes, ir.Constant(ir.IntType(32), lane)))
        return result

    return types.int64(a, b), generate


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _differences(words: Words, counts: NDArray[np.int32]) -> None:
    """Add up ``counts``, and fill both of their triangles."""
    k, width = words.shape
    for start in range(0, width, _CHUNK):
        stop = min(start + _CHUNK, width)
        for i in range(k):
            row = words[i, start:stop]
            for j in range(i):
                counts[i, j] += _differing(row, words[j, start:stop])
    for i in range(k):
        for j in range(i):
            counts[j, i] = counts[i, j]


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
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
