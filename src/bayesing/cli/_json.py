"""Results for machines: one JSON object on one line."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..exceptions import Setting

if TYPE_CHECKING:
    from ..calibration import Interval
    from ..check import Check
    from ..differences import Comparison
    from ..loadings import Cause
    from ..statistics import SpinStatistics
    from ._shown import Shown, ShownCouplings


def dumps(answer: dict[str, Any]) -> str:
    """One line of JSON; a number that is not finite is null."""
    return json.dumps(finite(answer), allow_nan=False)


def finite(value: Any) -> Any:
    """The same with None in place of every number that is not finite.

    >>> finite({"J": [0.5, math.inf]})
    {'J': [0.5, None]}
    """
    if isinstance(value, dict):
        return {name: finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def estimate_as_json(estimate: Shown, interval: Interval | None) -> dict[str, Any]:
    """J and H, and intervals if there are any."""
    answer = asdict(estimate)
    del answer["mean_coupling"]
    if interval:
        answer["interval"] = asdict(interval)
    return answer


def couplings_as_json(found: ShownCouplings) -> dict[str, Any]:
    """How couplings were found, and the strongest of them."""
    check, certificate = found.check, found.certificate
    return vars(found) | {
        "strongest": [edge._asdict() for edge in found.strongest],
        "hidden": [causes_as_json(cause) for cause in found.hidden],
        "hidden_gains": [gain._asdict() for gain in found.hidden_gains],
        "check": _check_as_json(check),
        "certificate": certificate and asdict(certificate) | _named(certificate, "passed", "agreed", "stays"),
    }


def causes_as_json(cause: Cause) -> dict[str, Any]:
    """A common cause, with its couplings to all columns, the strongest first."""
    couplings = [
        {"name": each.name_i} | _named(each, "i", "J", "error", "probability") for each in cause.loadings
    ]
    return cause._asdict() | {"loadings": couplings}


def comparison_as_json(
    found: Comparison, data: tuple[SpinStatistics, SpinStatistics], fdr: float
) -> dict[str, Any]:
    """What differs between two groups: couplings, fields, overall strength, and the test if there is one."""
    strength = found.strength
    return {
        "groups": found.groups,
        "n_samples": [group.N for group in data],
        "n_missing": [group.missing for group in data],
        "n_spins": len(found.names),
        "names": found.names,
        "left_out": [each._asdict() for each in found.left_out],
        "fdr": fdr,
        "edges": [edge._asdict() for edge in found.edges(fdr)],
        "fields": [each._asdict() for each in found.fields],
        "strength": _named(strength, "J_a", "J_b", "value", "error") | {"interval": strength.interval()},
        "test": found.test and asdict(found.test),
        "checks": [_check_as_json(check) for check in found.checks],
        "sentence": found.sentence,
    }


def _check_as_json(check: Check | None) -> dict[str, Any] | None:
    if check is None:
        return None
    return asdict(check) | _named(check, "gain", "passed") | {"sentence": check.worded(Setting.in_shell)}


def _named(record: object, *names: str) -> dict[str, Any]:
    """What a record knows besides its fields."""
    return {name: getattr(record, name) for name in names}
