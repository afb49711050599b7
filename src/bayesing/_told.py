r"""What the data of a group alone say of its couplings, without the prior of the fit.

A fit gives couplings that a prior has pulled towards 0, and more so in a small group than in a large one. Before two
groups are compared, the pull is taken back: the data say of a coupling that it is b, with the precision q.

- **Sparse prior.** b and q are what expectation propagation has worked with (:mod:`bayesing.couplings._sparse`).
- **Gaussian prior.** With the standard error e of a coupling J, :math:`q = 1/e^2 - n/\gamma` and
  :math:`b = J/(e^2 q)`.
- **No prior.** b = J and :math:`q = 1/e^2`.

**Flattened conditionals.** In b of the sparse prior, all other couplings of the two spins are as uncertain as they
are. Uncertainty of the local field flattens the hyperbolic tangent, and b is too small, by a factor of about
:math:`1 - \kappa (S_i + S_j)/2` with :math:`S_i = \sum_k \operatorname{Var}(J_{ik}) (1 - m_k^2)`. In simulations, of
sparse and of dense couplings, 25 and 50 spins and 100 to 1000 samples, :math:`\kappa` is 0.15 to 0.35. b is divided
by this factor, so that couplings of a small and of a large group are on the same scale.

**Strength.** J of a group is the root of n times the mean square of its couplings, without what noise adds to it,

.. math::

    \gamma = n \langle b^2 - 1/q \rangle , \qquad
    \operatorname{Var} \gamma = \frac{n^2}{p^2} \sum \left[ \phi \frac{4 (b^2 - 1/q)}{q} + \frac{2}{q^2} \right] ,

over p pairs. :math:`\phi` would be 1 if errors of couplings were independent; in the same simulations it is 1.2 to
1.5. All pairs have the same weight: with weights that grow with q, pairs of strongly coupled spins count less, and
gamma is too small by up to 8 errors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from .check import Check
from .couplings._sparse import SparseCouplings
from .exceptions import CheckWarning, InputError, NotSparseWarning, Setting
from .inference import CouplingAnswer
from .types import Array, Indices

_FLATTENED = 0.25  # kappa
_COMMON = 1.4  # phi
_LEAST_KNOWN = 0.02  # share of the data in the precision of a coupling, below which they say nothing of it


@dataclass(frozen=True)
class GroupStrength:
    """gamma of the couplings of a group, which may be below 0 by noise, and its standard error."""

    gamma: float
    error: float

    @property
    def J(self) -> float:
        """The root of gamma."""
        return math.sqrt(max(self.gamma, 0.0))

    def ends(self, z: float) -> tuple[float, float]:
        """J of z errors less, and of z errors more."""
        low, high = (math.sqrt(max(self.gamma + s * z * self.error, 0.0)) for s in (-1, 1))
        return low, high


@dataclass(frozen=True, eq=False)
class Group:
    """A group: its label, names of its columns if there are any, its fit, and what its data alone say (n x n)."""

    label: str
    names: tuple[str, ...] | None
    couplings: Array
    probabilities: (
        Array  #: That a coupling is there or, for priors under which all are, that its sign is right.
    )
    fields: Array
    field_errors: Array | None
    b: Array
    q: Array
    check: Check | None
    warnings: tuple[Warning, ...]

    @classmethod
    def of(cls, label: str, names: tuple[str, ...] | None, answer: CouplingAnswer, known: bool) -> Group:
        """From a fit; if its warnings are ``known`` already, that of its check is kept alone.

        That couplings are dense is not said: differences do not depend on which prior their couplings then have.
        """
        b, q = told_by(answer)
        warnings = [
            w
            for w in answer.warnings
            if isinstance(w, CheckWarning) or not (known or isinstance(w, NotSparseWarning))
        ]
        found, there = answer.couplings, answer.probabilities
        return cls(
            label=label,
            names=names,
            couplings=found.rows()[0],
            probabilities=1 - answer.false_signs if there is None else there,
            fields=found.fields,
            field_errors=answer.field_errors,
            b=b,
            q=q,
            check=answer.check,
            warnings=tuple(type(w)(f"Group {label}: {w}") for w in warnings),
        )

    @property
    def n(self) -> int:
        """The number of columns."""
        return len(self.fields)

    @property
    def silent(self) -> Indices:
        """Columns of which the data tell no coupling: they are constant."""
        return np.flatnonzero(~(self.q > 0).any(axis=1))

    def select(self, columns: Indices, names: tuple[str, ...] | None = None) -> Group:
        """Some columns, in this order, under these names or their own."""
        if names is None and self.names is not None:
            names = tuple(self.names[i] for i in columns)
        square = np.ix_(columns, columns)
        return replace(
            self,
            names=names,
            couplings=self.couplings[square],
            probabilities=self.probabilities[square],
            fields=self.fields[columns],
            field_errors=None if self.field_errors is None else self.field_errors[columns],
            b=self.b[square],
            q=self.q[square],
        )


def told_by(answer: CouplingAnswer) -> tuple[Array, Array]:
    """b and q of all couplings, n x n; q is 0 where the data say nothing."""
    found, strength = answer.couplings, answer.strength
    if isinstance(found, SparseCouplings):
        return _not_flattened(answer, found), found.precisions
    sparse = Setting("prior", "sparse")
    if answer.prior == "laplace" and strength is not None:
        raise InputError(
            "the Laplace prior makes weak couplings exactly 0, and what the data say of them is lost. Fit with ",
            sparse,
            ".",
        )
    J, errors = found.rows()
    errors = errors / math.sqrt(answer.told_worth)
    if strength is None:
        return without_prior(J, errors, 0.0)
    if strength.gamma == 0:
        raise InputError(
            "the strength of the prior was inferred to be 0, and what the data say of couplings is lost. Fit with ",
            sparse,
            ".",
        )
    return without_prior(J, errors, len(J) / strength.gamma)


def without_prior(J: Array, errors: Array, precision: float) -> tuple[Array, Array]:
    """b and q of couplings with standard errors, under a normal prior of this precision."""
    known = np.isfinite(errors) & (errors > 0)
    whole = np.divide(1.0, errors**2, out=np.zeros_like(errors), where=known)
    q = whole - precision
    q[q <= _LEAST_KNOWN * whole] = 0.0
    return np.divide(J * whole, q, out=np.zeros_like(J), where=q > 0), q


def _not_flattened(answer: CouplingAnswer, found: SparseCouplings) -> Array:
    assert answer.base is not None
    S = found.errors**2 @ (1 - np.tanh(answer.base) ** 2)
    return np.asarray(found.told * (1 + _FLATTENED * (S[:, None] + S) / 2))


def strength_of(b: Array, q: Array, n: int) -> GroupStrength:
    """Of a group of n spins, from what its data alone say of couplings."""
    square = b**2 - 1 / q
    linear = _COMMON * max(float((4 * square / q).sum()), 0.0)
    variance = linear + float((2 / q**2).sum())
    return GroupStrength(n * float(square.mean()), n * math.sqrt(variance) / len(b))
