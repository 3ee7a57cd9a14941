"""The period asked for: years, months or days."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from dataclasses import dataclass

from ...errors import LogError

_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?", re.ASCII)
#: Years in which anything was or will be measured by those who ask.
YEARS = range(1950, 2101)


@dataclass(frozen=True)
class Days:
    """From ``first`` to ``last``, both included, UTC."""

    first: dt.date
    last: dt.date

    @classmethod
    def parse(cls, start: str, end: str) -> Days:
        """``2019``, ``2019-05`` or ``2019-05-31``; an ``end`` includes its whole year, month or day.

        Raises `LogError` for what is no date, and for an end before the start.
        """
        days = cls(_date(start, last=False), _date(end, last=True))
        if days.first > days.last:
            raise LogError(f"the period ends ({end}) before it starts ({start}); swap --from and --to")
        return days

    def __str__(self) -> str:
        return f"{self.first} to {self.last}"


def _date(text: str, *, last: bool) -> dt.date:
    found = _DATE.fullmatch(text.strip())
    if found is None:
        raise LogError(f"{text!r} is no date; write it as 2019, 2019-05 or 2019-05-31")
    year = int(found[1])
    month, day = (None if part is None else int(part) for part in found.groups()[1:])
    if year not in YEARS:
        raise LogError(f"{text!r} is not between {YEARS.start} and {YEARS.stop - 1}; check the year")
    try:
        month = month if month is not None else 12 if last else 1
        day = day if day is not None else calendar.monthrange(year, month)[1] if last else 1
        return dt.date(year, month, day)
    except ValueError as error:  # includes a month that does not exist
        raise LogError(f"{text!r} is no date of the calendar: {error}") from error
