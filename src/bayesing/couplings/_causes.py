r"""Couplings beside common causes: the true likelihood of a Boltzmann machine with hidden units.

.. math:: P(s, t) \propto \exp\Big(\sum_i h_i s_i + \sum_{i<j} J_{ij} s_i s_j + \sum_a c_a t_a
    + \sum_{ia} W_{ia} s_i t_a\Big) ,

where the hidden units t are summed over (:mod:`bayesing.learning.causes`). How many there are is asked for, or told
by the evidence (:mod:`bayesing.learning.causes_search`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arguments import seed_sequence
from ..conditionals import fields_of
from ..exceptions import BoundWarning, InputError, NotConvergedWarning, Setting
from ..ising import IsingModel
from ..statistics import SpinStatistics
from ..threads import Run, workers
from ..types import Array
from ._method import AUTO_HIDDEN, CouplingOptions, Couplings, DenseCouplings, Strength, embed, field_errors

if TYPE_CHECKING:
    from ..learning.causes import Causes
    from ..learning.causes_evidence import Difference
    from ..learning.certificate import Certificate

MOST_UNITS = 12  # whose states are gone through, to start from a restricted machine
_MOST_AUTO = 8  # units that the evidence is asked about
LEAST_GAIN = (
    10.0  # nats; those of pairwise data are from -12 to -2, and 9 was seen on bursts for a second unit
)


class Hidden(NamedTuple):
    """Hidden units: couplings to the spins (n, k), fields (k), standard errors of both, and scales (k)."""

    couplings: Array
    errors: Array
    fields: Array
    field_errors: Array
    gamma: Array

    @classmethod
    def none(cls, n: int) -> Hidden:
        """No unit."""
        return cls(np.empty((n, 0)), np.empty((n, 0)), *np.empty((3, 0)))


@dataclass(frozen=True, eq=False, kw_only=True)
class CauseCouplings(DenseCouplings):
    """Couplings and fields at the mode, and the common causes beside them.

    ``gains`` are those of the evidence by the first unit, the second, and so on, if it was asked.
    """

    hidden: Hidden
    certificate: Certificate
    gains: tuple[Difference, ...] = ()


def model_of(found: Couplings) -> IsingModel:
    """The model, with hidden units as its last spins, if there are any."""
    J = found.rows()[0]
    if not isinstance(found, CauseCouplings):
        return IsingModel(J, found.fields)
    W = found.hidden.couplings
    k = W.shape[1]
    joint = np.block([[J, W], [W.T, np.zeros((k, k))]])
    return IsingModel(joint, np.append(found.fields, found.hidden.fields))


def check_units(n_hidden: Any, stats: SpinStatistics) -> None:
    """An error where data have fewer spins than there would be hidden units."""
    if n_hidden != AUTO_HIDDEN and n_hidden > len(stats.varying):
        raise InputError(
            f"expected at most as many common causes as spins that vary, {len(stats.varying)}: found ",
            Setting("n_hidden", n_hidden),
            ".",
        )


def fit_causes(
    stats: SpinStatistics, options: CouplingOptions
) -> tuple[CauseCouplings | None, tuple[Difference, ...]]:
    """Couplings and so many common causes; None if the evidence tells that there is none, and what it gained."""
    from ..learning.causes_evidence import (
        MOST_PARAMETERS,  # where they are needed, for kernels take time to load
    )
    from ..learning.causes_search import Task, as_many_as_gain, so_many

    check_units(options.n_hidden, stats)
    kept, progress = stats.kept, options.progress
    task = Task(kept, options.strength.gamma if options.strength else None, stats.n)
    seed, last = seed_sequence(options.seed).spawn(2)

    def heard(done: float, of: float) -> None:
        if progress:
            progress(done, of)

    with workers() as run:
        if options.n_hidden != AUTO_HIDDEN:
            found = so_many(task, int(options.n_hidden), seed, run, heard)
            return _result(stats, found, (), last, run), ()
        most = min(_MOST_AUTO, kept.n)
        if kept.n * (kept.n + 1) // 2 + most * (kept.n + 1) > MOST_PARAMETERS:
            raise InputError(
                Setting("n_hidden", AUTO_HIDDEN),
                f" forms a matrix of all parameters, up to about 90 spins: found {kept.n} that vary. Say how many "
                "common causes there are, such as ",
                Setting("n_hidden", 1),
                ".",
            )
        found, gains = as_many_as_gain(task, most, seed, run, heard)
        if not found.data.hidden:
            return None, tuple(gains)
        return _result(stats, found, tuple(gains), last, run), tuple(gains)


def _result(
    stats: SpinStatistics,
    found: Causes,
    gains: tuple[Difference, ...],
    seed: np.random.SeedSequence,
    run: Run,
) -> CauseCouplings:
    """All of it for all spins, with errors and a certificate."""
    from ..learning.certificate import certify
    from ..learning.errors import posterior_errors
    from ..learning.posterior import information

    n, varying, mode, data = stats.n, stats.varying, found.mode, found.data
    m, k = len(varying), data.hidden
    certificate, free = certify(data, mode.J, mode.h, -found.lam * mode.J, seed, run, stats.kept.active)
    errors, of_fields = posterior_errors(data, free, mode.metric, run)
    order = np.argsort(-(mode.J[:m, m:] ** 2 * (1 - data.d[:m, None] ** 2)).sum(axis=0))
    signs = np.where(mode.J[:m, m:].sum(axis=0) < 0, -1.0, 1.0)
    W, of_weights = np.zeros((n, k)), np.tile(np.sqrt(found.units / n), (n, 1))
    W[varying], of_weights[varying] = mode.J[:m, m:] * signs, errors[:m, m:]
    hidden = Hidden(
        W[:, order],
        of_weights[:, order],
        (signs * mode.h[m:])[order],
        of_fields[m:][order],
        found.units[order],
    )
    unknown, fields = math.sqrt(mode.gamma / n), fields_of(stats.sums, stats.counts)
    fields[varying] = mode.h[:m]
    error = mode.gamma / math.sqrt(information(mode.metric.at(n / mode.gamma)))
    return CauseCouplings(
        matrix=embed(mode.J[:m, :m].copy(), varying, n),
        errors=embed(errors[:m, :m].copy(), varying, n, unknown),
        fields=fields,
        penalty=n / mode.gamma,
        warnings=_warnings(certificate, mode.settled, gains, k),
        field_errors=field_errors(stats, of_fields[:m], unknown),
        strength=Strength(mode.gamma, error),
        hidden=hidden,
        certificate=certificate,
        gains=gains,
    )


def _warnings(
    certificate: Certificate, settled: bool, gains: tuple[Difference, ...], k: int
) -> tuple[Warning, ...]:
    found: list[Warning] = []
    if not (certificate.passed and settled):
        text = f"{certificate.sentence} The search has not arrived: try another seed, "
        fewer = (Setting("random_state", 1), ", or fewer common causes.")
        found.append(NotConvergedWarning(text, *fewer))
    if gains and k == _MOST_AUTO:
        text = (
            f"The evidence still rises with the number of common causes, by {gains[-1].value:.0f} nats at the last "
            f"of {k}, and more were not tried. Real data often are so: it need not mean that there are as many."
        )
        found.append(BoundWarning(text))
    return tuple(found)
