r"""Errors of a restricted Boltzmann machine, and the evidence of its number of hidden units.

The slopes of ln P(v) in the centred parameters W, b and e are, up to their means, :math:`z_i \zeta_a`, :math:`z_i`
and :math:`\zeta_a` with :math:`z = v - d` and :math:`\zeta = \tanh(c + W^T v) - \mu`. Their covariance F under the
model is the Fisher matrix of one sample. With the prior precisions :math:`\Lambda`

.. math:: H = N F + \Lambda

is the precision of the posterior. Laplace's approximation of the evidence of k units is then

.. math:: \ln P(\text{data} \mid k) = \ln P(\text{data}, \text{mode}) + \frac12 \ln\det\Lambda - \frac12 \ln\det H
    + \sum_{a=1}^k \lambda_a \ln (2 a) ,

with the prior density at the mode without its constant, :math:`(2\pi)^{p/2}` having cancelled. The last term counts
the modes that are the same but for the order and the signs of the units: it is :math:`\ln(2^k k!)` if all of them
are distinct, with :math:`\lambda_a = 1`. A unit whose weights are next to 0 is the same with the other sign, and a
machine with such units is one without them, so that they must not count. With the block :math:`H_a` of its weights

.. math:: \lambda_a = 1 - e^{-D_a^2/8} , \qquad D_a^2 = 4 \sum_{ij} W_{ia} H_{a,ij} W_{ja} ,

1 less the overlap of two normal densities at W and at -W; units are counted from the largest :math:`\lambda` on.

**Samples.** F is from independent samples of the model. From A of them ln det H is too small on average by about
:math:`p_{\rm eff} (p_{\rm eff} + 1)/2A` with :math:`p_{\rm eff} = p - \operatorname{tr}(H^{-1} \Lambda)`, which
favours many units, and is added back.

**Many parameters.** Beyond 2000 of them H is not formed. Given the visible fields its blocks of one unit each, with
ln det :math:`L_a`, are taken as independent, and then corrected, spin by spin, for what the units share: with
:math:`L[\ldots]` the ln det of the block of H of some parameters,

.. math:: \ln\det H \approx \sum_a L_a + \sum_i \Big( L[W_{i\cdot}, b_i, e] - L[b_i, e]
    - \sum_a (L[W_{ia}, b_i, e_a] - L[b_i, e_a]) \Big) .

The variance of a weight is corrected by the ratio of its variances in the same two blocks. For one unit this is the
full matrix. With 60 spins and 3 to 10 units errors are too small by 1 to 5%, and evidences too low by 1 to 2 nats a
unit; without the correction it is 20% and 8 nats.

**Missing cells** take some of N F away (:mod:`bayesing.learning.restricted_missing`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import scipy

from ..types import Array, Indices, Spins
from .restricted import Frame, Point, RestrictedFit
from .restricted_missing import Floats, Lost, slopes_of

SAMPLES = 64_000  # of the model: what is left of their noise is below a nat for 500 parameters
MOST_PARAMETERS = 2000  # of a full matrix: some seconds
_SAMPLES_A_SPIN = 32  # for blocks
_AT_A_TIME = 2**22  # numbers of a block of samples: 16 megabytes


@dataclass(frozen=True, eq=False)
class RestrictedPosterior:
    """Standard errors of W, h and c, and the log evidence of the number of units."""

    weights: Array
    fields: Array
    hidden_fields: Array
    log_evidence: float


def fisher_matrix(at: Point, frame: Frame, A: int, seed: int) -> Array:
    """F from A samples of the model, p x p, in the order W (row by row), b, e."""
    model, rng = at.model, np.random.default_rng(seed)
    n, k = at.weights.shape
    step = max(1, _AT_A_TIME // (n * k + n + k))
    products, sums = _accumulated(
        (v - frame.d, model.hidden_means(v) - frame.mu)
        for v in (model.sample(min(step, A - start), rng) for start in range(0, A, step))
    )
    return np.asarray(products / A - np.outer(sums, sums) / A**2)


def posterior_of(
    fit: RestrictedFit, N: int, seed: int, A: int = SAMPLES, lost: Lost | None = None
) -> RestrictedPosterior:
    """Errors and evidence at the mode, from the full Fisher matrix, less what missing cells lose."""
    at, frame = fit.point, fit.frame
    n, k = at.weights.shape
    prior = np.concatenate([p.ravel() for p in frame.precisions])
    H = N * fisher_matrix(at, frame, A, seed)
    if lost is not None:
        H = lost.left(H, frame.d, frame.mu, np.arange(n), np.arange(k))
    own = [slice(a, n * k, k) for a in range(k)]  # weights of one unit
    distances = np.array(
        [_distance(w, H[a, a] + np.diag(prior[a])) for w, a in zip(at.weights.T, own, strict=True)]
    )
    covariance, log_det = _inverse(H, prior, A)
    W, h, c = _variances(covariance, frame, n, k)
    return RestrictedPosterior(np.sqrt(W), np.sqrt(h), np.sqrt(c), _evidence(fit, prior, log_det, distances))


def enough_samples(n: int) -> int:
    """For blocks."""
    return max(SAMPLES // 4, _SAMPLES_A_SPIN * n)


def posterior_by_blocks(
    fit: RestrictedFit, N: int, v: Spins, lost: Lost | None = None
) -> RestrictedPosterior:
    """The same from blocks of one unit and of one spin, for many parameters, with samples v of the model."""
    at, frame = fit.point, fit.frame
    (n, k), A = at.weights.shape, len(v)
    z = (v - frame.d).astype(np.float32)
    zeta = (at.model.hidden_means(v) - frame.mu).astype(np.float32)

    def precision(spins: Indices, units: Indices) -> tuple[Array, Array]:
        """The block of H of some spins and units, and its part from the prior."""
        weights, fields, hidden = frame.precisions
        prior = np.concatenate([weights[np.ix_(spins, units)].ravel(), fields[spins], hidden[units]])
        H = N * _covariance(z[:, spins], zeta[:, units])
        return (H if lost is None else lost.left(H, frame.d, frame.mu, spins, units)), prior

    spins, units = np.arange(n), np.arange(k)
    covariance, alone = _inverse(*precision(spins, units[:0]), A)
    W, h, c, log_det = np.empty((n, k)), np.diag(covariance).copy(), np.empty(k), alone
    distances = np.empty(k)
    for a in range(k):
        H, prior = precision(spins, units[[a]])
        distances[a] = _distance(at.weights[:, a], H[:n, :n] + np.diag(prior[:n]))
        covariance, of_unit = _inverse(H, prior, A)
        own, _, hidden = _variances(covariance, replace(frame, mu=frame.mu[[a]]), n, 1)
        W[:, a], c[a] = own[:, 0], hidden[0]
        log_det += of_unit - alone
    for i in range(n if k else 0):
        H, prior = precision(spins[[i]], units)
        H[np.diag_indices_from(H)] += prior
        own, field, _ = _variances(
            np.asarray(np.linalg.inv(H), np.float64), replace(frame, d=frame.d[[i]]), 1, k
        )
        pairs = np.stack([units, np.full(k, k), k + 1 + units], axis=1)  # W_ia, b_i and e_a
        blocks = H[pairs[:, :, None], pairs[:, None, :]]
        W[i] *= own[0] / np.linalg.inv(blocks)[:, 0, 0]
        h[i] = field[0]
        log_det += _log_det(H) - _log_det(H[k:, k:])
        log_det -= float((np.linalg.slogdet(blocks)[1] - np.linalg.slogdet(blocks[:, 1:, 1:])[1]).sum())
    prior = np.concatenate([part.ravel() for part in frame.precisions])
    evidence = _evidence(fit, prior, log_det, distances)
    return RestrictedPosterior(np.sqrt(W), np.sqrt(h), np.sqrt(c), evidence)


def log_symmetries(distances: Array) -> float:
    r"""ln of the number of modes that differ in order and signs of units, from :math:`D_a^2`.

    >>> np.exp(log_symmetries(np.array([200.0, 0.0, 200.0]))).round(6)  # 2^2 2!
    np.float64(8.0)
    """
    distinct = -np.expm1(-np.sort(distances)[::-1] / 8)
    return float(distinct @ np.log(2 * np.arange(1, len(distinct) + 1)))


def _covariance(z: Floats, zeta: Floats) -> Array:
    """Of the slopes of some spins and units."""
    A, (n, k) = len(z), (z.shape[1], zeta.shape[1])
    step = _AT_A_TIME // (n * k + n + k)
    products, sums = _accumulated((z[k : k + step], zeta[k : k + step]) for k in range(0, A, step))
    return np.asarray(products / A - np.outer(sums, sums) / A**2)


def _accumulated(parts: Iterable[tuple[Floats, Floats]]) -> tuple[Array, Array]:
    """Sums of products of slopes, and of slopes, over parts of the samples; products in float32."""
    products: Array | float = 0.0
    sums: Array | float = 0.0
    for z, zeta in parts:
        slopes = slopes_of(z, zeta)
        products = products + (slopes.T @ slopes).astype(np.float64)
        sums = sums + slopes.sum(axis=0, dtype=np.float64)
    return np.asarray(products), np.asarray(sums)


def _evidence(fit: RestrictedFit, prior: Array, log_det: float, distances: Array) -> float:
    half = (float(np.log(prior).sum()) - log_det) / 2
    return fit.log_posterior + half + log_symmetries(distances)


def _distance(W: Array, H: Array) -> float:
    """D^2 of a unit, from its weights and their block of H."""
    return 4 * float(W @ H @ W)


def _inverse(H: Array, prior: Array, A: int) -> tuple[Array, float]:
    """Of H + prior precisions, in place, with its ln det, corrected for the number A of samples."""
    H[np.diag_indices_from(H)] += prior
    factor = scipy.linalg.cholesky(H, lower=True, overwrite_a=True, check_finite=False)
    log_det = 2 * float(np.log(np.diag(factor)).sum())
    covariance, _ = scipy.linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)
    covariance = np.tril(covariance)
    covariance += np.tril(covariance, -1).T
    used = len(prior) - float(prior @ np.diag(covariance))
    return covariance, log_det + used * (used + 1) / (2 * A)


def _log_det(H: Array) -> float:
    return float(np.linalg.slogdet(H)[1])


def _variances(covariance: Array, frame: Frame, n: int, k: int) -> tuple[Array, Array, Array]:
    """Of W (n, k), of h = b - W mu and of c = e - W^T d."""
    weights = covariance[: n * k, : n * k].reshape(n, k, n, k)
    fields, hidden = slice(n * k, n * k + n), slice(n * k + n, None)
    variances = np.diag(covariance)
    spins, units = np.arange(n), np.arange(k)
    own_spin = weights[spins, :, spins, :]  # (n, k, k)
    with_fields = covariance[: n * k, fields].reshape(n, k, n)[spins, :, spins]
    h = variances[fields] + np.einsum("iab,a,b->i", own_spin, frame.mu, frame.mu) - 2 * with_fields @ frame.mu
    own_unit = weights[:, units, :, units]  # (k, n, n)
    with_hidden = covariance[: n * k, hidden].reshape(n, k, k)[:, units, units]
    c = variances[hidden] + np.einsum("aij,i,j->a", own_unit, frame.d, frame.d) - 2 * frame.d @ with_hidden
    return variances[: n * k].reshape(n, k), h, c
