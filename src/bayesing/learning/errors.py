r"""Standard errors of couplings and fields: the curvature of the log posterior at its mode.

It is :math:`N \operatorname{Cov}(\phi) + \Lambda` with :math:`\phi = (s_i s_j, s_i)` under the model and the
precisions :math:`\Lambda` of the priors, :math:`\lambda` of :math:`J_{ij}` and 1 of :math:`b_i = h_i + \sum_j J_{ij}
d_j`. For few spins this matrix is formed from samples, and
inverted. For many, the metric has it nearly diagonal (:class:`~bayesing.learning.newton.Metric`), which is good where
many couplings are weak, but 30% too small for a dozen spins with couplings of order 1.

Where cells are missing, :math:`\sum_\mu \operatorname{Cov}(\phi \mid \text{what row } \mu \text{ shows})` is lost
of the curvature (:class:`~bayesing.learning.phases.Lost`). By chance a pair of chains may show more to be lost than
there is; then less is taken.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy

from ..sampling._gibbs import Single
from ..threads import Run
from ..types import Array
from .newton import Metric
from .phases import Data, Free, Lost

MOST_SPINS = 40  # up to which the whole matrix is formed, of 820 rows
_SAMPLES = 20  # for each parameter: its inverse is too large by 1/20 then
_LEAST = 20_000
_AT_A_TIME = 1024
_LEAST_SHARE = 0.1  # of what seems to be lost, below which none of it is believed


def posterior_errors(
    data: Data, free: Free, metric: Metric, run: Run, most_spins: int = MOST_SPINS
) -> tuple[Array, Array]:
    """Standard errors of J_ij (n x n, 0 on the diagonal) and of h_i."""
    n = data.n
    if n > most_spins:
        couplings, fields = metric.variances(data.d)
        return np.sqrt(couplings), np.sqrt(fields)
    pairs = data.pairs
    wanted = max(_SAMPLES * (len(pairs[0]) + n), _LEAST)
    step = max(1, free.A // wanted)
    sums = run([partial(_features, part[:, ::step], pairs) for part in free.parts])
    A = sum(part[:, ::step].shape[1] for part in free.parts)
    mean = sum(total for total, _ in sums) / A
    curvature = data.N * (sum(square for _, square in sums) / A - np.outer(mean, mean))
    lost = np.zeros_like(curvature) if data.lost is None else data.N * lost_curvature(data.lost, pairs)
    rows, b = np.arange(len(pairs[0])), np.zeros((len(mean), n))  # b, as a function of couplings and fields
    b[rows, pairs[0]], b[rows, pairs[1]] = data.d[pairs[1]], data.d[pairs[0]]
    b[-n:] = np.eye(n)
    curvature += (b * data.precision) @ b.T
    curvature[rows, rows] += metric.lam[pairs] if isinstance(metric.lam, np.ndarray) else metric.lam
    found = np.sqrt(np.diag(_inverse(curvature, lost)))
    errors = np.zeros((n, n))
    errors[pairs] = found[:-n]
    return errors + errors.T, found[-n:]


def _inverse(curvature: Array, lost: Array) -> Array:
    """Of what is left of a curvature."""
    return np.asarray(scipy.linalg.cho_solve(factor_of_left(curvature, lost), np.eye(len(curvature))))


def factor_of_left(curvature: Array, lost: Array) -> Any:
    """The Cholesky factor of what is left of a curvature, whose upper triangle is looked at, for ``cho_solve``."""
    share = 1.0
    while share > _LEAST_SHARE:
        try:
            return scipy.linalg.cho_factor(curvature - share * lost)
        except np.linalg.LinAlgError:
            share *= 0.8
    return scipy.linalg.cho_factor(curvature)


def lost_curvature(lost: Lost, pairs: tuple[Any, Any], centre: Array | float = 0.0) -> Array:
    """Half the square of the differences of the features of two chains, on average over all rows."""
    size, B = len(pairs[0]) + len(lost.first), lost.first.shape[1]
    square, d = np.zeros((size, size)), np.broadcast_to(centre, len(lost.first)).astype(np.float32)[:, None]
    for start in range(0, B, _AT_A_TIME):
        a, b = (stacked(s[:, start : start + _AT_A_TIME] - d, pairs) for s in (lost.first, lost.second))
        a -= b
        square += a @ a.T
    square *= lost.share / (2 * B)
    return square


def stacked(s: Single, pairs: tuple[Any, Any]) -> Single:
    """s_i s_j (i < j) and s_i, a column for each sample."""
    return np.concatenate([s[pairs[0]] * s[pairs[1]], s])


def _features(spins: Single, pairs: tuple[Any, Any]) -> tuple[Array, Array]:
    """Sums of s_i s_j (i < j) and s_i, and of their products."""
    size = len(pairs[0]) + len(spins)
    total, square = np.zeros(size), np.zeros((size, size))
    for start in range(0, spins.shape[1], _AT_A_TIME):
        features = stacked(spins[:, start : start + _AT_A_TIME], pairs)
        total += features.sum(axis=1, dtype=np.float64)
        square += features @ features.T
    return total, square
