"""The RadNet reader."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from attentionmixer.data import StationLog, read_log
from attentionmixer.data.quality import Gap
from attentionmixer.errors import LogError

HEADER = (
    "LOCATION_NAME,SAMPLE COLLECTION TIME,DOSE EQUIVALENT RATE (nSv/h),"
    + "".join(f"GAMMA COUNT RATE R0{i} (CPM)," for i in range(2, 10))
    + "STATUS"
)
Write = Callable[..., Path]


def row(time: str, dose: str = "61.00", r02: str = "2958.00", status: str = "APPROVED", name: str = "XX: TOWN") -> str:
    return f"{name},{time},{dose},{r02},1820.00,532.00,301.00,190.00,221.00,140.00,41.00,{status}"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def _write(rows: Sequence[str], name: str = "town.csv", end: str = "\n") -> Path:
        path = tmp_path / name
        path.write_bytes((end.join([HEADER, *rows]) + end).encode())
        return path

    return _write


def balance(log: StationLog) -> tuple[int, int, int, int]:
    q = log.quality
    return q.rows_in, q.rows_kept, q.rows_quarantined, q.rows_merged


def test_a_file_becomes_nine_tags_with_unit_quantity_and_station(write: Write) -> None:
    log = read_log(write([row("01/02/2026 00:06:00"), row("01/02/2026 01:07:00")]))
    assert log.names[:2] == ("XX: TOWN dose", "XX: TOWN R02")
    assert log.names[-1] == "XX: TOWN R09"
    dose, count = log.tags[0], log.tags[1]
    assert (dose.unit, dose.quantity, dose.station, dose.role) == ("nSv/h", "dose_rate", "XX: TOWN", "target")
    assert (count.unit, count.quantity, count.coordinates) == ("cpm", "count_rate", None)
    assert log.time[0] == pd.Timestamp("2026-01-02T00:00Z")
    assert balance(log) == (2, 2, 0, 0)


def test_months_come_first_in_dates(write: Write) -> None:
    log = read_log(write([row("03/04/2021 00:00:00"), row("03/04/2021 01:00:00")]))
    assert log.time[0] == pd.Timestamp("2021-03-04T00:00Z")


@pytest.mark.parametrize("bad", ["", "1,2\n"])
def test_a_column_that_is_there_twice_is_refused_whether_or_not_lines_are_broken(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "town.csv"
    rows = "".join(f"{row(f'01/01/2020 0{hour}:00:00')},1\n" for hour in range(2))
    path.write_text(f"{HEADER},SAMPLE COLLECTION TIME\n{rows}{bad}")
    with pytest.raises(LogError, match="column\\(s\\) more than once: SAMPLE COLLECTION TIME"):
        read_log(path)


@pytest.mark.parametrize(
    "time", ["02/30/2020 05:00:00", "02/01/202005:00:00", "02/01/2020 05:00:60", "2/1/2020  5:0:0"]
)
def test_a_time_that_does_not_exist_is_never_another_time(write: Write, time: str) -> None:
    log = read_log(write([row("02/01/2020 00:00:00"), row(time), row("02/01/2020 02:00:00")]))
    assert [(bad.line, bad.text) for bad in log.quality.quarantined] == [(3, time)]
    assert len(log) == 3 and np.isnan(log.values[1]).all()


def test_a_time_may_be_written_without_zeros_in_front(write: Write) -> None:
    log = read_log(write([row("2/1/2020 0:00:00"), row("02/01/2020 1:00:0")]))
    assert [str(time) for time in log.time] == ["2020-02-01 00:00:00+00:00", "2020-02-01 01:00:00+00:00"]


def test_times_are_rounded_to_the_hour_and_half_past_goes_up(write: Write) -> None:
    times = ["01/01/2020 01:29:59", "01/01/2020 02:30:00", "01/01/2020 03:30:00", "01/01/2020 04:30:00"]
    log = read_log(write([row(t, dose=str(50 + i)) for i, t in enumerate(times)]))
    # rounding half to even would put 02:30 on 02:00 and 03:30 and 04:30 both on 04:00
    np.testing.assert_array_equal(log.values[:, 0], [50, np.nan, 51, 52, 53])
    assert log.quality.rows_merged == 0


def test_of_two_readings_of_an_hour_the_nearest_to_the_full_hour_is_kept(write: Write) -> None:
    rows = [row("01/01/2020 00:31:00", dose="40"), row("01/01/2020 01:10:00", dose="50"), row("01/01/2020 02:00:00")]
    log = read_log(write(rows))
    assert log.values[0, 0] == 50
    assert balance(log) == (3, 2, 0, 1)


@pytest.mark.parametrize(("policy", "kept"), [("first", 40.0), ("last", 50.0), ("mean", 45.0), ("nearest", 50.0)])
def test_the_policy_for_duplicates_can_be_chosen(write: Write, policy: str, kept: float) -> None:
    rows = [row("01/01/2020 00:31:00", dose="40"), row("01/01/2020 01:10:00", dose="50"), row("01/01/2020 02:00:00")]
    assert read_log(write(rows), duplicates=policy).values[0, 0] == kept


def test_duplicates_can_be_an_error_that_names_the_line(write: Write) -> None:
    rows = [row("01/01/2020 00:31:00", dose="40"), row("01/01/2020 01:10:00", dose="50"), row("01/01/2020 02:00:00")]
    with pytest.raises(LogError, match=r"town\.csv line 3"):
        read_log(write(rows), duplicates="error")


def test_the_same_file_twice_merges_every_row(write: Write) -> None:
    path = write([row("01/01/2020 00:00:00"), row("01/01/2020 01:00:00")])
    log = read_log([path, path], duplicates="error")
    assert balance(log) == (4, 2, 0, 2)
    assert any("2 of them identical" in d for d in log.quality.decisions)


def test_a_blank_dose_keeps_the_counts(write: Write) -> None:
    log = read_log(write([row("01/01/2020 00:00:00"), row("01/01/2020 01:00:00", dose="")]))
    assert np.isnan(log.values[1, 0])
    assert log.values[1, 1] == 2958
    assert balance(log) == (2, 2, 0, 0)
    assert "1 kept row(s) have a blank dose; their counts were kept" in log.quality.decisions


def test_a_dose_of_exactly_zero_is_missing_and_counted(write: Write) -> None:
    log = read_log(write([row("01/01/2020 00:00:00"), row("01/01/2020 01:00:00", dose="0.00")]))
    assert np.isnan(log.values[1, 0])
    assert log.values[1, 1] == 2958
    assert log.quality.masked == {"dose rate exactly 0 (placeholder)": 1}


@pytest.mark.parametrize(
    ("cell", "reason"), [("-9999", "negative rate"), ("inf", "not finite"), ("1e300", "not finite")]
)
def test_a_value_that_cannot_be_is_missing_and_counted(write: Write, cell: str, reason: str) -> None:
    log = read_log(write([row("01/01/2020 00:00:00"), row("01/01/2020 01:00:00", r02=cell)]))
    assert np.isnan(log.values[1, 1])
    assert log.values[1, 0] == 61
    assert log.quality.masked == {reason: 1}


def test_only_approved_rows_are_kept_and_the_others_are_listed(write: Write) -> None:
    rows = [
        row("01/01/2020 00:00:00"),
        row("01/01/2020 01:00:00"),
        row("01/01/2020 02:00:00", dose="900", status="REJECTED"),
        row("01/01/2020 03:00:00", status="PENDING"),
        row("01/01/2020 04:00:00", status=""),
    ]
    log = read_log(write(rows))
    assert balance(log) == (5, 2, 3, 0)
    assert [(q.line, q.text) for q in log.quality.quarantined] == [(4, "REJECTED"), (5, "PENDING"), (6, "")]
    assert np.nanmax(log.values[:, 0]) == 61


def test_many_quarantined_rows_are_counted_exactly_and_listed_in_part(write: Write) -> None:
    times = pd.date_range("2020-01-01", periods=1500, freq="h").strftime("%m/%d/%Y %H:%M:%S")
    rows = [row(t, status="APPROVED" if i < 2 else "REJECTED") for i, t in enumerate(times)]
    log = read_log(write(rows))
    assert log.quality.rows_quarantined == 1498
    assert len(log.quality.quarantined) == 1000


def test_a_station_without_any_dose_loses_its_dose_tag_and_says_so(write: Write) -> None:
    log = read_log(write([row("01/01/2020 00:00:00", dose=""), row("01/01/2020 01:00:00", dose="")]))
    assert log.names[0] == "XX: TOWN R02"
    assert len(log.names) == 8
    assert any("reports no dose rate" in d for d in log.quality.decisions)


def test_missing_hours_stay_on_the_grid_as_gaps_of_their_station(write: Write) -> None:
    rows = [row(f"01/01/2020 0{h}:00:00", name="XX: A") for h in (0, 1, 5)]
    rows += [row(f"01/01/2020 0{h}:00:00", name="XX: B") for h in (1, 2, 3, 4)]
    log = read_log(write(rows))
    assert log.shape == (6, 18)
    assert np.isnan(log.select(["XX: A dose"]).values[2:5]).all()
    assert log.quality.gaps == (
        Gap("XX: A", "2020-01-01T02:00:00Z", "2020-01-01T04:00:00Z", 3),
        Gap("XX: B", "2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z", 1),
        Gap("XX: B", "2020-01-01T05:00:00Z", "2020-01-01T05:00:00Z", 1),
    )


def test_an_end_that_is_a_date_includes_that_day_and_one_with_a_time_is_exclusive(write: Write) -> None:
    times = pd.date_range("2020-01-01", periods=72, freq="h").strftime("%m/%d/%Y %H:%M:%S")
    path = write([row(t) for t in times])
    log = read_log(path, start="2020-01-02", end="2020-01-02")
    assert len(log) == 24
    assert balance(log) == (72, 24, 48, 0)
    assert log.quality.quarantined == ()
    assert any("48 row(s) quarantined: outside the period" in d for d in log.quality.decisions)
    assert len(read_log(path, end="2020-01-02T12:00Z")) == 36


def test_stations_are_chosen_in_any_case_and_in_the_order_asked_for(write: Write) -> None:
    rows = [row(f"01/01/2020 0{h}:00:00", name=name) for name in ("XX: A", "XX: B", "XX: C") for h in (0, 1)]
    log = read_log(write(rows), stations=["xx: c", "XX: a"])
    assert log.stations == ("XX: C", "XX: A")
    assert balance(log) == (4, 4, 0, 0)
    assert any("2 row(s) of other stations" in d for d in log.quality.decisions)


def test_an_unknown_station_is_refused_with_those_there_are(write: Write) -> None:
    with pytest.raises(LogError, match=r"YY: NOWHERE.*XX: TOWN"):
        read_log(write([row("01/01/2020 00:00:00")]), stations=["YY: NOWHERE"])


def test_a_station_asked_for_without_a_reading_in_the_period_is_refused(write: Write) -> None:
    rows = [row(f"01/01/2020 0{h}:00:00", name="XX: A") for h in (0, 1)]
    rows += [row(f"01/01/2021 0{h}:00:00", name="XX: B") for h in (0, 1)]
    with pytest.raises(LogError, match="XX: B has no approved reading"):
        read_log(write(rows), stations=["XX: A", "XX: B"], end="2020-12-31")
    log = read_log(write(rows), end="2020-12-31")
    assert log.stations == ("XX: A",)
    assert any("XX: B" in d and "left out" in d for d in log.quality.decisions)


def test_broken_lines_are_quarantined_with_line_column_and_reason(write: Write) -> None:
    rows = [
        row("01/01/2020 00:00:00"),
        "",
        "XX: TOWN,01/01/2020 01:00:00",
        row("13/01/2020 02:00:00"),
        row("01/01/2020 03:00:00", dose="sixty"),
        row("01/01/2020 03:30:00", dose="1_0"),
        row("01/01/2020 04:00:00"),
    ]
    log = read_log(write(rows))
    assert balance(log) == (6, 2, 4, 0)
    found = [(q.line, q.column, q.text) for q in log.quality.quarantined]
    assert found[0][:2] == (4, "*")
    assert found[1:] == [
        (5, "SAMPLE COLLECTION TIME", "13/01/2020 02:00:00"),
        (6, "DOSE EQUIVALENT RATE (nSv/h)", "sixty"),
        (7, "DOSE EQUIVALENT RATE (nSv/h)", "1_0"),
    ]
    np.testing.assert_array_equal(log.values[[0, 4], 0], [61, 61])


def test_line_ends_of_either_kind_give_the_same_log(write: Write) -> None:
    rows = [row("01/01/2020 00:00:00"), row("01/01/2020 01:00:00", status="REJECTED"), row("01/01/2020 02:00:00")]
    one, other = read_log(write(rows)), read_log(write(rows, "dos.csv", "\r\n"))
    np.testing.assert_array_equal(one.values, other.values)
    assert one.quality.quarantined[0].line == other.quality.quarantined[0].line == 3


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    path = tmp_path / "short.csv"
    path.write_text("LOCATION_NAME,SAMPLE COLLECTION TIME,STATUS\nXX: TOWN,01/01/2020 00:00:00,APPROVED\n")
    with pytest.raises(LogError, match=r"DOSE EQUIVALENT RATE"):
        read_log(path)


def test_nothing_approved_is_an_error_not_an_empty_log(write: Write) -> None:
    with pytest.raises(LogError, match="no approved reading"):
        read_log(write([row("01/01/2020 00:00:00", status="PENDING"), row("01/01/2020 01:00:00", status="PENDING")]))


def test_roles_and_coordinates_are_set_and_checked(write: Write) -> None:
    path = write([row("01/01/2020 00:00:00"), row("01/01/2020 01:00:00")])
    log = read_log(path, roles={"XX: TOWN R02": "input"}, coordinates={"XX: TOWN": (33.4, -112.0)})
    assert log.tags[1].role == "input"
    assert log.tags[1].coordinates == (33.4, -112.0)
    with pytest.raises(LogError, match="R99"):
        read_log(path, roles={"XX: TOWN R99": "input"})


def test_three_stations_and_two_years_make_the_log_of_the_experiments(shared_data: Path) -> None:
    stations = ["AZ: PHOENIX", "LA: BATON ROUGE", "MT: KALISPELL"]
    log = read_log(shared_data / "radnet", stations=stations, start="2019-12-01", end="2021-12-31")
    assert log.shape == (762 * 24, 27)
    assert log.stations == tuple(stations)
    assert log.quality.rows_in == log.quality.rows_kept + log.quality.rows_quarantined + log.quality.rows_merged
    for station in stations:
        mine = [tag.name for tag in log.tags if tag.station == station]
        empty = int(np.isnan(log.select(mine).values).all(axis=1).sum())
        assert empty >= sum(gap.steps for gap in log.quality.gaps if gap.station == station) > 0


def test_the_log_agrees_with_an_obvious_reading_of_the_file(shared_data: Path) -> None:
    path = shared_data / "radnet" / "MT_KALISPELL_2020.csv"
    log = read_log(path)
    frame = pd.read_csv(path)
    raw = pd.to_datetime(frame["SAMPLE COLLECTION TIME"], format="%m/%d/%Y %H:%M:%S", utc=True)
    hour = (raw + pd.Timedelta("30min")).dt.floor("h")
    nearest = frame.assign(hour=hour, off=(raw - hour).abs()).sort_values(["hour", "off"]).drop_duplicates("hour")
    for column, tag in (("DOSE EQUIVALENT RATE (nSv/h)", "dose"), ("GAMMA COUNT RATE R09 (CPM)", "R09")):
        want = nearest.set_index("hour")[column].reindex(log.time).to_numpy(np.float32)
        np.testing.assert_array_equal(log.select([f"MT: KALISPELL {tag}"]).values[:, 0], want)


def test_boston_has_counts_but_no_dose(shared_data: Path) -> None:
    log = read_log(sorted((shared_data / "radnet").glob("MA_BOSTON_*.csv")))
    assert "MA: BOSTON dose" not in log.names
    assert len(log.names) == 8


def test_a_clock_that_is_unset_or_ahead_quarantines_the_row(write: Write) -> None:
    times = ["01/01/1970 00:00:05", "01/01/2020 00:00:00", "01/01/2020 01:00:00", "01/01/2184 00:00:00"]
    log = read_log(write([row(t) for t in times]))
    assert len(log) == 2
    assert balance(log) == (4, 2, 2, 0)
    assert [q.line for q in log.quality.quarantined] == [2, 5]


def test_a_quote_that_is_never_closed_costs_its_own_line_only(write: Write) -> None:
    rows = [row("01/01/2020 00:00:00"), '"' + row("01/01/2020 01:00:00"), row("01/01/2020 02:00:00")]
    log = read_log(write(rows))
    assert balance(log) == (3, 2, 1, 0)
    assert log.quality.quarantined[0].line == 3


def test_bytes_that_are_not_utf8_quarantine_their_row(write: Write) -> None:
    path = write([row("01/01/2020 00:00:00"), row("01/01/2020 01:00:00"), row("01/01/2020 02:00:00", name="XX: TO?N")])
    path.write_bytes(path.read_bytes().replace(b"?", b"\xff"))
    log = read_log(path)
    assert log.stations == ("XX: TOWN",)
    assert log.quality.quarantined[0].reason == "bytes that are not UTF-8"


def test_a_blank_station_is_set_apart_in_a_file_without_other_faults_too(write: Write) -> None:
    names = ("XX: TOWN", "  ", " XX: TOWN ")
    log = read_log(write([row(f"01/01/2020 {hour:02d}:00:00", name=name) for hour, name in enumerate(names)]))
    assert log.stations == ("XX: TOWN",) and balance(log) == (3, 2, 1, 0)
    assert log.quality.quarantined[0].line == 3
