"""The regular grid of a log: the period asked for, rounding, the step and phase of times, gaps."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...errors import LogError
from ..quality import Gap

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

OUTSIDE = "outside the period asked for"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class Period:
    """Half-open span ``start <= t < end`` in nanoseconds since 1970 (UTC); ``None`` leaves that side open."""

    start: int | None = None
    end: int | None = None

    @classmethod
    def parse(cls, start: Any = None, end: Any = None) -> Period:
        """Read what a person wrote; a time without a zone is UTC, and an ``end`` that is only a date includes that day.

        Raises `LogError` where a bound is no date or the period is empty.
        """
        first, _ = _moment("start", start)
        last, whole_day = _moment("end", end)
        if last is not None and whole_day:
            last += pd.Timedelta(days=1).value
        if first is not None and last is not None and first >= last:
            raise LogError(f"the period asked for is empty: start {start} is not before end {end}")
        return cls(first, last)

    def holds(self, time: Ints) -> Bools:
        """Which of the moments lie in the period."""
        inside = np.ones(len(time), dtype=bool)
        if self.start is not None:
            inside &= time >= self.start
        if self.end is not None:
            inside &= time < self.end
        return inside


def _moment(what: str, value: Any) -> tuple[int | None, bool]:
    if value is None:
        return None, False
    whole_day = (isinstance(value, dt.date) and not isinstance(value, dt.datetime)) or bool(
        isinstance(value, str) and _DATE.fullmatch(value.strip())
    )
    if isinstance(value, str) and not re.match(r"\d{4}-\d{2}-\d{2}", value.strip()):
        raise LogError(f"{what}={value!r} is not a date; write it as 2021-06-30 or 2021-06-30T12:00Z")
    try:
        stamp = pd.Timestamp(value)
    except (ValueError, TypeError) as error:
        raise LogError(f"{what}={value!r} is not a date; write it as 2021-06-30 or 2021-06-30T12:00Z") from error
    if pd.isna(stamp):
        raise LogError(f"{what} is not a time")
    stamp = stamp.tz_localize("UTC") if stamp.tzinfo is None else stamp.tz_convert("UTC")
    return int(stamp.as_unit("ns").value), whole_day


def round_half_up(time: Ints, step: int, origin: int = 0) -> Ints:
    """Nearest grid time ``origin + k·step``; a tie goes to the later one.

    Rounding half to even would send 01:30 and 02:30 to the same hour, and so merge every second reading of a clock
    that stands at half past.
    """
    return (time - origin + step // 2) // step * step + origin


def as_text(time: int) -> str:
    """A moment in nanoseconds as ISO 8601 with ``Z``."""
    return f"{pd.Timestamp(time).isoformat()}Z"


def regular_index(start: int, end: int, step: int) -> pd.DatetimeIndex:
    """The UTC index from ``start`` up to and with ``end`` (nanoseconds), ``step`` apart."""
    # counted in whole steps: np.arange takes its length from a float division, which is one short on long logs
    values = start + step * np.arange((end - start) // step + 1, dtype=np.int64)
    return pd.DatetimeIndex(values.view("datetime64[ns]")).tz_localize("UTC")


def find_gaps(present: Bools, start: int, step: int, station: str = "*") -> list[Gap]:
    """Runs of grid steps without a row. `Gap.start` and `Gap.end` are the first and the last missing step."""
    edges = np.diff(np.concatenate(([1], present.astype(np.int8), [1])))
    firsts, ends = np.flatnonzero(edges == -1), np.flatnonzero(edges == 1)
    return [
        Gap(station, as_text(start + int(a) * step), as_text(start + int(b - 1) * step), int(b - a))
        for a, b in zip(firsts, ends, strict=True)
    ]


_SECOND = 1_000_000_000
#: Steps that people choose, in nanoseconds.
NICE = tuple(
    count * unit
    for unit, counts in (
        (_SECOND, (1, 2, 3, 5, 6, 10, 12, 15, 20, 30)),
        (60 * _SECOND, (1, 2, 3, 5, 6, 10, 12, 15, 20, 30)),
        (3600 * _SECOND, (1, 2, 3, 4, 6, 8, 12)),
        (86400 * _SECOND, (1, 7)),
    )
    for count in counts
)


#: Steps, and cells of the grid, that any log may have; beyond, a log may have so many for each row or reading it holds.
_STEPS, _STEPS_PER_ROW = 1_000_000, 50
_CELLS, _CELLS_PER_READING = 20_000_000, 100


def check_size(steps: int, columns: int, readings: tuple[int, int], span_text: str) -> None:
    """Raise `LogError` where a grid would be far larger than what came in, as one wrong time makes it.

    ``readings`` are rows and values in each; ``span_text`` describes the grid.
    """
    rows, width = readings
    if steps > max(_STEPS, _STEPS_PER_ROW * rows):
        size = f"{steps:,} steps"
    elif steps * columns > max(_CELLS, _CELLS_PER_READING * rows * width):
        size = f"{steps * columns:,} values"
    else:
        return
    raise LogError(
        f"a grid of {span_text} would hold {size} for {rows:,} rows; check the first and last time, or give step=, "
        "start= and end="
    )


class IrregularTimes(LogError):
    """The times lie on no regular grid; ``found`` says what they are like."""

    def __init__(self, found: str, advice: str) -> None:
        super().__init__(f"the times are not regular: {found}. {advice}")
        self.found = found


@dataclass(frozen=True)
class Grid:
    """A regular grid and where each time falls on it: ``position`` [rows] counts steps from ``origin``.

    ``moved`` times were rounded by at most ``largest``; ``note`` says how the step was found where that needs saying.
    """

    origin: int
    step: int
    steps: int
    position: Ints
    moved: int
    largest: str
    note: str | None

    @property
    def label(self) -> str:
        """The step for people."""
        return span(self.step)

    @property
    def last(self) -> int:
        """The last grid time."""
        return self.origin + (self.steps - 1) * self.step

    def time_of(self, position: Ints) -> Ints:
        """Grid times of positions."""
        return self.origin + position * self.step

    def index(self) -> pd.DatetimeIndex:
        """The grid as a UTC index."""
        return regular_index(self.origin, self.last, self.step)


def find_grid(time: Ints, step: str | None, jitter: float, where: Callable[[int], str]) -> Grid:
    """The grid on which the times lie, give or take ``jitter`` steps.

    Without ``step`` it is the shortest distance of two times if all others are multiples of it; else the common round
    value (1 min, 10 min, 1 h …) within 5 % of the median distance. Exactly regular times keep their own phase.

    Raises `IrregularTimes` naming the rows that lie too far from any grid step.
    """
    if not 0 <= jitter < 0.5:
        raise LogError(f"jitter={jitter} is not a share of the step from 0 to below 0.5")
    distinct = np.unique(time)
    first = int(distinct[0])
    if len(distinct) == 1:
        return Grid(first, 1, 1, np.zeros(len(time), dtype=np.int64), 0, "0 s", None)
    note = None
    if step is not None:
        width = parse_step(step)
    else:
        width, note = _find_step(distinct)
    if not ((distinct - first) % width == 0).all():
        first = _phase(distinct, width, jitter)
    position = (time - first + width // 2) // width
    off = np.abs(time - (first + position * width))
    too_far = np.flatnonzero(off > jitter * width)
    if len(too_far):
        shown = "; ".join(where(int(row)) for row in too_far[:5])
        raise IrregularTimes(
            f"{len(too_far):,} of {len(time):,} row(s) lie more than {jitter:g} steps off a grid of {span(width)}, "
            f"first: {shown}",
            "Give step= if the step is another, or resample=",
        )
    lowest = int(position.min())
    position -= lowest
    steps = int(position.max()) + 1
    moved, largest = int((off > 0).sum()), span(int(off.max(initial=0)))
    return Grid(first + lowest * width, width, steps, position, moved, largest, note)


def parse_step(step: str) -> int:
    """A step such as ``"10min"`` in nanoseconds. Raises `LogError` where it is none."""
    try:
        # a day is a capital letter in pandas
        text = re.sub(r"d$", "D", step.strip())
        if not re.search("[a-z:]", text, re.IGNORECASE):
            raise ValueError("a bare number, which pandas takes as nanoseconds")
        width = int(pd.Timedelta(text if re.search(r"\d", text) else f"1{text}").as_unit("ns").value)
    except (ValueError, TypeError, AttributeError) as error:
        raise LogError(f"step={step!r} is not a span of time; write it as '10min', '1h' or '1d'") from error
    if width <= 0:
        raise LogError(f"step={step!r} must be longer than nothing")
    return width


def _find_step(time: Ints) -> tuple[int, str | None]:
    """The step of distinct, sorted times, and a note where it is not the usual distance."""
    differences = np.diff(time)
    shortest, usual = int(differences.min()), int(np.median(differences))
    # exact multiples of the shortest distance: a regular log with gaps, unless one odd time makes the grid nearly empty
    if (differences % shortest == 0).all() and (time[-1] - time[0]) // shortest <= 20 * len(time):
        if shortest == usual:
            return shortest, None
        return shortest, f"the step is {span(shortest)}, the shortest distance; most times are {span(usual)} apart"
    nearest = min(NICE, key=lambda nice: abs(nice - usual))
    # with many distances well below the usual one the median says nothing: it may be two steps, or one and a half
    if abs(nearest - usual) > 0.05 * usual or (differences < 0.75 * usual).mean() > 0.1:
        raise IrregularTimes(
            f"they have no common step; they are {span(shortest)} to {span(int(differences.max()))} apart, "
            f"{span(usual)} in the middle",
            "Give step= or resample=",
        )
    return nearest, None


def _phase(time: Ints, width: int, jitter: float) -> int:
    """Where grid steps begin: at full multiples of the step where the times allow it, else at their typical offset."""
    start = int(time[0]) // width * width
    if np.abs((time - start + width // 2) % width - width // 2).max() <= jitter * width:
        return start
    turn = (time - start) % width * (2 * np.pi / width)
    mean = float(np.arctan2(np.sin(turn).mean(), np.cos(turn).mean()))
    shift = int(mean / (2 * np.pi) * width)
    # to full seconds, so that grid times can be read by people
    return start + ((shift + _SECOND // 2) // _SECOND * _SECOND if width >= 10 * _SECOND else shift)


def span(nanoseconds: int) -> str:
    """A span of time for people."""
    for unit, name in ((86400 * _SECOND, "d"), (3600 * _SECOND, "h"), (60 * _SECOND, "min"), (_SECOND, "s")):
        if nanoseconds >= unit and nanoseconds % unit == 0:
            return f"{nanoseconds // unit} {name}"
    return f"{nanoseconds / _SECOND:.3f} s"
