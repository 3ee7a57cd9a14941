"""From the rows of any format to a log: what every reader shares once it knows times, series and values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import LogError
from ..log import Resample, Role, Sampling, StationLog
from ..quality import Gap, Quarantined
from .account import LISTED, Account
from .clock import MISSING, clock_faults, impossible_times
from .columns import TagTable
from .dress import dress
from .duplicates import merge_duplicates
from .finish import finish
from .grid import Bools, Grid, Ints, IrregularTimes, Period, as_text, check_size, find_gaps, find_grid
from .regularise import Rules, add_ages, regularise
from .series import Series


@dataclass(frozen=True)
class Assembly:
    """How rows become a log; the options all readers share. See `attentionmixer.data.read_log` for their meaning."""

    step: str | None = None
    start: Any = None
    end: Any = None
    stations: Sequence[str] | None = None
    duplicates: str | None = None
    units: Mapping[str, str | None] | str | None = None
    convert: Mapping[str, str] | None = None
    tags: TagTable | None = None
    roles: Mapping[str, Role] | None = None
    jitter: float = 0.25
    resample: Mapping[str, Resample] | Resample | None = None
    hold: str | None = None
    ages: bool | Sequence[str] = False


def assemble(
    series: Series, account: Account, assembly: Assembly, *, duplicates: str = "error", clock_checked: bool = True
) -> StationLog:
    """A log from rows.

    Parameters
    ----------
    series: the rows of all files. account: what was already decided and quarantined; ``rows_in`` counts all rows.
    assembly: what the user asked for. duplicates: the format's own policy where the user named none.
    clock_checked: whether times before 1971 and in the future are quarantined.

    Raises
    ------
    LogError: no row is left, rows contradict each other, or a unit is unknown.
    """
    policy = assembly.duplicates or duplicates
    period = Period.parse(assembly.start, assembly.end)
    series = series.take(_of_stations(series, assembly.stations, account))
    series = series.take(_keep_usable(series, period, account, checked=clock_checked))
    if not len(series.time):
        raise LogError(f"no row of {', '.join(account.sources[:5])} is left: {'; '.join(account.decisions)}")
    for sentence in clock_faults(series.time, series.group):
        account.warn(sentence)
    rules = Rules.of(series.columns, assembly.resample, assembly.tags, assembly.hold)
    grid = None
    if not rules.declared:
        try:
            grid = find_grid(series.time, assembly.step, assembly.jitter, series.where)
        except IrregularTimes as irregular:
            account.decide(f"the times are irregular: {irregular.found}")
    if grid is not None and assembly.step is not None and assembly.duplicates is None and duplicates == "error":
        # a step longer than the log's own: what falls into it is resampled, not refused
        grid = None if _shares_steps(series, grid) else grid
    if grid is None:
        regular = regularise(series, rules, assembly.step, policy, account)
        grid, values, flags, kept, ages = regular.grid, regular.values, regular.flags, regular.kept, regular.ages
        account.add_gaps(regular.gaps)
    else:
        if grid.note:
            account.decide(grid.note)
        if grid.moved:
            account.decide(
                f"{grid.moved:,} time(s) were up to {grid.largest} off the grid of {grid.label} and were rounded"
            )
        _check_size(grid, series)
        merge = merge_duplicates(
            series.group * grid.steps + grid.position,
            series.values,
            policy,
            distance=np.abs(series.time - grid.time_of(grid.position)),
            describe=series.where,
        )
        account.merge(merge.merged, merge.identical, policy)
        values = series.scatter(merge.cell, merge.values, grid.steps)
        flags = series.scatter_flags(merge.cell, merge.keep, grid.steps)
        kept, ages = len(merge.keep), None
        for reason, count in series.masked(merge.keep).items():
            account.mask(reason, count)
        account.add_gaps(_gaps(series, merge.cell, grid))
    dressed, factors, decisions = dress(
        series.columns, units=assembly.units, tags=assembly.tags, roles=assembly.roles, convert=assembly.convert
    )
    dressed = [rules.dress(i, tag) for i, tag in enumerate(dressed)]
    for sentence in decisions:
        account.decide(sentence)
    values, dressed, flags = add_ages(values, dressed, flags, ages, assembly.ages, grid.step)
    factors = [*factors, *[1.0] * (len(dressed) - len(factors))]
    values, dressed, flags = finish(values, dressed, factors, account, flags)
    time, record = grid.index(), account.record(kept)
    if flags is not None:
        record = record.with_flags(flags, time)
    return StationLog(values, time, dressed, record, flags=flags, sampling=series.sampling or Sampling())


def _shares_steps(series: Series, grid: Grid) -> bool:
    """Whether rows of one series and different times fall on one step."""
    order = np.lexsort((series.time, grid.position, series.group))
    group, position, time = series.group[order], grid.position[order], series.time[order]
    return bool(((np.diff(group) == 0) & (np.diff(position) == 0) & (np.diff(time) > 0)).any())


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


def _check_size(grid: Grid, series: Series) -> None:
    if grid.steps < 2:
        raise LogError(f"only one time ({as_text(int(series.time[0]))}) has rows; a log needs at least 2")
    check_size(
        grid.steps,
        len(series.columns),
        series.values.shape,
        f"{grid.label} from {as_text(grid.origin)} to {as_text(grid.last)}",
    )


def _gaps(series: Series, cell: Ints, grid: Grid) -> list[Gap]:
    """Steps without any row, and for logs of several stations the further steps without a row of one station."""
    present = np.zeros(grid.steps, dtype=bool)
    present[cell % grid.steps] = True
    gaps = find_gaps(present, grid.origin, grid.step)
    if series.station_of_group is None:
        return gaps
    group = cell // grid.steps
    names = list(dict.fromkeys(series.station_of_group))
    station_of_group = np.array([names.index(name) for name in series.station_of_group])
    # rows sorted by station, so that each station is looked at once
    station = station_of_group[group]
    order = np.argsort(station, kind="stable")
    bounds = np.searchsorted(station[order], np.arange(len(names) + 1))
    for s, name in enumerate(names):
        here = ~present
        here[cell[order[bounds[s] : bounds[s + 1]]] % grid.steps] = True
        gaps += find_gaps(here, grid.origin, grid.step, name)
    return gaps
