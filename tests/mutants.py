"""Change the mathematics in one place and see whether a test notices: ``python tests/mutants.py [MODULE ...]``.

A mutant is killed if a test of its module fails or takes far too long, and survives if all pass. Verdicts are kept
in ``results/mutants``: a second run looks at what is new and, if tests have changed, at what survived.
``survivors.py`` says why some may survive.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported

import argparse
import csv
import importlib
import itertools
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from mutating import Mutant, digest, mutants
from survivors import EXPLAINED
from trials import trials, watch

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT.joinpath("results", "mutants")  # not part of the project
LIBRARIES = (  # imported once, before processes are forked; bayesing must not be among them
    *("hypothesis", "joblib", "numba", "pandas", "scipy.integrate", "scipy.optimize", "scipy.sparse.linalg"),
    *("scipy.stats", "sklearn.base", "sklearn.covariance", "sklearn.utils.estimator_checks", "threadpoolctl"),
)
MORE = 10.0  # seconds that a test may take, beside five times what it takes without a mutant

# The tests that must kill the mutants of a module, quick ones first.
TESTS = {
    "packed": "statistics moments io_bits spins",
    "available": "available",
    "moments": "moments statistics",
    "spectrum": "spectrum couplings_spectral weak",
    "series": "series",
    "statistics": "statistics available spectral series",
    "order": "series",
    "mixture": "mixture",
    "encodings": "encodings",
    "ising": "ising",
    "restricted": "restricted",
    "conditionals": "conditionals",
    "replica": "replica",
    "priors": "priors",
    "roots": "roots",
    "drawn": "drawn",
    "entropy": "entropy",
    "centrality": "centrality",
    "loadings": "loadings",
    "prediction": "prediction",
    "sampling/diagnostics": "diagnostics",
    "weighted": "weighted couplings_newton",
    "learning/newton": "learning_newton",
    "learning/posterior": "learning_posterior",
    "learning/causes_evidence": "learning_causes_evidence",
    "learning/errors": "learning_errors learning_missing",
    "learning/quadratic": "learning_quadratic",
    "learning/scale": "learning_scale learning_mode",
    "learning/sparse": "learning_sparse",
    "learning/certificate": "learning_certificate",
    "strength/_method": "methods replica",
    "strength/inversion": "inversion",
    "strength/likelihood": "likelihood learning_scale",
    "strength/plefka": "plefka",
    "strength/_modes": "pseudolikelihood",
    "strength/pseudolikelihood": "pseudolikelihood",
    "strength/spectral": "spectral",
    "strength/susceptibility": "susceptibility",
    "couplings/_kernel": "couplings_spectral",
    "couplings/_newton": "couplings_newton couplings_pseudolikelihood",
    "couplings/_search": "couplings_pseudolikelihood",
    "couplings/_sparse": "couplings_sparse",
    "couplings/exact": "couplings_exact",
    "couplings/likelihood": "likelihood",
    "couplings/mean_field": "mean_field",
    "couplings/pseudolikelihood": "couplings_pseudolikelihood",
    "couplings/spectral": "couplings_spectral series",
    "weak": "weak",
    "check": "check",
    "thinned": "thinned series",
    "_surface": "calibration",
    "calibration": "calibration",
}


def run(
    module: str, tests: list[str], sample: int | None, jobs: int, seed: int = 0
) -> list[tuple[Mutant, str]]:
    """Verdicts on the mutants of a module; those that are known are not sought again."""
    name, source = (
        f"bayesing.{module.replace('/', '.')}",
        (ROOT / f"src/bayesing/{module}.py").read_text("utf-8"),
    )
    against = digest(*(Path(test).read_text("utf-8") for test in tests))
    chosen = list(itertools.islice(mutants(source, f"{seed} {module}"), sample))
    path = RESULTS / f"{name}.csv"
    known = dict(_read(path, against))
    todo = [mutant for mutant in chosen if mutant.key not in known]
    if todo:
        plan = watch(name, source, tests)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", newline="", encoding="utf-8") as file:
            for mutant, verdict, seconds in trials(name, todo, tests, plan, MORE, jobs):
                known[mutant.key] = verdict
                csv.writer(file).writerow([mutant.key, against, verdict, f"{seconds:.1f}", mutant.change])
                file.flush()
    return [(mutant, known[mutant.key]) for mutant in chosen]


def _read(path: Path, against: str) -> Iterator[tuple[str, str]]:
    """Keys and verdicts in a file. What survived other tests may be killed by these."""
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            yield from (
                (key, verdict)
                for key, tests, verdict, *_ in csv.reader(file)
                if verdict != "survived" or tests == against
            )


def main(arguments: list[str] | None = None) -> None:
    """Print a table, and survivors that are not explained."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "modules", nargs="*", metavar="MODULE", help="such as strength/spectral; all by default"
    )
    parser.add_argument("--sample", type=int, default=40, help="mutants of each module, chosen at random")
    parser.add_argument("--all", action="store_true", help="all mutants")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--seed", type=int, default=0, help="of the choice")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was begun is ended as well
    for library in LIBRARIES:
        importlib.import_module(library)
    total, left = [0, 0, 0], []
    heading = f"{'module':28}{'mutants':>9}{'killed':>9}{'explained':>11}{'survived':>10}{'share':>8}"
    print(heading)
    for module in options.modules or TESTS:
        tests = [str(ROOT / "tests" / f"test_{test}.py") for test in TESTS[module].split()]
        found = run(module, tests, None if options.all else options.sample, options.jobs, options.seed)
        alive = [mutant for mutant, verdict in found if verdict == "survived"]
        unexplained = [mutant for mutant in alive if mutant.lines.isdisjoint(EXPLAINED.get(module, {}))]
        counts = len(found), len(alive), len(unexplained)
        print(_row(module, *counts), flush=True)
        total = [a + b for a, b in zip(total, counts, strict=True)]
        left += [f"{module}\n{mutant.change}\n" for mutant in unexplained]
    print(_row("all", *total), "", *left, sep="\n")


def _row(name: str, n: int, alive: int, unexplained: int) -> str:
    share = (n - alive) / max(n, 1)
    return f"{name:28}{n:9}{n - alive:9}{alive - unexplained:11}{unexplained:10}{share:8.1%}"


if __name__ == "__main__":
    main()
