"""Spins to test with."""

import itertools
from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from scipy.special import gammaln
from scipy.stats import chi2

import bayesing as bs
from bayesing.ising import all_states
from bayesing.sampling.diagnostics import autocorrelation_time


def random_spins(N, n, seed=0, p=0.7):
    """Columns with different means, and not independent, so that no moment is near zero by symmetry."""
    rng = np.random.default_rng(seed)
    common = rng.random((N, 1)) < 0.3
    return np.where((rng.random((N, n)) < p * np.linspace(0.5, 1, n)) ^ common, 1, -1).astype(np.int8)


def with_gaps(X, share, seed=1):
    """The same as floats, with so many of the cells missing completely at random (NaN)."""
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


def driven(N=300, seed=0):
    """Seven spins, of which the first four follow a cause that is on in a third of the samples."""
    rng = np.random.default_rng(seed)
    field = np.outer(np.where(rng.random(N) < 0.33, 1.0, -1.0), [1.0, 0.9, 0.8, -0.9, 0, 0, 0])
    return np.where(rng.random((N, 7)) < 1 / (1 + np.exp(-2 * field)), 1, -1)


def gappy():
    """The same with names and missing cells, most of them in one column."""
    X = with_gaps(driven(), 0.06)
    X[:100, 5] = np.nan
    return pd.DataFrame(X, columns=[f"<item {i}>" for i in range(7)])


def repeated(R=9, n=5, seed=3):
    """Few rows, each several times, in any order."""
    X = random_spins(R, n, seed)
    return np.random.default_rng(seed).permutation(np.repeat(X, np.arange(1, R + 1), axis=0))


def anywhere(n, seed=0):
    """Symmetric couplings and fields of both signs."""
    rng = np.random.default_rng(seed)
    J = np.triu(rng.normal(0, 0.5, (n, n)), 1)
    return J + J.T, rng.normal(0.3, 0.5, n)


def slow_sums(X, J, b, P, p):
    """What :mod:`bayesing.weighted` sums: every spin of every sample, one at a time; a change (P, p) of (J, b)."""
    N, n = X.shape
    d, total = X.mean(axis=0), 0.0
    products, sums, bent, bent_sums, w = (np.zeros(shape) for shape in ((n, n), n, (n, n), n, n))
    for s in X:
        z = s - d
        for i in range(n):
            f = b[i] + J[i] @ z
            r = s[i] - np.tanh(f)
            u = (1 - np.tanh(f) ** 2) * (p[i] + P[i] @ z)
            total -= np.log(1 + np.exp(-2 * s[i] * f))
            products[:, i] += z * r
            sums[i] += r
            bent[:, i] += z * u
            bent_sums[i] += u
            w[i] += (1 - np.tanh(f) ** 2) / N
    return total, products, sums, bent, bent_sums, w


def stats(X):
    """The data object of an array."""
    return bs.SpinStatistics.of(X)


def with_answer(eb, diagnosis=None, **changes):
    """A fitted estimator with another diagnosis, or with other numbers in its estimate."""
    found, known = copy(eb), eb.answer_
    estimate = replace(known.estimate, **changes)
    found._answer = replace(known, estimate=estimate, diagnosis=diagnosis or known.diagnosis)
    return found


spin_arrays = st.integers(2, 9).flatmap(
    lambda n: st.lists(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n), min_size=2, max_size=14)
)

gappy_arrays = st.integers(2, 9).flatmap(  # rows with missing cells, none of them without any value
    lambda n: st.lists(
        st.lists(st.sampled_from([-1.0, 1.0, np.nan]), min_size=n, max_size=n).filter(
            lambda row: not np.isnan(row).all()
        ),
        min_size=2,
        max_size=14,
    )
)


def random_model(n, J, seed=0, field=0.4):
    """Gaussian couplings of variance J^2/n and random fields of both signs."""
    rng = np.random.default_rng(seed)
    couplings = np.triu(rng.normal(0, J / np.sqrt(n), (n, n)), 1)
    return bs.IsingModel(couplings + couplings.T, rng.normal(0.1, field, n))


def joint_model(n, k, seed=0, J=0.6, W=0.8, field=0.4):
    """A random model of n spins and k hidden units, which are not coupled to each other."""
    rng = np.random.default_rng(seed)
    couplings = np.zeros((n + k, n + k))
    couplings[:n, :n] = random_model(n, J, seed).couplings
    couplings[:n, n:] = rng.normal(0, W, (n, k))
    couplings[n:, :n] = couplings[:n, n:].T
    return bs.IsingModel(couplings, rng.normal(0.1, field, n + k))


def random_restricted(n, k, seed=0, scale=0.7):
    """Random weights and fields of both signs."""
    rng = np.random.default_rng(seed)
    return bs.RestrictedModel(rng.normal(0, scale, (n, k)), rng.normal(0.2, 0.5, n), rng.normal(-0.3, 0.4, k))


def states(n):
    """All 2^n states, in the order of itertools."""
    return np.array(list(itertools.product([-1, 1], repeat=n)), dtype=float).reshape(2**n, n)


def worst_p_value(spins, model, weights=None, ladders=None):
    """Smallest p-value of all means and pair correlations against enumeration, times their number.

    Standard errors come from the effective sample size: of the weights, or of series of ``ladders`` chains.
    """
    X = spins.astype(float)
    i, j = np.triu_indices(X.shape[1], 1)
    observed = np.hstack([X, X[:, i] * X[:, j]])
    exact = np.concatenate([model.means(), model.correlations()[i, j]])
    w = np.full(len(X), 1 / len(X)) if weights is None else weights / weights.sum()
    means = w @ observed
    # The exact variance: an observable that happens never to change has none in the sample.
    errors = (
        np.sqrt((w**2).sum() * (1 - exact**2)) if weights is None else np.sqrt(w**2 @ (observed - means) ** 2)
    )
    if ladders:
        times = [autocorrelation_time(column.reshape(-1, ladders).T) for column in observed.T]
        errors *= np.sqrt(times)
    return len(exact) * chi2.sf(((means - exact) / errors) ** 2, 1).min()


def in_turn(tasks):
    """Run tasks one after the other."""
    return [task() for task in tasks]


def draw_exactly(model, N, rng):
    """Independent samples of a model of few spins, straight from the probabilities of all states."""
    states = all_states(model.n_spins)
    p = np.exp(-model.energy(states) - model.log_partition())
    return states[rng.choice(len(p), N, p=p / p.sum())]


def without_noise(model, A, seed=0):
    """A samples that show every state as often as the model says, but for rounding, in random order."""
    states = all_states(model.n_spins)
    edges = np.rint(A * np.cumsum(np.exp(-model.energy(states) - model.log_partition()))).astype(int)
    spins = np.repeat(states, np.diff(edges, prepend=0), axis=0)
    return np.random.default_rng(seed).permutation(spins)


FREE = (2 * np.random.default_rng(0).integers(0, 2, (50, 20)) - 1).astype(np.int8)  # spins whose gamma is 0
ENDLESS = np.array([[1, 1, -1, -1], [1, -1, 1, -1]], np.int8)  # two samples: the evidence has no maximum


def from_restricted(data, k, gamma, n_spins, seed, run):
    """Couplings and k common causes, from the start of a restricted machine."""
    from bayesing.learning.causes import find_causes, restricted_start

    first, second = seed.spawn(2)
    return find_causes(data, restricted_start(data, k, first), gamma, n_spins, second, run)


def ferromagnet(n, N, beta, seed, H=0.0):
    """Exact samples of J_ij = beta/n in a field H: the number of active spins first, then which they are."""
    k = np.arange(n + 1)
    log_P = (
        gammaln(n + 1)
        - gammaln(k + 1)
        - gammaln(n - k + 1)
        + beta / (2 * n) * (2 * k - n) ** 2
        + H * (2 * k - n)
    )
    P = np.exp(log_P - log_P.max())
    rng = np.random.default_rng(seed)
    active = rng.choice(k, N, p=P / P.sum())
    return np.where(rng.random((N, n)).argsort(axis=1) < active[:, None], 1, -1).astype(np.int8)
