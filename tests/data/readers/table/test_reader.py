"""The table reader: what it reads, it reads right; the rest it refuses, saying what to declare."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from attentionmixer.data import StationLog, read_log
from attentionmixer.data.quality import Gap
from attentionmixer.errors import LogError

Write = Callable[..., Path]
NAN = float("nan")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def _write(text: str | bytes, name: str = "log.csv") -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return _write


def balance(log: StationLog) -> tuple[int, int, int, int]:
    q = log.quality
    return q.rows_in, q.rows_kept, q.rows_quarantined, q.rows_merged


def column(log: StationLog, name: str) -> list[float]:
    return [float(v) for v in log.select([name]).values[:, 0]]


# --- wide tables ---


def test_a_wide_table_becomes_a_tag_a_column_with_the_unit_of_its_header(write: Write) -> None:
    log = read_log(
        write("time,Dose (µSv/h),flow [m3/h],XMEAS(1) [-]\n2024-05-01T00:00Z,0.1,5,1\n2024-05-01T01:00Z,0.2,6,2\n")
    )
    assert log.names == ("Dose", "flow", "XMEAS(1)")
    assert [(t.unit, t.quantity) for t in log.tags] == [("nSv/h", "dose_rate"), ("m3/h", "flow"), ("-", "generic")]
    np.testing.assert_allclose(column(log, "Dose"), [100, 200], rtol=1e-6)
    assert log.time[0] == pd.Timestamp("2024-05-01T00:00Z")
    assert log.step == pd.Timedelta("1h")
    assert balance(log) == (2, 2, 0, 0)


def test_names_that_differ_only_by_unit_keep_the_whole_header(write: Write) -> None:
    log = read_log(write("time,A [nSv/h],A [cpm]\n2024-05-01T00:00Z,70,800\n2024-05-01T01:00Z,71,801\n"))
    assert log.names == ("A [nSv/h]", "A [cpm]")


def test_hostile_names_are_kept_verbatim(write: Write) -> None:
    header = (
        'time,"</script><script>alert(1)</script> [nSv/h]","=HYPERLINK(""http://x"") [nSv/h]",../../etc/passwd [nSv/h]'
    )
    log = read_log(write(header + "\n2024-05-01T00:00Z,70,-0.5,72\n2024-05-01T01:00Z,71,-0.4,73\n"))
    assert log.names == ("</script><script>alert(1)</script>", '=HYPERLINK("http://x")', "../../etc/passwd")
    assert column(log, '=HYPERLINK("http://x")')[0] == -0.5


def test_an_unknown_unit_is_refused_with_its_column_and_can_be_declared(write: Write) -> None:
    path = write("time,A [bananas],B [cpm]\n2024-05-01T00:00Z,70,1\n2024-05-01T01:00Z,71,2\n")
    with pytest.raises(LogError, match=r"A \[bananas\]"):
        read_log(path)
    assert [t.unit for t in read_log(path, units={"A": "uSv/h"}).tags] == ["nSv/h", "cpm"]
    assert read_log(path, units={"A [bananas]": None}).tags[0].unit is None
    with pytest.raises(LogError, match="units names what is not in the log: C"):
        read_log(path, units={"C": "cpm"})


def test_a_column_without_unit_is_fine_in_a_plant_log_and_refused_among_dose_rates(write: Write) -> None:
    plant = read_log(write("time,A,B\n2024-05-01T00:00Z,70,1\n2024-05-01T01:00Z,71,2\n"))
    assert [t.unit for t in plant.tags] == [None, None]
    assert any("2 column(s) state no unit" in d for d in plant.quality.decisions)
    mixed = write("time,A [nSv/h],valve\n2024-05-01T00:00Z,70,1\n2024-05-01T01:00Z,71,0\n")
    with pytest.raises(LogError, match="'valve' has no unit"):
        read_log(mixed)
    assert read_log(mixed, units={"valve": None}).tags[1].unit is None


def test_a_gap_stays_on_the_grid_and_no_value_is_invented(write: Write) -> None:
    log = read_log(
        write("time,A\n2024-05-01T00:00Z,1\n2024-05-01T01:00Z,2\n2024-05-01T02:00Z,3\n2024-05-01T06:00Z,7\n")
    )
    np.testing.assert_array_equal(column(log, "A"), [1, 2, 3, NAN, NAN, NAN, 7])
    assert log.quality.gaps == (Gap("*", "2024-05-01T03:00:00Z", "2024-05-01T05:00:00Z", 3),)


def test_rows_out_of_order_land_at_their_time(write: Write) -> None:
    log = read_log(write("time,A\n2024-05-01T02:00Z,3\n2024-05-01T00:00Z,1\n2024-05-01T01:00Z,2\n"))
    assert column(log, "A") == [1, 2, 3]


def test_an_empty_column_is_dropped_and_a_constant_one_kept_and_both_are_named(write: Write) -> None:
    log = read_log(write("time,A,B,C\n2024-05-01T00:00Z,5,,1\n2024-05-01T01:00Z,5,,2\n"))
    assert log.names == ("A", "C")
    assert any("hold no value and were dropped: B" in w for w in log.quality.warnings)
    assert any("never change, and were kept: A" in d for d in log.quality.decisions)


def test_a_table_without_any_number_is_refused(write: Write) -> None:
    with pytest.raises(LogError, match="no column of the log holds a number"):
        read_log(write("time,A\n2024-05-01T00:00Z,\n2024-05-01T01:00Z,\n"))


# --- cells ---


def test_what_is_no_number_is_missing_with_its_reason_counted(write: Write) -> None:
    text = "time,A [nSv/h],B [nSv/h]\n"
    cells = [
        "71,80",
        ",81",
        "0,82",
        "<20,83",
        "null,-9999",
        "inf,84",
        "1e400,NaN",
        "[-11059] No Good Data For Calculation,85",
    ]
    text += "".join(f"2024-05-01T{h:02d}:00Z,{c}\n" for h, c in enumerate(cells))
    log = read_log(write(text))
    np.testing.assert_array_equal(column(log, "A"), [71] + [NAN] * 7)
    np.testing.assert_array_equal(column(log, "B"), [80, 81, 82, 83, NAN, 84, NAN, 85])
    assert log.quality.masked == {
        "below the measuring range (<20)": 1,
        "sentinel such as -9999": 1,
        "dose rate exactly 0": 1,
        "not finite": 2,
        "state 'No Good Data For Calculation'": 1,
    }


def test_a_zero_is_a_value_in_a_plant_log(write: Write) -> None:
    log = read_log(write("time,valve\n2024-05-01T00:00Z,0\n2024-05-01T01:00Z,-9999\n"))
    assert column(log, "valve") == [0, -9999]
    assert log.quality.masked == {}


def test_unknown_text_quarantines_its_row_and_is_never_zero(write: Write) -> None:
    text = "time,A,B\n2024-05-01T00:00Z,1,5\n2024-05-01T01:00Z,abc,6\n2024-05-01T02:00Z,3,7\n2024-05-01T03:00Z,4,8\n"
    log = read_log(write(text))
    np.testing.assert_array_equal(log.values, [[1, 5], [NAN, NAN], [3, 7], [4, 8]])
    assert balance(log) == (4, 3, 1, 0)
    bad = log.quality.quarantined[0]
    assert (bad.file, bad.line, bad.column, bad.text, bad.reason) == ("log.csv", 3, "A", "abc", "not a number")


def test_a_column_of_text_is_refused_until_it_is_left_out(write: Write) -> None:
    path = write("time,A,remark\n2024-05-01T00:00Z,1,fine\n2024-05-01T01:00Z,2,windy\n")
    with pytest.raises(LogError, match=r"'remark' holds text.*line 2.*'fine'.*ignore="):
        read_log(path)
    assert read_log(path, ignore=["remark"]).names == ("A",)


def test_broken_lines_are_quarantined_with_their_line(write: Write) -> None:
    good = [f"2024-05-01T{h:02d}:00Z,{h},5" for h in range(8)]
    lines = [
        "time,A,B",
        *good[:3],
        "1745944186914",
        "1745986967,1077,109703,88",
        "",
        "2024-13-01T10:00Z,70,80",
        *good[3:],
    ]
    log = read_log(write("\n".join(lines) + "\n"))
    assert column(log, "A") == list(range(8))
    assert balance(log) == (11, 8, 3, 0)
    assert [(q.line, q.text) for q in log.quality.quarantined] == [
        (5, "1745944186914"),
        (6, "1745986967,1077,109703,88"),
        (8, "2024-13-01T10:00Z"),
    ]


def test_a_decimal_comma_in_a_comma_separated_file_is_refused(write: Write) -> None:
    with pytest.raises(LogError, match=r"line 2.*49,9954600816362.*separator=';', decimal=','"):
        read_log(write("time,A [nSv/h]\n2024-05-01T00:00Z,49,9954600816362\n2024-05-01T01:00Z,50,1020014762878\n"))


# --- times ---


def test_times_without_an_offset_are_taken_as_utc_with_a_warning_unless_a_zone_is_given(write: Write) -> None:
    path = write("date,A\n2024-07-01 00:00:00,1\n2024-07-01 01:00:00,2\n")
    log = read_log(path)
    assert log.time[0] == pd.Timestamp("2024-07-01T00:00Z")
    assert any("'date' states no time zone" in warning for warning in log.quality.warnings)
    assert not read_log(path, tz="UTC").quality.warnings
    assert read_log(path, tz="UTC").time[0] == pd.Timestamp("2024-07-01T00:00Z")
    assert read_log(path, tz="Europe/Berlin").time[0] == pd.Timestamp("2024-06-30T22:00Z")
    with pytest.raises(LogError, match="Europe/Nowhere"):
        read_log(path, tz="Europe/Nowhere")


@pytest.mark.parametrize(
    ("times", "sign"),
    [
        (("2021-10-31 01:30", "2021-10-31 02:00", "2021-10-31 02:30", "2021-10-31 02:00"), "02:00:00 occurs twice"),
        (("2021-10-31 01:00", "2021-10-31 02:00", "2021-10-31 02:00", "2021-10-31 03:00"), "02:00:00 occurs twice"),
        (("2024-03-31 00:50", "2024-03-31 01:00", "2024-03-31 01:10", "2024-03-31 02:20"), "follows a gap of one hour"),
        (("2024-11-03 00:00", "2024-11-03 01:00", "2024-11-03 01:00", "2024-11-03 02:00"), "01:00:00 occurs twice"),
    ],
)
def test_local_times_that_show_a_clock_change_need_a_zone(write: Write, times: tuple[str, ...], sign: str) -> None:
    text = "time,A\n" + "".join(f"{time},{i}\n" for i, time in enumerate(times))
    with pytest.raises(LogError, match=rf"{sign}, as where clocks are changed.*tz='Europe/Berlin'"):
        read_log(write(text))


def test_a_gap_of_an_hour_by_day_is_no_clock_change(write: Write) -> None:
    text = "time,A\n2024-03-31 12:50,1\n2024-03-31 13:00,2\n2024-03-31 13:10,3\n2024-03-31 14:20,4\n"
    assert len(read_log(write(text))) == 10


def test_english_month_names_read_one_way(write: Write) -> None:
    for first, second in (("01-May-24 10:00:00", "01-May-24 11:00:00"), ("1 May 2024 10:00 AM", "1 May 2024 11:00 AM")):
        log = read_log(write(f"time,A\n{first},1\n{second},2\n"), tz="UTC")
        assert log.time[0] == pd.Timestamp("2024-05-01T10:00Z") and log.time[1] == pd.Timestamp("2024-05-01T11:00Z")


def test_a_header_that_says_utc_is_a_zone(write: Write) -> None:
    log = read_log(write("Time (UTC),A\n2024-07-01 00:00,1\n2024-07-01 01:00,2\n"))
    assert log.time[0] == pd.Timestamp("2024-07-01T00:00Z")


def test_offsets_are_honoured_row_by_row(write: Write) -> None:
    log = read_log(write("time,A\n2024-03-31T01:00:00+01:00,1\n2024-03-31T03:00:00+02:00,2\n2024-03-31T04:00+0200,3\n"))
    assert [str(t) for t in log.time] == [f"2024-03-31 0{h}:00:00+00:00" for h in (0, 1, 2)]


def test_some_times_with_and_some_without_offset_are_refused(write: Write) -> None:
    with pytest.raises(LogError, match="some times state an offset and some do not"):
        read_log(write("time,A\n2024-05-01T00:00Z,1\n2024-05-01T01:00,2\n"), tz="UTC")


def test_the_repeated_hour_in_autumn_is_told_apart_by_the_sequence(write: Write) -> None:
    text = (
        "time,A\n2021-10-31 01:00,70\n2021-10-31 02:00,71\n"
        "2021-10-31 02:00,72\n2021-10-31 03:00,73\n2021-10-31 04:00,74\n"
    )
    log = read_log(write(text), tz="Europe/Berlin")
    assert log.time[0] == pd.Timestamp("2021-10-30T23:00Z")
    assert column(log, "A") == [70, 71, 72, 73, 74]
    with pytest.raises(LogError, match=r"2021-10-31 02:00:00 occurs twice"):
        read_log(write(text.replace("2021-10-31 02:00,72\n", "")), tz="Europe/Berlin")


def test_the_repeated_hour_is_told_apart_station_by_station_and_in_files_that_run_backwards(write: Write) -> None:
    hours = ["01:00", "02:00", "02:00", "03:00"]
    rows = [f"2021-10-31 {hour},{station},{i}\n" for i, hour in enumerate(hours) for station in ("north", "south")]
    log = read_log(write("time,station,value\n" + "".join(rows)), tz="Europe/Berlin")
    assert log.time[0] == pd.Timestamp("2021-10-30T23:00Z") and column(log, "south") == [0, 1, 2, 3]
    log = read_log(write("time,station,value\n" + "".join(reversed(rows))), tz="Europe/Berlin")
    assert column(log, "north") == [0, 1, 2, 3]
    with pytest.raises(LogError, match="occurs twice in Europe/Berlin"):
        read_log(write("time,station,value\n" + "".join(rows[:3] + rows[4:])), tz="Europe/Berlin")


def test_a_logger_that_stays_on_winter_time_has_a_fixed_offset(write: Write) -> None:
    log = read_log(write("time,A\n2024-03-31 01:30,1\n2024-03-31 02:30,2\n2024-03-31 03:30,3\n"), tz="+01:00")
    assert log.time[0] == pd.Timestamp("2024-03-31T00:30Z") and len(log) == 3


def test_a_clock_that_is_set_back_is_said(write: Write) -> None:
    text = "time,A\n2024-05-01T03:00Z,4\n2024-05-01T04:00Z,5\n2024-05-01T01:00Z,2\n2024-05-01T02:00Z,3\n"
    assert any("1 row(s) are earlier than the row before" in w for w in read_log(write(text)).quality.warnings)
    text = "time,A\n2024-05-01T03:00Z,4\n2024-05-01T02:00Z,5\n2024-05-01T01:00Z,2\n"
    assert any("from the latest time to the earliest" in w for w in read_log(write(text)).quality.warnings)


def test_exposure_and_counts_become_dose_rates_only_with_a_stated_factor(write: Write) -> None:
    path = write("time,A [nSv/h],E [µR/h],C [cpm]\n2024-05-01T00:00Z,73,7.4,334\n2024-05-01T01:00Z,74,7.5,668\n")
    assert [tag.unit for tag in read_log(path).tags] == ["nSv/h", "µR/h", "cpm"]
    log = read_log(path, convert={"µR/h": "8.7 nSv/h", "C": "LND-7317"})
    assert [tag.unit for tag in log.tags] == ["nSv/h"] * 3
    assert {tag.quantity for tag in log.tags} == {"dose_rate"}
    assert column(log, "E") == pytest.approx([64.38, 65.25]) and column(log, "C") == pytest.approx([1000, 2000])
    assert any("with the factor stated: 8.7 nSv/h" in d for d in log.quality.decisions)
    for convert, message in (
        ({"mR/h": "8.7 nSv/h"}, "convert names mR/h"),
        ({"E": "LND-7317"}, "turns cpm or cps into a dose rate"),
        ({"E": "much"}, "not an amount and a unit"),
        ({"E": "0 nSv/h"}, "not an amount and a unit"),
        ({"E": "8.7 bananas"}, "unit 'bananas' is unknown"),
    ):
        with pytest.raises(LogError, match=message):
            read_log(path, convert=convert)


def test_a_column_that_calls_itself_a_dose_rate_needs_a_unit(write: Write) -> None:
    path = write("time,Gamma dose rate\n2024-05-01T00:00Z,73\n2024-05-01T01:00Z,74\n")
    with pytest.raises(LogError, match="'Gamma dose rate' has no unit in a log of dose rates"):
        read_log(path)
    assert read_log(path, units={"Gamma dose rate": "nSv/h"}).tags[0].quantity == "dose_rate"


def test_a_time_that_never_was_is_refused(write: Write) -> None:
    with pytest.raises(LogError, match="2024-03-31 02:30:00 does not exist in Europe/Berlin"):
        read_log(write("time,A\n2024-03-31 02:30,1\n2024-03-31 03:30,2\n"), tz="Europe/Berlin")


def test_a_date_that_reads_both_ways_is_refused_with_both_readings(write: Write) -> None:
    path = write("time,A\n03/09/2018 12:00,81\n04/09/2018 12:00,82\n05/09/2018 12:00,80\n")
    with pytest.raises(LogError, match=r"2018-09-03 \(day first\) or 2018-03-09 \(month first\)"):
        read_log(path, tz="UTC")
    assert read_log(path, tz="UTC", date_order="dmy").time[1] == pd.Timestamp("2018-09-04T12:00Z")


def test_a_date_that_reads_one_way_settles_the_order_for_all(write: Write) -> None:
    log = read_log(write("time,A\n12.03.2022 0:00,1\n13.03.2022 0:00,2\n"), tz="UTC")
    assert log.time[0] == pd.Timestamp("2022-03-12T00:00Z")
    log = read_log(write("time,A\n03/12/2022 1:00 PM,1\n03/13/2022 1:00 PM,2\n"), tz="UTC")
    assert log.time[0] == pd.Timestamp("2022-03-12T13:00Z")
    with pytest.raises(LogError, match=r"day first and .* month first"):
        read_log(write("time,A\n13/03/2022 0:00,1\n03/14/2022 0:00,2\n"), tz="UTC")


def test_nanoseconds_since_1970_stay_exact(write: Write) -> None:
    stamps = [1556813561098000000 + 60_000_000_000 * i for i in range(3)]
    log = read_log(write("time,A\n" + "".join(f"{s},{i}\n" for i, s in enumerate(stamps))))
    assert log.time.as_unit("ns").asi8.tolist() == stamps


def test_other_formats_can_be_declared(write: Write) -> None:
    path = write("time,A\n12h56 2016/05/08,1\n12h57 2016/05/08,2\n")
    with pytest.raises(LogError, match="time_format="):
        read_log(path, tz="UTC", time_column="time")
    log = read_log(path, tz="UTC", time_format="%Hh%M %Y/%m/%d")
    assert log.time[0] == pd.Timestamp("2016-05-08T12:56Z")


def test_a_clock_that_is_unset_or_ahead_quarantines_the_row(write: Write) -> None:
    text = (
        "time,A\n1970-01-01T00:00:05Z,70\n2024-05-01T00:00Z,71\n"
        "2024-05-01T01:00Z,72\n2284-03-01T00:00Z,73\n2184-03-01T00:00Z,7\n"
    )
    log = read_log(write(text))
    assert column(log, "A") == [71, 72]
    assert balance(log) == (5, 2, 3, 0)


def test_the_time_column_is_found_by_name_by_content_or_as_asked(write: Write) -> None:
    path = write("A,when,then\n1,2024-05-01T00:00Z,2024-06-01T00:00Z\n2,2024-05-01T01:00Z,2024-06-01T01:00Z\n")
    assert read_log(path, ignore=["then"]).time[0].month == 5
    assert read_log(path, time_column="then", ignore=["when"]).time[0].month == 6
    with pytest.raises(LogError, match="no column 'never'"):
        read_log(path, time_column="never")


def test_a_table_without_times_needs_step_and_start_time_and_says_they_are_synthetic(write: Write) -> None:
    path = write("   u1    y\n 1.0e-001  5\n 2.0e-001  6\n\n 3.0e-001  7\n", "plant.txt")
    with pytest.raises(LogError, match="step= and start_time="):
        read_log(path)
    log = read_log(path, step="6min", start_time="2000-01-01")
    assert log.time[2] == pd.Timestamp("2000-01-01T00:12Z")
    np.testing.assert_allclose(column(log, "u1"), [0.1, 0.2, 0.3], rtol=1e-6)
    assert any("synthetic" in d for d in log.quality.decisions)


# --- grid ---


def test_times_near_the_grid_are_rounded_and_counted(write: Write) -> None:
    log = read_log(
        write(
            "time,A\n2024-05-01T00:00:10Z,1\n2024-05-01T01:01:00Z,2\n2024-05-01T02:00:00Z,3\n2024-05-01T03:00:00Z,4\n"
        )
    )
    assert log.time[0] == pd.Timestamp("2024-05-01T00:00Z")
    assert column(log, "A") == [1, 2, 3, 4]
    assert "2 time(s) were up to 1 min off the grid of 1 h and were rounded" in log.quality.decisions


def test_a_regular_log_keeps_its_own_phase(write: Write) -> None:
    log = read_log(write("time,A\n2024-05-01T00:07Z,1\n2024-05-01T00:17Z,2\n2024-05-01T00:37Z,3\n"))
    assert log.step == pd.Timedelta("10min")
    assert log.time[0] == pd.Timestamp("2024-05-01T00:07Z")
    np.testing.assert_array_equal(column(log, "A"), [1, 2, NAN, 3])


def test_a_log_with_more_gaps_than_rows_keeps_its_true_step(write: Write) -> None:
    text = "time,A\n2024-05-01T00:00Z,1\n2024-05-01T02:00Z,3\n2024-05-01T03:00Z,4\n2024-05-01T05:00Z,6\n"
    log = read_log(write(text))
    np.testing.assert_array_equal(column(log, "A"), [1, NAN, 3, 4, NAN, 6])
    assert "the step is 1 h, the shortest distance; most times are 2 h apart" in log.quality.decisions


def test_jittered_times_with_many_gaps_are_averaged_and_this_is_said(write: Write) -> None:
    log = read_log(write("time,A\n2024-05-01T00:07:00Z,1\n2024-05-01T00:17:06Z,2\n2024-05-01T00:37:12Z,3\n"))
    assert any("irregular: they have no common step" in sentence for sentence in log.quality.decisions)
    assert balance(log) == (3, 3, 0, 0)


def test_irregular_times_are_reported_with_the_rows(write: Write) -> None:
    rows = "".join(f"2024-05-01T{h:02d}:00Z,{h}\n" for h in range(6)) + "2024-05-01T06:24Z,9\n"
    log = read_log(write("time,A\n" + rows))
    said = " ".join(log.quality.decisions)
    assert "1 of 7 row(s)" in said and "log.csv line 8 (2024-05-01T06:24:00Z)" in said
    assert column(log, "A")[-1] == 9 and log.time[-1] == pd.Timestamp("2024-05-01T07:00Z")


def test_a_step_can_be_given_and_must_be_one(write: Write) -> None:
    path = write("time,A\n2024-05-01T00:00Z,1\n2024-05-01T01:00Z,2\n")
    assert len(read_log(path, step="30min")) == 3
    with pytest.raises(LogError, match="not a span of time"):
        read_log(path, step="soon")


def test_a_far_away_row_does_not_make_a_huge_log(write: Write) -> None:
    rows = "".join(f"2024-05-01T00:00:{s:02d}Z,{s}\n" for s in range(30))
    with pytest.raises(LogError, match="would hold"):
        read_log(write("time,A\n1985-05-01T00:00:00Z,1\n" + rows))


def test_rows_that_disagree_about_a_time_are_refused_by_default(write: Write) -> None:
    path = write(
        "time,N,S\n2024-05-01T00:00Z,71,80\n2024-05-01T01:00Z,72,81\n2024-05-01T01:00Z,95,81\n2024-05-01T02:00Z,73,82\n"
    )
    with pytest.raises(LogError, match=r"1 row\(s\).*line 4 \(2024-05-01T01:00:00Z\).*duplicates="):
        read_log(path)
    for policy, value in (("first", 72.0), ("last", 95.0), ("mean", 83.5)):
        log = read_log(path, duplicates=policy)
        assert column(log, "N") == [71, value, 73]
        assert balance(log) == (4, 3, 0, 1)
    with pytest.raises(LogError, match="duplicates='best'"):
        read_log(path, duplicates="best")


def test_rows_that_repeat_exactly_are_merged_and_counted(write: Write) -> None:
    log = read_log(write("time,A,B\n2024-05-01T00:00Z,1,\n2024-05-01T00:00Z,1,\n2024-05-01T01:00Z,2,5\n"))
    assert balance(log) == (3, 2, 0, 1)


def test_rows_outside_the_period_are_accounted_for(write: Write) -> None:
    path = write("time,A\n" + "".join(f"2024-05-0{d}T00:00Z,{d}\n" for d in range(1, 7)))
    log = read_log(path, start="2024-05-02", end="2024-05-04")
    assert column(log, "A") == [2, 3, 4]
    assert balance(log) == (6, 3, 3, 0)
    with pytest.raises(LogError, match="is empty"):
        read_log(path, start="2024-05-04", end="2024-05-02")
    with pytest.raises(LogError, match="no row"):
        read_log(path, start="2025-01-01")


# --- long tables ---


def test_a_long_table_becomes_a_tag_a_station_and_ids_stay_text(write: Write) -> None:
    ids = ["055620080", "NA", "-001"]
    rows = "".join(f"2024-05-01T0{h}:00Z,{s},{10 * h + i}\n" for h in (0, 1) for i, s in enumerate(ids))
    log = read_log(write("time,station,value [nSv/h]\n" + rows))
    assert log.names == log.stations == tuple(ids)
    np.testing.assert_array_equal(log.values, [[NAN, 1, 2], [10, 11, 12]])
    assert log.quality.masked == {"dose rate exactly 0": 1}
    assert balance(log) == (6, 6, 0, 0)


def test_a_long_table_with_tags_stations_and_units(write: Write) -> None:
    text = (
        "time,station,tag,value,unit\n"
        "2024-05-01T00:00Z,A,dose,0.1,uSv/h\n2024-05-01T00:00Z,A,temp,20,degC\n2024-05-01T00:00Z,B,dose,90,nSv/h\n"
        "2024-05-01T01:00Z,B,dose,91,nSv/h\n2024-05-01T01:00Z,A,dose,0.2,uSv/h\n"
    )
    log = read_log(write(text))
    assert {tag.name: (tag.station, tag.unit) for tag in log.tags} == {
        "A dose": ("A", "nSv/h"),
        "A temp": ("A", "degC"),
        "B dose": ("B", "nSv/h"),
    }
    assert column(log, "B dose") == [90, 91]
    np.testing.assert_array_equal(column(log, "A temp"), [20, NAN])
    np.testing.assert_allclose(column(log, "A dose"), [100, 200], rtol=1e-6)
    assert read_log(write(text), stations=["b"]).names == ("B dose",)
    with pytest.raises(LogError, match=r"several units"):
        read_log(write(text + "2024-05-01T02:00Z,B,dose,91,uSv/h\n"))


def test_stations_with_several_columns_each(write: Write) -> None:
    text = (
        "time,station,dose [nSv/h],R02 [cpm]\n2024-05-01T00:00Z,A,70,800\n"
        "2024-05-01T00:00Z,B,80,900\n2024-05-01T01:00Z,B,81,901\n"
    )
    log = read_log(write(text))
    assert log.names == ("A dose", "A R02", "B dose", "B R02")
    np.testing.assert_array_equal(log.values, [[70, 800, 80, 900], [NAN, NAN, 81, 901]])
    assert log.quality.gaps == (Gap("A", "2024-05-01T01:00:00Z", "2024-05-01T01:00:00Z", 1),)


def test_rows_of_other_stations_do_not_upset_the_account(write: Write) -> None:
    text = (
        "time,station,value\n2024-05-01T00:00Z,A,1\n2024-05-01T01:00Z,A,2\n"
        "1970-01-01T00:00Z,B,3\nnever,B,4\n2024-05-01T01:00Z,B,bad text\n"
    )
    log = read_log(write(text), stations=["A"])
    assert balance(log) == (2, 2, 0, 0)


def test_a_long_table_asked_for_but_not_there_is_refused(write: Write) -> None:
    path = write("time,A\n2024-05-01T00:00Z,1\n2024-05-01T01:00Z,2\n")
    with pytest.raises(LogError, match="is not long"):
        read_log(path, layout="long")
    with pytest.raises(LogError, match="column 'station'"):
        read_log(path, stations=["A"])


# --- table of tags and roles ---


def test_a_table_of_tags_adds_station_coordinates_role_and_resample(write: Write) -> None:
    path = write("time,a,b\n2024-05-01T00:00Z,70,1\n2024-05-01T01:00Z,71,2\n")
    tags = write(
        "name,unit,station,latitude,longitude,role,resample\na,nSv/h,North,47.5,8.2,,\nb,mm,North,,,known,sum\n",
        "tags.csv",
    )
    log = read_log(path, tags=tags)
    a, b = log.tags
    assert (a.unit, a.quantity, a.station, a.coordinates, a.role) == (
        "nSv/h",
        "dose_rate",
        "North",
        (47.5, 8.2),
        "target",
    )
    assert (b.unit, b.role, b.resample) == ("mm", "known", "sum")
    assert read_log(path, tags={"b": {"quantity": "rain"}}, roles={"b": "input"}).tags[1].quantity == "rain"


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ({"a": {"role": "boss"}}, "role 'boss'"),
        ({"a": {"colour": "red"}}, "colour"),
        ({"a": {"latitude": 95, "longitude": 0}}, "no such latitude"),
        ({"a": {"latitude": 45}}, "coordinates"),
        ({"z": {"unit": "cpm"}}, "none of the 1 entries"),
        ({"a": {"unit": "cpm"}}, "states 'nSv/h', but tags says 'cpm'"),
    ],
)
def test_a_table_of_tags_that_cannot_be_is_refused(
    write: Write, tags: dict[str, dict[str, object]], message: str
) -> None:
    with pytest.raises(LogError, match=message):
        read_log(write("time,a [nSv/h]\n2024-05-01T00:00Z,70\n2024-05-01T01:00Z,71\n"), tags=tags)


# --- how text is written ---


def test_separator_decimal_comma_and_date_order_are_found_and_reported(write: Write) -> None:
    log = read_log(write("Zeit;A [µSv/h];B [µSv/h]\n25.03.2022 14:00;0,112;0,098\n25.03.2022 15:00;0,115;\n"), tz="UTC")
    np.testing.assert_allclose(column(log, "A"), [112, 115], rtol=1e-6)
    decisions = " ".join(log.quality.decisions)
    for part in ("separated by ';'", "decimal mark is a comma", "day first", "converted to nSv/h", "taken as UTC"):
        assert part in decisions


def test_numbers_with_both_decimal_marks_are_refused(write: Write) -> None:
    with pytest.raises(LogError, match="decimal="):
        read_log(write("time;A\n2024-05-01T00:00Z;1,5\n2024-05-01T01:00Z;1.5\n"))


def test_utf16_with_units_in_a_second_header_row(write: Write) -> None:
    text = "Time;T;F\n;degC;t/h\n25.03.2022 14:00:00;301,2;12,1\n25.03.2022 14:05:00;301,3;12,2\n"
    log = read_log(write(text.encode("utf-16")), tz="UTC")
    assert [t.unit for t in log.tags] == ["degC", "t/h"]
    np.testing.assert_allclose(log.values, [[301.2, 12.1], [301.3, 12.2]], rtol=1e-6)


def test_windows_1252_is_read_and_reported(write: Write) -> None:
    log = read_log(write("time,Débit [µSv/h]\n2024-05-01T00:00Z,0.070\n2024-05-01T01:00Z,0.071\n".encode("cp1252")))
    assert log.names == ("Débit",)
    assert "log.csv is not UTF-8; it was read as Windows-1252" in log.quality.decisions


def test_lines_before_the_data_are_passed_over_and_names_given(write: Write) -> None:
    path = write("Scaled data (u1,y1)\r\n\r\n\r\n  1.5e-001  2\r\n  2.5e-001  3\r\n", "plant.txt")
    log = read_log(path, skip=1, names=["u1", "y1"], step="1min", start_time="2000-01-01")
    assert log.names == ("u1", "y1")
    np.testing.assert_allclose(log.values, [[0.15, 2], [0.25, 3]])
    with pytest.raises(LogError, match="3 names are given"):
        read_log(path, skip=1, names=["u1", "u2", "y1"], step="1min", start_time="2000-01-01")


def test_a_first_line_of_numbers_is_no_header(write: Write) -> None:
    path = write("1.5 2\n2.5 3\n", "plant.txt")
    with pytest.raises(LogError, match="header=False"):
        read_log(path, step="1min", start_time="2000-01-01")
    log = read_log(path, step="1min", start_time="2000-01-01", header=False)
    assert log.names == ("column 1", "column 2")
    assert len(log) == 2


def test_repeated_column_names_are_refused(write: Write) -> None:
    with pytest.raises(LogError, match="'A'"):
        read_log(write("time,A,A\n2024-05-01T00:00Z,1,2\n"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<!DOCTYPE html><html><body>503</body></html>", "web page"),
        (b'{"a": 1}', "JSON"),
        (b"PK\x03\x04....", "spreadsheet"),
        (b"time,A\n", "no rows"),
        (b"one\ntwo\n", "no separator"),
        (b"abc\x00\x01\x02", "binary"),
        (b"PAR1 is not all it takes", "damaged Parquet"),
    ],
)
def test_what_is_no_table_is_refused_with_the_reason(write: Write, content: bytes, message: str) -> None:
    with pytest.raises(LogError, match=message):
        read_log(write(content))


# --- Parquet ---


def test_parquet_and_csv_of_the_same_table_give_the_same_log(write: Write, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    time = pd.date_range("2024-01-01", periods=50, freq="10min", tz="UTC")
    frame = pd.DataFrame(rng.normal(80, 5, (50, 4)).round(2), index=time, columns=[f"P{i} [nSv/h]" for i in range(4)])
    frame.iloc[7, 2] = np.nan
    frame.index.name = "time"
    frame.to_parquet(tmp_path / "log.parquet")
    one = read_log(tmp_path / "log.parquet")
    other = read_log(write(frame.reset_index().to_csv(index=False)))
    np.testing.assert_array_equal(one.values, other.values)
    assert one.tags == other.tags
    assert one.time.equals(other.time)
    np.testing.assert_array_equal(one.values, frame.to_numpy(np.float32))


def test_naive_parquet_times_give_a_warning_and_states_in_text_are_read(tmp_path: Path) -> None:
    table = pa.table(
        {
            "when": pa.array(pd.date_range("2024-05-01", periods=3, freq="h")),
            "A": pa.array(["1.5", "Bad", "2.5"]),
            "open": pa.array([True, False, True]),
            "n": pa.array([1, None, 3], pa.int32()),
        }
    )
    pq.write_table(table, tmp_path / "x.bin")
    assert any("states no time zone" in warning for warning in read_log(tmp_path / "x.bin").quality.warnings)
    log = read_log(tmp_path / "x.bin", tz="UTC")
    np.testing.assert_array_equal(log.values, [[1.5, 1, 1], [NAN, 0, NAN], [2.5, 1, 3]])
    assert log.quality.masked == {"state 'Bad'": 1}


# --- real logs ---


def test_ett_is_read_as_it_is(shared_data: Path) -> None:
    log = read_log(shared_data / "ett" / "ETTh1.csv", tz="UTC")
    assert log.shape == (17420, 7)
    frame = pd.read_csv(shared_data / "ett" / "ETTh1.csv", index_col="date", parse_dates=True)
    np.testing.assert_array_equal(log.values, frame.to_numpy(np.float32))
    assert log.time.tz_localize(None).equals(pd.DatetimeIndex(frame.index))


def test_the_japanese_posts_are_read_with_their_coordinates(shared_data: Path) -> None:
    folder = shared_data / "japan-nra"
    log = read_log(
        folder / "japan_daily_984x822_wide.csv.gz", tz="UTC", units="nSv/h", tags=folder / "japan_daily_stations.csv"
    )
    assert log.shape == (984, 822)
    assert log.step == pd.Timedelta("1D")
    assert log.tags[0].coordinates == (37.306078, 136.79776)
    assert {tag.quantity for tag in log.tags} == {"dose_rate"}


def test_soft_sensor_logs_are_read(shared_data: Path) -> None:
    folder = shared_data / "softsensor"
    column_log = read_log(folder / "Debutanizer_Data.txt", step="6min", start_time="2000-01-01")
    assert column_log.shape == (2394, 8)
    assert column_log.names[-1] == "y"
    sru = read_log(
        folder / "SRU_data.txt",
        step="1min",
        start_time="2000-01-01",
        skip=1,
        names=["u1", "u2", "u3", "u4", "u5", "y1", "y2"],
    )
    assert sru.shape == (10081, 7)
    np.testing.assert_array_equal(sru.values, np.loadtxt(folder / "SRU_data.txt", skiprows=4).astype(np.float32))


# --- damage ---


def test_a_quoted_cell_over_several_lines_is_refused_since_rows_could_get_lost(write: Write) -> None:
    with pytest.raises(LogError, match="over the end of line 3"):
        read_log(
            write('time,A\n2024-05-01T00:00Z,1\n2024-05-01T01:00Z,"2\n2024-05-01T02:00Z,3"\n2024-05-01T03:00Z,4\n')
        )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end_is_read_with_the_right_line_numbers(write: Write, end: str) -> None:
    lines = ["time,A", "2024-05-01T00:00Z,1", "", "2024-05-01T01:00Z,x", "2024-05-01T02:00Z,3", "2024-05-01T03:00Z,4"]
    log = read_log(write(end.join(lines)))
    assert balance(log) == (4, 3, 1, 0)
    assert log.quality.quarantined[0].line == 4


@pytest.mark.parametrize("seed", range(40))
def test_damaged_bytes_give_a_log_that_balances_or_a_clear_error(write: Write, seed: int) -> None:
    rng = np.random.default_rng(seed)
    good = "time,A [nSv/h],B [cpm]\n" + "".join(f"2024-05-01T{h:02d}:00:00Z,{70 + h},{800 - h}\n" for h in range(24))
    raw = bytearray(good.encode())
    junk = [b",", b";", b"\n", b'"', b"\x00", b"\xff", b"inf", b"1e400", b"9999-12-31", b"\r", b"[", b"-"]
    for _ in range(int(rng.integers(1, 4))):
        at, length = int(rng.integers(0, len(raw))), int(rng.integers(0, 6))
        raw[at : at + length] = junk[int(rng.integers(0, len(junk)))]
    try:
        log = read_log(write(bytes(raw)))
    except LogError as error:
        assert str(error)
    else:
        assert log.quality.rows_in == log.quality.rows_kept + log.quality.rows_quarantined + log.quality.rows_merged
        assert not np.isinf(log.values).any()
