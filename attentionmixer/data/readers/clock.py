"""Times as people and machines write them, brought to nanoseconds since 1970 in UTC. Nothing is guessed.

A time without an offset needs a zone; a date that reads both ways needs its order; a time that occurs twice when clocks
go back is told apart by its sequence or refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ...errors import LogError

MISSING = np.iinfo(np.int64).min
ORDERS = {"dmy": "day first", "mdy": "month first"}
_ISO = re.compile(
    r"(\d{4}[-/]\d{2}[-/]\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?))?\s*(Z|UTC|[+-]\d{2}:?\d{2})?", re.ASCII
)
_LOCAL = re.compile(
    r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:[T ]+(\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\s*([AaPp][Mm])?)?", re.ASCII
)
_NAMED = re.compile(
    r"(\d{1,2})[- ]([A-Za-z]{3})[a-z]*[- ](\d{4}|\d{2})"
    r"(?:[T ]+(\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\s*([AaPp][Mm])?)?",
    re.ASCII,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_EPOCH = re.compile(r"\d{10}|\d{13}|\d{16}|\d{19}", re.ASCII)
_HOUR = 3_600_000_000_000
_MORNING = 5
_SUNDAY = 6
#: What is said of times that state no zone.
NO_ZONE = "states no time zone: its times were taken as UTC; if the clock is another one, give tz="
# an hour that clocks repeat is over when the next one is months away
_HOUR_AND_MORE = 86_400_000_000_000
_EPOCH_UNITS = {10: ("s", 10**9), 13: ("ms", 10**6), 16: ("us", 10**3), 19: ("ns", 1)}


@dataclass(frozen=True)
class Times:
    """``ns`` [rows], UTC, `MISSING` where the cell is no time; what was decided, and what may be wrong."""

    ns: NDArray[np.int64]
    decisions: tuple[str, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClockRules:
    """What is declared about times: zone of times without offset, order of ambiguous dates, a strptime format."""

    tz: str | None = None
    date_order: str | None = None
    time_format: str | None = None

    def __post_init__(self) -> None:
        if self.date_order is not None and self.date_order not in ORDERS:
            raise LogError(
                f"date_order={self.date_order!r} is unknown; choose 'dmy' (day first) or 'mdy' (month first)"
            )
        if self.tz is not None:
            try:
                pd.Timestamp("2020-01-01").tz_localize(self.tz)
            except (KeyError, ValueError, TypeError, OSError, IndexError) as error:
                raise LogError(
                    f"time zone {self.tz!r} is unknown; use a name such as 'UTC' or 'Europe/Berlin'"
                ) from error


def impossible_times(time: NDArray[np.int64]) -> list[tuple[NDArray[np.bool_], str]]:
    """Times no station can have measured at, with the reason: a clock that was never set, or one that is ahead."""
    now = pd.Timestamp.now("UTC").as_unit("ns").value
    return [
        (time < pd.Timestamp("1971-01-01").as_unit("ns").value, "before 1971: the clock was not set"),
        (time > now + pd.Timedelta(days=1).as_unit("ns").value, "in the future"),
    ]


def clock_faults(time: NDArray[np.int64], group: NDArray[np.int64]) -> list[str]:
    """Sentences about rows of one series that go back in time, in the order of the file. [rows] each."""
    order = np.argsort(group, kind="stable") if (group[1:] < group[:-1]).any() else np.arange(len(time))
    apart = np.diff(time[order])[np.diff(group[order]) == 0]
    back, on = int((apart < 0).sum()), int((apart > 0).sum())
    if not back:
        return []
    if not on:
        return ["rows run from the latest time to the earliest"]
    return [f"{back:,} row(s) are earlier than the row before: the clock was set back, or rows are out of order"]


def looks_like_time(cells: Sequence[str]) -> bool:
    """Whether most of some cells are dates or times as written for people (not bare numbers)."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    hits = sum(any(form.fullmatch(cell) for form in (_ISO, _LOCAL, _NAMED)) for cell in filled)
    return bool(filled) and hits * 2 > len(filled)


def read_times(
    column: pa.ChunkedArray, rules: ClockRules, where: str, *, group: NDArray[np.int64] | None = None
) -> Times:
    """Every time of a column.

    Parameters
    ----------
    column: text, whole numbers (since 1970), dates or timestamps.
    rules: what is declared.
    where: names the column in messages.
    group: [rows] the series each row belongs to; rows of one series follow each other in time, so that an hour that
        clocks repeat can be told apart by their sequence. Without it all rows are one series.
    """
    kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _typed(column, rules, where, group)
    if pa.types.is_integer(kind):
        column = column.cast(pa.string())
    elif not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise LogError(f"{where} holds {kind}, not times")
    encoded = column.combine_chunks().cast(pa.string()).dictionary_encode()
    words = [word.strip() for word in encoded.dictionary.to_pylist()]
    codes = encoded.indices.fill_null(len(words)).to_numpy(zero_copy_only=False).astype(np.int64)
    if not words:
        raise LogError(f"{where} is empty")
    parsed, naive, decisions = _parse_words(words, rules, where)
    ns = np.append(parsed, MISSING)[codes]
    if naive:
        ns, more, warnings = _to_utc(ns, rules, where, group)
        return Times(ns, (*decisions, *more), warnings)
    if rules.tz not in (None, "UTC"):
        decisions.append(f"{where} states its own offset, so tz={rules.tz!r} was not needed")
    return Times(ns, tuple(decisions))


def _parse_words(words: list[str], rules: ClockRules, where: str) -> tuple[NDArray[np.int64], bool, list[str]]:
    """(nanoseconds, whether they are local, decisions) of distinct texts."""
    if rules.time_format is not None:
        # an offset may differ from row to row; %% is a per cent sign
        utc = "%z" in rules.time_format.replace("%%", "").lower()
        try:
            stamps = pd.to_datetime(pd.Series(words, dtype=str), format=rules.time_format, errors="coerce", utc=utc)
        except ValueError as error:
            raise LogError(f"{where}: time_format={rules.time_format!r} is no format: {error}") from error
        _mostly(stamps.notna().to_numpy(), words, where, f"of the format {rules.time_format!r}")
        zoned = isinstance(stamps.dtype, pd.DatetimeTZDtype)
        return _ns(stamps), not zoned, []
    iso = [_ISO.fullmatch(word) for word in words]
    local = [_LOCAL.fullmatch(word) for word in words]
    epoch = [_EPOCH.fullmatch(word) for word in words]
    named = [_month(_NAMED.fullmatch(word)) for word in words]
    counts = [sum(m is not None for m in group) for group in (iso, local, epoch, named)]
    best = int(np.argmax(counts))
    _mostly(np.array([m is not None for m in (iso, local, epoch, named)[best]]), words, where, "dates or times")
    if best == 3:
        return _parse_named(named)
    if best == 0:
        return _parse_iso(iso, words, where)
    if best == 1:
        return _parse_local(local, words, rules, where)
    return _parse_epoch(epoch, words, where)


def _mostly(good: NDArray[np.bool_], words: list[str], where: str, what: str) -> None:
    if good.sum() * 2 <= len(words):
        first = words[int(np.flatnonzero(~good)[0])]
        raise LogError(
            f"{where}: {first!r} and {int((~good).sum()) - 1} other text(s) are not {what}; "
            "use ISO 8601 (2021-06-30T12:00:00Z) or declare time_format='%d-%b-%Y %H:%M'"
        )


def _parse_iso(
    found: Sequence[re.Match[str] | None], words: list[str], where: str
) -> tuple[NDArray[np.int64], bool, list[str]]:
    zoned = np.array([m is not None and m[3] is not None for m in found])
    there = np.array([m is not None for m in found])
    if zoned.any() and not zoned[there].all():
        without = words[int(np.flatnonzero(there & ~zoned)[0])]
        raise LogError(f"{where}: some times state an offset and some do not, e.g. {without!r}; make them alike")
    texts = [
        None
        if m is None
        else f"{m[1].replace('/', '-')}T{(m[2] or '00:00').replace(',', '.')}{(m[3] or '').replace('UTC', 'Z')}"
        for m in found
    ]
    stamps = pd.to_datetime(pd.Series(texts, dtype=str), format="ISO8601", errors="coerce", utc=bool(zoned.any()))
    return _ns(stamps), not zoned.any(), []


def _parse_local(
    found: Sequence[re.Match[str] | None], words: list[str], rules: ClockRules, where: str
) -> tuple[NDArray[np.int64], bool, list[str]]:
    """Dates such as 25.03.2022: the order is taken only where one is impossible."""
    order, decisions = rules.date_order, []
    if order is None:
        day_first = next((m[0] for m in found if m is not None and int(m[1]) > 12), None)
        month_first = next((m[0] for m in found if m is not None and int(m[3]) > 12), None)
        if day_first and month_first:
            raise LogError(f"{where}: {day_first!r} is day first and {month_first!r} month first; declare date_order=")
        if not day_first and not month_first:
            m = next(hit for hit in found if hit is not None)
            raise LogError(
                f"{where}: every date reads both ways; {m[0]!r} is {m[4]}-{m[3]:0>2}-{m[1]:0>2} (day first) or "
                f"{m[4]}-{m[1]:0>2}-{m[3]:0>2} (month first). Declare date_order='dmy' or date_order='mdy'"
            )
        order = "dmy" if day_first else "mdy"
        decisions.append(f"dates are {ORDERS[order]}: {day_first or month_first!r} reads no other way")
    day, month = (1, 3) if order == "dmy" else (3, 1)
    texts = [
        None if m is None else f"{m[4]}-{m[month]:0>2}-{m[day]:0>2} {_clock_time(m[5] or '0:00', m[6])}" for m in found
    ]
    stamps = pd.to_datetime(pd.Series(texts, dtype=str), format="ISO8601", errors="coerce")
    return _ns(stamps), True, decisions


def _month(found: re.Match[str] | None) -> re.Match[str] | None:
    return found if found is not None and found[2].lower() in _MONTHS else None


def _parse_named(found: Sequence[re.Match[str] | None]) -> tuple[NDArray[np.int64], bool, list[str]]:
    """Dates such as 01-May-24: a name is a month in one way only, and a short year is of this century."""
    texts = [
        None
        if m is None
        else f"{2000 + int(m[3]) if len(m[3]) == 2 else m[3]}-{_MONTHS.index(m[2].lower()) + 1:02d}-{m[1]:0>2} "
        + _clock_time(m[4] or "0:00", m[5])
        for m in found
    ]
    stamps = pd.to_datetime(pd.Series(texts, dtype=str), format="ISO8601", errors="coerce")
    short = any(m is not None and len(m[3]) == 2 for m in found)
    return _ns(stamps), True, ["years of two digits are 20.."] if short else []


def _clock_time(time: str, half: str | None) -> str:
    hour, rest = time.split(":", 1)
    number = int(hour)
    if half is not None:
        is_pm = half.lower() == "pm"
        # 13:00 PM says the same twice; 13:00 AM and 24:00 PM are no times
        number = number % 12 + 12 * is_pm if number <= (23 if is_pm else 12) else 99
    return f"{number:02d}:{rest}"


def _parse_epoch(
    found: Sequence[re.Match[str] | None], words: list[str], where: str
) -> tuple[NDArray[np.int64], bool, list[str]]:
    digits = {len(m[0]) for m in found if m is not None}
    if len(digits) > 1:
        raise LogError(f"{where}: numbers of {sorted(digits)} digits cannot all be one kind of time since 1970")
    unit, factor = _EPOCH_UNITS[digits.pop()]
    limit = np.iinfo(np.int64).max // factor
    ns = [MISSING if m is None or int(m[0]) > limit else int(m[0]) * factor for m in found]
    return np.array(ns, dtype=np.int64), False, [f"times are {unit} since 1970 (UTC)"]


def _ns(stamps: pd.Series) -> NDArray[np.int64]:
    index = pd.DatetimeIndex(stamps)
    # a year such as 9999 does not fit in nanoseconds; it is no time of a log either
    fits = (index >= pd.Timestamp.min.tz_localize(index.tz)) & (index <= pd.Timestamp.max.tz_localize(index.tz))
    return pd.DatetimeIndex(index.where(fits)).as_unit("ns").asi8


def _typed(column: pa.ChunkedArray, rules: ClockRules, where: str, group: NDArray[np.int64] | None) -> Times:
    zone = getattr(column.type, "tz", None)
    try:
        whole = column.cast(pa.timestamp("ns", tz=zone)).combine_chunks()
    except pa.ArrowInvalid as error:
        raise LogError(f"{where} holds a time that does not fit in nanoseconds since 1970: {error}") from error
    ns = whole.cast(pa.int64()).fill_null(MISSING).to_numpy(zero_copy_only=False).astype(np.int64)
    if zone is not None:
        return Times(ns, ())
    ns, decisions, warnings = _to_utc(ns, rules, where, group)
    return Times(ns, tuple(decisions), warnings)


def _to_utc(
    local: NDArray[np.int64], rules: ClockRules, where: str, group: NDArray[np.int64] | None
) -> tuple[NDArray[np.int64], list[str], tuple[str, ...]]:
    """UTC from wall-clock times, what was decided, and what may be wrong."""
    # a day from the ends of what nanoseconds can count, UTC would not fit any more
    local = np.where((local > MISSING + 24 * _HOUR) & (local < -(MISSING + 24 * _HOUR)), local, MISSING)
    there = local != MISSING
    if rules.tz is None:
        _refuse_local(local[there], where, None if group is None else group[there])
        return local, [], (f"{where} {NO_ZONE}",)
    decisions = [f"times without an offset were taken as {rules.tz}"]
    if rules.tz.upper() == "UTC":
        return local, decisions, ()
    walls = pd.DatetimeIndex(local[there].view("datetime64[ns]"))
    # clocks that go forward: such a wall-clock time never was
    never = np.asarray(walls.tz_localize(rules.tz, ambiguous=np.ones(len(walls), bool), nonexistent="NaT").isna())
    if never.any():
        raise LogError(
            f"{where}: {walls[never][0]} does not exist in {rules.tz}, clocks went forward; check tz. A logger that "
            "stays on winter time has a fixed offset, such as tz='+01:00'"
        )
    twice = np.asarray(walls.tz_localize(rules.tz, ambiguous="NaT").isna())
    first_pass = np.zeros(len(walls), dtype=bool)
    if twice.any():
        _tell_apart(walls, twice, first_pass, rules.tz, where, None if group is None else group[there])
        decisions.append(
            f"{int(twice.sum()):,} time(s) in an hour that clocks repeat were told apart by their sequence"
        )
    utc = local.copy()
    utc[there] = walls.tz_localize(rules.tz, ambiguous=first_pass).tz_convert("UTC").as_unit("ns").asi8
    return utc, decisions, ()


def _refuse_local(wall: NDArray[np.int64], where: str, group: NDArray[np.int64] | None) -> None:
    """Raise `LogError` where times without a zone show that clocks were changed: an hour of a night twice, or left out.

    Without such a sign the times differ from UTC by one and the same offset, if at all.
    """
    order = np.arange(len(wall)) if group is None else np.argsort(group, kind="stable")
    wall = wall[order]
    apart = np.diff(wall)
    same = np.ones(len(apart), dtype=bool) if group is None else np.diff(group[order]) == 0
    if (apart[same] < 0).sum() * 2 > same.sum():
        apart = -apart
    earlier, later = pd.DatetimeIndex(wall[:-1].view("M8[ns]")), pd.DatetimeIndex(wall[1:].view("M8[ns]"))
    night = same & (np.minimum(earlier.hour, later.hour) < _MORNING) & (np.abs(apart) <= 2 * _HOUR)
    usual = np.median(apart[same & (apart > 0)]) if (same & (apart > 0)).any() else 0
    twice = night & (apart <= 0) & (apart > -_HOUR - usual)
    # clocks go forward on the night to a Sunday, nearly everywhere
    skipped = night & (apart == usual + _HOUR) & (usual <= _HOUR) & (later.day_of_week == _SUNDAY)
    for sign, what in ((twice, "occurs twice"), (skipped, "follows a gap of one hour")):
        if sign.any():
            raise LogError(
                f"{where} has no time zone, and {later[sign][0]} {what}, as where clocks are changed: the times are "
                "local. State the zone with tz='Europe/Berlin', or tz='UTC' if they are not"
            )


def _tell_apart(
    walls: pd.DatetimeIndex,
    twice: NDArray[np.bool_],
    first_pass: NDArray[np.bool_],
    tz: str,
    where: str,
    group: NDArray[np.int64] | None,
) -> None:
    """Mark in ``first_pass`` the times before clocks went back, by the sequence of each group's rows.

    Raises `LogError` where a sequence does not go back within the hour, so that either reading could be meant.
    """
    group = np.zeros(len(walls), dtype=np.int64) if group is None else group
    order = np.argsort(group, kind="stable")
    hit = np.unique(group[twice])
    starts = np.searchsorted(group[order], hit)
    ends = np.searchsorted(group[order], hit, side="right")
    wall = walls.asi8
    for start, end in zip(starts, ends, strict=True):
        rows = order[start:end]
        # a file that begins with the latest row is read from its end
        if np.sign(np.diff(wall[rows])).sum() < 0:
            rows = rows[::-1]
        mine = rows[twice[rows]]
        for block in np.split(mine, np.flatnonzero(np.diff(wall[mine]) > _HOUR_AND_MORE) + 1):
            back = np.flatnonzero(np.diff(wall[block]) <= 0)
            if len(back) != 1:
                raise LogError(
                    f"{where}: {walls[block[0]]} occurs twice in {tz}, clocks went back, and the sequence of rows "
                    "does not tell which is meant; export the log with offsets or in UTC"
                )
            first_pass[block[: back[0] + 1]] = True
