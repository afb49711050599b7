r"""The Boltzmann machine itself, and its exact averages for small n.

.. math:: P(S) = \frac1Z \exp\Big( \sum_i h_i S_i + \sum_{i<j} J_{ij} S_i S_j \Big), \qquad S_i = \pm 1 .

**Enumeration.** The spins are cut in two halves, S = (A, B). The exponent is then
:math:`E_A(A) + E_B(B) + A^T J_{AB} B`, so all 2^n weights are one matrix product of the 2^(n/2) states of
either half, and every average is another one. At n = 20 that is a 1024 x 1024 matrix, in milliseconds.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from ._html import card
from .arguments import number, numbers
from .bqm import arrays_of, bqm_of
from .encodings import from_zero_one, to_zero_one
from .files import load_arrays, writing
from .spins import as_row, as_spins

Floats = NDArray[np.float64]

_MOST_LISTED = 1000  # spins up to which the strongest couplings are looked for
_STRONGEST = 5  # couplings in a notebook
MAX_EXACT = 20  # spins; 2^20 states of 8 bytes


@dataclass(frozen=True, eq=False)
class IsingModel:
    """Couplings J (n x n, symmetric, zero diagonal) and fields h (n, or one number for all spins).

    Couplings may be an array or a sparse matrix of SciPy.

    >>> model = IsingModel([[0.0, 0.5], [0.5, 0.0]], 0.0)
    >>> model.correlations().round(3)  # tanh(0.5) off the diagonal
    array([[1.   , 0.462],
           [0.462, 1.   ]])
    """

    couplings: Floats
    fields: Floats

    def __init__(self, couplings: ArrayLike, fields: ArrayLike = 0.0) -> None:
        J, h = _check_couplings(couplings), numbers("fields", fields)
        if h.shape not in ((), (len(J),)):
            raise ValueError(f"fields must be a number or have shape ({len(J)},): found shape {h.shape}.")
        h = np.broadcast_to(h, len(J)).copy()
        J.flags.writeable = h.flags.writeable = False
        object.__setattr__(self, "couplings", J)
        object.__setattr__(self, "fields", h)

    def __reduce__(self) -> tuple[type[IsingModel], tuple[Floats, Floats]]:
        return IsingModel, (self.couplings, self.fields)  # checked and read-only again after unpickling

    def __repr__(self) -> str:
        J, h, n = self.couplings, self.fields, self.n_spins
        there, pairs = np.count_nonzero(J) // 2, n * (n - 1) // 2
        size = ""
        if there:
            low = min(J[i, i + 1 :].min() for i in range(n - 1))
            high = max(J[i, i + 1 :].max() for i in range(n - 1))
            size = f", of size {np.linalg.norm(J) / np.sqrt(2 * pairs):.3g}, from {low:.3g} to {high:.3g}"
        few = f"{there} of " if there < pairs else ""
        fields = f"fields from {h.min():.3g} to {h.max():.3g}" if h.any() else "no fields"
        return f"<IsingModel of {n} spins: {few}{pairs} couplings{size}; {fields}>"

    def _repr_html_(self) -> str:
        n = self.n_spins
        if n > _MOST_LISTED:
            return card(repr(self), [])
        upper = np.triu(self.couplings, 1)
        strongest = np.argsort(-np.abs(upper), axis=None, kind="stable")[:_STRONGEST]
        rows = [(str(k // n), str(k % n), f"{upper.flat[k]:+.4g}") for k in strongest if upper.flat[k]]
        return card(repr(self), [], ("i", "j", "strongest couplings") if rows else (), rows)

    @property
    def n_spins(self) -> int:
        """Number of spins n."""
        return len(self.fields)

    def at(self, beta: float) -> IsingModel:
        """The same model at the inverse temperature ``beta``: all couplings and fields times as large."""
        beta = number("beta", beta, least=0)
        return self if beta == 1 else IsingModel(beta * self.couplings, beta * self.fields)

    def energy(self, X: ArrayLike) -> Floats:
        """Energy of each sample (row) of ``X``, minus the exponent of P(S): low where S is likely.

        One sample may be given as it is, without a second dimension.
        """
        spins = as_spins(as_row(X), min_samples=1, min_spins=1).astype(np.float64)
        if spins.shape[1] != self.n_spins:
            raise ValueError(f"Expected samples of {self.n_spins} spins (columns): found {spins.shape[1]}.")
        return -_exponents(spins, self.couplings, self.fields)

    def log_partition(self) -> float:
        """ln Z, exact, for n up to 20."""
        return self._enumerate().log_partition

    def entropy(self) -> float:
        """- sum P(S) ln P(S), in nats, exact, for n up to 20."""
        return float(scipy.special.entr(self._enumerate().probabilities).sum())

    def means(self) -> Floats:
        """<S_i>, exact, for n up to 20."""
        a, b, p, _ = self._enumerate()
        return np.concatenate([p.sum(axis=1) @ a, p.sum(axis=0) @ b])

    def correlations(self) -> Floats:
        """<S_i S_j>, exact, for n up to 20; 1 on the diagonal, means not subtracted."""
        a, b, p, _ = self._enumerate()
        cross = a.T @ p @ b
        return np.block(
            [
                [a.T @ (p.sum(axis=1)[:, None] * a), cross],
                [cross.T, b.T @ (p.sum(axis=0)[:, None] * b)],
            ]
        )

    def to_zero_one(self) -> tuple[Floats, Floats]:
        """Couplings and thresholds of the same model for variables that are 0 and 1: 4 J_ij, 2 h_i - 2 sum_j J_ij."""
        return to_zero_one(self.couplings, self.fields)

    @classmethod
    def from_zero_one(cls, couplings: ArrayLike, thresholds: ArrayLike = 0.0) -> IsingModel:
        """The model whose couplings and thresholds are those of variables that are 0 and 1, as IsingFit has them.

        >>> IsingModel.from_zero_one([[0.0, 2.0], [2.0, 0.0]], [-0.8, -1.0]).fields.round(3).tolist()
        [0.1, 0.0]
        """
        checked = cls(couplings, thresholds)  # the shapes, and what is symmetric, are the same
        return cls(*from_zero_one(checked.couplings, checked.fields))

    def to_bqm(self, labels: Sequence[Hashable] | None = None) -> Any:
        """A ``dimod.BinaryQuadraticModel`` with the same energies; ``labels`` are 0, 1, ... if not given.

        dimod minimises an energy, so that its fields and couplings have the other sign.
        """
        return bqm_of(self.couplings, self.fields, range(self.n_spins) if labels is None else labels)

    @classmethod
    def from_bqm(cls, bqm: Any) -> IsingModel:
        """The model with P ~ exp(-E) of a ``dimod.BinaryQuadraticModel``, in the order of its variables."""
        return cls(*arrays_of(bqm))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write couplings and fields to an .npz file, whole or not at all."""
        with writing(path, force=True) as file:
            np.savez_compressed(file, couplings=self.couplings, fields=self.fields)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> IsingModel:
        """Read what :meth:`save` wrote. Nothing is unpickled."""
        try:
            arrays = load_arrays(Path(path))
            if not isinstance(arrays, dict) or not {"couplings", "fields"} <= set(arrays):
                found = (
                    (", ".join(arrays) or "none") if isinstance(arrays, dict) else "one array without a name"
                )
                raise ValueError(f"expected the arrays couplings and fields of a saved model, found {found}.")
            if arrays.get("hidden_fields", np.empty(0)).size:
                raise ValueError(
                    "expected couplings and fields, found hidden units as well. "
                    "Use BoltzmannMachine.load(path).model_."
                )
            return cls(arrays["couplings"], arrays["fields"])
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from error

    def _enumerate(self) -> _Enumeration:
        n = self.n_spins
        if n > MAX_EXACT:
            raise ValueError(
                f"Exact averages go through all 2^n states, for n up to {MAX_EXACT}: found n = {n}. "
                "Use samples of the model instead, and annealed_importance_sampling for ln Z."
            )
        J, h, k = self.couplings, self.fields, n // 2
        a, b = all_states(k), all_states(n - k)
        exponents = a @ J[:k, k:] @ b.T
        exponents += _exponents(a, J[:k, :k], h[:k])[:, None]
        exponents += _exponents(b, J[k:, k:], h[k:])
        log_partition = float(scipy.special.logsumexp(exponents))
        return _Enumeration(a, b, np.exp(exponents - log_partition), log_partition)


class _Enumeration(NamedTuple):
    """All states of the two halves, and the probability of each pair of them."""

    a: Floats
    b: Floats
    probabilities: Floats
    log_partition: float


def symmetric(upper: Floats, n: int) -> Floats:
    """The matrix with these entries above the diagonal, row by row."""
    J = np.zeros((n, n))
    J[np.triu_indices(n, 1)] = upper
    J += J.T.copy()
    return J


def all_states(n: int) -> Floats:
    """All 2^n states of n spins, a row each."""
    bits = np.arange(2**n)[:, None] >> np.arange(n) & 1
    return 2 * bits.astype(np.float64) - 1


def _exponents(spins: Floats, J: Floats, h: Floats) -> Floats:
    """sum_i h_i S_i + sum_{i<j} J_ij S_i S_j of each row; the half is because J holds every pair twice."""
    exponents: Floats = spins @ h + 0.5 * np.einsum("ai,ai->a", spins @ J, spins)
    return exponents


def _to_symmetric(J: Floats) -> str:
    """What to do about a matrix that is not symmetric: of one triangle, half the sum would halve the couplings."""
    if not np.triu(J, 1).any() or not np.tril(J, -1).any():
        return "One triangle is empty: use couplings + couplings.T if each pair stands there once."
    return "Use (couplings + couplings.T) / 2 if that is what you mean."


def _check_couplings(couplings: ArrayLike) -> Floats:
    if callable(getattr(couplings, "toarray", None)):  # of SciPy's sparse matrices and arrays
        couplings = couplings.toarray()  # type: ignore[union-attr]
    J = numbers("couplings", couplings)
    if J.ndim != 2 or J.shape[0] != J.shape[1] or len(J) < 1:
        raise ValueError(f"couplings must be a square matrix: found shape {J.shape}.")
    if np.diagonal(J).any():
        i = int(np.flatnonzero(np.diagonal(J))[0])
        raise ValueError(
            f"couplings must be zero on the diagonal: found {J[i, i]} at couplings[{i}, {i}]. "
            "A spin does not couple to itself; use np.fill_diagonal(couplings, 0)."
        )
    room = 1e-10 * max(J.max(), -J.min())  # for rounding, as in V diag(j) V^T, and no more
    for i in range(len(J)):  # a row at a time: no second matrix in memory
        difference = J[i, i:] - J[i:, i]
        if np.abs(difference).max() > room:
            j = i + int(np.abs(difference).argmax())
            raise ValueError(
                f"couplings must be symmetric: found couplings[{i}, {j}] = {J[i, j]} and "
                f"couplings[{j}, {i}] = {J[j, i]}. {_to_symmetric(J)}"
            )
        if difference.any():
            J[i:, i] = J[i, i:]
    return J
