r"""Evidence of the conditionals: one logistic regression per spin, with a common prior.

Given the others, spin i has :math:`\ln P(s_i \mid \text{rest}) = -\ln(1 + e^{-2 s_i f_i})` with the local field
:math:`f_i = b_i + \sum_j J_{ij} z_j`, :math:`z = s - d` around the means d of the data, :math:`J_{ij} \sim N(0,
\gamma/n)` and :math:`b_i \sim N(\beta_i, 1)` (:mod:`bayesing.conditionals`). Laplace's approximation of its evidence
is, with w the weights (:math:`b_i - \beta_i` among them) of prior precisions :math:`\Lambda` at their mode, features
F, :math:`f = \beta_i + F w` and :math:`W = 1 - \tanh^2 f`,

.. math::

    \ln E_i(\gamma) = \ln P(s_i \mid w) - \tfrac12 w^T \Lambda w + \tfrac12 \ln|\Lambda|
        - \tfrac12 \ln |\Lambda + F^T W F|
      = \ln P(s_i \mid f) - \tfrac12 (f - \beta_i)^T K^{-1} (f - \beta_i) - \tfrac12 \ln |1 + W^{1/2} K W^{1/2}|,

the first in the space of the weights (n x n), the second in that of the samples (N x N, with
:math:`K = F \Lambda^{-1} F^T`); the smaller one is used. gamma maximises the sum over spins. Every coupling counts in
two of the terms, so it is not the evidence of the data, and gamma is biased where N is not much larger than n; but it
goes on rising with the true gamma through the spin-glass phase, and it is the right scale for regularisation.

Cost: O(n N min(n, N)) per spin and gamma; a random subset of the spins will do. Where N >= n, modes of all spins are
found together (:mod:`bayesing.strength._modes`), and identical rows count once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.linalg import lapack

from ..arguments import Seed, count, generator
from ..conditionals import curvature, log_conditional, middle_of_fields, slope
from ..exceptions import InputError, Setting
from ..statistics import SpinStatistics
from ..threads import threads_for
from ..types import Array
from ..weighted import WeightedRows
from ._method import Estimate, Method, Options, Statistic
from ._modes import Modes

LOWEST = 1e-4  # of gamma: J = 0.01
HIGHEST = 1e2  # of gamma: J = 10
MANY_SPINS = 64  # random ones stand for all, where all would take long
_MOST_WORK = 1e10  # multiplications for regressions of all spins
_PILOT = 16  # spins that find the maximum roughly
_TOLERANCE = 1e-6  # of ln E_i
_CHORD = 0.1  # of ln gamma, beyond which two points say too little of the slope at one of them


@dataclass(frozen=True)
class PseudolikelihoodFit:
    """gamma and the mean field h_i, with standard errors; the spins used, and a bound that gamma hit, if any."""

    gamma: float
    gamma_error: float
    H: float
    H_error: float
    targets: NDArray[np.intp]
    fields: Array
    bound: float | None


@dataclass(frozen=True)
class ConditionalEvidence:
    """ln E_i, its slope in ln gamma, the field h_i, and the mode with its slope, from where to start the next."""

    value: float
    score: float
    field: float
    mode: Array
    mode_slope: Array


class Conditionals:
    """The regressions of all spins; ``F`` is a working copy of the centred spins, of distinct rows."""

    def __init__(self, stats: SpinStatistics) -> None:
        self.N, self.n = stats.N, stats.n
        self.d, self.middle = stats.magnetisations, middle_of_fields(stats.sums, stats.N)
        rows = WeightedRows.distinct(stats)
        self.spins, self.counts = rows.spins, np.ones(len(rows.spins)) if rows.counts is None else rows.counts
        self.F = self.spins - self.d
        self.single = self.F.astype(np.float32)  # for the two costly products, which need not be more precise
        self._scaled = np.empty_like(self.single)
        few = len(self.F) < self.n
        self.gram = self.F @ self.F.T if few else None
        self.modes = None if few else Modes(self.single, rows, stats.covariance())

    def evidences(
        self, targets: list[int], gamma: float, starts: list[Array | None]
    ) -> list[ConditionalEvidence]:
        """ln E_i(gamma) of several spins, from where to start each, or from 0."""
        if self.modes is not None and targets:
            known = [np.zeros(self.n) if start is None else start for start in starts]
            starts = list(self.modes.near(targets, self.middle[targets], self.n / gamma, np.array(known).T).T)
        return [self.evidence(i, gamma, start) for i, start in zip(targets, starts, strict=True)]

    def evidence(self, i: int, gamma: float, start: Array | None = None) -> ConditionalEvidence:
        """ln E_i(gamma), in the smaller of the two spaces."""
        return self.primal(i, gamma, start) if self.gram is None else self.dual(i, gamma, start)

    def primal(self, i: int, gamma: float, start: Array | None = None) -> ConditionalEvidence:
        """In the space of the n - 1 couplings and the field, which takes the place of spin i."""
        z = self.F[:, i].copy()
        self.F[:, i] = self.single[:, i] = 1.0
        try:
            precision = np.full(self.n, self.n / gamma)
            precision[i] = 1.0
            return self._primal(i, precision, np.zeros(self.n) if start is None else start)
        finally:
            self.F[:, i] = self.single[:, i] = z

    def _primal(self, i: int, precision: Array, w: Array) -> ConditionalEvidence:
        F, s, middle, counts = self.F, self.spins[:, i].astype(np.float64), self.middle[i], self.counts

        def objective(w: Array, f: Array) -> float:
            return float(counts @ log_conditional(s, f) - precision @ w**2 / 2)

        f = middle + F @ w
        height = objective(w, f)
        while True:
            W = counts * curvature(f)
            scaled = np.multiply(self.single, np.sqrt(W, dtype=np.float32)[:, None], out=self._scaled)
            A = (scaled.T @ scaled).astype(np.float64)
            A[np.diag_indices(self.n)] += precision
            factor, failed = lapack.dpotrf(A.T, lower=1, overwrite_a=1)  # other checks would take as long
            if failed:
                raise np.linalg.LinAlgError(f"The curvature of regression {i} is not positive.")
            gradient = F.T @ (counts * slope(s, f)) - precision * w
            step, _ = lapack.dpotrs(factor, gradient, lower=1)
            if gradient @ step < _TOLERANCE:
                break
            rate = 1.0
            while objective(w + rate * step, f + rate * (F @ step)) < height and rate > 1e-6:
                rate /= 2
            w = w + rate * step
            f = middle + F @ w
            height = objective(w, f)

        log_det = 2 * float(np.log(np.diag(factor)).sum())
        value = height + float(np.log(precision).sum()) / 2 - log_det / 2

        # d/d ln gamma: of the precisions n/gamma, and of W, which moves with the mode. With A the Hessian,
        # tr(A^-1 Lambda) = n - tr(A^-1 F^T W F), and the field's part of it is left out.
        np.copyto(scaled, self.single)
        half = scipy.linalg.blas.strsm(1.0, factor.astype(np.float32), scaled.T, lower=1, overwrite_b=1)
        leverage = np.einsum("ka,ka->a", half, half).astype(np.float64)
        coupling = precision.copy()
        coupling[i] = 0.0
        unit = np.zeros(self.n)
        unit[i] = 1.0
        response, _ = lapack.dpotrs(factor, np.stack([coupling * w, unit], axis=1), lower=1)
        trace = self.n - float(W @ leverage) - response[i, 1]
        explicit = (float(coupling @ w**2) - (self.n - 1) + trace) / 2
        implicit = float(leverage @ (np.tanh(f) * W * (F @ response[:, 0])))
        return ConditionalEvidence(value, explicit + implicit, self.field(i, w[i], w), w, response[:, 0])

    def field(self, i: int, shift: float, couplings: Array) -> float:
        """h_i = b_i - sum_j J_ij d_j, with b_i so far from the middle of its prior; couplings[i] does not matter."""
        others = np.arange(self.n) != i
        return float(self.middle[i] + shift - couplings[others] @ self.d[others])

    def dual(self, i: int, gamma: float, start: Array | None = None) -> ConditionalEvidence:
        """In the space of the samples, or of distinct ones: f = middle + K a."""
        s, z, middle = self.spins[:, i].astype(np.float64), self.F[:, i], self.middle[i]
        R, counts = len(s), self.counts
        gram = self.F @ self.F.T if self.gram is None else self.gram
        K_couplings = (gram - np.outer(z, z)) * (gamma / self.n)
        K = K_couplings + 1.0

        def objective(a: Array, f: Array) -> float:
            return float(counts @ log_conditional(s, f) - a @ (f - middle) / 2)

        a = np.zeros(R) if start is None else start
        f = middle + K @ a
        height = objective(a, f)
        while True:
            root = np.sqrt(counts * curvature(f))
            B = root[:, None] * K * root
            B[np.diag_indices(R)] += 1
            L = scipy.linalg.cho_factor(B, lower=True, overwrite_a=True, check_finite=False)
            b = root**2 * (f - middle) + counts * slope(s, f)
            target = b - root * scipy.linalg.cho_solve(L, root * (K @ b), check_finite=False)
            step = target - a
            f_step = K @ step
            if (counts * slope(s, f) - a) @ f_step < _TOLERANCE:
                break
            rate = 1.0
            while objective(a + rate * step, f + rate * f_step) < height and rate > 1e-6:
                rate /= 2
            a = a + rate * step
            f = middle + K @ a
            height = objective(a, f)

        value = height - float(np.log(np.diag(L[0])).sum())
        # d/d ln gamma, with R = (K + 1/W)^-1 and tr(R K) = sum_a W_a Var(f_a); the field's part is left out.
        gradient = counts * slope(s, f)
        half = scipy.linalg.solve_triangular(L[0], root[:, None] * K, lower=True, check_finite=False)
        variance = np.diag(K) - np.sum(half**2, axis=0)
        b = K_couplings @ gradient
        solved = scipy.linalg.cho_solve(
            L, root[:, None] * np.stack([b, np.ones(R)], axis=1), check_finite=False
        )
        explicit = float(gradient @ b - root**2 @ variance + root @ solved[:, 1]) / 2
        df = b - K @ (root * solved[:, 0])
        implicit = float(variance @ (np.tanh(f) * root**2 * df))
        field = self.field(i, a.sum(), gamma / self.n * (self.F.T @ a))
        return ConditionalEvidence(value, explicit + implicit, field, a, -(root**2) * df)


def fit_pseudolikelihood(
    stats: SpinStatistics, n_targets: int | None = None, seed: Seed = None, start: float = 0.25
) -> PseudolikelihoodFit:
    """Maximise the sum of ln E_i over gamma, over all spins or ``n_targets`` random ones.

    ``start`` is a first guess of gamma. The standard error holds for the random choice of spins as well.
    """
    if stats.N < METHOD.least_samples:
        raise InputError(
            Setting("method", METHOD.name),
            f" needs at least {METHOD.least_samples} samples: found {stats.N}.",
        )
    kept = stats.kept
    n = kept.n
    scale = stats.n / n
    k = n if n_targets is None else min(count("n_targets", n_targets, 2), n)
    targets = np.arange(n) if k == n else generator(seed).permutation(n)[:k]
    conditionals = Conditionals(kept)
    last: dict[int, tuple[float, ConditionalEvidence]] = {}

    def start_at(log_gamma: float, i: int) -> Array | None:
        if i not in last:
            return None
        before, known = last[i]
        return np.asarray(known.mode + known.mode_slope * (log_gamma - before))

    def scores(of: NDArray[np.intp]) -> Callable[[float], Array]:
        def at(log_gamma: float) -> Array:
            new = [i for i in of.tolist() if i not in last or last[i][0] != log_gamma]
            starts = [start_at(log_gamma, i) for i in new]
            for i, found in zip(new, conditionals.evidences(new, math.exp(log_gamma), starts), strict=True):
                last[i] = log_gamma, found
            return np.array([last[i][1].score for i in of.tolist()])

        return at

    pilot = targets[:_PILOT]
    _, _, information = _peak(scores(pilot), math.log(start), step=0.5)
    rough = last[int(pilot[0])][0]  # where the pilots' scores are known, less than 0.02 from their peak
    fall = information * math.exp(2 * rough) * k / len(pilot)  # of the sum of all scores, in ln gamma
    peak, slopes, information = _peak(scores(targets), rough, step=0.015, fall=fall)
    fields = np.array([last[i][1].field for i in targets.tolist()])
    # Spins i and j share J_ij and what the data say of it: over all spins this doubles the variance of the sum.
    shared = 1 + (k - 1) / (n - 1)
    spread = math.sqrt(shared * k * float(np.var(slopes, ddof=1)))
    bound = {math.log(LOWEST): 0.0, math.log(HIGHEST): HIGHEST * scale}.get(peak)
    if bound == 0:  # the slope in gamma, rather than in ln gamma, is finite here
        near = max(1 / stats.N, 2 * LOWEST)
        information = float(slopes.sum() - scores(targets)(math.log(near)).sum() / near) / (near - LOWEST)
    error = spread / information if information > 0 else math.inf
    if bound == 0 and math.isinf(error):
        # The score rises at 0. This is the error of gamma where all couplings are noise, of 1/sqrt(N) each.
        error = 2 / stats.N * math.sqrt(n / (n - 1))
    return PseudolikelihoodFit(
        gamma=0.0 if bound == 0 else math.exp(peak) * scale,
        gamma_error=error * scale,
        H=float(fields.mean()),
        H_error=float(fields.std(ddof=1)) / math.sqrt(k),
        targets=stats.varying[targets],
        fields=fields,
        bound=bound,
    )


def score_per_spin(stats: SpinStatistics, gamma: float, n_targets: int | None = None) -> float:
    """The mean of d ln E_i / d ln gamma at a given gamma, over all spins or the first ``n_targets`` that vary."""
    kept = stats.kept
    conditionals = Conditionals(kept)
    own = gamma * kept.n / stats.n
    targets = list(range(kept.n)[:n_targets])
    return float(
        np.mean([each.score for each in conditionals.evidences(targets, own, [None] * len(targets))])
    )


def _peak(
    scores: Callable[[float], Array], u: float, step: float, fall: float = 0.0
) -> tuple[float, Array, float]:
    """ln gamma where the sum of the scores falls through 0, or the bound it runs into: a secant method in a bracket.

    Also the scores there, as slopes in gamma, and minus the slope of their sum in gamma. The first step from u is as
    large as ``step``, or as what the sum takes to 0 if it is about to ``fall`` so steeply.
    """
    lowest, highest = math.log(LOWEST), math.log(HIGHEST)
    below, above = lowest - 1.0, highest + 1.0  # where the sum is known to be positive, and negative
    u = min(max(u, lowest), highest)
    at_u = scores(u)
    if fall > 0:
        step = min(max(step, abs(float(at_u.sum())) / fall), 0.5)
    v = min(max(u + math.copysign(step, at_u.sum()), lowest), highest)
    for k in itertools.count(1):
        at_v = scores(v) if v != u else at_u
        slope = (at_v - at_u) / (v - u) if v != u else np.zeros_like(at_u)
        for x, total in ((u, at_u.sum()), (v, at_v.sum())):
            below, above = (max(below, x), above) if total > 0 else (below, min(above, x))
        jump = -at_v.sum() / slope.sum() if slope.sum() < 0 else math.copysign(1.0, at_v.sum())
        peak = v + min(max(jump, -1.0), 1.0)
        if below < above and (not below <= peak <= above or k % 8 == 0):
            peak = (max(below, lowest) + min(above, highest)) / 2  # a secant may go in circles
        peak = min(max(peak, lowest), highest)
        if abs(peak - v) < 0.02:
            if abs(v - u) < _CHORD or peak in (lowest, highest):
                break
            peak = v + math.copysign(max(abs(peak - v), 0.01), peak - v)
        u, at_u, v = v, at_v, peak
    at_peak = at_v + slope * (peak - v)  # nearly straight in ln gamma, and far less so in gamma
    return peak, at_peak / math.exp(peak), float(at_peak.sum() - slope.sum()) / math.exp(2 * peak)


def _fit(stats: SpinStatistics, options: Options) -> Estimate:
    n, N = stats.n, stats.N
    n_targets = None if n * n * N * min(n, N) <= _MOST_WORK else MANY_SPINS
    with threads_for(n):
        fit = fit_pseudolikelihood(stats, n_targets, options.seed)
    return Estimate(fit.gamma, fit.gamma_error, fit.H, fit.H_error, bound=fit.bound)


def _statistic(found: Estimate, gamma: float, options: Options) -> Statistic:
    """The score at this method's own gamma, which is not that of others."""
    return partial(score_per_spin, gamma=found.gamma, n_targets=MANY_SPINS)


METHOD = Method(
    name="pseudolikelihood",
    about="evidence of the conditionals, a logistic regression per spin",
    fit=_fit,
    statistic=_statistic,
    needs_rows=True,
    biased=True,
    holds="biased, but goes on into the spin glass",
)
