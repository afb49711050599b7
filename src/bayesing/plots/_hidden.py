"""How many hidden units there are, and which variables each of them is coupled to."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ..restricted_boltzmann_machine import RestrictedBoltzmannMachine
from ._style import name_of, sign_colours, text_colour

_SMALL = 10.0  # nats below the best: decisive; shown linearly up to here, by the logarithm beyond
_ERRORS = 1.645  # standard errors of a bar: 90% intervals


def hidden_evidence(ax: Axes, rbm: RestrictedBoltzmannMachine) -> Axes:
    """Log evidence against the number of hidden units, relative to the largest; a circle marks the number chosen.

    For a machine with ``n_hidden="auto"``; others have one evidence or none, which is a ValueError.
    """
    evidences = rbm.evidence_by_n_hidden_
    if len(evidences) < 2:
        raise ValueError(
            f'hidden_evidence needs evidences of several numbers of units, as of n_hidden="auto": '
            f"found {len(evidences)}."
        )
    most = max(evidences.values())
    sizes, below = list(evidences), [most - evidence for evidence in evidences.values()]
    ax.plot(sizes, below, "o-", color=text_colour(), ms=4, lw=1)
    chosen = len(rbm.hidden_fields_)
    ax.plot(chosen, most - evidences[chosen], "o", ms=11, mfc="none", color=sign_colours(ax)[1])
    ax.set_yscale("symlog", linthresh=_SMALL)
    ax.set_ylim(max(2 * max(below), _SMALL), -2.0)  # the best on top
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("hidden units")
    ax.set_ylabel("log evidence below the best (nats)")
    ax.set_title(f"{chosen} hidden {'unit' if chosen == 1 else 'units'}", loc="left")
    return ax


def hidden_loadings(ax: Axes, rbm: RestrictedBoltzmannMachine, unit: int = 0, k: int = 10) -> Axes:
    """The k strongest weights of a hidden unit, the strongest on top, with 90% intervals."""
    loadings = rbm.loadings(unit, k)
    negative, positive = sign_colours(ax)
    places = range(len(loadings))
    ax.barh(
        places,
        [loading.weight for loading in loadings],
        xerr=[_ERRORS * loading.error for loading in loadings],
        color=[positive if loading.weight > 0 else negative for loading in loadings],
        ecolor=text_colour(),
        error_kw={"lw": 1},
    )
    ax.axvline(0, color=text_colour(), lw=0.8)
    ax.set_yticks(places, [name_of(loading.name) for loading in loadings])
    ax.set_ylim(len(loadings) - 0.4, -0.6)
    ax.set_xlabel("weight")
    strength = math.sqrt(float(rbm.gamma_[unit]))
    ax.set_title(rf"hidden unit {unit}, $\sqrt{{\gamma}}$ = {strength:.2f}", loc="left")
    return ax
