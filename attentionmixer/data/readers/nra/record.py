"""One Japanese monitoring record: words and ranges in the place of a value, and the measuring range beside it."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ....errors import LogError
from ...quality import Flag
from ...units import parse_unit
from ..json_cells import Cell, folded, is_number, missing, position, read_cell
from ..json_file import Doubled, id_fault, shown
from .fields import GOOD, NO_VALUE, UNSTATED, Layout, plain_name, unit_text

Ranges = Literal["missing", "middle"]
_NUMBER = r"\d+(?:\.\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\s*[-~〜–—]\s*({_NUMBER})", re.ASCII)
_WORDED = re.compile(rf"({_NUMBER})\s*(未満|以下|以上|超)", re.ASCII)
_SIGN = {"未満": "<", "以下": "≤", "以上": "≥", "超": ">"}
_LONGEST = 200
_STATUS = 40


@dataclass(frozen=True)
class Rules:
    """What is declared: how ranges are read, the words for a good status, and the unit of counting rates."""

    ranges: Ranges = "missing"
    good: frozenset[str] = GOOD
    count_unit: str | None = None


class Fault(NamedTuple):
    """Why a record cannot be read, and what stands where."""

    column: str
    value: object
    reason: str


class Reading(NamedTuple):
    """What a record says: ``cells``, ``units`` and ``assumed`` have an entry for each value asked for.

    ``units`` are None where there is no value or no unit; ``assumed`` are keys whose unit is not stated.
    """

    station: str
    name: str
    place: tuple[float, float] | None
    averaging: float | None
    time: object
    cells: tuple[Cell, ...]
    units: tuple[str | None, ...]
    assumed: tuple[str | None, ...]


class _Record:
    """A record by what its fields say, whatever they are called; of several fields for one, the first with a value."""

    def __init__(self, data: Mapping[str, Any], layout: Layout) -> None:
        self.data = data
        self.layout = layout

    def key(self, what: str) -> str:
        """The key under which it is said, or an empty one."""
        keys = self.layout.keys.get(what, ())
        return next((key for key in keys if self.data[key] is not None), keys[0] if keys else "")

    def get(self, what: str) -> Any:
        """What is said, or None."""
        return self.data.get(self.key(what))


def parse(data: object, layout: Layout, taken: Sequence[str], rules: Rules) -> Reading | Fault:
    """Read one record; ``taken`` are the values asked for."""
    if not isinstance(data, dict):
        return Fault("*", data, "no record")
    if isinstance(data, Doubled):
        return Fault("*", data, "a key is given twice")
    if not layout.readable:
        return Fault("*", data, "no station, time or value under a known name")
    record = _Record(data, layout)
    ids = [(key, data[key]) for what in ("station", "name") for key in layout.keys.get(what, ())]
    station = next((value for _, value in ids if id_fault(value) is None), None)
    if station is None:
        return Fault(*ids[0], str(id_fault(ids[0][1])))
    said = record.get("status")
    status = "" if said is None else folded(said if isinstance(said, str) else shown(said))[:_STATUS]
    if record.get("time") is None:
        bad = status.casefold() not in rules.good
        return Fault(record.key("time"), None, f"no time (status {status!r})" if bad else "no time")
    cells: list[Cell] = []
    units: list[str | None] = []
    assumed: list[str | None] = []
    for what in taken:
        cell = read_value(record.get(what), rules.ranges)
        if cell is None:
            return Fault(record.key(what), record.get(what), "not a number")
        unit, by_whom = _unit(record, what, rules)
        # a null says by itself that nothing was counted; of a dose rate the status says why
        judged = what == "dose" or (what == "counts" and cell.is_value)
        if judged and status.casefold() not in rules.good:
            cell = missing(f"status {status!r}", Flag.STATE)
        elif cell.is_value and what == "counts" and unit is None:
            cell = missing("counting rate without a unit (count_unit= states it)", Flag.STATE)
        elif cell.is_value and what == "dose":
            cell = in_range(cell, unit, record.get("low"), record.get("high"))
        cells.append(cell)
        units.append(unit if cell.is_value else None)
        assumed.append(by_whom if cell.is_value else None)
    words = [shown(word) for word in (record.get("prefecture"), record.get("name")) if isinstance(word, str)]
    averaging = record.get("averaging")
    return Reading(
        station,
        " ".join(word for word in words if word != station),
        position(record.get("latitude"), record.get("longitude")),
        float(averaging) if is_number(averaging) and averaging > 0 else None,
        record.get("time"),
        tuple(cells),
        tuple(units),
        tuple(assumed),
    )


def _unit(record: _Record, what: str, rules: Rules) -> tuple[str | None, str | None]:
    """The unit of a value, and the key it was assumed for where the record states none."""
    stated = record.get(f"{what} unit")
    key = record.key(what)
    unit = unit_text(stated) if isinstance(stated, str) else record.layout.units.get(key)
    if unit:
        return unit, None
    if what == "counts":
        return rules.count_unit, None
    unit = UNSTATED.get(plain_name(key))
    return unit, None if unit is None else key


def read_value(value: object, ranges: Ranges) -> Cell | None:
    """The cell a value stands for: what every reader of JSON knows, and Japanese words, ranges and limits."""
    if not isinstance(value, str) or len(value) > _LONGEST:
        return read_cell(value)
    text = folded(value)
    if text in NO_VALUE:
        return missing(f"state {text!r}", Flag.STATE)
    found = _RANGE.fullmatch(text)
    if found is not None:
        low, high = float(found[1]), float(found[2])
        if high < low:
            return None
        if ranges == "middle":
            return Cell((low + high) / 2).noted(Flag.DOUBTFUL)
        return missing("a range is given, not a value", Flag.CENSORED)
    worded = _WORDED.fullmatch(text)
    return read_cell(text if worded is None else f"{_SIGN[worded[2]]}{worded[1]}")


def in_range(cell: Cell, unit: str | None, lower: object, upper: object) -> Cell:
    """A dose rate in the light of its measuring range, whose limits are in the unit of the value, or null."""
    low, high = (
        None if limit is None or not limit.is_value else limit.value for limit in map(read_cell, (lower, upper))
    )
    if low is not None and cell.value < low:
        return missing(f"below the measuring range (<{low:g})", Flag.CENSORED)
    if high is not None and cell.value > high:
        return missing(f"above the measuring range (>{high:g})", Flag.CENSORED)
    # of dose equivalent rates, zeros are masked once they are in nSv/h
    if cell.value == 0 and unit is not None and quantity_of(unit) in ("kerma_rate", "exposure_rate"):
        return missing("dose rate exactly 0", Flag.ZERO)
    return cell


@functools.lru_cache(maxsize=256)
def quantity_of(unit: str) -> str | None:
    """The quantity a unit is of, or None where the unit is unknown."""
    try:
        return parse_unit(unit).quantity
    except LogError:
        return None
