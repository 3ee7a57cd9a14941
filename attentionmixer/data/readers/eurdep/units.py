"""Units of EURDEP records: from the spelling of its list to the usual one, one for each series."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ....errors import LogError
from ...units import is_unit, parse_unit
from ..account import Account
from ..grid import Ints
from .words import Words

_ACTIVITY = re.compile(r"[\u00b5a-zM]?(?:Bq|Ci)(?:/(\w+))?")
# The list writes units in capitals, where U is micro, M milli, K kilo and KK mega. R/H is left out: the list calls it
# rad, most networks mean röntgen, so it has to be declared.
_UNITS = dict(
    pair.split("=")
    for pair in (
        "NSV/H=nSv/h USV/H=µSv/h MSV/H=mSv/h NGY/H=nGy/h UGY/H=µGy/h BQ=Bq BQ.H/M3=Bq*h/m3 BQ.S/M3=Bq*s/m3 BQ/D=Bq/d "
        "BQ/G=Bq/g BQ/KG=Bq/kg BQ/L=Bq/l BQ/M2=Bq/m2 BQ/M2/D=Bq/m2/d BQ/M3=Bq/m3 CI/KM2=Ci/km2 KBQ/KG=kBq/kg "
        "KBQ/L=kBq/l KBQ/M2=kBq/m2 KBQ/M3=kBq/m3 KKBQ/KM2=MBq/km2 KKBQ/M2=MBq/m2 MBQ/KG=mBq/kg MBQ/L=mBq/l "
        "MBQ/M2=mBq/m2 MBQ/M3=mBq/m3 NBQ/L=nBq/l NBQ/M3=nBq/m3 NCI/KG=nCi/kg NCI/M2=nCi/m2 PCI/CM2=pCi/cm2 "
        "PCI/G=pCi/g PCI/L=pCi/l PCI/M3=pCi/m3 UBQ/KG=µBq/kg UBQ/M3=µBq/m3 MM=mm CM=cm PERCENT=% PERCENTAGE=%"
    ).split()
)
_PER = {"m3": "activity_concentration", "l": "activity_concentration", "kg": "specific_activity"}
_PER |= {"g": "specific_activity", "m2": "surface_activity", "km2": "surface_activity", "cm2": "surface_activity"}
_WEATHER = {
    "PRECIPITATION": "rain",
    "PRESSURE": "pressure",
    "RELATIVE_HUMIDITY": "humidity",
    "TEMPERATURE": "temperature",
    "WIND_DIRECTION": "wind_direction",
    "WIND_SPEED": "wind_speed",
}


def read_unit(text: str) -> str:
    """A unit as it is written elsewhere: ``NSV/H`` → ``nSv/h``. What is not in the list comes back as it is.

    Text in capitals is a code of the list (``MBQ/M3``: milli), other text is read as written (``MBq/m3``: mega).
    """
    code = text.upper()
    # small letters are the list's code too: to others nsv/h would be a nanosverdrup, a flow of water
    if code in _UNITS and (text in (code, code.lower()) or not (text.startswith("M") or is_unit(text))):
        return _UNITS[code]
    return text


def quantity_of(nuclide: str, unit: str | None) -> str | None:
    """The quantity of a series where its unit alone does not tell: activities, weather, and gamma without a unit."""
    if unit is None:
        return "dose_rate" if nuclide in ("T-GAMMA", "EXT-RAD") else _WEATHER.get(nuclide)
    activity = _ACTIVITY.fullmatch(unit)
    if activity is None:
        return _WEATHER.get(nuclide)
    return "activity" if activity[1] is None else _PER.get(activity[1])


def units_of_groups(
    column: Words, group: Ints, tags: Sequence[str], account: Account
) -> tuple[list[str | None], NDArray[np.float64]]:
    """Unit of each group, and what each row's value is multiplied by where a group comes in several.

    Parameters
    ----------
    column: the cells UNIT [R]. group: [R]. tags: the name of each group. account: where this is noted.

    Raises
    ------
    LogError: the units of a group are not of one quantity.
    """
    spelled = [read_unit(word) for word in column.words]
    number = {text: i for i, text in enumerate(dict.fromkeys(spelled))}
    texts = list(number)
    code = np.array([number[text] for text in spelled], dtype=np.int64)[column.codes]
    pairs, which = np.unique(group * len(texts) + code, return_inverse=True)
    found: dict[int, list[int]] = {}
    for place, pair in enumerate(pairs.tolist()):
        if texts[pair % len(texts)]:
            found.setdefault(pair // len(texts), []).append(place)
    factor = np.ones(len(pairs))
    units: list[str | None] = [None] * len(tags)
    for g, places in found.items():
        stated = [texts[int(pairs[place]) % len(texts)] for place in places]
        units[g] = stated[0]
        if len(stated) > 1:
            units[g], factors = _one_unit(tags[g], stated)
            factor[places] = factors
            account.decide(f"tag {tags[g]!r} comes in {' and '.join(stated)}: brought to {units[g]}")
    blank = np.array([not texts[pair % len(texts)] and pair // len(texts) in found for pair in pairs.tolist()])
    if blank.any():
        count = int(blank[which].sum())
        account.decide(f"{count:,} record(s) state no unit; they were taken in the unit of their tag")
    return units, factor[which]


def _one_unit(tag: str, stated: Sequence[str]) -> tuple[str, list[float]]:
    try:
        parsed = [parse_unit(text) for text in stated]
    except LogError as error:
        raise LogError(f"tag {tag!r} comes in several units ({', '.join(stated)}): {error}") from error
    if len({unit.text for unit in parsed}) > 1:
        raise LogError(f"tag {tag!r} comes in several units ({', '.join(stated)}); read the messages one by one")
    return parsed[0].text, [unit.factor for unit in parsed]
