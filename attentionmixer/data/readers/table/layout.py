"""From files to one set of series: wide tables (a column a tag) and long ones (a row a value) alike.

Either way a row has a time, a *group* (0 in a wide table; its tag or station in a long one) and V values. The log's
columns are all pairs of group and value column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ....errors import LogError
from ..account import Account
from ..cells import Reason, read_cells
from ..clock import ClockRules, read_times
from ..columns import Column, name_columns, split_header
from ..grid import Bools, Ints, parse_step
from ..series import Series
from .file import STATION_NAMES, TAG_NAMES, UNIT_NAMES, TableFile, is_utc_name

VALUE_NAMES = ("value", "values", "val", "reading")


def lay_out(
    files: Sequence[TableFile],
    clock: ClockRules,
    *,
    layout: str,
    start_time: str | None,
    step: str | None,
    account: Account,
) -> Series:
    """One `Series` from files with the same columns."""
    if layout not in ("auto", "wide", "long"):
        raise LogError(f"layout={layout!r} is unknown; choose auto, wide or long")
    first = files[0]
    names = [name for name in first.table.column_names if name != first.time]
    roles = _id_columns(names) if layout != "wide" else {}
    is_long = "tag" in roles or "station" in roles
    if layout == "long" and not is_long:
        raise LogError(f"{first.name} is not long: no column is named {' or '.join((*TAG_NAMES, *STATION_NAMES))}")
    if not is_long:
        roles = {}
    value_names = [name for name in names if name not in roles.values()]
    if not value_names:
        raise LogError(f"{first.name} has no column of values beside {', '.join(first.table.column_names)}")
    table = pa.concat_tables([f.table.select(first.table.column_names) for f in files], promote_options="permissive")
    if not table.num_rows:
        raise LogError(f"{', '.join(f.name for f in files)} hold(s) no row that can be read")
    group, ids, stations = _groups(table, roles)
    time, time_texts = _times(files, table, clock, start_time, step, account=account, group=group if is_long else None)
    read = _Values(files, table, value_names)
    columns = _columns(value_names, ids, stations, first, is_long)
    if "unit" in roles:
        columns = _units_from_rows(table, roles["unit"], columns, group, value_names)
    return Series(
        time=time,
        group=group,
        values=read.values,
        columns=tuple(columns),
        value_names=tuple(value_names),
        time_name=first.time or "time",
        station_of_group=stations,
        file=np.repeat(np.arange(len(files)), [len(f.line) for f in files]),
        line=np.concatenate([f.line for f in files]),
        files=tuple(f.name for f in files),
        bad_cells=read.bad,
        reasons=read.reasons,
        reason_names=tuple(reason.text for reason in read.found),
        reason_flags=tuple(reason.flag for reason in read.found),
        texts=read.texts,
        time_texts=time_texts,
        row=np.arange(table.num_rows),
    )


def _id_columns(names: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for role, known in (("tag", TAG_NAMES), ("station", STATION_NAMES), ("unit", UNIT_NAMES)):
        for name in names:
            if name.strip().lower() in known:
                found.setdefault(role, name)
    return found


def _times(
    files: Sequence[TableFile],
    table: pa.Table,
    clock: ClockRules,
    start_time: str | None,
    step: str | None,
    *,
    account: Account,
    group: Ints | None,
) -> tuple[Ints, pa.ChunkedArray | None]:
    name = files[0].time
    if name is not None:
        if start_time is not None:
            raise LogError(f"start_time= is for tables without times, but column {name!r} holds some")
        if clock.tz is None and is_utc_name(name):
            clock = replace(clock, tz="UTC")
        times = read_times(table[name], clock, f"{files[0].name}: column {name!r}", group=group)
        for sentence in times.decisions:
            account.decide(sentence)
        for sentence in times.warnings:
            account.warn(sentence)
        text = table[name].cast(pa.string())
        return times.ns, text
    if start_time is None or step is None:
        raise LogError(
            f"{files[0].name} has no column of times (columns: {', '.join(table.column_names[:10])}); name it with "
            "time_column=, or give step= and start_time= if rows are evenly spaced and no times were recorded"
        )
    if len(files) > 1:
        raise LogError(
            "tables without times cannot be joined: nothing says how far apart they are; read them one by one"
        )
    if group is not None:
        raise LogError("a long table needs a column of times")
    try:
        origin = pd.Timestamp(start_time).as_unit("ns")
    except ValueError as error:
        raise LogError(f"start_time={start_time!r} is not a time; write it as 2021-06-30T12:00Z") from error
    zone = clock.tz or "UTC"
    origin = origin.tz_localize(zone) if origin.tzinfo is None else origin
    width = parse_step(step)
    account.decide(
        f"the times are synthetic: the table has none; rows were placed every {step} from {origin.isoformat()}"
    )
    # a line that could not be read keeps its place, so the rows after it do not move up
    line = files[0].line
    nth = line - line[0] if line.min() > 0 and files[0].refused else np.arange(table.num_rows)
    return origin.value + nth * width, None


def _groups(table: pa.Table, roles: Mapping[str, str]) -> tuple[Ints, list[str], tuple[str, ...] | None]:
    """(group of each row, name of each group, station of each group)."""
    if not roles:
        return np.zeros(table.num_rows, dtype=np.int64), [""], None
    keys = [table[roles[role]].cast(pa.string()) for role in ("station", "tag") if role in roles]
    codes, words = [], []
    for key, name in zip(keys, [roles[r] for r in ("station", "tag") if r in roles], strict=True):
        encoded = key.combine_chunks().fill_null("").dictionary_encode()
        blank = [i for i, word in enumerate(encoded.dictionary.to_pylist()) if not word.strip()]
        if blank:
            raise LogError(
                f"column {name!r} is blank in {int(np.isin(encoded.indices.to_numpy(), blank).sum())} row(s)"
            )
        codes.append(encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64))
        words.append(encoded.dictionary.to_pylist())
    if len(codes) == 1:
        stations = tuple(words[0]) if "station" in roles else None
        return codes[0], list(words[0]), stations
    pairs, group = np.unique(codes[0] * len(words[1]) + codes[1], return_inverse=True)
    of = [(words[0][int(p) // len(words[1])], words[1][int(p) % len(words[1])]) for p in pairs]
    return group.astype(np.int64), [f"{station} {tag}" for station, tag in of], tuple(station for station, _ in of)


def _columns(
    value_names: Sequence[str],
    ids: Sequence[str],
    stations: Sequence[str] | None,
    first: TableFile,
    is_long: bool,
) -> list[Column]:
    if not is_long:
        return name_columns(value_names, first.unit_row)
    columns = []
    for g, name in enumerate(ids):
        for header in value_names:
            part, unit = split_header(header)
            whole = name if len(value_names) == 1 and part.strip().lower() in VALUE_NAMES else f"{name} {part}"
            station = stations[g] if stations is not None else None
            columns.append(Column(whole, whole, first.unit_row.get(header) or unit, station))
    return columns


def _units_from_rows(
    table: pa.Table, name: str, columns: Sequence[Column], group: Ints, value_names: Sequence[str]
) -> list[Column]:
    if len(value_names) > 1:
        raise LogError(
            f"column {name!r} cannot give the unit of {len(value_names)} columns of values; use ignore=[{name!r}]"
        )
    frame = pd.DataFrame({"group": group, "unit": table[name].cast(pa.string()).fill_null("").to_numpy()})
    seen = frame.drop_duplicates()
    made: list[Column] = []
    for g, column in enumerate(columns):
        units: list[Any] = [u.strip() for u in seen.loc[seen["group"] == g, "unit"] if u.strip()]
        if len(set(units)) > 1:
            raise LogError(f"tag {column.name!r} comes in several units ({', '.join(units)}); export it in one")
        made.append(replace(column, unit=units[0] if units else column.unit))
    return made


class _Values:
    """Value columns of all files as float32 [R, V], with what was wrong with cells. Takes the files' numbers over."""

    def __init__(self, files: Sequence[TableFile], table: pa.Table, names: Sequence[str]) -> None:
        self.bad: dict[int, Bools] = {}
        self.reasons: dict[int, NDArray[Any]] = {}
        self.found: list[Reason] = []
        self.texts: dict[int, Any] = {}
        self.values = self._stack(files, table.num_rows, names)
        # columns of words that turn out to be values
        for i, name in enumerate(names):
            if pa.types.is_string(table[name].type):
                self.values[:, i] = self._read_text(i, table[name], files[0].decimal, files[0].thousands)

    def _stack(self, files: Sequence[TableFile], rows: int, names: Sequence[str]) -> NDArray[np.float32]:
        if len(files) == 1 and files[0].numbers.names == tuple(names):
            self._add_odd(files[0], 0, rows, range(len(names)))
            return files[0].numbers.values
        values = np.full((rows, len(names)), np.nan, dtype=np.float32)
        start = 0
        for file in files:
            there = {name: i for i, name in enumerate(file.numbers.names)}
            to = [i for i, name in enumerate(names) if name in there]
            order = [there[names[i]] for i in to]
            part = values[start : start + len(file.line)]
            if to == list(range(len(names))) and order == to:
                part[:] = file.numbers.values
            else:
                part[:, to] = file.numbers.values[:, order]
            place = {column: i for i, column in zip(to, order, strict=True)}
            self._add_odd(file, start, rows, [place.get(i, -1) for i in range(len(there))])
            # its memory is needed for the files to come
            file.numbers.values = np.empty((0, len(there)), dtype=np.float32)
            start += len(file.line)
        return values

    def _add_odd(self, file: TableFile, start: int, rows: int, place: Sequence[int]) -> None:
        """Note a file's odd cells; its columns are at ``place`` among all (-1: not wanted)."""
        codes = np.array([*map(self._code, file.numbers.reasons), -1], dtype=np.int32)
        for column, odd in file.numbers.odd.items():
            i = place[column]
            if i < 0:
                continue
            row, reason = odd.row + start, codes[odd.reason]
            if (reason >= 0).any():
                self.reasons.setdefault(i, np.full(rows, -1, dtype=np.int32))[row] = reason
            if (reason < 0).any():
                self.bad.setdefault(i, np.zeros(rows, dtype=bool))[row[reason < 0]] = True
                texts = self.texts.setdefault(i, {})
                texts.update({at + start: pa.scalar(text) for at, text in odd.text.items()})

    def _read_text(
        self, i: int, column: pa.ChunkedArray, decimal: str, thousands: str | None
    ) -> NDArray[np.floating[Any]]:
        cells = read_cells(column, decimal, thousands)
        self.texts[i] = column
        if cells.bad.any():
            self.bad[i] = cells.bad
        if cells.reasons:
            self.reasons[i] = np.array([*map(self._code, cells.reasons), -1], dtype=np.int32)[cells.reason]
        with np.errstate(over="ignore"):  # what overflows becomes infinite, and is masked and counted later
            return cells.values.astype(np.float32)

    def _code(self, reason: Reason) -> int:
        if reason not in self.found:
            self.found.append(reason)
        return self.found.index(reason)
