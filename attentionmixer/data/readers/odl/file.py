"""One answer of the ODL service: its features as records, checked one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ....errors import LogError
from ...quality import Flag
from ..account import Account
from ..columns import Column
from ..json_cells import NO_UNIT, Cell, Rows, is_number, missing, position, read_cell
from ..json_file import Doubled, Refused, id_fault, keys_in, load, refuse_message, shown
from ..source import Source

TIME = "end_measure"
GROSS = "Gamma-ODL-Brutto"
PARTS = {"value_cosmic": "cosmic", "value_terrestrial": "terrestrial"}
#: ``validated`` of a reading: 1 is geprüft (checked), 2 is ungeprüft.
CHECKED, UNCHECKED = 1, 2
_IN_OPERATION, _DEFECTIVE, _ON_TRIAL = 1, 2, 3
_OUT_OF_ORDER = {_DEFECTIVE: "defekt", _ON_TRIAL: "Testbetrieb"}
_CODES = ("0", "1", "2", "3")


def sniff(head: bytes) -> bool:
    """A feature collection of ODL readings, an empty answer of a WFS, or its report of an exception."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:2000]
    if start.startswith(b"<"):
        return b"ExceptionReport" in start and b"opengis.net/o" in start
    keys = keys_in(head)
    if "features" not in keys:
        return {"version", "exceptions", "locator"} <= keys
    return {"kenn", TIME} <= keys or ("properties" not in keys and bool({"totalFeatures", "numberReturned"} & keys))


class Answer(NamedTuple):
    """A file: what it says of itself, and its features."""

    name: str
    said: Mapping[str, Any]
    features: list[Any]


def load_answer(source: Source) -> Answer:
    """Read one file. Raises `LogError` where it is no collection of features."""
    data = load(source)
    if isinstance(data, Doubled):
        raise LogError(f"{source.name} gives a key twice, so nobody can say which is meant; fetch it again")
    if isinstance(data, dict) and isinstance(data.get("features"), list):
        return Answer(source.name, data, data["features"])
    refuse_message(source.name, data)
    raise LogError(f"{source.name} is JSON, but no collection of features; ask the service for application/json")


def warn_of_parts(answers: Sequence[Answer], account: Account) -> None:
    """Say where the service found more records than came."""
    came: Counter[int] = Counter()
    for name, said, features in answers:
        returned = said.get("numberReturned")
        if is_number(returned) and returned != len(features):
            account.warn(f"{name} says that it holds {shown(returned)} record(s), but holds {len(features):,}")
        totals = {int(said[k]) for k in ("numberMatched", "totalFeatures") if is_number(said.get(k))}
        for total in totals:
            came[total] += len(features)
    # pages of one query state the same total, and are whole together
    for total, count in came.items():
        if count < total:
            account.warn(
                f"{count:,} of {total:,} record(s) that the service found are here: this is a part of the answer; "
                "fetch the rest, or ask for it without maxFeatures"
            )


def occurs(part: str, answers: Sequence[Answer]) -> bool:
    """Whether any record holds a property that is not null."""
    records = (f.get("properties") for answer in answers for f in answer.features if isinstance(f, dict))
    return any(isinstance(record, dict) and record.get(part) is not None for record in records)


class _Fault(NamedTuple):
    column: str
    value: object
    reason: str


class _Reading(NamedTuple):
    kenn: str
    nuclide: str
    status: int
    cells: tuple[Cell, ...]
    record: Mapping[str, Any]
    geometry: object


@dataclass
class Features(Rows):
    """Records that can be read, and what else of them decides whether they are kept.

    ``start``, ``checked`` and ``trial`` are per row; ``stations`` numbers the groups, which are pairs of station and
    quantity; ``described`` holds the name and position of a group, ``units`` all units it came in, and ``moved`` the
    stations that came with several positions.
    """

    start: list[object] = field(default_factory=list)
    checked: list[int] = field(default_factory=list)
    trial: list[bool] = field(default_factory=list)
    stations: dict[tuple[str, str], int] = field(default_factory=dict)
    described: dict[int, tuple[str, tuple[float, float] | None]] = field(default_factory=dict)
    units: dict[int, set[str]] = field(default_factory=dict)
    moved: set[str] = field(default_factory=set)

    def add(self, file: int, number: int, feature: object, taken: Sequence[str], refused: Refused) -> None:
        """Enter the record, or refuse it; ``taken`` are the properties that become values."""
        read = _parse(feature, taken)
        if isinstance(read, _Fault):
            refused.add(self.files[file], number, *read)
            return
        record = read.record
        group = self.stations.setdefault((read.kenn, read.nuclide), len(self.stations))
        self._describe(group, read)
        self.file.append(file)
        self.line.append(number)
        self.group.append(group)
        self.time.append(record[TIME])
        self.cells.append(read.cells)
        self.start.append(record.get("start_measure"))
        self.checked.append(_code(record.get("validated")))
        self.trial.append(read.status == _ON_TRIAL)

    def _describe(self, group: int, read: _Reading) -> None:
        pair = read.geometry.get("coordinates") if isinstance(read.geometry, dict) else None
        # GeoJSON puts the longitude first
        place = position(pair[1], pair[0]) if isinstance(pair, list) and len(pair) in (2, 3) else None
        name, known = self.described.setdefault(group, (_text(read.record.get("name")), place))
        if place is not None and known is None:
            self.described[group] = (name, place)
        elif place is not None and place != known:
            self.moved.add(read.kenn)
        unit = _text(read.record.get("unit")).strip()
        if unit:
            self.units.setdefault(group, set()).add(unit)

    def columns(self, taken: Sequence[str]) -> list[Column]:
        """A column for each pair of group and value. Raises `LogError` where a station comes in several units."""
        valued = {group for group, row in zip(self.group, self.cells, strict=True) if any(c.is_value for c in row)}
        made = []
        for (kenn, nuclide), group in self.stations.items():
            name, place = self.described[group]
            units = sorted(self.units.get(group, ()))
            if len(units) > 1:
                several = ", ".join(map(repr, units[:5]))
                raise LogError(f"station {kenn!r} comes in several units ({several}); read the files one by one")
            # without any value there is nothing a unit could be of, and the column will be dropped
            unit = units[0] if units else None if group in valued else NO_UNIT
            what = "dose" if nuclide == GROSS else nuclide
            for part in taken:
                tag = f"{kenn} {what}" if part == "value" else f"{kenn} {what} {PARTS[part]}"
                header = " ".join(filter(None, (kenn, name, part)))
                made.append(Column(header, tag, unit, kenn, place, "dose_rate"))
        return made


def _parse(feature: object, taken: Sequence[str]) -> _Reading | _Fault:
    """What a feature says, or why it cannot be read."""
    record = feature.get("properties") if isinstance(feature, dict) else None
    if not isinstance(feature, dict) or not isinstance(record, dict):
        return _Fault("*", feature, "no feature with properties")
    if isinstance(feature, Doubled) or isinstance(record, Doubled):
        return _Fault("*", feature, "a key is given twice")
    fault = id_fault(record.get("kenn"))
    if fault is not None:
        return _Fault("kenn", record.get("kenn"), fault)
    status = _code(record.get("site_status"))
    if record.get("value") is None and record.get(TIME) is None:
        said = f" (site_status {status}, {_OUT_OF_ORDER[status]})" if status in _OUT_OF_ORDER else ""
        return _Fault(TIME, None, f"the station has no reading{said}")
    if record.get(TIME) is None:
        return _Fault(TIME, None, "not a time with an offset")
    nuclide = record.get("nuclide") or GROSS
    if id_fault(nuclide) is not None:
        return _Fault("nuclide", nuclide, "no name of a quantity")
    cells = []
    for part in taken:
        cell = read_cell(record.get(part))
        if cell is None:
            return _Fault(part, record[part], "not a number")
        cells.append(_judge(cell, status, record.get("site_status")))
    return _Reading(record["kenn"], nuclide, status, tuple(cells), record, feature.get("geometry"))


def _judge(cell: Cell, status: int, said: object) -> Cell:
    """A cell in the light of its station's status; answers that are series state none."""
    if status == _ON_TRIAL:
        return cell.noted(Flag.DOUBTFUL)
    if status == _IN_OPERATION or said is None:
        return cell
    if status == _DEFECTIVE:
        return missing("station is defective (site_status 2, defekt)", Flag.STATE)
    return missing("site_status is none of 1, 2, 3", Flag.STATE)


def _code(value: object) -> int:
    """A code such as ``validated``; 0 where there is none, -1 where it is no code."""
    if value is None:
        return 0
    if isinstance(value, bool):
        return CHECKED if value else UNCHECKED
    text = shown(value).removesuffix(".0")
    return int(text) if text in _CODES else -1


def _text(value: object) -> str:
    return shown(value) if isinstance(value, str) else ""
