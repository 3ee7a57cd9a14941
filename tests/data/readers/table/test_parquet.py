"""Parquet files."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from attentionmixer.data.readers.limits import Limits
from attentionmixer.data.readers.source import Source
from attentionmixer.data.readers.table import parquet
from attentionmixer.data.readers.table.parts import FileRules, TableFile
from attentionmixer.errors import LogError

TIMES = pa.array([dt.datetime(2024, 5, 1, hour) for hour in range(5)], pa.timestamp("us"))
WORDS = ["a", "b", None, "d", "e"]
TABLE = pa.table({"time": TIMES, "A": np.arange(5.0), "word": WORDS, "B": np.arange(5) * 2})


def read(path: Path, table: pa.Table, **limits: int) -> TableFile:
    """A table written in groups of two rows and read back."""
    pq.write_table(table, path, row_group_size=2)
    return parquet.load_parquet(Source(path, Limits(**limits)), FileRules())


@pytest.mark.parametrize("group", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("words", [1, 2, 8])
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_groups_pieces_and_workers_of_any_number_give_the_same_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: int, words: int, workers: int
) -> None:
    for name, value in (("_GROUP", group), ("_WORDS", words), ("WORKERS", workers)):
        monkeypatch.setattr(parquet, name, value)
    file = read(tmp_path / "x", TABLE)
    np.testing.assert_array_equal(file.numbers.values, [[0, 0], [1, 2], [2, 4], [3, 6], [4, 8]])
    assert (file.numbers.names, file.time, file.table.column_names) == (("A", "B"), "time", TABLE.column_names)
    assert file.table["word"].to_pylist() == WORDS
    assert file.table["time"].to_pylist() == TIMES.to_pylist()


@pytest.mark.parametrize(("group", "stops"), [(1, [2, 4, 5]), (2, [2, 4, 5]), (3, [4, 5]), (4, [4, 5]), (5, [5])])
def test_small_row_groups_are_read_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: int, stops: list[int]
) -> None:
    monkeypatch.setattr(parquet, "_GROUP", group)
    pq.write_table(TABLE, tmp_path / "x", row_group_size=2)
    found = list(parquet._row_groups(pq.read_metadata(tmp_path / "x")))
    assert [rows for _, rows in found] == [slice(a, b) for a, b in zip([0, *stops], stops, strict=False)]
    assert [g for groups, _ in found for g in groups] == [0, 1, 2]


def test_rows_and_columns_are_kept_to_their_limits_exactly(tmp_path: Path) -> None:
    for what, limit in (("rows", 5), ("columns", 4)):
        assert len(read(tmp_path / "x", TABLE, **{what: limit}).line) == 5
        with pytest.raises(LogError, match=f"^x holds {limit} "):
            read(tmp_path / "x", TABLE, **{what: limit - 1})


def test_a_file_without_rows_or_without_words_is_read(tmp_path: Path) -> None:
    empty = read(tmp_path / "x", TABLE.slice(0, 0))
    assert (len(empty.line), empty.table.column_names, empty.time) == (0, TABLE.column_names, "time")
    numbers = read(tmp_path / "x", TABLE.select(["B"]))
    assert (numbers.numbers.values[:, 0].tolist(), numbers.time) == ([0, 2, 4, 6, 8], None)


def test_words_are_looked_at_for_times(tmp_path: Path) -> None:
    table = pa.table({"A": [1.0, 2.0], "when": ["2024-05-01 00:00", "2024-05-01 00:10"]})
    assert read(tmp_path / "x", table).time == "when"


def test_parts_that_contradict_each_other_are_said_to_be_damage() -> None:
    parquet._check_rows("x", 5, 5)
    for there in (4, 6):
        with pytest.raises(LogError) as error:
            parquet._check_rows("x", 5, there)
        assert str(error.value) == f"x is a damaged Parquet file: it states 5 rows where a column has {there}"
