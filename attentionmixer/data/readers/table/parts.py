"""What is declared about files of tables, and what one of them becomes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from ....errors import LogError
from ...quality import Quarantined
from ..clock import looks_like_time
from ..grid import Ints
from .values import Numbers

TIME_NAMES = ("time", "timestamp", "datetime", "date", "date_time", "date/time", "zeit", "zeitpunkt", "datum", "utc")
TAG_NAMES = ("tag", "tagname", "tag_name", "variable", "point", "sensor")
STATION_NAMES = ("station", "station_id", "site")
UNIT_NAMES = ("unit", "units")
ID_NAMES = (*TAG_NAMES, *STATION_NAMES, *UNIT_NAMES)
_ZONE_SUFFIX = re.compile(r"[\[( ]\s*utc\s*[\])]?$")
_QUALITY = re.compile(r"(?:.*[\W_])?(?:quality|status|qc|flags?|valid(?:ity)?)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class FileRules:
    """What is declared about files: see `table.read`."""

    separator: str | None = None
    decimal: str | None = None
    header: bool | None = True
    names: Sequence[str] | None = None
    skip: int = 0
    ignore: Sequence[str] = ()
    time_column: str | None = None
    encoding: str | None = None
    comment: str | None = None
    sheet: str | None = None
    thousands: str | None = None

    def refuse_text_options(self, name: str, kind: str) -> None:
        """Raise `LogError` where something is declared that only a text table has."""
        for option in ("separator", "decimal", "encoding", "comment", "thousands"):
            if getattr(self, option) is not None:
                raise LogError(f"{name} is {kind}; {option}= is for text tables")

    def keep(self, names: Sequence[str], file: str) -> list[str]:
        """The columns that are not ignored. Raises `LogError` where one to ignore is not there."""
        there, ignored = set(names), set(self.ignore)
        unknown = [name for name in self.ignore if name not in there]
        if unknown:
            raise LogError(f"{file} has no column {', '.join(map(repr, unknown))} to ignore; it has {some(names)}")
        return [name for name in names if name not in ignored]


@dataclass
class TableFile:
    """One file's columns.

    ``table`` [R] has all columns in the file's order. Times (``time``, or None if there are none), names and words are
    in it as they were read; columns of numbers are in ``numbers``, and only stand for themselves in ``table``, as
    columns of nulls, which take no memory. ``line`` [R] is where each row came from, ``refused`` the rows left out.
    """

    name: str
    time: str | None
    table: pa.Table
    line: Ints
    refused: list[Quarantined]
    decimal: str
    unit_row: dict[str, str]
    decisions: list[str]
    numbers: Numbers
    thousands: str | None = None

    def column(self, name: str) -> pa.ChunkedArray:
        """Any column's content; a column of numbers without its odd cells."""
        if name in self.numbers.names:
            return pa.chunked_array([pa.array(self.numbers.values[:, self.numbers.names.index(name)])])
        return self.table[name]


def whole_table(names: Sequence[str], texts: pa.Table, rows: int) -> pa.Table:
    """A table of all columns in order: those of ``texts``, and columns of nulls in place of the others."""
    there, nothing = set(texts.column_names), pa.nulls(rows)
    return pa.table({name: texts[name] if name in there else nothing for name in names})


def is_word_name(name: str) -> bool:
    """Whether a column of this name holds words, even where they look like numbers: ids, units, quality codes."""
    plain = name.strip().lower()
    return plain in ID_NAMES or bool(_QUALITY.fullmatch(plain))


def is_utc_name(name: str) -> bool:
    """Whether a time column's header says that it is in UTC."""
    return name.strip().lower() == "utc" or bool(_ZONE_SUFFIX.search(name.strip().lower()))


def find_time_column(names: Sequence[str], sample: Sequence[Sequence[str]], asked: str | None, file: str) -> str | None:
    """The time column: the one asked for, else one named so, else the first whose cells read as times."""
    if asked is not None:
        if asked not in names:
            raise LogError(f"{file} has no column {asked!r}; it has {some(names)}")
        return asked
    plain = [_ZONE_SUFFIX.sub("", name.strip().lower()).strip() or "utc" for name in names]
    for wanted in TIME_NAMES:
        if wanted in plain:
            return names[plain.index(wanted)]
    for i, name in enumerate(names):
        if looks_like_time([row[i] for row in sample if len(row) > i]):
            return name
    return None


def check_columns(names: Sequence[str], file: str) -> None:
    """Raise `LogError` where column names repeat."""
    seen: set[str] = set()
    twice = sorted({name for name in names if name in seen or seen.add(name)})  # type: ignore[func-returns-value]
    if twice:
        raise LogError(
            f"{file}: column names repeat: {', '.join(map(repr, twice[:10]))}; rename them or give names=[...]"
        )


def some(names: Sequence[str]) -> str:
    """Column names for a message."""
    return ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
