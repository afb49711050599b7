"""What is seen in each picture, for those who do not see it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..edges import Coupling
from ..order import Order
from ..plots._spectrum import largest_of_noise
from ..prediction import Comparison
from ..replica import NEAR
from ..series import Memory
from ..spectrum import Spectrum
from ..types import Array
from .analysis import Analysis
from .format import ceiling, counted, listed, number, plus_minus, share
from .likeness import Likeness

_MOST_NAMED = 3  # couplings


def surface_seen(a: Analysis) -> str:
    """The map of the evidence over J and H."""
    eb = a.eb
    seen = (
        f"The estimate, J = {number(eb.J_)} and H = {number(eb.H_, sign=True)}, is marked."
        if math.isfinite(eb.J_)
        else "It rises without end towards strong couplings: an arrow at the edge says that there is no maximum."
    )
    return f"A map of the log evidence over J and H. {seen}"


def curve_seen(a: Analysis, J: Array, curve: Array) -> str:
    """The curve of the evidence against J."""
    top = int(np.nanargmax(curve))
    rise = (
        f"it rises from 0 at J = 0 to {number(float(curve[top]))} at J = {number(float(J[top]), 2)} and falls beyond"
        if top
        else "it falls from 0 at J = 0"
    )
    return (
        f"Curve of the log evidence against J from 0 to {number(float(J[-1]), 2)}: {rise}. A dashed line marks the "
        f"estimate, J = {number(a.eb.J_)}."
    )


def phases_seen(a: Analysis) -> str:
    """Where the point lies."""
    eb, distance = a.eb, a.eb.diagnosis_.distance
    J, H = (a.interval.J_corrected, a.interval.H_corrected) if a.interval else (eb.J_, eb.H_)
    side = (
        "in the paramagnet" if distance > NEAR else "near the line" if distance > 0 else "in the spin glass"
    )
    place = (
        f"The data set is a point at J = {number(J, 2)} and H = {number(H, 2, True)}, {side}."
        if math.isfinite(J)
        else "An arrow at the edge stands for the data set, whose J has no bound."
    )
    return (
        "Plane of coupling strength J and field H. The line of de Almeida and Thouless starts at J = 1, H = 0 and "
        f"separates the paramagnet, to its left, from the spin glass. {place}"
    )


def spectrum_seen(spectrum: Spectrum) -> str:
    """How many eigenvalues stand out, and how far."""
    n, nu, d = round(spectrum.n), spectrum.nu, spectrum.d
    edge = largest_of_noise(n, nu)
    beyond, largest = int(np.count_nonzero(d > edge)), number(float(d.max()))
    outside = (
        f"{counted(beyond, 'eigenvalue')} {'lies' if beyond == 1 else 'lie'} beyond it, the largest at {largest}"
        if beyond
        else f"none lies beyond it, the largest is {largest}"
    )
    zeros = f" {counted(n - int(nu), 'eigenvalue')} are 0." if nu < n else ""
    return (
        f"Histogram of the eigenvalues of the correlations of {counted(n, 'spin')}, with the curve that independent "
        f"spins would give. Noise reaches up to {number(edge)}: {outside}.{zeros}"
    )


def matrix_seen(matrix: Array) -> str:
    """Range, signs and zeros of the couplings."""
    n = len(matrix)
    J = matrix[np.triu_indices(n, 1)]
    zero = np.count_nonzero(J == 0) / len(J)
    none = f", {100 * zero:.0f}% exactly 0" if zero else ""
    return (
        f"Matrix of the couplings of {counted(n, 'spin')}, ordered so that spins that belong together are side by "
        f"side. Couplings range from {number(float(J.min()), 2, True)} to {number(float(J.max()), 2, True)}; "
        f"{100 * np.count_nonzero(J > 0) / len(J):.0f}% are positive{none}."
    )


def network_seen(couplings: Sequence[Coupling], loadings: Sequence[Coupling] = ()) -> str:
    """How many lines of each sign, and the strongest by name; and common causes with what they load on."""
    edges = [c for c in couplings if c.J]
    causes = _causes_seen([c for c in loadings if c.J])
    if not edges:
        return causes
    spins = {spin for c in edges for spin in (c.i, c.j)}
    first = "; ".join(f"{c.name_i} and {c.name_j}, {number(c.J, 2, True)}" for c in edges[:_MOST_NAMED])
    positive = sum(c.J > 0 for c in edges)
    signs = {"positive, in red": positive, "negative, in blue": len(edges) - positive}
    told = " and ".join(f"{count} {sign}" for sign, count in signs.items() if count)
    return (
        f"Network of the {counted(len(edges), 'strongest coupling')}, lines between the names of "
        f"{counted(len(spins), 'variable')}, with coupled ones near each other: {told}. "
        f"The strongest {'is' if len(edges) == 1 else 'are'} {first}." + f" {causes}" * bool(causes)
    )


def _causes_seen(loadings: Sequence[Coupling]) -> str:
    """Each square, and the names that it has lines to."""
    names: dict[str, list[str]] = {}
    for c in loadings:
        names.setdefault(c.name_j, []).append(c.name_i)
    if not names:
        return ""
    each = "; ".join(f"{cause}, with lines to {listed(found)}" for cause, found in names.items())
    stand = "A square stands" if len(names) == 1 else "Squares stand"
    return f"{stand} for {counted(len(names), 'common cause')}: {each}."


def active_seen(found: Likeness) -> str:
    """The mean number of active variables, and where most of the samples lie, of all three."""
    K = np.arange(found.active.shape[1])
    each = []
    for name, shares in zip(("data", "model", "independent variables"), found.active, strict=True):
        mean = float(shares @ K)
        deviation = math.sqrt(float(shares @ (K - mean) ** 2))
        each.append(f"{number(mean)} ± {number(deviation, 2)} in the {name}")
    return (
        "Distribution of the number of active variables, on a logarithmic scale. Mean and standard deviation are "
        f"{listed(each)}."
    )


def moments_seen(moments: Array, what: str) -> str:
    """How far the moments of the model are from those of the data."""
    low, high = float(moments[:, 0].min()), float(moments[:, 0].max())
    off = math.sqrt(float(np.mean((moments[:, 1] - moments[:, 0]) ** 2)))
    return (
        f"Scatter of {counted(len(moments), what)} of the model against those of the data, from "
        f"{number(low, 2, True)} to {number(high, 2, True)}, along the diagonal: they differ by {number(off, 2)} "
        "(root mean square)."
    )


def prediction_seen(found: Comparison) -> str:
    """How the points scatter around the diagonal."""
    kind = {2: "pair", 3: "triplet"}[found.order]
    slope = f", slope {plus_minus(found.slope, found.slope_error)}" if math.isfinite(found.slope) else ""
    correlation = (
        f"correlation {share(found.correlation)}{ceiling(found)}{slope}"
        if math.isfinite(found.correlation)
        else "predictions do not vary"
    )
    return (
        f"Scatter of {counted(len(found.observed), f'{kind} correlation')} as observed in held-out samples, from "
        f"{number(float(found.observed.min()), 2, True)} to {number(float(found.observed.max()), 2, True)}, against "
        f"those of the model, along the diagonal: {correlation}."
    )


def memory_seen(memory: Memory) -> str:
    """How the autocorrelation falls."""
    until = f"below 0.1 after {counted(memory.lag, 'row')}" if memory.forgets else "not below 0.1"
    return (
        f"Autocorrelation of the rows: {number(float(memory.rho[1]), 2)} for successive ones, and {until}. Rows are "
        f"worth {number(memory.effective)} independent ones."
    )


def time_seen(order: Order) -> str:
    """From where to where the mean goes."""
    assert order.means is not None
    mean = order.means.mean(axis=1)
    return (
        f"Mean spin over the rows, in {counted(len(mean), 'block')}: from {number(float(mean[0]), 2, True)} at the "
        f"beginning to {number(float(mean[-1]), 2, True)} at the end, not below {number(float(mean.min()), 2, True)} "
        f"and not above {number(float(mean.max()), 2, True)}."
    )
