"""Exported logs read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from attentionmixer.data import StationLog, Tag, read_log
from attentionmixer.data.export import METADATA, export_log
from attentionmixer.data.log import Sampling
from attentionmixer.data.quality import Flag, Gap, QualityRecord, Quarantined
from attentionmixer.data.readers.exported import confirm, read, sniff
from attentionmixer.data.readers.source import Source
from attentionmixer.errors import LogError


def full_log(steps: int = 50) -> StationLog:
    """A log with something in every field."""
    rng = np.random.default_rng(1)
    values = rng.normal(100, 10, (steps, 3)).astype(np.float32)
    values[rng.random(values.shape) < 0.1] = np.nan
    flags = np.zeros(values.shape, dtype=np.uint16)
    flags[4:9, 1] = Flag.STUCK
    flags[7, 2] = Flag.SPIKE | Flag.RANGE
    tags = [
        Tag("A: x", "nSv/h", "dose_rate", station="A", coordinates=(48.1, 11.5)),
        Tag('=1+1 "µ" \x1b[2J', "cpm", "count_rate", station="B", role="input"),
        Tag("état", None, "generic", role="known", resample="last"),
    ]
    record = QualityRecord(
        rows_in=steps + 3,
        rows_kept=steps,
        rows_quarantined=2,
        rows_merged=1,
        masked={"dose rate exactly 0": 3},
        decisions=("µSv/h was converted to nSv/h",),
        gaps=(Gap("A", "2024-05-01T00:00:00Z", "2024-05-01T00:10:00Z", 2),),
        quarantined=(
            Quarantined("f.csv", 3, "A", "\x00x", "not a number"),
            Quarantined("f.csv", 4, "*", ",", "fields"),
        ),
        sources=("f.csv",),
    )
    time = pd.date_range("2024-05-01T00:00:00.123456789", periods=steps, freq="10min", tz="UTC")
    log = StationLog(values, time, tags, record, sampling=Sampling("end", 600.0))
    return log.with_flags(flags, "5 reading(s) flagged stuck")


def assert_equal(one: StationLog, other: StationLog) -> None:
    np.testing.assert_array_equal(one.values.view(np.uint32), other.values.view(np.uint32))
    np.testing.assert_array_equal(one.flags, other.flags)
    np.testing.assert_array_equal(one.time.as_unit("ns").asi8, other.time.as_unit("ns").asi8)
    assert one.time.tz is not None
    assert one.tags == other.tags
    assert one.sampling == other.sampling
    assert one.quality == other.quality


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """A full log, exported."""
    export_log(full_log(), tmp_path / "log.parquet")
    return tmp_path / "log.parquet"


def spoil(path: Path, **changes: Any) -> Path:
    """The same table under a description with other entries."""
    table = pq.read_table(path)
    described = {**json.loads(table.schema.metadata[METADATA.encode()]), **changes}
    pq.write_table(table.replace_schema_metadata({METADATA: json.dumps(described)}), path)
    return path


def test_an_exported_log_comes_back_equal_in_every_field(exported: Path) -> None:
    assert sniff(exported.read_bytes()[:100])
    assert confirm(Source(exported))
    assert_equal(read([Source(exported)]), full_log())


def test_a_log_longer_than_a_row_group_comes_back(tmp_path: Path) -> None:
    export_log(full_log(70_000), tmp_path / "log.parquet")
    assert_equal(read([Source(tmp_path / "log.parquet")]), full_log(70_000))


def test_any_other_parquet_file_is_left_to_the_table_reader(tmp_path: Path) -> None:
    pq.write_table(pa.table({"time": [1, 2], "A": [1.0, 2.0]}), tmp_path / "t.parquet")
    assert not confirm(Source(tmp_path / "t.parquet"))
    with pytest.raises(LogError, match="no exported log"):
        read([Source(tmp_path / "t.parquet")])


def test_a_changed_value_is_noticed(exported: Path) -> None:
    table = pq.read_table(exported)
    values = table["A: x"].to_pylist()
    values[0] = 12345.0
    table = table.set_column(
        table.column_names.index("A: x"), table.schema.field("A: x"), pa.array(values, pa.float32())
    )
    pq.write_table(table, exported)
    with pytest.raises(LogError, match="changed after it was exported"):
        read([Source(exported)])


def test_an_account_made_nicer_is_noticed(exported: Path) -> None:
    nicer = {**full_log().quality.to_dict(), "masked": {}}
    with pytest.raises(LogError, match="changed after it was exported"):
        read([Source(spoil(exported, quality=nicer))])


def test_rows_taken_out_are_noticed(exported: Path) -> None:
    pq.write_table(pq.read_table(exported).slice(0, 20), exported)
    with pytest.raises(LogError, match="changed after it was exported"):
        read([Source(exported)])


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"version": 99}, "version 99"),
        ({"tags": [{"name": "gone"}]}, "damaged"),
        ({"tags": 3}, "damaged"),
        ({"time": "nowhere"}, "damaged"),
        ({"quality": {"rows_in": 1}}, "row accounting broken"),
        ({"sampling": {"nonsense": 1}}, "damaged"),
        ({"flags": {"A: x": 7}}, "damaged"),
        ({"sha256": None}, "changed after"),
    ],
)
def test_a_damaged_description_is_refused(exported: Path, changes: dict[str, Any], says: str) -> None:
    with pytest.raises(LogError, match=says):
        read([Source(spoil(exported, **changes))])


def test_a_truncated_file_is_refused(exported: Path) -> None:
    exported.write_bytes(exported.read_bytes()[:-200])
    with pytest.raises(LogError, match="damaged Parquet"):
        read([Source(exported)])


def test_a_period_some_stations_and_roles_can_be_chosen(exported: Path) -> None:
    log = read(
        [Source(exported)],
        start="2024-05-01T00:30Z",
        end="2024-05-01T01:30Z",
        stations=["b"],
        roles={'=1+1 "µ" \x1b[2J': "target"},
    )
    whole = full_log()
    assert log.shape == (6, 1)
    assert log.tags[0].role == "target"
    np.testing.assert_array_equal(log.values[:, 0], whole.values[3:9, 1])
    assert log.quality.flags == {"stuck": 5}
    assert sum("rows are those of the whole" in sentence for sentence in log.quality.decisions) == 2


def test_a_station_or_period_that_is_not_there_is_refused(exported: Path) -> None:
    with pytest.raises(LogError, match="unknown station"):
        read([Source(exported)], stations=["C"])
    with pytest.raises(LogError, match="at least 2"):
        read([Source(exported)], start="2030-01-01")


def test_read_log_recognises_an_exported_log_and_no_other_parquet_file(exported: Path, tmp_path: Path) -> None:
    assert_equal(read_log(exported), full_log())
    frame = full_log().to_frame().iloc[:, :1]
    frame.columns = ["A [nSv/h]"]
    frame.to_parquet(tmp_path / "other.parquet")
    assert read_log(tmp_path / "other.parquet").names == ("A",)


def test_what_was_settled_at_the_first_reading_is_refused(exported: Path) -> None:
    with pytest.raises(LogError, match="exported reader does not take units; it takes start, end, stations, roles"):
        read_log(exported, units="nSv/h")


def test_a_changed_file_can_still_be_read_as_a_table(exported: Path) -> None:
    pq.write_table(pq.read_table(exported).slice(0, 20).select(["time", "A: x"]), exported)
    with pytest.raises(LogError, match="damaged"):
        read_log(exported)
    assert len(read_log(exported, format="table", units="nSv/h")) == 20


def test_two_exported_logs_are_not_joined(exported: Path) -> None:
    with pytest.raises(LogError, match="one by one"):
        read([Source(exported), Source(exported)])
