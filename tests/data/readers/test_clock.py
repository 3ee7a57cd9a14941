"""Times: every way of writing them comes to the same nanosecond, and what reads two ways is refused."""

from __future__ import annotations

import datetime as dt
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from attentionmixer.data.readers.clock import (
    MISSING,
    ClockRules,
    Times,
    clock_faults,
    impossible_times,
    looks_like_time,
    read_times,
)
from attentionmixer.errors import LogError

WHERE = "log.csv: column 'time'"
HOUR = 3_600_000_000_000
NOON = "2024-05-01T12:00:00Z"


def column(cells: list[Any], kind: pa.DataType | None = None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(cells, kind or pa.string())])


def read(*words: str | None, group: list[int] | None = None, **declared: Any) -> Times:
    of = None if group is None else np.array(group)
    return read_times(column(list(words)), ClockRules(**declared), WHERE, group=of)


def shown(times: Times) -> list[str | None]:
    return [None if ns == MISSING else f"{pd.Timestamp(ns).isoformat()}Z" for ns in times.ns.tolist()]


# --- what is declared ---


@pytest.mark.parametrize("order", ["ymd", "DMY", ""])
def test_an_order_of_dates_that_is_none_is_refused_with_the_two_there_are(order: str) -> None:
    with pytest.raises(LogError, match=rf"date_order='{order}' is unknown; choose 'dmy' \(day first\) or 'mdy'"):
        ClockRules(date_order=order)


@pytest.mark.parametrize("tz", ["", " ", "Europe/Nowhere", "+25:00", "../../etc/passwd", "\x00", "UTC+1"])
def test_a_zone_that_is_none_is_refused_by_its_name(tz: str) -> None:
    with pytest.raises(LogError, match="is unknown; use a name such as 'UTC' or 'Europe/Berlin'") as caught:
        ClockRules(tz=tz)
    assert repr(tz) in str(caught.value)


# --- ISO 8601 ---


@pytest.mark.parametrize(
    "text",
    [
        "2024-05-01T12:00Z",
        "2024-05-01T12:00:00Z",
        "2024-05-01 12:00:00 UTC",
        "2024/05/01 12:00:00.000Z",
        "2024-05-01T12:00:00,000000000Z",
        "2024-05-01T14:00:00+02:00",
        "2024-05-01T14:00:00 +0200",
        "2024-05-01T08:30-03:30",
        "2024-05-02T00:00+12:00",
    ],
)
def test_all_ways_of_writing_one_moment_in_iso_8601_are_that_moment(text: str) -> None:
    times = read(f" {text} ")
    assert shown(times) == [NOON]
    assert times.decisions == () == times.warnings


def test_each_row_has_its_own_offset_and_its_nanoseconds() -> None:
    times = read("2024-05-01T12:00:00.000000001+00:00", "2024-05-01T12:00:00.5-01:00")
    assert (np.diff(times.ns) == HOUR + 499_999_999).all()


def test_a_date_alone_is_its_midnight() -> None:
    assert shown(read("2024-05-01", "2024-05-02", tz="UTC")) == ["2024-05-01T00:00:00Z", "2024-05-02T00:00:00Z"]


@pytest.mark.parametrize(
    "text",
    [
        *("2024-13-01T00:00Z", "2024-02-30T00:00Z", "2024-05-01T24:00Z", "2024-05-01T12:60Z", "9999-12-31T00:00Z"),
        *(
            "0000-01-01T00:00Z",
            "1677-09-21T00:00Z",
            "2024-05-01T12:00+24:00",
            "never",
            "",
            "2024-05-01T12:00:00.0000000001Z",
        ),
    ],
)
def test_what_is_no_moment_is_missing_and_the_others_stay(text: str) -> None:
    assert shown(read(NOON, text, "2024-05-01T13:00Z")) == [NOON, None, "2024-05-01T13:00:00Z"]


def test_a_null_is_missing() -> None:
    assert shown(read(NOON, None)) == [NOON, None]


def test_times_with_and_without_offset_in_one_column_are_refused_naming_the_first_without() -> None:
    with pytest.raises(LogError, match=r"column 'time': some times state an offset .*, e\.g\. '2024-05-01T13:00'"):
        read(NOON, "2024-05-01T13:00", "2024-05-01T14:00", tz="UTC")
    # a cell that is no time at all is not one without offset
    assert shown(read("-", NOON, "2024-05-01T12:00Z")) == [None, NOON, NOON]


def test_a_zone_that_offsets_make_needless_is_said_to_be_so_except_utc() -> None:
    assert read(NOON, tz="Europe/Berlin").decisions == (
        f"{WHERE} states its own offset, so tz='Europe/Berlin' was not needed",
    )
    assert read(NOON, tz="UTC").decisions == ()


@pytest.mark.parametrize(("bad", "refused"), [(1, False), (2, True), (3, True)])
def test_a_column_is_one_of_times_only_where_most_of_its_texts_are(bad: int, refused: bool) -> None:
    words = [NOON, "2024-05-01T13:00Z", *(f"bad {i}" for i in range(bad))]
    if not refused:
        assert len(read(*words).ns) == 3
        return
    with pytest.raises(LogError, match=rf"column 'time': 'bad 0' and {bad - 1} other text\(s\) are not dates or times"):
        read(*words)


def test_a_column_without_any_text_is_said_to_be_empty() -> None:
    for words in ((), (None, None)):
        with pytest.raises(LogError, match="column 'time' is empty"):
            read(*words)


# --- dates in other orders ---


@pytest.mark.parametrize(
    ("words", "order", "first"),
    [
        (("12.05.2024 10:00", "13.05.2024 10:00"), "day first: '13.05.2024 10:00'", "2024-05-12T10:00:00Z"),
        (("5/12/2024 10:00", "5/13/2024 10:00"), "month first: '5/13/2024 10:00'", "2024-05-12T10:00:00Z"),
        (("31-01-2024", "1-2-2024"), "day first: '31-01-2024'", "2024-01-31T00:00:00Z"),
    ],
)
def test_a_date_with_a_number_above_12_settles_the_order_of_all(words: tuple[str, ...], order: str, first: str) -> None:
    times = read(*words, tz="UTC")
    assert shown(times)[0] == first
    assert times.decisions[0] == f"dates are {order} reads no other way"


def test_dates_that_all_read_both_ways_are_refused_with_both_readings() -> None:
    with pytest.raises(
        LogError,
        match=r"'12\.1\.2024' is 2024-01-12 \(day first\) or 2024-12-01 \(month first\)\. Declare date_order='dmy'",
    ):
        read("12.1.2024", "12.2.2024", tz="UTC")
    for order, moment in (("dmy", "2024-01-12T00:00:00Z"), ("mdy", "2024-12-01T00:00:00Z")):
        times = read("12.1.2024", "12.2.2024", tz="UTC", date_order=order)
        assert shown(times)[0] == moment
        assert not any("reads no other way" in decision for decision in times.decisions)


def test_dates_of_both_orders_are_refused_with_one_of_each() -> None:
    with pytest.raises(
        LogError, match=r"'13\.1\.2024' is day first and '1\.13\.2024' month first; declare date_order="
    ):
        read("13.1.2024", "1.13.2024", tz="UTC")
    assert shown(read("13.1.2024", "1.13.2024", "2.1.2024", tz="UTC", date_order="dmy"))[1] is None


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("12:00 AM", "00:00:00"),
        ("12:30 am", "00:30:00"),
        ("1:00 AM", "01:00:00"),
        ("11:59:59 AM", "11:59:59"),
        ("12:00 PM", "12:00:00"),
        ("1:00pm", "13:00:00"),
        ("11:59 PM", "23:59:00"),
        ("13:00 PM", "13:00:00"),
        ("23:00 PM", "23:00:00"),
        ("9:05", "09:05:00"),
        ("9:05:06.25", "09:05:06.250000"),
        ("13:00 AM", None),
        ("24:00 PM", None),
        ("25:00", None),
    ],
)
@pytest.mark.parametrize("day", ["13.05.2024", "13-May-2024"])
def test_hours_of_twelve_and_of_twenty_four_are_told_apart(day: str, text: str, clock: str | None) -> None:
    times = read(f"{day} {text}", f"{day} 8:00", f"{day} 9:00", tz="UTC")
    assert shown(times)[0] == (None if clock is None else f"2024-05-13T{clock}Z")


@pytest.mark.parametrize(("month", "number"), [("Jan", 1), ("MAY", 5), ("sept", 9), ("September", 9), ("dec", 12)])
def test_english_months_are_known_by_their_first_letters(month: str, number: int) -> None:
    assert shown(read(f"1-{month}-2024 10:00", tz="UTC")) == [f"2024-{number:02d}-01T10:00:00Z"]


def test_years_of_two_digits_are_of_this_century_and_this_is_said() -> None:
    times = read("01-May-99", "2 May 00 1:00 PM", tz="UTC")
    assert shown(times) == ["2099-05-01T00:00:00Z", "2000-05-02T13:00:00Z"]
    assert times.decisions[0] == "years of two digits are 20.."
    assert "years of two digits are 20.." not in read("01-May-2024", tz="UTC").decisions


def test_words_that_are_no_months_are_no_times() -> None:
    assert shown(read("01-Foo-2024", "31-Feb-2024", "29-Feb-2024", "1-Mar-2024", "2-Mar-2024", tz="UTC"))[:3] == [
        None,
        None,
        "2024-02-29T00:00:00Z",
    ]


# --- since 1970 ---


@pytest.mark.parametrize(
    ("text", "unit"),
    [("1714564800", "s"), ("1714564800000", "ms"), ("1714564800000000", "us"), ("1714564800000000000", "ns")],
)
def test_numbers_since_1970_are_known_by_their_digits(text: str, unit: str) -> None:
    for times in (read(text), read_times(column([int(text)], pa.int64()), ClockRules(), WHERE)):
        assert shown(times) == [NOON]
        assert times.decisions == (f"times are {unit} since 1970 (UTC)",)


@pytest.mark.parametrize(
    ("last", "beyond"),
    [
        ("9223372036", "9223372037"),
        ("9223372036854", "9223372036855"),
        ("9223372036854775807", "9223372036854775808"),
    ],
)
def test_a_number_beyond_what_nanoseconds_can_count_is_missing(last: str, beyond: str) -> None:
    times = read(last, beyond)
    assert times.ns[0] == int(last.ljust(19, "0"))
    assert times.ns[1] == MISSING


def test_numbers_of_several_lengths_are_refused() -> None:
    with pytest.raises(LogError, match=r"numbers of \[10, 13\] digits cannot all be one kind of time"):
        read("1714564800", "1714564800000")


# --- declared formats ---


def test_a_declared_format_is_read_and_what_does_not_fit_is_missing() -> None:
    times = read("12h00 2024/05/01", "13h00 2024/05/01", "noon", time_format="%Hh%M %Y/%m/%d", tz="UTC")
    assert shown(times) == [NOON, "2024-05-01T13:00:00Z", None]
    with pytest.raises(LogError, match=r"'noon' and 0 other text\(s\) are not of the format '%Hh%M'"):
        read("noon", "12h00", time_format="%Hh%M", tz="UTC")


def test_a_declared_format_with_offsets_takes_each_row_at_its_own() -> None:
    words = ("01.05.2024 14:00 +0200", "01.05.2024 12:00 +0000", "01.05.2024")
    times = read(*words, time_format="%d.%m.%Y %H:%M %z", tz="Europe/Berlin")
    assert shown(times) == [NOON, NOON, None]
    assert "was not needed" in times.decisions[0]


def test_a_per_cent_sign_in_a_declared_format_is_no_offset() -> None:
    times = read("12:00 %z 2024-05-01", time_format="%H:%M %%z %Y-%m-%d", tz="Europe/Berlin")
    assert shown(times) == ["2024-05-01T10:00:00Z"]


def test_a_declared_format_that_is_none_is_refused() -> None:
    with pytest.raises(LogError, match="column 'time': time_format='%Q' is no format"):
        read("2024-05-01", time_format="%Q")


# --- typed columns ---


def test_timestamps_dates_and_words_in_a_dictionary_are_times() -> None:
    moment = dt.datetime(2024, 5, 1, 12)
    aware = column([moment, None], pa.timestamp("ms", tz="Europe/Berlin"))
    assert shown(read_times(aware, ClockRules(tz="Asia/Tokyo"), WHERE)) == [NOON, None]
    naive = column([moment], pa.timestamp("s"))
    assert shown(read_times(naive, ClockRules(tz="Asia/Tokyo"), WHERE)) == ["2024-05-01T03:00:00Z"]
    days = column([dt.date(2024, 5, 1)], pa.date32())
    assert shown(read_times(days, ClockRules(tz="UTC"), WHERE)) == ["2024-05-01T00:00:00Z"]
    assert shown(read_times(column([NOON], pa.large_string()), ClockRules(), WHERE)) == [NOON]


def test_typed_columns_that_are_no_times_are_refused() -> None:
    with pytest.raises(LogError, match="column 'time' holds double, not times"):
        read_times(column([1.5], pa.float64()), ClockRules(), WHERE)
    with pytest.raises(LogError, match="column 'time' holds a time that does not fit in nanoseconds"):
        read_times(column([dt.datetime(9999, 1, 1)], pa.timestamp("s")), ClockRules(), WHERE)


# --- zones ---


def test_local_times_are_brought_to_utc_by_their_zone() -> None:
    times = read("2024-01-01 12:00", "2024-07-01 12:00", tz="Europe/Berlin")
    assert shown(times) == ["2024-01-01T11:00:00Z", "2024-07-01T10:00:00Z"]
    assert times.decisions == ("times without an offset were taken as Europe/Berlin",)
    assert times.warnings == ()


def test_a_time_that_clocks_skip_is_refused_and_its_neighbours_are_not() -> None:
    times = read("2024-03-31 01:59:59", "2024-03-31 03:00:00", tz="Europe/Berlin")
    assert np.diff(times.ns).tolist() == [HOUR // 3600]
    for text in ("2024-03-31 02:00:00", "2024-03-31 02:59:59"):
        with pytest.raises(LogError, match=rf"{text} does not exist in Europe/Berlin, .*tz='\+01:00'"):
            read("2024-03-31 01:00", text, tz="Europe/Berlin")


def test_the_first_pass_of_a_repeated_hour_is_an_hour_before_the_second() -> None:
    words = ("2021-10-31 01:30", "2021-10-31 02:00", "2021-10-31 02:30", "2021-10-31 02:00", "2021-10-31 02:30")
    times = read(*words, "2021-10-31 03:00", tz="Europe/Berlin")
    assert np.diff(times.ns).tolist() == [HOUR // 2] * 5
    assert shown(times)[0] == "2021-10-30T23:30:00Z"
    assert times.decisions[1].startswith("4 time(s) in an hour that clocks repeat were told apart")
    backwards = read("2021-10-31 03:00", *reversed(words), tz="Europe/Berlin")
    assert backwards.ns.tolist() == times.ns[::-1].tolist()


def test_repeated_hours_of_several_years_are_each_told_apart() -> None:
    words = [f"{day} {clock}" for day in ("2020-10-25", "2021-10-31") for clock in ("02:00", "02:30", "02:00", "02:30")]
    times = read(*words, tz="Europe/Berlin")
    assert [text[11:16] for text in shown(times) if text] == ["00:00", "00:30", "01:00", "01:30"] * 2


def test_a_sequence_that_does_not_tell_which_pass_is_meant_is_refused() -> None:
    for words in (("02:00", "02:30"), ("02:00",), ("02:00", "02:30", "02:00", "02:30", "02:00")):
        with pytest.raises(LogError, match=r"2021-10-31 02:00:00 occurs twice in Europe/Berlin, .*offsets or in UTC"):
            read("2021-10-31 01:00", *(f"2021-10-31 {clock}" for clock in words), tz="Europe/Berlin")


def test_each_series_is_told_apart_by_its_own_rows() -> None:
    words = [f"2021-10-31 {clock}" for clock in ("01:00", "01:00", "02:00", "02:30", "02:00", "02:00")]
    times = read(*words, group=[0, 1, 0, 1, 0, 1], tz="Europe/Berlin")
    assert [text[11:16] for text in shown(times) if text] == ["23:00", "23:00", "00:00", "00:30", "01:00", "01:00"]
    with pytest.raises(LogError, match="does not tell which is meant"):
        read(*words, tz="Europe/Berlin")


@pytest.mark.parametrize("zone", ["UTC", "utc"])
def test_utc_repeats_no_hour(zone: str) -> None:
    times = read("2021-10-31 02:00", "2021-10-31 02:30", tz=zone)
    assert np.diff(times.ns).tolist() == [HOUR // 2]
    assert times.decisions == (f"times without an offset were taken as {zone}",)


def test_a_wall_clock_at_the_end_of_what_can_be_counted_is_no_time() -> None:
    for text in ("2262-04-11 23:47:16.854775807", "1677-09-21 00:12:43.145224193"):
        times = read(text, "2024-05-01 12:00", "2024-05-01 12:00", tz="America/New_York")
        assert shown(times) == [None, "2024-05-01T16:00:00Z", "2024-05-01T16:00:00Z"]


# --- no zone at all ---


def test_times_without_a_zone_are_utc_with_a_warning() -> None:
    times = read("2024-05-01 12:00", "2024-05-01 13:00")
    assert shown(times)[0] == NOON
    assert times.decisions == ()
    assert times.warnings[0].startswith("log.csv: column 'time' states no time zone: its times were taken as UTC")


SUNDAY, MONDAY = "2024-03-31", "2024-04-01"


@pytest.mark.parametrize(
    ("clocks", "sign"),
    [
        ((SUNDAY, "00:00", "01:00", "01:00", "02:00"), "01:00:00 occurs twice"),
        ((SUNDAY, "01:30", "01:45", "01:00", "01:15"), "01:00:00 occurs twice"),
        ((MONDAY, "04:30", "04:45", "04:00", "04:15"), "04:00:00 occurs twice"),
        ((MONDAY, "05:30", "05:45", "05:00", "05:15"), None),
        ((SUNDAY, "01:00", "01:10", "01:20", "02:30", "02:40"), "02:30:00 follows a gap of one hour"),
        ((SUNDAY, "04:00", "04:10", "04:20", "05:30", "05:40"), "05:30:00 follows a gap of one hour"),
        ((SUNDAY, "05:00", "05:10", "05:20", "06:30", "06:40"), None),
        ((MONDAY, "01:00", "01:10", "01:20", "02:30", "02:40"), None),
        ((SUNDAY, "01:00", "01:10", "01:20", "02:20", "02:30"), None),
        ((SUNDAY, "01:00", "02:00", "03:00", "05:00"), "05:00:00 follows a gap of one hour"),
        # a clock that is set back by more than an hour and a step is a fault, not a habit
        ((SUNDAY, "03:00", "03:15", "02:00", "02:15"), None),
    ],
)
@pytest.mark.parametrize("backwards", [False, True])
def test_a_change_of_clocks_is_seen_in_the_night_it_happens(
    clocks: tuple[str, ...], sign: str | None, backwards: bool
) -> None:
    day, *hours = clocks
    words = [f"{day} {hour}" for hour in (reversed(hours) if backwards else hours)]
    if sign is None:
        assert len(read(*words).warnings) == 1
        return
    with pytest.raises(
        LogError, match=r"has no time zone, and .*State the zone with tz='Europe/Berlin', or tz='UTC'"
    ) as e:
        read(*words)
    assert sign in str(e.value) or backwards
    assert read(*words, tz="UTC").warnings == ()


def test_stations_side_by_side_repeat_no_hour() -> None:
    words = [f"{SUNDAY} {clock}" for clock in ("01:00", "01:00", "02:00", "02:00")]
    assert len(read(*words, group=[0, 1, 0, 1]).ns) == 4
    with pytest.raises(LogError, match="occurs twice"):
        read(*words)


# --- what clocks do wrong ---


def test_times_before_1971_and_from_tomorrow_on_are_impossible() -> None:
    edge = pd.Timestamp("1971-01-01", tz="UTC").value
    now = pd.Timestamp.now("UTC").value
    time = np.array([edge - 1, edge, now, now + 24 * HOUR - HOUR // 60, now + 24 * HOUR + HOUR // 60])
    (old, early), (ahead, late) = impossible_times(time)
    assert old.tolist() == [True, False, False, False, False]
    assert ahead.tolist() == [False, False, False, False, True]
    assert "before 1971" in early and late == "in the future"


@pytest.mark.parametrize(
    ("time", "group", "said"),
    [
        ([1, 2, 3], [0, 0, 0], None),
        ([1, 1, 1], [0, 0, 0], None),
        ([5], [0], None),
        ([1, 5, 1, 5], [0, 1, 0, 1], None),
        ([5, 1], [0, 1], None),
        ([3, 2, 1], [0, 0, 0], "rows run from the latest time to the earliest"),
        ([3, 3, 1], [0, 0, 0], "rows run from the latest time to the earliest"),
        ([1, 3, 2, 4], [0, 0, 0, 0], "1 row(s) are earlier than the row before"),
        ([4, 3, 2, 5], [0, 0, 0, 0], "2 row(s) are earlier than the row before"),
        ([1, 9, 2, 8, 3, 9], [0, 1, 0, 1, 0, 1], "1 row(s) are earlier than the row before"),
    ],
)
def test_a_clock_that_goes_back_is_seen_in_each_series(time: list[int], group: list[int], said: str | None) -> None:
    found = clock_faults(np.array(time), np.array(group))
    assert len(found) == (said is not None)
    assert said is None or found[0].startswith(said)


@pytest.mark.parametrize(
    ("cells", "times"),
    [
        ([NOON, "x"], False),
        ([NOON, NOON, "x"], True),
        ([NOON, "", " "], True),
        (["", " "], False),
        ([], False),
        (["1714564800", "1714564801"], False),
        (["12.05.2024", "1-May-24", " 2024-05-01 12:00 "], True),
        (["12.5", "13.5"], False),
    ],
)
def test_a_column_looks_like_times_where_most_cells_are_dates(cells: list[str], times: bool) -> None:
    assert looks_like_time(cells) is times


# --- what is said ---


@pytest.mark.parametrize(
    ("words", "declared", "said"),
    [
        (
            ("13.1.2024", "1.13.2024"),
            {},
            "'13.1.2024' is day first and '1.13.2024' month first; declare date_order=",
        ),
        (
            ("?", "12.1.2024", "12.2.2024"),
            {},
            "every date reads both ways; '12.1.2024' is 2024-01-12 (day first) or 2024-12-01 (month first). "
            "Declare date_order='dmy' or date_order='mdy'",
        ),
        (
            ("1714564800", "1714564800000"),
            {},
            "numbers of [10, 13] digits cannot all be one kind of time since 1970",
        ),
        (
            ("2024-05-01",),
            {"time_format": "%Q"},
            "time_format='%Q' is no format: 'Q' is a bad directive in format '%Q'",
        ),
        (
            ("2021-10-31 02:00",),
            {"tz": "Europe/Berlin"},
            "2021-10-31 02:00:00 occurs twice in Europe/Berlin, clocks went back, and the sequence of rows does not "
            "tell which is meant; export the log with offsets or in UTC",
        ),
        (
            ("2024-03-31 02:10", "2024-03-31 02:50"),
            {"tz": "Europe/Berlin"},
            "2024-03-31 02:10:00 does not exist in Europe/Berlin, clocks went forward; check tz. A logger that stays "
            "on winter time has a fixed offset, such as tz='+01:00'",
        ),
        (
            ("never", "soon", NOON),
            {},
            "'never' and 1 other text(s) are not dates or times; use ISO 8601 (2021-06-30T12:00:00Z) or declare "
            "time_format='%d-%b-%Y %H:%M'",
        ),
        (
            (NOON, "2024-05-01T13:00"),
            {},
            "some times state an offset and some do not, e.g. '2024-05-01T13:00'; make them alike",
        ),
    ],
)
def test_a_refusal_names_the_column_and_the_text(words: tuple[str, ...], declared: dict[str, str], said: str) -> None:
    with pytest.raises(LogError) as refused:
        read(*words, **declared)
    assert str(refused.value) == f"{WHERE}: {said}"


def test_a_sign_of_changed_clocks_is_named_with_its_column_and_the_way_out() -> None:
    for words, what in (
        (("2024-03-31 01:30", "2024-03-31 01:45", "2024-03-31 01:00"), "01:00:00 occurs twice"),
        (
            ("2024-03-31 00:00", "2024-03-31 01:00", "2024-03-31 03:00", "2024-03-31 04:00"),
            "03:00:00 follows a gap of one hour",
        ),
    ):
        with pytest.raises(LogError) as refused:
            read(*words)
        assert str(refused.value) == (
            f"{WHERE} has no time zone, and 2024-03-31 {what}, as where clocks are changed: the times are local. "
            "State the zone with tz='Europe/Berlin', or tz='UTC' if they are not"
        )


def test_typed_times_that_do_not_fit_are_refused_with_the_first_of_them() -> None:
    with pytest.raises(
        LogError, match=r"time' holds a time that does not fit in nanoseconds since 1970: .*253370764800"
    ):
        read_times(column([dt.datetime(9999, 1, 1)], pa.timestamp("s")), ClockRules(), WHERE)


def test_times_of_no_zone_are_warned_of_in_full() -> None:
    assert read("2024-05-01 12:00").warnings == (
        f"{WHERE} states no time zone: its times were taken as UTC; if the clock is another one, give tz=",
    )


def test_an_unknown_zone_or_order_is_refused_in_full() -> None:
    with pytest.raises(LogError) as refused:
        ClockRules(tz="Mars/North")
    assert str(refused.value) == "time zone 'Mars/North' is unknown; use a name such as 'UTC' or 'Europe/Berlin'"
    with pytest.raises(LogError) as refused:
        ClockRules(date_order="ymd")
    assert str(refused.value) == ("date_order='ymd' is unknown; choose 'dmy' (day first) or 'mdy' (month first)")


def test_impossible_times_and_clocks_that_go_back_are_said_in_full() -> None:
    assert [reason for _, reason in impossible_times(np.zeros(1, dtype=np.int64))] == [
        "before 1971: the clock was not set",
        "in the future",
    ]
    time = np.concatenate([np.arange(0, 4000, 2), np.arange(1, 2001)[::-1]])
    assert clock_faults(time, np.zeros(len(time), dtype=np.int64)) == [
        "2,000 row(s) are earlier than the row before: the clock was set back, or rows are out of order"
    ]


# --- local dates ---


@pytest.mark.parametrize("word", ["13.05.2024 14:00", "13-May-2024 14:00", "13 May 24 2:00 PM", "2024-05-13 14:00"])
def test_dates_of_any_kind_without_an_offset_are_local(word: str) -> None:
    times = read(word, tz="Europe/Berlin")
    assert shown(times) == ["2024-05-13T12:00:00Z"]
    assert times.decisions[-1] == "times without an offset were taken as Europe/Berlin"
    naive = read(word)
    assert shown(naive) == ["2024-05-13T14:00:00Z"]
    assert len(naive.warnings) == 1


@pytest.mark.parametrize("number", range(1, 13))
def test_every_month_is_known_by_its_english_name(number: int) -> None:
    name = (
        *("January", "February", "March", "April", "May", "June"),
        *("July", "August", "September", "October", "November", "December"),
    )[number - 1]
    for month in (name, name[:3], name[:3].upper()):
        assert shown(read(f"7-{month}-24 10:00", tz="UTC")) == [f"2024-{number:02d}-07T10:00:00Z"]


def test_a_text_among_numbers_since_1970_is_missing() -> None:
    assert shown(read("1714564800", "never", "1714564801", None)) == [NOON, None, "2024-05-01T12:00:01Z", None]


@pytest.mark.parametrize(("kind", "mark"), [("dmy", "day first"), ("mdy", "month first")])
@pytest.mark.parametrize("twelve", [12, 13])
def test_a_number_above_twelve_is_a_day(kind: str, mark: str, twelve: int) -> None:
    word = f"{twelve}/1/2024" if kind == "dmy" else f"1/{twelve}/2024"
    if twelve == 12:
        with pytest.raises(LogError, match="every date reads both ways"):
            read(word, tz="UTC")
        return
    times = read(word, tz="UTC")
    assert shown(times) == ["2024-01-13T00:00:00Z"]
    assert times.decisions[0] == f"dates are {mark}: '{word}' reads no other way"


# --- the ends of what nanoseconds can count ---


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("2262-04-11T23:47:16.854775807Z", 2**63 - 1),
        ("2262-04-11T23:47:16.854775808Z", MISSING),
        ("1677-09-21T00:12:43.145224193Z", 1 - 2**63),
        ("1677-09-21T00:12:43.145224192Z", MISSING),
    ],
)
def test_the_first_and_last_moment_that_can_be_counted_are_times(text: str, ns: int) -> None:
    assert read(NOON, text, "2024-05-01T13:00Z").ns[1] == ns


@pytest.mark.parametrize("edge", [2**63 - 24 * HOUR, 24 * HOUR - 2**63])
@pytest.mark.parametrize(("inside", "there"), [(0, False), (1, True)])
def test_wall_clocks_a_day_from_these_ends_are_no_times(edge: int, inside: int, there: bool) -> None:
    moment = edge - inside if edge > 0 else edge + inside
    typed = column([moment, 0], pa.timestamp("ns"))
    assert read_times(typed, ClockRules(tz="UTC"), WHERE).ns.tolist() == [moment if there else MISSING, 0]


# --- clocks that go back, in files of many series ---


def test_rows_of_many_series_side_by_side_keep_their_sequence() -> None:
    group = np.tile([1, 0, 2], 300)
    time = np.repeat(np.arange(300), 3)
    assert clock_faults(time, group) == []
    assert clock_faults(time[::-1], group) == ["rows run from the latest time to the earliest"]
    start = pd.Timestamp("2024-05-01 12:00")
    words = [str(start + pd.Timedelta(minutes=10 * int(t))) for t in time]
    times = read(*words, group=group.tolist())
    assert len(times.warnings) == 1
    start = pd.Timestamp("2021-10-31 00:00", tz="UTC")
    moments = [start + pd.Timedelta(seconds=36 * int(t)) for t in time]
    berlin = read(
        *(f"{m.tz_convert('Europe/Berlin'):%Y-%m-%d %H:%M:%S}" for m in moments),
        group=group.tolist(),
        tz="Europe/Berlin",
    )
    assert berlin.ns.tolist() == [m.value for m in moments]


def test_the_sign_of_changed_clocks_is_looked_for_in_each_series() -> None:
    night = [f"{SUNDAY} {clock}" for clock in ("01:30", "01:45", "01:00", "01:15")]
    with pytest.raises(LogError, match="01:00:00 occurs twice"):
        read(*night, *night, group=[0, 0, 0, 0, 1, 1, 1, 1])
    gap = [f"{SUNDAY} {clock}" for clock in ("01:00", "01:10", "01:20", "02:30", "02:40")]
    with pytest.raises(LogError, match="02:30:00 follows a gap of one hour"):
        read(*gap, *gap, group=[0] * 5 + [1] * 5)
    # from the end of one series to the beginning of the next is no going back
    one, other = [f"{SUNDAY} 00:{m}" for m in (10, 20, 30)], [f"{SUNDAY} 00:{m}" for m in (15, 25, 35)]
    assert len(read(*one, *other, group=[0, 0, 0, 1, 1, 1]).warnings) == 1
    assert len(read(*one, *other, group=[5, 5, 5, 9, 9, 9]).warnings) == 1


@pytest.mark.parametrize(
    "words",
    [
        # half of the rows, or two of five, go back in daylight: the file still runs forwards
        ("01 12:00", "01 11:00", "01 10:00", "02 00:30", "02 01:00"),
        ("01 12:00", "01 11:00", "01 10:00", "02 00:30", "02 01:00", "02 01:30"),
        # most rows repeat the one before
        (*["01 12:00"] * 5, "01 23:00", "02 00:30", "02 01:00"),
        # only the first row is of the night
        ("01 01:00", "01 12:30", "01 12:45", "01 12:00", "01 12:15"),
        # an hour and more without a step in between
        ("01 05:10", "01 05:10", "01 04:10"),
        # more than two hours
        ("01 00:00", "01 02:00", "01 04:00", "01 01:30", "01 03:30"),
        ("01 12:00", "01 12:00"),
        ("01 01:00",),
    ],
)
def test_rows_that_go_back_otherwise_are_no_sign_of_changed_clocks(words: tuple[str, ...]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        times = read(*(f"2024-05-{word}" for word in words))
    assert len(times.warnings) == 1
    assert shown(times) == [f"2024-05-{word[:2]}T{word[3:]}:00Z" for word in words]


def test_a_step_of_two_hours_back_in_a_log_of_two_hours_is_a_sign() -> None:
    with pytest.raises(LogError, match="02:00:00 occurs twice"):
        read(*(f"2024-05-01 {clock}" for clock in ("00:00", "02:00", "04:00", "02:00", "04:00")))


def test_rows_that_repeat_do_not_hide_a_gap_of_one_hour() -> None:
    night = ("00:40", "00:50", "01:00", "01:10", "01:20", "02:30")
    with pytest.raises(LogError, match="02:30:00 follows a gap of one hour"):
        read(*["2024-03-30 12:00"] * 7, *(f"{SUNDAY} {clock}" for clock in night))


def test_a_file_of_the_repeated_hours_alone_may_begin_with_the_latest_row() -> None:
    words = [f"2021-10-31 {clock}" for clock in ("02:30", "02:00", "02:30", "02:00")]
    times = read(*words, tz="Europe/Berlin")
    assert [text[11:16] for text in shown(times) if text] == ["01:30", "01:00", "00:30", "00:00"]


def test_the_first_of_several_signs_of_changed_clocks_is_named() -> None:
    words = [f"{day} {clock}" for day in (SUNDAY, MONDAY) for clock in ("01:30", "01:45", "01:00", "01:15")]
    with pytest.raises(LogError, match="2024-03-31 01:00:00 occurs twice"):
        read(*words)
    gaps = [
        f"{day} {clock}" for day in (SUNDAY, "2024-04-07") for clock in ("01:00", "01:10", "01:20", "02:30", "02:40")
    ]
    with pytest.raises(LogError, match="2024-03-31 02:30:00 follows a gap of one hour"):
        read(*gaps)
