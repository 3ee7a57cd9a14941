"""`read_log`: which files, which reader, which options."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from attentionmixer.data import read_log
from attentionmixer.data.readers import READERS
from attentionmixer.errors import LogError

ROWS = ["2024-05-01T00:00Z,1,10", "2024-05-01T01:00Z,2,20", "2024-05-01T02:00Z,3,30", "2024-05-01T03:00Z,4,40"]
RADNET = (
    "LOCATION_NAME,SAMPLE COLLECTION TIME,DOSE EQUIVALENT RATE (nSv/h),"
    + "".join(f"GAMMA COUNT RATE R0{i} (CPM)," for i in range(2, 10))
    + "STATUS\nXX: TOWN,05/01/2024 00:00:00,61,1,1,1,1,1,1,1,1,APPROVED\n"
    + "XX: TOWN,05/01/2024 01:00:00,62,2,2,2,2,2,2,2,2,APPROVED\n"
)


def put(path: Path, *rows: str, header: str = "time,A,B") -> Path:
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_the_format_is_found_by_content_not_by_name(tmp_path: Path) -> None:
    path = tmp_path / "readme.parquet"
    path.write_text(RADNET)
    assert read_log(path).tags[0].station == "XX: TOWN"


def test_a_folder_is_all_its_tables_as_one_log(tmp_path: Path) -> None:
    put(tmp_path / "b.csv", *ROWS[2:])
    put(tmp_path / "a.csv", *ROWS[:2])
    (tmp_path / "notes.txt").write_text("not a log")
    log = read_log(tmp_path)
    assert log.select(["A"]).values[:, 0].tolist() == [1, 2, 3, 4]
    assert log.quality.sources == ("a.csv", "b.csv")
    assert log.quality.rows_in == 4


def test_a_list_of_files_is_one_log_and_columns_are_matched_by_name(tmp_path: Path) -> None:
    one = put(tmp_path / "a.csv", *ROWS[:2])
    two = put(tmp_path / "b.csv", "2024-05-01T02:00Z,30,3", header="time,B,A")
    log = read_log([one, str(two)])
    np.testing.assert_array_equal(log.values, [[1, 10], [2, 20], [3, 30]])


def test_tables_with_other_columns_cannot_be_one_log(tmp_path: Path) -> None:
    one = put(tmp_path / "a.csv", *ROWS[:2])
    two = put(tmp_path / "b.csv", "2024-05-01T02:00Z,3,30", header="time,A,C")
    with pytest.raises(LogError, match=r"a\.csv and b\.csv cannot be one log.*'B'.*'C'"):
        read_log([one, two])


def test_files_of_several_formats_cannot_be_one_log(tmp_path: Path) -> None:
    put(tmp_path / "a.csv", *ROWS)
    (tmp_path / "b.csv").write_text(RADNET)
    with pytest.raises(LogError, match=r"several formats.*a\.csv.*b\.csv"):
        read_log(tmp_path)


def test_gzip_is_unpacked_on_the_way(tmp_path: Path) -> None:
    path = tmp_path / "packed"
    path.write_bytes(gzip.compress(b"time,A\n2024-05-01T00:00Z,1\n2024-05-01T01:00Z,2\n"))
    assert read_log(path).values[:, 0].tolist() == [1, 2]
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(LogError, match="cannot be read"):
        read_log(path)


@pytest.mark.parametrize("name", ["nothing.csv", "empty"])
def test_what_is_not_there_is_an_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(LogError, match=name):
        read_log(tmp_path / name)


def test_an_empty_file_or_list_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "void.csv").write_bytes(b"\n \n")
    with pytest.raises(LogError, match=r"void\.csv is empty"):
        read_log(tmp_path / "void.csv")
    with pytest.raises(LogError, match="list of paths is empty"):
        read_log([])
    with pytest.raises(LogError, match="not int"):
        read_log(5)  # type: ignore[arg-type]


def test_an_option_the_reader_does_not_take_is_refused_with_those_it_takes(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(RADNET)
    with pytest.raises(LogError, match=r"radnet reader does not take tz, colour; it takes start, end"):
        read_log(path, tz="UTC", colour="red")


def test_a_reader_can_be_named_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", *ROWS)
    assert read_log(path, format="table").names == ("A", "B")
    with pytest.raises(LogError, match=r"LOCATION_NAME"):
        read_log(path, format="radnet")
    with pytest.raises(LogError, match="'excel' is unknown"):
        read_log(path, format="excel")
    assert {"exported", "radnet", "table"} <= set(READERS)
