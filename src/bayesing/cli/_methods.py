"""Methods and priors, from the modules that have them; they are imported when a name is needed."""

from __future__ import annotations

from typing import get_args

AUTO = "auto"  # leaves the choice to the data


def strength_methods() -> tuple[str, ...]:
    """Methods for J and H."""
    from .. import strength

    return (AUTO, *(method.name for method in strength.METHODS))


def coupling_methods() -> tuple[str, ...]:
    """Methods for the couplings."""
    from .. import couplings

    return (AUTO, *(method.name for method in couplings.METHODS))


def coupling_priors() -> tuple[str, ...]:
    """Priors with which couplings can be inferred."""
    from .. import couplings

    return couplings.PRIORS


def strength_priors() -> tuple[str, ...]:
    """Priors with which J and H can be inferred."""
    from ..priors import PriorName

    return get_args(PriorName)
