r"""How central is each spin (node, item) of a fitted model? With intervals from draws of couplings and fields.

.. math::

    \text{strength: } \sum_j |J_{ij}| , \qquad \text{expected influence: } \sum_j J_{ij} , \qquad
    \text{predictability: } 1 - \frac{\langle H(\tanh f_i) \rangle}{H(\langle \tanh f_i \rangle)} ,

with the local field :math:`f_i = h_i + \sum_j J_{ij} s_j`, averages over samples of the model, and the entropy H(m)
of a spin with mean m. Predictability is the share of a spin's entropy that the others explain: 0 without couplings, 1
if they decide the spin, and never below 0, because H is concave. Strength and influence are the centralities of
network analysis (D. Robinaugh, A. Millner and R. McNally, *Identifying highly influential nodes in the complicated
grief network*, 2016).

**Values are posterior means**, over the draws, and not those at the most probable couplings. A prior shrinks
couplings, and the mode forgets that they vary: both make its sum of sizes too small. For couplings of the prior's own
distribution the mean over draws is right. On ten data sets of 400 samples of 40 spins, with Gaussian couplings and a
strength of 2.87 on average, the mean over draws is off by -0.08 to 0.03, depending on the method, and the strength
at the mode by -0.48 to -0.59. It is the same with predictability: where the truth is 0.191, the mean is off by at
most 0.013 and the mode by -0.04 to -0.05. Influence is linear in the couplings, and both agree.

**A prior that is wrong makes the strength wrong.** Of a network with few edges a Gaussian prior lets every missing
edge vary, and the strength counts the sizes: twice the truth for 4 edges a spin, of 39. At the mode it is still 1.6
times the truth. Influence holds, for there noise of either sign cancels, and predictability nearly does.

**Every draw has samples of its own.** Chains start from samples of the fitted model, and take some Gibbs sweeps with
the couplings of each draw. With the same samples for all draws, intervals of 90% would hold 83% of the true
predictabilities in place of 89%: stronger couplings also make the other spins more correlated. What chains vary by is
part of the errors. Their shares of states that they cannot travel between stay those of the fitted model.

**Draws.** The draws of a posterior are best. For methods that give a standard error of every coupling and no more,
:func:`joint_draws` has errors that are correlated as in the curvature of the pseudo-likelihood, and
:func:`independent_draws` has independent ones, at any number of spins. Influence and strength do not notice the
difference. With a sparse prior :func:`mixture_draws` takes every coupling from its own mixture. The spread of the
predictability is a third too large for independent errors: noise in many couplings adds up to more local field than
the data allow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import entr

from .arguments import Seed, count, seed_sequence
from .conditionals import curvature
from .couplings._sparse import SparseCouplings
from .couplings.likelihood import LikelihoodCouplings, draws_of
from .exceptions import InputError, Setting
from .generator import sample
from .inference import CouplingAnswer
from .ising import IsingModel
from .sampling._gibbs import GROUP, Chains, Single, generator_states, in_threads
from .types import Array, Spins

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.9  # of intervals
_SAMPLES = 1000  # of the fitted model
_MOST_JOINT = 1000  # spins up to which errors are drawn together
_SWEEPS = 4  # from one draw to the next; 16 give the same intervals
_LEAST = 1e-6  # eigenvalue, next to 1, that counts where there is no prior
_NEGLIGIBLE = 1e-9  # eigenvalue of the variances, next to their largest

#: Couplings (n, n) and fields (n).
Draw = tuple[Array, Array]


class Node(NamedTuple):
    """One spin: each centrality with its standard error and the ends of its interval."""

    i: int
    name: str
    strength: float
    strength_error: float
    strength_low: float
    strength_high: float
    influence: float
    influence_error: float
    influence_low: float
    influence_high: float
    predictability: float
    predictability_error: float
    predictability_low: float
    predictability_high: float


@dataclass(frozen=True, eq=False)
class Centrality:
    """Centralities of n spins: posterior means (n), standard deviations (n) and intervals (n, 2) at ``level``."""

    names: tuple[str, ...]
    level: float
    strength: Array
    strength_error: Array
    strength_interval: Array
    influence: Array
    influence_error: Array
    influence_interval: Array
    predictability: Array
    predictability_error: Array
    predictability_interval: Array

    def rows(self) -> Iterator[Node]:
        """Every spin, in the order of the columns."""
        columns = [
            np.column_stack([value, error, interval])
            for value, error, interval in (
                (self.strength, self.strength_error, self.strength_interval),
                (self.influence, self.influence_error, self.influence_interval),
                (self.predictability, self.predictability_error, self.predictability_interval),
            )
        ]
        for i, numbers in enumerate(np.hstack(columns).tolist()):
            yield Node(i, self.names[i], *numbers)

    def to_frame(self) -> pd.DataFrame:
        """A pandas data frame with a row for every spin."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install 'bayesing[data]'.") from error
        return pd.DataFrame(list(self.rows()), columns=list(Node._fields))


def centrality(
    draws: Iterable[Draw], spins: Spins, names: Sequence[str], level: float = LEVEL, seed: Seed = None
) -> Centrality:
    """Centralities from draws of (couplings, fields), one at a time, and from samples of the fitted model.

    ``zip(*bm.posterior())`` are such draws. A thousand samples are enough: what predictability varies by from one
    thousand to another is a fifth of its error for 400 data. Ends of intervals are quantiles of the draws, such that
    one more draw lies inside with the probability ``level``; 100 draws are enough. None is a fixed seed. Cost: O(n^2)
    for each sample and draw.

    >>> import bayesing as bs
    >>> sim = bs.simulate(n_spins=20, n_samples=500, J=0.6, H=0.2, seed=0)
    >>> found = bs.BoltzmannMachine().fit(sim.spins).centrality(seed=0)
    >>> truth = np.abs(sim.couplings).sum(axis=0)
    >>> inside = (found.strength_interval[:, 0] < truth) & (truth < found.strength_interval[:, 1])
    >>> print(f"The intervals of {inside.sum()} strengths of 20 hold the truth.")
    The intervals of 18 strengths of 20 hold the truth.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1: found {level!r}.")
    names = tuple(names)
    n = len(names)
    if spins.ndim != 2 or spins.shape[1] != n or not len(spins):
        raise ValueError(f"Expected samples of {n} spins (columns), one for each name: found {spins.shape}.")
    followers = _Followers(spins, np.random.default_rng(seed_sequence(seed)))
    found: list[tuple[Array, Array, Array]] = []
    for J, h in draws:
        if J.shape != (n, n) or h.shape != (n,):
            raise ValueError(
                f"Expected draws of couplings ({n}, {n}) and fields ({n},): found {J.shape} and {h.shape}. "
                "Write zip(*draws) for arrays of all couplings and all fields."
            )
        found.append((np.abs(J).sum(axis=1), J.sum(axis=1), followers.predictability(J, h)))
    if not found:
        raise ValueError("Expected at least one draw of couplings and fields: found none.")
    strength, influence, explained = (np.array(values) for values in zip(*found, strict=True))
    return Centrality(
        names, level, *_summary(strength, level), *_summary(influence, level), *_summary(explained, level)
    )


def centrality_of(
    answer: CouplingAnswer, names: Sequence[str], n_draws: int, level: float = LEVEL, seed: Seed = None
) -> Centrality:
    """Centralities of couplings that a method found, from the best draws that it has."""
    n_draws = count("n_draws", n_draws, 1)
    if answer.n_hidden:
        raise InputError(
            "centrality is of direct couplings alone, and hidden units act beside them: found "
            f"{answer.n_hidden} of them. Take ",
            Setting("n_hidden", 0),
            ".",
        )
    model = IsingModel(answer.matrices[0], answer.couplings.fields)
    for_samples, for_draws, for_chains = seed_sequence(seed).spawn(3)
    spins = sample(model, _SAMPLES, seed=for_samples)
    return centrality(_draws(answer, model, spins, n_draws, for_draws), spins, names, level, for_chains)


def _draws(
    answer: CouplingAnswer, model: IsingModel, spins: Spins, n_draws: int, seed: np.random.SeedSequence
) -> Iterable[Draw]:
    """Of the posterior, where there is one; else by errors, or mixtures, of the couplings."""
    found, rng = answer.couplings, np.random.default_rng(seed)
    J, errors, h = *answer.matrices, model.fields
    if isinstance(found, SparseCouplings) and found.edges is not None:
        return mixture_draws(found, h, spins, answer.effective_samples, n_draws, rng)
    if isinstance(found, LikelihoodCouplings) and answer.prior == "gaussian":
        drawn = draws_of(found, answer.method.name, answer.prior, n_draws, seed, answer.worth)
        return zip(*drawn, strict=True)
    gamma = None if answer.strength is None else answer.strength.gamma
    if len(h) > _MOST_JOINT:
        means: Array = spins.mean(axis=0, dtype=np.float64)
        return independent_draws(J, errors, h, answer.field_errors, n_draws, rng, means)
    return joint_draws(J, errors, h, spins, answer.effective_samples, gamma, n_draws, rng)


def mixture_draws(
    found: SparseCouplings, fields: Array, spins: Spins, N: float, n_draws: int, rng: np.random.Generator
) -> Iterator[Draw]:
    """Draws of couplings under a sparse prior, each from its own mixture, many of them 0.

    Centred fields vary by themselves, as in :func:`joint_draws`.
    """
    assert found.edges is not None
    s, J = spins.astype(np.float64), found.matrix
    d, w = s.mean(axis=0), curvature(s @ J + fields).mean(axis=0)
    pairs = np.nonzero(np.triu(found.precisions, 1))  # constant spins have none
    for _ in range(n_draws):
        drawn = np.zeros_like(J)
        drawn[pairs] = found.edges.draw(rng)
        drawn += drawn.T.copy()
        yield drawn, fields + (J - drawn) @ d + rng.normal(size=len(d)) / np.sqrt(N * w + 1)


def predictability(couplings: Array, fields: Array, spins: Spins) -> Array:
    """The share of each spin's entropy that the others explain, by the definition, over the samples ``spins``.

    >>> J = np.array([[0.0, 0.5], [0.5, 0.0]])
    >>> states = np.array([[1, 1], [-1, 1], [1, -1], [-1, -1]], np.int8)
    >>> predictability(J, np.zeros(2), states).round(3).tolist()
    [0.16, 0.16]
    """
    return _explained(_sums(couplings @ spins.T.astype(np.float64) + fields[:, None]))


def independent_draws(
    couplings: Array,
    errors: Array,
    fields: Array,
    field_errors: Array | None,
    n_draws: int,
    rng: np.random.Generator,
    means: Array | None = None,
) -> Iterator[Draw]:
    r"""Draws with independent Gaussian errors of all couplings i < j, one at a time.

    With the ``means`` of the spins, fields make up for couplings: the data know their sum
    :math:`h_i + \sum_j J_{ij} d_j` far better than the field alone. What the field varies by together with the
    couplings is then part of ``field_errors``, the errors of the fields; None stands for nothing more.
    """
    d = np.zeros(len(fields)) if means is None else means
    own = 0.0 if field_errors is None else np.sqrt(np.maximum(field_errors**2 - errors**2 @ d**2, 0.0))
    for _ in range(count("n_draws", n_draws, 1)):
        noise = errors * np.triu(rng.normal(size=errors.shape), 1)
        noise += noise.T.copy()
        yield couplings + noise, fields - noise @ d + own * rng.normal(size=len(fields))


def joint_draws(
    couplings: Array,
    errors: Array,
    fields: Array,
    spins: Spins,
    N: float,
    gamma: float | None,
    n_draws: int,
    rng: np.random.Generator,
) -> Iterator[Draw]:
    r"""Draws whose errors are correlated as N data make them, one at a time, from samples ``spins`` of the model.

    With mean curvatures w of the conditionals and the covariance C of the spins, the Hessian of the pseudo-likelihood
    is diagonal in the eigenvectors V of :math:`w^{-1/2} C w^{-1/2}`, with eigenvalues c
    (:mod:`bayesing.couplings.pseudolikelihood`): couplings vary by

    .. math::

        w^{-1/2} V B V^T w^{-1/2} , \qquad \operatorname{Var} B_{kl} = (1 + \delta_{kl}) K_{kl} , \qquad
        K_{kl} \propto \frac{1}{1 + \frac{\gamma}{n} \bar w^2 N (c_k + c_l)/2} ,

    without the 1 if ``gamma`` is None, for methods without a prior. Only correlations are taken from this: every
    coupling varies by as much as ``errors`` say, with the variance of :math:`V B V^T`

    .. math:: \sum_{kl} (V_{ik}^2 V_{jl}^2 + V_{ik} V_{jk} V_{il} V_{jl}) K_{kl}

    as the unit. :math:`b_i = h_i + \sum_j J_{ij} d_j`, d the means of the spins, varies by itself, with the variance
    :math:`1/(N w_i + 1)`. Cost: O(n^3) for each draw.
    """
    s = spins.astype(np.float64)
    n, d = len(fields), s.mean(axis=0)
    w = np.maximum(curvature(s @ couplings + fields).mean(axis=0), 1e-12)
    root = np.sqrt(w)
    c, V = np.linalg.eigh(np.cov(s.T, bias=True).reshape(n, n) / np.outer(root, root))
    of_data = np.add.outer(np.maximum(c, _LEAST), np.maximum(c, _LEAST)) / 2
    K = 1 / of_data if gamma is None else 1 / (1 + gamma / n * w.mean() ** 2 * N * of_data)
    scale, deviations = errors / np.sqrt(_variances(V, K)), np.sqrt(K / 2)
    for _ in range(count("n_draws", n_draws, 1)):
        B = rng.normal(size=(n, n))
        noise = scale * (V @ (deviations * (B + B.T)) @ V.T)
        noise = (noise + noise.T) / 2  # equal up to rounding
        yield couplings + noise, fields - noise @ d + rng.normal(size=n) / np.sqrt(N * w + 1)


def _variances(V: Array, K: Array) -> Array:
    """Of the entries of V B V^T. K is smooth, so that few of its own eigenvectors make up for a sum over k and l."""
    P = V**2
    total: Array = P @ K @ P.T
    weights, vectors = np.linalg.eigh(K)
    for weight, x in zip(weights, vectors.T, strict=True):
        if abs(weight) > _NEGLIGIBLE * weights[-1]:
            total += weight * ((V * x) @ V.T) ** 2
    return total


class _Followers:
    """Chains, in groups, that follow the couplings from draw to draw; changed in place."""

    def __init__(self, spins: Spins, rng: np.random.Generator) -> None:
        A, n = spins.shape
        states = generator_states(A, rng)
        self.couplings: Single = np.zeros((n, n), np.float32)  # the same for all groups
        self.groups = []
        for start in range(0, A, GROUP):
            part = slice(start, start + GROUP)
            chains = Chains(self.couplings, np.zeros(n, np.float32), states[:, part])
            chains.spins[...] = spins[part].T
            self.groups.append(chains)

    def predictability(self, J: Array, h: Array) -> Array:
        """By samples of this draw's own model."""
        self.couplings[...] = J
        parts = in_threads([partial(_follow, chains, J, h) for chains in self.groups])
        return _explained(np.sum(parts, axis=0))


def _follow(chains: Chains, J: Array, h: Array) -> Array:
    """Some sweeps, and then sums over the chains."""
    chains.fields[...] = h
    beta = np.ones(chains.spins.shape[1], np.float32)
    for _ in range(_SWEEPS):
        chains.sweep(beta)
    return _sums(J @ chains.spins.astype(np.float64) + h[:, None])


def _sums(f: Array) -> Array:
    r"""Sums over local fields f (n, samples) of the entropy, of P(s = 1 | rest) and of P(s = -1 | rest).

    With the probability :math:`q = a/(1 + a)`, :math:`a = e^{-2|f|}`, of the less probable state the entropy is
    :math:`\ln(1 + a) + 2|f|q`, and nothing cancels at large fields.
    """
    size = np.abs(f)
    a = np.exp(-2 * size)
    q = a / (1 + a)
    entropy = np.log1p(a) + 2 * size * q
    up = np.where(f > 0, 1 - q, q)
    down = np.where(f > 0, q, 1 - q)
    return np.array([entropy.sum(axis=1), up.sum(axis=1), down.sum(axis=1)])


def _explained(sums: Array) -> Array:
    """1 - H(s | rest)/H(s); 0 for spins without entropy, which leave nothing to explain."""
    entropy, up, down = sums
    samples = up + down
    alone = entr(up / samples) + entr(down / samples)
    left = np.divide(entropy / samples, alone, out=np.ones_like(alone), where=alone > 0)
    return np.asarray(np.clip(1 - left, 0.0, 1.0))


def _summary(values: Array, level: float) -> tuple[Array, Array, Array]:
    """Mean, standard deviation and interval over the draws (rows)."""
    ends = [(1 - level) / 2, (1 + level) / 2]
    interval = np.quantile(values, ends, axis=0, method="weibull").T
    return values.mean(axis=0), values.std(axis=0, ddof=min(1, len(values) - 1)), interval
