"""What headers and a table of tags say about columns."""

from __future__ import annotations

import csv
import io
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from ...errors import LogError
from ..log import Resample, Role, Tag
from .encoding import decode

#: A table of tags: tag name → `Tag` or its fields, or the path of a CSV with a column ``name``, ``tag`` or ``station``.
TagTable = Mapping[str, Tag | Mapping[str, Any]] | str | os.PathLike[str]

_SQUARE = re.compile(r"(.*?)\s*\[([^\[\]]*)\]", re.DOTALL)
_ROUND = re.compile(r"(.*?)\s+\(([^()]*)\)", re.DOTALL)
_ALIASES = {"lat": "latitude", "lng": "longitude", "lon": "longitude", "long": "longitude", "tag": "name"}
_FIELDS = ("name", "unit", "quantity", "station", "latitude", "longitude", "role", "resample")


@dataclass(frozen=True)
class Column:
    """A series before it is a tag: its header, the name and unit found in it, and what else its source says of it."""

    header: str
    name: str
    unit: str | None
    station: str | None = None
    coordinates: tuple[float, float] | None = None
    quantity: str | None = None
    resample: Resample | None = None
    role: Role | None = None


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
    count = Counter(name for name, _ in split)
    columns = []
    for header, (name, unit) in zip(headers, split, strict=True):
        stated = (unit_row or {}).get(header) or unit
        columns.append(Column(header, name if count[name] == 1 else header, stated))
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
    try:
        rows = list(csv.DictReader(io.StringIO(text.decode())))
    except csv.Error as error:
        raise LogError(f"the table of tags {path} is no CSV: {error}") from error
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
