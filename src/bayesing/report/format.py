"""Numbers, counts and names as a reader sees them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from ..prediction import Comparison

MOST_LISTED = 5  # names in a sentence
_SMALLEST = 1e-4  # absolute values below are written with an exponent
_LARGEST = 1e5  # likewise from here on
_MOST_DECIMALS = 6  # digits after the point
_DECIMALS_OF_ZERO = 2  # 0.00
_FINEST = 0.01  # error of a correlation that is worth a digit


def number(value: float, digits: int = 3, sign: bool = False) -> str:
    """With so many significant digits, a true minus sign, and words for what is not finite."""
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value != 0 and not _SMALLEST <= abs(value) < _LARGEST:
        text = f"{value:{'+' if sign else ''}.{digits - 1}e}"
    else:
        decimals = max(digits - 1 - math.floor(math.log10(abs(value))), 0) if value else _DECIMALS_OF_ZERO
        text = f"{value:{'+' if sign else ''}.{min(decimals, _MOST_DECIMALS)}f}"
    return text.replace("-", "−")


def share(value: float) -> str:
    """A correlation, in hundredths."""
    return f"{value:.2f}".replace("-", "−") if math.isfinite(value) else "unknown"


def ceiling(found: Comparison) -> str:
    """What noise leaves of a correlation to a perfect model, in brackets; nothing where it cannot be told."""
    if not math.isfinite(found.ceiling):
        return ""
    return f" (noise leaves a perfect model {plus_minus(found.ceiling, max(found.ceiling_error, _FINEST))})"


def chance(value: float) -> str:
    """A probability: in hundredths, or how near to 0 or 1 it is."""
    if 0.005 <= value < 0.995:
        return f"{value:.2f}"
    return "> 0.99" if value > 0.5 else "< 0.01"


def percent(value: float) -> str:
    """A share of 0.045 as 4.5%."""
    return f"{100 * value:.2g}%" if value < 0.995 else f"{100 * value:.0f}%"


def rounded(value: float, scale: float, sign: bool = False) -> str:
    """To two digits of the ``scale`` of its error."""
    if not (math.isfinite(value) and 0 < scale < math.inf):
        return number(value, sign=sign)
    decimals = min(max(1 - math.floor(math.log10(scale)), 0), _MOST_DECIMALS)
    return f"{value:{'+' if sign else ''}.{decimals}f}".replace("-", "−")


def plus_minus(value: float, error: float, sign: bool = False) -> str:
    """0.789 ± 0.013, to two digits of the error."""
    if math.isnan(value):
        return "unknown"
    if not math.isfinite(error):
        return f"{number(value, sign=sign)} (error unknown)"
    return f"{rounded(value, error, sign)} ± {rounded(error, error)}"


def between(ends: tuple[float, float], sign: bool = False, joined: str = "to") -> str:
    """0.76 to 0.81, or 'above 0.76' where there is no upper end."""
    low, high = ends
    width = high - low
    if math.isinf(high) and math.isinf(low):
        return "no bounds"
    if math.isinf(high):
        return f"above {number(low, sign=sign)}"
    if math.isinf(low):
        return f"below {number(high, sign=sign)}"
    return f"{rounded(low, width, sign)} {joined} {rounded(high, width, sign)}"


def counted(k: int, noun: str) -> str:
    """1 sample, 2 samples, 1,000,000 samples."""
    return f"{k:,} {noun}{'' if k == 1 else 's'}"


def listed(names: Sequence[str], most: int = MOST_LISTED) -> str:
    """A, B and C; or A, B, C and 7 more."""
    shown = list(names[:most])
    more = len(names) - len(shown)
    if more:
        return ", ".join(shown) + f" and {more} more"
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + f" and {shown[-1]}"


def plain(reason: str) -> str:
    """A reason of the library in the letters of a printed page: true minus signs, and Greek."""
    return re.sub(r"-(?=\d)| - ", lambda found: found[0].replace("-", "−"), reason).replace("gamma r", "γr")
