r"""Which couplings differ between two groups?

The data of a group say of each coupling that it is b, with the precision q (:mod:`bayesing._told`). Of the difference
of two groups they then say

.. math:: d = b_a - b_b , \qquad q = \frac{1}{1/q_a + 1/q_b} ,

and a prior is learned from all pairs together, as for the couplings themselves (:mod:`bayesing.mixture`): a point
mass at 0, for couplings that are the same, and normals. Differences, their errors and signs come from
:func:`~bayesing.mixture.learn_grid`, the probability that a coupling differs from
:func:`~bayesing.mixture.learn_edges`.

**Few spins.** From few pairs the share of those that differ can hardly be learned: for two groups of 8 spins that do
not differ, differences are declared in 15% of the cases at an FDR of 5%. 40 more pairs are therefore added that
certainly do not differ, at the quantiles of the noise. It is then 0 to 1%. For many pairs they do not matter.

**Fields** are too few for a prior of their own: each has a z-score and a p-value.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy

from ._columns import common_columns
from ._estimator import on_empty_rows
from ._permutation import PermutationTest, permutation_test
from ._told import Group, strength_of
from .arguments import Seed, count
from .boltzmann_machine import BoltzmannMachine
from .choice import AUTO
from .differences import Comparison, FieldDifference, LeftOut, StrengthDifference
from .exceptions import ConstantSpinsError, InputError, LeftOutWarning
from .inference import CouplingAnswer, infer_couplings
from .mixture import MixturePosterior, grid, learn_edges, learn_grid
from .statistics import SpinStatistics
from .types import Array, Heard, Indices

_LEAST_SAMPLES = 4  # of a group: below, no strength of a prior can be inferred
_CERTAIN = 40  # pairs that do not differ, which are added
_LISTED = 5  # columns that a warning names, before dots


def compare(
    a: Any, b: Any, *, permutations: int = 0, seed: Seed = None, progress: Heard | None = None
) -> Comparison:
    """Which couplings differ between two groups, by how much, and with what probability? Differences are a minus b.

    Parameters
    ----------
    a, b : BoltzmannMachine or data
        Two fitted machines, or two data sets (arrays, data frames, SpinData, SpinStatistics), which are then fitted
        with ``prior="sparse"``. Columns are matched by their names, if both groups have names, else by position.
        Columns that only one group has, and those that are constant in one, are left out, and a warning says so.
    permutations : int
        Of a test of "no difference at all", for which samples are dealt to the groups anew; 0 for no test. It needs
        data, and runs in parallel under ``joblib.parallel_config(n_jobs=...)``.
    seed : int, Generator or None
        Of the permutations, and of fits that draw random numbers. None is a fixed choice.
    progress : callable or None
        Called with how much is done and of how much.

    Examples
    --------
    >>> import bayesing as bs
    >>> sim = bs.simulate(n_spins=12, n_samples=1500, J=0.9, seed=1)
    >>> other = sim.couplings.copy()
    >>> other[2, 7] = other[7, 2] = 0.8  # it was 0.2
    >>> changed = bs.sample(bs.IsingModel(other, sim.fields), 1500, seed=2)
    >>> for edge in bs.compare(sim.spins, changed).edges(fdr=0.05):
    ...     print(f"{edge.name_i}, {edge.name_j}: {edge.difference:+.2f} ± {edge.error:.2f}")
    x2, x7: -0.60 ± 0.07
    """
    found = _compared({"a": a, "b": b}, permutations, seed, progress)
    return found["a", "b"]


def compare_groups(
    groups: Mapping[str, Any], *, permutations: int = 0, seed: Seed = None, progress: Heard | None = None
) -> dict[tuple[str, str], Comparison]:
    """All pairs of two or more groups, each of them fitted once; by the labels of both. See :func:`compare`."""
    if len(groups) < 2:
        raise InputError(f"Expected at least 2 groups to compare: found {len(groups)}.")
    return _compared({str(label): group for label, group in groups.items()}, permutations, seed, progress)


def _compared(
    groups: dict[str, Any], permutations: int, seed: Seed, progress: Heard | None
) -> dict[tuple[str, str], Comparison]:
    permutations = count("permutations", permutations, 0)
    fitted, data, absent = _fitted(groups, permutations > 0, seed, progress)
    for label, given in data.items():
        for text in on_empty_rows(groups[label], given):
            warnings.warn(LeftOutWarning(f"Group {label}: {text}"), stacklevel=3)
    for warning in (warning for group in fitted for warning in group.warnings):
        warnings.warn(warning, stacklevel=3)
    answers = {}
    for a, b in itertools.combinations(fitted, 2):
        kept, constant = _varying(a, b, data)
        test = None
        if permutations:
            test = permutation_test(
                data[a.label].select(kept), data[b.label].select(kept), permutations, seed, progress
            )
        answers[a.label, b.label] = _comparison(a.select(kept), b.select(kept), (*absent, *constant), test)
    found = {left_out: None for answer in answers.values() for left_out in answer.left_out}
    if found:
        listed = ", ".join(f"{name} ({reason})" for name, reason in itertools.islice(found, _LISTED))
        dots = ", ..." if len(found) > _LISTED else ""
        warnings.warn(LeftOutWarning(f"Columns that are not compared: {listed}{dots}."), stacklevel=3)
    return answers


def _fitted(
    groups: dict[str, Any], with_data: bool, seed: Seed, progress: Heard | None
) -> tuple[list[Group], dict[str, SpinStatistics], tuple[LeftOut, ...]]:
    """Groups on the columns that all of them have, their data if these were given, and columns that some lack."""
    machines = {label: group for label, group in groups.items() if isinstance(group, BoltzmannMachine)}
    if machines and len(machines) < len(groups):
        raise InputError(
            "Expected groups that are all fitted machines, or all data: found both. Give the data of each group."
        )
    if machines and with_data:
        raise InputError(
            "Permutations need the data of the groups: found fitted machines, which do not keep them. Give the data."
        )
    data = {} if machines else {label: _data_of(label, group) for label, group in groups.items()}
    whole = [_group_of(label, machine) for label, machine in machines.items()]
    have: Any = data or {group.label: group for group in whole}
    columns, names, lacking = common_columns({label: (group.names, group.n) for label, group in have.items()})
    absent = tuple(LeftOut(name, f"not in {', '.join(labels)}") for name, labels in lacking.items())
    if machines:
        return [group.select(columns[group.label], names) for group in whole], {}, absent
    answers: dict[str, CouplingAnswer] = {}
    for done, label in enumerate(groups):
        if progress:
            progress(done, len(groups))
        data[label] = data[label].select(columns[label])
        answers[label] = _fit(label, data[label], seed)
    methods = {answer.method.name: answer.method for answer in answers.values()}
    if len(methods) > 1:  # which would be a difference of its own: all by the one that some groups need
        needed = next(method.name for method in methods.values() if method.infers_strength)
        for label, answer in answers.items():
            if answer.method.name != needed:
                answers[label] = _fit(label, data[label], seed, needed)
    return [Group.of(label, names, answer, known=False) for label, answer in answers.items()], data, absent


def _fit(label: str, data: SpinStatistics, seed: Seed, method: str = AUTO) -> CouplingAnswer:
    with _naming(label):
        return infer_couplings(data, method, "sparse", seed=seed)


def _group_of(label: str, machine: BoltzmannMachine) -> Group:
    names = tuple(machine.names()) if hasattr(machine, "feature_names_in_") else None
    with _naming(label):
        return Group.of(label, names, machine.answer_, known=True)


def _data_of(label: str, group: Any) -> SpinStatistics:
    with _naming(label):
        data = SpinStatistics.of(group, min_samples=1)
    if data.N < _LEAST_SAMPLES:
        raise InputError(
            f"Group {label} has too few samples: expected at least {_LEAST_SAMPLES}, found {data.N}. Leave the group "
            "out, or collect more."
        )
    if len(data.varying) < 2:
        raise ConstantSpinsError(
            f"Group {label} has too few columns that vary: expected at least 2, found {len(data.varying)} of "
            f"{data.n}."
        )
    return data


@contextmanager
def _naming(label: str) -> Iterator[None]:
    """Put the label of a group before an error."""
    try:
        yield
    except InputError as error:
        raise error.at(f"Group {label}") from error


def _varying(a: Group, b: Group, data: Mapping[str, SpinStatistics]) -> tuple[Indices, tuple[LeftOut, ...]]:
    """Columns that vary in both groups, and the others; ``data`` of the groups, if they are there, say why."""
    constant = {label: silent for label, silent in ((a.label, a.silent), (b.label, b.silent))}
    kept = np.setdiff1d(np.arange(a.n), np.concatenate([*constant.values()]))
    if len(kept) < 2:
        raise InputError(
            f"Expected at least 2 columns that vary in both {a.label} and {b.label}: found {len(kept)} of {a.n}."
        )
    left_out = []
    for i in np.setdiff1d(np.arange(a.n), kept).tolist():
        where = [label for label, silent in constant.items() if i in silent]
        empty = [label for label in where if label in data and not data[label].counts[i]]
        reasons = [
            f"{words} in {' and '.join(labels)}"
            for words, labels in (
                ("no value", empty),
                ("constant", [label for label in where if label not in empty]),
            )
            if labels
        ]
        left_out.append(LeftOut(a.names[i] if a.names else f"x{i}", ", ".join(reasons)))
    return kept, tuple(left_out)


def _comparison(
    a: Group, b: Group, left_out: tuple[LeftOut, ...], test: PermutationTest | None
) -> Comparison:
    """Of two groups with the same columns, all of which vary."""
    assert a.names
    n, upper = a.n, np.triu_indices(a.n, 1)
    q_a, q_b = a.q[upper], b.q[upper]
    known = (q_a > 0) & (q_b > 0)
    if not known.any():
        raise InputError(f"The data of {a.label} and {b.label} together say nothing of any coupling.")
    q_a, q_b, b_a, b_b = (x[known] for x in (q_a, q_b, a.b[upper], b.b[upper]))
    size, differs = learned(b_a - b_b, 1 / (1 / q_a + 1 / q_b))
    prior = math.sqrt(float(size.prior.weights @ size.prior.variances))

    def matrix(values: Array, elsewhere: float) -> Array:
        """Of pairs that are known; the diagonal is 0."""
        whole = np.zeros((n, n))
        whole[upper] = elsewhere
        whole[upper[0][known], upper[1][known]] = values
        return whole + whole.T

    return Comparison(
        groups=(a.label, b.label),
        names=a.names,
        left_out=left_out,
        couplings=(a.couplings, b.couplings),
        edge_probabilities=(a.probabilities, b.probabilities),
        differences=matrix(size.mean, 0.0),
        errors=matrix(np.sqrt(size.variance), prior),
        probabilities=matrix(differs.probabilities, 0.0),
        false_sign_rates=matrix(differs.false_signs_of(size.mean), 1.0),
        fields=_fields(a, b),
        strength=StrengthDifference(strength_of(b_a, q_a, n), strength_of(b_b, q_b, n)),
        test=test,
        checks=(a.check, b.check),
    )


def learned(d: Array, q: Array) -> tuple[MixturePosterior, MixturePosterior]:
    """How large differences are, and which are there, with priors learned from all of them and from some zeros."""
    precision = float(np.median(q))
    noise = scipy.special.ndtri((np.arange(_CERTAIN) + 0.5) / _CERTAIN) / math.sqrt(precision)
    all_d, all_q = np.append(d, noise), np.append(q, np.full(_CERTAIN, precision))
    return learn_grid(all_d, all_q, grid()).given(d, q), learn_edges(all_d, all_q).given(d, q)


def _fields(a: Group, b: Group) -> tuple[FieldDifference, ...]:
    assert a.names
    difference = a.fields - b.fields
    found = []
    for i, name in enumerate(a.names):
        error = z = p = None
        if a.field_errors is not None and b.field_errors is not None:
            error = math.hypot(float(a.field_errors[i]), float(b.field_errors[i]))
            z = float(difference[i]) / error
            p = math.erfc(abs(z) / math.sqrt(2))
        found.append(
            FieldDifference(
                i, name, float(a.fields[i]), float(b.fields[i]), float(difference[i]), error, z, p
            )
        )
    return tuple(found)
