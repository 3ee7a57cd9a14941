"""Kinds of faults that users of monitors and historians have met, and what a reader owes for each.

Every test makes its own file. The last one reads the collected samples, where they are at hand.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from attentionmixer.data import RadiationDataModule, StationLog, WindowConfig, read_log, screen
from attentionmixer.data.quality import Flag
from attentionmixer.errors import LogError

Write = Callable[..., Path]
NAN = float("nan")
HEADER = (
    "LOCATION_NAME,SAMPLE COLLECTION TIME,DOSE EQUIVALENT RATE (nSv/h),"
    + ",".join(f"GAMMA COUNT RATE R{n:02d} (CPM)" for n in range(2, 10))
    + ",STATUS\n"
)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def _write(text: str | bytes, name: str = "log.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return _write


def hours(*rows: str, header: str, first: str = "2023-02-03T00:00:00Z", step: str = "1h") -> str:
    """A table whose rows are ``step`` apart."""
    start = pd.Timestamp(first)
    times = [start + i * pd.Timedelta(step) for i in range(len(rows))]
    return header + "\n" + "".join(f"{t:%Y-%m-%dT%H:%M:%SZ},{row}\n" for t, row in zip(times, rows, strict=True))


def column(log: StationLog, name: str) -> list[float]:
    return [float(v) for v in log.select([name]).values[:, 0]]


def flagged(log: StationLog, name: str, flag: Flag) -> list[int]:
    """Rows of a tag that have the flag."""
    return np.flatnonzero(log.select([name]).flags[:, 0] & np.uint16(flag)).tolist()


def counts(log: StationLog) -> tuple[int, int, int, int]:
    q = log.quality
    return q.rows_in, q.rows_kept, q.rows_quarantined, q.rows_merged


def test_01_a_decimal_comma_in_a_comma_separated_file_is_refused_with_both_readings(write: Write) -> None:
    text = "time,Weir [m]\n2023-02-03T00:00:00Z,12,345678\n2023-02-03T01:00:00Z,12,355678\n"
    with pytest.raises(LogError, match=r"line 2 .*12,345678 is one number.*12 and 345678.*separator=.*decimal="):
        read_log(write(text))


def test_02_semicolons_decimal_commas_and_day_first_dates_are_found_and_reported(write: Write) -> None:
    text = "Datum;Pfosten 1 [µSv/h]\n31.01.2023 22:00;0,082\n31.01.2023 23:00;0,084\n01.02.2023 00:00;0,085\n"
    log = read_log(write(text))
    assert column(log, "Pfosten 1") == pytest.approx([82, 84, 85])
    assert log.tags[0].unit == "nSv/h" and log.time[2] == pd.Timestamp("2023-02-01T00:00Z")
    said = " ".join(log.quality.decisions)
    assert "';'" in said and "decimal mark is a comma" in said and "day first" in said


def test_03_dates_that_read_both_ways_are_refused_with_both_readings(write: Write) -> None:
    text = "time,A\n02/05/2019 06:00,1\n03/05/2019 06:00,2\n"
    with pytest.raises(LogError, match=r"2019-05-02 \(day first\) or 2019-02-05 \(month first\).*date_order="):
        read_log(write(text))


def test_04_ids_are_text(write: Write) -> None:
    rows = [f"2023-02-03T0{h}:00:00Z,{station},{h}\n" for h in range(2) for station in ("0012", "NA", "-7", "1e5")]
    log = read_log(write("time,station,value [nSv/h]\n" + "".join(rows).replace(",0\n", ",9\n")))
    assert log.stations == ("0012", "NA", "-7", "1e5")


def test_05_rows_of_one_time_that_disagree_are_refused_and_those_that_agree_merged(write: Write) -> None:
    text = hours("1,2", "3,4", header="time,A,B") + "2023-02-03T01:00:00Z,9,4\n2023-02-03T00:00:00Z,1,2\n"
    with pytest.raises(LogError, match=r"1 row\(s\) fall on a time.*line 4 \(2023-02-03T01:00:00Z\)"):
        read_log(write(text))
    for policy, value in (("first", 3), ("last", 9), ("mean", 6)):
        log = read_log(write(text), duplicates=policy)
        assert column(log, "A")[1] == value and counts(log) == (4, 2, 0, 2)


def test_06_an_autumn_clock_change_needs_a_zone_and_then_resolves(write: Write) -> None:
    clock = ["00:00", "01:00", "01:00", "02:00"]
    path = write("time,A\n" + "".join(f"2022-11-06 {t},{i}\n" for i, t in enumerate(clock)))
    with pytest.raises(LogError, match="no time zone"):
        read_log(path)
    log = read_log(path, tz="America/New_York")
    assert [t.hour for t in log.time] == [4, 5, 6, 7] and column(log, "A") == [0, 1, 2, 3]


def test_07_states_of_historians_are_missing_and_unknown_text_is_set_apart(write: Write) -> None:
    text = hours(
        "1.5", "Scan Off", "[-11059] No Good Data For Calculation", "2.5", "hello", "3.5", header="time,FI [t/h]"
    )
    log = read_log(write(text))
    np.testing.assert_array_equal(column(log, "FI"), [1.5, NAN, NAN, 2.5, NAN, 3.5])
    assert log.quality.masked == {"state 'Scan Off'": 1, "state 'No Good Data For Calculation'": 1}
    assert flagged(log, "FI", Flag.STATE) == [1, 2]
    assert [q.text for q in log.quality.quarantined] == ["hello"] and counts(log) == (6, 5, 1, 0)


def test_08_missing_zero_below_range_and_sentinel_are_different_things(write: Write) -> None:
    text = hours("66,70", ",71", "0,72", "<15,73", "null,-9999", "67,74", header="time,A [nSv/h],B [nSv/h]")
    log = read_log(write(text))
    np.testing.assert_array_equal(column(log, "A"), [66, NAN, NAN, NAN, NAN, 67])
    assert log.quality.flags == {"sentinel": 1, "zero": 1, "censored": 1}
    assert flagged(log, "A", Flag.ZERO) == [2] and flagged(log, "A", Flag.CENSORED) == [3]
    assert flagged(log, "B", Flag.SENTINEL) == [4]


def test_09_only_approved_radnet_rows_count_and_a_blank_dose_keeps_the_counts(write: Write) -> None:
    cells = ",".join(["100.00"] * 8)
    rows = [
        ("00:05", "61.00", "APPROVED"),
        ("01:05", "", "APPROVED"),
        ("02:05", "62", "REJECTED"),
        ("03:05", "63", "PENDING"),
    ]
    rows.append(("04:05", "64.00", "APPROVED"))
    body = "".join(f"XX: TOWN,01/02/2022 {t}:00,{dose},{cells},{status}\n" for t, dose, status in rows)
    log = read_log(write(HEADER + body))
    np.testing.assert_array_equal(column(log, "XX: TOWN dose"), [61, NAN, NAN, NAN, 64])
    np.testing.assert_array_equal(column(log, "XX: TOWN R02"), [100, 100, NAN, NAN, 100])
    assert counts(log) == (5, 3, 2, 0)


@pytest.mark.parametrize(
    "page", ["<!DOCTYPE html><html><body>502</body></html>", "\ufeff  <HTML>\n<p>", "<?xml version='1.0'?><e/>"]
)
def test_10_an_error_page_is_called_one(write: Write, page: str) -> None:
    with pytest.raises(LogError, match="web page or XML"):
        read_log(write(page))


def test_11_constant_empty_and_nearly_constant_columns_do_no_harm(write: Write) -> None:
    rows = [f"4,{60 + i % 5},,{2 + 1e-12 * (i % 2)}" for i in range(60)]
    log = read_log(write(hours(*rows, header="time,A [nSv/h],B [nSv/h],C [nSv/h],D [nSv/h]")))
    assert log.names == ("A", "B", "D") and any("dropped: C" in w for w in log.quality.warnings)
    data = RadiationDataModule(log, WindowConfig(lookback=4, horizon=2))
    assert data.scaler.constant == ("A", "D")
    assert data.scaler.scale.tolist()[0] == 1 and data.scaler.location.tolist()[0] == 4
    for batch in data.loader("train"):
        assert bool(batch.x.isfinite().all())


def test_12_a_log_too_short_for_its_windows_fails_before_training(write: Write) -> None:
    log = read_log(write(hours(*[str(60 + i % 7) for i in range(80)], header="time,A [nSv/h]")))
    with pytest.raises(LogError, match=r"part has \d+ rows.*need \d+") as error:
        RadiationDataModule(log, WindowConfig(lookback=72, horizon=72))
    assert "horizon" in str(error.value)


def test_13_each_tag_of_a_mixed_log_is_resampled_and_the_default_is_said(write: Write) -> None:
    text = (
        "time,tag,value,unit\n2023-02-03T00:00:10Z,T1,20,degC\n2023-02-03T00:01:50Z,T1,22,degC\n"
        "2023-02-03T00:31:00Z,T1,24,degC\n2023-02-03T00:03:00Z,V7,0,\n2023-02-03T00:44:00Z,V7,1,\n"
    )
    log = read_log(write(text), step="15min", ages=["V7"])
    np.testing.assert_array_equal(column(log, "T1"), [21, NAN, 24])
    np.testing.assert_array_equal(column(log, "V7"), [0, 0, 1])
    np.testing.assert_array_equal(column(log, "V7 age"), [12, 27, 1])
    assert any("no rule was declared for V7: the last value" in d for d in log.quality.decisions)


def test_14_missing_steps_stay_missing_and_are_listed(write: Write) -> None:
    lines = hours(*[str(60 + i) for i in range(10)], header="time,A [nSv/h]").splitlines(keepends=True)
    log = read_log(write("".join(lines[:5] + lines[8:])))
    assert len(log) == 10 and np.isnan(log.values[4:7]).all() and np.isfinite(log.values[[3, 7]]).all()
    gap = log.quality.gaps[0]
    assert (gap.start, gap.end, gap.steps) == ("2023-02-03T04:00:00Z", "2023-02-03T06:00:00Z", 3)


def test_15_spellings_of_micro_are_one_unit_and_exposure_needs_a_factor(write: Write) -> None:
    text = hours(
        "0.08,0.08,0.08,80,9", "0.09,0.09,0.09,90,8", header="time,A [µSv/h],B [μSv/h],C [uSv/h],D [nSv/h],E [uR/h]"
    )
    log = read_log(write(text))
    assert [tag.unit for tag in log.tags] == ["nSv/h"] * 4 + ["µR/h"]
    np.testing.assert_allclose(log.values[:, :4], [[80] * 4, [90] * 4], rtol=1e-6)
    assert read_log(write(text), convert={"µR/h": "10 nSv/h"}).values[0, 4] == pytest.approx(90)


def test_16_unknown_units_are_refused_by_column_and_none_is_for_process_tags_only(write: Write) -> None:
    with pytest.raises(LogError, match=r"column 'A \[pancakes/h\]'"):
        read_log(write(hours("1", "2", header="time,A [pancakes/h]")))
    with pytest.raises(LogError, match="column 'B' has no unit in a log of dose rates"):
        read_log(write(hours("60,1", "61,2", header="time,A [nSv/h],B")))
    assert read_log(write(hours("60,1", "61,2", header="time,A [t/h],B"))).tags[1].unit is None


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_17_utf16_and_a_row_of_units_are_read(write: Write, encoding: str) -> None:
    text = "Time;TI1;FI2\n;degC;t/h\n25.03.2023 14:00;301,2;12,1\n25.03.2023 14:05;301,3;12,2\n"
    log = read_log(write(text.encode(encoding)))
    assert [tag.unit for tag in log.tags] == ["degC", "t/h"] and column(log, "TI1") == pytest.approx([301.2, 301.3])
    assert any("UTF-16" in d for d in log.quality.decisions)


def test_18_windows_1252_is_read_and_said(write: Write) -> None:
    log = read_log(write(hours("0.07", "0.08", header="time,Gerät Süd [µSv/h]").encode("cp1252")))
    assert log.names == ("Gerät Süd",) and any("Windows-1252" in d for d in log.quality.decisions)


def test_19_hostile_names_stay_text(write: Write) -> None:
    names = ["<b onclick=x>", '=cmd|"/c calc"!A1', "..\\..\\boot.ini", "\u202etxt"]
    quoted = ",".join('"' + name.replace('"', '""') + ' [nSv/h]"' for name in names)
    log = read_log(write(hours("70,-0.5,72,73", "71,-0.4,73,74", header="time," + quoted)))
    assert list(log.names) == names and column(log, names[1]) == pytest.approx([-0.5, -0.4])


def test_20_bad_lines_are_set_apart_and_the_good_ones_kept(write: Write) -> None:
    lines = hours(*["60,61"] * 12, header="time,A [nSv/h],B [nSv/h]").splitlines(keepends=True)
    bad = ["garbage\n", "1,2,3,4,5\n", "\n", "2023-02-30T00:00:00Z,1,2\n"]
    log = read_log(write("".join(lines[:6] + bad + lines[6:])))
    assert counts(log) == (15, 12, 3, 0)
    assert [q.line for q in log.quality.quarantined] == [7, 8, 10]


def test_21_times_that_cannot_be_are_set_apart(write: Write) -> None:
    text = (
        "time,A [nSv/h]\n1970-01-01T00:03:00Z,1\n" + hours("70", "71", "72", header="")[1:] + "2099-01-01T00:00:00Z,5\n"
    )
    log = read_log(write(text))
    assert column(log, "A") == [70, 71, 72] and counts(log) == (5, 3, 2, 0)


def test_22_start_up_and_counter_faults_are_flagged_and_ignored_in_training(write: Write) -> None:
    a = ["190001", "310", "90", *[str(41 + i % 4) for i in range(57)]]
    b = [str(55 + i % 5) for i in range(60)]
    b[33] = "65535"
    log = screen(
        read_log(write(hours(*map(",".join, zip(a, b, strict=True)), header="time,A [cpm],B [cpm]", step="1min")))
    )
    assert flagged(log, "A", Flag.STARTUP)[:2] == [0, 1] and flagged(log, "B", Flag.WRAP) == [33]
    assert log.values[0, 0] == 190001
    data = RadiationDataModule(log, WindowConfig(lookback=6, horizon=2))
    assert float(data.scaler.mean[0]) < 60 and float(data.scaler.mean[1]) < 60


def test_23_a_stuck_sensor_is_one_run_across_a_gap(write: Write) -> None:
    rng = np.random.default_rng(5)
    values = np.round(80 + rng.normal(0, 1, 60), 2)
    values[20:40] = 79.25
    cells = [f"{v}" for v in values]
    cells[29] = ""
    log = screen(
        read_log(write(hours(*[f"{c},{70 + i % 9}" for i, c in enumerate(cells)], header="time,A [nSv/h],B [nSv/h]")))
    )
    hit = flagged(log, "A", Flag.STUCK)
    assert set(range(20, 40)) - {29} <= set(hit) and set(hit) <= set(range(20, 40))
    assert flagged(log, "B", Flag.STUCK) == []


@pytest.mark.parametrize("unit", ["ns", "us", "ms", "s"])
def test_24_times_since_1970_are_exact(write: Write, unit: str) -> None:
    factor = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}[unit]
    stamps = [(1_650_000_000_123_456_789 + i * 3_600_000_000_000) // factor for i in range(3)]
    log = read_log(write("time,A [nSv/h]\n" + "".join(f"{s},{70 + i}\n" for i, s in enumerate(stamps))))
    assert (log.time.as_unit("ns").asi8 // factor).tolist() == stamps


def test_25_what_is_not_finite_never_enters_a_log(write: Write) -> None:
    text = hours(
        "1e999,80", "inf,81", "-Infinity,NaN", "3.5e38,83", "72,84", "73,85", header="time,A [nSv/h],B [nSv/h]"
    )
    log = read_log(write(text))
    np.testing.assert_array_equal(column(log, "A"), [NAN, NAN, NAN, NAN, 72, 73])
    assert log.quality.masked == {"not finite": 4} and log.quality.flags == {"not_finite": 4}


def test_26_a_post_that_jumps_alone_is_flagged_with_the_likely_cause_and_kept(write: Write) -> None:
    rng = np.random.default_rng(7)
    values = 75 + rng.normal(0, 1, (48, 6)).round(2)
    values[30:, 4] += 5200
    rows = [",".join(f"{v:.2f}" for v in row) for row in values]
    header = "time," + ",".join(f"P{i} [nSv/h]" for i in range(6))
    log = screen(read_log(write(hours(*rows, header=header))))
    assert flagged(log, "P4", Flag.NEIGHBOUR) == list(range(30, 48))
    assert column(log, "P4")[-1] == pytest.approx(values[-1, 4], rel=1e-6)
    assert all(not flagged(log, f"P{i}", Flag.NEIGHBOUR) for i in (0, 1, 2, 3, 5))
    assert any("instrument fault likely: no neighbour agrees" in d for d in log.quality.decisions)


#: Number of a sample → options, and either the start of the refusal or the rows in, kept, quarantined and merged.
SAMPLES: dict[int, tuple[dict[str, Any], str | tuple[int, int, int, int]]] = {
    1: ({}, "08-ago|one number"),
    2: ({}, (4, 4, 0, 0)),
    3: ({}, r"2018-09-03 \(day first\)"),
    4: ({}, (6, 6, 0, 0)),
    5: ({}, r"1 row\(s\) fall on a time"),
    6: ({}, "no time zone"),
    7: ({}, (5, 5, 0, 0)),
    8: ({}, (5, 5, 0, 0)),
    9: ({}, (4, 2, 2, 0)),
    10: ({}, "web page"),
    11: ({}, (24, 24, 0, 0)),
    12: ({}, (99, 99, 0, 0)),
    13: ({}, (6, 5, 0, 1)),
    14: ({}, (21, 21, 0, 0)),
    15: ({}, (2, 2, 0, 0)),
    16: ({}, "bananas"),
    17: ({}, (2, 2, 0, 0)),
    18: ({}, (2, 2, 0, 0)),
    19: ({}, (2, 2, 0, 0)),
    20: ({}, (27, 24, 3, 0)),
    21: ({}, (5, 3, 2, 0)),
    22: ({}, (60, 60, 0, 0)),
    23: ({}, (24, 24, 0, 0)),
    24: ({}, (3, 3, 0, 0)),
    25: ({}, (5, 5, 0, 0)),
    26: ({}, (48, 48, 0, 0)),
}


@pytest.mark.parametrize("number", SAMPLES)
def test_each_collected_sample_is_read_or_refused_as_it_should(shared_data: Path, number: int) -> None:
    found = list((shared_data.parent / "cases").glob(f"{number:02d}-*.csv"))
    if not found:
        pytest.skip("the collected samples are not beside the real logs")
    options, owed = SAMPLES[number]
    if isinstance(owed, str):
        with pytest.raises(LogError, match=owed):
            read_log(found[0], **options)
    else:
        assert counts(read_log(found[0], **options)) == owed
