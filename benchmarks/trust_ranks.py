r"""Rank histograms: where does the truth lie among what a posterior says of it?

If truths are drawn from the prior and data from the truths, the rank of the truth among L draws of the posterior is
uniform over 0 to L, and so is its quantile in the posterior (S. Talts et al., *Validating Bayesian inference
algorithms with simulation-based calibration*, arXiv:1804.06788). A histogram that is high at both ends says that
errors are too small, one that is high in the middle that they are too large, and a slope that estimates are biased.

One data set has many couplings, whose ranks are not quite independent. If the variance of the counts of a bin from
one data set to another is D times that of independent ranks, M ranks are worth M/D independent ones (J. N. K. Rao and
A. J. Scott, 1981). Bands and the chi-square test allow for this, with the mean of D over the bins, and not below 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr
from scipy.stats import binom, chi2

from front import Row, grouped

BINS = 20  # of a histogram, and so 19 draws of a posterior
LEVEL = 0.99  # of the band
CLEAR = 0.01  # p-value below which a histogram is not flat
FEW = 5  # data sets, with less of which their scatter is not known


def quantiles(truth: np.ndarray, mean: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Where truths lie in normal posteriors, from 0 to 1."""
    return ndtr((truth - mean) / error)


def ranks(truth: np.ndarray, draws: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The share of the draws (along the first axis) that are below the truth; equal ones fall on either side."""
    below, equal = (draws < truth).sum(axis=0), (draws == truth).sum(axis=0)
    return (below + rng.integers(0, equal + 1) + 0.5) / (len(draws) + 1)


def along(estimates: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Quantiles in the direction of the sign of an estimate, above one half for truths that are further from 0.

    The sign is a function of the data, so that quantiles of a true posterior stay uniform.
    """
    return np.where(estimates < 0, 1 - at, at)


def row_of(case: str, quantity: str, seed: int, at: np.ndarray, edges: Sequence[float] | None = None) -> Row:
    """How many quantiles of a data set are in each bin."""
    ends = np.linspace(0, 1, BINS + 1) if edges is None else np.asarray(edges)
    counts = np.histogram(np.clip(at, 1e-12, 1 - 1e-12), ends)[0]
    assert counts.sum() == np.size(at), "a quantile is not a number"
    bins = {f"c{k}": int(count) for k, count in enumerate(counts)}
    return {"case": case, "quantity": quantity, "seed": seed, **bins}


class Histogram(NamedTuple):
    """Counts (data sets x bins), and the share of all that a bin would have."""

    counts: np.ndarray
    shares: np.ndarray

    @property
    def total(self) -> np.ndarray:
        """Counts of all data sets."""
        return np.asarray(self.counts.sum(axis=0))

    @property
    def number(self) -> int:
        """Of ranks."""
        return int(self.counts.sum())

    @property
    def effect(self) -> float:
        """D, how much more counts vary than those of independent ranks."""
        sizes = self.counts.sum(axis=1, keepdims=True)
        if len(self.counts) < FEW or sizes.max() == 1:
            return 1.0
        p = self.total / self.number
        residuals = self.counts - sizes * p
        variances = (residuals**2).sum(axis=0) * len(sizes) / (len(sizes) - 1)
        expected = self.number * p * (1 - p)
        return max(1.0, float(np.mean(variances[expected > 0] / expected[expected > 0])))

    @property
    def p(self) -> float:
        """Probability of a chi-square as large as this, if the histogram is flat."""
        expected = self.number * self.shares
        square = float(np.sum((self.total - expected) ** 2 / expected)) / self.effect
        return float(chi2.sf(square, len(self.shares) - 1))

    def inside(self, level: float) -> tuple[float, float]:
        """Share of the truths in central intervals, and its standard error; nan unless bins end there."""
        ends = np.concatenate([[0], np.cumsum(self.shares)])
        low, high = (int(np.argmin(np.abs(ends - x))) for x in ((1 - level) / 2, (1 + level) / 2))
        if abs(ends[high] - ends[low] - level) > 1e-9:
            return math.nan, math.nan
        return self._share(slice(low, high))

    @property
    def above(self) -> tuple[float, float]:
        """Share of the truths that lie above the median of their posterior, and its standard error."""
        return self._share(slice(len(self.shares) // 2, None))

    def _share(self, bins: slice) -> tuple[float, float]:
        sizes, hits = self.counts.sum(axis=1), self.counts[:, bins].sum(axis=1)
        share = hits.sum() / sizes.sum()
        if sizes.max() == 1 or len(sizes) < FEW:
            return share, math.sqrt(share * (1 - share) / sizes.sum())
        return share, math.sqrt(np.sum((hits - share * sizes) ** 2)) / sizes.sum()

    @property
    def band(self) -> tuple[np.ndarray, np.ndarray]:
        """Ends of the band of a flat histogram, relative to what is expected of a bin."""
        worth = round(self.number / self.effect)
        low, high = (binom.ppf((1 + s * LEVEL) / 2, worth, self.shares) for s in (-1, 1))
        return low / (worth * self.shares), high / (worth * self.shares)

    @property
    def words(self) -> str:
        """Flat, or what is wrong: errors, if coverage is off by more than truths are to one side, or a bias."""
        if self.p >= CLEAR:
            return "flat"
        found = []
        inside, above = self.inside(0.9), self.above
        if abs(inside[0] - 0.9) > 2 * inside[1]:
            found.append("too confident" if inside[0] < 0.9 else "too cautious")
        if abs(above[0] - 0.5) > 3 * above[1]:
            found.append("truth above" if above[0] > 0.5 else "truth below")
        return ", ".join(found) or "not flat"


def histograms(
    rows: Sequence[Row], shares: Sequence[float] | None = None
) -> dict[tuple[str, str], Histogram]:
    """Of every case and quantity."""
    found = {}
    for key, here in grouped(rows, "case", "quantity").items():
        columns = [name for name in here[0] if name[0] == "c" and name[1:].isdigit()]
        counts = np.array([[int(row[name]) for name in columns] for row in here])
        expected = np.full(len(columns), 1 / len(columns)) if shares is None else np.asarray(shares)
        found[key] = Histogram(counts, expected)
    return found


def summary(found: dict[tuple[str, str], Histogram]) -> list[Row]:
    """A row for each histogram."""
    table = []
    for (case, quantity), h in found.items():
        (half, half_error), (most, most_error), (above, above_error) = h.inside(0.5), h.inside(0.9), h.above
        table.append(
            {
                **{"case": case, "quantity": quantity, "data_sets": len(h.counts), "ranks": h.number},
                **{"effect": f"{h.effect:.2f}", "inside_50": f"{half:.4f}", "error_50": f"{half_error:.4f}"},
                **{"inside_90": f"{most:.4f}", "error_90": f"{most_error:.4f}"},
                **{"above": f"{above:.4f}", "above_error": f"{above_error:.4f}"},
                **{"p": f"{h.p:.2g}", "words": h.words},
                **{f"c{k}": int(count) for k, count in enumerate(h.total)},
            }
        )
    return table
