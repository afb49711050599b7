"""Pictures. Every function takes an Axes and returns it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .empirical_bayes import EmpiricalBayes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def evidence_curve(ax: Axes, eb: EmpiricalBayes, J_max: float = 1.5, J_true: float | None = None) -> Axes:
    """Log evidence of a fitted estimator against J, at its H, relative to that of no couplings.

    The estimate of "spectral" lies above the maximum: it is corrected for what the evidence leaves out.
    """
    J = np.linspace(0, J_max, 200)
    curve = eb.evidence(eb.H_, J**2)
    scale = eb.moments_.n * eb.moments_.N  # per spin and sample it would be tiny: show the log-likelihood
    curve = scale * (curve - curve[0])
    ax.plot(J, curve, color="C0")
    peak = np.nanmax(curve)
    if peak > 0:
        ax.set_ylim(-0.5 * peak, 1.1 * peak)  # beyond the maximum the curve falls without end
    if eb.case_ in ("interior", None):
        ax.axvline(eb.J_, color="C0", linestyle="--", label=f"estimate, J = {eb.J_:.3f}")
    if J_true is not None:
        ax.axvline(J_true, color="0.4", linestyle=":", label=f"truth, J = {J_true:g}")
    ax.set_xlabel("J = sqrt(gamma)")
    ax.set_ylabel("log evidence relative to J = 0")
    if ax.get_legend_handles_labels()[0]:
        ax.legend()
    return ax


def recovery(ax: Axes, J_true: Sequence[float], estimates: Sequence[Sequence[float]]) -> Axes:
    """Estimates of J against the truth: every repeat, their mean, and the diagonal."""
    top = 1.05 * max(max(J_true), max(max(repeats) for repeats in estimates))
    ax.plot([0, top], [0, top], color="0.6", linewidth=1, label="truth")
    for J, repeats in zip(J_true, estimates, strict=True):
        ax.plot([J] * len(repeats), repeats, ".", color="C0", alpha=0.4)
    ax.plot(J_true, [np.mean(repeats) for repeats in estimates], "o-", color="C0", label="mean estimate")
    ax.set_xlim(-0.02 * top, top)
    ax.set_ylim(-0.02 * top, top)
    ax.set_xlabel("J of the model")
    ax.set_ylabel("J estimated")
    ax.legend()
    return ax
