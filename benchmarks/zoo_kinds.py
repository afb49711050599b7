"""Every kind of data in the catalogue: what is found, and what is said about it."""

from __future__ import annotations

import itertools
import math
import time
import warnings
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

import bayesing as bs
from bayesing.experiments.cells import Task

from coupling_data import cell
from front import Row, Settings, grouped
from likelihood_real import FOLDER
from zoo_data import KINDS, DataSet, mean_active, strength

T = TypeVar("T")

CLEAR = 2.0  # standard errors that chance may explain
CHECKED = ("means", "pairs", "counts", "log_likelihood", "independent")


def heard(work: Callable[[], T]) -> tuple[T, str, float]:
    """What a function gives, the kinds of warnings that it shows, and its seconds."""
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = work()
    names = sorted({warning.category.__name__ for warning in said})
    return found, " ".join(names), time.perf_counter() - start


def flag(value: bool | None) -> int | str:
    """1 or 0, and nothing for what the library does not have."""
    return "" if value is None else int(value)


def doubts(eb: bs.EmpiricalBayes) -> Row:
    """Whether an estimate is trusted; if not, why."""
    found = eb.diagnosis_
    reasons = [reason.quantity.name for reason in getattr(found, "reasons", ())]
    return {"trusted": flag(getattr(found, "trusted", None)), "reasons": " ".join(reasons)}


def kinds_tasks(s: Settings) -> list[Task]:
    names = list(KINDS) if s.kinds == "all" else s.kinds
    if s.kinds == "all" and "recording" not in KINDS:
        print(f"recording: left out, for the environment variable {FOLDER} names no folder")
    return [cell(kinds, s, name, seed) for seed, name in itertools.product(range(s.seeds), names)]


def kinds(s: Settings, name: str, seed: int) -> Iterator[Row]:
    data = KINDS[name](seed)
    N, n = data.spins.shape
    yield {
        **{"kind": name, "group": KINDS[name].group, "seed": seed, "n": n, "N": N},
        **{"true_J": data.J, "true_H": data.H},
        **strength_found(data),
        **couplings_found(s, data, seed),
    }


def strength_found(data: DataSet) -> Row:
    """EmpiricalBayes as it is without arguments."""
    eb, said, seconds = heard(lambda: bs.EmpiricalBayes(random_state=0).fit(data.spins))
    return {
        **{"J": eb.J_, "J_error": eb.J_error_, "H": eb.H_, "method": eb.method_, "reason": eb.reason_},
        **{**doubts(eb), "phase": eb.diagnosis_.phase.name, "said": said, "seconds": seconds},
    }


def couplings_found(s: Settings, data: DataSet, seed: int) -> Row:
    """BoltzmannMachine as it is without arguments, what its samples look like, and what it says of other samples."""
    bm, said, seconds = heard(lambda: bs.BoltzmannMachine().fit(data.spins))
    samples, of_samples, _ = heard(lambda: bm.sample(s.samples, seed=seed))
    check = bm.check_
    return {
        **{"bm_method": bm.method_, "bm_reason": bm.reason_, "bm_rms": strength(bm.couplings_)},
        "bm_J": None if bm.gamma_ is None else math.sqrt(bm.gamma_),
        "passed": flag(getattr(check, "passed", None)),
        **{f"check_{name}": getattr(check, name, None) for name in CHECKED},
        **{"K": mean_active(samples), "K_in_data": data.mean_K, "K_error": error_of_K(samples, data.spins)},
        **held_out(s, bm, data, seed),
        **{"bm_said": said, "sample_said": of_samples, "bm_seconds": seconds},
    }


def error_of_K(*spins: np.ndarray) -> float:
    """Standard error of the difference of mean numbers of active units."""
    return math.sqrt(sum((s > 0).sum(axis=1).var() / len(s) for s in spins))


def held_out(s: Settings, bm: bs.BoltzmannMachine, data: DataSet, seed: int) -> Row:
    """Log likelihood per sample held out, also of independent spins with the means of the data, and the gain's error.

    The error is that of ln Z together with the spread of the gain over samples.
    """
    (value, error), *_ = heard(lambda: bm.log_likelihood(data.held_out, s.n_chains, seed=seed))
    active = ((data.spins > 0).sum(axis=0) + 0.5) / (len(data.spins) + 1)
    alone = np.where(data.held_out > 0, np.log(active), np.log1p(-active)).sum(axis=1)
    spread = np.var(-bm.model_.energy(data.held_out) - alone) / len(alone)
    gain = {"gain": value - alone.mean(), "gain_error": math.sqrt(spread + error**2)}
    return {"held_out": value, "held_out_error": error, "independent": alone.mean()} | gain


# Claims


def right_J(s: Settings, row: Row) -> bool:
    """Whether J is close to the truth."""
    truth = float(row["true_J"])
    return abs(float(row["J"]) - truth) <= (s.within_J * truth or s.within_0)


def right_K(s: Settings, row: Row, errors: float = 0.0) -> bool:
    """Whether samples have as many active units as the data; ``errors`` are standard errors allowed in addition."""
    K, in_data, error = (float(row[name]) for name in ("K", "K_in_data", "K_error"))
    return abs(K - in_data) <= s.within_K * in_data + errors * error


def silent_loss(row: Row) -> bool:
    """Whether other samples are less likely than with independent spins, and nothing was said."""
    worse = float(row["gain"]) < -CLEAR * float(row["gain_error"])
    return worse and not row["bm_said"] and row["passed"] != "0"


def claims(s: Settings, rows: list[Row]) -> Iterator[tuple[str, float, list[Row], list[Row]]]:
    """Each claim: its words, the share that is promised, the data sets it is about, and those that break it."""
    known = [row for row in rows if row["true_J"] != ""]
    wrong = [row for row in known if not right_J(s, row) and row["trusted"] != "0"]
    yield f"J within {s.within_J:.0%} of the truth, or not trusted", s.claims["J"], known, wrong
    missed = [row for row in rows if row["passed"] != "0" and not right_K(s, row)]
    yield f"mean K of samples within {s.within_K:.0%}, or not passed", s.claims["K"], rows, missed
    beyond = [row for row in missed if not right_K(s, row, CLEAR)]
    yield f"the same within {CLEAR:g} more standard errors of the means", s.claims["K"], rows, beyond
    lost = [row for row in rows if silent_loss(row)]
    yield "held out at least as likely as independent, or said", s.claims["held_out"], rows, lost


def kinds_summary(s: Settings, rows: list[Row]) -> None:
    print(f"  {'kind':22} {'true J':>6} {'J':>6} trusted passed K/data   gain  seconds  phase; said")
    for (name,), here in grouped(rows, "kind").items():
        truth, J, seconds = (mean(here, column) for column in ("true_J", "J", "seconds"))
        ratio = np.mean([float(row["K"]) / float(row["K_in_data"]) for row in here])
        print(
            f"  {name:22} {truth:>6} {J:>6} {share(here, 'trusted'):>7} {share(here, 'passed'):>6} {ratio:6.2f} "
            f"{mean(here, 'gain'):>6} {seconds:>4}+{mean(here, 'bm_seconds')}  "
            f"{texts(here, 'phase')}; {texts(here, 'said', 'bm_said') or 'nothing'}"
        )
    for words, promised, about, broken in claims(s, rows):
        kept = 1 - len(broken) / max(len(about), 1)
        names = ", ".join(f"{row['kind']} {row['seed']}" for row in broken) or "none"
        print(f"  {words}: {kept:.1%} of {len(about)}, promised {promised:.0%}; broken by {names}")


def mean(rows: list[Row], column: str) -> str:
    """Mean of the rows that have a value."""
    values = [float(row[column]) for row in rows if row[column] != ""]
    return f"{np.mean(values):.2f}" if values else "-"


def share(rows: list[Row], column: str) -> str:
    """How many of the rows are 1, as in 2/3."""
    values = [int(row[column]) for row in rows if row[column] != ""]
    return f"{sum(values)}/{len(values)}" if values else "-"


def texts(rows: list[Row], *columns: str) -> str:
    """Different words of all rows."""
    return " ".join(sorted({word for row in rows for column in columns for word in row[column].split()}))
