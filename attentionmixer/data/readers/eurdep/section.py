"""One section of EURDEP records: the list of fields that holds, the defaults so far, and records by these."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ....errors import LogError
from .grammar import Item, split_fields

#: The fields that are read, in the order of a row.
FIELDS = (
    "LOCALITY_CODE",
    "NUCLIDE",
    "SAMPLE_TYPE",
    "VALUE_TYPE",
    "APPARATUS",
    "UNIT",
    "VALUE",
    "VALUE_CONSTRAINT",
    "BEGIN",
    "END",
    "UNCERTAINTY",
    "UNCERTAINTY_TYPE",
    "UNCERTAINTY_UNIT",
    "VALIDATED",
    "LATITUDE",
    "LONGITUDE",
)
_NEEDED = ("LOCALITY_CODE", "VALUE", "END")
#: A cell that asks for the default, and one that asks for nothing.
_DEFAULT, _NOTHING = "!", "-"
_NAME = re.compile(r"[A-Z][A-Z0-9_]*", re.ASCII)
_ENTRY = re.compile(r"([A-Za-z][A-Za-z0-9_]*)(?:\s*=\s*|\s+|$)(.*)", re.ASCII)


class Section:
    """A section of records while it is read: the list of fields that holds, and the defaults so far."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.untaken: set[str] = set()
        self._fields: tuple[str, ...] = ()
        self._declared_at = 0
        self._defaults: dict[str, str] = {}
        self._picks: list[tuple[int, str]] | None = None

    def declare(self, item: Item, name: str) -> None:
        """A list of fields; it holds until the next."""
        fields = tuple(field.strip().upper() for field in item.text.split(","))
        odd = next((field for field in fields if not _NAME.fullmatch(field)), None)
        times = Counter(fields)
        twice = next((field for field in fields if times[field] > 1), None)
        if odd is not None or twice is not None:
            fault = f"{odd!r} is no name of a field" if odd is not None else f"field {twice} is named twice"
            raise LogError(f"{name} line {item.line}: {fault}; \\FIELD_LIST NAME, NAME, ...; was expected")
        self._fields, self._declared_at, self._picks = fields, item.line, None

    def default(self, item: Item, name: str) -> None:
        """A value for the records from here on that do not state their own."""
        entry = _ENTRY.fullmatch(item.text)
        if entry is None:
            raise LogError(f"{name} line {item.line}: {item.text[:60]!r} is no default; \\NAME value; was expected")
        value = entry[2].strip().strip('"').strip()
        self._defaults[entry[1].upper()] = "" if value == _NOTHING else value
        self._picks = None

    def picks(self, item: Item, name: str) -> list[tuple[int, str]]:
        """For each of `FIELDS` its place in a record (-1: nowhere) and its default."""
        if self._picks is None:
            if not self._fields:
                raise LogError(
                    f"{name} line {item.line}: a record of {self.name} stands before any \\FIELD_LIST, so nothing says "
                    "what its fields are; restore the list"
                )
            kind = "METEO_TYPE" if self.name == "METEO" else "NUCLIDE"
            known = [kind if field == "NUCLIDE" else field for field in FIELDS]
            there = {*self._fields, *self._defaults}
            missing = [field for field in _NEEDED if field not in there] if self.name != "LOCALITY" else []
            if missing:
                raise LogError(
                    f"{name} line {item.line}: records have no {', '.join(missing)}: neither the \\FIELD_LIST of line "
                    f"{self._declared_at} nor a default names it"
                )
            self.untaken = there - set(known)
            self._picks = [
                (self._fields.index(field) if field in self._fields else -1, self._defaults.get(field, ""))
                for field in known
            ]
        return self._picks

    def fits(self, item: Item) -> bool:
        """Whether text behind a semicolon is a further record: it has as many fields."""
        count = len(self._fields)
        return item.section == self.name and count > 1 and len(split_fields(item.text)) == count

    def fault(self, cells: Sequence[str]) -> tuple[str, str, str] | None:
        """What keeps a record from being read, as (column, text, reason)."""
        if len(cells) != len(self._fields):
            reason = f"{len(cells)} field(s) instead of the {len(self._fields)} of the list in line {self._declared_at}"
            return "*", ",".join(cells)[:200], reason
        if _DEFAULT in cells:
            asking = (f for f, cell in zip(self._fields, cells, strict=True) if cell == _DEFAULT)
            without = next((field for field in asking if field in FIELDS and field not in self._defaults), None)
            if without is not None:
                return without, _DEFAULT, "asks for a default, and none is declared"
        return None

    def cell(self, cells: Sequence[str], field: str) -> str:
        """One cell of a record, or its default."""
        at = self._fields.index(field) if field in self._fields else -1
        return pick(cells, at, self._defaults.get(field, ""))


def pick(cells: Sequence[str], at: int, default: str) -> str:
    """The cell at a place of a record (-1: nowhere), or the default where it is blank or asks for it."""
    cell = cells[at] if at >= 0 else ""
    if cell in ("", _DEFAULT):
        return default
    return "" if cell == _NOTHING else cell
