"""Numbers, times and names as text for people.

Names come from logs and are hostile: `clean` makes any string safe to encode and to read. Escaping for HTML is left to
the template, which escapes everything.
"""

from __future__ import annotations

import math
import unicodedata
from datetime import datetime
from typing import Final

import pandas as pd

NO_DATA: Final = "no data"
_NARROW_SPACE: Final = "\u202f"
_MINUS: Final = "\u2212"
_SUPERSCRIPT: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_JOINERS: Final = "\u200c\u200d"  # needed to spell words of some scripts


def clean(text: str) -> str:
    """`text` without characters that cannot be encoded, are invisible or turn the writing direction.

    Each becomes U+FFFD (a white-space one becomes a space), so that two names that differ still look different.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_seen(character) for character in text)


def _seen(character: str) -> str:
    if character in "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029":
        return " "
    if character not in _JOINERS and unicodedata.category(character) in {"Cc", "Cf", "Cs", "Cn"}:
        return "\ufffd"
    return character


def clean_lines(text: str) -> str:
    """`clean`, with line breaks and tabs kept, for whole files."""
    return "\n".join(clean(line.replace("\t", "    ")) for line in text.splitlines())


def shorten(name: str, limit: int) -> str:
    """`name`, cleaned, in at most `limit` characters; the middle gives way, for the end often names the channel."""
    name = clean(name)
    if len(name) <= limit:
        return name
    head = (limit - 1) * 3 // 5
    return f"{name[:head].rstrip()}…{name[len(name) - (limit - 1 - head) :].lstrip()}"


def cell(name: str) -> str:
    """A name for a table or heading: whole, unless it is absurdly long."""
    return shorten(name, 120)


def text_width(text: str, size: float) -> float:
    """About how wide `text` is in a sans-serif face of `size`, in the unit of `size`; on the generous side."""
    return size * sum(_character_width(character) for character in text)


def _character_width(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if character in "MW@%—":
        return 0.95
    if character in " .,:;|!'()[]/ijlftrI-":
        return 0.4
    return 0.74 if character.isupper() else 0.64


def fit(name: str, size: float, room: float) -> str:
    """`name`, cleaned and shortened in the middle until it is no wider than `room` (same unit as `size`)."""
    name = clean(name)[:400]
    limit = len(name)
    while limit > 2 and text_width(shorten(name, limit), size) > room:
        limit -= 1
    return shorten(name, limit)


def number(value: float | None, digits: int = 3) -> str:
    """`value` with `digits` significant digits: ``0.0123``, ``1 234``, ``1.2 × 10⁻⁷``; `NO_DATA` if there is none."""
    if value is None or not math.isfinite(value):
        return NO_DATA
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    if not -5 <= exponent <= 8:
        mantissa, power = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa.replace('-', _MINUS)} × 10{str(int(power)).translate(_SUPERSCRIPT)}"
    decimals = max(0, digits - 1 - exponent)
    return fixed(value, decimals)


def fixed(value: float | None, decimals: int) -> str:
    """`value` with a fixed number of decimals, thousands set apart."""
    if value is None or not math.isfinite(value):
        return NO_DATA
    text = f"{value:,.{decimals}f}".replace(",", _NARROW_SPACE)
    if text.strip("-0.") == "":
        text = text.replace("-", "")
    return text.replace("-", _MINUS)


def count(value: float | None) -> str:
    """A whole number, thousands set apart."""
    return fixed(value, 0)


def percent(share: float | None, decimals: int = 0) -> str:
    """A share of one as ``41 %``."""
    text = fixed(None if share is None else 100 * share, decimals)
    return text if text == NO_DATA else f"{text}{_NARROW_SPACE}%"


def duration(minutes: float) -> str:
    """A span of time: ``45 s``, ``10 min``, ``6 h``, ``9.5 days``."""
    size = abs(minutes)
    if 0 < size < 1:
        return f"{number(minutes * 60, 2)}{_NARROW_SPACE}s"
    if size < 60 or (size < 120 and size % 60):
        unit, length = "min", 1
    elif size <= 120 * 60:
        unit, length = "h", 60
    else:
        unit, length = "days", 1440
    text = fixed(minutes / length, 0 if size >= 100 * length else 1).removesuffix(".0")
    return f"{text}{_NARROW_SPACE}{unit}"


def as_time(value: object) -> pd.Timestamp | None:
    """`value` as a time in UTC; a naive one is taken as UTC. ``None`` if it is no time."""
    if not isinstance(value, str | datetime):
        return None
    stamp = pd.to_datetime(value, errors="coerce")
    if pd.isna(stamp):
        return None
    return stamp.tz_localize("UTC") if stamp.tzinfo is None else stamp.tz_convert("UTC")


def moment(value: object) -> str:
    """A time in UTC as ``2021-06-30 12:00``; what is no time is returned as it is, cleaned."""
    stamp = as_time(value)
    if stamp is None:
        return NO_DATA if value is None else clean(str(value))
    return f"{stamp:%Y-%m-%d %H:%M:%S}" if stamp.second else f"{stamp:%Y-%m-%d %H:%M}"
