r"""Do samples of a fitted model look like the data?

1. **Chains that start from the data**, at random rows of them, and go on for 20 sweeps of the model. Means, connected
   correlations and the number K of active spins are compared with those of the data, in standard errors of both, as
   root mean squares: about 1, or less, if the model is right. The exponent of P(S) may fall along the way, for the
   prior shrinks couplings; if it rises, the model is drawn to states that it likes better than the data. Without
   rows, chains start from independent spins.
2. **Annealed importance sampling** (:mod:`bayesing.entropy`) gives ln Z, and with it the log likelihood of the data a
   sample, against that of independent spins with the means of the data; and the mean of K once more. Chains from the
   data cannot see a state that is far from all of them, nor how much each of several states weighs.

Rows with missing cells are completed first: each missing cell is drawn from the model, given what its row shows.
Hidden units of the model are cells that are missing in every row. The log likelihoods are those of the cells that are
there.

Connected correlations, not averages of products: those of rare spins are nearly right in a model without couplings.

Chains are as many as the budget has: the check of a method that does not search takes less time than the fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .entropy import BETA_STEP, annealed, entropy_of_means
from .exceptions import Setting, worded
from .ising import IsingModel
from .sampling._gibbs import GROUP, Chains, Single, generator_states, in_threads
from .sampling.missing import completed, padded, shown
from .statistics import SpinStatistics
from .types import Array, Integers

_SWEEPS = 20
_MEANS, _PAIRS, _COUNTS = 3.0, 2.0, 5.0  # root mean squares, in standard errors
_FEW = 10  # samples
_COUNTED = 2048  # chains, at most, in the standard errors: a model need not be perfect to look right
_RISE = 0.25  # of the exponent, in standard deviations
_ACTIVE = 0.05  # of the mean number of active spins, or inactive ones
_NOISE = 3.0  # standard errors that are no accident
_LOSS = 0.02  # nats below independent spins
_SEED = 0
_EXACT = 12  # spins up to which going through all states takes no time


class Effort(NamedTuple):
    """How many chains start from the data, and how many are annealed, in steps of beta."""

    chains: int
    annealed: int
    beta_step: float


def thorough(n: int) -> Effort:
    """For methods that search, whose fit takes a second or more: about 2e9 operations, or what 2048 chains take."""
    chains = int(min(max(2e9 / (2 * _SWEEPS * n**2), _COUNTED), 2**14))
    return Effort(chains, 512, BETA_STEP)


def quick(n: int, N: int) -> Effort:
    """For methods that do not search, whose fit takes 10 milliseconds and some for the eigenvectors."""
    operations = 2e8 + n * min(n, N) * (n + N / 2)
    chains = int(min(max(operations / (2 * _SWEEPS * n**2), 32), 192))
    return Effort(chains, max(16, chains // 4), 1 / 64)


@dataclass(frozen=True)
class Check:
    """Mismatch of samples of a model and data: root mean squares, in standard errors of both.

    ``means`` are of the spins, ``pairs`` of connected correlations, and ``counts`` of the distribution of the number
    of active spins (+1), None where rows of the data are not known. ``active`` is its mean near the data, and
    ``active_at_rest`` that of annealed chains. ``rise`` is that of the exponent from the data to the model, in
    standard deviations. Log likelihoods are of the data, in nats a sample. ``n_hidden`` counts the hidden units.
    """

    n_spins: int
    n_data: int
    samples: int
    means: float
    pairs: float
    counts: float | None
    active: float
    active_error: float
    active_in_data: float
    active_in_data_error: float
    active_at_rest: float
    active_at_rest_error: float
    rise: float
    log_likelihood: float
    log_likelihood_error: float
    independent: float
    n_hidden: int = 0

    @property
    def gain(self) -> float:
        """The log likelihood beyond that of independent spins."""
        return self.log_likelihood - self.independent

    @property
    def is_active_alike(self) -> bool:
        """Whether the mean number of active spins is that of the data."""
        rarer = min(self.active_in_data, self.n_spins - self.active_in_data)
        allowed = max(_ACTIVE * rarer, self.active_in_data_error)
        found = (self.active, self.active_error), (self.active_at_rest, self.active_at_rest_error)
        return all(abs(value - self.active_in_data) <= allowed + _NOISE * error for value, error in found)

    @property
    def is_probable(self) -> bool:
        """Whether the data are not clearly less probable than under independent spins, which fit them too well."""
        too_well = self.n_spins / (2 * self.n_data)
        return self.gain > -_LOSS - too_well - _NOISE * self.log_likelihood_error

    @property
    def has_moments(self) -> bool:
        """Whether means and connected pairs are those of the data; standard errors of few data are rough."""
        return self.means < _MEANS and self.pairs < _PAIRS * math.sqrt(1 + _FEW / self.n_data)

    @property
    def passed(self) -> bool:
        """Whether samples look like the data, in all of this."""
        return (
            self.has_moments
            and (self.counts is None or self.counts < _COUNTS)
            and self.rise < _RISE + _NOISE * math.sqrt(2 / self.samples)
            and self.is_active_alike
            and self.is_probable
        )

    @property
    def sentence(self) -> str:
        """All of it in words."""
        return self.worded(Setting.in_python)

    def worded(self, speak: Callable[[Setting], str]) -> str:
        """The sentence, with settings as ``speak`` says them."""
        return worded(self.parts, speak)

    @property
    def parts(self) -> tuple[str | Setting, ...]:
        """The sentence in parts, of which some are settings that would help."""
        counts = "" if self.counts is None else f", number active {self.counts:.2f}"
        numbers = (
            f"means within {self.means:.2f}, pairs {self.pairs:.2f}{counts} standard errors; "
            f"{self.active:.2f} active, data {self.active_in_data:.2f}; {self.gain:+.2f} nats over independent spins"
        )
        if self.passed:
            return (f"Samples look like the data: {numbers}.",)
        return (*self._complaint, f" In all: {numbers}.")

    @property
    def _worst_active(self) -> float:
        """The mean number of active spins that is further from that of the data."""
        return max(self.active, self.active_at_rest, key=lambda value: abs(value - self.active_in_data))

    @property
    def _complaint(self) -> tuple[str | Setting, ...]:
        if not self.is_active_alike:
            return (
                f"Samples of this fit have {self._worst_active:.3g} active spins of {self.n_spins}, the data "
                f"{self.active_in_data:.3g}: do not use these couplings.",
            )
        if not self.is_probable:
            return (
                f"The data are {-self.gain:.3g} nats a sample less probable under this fit than under independent "
                "spins: it has states that the data never show. Do not use these couplings.",
            )
        if not self.has_moments:
            text = "Samples of this fit have other means and correlations than the data: do not use these couplings."
            return (text,)
        if self.counts is not None and self.counts >= _COUNTS:
            return (
                "Samples of this fit have means and correlations of the data, but not their distribution of the "
                f"number of active spins. Think of {'another' if self.n_hidden else 'a'} common cause: ",
                Setting("n_hidden", self.n_hidden + 1),
                ".",
            )
        return ("Samples of this fit move away from the data, to states that the model likes better.",)


def check(model: IsingModel, stats: SpinStatistics, effort: Effort, base: Array, worth: float = 1.0) -> Check:
    """Compare; ``base`` are the fields of independent spins with about the means of the model.

    Rows that remember those before them are ``worth`` so many independent ones each, in the standard errors.
    """
    exponent, independent = _shown(model, stats)
    n, N = stats.n, worth * stats.N
    start = stats
    if stats.missing or model.n_spins > n:
        whole = completed(model, padded(stats.spins(), model.n_spins), _SEED)
        stats, start = (SpinStatistics.of(x, min_samples=1) for x in (whole[:, :n], whole))
        base = np.append(base, np.zeros(model.n_spins - n))
    spins, rise = _chains_from(start, model, effort.chains, base)
    spins, P = spins[:n], spins.shape[1]
    m, d = spins.mean(axis=1, dtype=np.float64), stats.magnetisations
    C = (spins @ spins.T).astype(np.float64) / P - np.outer(m, m)
    of_data = stats.cross / stats.N - np.outer(d, d)
    upper = np.triu_indices(n, 1)
    middle = (m + d) / 2
    v = 1 - middle**2
    pairs = np.outer(v, v) + 4 * np.outer(middle, middle) * (C + of_data) / 2 - ((C + of_data) / 2) ** 2
    share, least = 1 / N + 1 / min(P, _COUNTED), 1 / min(N, P)
    z_means = (m - d) / np.sqrt(np.maximum(v, least) * share)
    z_pairs = (C - of_data)[upper] / np.sqrt(np.maximum(pairs[upper], least) * share)
    active = np.rint((spins.sum(axis=0) + n) / 2)
    at_rest = _at_rest(model, n, effort, base, float(active.std()))
    return Check(
        n_spins=n,
        n_data=round(N),
        samples=P,
        means=_rms(z_means),
        pairs=_rms(z_pairs),
        counts=None if stats.active is None else _counts(active, stats.active, worth),
        active=float(active.mean()),
        active_error=float(active.std()) / math.sqrt(P),
        active_in_data=float((n + d.sum()) / 2),
        active_in_data_error=_error_of_active(d, of_data, N),
        rise=rise,
        active_at_rest=at_rest.active,
        active_at_rest_error=at_rest.active_error,
        log_likelihood=exponent - at_rest.log_partition,
        log_likelihood_error=at_rest.error,
        independent=independent,
        n_hidden=model.n_spins - n,
    )


def _shown(model: IsingModel, stats: SpinStatistics) -> tuple[float, float]:
    """The mean exponent of what the rows show, summed over missing cells, and their mean ln P if independent."""
    N, d = stats.N, stats.magnetisations
    if not stats.missing and model.n_spins == stats.n:
        exponent = float(model.fields @ d + np.vdot(model.couplings, stats.cross) / (2 * N))
        return exponent, -entropy_of_means(d)
    exponent = float(shown(model, padded(stats.spins(), model.n_spins), _SEED).log_weights.mean())
    shares = (stats.counts / N).tolist()
    return exponent, -sum(share * entropy_of_means(d[[i]]) for i, share in enumerate(shares))


def _error_of_active(d: Array, C: Array, N: float) -> float:
    """Of the mean number of active spins; that of a spin which never changes is known to one of N samples."""
    return math.sqrt(max(float(C.sum()), 0.0) / N) / 2 + np.count_nonzero(np.abs(d) == 1) / N


class _AtRest(NamedTuple):
    """What annealed chains tell of the model: ln Z, and the mean number of active spins, with standard errors."""

    log_partition: float
    error: float
    active: float
    active_error: float


def _at_rest(model: IsingModel, n: int, effort: Effort, base: Array, spread: float) -> _AtRest:
    """From weighted chains of which the first n spins are seen.

    ``spread`` is about the standard deviation of the number of active spins.
    """
    if model.n_spins <= _EXACT:
        return _AtRest(model.log_partition(), 0.0, float(n + model.means()[:n].sum()) / 2, 0.0)
    found = annealed(model, effort.annealed, _SEED, base, 1, effort.beta_step)
    active = (n + found.spins[:, :n].sum(axis=1)) / 2
    mean = float(found.shares @ active)
    variance = max(float(found.shares @ (active - mean) ** 2), spread**2)
    # Few chains of much weight are worth so many of equal weight.
    error = math.sqrt(variance * float(found.shares @ found.shares))
    return _AtRest(found.log_partition, found.error(found.shares), mean, error)


def _chains_from(
    stats: SpinStatistics, model: IsingModel, n_chains: int, base: Array
) -> tuple[Single, float]:
    """Spins (n, chains) after some sweeps, and how much the exponents have risen on the way."""
    rng = np.random.default_rng(_SEED)
    states = generator_states(n_chains, rng)
    J, h = model.couplings.astype(np.float32), model.fields.astype(np.float32)
    rows: Single | None = None
    some = stats.sampled
    if some is not None:
        chosen = rng.choice(some.N, n_chains, replace=some.N < n_chains)
        rows = some.take(chosen).spins().T.astype(np.float32)
    tasks = [
        partial(
            _sweep, J, h, states[:, k : k + GROUP], base, None if rows is None else rows[:, k : k + GROUP]
        )
        for k in range(0, n_chains, GROUP)
    ]
    spins, before, after = map(np.concatenate, zip(*in_threads(tasks), strict=True))
    deviation = math.sqrt((float(before.var()) + float(after.var())) / 2)
    rise = float(after.mean() - before.mean()) / deviation if deviation > 0 and rows is not None else 0.0
    return np.ascontiguousarray(spins.T), rise


def _sweep(
    J: Single, h: Single, states: NDArray[np.uint32], base: Array, rows: Single | None
) -> tuple[Single, Array, Array]:
    """Spins (chains, n) after some sweeps, and the exponents before and after."""
    chains = Chains(J.copy(), h, states, base.astype(np.float32))
    if rows is not None:
        chains.spins[...] = rows
    chains.base[...] = 0.0
    chains.change(J, h)
    before = chains.exponents.copy()
    beta = np.ones(states.shape[1], np.float32)
    for _ in range(_SWEEPS):
        chains.sweep(beta)
    return chains.spins.T.copy(), before, chains.exponents


def _counts(model: Array, data: Integers, worth: float = 1.0) -> float:
    """The root mean square difference of two distributions of numbers, in standard errors, in bins of a tenth."""
    both = np.concatenate([model, data])
    weights = np.concatenate([np.full(len(x), 0.5 / len(x)) for x in (model, data)])
    values, place = np.unique(both, return_inverse=True)
    mass = np.cumsum(np.bincount(place, weights))
    edges = values[np.searchsorted(mass, np.linspace(0, 1, 11)[1:-1])]
    bins = np.unique(edges)
    p, q = (np.bincount(np.searchsorted(bins, x), minlength=len(bins) + 1) / len(x) for x in (model, data))
    middle = (p + q) / 2
    share = 1 / min(len(model), _COUNTED) + 1 / (worth * len(data))
    variance = np.maximum(middle * (1 - middle), 1 / len(both)) * share
    return _rms((p - q) / np.sqrt(variance))


def _rms(x: Array) -> float:
    return math.sqrt(float(np.mean(np.asarray(x) ** 2))) if np.size(x) else 0.0
