"""Results for people: a few lines of text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..encodings import SPINS
from ..exceptions import Setting

if TYPE_CHECKING:
    from ..calibration import Interval
    from ..differences import Comparison
    from ..statistics import SpinStatistics
    from ._shown import Shown, ShownCouplings

LOADINGS_IN_TEXT = 5  # of a common cause: likewise
IN_TEXT = 3  # couplings in the text: a first impression, since all of them are in the file

_CASES = {
    "zero": "; the evidence has its maximum at gamma = 0",
    "interior": "",
    "infinite": "; the evidence has no maximum",
    None: "",
}


def estimate_as_text(e: Shown, interval: Interval | None, encoding: str) -> str:
    """J and H with errors, intervals if there are any, and how they were found."""
    ratio = e.n_samples / e.n_spins
    lines = [
        f"  data     {_size(e)} (N/n = {ratio:.3g}), encoded {encoding}, mean spin {e.magnetisation:+.4f}",
        f"  J        {e.J:.4f} ± {e.J_error:.4f}    couplings have variance J^2/n; gamma = J^2 = {e.gamma:.4g}",
        f"  H       {e.H:+.4f} ± {e.H_error:.4f}",
    ]
    if e.mean_coupling:
        lines.append(f"  J0      {e.J0:+.4f} ± {e.J0_error:.4f}    couplings have mean J0/n")
    if interval:
        lines += _interval_lines(interval)
    lines += [
        f"  regime   {e.regime} (1 - gamma r = {e.at_distance:.2f})",
        *(f"           {reason.sentence}" for reason in e.reasons if reason.sentence),
        f"  method   {e.method} ({e.reason}), {e.prior} prior{_CASES[e.case]}",
    ]
    return "\n".join(lines)


def _size(e: Shown | ShownCouplings) -> str:
    """Samples and spins, and the share of the cells that are missing."""
    worth = (
        "" if e.effective_samples == e.n_samples else f", worth {e.effective_samples:.0f} independent ones,"
    )
    gaps = _gaps(e.n_missing, e.n_samples * e.n_spins)
    return f"{e.n_samples} samples{worth} of {e.n_spins} spins{gaps}"


def _gaps(missing: int, cells: int) -> str:
    return f", {100 * missing / cells:.2g}% of the cells missing" if missing else ""


def _interval_lines(interval: Interval) -> list[str]:
    (low, high), (H_low, H_high), percent = interval.J, interval.H, f"{100 * interval.level:g}%"
    note = f"; {interval.note}" if interval.note else ""
    J, H = (
        f", corrected estimate {interval.J_corrected:.4f}",
        f", corrected estimate {interval.H_corrected:+.4f}",
    )
    return [
        f"  {percent:8} J from {low:.4f} to {high:.4f}{J if math.isfinite(high) else ''}",
        f"           H from {H_low:+.4f} to {H_high:+.4f}{H if math.isfinite(H_high - H_low) else ''}",
        f"           by {interval.n_simulations} simulations{note}",
    ]


def couplings_as_text(found: ShownCouplings, encoding: str, shown_as: str = SPINS) -> str:
    """How couplings were found, and the largest of them, in the encoding that the file has."""
    from ..edges import in_encoding  # which imports what takes time

    lines = [
        f"  data     {_size(found)}, encoded {encoding}",
        f"  method   {found.method}" + ("" if found.reason == found.hidden_reason else f" ({found.reason})"),
    ]
    if found.gamma is not None:
        penalty = "" if found.penalty is None else f", penalty {found.penalty:.4g}"
        deviation = math.sqrt(found.gamma / found.n_spins)
        lines.append(
            f"  prior    {found.prior}, standard deviation {deviation:.4f}{penalty}; 'bayesing fit' estimates J"
        )
    if found.certificate is not None:
        lines.append(f"  search   {found.certificate.sentence}")
    if found.check is not None:
        lines.append(f"  check    {found.check.worded(Setting.in_shell)}")
    pairs = found.n_spins * (found.n_spins - 1) // 2
    lines.append(_edges_line(found, pairs))
    unit = "    of 0 and 1" if shown_as != SPINS else ""
    for k, edge in enumerate(in_encoding(found.strongest[:IN_TEXT], shown_as)):
        title = "" if k else "largest"
        lines.append(f"  {title:9}{edge.J:+.4f} ± {edge.error:.4f}    {edge.name_i}, {edge.name_j}{unit}")
    return "\n".join([*lines, *_cause_lines(found)])


def _edges_line(found: ShownCouplings, pairs: int) -> str:
    """Edges of the network by a sparse prior; by others, for which no coupling is 0, pairs with a clear sign."""
    few, rate = f"{found.n_edges} of {pairs} pairs", f"FDR {100 * found.fdr:g}%"
    if found.prior == "sparse":
        false = (
            f", of which {found.expected_false_edges:.1f} are expected to be false" if found.n_edges else ""
        )
        return f"  edges    {few} ({rate}){false}"
    wrong = f": {found.expected_false_edges:.1f} are expected to be wrong" if found.n_edges else ""
    return f"  signs    {few} have a clear sign ({rate}{wrong}); --prior sparse asks which are 0"


def _cause_lines(found: ShownCouplings) -> list[str]:
    """How many common causes there are and why, how often each is on, and what it loads on most."""
    if found.hidden_reason is None:
        return []
    lines = [f"  causes   {found.hidden_reason}"]
    for cause in found.hidden:
        clear = cause.clear(LOADINGS_IN_TEXT)
        what = "" if clear else " nothing clearly"
        lines.append(f"           {cause.name}, on in {100 * cause.on:.2g}% of the samples, loads on{what}")
        lines += [f"           {each.J:+.4f} ± {each.error:.4f}    {each.name_i}" for each in clear]
    return lines


def comparison_as_text(found: Comparison, data: tuple[SpinStatistics, SpinStatistics], fdr: float) -> str:
    """Which couplings differ most, by how much, and whether the overall strength does."""
    (a, b), pairs, edges = found.groups, found.edge_flags(fdr), found.edges(fdr)
    strength, fields = found.strength, found.differing_fields(fdr)
    low, high = strength.interval()
    sizes = [f"{group.N} samples{_gaps(group.missing, group.N * group.n)}" for group in data]
    lines = [
        f"  groups   {a} ({sizes[0]}) minus {b} ({sizes[1]}), {len(found.names)} spins",
        f"  differ   {len(edges)} of {len(pairs)} couplings, with {100 * fdr:.3g}% false ones expected among them",
    ]
    for k, edge in enumerate(edges[:IN_TEXT]):
        title = "" if k else "likely"
        lines.append(f"  {title:9}{edge.difference:+.4f} ± {edge.error:.4f}    {edge.name_i}, {edge.name_j}")
    if any(each.error is not None for each in found.fields):
        lines.append(f"  fields   {len(fields)} of {len(found.fields)} differ")
        lines += [
            f"           {each.difference:+.4f} ± {each.error:.4f}    {each.name}"
            for each in fields[:IN_TEXT]
        ]
    lines.append(
        f"  strength J = {strength.J_a:.4f} minus {strength.J_b:.4f}: {strength.value:+.4f}, with 90% confidence "
        f"from {low:+.4f} to {high:+.4f}"
    )
    if found.test:
        lines.append(
            f"  test     that nothing differs: p = {found.test.p_value:.4f} by the largest difference, "
            f"{found.test.p_value_strength:.4f} by the strength, from {found.test.permutations} permutations"
        )
    return "\n".join(lines)
