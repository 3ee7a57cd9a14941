"""From columns, declared units and a table of tags to `Tag` objects and the factors of their values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from ...errors import LogError
from ..log import Role, Tag
from ..units import Unit, convert_unit, parse_unit
from .columns import Column, TagTable, read_tag_table

Units = Mapping[str, str | None] | str | None
# a column that calls itself a dose rate may not go without a unit, whatever the others are
_SAYS_DOSE = re.compile(r"dose[ _-]?rate|dosisleistung|\bodl\b|線量率|débit de dose|\bH\*\(10\)", re.IGNORECASE)


def dress(
    columns: Sequence[Column],
    *,
    units: Units,
    tags: TagTable | None,
    roles: Mapping[str, Role] | None,
    convert: Mapping[str, str] | None = None,
) -> tuple[list[Tag], list[float], list[str]]:
    """Tags of columns, the factor each column's values are multiplied by, and the decisions taken.

    A unit comes from ``units`` (by tag name or header; one text for all columns), else from the table of tags, else
    from the header. ``convert`` states, by unit, tag name or header, what one unit of a quantity that is no dose rate
    stands for: ``{"µR/h": "8.7 nSv/h"}``.

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
    conversions = _Conversions(convert or {})
    made: list[Tag] = []
    factors: list[float] = []
    unitless: list[str] = []
    for column in columns:
        entry = table.get(column.name) or table.get(column.header) or {}
        text, declared = _unit_text(column, units, entry)
        unit = None if text is None else conversions.apply(column, text)
        if unit is None and not declared:
            unitless.append(column.name)
        made.append(_with_role(_tag(column, unit, entry), column, roles))
        factors.append(1.0 if unit is None else unit.factor)
    conversions.check_used()
    _check_units(unitless, made)
    said = [f"{len(unitless):,} column(s) state no unit; their values were taken as they are"] if unitless else []
    return made, factors, [*dict.fromkeys(conversions.decisions), *said]


class _Conversions:
    """The unit of each column after what is converted by itself or by a stated factor."""

    def __init__(self, stated: Mapping[str, str]) -> None:
        self.stated, self.unused = stated, set(stated)
        self.decisions: list[str] = []

    def apply(self, column: Column, text: str) -> Unit:
        try:
            unit = parse_unit(text)
        except LogError as error:
            raise LogError(
                f"column {column.header!r}: {error}; declare units={{{column.name!r}: 'nSv/h'}}, "
                "or None where the brackets hold no unit"
            ) from error
        key = next((k for k in (column.name, column.header, text, unit.text) if k in self.stated), None)
        if key is not None:
            self.unused.discard(key)
            unit = convert_unit(unit, self.stated[key], column.header)
            self.decisions.append(f"{text} was converted to {unit.text} with the factor stated: {self.stated[key]}")
        elif unit.factor != 1.0:
            self.decisions.append(f"{text} was converted to {unit.text}")
        return unit

    def check_used(self) -> None:
        """Raise `LogError` where a conversion is for what is not there."""
        if self.unused:
            raise LogError(f"convert names {', '.join(sorted(self.unused))}, which no column has as unit or name")


def _tag(column: Column, unit: Unit | None, entry: Mapping[str, Any]) -> Tag:
    text, quantity = (None, "generic") if unit is None else (unit.text, unit.quantity)
    # a length per time is a speed to the unit and rain to the source that says so; an uncertainty is no dose rate
    if column.quantity is not None and (quantity in ("generic", "speed") or column.quantity == "uncertainty"):
        quantity = column.quantity
    fields = {k: v for k, v in entry.items() if k not in ("name", "unit")}
    own = Tag(column.name, text, quantity, column.station, column.coordinates, column.role or "target")
    tag = replace(own, **fields)
    if tag.quantity == "dose_rate" and text is None:
        raise LogError(f"column {column.header!r} is a dose rate without a unit; declare units={{{column.name!r}: …}}")
    return tag


def _with_role(tag: Tag, column: Column, roles: Mapping[str, Role] | None) -> Tag:
    role = (roles or {}).get(column.name) or (roles or {}).get(column.header)
    if role is not None and role not in get_args(Role):
        raise LogError(f"roles: {column.name!r} has role {role!r}; allowed: {', '.join(get_args(Role))}")
    return replace(tag, role=role) if role else tag


def _check_units(unitless: Sequence[str], made: Sequence[Tag]) -> None:
    """Raise `LogError` where a column of a dose-rate log has no unit."""
    doses = [name for name in unitless if _SAYS_DOSE.search(name)]
    if unitless and (doses or any(tag.quantity == "dose_rate" for tag in made)):
        odd = (doses or unitless)[0]
        raise LogError(
            f"column {odd!r} has no unit in a log of dose rates; declare units={{{odd!r}: 'nSv/h'}}, "
            "or None for a tag that has none"
        )


def _unit_text(column: Column, units: Units, entry: Mapping[str, Any]) -> tuple[str | None, bool]:
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
