"""Names of methods and priors, from the modules that have them; they are imported when a name is needed."""

from __future__ import annotations

from typing import get_args

AUTO = "auto"  # leaves the choice to the data


def strength_methods() -> tuple[str, ...]:
    """Methods for J and H."""
    from ..empirical_bayes import METHODS

    return METHODS


def moment_methods() -> tuple[str, ...]:
    """Those of them that need moments only."""
    from ..empirical_bayes import FROM_MOMENTS

    return FROM_MOMENTS


def coupling_methods() -> tuple[str, ...]:
    """Methods for the couplings."""
    from ..boltzmann_machine import METHODS

    return METHODS


def priors() -> tuple[str, ...]:
    """Priors of the couplings."""
    from ..priors import PriorName

    return get_args(PriorName)
