"""Typed tables: Parquet, Arrow files and streams, and columns of Python values."""

from __future__ import annotations

import datetime as dt
import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather, ipc

from attentionmixer.data import read_log
from attentionmixer.data.readers.source import Source
from attentionmixer.data.readers.table import parquet
from attentionmixer.data.readers.table.arrow import typed
from attentionmixer.data.readers.table.file import load
from attentionmixer.data.readers.table.parts import FileRules, TableFile
from attentionmixer.errors import LogError

NAN = float("nan")
TIMES = pa.array([dt.datetime(2024, 5, 1, hour, tzinfo=dt.UTC) for hour in range(3)], pa.timestamp("us", tz="UTC"))
TABLE = pa.table(
    {
        "when": TIMES,
        "A": pa.array([1.5, None, 2.5]),
        "f": pa.array([1, 2, 3], pa.float32()),
        "n": pa.array([1, None, 3], pa.int16()),
        "open": pa.array([True, False, None]),
        "price": pa.array([1, 2, None], pa.decimal128(9, 2)),
        "state": pa.array(["Bad", "7", "8"]).dictionary_encode(),
        "station": pa.array([7, 7, 7]),
        "none": pa.nulls(3),
    }
)


def read(path: Path, **declared: object) -> TableFile:
    return load(Source(path), FileRules(**declared))  # type: ignore[arg-type]


def as_parquet(path: Path, table: pa.Table) -> None:
    pq.write_table(table, path)


def as_feather(path: Path, table: pa.Table) -> None:
    feather.write_feather(table, str(path), compression="zstd")


def as_stream(path: Path, table: pa.Table) -> None:
    with ipc.new_stream(str(path), table.schema) as sink:
        sink.write_table(table, max_chunksize=2)


@pytest.mark.parametrize("write", [as_parquet, as_feather, as_stream])
def test_numbers_of_every_type_words_and_times_are_read(tmp_path: Path, write: object) -> None:
    write(tmp_path / "x", TABLE)  # type: ignore[operator]
    file = read(tmp_path / "x")
    assert file.time == "when"
    assert file.numbers.names == ("A", "f", "n", "open", "price", "none")
    np.testing.assert_array_equal(
        file.numbers.values, [[1.5, 1, 1, 1, 1, NAN], [NAN, 2, NAN, 0, 2, NAN], [2.5, 3, 3, NAN, NAN, NAN]]
    )
    assert file.column("state").to_pylist() == ["Bad", "7", "8"]
    assert file.column("station").to_pylist() == ["7", "7", "7"]
    assert file.table.column_names == TABLE.column_names
    assert file.line.tolist() == [1, 2, 3]


def test_a_compressed_parquet_file_is_read_from_memory(tmp_path: Path) -> None:
    as_parquet(tmp_path / "x.parquet", TABLE)
    (tmp_path / "x.gz").write_bytes(gzip.compress((tmp_path / "x.parquet").read_bytes()))
    one, other = read(tmp_path / "x.parquet"), read(tmp_path / "x.gz")
    np.testing.assert_array_equal(one.numbers.values, other.numbers.values)


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_row_groups_and_slabs_of_any_size_give_the_same_values(
    tmp_path: Path, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.random.default_rng(0).normal(80, 5, (500, 150))
    table = pa.table(
        {
            "time": pa.array(np.arange(500) * 60, pa.timestamp("s", tz="UTC")),
            **{f"c{i}": v for i, v in enumerate(values.T)},
        }
    )
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=rows)
    monkeypatch.setattr(parquet, "_GROUP", 20)
    np.testing.assert_array_equal(read(tmp_path / "x.parquet").numbers.values, values.astype(np.float32))
    as_feather(tmp_path / "x.feather", table)
    np.testing.assert_array_equal(read(tmp_path / "x.feather").numbers.values, values.astype(np.float32))


def test_a_number_beyond_float32_is_masked_as_not_finite_and_counted(tmp_path: Path) -> None:
    as_parquet(tmp_path / "x", pa.table({"time": TIMES, "A": [1e300, 1.0, 2.0]}))
    log = read_log(tmp_path / "x")
    np.testing.assert_array_equal(log.values[:, 0], [NAN, 1, 2])
    assert log.quality.masked == {"not finite": 1}


@pytest.mark.parametrize("write", [as_parquet, as_feather, as_stream])
def test_a_damaged_file_is_an_error(tmp_path: Path, write: object) -> None:
    path = tmp_path / "x"
    write(path, TABLE)  # type: ignore[operator]
    raw = path.read_bytes()
    for damaged in (raw[: len(raw) // 2], raw[:8] + b"\xff" * 40 + raw[48:], raw[:-20]):
        path.write_bytes(damaged)
        try:
            file = read(path)
        except LogError as error:
            assert "damaged" in str(error) or "holds" in str(error)
        else:
            assert len(file.line) <= 3


@pytest.mark.parametrize(
    ("table", "declared", "message"),
    [
        (pa.table({"time": TIMES, "A": pa.array([[1], [2], [3]])}), {}, r"'A' holds list.*ignore=\['A'\]"),
        (pa.table({"time": TIMES, "A": [b"1", b"2", b"3"]}), {}, "'A' holds binary"),
        (pa.table([TIMES, [1, 2, 3], [1, 2, 3]], names=["time", "A", "A"]), {}, "names repeat: 'A'"),
        (pa.table({"time": TIMES, "A": [1, 2, 3]}), {"decimal": ","}, "decimal= is for text tables"),
        (pa.table({"time": TIMES, "A": [1, 2, 3]}), {"ignore": ("B",)}, "no column 'B' to ignore"),
    ],
)
def test_what_is_neither_numbers_nor_words_is_refused(
    tmp_path: Path, table: pa.Table, declared: dict[str, object], message: str
) -> None:
    as_stream(tmp_path / "x", table)
    with pytest.raises(LogError, match=message):
        read(tmp_path / "x", **declared)


@pytest.mark.parametrize(
    ("cells", "kind", "read"),
    [
        ([1, None, 3], pa.int64(), [1, None, 3]),
        ([1, 2.5, None], pa.float64(), [1, 2.5, None]),
        ([1, " ", 2.5], pa.float64(), [1, None, 2.5]),
        ([10**30, 1], pa.float64(), [1e30, 1]),
        ([True, None], pa.bool_(), [True, None]),
        ([1, "Bad"], pa.string(), ["1", "Bad"]),
        ([0.1, "Bad", None], pa.string(), ["0.1", "Bad", None]),
        ([dt.datetime(2024, 5, 1), None], pa.timestamp("us"), [dt.datetime(2024, 5, 1), None]),
        ([dt.datetime(2024, 5, 1), "never"], pa.string(), ["2024-05-01T00:00:00", "never"]),
        ([dt.date(2024, 5, 1)], pa.date32(), [dt.date(2024, 5, 1)]),
        ([b"\xff"], pa.string(), ["\ufffd"]),
    ],
)
def test_python_values_become_the_narrowest_type_that_holds_them(
    cells: list[object], kind: pa.DataType, read: list[object]
) -> None:
    column = typed(cells)
    assert column.type == kind
    assert column.to_pylist() == read
