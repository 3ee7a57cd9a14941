"""Values, times and positions in JSON records, and the `Series` made of them."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import pandas as pd
import pyarrow as pa

from ..log import Sampling
from ..quality import Flag
from .cells import BAD_STATES, NULLS
from .clock import MISSING
from .columns import Column
from .finish import SENTINELS
from .grid import Bools, Ints
from .json_file import Refused
from .series import Series

NO_FLAG = Flag(0)
#: Unit of a column that has no value at all.
NO_UNIT = "-"
_LONGEST = 64
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_PLAIN = re.compile(_NUMBER, re.ASCII)
_CENSORED = re.compile(rf"([<>≤≥])\s*({_NUMBER})", re.ASCII)
_TIME = re.compile(
    r"(\d{4})[-/](\d{2})[-/](\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?) ?(Z|UTC|[+-]\d{2}(?::?\d{2})?)?", re.ASCII
)
_MIDNIGHT = re.compile(r"24:00(?=$|:00$|:00\.0+$)", re.ASCII)
_FIRST_YEAR, _LAST_YEAR = 1700, 2260


class Cell(NamedTuple):
    """One value: a number, or NaN with the reason why it is missing and that reason's flag.

    A cell that is missing without a reason is blank. ``note`` holds flags of a value that is kept.
    """

    value: float
    reason: str | None = None
    flag: Flag = NO_FLAG
    note: Flag = NO_FLAG

    @property
    def is_value(self) -> bool:
        """Whether there is a number."""
        return not math.isnan(self.value)

    def noted(self, flag: Flag) -> Cell:
        """The same cell with this note, if it has a value to note it of."""
        return self._replace(note=self.note | flag) if self.is_value else self


BLANK = Cell(math.nan)
NOT_FINITE = Cell(math.nan, "not finite", Flag.NOT_FINITE)


def missing(reason: str, flag: Flag) -> Cell:
    """A cell whose value is left out for a reason."""
    return Cell(math.nan, reason, flag)


def folded(text: str) -> str:
    """Text to be compared: wide signs of East Asian type made plain (``０．１`` is ``0.1``), no blanks around."""
    return unicodedata.normalize("NFKC", text).strip()


def read_cell(value: object) -> Cell | None:
    """The cell a JSON value stands for, or None where it stands for none.

    Numbers, also as text; null and what is written for it are blank; ``<0.1`` is below the measuring range; words of
    historians such as ``offline`` are states; NaN, infinities and numbers that overflow are not finite.
    """
    if value is None:
        return BLANK
    if isinstance(value, str):
        # a part of a long text would be another number
        return _read_text(folded(value)) if len(value) <= _LONGEST else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return _number(float(value))


def _read_text(text: str) -> Cell | None:
    if text in NULLS:
        return BLANK
    if _PLAIN.fullmatch(text):
        return _number(float(text))
    censored = _CENSORED.fullmatch(text)
    if censored:
        side = "below" if censored[1] in "<≤" else "above"
        return missing(f"{side} the measuring range ({text})", Flag.CENSORED)
    return missing(f"state {text!r}", Flag.STATE) if text.casefold() in BAD_STATES else None


def _number(value: float) -> Cell:
    if not math.isfinite(value):
        return NOT_FINITE
    return missing("sentinel such as -9999", Flag.SENTINEL) if value in SENTINELS else Cell(value)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a JSON value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def position(latitude: object, longitude: object) -> tuple[float, float] | None:
    """(latitude, longitude) in degrees, or None where the two are no place on earth."""
    try:
        north, east = float(latitude), float(longitude)  # type: ignore[arg-type]  # what is no number raises
    except (TypeError, ValueError, OverflowError):
        return None
    return (north, east) if -90 <= north <= 90 and -180 <= east <= 180 else None


@dataclass(frozen=True)
class Instants:
    """``ns`` [texts] in UTC, `MISSING` where a text is no time; ``naive`` marks times that state no offset."""

    ns: Ints
    naive: Bools

    def aware(self) -> Ints:
        """The times that state an offset themselves; `MISSING` for the others."""
        return np.where(self.naive, MISSING, self.ns)


def read_instants(values: Sequence[object], tz: str | None = None) -> Instants:
    """ISO 8601 times; those without an offset are read as of ``tz``, and are missing without it.

    So are times that do not exist in the zone, or that occur twice there. 24:00 is the end of its day.
    """
    codes: dict[str, int] = {}
    where = np.array([codes.setdefault(v if isinstance(v, str) else "", len(codes)) for v in values], dtype=np.int64)
    found = [_TIME.fullmatch(word.strip()) for word in codes]
    walls = [None if m is None else f"{m[1]}-{m[2]}-{m[3]}T{_MIDNIGHT.sub('00:00', m[4])}" for m in found]
    days = np.array([m is not None and _MIDNIGHT.match(m[4]) is not None for m in found], dtype=np.int64)
    zones = [None if m is None or m[5] is None else m[5].replace("UTC", "Z") for m in found]
    naive = np.array([m is not None and m[5] is None for m in found], dtype=bool)
    ns = _utc([None if zone is None else f"{wall}{zone}" for wall, zone in zip(walls, zones, strict=True)], days, None)
    if tz is not None and naive.any():
        local = [wall if zone is None else None for wall, zone in zip(walls, zones, strict=True)]
        ns = np.where(naive, _utc(local, days, tz), ns)
    return Instants(ns[where], naive[where])


def _utc(texts: Sequence[str | None], days: Ints, tz: str | None) -> Ints:
    """Nanoseconds in UTC of ISO texts plus whole days; of wall-clock times in ``tz`` where that is given."""
    stamps = pd.to_datetime(pd.Series(list(texts), dtype=str), format="ISO8601", errors="coerce", utc=tz is None)
    index = pd.DatetimeIndex(stamps)
    # a year such as 9999 does not fit in nanoseconds; it is no time of a log either
    index = pd.DatetimeIndex(index.where((index.year >= _FIRST_YEAR) & (index.year <= _LAST_YEAR)))
    index = index.as_unit("ns") + pd.to_timedelta(days, unit="D")
    if tz is not None:
        index = index.tz_localize(tz, ambiguous="NaT", nonexistent="NaT").tz_convert("UTC")
    return index.as_unit("ns").asi8


@dataclass
class Rows:
    """Records that can be read: where each stands, its group, its time as written, and its V cells."""

    files: tuple[str, ...]
    file: list[int] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    group: list[int] = field(default_factory=list)
    time: list[object] = field(default_factory=list)
    cells: list[tuple[Cell, ...]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.line)

    def leave_out(
        self, keep: Bools, left: Bools, texts: Sequence[object], column: str, reason: str, to: Refused
    ) -> Bools:
        """``keep`` without the rows ``left``; those among them that were still kept are refused."""
        for row in np.flatnonzero(keep & left).tolist():
            to.add(self.files[self.file[row]], self.line[row], column, texts[row], reason)
        return keep & ~left

    def series(
        self,
        keep: Bools,
        time: Ints,
        columns: Sequence[Column],
        value_names: Sequence[str],
        stations: Sequence[str],
        *,
        time_name: str,
        sampling: Sampling,
    ) -> Series:
        """The `Series` of the rows kept: ``time`` [R], ``columns`` a (group, value) pair, ``stations`` a group."""
        rows = np.flatnonzero(keep)
        cells = [self.cells[row] for row in rows.tolist()]
        values = np.array([[cell.value for cell in row] for row in cells], dtype=np.float64)
        names: dict[str, int] = {}
        flags: list[Flag] = []
        reasons: dict[int, Ints] = {}
        notes: dict[int, Any] = {}
        for i in range(len(value_names)):
            why = np.full(len(cells), -1, dtype=np.int64)
            note = np.zeros(len(cells), dtype=np.uint16)
            for at, row in enumerate(cells):
                cell = row[i]
                if cell.reason is not None:
                    if cell.reason not in names:
                        names[cell.reason] = len(names)
                        flags.append(cell.flag)
                    why[at] = names[cell.reason]
                note[at] = cell.note
            if (why >= 0).any():
                reasons[i] = why
            if note.any():
                notes[i] = note
        with np.errstate(over="ignore"):  # what overflows becomes infinite, and is masked and counted later
            single = values.reshape(len(cells), len(value_names)).astype(np.float32)
        return Series(
            time=time[rows],
            group=np.array(self.group, dtype=np.int64)[rows],
            values=single,
            columns=tuple(columns),
            value_names=tuple(value_names),
            time_name=time_name,
            station_of_group=tuple(stations),
            file=np.array(self.file, dtype=np.int64)[rows],
            line=np.array(self.line, dtype=np.int64)[rows],
            files=self.files,
            reasons=reasons,
            reason_names=tuple(names),
            reason_flags=tuple(flags),
            notes=notes,
            sampling=sampling,
            # only what reads as a time gets here, so every text can be written
            time_texts=pa.chunked_array([pa.array([str(self.time[row]) for row in rows.tolist()], pa.string())]),
            row=np.arange(len(rows)),
        )
