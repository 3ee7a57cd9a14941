"""The reader of historian exports."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attentionmixer.data.log import StationLog
from attentionmixer.data.quality import Flag
from attentionmixer.data.readers.assemble import Assembly
from attentionmixer.data.readers.historian.reader import read, sniff
from attentionmixer.data.readers.source import Source
from attentionmixer.errors import LogError

Write = Callable[..., Path]
LONG = """Tag,Timestamp,Value,Status,Questionable,Substituted,Annotated,UnitsAbbreviation,Step
TI205.PV,01-May-24 10:00:00,301.25,Good,FALSE,FALSE,FALSE,degC,FALSE
TI205.PV,01-May-24 10:01:00,301.5,Good,TRUE,FALSE,FALSE,degC,FALSE
TI205.PV,01-May-24 10:02:00,I/O Timeout,Bad,FALSE,FALSE,FALSE,degC,FALSE
TI205.PV,01-May-24 10:03:00,301.75,Good,FALSE,TRUE,TRUE,degC,FALSE
TI205.PV,01-May-24 10:04:00,302,Good,FALSE,FALSE,TRUE,degC,FALSE
SP205,01-May-24 10:00:00,300,Good,FALSE,FALSE,FALSE,degC,TRUE
SP205,01-May-24 10:03:00,310,Good,FALSE,FALSE,FALSE,degC,TRUE
"""
WIDE = """Timestamp,TI205.PV [degC],TI205.PV Quality,FIC101.PV [t/h],FIC101.PV Quality
2024-05-01T00:00:00Z,301.25,192,12.5,192
2024-05-01T00:05:00Z,301.5,24,12.75,192
2024-05-01T00:10:00Z,301.75,216,13,68
2024-05-01T00:15:00Z,302,192,13.25,192
"""
PAIRS = """TI205 time,TI205 value,FIC101 time,FIC101 value
2024-05-01 10:00:00,301.25,2024-05-01 10:00:30,12.5
2024-05-01 10:01:00,301.5,2024-05-01 10:02:30,12.75
2024-05-01 10:02:00,301.75,,
2024-05-01 10:03:00,Pt Created,,
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def _write(content: str | bytes, name: str = "export.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return _write


def load(*paths: Path, step: str | None = None, **options: Any) -> StationLog:
    return read([Source(path) for path in paths], Assembly(step=step), **options)


def balance(log: StationLog) -> tuple[int, int, int, int]:
    q = log.quality
    return q.rows_in, q.rows_kept, q.rows_quarantined, q.rows_merged


# --- recognising -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [LONG, WIDE, PAIRS, LONG.replace(",", ";"), WIDE.replace(",", "\t")])
def test_the_three_forms_are_recognised(content: str) -> None:
    assert sniff(content.encode())
    assert sniff(content.encode("utf-16"))


@pytest.mark.parametrize(
    "content",
    [
        "",
        "time,tag,value\n2024-05-01T00:00:00Z,a,1\n",
        "time,flow,Pump Status\n2024-05-01T00:00:00Z,1,0\n2024-05-01T00:05:00Z,1,1\n",
        "time,pump,pump status\n2024-05-01T00:00:00Z,12.1,0\n2024-05-01T00:05:00Z,12.2,1\n",
        "time,H,Q\n2024-05-01T00:00:00Z,1.2,14\n",
        "time,Parts,Parts Good\n2024-05-01T00:00:00Z,12,11\n",
        "date,Batch,Batch Time\n2024-05-01,12,345\n",
        "LOCATION_NAME,SAMPLE COLLECTION TIME,DOSE,R02,STATUS\nA,01/01/2020 00:00:00,1,2,APPROVED\n",
        "a,a,quality\n1,2,Good\n",
        "{}",
        ",".join(["quality"] * 3000),
        "quality" * 9000,
        "\x00\ufffd,\n",
    ],
)
def test_tables_without_a_column_of_quality_are_left_to_other_readers(content: str) -> None:
    assert not sniff(content.encode())


# --- a row a value ---------------------------------------------------------------------------------------------------


def test_a_list_of_values_becomes_a_column_a_tag(write: Write) -> None:
    log = load(write(LONG), tz="Europe/Berlin", step="1min")
    assert log.names == ("TI205.PV", "SP205")
    assert (log.tags[0].unit, log.tags[0].quantity) == ("degC", "temperature")
    assert log.time[0] == pd.Timestamp("2024-05-01T08:00:00Z")
    np.testing.assert_array_equal(log.values[:, 0], [301.25, np.nan, np.nan, np.nan, 302])
    assert balance(log) == (7, 7, 0, 0)


def test_each_masked_value_has_the_reason_its_source_gives(write: Write) -> None:
    log = load(write(LONG), tz="UTC", step="1min")
    assert dict(log.quality.masked) == {
        "quality questionable": 1,
        "state 'I/O Timeout'": 1,
        "quality substituted": 1,
    }
    assert log.flags[:, 0].tolist() == [0, Flag.STATE, Flag.STATE, Flag.STATE, 0]


def test_uncertain_and_substituted_values_can_be_kept_and_are_flagged(write: Write) -> None:
    log = load(write(LONG), tz="UTC", keep=("questionable", "substituted"), step="1min")
    np.testing.assert_array_equal(log.values[:, 0], [301.25, 301.5, np.nan, 301.75, 302])
    assert log.flags[:, 0].tolist() == [0, Flag.DOUBTFUL, Flag.STATE, Flag.DOUBTFUL, 0]
    only = load(write(LONG), tz="UTC", keep="substituted", step="1min")
    np.testing.assert_array_equal(only.values[:, 0], [301.25, np.nan, np.nan, 301.75, 302])


def test_a_stepped_tag_holds_its_value_until_the_next(write: Write) -> None:
    log = load(write(LONG), tz="UTC", step="1min")
    assert [tag.resample for tag in log.tags] == ["mean", "last"]
    np.testing.assert_array_equal(log.values[:, 1], [300, 300, 300, 310, 310])
    declared = load(write(WIDE), stepped=["FIC101.PV"])
    assert [tag.resample for tag in declared.tags] == ["mean", "last"]


def test_states_become_numbers_in_a_known_order_and_the_order_is_said(write: Write) -> None:
    rows = "Tag,Timestamp,Value,Quality\n" + "".join(
        f"XV101,2024-05-01T00:0{i}:00Z,{word},{quality}\n"
        for i, (word, quality) in enumerate([("OPEN", "Good"), ("Closed", "Good"), ("Trip?", "Bad"), ("open", "Good")])
    )
    log = load(write(rows))
    np.testing.assert_array_equal(log.values[:, 0], [1, 0, np.nan, 1])
    assert (log.tags[0].resample, log.tags[0].quantity) == ("last", "state")
    assert "states of 'XV101' became numbers: closed = 0, open = 1" in log.quality.decisions
    assert dict(log.quality.masked) == {"quality Bad": 1}


def test_states_of_no_known_order_go_by_the_alphabet_or_as_declared(write: Write) -> None:
    rows = "Tag,Timestamp,Value,Quality\n" + "".join(
        f"MODE,2024-05-01T00:0{i}:00Z,{word},Good\n" for i, word in enumerate(["Run", "Idle", "Purge", "Run"])
    )
    log = load(write(rows))
    np.testing.assert_array_equal(log.values[:, 0], [2, 0, 1, 2])
    assert any("declare states=" in decision for decision in log.quality.decisions)
    log = load(write(rows), states={"MODE": {"IDLE": 0, "RUN": 5, "PURGE": 7}})
    np.testing.assert_array_equal(log.values[:, 0], [5, 0, 7, 5])


def test_a_declared_state_may_be_a_word_that_is_bad_elsewhere(write: Write) -> None:
    rows = "Tag,Timestamp,Value,Quality\n" + "".join(
        f"P1,2024-05-01T00:0{i}:00Z,{word},Good\n" for i, word in enumerate(["Running", "Shutdown", "Running"])
    )
    assert dict(load(write(rows)).quality.masked) == {"state 'Shutdown'": 1}
    log = load(write(rows), states={"P1": {"running": 1, "shutdown": 0}})
    np.testing.assert_array_equal(log.values[:, 0], [1, 0, 1])


def test_a_word_among_numbers_is_quarantined_and_never_a_state(write: Write) -> None:
    rows = "Tag,Timestamp,Value,Quality\n" + "".join(
        f"TI1,2024-05-01T00:0{i}:00Z,{word},Good\n" for i, word in enumerate(["20", "warm", "21", "22"])
    )
    log = load(write(rows))
    np.testing.assert_array_equal(log.values[:, 0], [20, np.nan, 21, 22])
    assert balance(log) == (4, 3, 1, 0)
    assert (log.quality.quarantined[0].line, log.quality.quarantined[0].text) == (3, "warm")


def test_the_opc_quality_counts_where_a_historian_writes_its_own_beside_it(write: Write) -> None:
    content = """DateTime,TagName,Value,vValue,Quality,QualityDetail,OPCQuality,wwTagKey
2024-05-01 00:00:00.000,ReactTemp,12.5,12.5,0,192,192,5
2024-05-01 00:01:00.000,ReactTemp,12.75,12.75,1,24,0,5
2024-05-01 00:02:00.000,ReactTemp,13,13,0,192,192,5
"""
    log = load(write(content), tz="UTC")
    np.testing.assert_array_equal(log.values[:, 0], [12.5, np.nan, 13])
    assert any("passed over: vValue, Quality, QualityDetail, wwTagKey" in d for d in log.quality.decisions)


def test_stations_can_be_chosen(write: Write) -> None:
    rows = "station,tag,time,value,quality\n" + "".join(
        f"{station},T,2024-05-01T00:0{i}:00Z,{i},Good\n" for station in ("A", "B") for i in range(3)
    )
    log = read([Source(write(rows))], Assembly(stations=["b"]))
    assert log.names == ("B T",)
    assert log.stations == ("B",)


def test_a_tag_in_two_units_and_a_value_without_a_tag_are_errors(write: Write) -> None:
    with pytest.raises(LogError, match=r"several units \(degC, K\)"):
        load(write(LONG.replace("301.5,Good,TRUE,FALSE,FALSE,degC", "301.5,Good,TRUE,FALSE,FALSE,K")), tz="UTC")
    with pytest.raises(LogError, match="'Tag' is blank in 1 row"):
        load(write(LONG.replace("SP205,01-May-24 10:03", ",01-May-24 10:03")), tz="UTC")


# --- a column a tag --------------------------------------------------------------------------------------------------


def test_a_quality_beside_a_tag_masks_that_tag_only(write: Write) -> None:
    log = load(write(WIDE))
    assert log.names == ("TI205.PV", "FIC101.PV")
    assert [tag.unit for tag in log.tags] == ["degC", "t/h"]
    np.testing.assert_array_equal(log.values, [[301.25, 12.5], [np.nan, 12.75], [np.nan, np.nan], [302, 13.25]])
    assert dict(log.quality.masked) == {
        "quality 24 (bad)": 1,
        "quality 216 (substituted)": 1,
        "quality 68 (uncertain)": 1,
    }
    assert balance(log) == (4, 4, 0, 0)


@pytest.mark.parametrize(
    "header",
    [
        "Timestamp,A,A.Status,B,B.Status",
        "Timestamp,A [degC],A_Q,B [degC],B_Q",
        "Timestamp,A,A [Status],B,B [Status]",
        "Timestamp,A.Value,A.Quality,B.Value,B.Quality",
        "Timestamp,A_VALUE [degC],A_QUALITY,B_VALUE [degC],B_QUALITY",
        "Timestamp,A,Quality,B,Quality",
        "Timestamp,A,Quality,B,Quality.1",
        "Date Time (UTC),A,Status1,B,Status2",
    ],
)
def test_ways_to_name_a_column_of_quality(write: Write, header: str) -> None:
    content = header + "".join(
        f"\n2024-05-01T00:0{i}:00Z,{i},Good,{i + 10},{'Bad' if i == 1 else 'Good'}" for i in range(4)
    )
    assert sniff(content.encode())
    log = load(write(content))
    assert log.names == ("A", "B")
    np.testing.assert_array_equal(log.values, [[0, 10], [1, np.nan], [2, 12], [3, 13]])


def test_a_quality_that_could_be_of_the_row_is_refused(write: Write) -> None:
    content = "time,flow,level,Status\n2024-05-01T00:00:00Z,1,2,Good\n2024-05-01T00:05:00Z,1,2,Bad\n"
    with pytest.raises(LogError, match="could be the quality of 'level' or of the whole row"):
        load(write(content))


def test_opc_ua_codes_are_told_from_opc_da_codes(write: Write) -> None:
    content = """Timestamp,A,A Quality
2024-05-01T00:00:00Z,1,0x00000000
2024-05-01T00:01:00Z,2,0x80310000
2024-05-01T00:02:00Z,3,1083179008
2024-05-01T00:03:00Z,4,0
"""
    log = load(write(content))
    np.testing.assert_array_equal(log.values[:, 0], [1, np.nan, np.nan, 4])
    assert dict(log.quality.masked) == {"quality 0x80310000 (bad)": 1, "quality 0x40900000 (uncertain)": 1}


def test_a_zero_that_reads_both_ways_is_refused_until_it_is_declared(write: Write) -> None:
    content = "Timestamp,A,A Quality\n2024-05-01T00:00:00Z,1,0\n2024-05-01T00:01:00Z,2,0\n2024-05-01T00:02:00Z,3,16\n"
    with pytest.raises(LogError, match="qualities="):
        load(write(content))
    log = load(write(content), qualities={"0": "good", "16": "uncertain"})
    np.testing.assert_array_equal(log.values[:, 0], [1, 2, np.nan])


def test_a_blank_status_is_good_only_where_good_is_never_written(write: Write) -> None:
    rows = "Timestamp,A,A Status\n" + "".join(
        f"2024-05-01T00:0{i}:00Z,{i},{status}\n" for i, status in enumerate(["", "Q", "S", "A", ""])
    )
    log = load(write(rows))
    np.testing.assert_array_equal(log.values[:, 0], [0, np.nan, np.nan, 3, 4])
    assert any("a blank one was taken to say so" in decision for decision in log.quality.decisions)
    log = load(write(rows.replace("3,A", "3,Good")))
    np.testing.assert_array_equal(log.values[:, 0], [np.nan, np.nan, np.nan, 3, np.nan])
    assert log.quality.masked["quality is blank"] == 2


def test_a_text_that_says_nothing_known_is_not_good(write: Write) -> None:
    log = load(write(WIDE.replace("301.25,192", "301.25,Fine?")))
    assert np.isnan(log.values[0, 0])
    assert log.quality.masked["quality is a text that says nothing known"] == 1


def test_a_missing_value_of_good_quality_is_just_missing(write: Write) -> None:
    log = load(write(WIDE.replace("302,192", ",192")))
    assert np.isnan(log.values[3, 0])
    assert log.flags[3, 0] == 0
    assert sum(log.quality.masked.values()) == 3


def test_values_out_of_range_are_censored(write: Write) -> None:
    log = load(write(WIDE.replace("302,192", "<20,192")))
    assert log.flags[3, 0] == Flag.CENSORED


def test_a_value_that_overflows_is_masked(write: Write) -> None:
    log = load(write(WIDE.replace("302,192", "1e999,192")))
    assert log.flags[3, 0] == Flag.NOT_FINITE


def test_decimal_commas_and_day_first_dates(write: Write) -> None:
    content = (
        "Zeit;TI1 [degC];TI1 Status\n25.04.2024 00:00;20,5;Good\n25.04.2024 00:10;20,75;Bad\n25.04.2024 00:20;21;Good\n"
    )
    log = load(write(content), tz="UTC")
    np.testing.assert_array_equal(log.values[:, 0], [20.5, np.nan, 21])


def test_a_line_that_does_not_fit_is_quarantined(write: Write) -> None:
    log = load(write(WIDE + "2024-05-01T00:20:00Z,1,192\n\n2024-05-01T00:25:00Z,303,192,14,192\n"))
    assert balance(log) == (6, 5, 1, 0)
    assert (log.quality.quarantined[0].line, log.quality.quarantined[0].reason) == (6, "3 field(s) instead of 5")


def test_several_files_are_one_log(write: Write) -> None:
    later = WIDE.replace("2024-05-01", "2024-05-02")
    log = load(write(WIDE, "a.csv"), write(later, "b.csv"))
    assert balance(log) == (8, 8, 0, 0)
    with pytest.raises(LogError, match="cannot be one log"):
        load(write(WIDE, "a.csv"), write(LONG, "b.csv"), tz="UTC")


# --- a pair of columns a tag -----------------------------------------------------------------------------------------


def test_each_tag_keeps_its_own_times(write: Write) -> None:
    log = load(write(PAIRS), tz="UTC", step="30s")
    assert log.names == ("TI205", "FIC101")
    assert log.time[0] == pd.Timestamp("2024-05-01T10:00:00Z")
    np.testing.assert_array_equal(log.values[:, 0], [301.25, np.nan, 301.5, np.nan, 301.75, np.nan, np.nan])
    np.testing.assert_array_equal(log.values[:, 1], [np.nan, 12.5, np.nan, np.nan, np.nan, 12.75, np.nan])
    # what is blank below the end of a column is no row
    assert balance(log) == (6, 6, 0, 0)
    assert dict(log.quality.masked) == {"state 'Pt Created'": 1}


def test_pairs_may_have_a_quality_and_states(write: Write) -> None:
    content = """TI205 Timestamp,TI205 Value,TI205 Status,XV1 Timestamp,XV1 Value,XV1 Status
2024-05-01T10:00:00Z,301.25,Good,2024-05-01T10:00:00Z,ON,Good
2024-05-01T10:01:00Z,301.5,Bad,2024-05-01T10:02:00Z,OFF,Good
2024-05-01T10:02:00Z,301.75,Good,,,
"""
    assert sniff(content.encode())
    log = load(write(content), step="1min")
    np.testing.assert_array_equal(log.values, [[301.25, 1], [np.nan, 1], [301.75, 0]])


# --- files that are none, and options that are none ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<!DOCTYPE html><html>", "error page"),
        ("", "is empty"),
        ("Tag,Timestamp,Value,Status\n", "no rows"),
        ("Tag,Timestamp,Value,Status\n,,,\n,,,\n", "holds no reading"),
        ("Tag,Timestamp,Value,Status,Surprise\na,2024-05-01T00:00Z,1,Good,x\n", r"ignore=\['Surprise'\]"),
        ("Tag,Value,Status\na,1,Good\n", "time_column="),
        ("Timestamp,A,A,A Quality\n2024-05-01T00:00Z,1,2,Good\n", "repeat"),
        ("Timestamp,A [x],A [y],A Quality\n2024-05-01T00:00Z,1,2,Good\n", "could both be"),
        ('Tag,Timestamp,Value,Status\n"a,2024-05-01T00:00Z,1,Good\nb,c\n', "do not fit the header"),
        ("Timestamp,A,A Quality\n2024-05-01T00:00Z,1,Bad\n2024-05-01T00:01Z,2,Bad\n", "no column of the log holds"),
        ("Timestamp,A,A Quality\n2024-05-01T00:00Z,1,192\n2024-05-01T00:01Z,2,0x80310000\n", "OPC UA"),
        ("Timestamp,A,A Quality\nyesterday,1,Good\ntoday,2,Good\n", "not dates or times"),
    ],
)
def test_what_is_no_export_is_an_error_that_says_what_to_do(write: Write, content: str, message: str) -> None:
    with pytest.raises(LogError, match=message):
        load(write(content), tz="UTC")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": "bad"}, "choose uncertain"),
        ({"qualities": {"Bad": "fine"}}, "choose good, uncertain"),
        ({"states": {"XV": {"OPEN": 1}}}, "states names the tag 'XV'"),
        ({"states": {"TI205.PV": {"OPEN": float("nan")}}}, "not a number"),
        ({"stepped": ["XV"]}, "stepped names 'XV'"),
        ({"ignore": ["XV"]}, "no column 'XV' to ignore"),
        ({"time_column": "XV"}, "no column 'XV'"),
    ],
)
def test_options_that_fit_nothing_are_refused(write: Write, options: dict[str, Any], message: str) -> None:
    with pytest.raises(LogError, match=message):
        load(write(WIDE), **options)


def test_names_are_kept_as_they_are_written(write: Write) -> None:
    hostile = '"=cmd()|x, <b>"'
    content = (
        f"Tag,Timestamp,Value,Status\n{hostile},2024-05-01T00:00:00Z,1,Good\n{hostile},2024-05-01T00:01:00Z,2,Good\n"
    )
    assert load(write(content)).names == ("=cmd()|x, <b>",)


# --- properties ------------------------------------------------------------------------------------------------------

FLOATS = st.floats(-1e6, 1e6, width=32).map(lambda value: float(np.float32(value)))
QUALITIES = st.sampled_from(
    [("Good", 0), ("Bad", 1), ("Uncertain", 1), ("GoodLocalOverride", 1), ("BadSensorFailure", 1)]
)
COLUMNS = st.lists(st.lists(st.tuples(FLOATS, QUALITIES), min_size=4, max_size=4), min_size=1, max_size=4).filter(
    lambda columns: all(not bad for column in columns for _, (_, bad) in column[:1])
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(columns=COLUMNS, form=st.sampled_from(["long", "wide", "pairs"]))
def test_what_is_written_is_read(write: Write, columns: list[list[tuple[float, tuple[str, int]]]], form: str) -> None:
    times = [f"2024-05-01T00:0{i}:00Z" for i in range(4)]
    tags = [f"TAG{i}" for i in range(len(columns))]
    if form == "long":
        lines = ["Tag,Timestamp,Value,Quality"]
        lines += [
            f"{t},{w},{v!r},{q}"
            for t, c in zip(tags, columns, strict=True)
            for w, (v, (q, _)) in zip(times, c, strict=True)
        ]
    elif form == "wide":
        lines = [",".join(["Timestamp", *(f"{tag},{tag} Quality" for tag in tags)])]
        lines += [",".join([w, *(f"{c[i][0]!r},{c[i][1][0]}" for c in columns)]) for i, w in enumerate(times)]
    else:
        lines = [",".join(f"{tag} time,{tag} value,{tag} Quality" for tag in tags)]
        lines += [",".join(f"{w},{c[i][0]!r},{c[i][1][0]}" for c in columns) for i, w in enumerate(times)]
    log = load(write("\n".join(lines)))
    expected = np.array([[np.nan if c[i][1][1] else c[i][0] for c in columns] for i in range(4)], dtype=np.float32)
    np.testing.assert_array_equal(log.values, expected)
    assert list(log.time) == [pd.Timestamp(time) for time in times]
    rows = 4 if form == "wide" else 4 * len(columns)
    assert balance(log) == (rows, rows, 0, 0)
    assert sum(log.quality.masked.values()) == sum(bad for column in columns for _, (_, bad) in column)


@pytest.mark.parametrize("seed", range(45))
def test_damage_gives_a_log_that_balances_or_an_error(write: Write, seed: int) -> None:
    source = random.Random(seed)
    raw = bytearray((LONG, WIDE, PAIRS)[seed % 3].encode())
    for _ in range(source.randint(1, 12)):
        where = source.randrange(len(raw))
        match source.randrange(3):
            case 0:
                raw[where] = source.randrange(256)
            case 1:
                del raw[where : where + source.randint(1, 6)]
            case _:
                raw[where:where] = source.choice([source.randbytes(3), b'"', b",", b"\n", b"1e999", b"Bad"])
    path = write(bytes(raw))
    sniff(bytes(raw))
    try:
        log = read([Source(path)], Assembly(duplicates="first", step="30s"), tz="UTC")
    except LogError:
        return
    q = log.quality
    assert q.rows_in == q.rows_kept + q.rows_quarantined + q.rows_merged > 0
    assert not np.isinf(log.values).any()
