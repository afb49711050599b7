"""What may be asked for, and of which data: names that go together, gamma, hidden units, rows and missing cells.

Each function returns, or raises an error that says what was expected, what was found and what to do.
"""

from __future__ import annotations

from typing import Any

from . import couplings, strength
from .arguments import hidden_units, number
from .choice import AUTO, find
from .couplings import PRIORS, CouplingMethod
from .couplings._causes import MOST_UNITS
from .exceptions import InputError, Setting
from .priors import check_prior_name
from .statistics import SpinStatistics
from .strength import Method, Options
from .texts import did_you_mean, quoted_names
from .words import on_some_rows

LEAST_GAMMA = 1e-8  # couplings of variance gamma/n are then far below any error
LARGEST_GAMMA = 1e8  # a prior so wide says nothing, and beyond, rounding errors do


def check_strength(method: Any, options: Options) -> None:
    """Raise an error where names are unknown or do not go together, before any data are looked at."""
    check_prior_name(options.prior)
    if is_auto(method):
        return
    chosen = find(strength.METHODS, method)
    if options.mean_coupling and not chosen.mean_coupling:
        raise InputError(
            "mean_coupling must be False with ",
            Setting("method", chosen.name),
            f", which cannot estimate it: found {options.mean_coupling!r}.",
        )
    _check_prior(chosen, options.prior, strength.METHODS)


def check_couplings(method: Any, prior: str, gamma: Any, n_hidden: Any = 0) -> float | None:
    """gamma, if it is given; an error where names are unknown or do not go together."""
    chosen = None if is_auto(method) else find(couplings.METHODS, method)
    _check_hidden(chosen, prior, n_hidden)
    if prior not in PRIORS:
        hint = did_you_mean(prior, PRIORS)
        raise InputError(f"prior must be one of {', '.join(PRIORS)}: found {prior!r}.{hint}")
    if chosen is not None and (chosen.priors or prior != "gaussian"):
        _check_prior(chosen, prior, couplings.METHODS)
    if is_auto(gamma):
        return None
    if chosen is not None and not chosen.priors:
        raise InputError(
            'gamma must be "auto" with ',
            Setting("method", chosen.name),
            f", which has no prior: found {gamma!r}.",
        )
    if prior == "sparse":
        raise InputError(
            'gamma must be "auto" with ',
            Setting("prior", prior),
            f", whose widths are inferred together: found {gamma!r}.",
        )
    value = number("gamma", gamma)
    if not LEAST_GAMMA <= value <= LARGEST_GAMMA:
        raise InputError(
            f'gamma must be "auto" or from {LEAST_GAMMA:g} to {LARGEST_GAMMA:g}: found {value:g}. Below, couplings '
            "are as good as 0, and above, there is as good as no prior."
        )
    return value


def _check_hidden(method: CouplingMethod | None, prior: str, n_hidden: Any) -> None:
    """An error where hidden units cannot be had."""
    units = hidden_units(n_hidden)
    if units is not None and units > MOST_UNITS:
        raise InputError(
            f'n_hidden must be "auto" or at most {MOST_UNITS} beside couplings: found {n_hidden}. '
            "RestrictedBoltzmannMachine, which has no direct couplings, takes more."
        )
    if units == 0:
        return
    if method is not None and not method.hidden:
        others = quoted_names([other.name for other in couplings.METHODS if other.hidden])
        raise InputError(
            Setting("method", method.name),
            " cannot have hidden units: found ",
            Setting("n_hidden", n_hidden),
            f". They go with {others}.",
        )
    if prior != "gaussian":
        raise InputError(
            "hidden units need ",
            Setting("prior", "gaussian"),
            ": found ",
            Setting("prior", prior),
            " and ",
            Setting("n_hidden", n_hidden),
            ".",
        )


def is_auto(value: Any) -> bool:
    """Whether the choice is left to the data; the value may be anything, an array even."""
    return isinstance(value, str) and value == AUTO


def _check_prior(method: Method | CouplingMethod, prior: str, methods: tuple[Any, ...]) -> None:
    if prior in method.priors:
        return
    others = [other.name for other in methods if prior in other.priors]
    expected = " or ".join(f'"{name}"' for name in method.priors) or '"gaussian"'
    raise InputError(
        f"prior must be {expected} with ",
        Setting("method", method.name),
        f': found "{prior}". It goes with {quoted_names(others)}.',
    )


def rows_for(
    method: Method | CouplingMethod | None, data: SpinStatistics, prior: str = "gaussian", n_hidden: Any = 0
) -> tuple[SpinStatistics, tuple[Warning, ...]]:
    """The data or, where rows are needed and were not kept, those that were drawn of them, and a warning.

    Without a method, whether rows are needed whatever the rules of "auto" choose: for other priors than the Gaussian,
    for hidden units, and where cells are missing.
    """
    some = data.sampled
    if data.rows is not None or some is None:
        return data, ()
    why: tuple[str | Setting, ...] = ()
    if method is not None and (method.needs_rows or (data.missing and method.missing_needs_rows)):
        why = (Setting("method", method.name),)
    elif isinstance(method, Method):
        return data, ()
    elif prior == "sparse" or (prior != "gaussian" and method is None):
        why = (Setting("prior", prior),)
    elif n_hidden != 0:
        why = (Setting("n_hidden", n_hidden),)
    elif data.missing and method is None:
        why = ("What is known of couplings beside missing cells",)
    else:
        return data, ()
    return some, (on_some_rows(why, some, data),) if some.N < data.N else ()


def check_data(method: Method | CouplingMethod, data: SpinStatistics, infers: bool = True) -> None:
    """An error where samples are too few for a strength to be inferred, or rows or cells are missing."""
    if infers and data.N < method.least_samples:
        raise InputError(
            Setting("method", method.name), f" needs at least {method.least_samples} samples: found {data.N}."
        )
    methods: tuple[Any, ...] = strength.METHODS if isinstance(method, Method) else couplings.METHODS
    rows = data.rows is not None
    others = [m.name for m in methods if m.uses_missing and (rows or not m.missing_needs_rows)]
    if data.missing and method.uses_missing and method.missing_needs_rows and not rows:
        can = f" {quoted_names(others)} needs no rows." if others else ""
        raise InputError(
            Setting("method", method.name),
            " needs all rows at once where cells are missing: found sums and products alone, of data that were read "
            f"in batches.{can}",
        )
    if data.missing and not method.uses_missing:
        can = f"{quoted_names(others)} can. Or" if others else "No method can:"
        raise InputError(
            Setting("method", method.name),
            f" cannot use rows with missing cells: found {data.missing} missing cells of {data.N} x {data.n}. {can} "
            "leave out samples or columns with missing cells first: in a file, with ",
            Setting("missing", "drop-samples"),
            " or ",
            Setting("missing", "drop-spins"),
            ".",
        )
    if method.needs_rows and data.rows is None:
        others = [other.name for other in methods if not other.needs_rows]
        raise InputError(
            Setting("method", method.name),
            f" needs all rows at once: found sums and products alone, of data that were read "
            f"in batches. {quoted_names(others)} need no rows.",
        )
