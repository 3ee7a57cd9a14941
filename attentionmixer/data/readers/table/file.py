"""One file of a table, of whatever kind, as named columns with the line each row came from."""

from __future__ import annotations

import io

from ....errors import LogError
from ..archive import is_workbook
from ..source import ZIP, Source
from .arrow import ARROW, ARROW_STREAM, PARQUET, load_arrow
from .other_formats import refuse_other_formats
from .parquet import load_parquet
from .parts import (
    ID_NAMES,
    STATION_NAMES,
    TAG_NAMES,
    TIME_NAMES,
    UNIT_NAMES,
    FileRules,
    TableFile,
    find_time_column,
    is_utc_name,
)
from .text import load_text

__all__ = [
    "ID_NAMES",
    "PARQUET",
    "STATION_NAMES",
    "TAG_NAMES",
    "TIME_NAMES",
    "UNIT_NAMES",
    "FileRules",
    "TableFile",
    "find_time_column",
    "is_utc_name",
    "load",
    "sniff",
]


def sniff(head: bytes) -> bool:
    """Anything that is not another format is tried as a table; what is none is refused with a reason when read."""
    return True


def load(source: Source, rules: FileRules) -> TableFile:
    """Read one file: text, Parquet, Arrow, an Excel sheet, or a table of a database.

    Raises `LogError` where it is no table, or over the limits.
    """
    file = _load(source, rules)
    file.decisions[:0] = source.notes
    return file


def _load(source: Source, rules: FileRules) -> TableFile:
    from ..sql import SqlSource, load_sql

    if isinstance(source, SqlSource):
        return load_sql(source, rules)
    head = source.head()
    if head.startswith(PARQUET):
        return load_parquet(source, rules)
    if head.startswith((ARROW, ARROW_STREAM)):
        return load_arrow(source, rules, head)
    if head.startswith(ZIP):
        raw = source.read()
        if is_workbook(io.BytesIO(raw)):
            from .excel import load_excel

            return load_excel(source, rules, raw)
    refuse_other_formats(head, source.name)
    if rules.sheet is not None:
        raise LogError(f"{source.name} is a text table; sheet= is for Excel workbooks")
    return load_text(source, rules, head)
