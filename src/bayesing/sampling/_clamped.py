r"""Kernels for rows of which some cells are missing: sums over what is missing, given what is there.

The missing cells of a row are spins of a small model of their own. What is there adds to their fields,
:math:`f_i = h_i + \sum_{j \text{ there}} J_{ij} s_j`, and

.. math::

    \sum_{\text{missing}} e^{\sum h s + \sum J s s} = e^A Z , \qquad
    Z = \sum_{s} \exp\Big(\sum_i f_i s_i + \sum_{i<j} J_{ij} s_i s_j\Big) ,

with A the exponent of what is there, and both sums in Z over the missing cells alone. Few of them are gone through,
one flip after the other (a Gray code). For many, Z and the means are from annealed importance sampling: chains start
as independent spins in the fields f, and the couplings between missing cells are switched on step by step.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..compiled import compiled
from ..types import Integers


def cells_of(spins: NDArray[np.generic]) -> tuple[Integers, Integers]:
    """Columns of the missing cells, row by row, and where each row starts.

    >>> starts, cells = cells_of(np.array([[0, 1, 0], [1, 1, 1], [1, 0, 1]]))
    >>> starts.tolist(), cells.tolist()
    ([0, 2, 2, 3], [0, 2, 1])
    """
    rows, cells = np.nonzero(spins == 0)
    starts = np.searchsorted(rows, np.arange(len(spins) + 1))
    return starts.astype(np.int64), cells.astype(np.int64)


@compiled(fastmath=True)
def sweep(spins, couplings, fields, starts, cells, uniforms):  # type: ignore[no-untyped-def]
    """Draw the missing ``cells`` of every row in turn, given all others; changes ``spins`` in place."""
    for row in range(len(starts) - 1):
        s = spins[row]
        for place in range(starts[row], starts[row + 1]):
            i = cells[place]
            weights, field = couplings[i], fields[i]
            for j in range(s.size):
                field += weights[j] * s[j]
            s[i] = 1.0 if uniforms[place] < math.tanh(field) else -1.0


@compiled()
def _small_model(row, couplings, fields, cells):  # type: ignore[no-untyped-def]
    """The exponent of what is there, and fields and couplings of what is missing (0 in ``row``)."""
    local = couplings @ row
    shown = 0.0
    for i in range(row.size):
        shown += row[i] * (fields[i] + local[i] / 2)
    m = len(cells)
    f, J = np.empty(m), np.empty((m, m))
    for a in range(m):
        f[a] = fields[cells[a]] + local[cells[a]]
        for b in range(m):
            J[a, b] = couplings[cells[a], cells[b]]
    return shown, f, J


@compiled()
def go_through(row, couplings, fields, cells, up):  # type: ignore[no-untyped-def]
    """ln of the sum over all states of the missing ``cells``; ``up`` becomes the probability of +1 of each."""
    shown, f, J = _small_model(row, couplings, fields, cells)
    m = len(cells)
    s = -np.ones(m)
    exponent = 0.0
    for a in range(m):
        exponent -= f[a]
        for b in range(a):
            exponent += J[a, b]
    largest, total = exponent, 1.0
    sums = np.zeros(m)
    for count in range(1, 2**m):
        flip = 0
        while (count >> flip) & 1 == 0:
            flip += 1
        field = f[flip]
        for b in range(m):
            field += J[flip, b] * s[b]
        s[flip] = -s[flip]
        exponent += 2 * s[flip] * field
        if exponent > largest:
            shrink = math.exp(largest - exponent)
            total *= shrink
            sums *= shrink
            largest = exponent
        weight = math.exp(exponent - largest)
        total += weight
        for b in range(m):
            if s[b] > 0:
                sums[b] += weight
    for b in range(m):
        up[b] = sums[b] / total
    return shown + largest + math.log(total)


@compiled()
def go_through_rows(spins, couplings, fields, starts, cells, most, up):  # type: ignore[no-untyped-def]
    """The same of every row with at most so many missing cells; others have 0."""
    found = np.zeros(len(spins))
    for k in range(len(spins)):
        if starts[k + 1] - starts[k] <= most:
            part = cells[starts[k] : starts[k + 1]]
            row = spins[k].astype(np.float64)
            found[k] = go_through(row, couplings, fields, part, up[starts[k] : starts[k + 1]])
    return found


@compiled()
def anneal(row, couplings, fields, cells, betas, uniforms, up):  # type: ignore[no-untyped-def]
    """The same by chains, ``uniforms`` (chains, betas, cells) in [0, 1), and the variance of the logarithm."""
    shown, f, J = _small_model(row, couplings, fields, cells)
    chains, steps, m = uniforms.shape
    log_weights, seen = np.zeros(chains), np.zeros((chains, m))
    s = np.empty(m)
    for c in range(chains):
        for a in range(m):
            s[a] = 1.0 if 2 * uniforms[c, 0, a] - 1 < math.tanh(f[a]) else -1.0
        for t in range(1, steps):
            pairs = 0.0
            for a in range(m):
                for b in range(a):
                    pairs += J[a, b] * s[a] * s[b]
            log_weights[c] += (betas[t] - betas[t - 1]) * pairs
            for a in range(m):
                field = 0.0
                for b in range(m):
                    field += J[a, b] * s[b]
                mean = math.tanh(f[a] + betas[t] * field)
                s[a] = 1.0 if 2 * uniforms[c, t, a] - 1 < mean else -1.0
                if t == steps - 1:
                    seen[c, a] = (1 + mean) / 2
    weights = np.exp(log_weights - log_weights.max())
    total = weights.sum()
    for a in range(m):
        up[a] = np.sum(weights * seen[:, a]) / total
    variance = np.sum((weights / total - 1 / chains) ** 2)
    free = 0.0
    for a in range(m):
        free += abs(f[a]) + math.log1p(math.exp(-2 * abs(f[a])))
    return shown + free + log_weights.max() + math.log(total / chains), variance
