r"""The one data object: what is known of N samples of n spins, each thing computed once, when first asked for.

It holds the rows as bits (:mod:`bayesing.packed`) or, for data that were read in batches, the sums of the spins and
:math:`X^T X`, which is all that most methods need. Everything else follows: the Gram matrix of the smaller side, the
moments, and the eigenvalues and eigenvectors of the correlations

.. math:: D = Z^T Z/N, \qquad z_i = (s_i - m_i)/\sqrt{v_i}, \quad v_i = 1 - m_i^2 ,

of the spins that vary. The data say nothing of the couplings of constant spins: ``kept`` is the same without them.

Cells may be missing. Sums, products, means and moments are then those of available cases (:mod:`bayesing.available`).
What needs complete rows, as correlations and their eigenvalues do, is an error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .available import PairSums, overlap_of_cells
from .cells import names_of
from .drawn import Drawing, DrawnRows
from .exceptions import ConstantSpinsError, InputError, Setting
from .lazy import Reduced, is_lazy, reduced
from .moments import SpinMoments, moments_available, moments_from, overlap_of
from .packed import Gram, PackedSpins, integers_up_to
from .series import (
    Memory,
    Runs,
    autocorrelation_of,
    columns_at_a_time,
    products_autocorrelation,
    reach,
    stride_of,
)
from .spectrum import Spectrum, correlations_of, samples_correlations, spectrum_from, without_direction
from .spins import (
    Copy,
    any_gaps,
    check_shape,
    common_encoding,
    copies_from_products,
    copies_of,
    observed_rows,
    pack_spins,
    stacked_gaps,
)
from .types import Array, Indices, Integers, Spins

_SMALL = (
    "sums",
    "counts",
    "missing",
    "moments",
    "varying",
    "spectrum",
    "spectrum_without_mean",
)  # properties worth keeping in a pickle
_AT_A_TIME = 2**21  # products of pairs: 16 megabytes


class Folded(NamedTuple):
    """What is kept of rows that are not: their sums and X^T X.

    Where cells are missing, these are of available cases, and ``pair_counts`` and ``pair_sums`` belong to them.
    """

    sums: Integers
    cross: Gram
    pair_counts: Gram | None = None
    pair_sums: Gram | None = None


@dataclass(frozen=True, eq=False)
class SpinStatistics:
    """N samples of n spins, as rows of bits or folded into sums and products; ``names`` are those of the columns.

    ``absent`` has bits 1 where a cell is missing, and is None if no cell is. Bits of the rows are 0 there. Rows are
    in the order in which they were given: ``lengths`` are those of runs of successive rows, if there are several.
    ``empty`` rows, in which all cells are missing, were left out.
    Beside sums and products, ``drawn`` are some of the rows, a random choice, for what needs rows.

    >>> stats = SpinStatistics.of([[1, 1, -1], [1, -1, 1]]) + SpinStatistics.of([[-1, 1, 1], [1, 1, 1]])
    >>> stats.N, stats.sums.tolist(), stats.moments.M
    (4, [2, 2, 2], 0.5)
    """

    N: int
    n: int
    rows: PackedSpins | None = field(repr=False)
    folded: Folded | None = field(default=None, repr=False)
    names: tuple[str, ...] | None = None
    encoding: str = "±1"
    absent: PackedSpins | None = field(default=None, repr=False, kw_only=True)
    lengths: Runs | None = field(default=None, repr=False, kw_only=True)
    empty: int = field(default=0, repr=False, kw_only=True)
    drawn: DrawnRows | None = field(default=None, repr=False, kw_only=True)

    @classmethod
    def of(
        cls, X: Any, *, min_samples: int = 2, min_spins: int = 2, keep_empty: bool = False
    ) -> SpinStatistics:
        """Of an array, a data frame, a :class:`SpinData`, or of statistics, which are returned as they are.

        A list of arrays or data frames are several runs, such as trials: each begins anew. NaN, None and the like are
        missing cells. Rows in which all cells are missing say nothing. They are left out, unless ``keep_empty``.
        Dask computes its own arrays and data frames block by block (:mod:`bayesing.lazy`).
        """
        if isinstance(X, SpinStatistics):
            return X
        if is_several(X):
            runs = [cls.of(part, min_samples=0, min_spins=min_spins, keep_empty=keep_empty) for part in X]
            return sum(runs[1:], runs[0])
        if is_lazy(X):
            of_block = partial(cls.of, min_samples=0, min_spins=min_spins, keep_empty=keep_empty)
            found = cls.of_parts(reduced(X, of_block))
            check_shape((found.N, found.n), min_samples, min_spins)
            return found
        rows, encoding = getattr(X, "rows", None), getattr(X, "encoding", "±1")
        lengths: Runs | None = None
        if isinstance(rows, PackedSpins):
            absent, names, min_samples = getattr(X, "absent", None), X.names, 0
            lengths = getattr(X, "lengths", None)
        else:
            rows, absent, encoding = pack_spins(X, min_samples=min_samples, min_spins=min_spins)
            names = names_of(X)
        given = len(rows)
        if absent is not None and not keep_empty:
            rows, absent = observed_rows(rows, absent, min_samples)
            lengths = lengths if lengths is not None and sum(lengths) == len(rows) else None
        whole = cls(len(rows), rows.n, rows, names=names, encoding=encoding, absent=absent)
        return replace(whole, lengths=lengths, empty=given - len(rows))

    @classmethod
    def of_parts(cls, found: Reduced[SpinStatistics], one_run: bool = True) -> SpinStatistics:
        """Of parts that were added up (:mod:`bayesing.lazy`): one run of successive rows, or a run each.

        Products are known already, if rows outnumber spins.
        """
        folded, drawn, kept = found
        if kept is None:
            return replace(folded, drawn=drawn)
        whole = replace(kept, lengths=None) if one_run else kept
        if folded.folded is not None:
            known = ("_pairs", "cross") if folded.missing else ("cross",)
            whole.__dict__.update({name: getattr(folded, name) for name in known})
        return whole

    @classmethod
    def of_batches(cls, batches: Iterable[Any]) -> SpinStatistics:
        """Of data that arrive some rows at a time, the same to the last bit as those of all rows at once.

        Rows are kept as bits as long as there are no more of them than spins; from then on X^T X, n^2 numbers, and a
        bounded random choice of rows (:mod:`bayesing.drawn`).
        """
        drawing: Drawing | None = Drawing()
        N = 0
        folded: SpinStatistics | None = None
        pending: SpinStatistics | None = None  # few rows, which are not worth a product of their own
        for batch in batches:
            if hasattr(batch, "__len__") and len(batch) == 0:
                continue  # which a filter may leave of a batch
            part = cls.of(batch, min_samples=0)
            if part.N == 0:
                continue  # all cells are missing
            if part.rows is None:
                drawing = None
            elif drawing is not None:
                drawing.add(part.rows, part.absent, start=N)
            N += part.N
            pending = part if pending is None else pending + part
            if pending.N > pending.n:
                pending = pending.without_rows()
                folded, pending = pending if folded is None else folded + pending, None
        parts = [part for part in (folded, pending) if part is not None]
        if not parts:
            raise InputError("Expected at least one batch of spins: found none.")
        whole = sum(parts[1:], parts[0])
        if whole.rows is not None or drawing is None:
            return whole
        return replace(whole, drawn=drawing.sample)

    def __add__(self, other: SpinStatistics) -> SpinStatistics:
        """All samples of both, exact. They must have the same columns, and numbers in the same encoding."""
        if not isinstance(other, SpinStatistics):
            return NotImplemented
        names, encoding = self._common(other)
        N, empty = self.N + other.N, self.empty + other.empty
        if self.rows is not None and other.rows is not None:
            rows = PackedSpins.stacked([self.rows, other.rows])
            absent = stacked_gaps([self.rows, other.rows], [self.absent, other.absent])
            runs = self.runs + other.runs
            drawn = None if self.drawn is None or other.drawn is None else self.drawn + other.drawn
            return SpinStatistics(
                N, self.n, rows, None, names, encoding, absent=absent, lengths=runs, drawn=drawn, empty=empty
            )
        kind = integers_up_to(N)
        cross = self.cross.astype(kind)
        cross += other.cross
        folded = Folded(self.sums + other.sums, cross)
        if self.missing or other.missing:
            counts = np.add(self.pair_counts, other.pair_counts, dtype=kind)
            folded = Folded(*folded[:2], counts, np.add(self.pair_sums, other.pair_sums, dtype=kind))
        mine, others = self._sample(), other._sample()
        drawn = None if mine is None or others is None else mine + others
        return SpinStatistics(N, self.n, None, folded, names, encoding, drawn=drawn, empty=empty)

    def _sample(self) -> DrawnRows | None:
        """Rows that were drawn, now if all were kept; None where there are none."""
        if self.drawn is not None or self.rows is None:
            return self.drawn
        return DrawnRows.of(self.rows, self.absent)

    @cached_property
    def sampled(self) -> SpinStatistics | None:
        """Rows to look at: these data if all rows were kept, else a random choice, if there is one."""
        if self.rows is not None or self.drawn is None:
            return self if self.rows is not None else None
        some = self.drawn
        return SpinStatistics(
            len(some),
            self.n,
            some.rows,
            None,
            self.names,
            self.encoding,
            absent=some.absent,
            lengths=some.lengths,
        )

    def __radd__(self, other: Any) -> SpinStatistics:
        """So that ``sum`` adds up statistics: it starts from 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def without_rows(self) -> SpinStatistics:
        """The same with sums and products in place of rows, if samples outnumber spins. Few rows take less memory."""
        if self.rows is None or self.N <= self.n:
            return self
        folded = Folded(self.sums, self.cross)
        if self.missing:
            folded = Folded(*folded[:2], self.pair_counts, self.pair_sums)
        return SpinStatistics(self.N, self.n, None, folded, self.names, self.encoding, empty=self.empty)

    @cached_property
    def missing(self) -> int:
        """The number of missing cells."""
        if self.folded is not None and self.folded.pair_counts is not None:
            return self.N * self.n - int(np.trace(self.folded.pair_counts, dtype=np.int64))
        return 0 if self.absent is None else int(self.absent.active().sum())

    @cached_property
    def sums(self) -> Integers:
        """Of each spin over the samples in which it was observed."""
        if self.folded is not None:
            return _shared(self.folded.sums)
        rows = self._rows
        return _shared(rows.sums() if self.absent is None else rows.sums() + self.N - self.counts)

    @cached_property
    def counts(self) -> Integers:
        """The number of samples in which each spin was observed: N where no cell is missing."""
        if self.folded is not None and self.folded.pair_counts is not None:
            return _shared(np.diag(self.folded.pair_counts).astype(np.int64))
        if self.absent is None:
            return _shared(np.full(self.n, self.N, np.int64))
        return _shared((self.N - self.absent.sums()) // 2)

    @property
    def observed(self) -> int | Integers:
        """N, or the number of samples of each spin where cells are missing."""
        return self.counts if self.missing else self.N

    @property
    def pair_counts(self) -> Gram:
        """The number of samples in which both of two spins were observed, n x n."""
        return self._pairs.counts

    @property
    def pair_sums(self) -> Gram:
        """Entry i, j is the sum of spin i over the samples in which i and j were observed, n x n."""
        return self._pairs.sums

    @cached_property
    def _pairs(self) -> PairSums:
        if not self.missing:
            kind = integers_up_to(self.N)
            counts = np.broadcast_to(kind(self.N), (self.n, self.n))
            return PairSums(
                counts, np.broadcast_to(self.sums[:, None].astype(kind), counts.shape), self.cross
            )
        if self.folded is None:
            assert self.absent is not None
            pairs = PairSums.of(self._rows, self.absent)
        else:
            assert self.folded.pair_counts is not None and self.folded.pair_sums is not None
            pairs = PairSums(self.folded.pair_counts, self.folded.pair_sums, self.folded.cross)
        return PairSums(*map(_shared, pairs))

    @cached_property
    def gram(self) -> Gram:
        """The Gram matrix of the smaller side, of whole numbers: X^T X where N > n, else X X^T."""
        self.check_complete()
        return self.cross if self.N > self.n else _shared(self._rows.samples_gram())

    @cached_property
    def cross(self) -> Gram:
        """X^T X, n x n, whichever side is smaller; of a pair, over the samples in which both were observed."""
        if self.folded is not None:
            return _shared(self.folded.cross)
        return _shared(self._rows.spins_gram()) if self.absent is None else self._pairs.products

    @cached_property
    def moments(self) -> SpinMoments:
        """Moments of all spins, the constant ones included."""
        if self.N < 2:
            raise InputError(f"At least 2 samples are needed: found n_samples={self.N}.")
        if self.missing:
            return moments_available(self.N, self._pairs)
        return moments_from(self.N, self.sums, self.gram, None if self.N > self.n else self.rows)

    @cached_property
    def varying(self) -> Indices:
        """Which spins are not the same in all samples in which they were observed."""
        return _shared(np.flatnonzero(np.abs(self.sums) < self.observed))

    @cached_property
    def copies(self) -> tuple[Copy, ...]:
        """Spins that vary and are copies or opposites of an earlier one, if this is no accident."""
        if self.missing:
            return copies_from_products(self.cross, self.varying, self.N, self._pairs[:2])
        if self.folded is not None:
            return copies_from_products(self.cross, self.varying, self.N)
        return copies_of(self._rows)

    @cached_property
    def kept(self) -> SpinStatistics:
        """The same data without constant spins; at least two spins must vary."""
        self.check_variation()
        return self if len(self.varying) == self.n else self.select(self.varying)

    def check_variation(self) -> None:
        """Raise an error unless at least two spins vary."""
        if len(self.varying) < 2:
            raise ConstantSpinsError(
                f"Expected at least 2 spins (columns) that vary between samples: found {len(self.varying)} of "
                f"{self.n}, which says nothing about couplings."
            )

    def select(self, columns: Any) -> SpinStatistics:
        """Some of the spins, by their numbers, a slice or a mask."""
        columns = np.arange(self.n)[columns]
        names = None if self.names is None else tuple(self.names[j] for j in columns)
        square = np.ix_(columns, columns)
        if self.folded is not None:
            pairs = (None if matrix is None else matrix[square] for matrix in self.folded[1:])
            folded = Folded(self.sums[columns], *pairs)  # type: ignore[arg-type]
            drawn = None if self.drawn is None else self.drawn.columns(columns)
            return replace(self, n=len(columns), folded=folded, names=names, drawn=drawn)
        rows, absent = self._rows.columns(columns), self.absent and any_gaps(self.absent.columns(columns))
        part = replace(self, n=len(columns), rows=rows, names=names, absent=absent)
        if "_pairs" in self.__dict__ and absent is not None:
            part.__dict__["_pairs"] = PairSums(*(_shared(matrix[square]) for matrix in self._pairs))
        elif "cross" in self.__dict__:
            part.__dict__["cross"] = self.cross[square]
        return part

    @property
    def has_data(self) -> bool:
        """Whether there are rows, or products, and not a summary alone."""
        return self.rows is not None or self.folded is not None

    def summary(self) -> SpinStatistics:
        """What is known so far and small, such as moments and eigenvalues, without the data themselves."""
        part = SpinStatistics(self.N, self.n, None, None, self.names, self.encoding)
        _ = self.missing and self.counts
        part.__dict__.update({name: self.__dict__[name] for name in _SMALL if name in self.__dict__})
        return part

    def __getstate__(self) -> dict[str, Any]:
        """A pickle has the data and what is small; large matrices are computed again where they are needed."""
        kept = {field.name for field in fields(self)} | set(_SMALL)
        return {name: value for name, value in self.__dict__.items() if name in kept}

    def take(self, samples: Any) -> SpinStatistics:
        """Some of the samples, by a slice or by their numbers; the rows are needed."""
        samples = samples if isinstance(samples, slice) else np.atleast_1d(samples)
        rows, absent = self._rows[samples], self.absent and any_gaps(self.absent[samples])
        return SpinStatistics(len(rows), self.n, rows, None, self.names, self.encoding, absent=absent)

    @property
    def runs(self) -> Runs:
        """Lengths of runs of successive rows: one, of all rows, unless several were given."""
        return (self.N,) if self.lengths is None else self.lengths

    @cached_property
    def memory(self) -> Memory:
        """How long rows in their order remember those before them; needs the rows, and one spin that varies."""
        rho = self.autocorrelation
        stride = stride_of(rho, len(self.varying), self.N)
        products = np.ones(1)
        if stride > 1:
            kept, end = self.select(self.varying), reach(stride, len(rho))
            products = products_autocorrelation(kept.spins(), kept.magnetisations, self.runs, end)
        return Memory(len(self.varying), rho, products, self.runs)

    @cached_property
    def autocorrelation(self) -> Array:
        """The mean over spins of the correlation of rows that are 0, 1, 2, ... apart (:mod:`bayesing.series`)."""
        chosen, m = self.varying, self.magnetisations
        if len(chosen) == 0:
            raise ConstantSpinsError("Expected spins (columns) that vary between samples: found none.")
        spins, step = self.spins(), columns_at_a_time(self.N)
        parts = (chosen[k : k + step] for k in range(0, len(chosen), step))
        return _shared(autocorrelation_of(((spins[:, part], m[part]) for part in parts), self.runs))

    def spins(self) -> Spins:
        """The rows as int8, ±1, and 0 where a cell is missing."""
        spins = self._rows.unpack()
        if self.absent is not None:
            spins[self.absent.unpack() > 0] = 0
        return spins

    @property
    def active(self) -> Integers | None:
        """The number of spins that are +1, of each sample, or of those that were drawn where rows were not kept.

        None where no rows are there, or cells are missing.
        """
        some = self.sampled
        return None if some is None or self.missing else some._rows.active()

    def distinct(self) -> tuple[SpinStatistics, Integers]:
        """Each state that occurs, once, and the number of samples in it; needs the rows."""
        words = np.ascontiguousarray(self._rows.words)
        if self.absent is not None:
            words = np.hstack([words, self.absent.words])
        keys = words.view(np.dtype((np.void, words.itemsize * words.shape[1])))[:, 0]
        _, first, counts = np.unique(
            words[:, 0] if words.shape[1] == 1 else keys, return_index=True, return_counts=True
        )
        return self.take(first), counts

    @property
    def magnetisations(self) -> Array:
        """The mean of each spin; 0 for one that was never observed."""
        if self.missing:
            return np.asarray(self.sums / np.maximum(self.counts, 1))
        return np.asarray(self.sums / self.N)

    @property
    def overlap(self) -> float:
        """q, the mean of squared magnetisations, without bias."""
        if self.N < 2:
            raise InputError(f"At least 2 samples are needed: found n_samples={self.N}.")
        return overlap_of_cells(self.counts, self.sums) if self.missing else overlap_of(self.sums, self.N)

    def covariance(self) -> Array:
        """C = X^T X/N - m m^T of all spins, n x n; a pair is centred by the means of the samples that have both."""
        if self.missing:
            return self._pairs.covariance()
        m = self.magnetisations
        return np.asarray(self.cross / self.N - np.outer(m, m))

    def largest_pair_sum(self, offset: float) -> float:
        """``N max_{i<j} |d_ij - offset|``, d_ij the mean of S_i S_j."""
        self.check_complete()
        spins = None if self.N > self.n else self.spins().astype(np.float32)
        largest, step = 0.0, max(1, _AT_A_TIME // self.n)
        for start in range(0, self.n - 1, step):
            part = slice(start, start + step)
            sums = self.cross[part, start:] if spins is None else spins[:, part].T @ spins[:, start:]
            pairs = sums[np.arange(sums.shape[1]) > np.arange(len(sums))[:, None]]
            largest = max(largest, *(abs(float(end) - self.N * offset) for end in (pairs.min(), pairs.max())))
        return largest

    @cached_property
    def correlations(self) -> Array:
        """D = Z^T Z/N of the spins that vary or, where N is not larger than their number, Z Z^T/N."""
        self.check_complete()
        kept = self.kept
        if kept is not self:
            return kept.correlations
        m = self.magnetisations
        if self.N > self.n:
            return _shared(correlations_of(self.gram, self.N, m))
        return _shared(samples_correlations(self.spins(), m))

    @cached_property
    def spectrum(self) -> Spectrum:
        """Eigenvalues of the correlations of the spins that vary, n of them; those that are 0 as one group."""
        kept = self.kept
        eigen = kept.__dict__.get("_eigen")
        return kept._spectrum(np.linalg.eigvalsh(kept.correlations) if eigen is None else eigen[0], 0, self.n)

    @cached_property
    def spectrum_without_mean(self) -> Spectrum:
        r"""The same without the direction in which a mean coupling acts, scaled to the mean 1.

        A mean coupling J0/n acts in the direction :math:`u_i \propto \sqrt{v_i}` alone, which makes one large
        eigenvalue.
        """
        kept = self.kept
        D, v = kept.correlations, 1 - kept.magnetisations**2
        if kept.N > kept.n:
            D = without_direction(D, np.sqrt(v / v.sum()))
        else:  # Z u is the sum of the spins, less its mean
            along = (kept.spins().sum(axis=1) - kept.magnetisations.sum()) / math.sqrt(v.sum())
            D = D - np.outer(along, along) / kept.N
        return kept._spectrum(np.linalg.eigvalsh(D), 1, self.n)

    @cached_property
    def eigenvectors(self) -> Array:
        """Of the correlations of the spins that vary, in the order of the spectrum, without its group of zeros.

        Where eigenvalues are needed as well, ask for the eigenvectors first: one decomposition gives both.
        """
        kept = self.kept
        if kept is not self:
            return kept.eigenvectors
        d, U = self._eigen
        if self.N > self.n:
            return U
        m = self.magnetisations
        Z = (self.spins() - m) / np.sqrt(1 - m**2)
        return np.asarray(Z.T @ (U[:, 1:] / np.sqrt(self.N * np.maximum(d[1:], 1e-12))))

    @cached_property
    def _eigen(self) -> tuple[Array, Array]:
        d, U = np.linalg.eigh(self.correlations)
        return d, U

    def _spectrum(self, d: NDArray[np.floating], n_out: int, n_all: int) -> Spectrum:
        return spectrum_from(d, self.N, self.n, n_out, n_all, max(self.overlap, 0.0))

    def check_complete(self) -> None:
        """Raise an error where cells are missing."""
        if self.missing:
            raise InputError(
                f"Expected complete data: found {self.missing} missing cells of {self.N} x {self.n}, which this "
                "method cannot use. Leave out samples or columns with missing cells first: in a file, with ",
                Setting("missing", "drop-samples"),
                " or ",
                Setting("missing", "drop-spins"),
                ".",
            )

    @property
    def _rows(self) -> PackedSpins:
        if self.rows is None:
            raise InputError(
                "The rows themselves are needed: found statistics that do not keep them. Give all rows at once."
            )
        return self.rows

    def _common(self, other: SpinStatistics) -> tuple[tuple[str, ...] | None, str]:
        """Names and encoding of both, or an error that says how they differ."""
        if self.n != other.n:
            raise InputError(f"Expected statistics of {self.n} spins (columns), as before: found {other.n}.")
        for j, (a, b) in enumerate(zip(self.names or (), other.names or (), strict=False)):
            if a != b:
                raise InputError(
                    f"Expected the same columns as before, {a!r} as number {j + 1}: found {b!r}."
                )
        return self.names or other.names, common_encoding(self.encoding, other.encoding)


def is_several(X: Any) -> bool:
    """Whether this is a list of tables, and not one."""
    return isinstance(X, list | tuple) and len(X) > 0 and all(_is_table(part) for part in X)


def _is_table(part: Any) -> bool:
    return isinstance(part, SpinStatistics) or len(getattr(part, "shape", ())) == 2


A = TypeVar("A", bound=NDArray[Any])


def _shared(array: A) -> A:
    """An array that many will look at, and nobody can write to."""
    array.flags.writeable = False
    return array
