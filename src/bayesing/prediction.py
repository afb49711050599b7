r"""Does the model predict what it was not fitted to? Pair and triplet correlations of held-out samples.

Compared are connected correlations, with :math:`\delta_i = S_i - m_i`,

.. math:: C_{ij} = \langle \delta_i \delta_j \rangle, \qquad T_{ijk} = \langle \delta_i \delta_j \delta_k \rangle,

estimated without bias from N samples by N/(N-1) and N^2/((N-1)(N-2)) times averages around sample means. Of the
model they are exact for few spins and for free ones, otherwise from samples at equilibrium. Errors are those of so
many samples of the model: since :math:`\delta_i^2 = v_i - 2 m_i \delta_i` with :math:`v_i = 1 - m_i^2`, they follow
from m, C and T alone,

.. math::

    \operatorname{Var} \hat C_{ij} = \frac{4 m_i m_j C_{ij} - 2 C_{ij}^2}{N} + \frac{v_i v_j + C_{ij}^2}{N - 1},

.. math::

    \operatorname{Var} \hat T_{ijk} \simeq \frac{N}{(N-1)(N-2)} \Big[ v_i v_j v_k + 6 C_{ij} C_{jk} C_{ki}
        - 8 m_i m_j m_k T - T^2 + \sum_{\text{cyc}} (4 v_k m_i m_j C_{ij} - v_i C_{jk}^2 + 4 T m_i C_{jk}) \Big] .

Residuals in units of their standard error have the mean square :math:`\chi^2`, which is 1 for a perfect model. They
are not independent. With :math:`R` the matrix of their correlations and :math:`\rho` the K residuals,

.. math::

    \operatorname{Var} \chi^2 = \frac{1}{K^2}
        \max(4 \rho^T R \rho - 2 \operatorname{tr} R^2, 2 \operatorname{tr} R^2) .

The second is that of a perfect model, the first that of a wrong one, freed of what noise adds to :math:`\rho`. Both
follow from products of what single samples contribute, :math:`\operatorname{tr} R^2 = E (y_a \cdot y_b)^2`.

**The noise ceiling** is the correlation of observed and true values, all that even a perfect model can reach. It
needs no model. Samples are dealt to G groups, whose estimates :math:`x_g` share the signal and not the noise:

.. math::

    \text{ceiling}^2 = \frac{\text{signal}}{\operatorname{Var} x}, \qquad
    \text{signal} = \frac{1}{G(G-1)} \sum_{g \neq g'} \operatorname{Cov}(x_g, x_{g'}) ,

with variance and covariances over the K pairs or triplets, and x the mean of the groups. Its error is what a perfect
model would deviate by. The sum of squares of the noise is not its expectation: it has the variance :math:`2
\operatorname{tr} \Sigma^2`, which differences of groups show, since they are free of the signal. There is no ceiling
where noise hides the signal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import Seed, count, generator
from .generator import sample
from .ising import IsingModel, all_states
from .packed import PackedSpins
from .spins import as_spins
from .types import Array, Indices, Spins

MAX_EXACT = 15  # spins; 2^15 states, and 455 triplets of them
MOST = {2: 500_000, 3: 20_000}  # pairs and triplets that are compared
_NUMBERS = 2**22  # numbers in memory at a time
_LEADING_ORDER = 1e9  # samples, to take the leading order of a variance
_SINGLE = 300  # samples of the model from which correlations between residuals are taken
_GROUPS = 20  # of samples, for the ceiling: there are 45 products of ten differences
_LEAST_IN_GROUP = 4  # samples: a triplet correlation takes 3
_LEAST_GROUPS = 5  # for an error
_SEEN = 2.0  # errors of a ceiling that can be told from 0


@dataclass(frozen=True, eq=False)
class Comparison:
    """Connected correlations of one order, observed and predicted, each with its standard error.

    ``indices`` has a row (i, j) or (i, j, k) for each. ``observed_error`` is that of so many samples of the model.
    ``ceiling`` is the correlation that noise leaves to a perfect model, NaN where it cannot be told.
    """

    indices: Indices
    observed: Array
    observed_error: Array
    predicted: Array
    predicted_error: Array
    chi2: float
    chi2_error: float
    slope: float
    slope_error: float
    ceiling: float = math.nan
    ceiling_error: float = math.nan

    @property
    def order(self) -> int:
        """2 for pairs, 3 for triplets."""
        return int(self.indices.shape[1])

    @property
    def correlation(self) -> float:
        """Pearson's correlation coefficient between observed and predicted; NaN where one does not vary."""
        spread = _covariance(self.observed, self.observed) * _covariance(self.predicted, self.predicted)
        if not spread > 0:
            return math.nan
        return _covariance(self.observed, self.predicted) / math.sqrt(spread)


@dataclass(frozen=True, eq=False)
class Prediction:
    """Pair and triplet correlations of ``n_samples`` held-out samples and of a model, exactly or by sampling it."""

    pairs: Comparison
    triplets: Comparison
    n_samples: int
    exact: bool

    def of(self, order: int) -> Comparison:
        """The pairs (2) or the triplets (3)."""
        if order not in MOST:
            raise ValueError(f"order must be 2 (pairs) or 3 (triplets): found {order!r}.")
        return self.pairs if order == 2 else self.triplets


class Moments(NamedTuple):
    """m of all spins, C of all pairs, T of chosen triplets."""

    m: Array
    C: Array
    T: Array


def predict(
    model: IsingModel, spins: ArrayLike, n_samples: int = 4000, seed: Seed = 0, n_hidden: int = 0
) -> Prediction:
    """Compare the correlations of ``spins``, which the model has not seen, with those of the model.

    The last ``n_hidden`` spins of the model are hidden: the data do not have them.

    Up to 15 spins the model's are exact, as they are without couplings. Otherwise they come from ``n_samples`` of it
    by parallel tempering, which warns (:class:`NotEquilibratedWarning`) where it is not at equilibrium; take several
    times as many as there are held-out ones. Of more than 500,000 pairs or 20,000 triplets a random choice is made:
    all those inside random groups of spins. There are no triplets of fewer than 3 samples. Cost: O(n^2) for every
    sample, as one product of matrices.

    >>> import bayesing as bs
    >>> sim = bs.simulate(n_spins=12, n_samples=600, J=0.7, H=0.2, seed=0)
    >>> bm = bs.BoltzmannMachine().fit(sim.spins[:400])
    >>> found = predict(bm.model_, sim.spins[400:]).pairs
    >>> print(f"correlation {found.correlation:.2f}, slope {found.slope:.1f} ± {found.slope_error:.1f}")
    correlation 0.89, slope 0.9 ± 0.1
    """
    held_out = as_spins(spins)
    n_samples = count("n_samples", n_samples, 100)
    n, N = model.n_spins - count("n_hidden", n_hidden, 0), len(held_out)
    if held_out.shape[1] != n:
        raise ValueError(f"Expected samples of {n} spins (columns): found {held_out.shape[1]}.")
    rng = generator(seed)
    pairs, threes = tuples_of(groups_of(n, 2, rng), 2), groups_of(n, 3, rng) if N > 2 else []
    by_model, size, single = moments_of_model(model, threes, n_samples, rng, n)
    observed = estimate(held_out, threes)
    triplets = tuples_of(threes, 3)
    noise = by_model if math.isinf(size) else smoothed(by_model, triplets, n_samples)
    compare = partial(_compare, noise=noise, single=single, N=N, size=size)
    of_pairs, of_triplets = _in_groups(held_out, pairs, threes, rng)
    return Prediction(
        pairs=compare(pairs, observed.C[*pairs.T], by_model.C[*pairs.T], of_pairs),
        triplets=compare(triplets, observed.T, by_model.T, of_triplets),
        n_samples=N,
        exact=math.isinf(size),
    )


def groups_of(n: int, order: int, rng: np.random.Generator) -> list[Indices]:
    """All spins in one group, or in as many random ones as leave few enough pairs or triplets inside them."""
    groups = 1
    while groups * math.comb(-(-n // groups), order) > MOST[order] and n > groups * order:
        groups += 1
    return [np.sort(group) for group in np.array_split(rng.permutation(n), groups)]


def tuples_of(groups: list[Indices], order: int) -> Indices:
    """All i < j (< k) inside the groups, in their order."""
    chosen = [np.empty((0, order), np.intp)]
    for group in groups:
        index = np.indices((len(group),) * order).reshape(order, -1).T
        chosen.append(group[index[(np.diff(index, axis=1) > 0).all(axis=1)]])
    return np.concatenate(chosen)


def moments_of_model(
    model: IsingModel,
    groups: list[Indices],
    n_samples: int,
    rng: np.random.Generator,
    n: int | None = None,
) -> tuple[Moments, float, Spins]:
    """Moments of the model's first n spins, from how many samples (infinitely many if exact), and some samples."""
    n = model.n_spins if n is None else n
    m = np.tanh(model.fields[:n])
    if not model.couplings.any():
        spins = np.where(2 * rng.random((_SINGLE, n)) < 1 + m, 1, -1).astype(np.int8)
        return Moments(m, np.diag(1 - m**2), np.zeros(len(tuples_of(groups, 3)))), math.inf, spins
    if model.n_spins <= MAX_EXACT:
        states = all_states(model.n_spins)
        p = np.exp(-model.energy(states) - model.log_partition())
        states = states[:, :n]
        spins = states[rng.choice(len(p), _SINGLE, p=p / p.sum())].astype(np.int8)
        m = p @ states
        d = states - m
        return Moments(m, d.T @ (p[:, None] * d), _third(d, p, groups)), math.inf, spins
    spins = sample(model, n_samples, seed=rng)[:, :n]
    return estimate(spins, groups), n_samples, spins[:_SINGLE]


def estimate(spins: Spins, groups: list[Indices]) -> Moments:
    """Unbiased estimates of C, and of T inside the groups, from samples."""
    N, n = spins.shape
    m = spins.mean(axis=0)
    C = PackedSpins.of(spins).spins_gram() / N - np.outer(m, m)
    T = np.zeros(len(tuples_of(groups, 3)))
    if groups:
        step = max(1, _NUMBERS // n)
        for start in range(0, N, step):
            d = spins[start : start + step] - m
            T += _third(d.astype(np.float32), np.ones(len(d), np.float32), groups)
        T *= N / ((N - 1) * (N - 2))
    return Moments(m, C * (N / (N - 1)), T)


def _third(d: NDArray[np.floating], weights: NDArray[np.floating], groups: list[Indices]) -> Array:
    """Sums of weight d_i d_j d_k over the rows of d, for all i < j < k in each group: a product for each i."""
    parts = [np.empty(0)]
    for group in groups:
        x = np.ascontiguousarray(d[:, group])
        for i in range(len(group)):
            rest = x[:, i + 1 :]
            sums = rest.T @ (rest * (weights * x[:, i])[:, None])
            parts.append(sums[np.triu_indices(len(sums), 1)])
    return np.concatenate(parts)


def smoothed(moments: Moments, triplets: Indices, N: int) -> Moments:
    """Moments after two more samples, of free spins: one that was never seen to flip has an error, too."""
    m, C, T = moments
    keep = N / (N + 2)
    i, j, k = triplets.T
    raw = T + m[i] * C[j, k] + m[j] * C[i, k] + m[k] * C[i, j] + m[i] * m[j] * m[k]
    C = keep * (C + np.outer(m, m)) - keep**2 * np.outer(m, m)
    m = keep * m
    connected = keep * raw - m[i] * C[j, k] - m[j] * C[i, k] - m[k] * C[i, j] - m[i] * m[j] * m[k]
    return Moments(m, C, connected)


def variance(index: Indices, moments: Moments, N: float) -> Array:
    """Variances of the estimates of C (pairs) or T (triplets) from N samples; 0 from infinitely many."""
    m, C, T = moments
    v = 1 - m**2
    if math.isinf(N) or not len(index):
        return np.zeros(len(index))
    if index.shape[1] == 2:
        i, j = index.T
        c = C[i, j]
        result = (4 * m[i] * m[j] * c - 2 * c**2) / N + (v[i] * v[j] + c**2) / (N - 1)
    else:
        i, j, k = index.T
        a, b, c = C[j, k], C[i, k], C[i, j]
        result = v[i] * v[j] * v[k] + 6 * a * b * c - 8 * m[i] * m[j] * m[k] * T - T**2
        result += 4 * (v[i] * m[j] * m[k] * a + v[j] * m[i] * m[k] * b + v[k] * m[i] * m[j] * c)
        result += 4 * T * (m[i] * a + m[j] * b + m[k] * c) - v[i] * a**2 - v[j] * b**2 - v[k] * c**2
        result *= N / ((N - 1) * (N - 2))
    return np.asarray(np.maximum(result, 0.0))


def contributions(index: Indices, moments: Moments, spins: Spins) -> Array:
    """What each sample (row) adds to N times the deviation of the estimates of C or T, to first order in it."""
    m, C, T = moments
    d = spins - m
    if index.shape[1] == 2:
        i, j = index.T
        return np.asarray(d[:, i] * d[:, j] - C[i, j])
    i, j, k = index.T
    product = d[:, i] * d[:, j] * d[:, k] - T  # and T changes with the means:
    return np.asarray(product - d[:, i] * C[j, k] - d[:, j] * C[i, k] - d[:, k] * C[i, j])


def _compare(
    index: Indices,
    observed: Array,
    predicted: Array,
    in_groups: Array,
    noise: Moments,
    single: Spins,
    N: int,
    size: float,
) -> Comparison:
    """Both sides with their errors, and what the residuals say, by the correlations that single samples show."""
    observed_variance, predicted_variance = variance(index, noise, N), variance(index, noise, size)
    total = observed_variance + predicted_variance
    random = np.flatnonzero(total > 0)
    error = np.sqrt(total[random])
    rho = (observed - predicted)[random] / error
    deviation = predicted - predicted.mean() if len(predicted) else predicted
    signal = float(deviation @ deviation - predicted_variance.sum())
    by_slope = deviation[random] * error

    gram, along, tilt = np.zeros((len(single), len(single))), np.zeros(len(single)), np.zeros(len(single))
    step = _NUMBERS // _SINGLE
    for start in range(0, len(random), step):
        part = random[start : start + step]
        there = slice(start, start + step)
        chosen = Moments(noise.m, noise.C, noise.T[part] if index.shape[1] == 3 else noise.T)
        y = contributions(index[part], chosen, single) / np.sqrt(
            variance(index[part], chosen, _LEADING_ORDER) * _LEADING_ORDER
        )
        gram += y @ y.T
        along += y @ rho[there]
        tilt += y @ by_slope[there]
    K, A = len(random), len(single)
    trace = (float((gram**2).sum()) - float((np.diagonal(gram) ** 2).sum())) / (A * (A - 1))
    spread = max(4 * float(np.mean(along**2)) - 2 * trace, 2 * trace)
    clear = signal > float(deviation @ deviation) / 2  # else the predictions are mostly noise
    return Comparison(
        indices=index,
        observed=observed,
        observed_error=np.sqrt(observed_variance),
        predicted=predicted,
        predicted_error=np.sqrt(predicted_variance),
        chi2=float(np.mean(rho**2)) if K else math.nan,
        chi2_error=math.sqrt(spread) / K if K else math.nan,
        slope=float(deviation @ observed) / signal if clear else math.nan,
        slope_error=math.sqrt(float(np.mean(tilt**2))) / signal if clear else math.nan,
        **ceiling_of(in_groups)._asdict(),
    )


class Ceiling(NamedTuple):
    """The correlation of observed and true values, with its error; NaN where noise hides the signal."""

    ceiling: float
    ceiling_error: float


def ceiling_of(in_groups: Array) -> Ceiling:
    """From the values that groups of the samples have (groups, values)."""
    G, K = in_groups.shape
    if G < _LEAST_GROUPS or K < 2:
        return Ceiling(math.nan, math.nan)
    x = in_groups - in_groups.mean(axis=1, keepdims=True)
    gram = x @ x.T / K
    total = float(gram.mean())
    signal = float(gram.sum() - np.trace(gram)) / (G * (G - 1))
    if not 0 < signal <= total:
        return Ceiling(math.nan, math.nan)
    value = math.sqrt(signal / total)
    error = _spread_of_noise(x) / (2 * total * value)
    return Ceiling(value, error) if value > _SEEN * error else Ceiling(math.nan, math.nan)


def _spread_of_noise(x: Array) -> float:
    """Standard deviation of the mean square of the noise in the mean of all groups."""
    G, K = x.shape
    half = G // 2
    products: list[Array] = []
    for shift in range(half):  # every group of the first half less each of the second
        pure = (x[:half] - np.roll(x[half : 2 * half], shift, axis=0)) / math.sqrt(2)
        products.append((pure @ pure.T / K)[np.triu_indices(half, 1)])
    square = float(np.mean(np.square(products)))
    return float(math.sqrt(2 * square) / G)


def _in_groups(
    spins: Spins, pairs: Indices, threes: list[Indices], rng: np.random.Generator
) -> tuple[Array, Array]:
    """Estimates of C and T in each of some groups of samples, dealt at random; of few samples there are none."""
    G = min(_GROUPS, len(spins) // _LEAST_IN_GROUP)
    if G < _LEAST_GROUPS:
        return np.empty((0, len(pairs))), np.empty((0, len(tuples_of(threes, 3))))
    d = (spins - spins.mean(axis=0)).astype(np.float32)  # around the means of all: groups add up to the whole
    whole = d.T @ d / len(d)
    i, j, k = tuples_of(threes, 3).T
    C, T = [], []
    for part in np.array_split(rng.permutation(len(spins)), G):
        x = d[part]
        m = x.mean(axis=0)
        C.append((x.T @ x)[*pairs.T] / len(x))
        linear = m[i] * whole[j, k] + m[j] * whole[i, k] + m[k] * whole[i, j]  # 0 in all groups together
        T.append(_third(x, np.ones(len(x), np.float32), threes) / len(x) - linear)
    return np.array(C), np.array(T)


def _covariance(a: Array, b: Array) -> float:
    return float(np.mean((a - a.mean()) * (b - b.mean()))) if len(a) else math.nan
