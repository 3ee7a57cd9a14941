"""Tables: CSV or Parquet, wide (a column a tag) or long (a row a value), one file or many.

What is read is read strictly; what has two readings is refused with the way to declare the right one. Choices that have
one reading only (separator, decimal mark, date order, step) are made and reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ...errors import LogError
from ..log import Role, StationLog
from ..quality import Gap, Quarantined
from .account import LISTED, Account
from .clock import MISSING, ClockRules, impossible_times
from .columns import TagTable, dress
from .duplicates import merge_duplicates
from .grid import Bools, Grid, Ints, Period, as_text, find_gaps, find_grid
from .layout import lay_out
from .series import Series, finish
from .source import Source
from .table_file import FileRules, TableFile, load, sniff

__all__ = ["read", "sniff"]


def read(
    sources: Sequence[Source],
    *,
    tz: str | None = None,
    units: Mapping[str, str | None] | str | None = None,
    step: str | None = None,
    start: Any = None,
    end: Any = None,
    stations: Sequence[str] | None = None,
    duplicates: str = "error",
    time_column: str | None = None,
    layout: Literal["auto", "wide", "long"] = "auto",
    roles: Mapping[str, Role] | None = None,
    tags: TagTable | None = None,
    start_time: str | None = None,
    jitter: float = 0.25,
    date_order: Literal["dmy", "mdy"] | None = None,
    time_format: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    header: bool | None = True,
    names: Sequence[str] | None = None,
    skip: int = 0,
    ignore: Sequence[str] = (),
) -> StationLog:
    """One log from one or more tables with the same columns.

    Parameters
    ----------
    sources: the files; their rows are put one after another.
    tz: zone of times that state no offset, e.g. ``"UTC"`` or ``"Europe/Berlin"``.
    units: unit per tag name (or header); one text for all; ``None`` for a tag without a unit. Overrides the header.
    step: the grid's step, e.g. ``"10min"``; found from the times if not given.
    start, end: the period (UTC), ``start <= t < end``; an ``end`` that is only a date includes that day.
    stations: keep these stations of a log that names stations, in any case.
    duplicates: rows that repeat a step with other values: ``error``, ``first``, ``last``, ``mean`` or ``nearest``.
        Rows that repeat it exactly are merged under every policy.
    time_column: the column of times; found by name (time, timestamp, date …) or content if not given.
    layout: ``wide``: a column a tag; ``long``: a column ``tag`` and/or ``station``, and one or more of values;
        ``auto``: long where there is such a column.
    roles: role per tag name; ``target`` if not given.
    tags: table of tags (mapping or path of a CSV): name, unit, quantity, station, latitude, longitude, role, resample.
    start_time: time of the first row, for a table without times; needs ``step``.
    jitter: how far a time may be from its grid step, as a share of the step, below 0.5.
    date_order, time_format: how dates are written where that is not plain: ``"dmy"``, ``"mdy"``, or a strptime format.
    separator, decimal, header, names, skip, ignore: how the text is written: separator (or ``"whitespace"``), decimal
        mark, whether there is a line of names, names for a file without, lines to pass over, columns to leave out.

    Raises
    ------
    LogError: anything that cannot be read one way only; the message names column, row and time, and what to declare.
    """
    period = Period.parse(start, end)
    clock = ClockRules(tz, date_order, time_format)
    rules = FileRules(separator, decimal, header, names, skip, tuple(ignore), time_column)
    files = [load(source, rules) for source in sources]
    _check_same_columns(files)
    account = Account([file.name for file in files], sum(len(f.line) + len(f.refused) for f in files))
    for file in files:
        for sentence in file.decisions:
            account.decide(sentence)
        account.quarantine(file.refused, len(file.refused), "the line does not fit the header")

    series = lay_out(files, clock, layout=layout, start_time=start_time, step=step, account=account)
    series = series.take(_of_stations(series, stations, account))
    series = series.take(_keep_usable(series, period, account, checked=start_time is None))
    if not len(series.time):
        raise LogError(f"no row of {', '.join(account.sources[:5])} is left: {'; '.join(account.decisions)}")
    grid = find_grid(series.time, step, jitter, series.where)
    if grid.note:
        account.decide(grid.note)
    if grid.moved:
        account.decide(
            f"{grid.moved:,} time(s) were up to {grid.largest} off the grid of {grid.label} and were rounded"
        )
    _check_size(grid, len(series.time), series)
    cell = series.group * grid.steps + grid.position
    merge = merge_duplicates(
        cell,
        series.values,
        duplicates,
        distance=np.abs(series.time - grid.time_of(grid.position)),
        describe=series.where,
    )
    account.merge(merge.merged, merge.identical, duplicates)

    values = series.scatter(merge.cell, merge.values, grid.steps)
    account.add_gaps(_gaps(series, merge.cell, grid))
    dressed, factors, decisions = dress(series.columns, units=units, tags=tags, roles=roles)
    for sentence in decisions:
        account.decide(sentence)
    for reason, count in series.masked(merge.keep).items():
        account.mask(reason, count)
    values, dressed = finish(values, dressed, factors, account)
    return StationLog(values, grid.index(), dressed, account.record(len(merge.keep)))


def _check_same_columns(files: Sequence[TableFile]) -> None:
    first = files[0]
    for other in files[1:]:
        missing = [c for c in first.table.column_names if c not in other.table.column_names]
        extra = [c for c in other.table.column_names if c not in first.table.column_names]
        if missing or extra or other.time != first.time:
            raise LogError(
                f"{first.name} and {other.name} cannot be one log: {other.name} lacks {missing[:5]} and has "
                f"{extra[:5]} besides; read them one by one"
            )


def _keep_usable(series: Series, period: Period, account: Account, *, checked: bool) -> Bools:
    """True for rows with a time that can be, in the period, and without text that means nothing."""
    time = series.time
    keep = np.ones(len(time), dtype=bool)

    def leave_out(where: Bools, column: str, reason: str, text: Any) -> None:
        nonlocal keep
        rows = np.flatnonzero(where & keep)
        listed = [Quarantined(*series.place(int(row)), column, text(int(row)), reason) for row in rows[:LISTED]]
        account.quarantine(listed, len(rows), f"{reason} (column {column!r})")
        keep &= ~where

    name = series.time_name
    leave_out(time == MISSING, name, "not a time", series.time_text)
    if checked:
        for impossible, reason in impossible_times(time):
            leave_out(impossible, name, reason, series.time_text)
    outside = keep & ~period.holds(time)
    account.outside(int(outside.sum()))
    keep &= ~outside
    for i, bad in series.bad_cells.items():
        column = series.value_names[i]
        hits = int((bad & keep).sum())
        if hits and hits * 2 >= int(keep.sum()):
            row = int(np.flatnonzero(bad & keep)[0])
            raise LogError(
                f"column {column!r} holds text in {hits} of {int(keep.sum())} rows, first in {series.where(row)}: "
                f"{series.cell_text(i, row)!r}; leave it out with ignore=[{column!r}], or declare decimal="
            )
        leave_out(bad, column, "not a number", lambda row, i=i: series.cell_text(i, row))
    return keep


def _of_stations(series: Series, stations: Sequence[str] | None, account: Account) -> Bools:
    keep = np.ones(len(series.time), dtype=bool)
    if stations is None:
        return keep
    if series.station_of_group is None:
        raise LogError("stations= is for logs with a column 'station'; choose tags with log.select([...])")
    there = list(dict.fromkeys(series.station_of_group))
    asked = {name.strip().casefold() for name in ([stations] if isinstance(stations, str) else stations)}
    unknown = asked - {name.casefold() for name in there}
    if unknown or not asked:
        raise LogError(
            f"unknown station(s): {', '.join(sorted(unknown)) or '(none given)'}; there: {', '.join(there[:20])}"
        )
    chosen = np.array([name.casefold() in asked for name in series.station_of_group])
    keep = chosen[series.group]
    others = int((~keep).sum())
    account.rows_in -= others
    if others:
        account.decide(f"{others:,} row(s) of other stations were passed over and are not counted")
    return keep


def _check_size(grid: Grid, rows: int, series: Series) -> None:
    if grid.steps < 2:
        raise LogError(f"only one time ({as_text(int(series.time[0]))}) has rows; a log needs at least 2")
    if grid.steps > max(1_000_000, 50 * rows):
        raise LogError(
            f"a grid of {grid.label} from {as_text(grid.origin)} to {as_text(grid.last)} would hold {grid.steps:,} "
            f"steps for {rows:,} rows; check the first and last time, or give step=, start= and end="
        )


def _gaps(series: Series, cell: Ints, grid: Grid) -> list[Gap]:
    """Steps without any row, and for logs of several stations the further steps without a row of one station."""
    present = np.zeros(grid.steps, dtype=bool)
    present[cell % grid.steps] = True
    gaps = find_gaps(present, grid.origin, grid.step)
    if series.station_of_group is None:
        return gaps
    group = cell // grid.steps
    for station in dict.fromkeys(series.station_of_group):
        mine = np.array([name == station for name in series.station_of_group])[group]
        here = ~present
        here[cell[mine] % grid.steps] = True
        gaps += find_gaps(here, grid.origin, grid.step, station)
    return gaps
