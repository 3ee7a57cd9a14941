"""From files to series: wide and long tables, their ids and units, and tables without times."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attentionmixer.data.log import StationLog
from attentionmixer.data.readers import read_log
from attentionmixer.errors import LogError

NAN = float("nan")
Read = Callable[..., StationLog]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Read tables, given as texts, as one log."""

    def _read(*texts: str, **options: Any) -> StationLog:
        paths = []
        for number, text in enumerate(texts):
            path = tmp_path / f"{'abc'[number]}.csv"
            path.write_text(text, encoding="utf-8")
            paths.append(path)
        return read_log(paths if len(paths) > 1 else paths[0], **options)

    return _read


def refusal(read: Read, *texts: str, **options: Any) -> str:
    with pytest.raises(LogError) as error:
        read(*texts, **options)
    return str(error.value)


T0, T1 = "2024-05-01T00:00Z", "2024-05-01T01:00Z"
WIDE = f"time,A,B\n{T0},1,2\n{T1},3,4\n"


# --- layouts ---


@pytest.mark.parametrize("word", ["value", "values", "val", "reading", "Value", " VAL "])
@pytest.mark.parametrize("tag", ["tag", "tagname", "tag_name", "variable", "point", "sensor", " Tag"])
def test_a_long_table_of_one_value_column_has_tags_named_by_their_id(read: Read, word: str, tag: str) -> None:
    log = read(f"time,{tag},{word}\n{T0},x,1\n{T0},y,2\n{T1},x,3\n{T1},y,4\n")
    assert log.names == ("x", "y") and log.tags[0].station is None
    np.testing.assert_array_equal(log.values, [[1, 2], [3, 4]])


def test_other_value_columns_of_a_long_table_keep_their_names_and_units(read: Read) -> None:
    log = read(f"time,tag,flow [m/s],value\n{T0},x,1,2\n{T1},x,3,4\n")
    assert log.names == ("x flow", "x value") and [tag.unit for tag in log.tags] == ["m/s", None]
    one = read(f"time,tag,flow [m/s]\n{T0},x,1\n{T1},x,3\n")
    assert one.names == ("x flow",) and one.tags[0].unit == "m/s"


def test_tags_of_several_stations_are_named_by_both(read: Read) -> None:
    rows = [
        f"{t},{tag},{station},{i}"
        for i, (t, tag, station) in enumerate(
            (t, tag, station) for t in (T0, T1) for station in ("N", "S", "W") for tag in ("p", "q")
        )
    ]
    log = read("\n".join(["time,tag,station,value", *rows]) + "\n")
    assert log.names == ("N p", "N q", "S p", "S q", "W p", "W q")
    assert [tag.station for tag in log.tags] == ["N", "N", "S", "S", "W", "W"]
    np.testing.assert_array_equal(log.values, np.arange(12.0).reshape(2, 6))


def test_stations_alone_are_tags_and_stations(read: Read) -> None:
    log = read(f"time,station,value\n{T0},N,1\n{T0},S,2\n{T1},N,3\n{T1},S,4\n")
    assert log.names == ("N", "S") and [tag.station for tag in log.tags] == ["N", "S"]


def test_a_layout_can_be_declared(read: Read) -> None:
    text = f"time,tag,value\n{T0},7,1\n{T1},8,2\n"
    assert read(text, layout="wide", ignore=["tag"]).names == ("value",)
    assert read(text, layout="long").names == ("7", "8")
    assert refusal(read, WIDE, layout="long") == (
        "a.csv is not long: no column is named tag or tagname or tag_name or variable or point or sensor or station or "
        "station_id or site"
    )
    assert refusal(read, WIDE, layout="tall") == "layout='tall' is unknown; choose auto, wide or long"


@pytest.mark.parametrize("name", ["station", "station_id", "site", "Site"])
def test_a_station_goes_by_several_names(read: Read, name: str) -> None:
    assert read(f"time,{name},value\n{T0},N,1\n{T1},N,2\n").stations == ("N",)


@pytest.mark.parametrize(("column", "rows"), [("tag", 1), ("station", 2)])
def test_a_blank_id_is_counted_and_its_column_named(read: Read, column: str, rows: int) -> None:
    lines = [f"{T0},x,N,1", f"{T1},x,N,2", f"{T1},y,N,3"]
    for i in range(rows):
        cells = lines[i].split(",")
        cells[{"tag": 1, "station": 2}[column]] = " " if i else ""
        lines[i] = ",".join(cells)
    assert (
        refusal(read, "\n".join(["time,tag,station,value", *lines])) == f"column {column!r} is blank in {rows} row(s)"
    )


def test_a_table_of_ids_and_times_alone_is_refused(read: Read) -> None:
    assert refusal(read, f"time,tag\n{T0},x\n{T1},x\n") == "a.csv has no column of values beside time, tag"


# --- units of rows ---


def test_each_row_may_state_the_unit_of_its_tag(read: Read) -> None:
    log = read(f"time,tag,value,unit\n{T0},x,1, nSv/h \n{T0},y,2,\n{T1},x,3,\n{T1},y,4,hPa\n")
    assert [tag.unit for tag in log.tags] == ["nSv/h", "hPa"]


def test_a_tag_in_two_units_is_refused(read: Read) -> None:
    text = f"time,tag,value,unit\n{T0},x,1,nSv/h\n{T1},x,3,µSv/h\n"
    assert refusal(read, text) == "tag 'x' comes in several units (nSv/h, µSv/h); export it in one"


def test_a_column_of_units_belongs_to_one_column_of_values(read: Read) -> None:
    text = f"time,tag,low,high,unit\n{T0},x,1,2,m\n{T1},x,3,4,m\n"
    assert refusal(read, text) == "column 'unit' cannot give the unit of 2 columns of values; use ignore=['unit']"
    assert read(text, ignore=["unit"]).names == ("x low", "x high")


# --- tables without times ---

BARE = "A,B\n1,2\n3,4\n5,6\n"


def test_rows_without_times_are_placed_one_step_apart(read: Read) -> None:
    log = read(BARE, step="10min", start_time="2024-05-01")
    assert [str(t) for t in log.time] == [f"2024-05-01 00:{m}:00+00:00" for m in ("00", "10", "20")]
    said = "the times are synthetic: the table has none; rows were placed every 10min from 2024-05-01T00:00:00+00:00"
    assert said in log.quality.decisions
    local = read(BARE, step="10min", start_time="2024-05-01", tz="Europe/Berlin")
    assert str(local.time[0]) == "2024-04-30 22:00:00+00:00"
    stated = read(BARE, step="10min", start_time="2024-05-01T00:00+03:00", tz="Europe/Berlin")
    assert str(stated.time[0]) == "2024-04-30 21:00:00+00:00"


def test_a_row_that_cannot_be_read_keeps_its_place(read: Read) -> None:
    log = read("A,B\n1,2\n3\n5,6\n7,8\n", step="1h", start_time="2024-05-01")
    np.testing.assert_array_equal(log.values, [[1, 2], [NAN, NAN], [5, 6], [7, 8]])


def test_blank_lines_between_rows_take_no_time(read: Read) -> None:
    log = read("A,B\n1,2\n\n3,4\n5,6\n", step="1h", start_time="2024-05-01")
    assert len(log) == 3


@pytest.mark.parametrize(
    ("texts", "options", "says"),
    [
        (
            (BARE,),
            {},
            "a.csv has no column of times (columns: A, B); name it with time_column=, or give step= and start_time= if "
            "rows are evenly spaced and no times were recorded",
        ),
        (
            (BARE,),
            {"step": "1h"},
            "a.csv has no column of times (columns: A, B); name it with time_column=, or give step=",
        ),
        (
            (BARE, BARE),
            {"step": "1h", "start_time": "2024-05-01"},
            "tables without times cannot be joined: nothing says how far apart they are; read them one by one",
        ),
        (
            (WIDE,),
            {"start_time": "2024-05-01"},
            "start_time= is for tables without times, but column 'time' holds some",
        ),
        ((BARE,), {"step": "1h", "start_time": "May"}, "start_time='May' is not a time; write it as 2021-06-30T12:00Z"),
        (
            ("tag,value\nx,1\nx,2\n",),
            {"step": "1h", "start_time": "2024-05-01"},
            "a long table needs a column of times",
        ),
    ],
)
def test_what_is_missing_or_too_much_about_times_is_said(
    read: Read, texts: tuple[str, ...], options: dict[str, str], says: str
) -> None:
    assert refusal(read, *texts, **options).startswith(says)


def test_a_column_named_utc_needs_no_zone(read: Read) -> None:
    log = read("utc,A\n2024-05-01 00:00,1\n2024-05-01 01:00,2\n")
    assert log.quality.warnings == () and str(log.time[0]) == "2024-05-01 00:00:00+00:00"


# --- several files ---


def test_files_with_columns_in_another_order_are_joined_by_name(read: Read) -> None:
    other = "time,B,A\n2024-05-01T02:00Z,6,Bad\n2024-05-01T03:00Z,windy,7\n"
    log = read(WIDE, other)
    assert log.names == ("A", "B")
    np.testing.assert_array_equal(log.values, [[1, 2], [3, 4], [NAN, 6]])
    assert log.quality.masked == {"state 'Bad'": 1}
    (row,) = log.quality.quarantined
    assert (row.file, row.line, row.column, row.text) == ("b.csv", 3, "B", "windy")


def test_odd_cells_of_both_files_are_counted_at_their_own_rows(read: Read) -> None:
    first = f"time,A,B\n{T0},Bad,2\n{T1},3,Error\n"
    second = "time,A,B\n2024-05-01T02:00Z,Error,6\n2024-05-01T03:00Z,7,Bad\n"
    log = read(first, second)
    np.testing.assert_array_equal(log.values, [[NAN, 2], [3, NAN], [NAN, 6], [7, NAN]])
    assert log.quality.masked == {"state 'Bad'": 2, "state 'Error'": 2}


def test_a_column_that_begins_with_words_holds_values_all_the_same(read: Read) -> None:
    rows = [f"2024-05-01T{h:02d}:00Z,{'Bad' if h < 12 else h},{h}" for h in range(24)]
    log = read("\n".join(["time,A,B", *rows]) + "\n")
    np.testing.assert_array_equal(log.values[:, 0], [NAN] * 12 + list(range(12, 24)))
    assert log.quality.masked == {"state 'Bad'": 12}


def test_a_number_too_large_for_the_log_is_masked_and_counted(read: Read) -> None:
    log = read(f"time,A,B\n{T0},1e39,2\n{T1},3,4\n")
    np.testing.assert_array_equal(log.values, [[NAN, 2], [3, 4]])
    assert sum(log.quality.masked.values()) == 1
