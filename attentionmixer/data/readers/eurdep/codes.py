"""What the cells of EURDEP records mean: times, numbers, places, and what makes a tag of its own."""

from __future__ import annotations

import datetime as dt
import re

from ..cells import NULLS
from ..clock import MISSING

#: What `parse_value` found: a number or nothing, a value outside the measuring range, or other text.
FINE, BELOW, ABOVE, BAD = range(4)

_TIME = re.compile(
    r"(\d{4}|\d{2})-(\d{2})-(\d{4}|\d{2})[T ]+(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?"
    r"\s*(?:Z|UTC|([+-])(\d{2}):?(\d{2}))?",
    re.ASCII | re.IGNORECASE,
)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:E[+-]?\d+)?|[+-]?inf(?:inity)?", re.ASCII | re.IGNORECASE)
_DEGREES = re.compile(r"([NSEW]?)\s*([+-]?\d{1,3}(?:\.\d*)?)\s*([NSEW]?)", re.ASCII | re.IGNORECASE)
_DAY = 86_400
_USUAL_VALUES = ("", "A", "B", "C", "E", "Z", "?")


def parse_time(text: str) -> int:
    """Nanoseconds since 1970 of ``2013-12-15T23:50Z`` or ``15-12-2013 23:50``; `MISSING` where it is no time.

    A time without an offset is UTC, as the format has it; 24:00 ends its day.
    """
    found = _TIME.fullmatch(text)
    if found is None or len(found[1]) == len(found[3]):
        return MISSING
    year, month, day = (found[1], found[2], found[3]) if len(found[1]) == 4 else (found[3], found[2], found[1])
    hour, minute, second = int(found[4]), int(found[5]), int(found[6] or 0)
    clock = hour * 3600 + minute * 60 + second
    if minute > 59 or second > 59 or clock > _DAY:
        return MISSING
    try:
        days = dt.date(int(year), int(month), int(day)).toordinal() - dt.date(1970, 1, 1).toordinal()
    except ValueError:
        return MISSING
    ahead, minutes = int(found[9] or 0), int(found[10] or 0)
    if ahead > 14 or minutes > 59:
        return MISSING
    offset = int(f"{found[8] or '+'}1") * (ahead * 3600 + minutes * 60)
    ns = (days * _DAY + clock - offset) * 1_000_000_000 + int((found[7] or "").ljust(9, "0"))
    return ns if abs(ns) < 1 << 63 else MISSING


def parse_value(text: str) -> tuple[float, int]:
    """The number a cell holds (NaN where it holds none), and whether it is `FINE`, `BELOW`, `ABOVE` or `BAD`."""
    if text in NULLS:
        return float("nan"), FINE
    if text[0] in "<>":
        limit = text[1:].lstrip("=").strip()
        state = BELOW if text[0] == "<" else ABOVE
        return float("nan"), state if not limit or _NUMBER.fullmatch(limit) else BAD
    return (float(text), FINE) if _NUMBER.fullmatch(text) else (float("nan"), BAD)


def parse_place(latitude: str, longitude: str) -> tuple[float, float] | None:
    """Degrees of ``N64.0508`` and ``W021.5035``, or of signed numbers; ``None`` where they are no place."""
    north, east = _degrees(latitude, "NS", 90), _degrees(longitude, "EW", 180)
    return None if north is None or east is None else (north, east)


def _degrees(text: str, letters: str, limit: float) -> float | None:
    found = _DEGREES.fullmatch(text)
    side = "" if found is None else (found[1] + found[3]).upper()
    # a letter and a sign would say the same thing twice, or contradict each other
    if found is None or side not in ("", *letters) or (side and found[2][0] in "+-"):
        return None
    degrees = float(found[2]) * (-1 if side == letters[1] else 1)
    return degrees if abs(degrees) <= limit else None


def tag_name(code: str, nuclide: str, sample: str, value_type: str, apparatus: str) -> str:
    """``"IS0002 T-GAMMA"``: locality and nuclide, then what sets the series apart from the usual one.

    That is a sample other than external radiation (A5), the kind of value where it is a highest or lowest value, an
    average over months and the like, and the apparatus where it is asked for.
    """
    parts = [code, nuclide or sample]
    if nuclide and sample not in ("", "A5"):
        parts.append(sample)
    if value_type not in _USUAL_VALUES:
        parts.append({"G": "highest", "O": "lowest"}.get(value_type, f"value type {value_type}"))
    return " ".join([*parts, apparatus] if apparatus else parts)
