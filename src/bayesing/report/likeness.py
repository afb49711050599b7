r"""The fitted model against the data that it was fitted to: means, pairs, the number of active variables, nats.

.. math:: K = \sum_i \frac{1 + S_i}{2}

is the number of active variables of a sample. Its distribution is not fitted, so that it shows what pairwise models
miss, such as bursts. Without couplings K is a sum of independent variables with the means of the data, whose
distribution is found exactly, one variable at a time.

Missing cells are drawn from the fitted model first, given what their row shows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..loadings import whole_rows
from ..statistics import SpinStatistics
from ..types import Array, Spins
from . import budget
from .couplings import InferredCouplings

LEAST_SAMPLES = 4000  # of the model: a share of 1 in 100 is known to a sixth
_MOST_SAMPLES = 20_000  # of the model, where there are so many data
_CHAINS = 1000  # for the multi-information
_SEED = 3  # beside that of the report


@dataclass(frozen=True, eq=False)
class Nats:
    """A quantity in nats a sample, with its standard error."""

    value: float
    error: float


@dataclass(frozen=True, eq=False)
class Likeness:
    """What data and samples of the fitted model have in common.

    ``means`` and ``pairs`` (connected correlations) are columns, of the data and of the model. ``active`` has the
    shares of the samples with K = 0, 1, ..., n active variables: in the data, in the model and without couplings.
    """

    n_data: int
    n_model: int
    means: Array  # (n, 2)
    pairs: Array  # (n (n - 1) / 2, 2)
    active: Array  # (3, n + 1)
    multi_information: Nats
    drawn: bool  # whether cells of the data were missing


def likeness_of(
    data: SpinStatistics, found: InferredCouplings | None, seed: int, hard: bool
) -> tuple[Likeness | None, str]:
    """Compare, or say why not; models near the spin glass are ``hard`` to sample."""
    if found is None:
        return None, "Model and data were not compared, for there is no model."
    n, machine = data.n, found.machine
    samples = min(max(LEAST_SAMPLES, data.N), _MOST_SAMPLES)
    if not budget.can_predict(n, samples, hard):
        return (
            None,
            f"Model and data were not compared in pictures: to sample {n:,} spins would take minutes.",
        )
    of_data = whole_rows(machine.answer_, data, seed).spins()
    of_model = machine.sample(samples, np.random.default_rng([seed, _SEED]))
    upper = np.triu_indices(n, 1)
    means = np.stack([data.magnetisations, of_model.mean(axis=0)], axis=1)
    pairs = np.stack([_connected(spins)[upper] for spins in (of_data, of_model)], axis=1)
    active = [_shares(of_data), _shares(of_model), independent_shares(data.magnetisations)]
    nats = Nats(*machine.multi_information(_CHAINS, seed))
    worth = round(machine.answer_.worth * data.N)  # of rows that remember
    return Likeness(worth, samples, means, pairs, np.array(active), nats, bool(data.missing)), ""


def independent_shares(means: Array) -> Array:
    """The distribution of the number of active ones of independent spins, exactly.

    >>> independent_shares(np.array([0.0, 0.0, 1.0])).tolist()
    [0.0, 0.25, 0.5, 0.25]
    """
    shares = np.ones(1)
    for p in ((1 + means) / 2).tolist():
        shares = np.append(shares * (1 - p), 0.0) + np.append(0.0, shares * p)
    return shares


def _shares(spins: Spins) -> Array:
    N, n = spins.shape
    return np.asarray(np.bincount((spins > 0).sum(axis=1), minlength=n + 1) / N)


def _connected(spins: Spins) -> Array:
    x = spins.astype(np.float32)
    m = spins.mean(axis=0, dtype=np.float64)
    return np.asarray((x.T @ x).astype(np.float64) / len(x) - np.outer(m, m))
