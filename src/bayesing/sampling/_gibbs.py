r"""Gibbs sweeps of many chains at once, at about the speed of a matrix product.

Chains of one coupling matrix lie side by side, spins S of shape (n, chains), each chain at its own beta, with
P(S) proportional to :math:`\exp[\sum_i a_i S_i + \beta (\sum_i (h_i - a_i) S_i + \sum_{i<j} J_{ij} S_i S_j)]`: at
beta = 0 independent spins in fields a (0 if not given), at beta = 1 the model. A sweep draws the spins in turn from
their conditional distributions,

.. math::

    P(S_i = \pm 1 \mid \text{rest}) = \frac{1 \pm \tanh(a_i + \beta f_i)}{2}, \qquad
    f_i = h_i - a_i + \sum_j J_{ij} S_j .

**Blocks.** The fields of 64 or 128 spins for all chains are one float32 matrix product. Inside the block a spin that
flips corrects the fields of the spins after it, by rank-one updates that stay in cache, so the sweep is the
sequential one. Cost O(n^2) per chain and sweep, almost all of it in the matrix product.

**Randomness.** Every chain has a xoshiro128++ generator of its own, and chains run in groups of a fixed size, so
the same seed gives the same spins for any number of threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeVar

import numpy as np
import scipy.linalg.cython_blas  # noqa: F401  matrix products of kernels, to be limited with the others
from joblib import Parallel, cpu_count, delayed, effective_n_jobs
from numba import float32, int32, uint32
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from ..compiled import compiled
from ..ising import IsingModel

Single = NDArray[np.float32]
Result = TypeVar("Result")

#: Spins of a block, at most. BLAS copies all spins of all chains for every block: with 32 spins this takes half as
#: long as the product itself, with 128 an eighth. Corrections inside the block are BLOCK/2 additions a spin.
BLOCK = 128
GROUP = 256  # chains that run together; fixed, so that results do not depend on the number of threads


class Chains:
    """Chains of one model, changed in place by :meth:`sweep`: spins (n, chains), ±1 in float32."""

    def __init__(
        self, couplings: Single, fields: Single, states: NDArray[np.uint32], base: Single | None = None
    ) -> None:
        """Start from independent spins in the fields ``base``; ``states`` (4, chains) seeds the generators.

        ``exponents`` are what beta multiplies.
        """
        n, n_chains = len(fields), states.shape[1]
        self.base: Single = np.zeros(n, np.float32) if base is None else base
        self.couplings, self.fields = couplings, fields - self.base
        self.states = np.array(states, order="C")
        self.spins: Single = np.empty((n, n_chains), np.float32)
        self._room = np.empty(
            (2, BLOCK, n_chains), np.float32
        )  # for the local fields of a block, and uniform numbers
        draw(self.states, self.spins)
        self.spins[...] = np.where(self.spins < -np.tanh(self.base)[:, None], np.float32(-1), np.float32(1))
        self.exponents = self.exact_exponents()

    def change(self, couplings: Single, fields: Single) -> None:
        """Go on with another model from the spins as they are; the arrays given before are overwritten."""
        self.couplings[...] = couplings
        self.fields[...] = fields - self.base
        self.exponents = self.exact_exponents()

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What :func:`sweep` takes before beta."""
        return self.couplings, self.fields, self.base, self.spins, self.states, self.exponents, self._room

    def sweep(self, beta: Single) -> None:
        """Draw every spin of every chain once, in turn, at inverse temperature ``beta`` (chains)."""
        sweep(*self.arrays, beta)

    def exact_exponents(self) -> NDArray[np.float64]:
        """sum_i (h_i - a_i) S_i + sum_{i<j} J_ij S_i S_j of every chain. ``exponents`` follows it sweep by sweep."""
        exponents = np.zeros(self.spins.shape[1])
        exact_exponents(self.couplings, self.fields, self.spins, exponents, self._room[0])
        return exponents


def in_threads(tasks: Iterable[Callable[[], Result]]) -> list[Result]:
    """Run groups of chains, on as many threads as ``joblib.parallel_config`` allows, and 1 by default.

    Matrix products take one thread each, so that their sums keep their order for any number of threads.
    """
    n_jobs = min(effective_n_jobs(None), cpu_count())  # asked for here: joblib forgets it for shared memory
    with _one_blas_thread:
        results: list[Result] = Parallel(n_jobs, require="sharedmem")(delayed(task)() for task in tasks)
    return results


class _OneBlasThread:
    """Limit BLAS, for the whole process, while anybody is inside: the last one out lifts the limit.

    Some builds of OpenBLAS obey only the first thread that ever set a limit. Where samplers are called from several
    threads of one process, set OPENBLAS_NUM_THREADS=1 for results that are the same to the last bit.
    """

    def __init__(self) -> None:
        self.lock, self.inside = threading.Lock(), 0

    def __enter__(self) -> None:
        with self.lock:
            if self.inside == 0:
                self.before = [library.get_num_threads() for library in _blas()]
            for library in _blas():
                library.set_num_threads(1)
            self.inside += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.inside -= 1
            if self.inside == 0:
                for library, n_threads in zip(_blas(), self.before, strict=True):
                    library.set_num_threads(n_threads)


_one_blas_thread = _OneBlasThread()


@cache
def _blas() -> list[Any]:
    libraries: list[Any] = ThreadpoolController().select(user_api="blas").lib_controllers
    return libraries


def check_model(model: object) -> None:
    """Raise a ValueError for anything but a model, such as a bare matrix of couplings."""
    if not isinstance(model, IsingModel):
        raise ValueError(
            f"Expected an IsingModel(couplings, fields) to sample: found {type(model).__name__}."
        )


def generator_states(n_chains: int, rng: np.random.Generator) -> NDArray[np.uint32]:
    """Random states (4, chains) of the generators; those of the first chains do not depend on their number."""
    return np.ascontiguousarray(rng.integers(0, 2**32, (n_chains, 4), dtype=np.uint32).T)


@compiled()
def draw(states, out):  # type: ignore[no-untyped-def]
    """Fill ``out`` with uniform numbers in [-1, 1), in steps of 2^-23, and advance ``states`` (xoshiro128++).

    Numba widens sums and shifts of 32 bits to 64; the casts cut them back, and compile to nothing.
    """
    s0, s1, s2, s3 = states[0], states[1], states[2], states[3]
    for i in range(out.shape[0]):
        row = out[i]
        for c in range(row.size):
            a, b, p, q = s0[c], s1[c], s2[c], s3[c]
            bits = uint32(a + q)
            bits = uint32(uint32(bits << 7) | uint32(bits >> 25))
            bits = uint32(bits + a)
            shifted = uint32(b << 9)
            p = uint32(p ^ a)
            q = uint32(q ^ b)
            s1[c] = uint32(b ^ p)
            s0[c] = uint32(a ^ q)
            s2[c] = uint32(p ^ shifted)
            s3[c] = uint32(uint32(q << 11) | uint32(q >> 21))
            row[c] = float32(int32(bits >> 8)) * float32(2.0**-23) - float32(1)


@compiled(inline="always", fastmath={"contract"}, error_model="numpy")
def _tanh(x):  # type: ignore[no-untyped-def]
    """tanh in float32, within 4e-7: a rational function, which unlike exp the compiler can vectorise.

    Coefficients of Eigen (ptanh_float), which hold for |x| < 7.9; beyond, it is exactly ±1.
    """
    y = x * x
    p = y * float32(-2.76076847742355e-16) + float32(2.00018790482477e-13)
    p = y * p + float32(-8.60467152213735e-11)
    p = y * p + float32(5.12229709037114e-08)
    p = y * p + float32(1.48572235717979e-05)
    p = y * p + float32(6.37261928875436e-04)
    p = y * p + float32(4.89352455891786e-03)
    q = y * float32(1.19825839466702e-06) + float32(1.18534705686654e-04)
    q = y * q + float32(2.26843463243900e-03)
    q = y * q + float32(4.89352518554385e-03)
    inside = x * p / q
    return float32(1) if x > float32(7.9) else float32(-1) if x < float32(-7.9) else inside


@compiled(fastmath={"contract"}, error_model="numpy")
def update(spins, local, couplings, fields, base, beta, uniforms, exponents):  # type: ignore[no-untyped-def]
    """Draw the spins of one block in turn; changes ``spins``, ``local`` and ``exponents`` in place.

    ``local`` holds sum_j J_ij S_j before the block is touched. Spin i becomes +1 where its uniform number is
    below tanh(a_i + beta f_i). What beta multiplies is linear in S_i with slope f_i, so a change d of S_i adds d f_i.
    """
    size, n_chains = spins.shape
    change = np.zeros((8, n_chains), np.float32)
    gain = np.zeros(n_chains, np.float32)
    d0, d1, d2, d3 = change[0], change[1], change[2], change[3]
    d4, d5, d6, d7 = change[4], change[5], change[6], change[7]
    for first in range(0, size, 8):
        last = min(first + 8, size)
        for i in range(first, last):
            s, f, u, h, a, d = spins[i], local[i], uniforms[i], fields[i], base[i], change[i - first]
            for c in range(n_chains):
                field = f[c] + h
                new = float32(1) if u[c] < _tanh(beta[c] * field + a) else float32(-1)
                d[c] = new - s[c]
                gain[c] += d[c] * field
                s[c] = new
            for k in range(i + 1, last):
                weight, f = couplings[k, i], local[k]
                for c in range(n_chains):
                    f[c] += weight * d[c]
        for k in range(last, size):  # eight changes in one pass: the passes over memory are the cost
            w, f = couplings[k, first:last], local[k]
            w0, w1, w2, w3, w4, w5, w6, w7 = w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]
            for c in range(n_chains):
                near = f[c] + w0 * d0[c] + w1 * d1[c] + w2 * d2[c] + w3 * d3[c]
                f[c] = near + w4 * d4[c] + w5 * d5[c] + w6 * d6[c] + w7 * d7[c]
    for c in range(n_chains):
        exponents[c] += gain[c]


@compiled()
def sweep(couplings, fields, base, spins, states, exponents, room, beta):  # type: ignore[no-untyped-def]
    """Draw every spin of every chain once; changes ``spins``, ``states``, ``exponents`` and ``room`` in place."""
    n = len(fields)
    size = BLOCK if n > 2 * BLOCK else BLOCK // 2
    for start in range(0, n, size):
        stop = min(start + size, n)
        local, uniforms = room[0, : stop - start], room[1, : stop - start]
        draw(states, uniforms)
        np.dot(couplings[start:stop], spins, local)
        update(
            spins[start:stop],
            local,
            couplings[start:stop, start:stop],
            fields[start:stop],
            base[start:stop],
            beta,
            uniforms,
            exponents,
        )


@compiled()
def exact_exponents(couplings, fields, spins, out, room):  # type: ignore[no-untyped-def]
    """Write sum_i f_i S_i + sum_{i<j} J_ij S_i S_j of every chain into ``out``; changes ``room``, too."""
    n = len(fields)
    out[:] = 0
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        local = room[: stop - start]
        np.dot(couplings[start:stop], spins, local)
        for i in range(start, stop):
            s, f, h = spins[i], local[i - start], fields[i]
            for c in range(s.size):
                out[c] += s[c] * (float32(0.5) * f[c] + h)
