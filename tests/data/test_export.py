"""Logs written as Parquet and CSV."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from attentionmixer.data import StationLog, Tag, read_log
from attentionmixer.data.export import export_log, fingerprint, guard_text
from attentionmixer.data.quality import Flag
from attentionmixer.errors import ConfigError, LogError

HOSTILE = (
    "</script><script>alert(1)</script>",
    '=HYPERLINK("http://x")',
    "../../etc/passwd",
    "-0.5",
    "+1",
    "@a",
    "a\nb",
)


def make_log(names: tuple[str, ...] = ("A", "B"), steps: int = 6, start: str = "2024-05-01") -> StationLog:
    time = pd.date_range(start, periods=steps, freq="10min", tz="UTC")
    values = np.arange(steps * len(names), dtype=np.float32).reshape(steps, len(names)) / 10 - 0.5
    values[2, 0] = np.nan
    return StationLog(values, time, [Tag(name, "nSv/h", "dose_rate") for name in names])


def rows_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx"])
def test_text_that_a_spreadsheet_would_run_is_guarded(text: str) -> None:
    assert guard_text(text) == "'" + text
    assert guard_text("P01 dose rate") == "P01 dose rate"
    assert guard_text("") == ""


def test_hostile_names_are_guarded_in_csv_and_numbers_stay_numbers(tmp_path: Path) -> None:
    export_log(make_log(HOSTILE), tmp_path / "log.csv")
    header, first, *_ = rows_of(tmp_path / "log.csv")
    assert header == [
        "time",
        "</script><script>alert(1)</script> [nSv/h]",
        '\'=HYPERLINK("http://x") [nSv/h]',
        "../../etc/passwd [nSv/h]",
        "'-0.5 [nSv/h]",
        "'+1 [nSv/h]",
        "'@a [nSv/h]",
        "a\nb [nSv/h]",
    ]
    assert first[:2] == ["2024-05-01T00:00:00Z", "-0.5"]
    assert [p.name for p in tmp_path.iterdir()] == ["log.csv"]


def test_a_missing_value_is_a_blank_cell(tmp_path: Path) -> None:
    export_log(make_log(), tmp_path / "log.csv")
    assert rows_of(tmp_path / "log.csv")[3] == ["2024-05-01T00:20:00Z", "", "0"]


def test_every_float_comes_back_from_csv_to_the_bit(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(500, 3)).astype(np.float32) * np.float32(1e-7)
    values[0] = (np.float32(3.4028235e38), np.float32(1e-45), np.float32(-0.1))
    time = pd.date_range("2024-05-01", periods=500, freq="1h", tz="UTC")
    export_log(StationLog(values, time, [Tag(n) for n in "abc"]), tmp_path / "log.csv")
    read = np.array([row[1:] for row in rows_of(tmp_path / "log.csv")[1:]], dtype=np.float64).astype(np.float32)
    assert read.tobytes() == values.tobytes()


def test_a_csv_is_read_back_with_names_and_units(tmp_path: Path) -> None:
    log = make_log()
    export_log(log, tmp_path / "log.csv")
    back = read_log(tmp_path / "log.csv")
    assert back.names == log.names
    assert back.tags[0].unit == "nSv/h"
    np.testing.assert_array_equal(back.time.asi8, log.time.as_unit("ns").asi8)
    assert np.isnan(back.values[2, 0])


def test_nanoseconds_since_1970_are_written_back_as_the_same_integer(tmp_path: Path) -> None:
    source = "time,A [nSv/h]\n1556813561098000000,1\n1556813561198000000,2\n1556813561298000000,3\n"
    (tmp_path / "in.csv").write_text(source, encoding="utf-8")
    log = read_log(tmp_path / "in.csv")
    assert log.time[0] == pd.Timestamp("2019-05-02T16:12:41.098Z")
    export_log(log, tmp_path / "ns.csv", epoch="ns")
    assert [row[0] for row in rows_of(tmp_path / "ns.csv")[1:]] == [line.split(",")[0] for line in source.split()[2:]]
    export_log(log, tmp_path / "ms.csv", epoch="ms")
    assert rows_of(tmp_path / "ms.csv")[1][0] == "1556813561098"
    export_log(log, tmp_path / "iso.csv")
    assert rows_of(tmp_path / "iso.csv")[1][0] == "2019-05-02T16:12:41.098Z"


def test_a_time_that_is_no_whole_number_of_seconds_is_refused_in_seconds(tmp_path: Path) -> None:
    log = make_log(start="2024-05-01T00:00:00.5")
    with pytest.raises(LogError, match=r"2024-05-01 00:00:00.5.* no whole number of s"):
        export_log(log, tmp_path / "log.csv", epoch="s")
    assert not list(tmp_path.iterdir())


def test_an_ending_that_is_no_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\.parquet or \.csv"):
        export_log(make_log(), tmp_path / "log.xlsx")
    with pytest.raises(ConfigError, match="Parquet has a type for times"):
        export_log(make_log(), tmp_path / "log.parquet", epoch="ns")


def test_parquet_holds_verbatim_names_types_and_nulls(tmp_path: Path) -> None:
    export_log(make_log((*HOSTILE, "time")), tmp_path / "log.parquet")
    table = pq.read_table(tmp_path / "log.parquet")
    assert table.column_names == ["time_", *HOSTILE, "time"]
    assert str(table.schema.field("time_").type) == "timestamp[ns, tz=UTC]"
    assert str(table.schema.field("+1").type) == "float"
    assert table[HOSTILE[0]].null_count == 1
    assert table["+1"].null_count == 0


def test_flags_are_columns_where_a_tag_has_any(tmp_path: Path) -> None:
    log = make_log(("A", "B", "flags of B"))
    flags = np.zeros(log.shape, dtype=np.uint16)
    flags[3, 1] = Flag.STUCK | Flag.SPIKE
    export_log(log.with_flags(flags), tmp_path / "log.parquet")
    table = pq.read_table(tmp_path / "log.parquet")
    assert table.column_names == ["time", "A", "B", "flags of B", "flags of B_"]
    assert table["flags of B_"].to_pylist() == [0, 0, 0, Flag.STUCK | Flag.SPIKE, 0, 0]


def test_a_failed_export_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.csv"
    path.write_text("old", encoding="utf-8")

    def fail(*_: object) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr("attentionmixer.data.export.pv.write_csv", fail)
    with pytest.raises(OSError, match="gone"):
        export_log(make_log(), path)
    assert path.read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["log.csv"]


def test_the_fingerprint_sees_values_flags_times_and_description_but_not_how_missing_is_stored() -> None:
    log = make_log()
    first = fingerprint(log, {"a": 1})
    values = log.values.copy()
    values[2, 0] = np.array([0x7FC00001], dtype=np.uint32).view(np.float32)[0]
    assert fingerprint(StationLog(values, log.time, log.tags), {"a": 1}) == first
    values[0, 0] += 1
    flags = np.zeros(log.shape, dtype=np.uint16)
    flags[0, 0] = 1
    others = {
        fingerprint(StationLog(values, log.time, log.tags), {"a": 1}),
        fingerprint(StationLog(log.values.copy(), log.time, log.tags, flags=flags), {"a": 1}),
        fingerprint(StationLog(log.values.copy(), log.time + pd.Timedelta("1s"), log.tags), {"a": 1}),
        fingerprint(log, {"a": 2}),
    }
    assert first not in others
    assert len(others) == 4
