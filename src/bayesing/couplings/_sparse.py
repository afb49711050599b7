r"""Couplings of which many are 0: a mixture prior that the data tell, by expectation propagation.

Every coupling has the same prior, a point mass at 0 and normals of several widths (:mod:`bayesing.mixture`). Half of
the log pseudo-likelihood stands for the log likelihood, for every coupling appears in two conditionals
(:mod:`bayesing.couplings.pseudolikelihood`). In expectation propagation (T. Minka, 2001) the prior of each coupling
is replaced by a normal of its own, :math:`\exp(-\tau_{ij} J^2/2 + \nu_{ij} J)`, a *site*, so that the posterior has
the means and variances that it would have with the true prior of that one coupling and the sites of all others. From
:math:`\tau = n/\gamma`, :math:`\nu = 0`, the Gaussian prior, repeat:

1. **Mode.** Couplings and fields that maximise half of the pseudo-likelihood with all sites.
2. **Precisions.** Of its curvature, row i of the couplings sees its own conditional,
   :math:`B_i = F_i^T \operatorname{diag}(1 - \tanh^2 f_i) F_i`, F_i the centred spins with a 1 for the field in place
   of spin i, and of the other rows' knowledge of J_ij a number, :math:`r_{ji}`, a *message*:

   .. math:: A_i = \tfrac12 B_i + \operatorname{diag}(D_i), \qquad D_{ij} = \tau_{ij} + r_{ji}, \quad
       D_{ii} = \tfrac12, \qquad r_{ij} = \frac{1}{[A_i^{-1}]_{jj}} - D_{ij} .

   The data then tell J_ij with the precision :math:`q^0_{ij} = r_{ij} + r_{ji}`, all others being as uncertain as
   they are, and :math:`1/(q^0 + \tau)` is its posterior variance. Fields :math:`h_i = b_i - \sum_j J_{ij} d_j`
   have the variance of b_i, :math:`1/(\sum (1 - \tanh^2 f_i) + 1)`, and that of the sum, :math:`d^T A_i^{-1} d` over
   the couplings.
3. **Counted twice?** Two conditionals are not quite one: their influences on J_ij,
   :math:`(s_i - \tanh f_i) [F_i A_i^{-1}]_j` and i and j exchanged, have a correlation :math:`\rho_{ij}` over samples
   which is 1 for weak couplings and less for strong ones. What both say together counts
   :math:`c_{ij} = 1 + \rho_{ij}` times, and the precision is :math:`q = 2 q^0/c`. Rows that remember those before
   them (:mod:`bayesing.series`) say the same thing more often: if a row is worth :math:`w` independent ones,
   :math:`c = (1 + \rho)/w`.
4. **Data alone.** Without its own site a coupling would be :math:`b = (J (q^0 + \tau) - \nu)/q^0`.
5. **Prior.** Weights of the mixture by maximum marginal likelihood of all (b, q); mean m and variance v of each
   coupling under it; and the site that would have made them, :math:`\tau = 1/v - q` and
   :math:`\nu = m (q + \tau) - b q`, both times c/2, for the sites stand beside half of the pseudo-likelihood.

It ends where m is the mode. Couplings are m, errors the roots of v. Which of them are there is read from (b, q) by
:func:`bayesing.mixture.learn_edges`.

**Dense data.** If the mixture is hardly more probable than one normal, couplings are many and weak. Those of the
Gaussian prior, the first mode, are then better, and are kept.

Cost: :math:`O(N n^3)` for the B_i, each of which is used and forgotten, and :math:`O(n^4)` for their inverses. For
more than some hundred spins, B_i is taken to be diagonal, with weights 1 - tanh^2 that are smaller by what is
uncertain about f_i: :math:`O(N n^2)`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy

from ..conditionals import curvature, fields_of, middle_of_fields, slope
from ..exceptions import NotConvergedWarning, NotSparseWarning
from ..ising import symmetric
from ..mixture import MixturePosterior, best_normal, grid, learn_edges, learn_grid, mixed
from ..statistics import SpinStatistics
from ..threads import Run, workers
from ..types import Array, Spins
from ..weighted import WeightedRows
from ._method import DenseCouplings, Strength, embed, field_errors, no_couplings
from ._newton import Point, newton
from ._search import tolerance_of

if TYPE_CHECKING:
    from ..sampling._gibbs import Single

_MOST_STEPS = 12
_FIRST_PASSES = 3  # of messages between rows, before they are known at all
_SETTLED = 2e-3  # of m against the mode, relative root mean square
_FAR = 0.05  # the same, from which it is said that it has not settled
_LEAST_GAMMA = 0.01  # to begin with: few couplings may be there where gamma is next to nothing
_DAMPING = 0.7  # share of the new site
_AGAIN = (1, 4)  # steps at which c is found anew
_INFLUENCES = 1000  # samples for the correlation of influences
_MOST_INFLUENCES = 2**27  # numbers in memory
LEAST_GAIN = 5.0  # nats by which a mixture is more probable than one normal, for couplings that are not dense
MOST_ROWS = 600  # spins up to which messages are between rows


@dataclass(frozen=True, eq=False, kw_only=True)
class SparseCouplings(DenseCouplings):
    """Couplings, and how probably each is there; matrices are n x n, as couplings are."""

    probabilities: Array  #: That a coupling is not 0; if none is clearly 0, that it has the sign it has.
    false_signs: Array  #: Probability that a coupling is 0, or has the other sign.
    told: Array  #: What the data alone say of each coupling,
    precisions: Array  #: and with what precision.
    #: To draw couplings i < j of spins that vary from, each by itself; None where they are not independent enough.
    edges: MixturePosterior | None


def matrix_of(stats: SpinStatistics, upper: Array, rest: float = 0.0) -> Array:
    """Numbers of pairs i < j of spins that vary as a matrix for all, with ``rest`` for constant ones."""
    return embed(symmetric(upper, len(stats.varying)), stats.varying, stats.n, rest)


def knowledge(
    stats: SpinStatistics,
    size: MixturePosterior,
    edges: MixturePosterior,
    probabilities: Array | None = None,
    false_signs: Array | None = None,
) -> dict[str, Any]:
    """What :class:`SparseCouplings` know besides couplings; ``false_signs`` if these are of a Gaussian prior."""
    return {
        "probabilities": matrix_of(stats, edges.probabilities if probabilities is None else probabilities),
        "false_signs": matrix_of(stats, size.false_signs if false_signs is None else false_signs, 1.0),
        "told": matrix_of(stats, size.b),
        "precisions": matrix_of(stats, size.q),
        "edges": edges if false_signs is None else None,
    }


class Gaussian(NamedTuple):
    """Couplings i < j, their variances, centred fields b, and variances of fields h under a Gaussian prior."""

    J: Array
    variances: Array
    b: Array
    of_fields: Array


@dataclass(frozen=True, eq=False)
class SparseFit:
    """What expectation propagation found of spins that vary; arrays of pairs i < j, row by row.

    ``first`` is what it began with, ``size`` says how large couplings are and ``edges`` which of them are there.
    """

    first: Gaussian
    size: MixturePosterior
    edges: MixturePosterior
    b: Array
    of_fields: Array  # variances of fields h
    gain: float  # of ``size`` over one normal, in nats
    edge_gain: float  # of ``edges``
    change: float  # of the couplings in the last step, relative
    steps: int

    @property
    def is_dense(self) -> bool:
        """Whether one normal describes the couplings as well as the mixture does."""
        return self.gain < LEAST_GAIN

    @property
    def shows_edges(self) -> bool:
        """Whether one normal does not, or that it is clear that some couplings are 0."""
        return max(self.gain, self.edge_gain) >= LEAST_GAIN

    @property
    def probabilities(self) -> Array:
        """That couplings are there; if that is not clear of any, that they are and have the sign they have."""
        return self.edges.probabilities if self.shows_edges else 1 - self.edges.false_signs

    def knowledge_of(self, stats: SpinStatistics, J: Array, errors: Array) -> dict[str, Any]:
        """What is known of edges where couplings i < j and their errors are those of a Gaussian prior."""
        false_signs = scipy.special.ndtr(-np.abs(J) / errors)
        return knowledge(stats, self.size, self.edges, self.probabilities, false_signs)


def sparse_couplings(stats: SpinStatistics, strength: Strength, worth: float = 1.0) -> SparseCouplings:
    """Couplings, errors and fields; ``strength`` is that of the Gaussian prior to begin with.

    ``worth`` is what a row is worth, in independent rows, and ``strength`` is that for independent rows, times this.

    Couplings of constant spins are 0, with the deviation of the prior, and are not there.
    """
    n, varying = stats.n, stats.varying
    if 0 < strength.gamma < _LEAST_GAMMA:
        strength = strength._replace(gamma=_LEAST_GAMMA)
    warnings: tuple[Warning, ...]
    with workers() as run:
        found = fit_sparse(stats.kept.spins(), n / max(strength.gamma, _LEAST_GAMMA), run, worth)
    if found.is_dense and strength.gamma == 0:
        none = no_couplings(stats, strength, math.inf)
        zero = np.zeros_like(found.size.b)
        return SparseCouplings(**vars(none), **found.knowledge_of(stats, zero, np.ones_like(zero)))
    if found.is_dense:
        J, variances, b, of_fields = found.first
        errors = np.sqrt(variances)
        known = found.knowledge_of(stats, J, errors)
        gamma, warnings = strength.over(worth), (not_sparse(found),)
    else:
        J, errors, b, of_fields = found.size.mean, np.sqrt(found.size.variance), found.b, found.of_fields
        known = knowledge(stats, found.size, found.edges)
        gamma, warnings = Strength(n * found.size.mean_square), _not_settled(found)
    rest = math.sqrt(gamma.expected / n)
    couplings, fields = matrix_of(stats, J), fields_of(stats.sums, stats.N)
    fields[varying] = b - (couplings @ stats.magnetisations)[varying]
    return SparseCouplings(
        matrix=couplings,
        errors=matrix_of(stats, errors, rest),
        fields=fields,
        warnings=warnings,
        field_errors=field_errors(stats, np.sqrt(of_fields), rest),
        strength=gamma,
        **known,
    )


def not_sparse(found: SparseFit) -> NotSparseWarning:
    """What is said where couplings are those of a Gaussian prior."""
    gain = max(found.gain, 0.0)
    text = (
        f"Couplings are those of a Gaussian prior: a sparse one describes them better by {gain:.2g} nats, and "
        f"{LEAST_GAIN:g} are asked for. "
    )
    if found.shows_edges:
        return NotSparseWarning(text + "Which of them are there can be told all the same.")
    words = "The data do not show that any is 0: the probability of an edge is that it has the sign it has."
    return NotSparseWarning(text + words)


def _not_settled(found: SparseFit) -> tuple[Warning, ...]:
    if found.change < _FAR:
        return ()
    text = (
        f"The search for sparse couplings was stopped after {found.steps} steps, while they still changed by "
        f"{100 * found.change:.0f}% a step. Probabilities of edges are rough."
    )
    return (NotConvergedWarning(text),)


def fit_sparse(spins: Spins, lam: float, run: Run, worth: float = 1.0) -> SparseFit:
    """Expectation propagation from a Gaussian prior of precision ``lam``, beside rows that are ``worth`` less."""
    n = spins.shape[1]
    rows = _Rows(spins, run)
    upper = np.triu_indices(n, 1)
    tau, nu = np.full(len(upper[0]), lam), np.zeros(len(upper[0]))
    J, b = np.zeros_like(tau), rows.middle
    c = np.full_like(tau, 2.0 / worth)
    r: Array | None = None
    prior = grid()
    for step in range(_MOST_STEPS):
        J, b = rows.mode(tau, nu, J, b)
        sent = rows.messages(symmetric(J, n), b, symmetric(tau, n), r, step in _AGAIN)
        r = sent.r
        if sent.rho is not None:
            c = (1 + np.clip(sent.rho[upper], 0.0, 1.0)) / worth
        alone = (r + r.T)[upper]
        if step == 0:
            first = Gaussian(J, 1 / (alone + tau) / worth, b, sent.of_fields / worth)
        told, q = (J * (alone + tau) - nu) / alone, 2 * alone / c
        prior = learn_grid(told, q, prior)
        found = prior.given(told, q)
        change = _relative(found.mean - J, found.mean)
        if change < _SETTLED or step == _MOST_STEPS - 1:
            break
        new_tau, new_nu = found.site()
        tau, nu = mixed((c / 2 * new_tau, c / 2 * new_nu), (tau, nu), _DAMPING if step else 1.0)
    edges = learn_edges(told, q).given(told, q)
    normal = best_normal(told, q)
    return SparseFit(
        first=first,
        size=found,
        edges=edges,
        b=rows.fields(found.mean, b),
        of_fields=sent.of_fields / worth,
        gain=found.log_likelihood - normal,
        edge_gain=edges.log_likelihood - normal,
        change=change,
        steps=step + 1,
    )


def fit_completed(
    completions: list[Spins], J: Array, left: Array, d: Array, lam: float, run: Run, worth: float = 1.0
) -> SparseFit:
    r"""The same for rows with missing cells, from draws of them under couplings J (pairs i < j), averaged.

    Of the precision q that complete rows have, the share l, ``left``, is left. At J, completed rows have the slope of
    what the cells that are there say: :math:`q (b - J)` of complete rows is :math:`l q (b_l - J)`. M draws leave a
    noise of :math:`(1 - l)/(M q l^2)`. Fields are centred at d.
    """
    fits = [fit_sparse(spins, lam, run, worth) for spins in completions]
    told: Array = np.mean([fit.size.b for fit in fits], axis=0)
    q: Array = np.mean([fit.size.q for fit in fits], axis=0)
    of_fields: Array = np.mean([fit.of_fields for fit in fits], axis=0)
    told = J + (told - J) / left
    q = left * q / (1 + (1 - left) / (len(fits) * left))
    size, edges = learn_grid(told, q, grid()).given(told, q), learn_edges(told, q).given(told, q)
    normal, couplings = best_normal(told, q), symmetric(size.mean, len(d))
    b = [fit.b + couplings @ (d - spins.mean(axis=0)) for fit, spins in zip(fits, completions, strict=True)]
    return replace(
        fits[0],
        size=size,
        edges=edges,
        b=np.mean(b, axis=0),
        of_fields=of_fields / left.mean(),
        gain=size.log_likelihood - normal,
        edge_gain=edges.log_likelihood - normal,
        change=max(fit.change for fit in fits),
    )


def _relative(difference: Array, whole: Array) -> float:
    return math.sqrt(float(difference @ difference) / max(float(whole @ whole), 1e-12))


class _Messages(NamedTuple):
    """r_ij of all rows, variances of the fields h, and correlations of influences, if they were asked for."""

    r: Array
    of_fields: Array
    rho: Array | None = None


class _Rows:
    """The conditionals of all spins."""

    def __init__(self, spins: Spins, run: Run) -> None:
        self.N, self.n = spins.shape
        self.s, self.run = spins.astype(np.float64), run
        self.d: Array = self.s.mean(axis=0)
        self.z = self.s - self.d
        self.single: Single = self.z.astype(np.float32)
        self.middle = middle_of_fields(self.s.sum(axis=0), self.N)
        self.rows = WeightedRows.of(spins)

    def mode(self, tau: Array, nu: Array, J: Array, b: Array) -> tuple[Array, Array]:
        """Step 1, from couplings J and fields b: twice the site beside all of the pseudo-likelihood."""
        upper, n = np.triu_indices(self.n, 1), self.n
        x = Point(symmetric(J, n), b)
        found, _ = newton(self.rows, symmetric(2 * tau, n), symmetric(2 * nu, n), x, tolerance_of(self.N))
        return found.J[upper], found.b

    def fields(self, upper: Array, b: Array) -> Array:
        """Centred fields of largest pseudo-likelihood for these couplings, by Newton's method from b."""
        x = self.z @ symmetric(upper, self.n)
        for _ in range(5):
            f = x + b
            gradient = slope(self.s, f).sum(axis=0) - (b - self.middle)
            b = b + np.clip(gradient / (curvature(f).sum(axis=0) + 1), -1.0, 1.0)
        return b

    def messages(self, J: Array, b: Array, tau: Array, r: Array | None, influences: bool) -> _Messages:
        """Steps 2 and 3, from the messages r of before."""
        f = self.z @ J + b
        if self.n > MOST_ROWS:
            return self._diagonal(f, tau)
        w = curvature(f)
        passes = 1
        if r is None:
            r, passes = 0.35 * (w.T @ self.z**2), _FIRST_PASSES
        for _ in range(passes - 1):
            r = self._pass(w, tau, r).r
        return self._pass(w, tau, r, slope(self.s, f) if influences else None)

    def _pass(self, w: Array, tau: Array, r: Array, residual: Array | None = None) -> _Messages:
        """New messages of all rows; the correlation of influences takes residuals s - tanh f."""
        n = self.n
        influences: Single | None = None
        some = slice(None)
        if residual is not None:
            most = max(1, min(_INFLUENCES, _MOST_INFLUENCES // n**2))
            some = slice(None, None, max(1, -(-self.N // most)))
            influences = np.empty((n, len(range(self.N)[some]), n), np.float32)
        new, of_fields = np.zeros((n, n)), 1 / (w.sum(axis=0) + 1)
        root = np.sqrt(w).astype(np.float32)

        def work(chosen: range) -> None:
            scaled = np.empty_like(self.single)
            for i in chosen:
                np.multiply(self.single, root[:, i, None], out=scaled)
                scaled[:, i] = root[:, i]
                A = (scaled.T @ scaled).astype(np.float64) / 2
                D = tau[i] + r[:, i]
                D[i] = 0.5
                A[np.diag_indices(n)] += D
                inverse = _inverse(A)
                new[i] = np.maximum(1 / np.diag(inverse) - D, 1e-9)
                others = np.where(np.arange(n) == i, 0.0, self.d)
                of_fields[i] += others @ scipy.linalg.blas.dsymv(1.0, inverse, others, lower=1)
                if influences is not None and residual is not None:
                    F = self.single[some].copy()
                    F[:, i] = 1.0
                    full = np.tril(inverse) + np.tril(inverse, -1).T
                    np.matmul(F, full.astype(np.float32), out=influences[i])
                    influences[i] *= residual[some, i, None]

        self.run([partial(work, range(k, n, 8)) for k in range(8)])
        np.fill_diagonal(new, 0.0)
        return _Messages(new, of_fields, None if influences is None else _correlations(influences))

    def _diagonal(self, f: Array, tau: Array) -> _Messages:
        """The same in O(N n^2)."""
        w0, V = curvature(f), 1 / _to_divide_by(tau)
        r = np.zeros_like(tau)
        for _ in range(4):
            np.fill_diagonal(V, 0.0)
            w = w0 / (1 + w0 * V.sum(axis=1) / 2)
            total = w.sum(axis=0)[:, None]
            r = np.maximum((w.T @ self.z**2 - (w.T @ self.z) ** 2 / total) / 2, 1e-9)
            V = 1 / (r + r.T + _to_divide_by(tau))
        np.fill_diagonal(r, 0.0)
        np.fill_diagonal(V, 0.0)
        U = 1 - self.s * np.tanh(f)  # (s_i - tanh f_i) s_i
        G = U.T @ U
        size = np.sqrt(np.diag(G))
        return _Messages(r, 1 / (w0.sum(axis=0) + 1) + V @ self.d**2, G / np.outer(size, size))


def _to_divide_by(tau: Array) -> Array:
    """Precisions with a 1 on the diagonal, to divide by."""
    return tau + np.eye(len(tau))


def _inverse(A: Array) -> Array:
    """The lower triangle of the inverse of a positive matrix."""
    factor, _ = scipy.linalg.lapack.dpotrf(A, lower=1, overwrite_a=1)
    inverse, _ = scipy.linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)
    return np.asarray(inverse)


def _correlations(influences: Single) -> Array:
    """Of what rows i and j say of J_ij, over samples."""
    n = len(influences)
    both, square = np.ones((2, n, n))
    for i, mine in enumerate(influences):
        both[i] = np.einsum("aj,ja->j", mine, influences[:, :, i])
        square[i] = np.einsum("aj,aj->j", mine, mine)
    return np.asarray(both / np.sqrt(np.maximum(square * square.T, 1e-300)))
