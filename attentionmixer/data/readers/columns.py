"""From column headers, declared units and a table of tags to `Tag` objects and factors."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from ...errors import LogError
from ..log import Resample, Role, Tag
from ..units import parse_unit
from .dialect import decode

#: A table of tags: tag name → `Tag` or its fields, or the path of a CSV with a column ``name``, ``tag`` or ``station``.
TagTable = Mapping[str, Tag | Mapping[str, Any]] | str | os.PathLike[str]

_SQUARE = re.compile(r"(.*?)\s*\[([^\[\]]*)\]", re.DOTALL)
_ROUND = re.compile(r"(.*?)\s+\(([^()]*)\)", re.DOTALL)
_ALIASES = {"lat": "latitude", "lng": "longitude", "lon": "longitude", "long": "longitude", "tag": "name"}
_FIELDS = ("name", "unit", "quantity", "station", "latitude", "longitude", "role", "resample")


@dataclass(frozen=True)
class Column:
    """A series before it is a tag: its header, the name and unit found in it, and its station if it has one."""

    header: str
    name: str
    unit: str | None
    station: str | None = None


def split_header(header: str) -> tuple[str, str | None]:
    """Name and unit: ``"flow [m3/h]"`` → ``("flow", "m3/h")``; a header without a unit is its own name.

    Round brackets count only after a blank, so ``XMEAS(1)`` is a name.
    """
    for pattern in (_SQUARE, _ROUND):
        found = pattern.fullmatch(header)
        if found and found[1].strip():
            return found[1], found[2].strip() or None
    return header, None


def name_columns(headers: Sequence[str], unit_row: Mapping[str, str] | None = None) -> list[Column]:
    """Columns of a wide table. Where two names differ only by their unit, both keep the whole header as name."""
    split = [split_header(header) for header in headers]
    names = [name for name, _ in split]
    columns = []
    for header, (name, unit) in zip(headers, split, strict=True):
        stated = (unit_row or {}).get(header) or unit
        columns.append(Column(header, name if names.count(name) == 1 else header, stated))
    return columns


def read_tag_table(source: TagTable | None) -> dict[str, dict[str, Any]]:
    """Fields per tag name; latitude and longitude become ``coordinates``.

    Raises `LogError` where a name repeats, a field is unknown (in a mapping), or a value is not allowed.
    """
    if source is None:
        return {}
    if isinstance(source, Mapping):
        given = {
            str(name): tag.to_dict() if isinstance(tag, Tag) else {**tag, "name": str(name)}
            for name, tag in source.items()
        }
        for name, entry in given.items():
            unknown = [key for key in entry if _ALIASES.get(key, key) not in (*_FIELDS, "coordinates")]
            if unknown:
                raise LogError(f"tags: {name!r} has unknown field(s) {', '.join(unknown)}; known: {', '.join(_FIELDS)}")
        rows = list(given.values())
    else:
        rows = _tag_rows(Path(source))
    table: dict[str, dict[str, Any]] = {}
    for row in rows:
        entry = _tag_fields(row)
        if entry["name"] in table:
            raise LogError(f"tags: {entry['name']!r} is listed twice")
        table[entry["name"]] = entry
    return table


def _tag_rows(path: Path) -> list[dict[str, Any]]:
    try:
        text, _ = decode(path.read_bytes(), path.name)
    except OSError as error:
        raise LogError(f"the table of tags {path} cannot be read: {error}") from error
    rows = list(csv.DictReader(io.StringIO(text.decode())))
    if not rows:
        raise LogError(f"the table of tags {path} has no rows")
    columns = [str(c).strip().lower() for c in rows[0]]
    if not {"name", "tag", "station"} & set(columns):
        raise LogError(f"the table of tags {path} has no column 'name'; it has {', '.join(columns)}")
    out = []
    for row in rows:
        cells = {str(k).strip().lower(): v for k, v in row.items()}
        if not {"name", "tag"} & set(columns):
            cells["name"] = cells["station"]
        out.append({k: v for k, v in cells.items() if _ALIASES.get(k, k) in _FIELDS})
    return out


def _tag_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    entry = {_ALIASES.get(k, k): v for k, v in row.items() if v is not None and str(v).strip() != ""}
    name = str(entry.get("name", ""))
    if not name:
        raise LogError("tags: an entry has no name")
    latitude, longitude = entry.pop("latitude", None), entry.pop("longitude", None)
    pair = entry.pop("coordinates", None)
    if pair is None and (latitude is not None or longitude is not None):
        pair = (latitude, longitude)
    if pair is not None:
        try:
            latitude, longitude = (float(value) for value in pair)
        except (TypeError, ValueError) as error:
            raise LogError(f"tags: {name!r} has coordinates {pair!r}, not (latitude, longitude) in degrees") from error
        if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
            raise LogError(f"tags: {name!r} lies at {latitude}, {longitude}: no such latitude and longitude")
        entry["coordinates"] = (latitude, longitude)
    for key, allowed in (("role", get_args(Role)), ("resample", get_args(Resample))):
        if key in entry and entry[key] not in allowed:
            raise LogError(f"tags: {name!r} has {key} {entry[key]!r}; allowed: {', '.join(allowed)}")
    return {**entry, "name": name}


def dress(
    columns: Sequence[Column],
    *,
    units: Mapping[str, str | None] | str | None,
    tags: TagTable | None,
    roles: Mapping[str, Role] | None,
) -> tuple[list[Tag], list[float], list[str]]:
    """Tags of columns, the factor each column's values are multiplied by, and the decisions taken.

    A unit comes from ``units`` (by tag name or header; one text for all columns), else from the table of tags, else
    from the header.

    Raises
    ------
    LogError: a unit is unknown, two sources contradict each other, a column of a dose-rate log has no unit, or a name
        given is not in the log.
    """
    table = read_tag_table(tags)
    for what, given in (("units", units if isinstance(units, Mapping) else None), ("roles", roles)):
        _check_known(what, list(given or {}), columns)
    if table and not any(column.name in table or column.header in table for column in columns):
        raise LogError(f"none of the {len(table)} entries of tags is in the log, which holds {_some(columns)}")
    made: list[Tag] = []
    factors: list[float] = []
    decisions: list[str] = []
    unitless: list[str] = []
    for column in columns:
        entry = table.get(column.name) or table.get(column.header) or {}
        text, declared = _unit_text(column, units, entry)
        if text is None:
            unit, quantity, factor = None, "generic", 1.0
            if not declared:
                unitless.append(column.name)
        else:
            try:
                parsed = parse_unit(text)
            except LogError as error:
                raise LogError(
                    f"column {column.header!r}: {error}; declare units={{{column.name!r}: 'nSv/h'}}, "
                    "or None where the brackets hold no unit"
                ) from error
            unit, quantity, factor = parsed.text, parsed.quantity, parsed.factor
        if factor != 1.0:
            decisions.append(f"{text} was converted to {unit}")
        fields = {k: v for k, v in entry.items() if k not in ("name", "unit")}
        tag = replace(Tag(column.name, unit, quantity, column.station), **fields)
        if tag.quantity == "dose_rate" and unit is None:
            raise LogError(
                f"column {column.header!r} is a dose rate without a unit; declare units={{{column.name!r}: …}}"
            )
        role = (roles or {}).get(column.name) or (roles or {}).get(column.header)
        if role is not None and role not in get_args(Role):
            raise LogError(f"roles: {column.name!r} has role {role!r}; allowed: {', '.join(get_args(Role))}")
        made.append(replace(tag, role=role) if role else tag)
        factors.append(factor)
    if unitless and any(tag.quantity == "dose_rate" for tag in made):
        raise LogError(
            f"column {unitless[0]!r} has no unit in a log of dose rates; declare units={{{unitless[0]!r}: 'nSv/h'}}, "
            "or None for a tag that has none"
        )
    if unitless:
        decisions.append(f"{len(unitless):,} column(s) state no unit; their values were taken as they are")
    return made, factors, list(dict.fromkeys(decisions))


def _unit_text(
    column: Column, units: Mapping[str, str | None] | str | None, entry: Mapping[str, Any]
) -> tuple[str | None, bool]:
    """The unit's text, and whether someone declared it (also as None)."""
    if isinstance(units, str):
        return units, True
    for key in (column.name, column.header):
        if units and key in units:
            return units[key] or None, True
    listed = entry.get("unit")
    if listed and column.unit and parse_unit(str(listed)) != parse_unit(column.unit):
        raise LogError(
            f"column {column.header!r} states {column.unit!r}, but tags says {listed!r}; "
            f"settle it with units={{{column.name!r}: …}}"
        )
    return (str(listed) if listed else column.unit), bool(listed)


def _check_known(what: str, given: Sequence[str], columns: Sequence[Column]) -> None:
    known = {column.name for column in columns} | {column.header for column in columns}
    unknown = [name for name in given if name not in known]
    if unknown:
        raise LogError(f"{what} names what is not in the log: {', '.join(unknown[:10])}; it holds {_some(columns)}")


def _some(columns: Sequence[Column]) -> str:
    names = [column.name for column in columns]
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
