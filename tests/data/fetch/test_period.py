"""Periods."""

from __future__ import annotations

import datetime as dt

import pytest

from attentionmixer.data.fetch.period import Days
from attentionmixer.errors import LogError


@pytest.mark.parametrize(
    ("start", "end", "first", "last"),
    [
        ("2019", "2021", "2019-01-01", "2021-12-31"),
        ("2020-02", "2020-02", "2020-02-01", "2020-02-29"),
        ("2019-05-31", "2019-05-31", "2019-05-31", "2019-05-31"),
        (" 2019 ", "2019-06-15", "2019-01-01", "2019-06-15"),
    ],
)
def test_an_end_includes_its_whole_year_month_or_day(start: str, end: str, first: str, last: str) -> None:
    days = Days.parse(start, end)
    assert (str(days.first), str(days.last)) == (first, last)
    assert str(days) == f"{first} to {last}"


@pytest.mark.parametrize("text", ["", "19", "2019-5", "31.05.2019", "2019-05-31T10:00", "yesterday", "２０１９"])
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(LogError, match="is no date; write it as 2019, 2019-05 or 2019-05-31"):
        Days.parse(text, "2021")


@pytest.mark.parametrize("text", ["2019-13", "2019-02-29", "2019-00-10"])
def test_a_day_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(LogError, match="is no date of the calendar"):
        Days.parse("2000", text)


@pytest.mark.parametrize("text", ["0000", "9999", "0219"])
def test_a_year_that_cannot_be_meant_is_refused(text: str) -> None:
    with pytest.raises(LogError, match="check the year"):
        Days.parse(text, text)


def test_a_period_that_ends_before_it_starts_is_refused() -> None:
    with pytest.raises(LogError, match=r"ends \(2019\) before it starts \(2021\)"):
        Days.parse("2021", "2019")


def test_days_are_plain_dates() -> None:
    assert Days.parse("2020", "2020").first == dt.date(2020, 1, 1)
