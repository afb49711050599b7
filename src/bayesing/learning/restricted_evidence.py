r"""Errors of a restricted Boltzmann machine, and the evidence of its number of hidden units.

The slopes of ln P(v) in the centred parameters W, b and e are, up to their means, :math:`z_i \zeta_a`, :math:`z_i`
and :math:`\zeta_a` with :math:`z = v - d` and :math:`\zeta = \tanh(c + W^T v) - \mu`. Their covariance F under the
model is the Fisher matrix of one sample. With the prior precisions :math:`\Lambda`

.. math:: H = N F + \Lambda

is the precision of the posterior. Laplace's approximation of the evidence of k units is then

.. math:: \ln P(\text{data} \mid k) = \ln P(\text{data}, \text{mode}) + \frac12 \ln\det\Lambda - \frac12 \ln\det H
    + \ln (2^k k!) ,

with the prior density at the mode without its constant, :math:`(2\pi)^{p/2}` having cancelled. The last term counts
the modes that are the same but for the order and the signs of the units.

**Samples.** F is from independent samples of the model. From A of them ln det H is too small on average by about
:math:`p_{\rm eff} (p_{\rm eff} + 1)/2A` with :math:`p_{\rm eff} = p - \operatorname{tr}(H^{-1} \Lambda)`, which
favours many units, and is added back.

**Many parameters.** Beyond 2000 of them the weights of different units are taken to be independent given the visible
fields, so that H is one block a unit. This leaves out what two units share: errors are a little too small, and the
evidence too low, by 3 to 8 nats a unit (60 spins, 3 and 8 units), which favours few units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy

from ..types import Array
from .restricted import Frame, Point, RestrictedFit

SAMPLES = 64_000  # of the model: what is left of their noise is below a nat for 500 parameters
MOST_PARAMETERS = 2000  # of a full matrix: some seconds
_SAMPLES_A_SPIN = 32  # for blocks of one unit
_AT_A_TIME = 2**22  # numbers of a block of samples: 16 megabytes


@dataclass(frozen=True, eq=False)
class RestrictedPosterior:
    """Standard errors of W, h and c, and the log evidence of the number of units."""

    weights: Array
    fields: Array
    hidden_fields: Array
    log_evidence: float


def fisher_matrix(at: Point, frame: Frame, A: int, seed: int, units: list[int] | None = None) -> Array:
    """F from A samples of the model, p x p, in the order W (row by row), b, e; of some ``units``, or of all."""
    chosen = np.arange(at.weights.shape[1]) if units is None else np.array(units, dtype=np.intp)
    n, k = len(at.fields), len(chosen)
    p = n * k + n + k
    model, rng = at.model, np.random.default_rng(seed)
    products, sums = np.zeros((p, p)), np.zeros(p)
    step = max(1, _AT_A_TIME // p)
    for start in range(0, A, step):
        v = model.sample(min(step, A - start), rng)
        zeta = (model.hidden_means(v) - frame.mu)[:, chosen].astype(np.float32)
        z = (v - frame.d).astype(np.float32)
        features = np.empty((len(v), p), np.float32)
        np.multiply(z[:, :, None], zeta[:, None, :], out=features[:, : n * k].reshape(len(v), n, k))
        features[:, n * k : n * k + n], features[:, n * k + n :] = z, zeta
        products += features.T @ features
        sums += features.sum(axis=0, dtype=np.float64)
    sums /= A
    return np.asarray(products / A - np.outer(sums, sums))


def posterior_of(fit: RestrictedFit, N: int, seed: int, A: int = SAMPLES) -> RestrictedPosterior:
    """Errors and evidence at the mode, from the full Fisher matrix."""
    at, frame = fit.point, fit.frame
    n, k = at.weights.shape
    prior = np.concatenate([p.ravel() for p in frame.precisions])
    covariance, log_det = _inverse(N * fisher_matrix(at, frame, A, seed), prior, A)
    W, h, c = _variances(covariance, frame, n, k)
    return RestrictedPosterior(np.sqrt(W), np.sqrt(h), np.sqrt(c), _evidence(fit, prior, log_det))


def posterior_by_unit(fit: RestrictedFit, N: int, seed: int) -> RestrictedPosterior:
    """The same with one block a unit, for many parameters."""
    at, frame = fit.point, fit.frame
    n, k = at.weights.shape
    weights, spins, units = frame.precisions
    A = max(SAMPLES // 4, _SAMPLES_A_SPIN * n)
    shared, log_det = _inverse(N * fisher_matrix(at, frame, A, seed, []), spins, A)
    alone, W, h, c = log_det, np.empty((n, k)), np.diag(shared).copy(), np.empty(k)
    for a in range(k):
        prior = np.concatenate([weights[:, a], spins, units[[a]]])
        F = fisher_matrix(at, frame, A, seed, [a])
        covariance, of_block = _inverse(N * F, prior, A)
        own, fields, hidden = _variances(covariance, replace(frame, mu=frame.mu[[a]]), n, 1)
        W[:, a], c[a] = own[:, 0], hidden[0]
        h += fields - np.diag(shared)  # what the unit adds
        log_det += of_block - alone
    prior = np.concatenate([weights.ravel(), spins, units])
    return RestrictedPosterior(np.sqrt(W), np.sqrt(h), np.sqrt(c), _evidence(fit, prior, log_det))


def log_symmetries(k: int) -> float:
    """ln of 2^k k!, the number of modes that differ in the order and the signs of the units."""
    return k * math.log(2) + math.lgamma(k + 1)


def _evidence(fit: RestrictedFit, prior: Array, log_det: float) -> float:
    half = (float(np.log(prior).sum()) - log_det) / 2
    return fit.log_posterior + half + log_symmetries(len(fit.gamma))


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
