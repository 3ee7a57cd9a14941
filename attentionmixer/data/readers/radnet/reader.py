"""US EPA RadNet fixed monitors: one CSV a station and year, as published by the agency.

Rules, each counted in the log's quality record:

- times are UTC and drift, so they are rounded to the full hour (half past goes up);
- two readings of one hour: the one nearest to the full hour is kept, unless ``duplicates`` says otherwise;
- only rows with status APPROVED are kept; a blank dose keeps the row's counts;
- a dose rate of exactly 0 is a placeholder, and a negative rate impossible: both become missing;
- counts are never turned into dose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....errors import LogError
from ...log import Role, StationLog, Tag
from ...quality import Quarantined
from ..account import LISTED, Account
from ..clock import impossible_times
from ..duplicates import Merge, merge_duplicates
from ..grid import Period, as_text, find_gaps, regular_index, round_half_up
from ..source import Source
from .file import CHANNELS, STATUS, TIME, RadnetRows, parse, sniff

__all__ = ["read", "sniff"]

HOUR = 3_600_000_000_000
_FLOAT32_MAX = float(np.finfo(np.float32).max)


def read(
    sources: Sequence[Source],
    *,
    start: Any = None,
    end: Any = None,
    stations: Sequence[str] | None = None,
    duplicates: str = "nearest",
    roles: Mapping[str, Role] | None = None,
    coordinates: Mapping[str, tuple[float, float]] | None = None,
) -> StationLog:
    """One hourly log from any number of RadNet files.

    Parameters
    ----------
    sources: the files; stations and years may be mixed.
    start, end: the period (UTC); an ``end`` that is only a date includes that day.
    stations: names such as ``"AZ: PHOENIX"``, in any case; all if not given.
    duplicates: for readings rounded to the same hour: ``nearest``, ``first``, ``last``, ``mean`` or ``error``.
    roles: tag name → role; ``target`` if not given.
    coordinates: station → (latitude, longitude); the files hold none.

    Returns
    -------
    A log with tags ``"<station> dose"`` (nSv/h) and ``"<station> R02"`` … ``"<station> R09"`` (cpm), on every hour from
    the first to the last reading in the period, NaN where there is none.

    Raises
    ------
    LogError: a file lacks a column, a station is unknown or has no reading in the period, or nothing is left.
    """
    period = Period.parse(start, end)
    rows = RadnetRows([parse(source) for source in sources])
    if not len(rows.time):
        raise LogError(f"no row of {', '.join(s.name for s in sources)} could be read as a RadNet reading")
    wanted = _choose(rows.stations, stations)
    account = Account([source.name for source in sources], len(rows.time) + len(rows.refused))
    account.decide("RadNet export: times are UTC, rounded to the full hour (half past goes up)")
    account.quarantine(rows.refused, len(rows.refused), "a field is missing or is no number or time")
    rows = _only_stations(rows, wanted, account)

    time = round_half_up(rows.time, HOUR)
    position = np.flatnonzero(_usable(rows, time, period, account))
    if not len(position):
        raise LogError(
            f"no approved reading of {', '.join(wanted)} in the period asked for; the files span "
            f"{as_text(int(rows.time.min()))} to {as_text(int(rows.time.max()))}"
        )
    time = time[position]
    first, last = int(time.min()), int(time.max())
    steps = (last - first) // HOUR + 1
    if steps < 2:
        raise LogError(f"only one hour ({as_text(first)}) has readings; a log needs at least 2")
    merge = merge_duplicates(
        rows.station[position] * steps + (time - first) // HOUR,
        rows.values[position],
        duplicates,
        distance=np.abs(rows.time[position] - time),
        describe=lambda i: rows.where(int(position[i])),
    )
    account.merge(merge.merged, merge.identical, duplicates)
    values, tags = _scatter(rows.stations, wanted, merge, (first, steps), account, asked=stations is not None)
    tags = [_dress(tag, roles or {}, coordinates or {}) for tag in tags]
    _check_names("roles", roles, [tag.name for tag in tags])
    _check_names("coordinates", coordinates, wanted)
    return StationLog(values, regular_index(first, last, HOUR), tags, account.record(len(merge.keep)))


def _choose(there: Sequence[str], asked: Sequence[str] | None) -> list[str]:
    if asked is None:
        return list(there)
    asked = [asked] if isinstance(asked, str) else list(asked)
    by_key = {name.casefold(): name for name in there}
    unknown = [name for name in asked if name.strip().casefold() not in by_key]
    if unknown or not asked:
        raise LogError(f"unknown station(s): {', '.join(unknown) or '(none given)'}; the files hold {', '.join(there)}")
    return list(dict.fromkeys(by_key[name.strip().casefold()] for name in asked))


def _only_stations(rows: RadnetRows, wanted: Sequence[str], account: Account) -> RadnetRows:
    others = [name for name in rows.stations if name not in wanted]
    if not others:
        return rows
    chosen = np.isin(rows.station, [rows.stations.index(name) for name in wanted])
    left = int((~chosen).sum())
    account.rows_in -= left
    account.decide(f"{left:,} row(s) of other stations were passed over and are not counted: {', '.join(others)}")
    return rows.take(chosen)


def _usable(rows: RadnetRows, time: NDArray[np.int64], period: Period, account: Account) -> NDArray[np.bool_]:
    """True for the approved rows in the period; the others are accounted for here."""
    possible = np.ones(len(time), dtype=bool)
    for impossible, reason in impossible_times(rows.time):
        listed = [
            Quarantined(*rows.place(row), TIME, as_text(int(rows.time[row])), reason)
            for row in np.flatnonzero(impossible)[:LISTED].tolist()
        ]
        account.quarantine(listed, int(impossible.sum()), reason)
        possible &= ~impossible
    inside = possible & period.holds(time)
    account.outside(int((possible & ~inside).sum()))
    status = pd.Series(rows.status).fillna("").astype(str).str.strip().str.upper()
    approved = (status == "APPROVED").to_numpy()
    refused = np.flatnonzero(inside & ~approved)
    if len(refused):
        counts = ", ".join(f"{s or '(blank)'} {n:,}" for s, n in status.iloc[refused].value_counts().items())
        listed = [
            Quarantined(*rows.place(row), STATUS, str(status.iloc[row]), "status is not APPROVED")
            for row in refused[:LISTED].tolist()
        ]
        account.quarantine(listed, len(refused), f"status is not APPROVED ({counts})")
    return inside & approved


def _scatter(
    stations: Sequence[str],
    wanted: Sequence[str],
    merge: Merge,
    grid: tuple[int, int],
    account: Account,
    *,
    asked: bool,
) -> tuple[NDArray[np.float32], list[Tag]]:
    """Values on the grid [T, N] and their tags, without the tags that hold nothing."""
    first, steps = grid
    values = _mask(merge.values, account)
    columns: list[NDArray[np.float32]] = []
    tags: list[Tag] = []
    for name in wanted:
        mine = merge.cell // steps == stations.index(name)
        if not mine.any():
            if asked:
                raise LogError(f"station {name} has no approved reading in the period; ask for another or leave it out")
            account.decide(f"station {name} has no approved reading in the period; it was left out")
            continue
        block = np.full((steps, len(CHANNELS)), np.nan, dtype=np.float32)
        present = np.zeros(steps, dtype=bool)
        at = merge.cell[mine] % steps
        present[at] = True
        block[at] = values[mine]
        account.add_gaps(find_gaps(present, first, HOUR, name))
        for c, channel in enumerate(CHANNELS):
            dose = channel == "dose"
            if np.isnan(block[:, c]).all():
                what = "reports no dose rate" if dose else f"has no reading of {channel}"
                account.decide(f"station {name} {what} in the period; tag {f'{name} {channel}'!r} was dropped")
                continue
            columns.append(block[:, c])
            unit, quantity = ("nSv/h", "dose_rate") if dose else ("cpm", "count_rate")
            tags.append(Tag(f"{name} {channel}", unit, quantity, station=name))
    if not tags:
        raise LogError(f"the approved rows of {', '.join(wanted)} hold no value at all")
    return np.stack(columns, axis=1), tags


def _mask(values: NDArray[np.floating[Any]], account: Account) -> NDArray[np.float32]:
    values = values.copy()
    blank = np.isnan(values)
    counts_only = int((blank[:, 0] & ~blank[:, 1:].all(axis=1)).sum())
    if counts_only:
        account.decide(f"{counts_only:,} kept row(s) have a blank dose; their counts were kept")
    dose = np.zeros(values.shape, dtype=bool)
    dose[:, 0] = True
    faults = (
        ("not finite", np.abs(values) > _FLOAT32_MAX),
        ("dose rate exactly 0 (placeholder)", dose & (values == 0)),
        ("negative rate", (values < 0) & (values >= -_FLOAT32_MAX)),  # gross counts and doses are never below 0
    )
    for reason, where in faults:
        account.mask(reason, int(where.sum()))
        values[where] = np.nan
    return values.astype(np.float32)


def _dress(tag: Tag, roles: Mapping[str, Role], coordinates: Mapping[str, tuple[float, float]]) -> Tag:
    return replace(tag, role=roles.get(tag.name, tag.role), coordinates=coordinates.get(str(tag.station)))


def _check_names(what: str, given: Mapping[str, Any] | None, known: Sequence[str]) -> None:
    unknown = [name for name in given or {} if name not in known]
    if unknown:
        raise LogError(f"{what} names what is not in the log: {', '.join(unknown[:10])}; it holds {', '.join(known)}")
