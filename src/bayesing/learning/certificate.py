r"""Has the search arrived? Fresh equilibrium samples of the fit, against the data.

New chains, which have never seen the search, are brought from independent spins to the fitted model
(:mod:`~bayesing.learning.population`). At the mode of the posterior the slopes vanish, that is

.. math::

    m_i = d_i - \frac{b_i - \beta_i}{N} , \qquad
    \langle z_i z_j \rangle = \langle z_i z_j \rangle_{\text{data}} - \frac{\lambda}{N} J_{ij} ,

the averages of the data less the pull of the prior. What is missing is given in standard errors that the data have
under the model, so that 1 is what another data set would be off by. With a Laplace prior the pull is :math:`\xi
\operatorname{sign} J_{ij}/N`, and for couplings that are 0 anything up to :math:`\xi/N`. Of a model with hidden units
the spins that are seen are compared.

The chains are of several groups that know nothing of each other, of two kinds: how far apart they are says how
precise, and how believable, these averages are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..threads import Run
from ..types import Array, Integers
from .newton import slopes, slowness
from .phases import Data, Free, summed_out
from .population import Population

_SAMPLES = 20  # for each of the data
_LEAST, _MOST = 20_000, 200_000
_CHEAP = 5_000_000  # spins of samples that may be more than that
_LOWER = 128  # chains of a group below beta = 1: half as many as above
_SWEEPS = 4  # at each beta of the start
_WARM = 64  # sweeps before samples are taken
_MOST_THIN = 64
_APART = 2.0  # times the noise of independent samples
WITHIN = 1.0  # standard errors, beyond the noise of the samples themselves
UNSEEN, FAR = 5.0, 1.0  # samples of N in states that the data never show, and far from all that they show


@dataclass(frozen=True)
class Certificate:
    """Mismatch of a fit and its data in standard errors of the data: root mean squares, and largest values.

    ``means`` and ``pairs`` are what is missing at the mode, 0 but for noise where the search has arrived;
    ``noise_means`` and ``noise_pairs`` are what the samples themselves are off by. ``pull_means`` and ``pull_pairs``
    compare model and data directly, so that they include the bias of the prior. ``active`` is the mean number of
    spins that are +1.
    """

    samples: int
    n_data: int
    means: float
    largest_mean: float
    pairs: float
    largest_pair: float
    noise_means: float
    noise_pairs: float
    pull_means: float
    pull_pairs: float
    active: float
    active_in_data: float
    unseen: float | None = (
        None  #: Of N samples, those with clearly more or fewer active spins than any of the data.
    )
    far: float | None = (
        None  #: Of these, those outside the range of the data by more than the width of this range.
    )

    @property
    def passed(self) -> bool:
        """Whether means and pairs are within a standard error, beyond the noise of the samples."""
        return self.within(WITHIN) and self.agreed

    def within(self, errors: float) -> bool:
        """Whether they are within so many standard errors, beyond the noise of the samples."""
        rest = max(self.means**2 - self.noise_means**2, self.pairs**2 - self.noise_pairs**2)
        return rest < errors**2

    @property
    def agreed(self) -> bool:
        """Whether independent chains agree, as well as so many samples can."""
        expected = math.sqrt(self.n_data / self.samples)
        return max(self.noise_means, self.noise_pairs) < max(WITHIN, _APART * expected)

    @property
    def stays(self) -> bool:
        """Whether the model stays where the data are, as far as the number of active spins tells."""
        return not self.has_another_state and (self.unseen is None or self.unseen < UNSEEN)

    @property
    def has_another_state(self) -> bool:
        """Whether the model has a state far from all of the data, as far as the number of active spins tells."""
        return self.far is not None and self.far >= FAR

    @property
    def sentence(self) -> str:
        """All of it in words."""
        text = (
            f"{self.samples:,} fresh equilibrium samples: means within {self.means:.2g} (largest "
            f"{self.largest_mean:.2g}), pairs within {self.pairs:.2g} ({self.largest_pair:.2g}) standard errors; "
            f"{self.active:.3g} spins active, in the data {self.active_in_data:.3g}: "
            f"{'passed' if self.passed else 'not passed'}."
        )
        if not self.agreed:
            text += (
                " Chains do not agree with each other: the model has states that they hardly travel between."
            )
        return text


def certify(
    data: Data,
    J: Array,
    h: Array,
    pull: Array,
    seed: np.random.SeedSequence,
    run: Run,
    counts: Integers | None = None,
    scale: int = _SAMPLES,
) -> tuple[Certificate, Free]:
    """Sample the model, and compare; ``pull`` is the slope of the log prior of the couplings, or its bound at 0.

    ``counts`` are the numbers of active spins in the data, if they are known. The samples are handed on.
    """
    N, d, n = data.N, data.d, data.n
    population = Population(J, h, data.rates, seed, run, lower=_LOWER, sweeps=_SWEEPS)
    population.advance(_WARM // 2)
    population.retune()
    population.advance(_WARM // 2)
    slow = slowness([exponents for _, exponents in population.collect(8, 4, 4)])
    thin = min(_MOST_THIN, math.ceil(4 * slow))
    most = max(_MOST, _CHEAP // n)
    times = math.ceil(min(max(scale * N, _LEAST), most) / population.size)
    parts = [summed_out(spins, J, h, data.hidden) for spins, _ in population.collect(times, thin, thin)]
    seen = n - data.hidden  # spins that are compared

    groups = [Free([part], d, run) for part in parts]
    free = Free.both(Free(parts[: len(parts) // 2], d, run), Free(parts[len(parts) // 2 :], d, run))
    upper = np.triu_indices(seen, 1)
    of_means, of_pairs = data.errors(free.m, free.covariance)
    of_means, of_pairs = of_means[:seen], of_pairs[upper]
    G, g = slopes(data, free, J, h + J @ d, 0.0)
    g, m, mean = g[:seen], free.m[:seen], data.mean[:seen]
    missing = balanced(G[upper], pull[upper], J[upper] == 0) / N / of_pairs
    pulled = (data.C - free.second)[upper] / of_pairs
    between = math.sqrt(len(groups))
    noise_means = np.std([group.m[:seen] for group in groups], axis=0, ddof=1) / between / of_means
    noise_pairs = np.std([group.second[upper] for group in groups], axis=0, ddof=1) / between / of_pairs
    unseen = far = None
    if counts is not None:
        active = np.concatenate([part[:seen].sum(axis=0) for part in parts])
        active = np.rint((active + seen) / 2)
        low, high = float(counts.min()), float(counts.max())
        spread = math.sqrt(float(np.sum(1 - d[:seen] ** 2))) / 2  # of the number, if spins were independent
        unseen, far = (
            N * float(np.mean((active > high + margin) | (active < low - margin)))
            for margin in (spread, max(high - low, 3 * spread))
        )
    found = Certificate(
        samples=free.A,
        n_data=N,
        means=_rms(g / N / of_means),
        largest_mean=float(np.abs(g / N / of_means).max()),
        pairs=_rms(missing),
        largest_pair=float(np.abs(missing).max(initial=0)),
        noise_means=_rms(noise_means),
        noise_pairs=_rms(noise_pairs),
        pull_means=_rms((mean - m) / of_means),
        pull_pairs=_rms(pulled),
        active=float((seen + m.sum()) / 2),
        active_in_data=float((seen + mean.sum()) / 2),
        unseen=unseen,
        far=far,
    )
    return found, free


def balanced(slope: Array, pull: Array, bounded: Array) -> Array:
    """What is left of slopes of the likelihood, given those of the prior; where ``bounded``, those at most."""
    inside = np.sign(slope) * np.maximum(np.abs(slope) - np.abs(pull), 0)
    return np.where(bounded, inside, slope + pull)


def _rms(x: Array) -> float:
    return math.sqrt(float(np.mean(np.asarray(x) ** 2))) if np.size(x) else 0.0
