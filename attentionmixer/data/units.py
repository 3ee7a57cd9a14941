"""Units of tags: what a header says, brought to one spelling and, for dose rates, to one unit.

Ambient dose rates become nSv/h. Other units are kept as they are written: a tag of a process plant is shown to the
people who know it, in the unit they know. Exposure (R/h) and air kerma (Gy/h) are other quantities than dose
equivalent, so they are never converted by themselves.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..errors import LogError

DOSE_RATE_UNIT = "nSv/h"

# what instruments and historians write and pint does not know, or takes for something else (pH is no picohenry)
_TRADE: dict[str, tuple[str, str]] = {
    "cpm": ("cpm", "count_rate"),
    "cps": ("cps", "count_rate"),
    "counts/min": ("cpm", "count_rate"),
    "counts/s": ("cps", "count_rate"),
    "counts": ("counts", "counts"),
    "pH": ("pH", "generic"),
    "barg": ("barg", "pressure"),
    "bara": ("bara", "pressure"),
    "Nm3/h": ("Nm3/h", "flow"),
    "Nm³/h": ("Nm³/h", "flow"),
    "%RH": ("%RH", "generic"),
    "vol%": ("vol%", "generic"),
    "wt%": ("wt%", "generic"),
    "mol%": ("mol%", "generic"),
    "ppmv": ("ppmv", "generic"),
    "-": ("-", "generic"),
    "1": ("-", "generic"),
}
_MICRO = re.compile("[\u00b5\u03bc]")
_ROENTGEN = re.compile(r"(?:m|n|\u00b5|u)?R/(?:h|hr|s|min)")
_PLAIN = re.compile(r"[A-Za-z0-9\u00b5\u00b0\u00b2\u00b3%*^/().\- \u00b7]+")
# "1/s" is a unit; "25" and "1e9" are numbers, which pint would take as well
_NUMBER_FIRST = re.compile(r"[0-9.](?!(?<=1)/)")
#: quantity of a unit that has the dimension of one of these
_LIKE = {
    "temperature": ("kelvin",),
    "pressure": ("pascal",),
    "flow": ("meter**3/second", "kilogram/second"),
    "speed": ("meter/second",),
    "power": ("watt",),
    "voltage": ("volt",),
}


@dataclass(frozen=True)
class Unit:
    """A unit as the log will carry it: ``value in text = value as written x factor``."""

    text: str
    quantity: str
    factor: float = 1.0


def normalise_micro(text: str) -> str:
    """One spelling for the two micro signs, U+00B5 and U+03BC."""
    return _MICRO.sub("\u00b5", text)


def is_unit(text: str) -> bool:
    """Whether the text is a unit that `parse_unit` knows."""
    try:
        parse_unit(text)
    except LogError:
        return False
    return True


@cache
def parse_unit(text: str) -> Unit:
    """The unit a text names.

    Dose equivalent rates get the factor to nSv/h: ``parse_unit("µSv/h") == Unit("nSv/h", "dose_rate", 1000.0)``; ``u``
    stands for micro. Other known units keep their spelling and the factor 1.

    Raises
    ------
    LogError: the unit is unknown.
    """
    plain = normalise_micro(text.strip())
    if plain in _TRADE:
        return Unit(*_TRADE[plain])
    if _ROENTGEN.fullmatch(plain):
        return Unit(plain.replace("u", "\u00b5"), "exposure_rate")
    parsed = _with_pint(plain)
    if parsed is None:
        raise LogError(f"unit {text!r} is unknown")
    roots = {re.sub(r"^.*?(sievert|gray|rem|becquerel)$", r"\1", str(part)) for part in parsed._units}
    is_rate = parsed.dimensionality == _registry().Unit(DOSE_RATE_UNIT).dimensionality
    if roots & {"sievert", "rem"} and is_rate:
        factor = float((1.0 * parsed).to(DOSE_RATE_UNIT).magnitude)
        # 1e-6/1e-9 is not exactly 1000 in binary; a reading of 0.112 should not end in ...0001
        return Unit(DOSE_RATE_UNIT, "dose_rate", float(f"{factor:.12g}"))
    if "gray" in roots and is_rate:
        return Unit(plain, "kerma_rate")
    for quantity, examples in _LIKE.items():
        if any(parsed.dimensionality == _registry().Unit(example).dimensionality for example in examples):
            return Unit(plain, quantity)
    return Unit(plain, "generic")


def _with_pint(text: str) -> Any:
    """The pint unit, or None where there is none."""
    if not text or not _PLAIN.fullmatch(text) or _NUMBER_FIRST.match(text):
        return None
    # m3/h and s-1 are how plants write m**3/h and s**-1
    spelled = re.sub(r"(?<=[A-Za-z])(-?\d)", r"**\1", text.replace("\u00b7", "*"))
    try:
        return _registry().parse_units(spelled)
    except Exception:
        # pint raises many kinds of exception on text that is no unit; all of them mean the same here
        return None


@cache
def _registry() -> Any:
    # pint takes half a second to load, and only a log with units needs it
    import pint

    return pint.UnitRegistry()
