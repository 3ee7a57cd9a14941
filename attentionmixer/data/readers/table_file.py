"""One CSV or Parquet file as named columns, with the line each row came from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ...errors import LogError
from ..quality import Quarantined
from .cells import NULLS
from .clock import looks_like_time
from .dialect import WHITESPACE, Dialect, decode, fields, find_dialect, refuse_other_formats
from .source import Source

PARQUET = b"PAR1"
TIME_NAMES = ("time", "timestamp", "datetime", "date", "date_time", "date/time", "zeit", "zeitpunkt", "datum", "utc")
TAG_NAMES = ("tag", "tagname", "tag_name", "variable", "point", "sensor")
STATION_NAMES = ("station", "station_id", "site")
UNIT_NAMES = ("unit", "units")
ID_NAMES = (*TAG_NAMES, *STATION_NAMES, *UNIT_NAMES)
_ZONE_SUFFIX = re.compile(r"[\[( ]\s*utc\s*[\])]?$")


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


@dataclass
class TableFile:
    """One file's columns. Text columns hold cells that are no plain numbers; ``time`` is None if there are no times."""

    name: str
    time: str | None
    table: pa.Table
    line: NDArray[np.int64]
    refused: list[Quarantined]
    decimal: str
    unit_row: dict[str, str]
    decisions: list[str]


def sniff(head: bytes) -> bool:
    """Anything that is not another format is tried as a table; what is none is refused with a reason when read."""
    return True


def load(source: Source, rules: FileRules) -> TableFile:
    """Read one file. Raises `LogError` where it is no table."""
    raw = source.read()
    if not raw or raw.isspace():
        raise LogError(f"{source.name} is empty")
    if raw.startswith(PARQUET):
        return _load_parquet(source.name, raw, rules)
    refuse_other_formats(raw[:4096], source.name)
    return _load_text(source.name, raw, rules)


def is_utc_name(name: str) -> bool:
    """Whether a time column's header says that it is in UTC."""
    return name.strip().lower() == "utc" or bool(_ZONE_SUFFIX.search(name.strip().lower()))


def find_time_column(names: Sequence[str], sample: Sequence[Sequence[str]], asked: str | None, file: str) -> str | None:
    """The time column: the one asked for, else one named so, else the first whose cells read as times."""
    if asked is not None:
        if asked not in names:
            raise LogError(f"{file} has no column {asked!r}; it has {', '.join(names[:20])}")
        return asked
    plain = [_ZONE_SUFFIX.sub("", name.strip().lower()).strip() or "utc" for name in names]
    for wanted in TIME_NAMES:
        if wanted in plain:
            return names[plain.index(wanted)]
    for i, name in enumerate(names):
        if looks_like_time([row[i] for row in sample if len(row) > i]):
            return name
    return None


def _drop_ignored(names: Sequence[str], rules: FileRules, file: str) -> list[str]:
    unknown = [name for name in rules.ignore if name not in names]
    if unknown:
        raise LogError(
            f"{file} has no column {', '.join(map(repr, unknown))} to ignore; it has {', '.join(names[:20])}"
        )
    return [name for name in names if name not in rules.ignore]


# --- text ---


def _load_text(name: str, raw: bytes, rules: FileRules) -> TableFile:
    text, decision = decode(raw, name)
    dialect = find_dialect(
        text,
        name,
        separator=rules.separator,
        decimal=rules.decimal,
        header=rules.header,
        names=rules.names,
        skip=rules.skip,
    )
    wanted = _drop_ignored(dialect.names, rules, name)
    time = find_time_column(dialect.names, dialect.sample, rules.time_column, name)
    body = _body(text, dialect.lines_before_data)
    separator = dialect.separator
    if separator == WHITESPACE:
        body = b"\n".join(b"\t".join(line.split()) for line in body.split(b"\n"))
        separator = "\t"
    texts = {column for column in wanted if column == time or column.strip().lower() in ID_NAMES}
    types = {column: pa.string() if column in texts else pa.float64() for column in wanted}
    refused: list[Quarantined] = []
    bad_lines: list[int] = []
    try:
        table = _parse(body, dialect, separator, types)
    except pa.ArrowInvalid:
        # a fault somewhere: read again as text, setting broken lines apart; cells are looked at one by one later
        refused, bad_lines, table = _parse_carefully(name, body, dialect, separator, wanted=wanted, texts=texts)
    line = _line_numbers(name, body, dialect.lines_before_data, table.num_rows, bad_lines)
    _refuse_mostly_broken(name, refused, table.num_rows, dialect)
    decisions = [*dialect.decisions, *([decision] if decision else [])]
    unit_row = dict(zip(dialect.names, dialect.unit_row or (), strict=False))
    return TableFile(name, time, table, line, refused, dialect.decimal, unit_row, decisions)


def _body(text: bytes, lines: int) -> bytes:
    at = 0
    for _ in range(lines):
        at = text.find(b"\n", at) + 1
        if at == 0:
            return b""
    return text[at:]


def _parse(
    body: bytes, dialect: Dialect, separator: str, types: dict[str, pa.DataType], handler: object = None
) -> pa.Table:
    return pv.read_csv(
        pa.BufferReader(body),
        read_options=pv.ReadOptions(column_names=list(dialect.names), block_size=1 << 23, use_threads=handler is None),
        parse_options=pv.ParseOptions(delimiter=separator, invalid_row_handler=handler, newlines_in_values=False),
        convert_options=pv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            null_values=list(NULLS),
            strings_can_be_null=False,
            decimal_point=dialect.decimal,
        ),
    )


def _parse_carefully(
    name: str, body: bytes, dialect: Dialect, separator: str, *, wanted: Sequence[str], texts: set[str]
) -> tuple[list[Quarantined], list[int], pa.Table]:
    broken: list[tuple[int, str, str]] = []

    def set_apart(row: pv.InvalidRow) -> str:
        reason = f"{row.actual_columns} field(s) instead of {row.expected_columns}"
        broken.append((row.number or 0, str(row.text), reason))
        return "skip"

    everything = dict.fromkeys(wanted, pa.string())
    try:
        table = _parse(body, dialect, separator, everything, set_apart)
    except pa.ArrowInvalid as error:
        raise LogError(f"{name} cannot be read as a table: {error}") from error
    # columns without a fault become numbers at once
    for i, column in enumerate(table.column_names):
        if column in texts:
            continue
        try:
            numbers = _as_numbers(table[column], dialect.decimal)
        except pa.ArrowInvalid:
            continue
        table = table.set_column(i, column, numbers)
    rows = _nonblank_lines(body, dialect.lines_before_data)
    refused = [Quarantined(name, rows[n - 1] if 0 < n <= len(rows) else 0, "*", t, why) for n, t, why in broken]
    return refused, [n for n, _, _ in broken], table


def _as_numbers(column: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray:
    trimmed = pc.utf8_trim_whitespace(column)
    blank = pc.is_in(trimmed, value_set=pa.array(NULLS))
    filled = pc.if_else(blank, pa.scalar(None, pa.string()), trimmed)
    if decimal != ".":
        filled = pc.replace_substring(filled, decimal, ".")
    return filled.cast(pa.float64())


def _nonblank_lines(body: bytes, before: int) -> list[int]:
    return [before + i for i, line in enumerate(body.split(b"\n"), 1) if line]


def _line_numbers(name: str, body: bytes, before: int, rows: int, bad: Sequence[int]) -> NDArray[np.int64]:
    """The line of each row in the file. Raises `LogError` where a quoted cell runs over several lines."""
    newlines = body.count(b"\n") + (0 if body.endswith(b"\n") else 1)
    if newlines == rows and not bad:
        return np.arange(before + 1, before + 1 + rows, dtype=np.int64)
    lines = np.array(_nonblank_lines(body, before), dtype=np.int64)
    if len(bad):
        lines = np.delete(lines, [n - 1 for n in bad if 0 < n <= len(lines)])
    if len(lines) != rows:
        # rows and lines would no longer agree, and a quote that is never closed would swallow rows uncounted
        odd = next((before + i for i, line in enumerate(body.split(b"\n"), 1) if line.count(b'"') % 2), 0)
        raise LogError(f"{name}: a quoted cell runs over the end of line {odd}; close the quote, or take the break out")
    return lines


def _refuse_mostly_broken(name: str, refused: Sequence[Quarantined], good: int, dialect: Dialect) -> None:
    if len(refused) < max(1, good):
        return
    first = refused[0]
    parts = fields(first.text, dialect.separator)
    hint = f"the header names {', '.join(dialect.names[:8])}; lines that come before it are passed over with skip="
    if dialect.separator == "," and len(parts) > len(dialect.names):
        split = next(
            (i for i in range(len(parts) - 1) if parts[i].strip("+- ").isdigit() and parts[i + 1].isdigit()), 0
        )
        whole = f"{parts[split]},{parts[split + 1]}"
        hint = (
            f"either {whole} is one number with a decimal comma, or two fields, {parts[split]} and {parts[split + 1]}; "
            "export with another separator and declare separator=';', decimal=','"
        )
    raise LogError(
        f"{name}: {len(refused)} of {len(refused) + good} lines do not fit the header; "
        f"line {first.line} has {first.reason}: {first.text[:80]!r}; {hint}"
    )


# --- Parquet ---


def _load_parquet(name: str, raw: bytes, rules: FileRules) -> TableFile:
    try:
        table = pq.read_table(pa.BufferReader(raw))
    except (pa.ArrowInvalid, OSError) as error:
        raise LogError(f"{name} is a damaged Parquet file: {error}") from error
    for option, value in (("separator", rules.separator), ("decimal", rules.decimal), ("names", rules.names)):
        if value is not None:
            raise LogError(f"{name} is Parquet; {option}= is for text tables")
    names = table.column_names
    if len(set(names)) < len(names):
        raise LogError(f"{name}: column names repeat")
    table = table.select(_drop_ignored(names, rules, name))
    names = table.column_names
    typed = [f.name for f in table.schema if pa.types.is_timestamp(f.type) or pa.types.is_date(f.type)]
    if rules.time_column is None and len(typed) == 1:
        time: str | None = typed[0]
    else:
        head = table.slice(0, 50)
        texts = [head[c].cast(pa.string()).fill_null("").to_pylist() if _is_text(head[c].type) else [] for c in names]
        sample = [[cells[i] if cells else "" for cells in texts] for i in range(head.num_rows)]
        time = find_time_column(names, sample, rules.time_column, name)
    for i, field in enumerate(table.schema):
        if field.name == time:
            continue
        is_number = pa.types.is_floating(field.type) or pa.types.is_integer(field.type)
        is_id = pa.types.is_integer(field.type) and field.name.strip().lower() in ID_NAMES
        if pa.types.is_dictionary(field.type) or _is_text(field.type) or is_id:
            table = table.set_column(i, field.name, table[field.name].cast(pa.string()))
        elif not is_number:
            try:
                numbers = table[field.name].cast(pa.float64())
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                raise LogError(
                    f"{name}: column {field.name!r} holds {field.type}, not numbers; leave it out with "
                    f"ignore=[{field.name!r}]"
                ) from error
            table = table.set_column(i, field.name, numbers)
    return TableFile(name, time, table, np.arange(1, table.num_rows + 1, dtype=np.int64), [], ".", {}, [])


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
