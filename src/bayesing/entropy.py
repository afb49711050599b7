r"""Partition function, entropy and multi-information of a model, in nats, with standard errors.

With A(S) the exponent of P(S), and s(m) the entropy of a spin of mean m,

.. math::

    S = \ln Z - \langle A \rangle, \qquad
    I = \sum_i s(\langle S_i \rangle) - S, \qquad
    s(m) = -\frac{1+m}2 \ln \frac{1+m}2 - \frac{1-m}2 \ln \frac{1-m}2 .

I is the divergence of the model from independent spins of the same means: 0 without couplings, and never negative.
Up to 20 spins all are exact, and their error is 0.

**Beyond**, ln Z is from annealed importance sampling. The chains then stay at beta = 1 for some sweeps more, which
leave their weights right, and averages are over all of these sweeps. A chain whose share in Z is u contributes

.. math::

    u (1 + \langle A \rangle - A) \; \text{ to } S, \qquad
    - u \sum_i (S_i - m_i) \operatorname{atanh} m_i \; \text{ to } \sum_i s(m_i) ,

to first order and up to a constant, and the standard error is that of the sum of these contributions. Where few
chains carry all the weight it is too small, as an error from few numbers is. To second order the noise of the means
lowers s(m_i) by half its variance over :math:`1 - m_i^2`, which is added back.

**Two starts.** Independent spins in the fields ``base``, with about the means of the model, are the better start
where spins are rare, but chains from there may never see another phase far away. Half of the chains therefore start
from uniform spins. Those that end far from all of the others, along the base, speak for the part of Z that lies
there: Z is the sum of two parts, each from chains that see it. The same is estimated from the uniform start alone.
If the two values of ln Z differ by more than four standard errors one has missed something, and the larger is taken;
else the more precise one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr, logsumexp

from .arguments import Seed, count, generator
from .generator import sample
from .ising import MAX_EXACT, IsingModel
from .sampling.anneal import AnnealedSample, anneal, schedule
from .sampling.missing import shown
from .types import Array

BETA_STEP = 0.005
SWEEPS = 200  # at beta = 1, over which averages are taken
FAR = 0.5  # beyond the alignments with the base that were seen, in units of their range
_SEEN_SAMPLES = 20_000  # of a model with hidden units
APART = 4.0  # standard errors between two values of ln Z


def log_partition_of(
    model: IsingModel,
    n_chains: int = 1000,
    seed: Seed = None,
    base: ArrayLike | None = None,
) -> tuple[float, float]:
    """ln Z and its standard error, which is 0 for up to 20 spins.

    >>> value, error = log_partition_of(IsingModel([[0.0, 0.5], [0.5, 0.0]]))
    >>> round(value, 3), error
    (1.506, 0.0)
    """
    if _is_exact(model, n_chains, seed):
        return model.log_partition(), 0.0
    found = annealed(model, n_chains, seed, base, sweeps=0)
    return found.log_partition, found.error(found.shares)


def entropy_of(
    model: IsingModel, n_chains: int = 1000, seed: Seed = None, base: ArrayLike | None = None, hidden: int = 0
) -> tuple[float, float]:
    """The entropy and its standard error, which is 0 for up to 20 spins.

    The last ``hidden`` spins, which are not coupled to each other, are summed over: it is that of the others.
    """
    if hidden:
        value, error, _ = _seen_entropy(model, n_chains, seed, base, hidden)
        return value, error
    if _is_exact(model, n_chains, seed):
        return model.entropy(), 0.0
    found = annealed(model, n_chains, seed, base, SWEEPS)
    return found.entropy, found.error(found.to_entropy)


def _seen_entropy(
    model: IsingModel, n_chains: int, seed: Seed, base: ArrayLike | None, hidden: int
) -> tuple[float, float, Array]:
    r"""Of the spins that are seen, :math:`\ln Z - \langle \ln \sum_t e^A \rangle`, its error, and their means."""
    log_partition, error = log_partition_of(model, n_chains, seed, base)
    spins = sample(model, _SEEN_SAMPLES, seed=0 if seed is None else seed)
    spins[:, model.n_spins - hidden :] = 0
    logs = shown(model, spins).log_weights
    value = log_partition - float(logs.mean())
    noise = float(logs.std()) / math.sqrt(_SEEN_SAMPLES)
    return value, math.hypot(error, noise), spins[:, : model.n_spins - hidden].mean(axis=0)


def multi_information_of(
    model: IsingModel, n_chains: int = 1000, seed: Seed = None, base: ArrayLike | None = None, hidden: int = 0
) -> tuple[float, float]:
    """The multi-information and its standard error, which is 0 for up to 20 spins; see :func:`entropy_of`."""
    if hidden:
        value, error, means = _seen_entropy(model, n_chains, seed, base, hidden)
        return entropy_of_means(means) - value, error
    if _is_exact(model, n_chains, seed):
        return entropy_of_means(model.means()) - model.entropy(), 0.0
    found = annealed(model, n_chains, seed, base, SWEEPS)
    m = found.shares @ found.spins
    varies = np.abs(m) < 1
    m = m[varies]
    to_means = found.shares[:, None] * (found.spins[:, varies] - m)
    lowered = float((found.variance(to_means) / (1 - m**2)).sum()) / 2
    contributions = -to_means @ np.arctanh(m) - found.to_entropy
    return entropy_of_means(m) + lowered - found.entropy, found.error(contributions)


def entropy_of_means(means: Array) -> float:
    """The entropy of independent spins of these means.

    >>> round(entropy_of_means(np.zeros(3)), 4)  # 3 ln 2
    2.0794
    """
    p = np.clip((1 + means) / 2, 0.0, 1.0)
    return float((entr(p) + entr(1 - p)).sum())


class Pool(NamedTuple):
    """Chains, the first ``n_first`` from another start than the rest: their shares in Z, and their averages."""

    log_partition: float
    shares: Array
    exponents: Array
    spins: Array
    n_first: int

    @property
    def entropy(self) -> float:
        return self.log_partition - float(self.shares @ self.exponents)

    @property
    def to_entropy(self) -> Array:
        """What each chain contributes to it."""
        return self.shares * (1 + self.shares @ self.exponents - self.exponents)

    def variance(self, contributions: Array) -> Array:
        """Of the sum of what the chains contribute; they are independent, and alike if their start is."""
        parts = np.split(contributions, [self.n_first])
        return np.asarray(sum(len(part) * part.var(axis=0, ddof=1) for part in parts if len(part)))

    def error(self, contributions: Array) -> float:
        return math.sqrt(self.variance(contributions))


def _is_exact(model: IsingModel, n_chains: int, seed: Seed) -> bool:
    """Whether all states can be gone through; complains of wrong arguments, used or not."""
    count("n_chains", n_chains, 4)
    generator(seed)
    return model.n_spins <= MAX_EXACT


def annealed(
    model: IsingModel,
    n_chains: int,
    seed: Seed,
    base: ArrayLike | None,
    sweeps: int,
    beta_step: float = BETA_STEP,
) -> Pool:
    """Chains from uniform spins or, if there is a base, from whatever start is to be believed."""
    betas, rng = schedule(beta_step, 1, sweeps), generator(seed)
    if base is None:
        return _together([anneal(model, n_chains, betas, rng, averages=True)])
    half = n_chains // 2
    near = anneal(model, n_chains - half, betas, rng, base, averages=True)
    uniform = anneal(model, half, betas, rng, averages=True)
    both, alone = _together([near, uniform]), _together([uniform])
    errors = [chains.error(chains.shares) for chains in (both, alone)]
    if abs(both.log_partition - alone.log_partition) > APART * math.hypot(*errors):
        return max(both, alone, key=lambda chains: chains.log_partition)
    return both if errors[0] <= errors[1] else alone


def _together(samples: list[AnnealedSample]) -> Pool:
    """Chains of one start, or of two: of the second only those that are far from all of the first, along its base."""
    logs = [sample.log_weights + (sample.log_partition - logsumexp(sample.log_weights)) for sample in samples]
    if len(samples) > 1:
        first, second = (sample.spins @ np.asarray(samples[0].base) for sample in samples)
        centre, reach = (first.max() + first.min()) / 2, (0.5 + FAR) * np.ptp(first)
        logs[1] = np.where(np.abs(second - centre) > reach, logs[1], -np.inf)
    all_logs = np.concatenate(logs)
    log_partition = float(logsumexp(all_logs))
    averages = [sample.averages for sample in samples if sample.averages]
    return Pool(
        log_partition,
        np.exp(all_logs - log_partition),
        np.concatenate([part.exponents for part in averages]),
        np.concatenate([part.spins for part in averages]),
        len(samples[0].spins),
    )
