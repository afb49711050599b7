"""How often is true what is said to be probable? Edges, signs of couplings, and missing answers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.stats import norm

from bayesing.experiments.cells import Task

from front import Found, Row, Settings, grouped, rows_of, write_rows
from trust_couplings import known, seeds, tasks_of
from trust_data import fitted, label, pairs, spins_of
from trust_pictures import draw_curves

ENDS = np.array([0, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.99, 1.0])
FEW = 20  # in a bin, with less of which it is not drawn


def rows_for(case: str, seed: int, said: np.ndarray, true: np.ndarray) -> Iterator[Row]:
    """For each bin: how many, the sum of what is said of them, how many are true, and the variance of this."""
    bins = np.clip(np.searchsorted(ENDS, said, side="right") - 1, 0, len(ENDS) - 2)
    for k in np.unique(bins):
        here = bins == k
        p = said[here]
        yield {
            **{"case": case, "seed": seed, "bin": int(k), "number": int(here.sum())},
            **{"said": float(p.sum()), "true": int(true[here].sum()), "variance": float((p * (1 - p)).sum())},
        }


def tasks(s: Settings) -> list[Task]:
    return tasks_of(probabilities, s)


def probabilities(s: Settings, k: int, part: int) -> Iterator[Row]:
    at = s.sets[k]
    for seed in seeds(s, part):
        truth, rng = known(at, seed, at["prior"])
        spins = spins_of(truth, at["N"], rng)
        J = pairs(truth.couplings)
        for method in s.methods[at["prior"]]:
            bm = fitted(spins, method=method, prior=at["prior"])
            wrong = np.sign(pairs(bm.couplings_)) != np.sign(J)
            case = f"{method}, {at['prior']}; {label(at)}"
            yield from rows_for(f"sign is wrong: {case}", seed, pairs(bm.false_sign_rates_), wrong)
            if at["prior"] == "sparse":
                yield from rows_for(f"edge: {case}", seed, pairs(bm.edge_probabilities_), J != 0)
        if at["prior"] == "gaussian":
            hidden = rng.random(spins.shape) < s.missing
            bm = fitted(np.where(hidden, np.nan, spins), method="likelihood")
            said = bm.impute(np.where(hidden, np.nan, spins))[hidden]
            yield from rows_for(
                f"missing answer is +1: likelihood; {label(at)}", seed, said, spins[hidden] > 0
            )


def finish(s: Settings, found: Found, folder: Path) -> None:
    """A row for each bin; a curve for each case, and whether it lies on the diagonal."""
    table, curves = [], {}
    for (case,), here in grouped(rows_of(found), "case").items():
        points, square = [], 0.0
        for (_,), rows in sorted(grouped(here, "bin").items(), key=lambda item: int(item[0][0])):
            number, said, true, variance = (
                sum(float(row[name]) for row in rows) for name in ("number", "said", "true", "variance")
            )
            z = (true - said) / math.sqrt(max(variance, 1e-12))
            points.append((number, said / number, true / number, math.sqrt(variance) / number))
            table.append(
                {
                    **{"case": case, "pairs": int(number), "said": f"{said / number:.4f}"},
                    **{"true": f"{true / number:.4f}", "z": f"{z:.2f}"},
                }
            )
            square = max(square, z**2) if number >= FEW else square
        shown = np.array([point for point in points if point[0] >= FEW])
        curves[case] = (shown[:, 1], shown[:, 2], shown[:, 3])
        total = np.array(points)
        worst = math.sqrt(square)
        p = min(1.0, 2 * norm.sf(worst) * len(shown))
        said, true = (float((total[:, 0] * total[:, k]).sum()) for k in (1, 2))
        print(
            f"  {case}: {total[:, 0].sum():.0f}, said {said:.0f}, true {true:.0f}, worst bin {worst:.1f} (p {p:.2g})"
        )
    write_rows(folder / "probabilities.csv", table)
    draw_curves(curves, folder / "probabilities.png")
