"""One file of a table, of whatever kind: the same content gives the same columns."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from attentionmixer.data import read_log
from attentionmixer.data.readers.source import Source
from attentionmixer.data.readers.table.file import load
from attentionmixer.data.readers.table.parts import FileRules, find_time_column, is_utc_name, is_word_name
from attentionmixer.errors import LogError

FRAME = pd.DataFrame(
    {
        "time": pd.date_range("2024-05-01", periods=40, freq="10min", tz="UTC"),
        **{f"P{i} [nSv/h]": np.random.default_rng(i).normal(80, 5, 40).round(2) for i in range(3)},
    }
)
FRAME.loc[7, "P1 [nSv/h]"] = np.nan


def csv(path: Path) -> None:
    FRAME.to_csv(path, index=False)


def semicolons(path: Path) -> None:
    FRAME.to_csv(path, index=False, sep=";", decimal=",", encoding="utf-16")


def packed(path: Path) -> None:
    path.write_bytes(gzip.compress(FRAME.to_csv(index=False, sep="\t").encode()))


def excel(path: Path) -> None:
    pytest.importorskip("openpyxl")
    FRAME.assign(time=FRAME["time"].dt.tz_localize(None)).to_excel(path.with_suffix(".xlsx"), index=False)
    path.with_suffix(".xlsx").rename(path)


def parquet(path: Path) -> None:
    FRAME.to_parquet(path)


def feather(path: Path) -> None:
    FRAME.to_feather(path)


@pytest.mark.parametrize("write", [csv, semicolons, packed, excel, parquet, feather])
def test_the_same_table_in_any_format_gives_the_same_log(tmp_path: Path, write: Callable[[Path], None]) -> None:
    write(tmp_path / "log")
    log = read_log(tmp_path / "log", tz="UTC")
    np.testing.assert_array_equal(log.values, FRAME.iloc[:, 1:].to_numpy(np.float32))
    assert log.time.equals(pd.DatetimeIndex(FRAME["time"]))
    assert [(tag.name, tag.unit) for tag in log.tags] == [(f"P{i}", "nSv/h") for i in range(3)]
    q = log.quality
    assert (q.rows_in, q.rows_kept, q.rows_quarantined, q.rows_merged) == (40, 40, 0, 0)


def test_many_files_with_faults_and_columns_in_another_order_are_one_log(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("time,A,B\n2024-05-01T00:00Z,1,Bad\n2024-05-01T01:00Z,2,6\n")
    (tmp_path / "b.csv").write_text(
        "time;B;A\n2024-05-01T02:00Z;<7,5;3\n2024-05-01T03:00Z;8;x\n2024-05-01T04:00Z;9;5\n"
    )
    table = {"A": [6.0, 7.0], "B": [10, 11], "time": ["2024-05-01T05:00Z", "2024-05-01T06:00Z"]}
    pd.DataFrame(table).to_parquet(tmp_path / "c.parquet")
    log = read_log(tmp_path)
    nan = np.nan
    np.testing.assert_array_equal(log.values, [[1, nan], [2, 6], [3, nan], [nan, nan], [5, 9], [6, 10], [7, 11]])
    assert log.quality.masked == {"state 'Bad'": 1, "below the measuring range (<7,5)": 1}
    bad = log.quality.quarantined[0]
    assert (bad.file, bad.line, bad.column, bad.text) == ("b.csv", 3, "A", "x")


def test_options_of_one_kind_of_file_are_refused_by_the_others(tmp_path: Path) -> None:
    csv(tmp_path / "a.csv")
    with pytest.raises(LogError, match="sheet= is for Excel"):
        load(Source(tmp_path / "a.csv"), FileRules(sheet="x"))


def test_columns_of_numbers_take_no_room_in_the_table_of_words(tmp_path: Path) -> None:
    csv(tmp_path / "a.csv")
    file = load(Source(tmp_path / "a.csv"), FileRules())
    assert file.table.column_names == list(FRAME.columns)
    assert file.table["P0 [nSv/h]"].nbytes == 0
    assert file.numbers.values.dtype == np.float32
    assert pa.types.is_string(file.table["time"].type)


@pytest.mark.parametrize(("name", "words"), [("station", True), ("A.quality", True), ("QC", True), ("Qualityx", False)])
def test_ids_and_quality_codes_are_known_by_name(name: str, words: bool) -> None:
    assert is_word_name(name) == words


def test_the_time_column_is_found_by_name_then_by_content() -> None:
    sample = [["1", "2024-05-01T00:00Z"]]
    assert find_time_column(["A", "when"], sample, None, "log.csv") == "when"
    assert find_time_column(["Time (UTC)", "when"], sample, None, "log.csv") == "Time (UTC)"
    assert find_time_column(["A", "B"], [["1", "2"]], None, "log.csv") is None
    with pytest.raises(LogError, match="no column 'C'"):
        find_time_column(["A", "B"], [], "C", "log.csv")
    assert is_utc_name("Time [UTC]") and not is_utc_name("Time")
