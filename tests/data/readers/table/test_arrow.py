"""Typed tables: Parquet, Arrow files and streams, and columns of Python values."""

from __future__ import annotations

import datetime as dt
import decimal
import gzip
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather, ipc

from attentionmixer.data import read_log
from attentionmixer.data.readers.limits import Limits
from attentionmixer.data.readers.source import Source
from attentionmixer.data.readers.table import parquet
from attentionmixer.data.readers.table.arrow import (
    Extras,
    as_text,
    faults,
    from_batches,
    from_columns,
    is_text,
    slabs,
    typed,
)
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


def of(table: pa.Table, extras: Extras | None = None, limits: Limits | None = None, **declared: object) -> TableFile:
    """A file from a table in memory."""
    rules = FileRules(**declared)  # type: ignore[arg-type]
    return from_batches("f", table.schema, table.to_batches(), rules, limits or Limits(), extras)


def refusal(table: pa.Table, limits: Limits | None = None, **declared: object) -> str:
    """What is said where a table is refused."""
    with pytest.raises(LogError) as error:
        of(table, None, limits, **declared)
    return str(error.value)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([], pa.bool_()),
        ([None, " "], pa.bool_()),
        ([True, 1], pa.float64()),
        ([2**63 - 1, -(2**63)], pa.int64()),
        ([2**63], pa.float64()),
        ([10**400, 1], pa.string()),
        ([decimal.Decimal("1.5"), 2], pa.float64()),
        ([1j], pa.string()),
        ([dt.datetime(2024, 5, 1, tzinfo=dt.UTC), None], pa.timestamp("us", tz="UTC")),
        ([dt.datetime(2024, 5, 1, tzinfo=dt.UTC), dt.datetime(2024, 5, 1)], pa.string()),
        ([dt.datetime(2024, 5, 1), dt.date(2024, 5, 1)], pa.string()),
        ([dt.date(2024, 5, 1), 1], pa.string()),
        ([dt.time(1, 2), None], pa.string()),
        ([dt.timedelta(1), 1], pa.string()),
        ([b"1", 1], pa.string()),
        (["1", 1], pa.string()),
    ],
)
def test_each_kind_of_python_value_has_its_type(cells: Sequence[object], kind: pa.DataType) -> None:
    column = typed(cells)
    assert column.type == kind
    assert len(column) == len(cells)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (b"a\xff", "a\ufffd"),
        (dt.datetime(2024, 5, 1, 2, 3), "2024-05-01T02:03:00"),
        (dt.date(2024, 5, 1), "2024-05-01"),
        (dt.time(2, 3), "02:03:00"),
        (0.1, "0.1"),
        (1e300, "1e+300"),
        (7, "7"),
        (True, "True"),
        ("x", "x"),
    ],
)
def test_a_cell_as_text_reads_back_as_what_it_is(cell: object, text: str) -> None:
    assert as_text(cell) == text


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (pa.string(), True),
        (pa.large_string(), True),
        (pa.string_view(), True),
        (pa.dictionary(pa.int8(), pa.large_string()), True),
        (pa.dictionary(pa.int8(), pa.int64()), False),
        (pa.binary(), False),
        (pa.int64(), False),
        (pa.null(), False),
    ],
)
def test_text_is_told_from_other_types(kind: pa.DataType, text: bool) -> None:
    assert is_text(kind) is text


@pytest.mark.parametrize(
    ("columns", "rows", "cuts"),
    [
        (0, 5, []),
        (64, 5, [0, 64]),
        (65, 5, [0, 64, 65]),
        (130, 0, [0, 64, 128, 130]),
        (65, 1 << 17, [0, 64, 65]),
        (65, (1 << 17) + 1, [0, 63, 65]),
        (3, 1 << 22, [0, 2, 3]),
        (3, 1 << 23, [0, 1, 2, 3]),
        (3, 1 << 30, [0, 1, 2, 3]),
    ],
)
def test_columns_are_turned_into_rows_64_at_a_time_and_64_mib_at_most(columns: int, rows: int, cuts: list[int]) -> None:
    found = list(slabs(["c"] * columns, slice(1000, 1000 + rows)))
    assert found == [slice(first, last) for first, last in itertools.pairwise(cuts)]


@pytest.mark.parametrize("error", [pa.ArrowInvalid, OSError, MemoryError, KeyError, IndexError])
def test_what_arrow_raises_names_the_file_its_kind_and_the_reason(error: type[Exception]) -> None:
    with pytest.raises(LogError) as found, faults("x.feather", "Arrow"):
        raise error("odd")
    assert str(found.value) == f"x.feather is a damaged Arrow file: {error('odd')}"


def test_other_faults_are_left_as_they_are() -> None:
    with pytest.raises(ZeroDivisionError), faults("x", "Arrow"):
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("columns", "declared", "time"),
    [
        ({"A": [1], "d": [dt.date(2024, 5, 1)]}, {}, "d"),
        ({"time": ["x"], "d": [dt.date(2024, 5, 1)]}, {}, "d"),
        ({"A": [dt.datetime(2024, 5, 1)], "time": [dt.datetime(2024, 5, 2)]}, {"ignore": ("A",)}, "time"),
        ({"time": [5], "d": [dt.date(2024, 5, 1)]}, {"time_column": "time", "ignore": ("d",)}, "time"),
        ({"A": ["5"], "b": ["2024-05-01 00:00"]}, {}, "b"),
        ({"A": [5], "Zeit": [1_700_000_000]}, {}, "Zeit"),
        ({"A": [5], "B": [1]}, {}, None),
    ],
)
def test_the_time_column_is_the_one_declared_typed_named_or_read_as_such(
    columns: dict[str, list[object]], declared: dict[str, Any], time: str | None
) -> None:
    assert of(pa.table(columns), **declared).time == time


@pytest.mark.parametrize(("blank", "time"), [(49, "when"), (50, None)])
def test_fifty_rows_are_looked_at_for_times(blank: int, time: str | None) -> None:
    assert of(pa.table({"when": [None] * blank + ["2024-05-01 00:00"], "A": [1.0] * (blank + 1)})).time == time


def test_whole_numbers_and_truths_under_a_name_of_words_are_words_and_fractions_are_numbers() -> None:
    table = pa.table({"time": TIMES, "site": [1, 2, None], "valid": [True, None, False], "A status": [1.5, 2.5, 3.5]})
    file = of(table)
    assert file.numbers.names == ("A status",)
    assert file.column("site").to_pylist() == ["1", "2", None]
    assert file.column("valid").to_pylist() == ["true", None, "false"]


def test_a_refused_column_is_named_with_its_type_and_remedy() -> None:
    table = pa.table({"time": TIMES, "A": [b"1", b"2", b"3"]})
    assert refusal(table) == "f: column 'A' holds binary, not numbers; leave it out with ignore=['A']"
    assert of(table, ignore=("A",)).table.column_names == ["time"]
    assert refusal(table, comment="#") == "f is a typed table; comment= is for text tables"


def test_limits_of_a_typed_table_are_kept_exactly() -> None:
    table = pa.table({"time": TIMES, "word": ["a", "bcdef", "c"], "A": [1.0, 2.0, 3.0]})
    for what, limit in (("rows", 3), ("columns", 3), ("bytes", table.nbytes), ("cell", 5)):
        assert len(of(table, None, Limits(**{what: limit})).line) == 3
        assert refusal(table, Limits(**{what: limit - 1})).startswith(
            f"f, column 'word', holds {limit} " if what == "cell" else f"f holds {limit} "
        )


def test_bytes_add_up_over_batches() -> None:
    table = pa.table({"time": TIMES, "A": [1.0, 2.0, 3.0]})
    several = pa.concat_tables([table, table])
    assert len(of(several, None, Limits(bytes=2 * table.nbytes)).line) == 6
    assert refusal(several, Limits(bytes=2 * table.nbytes - 1)).startswith(f"f holds {2 * table.nbytes} ")


def test_a_table_without_batches_or_without_words_keeps_its_rows() -> None:
    table = pa.table({"time": TIMES, "A": [1.0, 2.0, 3.0]})
    file = from_batches("f", table.schema, [], FileRules(), Limits())
    assert (len(file.line), file.table.column_names, file.numbers.values.shape) == (0, ["time", "A"], (0, 1))
    file = of(pa.table({"A": [1.0, 2.0]}))
    assert (file.time, file.table.num_rows, file.line.tolist()) == (None, 2, [1, 2])


def test_what_a_source_knows_beside_its_columns_is_kept() -> None:
    extras = Extras(np.array([5, 7]), {"A": "cpm"}, ["said"])
    file = from_columns("f", {"time": ["2024-05-01", None], "A": [1, 2]}, FileRules(), Limits(), extras)
    assert (file.name, file.line.tolist(), file.unit_row, file.decisions) == ("f", [5, 7], {"A": "cpm"}, ["said"])
    assert (file.refused, file.decimal, file.thousands) == ([], ".", None)
    plain = of(pa.table({"A": [1.0]}))
    assert (plain.unit_row, plain.decisions) == ({}, [])


@pytest.mark.parametrize("rows", [1023, 1024, 1025, 2049])
def test_rows_are_kept_in_order_over_pieces_and_batches(rows: int) -> None:
    one = pa.table({"A": np.arange(rows, dtype=np.float64), "B": np.arange(rows, dtype=np.int64) + 7})
    file = of(pa.concat_tables([one, one]))
    values = np.stack([np.arange(rows), np.arange(rows) + 7], axis=1)
    np.testing.assert_array_equal(file.numbers.values, np.concatenate([values, values]))
