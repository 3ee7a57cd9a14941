"""Text for people: numbers, times, and names that may be hostile."""

from __future__ import annotations

import math
import unicodedata

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attentionmixer.report.text import (
    NO_DATA,
    as_time,
    clean,
    clean_lines,
    count,
    duration,
    fit,
    fixed,
    moment,
    number,
    percent,
    shorten,
    text_width,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.012345, "0.0123"),
        (1.0, "1.00"),
        (-3.14159, "−3.14"),
        (1234.5, "1\u202f234"),
        (1234567.0, "1\u202f234\u202f567"),
        (6.6e-6, "6.60 × 10⁻⁶"),
        (-2.5e12, "−2.50 × 10¹²"),
    ],
)
def test_a_number_has_three_significant_digits(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf])
def test_what_was_not_measured_is_called_no_data(value: float | None) -> None:
    assert {show(value) for show in (number, count, percent)} == {NO_DATA}
    assert fixed(value, 1) == NO_DATA


def test_a_rounded_zero_has_no_sign() -> None:
    assert fixed(-0.001, 1) == "0.0"
    assert percent(-0.001) == "0\u202f%"


@pytest.mark.parametrize(
    ("minutes", "text"),
    [
        (0.5, "30 s"),
        (0, "0 min"),
        (10, "10 min"),
        (60, "1 h"),
        (90, "90 min"),
        (1440, "24 h"),
        (5760, "96 h"),
        (13230, "9.2 days"),
        (14 * 1440, "14 days"),
    ],
)
def test_a_duration_is_in_the_unit_that_people_use(minutes: float, text: str) -> None:
    assert duration(minutes).replace("\u202f", " ") == text


def test_a_moment_is_in_utc() -> None:
    assert moment("2021-06-30T14:00:00+02:00") == "2021-06-30 12:00"
    assert moment("2021-06-30") == "2021-06-30 00:00"
    assert moment(pd.Timestamp("2021-06-30 01:02:03", tz="UTC")) == "2021-06-30 01:02:03"


def test_what_is_no_time_stays_as_it_is() -> None:
    assert moment("some <day>") == "some <day>"
    assert moment(None) == NO_DATA
    assert as_time("some day") is None
    assert as_time(12) is None
    assert as_time(pd.NaT) is None


@given(st.text())
def test_clean_text_can_be_encoded_and_hides_nothing(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert len(cleaned) == len(text)
    assert not [c for c in cleaned if unicodedata.category(c) in {"Cc", "Cs"} or c in "\u202e\u2066\u200b"]
    assert clean(cleaned) == cleaned


def test_a_lone_surrogate_and_a_turned_writing_direction_are_made_visible() -> None:
    assert clean("a\ud800b\u202ec\x00\nd") == "a\ufffdb\ufffdc\ufffd d"


def test_ordinary_names_of_any_script_are_kept() -> None:
    for name in ("AZ: PHOENIX dose", "線量率 東海村", "Mesure µSv/h", "محطة"):
        assert clean(name) == name


def test_lines_are_kept_in_a_listing() -> None:
    assert clean_lines("a:\n\tb: 1\n\x00") == "a:\n    b: 1\n\ufffd"


@given(st.text(), st.integers(3, 40))
def test_a_shortened_name_fits_and_keeps_its_ends(name: str, limit: int) -> None:
    short = shorten(name, limit)
    assert len(short) <= limit
    if len(name) <= limit:
        assert short == clean(name)


def test_the_end_of_a_long_name_is_kept_because_it_names_the_channel() -> None:
    assert shorten("NM: ALBUQUERQUE NORTH EAST R09", 16) == "NM: ALBUQ…ST R09"


@given(st.text(min_size=1), st.floats(30, 300))
def test_a_fitted_name_is_no_wider_than_its_room(name: str, room: float) -> None:
    assert text_width(fit(name, 9, room), 9) <= room
