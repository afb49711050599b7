"""Is what claims a probability right? Rank histograms of all of it, as in docs/trust.md; half an hour on one core.

    python benchmarks/trust.py FOLDER [PART ...] [--jobs 1] [--quick]

An interrupted run goes on where it stopped. Truths are drawn from a prior, data from the truths, and the place of the
truth in what a fit says is counted. FOLDER/PART.csv has a line for each histogram, with its counts, and
FOLDER/PART.png draws them with the band that 99% of all bars of a flat histogram are in.

"oracle" has a posterior that is known exactly. "strength" is about gamma and H at fixed truths, "intervals" about
EmpiricalBayes.interval. "couplings", "priors", "missing", "series" and "hidden" are about standard errors of
couplings and fields, "draws" about BoltzmannMachine.posterior, and "probabilities" about edges, signs and missing
answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from bayesing.experiments.cells import Task

import trust_couplings as of_couplings
import trust_oracle as of_oracle
import trust_probabilities as of_probabilities
import trust_strength as of_strength
from front import Found, Part, Settings, main, rows_of, write_rows
from trust_pictures import draw_histograms
from trust_ranks import histograms, summary

NO_ANSWER = ("REFUSED", "NO ERROR")  # at the end of a case: counted, and not part of a histogram


def ranked(name: str, tasks: Callable[[Settings], list[Task]], shares: Sequence[float] | None = None) -> Part:
    """A part whose cells count ranks."""

    def finish(s: Settings, found: Found, folder: Path) -> None:
        told = histograms(rows_of(found), shares)
        every = {key: h for key, h in told.items() if not key[0].split(";")[0].endswith(NO_ANSWER)}
        for case, quantity in told.keys() - every.keys():
            print(f"  {case}, {quantity}: {told[case, quantity].number} data sets without an answer")
        table = summary(every)
        write_rows(folder / f"{name}.csv", table)
        draw_histograms(every, folder / f"{name}.png")
        for row in table:
            print(
                f"  {row['case']}, {row['quantity']}: 50% {row['inside_50']}, "
                f"90% {row['inside_90']} ± {row['error_90']}, "
                f"above {row['above']} ± {row['above_error']}, p {row['p']}, {row['words']}"
            )

    return Part(tasks, finish)


PARTS = {
    "oracle": ranked("oracle", of_oracle.oracle_tasks),
    "strength": ranked("strength", of_strength.strength_tasks),
    "intervals": ranked("intervals", of_strength.interval_tasks, of_strength.SHARES),
    "couplings": ranked("couplings", of_couplings.couplings_tasks),
    "priors": ranked("priors", of_couplings.priors_tasks),
    "draws": ranked("draws", of_couplings.draws_tasks),
    "missing": ranked("missing", of_couplings.missing_tasks),
    "series": ranked("series", of_couplings.series_tasks),
    "hidden": ranked("hidden", of_couplings.hidden_tasks),
    "probabilities": Part(of_probabilities.tasks, of_probabilities.finish),
}

if __name__ == "__main__":
    main(__file__, __doc__, PARTS)
