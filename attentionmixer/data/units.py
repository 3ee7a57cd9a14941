"""Units of tags: what a header says, brought to one spelling and, for dose rates, to one unit.

Ambient dose rates become nSv/h. Other units are kept as they are written: a tag of a process plant is shown to the
people who know it, in the unit they know. Exposure (R/h) and air kerma (Gy/h) are other quantities than dose
equivalent, so they are never converted by themselves.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..errors import LogError

DOSE_RATE_UNIT = "nSv/h"
#: Counter tubes: ambient dose rate in nSv/h per count a minute (Cs-137), as their makers and users publish it.
TUBES = {"LND-7317": 1000.0 / 334.0, "LND-7318": 1000.0 / 334.0, "LND-712": 1000.0 / 108.0, "SBM-20": 1000.0 / 175.43}

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
_AMOUNT = re.compile(r"((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(.+)")
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


def convert_unit(unit: Unit, rule: str, column: str) -> Unit:
    """What a stated conversion makes of a unit that is not converted by itself (exposure, air kerma, count rates).

    Parameters
    ----------
    unit: of the values, e.g. µR/h or cpm.
    rule: what one of it stands for: ``"8.7 nSv/h"``, or the name of a tube in `TUBES` for a count rate.
    column: named in errors.

    Raises
    ------
    LogError: the rule is neither, or the tube is for another unit.
    """
    if rule in TUBES:
        per_cpm = TUBES[rule]
        if unit.text not in ("cpm", "cps"):
            raise LogError(f"column {column!r} is in {unit.text}; the tube {rule} turns cpm or cps into a dose rate")
        return Unit(DOSE_RATE_UNIT, "dose_rate", per_cpm * (60.0 if unit.text == "cps" else 1.0))
    found = _AMOUNT.fullmatch(rule.strip())
    if found is None or not math.isfinite(float(found[1])) or float(found[1]) <= 0:
        raise LogError(
            f"convert: {rule!r} is not an amount and a unit, such as '8.7 nSv/h', nor a tube ({', '.join(TUBES)})"
        )
    into = parse_unit(found[2])
    return Unit(into.text, into.quantity, float(found[1]) * into.factor * unit.factor)


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
