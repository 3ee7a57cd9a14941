"""Values, times and positions in JSON records."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attentionmixer.data.log import Sampling
from attentionmixer.data.quality import Flag
from attentionmixer.data.readers.columns import Column
from attentionmixer.data.readers.json_cells import (
    BLANK,
    Cell,
    Rows,
    missing,
    position,
    read_cell,
    read_instants,
)
from attentionmixer.data.readers.json_file import Refused

MISSING = np.iinfo(np.int64).min


@pytest.mark.parametrize(
    ("value", "number"),
    [(1, 1.0), (0.073, 0.073), ("0.073", 0.073), (" -1e-2 ", -0.01), ("０．０７３", 0.073), (0, 0.0)],
)
def test_numbers_and_numbers_as_text_are_values(value: object, number: float) -> None:
    assert read_cell(value) == Cell(number)


@pytest.mark.parametrize("value", [None, "", "null", "NaN", "n/a"])
def test_null_and_what_is_written_for_it_are_blank(value: object) -> None:
    assert read_cell(value) is BLANK


@pytest.mark.parametrize(
    ("value", "reason", "flag"),
    [
        ("<0.1", "below the measuring range (<0.1)", Flag.CENSORED),
        ("> 10", "above the measuring range (> 10)", Flag.CENSORED),
        ("＜0.1", "below the measuring range (<0.1)", Flag.CENSORED),
        (float("nan"), "not finite", Flag.NOT_FINITE),
        (float("-inf"), "not finite", Flag.NOT_FINITE),
        ("1e999", "not finite", Flag.NOT_FINITE),
        (-9999, "sentinel such as -9999", Flag.SENTINEL),
        ("-9999", "sentinel such as -9999", Flag.SENTINEL),
        ("Offline", "state 'Offline'", Flag.STATE),
    ],
)
def test_what_is_no_good_value_is_missing_with_its_reason(value: object, reason: str, flag: Flag) -> None:
    cell = read_cell(value)
    assert cell is not None
    assert math.isnan(cell.value)
    assert (cell.reason, cell.flag) == (reason, flag)


@pytest.mark.parametrize(
    "value", [True, False, [], {}, "about 5", "1,5", "0x10", "1" * 65, " " * 70 + "123", "٣", "\ud800"]
)
def test_what_means_nothing_is_no_cell(value: object) -> None:
    assert read_cell(value) is None


def test_a_note_is_made_of_values_only() -> None:
    assert Cell(1.0).noted(Flag.DOUBTFUL) == Cell(1.0, note=Flag.DOUBTFUL)
    assert BLANK.noted(Flag.DOUBTFUL) is BLANK


@pytest.mark.parametrize(
    ("latitude", "longitude", "place"),
    [
        (51.67, 7.36, (51.67, 7.36)),
        ("51.67", "7.36", (51.67, 7.36)),
        (91, 0, None),
        (0, 181, None),
        (None, 7.36, None),
        ("north", 7.36, None),
        (float("nan"), 0, None),
        ([1], {}, None),
        ("9" * 5000, 0, None),
    ],
)
def test_a_position_is_a_place_on_earth_or_none(
    latitude: object, longitude: object, place: tuple[float, float] | None
) -> None:
    assert position(latitude, longitude) == place


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2024-05-01T12:00:00Z", "2024-05-01T12:00:00"),
        ("2024-05-01 12:00Z", "2024-05-01T12:00:00"),
        ("2024-05-01T12:00:00.123456789Z", "2024-05-01T12:00:00.123456789"),
        ("2024-05-01T09:10:00+09:00", "2024-05-01T00:10:00"),
        ("2024/05/01 09:10 +0900", "2024-05-01T00:10:00"),
        ("2024-04-30T24:00:00+09:00", "2024-04-30T15:00:00"),
        ("2024-02-29T12:00:00-03:30", "2024-02-29T15:30:00"),
    ],
)
def test_offsets_are_honoured_and_24_00_is_the_end_of_its_day(text: str, utc: str) -> None:
    assert read_instants([text]).ns.tolist() == [pd.Timestamp(utc).as_unit("ns").value]


@pytest.mark.parametrize(
    "text",
    [
        None,
        5,
        "",
        "0000-00-00T00:00Z",
        "99999-01-01T00:00Z",
        "9999-12-31T24:00:00Z",
        "2024-02-30T00:00Z",
        "2024-05-01T25:00Z",
        "2024-05-01T24:30Z",
        "2024-05-01T12:00+99:99",
        "2024-05-01",
        "yesterday",
        "2024-05-01T12:00:00Z\x00",
        "\ud800",
    ],
)
def test_what_is_no_time_is_missing(text: object) -> None:
    instants = read_instants([text, "2024-05-01T12:00Z"], "Asia/Tokyo")
    assert instants.ns[0] == MISSING
    assert instants.ns[1] > 0


def test_times_without_an_offset_are_missing_until_a_zone_is_declared() -> None:
    texts = ["2024-05-01T09:00:00", "2024-05-01T09:00:00Z"]
    assert read_instants(texts).ns[0] == MISSING
    assert read_instants(texts).naive.tolist() == [True, False]
    tokyo = read_instants(texts, "Asia/Tokyo")
    assert (tokyo.ns[1] - tokyo.ns[0]) / 3.6e12 == 9
    assert tokyo.aware().tolist() == [MISSING, tokyo.ns[1]]


def test_wall_clock_times_that_are_not_or_are_twice_are_missing() -> None:
    # clocks went forward over 02:30 on the first day, and back over it on the second
    texts = ["2024-03-31T02:30", "2024-10-27T02:30", "2024-10-26T24:00"]
    assert (read_instants(texts, "Europe/Berlin").ns == MISSING).tolist() == [True, True, False]


def test_no_times_are_read_as_none() -> None:
    assert len(read_instants([], "Asia/Tokyo").ns) == 0


@settings(deadline=None, derandomize=True)
@given(
    st.datetimes(min_value=dt.datetime(1971, 1, 1), max_value=dt.datetime(2200, 1, 1)),
    st.integers(-14 * 60, 14 * 60),
)
def test_a_time_written_with_any_offset_is_the_same_instant(moment: dt.datetime, minutes: int) -> None:
    stamp = pd.Timestamp(moment).as_unit("ns")
    sign, (hours, rest) = "-" if minutes < 0 else "+", divmod(abs(minutes), 60)
    local = (stamp + pd.Timedelta(minutes=minutes)).isoformat(timespec="microseconds")
    assert read_instants([f"{local}{sign}{hours:02d}:{rest:02d}"]).ns.tolist() == [stamp.value]


def test_rows_become_a_series_with_reasons_flags_and_notes() -> None:
    rows = Rows(("a.json", "b.json"))
    cells = [
        (Cell(1.0), BLANK),
        (missing("state 'x'", Flag.STATE), Cell(2.0, note=Flag.DOUBTFUL)),
        (missing("low", Flag.CENSORED), missing("state 'x'", Flag.STATE)),
    ]
    for number, pair in enumerate(cells):
        rows.file.append(number % 2)
        rows.line.append(number + 1)
        rows.group.append(0)
        rows.time.append(f"2024-05-01T0{number}:00Z")
        rows.cells.append(pair)
    refused = Refused()
    keep = rows.leave_out(np.ones(3, bool), np.array([True, False, False]), rows.time, "time", "odd", refused)
    columns = [Column("A dose", "A dose", "nSv/h", "A"), Column("A rain", "A rain", "mm", "A")]
    series = rows.series(
        keep, np.arange(3), columns, ["dose", "rain"], ["A"], time_name="time", sampling=Sampling("end", 3600)
    )
    assert series.time.tolist() == [1, 2]
    assert [series.place(0), series.place(1)] == [("b.json", 2), ("a.json", 3)]
    np.testing.assert_array_equal(series.values, np.array([[np.nan, 2], [np.nan, np.nan]], np.float32))
    assert series.masked(np.arange(2)) == {"state 'x'": 2, "low": 1}
    flags = series.flags_of(np.arange(2))
    assert flags is not None
    assert flags.tolist() == [[Flag.STATE, Flag.DOUBTFUL], [Flag.CENSORED, Flag.STATE]]
    assert series.time_text(0) == "2024-05-01T01:00Z"


@pytest.mark.parametrize(
    ("place", "there"),
    [
        ((90, 180), True),
        ((-90, -180), True),
        ((90.001, 0), False),
        ((-90.001, 0), False),
        ((0, 180.001), False),
        ((0, -180.001), False),
        ((float("nan"), 0), False),
    ],
)
def test_the_poles_and_the_date_line_are_on_earth_and_nothing_beyond(place: tuple[float, float], there: bool) -> None:
    assert position(*place) == (place if there else None)


@pytest.mark.parametrize(("year", "there"), [(1699, False), (1700, True), (2260, True), (2261, False), (9999, False)])
def test_times_are_those_of_a_log_that_nanoseconds_can_hold(year: int, there: bool) -> None:
    (ns,) = read_instants([f"{year}-06-01T00:00Z"]).ns
    assert (ns != MISSING) == there


@pytest.mark.parametrize("zone", ["Z", " Z", "UTC", " UTC", "+00", "+0000", "+00:00", "-00:00"])
def test_utc_is_written_in_several_ways(zone: str) -> None:
    (ns,) = read_instants([f"2024-05-01T01:00{zone}"]).ns
    assert pd.Timestamp(ns) == pd.Timestamp("2024-05-01T01:00")


def test_a_text_of_sixty_four_signs_may_be_a_number_and_a_longer_one_is_none() -> None:
    assert read_cell("1." + "0" * 62) == Cell(1.0)
    assert read_cell("1." + "0" * 63) is None


def test_rows_that_are_left_out_are_refused_once_with_their_own_text() -> None:
    rows = Rows(("a.json", "b.json"), file=[0, 1, 1], line=[4, 7, 8])
    to = Refused()
    keep = np.array([False, True, True])
    left = rows.leave_out(keep, np.array([True, True, False]), ["x", "y", "z"], "time", "not a time", to)
    assert left.tolist() == [False, False, True]
    (found,) = to._listed["not a time"]
    assert (found.file, found.line, found.column, found.text) == ("b.json", 7, "time", "y")
    assert to._count == {"not a time": 1}
