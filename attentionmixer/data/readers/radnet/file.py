"""One RadNet file, and many of them as one set of columns."""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
from numpy.typing import NDArray

from ....errors import LogError
from ...quality import Quarantined
from ..grid import as_text
from ..source import Source

HEADER_START = b"LOCATION_NAME,SAMPLE COLLECTION TIME,"
STATION, TIME, DOSE, STATUS = (
    "LOCATION_NAME",
    "SAMPLE COLLECTION TIME",
    "DOSE EQUIVALENT RATE (nSv/h)",
    "STATUS",
)
WINDOWS = tuple(f"R0{number}" for number in range(2, 10))
CHANNELS = ("dose", *WINDOWS)
VALUE_COLUMNS = (DOSE, *(f"GAMMA COUNT RATE {window} (CPM)" for window in WINDOWS))
COLUMNS = (STATION, TIME, *VALUE_COLUMNS, STATUS)
_TIME = re.compile(r"[0-9]{1,2}/[0-9]{1,2}/[0-9]{4} [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}")
_TIME_FORMAT = "%m/%d/%Y %H:%M:%S"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)", re.ASCII | re.IGNORECASE)


def sniff(head: bytes) -> bool:
    """Whether a file that begins like this is a RadNet export."""
    return head.lstrip(b"\xef\xbb\xbf").replace(b'"', b"").upper().startswith(HEADER_START)


class RadnetFile:
    """One file's rows, parsed; `refused` are the rows that could not be."""

    def __init__(self, name: str, table: pa.Table, line: NDArray[np.int64], refused: list[Quarantined]) -> None:
        self.name = name
        self.table = table
        self.line = line
        self.refused = refused
        self.time = table[TIME].to_numpy().view(np.int64)
        self.values = np.stack(
            [table[c].to_numpy(zero_copy_only=False).astype(np.float64) for c in VALUE_COLUMNS], axis=1
        )


def parse(source: Source) -> RadnetFile:
    """Read one file. A row with a fault is set apart with its line; raises `LogError` where a column is missing."""
    raw = source.read()
    if raw.startswith(b"\xef\xbb\xbf"):
        raw = raw[3:]
    try:
        table = _parse_clean(raw)
        names = table.column_names
    except (pa.ArrowInvalid, UnicodeDecodeError):
        table, names = None, []
    if table is not None:
        _check_header(source.name, names)
    # a file with a fault anywhere is read again line by line, so that only the faulty rows are lost
    if table is not None and _is_named(table[STATION]) and table[TIME].null_count == 0:
        newlines = raw.count(b"\n") + (0 if raw.endswith(b"\n") else 1)
        if newlines == table.num_rows + 1:
            return RadnetFile(source.name, table, np.arange(2, table.num_rows + 2, dtype=np.int64), [])
    return _parse_line_by_line(source.name, raw)


def _is_named(station: pa.ChunkedArray) -> bool:
    """Whether every row names its station, without blanks around the name."""
    trimmed = pc.utf8_trim_whitespace(station)
    plain = pc.and_(pc.equal(trimmed, station), pc.not_equal(trimmed, ""))
    return station.null_count == 0 and bool(pc.all(plain, min_count=0).as_py())


def _check_header(name: str, found: Sequence[str]) -> None:
    missing = [column for column in COLUMNS if column not in found]
    if missing:
        raise LogError(f"{name}: not a complete RadNet export; column(s) missing: {', '.join(missing)}")
    twice = [column for column in COLUMNS if list(found).count(column) > 1]
    if twice:
        raise LogError(f"{name}: not a RadNet export as published; column(s) more than once: {', '.join(twice)}")


def _parse_clean(raw: bytes) -> pa.Table:
    types: dict[str, pa.DataType] = {STATION: pa.string(), STATUS: pa.string(), TIME: pa.string()}
    types |= dict.fromkeys(VALUE_COLUMNS, pa.float64())
    table = pv.read_csv(
        io.BytesIO(raw),
        read_options=pv.ReadOptions(block_size=1 << 22),
        convert_options=pv.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=True),
    )
    at = table.schema.get_field_index(TIME)
    return table if at < 0 else table.set_column(at, TIME, _parse_times(table[TIME]))


def _parse_times(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Times as they are usually written. Raises `pa.ArrowInvalid` for any other, which may be good all the same."""
    times = pc.strptime(text, _TIME_FORMAT, "s")
    # that parser takes 02/30 for 2 March and second 60 for the next minute
    if not pc.all(pc.equal(pc.strftime(times, _TIME_FORMAT), text), min_count=0).as_py():
        raise pa.ArrowInvalid("times that do not exist, or are written in another way")
    return times.cast(pa.timestamp("ns"))


def _parse_line_by_line(name: str, raw: bytes) -> RadnetFile:
    # line by line, so that a quote that is never closed costs its own line and not the rest of the file
    lines = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n").decode("utf-8", errors="replace").split("\n")
    header = [cell.strip() for cell in _split(lines[0])]
    _check_header(name, header)
    place = {column: header.index(column) for column in COLUMNS}
    refused: list[Quarantined] = []
    kept: list[list[Any]] = []
    numbers: list[int] = []
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        fields = _split(line)
        fault = _fault(fields, len(header), place)
        if fault is None:
            kept.append([fields[place[column]].strip() or None for column in COLUMNS])
            numbers.append(number)
        else:
            refused.append(Quarantined(name, number, *fault))
    columns = list(zip(*kept, strict=True)) if kept else [()] * len(COLUMNS)
    arrays: dict[str, pa.Array] = {}
    for column, cells in zip(COLUMNS, columns, strict=True):
        text = pa.array(cells, pa.string())
        if column == TIME:
            arrays[column] = pc.strptime(text, _TIME_FORMAT, "ns")
        elif column in VALUE_COLUMNS:
            arrays[column] = pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())
        else:
            arrays[column] = text
    return RadnetFile(name, pa.table(arrays), np.array(numbers, dtype=np.int64), refused)


def _split(line: str) -> list[str]:
    try:
        return next(csv.reader([line]), [])
    except csv.Error:
        return [line]


def _fault(fields: Sequence[str], width: int, place: Mapping[str, int]) -> tuple[str, str, str] | None:
    """What keeps a row from being read, as (column, text, reason)."""
    if len(fields) != width:
        return "*", ",".join(fields)[:200], f"{len(fields)} field(s) instead of {width}"
    damaged = next((column for column, i in place.items() if "\ufffd" in fields[i]), None)
    if damaged is not None:
        return damaged, fields[place[damaged]], "bytes that are not UTF-8"
    if not fields[place[STATION]].strip():
        return STATION, "", "no station"
    stamp = fields[place[TIME]].strip()
    if not _is_time(stamp):
        return TIME, stamp, "not a time of the form MM/DD/YYYY HH:MM:SS"
    for column in VALUE_COLUMNS:
        cell = fields[place[column]].strip()
        if cell and not _NUMBER.fullmatch(cell):
            return column, cell, "not a number"
    return None


def _is_time(text: str) -> bool:
    # Python's parser takes any white space for a blank, even none; Arrow's takes the blank
    if not _TIME.fullmatch(text):
        return False
    try:
        stamp = dt.datetime.strptime(text, _TIME_FORMAT)
    except ValueError:
        return False
    return 1700 < stamp.year < 2262  # what nanoseconds since 1970 can hold


class RadnetRows:
    """All rows of all files, column by column."""

    def __init__(self, tables: Sequence[RadnetFile]) -> None:
        names = pa.chunked_array([chunk for t in tables for chunk in t.table[STATION].chunks], pa.string())
        encoded = names.combine_chunks().dictionary_encode()
        self.stations: list[str] = encoded.dictionary.to_pylist()
        self.station = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        self.time = np.concatenate([t.time for t in tables])
        self.values = np.concatenate([t.values for t in tables])
        self.status = np.concatenate([t.table[STATUS].to_numpy(zero_copy_only=False) for t in tables])
        self.file = np.repeat(np.arange(len(tables)), [len(t.time) for t in tables])
        self.line = np.concatenate([t.line for t in tables])
        self.files = [t.name for t in tables]
        self.refused = [bad for t in tables for bad in t.refused]

    def take(self, rows: NDArray[np.bool_]) -> RadnetRows:
        """These rows only."""
        other = object.__new__(RadnetRows)
        other.__dict__.update(self.__dict__)
        for name in ("station", "time", "values", "status", "file", "line"):
            setattr(other, name, getattr(self, name)[rows])
        return other

    def place(self, row: int) -> tuple[str, int]:
        """File and line of a row."""
        return self.files[self.file[row]], int(self.line[row])

    def where(self, row: int) -> str:
        """Names a row for people."""
        file, line = self.place(row)
        return f"{file} line {line} ({as_text(int(self.time[row]))})"
